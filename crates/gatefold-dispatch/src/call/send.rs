//! The second half of every call's path: its record, its source, its outcome.

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{object_fields, with_fields};
use gatefold_core::{
    BusyResource, CallError, Outcome, Payload, ResumeError, Suspension, Target, Timestamp,
};
use gatefold_policy::Permit;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::ask::{ClientQuestions, FailedQuestion, OPEN_QUESTIONS};
use crate::call::chain::{Chain, label_of};
use crate::call::conversation::unanswered;
use crate::call::decide::Bound;
use crate::call::nesting::NestedTurn;
use crate::call::park::{ParkingRefusal, RunningCall, RunningStep};
use crate::call::record::OpenRecord;
use crate::call::repairs::{answer_kind, repair};
use crate::call::seal::{SealedCall, SealedState, principal_digest};
use crate::call::tasks;
use crate::limits::bulkhead::{BulkheadPlace, BulkheadRefusal};
use crate::limits::circuit_breaker::BreakerPass;
use crate::limits::room::ResultRoom;
use crate::runtime::Slot;
use crate::{
    AuditError, AuditOutcome, CallContext, CallOpened, Caller, DataOwner, Dispatcher, NestedCaller,
    PinnedTurn, QuestionMode,
};

impl PinnedTurn {
    /// Sends an admitted call to its source, once its record is open.
    pub(crate) async fn invoke(
        &self,
        permit: Permit,
        bound: Bound,
        opened: CallOpened,
        chain: &Chain,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let cancel = caller.cancel.clone();
        let record = self.begin_record(opened, chain, &cancel).await?;
        let limit = self.result_limit(&permit);
        let running = self.start(permit, chain, caller);
        self.follow(running, record, (bound, limit), &cancel).await
    }

    /// Continues a call that its source is already working on, once its record is open again.
    pub(crate) async fn take_up(
        &self,
        mut running: RunningCall,
        permit: &Permit,
        opened: CallOpened,
        chain: &Chain,
        caller: &Caller,
    ) -> Result<Outcome, CallError> {
        let bound = Bound::of(permit, opened.decided_by.clone());
        let record = match self.begin_record(opened, chain, &caller.cancel).await {
            Ok(record) => record,
            Err(error) => {
                if matches!(error, CallError::Audit(_)) {
                    // The source was not told anything, so its client may try again.
                    let Dispatcher { parking, .. } = &*self.dispatcher;
                    let limit = self.runtime.limits.suspension;
                    if let Err(reason) = parking.park(bound.call, &self.principal, running, limit) {
                        tracing::warn!(call = %bound.call, ?reason, "a call was not parked again");
                    }
                }
                return Err(error);
            }
        };
        let answers = permit.call().resume.as_ref().map(|resume| &*resume.answers);
        running.resume(answers.unwrap_or(RawValue::NULL), &caller.events);
        let limit = self.result_limit(permit);
        let place = running.place().clone();
        let result = self.follow(running, record, (bound, limit), &caller.cancel).await;
        caller.result_place.take_over(&place);
        result
    }

    async fn begin_record(
        &self,
        opened: CallOpened,
        chain: &Chain,
        cancel: &CancellationToken,
    ) -> Result<OpenRecord, CallError> {
        let record = tokio::select! {
            biased;
            record = self.open_record(opened, chain) => record,
            () = cancel.cancelled() => Err(CallError::Cancelled),
        };
        record.inspect_err(|error| self.count(error.kind().as_str()))
    }

