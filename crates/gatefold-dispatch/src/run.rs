//! The one path that every call takes, from its name to its record's end.

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::is_normal_uri;
use gatefold_core::{
    Call, CallError, CallId, Completion, Digest, EntryKind, Operation, Outcome, Reference, Resume,
    ResumeError, Target, TaskRequest, ToolName,
};
use gatefold_policy::{Admission, Facts, Permit, ResolvedCall};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::timeout;

use crate::audit::RECORD_WAIT;
use crate::nested::Chain;
use crate::parking::Running;
use crate::seal::{Sealed, SealedState, digest};
use crate::tasks::SealedTask;
use crate::{AuditOutcome, CallClosed, CallOpened, Caller, Pinned};

/// What admission came to, short of an error.
enum Admitted {
    Ready(Permit),
    /// The source waits for this call's answers already.
    Parked(Permit, Running),
    /// Someone must say yes first.
    Waits(Bound, Box<RawValue>),
}

/// What a suspended call is bound to.
pub(crate) struct Bound {
    pub(crate) call: CallId,
    pub(crate) operation: &'static str,
    pub(crate) target: Arc<Target>,
    pub(crate) arguments: Digest,
}

impl Bound {
    pub(crate) fn of(permit: &Permit) -> Self {
        let (call, arguments) = (permit.call(), permit.arguments_digest());
        let operation = call.operation.as_str();
        Self { call: call.id, operation, target: permit.target().clone(), arguments }
    }
}

