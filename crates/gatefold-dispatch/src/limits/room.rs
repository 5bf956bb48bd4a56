//! Room for large results: how many of them are in memory at a time, over all calls.
//!
//! A result is read into memory, because it is parsed, searched for secrets and sealed as a whole
//! before anything of it may lie on a disk. Without a common bound, every call could hold the
//! largest result at once. With it, whoever reads a large result waits for a place first, and until
//! then does not read on, so that its server waits as well.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Limits;

/// The places for large results of one runtime.
#[derive(Debug)]
pub(crate) struct ResultPlaces {
    all: Arc<Semaphore>,
    /// The most places that one source may take, so that a slow one leaves some to the others.
    of_one_source: usize,
}

impl ResultPlaces {
    pub(crate) fn new(limits: &Limits) -> Self {
        let places = limits.result_memory / limits.result_bytes.max(1);
        let places = usize::try_from(places).unwrap_or(usize::MAX);
        let places = places.clamp(2, Semaphore::MAX_PERMITS);
        Self { all: Arc::new(Semaphore::new(places)), of_one_source: places.div_ceil(2) }
    }

    pub(crate) fn for_source(&self) -> SourcePlaces {
        let own = Arc::new(Semaphore::new(self.of_one_source));
        SourcePlaces { own, all: self.all.clone() }
    }
}

/// The places that one source's results may take.
#[derive(Debug, Clone)]
pub(crate) struct SourcePlaces {
    own: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// The place of one call's result, if it takes one. It is free again when every clone is gone, so
/// whoever works on the result keeps one, and so does the answer until its client has taken it.
#[derive(Debug, Clone, Default)]
pub struct ResultPlace(Arc<Mutex<Option<HeldPermits>>>);

#[derive(Debug)]
struct HeldPermits {
    _of_source: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl ResultPlace {
    /// Takes what another one holds: the answer to a call that was parked goes to a later request.
    pub(crate) fn take_over(&self, other: &Self) {
        if Arc::ptr_eq(&self.0, &other.0) {
            return;
        }
        if let Some(held) = other.lock().take() {
            *self.lock() = Some(held);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<HeldPermits>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a source asks for room before it reads on.
#[derive(Debug, Clone)]
pub struct ResultRoom {
    places: SourcePlaces,
    place: ResultPlace,
    is_awaited: Arc<AtomicBool>,
}

impl ResultRoom {
    /// A result up to this size, in bytes, takes no place.
    pub const SMALL: usize = 256 * 1024;

    pub(crate) fn new(places: SourcePlaces, place: ResultPlace) -> Self {
        Self { places, place, is_awaited: Arc::default() }
    }

    /// Waits for room for a result of which so many bytes have been read. Returns at once while it
    /// is small, and once it has its place.
    pub async fn admit(&self, bytes: usize) {
        if bytes <= Self::SMALL || self.place.lock().is_some() {
            return;
        }
        self.is_awaited.store(true, Ordering::Relaxed);
        // The source's own first: who waits for it must not keep a place from others.
        let of_source = self.places.own.clone().acquire_owned().await;
        let of_all = self.places.all.clone().acquire_owned().await;
        if let (Ok(of_source), Ok(of_all)) = (of_source, of_all) {
            let taken = HeldPermits { _of_source: of_source, _of_all: of_all };
            *self.place.lock() = Some(taken);
        }
        self.is_awaited.store(false, Ordering::Relaxed);
    }

    /// Whether a result waits for room. If its call ends now, that is why.
    pub(crate) fn is_awaited(&self) -> bool {
        self.is_awaited.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const LARGE: usize = ResultRoom::SMALL + 1;

    fn places(count: u64) -> ResultPlaces {
        let limits = Limits { result_bytes: 10, result_memory: 10 * count, ..Limits::default() };
        ResultPlaces::new(&limits)
    }

    fn room(places: &SourcePlaces) -> (ResultRoom, ResultPlace) {
        let place = ResultPlace::default();
        (ResultRoom::new(places.clone(), place.clone()), place)
    }

    async fn is_admitted(room: &ResultRoom, bytes: usize) -> bool {
        timeout(Duration::from_millis(20), room.admit(bytes)).await.is_ok()
    }

    #[tokio::test]
    async fn a_large_result_waits_until_another_is_done_with() {
        let places = places(2);
        let (slow, quick) = (places.for_source(), places.for_source());
        let (first, first_place) = room(&slow);
        assert!(is_admitted(&first, LARGE).await);
        let (second, _) = room(&slow);
        assert!(!is_admitted(&second, LARGE).await, "one source has no more than half");
        assert!(is_admitted(&second, ResultRoom::SMALL).await, "a small one takes no place");
        let (other, _) = room(&quick);
        assert!(is_admitted(&other, LARGE).await, "another source has its half");
        drop(first);
        assert!(!is_admitted(&second, LARGE).await, "its caller still works on the result");
        drop(first_place);
        assert!(is_admitted(&second, LARGE).await);
    }

    #[tokio::test]
    async fn a_result_takes_one_place_however_often_it_asks() {
        let own = places(2).for_source();
        let (one, _place) = room(&own);
        for bytes in [LARGE, 2 * LARGE, 3 * LARGE] {
            assert!(is_admitted(&one, bytes).await);
        }
        assert_eq!(own.all.available_permits(), 1);
    }

    #[tokio::test]
    async fn places_follow_the_limits_but_never_shut_everybody_out() {
        for (memory, bytes, expected) in
            [(0, 10, 2), (20, 10, 2), (39, 10, 3), (u64::MAX, 1, Semaphore::MAX_PERMITS)]
        {
            let limits = Limits { result_bytes: bytes, result_memory: memory, ..Limits::default() };
            assert_eq!(ResultPlaces::new(&limits).all.available_permits(), expected, "{memory}");
        }
    }
}
