use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Clock, SystemClock};

/// How durably to keep records, and for how long.
#[derive(Clone)]
pub struct StoreOptions {
    pub durability: Durability,
    pub retention: Retention,
    /// How many bytes the manifests of one source may take, over all its configurations. The latest
    /// is always kept: its size is bounded where it is read.
    pub manifest_bytes: u64,
    pub clock: Arc<dyn Clock>,
}

impl StoreOptions {
    /// For a command that runs next to gateways. It deletes no records, because only a gateway's
    /// configuration says how long they are kept.
    pub fn keeping_all() -> Self {
        let retention = Retention { age: Duration::MAX, rows: u32::MAX };
        Self { retention, ..Self::default() }
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Process,
            retention: Retention::default(),
            manifest_bytes: 128 * 1024 * 1024,
            clock: Arc::new(SystemClock),
        }
    }
}

/// What an opened record survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however sudden. A power cut may take the last moments.
    Process,
    /// A power cut too. Every commit then waits for the disk.
    Disk,
}

/// How long records of calls and of discoveries are kept, and how many of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub age: Duration,
    pub rows: u32,
}

impl Default for Retention {
    fn default() -> Self {
        const DAYS: u64 = 30;
        Self { age: Duration::from_hours(24 * DAYS), rows: 1_000_000 }
    }
}
