//! The store as the log of calls that dispatch writes to.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_dispatch::{AuditError, AuditLog, AuditSlot, CallClosed, CallOpened, DiscoveryRecord};

use crate::{Store, StoreError};

impl AuditLog for Store {
    fn open(&self, record: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>> {
        async move {
            self.ledger().open(record).await.map_err(|error| match *error {
                StoreError::NotSuspended { .. } => AuditError::NotSuspended,
                _ => AuditError::Failed(error.into()),
            })
        }
        .boxed()
    }

    fn refuse(&self, opened: CallOpened, closed: CallClosed) -> BoxFuture<'_, ()> {
        self.ledger().refuse(opened, closed).boxed()
    }

    fn discover(&self, record: DiscoveryRecord) -> BoxFuture<'_, ()> {
        self.ledger().discover(record).boxed()
    }
}
