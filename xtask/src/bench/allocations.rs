//! The cost of a call independent of the machine: allocations and instructions, counted by
//! valgrind's DHAT.
//!
//! An existing binary runs twice over standard input and output, with N calls and with 2 N. The
//! difference is the cost of the calls by themselves, because both runs start, greet and end. So
//! two builds can be compared, one from before a change and one from after.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use gatefold_testkit::HttpProcess;
use serde::Deserialize;
use serde_json::{Value, json};

use super::say;
use super::table::{markdown, write_section};

/// Calls that are made before any is counted, to warm up caches and connections.
const WARMING: usize = 20;

/// How often the first call is tried, with a second between: under the profiler, a busy machine takes
/// a while to learn what its source offers.
const FIRST_TRIES: usize = 60;

struct AllocationOptions {
    binary: PathBuf,
    /// Another build to compare with.
    peer: Option<PathBuf>,
    calls: usize,
    write: bool,
}

/// What a run cost from start to end.
#[derive(Debug, Clone, Copy)]
struct Cost {
    blocks: u64,
    bytes: u64,
    instructions: u64,
}

/// The parts of DHAT's output that are read.
#[derive(Deserialize)]
struct Profile {
    /// The end of the program, counted in instructions.
    te: u64,
    /// The program points that allocated.
    pps: Vec<ProgramPoint>,
}

#[derive(Deserialize)]
struct ProgramPoint {
    /// Bytes in all.
    tb: u64,
    /// Blocks in all.
    tbk: u64,
}

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = parse(root, words)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build()?.block_on(measure(root, &options))
}

fn parse(root: &Path, words: &[&str]) -> Result<AllocationOptions> {
    let binary = root.join("target/dist/gatefold");
    let mut options = AllocationOptions { binary, peer: None, calls: 200, write: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
        match *word {
            "--binary" => options.binary = value()?.into(),
            "--peer" => options.peer = Some(value()?.into()),
            "--calls" => options.calls = value()?.parse::<usize>()?.max(1),
            "--write" => options.write = true,
            other => bail!("unknown option `{other}`"),
        }
    }
    Ok(options)
}

async fn measure(root: &Path, options: &AllocationOptions) -> Result<()> {
    let upstream = HttpProcess::spawn(&["--tools", "30", "--era", "both"]).await?;
    let mut rows = Vec::new();
    for binary in [Some(&options.binary), options.peer.as_ref()].into_iter().flatten() {
        let once = cost(binary, &upstream.url, options.calls)?;
        let twice = cost(binary, &upstream.url, 2 * options.calls)?;
        let each = |of: fn(Cost) -> u64| {
            let calls = options.calls as f64;
            format!("{:.0}", of(twice).saturating_sub(of(once)) as f64 / calls)
        };
        rows.push(vec![
            if rows.is_empty() { "gatefold" } else { "peer" }.to_owned(),
            each(|cost| cost.blocks),
            each(|cost| cost.bytes),
            each(|cost| cost.instructions),
        ]);
    }
    let head = ["build", "allocations/call", "bytes/call", "instructions/call"];
    let section = format!("\n{}\n", markdown(&head, &rows));
    say(&section);
    if options.write {
        write_section(&root.join("docs/benchmarks.md"), "allocations", &section)?;
    }
    Ok(())
}

/// Runs a binary for a number of calls, under the profiler.
fn cost(binary: &Path, url: &str, calls: usize) -> Result<Cost> {
    ensure!(binary.exists(), "`{}` is not there: cargo build --profile dist", binary.display());
    let scratch = tempfile::tempdir()?;
    let (config, profile) = (scratch.path().join("gatefold.toml"), scratch.path().join("profile"));
    std::fs::write(&config, format!("[sources.bench]\nurl = \"{url}\"\n"))?;
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=dhat"]);
    command.arg(format!("--dhat-out-file={}", profile.display()));
    command.arg(binary).arg("stdio").arg("--config").arg(&config);
    command.arg("--state-dir").arg(scratch.path().join("state")).args(["--log", "error"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().context("`valgrind` could not be run: install it")?;
    Client::new(child)?.call_and_leave(WARMING + calls)?;
    let profile = std::fs::read(&profile).context("the profile was not written")?;
    let Profile { te, pps } = serde_json::from_slice(&profile).context("the profile")?;
    let sum = |of: fn(&ProgramPoint) -> u64| pps.iter().map(of).sum();
    Ok(Cost { blocks: sum(|point| point.tbk), bytes: sum(|point| point.tb), instructions: te })
}

/// A client that makes one call after another, and checks every answer.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn new(mut child: Child) -> Result<Self> {
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (input, output) = input.zip(output).context("the pipes were asked for")?;
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn call_and_leave(mut self, calls: usize) -> Result<()> {
        let client = json!({"name": "bench", "version": "1"});
        self.ask(
            0,
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        )?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let arguments = json!({"tool_name": "bench__list_invoice", "arguments":
            {"invoice_id": "payload 7391"}});
        let call = json!({"name": "execute_tool", "arguments": arguments});
        let is_right = |answer: &Value| answer.to_string().contains("payload 7391");
        let mut tries = 1;
        while !is_right(&self.ask(tries, "tools/call", &call)?) && tries < FIRST_TRIES {
            tries += 1;
            std::thread::sleep(Duration::from_secs(1));
        }
        for id in tries + 1..tries + calls {
            let answer = self.ask(id, "tools/call", &call)?;
            ensure!(is_right(&answer), "a wrong answer: {answer}");
        }
        // The end of its input ends the program, which then writes the profile.
        drop(self.input);
        let status = self.child.wait()?;
        ensure!(status.success(), "the program ended with {status}");
        Ok(())
    }

    fn ask(&mut self, id: usize, method: &str, params: &Value) -> Result<Value> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            ensure!(self.output.read_line(&mut line)? > 0, "the program ended before its answer");
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}")?;
        Ok(())
    }
}
