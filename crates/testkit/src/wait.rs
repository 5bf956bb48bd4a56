//! Waiting for other processes.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How often a condition is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Checks `condition` until it holds or `limit` has passed; returns whether it held.
///
/// For facts outside the runtime (a process gone, a line in a file), which cannot wake us.
#[must_use]
pub async fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Whether process `pid` is running; an ended but unreaped process is not.
pub fn process_alive(pid: u32) -> bool {
    let Some(id) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    rustix::process::test_kill_process(id).is_ok() && !is_zombie(pid)
}

/// The state comes after the command in parentheses, see proc_pid_stat(5). Without `/proc` an
/// unreaped process counts as alive.
fn is_zombie(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('Z' | 'X'))
}
