use std::path::Path;

use gatefold::App;
use gatefold_store::{Store, StoreOptions};

use crate::{Asker, OperationError};

/// The most records in one answer.
pub const LISTED: u32 = 10_000;

/// The operations that need only a state directory.
///
/// Several processes may share one. What these change, a gateway that runs there notices by itself.
pub struct StateOperations {
    pub(crate) store: Store,
    pub(crate) asker: Asker,
}

impl StateOperations {
    /// Opens a state directory beside the gateways on it, creating it if there is none: then nothing
    /// is on record. Deletes no records, because only a gateway's configuration says how long they
    /// are kept.
    ///
    /// Must be called within a Tokio runtime.
    pub async fn open(state_dir: &Path, asker: Asker) -> Result<Self, OperationError> {
        let store = Store::open(state_dir, StoreOptions::keeping_all()).await?;
        Ok(Self { store, asker })
    }

    /// The same over the state directory of an app, which closes it.
    pub fn of(app: &App, asker: Asker) -> Self {
        Self { store: app.store().clone(), asker }
    }

    /// Writes what is left and closes the state directory.
    pub async fn close(self) -> Result<(), OperationError> {
        Ok(self.store.close().await?)
    }
}
