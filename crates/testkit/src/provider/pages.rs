//! The provider: metadata, registration, its page, and the token endpoint.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use axum::extract::{Form, Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;

use super::state::{IssuedCode, ProviderState};
use super::{SharedState, lock};

type Fields = HashMap<String, String>;

pub(super) fn routes() -> Router<SharedState> {
    Router::new()
        .route("/.well-known/oauth-authorization-server", get(metadata))
        .route("/register", post(register))
        .route("/authorize", get(authorize))
        .route("/token", post(token))
        .route("/device", post(device))
        .route("/revoke", post(revoke))
}

/// Replaces members of a document, and removes those that are null.
pub(super) fn replaced(mut document: Value, with: &Map<String, Value>) -> Value {
    if let Some(members) = document.as_object_mut() {
        for (name, value) in with {
            match value {
                Value::Null => drop(members.remove(name)),
                value => drop(members.insert(name.clone(), value.clone())),
            }
        }
    }
    document
}

async fn metadata(State(state): State<SharedState>) -> Json<Value> {
    let state = lock(&state);
    let issuer = &state.issuer;
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "device_authorization_endpoint": format!("{issuer}/device"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": state.rules.iss.is_some(),
    });
    Json(replaced(document, &state.rules.metadata))
}

async fn register(State(state): State<SharedState>, Json(asked): Json<Value>) -> Response {
    let mut state = lock(&state);
    if state.rules.refuses_scopes && asked.get("scope").is_some() {
        let refusal = Json(json!({ "error": "invalid_client_metadata" }));
        return (StatusCode::BAD_REQUEST, refusal).into_response();
    }
    let grants = asked["grant_types"].as_array().into_iter().flatten();
    let has_device = grants.filter_map(Value::as_str).any(|grant| grant.ends_with("device_code"));
    let redirects = asked["redirect_uris"].as_array().into_iter().flatten();
    let redirects: Vec<_> = redirects.filter_map(Value::as_str).map(str::to_owned).collect();
    state.counts.registrations += 1;
    let id = format!("client-{}", state.counts.registrations);
    state.clients.insert(id.clone(), redirects.clone());
    if has_device {
        state.device_clients.insert(id.clone());
    }
    let client = json!({
        "client_id": id,
        "redirect_uris": redirects,
        "token_endpoint_auth_method": "none",
    });
    (StatusCode::CREATED, Json(client)).into_response()
}

async fn authorize(State(state): State<SharedState>, Query(asked): Query<Fields>) -> Response {
    let mut state = lock(&state);
    let field = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let (client, redirect) = (field("client_id"), field("redirect_uri"));
    // One that a person registered, if it has not registered itself.
    let is_configured = || {
        let (begin, end) = &state.rules.redirects;
        client == "configured" && redirect.starts_with(begin) && redirect.ends_with(end)
    };
    let registered = state.clients.get(&client);
    let is_known = registered.map_or_else(is_configured, |redirects| redirects.contains(&redirect));
    if !is_known || field("code_challenge_method") != "S256" {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let iss = state.rules.iss.as_ref().map(|iss| iss.replace("{issuer}", &state.issuer));
    let iss = iss.map(|iss| format!("&iss={}", escaped(&iss))).unwrap_or_default();
    let given = escaped(&field("state"));
    let phantom = state.rules.phantom_scope.as_ref();
    if let Some(scope) = phantom.filter(|own| field("scope").split(' ').any(|it| it == *own)) {
        let why = escaped(&format!("unknown scope: {scope}"));
        let refusal = format!("error=invalid_scope&error_description={why}&state={given}{iss}");
        return Redirect::to(&format!("{redirect}?{refusal}")).into_response();
    }
    let code = state.secret("code");
    let issued = IssuedCode {
        client,
        redirect: redirect.clone(),
        challenge: field("code_challenge"),
        scope: field("scope"),
        resource: field("resource"),
    };
    state.codes.insert(code.clone(), issued);
    Redirect::to(&format!("{redirect}?code={code}&state={given}{iss}")).into_response()
}

async fn token(
    State(shared): State<SharedState>,
    headers: HeaderMap,
    Form(mut asked): Form<Fields>,
) -> Response {
    let (delay, failure) = {
        let mut state = lock(&shared);
        let failure = state.rules.token_failure;
        state.counts.failures += usize::from(failure.is_some());
        (state.rules.token_delay_ms, failure)
    };
    sleep(Duration::from_millis(delay)).await;
    if let Some(status) = failure {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        // As bad servers do, it repeats what it was sent.
        return (status, format!("{asked:?}")).into_response();
    }
    let mut state = lock(&shared);
    for (name, value) in &asked {
        if matches!(name.as_str(), "code_verifier" | "client_secret") {
            state.secrets.push(value.clone());
        }
    }
    if let Some(error) = unproven(&mut state, &headers, &mut asked) {
        return (StatusCode::UNAUTHORIZED, Json(json!({ "error": error }))).into_response();
    }
    if state.rules.refuses_resource && asked.contains_key("resource") {
        let error = json!({ "error": "invalid_request" });
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    }
    let given = match asked.get("grant_type").map(String::as_str) {
        Some("authorization_code") => redeem(&mut state, &asked),
        Some("refresh_token") => refresh(&mut state, &asked),
        Some("urn:ietf:params:oauth:grant-type:device_code") => poll(&mut state),
        Some("client_credentials") => {
            let family = state.family();
            Ok(state.give(family, "machine", ""))
        }
        _ => Err("unsupported_grant_type"),
    };
    match given {
        Ok(tokens) => Json(tokens).into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response(),
    }
}

/// Why a client has not proved who it is. Its name goes into the fields.
fn unproven(
    state: &mut ProviderState,
    headers: &HeaderMap,
    asked: &mut Fields,
) -> Option<&'static str> {
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if let Some(pair) = header.and_then(|value| value.strip_prefix("Basic ")) {
        if state.rules.secret_in_body {
            return Some("invalid_client");
        }
        state.secrets.push(pair.to_owned());
        let pair = STANDARD.decode(pair).ok().and_then(|pair| String::from_utf8(pair).ok())?;
        let (id, secret) = pair.split_once(':')?;
        asked.insert("client_id".to_owned(), id.to_owned());
        asked.insert("client_secret".to_owned(), secret.to_owned());
    }
    let wanted = state.rules.client_secret.as_ref()?;
    (asked.get("client_secret") != Some(wanted)).then_some("invalid_client")
}

