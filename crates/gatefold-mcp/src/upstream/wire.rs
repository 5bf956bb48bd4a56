//! A connection to one server, as requests of ours see it. rmcp shares the connection: it makes
//! the handshake and hears the notifications; requests go past it, so that what they carry stays
//! letter for letter.

use std::sync::Arc;

use ::http::header::{HeaderName, HeaderValue};

use super::http::HttpWire;
use super::message::Reply;
use super::reach::Reach;
use super::stdio::StdioWire;

/// One request, ready to be sent.
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) method: &'static str,
    /// The name that the header `Mcp-Name` mirrors.
    pub(crate) name: Option<Arc<str>>,
    /// Further headers, of arguments that are mirrored.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The whole message.
    pub(crate) text: String,
    pub(crate) reach: Arc<Reach>,
    /// The largest answer to read, in bytes.
    pub(crate) limit: u64,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// Nothing was sent: there was no connection any more, or none could be made.
    #[error("{0}")]
    NotSent(String),
    /// The server did nothing with it, for it knows nothing of the session any more.
    #[error("the server has forgotten the session")]
    Forgotten,
    /// The connection ended while the answer was awaited.
    #[error("{0}")]
    Lost(String),
    #[error("the answer has {0} bytes")]
    TooLarge(u64),
    #[error("{0}")]
    Broken(String),
    #[error("{0}")]
    Refused(String),
    /// The server did nothing with it, for it could not make anything of it.
    #[error("{0}")]
    TurnedAway(String),
}

#[derive(Clone)]
pub(crate) enum Wire {
    Stdio(Arc<StdioWire>),
    Http(Arc<HttpWire>),
}

impl Wire {
    /// Sends a request and waits for its answer. Dropped, it tells the server that the answer is
    /// not wanted any more.
    pub(crate) async fn request(&self, request: Request) -> Result<Reply, WireError> {
        match self {
            Self::Stdio(wire) => wire.request(request).await,
            Self::Http(wire) => wire.request(request).await,
        }
    }

    /// Why the connection has ended, if it has.
    pub(crate) fn ended(&self) -> Option<String> {
        match self {
            Self::Stdio(wire) => wire.ended(),
            Self::Http(wire) => wire.ended(),
        }
    }

    /// Waits until the connection has ended. A remote server has one only while it streams what
    /// belongs to no request.
    pub(crate) async fn when_ended(&self) {
        match self {
            Self::Stdio(wire) => wire.when_ended().await,
            Self::Http(wire) => wire.when_ended().await,
        }
    }

    /// The server's capabilities as it wrote them, where the connection shows them.
    pub(crate) fn capabilities(&self) -> Option<String> {
        match self {
            Self::Stdio(wire) => wire.capabilities(),
            Self::Http(_) => None,
        }
    }

    /// Whether arguments are mirrored in headers.
    pub(crate) fn has_headers(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Whether there is no use in asking again after this error. Over HTTP every request has a
    /// connection of its own, and the other calls of a session go on.
    pub(crate) fn is_spent(&self, error: &WireError) -> bool {
        match self {
            Self::Stdio(_) => matches!(error, WireError::NotSent(_) | WireError::Lost(_)),
            Self::Http(_) => matches!(error, WireError::Forgotten),
        }
    }

    pub(crate) async fn close(&self) {
        if let Self::Stdio(wire) = self {
            wire.close().await;
        }
    }
}
