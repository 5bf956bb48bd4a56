//! Searches of the catalogue, away from the threads that serve calls.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use gatefold_catalog::View;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Places for searches that may take long, as many as there are cores and at least
/// [`LEAST_SEARCHES`]. More would only take the cores away from serving calls.
#[derive(Clone)]
pub(crate) struct SearchPlaces(Arc<Semaphore>);

/// A search that builds an index must not keep out all others.
const LEAST_SEARCHES: usize = 2;

impl Default for SearchPlaces {
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get);
        Self(Arc::new(Semaphore::new(cores.max(LEAST_SEARCHES))))
    }
}

impl SearchPlaces {
    /// Runs something that may search a view: directly if that is quick, else on a thread that may
    /// block, because the first search of a large catalogue builds its index and takes seconds.
    pub(crate) async fn search<T: Send + 'static>(
        &self,
        view: &View,
        search: impl FnOnce(&View) -> T + Send + 'static,
    ) -> T {
        if view.snapshot().searches_quickly() {
            return search(view);
        }
        let place = self.0.clone().acquire_owned().await.expect("the places are never closed");
        let view = view.clone();
        let searched = spawn_blocking(move || {
            // A search keeps its place until it ends, even if its caller has given up.
            let _place = place;
            search(&view)
        });
        searched.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }
}