    /// Starts a call in a task of its own, so that it can outlive its request.
    fn start(&self, permit: Permit, chain: &Chain, caller: Caller) -> RunningCall {
        let Caller { events, peer, cancel, meta, lineage, label, memory, result_place } = caller;
        let (sender, questions) = mpsc::channel(OPEN_QUESTIONS);
        let limits = &self.runtime.limits;
        let waits =
            peer.question_mode() == QuestionMode::ByRetry && peer.capabilities().answers_anything();
        let mut chain = chain.clone();
        let mut abandoned = None;
        let (mut events, mut cancel) = (events, cancel);
        if waits {
            // Later requests have listeners and cancellation tokens of their own.
            events = events.redirectable();
            cancel = CancellationToken::new();
            abandoned = Some(cancel.clone().drop_guard());
            chain.patience = Some(limits.suspension);
        }
        let parked = waits.then_some(sender);
        let limit = chain.patience.unwrap_or(limits.question);
        let failed = FailedQuestion::default();
        let (timer, place) = (chain.timer.clone(), Arc::<BulkheadPlace>::default());
        chain.place = place.clone();
        let count = chain.questions.clone();
        let peer = Arc::new(ClientQuestions {
            peer,
            timer,
            place,
            limit,
            failed: failed.clone(),
            count,
            parked,
        });
        let (kept, kept_place) = (memory.clone(), result_place.clone());
        let caller = Caller {
            events: events.clone(),
            peer,
            cancel,
            meta,
            lineage,
            label,
            memory,
            result_place,
        };
        let pinned = self.clone();
        let call = async move {
            let target = permit.target().clone();
            let result = pinned.pass_through(permit, &chain, caller).await;
            told_why(result, &failed, &target)
        };
        RunningCall::new(Box::pin(call), questions, events, abandoned, kept, kept_place)
    }

    /// Follows a call to its end, or to a question that its client will answer with another
    /// request.
    async fn follow(
        &self,
        mut running: RunningCall,
        record: OpenRecord,
        (bound, limit): (Bound, u64),
        cancel: &CancellationToken,
    ) -> Result<Outcome, CallError> {
        let step = tokio::select! {
            biased;
            () = cancel.cancelled() => RunningStep::Ended(Err(CallError::Cancelled)),
            step = running.next_step() => step,
        };
        let (result, outcome, result_bytes) = match step {
            RunningStep::Ended(result) => {
                let result = result.and_then(|outcome| check_size(outcome, &bound.target, limit));
                self.settle(result, &bound)
            }
            RunningStep::Asks(questions) => self.park(running, &bound, questions),
        };
        let reason = result.as_ref().err().and_then(CallError::for_operator);
        record.close(outcome, reason, result_bytes).await;
        result
    }

    fn park(&self, running: RunningCall, bound: &Bound, questions: Box<RawValue>) -> SettledCall {
        let Dispatcher { parking, owner, .. } = &*self.dispatcher;
        let domain = || bound.target.domain.clone();
        let limit = self.runtime.limits.suspension;
        match parking.park(bound.call, &self.principal, running, limit) {
            Ok(()) => {}
            Err(ParkingRefusal::Full) => {
                return self.settle(
                    Err(CallError::Busy { domain: domain(), of: BusyResource::Questions }),
                    bound,
                );
            }
            Err(ParkingRefusal::Closed) => {
                let reason = "Gatefold is stopping".to_owned();
                let error = CallError::Unavailable { domain: domain(), reason, source: None };
                return self.settle(Err(error), bound);
            }
        }
        let bytes = questions.get().len();
        let (suspension, expires_at) = self.seal(bound, questions, SealedState::Parked(*owner));
        (Ok(Outcome::Suspended(suspension)), AuditOutcome::Suspended(expires_at), bytes)
    }

    /// Opens the record within the call's deadline, so that a log that hangs does not hold anybody
    /// up for longer. The error is not a deadline, because after a deadline a call may have taken
    /// effect.
    async fn open_record(
        &self,
        opened: CallOpened,
        chain: &Chain,
    ) -> Result<OpenRecord, CallError> {
        let Dispatcher { ports, counters, .. } = &*self.dispatcher;
        let (clock, counters) = (ports.clock.clone(), counters.clone());
        let record = OpenRecord::open(&*ports.audit, clock, counters, opened);
        let record = chain.timer.within(record).await;
        let late = |_| {
            let limit = chain.limit.as_secs_f32();
            CallError::Audit(format!("the record was not kept within {limit} s").into())
        };
        record.map_err(late)?.map_err(|error| match error {
            AuditError::NotSuspended => CallError::Resume(ResumeError::Used),
            AuditError::Failed(error) => CallError::Audit(error),
        })
    }

    pub(crate) fn late(target: &Target, chain: &Chain) -> CallError {
        CallError::Deadline { tool: target.id.clone(), limit: chain.limit }
    }

