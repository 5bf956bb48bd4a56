//! Which of our files one call runs through, counted by valgrind's Callgrind.
//!
//! A debug build inlines nothing of ours, so each function that runs counts towards its own file.
//! Only one call is watched, once caches and connections are warm, so starting, connecting and
//! listing are not included. A timer that fires during the call is.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use gatefold_testkit::HttpProcess;

use super::calls::{free_port, through};
use super::load::Connection;
use super::process::Server;
use super::say;

/// Calls that are made before the one that is watched.
const WARMING: usize = 20;

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let binary = match words {
        [] => root.join("target/debug/gatefold"),
        ["--binary", binary] => PathBuf::from(binary),
        _ => bail!("`bench files` takes `--binary PATH`"),
    };
    ensure!(binary.exists(), "`{}` is not there: cargo build", binary.display());
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let profile = runtime.worker_threads(2).enable_all().build()?.block_on(watch(&binary))?;
    say(&list(&files(&profile)));
    Ok(())
}

/// Makes one call under the profiler, and returns the profile.
async fn watch(binary: &Path) -> Result<String> {
    let upstream = HttpProcess::spawn(&["--tools", "30", "--era", "both"]).await?;
    let scratch = tempfile::tempdir()?;
    let (config, profile) = (scratch.path().join("gatefold.toml"), scratch.path().join("profile"));
    std::fs::write(&config, format!("[sources.bench]\nurl = \"{}\"\n", upstream.url))?;
    let scenario = through(free_port()?, "bench__list_invoice");
    let mut command = Command::new("valgrind");
    // `callgrind_control` recognises a program by the order of these words.
    command.args(["--tool=callgrind", "--instr-atstart=no"]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    command.arg(binary).arg("serve").args(["--listen", &scenario.authority]);
    command.arg("--config").arg(&config).arg("--state-dir").arg(scratch.path().join("state"));
    command.args(["--log", "error"]);
    let server = Server::start(&mut command, &scenario).await?;
    let mut connection = Connection::open(&scenario).await?;
    for _ in 0..WARMING {
        connection.call().await?;
    }
    control(&server, &["--instr=on"])?;
    connection.call().await?;
    control(&server, &["--instr=off"])?;
    control(&server, &["--dump"])?;
    // A dump made on request has a number after its name.
    let written = std::fs::read_to_string(profile.with_extension("1"));
    written.context("the profile was not written")
}

fn control(server: &Server, order: &[&str]) -> Result<()> {
    let done = Command::new("callgrind_control").args(order).arg(server.id().to_string()).output();
    let done = done.context("`callgrind_control` could not be run: install valgrind")?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    ensure!(done.status.success() && said.contains("OK"), "the profiler did not obey: {said}");
    Ok(())
}

/// The instructions that ran in each of our files.
fn files(profile: &str) -> BTreeMap<String, u64> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let (mut file, mut is_call) = ("", false);
    let mut found = BTreeMap::new();
    for line in profile.lines() {
        if let Some((key, value)) = line.split_once('=') {
            // `fl=(7) path` where it comes first, `fl=(7)` from then on; `calls=` is about the next line.
            let (id, name) = value.split_once(' ').unwrap_or((value, ""));
            if ["fl", "fi", "fe", "cfi", "cfl"].contains(&key) {
                let name = if name.is_empty() { names.get(id).copied() } else { Some(name) };
                let name = name.unwrap_or_default();
                names.insert(id, name);
                file = if key.starts_with('c') { file } else { name };
            }
            is_call = key == "calls";
            continue;
        }
        let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
        // The cost of a call is also listed in the file that was called.
        if let (Some(cost), false, Some(own)) = (cost, is_call, own_file(file)) {
            *found.entry(own).or_default() += cost;
        }
        is_call = false;
    }
    found
}

/// `mcp/upstream/session.rs` from the path of one of our sources. Rust's own library has `crates/`
/// too.
fn own_file(path: &str) -> Option<String> {
    let (_, path) = path.rsplit_once("crates/")?;
    let (krate, path) = path.split_once("/src/")?;
    let is_own = krate.starts_with("gatefold");
    is_own.then(|| format!("{}/{path}", krate.trim_start_matches("gatefold-")))
}

fn list(files: &BTreeMap<String, u64>) -> String {
    let lines = files.iter().map(|(file, cost)| format!("{cost:>9}  {file}\n"));
    format!("{}{} files\n", lines.collect::<String>(), files.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_cost_counts_in_the_file_that_was_called() {
        let profile = "events: Ir\n\nfl=(1) /x/crates/gatefold-core/src/a.rs\nfn=(1) a\n1 5\ncfi=(2) /x/crates/gatefold/src/b/c.rs\ncfn=(2) c\ncalls=1 7\n2 900\n+1 2\n\nfl=(2)\nfn=(2)\n7 40\nfi=(3) /rust/library/stdarch/crates/core_arch/src/lib.rs\n9 1\nfe=(2)\n8 2\n";
        let expected = [("core/a.rs".to_owned(), 7), ("gatefold/b/c.rs".to_owned(), 42)];
        assert_eq!(files(profile), expected.into());
    }
}
