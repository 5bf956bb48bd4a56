//! Runs as a resource: they belong to their person, and go on when their client leaves.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use gatefold::{
    BeginRunError, NewAgentRun, RunConversation, RunLife, RunOrigin, TakeUpError, owner_of_runs,
};
use gatefold_core::{AgentId, Principal};
use gatefold_dispatch::{DataOwner, Journal as _, Run, RunId, RunPhase, ThreadId, Threads as _};
use gatefold_http::SharedEndpoint;
use gatefold_model::UserMessage;
use http::header::LOCATION;
use http::{HeaderMap, Request, StatusCode};
use serde::{Deserialize, Serialize};

use crate::Api;
use crate::bodies::read_json;
use crate::messages::Content;
use events::outcome_word;
use problem::Problem;

mod events;
mod following;
mod last_words;
mod problem;

pub(crate) use problem::REFUSALS;

/// How many runs a list has, unless the client asks for less.
const LISTED: u32 = 100;

/// When a client may come back that was refused because there are too many runs, in seconds.
const BUSY_SECONDS: u64 = 5;

pub(crate) fn router(api: Api) -> Router {
    Router::new()
        .route("/api/runs", post(begin).get(list))
        .route("/api/runs/{id}", get(show).delete(delete))
        .route("/api/runs/{id}/events", get(events))
        .route("/api/runs/{id}/cancel", post(cancel))
        .with_state(api)
}

/// What begins a run. A member that is not here is an error: it would be meant to do something.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRunBody {
    agent: Option<String>,
    model: Option<String>,
    thread: Option<String>,
    message: Content,
}

/// A run, as clients read it.
#[derive(Debug, Serialize)]
struct RunBody {
    id: String,
    thread: Option<String>,
    agent: Option<String>,
    status: &'static str,
    began_at: String,
    ended_at: Option<String>,
    /// The number of its last event.
    last_event: u64,
}

#[derive(Serialize)]
struct ShownRun {
    #[serde(flatten)]
    run: RunBody,
    /// The model's last words, of a run that has ended with some.
    answer: Option<String>,
    /// Why there is no answer, or one that may lack something.
    reason: Option<String>,
}

#[derive(Serialize)]
struct RunList {
    runs: Vec<RunBody>,
    /// What `before` has to be for the next page; null on the last one.
    next: Option<String>,
}

#[derive(Deserialize)]
struct ListQuery {
    before: Option<String>,
    limit: Option<u32>,
}

