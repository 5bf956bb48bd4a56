use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use gatefold_core::BoxError;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;

use super::handler::{Handler, Verbatim};
use super::server::Server;

/// Serves one client over standard input and output until it closes them or `shutdown` fires;
/// then nothing more is read, and calls under way may take as long as `drain` to finish.
pub async fn serve_stdio(
    server: Arc<Server>,
    drain: Duration,
    shutdown: CancellationToken,
) -> Result<(), BoxError> {
    let (calls, end) = (TaskTracker::new(), CancellationToken::new());
    let service = Verbatim::new(Handler::new(server), calls.clone());
    let mut serving = std::pin::pin!(serve(service, shutdown.clone(), end.clone()));
    tokio::select! {
        result = &mut serving => return result,
        () = shutdown.cancelled() => {}
    }
    calls.close();
    tokio::select! {
        result = &mut serving => return result,
        drained = timeout(drain, calls.wait()) => if drained.is_err() {
            tracing::warn!("calls that took too long to finish were cancelled");
        },
    }
    end.cancel();
    serving.await
}

async fn serve(
    service: Verbatim,
    shutdown: CancellationToken,
    end: CancellationToken,
) -> Result<(), BoxError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    let input = UntilShutdown { input, shutdown: Box::pin(shutdown.cancelled_owned()) };
    match service.serve_with_ct((input, output), end).await {
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

/// Falls silent at the shutdown. An end of the input instead would make rmcp give calls under way
/// a bound of its own.
struct UntilShutdown<R> {
    input: R,
    shutdown: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilShutdown<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.shutdown.as_mut().poll(context).is_ready() {
            return Poll::Pending;
        }
        Pin::new(&mut self.input).poll_read(context, buffer)
    }
}
