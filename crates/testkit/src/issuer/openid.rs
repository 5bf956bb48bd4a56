//! The issuer as an OpenID provider: it signs in whoever comes, and says about them what a test wants.

use std::collections::{BTreeMap, HashMap};

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    ISSUER_CLIENT, IssuerKey, IssuerState, KEPT, SharedIssuer, TokenIssuer, changed, lock,
};

/// Makes an ID token of its usual claims in a test's own way.
type Forge = Box<dyn Fn(&Value) -> String + Send>;

/// How the provider differs from one that does everything right.
#[derive(Default)]
pub struct IdentityRules {
    /// Members over those of the metadata. Null leaves one out.
    pub metadata: Value,
    /// Members over those of ID tokens and their headers.
    pub claims: Value,
    pub header: Value,
    pub forge: Option<Forge>,
    /// What the browser comes back with instead of a code: at most `KEPT` parameters.
    pub refusal: Option<Vec<(&'static str, String)>>,
    /// Parameters over those that the browser comes back with, at most `KEPT`. An empty one is left
    /// out.
    pub answer: Vec<(&'static str, String)>,
}

#[derive(Default)]
pub(super) struct OpenIdState {
    pub(super) rules: IdentityRules,
    /// What codes are good for, at most [`KEPT`].
    codes: HashMap<String, HashMap<String, String>>,
    /// The last request that a browser brought: at most [`KEPT`] parameters.
    asked: HashMap<String, String>,
}

impl TokenIssuer {
    /// Has the provider differ from one that does everything right.
    pub fn set_identity(&self, rules: IdentityRules) {
        self.lock().openid.rules = rules;
    }

    /// The parameters with which a browser came last.
    pub fn asked(&self) -> HashMap<String, String> {
        self.lock().openid.asked.clone()
    }
}

/// Signs a person in without a word, as a provider does that knows the browser.
pub(super) async fn authorize(
    State(state): State<SharedIssuer>,
    Query(asked): Query<HashMap<String, String>>,
) -> Response {
    let mut state = lock(&state);
    state.openid.asked.clone_from(&asked);
    let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let is_right = of("client_id") == ISSUER_CLIENT.0
        && of("response_type") == "code"
        && of("code_challenge_method") == "S256"
        && of("scope").split(' ').any(|scope| scope == "openid");
    if !is_right || state.openid.codes.len() >= KEPT {
        return (StatusCode::BAD_REQUEST, format!("{asked:?}")).into_response();
    }
    state.counts.sign_ins += 1;
    let mut back = vec![("state", of("state")), ("iss", state.issuer.clone())];
    if let Some(refusal) = &state.openid.rules.refusal {
        back.extend(refusal.iter().cloned());
    } else {
        let code = format!("planted-code-{}", state.openid.codes.len());
        back.push(("code", code.clone()));
        state.openid.codes.insert(code, asked.clone());
    }
    for (name, value) in &state.openid.rules.answer {
        back.retain(|(own, _)| own != name);
        if !value.is_empty() {
            back.push((name, value.clone()));
        }
    }
    let redirect = reqwest::Url::parse_with_params(&of("redirect_uri"), back);
    redirect.map_or(StatusCode::BAD_REQUEST.into_response(), |to| {
        Redirect::to(to.as_str()).into_response()
    })
}

/// Gives an ID token for a code, once, to the client that asked for it.
pub(super) fn answer(
    state: &mut IssuerState,
    headers: &HeaderMap,
    form: &BTreeMap<String, String>,
) -> Response {
    if let Some(status) = state.failure.and_then(|status| StatusCode::from_u16(status).ok()) {
        return status.into_response();
    }
    let refused =
        |error: &str| (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response();
    let of = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    if !state.is_client(headers, form) {
        return refused("invalid_client");
    }
    let Some(asked) = state.openid.codes.get_mut(of("code")).map(std::mem::take) else {
        return refused("invalid_grant");
    };
    let was = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(of("code_verifier")));
    if was("code_challenge") != challenge || was("redirect_uri") != of("redirect_uri") {
        return refused("invalid_grant");
    }
    state.counts.identities += 1;
    let identity = state.identity(&was("nonce"));
    Json(json!({
        "access_token": "planted-access-token",
        "token_type": "Bearer",
        "expires_in": 300,
        "id_token": identity,
    }))
    .into_response()
}

impl IssuerState {
    /// Whether a request proves its client in a way that the metadata offers.
    fn is_client(&self, headers: &HeaderMap, form: &BTreeMap<String, String>) -> bool {
        let (id, secret) = ISSUER_CLIENT;
        let ways = &self.openid.rules.metadata["token_endpoint_auth_methods_supported"];
        let offers =
            |way: &str| ways.as_array().is_none_or(|ways| ways.iter().any(|own| own == way));
        let basic = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
        let sent = headers.get(AUTHORIZATION).map(http::HeaderValue::as_bytes);
        let of = |name: &str| form.get(name).map(String::as_str);
        let is_in_body = of("client_id") == Some(id) && of("client_secret") == Some(secret);
        (offers("client_secret_basic") && sent == Some(basic.as_bytes()))
            || (offers("client_secret_post") && sent.is_none() && is_in_body)
    }

    fn identity(&self, nonce: &str) -> String {
        let rules = &self.openid.rules;
        let usual = json!({ "aud": ISSUER_CLIENT.0, "nonce": nonce, "client_id": null });
        let claims = changed(self.claims(usual), rules.claims.clone());
        if let Some(forge) = &rules.forge {
            return forge(&claims);
        }
        let header =
            changed(self.header(IssuerKey::P256, json!({ "typ": "JWT" })), rules.header.clone());
        self.signed(IssuerKey::P256, &header.to_string(), &claims.to_string())
    }
}
