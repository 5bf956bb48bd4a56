//! What is on record in a state directory.

use gatefold::App;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordedState {
    pub(super) directory: String,
    pub(super) sources: Value,
    pub(super) calls: Value,
    pub(super) tokens: Value,
}

impl RecordedState {
    pub(super) async fn of(app: &App) -> anyhow::Result<Self> {
        Ok(Self {
            directory: app.store().state_dir().display().to_string(),
            sources: json!(app.reports()),
            calls: json!(app.store().totals().await?),
            tokens: tokens(app).await,
        })
    }
}

/// What tools cost a model with and without Gatefold, counted by all gateways on this state
/// directory.
async fn tokens(app: &App) -> Value {
    // This loads what other gateways have counted.
    app.uncounted().await;
    let costs = app.status().tokens;
    json!({ "definitions": costs.definitions, "surface": costs.surface })
}
