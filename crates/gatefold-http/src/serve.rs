use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use http::HeaderName;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::guard::{self, Guard};
use crate::{HttpEndpoint, RefusalFormat, connections};

/// What is served, and what its clients expect of every answer.
#[derive(Debug, Clone)]
pub struct ServedApp {
    pub router: Router,
    /// How a request is refused that reaches no route.
    pub refusals: RefusalFormat,
    /// The headers of answers, besides `WWW-Authenticate`, that web pages may read.
    pub exposed_headers: Vec<HeaderName>,
}

/// Serves every connection until `shutdown` fires and the requests under way have been answered.
/// Requests reach no route that name a host or an origin which the endpoint does not allow.
pub async fn serve(
    listener: TcpListener,
    app: ServedApp,
    endpoint: &HttpEndpoint,
    shutdown: &CancellationToken,
) {
    let ServedApp { router, refusals, exposed_headers } = app;
    let guard = Arc::new(Guard::new(endpoint.clone(), exposed_headers));
    let router = router.layer(from_fn_with_state(guard, guard::check));
    connections::serve(listener, router, refusals, endpoint, shutdown).await;
}
