//! Servers that a test builds itself.

use axum::Router;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Serves a router on loopback until the guard is dropped. The address ends in `/mcp`.
pub(crate) async fn serve_router(router: Router) -> (String, DropGuard) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let token = CancellationToken::new();
    let stopped = token.clone().cancelled_owned();
    tokio::spawn(
        async move { axum::serve(listener, router).with_graceful_shutdown(stopped).await },
    );
    (url, token.drop_guard())
}
