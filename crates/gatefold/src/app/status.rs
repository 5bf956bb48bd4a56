use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use gatefold_core::Timestamp;
use gatefold_dispatch::SourceReport;
use serde::Serialize;
use tokio::runtime::Handle;

use super::{App, TokenCosts};

/// What a running gateway says about itself.
#[derive(Debug, Serialize)]
pub struct Status {
    pub version: &'static str,
    pub process: u32,
    pub started_at: Timestamp,
    pub tools: usize,
    /// What a model is given first, in o200k tokens, never counted too low.
    pub surface_tokens: usize,
    pub tokens: TokenCosts,
    /// Sessions that clients have open over HTTP.
    pub sessions: usize,
    /// Calls that wait for their clients to come back with answers.
    pub parked: usize,
    /// What goes on at once, in tasks of the runtime.
    pub tasks: usize,
    pub sources: Vec<SourceReport>,
    /// Calls since the start, by how they ended.
    pub calls: BTreeMap<&'static str, u64>,
}

impl App {
    /// What is known at this moment.
    pub fn status(&self) -> Status {
        let pinned = self.pin();
        let surface_tokens = self.surface(&pinned).tokens;
        Status {
            version: env!("CARGO_PKG_VERSION"),
            process: std::process::id(),
            started_at: self.started_at(),
            tools: pinned.view().tool_count(),
            surface_tokens,
            tokens: self.token_costs(surface_tokens),
            sessions: self.server.session_count(),
            parked: self.dispatcher().parked(),
            tasks: Handle::try_current().map_or(0, |runtime| runtime.metrics().num_alive_tasks()),
            sources: self.reports(),
            calls: self.dispatcher().counters().snapshot(),
        }
    }
}

/// `GET /status`, to be served beside the endpoint on a loopback address only: it asks nobody who
/// they are.
pub fn status_routes(app: Arc<App>) -> Router {
    let status = async |State(app): State<Arc<App>>| Json(app.status());
    Router::new().route("/status", get(status)).with_state(app)
}
