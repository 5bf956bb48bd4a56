//! Durable state: audit records, requests for a person's approval, what sources last offered, past
//! queries of tools, the tools used most, results too large to show, runs with their journals and threads, what models
//! were asked, containers that run, sign-ins at sources and at the
//! gateway, access tokens, and the key that seals suspended calls.
//!
//! This is the only crate with Gatefold's own SQL schema, and no SQL leaves it. It must not know
//! policy, protocols or how anything is shown. Several processes may share one state directory;
//! each record knows which of them holds it.
//!
//! Audit records come in faster than a database commits, so one writer collects all that wait and
//! commits them together. Opening a record waits for that commit. Closing one waits only until the
//! end is in a log beside the database: so when a caller gets its answer, the end of its call
//! survives a crash. An open record has its place in that log from the start, so closing never
//! waits for room.

mod access_tokens;
mod aging;
mod approvals;
mod audit;
mod blocking;
mod calls;
mod containers;
mod database;
mod digests;
mod driven_runs;
mod error;
mod grants;
mod health;
mod housekeeping;
mod key;
mod layout;
mod model_costs;
mod model_uses;
mod notes;
mod opening;
mod options;
mod owner;
mod past;
mod reach;
mod records;
mod results;
mod runs;
mod sealing;
mod sign_ins;
mod sources;
mod store;
mod threads;
mod tokens;
mod used;

pub use access_tokens::TokenReader;
pub use calls::{
    CallFilter, CallPlace, CallRecord, DiscoveryReport, OutcomeTotal, PlacedCall, Totals,
};
pub use containers::containers_left_behind;
pub use digests::DigestKey;
pub use driven_runs::{RunClaim, RunTenure, UnendedRun};
pub use error::StoreError;
pub use gatefold_dispatch::{ApprovalFilter, ApprovalRecord};
pub use grants::{GrantTable, KeyCommand, ROOT_KEY_BYTES, RootKey, RootSecret};
pub use health::{Health, examine};
pub use layout::create_private_directory;
pub use model_costs::{CostGroup, ModelUsage};
pub use options::{Durability, Retention, StoreOptions};
pub use past::{PastQueryFilter, PastQueryRecord};
pub use reach::{ReachAttempt, ReachRecord, reach_records};
pub use sources::{KnownSource, SourceKey};
pub use store::Store;

/// What bounds records, tokens and manifests and no option changes.
pub mod record_limits {
    pub use super::access_tokens::ACCESS_TOKENS;
    pub use super::aging::CATCH_UP;
    pub use super::audit::LINGER;
    pub use super::housekeeping::ROUND;
    pub use super::results::STORED_BYTES;
    pub use super::sign_ins::{
        BROWSERS_PER_USER, FAMILIES, FAMILIES_PER_USER, ISSUED_CODES, PEOPLE, PROVIDED_PEOPLE,
        PROVIDER_VISITS, VISIT_REQUEST_BYTES,
    };
    pub use super::sources::KEPT_PER_DOMAIN;
}
