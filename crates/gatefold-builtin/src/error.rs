use gatefold_core::{BoxError, BusyResource, CallError, Domain, ToolId};

/// Why a tool gave no answer. The message is for the caller, often a model that will try again.
#[derive(Debug, thiserror::Error)]
pub enum BuiltinError {
    /// The caller can mend it.
    #[error("{0}")]
    Arguments(String),
    #[error("there is no such tool")]
    UnknownTool,
    /// A person could not be asked.
    #[error("{0}")]
    Unasked(String),
    /// Too many calculations are running.
    #[error("too many calls of this kind are running; try again shortly")]
    Busy,
    #[error("{reason}")]
    Unavailable {
        reason: String,
        #[source]
        source: Option<BoxError>,
    },
}

impl BuiltinError {
    pub(crate) fn arguments(message: impl Into<String>) -> Self {
        Self::Arguments(message.into())
    }

    pub(crate) fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), source: None }
    }

    pub(crate) fn of_call(self, tool: ToolId, domain: Domain) -> CallError {
        match self {
            Self::Arguments(message) => CallError::InvalidArguments { tool, message, data: None },
            Self::UnknownTool => CallError::Unknown { kind: "tool", name: tool.to_string() },
            Self::Unasked(reason) => CallError::Unasked { tool, reason },
            Self::Busy => CallError::Busy { domain, of: BusyResource::Calls },
            Self::Unavailable { reason, source } => {
                CallError::Unavailable { domain, reason, source }
            }
        }
    }
}
