//! A whole answer to a search over HTTP, with every real tool list, without an encoder and with one: its
//! time and processor time, beside those of a call that is only handed on.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use tempfile::TempDir;

use super::load::{Connection, Scenario};
use super::process::Server;
use super::start::{ENCODERS, SETTLING};
use super::table::{markdown, write_section};
use super::{say, start};

/// How often all requests are made. The figures are of the round with the least processor time: what else the
/// machine does only adds to it.
const ROUNDS: usize = 5;
/// How many answers a round has at least: the kernel counts processor time in steps of 10 ms.
const ANSWERS: usize = 1000;

/// More of them than an encoder remembers.
const REQUESTS: &str = "xtask/data/requests/served.jsonl";
/// How many are asked again: few enough to be remembered.
const REPEATED: usize = 30;

#[derive(Deserialize)]
struct RequestText {
    text: String,
}

struct RoundCosts {
    median_ms: f64,
    cpu_ms: f64,
}

#[expect(clippy::disallowed_methods, reason = "a chore reads its own variable")]
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let folder = std::env::var_os("GATEFOLD_CATALOGS");
    let folder = folder.context("GATEFOLD_CATALOGS must name a folder of tool lists")?;
    let requests = read(&root.join(REQUESTS))?;
    let lists = start::lists(Path::new(&folder))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let section = runtime.block_on(measure(root, &lists, &requests))?;
    say(&section);
    if options.contains(&"--write") {
        write_section(&root.join("docs/benchmarks.md"), "discovery", &section)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).context("the requests cannot be read")?;
    let requests = text.lines().map(|line| {
        let request: RequestText = serde_json::from_str(line)?;
        Ok(request.text)
    });
    requests.collect()
}

async fn measure(root: &Path, lists: &[(PathBuf, usize)], requests: &[String]) -> Result<String> {
    let searches: Vec<_> = requests.iter().map(|text| search(text)).collect();
    // The encoder remembers the requests of these few, as it does for the next page of an answer.
    let again = &searches[..searches.len().min(REPEATED)];
    let calls = vec![CALL.to_owned(); searches.len()];
    let [without, with] = ENCODERS;
    let tools: usize = lists.iter().map(|(_, count)| count).sum();
    let mut rows = Vec::new();
    for (encoder, kinds) in [
        (without, vec![("call", &calls[..]), ("search without an encoder", &searches)]),
        (with, vec![("search with the built-in encoder", &searches), ("the same again", again)]),
    ] {
        let gateway = MeasuredGateway::start(root, lists, encoder).await?;
        for (what, asked) in kinds {
            let best = gateway.best_round(asked).await?;
            rows.push(vec![
                what.to_owned(),
                tools.to_string(),
                asked.len().to_string(),
                format!("{:.3}", best.median_ms),
                format!("{:.3}", best.cpu_ms),
            ]);
        }
    }
    let head = ["answer to a", "tools", "requests", "median ms", "CPU ms/answer"];
    Ok(format!("\n{}\n", markdown(&head, &rows)))
}

struct MeasuredGateway {
    server: Server,
    scenario: Scenario,
    _scratch: TempDir,
}

impl MeasuredGateway {
    async fn start(root: &Path, lists: &[(PathBuf, usize)], encoder: &str) -> Result<Self> {
        let scratch = tempfile::tempdir()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let scenario = Scenario {
            authority: format!("127.0.0.1:{port}"),
            params: r#"{"name":"discover_tools","arguments":{}}"#.to_owned(),
            expected: "\"content\"",
            token: None,
        };
        std::fs::write(scratch.path().join("gatefold.toml"), start::config(lists, encoder)?)?;
        start::learn(root, scratch.path(), &scenario)?;
        let mut command = start::gatefold(root, scratch.path(), &scenario, "serve")?;
        let server = Server::start(&mut command, &scenario).await?;
        tokio::time::sleep(SETTLING).await;
        Ok(Self { server, scenario, _scratch: scratch })
    }

    async fn best_round(&self, calls: &[String]) -> Result<RoundCosts> {
        let mut connection = Connection::open(&self.scenario).await?;
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let before = self.server.cpu()?;
            let mut times = Vec::with_capacity(calls.len());
            for call in calls.iter().cycle().take(ANSWERS.next_multiple_of(calls.len())) {
                connection.prepare(call);
                let began = Instant::now();
                connection.call().await?;
                times.push(began.elapsed().as_secs_f64() * 1e3);
            }
            times.sort_by(f64::total_cmp);
            let cpu = self.server.cpu()?.saturating_sub(before);
            rounds.push(RoundCosts {
                median_ms: times[times.len() / 2],
                cpu_ms: cpu.as_secs_f64() * 1e3 / times.len() as f64,
            });
        }
        rounds.sort_by(|one, other| one.cpu_ms.total_cmp(&other.cpu_ms));
        rounds.into_iter().next().context("no round was made")
    }
}

/// A call that its server answers at once, for comparison.
const CALL: &str =
    r#"{"name":"execute_tool","arguments":{"tool_name":"airtable__list_bases","arguments":{}}}"#;

fn search(text: &str) -> String {
    let arguments = serde_json::json!({ "query": text });
    serde_json::json!({ "name": "discover_tools", "arguments": arguments }).to_string()
}
