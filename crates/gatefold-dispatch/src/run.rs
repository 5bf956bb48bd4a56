//! The one path that every call takes, from its name to its record's end.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{
    Call, CallError, CallId, Digest, Operation, Outcome, Resume, ResumeError, Suspension,
    Timestamp, ToolName, ToolTarget,
};
use gatefold_policy::{Admission, Facts, Permit, ResolvedCall};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::{Instant, timeout, timeout_at};

use crate::audit::{OpenRecord, RECORD_WAIT};
use crate::gate::Shut;
use crate::nested::Chain;
use crate::runtime::Slot;
use crate::seal::{Sealed, digest, principal_digest};
use crate::{
    AuditError, AuditOutcome, CallClosed, CallContext, CallOpened, Caller, Dispatcher, Nested,
    Pinned, Taint,
};

/// What admission came to, short of an error.
enum Admitted {
    Ready(Permit),
    /// Someone must say yes first.
    Waits(Bound, Box<RawValue>),
}

/// What a suspended call is bound to.
struct Bound {
    call: CallId,
    tool: Digest,
    arguments: Digest,
}

impl Pinned {
    pub(crate) async fn run(
        &self,
        mut call: Call,
        chain: &Chain,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let mut opened = self.opened(&call);
        let own_id = call.id;
        let admitted = self.unseal(&mut call).map_err(CallError::Resume).and_then(|sealed| {
            opened.id = call.id;
            self.admit(call, sealed.as_ref(), chain, &mut opened)
        });
        match admitted {
            Ok(Admitted::Ready(permit)) => self.invoke(permit, opened, chain, caller).await,
            Ok(Admitted::Waits(bound, questions)) => {
                let (suspension, expires_at) = self.seal(&bound, questions, None);
                self.record_unsent(opened, AuditOutcome::Suspended(expires_at)).await;
                Ok(Outcome::Suspended(suspension))
            }
            Err(error) => {
                if matches!(error, CallError::Resume(_)) {
                    // The suspended call's record stays: it may yet be resumed as it was.
                    opened.id = own_id;
                }
                self.record_unsent(opened, AuditOutcome::Failed(error.kind())).await;
                Err(error)
            }
        }
    }

    fn opened(&self, call: &Call) -> CallOpened {
        let arguments = call.operation.arguments();
        CallOpened {
            id: call.id,
            parent: call.parent,
            at: self.now(),
            principal: call.principal.clone(),
            subject: call.operation.subject().to_owned(),
            domain: None,
            tool: None,
            tool_digest: None,
            rule: None,
            arguments_digest: digest(arguments.as_bytes()),
            arguments_bytes: arguments.len(),
        }
    }

    /// Opens the seal of a call that resumes. The call takes up its first identity again, and the
    /// source finds its own state where the sealed one was.
    fn unseal(&self, call: &mut Call) -> Result<Option<Sealed>, ResumeError> {
        let Some(resume) = call.resume.take() else {
            return Ok(None);
        };
        let key = &self.dispatcher.ports.seal;
        let sealed = Sealed::open(&resume.state, key, &call.principal, self.now())?;
        call.id = sealed.call;
        if let Some(state) = &sealed.state {
            call.resume = Some(Resume { state: state.clone(), answers: resume.answers });
        }
        Ok(Some(sealed))
    }

    fn admit(
        &self,
        call: Call,
        sealed: Option<&Sealed>,
        chain: &Chain,
        opened: &mut CallOpened,
    ) -> Result<Admitted, CallError> {
        let target = self.resolve(&call.operation)?;
        let arguments = opened.arguments_digest;
        opened.domain = Some(target.domain.clone());
        opened.tool = Some(target.id.clone());
        opened.tool_digest = Some(target.digest);
        if let Some(sealed) = sealed {
            sealed.check(target.digest, arguments).map_err(CallError::Resume)?;
        }
        self.check_nesting(chain, &target)?;
        let approvals = &self.dispatcher.ports.approvals;
        let approval = approvals.given(&call.principal, target.digest, arguments);
        let facts = Facts { now: self.now(), approval };
        let (id, name) = (call.id, target.id.clone());
        let call = ResolvedCall::new(call, target, arguments);
        match self.runtime.policy.admit(call, &facts) {
            Admission::Granted(permit) => {
                opened.rule = Some(permit.rule().clone());
                Ok(Admitted::Ready(permit))
            }
            Admission::Ask(request) => {
                opened.rule = Some(request.rule);
                let target = request.call.target();
                let bound = Bound { call: id, tool: target.digest, arguments };
                Ok(Admitted::Waits(bound, approval_question(target)))
            }
            Admission::Denied(denial) => {
                opened.rule = Some(denial.rule.clone());
                if denial.hidden {
                    return Err(self.unknown(ToolName::new(opened.subject.as_str())));
                }
                Err(CallError::Denied { tool: name, rule: denial.rule })
            }
        }
    }

