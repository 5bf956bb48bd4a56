//! How many files, pipes and connections the system lets this process have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as a gateway may need, and no more: programs that it starts inherit the limit, and some
/// of them go through all that it allows.
const WANTED: u64 = 8192;

/// Raises the limit as far as is wanted and allowed. Many systems begin at 1024, or at 256.
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

/// How many connections of clients leave room for as much else: a call may need a file of its own at
/// its source, and sources and records need some as well.
pub(super) fn connections() -> usize {
    let current = getrlimit(Resource::Nofile).current;
    current.map_or(usize::MAX, |current| usize::try_from(current / 2).unwrap_or(usize::MAX))
}
