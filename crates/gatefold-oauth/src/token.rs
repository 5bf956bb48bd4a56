//! Requests to a token endpoint, and its answers as providers really write them.

use std::time::Duration;

use gatefold_core::{Secret, Timestamp};
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::client::OAuthClient;
use crate::endpoint::{Answer, Endpoints};
use crate::grant::Tokens;
use crate::metadata::ServerMetadata;
use crate::{Refused, SignInError, lenient};

/// The longest token that is kept, in bytes. Longer ones fit into no header.
const TOKEN_LIMIT: usize = 64 * 1024;

/// What may go to a source as an access token (RFC 8693, section 3).
const ISSUED_TYPES: [&str; 2] =
    ["urn:ietf:params:oauth:token-type:access_token", "urn:ietf:params:oauth:token-type:jwt"];

/// What a request proves itself with. A provider that repeats it in an error is not quoted.
const SECRET_FIELDS: [&str; 7] = [
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "device_code",
    "refresh_token",
    "subject_token",
];

/// The longest lifetime that is believed, in seconds: ten years.
const LIFETIME_LIMIT_S: u64 = 10 * 366 * 24 * 3600;

/// An answer, whether it is one or a refusal: some providers refuse with status 200.
#[derive(Deserialize, Default)]
struct TokenAnswer {
    #[serde(default, deserialize_with = "lenient::secret")]
    access_token: Option<Secret>,
    #[serde(default, deserialize_with = "lenient::text")]
    token_type: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    issued_token_type: Option<String>,
    #[serde(default, deserialize_with = "lenient::seconds")]
    expires_in: Option<u64>,
    #[serde(default, deserialize_with = "lenient::secret")]
    refresh_token: Option<Secret>,
    #[serde(default, deserialize_with = "lenient::secret")]
    id_token: Option<Secret>,
    #[serde(default, deserialize_with = "lenient::scopes")]
    scope: Option<Vec<String>>,
    #[serde(default, deserialize_with = "lenient::text")]
    error: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    error_description: Option<String>,
}

/// Where tokens are asked for, and of whom.
#[derive(Clone, Copy)]
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) url: &'a Url,
}

impl<'a> TokenEndpoint<'a> {
    pub(crate) fn of(server: &'a ServerMetadata) -> Self {
        Self { issuer: &server.issuer, url: &server.token_endpoint }
    }

    /// Asks for tokens. What the request is for stands in `fields`.
    pub(crate) async fn ask(
        &self,
        endpoints: Endpoints<'_>,
        client: &OAuthClient,
        fields: &[(&str, &str)],
        now: Timestamp,
    ) -> Result<Tokens, SignInError> {
        tokens(self.said(endpoints, client, fields, now).await?, now)
    }

    /// Asks who somebody is that has signed in. What the access token is good for is nobody's business
    /// here.
    pub(crate) async fn ask_id_token(
        &self,
        endpoints: Endpoints<'_>,
        client: &OAuthClient,
        fields: &[(&str, &str)],
        now: Timestamp,
    ) -> Result<Secret, SignInError> {
        let said = self.said(endpoints, client, fields, now).await?;
        said.id_token.ok_or(SignInError::TokenAnswer("it has no `id_token`"))
    }

    async fn said(
        &self,
        endpoints: Endpoints<'_>,
        client: &OAuthClient,
        fields: &[(&str, &str)],
        now: Timestamp,
    ) -> Result<TokenAnswer, SignInError> {
        let proof = client.proof(self.issuer, now)?;
        let answer = endpoints.post_form("token", self.url, fields, &proof).await?;
        let sent = fields.iter().copied();
        let sent = sent.chain(proof.fields.iter().map(|(name, value)| (*name, value.expose())));
        let secrets = sent.filter(|(name, _)| SECRET_FIELDS.contains(name));
        read(&answer).map_err(|error| error.without(secrets.map(|(_, value)| value)))
    }
}

fn read(answer: &Answer) -> Result<TokenAnswer, SignInError> {
    let said: TokenAnswer = serde_json::from_slice(&answer.body)
        .ok()
        .or_else(|| form(&answer.body))
        .unwrap_or_default();
    if said.error.is_some() || !answer.status.is_success() {
        let (error, description) = (said.error.as_deref(), said.error_description.as_deref());
        return Err(SignInError::Token(Refused::new(error, description, answer.status)));
    }
    Ok(said)
}

