//! The decision about a call: first what it refers to, then the facts, then policy.

use std::sync::Arc;

use gatefold_core::{Call, CallError, Resume, ResumeError, Target};
use gatefold_policy::{Admission, Facts, Obligations, Permit, ResolvedCall};
use serde_json::value::RawValue;
use tracing::Span;
use tracing::field::display;

use super::ActiveCall;
use super::record::{ApprovalFinding, identified};
use super::resolve::unknown;
use crate::limits::nesting::{check_depth, check_nesting};
use crate::parking::RunningCall;
use crate::records::CallOpened;
use crate::seal::{SealedCall, SealedState};

/// The decision about a call, and the record that states it.
pub(super) struct Decision {
    pub(super) record: CallOpened,
    pub(super) sealed: Option<SealedCall>,
    pub(super) admitted: Result<Admitted, CallError>,
}

/// How a call may go on.
pub(super) enum Admitted {
    Ready(Permit),
    /// The source is already waiting for this call's answers.
    Parked(Permit, RunningCall),
    /// A person must approve it first.
    NeedsApproval(ResolvedCall),
}

/// The opened seal of a call.
pub(super) struct OpenedSeal {
    pub(super) sealed: SealedCall,
    /// What the client's user answered, if asked for approval.
    approval: Option<Box<RawValue>>,
}

impl Decision {
    fn refused(record: CallOpened, sealed: Option<SealedCall>, error: CallError) -> Self {
        Self { record, sealed, admitted: Err(error) }
    }
}

impl ActiveCall {
    /// Decides about a call: first what it refers to, then the facts, then policy.
    pub(super) async fn decide(&self, mut call: Call) -> Decision {
        let record = self.record_of(&call);
        let unsealed = match self.unseal(&mut call) {
            Ok(unsealed) => unsealed,
            Err(error) => return Decision::refused(record, None, CallError::Resume(error)),
        };
        let record = CallOpened { id: call.id, ..record };
        let (sealed, answers) = match unsealed {
            Some(OpenedSeal { sealed, approval }) => (Some(sealed), approval),
            None => (None, None),
        };
        let target = match self.target(&mut call) {
            Ok(target) => target,
            Err(error) => return Decision::refused(record, sealed, error),
        };
        let record = identified(record, &target);
        let span = Span::current();
        span.record("domain", display(&target.domain)).record("tool", display(&target.id));
        let fits = sealed.as_ref().map_or(Ok(()), |sealed| {
            sealed.check(record.operation, &target, record.arguments_digest)
        });
        let limit = self.turn.runtime.limits.nesting;
        let may_nest = || check_nesting(&self.caller.lineage, &target, limit);
        let is_flat = || check_depth(&call, &target);
        let fits = fits.map_err(CallError::Resume).and_then(|()| may_nest());
        if let Err(error) = fits.and_then(|()| is_flat()) {
            return Decision::refused(record, sealed, error);
        }
        let mut facts = self.facts();
        if !self.turn.runtime.policy.asks(&call.principal, &facts, &target) {
            return self.admit(call, target, sealed, record, &facts, ApprovalFinding::Open);
        }
        let found = self.find_approval(&record, &target, sealed.as_ref(), answers.as_deref());
        let found = tokio::select! {
            biased;
            () = self.caller.cancel.cancelled() => Err(CallError::Cancelled),
            found = self.timer.within(found) => {
                found.unwrap_or_else(|_| Err(self.late(&target)))
            }
        };
        match found {
            Ok((finding, approval)) => {
                facts.approval = approval;
                self.admit(call, target, sealed, record, &facts, finding)
            }
            Err(error) => Decision::refused(record, sealed, error),
        }
    }

    /// Opens the seal of a call that resumes. The call gets its first id back, and the source gets
    /// its own state instead of the sealed one.
    pub(super) fn unseal(&self, call: &mut Call) -> Result<Option<OpenedSeal>, ResumeError> {
        let Some(Resume { state: Some(state), answers }) =
            call.resume.take_if(|resume| resume.state.is_some())
        else {
            return Ok(None);
        };
        let key = &self.turn.dispatcher.ports.seal;
        let sealed = SealedCall::open(&state, key, &call.principal, self.now())?;
        call.id = sealed.call;
        let state = match &sealed.state {
            SealedState::Approval => {
                return Ok(Some(OpenedSeal { sealed, approval: Some(answers) }));
            }
            SealedState::Source(state) => state.clone(),
            SealedState::Parked(_) => None,
        };
        call.resume = Some(Resume { state, answers });
        Ok(Some(OpenedSeal { sealed, approval: None }))
    }

    /// What policy needs to know besides the call, except for approvals, which are only looked up
    /// if a rule asks for one.
    pub(super) fn facts(&self) -> Facts {
        Facts {
            now: self.now(),
            approval: None,
            label: self.label(),
            depth: self.caller.lineage.depth,
            on_behalf_of: self.turn.on_behalf_of.clone(),
        }
    }

    /// Lets policy decide. The same call and facts give the same decision and the same record.
    pub(super) fn admit(
        &self,
        call: Call,
        target: Arc<Target>,
        sealed: Option<SealedCall>,
        mut record: CallOpened,
        facts: &Facts,
        finding: ApprovalFinding,
    ) -> Decision {
        let (kind, tool) = (target.kind, target.id.clone());
        let call = ResolvedCall::new(call, target, record.arguments_digest);
        let admitted = match self.turn.runtime.policy.admit(call, facts) {
            Admission::Granted(permit) => {
                record.rule = Some(permit.rule().clone());
                if let ApprovalFinding::Approved(by) = finding {
                    record.decided_by = Some(by);
                }
                if let Some(obligation) = unmet(permit.obligations()) {
                    let error = CallError::Unmet { tool, obligation };
                    return Decision::refused(record, sealed, error);
                }
                match sealed.as_ref().map(|sealed| &sealed.state) {
                    Some(SealedState::Parked(owner)) => {
                        let running = self.parked(record.id, *owner).map_err(CallError::Resume);
                        running.map(|running| Admitted::Parked(permit, running))
                    }
                    _ => Ok(Admitted::Ready(permit)),
                }
            }
            Admission::Ask(request) => {
                record.rule = Some(request.rule);
                match finding {
                    ApprovalFinding::Refused { by, reason } => {
                        record.decided_by = Some(by);
                        Err(CallError::NotApproved { tool, reason })
                    }
                    _ => Ok(Admitted::NeedsApproval(request.call)),
                }
            }
            Admission::Denied(denial) => {
                record.rule = Some(denial.rule.clone());
                Err(if denial.hidden {
                    unknown(kind, &record.subject)
                } else {
                    CallError::Denied { tool, rule: denial.rule }
                })
            }
        };
        Decision { record, sealed, admitted }
    }
}

/// The obligation of a permit that this path cannot meet, if any. As long as nothing can hide parts
/// of results, a call whose result has parts to hide is not made.
///
/// [`Obligations::preview_bytes`] is met where results are measured. That a person confirmed the
/// call is a fact and requires nothing.
fn unmet(obligations: &Obligations) -> Option<&'static str> {
    obligations.masks().next().map(|_| "parts of its result hidden")
}
