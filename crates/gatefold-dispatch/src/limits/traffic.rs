use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{CallError, Outcome, Timestamp, ToolId};
use serde::Serialize;

/// How many recent calls the latencies are computed from.
const LATENCIES: usize = 256;

/// How much of an error's text is kept, in characters.
const MESSAGE_LIMIT: usize = 300;

/// One source's calls: their number, how long the last ones took, and the last error. Counting
/// allocates nothing except for the text of an error.
#[derive(Debug)]
pub(crate) struct Traffic {
    calls: AtomicU64,
    errors: AtomicU64,
    /// How many calls got a slot of the ring.
    timed: AtomicU64,
    /// A ring of microseconds; zero is a slot that is still empty.
    latencies: [AtomicU32; LATENCIES],
    last_error: Mutex<Option<LastError>>,
}

/// A source's calls since its configuration last changed, for people and probes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TrafficReport {
    /// Calls that were sent and have ended.
    pub calls: u64,
    /// Those that ended without a result, or with an error from the tool. Cancelled ones do not
    /// count.
    pub errors: u64,
    /// The median time that the source took over the last 256 calls, in microseconds, without the
    /// wait for a place. Cancelled calls are left out, because they show when their callers lost
    /// patience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_us: Option<u32>,
    /// The same for 99 of 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<LastError>,
}

/// The last failed call. The text is what its caller was told; for an error from the tool itself,
/// only the fact is kept.
#[derive(Debug, Clone, Serialize)]
pub struct LastError {
    pub at: Timestamp,
    pub tool: ToolId,
    /// The error's kind, or `tool_error`.
    pub kind: &'static str,
    pub message: String,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            calls: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            timed: AtomicU64::new(0),
            latencies: [const { AtomicU32::new(0) }; LATENCIES],
            last_error: Mutex::default(),
        }
    }
}

impl Traffic {
    /// Counts a call that has ended.
    pub(crate) fn ended(
        &self,
        took: Duration,
        at: impl FnOnce() -> Timestamp,
        called: &ToolId,
        result: &Result<Outcome, CallError>,
    ) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if let Err(CallError::Cancelled) = result {
            return;
        }
        self.note(took);
        let (kind, message) = match result {
            Err(error) => (error.kind().as_str(), shortened(error)),
            Ok(Outcome::Done(payload)) if payload.is_error => {
                ("tool_error", "the tool answered with an error".to_owned())
            }
            Ok(_) => return,
        };
        self.errors.fetch_add(1, Ordering::Relaxed);
        let error = LastError { at: at(), tool: called.clone(), kind, message };
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
    }

    fn note(&self, took: Duration) {
        let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        self.slot().store(micros.max(1), Ordering::Relaxed);
    }

    /// The next slot of the ring. Until it is written, a report sees its old content.
    fn slot(&self) -> &AtomicU32 {
        let number = self.timed.fetch_add(1, Ordering::Relaxed);
        let place = usize::try_from(number % LATENCIES as u64).expect("it is below 256");
        &self.latencies[place]
    }

    pub(crate) fn report(&self) -> TrafficReport {
        let latencies = self.latencies.iter().map(|one| one.load(Ordering::Relaxed));
        let mut latencies: Vec<_> = latencies.filter(|micros| *micros > 0).collect();
        latencies.sort_unstable();
        TrafficReport {
            calls: self.calls.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            median_us: quantile(&latencies, 50),
            p99_us: quantile(&latencies, 99),
            last_error: self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

fn shortened(error: &CallError) -> String {
    error.to_string().chars().take(MESSAGE_LIMIT).collect()
}

/// The smallest value that `percent` of the values do not exceed (the nearest rank).
fn quantile(sorted: &[u32], percent: usize) -> Option<u32> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use gatefold_core::Domain;

    use super::*;

    fn ended(traffic: &Traffic, took: Duration, result: &Result<Outcome, CallError>) {
        traffic.ended(took, || Timestamp::from_millis(0), &ToolId::new("a__b"), result);
    }

    fn failed() -> Result<Outcome, CallError> {
        Err(CallError::Unavailable {
            domain: Domain::from_key("a"),
            reason: "x".to_owned(),
            source: None,
        })
    }

    #[test]
    fn quantiles_are_those_of_the_last_calls() {
        assert_eq!((quantile(&[], 50), quantile(&[7], 99)), (None, Some(7)));
        let traffic = Traffic::default();
        for millis in 1..=1000 {
            ended(&traffic, Duration::from_millis(millis), &failed());
        }
        let report = traffic.report();
        assert_eq!((report.calls, report.errors), (1000, 1000));
        assert_eq!((report.median_us, report.p99_us), (Some(872_000), Some(998_000)));
    }

    #[test]
    fn a_cancelled_call_counts_and_tells_of_no_latency() {
        let traffic = Traffic::default();
        ended(&traffic, Duration::from_mins(1), &Err(CallError::Cancelled));
        let report = traffic.report();
        assert_eq!((report.calls, report.errors, report.median_us), (1, 0, None));
        ended(&traffic, Duration::from_millis(5), &failed());
        ended(&traffic, Duration::from_mins(1), &Err(CallError::Cancelled));
        assert_eq!(traffic.report().p99_us, Some(5000));
    }

    #[test]
    fn a_call_whose_latency_is_not_noted_yet_is_not_one_of_no_time() {
        let traffic = Traffic::default();
        let slot = traffic.slot();
        traffic.calls.fetch_add(1, Ordering::Relaxed);
        assert_eq!(traffic.report().median_us, None);
        slot.store(3, Ordering::Relaxed);
        ended(&traffic, Duration::ZERO, &failed());
        assert_eq!(traffic.report().median_us, Some(1));
    }

    #[test]
    fn the_last_error_is_kept_and_has_a_bound() {
        let traffic = Traffic::default();
        let error = CallError::Unavailable {
            domain: Domain::from_key("a"),
            reason: "x".repeat(1000),
            source: None,
        };
        let now = || Timestamp::from_millis(5);
        traffic.ended(Duration::ZERO, now, &ToolId::new("a__b"), &Err(error));
        let last = traffic.report().last_error.unwrap();
        assert_eq!((last.at.as_millis(), last.kind), (5, "unavailable"));
        assert_eq!(last.message.len(), MESSAGE_LIMIT);
    }
}
