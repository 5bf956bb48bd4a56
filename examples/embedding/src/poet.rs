//! A model of one's own: whatever endpoint speaks one of the two wires.

use std::time::Duration;

use anyhow::Context as _;
use gatefold_egress::{Egress, Reach, Settings};
use gatefold_model::{Api, History, ModelClient, ModelRequest, ModelSpec, UserMessage};
use tokio::time::Instant;

/// How long a poet may think.
const PATIENCE: Duration = Duration::from_secs(30);

/// The model of this name behind an address before `/chat/completions`.
pub fn poet(url: &str, model: &str) -> anyhow::Result<ModelClient> {
    let spec = ModelSpec::new(Api::OpenAiChat, url.parse().context("read the address")?, model);
    let settings = Settings { read_timeout: Some(spec.timeout), ..Settings::default() };
    let egress = Egress::new(settings)?;
    Ok(ModelClient::new(egress.client_for(Reach::any()), spec)?)
}

/// A verse about something.
pub async fn verse(poet: &ModelClient, about: &str) -> anyhow::Result<String> {
    let history = History::new(UserMessage::text(about)?);
    let request = ModelRequest::new("Answer in verse.", &history);
    Ok(poet.ask(request, Instant::now() + PATIENCE).await?.message.text())
}
