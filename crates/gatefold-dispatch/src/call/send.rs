//! The way to the source: started so that it can outlive its request, past the circuit breaker and
//! the bulkhead, under the deadline.

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{AnswerKind, repair_answer};
use gatefold_core::{
    BusyResource, CallError, Operation, Outcome, Payload, Suspension, Target, TaskHandle,
};
use gatefold_policy::Permit;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::settle::{BoundCall, with_unanswered};
use super::{ActiveCall, label_of};
use crate::capabilities::questions_of_source;
use crate::limits::bulkhead::{BulkheadPlace, BulkheadRefusal};
use crate::limits::circuit_breaker::BreakerPass;
use crate::limits::room::ResultRoom;
use crate::parking::RunningCall;
use crate::questions::{ClientQuestions, FailedQuestion, OPEN_QUESTIONS};
use crate::records::CallOpened;
use crate::runtime::Slot;
use crate::{CallContext, Caller, DataOwner, QuestionMode};

impl ActiveCall {
    /// Sends an admitted call to its source, once its record is open.
    pub(super) async fn send(
        &self,
        permit: Permit,
        opened: CallOpened,
    ) -> Result<Outcome, CallError> {
        let bound = BoundCall::of(&permit, opened.decided_by.clone());
        let record = self.begin_record(opened).await?;
        if let Some(task) = self.own_task() {
            return self.act_on_task(task, &permit, record, &bound).await;
        }
        let limit = self.result_limit(&permit);
        let is_task = self.becomes_task(&permit);
        let running = self.start(permit, is_task);
        if is_task {
            return self.leave_as_task(running, record, bound, limit).await;
        }
        self.follow(running, record, bound, limit).await
    }

    /// Starts the call at its source, so that it can outlive its request.
    fn start(&self, permit: Permit, is_task: bool) -> RunningCall {
        let Caller { events, peer, cancel, memory, result_place, .. } = &self.caller;
        let limits = &self.turn.runtime.limits;
        let waits = peer.question_mode() == QuestionMode::ByRetry
            && (is_task || peer.capabilities().answers_anything());
        let (events, cancel, abandoned, patience) = if waits {
            // Later requests have listeners and cancellation tokens of their own.
            let cancel = CancellationToken::new();
            let abandoned = cancel.clone().drop_guard();
            (events.redirectable(), cancel, Some(abandoned), Some(limits.suspension))
        } else {
            (events.clone(), cancel.clone(), None, self.patience)
        };
        let (sender, questions) = mpsc::channel(OPEN_QUESTIONS);
        let (failed, place) = (FailedQuestion::default(), Arc::<BulkheadPlace>::default());
        let peer = Arc::new(ClientQuestions {
            peer: peer.clone(),
            timer: self.timer.clone(),
            place: place.clone(),
            limit: patience.unwrap_or(limits.question),
            failed: failed.clone(),
            count: self.questions.clone(),
            parked: waits.then_some(sender),
        });
        let sent = Arc::new(Self {
            turn: self.turn.clone(),
            operation: self.operation.clone(),
            entry: self.entry.clone(),
            caller: Caller { events: events.clone(), peer, cancel, ..self.caller.clone() },
            client: self.client.clone(),
            timer: self.timer.clone(),
            limit: self.limit,
            questions: self.questions.clone(),
            patience,
        });
        let call = async move {
            let target = permit.target().clone();
            let result = sent.pass_through(permit, place).await;
            with_unanswered(result, &failed, &target)
        };
        let (memory, place) = (memory.clone(), result_place.clone());
        RunningCall::new(Box::pin(call), questions, events, abandoned, memory, place)
    }

    /// Takes the call past the circuit breaker and the bulkhead of its source and waits for its
    /// outcome.
    async fn pass_through(
        self: Arc<Self>,
        permit: Permit,
        place: Arc<BulkheadPlace>,
    ) -> Result<Outcome, CallError> {
        let target = permit.target().clone();
        let slot = self.slot(&target);
        let breaker = slot.breakers.of(&slot.identity(&self.turn.principal));
        let is_sent = !slot.setup.source.answers_from_memory(&permit);
        let pass = is_sent.then(|| breaker.pass()).transpose();
        let pass = pass.map_err(|wait| paused(slot, wait))?;
        let owner = DataOwner::lasting(&self.turn.principal);
        let entered = self.timer.within(slot.bulkhead.enter(&owner)).await;
        let entered = entered
            .map_err(|_| without_place(&target))?
            .map_err(|shut| turned_away(&target, &shut))?;
        let _inside = place.take(entered);
        if self.timer.is_over() {
            // The place came free too late, so nothing is sent any more.
            return Err(without_place(&target));
        }
        let room = ResultRoom::new(slot.places.clone(), self.caller.result_place.clone());
        let context = self.context(&permit, slot, room.clone());
        let (sent, stood) = (Instant::now(), self.timer.stood());
        let kind = answer_kind(&permit.call().operation);
        let invoked = async {
            let outcome = slot.setup.source.clone().invoke(permit, context).await;
            // Here once for all kinds of sources, before what a client gets is counted, shortened or kept.
            let result = match outcome {
                Ok(outcome) => Ok(repair_outcome(outcome, kind).await),
                Err(error) => Err(error),
            };
            // Sources that do not read from elsewhere have taken no place so far.
            if let Ok(Outcome::Done(payload)) = &result {
                room.admit(payload.json.get().len()).await;
            }
            result
        };
        let result = self.timer.within(invoked).await;
        // Others' answers had all the room: that is not the source's fault.
        let waited_for_room = result.is_err() && room.is_awaited();
        let result = result.unwrap_or_else(|_| Err(self.late(&target)));
        // An error may contain foreign text too, and the caller is about to read it.
        self.caller.label.raise(label_of(&target));
        // The time that a client takes to answer does not count against the source.
        let stood = self.timer.stood().saturating_sub(stood);
        let took = sent.elapsed().saturating_sub(stood);
        slot.traffic.ended(took, || self.now(), &target.id, &result);
        // Others' answers had all the room, which is not the source's fault.
        if let Some(pass) = pass.filter(|_| !waited_for_room) {
            report(pass, &result);
        }
        result
    }

