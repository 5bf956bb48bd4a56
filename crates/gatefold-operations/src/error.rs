use std::error::Error;
use std::sync::Arc;

use gatefold_agent::ReplayError;
use gatefold_dispatch::JournalError;
use gatefold_oauth::SignInError;
use gatefold_store::StoreError;
use serde::{Deserialize, Serialize};

/// Why an operation was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum OperationError {
    /// What the request names is not there, or not for whoever asks.
    #[error(transparent)]
    NotFound(Fault),
    /// Whoever asks may not, or the state of things does not allow it.
    #[error(transparent)]
    Refused(Fault),
    /// The request is wrong in itself.
    #[error(transparent)]
    Invalid(Fault),
    /// What it needs cannot be used now; the same request may succeed later.
    #[error(transparent)]
    Unavailable(Fault),
    /// Something of ours or of a provider went wrong.
    #[error(transparent)]
    Failed(Fault),
}

/// A fault in words for people, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}{}", help.as_ref().map(|help| format!("\n  help: {help}")).unwrap_or_default())]
pub struct Fault {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// For the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[source]
    pub because: Option<Box<Self>>,
}

impl Fault {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), help: None, because: None }
    }

    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// An error with its causes.
    pub(crate) fn of(error: &dyn Error) -> Self {
        let because = error.source().map(|cause| Box::new(Self::of(cause)));
        Self { because, ..Self::new(error.to_string()) }
    }
}

impl From<&StoreError> for OperationError {
    fn from(error: &StoreError) -> Self {
        let fault = Fault::of(error);
        let (kind, help): (fn(Fault) -> Self, _) = match error {
            StoreError::NoApproval(_) => {
                (Self::NotFound, "`gatefold approvals list` lists those that wait")
            }
            StoreError::ApprovalExpired(_) => {
                (Self::Refused, "have the client make the call again, which asks again")
            }
            StoreError::ApprovalUsed(_) => {
                (Self::Refused, "an approval is good for one call; the next call asks again")
            }
            StoreError::ApprovalDecided { .. } => {
                (Self::Refused, "`gatefold approvals list --all` shows how")
            }
            StoreError::NoToken(_) => (Self::NotFound, "`gatefold token list` shows names and ids"),
            StoreError::TokenNameTaken(_) => (
                Self::Refused,
                "choose another name, or revoke that one first: `gatefold token revoke NAME`",
            ),
            StoreError::TooManyTokens { .. } => {
                (Self::Refused, "revoke those that nobody uses: `gatefold token list`")
            }
            StoreError::TokenRefused(_) => (Self::Refused, "choose another"),
            StoreError::TooManyPeople { .. } => {
                (Self::Refused, "remove those who are gone: `gatefold user list`")
            }
            StoreError::Unusable { .. } | StoreError::Full { .. } | StoreError::Held { .. } => {
                return Self::Unavailable(fault);
            }
            _ => return Self::Failed(fault),
        };
        kind(fault.with_help(help))
    }
}

impl From<StoreError> for OperationError {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<Arc<StoreError>> for OperationError {
    fn from(error: Arc<StoreError>) -> Self {
        Self::from(&*error)
    }
}

impl From<JournalError> for OperationError {
    fn from(error: JournalError) -> Self {
        Self::Failed(Fault::of(&error))
    }
}

impl From<ReplayError> for OperationError {
    fn from(error: ReplayError) -> Self {
        Self::Failed(Fault::of(&error))
    }
}

impl From<SignInError> for OperationError {
    fn from(error: SignInError) -> Self {
        Self::Failed(match error.hint() {
            // The hint says more than the causes.
            Some(hint) => Fault::new(error.to_string()).with_help(hint),
            None => Fault::of(&error),
        })
    }
}
