//! Clients that registered themselves.

use std::time::Duration;

use gatefold_core::Timestamp;

use crate::{KeepOutcome, StoreAnswer};

/// The most clients that are registered at once.
pub const REGISTERED_CLIENTS: u32 = 1000;
/// How long a client is kept that nobody has let in.
pub const UNUSED_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long one is kept after somebody let it in.
pub const USED_LIFE: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// A client that registered itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRecord {
    pub id: String,
    pub name: String,
    pub redirects: Vec<String>,
    pub created_at: Timestamp,
    /// When somebody let it in last.
    pub used_at: Option<Timestamp>,
}

/// Keeps clients that registered themselves, at most [`REGISTERED_CLIENTS`].
pub trait RegisteredClients: Send + Sync + 'static {
    /// Keeps a client. Those that are too old make room first.
    fn register_client(&self, client: ClientRecord, now: Timestamp)
    -> StoreAnswer<'_, KeepOutcome>;

    /// A client that is not too old.
    fn registered_client<'a>(
        &'a self,
        id: &'a str,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<ClientRecord>>;

    /// Notes that somebody let a client in.
    fn note_client_use<'a>(&'a self, id: &'a str, now: Timestamp) -> StoreAnswer<'a, ()>;
}
