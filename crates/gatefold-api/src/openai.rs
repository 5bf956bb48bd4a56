//! OpenAI's chat completions: each request is a run of an agent, and the agent is the model that it names.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use gatefold::{BeginRunError, BegunRun, NewAgentRun, RunConversation, RunLife, RunOrigin};
use gatefold_core::{AgentId, Clock as _, Principal, SystemClock};
use gatefold_http::SharedEndpoint;
use http::{Request, StatusCode};

use crate::Api;
use crate::bodies::read_json;
use answer::{AnswerHead, ChunkWriter};
use error::ApiError;
use feed::AnswerFeed;
use request::{ChatRequest, Conversation, Delivery};

mod answer;
mod answering;
mod error;
mod feed;
mod models;
mod request;

pub(crate) use error::REFUSALS;

/// The model that is no agent: whoever names it has all that they may use.
const NO_AGENT: &str = "gatefold";

/// When a client may come back that was refused because there are too many runs, in seconds.
const BUSY_SECONDS: u64 = 5;

pub(crate) fn router(api: Api) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{name}", get(models::find))
        .route("/v1/{*rest}", any(refuse_unknown))
        .with_state(api)
}

/// Clients of OpenAI's other interfaces show this message to whoever configured them.
async fn refuse_unknown(Path(path): Path<String>) -> Response {
    let text = format!(
        "there is no `/v1/{path}` here; agents answer at `POST /v1/chat/completions`, and `GET /v1/models` lists them"
    );
    ApiError::of(StatusCode::NOT_FOUND, text).code("unknown_url").into_response()
}

async fn complete(
    State(api): State<Api>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(endpoint): Extension<SharedEndpoint>,
    request: Request<Body>,
) -> Response {
    let request: ChatRequest = match read_json(request, &endpoint.bodies, REFUSALS).await {
        Ok(request) => request,
        Err(refused) => return *refused,
    };
    let (model, delivery) = (request.model.clone(), request.delivery());
    let owner = gatefold::owner_of_runs(&principal);
    let begun = match begin(&api, principal, request).await {
        Ok(begun) => begun,
        Err(error) => return error.into_response(),
    };
    let head = AnswerHead { run: begun.run.id(), at: SystemClock.now(), model };
    let under_way = endpoint.requests.token();
    let feed = AnswerFeed::new(begun, api.app.store().clone(), owner, under_way);
    match delivery {
        Delivery::Whole => answering::answer_whole(feed, &head).await,
        Delivery::Streamed { with_usage } => {
            answering::answer_streamed(feed, ChunkWriter { head, with_usage }).await
        }
    }
}

async fn begin(
    api: &Api,
    principal: Arc<Principal>,
    request: ChatRequest,
) -> Result<BegunRun, ApiError> {
    let name = request.model.clone();
    let agent = (name != NO_AGENT).then(|| AgentId::new(name.as_str()));
    // A token that is an agent's speaks through that agent alone.
    if agent.is_none() && principal.agent.is_some() {
        return Err(ApiError::unknown_model(&name));
    }
    let Conversation { instructions, earlier, message } = request.into_conversation()?;
    let run = NewAgentRun {
        principal,
        agent,
        model: None,
        conversation: RunConversation::Sent(earlier),
        message,
        instructions,
        origin: RunOrigin::OpenAi,
        life: RunLife::WithRequest,
    };
    api.app.runs().begin(run).await.map_err(|error| refuse(&error, &name))
}

/// Why no run began, for a client.
fn refuse(error: &BeginRunError, name: &str) -> ApiError {
    let of = |status| ApiError::of(status, error.to_string());
    match error {
        BeginRunError::UnknownAgent(_) => ApiError::unknown_model(name),
        // An agent without a model that this caller may use looks as if it were hidden.
        BeginRunError::NoModel if name != NO_AGENT => ApiError::unknown_model(name),
        BeginRunError::NoModel => {
            of(StatusCode::SERVICE_UNAVAILABLE).code("no_model").never_again()
        }
        BeginRunError::TooMany { .. } => {
            of(StatusCode::TOO_MANY_REQUESTS).again_after(BUSY_SECONDS)
        }
        BeginRunError::Stopping => of(StatusCode::SERVICE_UNAVAILABLE).again_after(BUSY_SECONDS),
        BeginRunError::TooLarge | BeginRunError::NoConversation => {
            ApiError::invalid("messages", error.to_string())
        }
        error => {
            tracing::error!(error = error as &dyn std::error::Error, "a run could not begin");
            let text = "the run could not begin; the gateway's log says why";
            ApiError::of(StatusCode::INTERNAL_SERVER_ERROR, text).never_again()
        }
    }
}

#[cfg(test)]
mod tests {
    use http::header::RETRY_AFTER;

    use super::*;

    #[track_caller]
    fn check(error: &BeginRunError, name: &str, status: u16, has_retry: bool) -> ApiError {
        let refused = refuse(error, name);
        let response = refused.clone().into_response();
        let retry = response.headers().contains_key(RETRY_AFTER);
        assert_eq!((response.status().as_u16(), retry), (status, has_retry), "{error}");
        refused
    }

    #[test]
    fn a_client_is_told_why_no_run_began_and_when_to_come_back() {
        check(&BeginRunError::TooMany { of: 9 }, "support", 429, true);
        check(&BeginRunError::Stopping, "support", 503, true);
        check(&BeginRunError::TooLarge, "support", 400, false);
        check(&BeginRunError::NoModel, NO_AGENT, 503, false);
        let unknown = BeginRunError::UnknownAgent(AgentId::new("support"));
        let hidden = check(&unknown, "support", 404, false);
        assert_eq!(check(&BeginRunError::NoModel, "support", 404, false), hidden);
    }
}
