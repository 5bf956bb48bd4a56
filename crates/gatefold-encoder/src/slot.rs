//! Where a model keeps its network: loaded when it is needed, and dropped when nobody needs it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::EncoderError;
use crate::network::Network;

pub(crate) enum NetworkSlot {
    /// One that stays.
    Kept(Arc<Network>),
    /// One that is loaded by the first who needs it.
    Loaded(LoadedNetwork),
}

pub(crate) struct LoadedNetwork {
    load: fn() -> Result<Network, EncoderError>,
    /// With its last use.
    network: Mutex<Option<(Arc<Network>, Instant)>>,
}

impl NetworkSlot {
    pub(crate) fn loaded_by(load: fn() -> Result<Network, EncoderError>) -> Self {
        Self::Loaded(LoadedNetwork { load, network: Mutex::default() })
    }

    /// The network. While one caller loads it, the others wait.
    pub(crate) fn network(&self) -> Result<Arc<Network>, EncoderError> {
        match self {
            Self::Kept(network) => Ok(Arc::clone(network)),
            Self::Loaded(slot) => {
                let mut held = slot.lock();
                let network = match held.take() {
                    Some((network, _)) => network,
                    None => Arc::new((slot.load)()?),
                };
                *held = Some((Arc::clone(&network), Instant::now()));
                Ok(network)
            }
        }
    }

    /// Drops the network if nobody needed it for so long and it can be loaded again.
    pub(crate) fn rest(&self, unused: Duration) {
        if let Self::Loaded(slot) = self {
            slot.lock().take_if(|(_, last_used)| last_used.elapsed() >= unused);
        }
    }

    #[cfg(all(test, feature = "runtime"))]
    pub(crate) fn is_loaded(&self) -> bool {
        match self {
            Self::Kept(_) => true,
            Self::Loaded(slot) => slot.lock().is_some(),
        }
    }
}

impl LoadedNetwork {
    fn lock(&self) -> MutexGuard<'_, Option<(Arc<Network>, Instant)>> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
