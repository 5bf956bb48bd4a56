//! Start, first discovery and idle memory, with every real tool list already on disk.
//!
//! Each list is a source whose program replays it. A first run lists them all, and the encoder reads
//! them; the measured runs find lists and vectors on disk and start no source.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::load::{Connection, Scenario};
use super::process::Server;
use super::say;
use super::table::{markdown, write_section};

/// Measured starts; the figure is their median.
const STARTS: usize = 9;
/// The size of the catalogue at which idle memory is compared with its goal.
const MEMORY_TOOLS: usize = 1000;
/// The search after which memory is read once more: an encoder's network is loaded by then.
const SEARCH: &str = r#"{"name":"discover_tools","arguments":{"query":"send a message"}}"#;
/// How long a gateway rests before its memory is read.
pub(super) const SETTLING: Duration = Duration::from_secs(2);

/// What `search.encoder` says in measured configurations.
pub(super) const ENCODERS: [&str; 2] = ["none", "builtin"];

struct StartFigures {
    start_ms: f64,
    idle_mib: f64,
    private_mib: f64,
    searched_mib: f64,
}

#[expect(clippy::disallowed_methods, reason = "a chore reads its own variable")]
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let folder = std::env::var_os("GATEFOLD_CATALOGS");
    let folder = folder.context("GATEFOLD_CATALOGS must name a folder of tool lists")?;
    let lists = lists(Path::new(&folder))?;
    let mut some = Vec::new();
    let mut tools = 0;
    // Medium lists come first, so that a few of them make up the thousand tools.
    for list in lists.iter().filter(|(_, count)| (10..=110).contains(count)) {
        if tools < MEMORY_TOOLS {
            tools += list.1;
            some.push(list.clone());
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut rows = Vec::new();
    for lists in [some, lists] {
        let tools: usize = lists.iter().map(|(_, count)| count).sum();
        for encoder in ENCODERS {
            let figures = runtime.block_on(measure(root, &lists, encoder))?;
            rows.push(vec![
                lists.len().to_string(),
                tools.to_string(),
                encoder.to_owned(),
                format!("{:.0}", figures.start_ms),
                format!("{:.1}", figures.idle_mib),
                format!("{:.1}", figures.private_mib),
                format!("{:.1}", figures.searched_mib),
            ]);
        }
    }
    let head = [
        "sources",
        "tools",
        "encoder",
        "start to first discovery ms",
        "idle memory MiB",
        "of it private",
        "after a search MiB",
    ];
    let section = format!("\n{}\n", markdown(&head, &rows));
    say(&section);
    if options.contains(&"--write") {
        write_section(&root.join("docs/benchmarks.md"), "start", &section)?;
    }
    Ok(())
}

/// The files of the folder and how many tools each lists.
pub(super) fn lists(folder: &Path) -> Result<Vec<(PathBuf, usize)>> {
    #[derive(Deserialize)]
    struct Listing {
        tools: Vec<serde::de::IgnoredAny>,
    }
    let mut lists = Vec::new();
    for file in std::fs::read_dir(folder).context("the catalogue cannot be read")? {
        let path = file?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.extension().is_some_and(|kind| kind == "json") && !name.starts_with('_') {
            let listing: Listing = serde_json::from_slice(&std::fs::read(&path)?)?;
            lists.push((path, listing.tools.len()));
        }
    }
    lists.sort();
    Ok(lists)
}

async fn measure(root: &Path, lists: &[(PathBuf, usize)], encoder: &str) -> Result<StartFigures> {
    let scratch = tempfile::tempdir()?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let scenario = Scenario {
        authority: format!("127.0.0.1:{port}"),
        params: r#"{"name":"discover_tools","arguments":{}}"#.to_owned(),
        expected: "total_tools",
        token: None,
    };
    std::fs::write(scratch.path().join("gatefold.toml"), config(lists, encoder)?)?;
    learn(root, scratch.path(), &scenario)?;
    let mut starts = Vec::new();
    let (mut idle, mut private, mut searched_mib) = (Vec::new(), Vec::new(), 0.0);
    let search = Scenario { params: SEARCH.to_owned(), expected: "results", ..scenario.clone() };
    for left in (0..STARTS).rev() {
        let mut command = gatefold(root, scratch.path(), &scenario, "serve")?;
        let server = Server::start(&mut command, &scenario).await?;
        starts.push(server.started_in.as_secs_f64() * 1e3);
        tokio::time::sleep(SETTLING).await;
        idle.push(server.own_memory()?);
        private.push(server.private_memory()?);
        // The last one alone: what a search leaves in the state directory makes the next start slower.
        if left == 0 {
            Connection::open(&search).await?.call().await?;
            tokio::time::sleep(SETTLING).await;
            searched_mib = server.own_memory()?;
        }
    }
    let middle = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ok(StartFigures {
        start_ms: middle(&mut starts),
        idle_mib: middle(&mut idle),
        private_mib: middle(&mut private),
        searched_mib,
    })
}

/// Connects every source once, so that its list is on disk, and so are the encoder's vectors.
pub(super) fn learn(root: &Path, scratch: &Path, scenario: &Scenario) -> Result<()> {
    let mut command = gatefold(root, scratch, scenario, "check")?;
    let checked = command.output().context("`gatefold check` could not be run")?;
    if !checked.status.success() {
        bail!("`gatefold check` failed: {}", String::from_utf8_lossy(&checked.stdout));
    }
    // A search from the shell waits for the encoder.
    let mut command = gatefold(root, scratch, scenario, "tools")?;
    let searched = command.args(["search", "anything"]).output()?;
    let said = String::from_utf8_lossy(&searched.stderr);
    if !searched.status.success() || said.contains("has not read all tools") {
        bail!("the encoder could not read the tools: {said}");
    }
    Ok(())
}

pub(super) fn gatefold(
    root: &Path,
    scratch: &Path,
    scenario: &Scenario,
    what: &str,
) -> Result<Command> {
    let binary = root.join("target/dist/gatefold");
    if !binary.exists() {
        bail!("build it first: cargo build --profile dist");
    }
    let mut command = Command::new(binary);
    command.arg(what).arg("--config").arg(scratch.join("gatefold.toml"));
    command.arg("--state-dir").arg(scratch.join("state")).args(["--log", "warn"]);
    if what == "serve" {
        command.args(["--listen", &scenario.authority]);
    }
    Ok(command)
}

pub(super) fn config(lists: &[(PathBuf, usize)], encoder: &str) -> Result<String> {
    let own = std::env::current_exe()?;
    let mut config = String::from("[limits]\nconnect_deadline = \"60s\"\n");
    writeln!(config, "[search]\nencoder = {encoder:?}")?;
    for (path, _) in lists {
        let name = path.file_stem().and_then(|name| name.to_str()).context("an odd file name")?;
        writeln!(config, "[sources.\"{name}\"]\ncommand = {:?}", own.display().to_string())?;
        let path = path.display().to_string();
        writeln!(config, "args = [\"fixture\", \"--replay\", {path:?}]")?;
    }
    Ok(config)
}
