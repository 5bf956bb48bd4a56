//! What bounds calls and sources: the configured limits, and what holds calls to them.

pub(crate) mod bulkhead;
pub(crate) mod circuit_breaker;
pub(crate) mod nesting;
pub(crate) mod room;
pub(crate) mod timer;
pub(crate) mod traffic;

use std::time::Duration;

/// The bounds of one call and of one source. All configurable; these are the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From a call's admission to its result, including the wait for a place.
    pub call_deadline: Duration,
    /// The largest result to read, in bytes.
    pub result_bytes: u64,
    /// How much all large results may take together, from when they are read until their clients have
    /// taken them, in bytes, each counted as
    /// the largest.
    pub result_memory: u64,
    /// The most calls that one source works on at a time.
    pub calls_in_flight: usize,
    /// The most calls that wait for a place at one source. Further ones are refused as busy.
    pub calls_waiting: usize,
    /// Failures in a row after which a source gets no calls for [`Limits::breaker_pause`].
    pub breaker_failures: u32,
    pub breaker_pause: Duration,
    /// How deep calls may nest.
    pub nesting: usize,
    /// How long a client may take to answer a source's question during a call. The call's deadline
    /// is paused in the meantime.
    pub question: Duration,
    /// How long a suspended call may be resumed.
    pub suspension: Duration,
    /// How long a request for approval waits if the client cannot ask, and how long the decision is
    /// then valid.
    pub approval: Duration,
    /// How long a source that a reload removed may finish its calls.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call_deadline: Duration::from_mins(1),
            result_bytes: 16 * 1024 * 1024,
            result_memory: 256 * 1024 * 1024,
            calls_in_flight: 128,
            calls_waiting: 512,
            breaker_failures: 5,
            breaker_pause: Duration::from_secs(10),
            nesting: 8,
            question: Duration::from_mins(5),
            suspension: Duration::from_mins(10),
            // A person may be away until the next day.
            approval: Duration::from_hours(24),
            drain: Duration::from_mins(1),
        }
    }
}