impl Pinned {
    pub(crate) async fn run(
        &self,
        mut call: Call,
        chain: &Chain,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let mut opened = self.opened(&call, chain);
        let own_id = call.id;
        let admitted = self.unseal(&mut call).map_err(CallError::Resume).and_then(|sealed| {
            opened.id = call.id;
            let admitted = self.admit(call, sealed.as_ref(), chain, &mut opened);
            if !matches!(admitted, Ok(Admitted::Parked(..)) | Err(CallError::Resume(_))) {
                self.let_go(opened.id, sealed.as_ref());
            }
            admitted
        });
        match admitted {
            Ok(Admitted::Ready(permit)) => {
                let bound = Bound::of(&permit);
                self.invoke(permit, bound, opened, chain, caller).await
            }
            Ok(Admitted::Parked(permit, running)) => {
                // The source has the permit of the first time; this one says that it still holds.
                self.take_up(running, &permit, opened, chain, &caller).await
            }
            Ok(Admitted::Waits(bound, questions)) => {
                let state = SealedState::Approval;
                let (suspension, expires_at) = self.seal(&bound, questions, state);
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

    /// Ends the record of a suspended call that its client could not be brought to resume.
    pub(crate) async fn end_suspended(&self, mut call: Call, chain: &Chain, error: &CallError) {
        let mut opened = self.opened(&call, chain);
        let Ok(Some(sealed)) = self.unseal(&mut call) else {
            return;
        };
        opened.id = call.id;
        // Only for the record, which is to say again what was found out about the call.
        drop(self.admit(call, Some(&sealed), chain, &mut opened));
        let outcome = match error {
            CallError::Cancelled => AuditOutcome::Cancelled,
            error => AuditOutcome::Failed(error.kind()),
        };
        self.record_unsent(opened, outcome).await;
    }

    fn opened(&self, call: &Call, chain: &Chain) -> CallOpened {
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
            arguments_digest: digest(arguments.as_bytes()),
            arguments_bytes: arguments.len(),
        }
    }

    /// Opens the seal of a call that resumes. The call takes up its first identity again, and the
    /// source finds its own state where the sealed one was.
    fn unseal(&self, call: &mut Call) -> Result<Option<Sealed>, ResumeError> {
        let Some(Resume { state: Some(state), answers }) =
            call.resume.take_if(|resume| resume.state.is_some())
        else {
            return Ok(None);
        };
        let key = &self.dispatcher.ports.seal;
        let sealed = Sealed::open(&state, key, &call.principal, self.now())?;
        call.id = sealed.call;
        let state = match &sealed.state {
            SealedState::Approval => return Ok(Some(sealed)),
            SealedState::Source(state) => state.clone(),
            SealedState::Parked(_) => None,
        };
        call.resume = Some(Resume { state, answers });
        Ok(Some(sealed))
    }

    fn admit(
        &self,
        mut call: Call,
        sealed: Option<&Sealed>,
        chain: &Chain,
        opened: &mut CallOpened,
    ) -> Result<Admitted, CallError> {
        let target = self.resolve(&mut call.operation)?;
        let arguments = opened.arguments_digest;
        opened.domain = Some(target.domain.clone());
        opened.tool = Some(target.id.clone());
        opened.tool_digest = Some(target.digest);
        if let Some(sealed) = sealed {
            sealed.check(opened.operation, &target, arguments).map_err(CallError::Resume)?;
        }
        self.check_nesting(chain, &target)?;
        let approvals = &self.dispatcher.ports.approvals;
        let approval = approvals.given(&call.principal, target.digest, arguments);
        let facts = Facts { now: self.now(), approval };
        let (id, kind, name) = (call.id, target.kind, target.id.clone());
        let call = ResolvedCall::new(call, target, arguments);
        match self.runtime.policy.admit(call, &facts) {
            Admission::Granted(permit) => {
                opened.rule = Some(permit.rule().clone());
                match sealed.map(|sealed| &sealed.state) {
                    Some(SealedState::Parked(owner)) => {
                        let running = self.parked(id, *owner).map_err(CallError::Resume)?;
                        Ok(Admitted::Parked(permit, running))
                    }
                    _ => Ok(Admitted::Ready(permit)),
                }
            }
            Admission::Ask(request) => {
                opened.rule = Some(request.rule);
                let target = request.call.target().clone();
                let question = approval_question(&target);
                let bound = Bound { call: id, operation: opened.operation, target, arguments };
                Ok(Admitted::Waits(bound, question))
            }
            Admission::Denied(denial) => {
                opened.rule = Some(denial.rule.clone());
                if denial.hidden {
                    return Err(self.unknown(kind, &opened.subject));
                }
                Err(CallError::Denied { tool: name, rule: denial.rule })
            }
        }
    }

    fn resolve(&self, operation: &mut Operation) -> Result<Arc<Target>, CallError> {
        let subject = operation.subject();
        let (kind, found) = match operation {
            Operation::Tool { .. } => (EntryKind::Tool, self.tool(subject)),
            Operation::Prompt { .. }
            | Operation::Complete(Completion { reference: Reference::Prompt(_), .. }) => {
                let prompt = self.view.find_prompt(subject);
                (EntryKind::Prompt, prompt.map(|prompt| prompt.target().clone()))
            }
            Operation::Resource(_)
            | Operation::Subscribe(_)
            | Operation::Unsubscribe(_)
            | Operation::Skill(_)
            | Operation::Complete(_) => (EntryKind::Resource, self.resource(subject)),
            Operation::Task(request) => return self.resolve_task(request),
        };
        found.ok_or_else(|| self.unknown(kind, subject))
    }

    fn tool(&self, name: &str) -> Option<Arc<Target>> {
        self.view.find(name).map(|tool| tool.target().clone())
    }

    /// A resource that is not listed is judged by how its URI is written. Where rules are about
    /// resources, it must be written in the one way that they can tell.
    pub(crate) fn resource(&self, uri: &str) -> Option<Arc<Target>> {
        let target = self.view.find_resource(uri)?;
        let is_told_apart = is_normal_uri(&target.name)
            || self.view.lists_resource(&target)
            || !self.runtime.policy.concerns(&self.principal, &target);
        is_told_apart.then_some(target)
    }

    /// The tool whose call became a task. The request has the source's own id from then on.
    fn resolve_task(&self, request: &mut TaskRequest) -> Result<Arc<Target>, CallError> {
        let key = &self.dispatcher.ports.seal;
        let sealed = SealedTask::open(&request.task, key, &self.principal);
        let found = sealed.and_then(|sealed| Some((self.tool(sealed.tool.as_str())?, sealed.task)));
        let unknown = || CallError::Unknown { kind: "task", name: request.task.clone() };
        let (target, own_id) = found.ok_or_else(unknown)?;
        request.task = own_id;
        Ok(target)
    }

    /// A hidden entry and a missing one read alike, down to the names that are suggested.
    fn unknown(&self, kind: EntryKind, name: &str) -> CallError {
        if kind != EntryKind::Tool {
            return CallError::Unknown { kind: kind.as_str(), name: name.to_owned() };
        }
        let name = ToolName::new(name);
        let miss = self.view.resolve(&name).err();
        CallError::UnknownTool { name, nearest: miss.map_or_else(Vec::new, |miss| miss.nearest) }
    }

    /// The live call that a sealed state stands for.
    fn parked(&self, id: CallId, owner: u64) -> Result<Running, ResumeError> {
        if owner != self.dispatcher.owner {
            return Err(ResumeError::Ended);
        }
        self.dispatcher.parking.take(id).ok_or(ResumeError::Ended)
    }

    /// Lets go of the live call behind a sealed state that will not be resumed any more.
    fn let_go(&self, id: CallId, sealed: Option<&Sealed>) {
        if let Some(SealedState::Parked(owner)) = sealed.map(|sealed| &sealed.state) {
            drop(self.parked(id, *owner));
        }
    }

    fn check_nesting(&self, chain: &Chain, target: &Target) -> Result<(), CallError> {
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
}

/// What the caller is told while a person decides. It names the tool itself, never a meta-tool.
fn approval_question(target: &Target) -> Box<RawValue> {
    let question = json!({ "approval": { "tool": target.id.as_str(), "source": target.domain } });
    to_raw_value(&question).expect("a JSON value is valid JSON")
}
