//! The gateway's agents over HTTP: OpenAI's chat completions (`/v1`), and runs that go on without their
//! client (`/api/runs`).
//!
//! Both are faces of one thing, a run that the app's [`RunHost`](gatefold::RunHost) drives. The caller is
//! whoever the authenticator of the endpoint let in, and a run has what this caller has, or less. This crate
//! must not know SQL, clap or MCP; what a run is, and what it may do, is not decided here.

mod bodies;
mod callers;
mod messages;
mod openai;
mod runs;
mod sse;

use std::sync::Arc;

use gatefold::App;
use gatefold_http::Routes;
use tokio_util::sync::CancellationToken;

/// What the handlers share.
#[derive(Clone)]
struct Api {
    app: Arc<App>,
    /// Fires when those who follow runs must leave: they can come back to another process.
    stop: CancellationToken,
}

/// The routes of both faces, for those whom the endpoint's authenticator knows.
pub fn routes(app: Arc<App>, stop: CancellationToken) -> Routes {
    let api = Api { app, stop };
    Routes::default()
        .for_principals_in(openai::REFUSALS, openai::router(api.clone()))
        .for_principals_in(runs::REFUSALS, runs::router(api))
}
