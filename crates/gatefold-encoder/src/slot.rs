//! Where a model keeps its network: loaded when it is needed, and dropped when nobody needs it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::EncoderError;
use crate::network::Network;

pub(crate) enum NetworkSlot {
    /// One that stays.
    Kept(Arc<Network>),
    /// One that is loaded by the first who needs it.
    Loaded { load: fn() -> Result<Network, EncoderError>, state: Mutex<LoadState> },
}

#[derive(Default)]
pub(crate) enum LoadState {
    #[default]
    Resting,
    InUse {
        network: Arc<Network>,
        last: Instant,
    },
    /// Loading it failed, for this reason. It is not tried again.
    Failed(String),
}

impl NetworkSlot {
    pub(crate) fn loaded_by(load: fn() -> Result<Network, EncoderError>) -> Self {
        Self::Loaded { load, state: Mutex::default() }
    }

    /// The network. While one caller loads it, the others wait.
    pub(crate) fn network(&self) -> Result<Arc<Network>, EncoderError> {
        let (load, mut state) = match self {
            Self::Kept(network) => return Ok(Arc::clone(network)),
            Self::Loaded { load, state } => (load, lock(state)),
        };
        let network = match &*state {
            LoadState::InUse { network, .. } => Arc::clone(network),
            LoadState::Failed(why) => return Err(EncoderError::Gone { why: why.clone() }),
            LoadState::Resting => match load() {
                Ok(network) => Arc::new(network),
                Err(error) => {
                    *state = LoadState::Failed(error.to_string());
                    return Err(error);
                }
            },
        };
        *state = LoadState::InUse { network: Arc::clone(&network), last: Instant::now() };
        Ok(network)
    }

    /// Drops the network if nobody needed it for so long and it can be loaded again. Returns how long
    /// to wait until it may have to be dropped next.
    pub(crate) fn rest(&self, unused: Duration) -> Duration {
        let Self::Loaded { state, .. } = self else { return unused };
        let mut state = lock(state);
        let LoadState::InUse { last, .. } = &*state else { return unused };
        let left = unused.saturating_sub(last.elapsed());
        if left > Duration::ZERO {
            return left;
        }
        let dropped = std::mem::take(&mut *state);
        drop(state);
        drop(dropped);
        unused
    }

    #[cfg(all(test, feature = "runtime"))]
    pub(crate) fn is_loaded(&self) -> bool {
        match self {
            Self::Kept(_) => true,
            Self::Loaded { state, .. } => matches!(*lock(state), LoadState::InUse { .. }),
        }
    }
}

fn lock(state: &Mutex<LoadState>) -> MutexGuard<'_, LoadState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_that_cannot_be_loaded_is_tried_once() {
        static TRIES: AtomicUsize = AtomicUsize::new(0);
        let slot = NetworkSlot::loaded_by(|| {
            TRIES.fetch_add(1, Ordering::SeqCst);
            Err(EncoderError::NoRuntime)
        });
        let said = || slot.network().err().unwrap().to_string();
        assert_eq!(said(), EncoderError::NoRuntime.to_string());
        assert!(said().contains(&EncoderError::NoRuntime.to_string()), "{}", said());
        assert_eq!(TRIES.load(Ordering::SeqCst), 1);
    }
}
