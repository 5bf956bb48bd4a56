use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::DataOwner;

/// One principal leaves at least one of so many places, and of so many places in the queue, to the others.
const LEFT_TO_OTHERS: usize = 8;

/// A bulkhead around a source: a limited number of calls run, a limited number wait, and any
/// further call is refused. A principal who has many calls waits for their own to end, so that others
/// find places free.
#[derive(Debug)]
pub(crate) struct Bulkhead {
    places: Arc<Semaphore>,
    place_count: u32,
    waiting: AtomicUsize,
    waiting_limit: usize,
    /// Of each principal with a call here, inside or waiting: at most [`Bulkhead::place_count`] and
    /// [`Bulkhead::waiting_limit`].
    shares: Mutex<HashMap<DataOwner, Arc<Share>>>,
}

/// What one principal may have of a bulkhead.
#[derive(Debug)]
struct Share {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_limit: usize,
}

/// A place inside. It is free again once this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    bulkhead: Arc<Bulkhead>,
    owner: DataOwner,
    permits: Option<[OwnedSemaphorePermit; 2]>,
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
            shares: Mutex::default(),
        }
    }

    /// Waits for a place. Dropping a waiter removes it from the queue.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        owner: &DataOwner,
    ) -> Result<Place, BulkheadRefusal> {
        let share = self.share_of(owner);
        // Whatever becomes of this call, its principal's share goes with the last one.
        let mut place = Place { bulkhead: self.clone(), owner: *owner, permits: None };
        let now = |semaphore: &Arc<Semaphore>| semaphore.clone().try_acquire_owned().ok();
        if let Some(own) = now(&share.places)
            && let Some(any) = now(&self.places)
        {
            place.permits = Some([own, any]);
            return Ok(place);
        }
        let _queued = QueuedCall::join(&share.waiting, share.waiting_limit)?;
        let _queued_with_all = QueuedCall::join(&self.waiting, self.waiting_limit)?;
        let removed = |_| BulkheadRefusal::Removed;
        let own = share.places.clone().acquire_owned().await.map_err(removed)?;
        let any = self.places.clone().acquire_owned().await.map_err(removed)?;
        place.permits = Some([own, any]);
        Ok(place)
    }

    fn share_of(&self, owner: &DataOwner) -> Arc<Share> {
        let limit = |all: usize| (all - all / LEFT_TO_OTHERS).max(1);
        let share = || {
            Arc::new(Share {
                places: Arc::new(Semaphore::new(limit(self.place_count as usize))),
                waiting: AtomicUsize::new(0),
                waiting_limit: limit(self.waiting_limit).min(self.waiting_limit),
            })
        };
        self.lock_shares().entry(*owner).or_insert_with(share).clone()
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

    fn lock_shares(&self) -> MutexGuard<'_, HashMap<DataOwner, Arc<Share>>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.permits = None;
        let mut shares = self.bulkhead.lock_shares();
        // No other call of this principal is inside or waits.
        if shares.get(&self.owner).is_some_and(|share| Arc::strong_count(share) == 1) {
            shares.remove(&self.owner);
        }
    }
}

/// One call's place at its source. The place is free while its client is asked something, because a
/// person who thinks must not block others.
#[derive(Debug, Default)]
pub(crate) struct BulkheadPlace(Mutex<Option<TakenPlace>>);

#[derive(Debug)]
struct TakenPlace {
    bulkhead: Arc<Bulkhead>,
    owner: DataOwner,
    place: Option<Place>,
}

impl BulkheadPlace {
    /// Takes the place, until the guard is dropped.
    pub(crate) fn take(&self, place: Place) -> PlaceGuard<'_> {
        let (bulkhead, owner) = (place.bulkhead.clone(), place.owner);
        *self.lock() = Some(TakenPlace { bulkhead, owner, place: Some(place) });
        PlaceGuard(self)
    }

    pub(crate) fn leave(&self) {
        let left = self.lock().as_mut().and_then(|held| held.place.take());
        drop(left);
    }

    /// Waits for a place again. If the source is full or removed, the call goes on without one.
    pub(crate) async fn come_back(&self) {
        let (bulkhead, owner) = match &*self.lock() {
            Some(TakenPlace { bulkhead, owner, place: None }) => (bulkhead.clone(), *owner),
            _ => return,
        };
        let Ok(place) = bulkhead.enter(&owner).await else { return };
        if let Some(held) = &mut *self.lock() {
            held.place.get_or_insert(place);
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

struct QueuedCall<'a>(&'a AtomicUsize);

impl<'a> QueuedCall<'a> {
    fn join(waiting: &'a AtomicUsize, limit: usize) -> Result<Self, BulkheadRefusal> {
        let place = waiting.fetch_add(1, Ordering::Relaxed);
        let queued = Self(waiting);
        if place >= limit { Err(BulkheadRefusal::Full) } else { Ok(queued) }
    }
}

impl Drop for QueuedCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{Principal, UserId};

    use super::*;

    fn owner(name: &str) -> DataOwner {
        DataOwner::of(&Principal::user(UserId::new(name)))
    }

    #[tokio::test]
    async fn a_place_is_free_while_its_call_is_asked_something() {
        let bulkhead = Arc::new(Bulkhead::new(1, 4));
        let place = BulkheadPlace::default();
        let (ann, bob) = (owner("ann"), owner("bob"));
        let inside = place.take(bulkhead.enter(&ann).await.unwrap());
        place.leave();
        let other = bulkhead.enter(&bob).await.unwrap();
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

    #[tokio::test]
    async fn a_principal_with_many_calls_keeps_nobody_else_out() {
        let bulkhead = Arc::new(Bulkhead::new(16, 64));
        let (ann, bob) = (owner("ann"), owner("bob"));
        let mut calls: Vec<_> = (0..100).map(|_| Box::pin(bulkhead.enter(&ann))).collect();
        let (mut inside, mut waiting, mut refused) = (Vec::new(), 0, 0);
        for call in &mut calls {
            match futures::poll!(call) {
                std::task::Poll::Ready(Ok(place)) => inside.push(place),
                std::task::Poll::Ready(Err(_)) => refused += 1,
                std::task::Poll::Pending => waiting += 1,
            }
        }
        assert_eq!((inside.len(), waiting, refused), (14, 56, 30));
        let bobs = bulkhead.enter(&bob).await.unwrap();
        assert_eq!(bulkhead.in_flight(), 15);
        drop((calls, inside, bobs));
        assert_eq!((bulkhead.in_flight(), bulkhead.waiting()), (0, 0));
        assert!(bulkhead.lock_shares().is_empty());
    }
}
