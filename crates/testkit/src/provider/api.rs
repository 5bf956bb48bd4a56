//! The API whose users sign in: it says what came with a request.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};
use serde_json::json;

use super::{SharedState, lock};

pub(super) fn routes() -> Router<SharedState> {
    Router::new()
        .route("/api/me", get(answer).post(answer))
        .route("/api/free", get(free))
        .route("/api/moved", get(moved))
}

async fn answer(State(state): State<SharedState>, headers: HeaderMap) -> Response {
    let mut state = lock(&state);
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| value.strip_prefix("Bearer "));
    let Some(scopes) = token.and_then(|token| state.scopes_of(token)).map(str::to_owned) else {
        if token.is_some() {
            state.counts.refused += 1;
        }
        let challenge = [(WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge, "who are you?").into_response();
    };
    let wanted = &state.rules.call_scopes;
    if wanted.iter().any(|scope| !scopes.split(' ').any(|given| given == scope)) {
        let scopes = wanted.join(" ");
        let challenge = format!(r#"Bearer error="insufficient_scope", scope="{scopes}""#);
        return (StatusCode::FORBIDDEN, [(WWW_AUTHENTICATE, challenge)]).into_response();
    }
    state.counts.calls += 1;
    // A careless API says what it was sent.
    Json(json!({ "you_came_with": header })).into_response()
}

/// What everybody may ask. It says whether a token came all the same.
async fn free(headers: HeaderMap) -> Response {
    Json(json!({ "has_token": headers.contains_key(AUTHORIZATION) })).into_response()
}

async fn moved(State(state): State<SharedState>) -> Response {
    Redirect::temporary(&lock(&state).rules.moved_to).into_response()
}
