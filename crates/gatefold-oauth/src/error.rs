use std::borrow::Cow;

use gatefold_core::BoxError;
use gatefold_egress::EgressError;
use http::StatusCode;

use crate::TokenFault;

/// The longest text of a server that is repeated, in characters.
const SAID: usize = 300;

/// How many characters of a secret make a text one that repeats it.
const REPEATED: usize = 16;

/// Why nobody could be signed in, or a token could not be had. No text holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    #[error("the {what} could not be asked for: {source}")]
    Unreachable {
        what: &'static str,
        #[source]
        source: EgressError,
    },
    #[error("`{resource}` does not say where to sign in")]
    NoServer { resource: String },
    #[error("`{issuer}` has no metadata that says where to sign in")]
    NoMetadata { issuer: String },
    #[error("the metadata at `{url}` cannot be used: {reason}")]
    Metadata { url: String, reason: String },
    #[error("the metadata is about `{found}`, not about `{expected}`")]
    OtherResource { expected: String, found: String },
    #[error("the metadata is that of `{found}`, not of `{expected}`")]
    OtherIssuer { expected: String, found: String },
    #[error("`{issuer}` does not offer PKCE with S256, without which a sign-in is not safe")]
    NoPkce { issuer: String },
    #[error("`{issuer}` does not say where its keys are")]
    NoKeys { issuer: String },
    #[error("`{issuer}` does not say where to ask about its tokens")]
    NoIntrospection { issuer: String },
    #[error("nobody exchanges the tokens of `{issuer}` for this source")]
    NoExchange { issuer: String },
    #[error("`{issuer}` has no page to sign in at")]
    NoPage { issuer: String },
    #[error("`{issuer}` cannot sign in a device without a browser")]
    NoDevices { issuer: String },
    #[error("`{issuer}` does not let programs register themselves")]
    NeedsClient { issuer: String },
    #[error("`{issuer}` did not register Gatefold: {refused}")]
    Registration { issuer: String, refused: Refused },
    #[error("the answer belongs to another sign-in")]
    OtherState,
    #[error("the answer names the issuer `{found}` instead of `{expected}`")]
    WrongIssuer { expected: String, found: String },
    #[error("the answer does not name its issuer, as `{expected}` promises to")]
    NoIssuer { expected: String },
    #[error("the answer has no code")]
    NoCode,
    #[error("the sign-in was refused: {0}")]
    Denied(Refused),
    #[error("no token was given: {0}")]
    Token(Refused),
    /// What was asked for is for the configuration to say.
    #[error("the provider refused {}: {refused}", asked_scopes(asked))]
    Scopes {
        asked: Vec<String>,
        /// Those that probably go through, as far as the provider lets it be seen.
        likely: Vec<String>,
        /// The key that says what to ask for.
        key: &'static str,
        refused: Refused,
    },
    #[error("the provider refused the redirect address `{redirect}`: {refused}")]
    Redirect { redirect: String, key: &'static str, refused: Refused },
    #[error("the {what} was refused: {refused}")]
    Refusal { what: &'static str, refused: Refused },
    #[error("the ID token cannot be believed: {0}")]
    Identity(#[source] TokenFault),
    #[error("the token endpoint's answer cannot be used: {0}")]
    TokenAnswer(&'static str),
    #[error("no port of this machine could be opened for the browser: {0}")]
    NoPort(#[source] std::io::Error),
    #[error(
        "port {port}, to which the provider sends the browser back, cannot be opened: {source}"
    )]
    PortTaken {
        port: u16,
        #[source]
        source: std::io::Error,
    },
    #[error("too many wait for `{issuer}` at the moment")]
    Busy { issuer: String },
    #[error("nobody signed in in time")]
    Late,
    #[error("the key cannot be used: {0}")]
    Key(&'static str),
    #[error("no random numbers could be had")]
    Random(#[source] getrandom::Error),
    #[error("the kept sign-ins cannot be used: {0}")]
    Store(#[source] BoxError),
}

impl SignInError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(Cow::Borrowed(match self {
            Self::Scopes { likely, key, .. } => {
                let scopes = match likely.as_slice() {
                    [] => "\"...\"".to_owned(),
                    likely => {
                        likely.iter().map(|own| format!("{own:?}")).collect::<Vec<_>>().join(", ")
                    }
                };
                return Some(format!("write `{key} = [{scopes}]` into the source").into());
            }
            Self::Redirect { key, .. } => {
                let hint = "into the source, as the provider knows the address";
                return Some(
                    format!("write `{key} = \"http://localhost:PORT/callback\"` {hint}").into(),
                );
            }
            Self::NoServer { .. } => {
                "check the URL; if the server takes a token, write \
                 `headers = { Authorization = \"Bearer ${secret:NAME}\" }` into the source, and store \
                 it: `gatefold secret set NAME`"
            }
            Self::NoMetadata { .. } => {
                "check `issuer`, or write `authorize_url` and `token_url` instead of it"
            }
            Self::NoKeys { .. } => "write `jwks_uri` beside `issuer`",
            Self::NoIntrospection { .. } => "write `introspection_endpoint` beside `issuer`",
            Self::NeedsClient { .. } => {
                "register Gatefold there as an application, with a redirect address on \
                 `http://127.0.0.1`, and write its `client_id` into the source; if the provider \
                 knows another redirect address, write that as `redirect_url` beside it"
            }
            Self::PortTaken { .. } => {
                "end the program that listens there, perhaps another `gatefold login`"
            }
            Self::NoDevices { .. } => "sign in with a browser, or paste the address it ends at",
            Self::OtherState | Self::WrongIssuer { .. } | Self::NoIssuer { .. } => {
                "begin again, and trust no link that you did not get from Gatefold"
            }
            Self::Late => "begin again",
            _ => return None,
        }))
    }

    /// Whether the provider refuses this caller, and may give another one what it asks for.
    pub(crate) fn is_about_the_caller(&self) -> bool {
        match self {
            Self::NoExchange { .. } => true,
            Self::Token(refused) => refused.is_about_the_caller(),
            _ => false,
        }
    }

    /// Whether the provider will never give another token for what it was asked with.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Token(refused) if refused.is_grant_gone())
    }

    /// The same error, without words of a provider that repeat one of these secrets, or begin to.
    pub(crate) fn without<'a>(mut self, secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let Self::Token(refused) = &mut self else { return self };
        for secret in secrets {
            let beginning: String = secret.chars().take(REPEATED).collect();
            let repeats = |text: &mut String| !secret.is_empty() && text.contains(&beginning);
            refused.error.take_if(repeats);
            refused.description.take_if(repeats);
        }
        self
    }

    pub(crate) fn metadata(url: &reqwest::Url, reason: impl Into<String>) -> Self {
        Self::Metadata { url: gatefold_egress::redacted(url), reason: reason.into() }
    }
}

/// An error as OAuth puts it (RFC 6749, section 5.2), or at least its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The code, such as `invalid_grant`, if there was one.
    pub error: Option<String>,
    pub description: Option<String>,
    pub status: StatusCode,
}