    /// Takes the call past the circuit breaker and the bulkhead of its source and waits for its
    /// outcome.
    async fn pass_through(
        &self,
        permit: Permit,
        chain: &Chain,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let target = permit.target().clone();
        let slot = self.runtime.slots.get(&target.domain);
        let slot = slot.expect("a snapshot is built from its runtime's slots");
        let breaker = slot.breakers.of(&slot.identity(&self.principal));
        let is_sent = !slot.setup.source.answers_from_memory(&permit);
        let pass = is_sent.then(|| breaker.pass()).transpose();
        let pass = pass.map_err(|wait| paused(slot, wait))?;
        let owner = DataOwner::lasting(&self.principal);
        let place = chain.timer.within(slot.bulkhead.enter(&owner)).await;
        let place = place
            .map_err(|_| without_place(&target))?
            .map_err(|shut| turned_away(&target, &shut))?;
        let _inside = chain.place.take(place);
        if chain.timer.is_over() {
            // The place came free too late, so nothing is sent any more.
            return Err(without_place(&target));
        }
        let room = ResultRoom::new(slot.places.clone(), caller.result_place.clone());
        let context = self.context(&permit, slot, chain, caller, room.clone());
        let (sent, stood) = (Instant::now(), chain.timer.stood());
        let kind = answer_kind(&permit.call().operation);
        let invoked = async {
            let result = slot.setup.source.clone().invoke(permit, context).await;
            // Here once for all kinds of sources, before what a client gets is counted, shortened or kept.
            let result = result.map(|outcome| repair(outcome, kind));
            // Sources that do not read from elsewhere have taken no place so far.
            if let Ok(Outcome::Done(payload)) = &result {
                room.admit(payload.json.get().len()).await;
            }
            result
        };
        let result = chain.timer.within(invoked).await;
        // Others' answers had all the room: that is not the source's fault.
        let waited_for_room = result.is_err() && room.is_awaited();
        let result = result.unwrap_or_else(|_| Err(Self::late(&target, chain)));
        // An error may contain foreign text too, and the caller is about to read it.
        chain.label.raise(label_of(&target));
        // The time that a client takes to answer does not count against the source.
        let stood = chain.timer.stood().saturating_sub(stood);
        let took = sent.elapsed().saturating_sub(stood);
        slot.traffic.ended(took, || self.now(), &target.id, &result);
        // Others' answers had all the room, which is not the source's fault.
        if let Some(pass) = pass.filter(|_| !waited_for_room) {
            report(pass, &result);
        }
        result
    }

    fn context(
        &self,
        permit: &Permit,
        slot: &Slot,
        chain: &Chain,
        caller: Caller,
        room: ResultRoom,
    ) -> CallContext {
        let target = permit.target();
        let chain = chain.extended(permit.call().id, target);
        CallContext {
            deadline: chain.timer.deadline(),
            cancel: caller.cancel,
            events: caller.events,
            peer: caller.peer,
            identity: slot.identity(&self.principal),
            meta: caller.meta,
            memory: caller.memory,
            nested: NestedCaller::new(NestedTurn { pinned: self.clone(), chain }),
            result_bytes: self.result_limit(permit),
            room,
        }
    }

    /// The largest result of a call in bytes: a preview shows no more than both limits allow.
    fn result_limit(&self, permit: &Permit) -> u64 {
        let limit = self.runtime.limits.result_bytes;
        permit.obligations().preview_bytes().map_or(limit, |preview| preview.min(limit))
    }

    /// Seals a suspension, and decides which outcome to record.
    fn settle(&self, result: Result<Outcome, CallError>, bound: &Bound) -> SettledCall {
        match result {
            Ok(Outcome::Done(payload)) => {
                let outcome =
                    if payload.is_error { AuditOutcome::ToolError } else { AuditOutcome::Done };
                let bytes = payload.json.get().len();
                (Ok(Outcome::Done(payload)), outcome, bytes)
            }
            Ok(Outcome::Suspended(Suspension { questions, state, .. })) => {
                let bytes = questions.get().len();
                let state = SealedState::Source(state);
                let (suspension, expires_at) = self.seal(bound, questions, state);
                let outcome = AuditOutcome::Suspended(expires_at);
                (Ok(Outcome::Suspended(suspension)), outcome, bytes)
            }
            Ok(Outcome::Task(task)) => {
                let key = &self.dispatcher.ports.seal;
                let task = tasks::sealed(task, &bound.target.id, key, &self.principal);
                let bytes = task.json.get().len();
                (Ok(Outcome::Task(task)), AuditOutcome::Task, bytes)
            }
            Err(CallError::Cancelled) => (Err(CallError::Cancelled), AuditOutcome::Cancelled, 0),
            Err(error) => {
                let kind = error.kind();
                (Err(error), AuditOutcome::Failed(kind), 0)
            }
        }
    }

