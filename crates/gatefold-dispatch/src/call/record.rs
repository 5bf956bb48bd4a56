//! The record of a call: opened before anything is sent, ended in one outcome before the answer goes
//! out.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::{
    Call, CallError, CallId, ClientName, Clock, Digest, Domain, ErrorKind, Principal, Resume,
    ResumeError, RuleId, Target, Timestamp, ToolId,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use super::ActiveCall;
use crate::{AuditError, AuditLog, AuditSlot, Counters, Dispatcher};

/// How long an answer waits for the end of its record, or for the record of what was not sent.
pub const RECORD_WAIT: Duration = Duration::from_secs(5);

/// The opening half of a record. It has the digest and size of the arguments, never their text.
#[derive(Debug, Clone)]
pub struct CallOpened {
    pub id: CallId,
    pub parent: Option<CallId>,
    pub at: Timestamp,
    pub principal: Arc<Principal>,
    /// The name that the client gives itself.
    pub client: Option<ClientName>,
    /// The kind of operation: `tool`, `prompt`, `resource` and so on.
    pub operation: &'static str,
    /// The requested name or address, as the caller wrote it.
    pub subject: String,
    pub domain: Option<Domain>,
    /// The tool, prompt or resource that the name was resolved to.
    pub tool: Option<ToolId>,
    pub tool_digest: Option<Digest>,
    pub rule: Option<RuleId>,
    /// Who approved or denied the call, if its rule required that.
    pub decided_by: Option<DecidedBy>,
    pub arguments_digest: Digest,
    pub arguments_bytes: usize,
}

/// The closing half of a record.
#[derive(Debug, Clone)]
pub struct CallClosed {
    pub id: CallId,
    pub at: Timestamp,
    pub took: Duration,
    pub outcome: AuditOutcome,
    /// Why it failed, for the operator: see `CallError::for_operator`.
    pub reason: Option<String>,
    pub result_bytes: usize,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditOutcome {
    Done,
    /// The source answered with an error of its own.
    ToolError,
    Failed(ErrorKind),
    Cancelled,
    /// It waits for an answer until the given time.
    Suspended(Timestamp),
    Task,
}

impl AuditOutcome {
    /// The name under which it is counted: for a failure, its kind.
    pub(crate) fn counted_as(self) -> &'static str {
        match self {
            Self::Failed(kind) => kind.as_str(),
            other => other.as_str(),
        }
    }

    /// The name in the record. In addition, recovery writes `interrupted` for a record that a crash
    /// left open and `expired` for one that nobody resumed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::ToolError => "tool_error",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Suspended(_) => "suspended",
            Self::Task => "task",
        }
    }
}

/// A meta-call that discovered: which one, by whom, and how long the answer was.
#[derive(Debug, Clone)]
pub struct DiscoveryRecord {
    pub at: Timestamp,
    pub principal: Arc<Principal>,
    /// What the client calls itself.
    pub client: Option<ClientName>,
    pub meta_tool: String,
    pub arguments_digest: Digest,
    pub result_bytes: usize,
    pub is_error: bool,
    /// The tools whose schemas were in the answer.
    pub shown: Vec<String>,
}

/// What a meta-call discovered, before it is on record.
#[derive(Debug)]
pub struct Discovery<'a> {
    pub meta_tool: &'a str,
    pub arguments: &'a RawValue,
    pub result_bytes: usize,
    pub is_error: bool,
    /// The tools whose schemas were in the answer.
    pub shown: Vec<String>,
}

/// Who approved or denied a call that needed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The person at the client that made the call.
    Client,
    /// A person who decided elsewhere, by their name in the approvals' store.
    Person(Arc<str>),
}

impl DecidedBy {
    /// The name in the record.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Client => "client",
            Self::Person(name) => name,
        }
    }
}

/// Whether a call that needs approval has it, determined before policy decides.
#[derive(Debug)]
pub(super) enum ApprovalFinding {
    /// Nobody has decided yet.
    Open,
    Approved(DecidedBy),
    Refused {
        by: DecidedBy,
        reason: String,
    },
}