impl Refused {
    pub(crate) fn new(error: Option<&str>, description: Option<&str>, status: StatusCode) -> Self {
        Self { error: error.map(said), description: description.map(said), status }
    }

    /// Whether the code or the refresh token that was shown is of no more use.
    fn is_grant_gone(&self) -> bool {
        self.error.as_deref() == Some("invalid_grant")
    }

    /// Whether it is about what was asked for, and neither about our client nor about this moment.
    fn is_about_the_caller(&self) -> bool {
        let others =
            ["invalid_client", "unauthorized_client", "temporarily_unavailable", "slow_down"];
        let is_now = self.status == StatusCode::TOO_MANY_REQUESTS || !self.status.is_client_error();
        !is_now && self.error.as_deref().is_some_and(|error| !others.contains(&error))
    }

    /// Whether the provider may not know the client only because it proved itself in another way
    /// than the provider reads.
    pub(crate) fn may_be_for_the_proof(&self) -> bool {
        let is_about_now =
            self.status.is_server_error() || self.status == StatusCode::TOO_MANY_REQUESTS;
        !is_about_now && !self.is_grant_gone()
    }

    /// Whether other scopes may go through.
    pub(crate) fn is_about_scopes(&self) -> bool {
        self.is("invalid_scope")
            || ((self.is("invalid_request") || self.is("invalid_client_metadata"))
                && self.speaks_of("scope"))
    }

    /// Whether the provider may know the client by another address to come back to.
    pub(crate) fn is_about_redirect(&self) -> bool {
        let codes = ["invalid_redirect_uri", "redirect_uri_mismatch"];
        codes.iter().any(|code| self.is(code)) || self.speaks_of("redirect")
    }

    /// Whether the description has a text, in upper or lower case.
    pub(crate) fn speaks_of(&self, text: &str) -> bool {
        let said = self.description.as_deref().unwrap_or_default().to_ascii_lowercase();
        said.contains(&text.to_ascii_lowercase())
    }

    pub(crate) fn is(&self, error: &str) -> bool {
        self.error.as_deref() == Some(error)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.error, &self.description) {
            (Some(error), Some(description)) => write!(f, "`{error}`: {description}"),
            (Some(error), None) => write!(f, "`{error}`"),
            (None, _) => write!(f, "HTTP status {}", self.status),
        }
    }
}

fn asked_scopes(asked: &[String]) -> String {
    match asked {
        [] => "to sign anybody in without scopes".to_owned(),
        asked => format!("the scopes `{}`", said(&asked.join(" "))),
    }
}

/// A server's words, as far as they may be repeated.
pub(crate) fn said(text: &str) -> String {
    let text: String = text.chars().take(SAID).collect();
    text.replace(char::is_control, " ")
}
