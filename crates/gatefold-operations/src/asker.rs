use std::sync::Arc;

use gatefold_core::{Principal, UserId};
use gatefold_dispatch::DataOwner;

use crate::{Fault, OperationError};

/// Who asks for an operation.
#[derive(Debug, Clone)]
pub enum Asker {
    /// Whoever runs the gateway: everything on record is theirs to see, and they use tools as the
    /// local user.
    Operator,
    /// A user of the gateway, who sees their own calls and uses tools in their own view.
    Principal(Arc<Principal>),
}

impl Asker {
    /// Whose conversations and runs are theirs: the operator's are the local user's.
    pub(crate) fn owner(&self) -> DataOwner {
        match self {
            Self::Operator => DataOwner::lasting(&Principal::local()),
            Self::Principal(principal) => DataOwner::lasting(principal),
        }
    }

    /// The user to whose records the answer is confined.
    pub(crate) fn user(&self) -> Option<&UserId> {
        match self {
            Self::Operator => None,
            Self::Principal(principal) => Some(&principal.user),
        }
    }

    /// Refuses everybody but the operator. `act` says what is refused.
    pub(crate) fn require_operator(&self, act: &str) -> Result<(), OperationError> {
        match self {
            Self::Operator => Ok(()),
            Self::Principal(_) => {
                let text = format!("only the operator of this gateway may {act}");
                Err(OperationError::Refused(Fault::new(text)))
            }
        }
    }
}
