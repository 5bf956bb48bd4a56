//! Who is known here, and what each may use: records, and the ports that keep them.
//!
//! What is kept of a sign-in at a source is sealed. This crate must not know how anything is kept,
//! carried or shown: no I/O, no SQL, no HTTP.

use futures::future::BoxFuture;
use gatefold_core::BoxError;

mod grants;

pub use grants::{GrantPlace, GrantRecord, Grants};

/// What a port answers that keeps something. Each of its methods is one transaction, also against
/// other gateways on the same state, and every table has a bound of its own.
pub type StoreAnswer<'a, T> = BoxFuture<'a, Result<T, BoxError>>;
