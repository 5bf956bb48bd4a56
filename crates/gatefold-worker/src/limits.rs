//! What a worker asks of the kernel for itself, before it reads anything that others wrote.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, nice, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// By how much a worker steps back behind the gateway: its calls are never the more urgent ones.
const NICENESS: i32 = 10;

/// How much processor time a job may use beyond its time, which its pool measures. This is for a pool that is gone.
const SPARE_SECONDS: u64 = 2;

/// Bounds everything that this process may write to in memory, its threads' stacks included.
pub(crate) fn confine(memory: u64) -> std::io::Result<()> {
    bound(Resource::Data, memory)?;
    bound(Resource::Core, 0)?;
    // A priority that cannot be lowered harms nobody.
    let _ = nice(NICENESS);
    Ok(())
}

/// Lets this process use so much more processor time.
pub(crate) fn allow_time(time: Duration) -> std::io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
    let most = used.unsigned_abs() + time.as_secs() + SPARE_SECONDS;
    bound(Resource::Cpu, most)
}

fn bound(resource: Resource, most: u64) -> std::io::Result<()> {
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(most, |maximum| most.min(maximum)));
    setrlimit(resource, Rlimit { current, maximum })?;
    Ok(())
}

/// The memory that this process has in use for itself, in bytes, where the kernel tells. Without the pages of the
/// program, which it shares with the gateway: they alone would make a worker of a large program look heavy.
pub(crate) fn own_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = text.split_whitespace().skip(1).map_while(|pages| pages.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared) * u64::try_from(rustix::param::page_size()).ok()?)
}
