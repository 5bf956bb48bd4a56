use crate::action::Action;

use super::limits::{MAX_HEADER_BYTES, MAX_URL_BYTES};

/// Why arguments cannot be sent. Nothing left the process.
///
/// The message is for whoever made the call, often a model that will read it and try again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error("`{argument}` is missing, and the path `{path}` needs it")]
    MissingInPath { argument: String, path: String },
    #[error("`{argument}` {fault}")]
    Argument { argument: String, fault: String },
    #[error("the arguments make a URL of {bytes} bytes, and at most {MAX_URL_BYTES} can be sent")]
    LongUrl { bytes: usize },
    #[error(
        "`{argument}` has {bytes} bytes as a header, and at most {MAX_HEADER_BYTES} can be sent"
    )]
    LongHeader { argument: String, bytes: usize },
    /// A server may take the path for another operation's. `needs_decoding` says whether it would have to decode
    /// the path before it looks for segments.
    #[error(
        "these values in the path `{path}` would call another operation: give the identifier of one thing, or use \
         the tool of that operation"
    )]
    OtherOperation { path: String, needs_decoding: bool },
    #[error("the arguments would give `{name}`, which is set without them: leave it out")]
    Credential { name: String },
    /// The action itself is at fault, so no other arguments would help.
    #[error("`{method} {path}` cannot be sent: {fault}")]
    Action { method: String, path: String, fault: String },
}

impl RequestError {
    pub(super) fn argument(argument: &str, fault: impl Into<String>) -> Self {
        Self::Argument { argument: argument.to_owned(), fault: fault.into() }
    }

    pub(super) fn action(action: &Action, fault: &str) -> Self {
        let (method, path) = (action.method.clone(), action.path.clone());
        Self::Action { method, path, fault: fault.to_owned() }
    }
}
