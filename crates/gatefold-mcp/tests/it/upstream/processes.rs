use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use gatefold_core::Secret;
use gatefold_dispatch::SourceState;
use gatefold_mcp::{McpSettings, StdioSettings, Transport};
use gatefold_testkit::{process_alive, wait_until};
use libtest_mimic::Trial;
use tokio::time::Instant;

use super::support::{LONG, Upstream, Wire, stdio, trial};
use super::world::World;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_child_sees_what_was_configured_and_nothing_of_ours", environment),
        trial("a_child_runs_where_it_was_told_to", directory),
        trial("closing_ends_a_server_and_all_that_it_started", group),
        trial("a_death_ends_all_that_the_server_started", orphans),
        trial("closing_ends_a_server_that_does_not_listen", deaf),
        trial("closing_ends_a_server_that_is_being_started", starting),
        trial("a_server_ends_with_a_killed_gateway", killed),
        trial("an_answer_that_says_nothing_breaks_the_protocol_and_not_the_session", empty),
    ]
}

/// The variables that a child may see without any configuration.
const HARMLESS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "UV_CACHE_DIR",
    "NPM_CONFIG_CACHE",
    "npm_config_cache",
];

fn changed(mut settings: McpSettings, change: impl FnOnce(&mut StdioSettings)) -> McpSettings {
    if let Transport::Stdio(stdio) = &mut settings.transport {
        change(stdio);
    }
    settings
}

async fn environment() {
    // Cargo sets variables of its own for test binaries. They stand for whatever a shell exports.
    let own: BTreeSet<String> =
        std::env::vars_os().map(|(name, _)| name.into_string().unwrap()).collect();
    let (passed, kept_back) = ("CARGO_PKG_NAME", "CARGO_PKG_VERSION");
    assert!(own.contains(passed) && own.contains(kept_back), "the tests run under Cargo");
    // Not the kind of value that counts as a secret: those are masked in what the child says.
    let settings = changed(stdio("up", &[]), |stdio| {
        stdio.env = vec![("UP_MODE".to_owned(), Secret::new("hunter"))];
        stdio.inherit_env = vec![passed.to_owned(), "NOT_SET_ANYWHERE".to_owned()];
    });
    let world = World::connected(&settings).await;
    let seen = world.text("up__env", "{}").await;
    let seen: BTreeSet<String> = serde_json::from_str(&seen).unwrap();
    for name in &seen {
        let given = ["UP_MODE", passed, gatefold_mcp::INSIDE];
        let expected = HARMLESS.contains(&name.as_str()) || given.contains(&name.as_str());
        assert!(expected, "the child sees {name}");
    }
    assert!(!seen.contains(kept_back));
    for (name, value) in
        [("UP_MODE", "hunter"), (passed, "gatefold-mcp"), (gatefold_mcp::INSIDE, "1")]
    {
        let arguments = serde_json::json!({"name": name}).to_string();
        assert_eq!(world.text("up__env", &arguments).await, value);
    }
    assert!(!format!("{settings:?}").contains("hunter"));
}

async fn directory() {
    let directory = tempfile::tempdir().unwrap();
    let log = "relative.log";
    let settings = changed(stdio("up", &["--log", log]), |stdio| {
        stdio.cwd = Some(directory.path().to_owned());
    });
    World::connected(&settings).await;
    assert!(directory.path().join(log).exists());
}

/// A connected server and the process that it started.
async fn with_grandchild(behaviour: &[&str]) -> (Upstream, World, [u32; 2]) {
    let upstream = Upstream::behaving("up", Wire::Stdio, behaviour);
    let world = World::connected(&upstream.settings).await;
    let grandchild = world.text("up__sleep_forever_child", "{}").await.parse().unwrap();
    let processes = [upstream.processes()[0], grandchild];
    assert!(processes.iter().all(|process| process_alive(*process)));
    (upstream, world, processes)
}

async fn group() {
    let (_upstream, world, processes) = with_grandchild(&[]).await;
    world.dispatcher.close().await;
    gone(&processes).await;
}

async fn gone(processes: &[u32]) {
    let gone = || !processes.iter().any(|process| process_alive(*process));
    assert!(wait_until(LONG, gone).await, "some of {processes:?} are left");
}

async fn orphans() {
    let (_upstream, world, processes) = with_grandchild(&[]).await;
    assert!(world.call("up__die", "{}").await.is_err());
    gone(&processes).await;
}

async fn deaf() {
    let (_upstream, world, processes) = with_grandchild(&["--ignore-eof"]).await;
    let began = Instant::now();
    world.dispatcher.close().await;
    gone(&processes).await;
    assert!(began.elapsed() < LONG / 2, "it took {:?}", began.elapsed());
}

async fn starting() {
    let upstream = Upstream::behaving("up", Wire::Stdio, &["--hang", "--ignore-eof"]);
    let world = World::new(&[&upstream.settings]);
    let dispatcher = world.dispatcher.clone();
    let refreshing = tokio::spawn(async move { dispatcher.refresh().await });
    assert!(wait_until(LONG, || upstream.processes().len() == 1).await);
    assert_eq!(world.state("up"), SourceState::Starting);
    let began = Instant::now();
    world.dispatcher.close().await;
    gone(&upstream.processes()).await;
    assert!(began.elapsed() < upstream.settings.connect_deadline / 2);
    assert!(refreshing.await.unwrap()[0].1.is_err());
}

/// The first argument that turns this binary into a gateway that waits to be killed.
const GATEWAY: &str = "gateway";

/// Serves as the gateway of [`killed`], if it is asked to.
#[expect(clippy::print_stdout, reason = "the test that started it waits for the line")]
pub(crate) fn run_gateway_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() != Some(GATEWAY) {
        return None;
    }
    let log = args.next()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let _world = World::connected(&stdio("up", &["--ignore-eof", "--log", &log])).await;
        println!("ready");
        tokio::time::sleep(Duration::from_mins(1)).await;
    });
    Some(ExitCode::SUCCESS)
}

async fn killed() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut gateway = Command::new(std::env::current_exe().unwrap())
        .args([GATEWAY, log.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(gateway.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    let process = gatefold_testkit::fixture::read_log(&log)[0].pid;
    assert!(process_alive(process));
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    gone(&[process]).await;
}

/// A server that answers a call with neither a result nor an error.
const EMPTY: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case $line in
    *'"initialize"'*) said='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"e","version":"1"}}' ;;
    *'"tools/list"'*) said='"result":{"tools":[{"name":"say","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}]}' ;;
    *'"tools/call"'*) said='"other":1' ;;
    *'"id"'*) said='"error":{"code":-32601,"message":"unknown"}' ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$said"
done"#;

async fn empty() {
    let settings = changed(stdio("up", &[]), |stdio| {
        "sh".clone_into(&mut stdio.command);
        stdio.args = vec!["-c".to_owned(), EMPTY.to_owned()];
    });
    let world = World::connected(&settings).await;
    let error = world.error("up__say", "{}").await;
    assert_eq!(error, "`up` broke the protocol: its answer has neither a result nor an error");
    assert_eq!(world.state("up"), SourceState::Running);
    world.dispatcher.close().await;
}
