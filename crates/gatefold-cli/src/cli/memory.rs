//! Returns unused memory to the system.

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeMetrics};
use tokio::time::sleep;

/// How often to check whether the gateway is idle.
const INTERVAL: Duration = Duration::from_secs(5);

/// A period in which the runtime worked less than this counts as idle. Requests about an otherwise
/// unused gateway, such as its status, take some time too.
const QUIET: Duration = Duration::from_millis(100);

/// Returns memory each time the gateway becomes idle after some activity.
///
/// The C library keeps freed memory: after a thousand clients had come and gone, a gateway that
/// used 6 MiB held 92 MiB, and more after each further thousand.
pub(super) async fn give_back_when_quiet() {
    let metrics = Handle::current().metrics();
    let mut worked = worked_for(&metrics);
    let mut is_due = false;
    loop {
        sleep(INTERVAL).await;
        let now = worked_for(&metrics);
        let is_quiet = now.saturating_sub(worked) < QUIET;
        worked = now;
        if is_quiet && is_due {
            // It takes milliseconds, and holds locks that allocations need.
            drop(tokio::task::spawn_blocking(give_back).await);
        }
        is_due = !is_quiet;
    }
}

fn worked_for(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers()).map(|worker| metrics.worker_total_busy_duration(worker)).sum()
}

/// Only this C library keeps so much and has a call for it, see malloc_trim(3).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "a call of the C library that takes a number and touches no memory of ours"
)]
fn give_back() {
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
    }
    malloc_trim(0);
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}
