//! How many files, pipes and connections the system lets this process open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as a gateway may need, and no more. Programs that it starts inherit the limit, and some
/// of them loop over every descriptor that it allows.
const WANTED: u64 = 8192;

/// Raises the limit to what is wanted, as far as allowed. Many systems start at 1024, or at 256.
pub(super) fn raise() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(WANTED, |most| most.min(WANTED));
    if limit.current.is_none_or(|current| current >= wanted) {
        return;
    }
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => tracing::debug!(limit = wanted, "raised the limit on open files"),
        Err(error) => tracing::warn!(%error, "the limit on open files could not be raised"),
    }
}

/// How many client connections leave an equal number of descriptors for everything else: a call may
/// need one at its source, and sources and records need some too.
pub(super) fn connections() -> usize {
    let current = getrlimit(Resource::Nofile).current;
    current.map_or(usize::MAX, |current| usize::try_from(current / 2).unwrap_or(usize::MAX))
}
