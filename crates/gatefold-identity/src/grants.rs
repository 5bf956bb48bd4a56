//! Grants: what we may do at sources, by sign-ins there.

use gatefold_core::{Domain, Secret, Timestamp, UpstreamIdentity};

use crate::StoreAnswer;

/// One identity at one source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GrantPlace {
    pub domain: Domain,
    pub identity: UpstreamIdentity,
}

/// A grant with its number, which grows with every change. Whoever keeps it does not read its text.
#[derive(Debug, Clone)]
pub struct GrantRecord {
    pub generation: u64,
    pub text: Secret,
}

/// Keeps grants, sealed, for all processes on one state directory.
///
/// A process that wants to refresh a grant takes its lease first. What it writes then counts only
/// if nobody changed the grant meanwhile.
pub trait Grants: Send + Sync + 'static {
    fn read<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, Option<GrantRecord>>;

    /// The number alone, which costs no key.
    fn generation<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, Option<u64>>;

    /// Writes a grant and ends its lease. With `from`, only over that generation. Returns the new
    /// generation, or `None` if another one was there.
    fn write<'a>(
        &'a self,
        place: &'a GrantPlace,
        text: &'a Secret,
        from: Option<u64>,
    ) -> StoreAnswer<'a, Option<u64>>;

    /// Takes the lease of a generation for `holder`, unless another holder has it now.
    fn lease<'a>(
        &'a self,
        place: &'a GrantPlace,
        generation: u64,
        holder: &'a str,
        now: Timestamp,
        until: Timestamp,
    ) -> StoreAnswer<'a, bool>;

    /// Gives a lease back without a change.
    fn release<'a>(&'a self, place: &'a GrantPlace, holder: &'a str) -> StoreAnswer<'a, ()>;

    /// Returns whether there was one.
    fn remove<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, bool>;

    fn places(&self) -> StoreAnswer<'_, Vec<GrantPlace>>;
}