    fn resolve(&self, operation: &Operation) -> Result<Arc<ToolTarget>, CallError> {
        let kind = match operation {
            Operation::Tool { name, .. } => {
                let tool = self.view.find(name.as_str());
                return tool
                    .map(|tool| tool.target().clone())
                    .ok_or_else(|| self.unknown(name.clone()));
            }
            Operation::Resource(_) => "resource",
            Operation::Prompt { .. } | Operation::Complete(_) => "prompt",
        };
        Err(CallError::Unknown { kind, name: operation.subject().to_owned() })
    }

    /// A hidden tool and a missing one read alike, down to the names that are suggested.
    fn unknown(&self, name: ToolName) -> CallError {
        let miss = self.view.resolve(&name).err();
        CallError::UnknownTool { name, nearest: miss.map_or_else(Vec::new, |miss| miss.nearest) }
    }

    fn check_nesting(&self, chain: &Chain, target: &ToolTarget) -> Result<(), CallError> {
        let limit = self.runtime.limits.nesting;
        if chain.tools.len() >= limit {
            return Err(CallError::TooDeep { limit });
        }
        if chain.tools.contains(&target.id) {
            return Err(CallError::Cycle { tool: target.id.clone() });
        }
        Ok(())
    }

    /// Keeps the record of a call for which nothing was sent.
    async fn record_unsent(&self, opened: CallOpened, outcome: AuditOutcome) {
        self.count(outcome.counted_as());
        let (id, at) = (opened.id, self.now());
        let closed = CallClosed { id, at, took: Duration::ZERO, outcome, result_bytes: 0 };
        let kept = timeout(RECORD_WAIT, self.dispatcher.ports.audit.refuse(opened, closed)).await;
        if kept.is_err() {
            tracing::warn!(call = %id, "the record of a refused call was not kept in time");
        }
    }