impl ActiveCall {
    /// What is known of a call before its name is looked up.
    pub(super) fn record_of(&self, call: &Call) -> CallOpened {
        let arguments = call.operation.arguments();
        CallOpened {
            id: call.id,
            parent: call.parent,
            at: self.now(),
            principal: call.principal.clone(),
            client: self.client.clone(),
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

    /// Opens the record, unless the caller gives up before.
    pub(super) async fn begin_record(&self, opened: CallOpened) -> Result<OpenRecord, CallError> {
        let record = tokio::select! {
            biased;
            record = self.open_record(opened) => record,
            () = self.caller.cancel.cancelled() => Err(CallError::Cancelled),
        };
        record.inspect_err(|error| self.count(error.kind().as_str()))
    }

    /// Opens the record within the call's deadline, so that a log that hangs does not hold anybody
    /// up for longer. The error is not a deadline, because after a deadline a call may have taken
    /// effect.
    async fn open_record(&self, opened: CallOpened) -> Result<OpenRecord, CallError> {
        let Dispatcher { ports, counters, .. } = &*self.turn.dispatcher;
        let (clock, counters) = (ports.clock.clone(), counters.clone());
        let record = OpenRecord::open(&*ports.audit, clock, counters, opened);
        let record = self.timer.within(record).await;
        let late = |_| {
            let limit = self.limit.as_secs_f32();
            CallError::Audit(format!("the record was not kept within {limit} s").into())
        };
        record.map_err(late)?.map_err(|error| match error {
            AuditError::NotSuspended => CallError::Resume(ResumeError::Used),
            AuditError::Failed(error) => CallError::Audit(error),
        })
    }

    /// Writes the record of a call that was never sent.
    pub(super) async fn record_unsent(&self, opened: CallOpened, outcome: AuditOutcome) {
        self.count(outcome.counted_as());
        let (id, at) = (opened.id, self.now());
        let closed =
            CallClosed { id, at, took: Duration::ZERO, outcome, reason: None, result_bytes: 0 };
        let kept =
            timeout(RECORD_WAIT, self.turn.dispatcher.ports.audit.refuse(opened, closed)).await;
        if kept.is_err() {
            tracing::warn!(call = %id, "the record of a refused call was not kept in time");
        }
    }

    /// Ends the record of a suspended call that will not be resumed.
    pub(super) async fn end_suspended(&self, state: Option<String>, error: &CallError) {
        let answers = RawValue::NULL.to_owned();
        let mut call = self.call(Some(Resume { state, answers }));
        let record = self.record_of(&call);
        let Ok(Some(unsealed)) = self.unseal(&mut call) else {
            return;
        };
        let record = CallOpened { id: call.id, ..record };
        let Ok(target) = self.target(&mut call) else { return };
        let (record, sealed) = (identified(record, &target), Some(unsealed.sealed));
        let facts = self.facts();
        // Only for the record, which repeats what was found out about the call.
        let decision = self.admit(call, target, sealed, record, &facts, ApprovalFinding::Open);
        let outcome = match error {
            CallError::Cancelled => AuditOutcome::Cancelled,
            error => AuditOutcome::Failed(error.kind()),
        };
        self.record_unsent(decision.record, outcome).await;
    }
}

pub(super) fn identified(record: CallOpened, target: &Target) -> CallOpened {
    CallOpened {
        domain: Some(target.domain.clone()),
        tool: Some(target.id.clone()),
        tool_digest: Some(target.digest),
        ..record
    }
}

/// An open record. Dropping it without an outcome ends it as cancelled.
pub(crate) struct OpenRecord {
    id: CallId,
    /// By the clock's uptime: the date may be set while the call is under way.
    began: Duration,
    clock: Arc<dyn Clock>,
    counters: Arc<Counters>,
    slot: Option<Box<dyn AuditSlot>>,
}

impl OpenRecord {
    pub(crate) async fn open(
        log: &dyn AuditLog,
        clock: Arc<dyn Clock>,
        counters: Arc<Counters>,
        record: CallOpened,
    ) -> Result<Self, AuditError> {
        let (id, began) = (record.id, clock.uptime());
        let slot = log.open(record).await?;
        Ok(Self { id, began, clock, counters, slot: Some(slot) })
    }

    /// Ends the record, and waits until the end would survive a crash, so that anybody who has the
    /// answer finds it on record. The call was already made, so a log that hangs only delays the
    /// answer.
    pub(crate) async fn close(
        mut self,
        outcome: AuditOutcome,
        reason: Option<String>,
        result_bytes: usize,
    ) {
        let Some(kept) = self.end(outcome, reason, result_bytes) else { return };
        if timeout(RECORD_WAIT, kept).await.is_err() {
            tracing::warn!(call = %self.id, "a call was answered before its end was on record");
        }
    }

    fn end(
        &mut self,
        outcome: AuditOutcome,
        reason: Option<String>,
        result_bytes: usize,
    ) -> Option<BoxFuture<'static, ()>> {
        let slot = self.slot.take()?;
        self.counters.count(outcome.counted_as());
        let at = self.clock.now();
        let took = self.clock.uptime().saturating_sub(self.began);
        Some(slot.close(CallClosed { id: self.id, at, took, outcome, reason, result_bytes }))
    }
}

impl Drop for OpenRecord {
    fn drop(&mut self) {
        // Nobody waits for the answer.
        drop(self.end(AuditOutcome::Cancelled, None, 0));
    }
}

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use gatefold_core::ManualClock;
    use tokio::sync::mpsc;

    use super::*;

    struct DurationRecorder(mpsc::Sender<Duration>);

    impl AuditSlot for DurationRecorder {
        fn close(self: Box<Self>, record: CallClosed) -> BoxFuture<'static, ()> {
            self.0.try_send(record.took).unwrap();
            std::future::ready(()).boxed()
        }
    }

    #[tokio::test]
    async fn a_clock_that_is_set_during_a_call_does_not_change_how_long_it_took() {
        let (sender, mut took) = mpsc::channel(1);
        for date in [0, 5_000_000_000_000] {
            let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_795_255_020_000)));
            let (began, slot) =
                (clock.uptime(), Some(Box::new(DurationRecorder(sender.clone())) as Box<_>));
            let id = CallId::new(clock.now(), 1);
            let record =
                OpenRecord { id, began, clock: clock.clone(), counters: Arc::default(), slot };
            clock.advance(Duration::from_secs(2));
            clock.set(Timestamp::from_millis(date));
            record.close(AuditOutcome::Done, None, 0).await;
            assert_eq!(took.recv().await, Some(Duration::from_secs(2)));
        }
    }
}
