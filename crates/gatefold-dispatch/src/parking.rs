//! Calls at their sources that wait for answers which their clients bring by repeating the request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{CallError, CallId, Outcome, Principal};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;
use tokio_util::task::AbortOnDropHandle;

use crate::questions::{OpenQuestions, PendingQuestion};
use crate::{EventSink, MemoryShare, ResultPlace};

/// The most parked calls. Further ones are not parked.
pub const PARKED: usize = 1024;
/// The most parked calls of one principal, so that nobody takes all the places.
pub const PARKED_EACH: usize = 128;

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
        self.tell(events);
        self.answer(answers);
    }

    /// Sends its events from now on to the listener of this sink.
    pub(crate) fn tell(&self, events: &EventSink) {
        self.events.redirect(events);
    }

    /// Gives its questions their answers, as far as there are some.
    pub(crate) fn answer(&mut self, answers: &RawValue) {
        self.open.answer(answers);
    }

    /// Whether the memory of its entrance has room for it among what waits.
    pub(crate) fn may_wait(&self) -> bool {
        self.memory.as_ref().is_none_or(|memory| memory.may_wait())
    }

    /// Lets the call continue by itself while nobody follows it or listens to it.
    pub(crate) fn detached(self) -> Self {
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
        if !running.may_wait() {
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
