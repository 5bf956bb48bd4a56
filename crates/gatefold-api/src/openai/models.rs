//! The agents, as models are listed. The models that they ask are nobody's to see here: this is no proxy
//! for models.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use gatefold_core::Principal;
use serde::Serialize;

use super::NO_AGENT;
use super::error::ApiError;
use crate::{Api, callers};

#[derive(Serialize)]
struct ModelList {
    object: &'static str,
    data: Vec<ListedModel>,
}

#[derive(Serialize)]
struct ListedModel {
    id: String,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
}

pub(super) async fn list(
    State(api): State<Api>,
    Extension(principal): Extension<Arc<Principal>>,
) -> Response {
    let data = listed(&api, &principal);
    Json(ModelList { object: "list", data }).into_response()
}

pub(super) async fn find(
    State(api): State<Api>,
    Path(name): Path<String>,
    Extension(principal): Extension<Arc<Principal>>,
) -> Response {
    let found = listed(&api, &principal).into_iter().find(|model| model.id == name);
    match found {
        Some(model) => Json(model).into_response(),
        None => ApiError::unknown_model(&name).into_response(),
    }
}

fn listed(api: &Api, principal: &Principal) -> Vec<ListedModel> {
    let created = api.app.started_at().as_millis() / 1000;
    let free = callers::is_free(&api.app, principal).then(|| NO_AGENT.to_owned());
    let agents = callers::find_agents(&api.app, principal).into_iter().map(|id| id.to_string());
    let names = free.into_iter().chain(agents.filter(|name| name != NO_AGENT));
    let model = |id| ListedModel { id, object: "model", created, owned_by: "gatefold" };
    names.map(model).collect()
}
