//! The issuer's token endpoint, which gives one token for another (RFC 8693).

use std::collections::BTreeMap;

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, StatusCode};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};

use super::{IssuerKey, IssuerState, KEPT, is_our_client};

pub(super) const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// How an issuer exchanges tokens.
#[derive(Debug, Clone, Default)]
pub struct ExchangeTerms {
    /// Members over those of the usual answer; one that is null is left out.
    pub answer: Value,
    /// Status and answer of every request instead.
    pub refusal: Option<(u16, Value)>,
}

/// The fields of one request for an exchange.
pub type ExchangeRequest = BTreeMap<String, String>;

#[derive(Default)]
pub(super) struct Exchanges {
    pub(super) terms: ExchangeTerms,
    /// At most [`KEPT`].
    pub(super) requests: Vec<ExchangeRequest>,
}

/// Answers a request for another token.
pub(super) fn answer(
    state: &mut IssuerState,
    headers: &HeaderMap,
    request: &ExchangeRequest,
) -> Response {
    assert!(state.exchanges.requests.len() < KEPT, "a test asked for too much");
    state.exchanges.requests.push(request.clone());
    let refused = |status: StatusCode, error: &str| (status, Json(json!({ "error": error })));
    if let Some((status, answer)) = &state.exchanges.terms.refusal {
        let status = StatusCode::from_u16(*status).expect("it is a status");
        return (status, Json(answer.clone())).into_response();
    }
    if !is_our_client(headers) {
        return refused(StatusCode::UNAUTHORIZED, "invalid_client").into_response();
    }
    let field = |name: &str| request.get(name).map(String::as_str);
    let claims = field("subject_token").and_then(|token| state.claims_of(token));
    let Some(claims) = claims.filter(|_| field("subject_token_type") == Some(ACCESS_TOKEN)) else {
        return refused(StatusCode::BAD_REQUEST, "invalid_request").into_response();
    };
    let Some(audience) = field("audience").or_else(|| field("resource")) else {
        return refused(StatusCode::BAD_REQUEST, "invalid_target").into_response();
    };
    let given = state.claims(json!({
        "sub": claims["sub"],
        "aud": audience,
        "scope": field("scope"),
        "number": state.exchanges.requests.len(),
    }));
    let header = state.header(IssuerKey::P256, Value::Null);
    let token = state.signed(IssuerKey::P256, &header.to_string(), &given.to_string());
    let answer = json!({
        "access_token": token,
        "issued_token_type": ACCESS_TOKEN,
        "token_type": "Bearer",
        "expires_in": 3600,
    });
    Json(super::changed(answer, state.exchanges.terms.answer.clone())).into_response()
}

impl IssuerState {
    /// What a token says that it gave out itself.
    fn claims_of(&self, token: &str) -> Option<Value> {
        if let Some(claims) = self.opaque.get(token) {
            return Some(claims.clone());
        }
        let (text, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let key =
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.keys.public(IssuerKey::P256));
        key.verify(text.as_bytes(), &signature).ok()?;
        let claims = URL_SAFE_NO_PAD.decode(text.split('.').nth(1)?).ok()?;
        serde_json::from_slice(&claims).ok()
    }
}
