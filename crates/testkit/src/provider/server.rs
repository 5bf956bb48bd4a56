//! The server whose users sign in: one tool, which says what came with the call.

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};
use serde_json::{Value, json};

use super::pages::replaced;
use super::state::ProviderState;
use super::{SharedState, lock};

pub(super) fn routes() -> Router<SharedState> {
    Router::new()
        .route("/mcp", post(answer))
        .route("/.well-known/oauth-protected-resource/mcp", get(metadata))
}

async fn metadata(State(state): State<SharedState>) -> Json<Value> {
    let state = lock(&state);
    let issuer = &state.issuer;
    let document = json!({
        "resource": format!("{issuer}/mcp"),
        "authorization_servers": [issuer],
    });
    Json(replaced(document, &state.rules.resource_metadata))
}

async fn answer(State(state): State<SharedState>, headers: HeaderMap, body: Bytes) -> Response {
    let mut state = lock(&state);
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| value.strip_prefix("Bearer "));
    let Some(scopes) = token.and_then(|token| state.scopes_of(token)).map(str::to_owned) else {
        if token.is_some() {
            state.counts.refused += 1;
        }
        return challenge(&state, StatusCode::UNAUTHORIZED, "");
    };
    let method = request["method"].as_str().unwrap_or_default();
    if request.get("id").is_none() {
        return StatusCode::ACCEPTED.into_response();
    }
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "protected", "version": "1" },
        }),
        "tools/list" => json!({
            "tools": [{ "name": "whoami", "description": "Says who calls.", "inputSchema": { "type": "object" } }],
        }),
        "tools/call" => {
            let missing = state
                .rules
                .call_scopes
                .iter()
                .find(|scope| !scopes.split(' ').any(|given| given == scope.as_str()));
            if missing.is_some() {
                let scopes = state.rules.call_scopes.join(" ");
                let wanted = format!(r#", error="insufficient_scope", scope="{scopes}""#);
                return challenge(&state, StatusCode::FORBIDDEN, &wanted);
            }
            state.counts.calls += 1;
            // A careless server says what it was sent.
            let text = format!("you came with {}", header.unwrap_or_default());
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        _ => {
            let error = json!({ "code": -32601, "message": "unknown method" });
            return Json(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
                .into_response();
        }
    };
    Json(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).into_response()
}

fn challenge(state: &ProviderState, status: StatusCode, further: &str) -> Response {
    let place = format!("{}/.well-known/oauth-protected-resource/mcp", state.issuer);
    let value = format!(r#"Bearer resource_metadata="{place}"{further}"#);
    (status, [(WWW_AUTHENTICATE, value)], "sign in first").into_response()
}
