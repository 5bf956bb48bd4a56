//! What clients ask: metadata, tokens, revocation, registration.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use gatefold_identity::SCOPES;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode, Uri};
use serde::Serialize;
use serde_json::json;

use crate::IssuerError;
use crate::families::TokenFault;
use crate::form::Parameters;
use crate::registration::{REGISTRATION_BYTES, RegistrationFault};
use crate::settings::Registration;
use crate::state::IssuerState;

/// The issuer's metadata (RFC 8414).
pub(super) async fn metadata(State(issuer): State<Arc<IssuerState>>) -> Response<Body> {
    let public = &issuer.settings.public_url;
    let mut metadata = json!({
        "issuer": public.as_str(),
        "authorization_endpoint": public.at("/oauth/authorize"),
        "token_endpoint": public.at("/oauth/token"),
        "revocation_endpoint": public.at("/oauth/revoke"),
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    });
    if issuer.settings.registration == Registration::On {
        metadata["registration_endpoint"] = public.at("/oauth/register").into();
    }
    answer(StatusCode::OK, &metadata)
}

pub(super) async fn token(
    State(issuer): State<Arc<IssuerState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let parameters = parameters(&uri, &headers, &body);
    answered(async { issuer.tokens(&parameters?).await }.await)
}

pub(super) async fn revoke(
    State(issuer): State<Arc<IssuerState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let parameters = parameters(&uri, &headers, &body);
    let revoked = async { issuer.revoke(&parameters?).await }.await;
    answered(revoked.map(|()| json!({})))
}

pub(super) async fn register(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
    body: Bytes,
) -> Response<Body> {
    if body.len() > REGISTRATION_BYTES {
        return refused("invalid_client_metadata", "the body is too long");
    }
    match issuer.register(&body, super::address(&parts.extensions)).await {
        Ok(registered) => answer(StatusCode::CREATED, &registered),
        Err(RegistrationFault::Refused { error, why }) => refused(error, &why),
        Err(RegistrationFault::Issuer(error)) => failed(&error),
        Err(RegistrationFault::TooMany(wait)) => {
            let why = "too many clients have registered; try again later";
            let body = json!({ "error": "temporarily_unavailable", "error_description": why });
            let mut response = answer(StatusCode::TOO_MANY_REQUESTS, &body);
            response.headers_mut().insert(RETRY_AFTER, wait.as_secs().max(1).into());
            response
        }
    }
}

/// The parameters of a request to an endpoint: in its body, and nowhere else.
fn parameters(uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Result<Parameters, TokenFault> {
    if uri.query().is_some_and(|query| !query.is_empty()) {
        let why = "parameters go into the body: addresses are written to logs";
        return Err(TokenFault::refused("invalid_request", why));
    }
    if headers.contains_key(AUTHORIZATION) {
        let why = "clients here have no secret and prove themselves with PKCE alone";
        return Err(TokenFault::refused("invalid_client", why));
    }
    let no_form = || TokenFault::refused("invalid_request", "the body is no form");
    Ok(Parameters::read(&super::form(headers, body).ok_or_else(no_form)?)?)
}

fn answered(outcome: Result<impl Serialize, TokenFault>) -> Response<Body> {
    match outcome {
        Ok(body) => answer(StatusCode::OK, &body),
        Err(TokenFault::Refused { error, why }) => refused(error, &why),
        Err(TokenFault::Issuer(error)) => failed(&error),
    }
}

fn refused(error: &str, why: &str) -> Response<Body> {
    let status = match error {
        "invalid_client" => StatusCode::UNAUTHORIZED,
        _ => StatusCode::BAD_REQUEST,
    };
    let mut response = answer(status, &json!({ "error": error, "error_description": why }));
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Basic realm=\"gatefold\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

fn failed(error: &IssuerError) -> Response<Body> {
    super::log(error);
    let body = json!({ "error": "server_error", "error_description": "try again in a moment" });
    answer(StatusCode::SERVICE_UNAVAILABLE, &body)
}

fn answer(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let body = serde_json::to_vec(body).expect("answers have only text keys");
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
