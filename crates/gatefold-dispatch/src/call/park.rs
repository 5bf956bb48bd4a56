//! Calls whose sources wait for answers that their clients bring by repeating the request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{BusyResource, CallError, CallId, Outcome, Principal, ResumeError};
use gatefold_policy::Permit;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;
use tokio_util::task::AbortOnDropHandle;

use super::ActiveCall;
use super::ask::{OpenQuestions, PendingQuestion};
use super::record::{AuditOutcome, CallOpened, OpenRecord};
use super::seal::{SealedCall, SealedState};
use super::settle::{BoundCall, SettledCall, check_size};
use crate::{Dispatcher, EventSink, MemoryShare, ResultPlace};

/// The most parked calls. Further ones are not parked.
pub const PARKED: usize = 1024;
/// The most parked calls of one principal, so that nobody takes all the places.
pub const PARKED_EACH: usize = 128;

impl ActiveCall {
    /// Follows a call to its end, or to a question that its client will answer with another
    /// request.
    pub(super) async fn follow(
        &self,
        mut running: RunningCall,
        record: OpenRecord,
        bound: BoundCall,
        limit: u64,
    ) -> Result<Outcome, CallError> {
        let step = tokio::select! {
            biased;
            () = self.caller.cancel.cancelled() => RunningStep::Ended(Err(CallError::Cancelled)),
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

    /// Lets the call wait for its client, which gets the questions.
    fn park(
        &self,
        running: RunningCall,
        bound: &BoundCall,
        questions: Box<RawValue>,
    ) -> SettledCall {
        let Dispatcher { parking, owner, .. } = &*self.turn.dispatcher;
        let domain = || bound.target.domain.clone();
        let limit = self.turn.runtime.limits.suspension;
        match parking.park(bound.call, &self.turn.principal, running, limit) {
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

    /// Continues a call that its source is already working on, once its record is open again.
    pub(super) async fn take_up(
        &self,
        mut running: RunningCall,
        permit: &Permit,
        opened: CallOpened,
    ) -> Result<Outcome, CallError> {
        let bound = BoundCall::of(permit, opened.decided_by.clone());
        let record = match self.begin_record(opened).await {
            Ok(record) => record,
            Err(error) => {
                if matches!(error, CallError::Audit(_)) {
                    // The source was not told anything, so its client may try again.
                    let Dispatcher { parking, .. } = &*self.turn.dispatcher;
                    let limit = self.turn.runtime.limits.suspension;
                    if let Err(reason) =
                        parking.park(bound.call, &self.turn.principal, running, limit)
                    {
                        tracing::warn!(call = %bound.call, ?reason, "a call was not parked again");
                    }
                }
                return Err(error);
            }
        };
        let answers = permit.call().resume.as_ref().map(|resume| &*resume.answers);
        running.resume(answers.unwrap_or(RawValue::NULL), &self.caller.events);
        let limit = self.result_limit(permit);
        let place = running.place().clone();
        let result = self.follow(running, record, bound, limit).await;
        self.caller.result_place.take_over(&place);
        result
    }

    /// The live call that a sealed state stands for.
    pub(super) fn parked(&self, id: CallId, owner: u64) -> Result<RunningCall, ResumeError> {
        if owner != self.turn.dispatcher.owner {
            return Err(ResumeError::Ended);
        }
        self.turn.dispatcher.parking.take(id, &self.turn.principal).ok_or(ResumeError::Ended)
    }

    /// Releases the live call behind a sealed state that will not be resumed any more.
    pub(super) fn release(&self, id: CallId, sealed: Option<&SealedCall>) {
        if let Some(SealedState::Parked(owner)) = sealed.map(|sealed| &sealed.state) {
            drop(self.parked(id, *owner));
        }
    }
}

/// A call at its source, followed from one request of its client to the next.
pub(crate) struct RunningCall {
    call: BoxFuture<'static, Result<Outcome, CallError>>,
    questions: mpsc::Receiver<PendingQuestion>,
    open: OpenQuestions,
    events: EventSink,
    /// Fires the call's own token if it is dropped before its end.
    abandoned: Option<DropGuard>,
    /// What its arguments take of the memory of the entrance that it came through.
    memory: Option<Arc<dyn MemoryShare>>,
    /// The place of its result.
    place: ResultPlace,
    is_detached: bool,
}

/// The next step of a running call.
pub(crate) enum RunningStep {
    Ended(Result<Outcome, CallError>),
    /// The source waits for answers to these questions.
    Asks(Box<RawValue>),
}

impl RunningCall {
    pub(crate) fn new(
        call: BoxFuture<'static, Result<Outcome, CallError>>,
        questions: mpsc::Receiver<PendingQuestion>,
        events: EventSink,
        abandoned: Option<DropGuard>,
        memory: Option<Arc<dyn MemoryShare>>,
        place: ResultPlace,
    ) -> Self {
        let open = OpenQuestions::default();
        Self { call, questions, open, events, abandoned, memory, place, is_detached: false }
    }

    pub(crate) fn place(&self) -> &ResultPlace {
        &self.place
    }

    /// Follows the call until it ends or asks something.
    pub(crate) async fn next_step(&mut self) -> RunningStep {
        loop {
            while self.open.has_room()
                && let Ok(asked) = self.questions.try_recv()
            {
                self.open.take_up(asked);
            }
            self.open.forget_abandoned();
            if !self.open.is_empty() {
                return RunningStep::Asks(self.open.written());
            }
            tokio::select! {
                biased;
                result = &mut self.call => {
                    self.abandoned.take().map(DropGuard::disarm);
                    return RunningStep::Ended(result);
                }
                Some(asked) = self.questions.recv() => self.open.take_up(asked),
            }
        }
    }

    /// Continues with the answers of another request, whose listener gets the events.
    pub(crate) fn resume(&mut self, answers: &RawValue, events: &EventSink) {
        self.events.redirect(events);
        self.open.answer(answers);
    }

    /// Lets the call continue by itself while nobody follows it or listens to it.
    fn detached(self) -> Self {
        self.events.redirect(&EventSink::none());
        if self.is_detached {
            return self;
        }
        let task = AbortOnDropHandle::new(tokio::spawn(self.call));
        let call = task.map(|ended| ended.unwrap_or(Err(CallError::Cancelled))).boxed();
        Self { call, is_detached: true, ..self }
    }
}

/// The calls that wait for their clients.
#[derive(Default)]
pub(crate) struct ParkedCalls(Mutex<ParkingPlaces>);

#[derive(Default)]
struct ParkingPlaces {
    /// At most [`PARKED`], and [`PARKED_EACH`] of one principal.
    parked: HashMap<CallId, ParkedCall>,
    count: u64,
    is_closed: bool,
}

struct ParkedCall {
    number: u64,
    running: RunningCall,
    principal: Arc<Principal>,
    _expiry: AbortOnDropHandle<()>,
}

/// Why a call was not parked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ParkingRefusal {
    /// The limit is reached.
    Full,
    /// The dispatcher is closing: nobody could come back to it.
    Closed,
}

impl ParkedCalls {
    /// Parks a call for `limit`. If nobody takes it by then, it is cancelled.
    pub(crate) fn park(
        self: &Arc<Self>,
        id: CallId,
        principal: &Arc<Principal>,
        running: RunningCall,
        limit: Duration,
    ) -> Result<(), ParkingRefusal> {
        let mut places = self.lock();
        if places.is_closed {
            return Err(ParkingRefusal::Closed);
        }
        if places.parked.len() >= PARKED {
            return Err(ParkingRefusal::Full);
        }
        let own = places.parked.values().filter(|parked| parked.principal == *principal);
        if own.count() >= PARKED_EACH {
            return Err(ParkingRefusal::Full);
        }
        if running.memory.as_ref().is_some_and(|memory| !memory.may_wait()) {
            return Err(ParkingRefusal::Full);
        }
        places.count += 1;
        let (number, parking) = (places.count, Arc::downgrade(self));
        let expiry = AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            if let Some(parking) = parking.upgrade() {
                parking.expire(id, number);
            }
        }));
        let (running, principal) = (running.detached(), principal.clone());
        let parked = ParkedCall { number, running, principal, _expiry: expiry };
        places.parked.insert(id, parked);
        Ok(())
    }

