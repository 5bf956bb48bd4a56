//! Measures what a record costs: `cargo run --release -p gatefold-store --example audit [DIRECTORY]`.
//!
//! Each client opens a record, closes it and opens the next, and waits each time until that outlives
//! a crash. Printed are the times that opening and ending took, and the processor time of the whole
//! process, all a call.
#![expect(clippy::print_stdout, reason = "its figures are its purpose")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gatefold_core::{CallId, Clock as _, Digest, Domain, Principal, RuleId, SystemClock, ToolId};
use gatefold_dispatch::{AuditLog as _, AuditOutcome, CallClosed, CallOpened};
use gatefold_store::{Durability, Store, StoreOptions};

const CALLS: usize = 20_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scratch = tempfile::tempdir()?;
    let directory = std::env::args().nth(1).map_or(scratch.path().to_owned(), PathBuf::from);
    println!(
        "durability clients  open p50 us    p99 us    max us  end p50 us    p99 us    max us   \
         calls/s  CPU us/call"
    );
    for durability in [Durability::Process, Durability::Disk] {
        for clients in [1, 32, 256] {
            measure(&directory.join(format!("{durability:?}-{clients}")), durability, clients)
                .await?;
        }
    }
    Ok(())
}

async fn measure(
    directory: &Path,
    durability: Durability,
    clients: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::open(directory, StoreOptions { durability, ..Default::default() }).await?;
    let principal = Arc::new(Principal::local());
    let (began, cpu) = (Instant::now(), processor_time());
    let tasks: Vec<_> = (0..clients)
        .map(|client| {
            tokio::spawn(client_loop(store.clone(), principal.clone(), client, CALLS / clients))
        })
        .collect();
    let (mut opened, mut ended) = (Vec::with_capacity(CALLS), Vec::with_capacity(CALLS));
    for task in tasks {
        for (open, end) in task.await? {
            opened.push(open);
            ended.push(end);
        }
    }
    store.flush().await?;
    let (took, cpu) = (began.elapsed(), processor_time().saturating_sub(cpu));
    opened.sort();
    ended.sort();
    let calls = u32::try_from(opened.len())?;
    let at = |times: &[Duration], share: usize| {
        times[(times.len() - 1) * share / 1000].as_secs_f64() * 1e6
    };
    println!(
        "{:<10} {clients:>7} {:>12.0} {:>9.0} {:>9.0} {:>11.0} {:>9.0} {:>9.0} {:>9.0} {:>12.1}",
        format!("{durability:?}"),
        at(&opened, 500),
        at(&opened, 990),
        at(&opened, 1000),
        at(&ended, 500),
        at(&ended, 990),
        at(&ended, 1000),
        f64::from(calls) / took.as_secs_f64(),
        (cpu / calls).as_secs_f64() * 1e6,
    );
    Ok(())
}

async fn client_loop(
    store: Store,
    principal: Arc<Principal>,
    client: usize,
    calls: usize,
) -> Vec<(Duration, Duration)> {
    let mut took = Vec::with_capacity(calls);
    for call in 0..calls {
        let now = SystemClock.now();
        let id = CallId::new(now, (client << 32 | call) as u128);
        let opened = CallOpened {
            id,
            parent: None,
            at: now,
            principal: principal.clone(),
            client: None,
            operation: "tool",
            subject: "github__create_issue".to_owned(),
            domain: Some(Domain::from_key("github")),
            tool: Some(ToolId::new("github__create_issue")),
            tool_digest: Some(Digest::new([7; 32])),
            rule: Some(RuleId::new("default")),
            decided_by: None,
            arguments_digest: Digest::new([9; 32]),
            arguments_bytes: 120,
        };
        let began = Instant::now();
        let slot = store.open(opened).await.expect("the store is open");
        let open = began.elapsed();
        tokio::task::yield_now().await;
        let (at, outcome) = (SystemClock.now(), AuditOutcome::Done);
        let began = Instant::now();
        slot.close(CallClosed {
            id,
            at,
            took: at.since(now),
            outcome,
            reason: None,
            result_bytes: 800,
        })
        .await;
        took.push((open, began.elapsed()));
    }
    took
}

/// User and system time of this process so far, from Linux's `/proc`; nothing elsewhere.
fn processor_time() -> Duration {
    /// Linux counts in hundredths of a second on every machine that runs it today.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|n| n.parse().ok()).unwrap_or(0);
    TICK * (ticks(11) + ticks(12))
}