fn redeem(state: &mut ProviderState, asked: &Fields) -> Result<Value, &'static str> {
    let field = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    let issued = state.codes.remove(field("code")).ok_or("invalid_grant")?;
    let is_right = issued.client == field("client_id")
        && issued.redirect == field("redirect_uri")
        && issued.resource == field("resource")
        && issued.challenge == challenge_of(field("code_verifier"));
    if !is_right {
        return Err("invalid_grant");
    }
    state.counts.sign_ins += 1;
    let family = state.family();
    Ok(state.give(family, &issued.client, &issued.scope))
}

fn refresh(state: &mut ProviderState, asked: &Fields) -> Result<Value, &'static str> {
    let token = asked.get("refresh_token").ok_or("invalid_request")?;
    let known = state.refresh.get(token).cloned().ok_or("invalid_grant")?;
    if known.is_used {
        // Two have it, and one of them may be a thief.
        state.counts.reuses += 1;
        state.end_family(known.family);
        return Err("invalid_grant");
    }
    if asked.get("client_id") != Some(&known.client) {
        return Err("invalid_client");
    }
    state.counts.refreshes += 1;
    let rotates = state.rules.rotates;
    if rotates && let Some(used) = state.refresh.get_mut(token) {
        used.is_used = true;
    }
    let mut given = state.give(known.family, &known.client, &known.scope);
    if !rotates && let Some(members) = given.as_object_mut() {
        members.remove("refresh_token");
    }
    Ok(given)
}

async fn device(State(state): State<SharedState>, Form(asked): Form<Fields>) -> Response {
    let mut state = lock(&state);
    let client = asked.get("client_id").cloned().unwrap_or_default();
    // A person may have registered one, and said what it is for.
    if client != "configured" && !state.device_clients.contains(&client) {
        let refusal = Json(json!({ "error": "unauthorized_client" }));
        return (StatusCode::BAD_REQUEST, refusal).into_response();
    }
    let code = state.secret("device");
    Json(json!({
        "device_code": code,
        "user_code": "ABCD-EFGH",
        "verification_uri": format!("{}/activate", state.issuer),
        "expires_in": 60,
        "interval": 1,
    }))
    .into_response()
}

fn poll(state: &mut ProviderState) -> Result<Value, &'static str> {
    if !state.rules.device_signs_in {
        return Err("authorization_pending");
    }
    state.counts.sign_ins += 1;
    let family = state.family();
    Ok(state.give(family, "client-1", ""))
}

async fn revoke(State(state): State<SharedState>, Form(asked): Form<Fields>) -> StatusCode {
    let mut state = lock(&state);
    state.counts.revocations += 1;
    let token = asked.get("token").cloned().unwrap_or_default();
    let is_known = state.refresh.contains_key(&token) || state.access.contains_key(&token);
    if !is_known {
        // Some do, though the standard wants it otherwise (RFC 7009, section 2.2).
        return StatusCode::BAD_REQUEST;
    }
    let refresh = state.refresh.get(&token).map(|token| token.family);
    let family = refresh.or_else(|| state.access.get(&token).map(|token| token.family));
    if let Some(family) = family {
        state.end_family(family);
    }
    StatusCode::OK
}

/// The challenge of a verifier, by S256 (RFC 7636, section 4.2).
fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
        escaped
    })
}