    /// Returns a call to its principal. For anybody else it does not exist.
    pub(crate) fn take(&self, id: CallId, principal: &Principal) -> Option<RunningCall> {
        let mut places = self.lock();
        // The seal already says whose it is; this also protects against a holder of the key.
        let is_own = places.parked.get(&id).is_some_and(|parked| *parked.principal == *principal);
        let parked = if is_own { places.parked.remove(&id) } else { None };
        drop(places);
        parked.map(|parked| parked.running)
    }

    /// Cancels those of some principals.
    pub(crate) fn end(&self, of: impl Fn(&Principal) -> bool) {
        let over: Vec<(CallId, ParkedCall)> =
            self.lock().parked.extract_if(|_, parked| of(&parked.principal)).collect();
        drop(over);
    }

    /// Cancels all of them, and accepts no more.
    pub(crate) fn close(&self) {
        let mut places = self.lock();
        places.is_closed = true;
        let parked = std::mem::take(&mut places.parked);
        drop(places);
        drop(parked);
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().parked.len()
    }

    fn expire(&self, id: CallId, number: u64) {
        let mut places = self.lock();
        if places.parked.get(&id).is_some_and(|parked| parked.number == number) {
            places.parked.remove(&id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ParkingPlaces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{Timestamp, UserId};

    use super::*;

    #[tokio::test]
    async fn a_parked_call_is_not_there_for_another_principal() {
        let parking = Arc::<ParkedCalls>::default();
        let [ann, bob] = ["ann", "bob"].map(|user| Arc::new(Principal::user(UserId::new(user))));
        let id = CallId::new(Timestamp::from_millis(1), 7);
        let (_asks, questions) = mpsc::channel(1);
        let call = std::future::pending().boxed();
        let running = RunningCall::new(
            call,
            questions,
            EventSink::none(),
            None,
            None,
            ResultPlace::default(),
        );
        parking.park(id, &ann, running, Duration::from_mins(1)).unwrap();
        assert!(parking.take(id, &bob).is_none());
        assert!(parking.take(CallId::new(Timestamp::from_millis(1), 8), &ann).is_none());
        assert_eq!(parking.count(), 1, "it stays with its own");
        assert!(parking.take(id, &ann).is_some());
        assert!(parking.take(id, &ann).is_none());
    }
}
