//! A connection to one server, local or remote.

use std::sync::Arc;

use super::http::HttpWire;
use super::message::Reply;
use super::request::{WireError, WireRequest};
use super::stdio::StdioWire;

#[derive(Clone)]
pub(crate) enum Wire {
    Stdio(Arc<StdioWire>),
    Http(Arc<HttpWire>),
}

impl Wire {
    /// An id that no earlier request on this connection had, so that a late answer to an abandoned
    /// one is not mistaken for another's.
    pub(crate) fn next_id(&self) -> u64 {
        match self {
            Self::Stdio(wire) => wire.next_id(),
            Self::Http(wire) => wire.next_id(),
        }
    }

    /// Sends a request and waits for its answer. Dropping the future cancels the request.
    pub(crate) async fn request(&self, request: WireRequest) -> Result<Reply, WireError> {
        match self {
            Self::Stdio(wire) => wire.request(request).await,
            Self::Http(wire) => wire.request(request).await,
        }
    }

    /// Sends a notification that the server must have before anything else.
    pub(crate) async fn notify(&self, text: String) -> Result<(), WireError> {
        match self {
            Self::Stdio(wire) => wire.notify(text).await,
            Self::Http(wire) => wire.notify(text).await,
        }
    }

    /// Notes the negotiated version. Over HTTP every later request names it.
    pub(crate) fn settle(&self, version: &str) {
        if let Self::Http(wire) = self {
            wire.settle(version);
        }
    }

    /// Whether the greeting began a session. Without one, a remote server could not tell which of its
    /// questions an answer belongs to.
    pub(crate) fn has_session(&self) -> bool {
        match self {
            Self::Stdio(_) => true,
            Self::Http(wire) => wire.has_session(),
        }
    }

    /// Why the connection has ended, if it has.
    pub(crate) fn ended(&self) -> Option<String> {
        match self {
            Self::Stdio(wire) => wire.ended(),
            Self::Http(wire) => wire.ended(),
        }
    }

    /// The last lines that a local server wrote to its standard error.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        match self {
            Self::Stdio(wire) => wire.last_lines(),
            Self::Http(_) => Vec::new(),
        }
    }

    /// Waits until the connection has ended. A remote server has one only while its stream for what
    /// belongs to no request is open.
    pub(crate) async fn when_ended(&self) {
        match self {
            Self::Stdio(wire) => wire.when_ended().await,
            Self::Http(wire) => wire.when_ended().await,
        }
    }

    /// Whether it is we who read nothing of the server for now.
    pub(crate) fn waits_for_room(&self) -> bool {
        match self {
            Self::Stdio(wire) => wire.waits_for_room(),
            Self::Http(_) => false,
        }
    }

    /// Whether arguments are mirrored in headers.
    pub(crate) fn has_headers(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Whether asking again after this error is pointless. Over HTTP every request has a connection
    /// of its own, and the other calls of a session go on.
    pub(crate) fn is_spent(&self, error: &WireError) -> bool {
        match self {
            Self::Stdio(_) => matches!(error, WireError::NotSent(_) | WireError::Lost(_)),
            Self::Http(_) => matches!(error, WireError::Forgotten),
        }
    }

    /// Ends the connection, and tells the server.
    pub(crate) async fn close(&self) {
        match self {
            Self::Stdio(wire) => wire.close().await,
            Self::Http(wire) => wire.close().await,
        }
    }
}
