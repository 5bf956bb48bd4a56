//! Models by both wires: requests that providers take, answers however they come, and the client.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod client;
mod detection;
mod histories;
mod json_mode;
mod wires;

use std::time::Duration;

use gatefold_egress::{Egress, Reach, Settings};
use gatefold_model::{
    Api, History, ModelAnswer, ModelClient, ModelError, ModelRequest, ModelSpec, RawJson,
    ToolDefinition, UserMessage,
};
use gatefold_testkit::model::ScriptedModel;
use serde_json::Value;
use tokio::time::Instant;

fn spec(model: &ScriptedModel, api: Api) -> ModelSpec {
    let spec = ModelSpec::new(api, model.url().parse().unwrap(), "scripted");
    ModelSpec { timeout: Duration::from_secs(20), ..spec }
}

fn client_of(spec: ModelSpec) -> ModelClient {
    let settings = Settings { read_timeout: Some(spec.timeout), ..Settings::default() };
    let egress = Egress::new(settings).unwrap().without_proxies();
    ModelClient::new(egress.client_for(Reach::any()), spec).unwrap()
}

fn client(model: &ScriptedModel, api: Api) -> ModelClient {
    client_of(spec(model, api))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

fn asking(text: &str) -> History {
    History::new(UserMessage::text(text).unwrap())
}

fn tool(name: &str, schema: &Value) -> ToolDefinition {
    ToolDefinition::new(name, "Does it.", &RawJson::of(schema)).unwrap()
}

/// One request, answered in one piece or read to its end.
async fn answer_of(
    client: &ModelClient,
    request: ModelRequest<'_>,
    streams: bool,
) -> Result<ModelAnswer, ModelError> {
    if streams {
        client.stream(request, soon()).await?.answer().await
    } else {
        client.ask(request, soon()).await
    }
}
