//! Tokens for an application itself: OAuth's client credentials (RFC 6749, section 4.4).

use std::time::Duration;

use bytes::Bytes;
use gatefold_core::Secret;
use gatefold_egress::{EgressError, HttpClient, HttpRequest};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use super::{basic, insert};

/// The largest answer of a token endpoint, in bytes.
const ANSWER_LIMIT: u64 = 256 * 1024;
/// How long a token is used whose lifetime is not given.
const USUAL_LIFETIME: Duration = Duration::from_mins(5);
/// How long before its end a token is renewed: the clocks differ, and a request takes time.
const MARGIN: Duration = Duration::from_secs(30);
/// The most characters of an endpoint's own words in an error.
const WORDS: usize = 200;

/// An application's account at a token endpoint, and the token that it got there last.
#[derive(Debug)]
pub struct ClientCredentials {
    pub token_url: Url,
    pub client_id: String,
    pub client_secret: Secret,
    pub scopes: Vec<String>,
    /// Held while a token is fetched, so that calls share one.
    pub(super) token: Mutex<TokenState>,
}

#[derive(Debug, Default)]
pub(super) struct TokenState {
    token: Option<LivingToken>,
    /// The endpoint wants the account in the body, not in a header.
    wants_body: bool,
}

#[derive(Debug)]
struct LivingToken {
    value: Secret,
    renew_at: Instant,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("its token endpoint could not be asked")]
    Egress(#[source] EgressError),
    #[error("the answer of its token endpoint cannot be read")]
    Unreadable(#[source] EgressError),
    #[error(
        "its token endpoint answered {status}{words}; check `client_id`, `client_secret` and `scopes`"
    )]
    Refused { status: StatusCode, words: String },
    #[error("its token endpoint gave no bearer token")]
    NoToken,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: Secret,
    token_type: Option<String>,
    /// A number, which some endpoints write as a text.
    expires_in: Option<Value>,
}

#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
    error_description: Option<String>,
}

impl ClientCredentials {
    pub fn new(
        token_url: Url,
        client_id: String,
        client_secret: Secret,
        scopes: Vec<String>,
    ) -> Self {
        Self { token_url, client_id, client_secret, scopes, token: Mutex::default() }
    }

    /// The secret as the header of a request has it, where the parts are form-encoded first (RFC 6749,
    /// section 2.3.1).
    pub(super) fn encoded_secret(&self) -> Secret {
        Secret::new(form_encoded(self.client_secret.expose()))
    }

    /// The current token. Fetches one if there is none.
    pub(crate) async fn token(
        &self,
        client: &HttpClient,
        deadline: Instant,
    ) -> Result<Secret, TokenError> {
        let mut state = self.token.lock().await;
        if let Some(token) = &state.token
            && Instant::now() < token.renew_at
        {
            return Ok(token.value.clone());
        }
        state.token = None;
        let token = self.fetch(client, deadline, &mut state).await?;
        let value = token.value.clone();
        state.token = Some(token);
        Ok(value)
    }

    /// Drops a token that the API refused. The next call fetches another.
    pub(crate) async fn forget(&self, refused: &Secret) {
        let mut state = self.token.lock().await;
        if state.token.as_ref().is_some_and(|own| own.value == *refused) {
            state.token = None;
        }
    }

    async fn fetch(
        &self,
        client: &HttpClient,
        deadline: Instant,
        state: &mut TokenState,
    ) -> Result<LivingToken, TokenError> {
        let mut answer = self.ask(client, deadline, state.wants_body).await?;
        // Endpoints must accept a header (RFC 6749, section 2.3.1), and some accept only a body.
        let is_refused = matches!(answer.0, StatusCode::UNAUTHORIZED | StatusCode::BAD_REQUEST);
        if is_refused && !state.wants_body {
            let again = self.ask(client, deadline, true).await?;
            if again.0.is_success() {
                (answer, state.wants_body) = (again, true);
            }
        }
        let (status, body) = answer;
        if !status.is_success() {
            return Err(TokenError::Refused { status, words: words(&body) });
        }
        let answer: TokenAnswer = serde_json::from_slice(&body).map_err(|_| TokenError::NoToken)?;
        let is_bearer = answer.token_type.is_none_or(|name| name.eq_ignore_ascii_case("bearer"));
        if !is_bearer || answer.access_token.expose().is_empty() {
            return Err(TokenError::NoToken);
        }
        let seconds = answer.expires_in.as_ref().and_then(|value| match value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_u64(),
        });
        let lifetime = seconds.map_or(USUAL_LIFETIME, Duration::from_secs);
        let renew_in = lifetime.saturating_sub(MARGIN.min(lifetime / 2));
        let now = Instant::now();
        let renew_at = now.checked_add(renew_in).unwrap_or(now + USUAL_LIFETIME);
        Ok(LivingToken { value: answer.access_token, renew_at })
    }

    async fn ask(
        &self,
        client: &HttpClient,
        deadline: Instant,
        wants_body: bool,
    ) -> Result<(StatusCode, Bytes), TokenError> {
        let mut request = HttpRequest::new(Method::POST, self.token_url.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
            .header(ACCEPT, HeaderValue::from_static("application/json"));
        if !wants_body {
            let pair = basic(&form_encoded(&self.client_id), &self.encoded_secret());
            insert(&mut request.credentials, AUTHORIZATION, &format!("Basic {pair}"))
                .expect("Base64 is legal in a header");
        }
        let request = request.body(form_of(self, wants_body));
        let answer = client.send(request, deadline).await.map_err(TokenError::Egress)?;
        let status = answer.status();
        match answer.read_capped(ANSWER_LIMIT).await {
            Ok(body) => Ok((status, body)),
            // The status says enough.
            Err(_) if !status.is_success() => Ok((status, Bytes::new())),
            Err(error) => Err(TokenError::Unreadable(error)),
        }
    }
}

/// A text as a form or a query has it.
pub(super) fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn form_of(account: &ClientCredentials, wants_body: bool) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    if !account.scopes.is_empty() {
        form.append_pair("scope", &account.scopes.join(" "));
    }
    if wants_body {
        form.append_pair("client_id", &account.client_id);
        form.append_pair("client_secret", account.client_secret.expose());
    }
    form.finish()
}

/// What an endpoint says about its refusal, by RFC 6749, section 5.2. Anything else is not repeated: it may
/// echo the request.
fn words(body: &[u8]) -> String {
    let Ok(refusal) = serde_json::from_slice::<TokenRefusal>(body) else { return String::new() };
    let described = refusal.error_description.map(|text| format!(": {text}")).unwrap_or_default();
    let text: String = format!(" ({}{described})", refusal.error).chars().take(WORDS).collect();
    text.replace(char::is_control, " ")
}
