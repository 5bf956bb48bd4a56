//! Calls that need a person's approval, and the decision.

use gatefold_store::{ApprovalFilter, ApprovalRecord};
use serde::{Deserialize, Serialize};

use crate::{Fault, LISTED, OperationError, StateOperations};

/// The longest reason for a denial, in bytes. It is shown to whoever asked, often a model.
pub const REASON_BYTES: usize = 500;

/// What a person decided about one call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DecideApproval {
    /// The id of the request, as a person typed it.
    pub id: String,
    pub verdict: Verdict,
    /// The name of the person who decides.
    pub by: String,
}

/// Yes or no to one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The call succeeds once, when it is made again.
    Approve,
    /// The reason has 1 to [`REASON_BYTES`] bytes.
    Deny { reason: Option<String> },
}

impl StateOperations {
    /// The requests for approval, the oldest first.
    pub async fn approvals(
        &self,
        of: ApprovalFilter,
    ) -> Result<Vec<ApprovalRecord>, OperationError> {
        self.asker.require_operator("see what waits for approval")?;
        Ok(self.store.approvals(of, LISTED).await?)
    }

    /// One request, for a decision. Refuses one whose arguments are not all there to be read.
    pub async fn approval(&self, id: &str) -> Result<ApprovalRecord, OperationError> {
        self.asker.require_operator("see what waits for approval")?;
        let record = self.store.approval(id).await?;
        let kept = record.arguments.as_ref().map_or(0, |arguments| arguments.get().len() as u64);
        if record.state == "pending" && kept != record.arguments_bytes {
            let fault = Fault::new(format!(
                "the arguments have {} bytes, too many to be shown: nobody can approve them",
                record.arguments_bytes
            ));
            return Err(OperationError::Refused(fault.with_help(
                "deny it, and have the client do it in smaller calls, or use one that asks its user",
            )));
        }
        Ok(record)
    }

    /// Approves or denies one request.
    pub async fn decide(
        &self,
        decision: &DecideApproval,
    ) -> Result<ApprovalRecord, OperationError> {
        self.asker.require_operator("approve or deny a call")?;
        let DecideApproval { id, verdict, by } = decision;
        match verdict {
            Verdict::Approve => {
                self.approval(id).await?;
                Ok(self.store.approve(id, by).await?)
            }
            Verdict::Deny { reason } => {
                if reason.as_ref().is_some_and(|text| !(1..=REASON_BYTES).contains(&text.len())) {
                    let text = format!("the reason for a denial has 1 to {REASON_BYTES} bytes");
                    return Err(OperationError::Invalid(Fault::new(text)));
                }
                Ok(self.store.deny(id, by, reason.as_deref()).await?)
            }
        }
    }
}
