//! The call path: a direct call, the same call through Gatefold, the same through a peer.
//!
//! All use the same upstream, a process that returns the arguments and does no more, over
//! streamable HTTP in sessions of the handshake era. Rounds alternate between them, so that a drift
//! of the machine's speed affects all alike; figures are medians of the rounds.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use gatefold_testkit::{HttpProcess, TokenIssuer};
use serde_json::json;

use super::load::{self, LoadResult, PlainCall, PlainQuery, Scenario};
use super::process::Server;
use super::table::{markdown, write_section};
use super::{say, start};

pub(super) struct CallOptions {
    time: Duration,
    rounds: usize,
    clients: Vec<usize>,
    /// A command that serves a peer, with parts to be filled in, such as `{port}`.
    pub(super) peer: Option<String>,
    pub(super) write: bool,
}

/// One way to reach the upstream.
pub(super) struct Way<'a> {
    pub(super) name: &'static str,
    pub(super) route: Route,
    pub(super) server: Option<&'a Server>,
}

/// How calls of a way are made.
pub(super) enum Route {
    Mcp(Scenario),
    Http(PlainCall),
    Sql(PlainQuery),
}

impl Route {
    async fn load(&self, clients: usize, time: Duration) -> Result<LoadResult> {
        match self {
            Self::Mcp(scenario) => load::run(scenario, clients, time).await,
            Self::Http(call) => load::drive(vec![call.clone(); clients], time).await,
            Self::Sql(query) => load::drive(vec![query.clone(); clients], time).await,
        }
    }
}

/// The figures of one way at one number of clients.
struct RoundFigures {
    median_ms: f64,
    p99_ms: f64,
    calls_per_second: f64,
    cpu_ms: Option<f64>,
}

const ECHO_ARGUMENTS: &str = r#"{"invoice_id":"payload 7391"}"#;

pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let options = parse(options)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build()?.block_on(measure(root, &options))
}

pub(super) fn parse(words: &[&str]) -> Result<CallOptions> {
    let mut options = CallOptions {
        time: Duration::from_secs(4),
        rounds: 3,
        clients: vec![1, 32, 256],
        peer: None,
        write: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
        match *word {
            "--seconds" => options.time = Duration::from_secs(value()?.parse()?),
            "--rounds" => options.rounds = value()?.parse::<usize>()?.max(1),
            "--clients" => {
                let counts: Result<_, _> = value()?.split(',').map(str::parse).collect();
                options.clients = counts.context("`--clients` takes numbers, as `1,32`")?;
            }
            "--peer" => options.peer = Some((*value()?).to_owned()),
            "--write" => options.write = true,
            other => bail!("unknown option `{other}`"),
        }
    }
    Ok(options)
}

