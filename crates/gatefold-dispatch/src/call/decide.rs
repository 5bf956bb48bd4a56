//! The one path that every call takes, from its name to the end of its record.
//!
//! Each call has a span, `call`, at debug level: the call's id, its source's domain, its tool's id
//! and its outcome, never its arguments. If nobody listens, it costs reading one number.

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{ResolvedEntry, is_nested_deeper};
use gatefold_core::{Call, CallError, CallId, Digest, Outcome, Resume, ResumeError, Target};
use gatefold_policy::{Admission, Facts, Obligations, Permit, ResolvedCall};
use serde_json::value::RawValue;
use tokio::time::timeout;
use tracing::field::{Empty, display};
use tracing::{Instrument as _, Span};

use crate::call::chain::Chain;
use crate::call::consent::{self, ApprovalFinding};
use crate::call::park::RunningCall;
use crate::call::record::RECORD_WAIT;
use crate::call::resolve::unknown;
use crate::call::seal::{SealedCall, SealedState, digest};
use crate::{AuditOutcome, CallClosed, CallOpened, Caller, DecidedBy, PinnedTurn, Question};

/// How deep arguments and answers may be nested. Nobody's are, and parsers that recurse read as many.
pub const JSON_LEVELS: usize = 256;

/// The decision about a call, and the record that states it.
struct Decision {
    record: CallOpened,
    sealed: Option<SealedCall>,
    admitted: Result<AdmissionOutcome, CallError>,
}

/// The outcome of admission, unless it is an error.
enum AdmissionOutcome {
    Ready(Permit),
    /// The source is already waiting for this call's answers.
    Parked(Permit, RunningCall),
    /// A person must approve it first.
    NeedsApproval(ResolvedCall),
}

/// What a suspended call is bound to.
pub(crate) struct Bound {
    pub(crate) call: CallId,
    pub(crate) operation: &'static str,
    pub(crate) target: Arc<Target>,
    pub(crate) arguments: Digest,
    /// Who approved it. It needs no second approval to continue.
    pub(crate) approved_by: Option<DecidedBy>,
}