    pub(crate) fn seal(
        &self,
        bound: &Bound,
        questions: Box<RawValue>,
        state: SealedState,
    ) -> (Suspension, Timestamp) {
        let expires_at = self.now().plus(self.runtime.limits.suspension);
        let sealed = SealedCall {
            call: bound.call,
            principal: principal_digest(&self.principal),
            operation: bound.operation.to_owned(),
            target: bound.target.id.clone(),
            definition: bound.target.digest,
            arguments: bound.arguments,
            expires_at,
            approved_by: bound.approved_by.clone(),
            state,
        };
        let state = Some(sealed.seal(&self.dispatcher.ports.seal));
        (Suspension { questions, state }, expires_at)
    }

    pub(crate) fn count(&self, outcome: &'static str) {
        self.dispatcher.counters.count(outcome);
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

fn check_size(outcome: Outcome, target: &Target, limit: u64) -> Result<Outcome, CallError> {
    match outcome {
        Outcome::Done(payload) if payload.exceeds(usize::try_from(limit).unwrap_or(usize::MAX)) => {
            let size = payload.json.get().len() as u64;
            Err(CallError::TooLarge { tool: target.id.clone(), size, limit })
        }
        outcome => Ok(outcome),
    }
}

/// The caller's result, the record's outcome, and the bytes of the result.
type SettledCall = (Result<Outcome, CallError>, AuditOutcome, usize);

/// If a call fails after one of its questions went unanswered, adds that to the source's own error.
/// The question may be unrelated: many servers ask for roots when they start, and cope without.
fn told_why(
    result: Result<Outcome, CallError>,
    failed: &FailedQuestion,
    target: &Target,
) -> Result<Outcome, CallError> {
    let Some((method, error)) = failed.get() else {
        return result;
    };
    let note = || unanswered(target.id.clone(), method.clone(), error).to_string();
    match result {
        Ok(Outcome::Done(payload)) if payload.is_error => {
            Ok(Outcome::Done(with_note(payload, &note())))
        }
        Err(CallError::Refused { tool, code, message, data }) => {
            let message = format!("{message} ({})", note());
            Err(CallError::Refused { tool, code, message, data })
        }
        Err(CallError::InvalidArguments { tool, message, data }) => {
            let message = format!("{message} ({})", note());
            Err(CallError::InvalidArguments { tool, message, data })
        }
        Err(CallError::MissingResource { tool, message, data }) => {
            let message = format!("{message} ({})", note());
            Err(CallError::MissingResource { tool, message, data })
        }
        other => other,
    }
}

/// The result with one more text after its content.
fn with_note(payload: Payload, note: &str) -> Payload {
    let block = json!({ "type": "text", "text": note }).to_string();
    let text = payload.json.get();
    let fields = object_fields(text).unwrap_or_default();
    let noted = if fields.iter().any(|(key, _)| key == "content") {
        with_fields(text, |key, value| match value.strip_suffix(']') {
            Some(items) if key == "content" => {
                let comma = if items.trim_end() == "[" { "" } else { "," };
                format!("{items}{comma}{block}]").into()
            }
            _ => value.into(),
        })
    } else {
        text.strip_prefix('{').map(|rest| {
            let comma = if fields.is_empty() { "" } else { "," };
            format!(r#"{{"content":[{block}]{comma}{rest}"#)
        })
    };
    let noted = noted.and_then(|json| RawValue::from_string(json).ok());
    Payload { json: noted.unwrap_or(payload.json), ..payload }
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
