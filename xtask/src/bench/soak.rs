//! A gateway among hostile servers and clients, all at once, beside one that is left alone.
//!
//! Both have the same healthy source, which one client calls again and again. The first also has a
//! source for each misbehaviour, somebody who calls them all, and clients that flood it. What the
//! healthy source's calls take is compared between the two, so that a busy machine does not count.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gatefold_testkit::HttpProcess;
use hdrhistogram::Histogram;
use tokio::time::sleep;

use super::calls::{free_port, through};
use super::load::{Connection, Scenario};
use super::process::Server;
use super::say;
use super::table::{markdown, write_section};

mod hostility;

/// The pause between two calls of the healthy source.
const PACE: Duration = Duration::from_millis(20);
/// How often memory is read.
const SAMPLE: Duration = Duration::from_millis(500);
/// The deadline of calls, so that those that hang make room for others.
const CALL_DEADLINE_S: u64 = 3;

/// What must hold.
const LONGEST_CALL_MS: f64 = 100.0;
const MEMORY_MIB: f64 = 80.0;
/// Half of it is what the log of the database may grow to before it is emptied.
const DISK_MIB: f64 = 128.0;
const STOP: Duration = Duration::from_secs(10);

struct SoakOptions {
    time: Duration,
    binary: PathBuf,
    write: bool,
}

/// A gateway, and where its configuration and its state lie.
struct Gateway {
    folder: tempfile::TempDir,
    scenario: Scenario,
    server: Server,
}

impl Gateway {
    async fn start(binary: &Path, config: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("gatefold.toml");
        std::fs::write(&file, config)?;
        let scenario = through(free_port()?, "healthy__list_invoice");
        let mut command = Command::new(binary);
        command.arg("serve").args(["--listen", &scenario.authority, "--log", "info"]);
        command.arg("--config").arg(file).arg("--state-dir").arg(folder.path().join("state"));
        let server = Server::start(&mut command, &scenario).await?;
        Ok(Self { folder, scenario, server })
    }

    fn disk_mib(&self) -> Result<f64> {
        Ok(size_of(&self.folder.path().join("state"))? as f64 / f64::from(1 << 20))
    }
}

fn size_of(folder: &Path) -> Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(size)
}

/// How the calls of the healthy source went.
struct HealthyCalls {
    latencies: Histogram<u64>,
    errors: Vec<String>,
}

impl HealthyCalls {
    fn millis(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1e3
    }
}

pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let options = parse(root, options)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build()?.block_on(soak(root, &options))
}

fn parse(root: &Path, words: &[&str]) -> Result<SoakOptions> {
    let mut options = SoakOptions {
        time: Duration::from_mins(10),
        binary: root.join("target/dist/gatefold"),
        write: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
        match *word {
            "--minutes" => options.time = Duration::from_secs_f64(value()?.parse::<f64>()? * 60.0),
            "--binary" => options.binary = value()?.into(),
            "--write" => options.write = true,
            other => bail!("unknown option `{other}`"),
        }
    }
    Ok(options)
}

async fn soak(root: &Path, options: &SoakOptions) -> Result<()> {
    let upstream = HttpProcess::spawn(&["--tools", "30", "--era", "both"]).await?;
    let healthy = format!("[sources.healthy]\nurl = \"{}\"\n", upstream.url);
    let hostile = hostility::sources()?;
    let config = format!("limits.call_deadline = \"{CALL_DEADLINE_S}s\"\n{healthy}{hostile}");
    let mut beset = Gateway::start(&options.binary, &config).await?;
    let alone = Gateway::start(&options.binary, &healthy).await?;
    let until = Instant::now() + options.time;
    let attack = hostility::attack(&beset.scenario.authority, until);
    let (attacked, beset_calls, alone_calls, memory) = tokio::join!(
        attack,
        call(&beset.scenario, until),
        call(&alone.scenario, until),
        highest_memory(&beset.server, until),
    );
    let disk = beset.disk_mib()?;
    let stopped_in = beset.server.stop(STOP)?;
    let row = |name: &str, calls: &HealthyCalls| {
        let millis = [calls.millis(0.5), calls.millis(0.99), calls.millis(1.0)];
        let mut row = vec![name.to_owned(), calls.latencies.len().to_string()];
        row.extend(millis.map(|millis| format!("{millis:.2}")));
        row.push(calls.errors.len().to_string());
        row
    };
    let head = ["gateway", "calls", "median ms", "p99 ms", "longest ms", "errors"];
    let rows = [row("among all of it", &beset_calls), row("left alone", &alone_calls)];
    let memory = memory?;
    let section = format!(
        "\n{}\n{:.1} minutes, {attacked}; memory at most {memory:.1} MiB, disk {disk:.1} MiB, \
         stopped in {:.1} s\n",
        markdown(&head, &rows),
        options.time.as_secs_f64() / 60.0,
        stopped_in.as_secs_f64(),
    );
    say(&section);
    if options.write {
        write_section(&root.join("docs/reliability.md"), "soak", &section)?;
    }
    let longest = beset_calls.millis(1.0);
    let faults = [
        (!beset_calls.errors.is_empty()).then(|| format!("calls failed: {:?}", beset_calls.errors)),
        (longest > LONGEST_CALL_MS).then(|| format!("a call took {longest:.0} ms")),
        (memory > MEMORY_MIB).then(|| format!("it took {memory:.0} MiB of memory")),
        (disk > DISK_MIB).then(|| format!("it took {disk:.0} MiB of disk")),
    ];
    let faults: Vec<_> = faults.into_iter().flatten().collect();
    if faults.is_empty() { Ok(()) } else { bail!("{}", faults.join("; ")) }
}

/// Calls the healthy source until the time is up. An error is noted, and the next call made.
async fn call(scenario: &Scenario, until: Instant) -> HealthyCalls {
    let latencies = Histogram::new_with_bounds(1, 120_000_000, 3).expect("the bounds are right");
    let mut calls = HealthyCalls { latencies, errors: Vec::new() };
    let mut connection = None;
    while Instant::now() < until {
        let sent = Instant::now();
        let called = async {
            let mut open = match connection.take() {
                Some(open) => open,
                None => Connection::open(scenario).await?,
            };
            open.call().await?;
            anyhow::Ok(open)
        };
        match called.await {
            Ok(open) => connection = Some(open),
            Err(error) => calls.errors.push(format!("{error:#}")),
        }
        let micros = u64::try_from(sent.elapsed().as_micros()).unwrap_or(u64::MAX);
        calls.latencies.saturating_record(micros);
        sleep(PACE).await;
    }
    calls
}

async fn highest_memory(server: &Server, until: Instant) -> Result<f64> {
    let mut highest = 0.0_f64;
    while Instant::now() < until {
        highest = highest.max(server.own_memory()?);
        sleep(SAMPLE).await;
    }
    Ok(highest)
}