impl Bound {
    pub(crate) fn of(permit: &Permit, approved_by: Option<DecidedBy>) -> Self {
        let (call, arguments) = (permit.call(), permit.arguments_digest());
        let operation = call.operation.as_str();
        let target = permit.target().clone();
        Self { call: call.id, operation, target, arguments, approved_by }
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

/// The opened seal of a call.
struct OpenedSeal {
    sealed: SealedCall,
    /// What the client's user answered, if asked for approval.
    approval: Option<Box<RawValue>>,
}

impl PinnedTurn {
    pub(crate) async fn run(
        &self,
        call: Call,
        entry: Option<&ResolvedEntry>,
        chain: &Chain,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let span = tracing::debug_span!(
            "call",
            id = %call.id,
            domain = Empty,
            tool = Empty,
            outcome = Empty
        );
        let ended = async {
            let result = self.decide_and_make(call, entry, chain, caller).await;
            Span::current().record("outcome", outcome_word(&result));
            result
        };
        ended.instrument(span).await
    }

    async fn decide_and_make(
        &self,
        call: Call,
        entry: Option<&ResolvedEntry>,
        chain: &Chain,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let own_id = call.id;
        let Decision { mut record, sealed, admitted } =
            self.decide(call, entry, chain, &caller).await;
        if !matches!(admitted, Ok(AdmissionOutcome::Parked(..)) | Err(CallError::Resume(_))) {
            self.let_go(record.id, sealed.as_ref());
        }
        let error = match admitted {
            Ok(AdmissionOutcome::Ready(permit)) => {
                let bound = Bound::of(&permit, record.decided_by.clone());
                return self.invoke(permit, bound, record, chain, caller).await;
            }
            Ok(AdmissionOutcome::Parked(permit, running)) => {
                // The source already has the permit from the first time; this one proves that the
                // call is still allowed.
                return self.take_up(running, &permit, record, chain, &caller).await;
            }
            Ok(AdmissionOutcome::NeedsApproval(call)) => {
                let target = call.target().clone();
                let question = consent::question(&target, call.call().operation.arguments());
                let can_ask =
                    |question: &Question| caller.peer.capabilities().lacks(question).is_none();
                if let Some(question) = question.filter(can_ask) {
                    let questions = consent::questions(&question);
                    let bound = Bound {
                        call: record.id,
                        operation: record.operation,
                        target,
                        arguments: record.arguments_digest,
                        approved_by: None,
                    };
                    let state = SealedState::Approval;
                    let (suspension, expires_at) = self.seal(&bound, questions, state);
                    self.record_unsent(record, AuditOutcome::Suspended(expires_at)).await;
                    return Ok(Outcome::Suspended(suspension));
                }
                self.asked_elsewhere(&call, &record).await
            }
            Err(error) => self.with_suggestions(error, chain, &caller.cancel).await,
        };
        if matches!(error, CallError::Resume(_)) {
            // The suspended call's record stays, because it may still be resumed unchanged.
            record.id = own_id;
        }
        self.record_unsent(record, AuditOutcome::Failed(error.kind())).await;
        Err(error)
    }

    /// Ends the record of a suspended call that its client could not resume.
    pub(crate) async fn end_suspended(
        &self,
        mut call: Call,
        entry: Option<&ResolvedEntry>,
        chain: &Chain,
        error: &CallError,
    ) {
        let record = self.record_of(&call, chain);
        let Ok(Some(unsealed)) = self.unseal(&mut call) else {
            return;
        };
        let record = CallOpened { id: call.id, ..record };
        let Ok(target) = self.target(&mut call, entry) else { return };
        let (record, sealed) = (identified(record, &target), Some(unsealed.sealed));
        let facts = self.facts(chain);
        // Only for the record, which repeats what was found out about the call.
        let decision = self.admit(call, target, sealed, record, &facts, ApprovalFinding::Open);
        let outcome = match error {
            CallError::Cancelled => AuditOutcome::Cancelled,
            error => AuditOutcome::Failed(error.kind()),
        };
        self.record_unsent(decision.record, outcome).await;
    }

    fn record_of(&self, call: &Call, chain: &Chain) -> CallOpened {
        let arguments = call.operation.arguments();
        CallOpened {
            id: call.id,
            parent: call.parent,
            at: self.now(),
            principal: call.principal.clone(),
            client: chain.client.clone(),
            operation: call.operation.as_str(),
            subject: call.operation.subject().to_owned(),
            domain: None,
            tool: None,
            tool_digest: None,
            rule: None,
            decided_by: None,
            arguments_digest: digest(arguments.as_bytes()),
            arguments_bytes: arguments.len(),
        }
    }

    /// Opens the seal of a call that resumes. The call gets its first id back, and the source gets
    /// its own state instead of the sealed one.
    fn unseal(&self, call: &mut Call) -> Result<Option<OpenedSeal>, ResumeError> {
        let Some(Resume { state: Some(state), answers }) =
            call.resume.take_if(|resume| resume.state.is_some())
        else {
            return Ok(None);
        };
        let key = &self.dispatcher.ports.seal;
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

    /// Decides about a call: first what it refers to, then the facts, then policy.
    async fn decide(
        &self,
        mut call: Call,
        entry: Option<&ResolvedEntry>,
        chain: &Chain,
        caller: &Caller,
    ) -> Decision {
        let record = self.record_of(&call, chain);
        let unsealed = match self.unseal(&mut call) {
            Ok(unsealed) => unsealed,
            Err(error) => return Decision::refused(record, None, CallError::Resume(error)),
        };
        let record = CallOpened { id: call.id, ..record };
        let (sealed, answers) = match unsealed {
            Some(OpenedSeal { sealed, approval }) => (Some(sealed), approval),
            None => (None, None),
        };
        let target = match self.target(&mut call, entry) {
            Ok(target) => target,
            Err(error) => return Decision::refused(record, sealed, error),
        };
        let record = identified(record, &target);
        let span = Span::current();
        span.record("domain", display(&target.domain)).record("tool", display(&target.id));
        let fits = sealed.as_ref().map_or(Ok(()), |sealed| {
            sealed.check(record.operation, &target, record.arguments_digest)
        });
        let may_nest = || self.check_nesting(chain, &target);
        let is_flat = || check_depth(&call, &target);
        let fits = fits.map_err(CallError::Resume).and_then(|()| may_nest());
        if let Err(error) = fits.and_then(|()| is_flat()) {
            return Decision::refused(record, sealed, error);
        }
        let mut facts = self.facts(chain);
        if !self.runtime.policy.asks(&call.principal, &facts, &target) {
            return self.admit(call, target, sealed, record, &facts, ApprovalFinding::Open);
        }
        let found = self.find_approval(&record, &target, sealed.as_ref(), answers.as_deref());
        let found = tokio::select! {
            biased;
            () = caller.cancel.cancelled() => Err(CallError::Cancelled),
            found = chain.timer.within(found) => {
                found.unwrap_or_else(|_| Err(Self::late(&target, chain)))
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

    /// What policy needs to know besides the call, except for approvals, which are only looked up
    /// if a rule asks for one.
    fn facts(&self, chain: &Chain) -> Facts {
        Facts {
            now: self.now(),
            approval: None,
            label: chain.label(),
            depth: chain.lineage.depth,
            on_behalf_of: self.on_behalf_of.clone(),
        }
    }

    /// Lets policy decide. The same call and facts give the same decision and the same record.
    fn admit(
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
        let admitted = match self.runtime.policy.admit(call, facts) {
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
                        running.map(|running| AdmissionOutcome::Parked(permit, running))
                    }
                    _ => Ok(AdmissionOutcome::Ready(permit)),
                }
            }
            Admission::Ask(request) => {
                record.rule = Some(request.rule);
                match finding {
                    ApprovalFinding::Refused { by, reason } => {
                        record.decided_by = Some(by);
                        Err(CallError::NotApproved { tool, reason })
                    }
                    _ => Ok(AdmissionOutcome::NeedsApproval(request.call)),
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

    /// The live call that a sealed state stands for.
    fn parked(&self, id: CallId, owner: u64) -> Result<RunningCall, ResumeError> {
        if owner != self.dispatcher.owner {
            return Err(ResumeError::Ended);
        }
        self.dispatcher.parking.take(id, &self.principal).ok_or(ResumeError::Ended)
    }

    /// Releases the live call behind a sealed state that will not be resumed any more.
    fn let_go(&self, id: CallId, sealed: Option<&SealedCall>) {
        if let Some(SealedState::Parked(owner)) = sealed.map(|sealed| &sealed.state) {
            drop(self.parked(id, *owner));
        }
    }

    fn check_nesting(&self, chain: &Chain, target: &Target) -> Result<(), CallError> {
        let limit = self.runtime.limits.nesting;
        if chain.lineage.depth >= limit {
            return Err(CallError::TooDeep { limit });
        }
        if chain.lineage.tools.contains(&target.id) {
            return Err(CallError::Cycle { tool: target.id.clone() });
        }
        Ok(())
    }

    /// Writes the record of a call that was never sent.
    async fn record_unsent(&self, opened: CallOpened, outcome: AuditOutcome) {
        self.count(outcome.counted_as());
        let (id, at) = (opened.id, self.now());
        let closed =
            CallClosed { id, at, took: Duration::ZERO, outcome, reason: None, result_bytes: 0 };
        let kept = timeout(RECORD_WAIT, self.dispatcher.ports.audit.refuse(opened, closed)).await;
        if kept.is_err() {
            tracing::warn!(call = %id, "the record of a refused call was not kept in time");
        }
    }
}

impl Decision {
    fn refused(record: CallOpened, sealed: Option<SealedCall>, error: CallError) -> Self {
        Self { record, sealed, admitted: Err(error) }
    }
}

/// Refuses what many parsers cannot read without exhausting their stack: a server that ends of one
/// call's arguments ends everybody's calls.
fn check_depth(call: &Call, target: &Target) -> Result<(), CallError> {
    let answers = call.resume.as_ref().map_or("null", |resume| resume.answers.get());
    let is_deep = |text| is_nested_deeper(text, JSON_LEVELS);
    if !is_deep(call.operation.arguments()) && !is_deep(answers) {
        return Ok(());
    }
    let message = format!("its arguments are nested more than {JSON_LEVELS} levels deep");
    Err(CallError::InvalidArguments { tool: target.id.clone(), message, data: None })
}

fn identified(record: CallOpened, target: &Target) -> CallOpened {
    CallOpened {
        domain: Some(target.domain.clone()),
        tool: Some(target.id.clone()),
        tool_digest: Some(target.digest),
        ..record
    }
}

/// The name of a call's outcome in counters.
fn outcome_word(result: &Result<Outcome, CallError>) -> &'static str {
    match result {
        Ok(Outcome::Done(payload)) if payload.is_error => "tool_error",
        Ok(Outcome::Done(_)) => "done",
        Ok(Outcome::Suspended(_)) => "suspended",
        Ok(Outcome::Task(_)) => "task",
        Err(error) => error.kind().as_str(),
    }
}
