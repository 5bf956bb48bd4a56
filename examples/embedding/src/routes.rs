//! Routes beside those of MCP: one for whoever has a token, one for everybody.

use std::sync::Arc;

use axum::routing::any;
use axum::{Extension, Router};
use gatefold_core::Principal;
use gatefold_http::Routes;

/// `/whoami` tells its caller who they are, and `/health` tells everybody that the gateway runs. A
/// route that says nothing of whom it is for needs a principal.
pub fn routes() -> Routes {
    Routes::from(Router::new().route("/whoami", any(whoami)))
        .public(Router::new().route("/health", any(async || "well")))
}

async fn whoami(Extension(principal): Extension<Arc<Principal>>) -> String {
    principal.user.as_str().to_owned()
}
