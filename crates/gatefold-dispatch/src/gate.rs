use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A source's door: so many calls at once, so many waiting, the next one is turned away.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Arc<Semaphore>,
    place_count: u32,
    waiting: AtomicUsize,
    waiting_limit: usize,
}

/// Why a call was turned away.
#[derive(Debug)]
pub(crate) enum Shut {
    /// The queue is full.
    Full,
    /// The source is not part of the configuration any more.
    Removed,
}

impl Gate {
    pub(crate) fn new(in_flight: usize, waiting_limit: usize) -> Self {
        let place_count = u32::try_from(in_flight).unwrap_or(u32::MAX).max(1);
        Self {
            places: Arc::new(Semaphore::new(place_count as usize)),
            place_count,
            waiting: AtomicUsize::new(0),
            waiting_limit,
        }
    }

    /// Waits for a place. Who is dropped while waiting leaves the queue.
    pub(crate) async fn enter(&self) -> Result<OwnedSemaphorePermit, Shut> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let _queued = Queued::join(self)?;
        let place = Arc::clone(&self.places).acquire_owned().await;
        place.map_err(|_| Shut::Removed)
    }

    /// Waits until no call is inside, and keeps it so: whoever comes later is turned away.
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

struct Queued<'a>(&'a Gate);

impl<'a> Queued<'a> {
    fn join(gate: &'a Gate) -> Result<Self, Shut> {
        let place = gate.waiting.fetch_add(1, Ordering::Relaxed);
        let queued = Self(gate);
        if place >= gate.waiting_limit { Err(Shut::Full) } else { Ok(queued) }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
