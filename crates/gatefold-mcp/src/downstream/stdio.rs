use std::sync::Arc;

use gatefold_core::BoxError;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

use super::handler::{Handler, Verbatim};
use super::server::Server;

/// Serves one client over standard input and output until it closes them or `shutdown` fires.
pub async fn serve_stdio(server: Arc<Server>, shutdown: CancellationToken) -> Result<(), BoxError> {
    let service = Verbatim(Handler::new(server));
    let serving = service.serve_with_ct(rmcp::transport::stdio_pipes(), shutdown);
    match serving.await {
        Ok(serving) => {
            serving.waiting().await?;
            Ok(())
        }
        // A client that says nothing and leaves did no wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
