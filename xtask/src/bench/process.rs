//! Servers under measurement: started, observed through the kernel's accounting, stopped.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::load::{Connection, Scenario};

/// How long a server may take to its first right answer.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A server, and how long it took to answer its first call.
pub(crate) struct Server {
    child: Child,
    pub(crate) started_in: Duration,
}

impl Server {
    pub(crate) async fn start(command: &mut Command, scenario: &Scenario) -> Result<Self> {
        let started = Instant::now();
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = child.spawn().context("the server could not be started")?;
        let mut server = Self { child, started_in: Duration::ZERO };
        loop {
            if let Ok(mut connection) = Connection::open(scenario).await
                && connection.call().await.is_ok()
            {
                server.started_in = started.elapsed();
                return Ok(server);
            }
            if started.elapsed() > START_LIMIT {
                bail!("the server gave no right answer within {START_LIMIT:?}");
            }
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended with {status}");
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Processor time of the server and its children so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        Ok(family(self.child.id())?.iter().filter_map(|id| cpu_of(*id).ok()).sum())
    }

    /// Resident memory of the server and its children, in MiB.
    pub(crate) fn memory(&self) -> Result<f64> {
        Ok(family(self.child.id())?.iter().filter_map(|id| memory_of(*id, RESIDENT).ok()).sum())
    }

    /// Resident memory of the server alone, in MiB.
    pub(crate) fn own_memory(&self) -> Result<f64> {
        memory_of(self.child.id(), RESIDENT)
    }

    /// What of it is the server's alone, in MiB: the rest are pages of files, such as the program.
    pub(crate) fn private_memory(&self) -> Result<f64> {
        memory_of(self.child.id(), "RssAnon:")
    }

    /// Ends the server by SIGTERM, as a supervisor does. Fails if that takes too long.
    pub(crate) fn stop(&mut self, limit: Duration) -> Result<Duration> {
        let started = Instant::now();
        Command::new("kill").arg(self.child.id().to_string()).status()?;
        while self.child.try_wait()?.is_none() {
            if started.elapsed() > limit {
                bail!("SIGTERM did not end it within {limit:?}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(started.elapsed())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nobody needs an orderly shutdown here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn family(id: u32) -> Result<Vec<u32>> {
    let mut family = vec![id];
    let tasks = format!("/proc/{id}/task");
    for task in std::fs::read_dir(Path::new(&tasks)).context("the server is gone")? {
        let children = task?.path().join("children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|id| id.parse().ok()) {
            family.extend(family_or_none(child));
        }
    }
    Ok(family)
}

fn family_or_none(id: u32) -> Vec<u32> {
    family(id).unwrap_or_default()
}

/// User and system time, fields 14 and 15 in `proc(5)`, in ticks of 10 ms.
fn cpu_of(id: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").context("stat has no name")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(Duration::from_millis(ticks * 10))
}

/// The name of resident memory in the status of a process.
const RESIDENT: &str = "VmRSS:";

fn memory_of(id: u32, kind: &str) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(kind));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes.context("the status of a process lacks its memory")?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}
