use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A bulkhead around a source: a limited number of calls run, a limited number wait, and any
/// further call is refused.
#[derive(Debug)]
pub(crate) struct Bulkhead {
    places: Arc<Semaphore>,
    place_count: u32,
    waiting: AtomicUsize,
    waiting_limit: usize,
}

/// Why a call was refused.
#[derive(Debug)]
pub(crate) enum BulkheadRefusal {
    /// The queue is full.
    Full,
    /// The source is no longer part of the configuration.
    Removed,
}

impl Bulkhead {
    pub(crate) fn new(in_flight: usize, waiting_limit: usize) -> Self {
        let place_count = u32::try_from(in_flight).unwrap_or(u32::MAX).max(1);
        Self {
            places: Arc::new(Semaphore::new(place_count as usize)),
            place_count,
            waiting: AtomicUsize::new(0),
            waiting_limit,
        }
    }

    /// Waits for a place. Dropping a waiter removes it from the queue.
    pub(crate) async fn enter(&self) -> Result<OwnedSemaphorePermit, BulkheadRefusal> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let _queued = QueuedCall::join(self)?;
        let place = Arc::clone(&self.places).acquire_owned().await;
        place.map_err(|_| BulkheadRefusal::Removed)
    }

    /// Waits until no call is inside, and refuses all later ones.
    pub(crate) async fn drain(&self) {
        if let Ok(_all) = self.places.acquire_many(self.place_count).await {
            self.places.close();
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        (self.place_count as usize).saturating_sub(self.places.available_permits())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// One call's place at its source. The place is free while its client is asked something, because a
/// person who thinks must not block others.
#[derive(Debug, Default)]
pub(crate) struct BulkheadPlace(Mutex<Option<TakenPlace>>);

#[derive(Debug)]
struct TakenPlace {
    bulkhead: Arc<Bulkhead>,
    permit: Option<OwnedSemaphorePermit>,
}

impl BulkheadPlace {
    /// Takes the place, until the guard is dropped.
    pub(crate) fn take(
        &self,
        bulkhead: Arc<Bulkhead>,
        permit: OwnedSemaphorePermit,
    ) -> PlaceGuard<'_> {
        *self.lock() = Some(TakenPlace { bulkhead, permit: Some(permit) });
        PlaceGuard(self)
    }

    pub(crate) fn leave(&self) {
        let left = self.lock().as_mut().and_then(|held| held.permit.take());
        drop(left);
    }

    /// Waits for a place again. If the source is full or removed, the call goes on without one.
    pub(crate) async fn come_back(&self) {
        let bulkhead = match &*self.lock() {
            Some(TakenPlace { bulkhead, permit: None }) => bulkhead.clone(),
            _ => return,
        };
        let Ok(permit) = bulkhead.enter().await else { return };
        if let Some(held) = &mut *self.lock() {
            held.permit.get_or_insert(permit);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<TakenPlace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call at its source.
pub(crate) struct PlaceGuard<'a>(&'a BulkheadPlace);

impl Drop for PlaceGuard<'_> {
    fn drop(&mut self) {
        let left = self.0.lock().take();
        drop(left);
    }
}

struct QueuedCall<'a>(&'a Bulkhead);

impl<'a> QueuedCall<'a> {
    fn join(bulkhead: &'a Bulkhead) -> Result<Self, BulkheadRefusal> {
        let place = bulkhead.waiting.fetch_add(1, Ordering::Relaxed);
        let queued = Self(bulkhead);
        if place >= bulkhead.waiting_limit { Err(BulkheadRefusal::Full) } else { Ok(queued) }
    }
}

impl Drop for QueuedCall<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_place_is_free_while_its_call_is_asked_something() {
        let bulkhead = Arc::new(Bulkhead::new(1, 4));
        let place = BulkheadPlace::default();
        let inside = place.take(bulkhead.clone(), bulkhead.enter().await.unwrap());
        place.leave();
        let other = bulkhead.enter().await.unwrap();
        let mut back = std::pin::pin!(place.come_back());
        assert!(futures::poll!(&mut back).is_pending(), "somebody else is inside");
        drop(other);
        back.await;
        assert_eq!(bulkhead.in_flight(), 1);
        drop(inside);
        assert_eq!(bulkhead.in_flight(), 0);
        place.come_back().await;
        assert_eq!(bulkhead.in_flight(), 0, "a caller that has left cannot return");
    }
}
