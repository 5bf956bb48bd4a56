//! The clients that runs of one model have in common.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_model::ModelClient;

/// The most clients that are kept of one model: the agents of a file seldom have as many limits.
const KEPT_CLIENTS: usize = 64;

/// The clients of one model, by how long an answer may take. Runs share them, since a new one reads the machine's
/// certificates, connects, and learns anew what the endpoint cannot do.
#[derive(Clone, Default)]
pub struct ModelClients(
    /// At most [`KEPT_CLIENTS`].
    Arc<Mutex<HashMap<Duration, ModelClient>>>,
);

impl ModelClients {
    /// The client for answers that may take so long.
    pub(crate) fn get_or_open<E>(
        &self,
        timeout: Duration,
        open: impl FnOnce() -> Result<ModelClient, E>,
    ) -> Result<ModelClient, E> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&timeout) {
            return Ok(client.clone());
        }
        let client = open()?;
        if clients.len() < KEPT_CLIENTS {
            clients.insert(timeout, client.clone());
        }
        Ok(client)
    }
}

impl fmt::Debug for ModelClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelClients").finish_non_exhaustive()
    }
}