async fn measure(root: &Path, options: &CallOptions) -> Result<()> {
    let upstream = HttpProcess::spawn(&["--tools", "30", "--era", "both"]).await?;
    let url = upstream.url.clone();
    let authority = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let direct = Scenario {
        authority,
        params: format!(r#"{{"name":"list_invoice","arguments":{ECHO_ARGUMENTS}}}"#),
        expected: "payload 7391",
        token: None,
    };
    let scratch = tempfile::tempdir()?;
    let gatefold_scenario = through(free_port()?, "bench__list_invoice");
    let mut command = gatefold(root, &scratch, &url, &gatefold_scenario)?;
    let gatefold = Server::start(&mut command, &gatefold_scenario).await?;
    let (guarded_scenario, guarded) = start_guarded(root, &url).await?;
    let issuer = TokenIssuer::start().await?;
    let (trusting_scenario, trusting) = start_trusting(root, &url, &issuer).await?;
    let mut ways = vec![
        Way { name: "direct", route: Route::Mcp(direct), server: None },
        Way { name: "gatefold", route: Route::Mcp(gatefold_scenario), server: Some(&gatefold) },
        Way {
            name: "gatefold, with a token",
            route: Route::Mcp(guarded_scenario),
            server: Some(&guarded.server),
        },
        Way {
            name: "gatefold, with a JWT",
            route: Route::Mcp(trusting_scenario),
            server: Some(&trusting.server),
        },
    ];
    let peer = match &options.peer {
        Some(peer) => Some(start_peer(peer, &url).await?),
        None => None,
    };
    if let Some((scenario, server)) = &peer {
        let (route, server) = (Route::Mcp(scenario.clone()), Some(server));
        ways.push(Way { name: "fastmcp-gateway", route, server });
    }
    let section = compared(&ways, options).await?;
    say(&section);
    if options.write {
        write_section(&root.join("docs/benchmarks.md"), "calls", &section)?;
    }
    Ok(())
}

/// The figures of all ways as a table, and another of what their servers take. The first way is what the
/// others are compared with, the second what their processor time is compared with.
pub(super) async fn compared(ways: &[Way<'_>], options: &CallOptions) -> Result<String> {
    let idle: Vec<Option<f64>> = memories(ways);
    let mut rows = Vec::new();
    for &clients in &options.clients {
        rows.extend(at(ways, clients, options).await?);
    }
    let head = [
        "clients",
        "way",
        "median ms",
        "p99 ms",
        "calls/s",
        "CPU ms/call",
        "added ms",
        "CPU ratio",
    ];
    let mut section = format!("\n{}\n", markdown(&head, &rows));
    let head = ["way", "start to first call ms", "memory before MiB", "memory after MiB"];
    section.push_str(&markdown(&head, &footprints(ways, &idle)));
    section.push('\n');
    Ok(section)
}

/// Start time and memory of every way that has a server of its own.
fn footprints(ways: &[Way<'_>], idle: &[Option<f64>]) -> Vec<Vec<String>> {
    let loaded = memories(ways);
    let rows = ways.iter().zip(idle.iter().zip(loaded)).filter_map(|(way, (idle, loaded))| {
        let started = format!("{:.0}", way.server?.started_in.as_secs_f64() * 1e3);
        Some(vec![way.name.to_owned(), started, figure((*idle)?), figure(loaded?)])
    });
    rows.collect()
}

fn memories(ways: &[Way<'_>]) -> Vec<Option<f64>> {
    ways.iter().map(|way| way.server?.memory().ok()).collect()
}

/// A gateway of the three-meta-tool kind, called for that one tool of the upstream.
pub(super) fn through(port: u16, tool: &str) -> Scenario {
    Scenario {
        authority: format!("127.0.0.1:{port}"),
        params: format!(
            r#"{{"name":"execute_tool","arguments":{{"tool_name":"{tool}","arguments":{ECHO_ARGUMENTS}}}}}"#
        ),
        expected: "payload 7391",
        token: None,
    }
}

fn gatefold(
    root: &Path,
    scratch: &tempfile::TempDir,
    url: &str,
    scenario: &Scenario,
) -> Result<Command> {
    let config = format!("[sources.bench]\nurl = \"{url}\"\n");
    std::fs::write(scratch.path().join("gatefold.toml"), config)?;
    start::gatefold(root, scratch.path(), scenario, "serve")
}

/// A gateway that requires tokens, and the folder that has them.
struct GuardedServer {
    server: Server,
    _scratch: tempfile::TempDir,
}

/// The same gateway, which asks who calls, and a token for it.
async fn start_guarded(root: &Path, url: &str) -> Result<(Scenario, GuardedServer)> {
    let scratch = tempfile::tempdir()?;
    let mut scenario = through(free_port()?, "bench__list_invoice");
    let mut command = gatefold(root, &scratch, url, &scenario)?;
    let config =
        format!("[server]\nauthentication = \"token\"\n[sources.bench]\nurl = \"{url}\"\n");
    std::fs::write(scratch.path().join("gatefold.toml"), config)?;
    let mut create = start::gatefold(root, scratch.path(), &scenario, "token")?;
    create.args(["create", "--name", "bench", "--for", "bench"]);
    let created = create.output().context("`gatefold token create` could not be run")?;
    let token = String::from_utf8(created.stdout)?.trim_end().to_owned();
    if token.is_empty() {
        bail!("no token was made: {}", String::from_utf8_lossy(&created.stderr));
    }
    scenario.token = Some(token);
    let server = Server::start(&mut command, &scenario).await?;
    Ok((scenario, GuardedServer { server, _scratch: scratch }))
}

/// The same gateway, which trusts an issuer, and a signed token of that one.
async fn start_trusting(
    root: &Path,
    url: &str,
    issuer: &TokenIssuer,
) -> Result<(Scenario, GuardedServer)> {
    let scratch = tempfile::tempdir()?;
    let mut scenario = through(free_port()?, "bench__list_invoice");
    let mut command = gatefold(root, &scratch, url, &scenario)?;
    let public_url = format!("http://{}", scenario.authority);
    let config = format!(
        "[server]\nauthentication = \"token\"\npublic_url = \"{public_url}\"\n\
         [[server.issuers]]\nissuer = \"{}\"\n[sources.bench]\nurl = \"{url}\"\n",
        issuer.issuer()
    );
    std::fs::write(scratch.path().join("gatefold.toml"), config)?;
    scenario.token = Some(issuer.token(json!({ "aud": format!("{public_url}/mcp") })));
    let server = Server::start(&mut command, &scenario).await?;
    Ok((scenario, GuardedServer { server, _scratch: scratch }))
}

async fn start_peer(command: &str, url: &str) -> Result<(Scenario, Server)> {
    let port = free_port()?;
    let scenario = through(port, "list_invoice");
    let server = serve_peer(command, ("{url}", url), &scenario).await?;
    Ok((scenario, server))
}

/// Starts a peer by its command, with this placeholder and its `{port}` filled in.
pub(super) async fn serve_peer(
    command: &str,
    (placeholder, text): (&str, &str),
    scenario: &Scenario,
) -> Result<Server> {
    let (_, port) = scenario.authority.rsplit_once(':').context("no port")?;
    let filled = command.replace("{port}", port).replace(placeholder, text);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec {filled}")]);
    Server::start(&mut shell, scenario).await.context("the peer")
}

pub(super) fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

async fn at(ways: &[Way<'_>], clients: usize, options: &CallOptions) -> Result<Vec<Vec<String>>> {
    let mut rounds: Vec<Vec<RoundFigures>> = ways.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.rounds {
        for (way, rounds) in ways.iter().zip(&mut rounds) {
            let before = way.server.map(Server::cpu).transpose()?;
            let measured = way.route.load(clients, options.time).await;
            let measured =
                measured.with_context(|| format!("{} at {clients} clients", way.name))?;
            let after = way.server.map(Server::cpu).transpose()?;
            rounds.push(figures(&measured, before.zip(after)));
        }
    }
    let of =
        |index: usize, figure: fn(&RoundFigures) -> f64| median(rounds[index].iter().map(figure));
    let base_ms = of(0, |f| f.median_ms);
    let own_cpu = of(1, |f| f.cpu_ms.unwrap_or(0.0));
    let rows = ways.iter().enumerate().map(|(index, way)| {
        let has_cpu = way.server.is_some();
        let cpu = of(index, |f| f.cpu_ms.unwrap_or(0.0));
        let or_dash = |text: String| if has_cpu { text } else { "-".to_owned() };
        vec![
            clients.to_string(),
            way.name.to_owned(),
            format!("{:.3}", of(index, |f| f.median_ms)),
            format!("{:.2}", of(index, |f| f.p99_ms)),
            format!("{:.0}", of(index, |f| f.calls_per_second)),
            or_dash(format!("{cpu:.3}")),
            or_dash(format!("{:.3}", of(index, |f| f.median_ms) - base_ms)),
            or_dash(format!("{:.1}", cpu / own_cpu)),
        ]
    });
    Ok(rows.collect())
}

fn figures(measured: &LoadResult, cpu: Option<(Duration, Duration)>) -> RoundFigures {
    let calls = measured.calls() as f64;
    RoundFigures {
        median_ms: measured.millis(0.5),
        p99_ms: measured.millis(0.99),
        calls_per_second: measured.calls_per_second(),
        cpu_ms: cpu.map(|(before, after)| after.saturating_sub(before).as_secs_f64() * 1e3 / calls),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn figure(value: f64) -> String {
    format!("{value:.1}")
}
