//! Work on files and notes, each on a thread of its own, with a bound on the number of threads and their time. Work whose
//! time or memory a caller's text decides goes to [`crate::workers`] instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, oneshot};

use crate::BuiltinError;

/// How many calculations of one source run at a time. Further ones wait.
const PLACES: usize = 4;

/// How long one calculation may run.
pub(crate) const TIME: Duration = Duration::from_secs(2);

/// How long a calculation has to see its stop sign before its caller is told that it failed.
const GRACE: Duration = Duration::from_millis(500);

/// The stack of a calculation's thread. Libraries that read expressions recurse with their depth, which
/// the length of an argument bounds.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Places for calculations.
#[derive(Clone)]
pub(crate) struct ComputePlaces {
    places: Arc<Semaphore>,
    time: Duration,
}

impl Default for ComputePlaces {
    fn default() -> Self {
        Self::new(PLACES, TIME)
    }
}

/// Tells a calculation that nobody waits for it any more.
pub(crate) struct StopSign {
    is_dropped: Arc<AtomicBool>,
    until: Instant,
}

impl StopSign {
    /// One that goes up by itself.
    pub(crate) fn after(time: Duration) -> Self {
        Self { is_dropped: Arc::default(), until: Instant::now() + time }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.is_dropped.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// Stops a calculation whose caller is gone.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ComputePlaces {
    /// So many places, for calculations that may take so long.
    pub(crate) fn new(places: usize, time: Duration) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), time }
    }

    /// Runs a calculation that looks at its stop sign often enough.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        calculation: impl FnOnce(&StopSign) -> T + Send + 'static,
    ) -> Result<T, BuiltinError> {
        let places = self.places.clone();
        let place = tokio::time::timeout(self.time, places.acquire_owned()).await;
        let Ok(Ok(place)) = place else { return Err(BuiltinError::Busy) };
        let is_dropped = Arc::new(AtomicBool::new(false));
        let _stop = StopOnDrop(is_dropped.clone());
        let sign = StopSign { is_dropped, until: Instant::now() + self.time };
        let (sender, answer) = oneshot::channel();
        let work = move || {
            let _place = place;
            // Nobody listens once the call is cancelled.
            let _ = sender.send(calculation(&sign));
        };
        let thread = std::thread::Builder::new().name("builtin".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(work).map_err(|error| BuiltinError::Unavailable {
            reason: "no thread could be started".to_owned(),
            source: Some(error.into()),
        })?;
        // The thread keeps its place until it has seen the sign.
        match tokio::time::timeout(self.time + GRACE, answer).await {
            Ok(answer) => answer.map_err(|_| BuiltinError::unavailable("the calculation failed")),
            Err(_) => Err(longer_than(self.time)),
        }
    }
}

/// A calculation that was stopped.
pub(crate) fn too_long() -> BuiltinError {
    longer_than(TIME)
}

pub(crate) fn longer_than(time: Duration) -> BuiltinError {
    BuiltinError::arguments(format!("it takes longer than {} s; ask for less", time.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_ends_at_its_deadline_and_what_hangs_keeps_its_place() {
        let places = ComputePlaces::new(1, Duration::from_millis(50));
        let (release, hung) = std::sync::mpsc::sync_channel::<()>(1);
        let start = Instant::now();
        let late = places.run(move |_| hung.recv().is_ok()).await.unwrap_err();
        assert_eq!(late.to_string(), "it takes longer than 0 s; ask for less");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        let full = places.run(|_| ()).await;
        assert!(matches!(full, Err(BuiltinError::Busy)), "{full:?}");
        drop(release);
        while places.run(|_| ()).await.is_err() {
            assert!(start.elapsed() < Duration::from_secs(30));
        }
    }

    #[tokio::test]
    async fn a_calculation_that_panics_frees_its_place() {
        let places = ComputePlaces::new(1, Duration::from_secs(5));
        let failed = places.run(|_| panic!("on purpose")).await.map(|(): ()| ());
        assert_eq!(failed.unwrap_err().to_string(), "the calculation failed");
        assert!(places.run(|_| ()).await.is_ok());
    }
}
