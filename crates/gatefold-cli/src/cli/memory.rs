//! Memory that nothing uses, given back to the system.

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeMetrics};
use tokio::time::sleep;

/// How often it is looked whether all is quiet.
const INTERVAL: Duration = Duration::from_secs(5);

/// A time in which the runtime worked less than this is quiet. What is said about a gateway that
/// nobody uses, such as its status, takes some too.
const QUIET: Duration = Duration::from_millis(100);

/// Gives memory back each time that it becomes quiet after something went on.
///
/// The C library keeps what is freed: after a thousand clients had come and gone, a gateway that
/// used 6 MiB held 92 MiB, and some more after each further thousand.
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
            // It takes milliseconds, and the locks that whoever allocates needs.
            drop(tokio::task::spawn_blocking(give_back).await);
        }
        is_due = !is_quiet;
    }
}

fn worked_for(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers()).map(|worker| metrics.worker_total_busy_duration(worker)).sum()
}

/// Only this C library keeps so much and can be asked, see malloc_trim(3).
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