    pub(super) fn slot(&self, target: &Target) -> &Slot {
        let slot = self.turn.runtime.slots.get(&target.domain);
        slot.expect("a snapshot is built from its runtime's slots")
    }

    pub(super) fn awaits_client(&self, target: &Target) -> bool {
        self.slot(target).awaits_client(&self.turn.principal)
    }

    /// What the source is given beside its permit.
    fn context(self: &Arc<Self>, permit: &Permit, slot: &Slot, room: ResultRoom) -> CallContext {
        CallContext {
            caller: self.caller.clone(),
            deadline: self.timer.deadline(),
            identity: slot.identity(&self.turn.principal),
            nested: self.nested(permit),
            result_bytes: self.result_limit(permit),
            room,
        }
    }

    /// The largest result of a call in bytes: a preview shows no more than both limits allow.
    pub(super) fn result_limit(&self, permit: &Permit) -> u64 {
        let limit = self.turn.runtime.limits.result_bytes;
        permit.obligations().preview_bytes().map_or(limit, |preview| preview.min(limit))
    }

    pub(super) fn late(&self, target: &Target) -> CallError {
        CallError::Deadline { tool: target.id.clone(), limit: self.limit }
    }
}

/// Tells the circuit breaker how a call ended. Whoever answers is there, however wrong the answer.
fn report(pass: BreakerPass<'_>, result: &Result<Outcome, CallError>) {
    match result {
        Err(
            CallError::Unavailable { .. } | CallError::Lost { .. } | CallError::Deadline { .. },
        ) => pass.failed(),
        Err(
            CallError::Cancelled
            | CallError::Busy { .. }
            | CallError::CircuitOpen { .. }
            | CallError::NotSent { .. }
            | CallError::NeedsSignIn { .. },
        ) => drop(pass),
        _ => pass.succeeded(),
    }
}

fn turned_away(target: &Target, shut: &BulkheadRefusal) -> CallError {
    let domain = target.domain.clone();
    match shut {
        BulkheadRefusal::Full => CallError::Busy { domain, of: BusyResource::Calls },
        BulkheadRefusal::Removed => CallError::Unavailable {
            domain,
            reason: "it was removed from the configuration".to_owned(),
            source: None,
        },
    }
}

/// The error for a call whose deadline passed while it waited for others. Unlike one that was sent,
/// it can safely be repeated.
fn without_place(target: &Target) -> CallError {
    CallError::Busy { domain: target.domain.clone(), of: BusyResource::Places }
}

fn paused(slot: &Slot, wait: Duration) -> CallError {
    CallError::CircuitOpen {
        domain: slot.setup.source.domain().clone(),
        reason: format!("its last calls failed; it is tried again in {} s", wait.as_secs() + 1),
        retry_after: wait,
        fault: None,
    }
}

fn answer_kind(operation: &Operation) -> AnswerKind {
    match operation {
        Operation::Tool { .. } => AnswerKind::Tool,
        Operation::Prompt { .. } => AnswerKind::Prompt,
        Operation::Resource(_) => AnswerKind::Resource,
        _ => AnswerKind::Other,
    }
}

/// From this size on, an answer is read through where that keeps no other call waiting.
const LARGE_ANSWER: usize = 256 << 10;

async fn repair_outcome(outcome: Outcome, kind: AnswerKind) -> Outcome {
    let is_large =
        matches!(&outcome, Outcome::Done(payload) if payload.json.get().len() > LARGE_ANSWER);
    if !is_large {
        return repair(outcome, kind);
    }
    let repaired = spawn_blocking(move || repair(outcome, kind)).await;
    repaired.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

fn repair(outcome: Outcome, kind: AnswerKind) -> Outcome {
    match outcome {
        Outcome::Done(Payload { json, is_error }) => {
            Outcome::Done(Payload { json: repair_json(json, kind), is_error })
        }
        Outcome::Suspended(Suspension { questions, state }) => {
            let questions = repair_json(questions_of_source(questions), AnswerKind::Other);
            Outcome::Suspended(Suspension { questions, state })
        }
        Outcome::Task(TaskHandle { id, json }) => {
            Outcome::Task(TaskHandle { id, json: repair_json(json, AnswerKind::Other) })
        }
    }
}

fn repair_json(json: Box<RawValue>, kind: AnswerKind) -> Box<RawValue> {
    match repair_answer(json.get(), kind) {
        // An answer that its source wrote is still better than none.
        Some(text) => RawValue::from_string(text).unwrap_or(json),
        None => json,
    }
}
