//! The record of a call: opened before anything is sent, ended in one outcome before the answer goes
//! out.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::{Call, CallError, CallId, Clock, Resume, ResumeError, Target};
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::ActiveCall;
use crate::records::{AuditOutcome, CallClosed, CallOpened, DecidedBy, RECORD_WAIT, digest};
use crate::{AuditError, AuditLog, AuditSlot, Counters, Dispatcher};

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

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use gatefold_core::{ManualClock, Timestamp};
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
