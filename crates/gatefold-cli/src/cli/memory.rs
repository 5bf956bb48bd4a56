//! Returns unused memory to the system.

use std::time::Duration;

use tokio::runtime::{Handle, RuntimeMetrics};
use tokio::time::sleep;

/// How often to check whether the gateway is idle.
const INTERVAL: Duration = Duration::from_secs(5);

/// A period in which the runtime worked less than this counts as idle. Requests about an otherwise
/// unused gateway, such as its status, take some time too.
const QUIET: Duration = Duration::from_millis(100);

/// While the gateway works, memory is returned once in so many intervals, and only if it has grown by so much.
const INTERVALS_AT_WORK: u32 = 3;
const GROWTH_BYTES: u64 = 24 << 20;

/// Returns memory each time the gateway becomes idle after some activity, and while it works as
/// long as it is much larger than it once was.
///
/// The C library keeps freed memory: after a thousand clients had come and gone, a gateway that
/// used 6 MiB held 92 MiB, and more after each further thousand.
pub(super) async fn give_back_when_unused() {
    let metrics = Handle::current().metrics();
    let mut worked = worked_for(&metrics);
    let mut least = u64::MAX;
    let mut at_work = 0;
    loop {
        sleep(INTERVAL).await;
        let now = worked_for(&metrics);
        let is_quiet = now.saturating_sub(worked) < QUIET;
        worked = now;
        let resident = resident_bytes();
        least = least.min(resident);
        let is_due = if is_quiet {
            at_work > 0
        } else {
            at_work += 1;
            at_work % INTERVALS_AT_WORK == 0 && resident > least.saturating_add(GROWTH_BYTES)
        };
        if is_due {
            // It takes milliseconds, and holds locks that allocations need.
            drop(tokio::task::spawn_blocking(give_back).await);
        }
        if is_quiet {
            at_work = 0;
        }
    }
}

fn worked_for(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers()).map(|worker| metrics.worker_total_busy_duration(worker)).sum()
}

/// From this size on, a buffer goes back to the system when it is freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const RETURNED_BYTES: std::ffi::c_int = 1 << 20;

/// How much the end of each arena may keep.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: std::ffi::c_int = 2 << 20;

/// The C library raises both bounds to what is freed, up to 32 and 64 MiB, and gives the ends of
/// arenas back at no other time: after large answers each of 16 arenas held tens of MiB for ever.
pub(super) fn bound_what_is_kept() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        c_library::mallopt(c_library::M_MMAP_THRESHOLD, RETURNED_BYTES);
        c_library::mallopt(c_library::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}

/// Of this process; nothing where the kernel does not tell. In kilobytes and not in pages, as asking for
/// the size of a page ends a process under valgrind.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or(0, |kilobytes| kilobytes << 10)
}

fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    c_library::malloc_trim(0);
}

/// Only this C library keeps so much and has calls for it, see mallopt(3) and malloc_trim(3).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "calls of the C library that take numbers and touch no memory of ours"
)]
mod c_library {
    use std::ffi::c_int;

    pub(super) const M_TRIM_THRESHOLD: c_int = -1;
    pub(super) const M_MMAP_THRESHOLD: c_int = -3;

    unsafe extern "C" {
        pub(super) safe fn malloc_trim(pad: usize) -> c_int;
        pub(super) safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }
}