fn tokens(said: TokenAnswer, now: Timestamp) -> Result<Tokens, SignInError> {
    let Some(access) = said.access_token else {
        return Err(SignInError::TokenAnswer("it has no `access_token`"));
    };
    let is_other = |kind: String| !kind.is_empty() && !kind.eq_ignore_ascii_case("bearer");
    if said.token_type.is_some_and(is_other) {
        return Err(SignInError::TokenAnswer("its token is not a bearer token"));
    }
    // Of a token exchange (RFC 8693, section 2.2.1).
    let is_for_access = |kind: &String| ISSUED_TYPES.contains(&kind.as_str());
    if !said.issued_token_type.as_ref().is_none_or(is_for_access) {
        return Err(SignInError::TokenAnswer("its token is not an access token"));
    }
    // A token goes into a header as it is (RFC 6750, section 2.1).
    if access.expose().len() > TOKEN_LIMIT || !access.expose().bytes().all(|b| b.is_ascii_graphic())
    {
        return Err(SignInError::TokenAnswer("its token fits into no header"));
    }
    let lifetime =
        said.expires_in.map(|seconds| Duration::from_secs(seconds.min(LIFETIME_LIMIT_S)));
    Ok(Tokens {
        access,
        refresh: said.refresh_token,
        obtained_at: now,
        expires_at: lifetime.map(|lifetime| now.plus(lifetime)),
        scopes: said.scope,
    })
}

/// An answer as a form, which at least one large provider writes unless it is begged not to.
fn form(body: &[u8]) -> Option<TokenAnswer> {
    let pairs = url::form_urlencoded::parse(body);
    let members: Map<_, _> =
        pairs.map(|(name, value)| (name.into_owned(), Value::from(value))).collect();
    let answer: TokenAnswer = serde_json::from_value(Value::Object(members)).ok()?;
    (answer.access_token.is_some() || answer.error.is_some()).then_some(answer)
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    fn check(status: u16, body: &str, expected: &str) {
        let answer =
            Answer { status: StatusCode::from_u16(status).unwrap(), body: body.to_owned().into() };
        let read = read(&answer).and_then(|said| tokens(said, Timestamp::from_millis(0)));
        let told = match read {
            Ok(tokens) => format!(
                "{} {:?} {:?} {:?}",
                tokens.access.expose(),
                tokens.refresh.as_ref().map(Secret::expose),
                tokens.expires_at.map(Timestamp::as_millis),
                tokens.scopes
            ),
            Err(error) => error.to_string(),
        };
        assert_eq!(told, expected, "{body}");
    }

    #[test]
    fn answers_are_read_as_providers_write_them() {
        check(200, r#"{"access_token":"a","token_type":"Bearer"}"#, "a None None None");
        check(
            200,
            r#"{"access_token":"a","token_type":"bearer","expires_in":"60","refresh_token":"r","scope":"x y"}"#,
            r#"a Some("r") Some(60000) Some(["x", "y"])"#,
        );
        check(
            200,
            r#"{"access_token":"a","expires_in":1e99,"refresh_token":""}"#,
            "a None None None",
        );
        check(
            200,
            "access_token=a&scope=repo%2Cgist&token_type=bearer",
            r#"a None None Some(["repo", "gist"])"#,
        );
        check(
            200,
            r#"{"access_token":"a","expires_in":3600.5,"refresh_token":null,"scope":["x",null,"y"]}"#,
            r#"a None Some(3600000) Some(["x", "y"])"#,
        );
        check(
            200,
            r#"{"access_token":"a","token_type":null,"expires_in":null,"scope":null,"id_token":7}"#,
            "a None None None",
        );
        check(
            400,
            r#"{"error":{"code":7},"error_description":null}"#,
            "no token was given: HTTP status 400 Bad Request",
        );
        let gone = "no token was given: `invalid_grant`: gone";
        check(400, r#"{"error":"invalid_grant","error_description":"gone"}"#, gone);
        check(200, r#"{"error":"invalid_grant","error_description":"gone"}"#, gone);
        check(200, "error=invalid_grant&error_description=gone", gone);
        check(502, "<html>", "no token was given: HTTP status 502 Bad Gateway");
        let unusable =
            |reason: &str| format!("the token endpoint's answer cannot be used: {reason}");
        check(200, "{}", &unusable("it has no `access_token`"));
        check(200, "<html>", &unusable("it has no `access_token`"));
        check(
            200,
            r#"{"access_token":"a","token_type":"DPoP"}"#,
            &unusable("its token is not a bearer token"),
        );
        check(200, r#"{"access_token":"a\r\nx"}"#, &unusable("its token fits into no header"));
        check(
            200,
            r#"{"access_token":"a","issued_token_type":"urn:ietf:params:oauth:token-type:id_token"}"#,
            &unusable("its token is not an access token"),
        );
        check(
            200,
            r#"{"access_token":"a","issued_token_type":"urn:ietf:params:oauth:token-type:jwt"}"#,
            "a None None None",
        );
    }
}
