//! Searches of the catalogue, away from the threads that serve calls.

use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use gatefold_catalog::View;
use gatefold_core::CallError;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::Pinned;
use crate::nested::Chain;

/// The places for searches that take long, as many as there are cores and at least
/// [`LEAST_SEARCHES`]. More would only take the cores from those who serve calls.
#[derive(Clone)]
pub(crate) struct SearchPlaces(Arc<Semaphore>);

/// One search that builds an index must not keep out all others.
const LEAST_SEARCHES: usize = 2;

impl Default for SearchPlaces {
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get);
        Self(Arc::new(Semaphore::new(cores.max(LEAST_SEARCHES))))
    }
}

impl Pinned {
    /// Does what may search this turn's view: at once where that is quick, else on a thread that may
    /// block, because the first search of a large catalogue builds its index and takes seconds.
    pub async fn searching<T: Send + 'static>(
        &self,
        search: impl FnOnce(&View) -> T + Send + 'static,
    ) -> T {
        if self.view.snapshot().searches_quickly() {
            return search(&self.view);
        }
        let SearchPlaces(places) = self.dispatcher.searches.clone();
        let place = places.acquire_owned().await.expect("the places are never closed");
        let view = self.view.clone();
        let searched = spawn_blocking(move || {
            // A search whose caller has given up keeps its place until it ends.
            let _place = place;
            search(&view)
        });
        searched.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// An error about an unknown tool with the names that it may have meant; any other as it is.
    ///
    /// They are looked for here alone, once all that decides about the call is known. A caller who
    /// gives up, or whose time is over, is told none.
    pub(crate) async fn with_suggestions(
        &self,
        error: CallError,
        chain: &Chain,
        cancel: &CancellationToken,
    ) -> CallError {
        let CallError::UnknownTool { name, .. } = error else { return error };
        let asked = name.clone();
        let missed = self.searching(move |view| view.resolve(&asked).err());
        let missed = chain.timer.within(cancel.run_until_cancelled(missed)).await;
        let nearest = missed.ok().flatten().flatten().map(|miss| miss.nearest);
        CallError::UnknownTool { name, nearest: nearest.unwrap_or_default() }
    }
}