async fn begin(
    State(api): State<Api>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(endpoint): Extension<SharedEndpoint>,
    request: Request<Body>,
) -> Response {
    let body: NewRunBody = match read_json(request, &endpoint.bodies, REFUSALS).await {
        Ok(body) => body,
        Err(refused) => return *refused,
    };
    let owner = owner_of_runs(&principal);
    let begun = async {
        let run = new_run(body, principal)?;
        let begun = api.app.runs().begin(run).await.map_err(|error| refuse(&error))?;
        let id = begun.run.id();
        Ok::<_, Problem>((id, find(&api, &owner, id).await?))
    };
    match begun.await {
        Ok((id, run)) => {
            let location = format!("/api/runs/{id}");
            let body = Json(RunBody::of(&run));
            (StatusCode::CREATED, [(LOCATION, location)], body).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

fn new_run(body: NewRunBody, principal: Arc<Principal>) -> Result<NewAgentRun, Problem> {
    let NewRunBody { agent, model, thread, message } = body;
    let invalid =
        |error: &dyn std::fmt::Display| Problem::invalid("invalid_message", error.to_string());
    let parts = message.into_parts(&mut 0).map_err(|error| invalid(&error))?;
    let message = UserMessage::new(parts).map_err(|error| invalid(&error))?;
    let conversation = match thread {
        None => RunConversation::New,
        Some(id) => RunConversation::Thread(ThreadId::parse(&id).ok_or_else(unknown_thread)?),
    };
    Ok(NewAgentRun {
        principal,
        agent: agent.map(AgentId::new),
        model,
        conversation,
        message,
        instructions: None,
        origin: RunOrigin::Api,
        life: RunLife::Lasting,
    })
}

fn unknown_thread() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown_thread", "there is no such conversation")
}

/// Why no run began, for a client.
fn refuse(error: &BeginRunError) -> Problem {
    let of = |status, code| Problem::new(status, code, error.to_string());
    match error {
        BeginRunError::UnknownAgent(_) => of(StatusCode::NOT_FOUND, "unknown_agent"),
        BeginRunError::UnknownThread(_) => unknown_thread(),
        BeginRunError::OtherAgent { .. } => of(StatusCode::CONFLICT, "other_agent"),
        BeginRunError::ThreadBusy { .. } => of(StatusCode::CONFLICT, "thread_busy"),
        BeginRunError::Model(gatefold::ModelChoiceError::Unknown { name, .. }) => {
            let detail = format!("there is no model `{name}`");
            Problem::new(StatusCode::NOT_FOUND, "unknown_model", detail)
        }
        BeginRunError::NoModel => of(StatusCode::SERVICE_UNAVAILABLE, "no_model"),
        BeginRunError::TooLarge => of(StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        BeginRunError::NoConversation => of(StatusCode::BAD_REQUEST, "invalid_message"),
        BeginRunError::TooMany { .. } => {
            of(StatusCode::TOO_MANY_REQUESTS, "too_many_runs").again_after(BUSY_SECONDS)
        }
        BeginRunError::Stopping => {
            of(StatusCode::SERVICE_UNAVAILABLE, "stopping").again_after(BUSY_SECONDS)
        }
        error => Problem::internal(error),
    }
}

async fn list(
    State(api): State<Api>,
    Extension(principal): Extension<Arc<Principal>>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<RunList>, Problem> {
    let query = read_query(query)?;
    let owner = owner_of_runs(&principal);
    let before = match &query.before {
        None => None,
        Some(id) => Some(RunId::parse(id).ok_or_else(|| {
            Problem::invalid("invalid_query", "`before` is the `next` of a list before")
        })?),
    };
    let limit = query.limit.unwrap_or(LISTED).clamp(1, LISTED);
    let runs = api.app.store().runs(&owner, before, limit).await;
    let runs = runs.map_err(|error| Problem::internal(&error))?;
    let is_full = runs.len() >= limit as usize;
    let next = runs.last().filter(|_| is_full).map(|run| run.id.to_string());
    let runs = runs.iter().map(RunBody::of).collect();
    Ok(Json(RunList { runs, next }))
}

async fn show(
    State(api): State<Api>,
    Extension(principal): Extension<Arc<Principal>>,
    Path(id): Path<String>,
) -> Result<Json<ShownRun>, Problem> {
    let owner = owner_of_runs(&principal);
    let run = find(&api, &owner, read_id(&id)?).await?;
    let words = match run.end {
        Some(_) => last_words::read(api.app.store(), &owner, &run).await,
        None => Ok(last_words::LastWords::default()),
    };
    let words = words.map_err(|error| Problem::internal(&error))?;
    let run = RunBody::of(&run);
    Ok(Json(ShownRun { run, answer: words.answer, reason: words.reason }))
}

async fn events(
    State(api): State<Api>,
    Extension(principal): Extension<Arc<Principal>>,
    Path(id): Path<String>,
    query: Result<Query<following::EventQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let query = read_query(query)?;
    let owner = owner_of_runs(&principal);
    let run = find(&api, &owner, read_id(&id)?).await?;
    following::answer(&api, owner, &run, &query, &headers).await
}

async fn delete(
    State(api): State<Api>,
    Extension(principal): Extension<Arc<Principal>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let owner = owner_of_runs(&principal);
    let run = find(&api, &owner, read_id(&id)?).await?;
    if run.end.is_none() {
        let text = "the run has not ended; cancel it first";
        return Err(Problem::new(StatusCode::CONFLICT, "run_active", text));
    }
    let deleted = api.app.store().delete_run(&owner, run.id).await;
    deleted.map_err(|error| Problem::internal(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

async fn cancel(
    State(api): State<Api>,
    Extension(principal): Extension<Arc<Principal>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let owner = owner_of_runs(&principal);
    let run = find(&api, &owner, read_id(&id)?).await?;
    let ended = || Problem::new(StatusCode::CONFLICT, "run_ended", "the run has ended");
    if run.end.is_some() {
        return Err(ended());
    }
    api.app.runs().cancel(&owner, run.id).await.map_err(|error| match &error {
        TakeUpError::Ended => ended(),
        error => Problem::internal(error),
    })?;
    let run = find(&api, &owner, run.id).await?;
    Ok((StatusCode::ACCEPTED, Json(RunBody::of(&run))).into_response())
}

fn read_query<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Problem> {
    let Query(query) =
        query.map_err(|rejection| Problem::invalid("invalid_query", rejection.body_text()))?;
    Ok(query)
}

/// One that is malformed looks the same as one that there is not.
fn read_id(id: &str) -> Result<RunId, Problem> {
    RunId::parse(id).ok_or_else(Problem::unknown_run)
}

async fn find(api: &Api, owner: &DataOwner, id: RunId) -> Result<Run, Problem> {
    let found = api.app.store().run(owner, id).await;
    found.map_err(|error| Problem::internal(&error))?.ok_or_else(Problem::unknown_run)
}

impl RunBody {
    fn of(run: &Run) -> Self {
        let status = match (&run.end, &run.phase) {
            (Some((_, outcome)), _) => outcome_word(*outcome),
            (None, RunPhase::Waiting(_)) => "waiting",
            (None, RunPhase::Interrupted) => "interrupted",
            (None, RunPhase::Driven | RunPhase::Ended) => "running",
        };
        Self {
            id: run.id.to_string(),
            thread: run.thread.map(|thread| thread.to_string()),
            agent: Some(run.subject.clone()).filter(|agent| !agent.is_empty()),
            status,
            began_at: run.began_at.to_string(),
            ended_at: run.end.as_ref().map(|(at, _)| at.to_string()),
            last_event: run.last,
        }
    }
}
