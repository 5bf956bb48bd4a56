//! One request on its way to a server, and why it may have no answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::http::StatusCode;
use ::http::header::{HeaderName, HeaderValue, LOCATION};
use gatefold_core::{AnswerFault, CallEffect, Hints};
use gatefold_dispatch::{MemoryShare, ResultRoom};
use gatefold_egress::asked_wait;
use gatefold_secrecy::KnownSecrets;
use reqwest::{Response, Url};

use super::back_channel::BackChannel;

/// The most requests under way on one connection. Further ones are refused.
pub(crate) const PENDING_REQUESTS: usize = 1024;

/// One request, ready to be sent.
pub(crate) struct WireRequest {
    pub(crate) id: u64,
    pub(crate) kind: RequestKind,
    pub(crate) method: &'static str,
    /// The name that the header `Mcp-Name` mirrors.
    pub(crate) name: Option<Arc<str>>,
    /// Headers that mirror arguments.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The whole message. `memory` is kept for as long as any part of it exists.
    pub(crate) text: String,
    pub(crate) memory: Option<Arc<dyn MemoryShare>>,
    pub(crate) back_channel: Arc<BackChannel>,
    /// The largest answer to read, in bytes.
    pub(crate) limit: u64,
    /// Where to ask before reading on in a large one. Only results of calls have to.
    pub(crate) room: Option<ResultRoom>,
}

impl WireRequest {
    /// A request of our own, on behalf of no caller.
    pub(crate) fn of_ours(
        id: u64,
        kind: RequestKind,
        method: &'static str,
        text: String,
        limit: u64,
    ) -> Self {
        Self {
            id,
            kind,
            method,
            name: None,
            headers: Vec::new(),
            text,
            memory: None,
            back_channel: Arc::default(),
            limit,
            room: None,
        }
    }
}

/// What happens to a request when nobody waits for its answer any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// The server is told. It may go on for a while, so what it says until then is in doubt.
    Ordinary,
    /// The server is not told: `initialize` must not be cancelled, and servers of the handshake era
    /// have crashed on a notification that came before it.
    Greeting,
    /// The server is told, which is how such a request ends. Nothing it says of other requests is
    /// in doubt.
    Subscription,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// Nothing was sent: there was no connection any more, or none could be made.
    #[error("{0}")]
    NotSent(String),
    /// The server did not act on it, because it has forgotten the session.
    #[error("the server has forgotten the session")]
    Forgotten,
    /// Nothing was sent: the session belongs to another client by now.
    #[error("the session belongs to another client")]
    Taken,
    /// The connection ended while the answer was awaited.
    #[error("{0}")]
    Lost(String),
    /// Nothing was sent: the limit on requests under way is reached.
    #[error("{PENDING_REQUESTS} requests are under way, which is the limit")]
    Full,
    #[error("the answer has {0} bytes")]
    TooLarge(u64),
    #[error("{0}")]
    Broken(String),
    /// Nothing was sent: there were no credentials.
    #[error("{0}")]
    NoCredentials(String),
    /// The server did nothing: somebody has to sign in first.
    #[error("{0}")]
    NeedsSignIn(String),
    /// The server answered with a status of HTTP and no message.
    #[error("{0}")]
    Refused(StatusRefusal),
    /// The same, and the server did not act on it, because it could not make sense of it.
    #[error("{0}")]
    TurnedAway(StatusRefusal),
}

/// An answer that is only a status of HTTP.
#[derive(Debug, Clone)]
pub(crate) struct StatusRefusal {
    pub(crate) status: StatusCode,
    /// How long the server wants to be left alone, if it says so.
    pub(crate) retry_after: Option<Duration>,
    /// The address to write instead, if the server sends us to the same place under another spelling.
    pub(crate) moved_to: Option<String>,
}

impl StatusRefusal {
    pub(crate) fn of(response: &Response, own: &Url, secrets: &KnownSecrets) -> Self {
        let (status, headers) = (response.status(), response.headers());
        let target = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let moved_to = target.filter(|_| status.is_redirection()).and_then(|target| {
            let address = respell(own, target)?;
            Some(secrets.mask(&address).into_owned())
        });
        Self { status, retry_after: asked_wait(headers), moved_to }
    }

    pub(crate) fn fault(&self) -> AnswerFault {
        AnswerFault::Status(self.status.as_u16())
    }

    /// What a request may have done that was answered so. Only an error of the server's own may come
    /// after it has begun (RFC 9110, section 15.6).
    pub(crate) fn effect(&self, hints: Hints) -> CallEffect {
        match (self.status.is_server_error(), hints.is_repeatable()) {
            (false, _) => CallEffect::Nothing,
            (true, true) => CallEffect::Repeatable,
            (true, false) => CallEffect::Possible,
        }
    }
}

impl fmt::Display for StatusRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status;
        if let Some(address) = &self.moved_to {
            let told = "it answered with HTTP status";
            return write!(f, "{told} {status}; write its URL as the server does: {address}");
        }
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; check its credentials",
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "; check its URL",
            _ if status.is_redirection() => "; check its URL",
            _ => "",
        };
        write!(f, "it answered with HTTP status {status}{hint}")
    }
}

/// The address of a redirect that leads to the same place, with or without a slash at its end, or
/// encrypted. It is our own, respelled: servers behind a proxy often do not know their scheme and port.
/// The query is left out, as it may be a secret.
fn respell(own: &Url, target: &str) -> Option<String> {
    let to = own.join(target).ok()?;
    let is_same_path = to.path().trim_end_matches('/') == own.path().trim_end_matches('/');
    let is_web = matches!(to.scheme(), "http" | "https");
    if !is_web || to.host_str() != own.host_str() || !is_same_path {
        return None;
    }
    let is_secured = own.scheme() == "http" && to.scheme() == "https";
    let mut address = if is_secured { to.clone() } else { own.clone() };
    address.set_path(to.path());
    address.set_query(None);
    address.set_fragment(None);
    // Both fail only for URLs that cannot have these parts.
    let _ = address.set_username("");
    let _ = address.set_password(None);
    let is_other = is_secured || to.path() != own.path();
    is_other.then(|| address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_to_the_same_place_gives_the_address_to_write() {
        for (own, target, expected) in [
            ("http://a.example/mcp", "/mcp/", Some("http://a.example/mcp/")),
            ("http://a.example/mcp/?k=s", "/mcp?k=s", Some("http://a.example/mcp")),
            ("http://a.example:81/mcp", "http://a.example/mcp/", Some("http://a.example:81/mcp/")),
            ("https://u:p@a.example/mcp", "http://a.example/mcp/", Some("https://a.example/mcp/")),
            ("http://a.example/mcp", "https://a.example/mcp", Some("https://a.example/mcp")),
            ("http://a.example/mcp", "/login", None),
            ("http://a.example/mcp", "http://b.example/mcp/", None),
            ("http://a.example/mcp", "ftp://a.example/mcp/", None),
            ("http://a.example/mcp", "/mcp", None),
        ] {
            let told = respell(&own.parse().unwrap(), target);
            assert_eq!(told.as_deref(), expected, "{own} {target}");
        }
    }
}