    async fn invoke(
        &self,
        permit: Permit,
        opened: CallOpened,
        chain: &Chain,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let target = permit.target().clone();
        let cancel = caller.cancel.clone();
        let record = tokio::select! {
            biased;
            record = self.open_record(opened, chain, &target) => record,
            () = cancel.cancelled() => Err(CallError::Cancelled),
        };
        let record = record.inspect_err(|error| self.count(error.kind().as_str()))?;
        let (call, arguments) = (permit.call().id, permit.arguments_digest());
        let bound = Bound { call, tool: target.digest, arguments };
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(CallError::Cancelled),
            result = self.pass_through(permit, chain, caller) => result,
        };
        let result = result.and_then(|outcome| self.check_size(outcome, &target));
        let (result, outcome, result_bytes) = self.settle(result, &bound);
        record.close(outcome, result_bytes);
        result
    }

    /// Opens the record, within the call's deadline: a log that hangs holds nobody up for longer.
    async fn open_record(
        &self,
        opened: CallOpened,
        chain: &Chain,
        target: &ToolTarget,
    ) -> Result<OpenRecord, CallError> {
        let Dispatcher { ports, counters, .. } = &*self.dispatcher;
        let (clock, counters) = (ports.clock.clone(), counters.clone());
        let record = OpenRecord::open(&*ports.audit, clock, counters, opened);
        let record = timeout_at(chain.deadline, record).await;
        record.map_err(|_| self.late(target))?.map_err(|error| match error {
            AuditError::NotSuspended => CallError::Resume(ResumeError::Used),
            AuditError::Failed(error) => CallError::Audit(error),
        })
    }

    fn late(&self, target: &ToolTarget) -> CallError {
        let (tool, limit) = (target.id.clone(), self.runtime.limits.call_deadline);
        CallError::Deadline { tool, limit }
    }

    /// Takes the call past the source's breaker and gate and waits for its outcome.
    async fn pass_through(
        &self,
        permit: Permit,
        chain: &Chain,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let target = permit.target().clone();
        let slot = self.runtime.slots.get(&target.domain);
        let slot = slot.expect("a snapshot is built from its runtime's slots");
        let pass = slot.breaker.pass().map_err(|wait| paused(slot, wait))?;
        let place = timeout_at(chain.deadline, slot.gate.enter()).await;
        let _place =
            place.map_err(|_| self.late(&target))?.map_err(|shut| turned_away(&target, &shut))?;
        if Instant::now() >= chain.deadline {
            // A place that came free in the last moment: nothing is sent any more.
            return Err(self.late(&target));
        }
        let context = self.context(&permit, slot, chain, caller);
        let sent = Instant::now();
        let invoked = slot.setup.source.clone().invoke(permit, context);
        let result =
            timeout_at(chain.deadline, invoked).await.unwrap_or_else(|_| Err(self.late(&target)));
        slot.traffic.ended(sent.elapsed(), || self.now(), &target.id, &result);
        match &result {
            Err(
                CallError::Unavailable { .. }
                | CallError::Lost { .. }
                | CallError::Protocol { .. }
                | CallError::Deadline { .. },
            ) => pass.failed(),
            Err(CallError::Cancelled | CallError::Busy { .. } | CallError::Resting { .. }) => {
                drop(pass);
            }
            _ => pass.succeeded(),
        }
        result
    }

    fn context(&self, permit: &Permit, slot: &Slot, chain: &Chain, caller: Caller) -> CallContext {
        let target = permit.target();
        let taint = match target.hints.open_world {
            Some(true) => Taint::OpenWorld,
            _ => Taint::Clean,
        };
        let chain = chain.extended(permit.call().id, target.id.clone(), taint);
        CallContext {
            deadline: chain.deadline,
            cancel: caller.cancel,
            events: caller.events,
            peer: caller.peer,
            identity: slot.identity(&self.principal),
            trace: caller.trace,
            nested: Nested::new(self.clone(), chain),
            result_bytes: self.runtime.limits.result_bytes,
        }
    }

    fn check_size(&self, outcome: Outcome, target: &ToolTarget) -> Result<Outcome, CallError> {
        let limit = self.runtime.limits.result_bytes;
        match outcome {
            Outcome::Done(payload) if payload.json.get().len() as u64 > limit => {
                let size = payload.json.get().len() as u64;
                Err(CallError::TooLarge { tool: target.id.clone(), size, limit })
            }
            outcome => Ok(outcome),
        }
    }

    /// Seals what is suspended, and says what the record keeps of the outcome.
    fn settle(
        &self,
        result: Result<Outcome, CallError>,
        bound: &Bound,
    ) -> (Result<Outcome, CallError>, AuditOutcome, usize) {
        match result {
            Ok(Outcome::Done(payload)) => {
                let outcome =
                    if payload.is_error { AuditOutcome::ToolError } else { AuditOutcome::Done };
                let bytes = payload.json.get().len();
                (Ok(Outcome::Done(payload)), outcome, bytes)
            }
            Ok(Outcome::Suspended(Suspension { questions, state })) => {
                let bytes = questions.get().len();
                let (suspension, expires_at) = self.seal(bound, questions, Some(state));
                let outcome = AuditOutcome::Suspended(expires_at);
                (Ok(Outcome::Suspended(suspension)), outcome, bytes)
            }
            Ok(Outcome::Task(task)) => (Ok(Outcome::Task(task)), AuditOutcome::Task, 0),
            Err(CallError::Cancelled) => (Err(CallError::Cancelled), AuditOutcome::Cancelled, 0),
            Err(error) => {
                let kind = error.kind();
                (Err(error), AuditOutcome::Failed(kind), 0)
            }
        }
    }

    fn seal(
        &self,
        bound: &Bound,
        questions: Box<RawValue>,
        state: Option<String>,
    ) -> (Suspension, Timestamp) {
        let expires_at = self.now().plus(self.runtime.limits.suspension);
        let sealed = Sealed {
            call: bound.call,
            principal: principal_digest(&self.principal),
            tool: bound.tool,
            arguments: bound.arguments,
            expires_at,
            state,
        };
        let state = sealed.seal(&self.dispatcher.ports.seal);
        (Suspension { questions, state }, expires_at)
    }

    fn count(&self, outcome: &'static str) {
        self.dispatcher.counters.count(outcome);
    }
}

fn turned_away(target: &ToolTarget, shut: &Shut) -> CallError {
    let domain = target.domain.clone();
    match shut {
        Shut::Full => CallError::Busy { domain },
        Shut::Removed => CallError::Unavailable {
            domain,
            reason: "it was removed from the configuration".to_owned(),
            source: None,
        },
    }
}

fn paused(slot: &Slot, wait: Duration) -> CallError {
    CallError::Resting {
        domain: slot.setup.source.domain().clone(),
        reason: format!("its last calls failed; it is tried again in {} s", wait.as_secs() + 1),
    }
}

/// What the caller is told while a person decides. It names the tool itself, never a meta-tool.
fn approval_question(target: &ToolTarget) -> Box<RawValue> {
    let question = json!({ "approval": { "tool": target.id.as_str(), "source": target.domain } });
    to_raw_value(&question).expect("a JSON value is valid JSON")
}
