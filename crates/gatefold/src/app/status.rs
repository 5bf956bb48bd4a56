use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse as _;
use axum::routing::get;
use axum::{Json, Router};
use gatefold_core::Timestamp;
use gatefold_dispatch::SourceReport;
use serde::Serialize;
use tokio::runtime::Handle;

use super::{App, TokenCosts};

/// A running gateway's report on itself.
#[derive(Debug, Serialize)]
pub struct Status {
    pub version: &'static str,
    pub process: u32,
    pub started_at: Timestamp,
    pub tools: usize,
    /// What a model sees first, in o200k tokens; an upper bound.
    pub surface_tokens: usize,
    pub tokens: TokenCosts,
    /// Open client sessions over HTTP.
    pub sessions: usize,
    /// Calls that wait for their clients to come back with answers.
    pub parked: usize,
    /// Running tasks of the Tokio runtime.
    pub tasks: usize,
    pub sources: Vec<SourceReport>,
    /// Calls since the start, by how they ended.
    pub calls: BTreeMap<&'static str, u64>,
}

impl App {
    /// The status right now.
    pub fn status(&self) -> Status {
        let pinned = self.pin();
        let surface_tokens = self.surface().token_bound();
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

/// What a gateway that requires tokens tells anybody who asks: that it runs. A proxy in front of it
/// may pass on requests of strangers, and sources and tools are nothing for them.
#[derive(Debug, Serialize)]
struct SignOfLife {
    version: &'static str,
    process: u32,
    started_at: Timestamp,
    authentication: &'static str,
}

impl SignOfLife {
    fn of(app: &App) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            process: std::process::id(),
            started_at: app.started_at(),
            authentication: "token",
        }
    }
}

/// `GET /status`, to be served beside the endpoint on a loopback address only, because it
/// authenticates nobody. Where tokens are required it names no source.
pub fn status_routes(app: Arc<App>) -> Router {
    let status = async |State(app): State<Arc<App>>| {
        if app.requires_tokens() {
            return Json(SignOfLife::of(&app)).into_response();
        }
        Json(app.status()).into_response()
    };
    Router::new().route("/status", get(status)).with_state(app)
}
