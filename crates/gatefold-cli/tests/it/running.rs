//! Commands that talk to the running gateway over its control socket, wherever it listens.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;

use gatefold_testkit::{Fixture, StdioClient, serve_http, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

use crate::process::{
    BINARY, Gateway, LIMIT, WITHOUT_ENCODER, children_of, command, run, two_sources,
};
use crate::scratch::Scratch;

const NO_GATEWAY: &str = "no gateway runs, and there is no configuration";

/// A scratch directory whose configuration is where only `--config` finds it.
fn scratch_with_a_hidden_configuration() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("hidden.toml", two_sources(&scratch));
    scratch
}

/// A gateway that can be found only through its state directory.
async fn serve_hidden(scratch: &Scratch) -> Gateway {
    let args = ["serve", "--config", "hidden.toml", "--listen", "127.0.0.1:0"];
    let gateway = Gateway::start(scratch, &args);
    gateway.await_log("listening").await;
    gateway
}

fn status(scratch: &Scratch) -> Value {
    run(scratch, &["status", "--json"]).json()
}

fn control_folder(scratch: &Scratch) -> PathBuf {
    scratch.path().join(".local/state/gatefold/control")
}

fn sockets(scratch: &Scratch) -> Vec<PathBuf> {
    let entries = fs::read_dir(control_folder(scratch)).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn commands_find_the_gateway_without_a_configuration_and_whatever_its_port() {
    let scratch = scratch_with_a_hidden_configuration();
    let gateway = serve_hidden(&scratch).await;
    let shown = run(&scratch, &["status"]);
    let says = format!("running on http://{}/mcp\n", gateway.address());
    assert!(shown.stdout.starts_with(&says), "{}{}", shown.stdout, shown.stderr);
    assert_eq!(status(&scratch)["running"]["process"], gateway.pid());

    let listed = run(&scratch, &["tools", "list", "--json"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert_eq!(listed.json()["tools"].as_array().unwrap().len(), 24);
    let found = run(&scratch, &["tools", "search", "create", "an", "issue", "--json"]).json();
    assert_eq!(found["tools"][0]["name"], "issues__create_issue");
    let schema = run(&scratch, &["tools", "schema", "create_issue"]);
    assert!(schema.stdout.contains("issues__create_issue  issues / "), "{}", schema.stdout);
    let call = ["tools", "call", "issues__count_issues", "--arg", "by=state", "--json"];
    assert!(run(&scratch, &call).json()["result"]["content"].is_array());
    // The running gateway made the call, not the command's own process.
    assert_eq!(status(&scratch)["running"]["calls"], json!({ "done": 1 }));
    let twice = ["tools", "call", "create_issue", "--arg", "a=1", "--arg", "a=2"];
    let twice = run(&scratch, &twice);
    assert_eq!(twice.code, Some(2), "{}", twice.stderr);
    assert!(twice.stderr.contains("given twice"), "{}", twice.stderr);
    assert_eq!(run(&scratch, &["queries"]).stdout, "nothing learnt yet\n");
}

/// What the socket carries, a command does by itself where no gateway runs.
#[tokio::test]
async fn a_command_says_the_same_with_a_gateway_and_without() {
    const COMMANDS: &[&[&str]] = &[
        &["tools", "list"],
        &["tools", "list", "--json"],
        &["tools", "list", "--domain", "units", "--json"],
        &["tools", "list", "--domain", "maths"],
        &["tools", "search", "create", "an", "issue", "--json"],
        &["tools", "search", "create", "an", "issue", "--mode", "keyword", "--limit", "3"],
        &["tools", "schema", "create_issue", "units__list_units", "--json"],
        &["tools", "schema", "create_isue"],
        &["tools", "schema", "create_isue", "--json"],
        &["tools", "call", "issues__count_issues", "--arg", "by=state", "--json"],
        &["tools", "call", "issues__count_issues", "--arguments", r#"{"by": "nothing"}"#, "--json"],
        &["tools", "call", "create_issue", "--arg", "a=1", "--arg", "a=2"],
        &["tools", "call", "create_issue", "--arg", "a=1", "--arg", "a=2", "--json"],
        &["tools", "call", "nothing"],
    ];
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch) + WITHOUT_ENCODER);
    let outcomes = || {
        let run = |args: &&[&str]| {
            let run = run(&scratch, args);
            (run.code, run.stdout, run.stderr)
        };
        COMMANDS.iter().map(run).collect::<Vec<_>>()
    };
    let alone = outcomes();
    let gateway = Gateway::serve(&scratch).await;
    for ((args, alone), asked) in COMMANDS.iter().zip(&alone).zip(outcomes()) {
        assert_eq!(asked, *alone, "{args:?}");
    }
    // It was asked: two of the commands have made a call.
    let calls = status(&scratch)["running"]["calls"].clone();
    let calls: Vec<_> = calls.as_object().unwrap().values().filter_map(Value::as_u64).collect();
    assert_eq!(calls.iter().sum::<u64>(), 2, "{}", gateway.log());
}

#[test]
fn without_a_gateway_and_a_configuration_commands_say_how_to_start_one() {
    let scratch = Scratch::new();
    for args in [&["tools", "list"][..], &["tools", "call", "x"], &["tools", "search", "x"]] {
        let failed = run(&scratch, args);
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(failed.stderr.contains(NO_GATEWAY), "{args:?}: {}", failed.stderr);
        assert!(failed.stderr.contains("`gatefold serve`"), "{args:?}: {}", failed.stderr);
    }
    let status = run(&scratch, &["status"]);
    assert_eq!(status.code, Some(0), "{}", status.stderr);
    assert!(status.stdout.starts_with("not running: no gateway runs on "), "{}", status.stdout);
    assert!(status.stdout.contains("start one with `gatefold serve`"), "{}", status.stdout);
    assert!(!status.stdout.contains("domain"), "{}", status.stdout);
    assert_eq!(run(&scratch, &["queries"]).stdout, "nothing learnt yet\n");
}

#[tokio::test]
async fn the_tools_of_a_source_that_is_still_starting_are_waited_for() {
    let scratch = Scratch::new();
    let data = scratch.path().display();
    let line = format!("sleep 2; exec {BINARY} demo-server units --scratch {data}");
    scratch
        .write("hidden.toml", format!("[sources.slow]\ncommand = 'sh'\nargs = ['-c', '{line}']\n"));
    let gateway = serve_hidden(&scratch).await;
    assert!(wait_until(LIMIT, || !children_of(gateway.pid()).is_empty()).await);
    let schema = run(&scratch, &["tools", "schema", "slow__list_units"]);
    assert_eq!(schema.code, Some(0), "{}", schema.stderr);
}

#[tokio::test]
async fn a_changed_address_does_not_lose_the_gateway() {
    let scratch = Scratch::new();
    let at =
        |port: u16| two_sources(&scratch) + &format!("[server]\nlisten = '127.0.0.1:{port}'\n");
    scratch.write("gatefold.toml", at(0));
    let gateway = Gateway::start(&scratch, &["serve"]);
    gateway.await_log("listening").await;
    // The file may change before it is watched, so it changes until that is noticed.
    let noticed = || gateway.log().contains("some changes take effect after a restart");
    let until = std::time::Instant::now() + LIMIT;
    for attempt in 0.. {
        if noticed() {
            break;
        }
        assert!(std::time::Instant::now() < until, "{}", gateway.log());
        // The watch compares with what it found at its start, so each attempt differs.
        scratch.write("gatefold.toml", at(1) + &format!("# {attempt}\n"));
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    let status = status(&scratch);
    assert_eq!(status["running"]["process"], gateway.pid());
    assert_eq!(status["url"], gateway.url());
    let diagnosis = run(&scratch, &["doctor", "--offline"]).stdout;
    let says = format!("process {}; `listen` in `[server]` is `127.0.0.1:1`", gateway.pid());
    assert!(
        diagnosis.split_whitespace().collect::<Vec<_>>().join(" ").contains(&says),
        "{diagnosis}"
    );
}

#[tokio::test]
async fn the_socket_of_a_killed_gateway_is_replaced() {
    let scratch = scratch_with_a_hidden_configuration();
    let mut gateway = serve_hidden(&scratch).await;
    gateway.signal("-KILL");
    gateway.ended().await;
    let left = sockets(&scratch);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(status(&scratch)["running"], Value::Null);
    let failed = run(&scratch, &["tools", "list"]);
    assert!(failed.stderr.contains(NO_GATEWAY), "{}", failed.stderr);

    let mut gateway = serve_hidden(&scratch).await;
    assert_eq!(status(&scratch)["running"]["process"], gateway.pid());
    let now = sockets(&scratch);
    assert!(now.len() == 1 && now != left, "{now:?}");
    gateway.signal("-TERM");
    assert_eq!(gateway.ended().await, Some(0));
    assert!(sockets(&scratch).is_empty());
}

#[tokio::test]
async fn of_two_gateways_on_one_state_directory_the_serving_one_is_asked_first() {
    let scratch = scratch_with_a_hidden_configuration();
    let stdio = command(&scratch, &["stdio", "--config", "hidden.toml"]);
    let mut stdio = StdioClient::from_command(stdio.into()).unwrap().with_limit(LIMIT);
    stdio.initialize().await.unwrap();
    let alone = run(&scratch, &["status"]).stdout;
    assert!(alone.starts_with("running over stdio\n"), "{alone}");
    assert_eq!(run(&scratch, &["tools", "list"]).code, Some(0));

    let mut gateway = serve_hidden(&scratch).await;
    let both = run(&scratch, &["status"]).stdout;
    assert!(both.starts_with("running on http://"), "{both}");
    assert!(both.contains("also running: `gatefold stdio`, process "), "{both}");
    assert_eq!(status(&scratch)["others"][0]["role"], "stdio");
    gateway.signal("-TERM");
    assert_eq!(gateway.ended().await, Some(0));
    let alone = run(&scratch, &["status"]).stdout;
    assert!(alone.starts_with("running over stdio\n"), "{alone}");
    stdio.close_stdin();
    assert_eq!(stdio.wait().await.unwrap().code(), Some(0), "{}", stdio.stderr());
    assert!(sockets(&scratch).is_empty());
}

#[tokio::test]
async fn a_gateway_with_another_configuration_is_not_asked_for_tools() {
    let scratch = scratch_with_a_hidden_configuration();
    let _gateway = serve_hidden(&scratch).await;
    let own = two_sources(&scratch).replace("[sources.units]", "[sources.maths]");
    scratch.write("gatefold.toml", own);
    let args = ["tools", "list", "--domain", "maths", "--json"];
    let listed = run(&scratch, &args);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert_eq!(listed.json()["tools"].as_array().unwrap().len(), 10);
    let named = run(&scratch, &["tools", "list", "--domain", "maths", "--config", "hidden.toml"]);
    assert!(named.stderr.contains("unknown domain `maths`"), "{}", named.stderr);
}

#[tokio::test]
async fn a_state_directory_with_a_long_path_has_a_socket_too() {
    let scratch = scratch_with_a_hidden_configuration();
    let long = format!("{0}/{0}/{0}", "a-rather-long-name-of-a-folder".repeat(2));
    let shared = ["--state-dir", &long];
    let with = |args: &[&'static str]| -> Vec<String> {
        args.iter().chain(&shared).map(|arg| (*arg).to_owned()).collect()
    };
    let args = with(&["serve", "--config", "hidden.toml", "--listen", "127.0.0.1:0"]);
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let gateway = Gateway::start(&scratch, &args);
    gateway.await_log("listening").await;
    let args = with(&["status", "--json"]);
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    assert_eq!(run(&scratch, &args).json()["running"]["process"], gateway.pid());
    assert!(!gateway.log().contains("no control socket"), "{}", gateway.log());
}

#[tokio::test]
async fn only_the_user_may_reach_the_socket() {
    let scratch = scratch_with_a_hidden_configuration();
    fs::create_dir_all(control_folder(&scratch)).unwrap();
    fs::set_permissions(control_folder(&scratch), Permissions::from_mode(0o755)).unwrap();
    let _gateway = serve_hidden(&scratch).await;
    assert_eq!(mode(&control_folder(&scratch)), 0o700);
    assert_eq!(mode(&sockets(&scratch)[0]), 0o600);
}

#[tokio::test]
async fn a_gateway_without_a_socket_serves_all_the_same() {
    let scratch = scratch_with_a_hidden_configuration();
    fs::create_dir_all(control_folder(&scratch).parent().unwrap()).unwrap();
    fs::write(control_folder(&scratch), "a file").unwrap();
    let gateway = serve_hidden(&scratch).await;
    assert!(gateway.log().contains("no control socket"), "{}", gateway.log());
    let shown = run(&scratch, &["status", "--listen", &gateway.address(), "--json"]).json();
    assert_eq!(shown["running"]["process"], gateway.pid());
}

#[tokio::test]
async fn a_gateway_that_hangs_is_named() {
    let scratch = scratch_with_a_hidden_configuration();
    let gateway = serve_hidden(&scratch).await;
    gateway.signal("-STOP");
    let began = Instant::now();
    let shown = run(&scratch, &["status"]);
    gateway.signal("-CONT");
    assert!(began.elapsed() < LIMIT, "{:?}", began.elapsed());
    let says = format!("`gatefold serve`, process {}, runs but does not answer", gateway.pid());
    // In a warning if it happened to write: see the next test.
    let shown = shown.stdout + &shown.stderr;
    assert!(shown.contains(&says), "{shown}");
}

/// Whoever holds the lock of the state database keeps others from reading what is on record.
#[tokio::test]
async fn a_gateway_that_hangs_while_it_writes_is_named_too() {
    let scratch = scratch_with_a_hidden_configuration();
    let gateway = serve_hidden(&scratch).await;
    let database = scratch.path().join(".local/state/gatefold/gatefold.db");
    let mut lock = SqliteConnectOptions::new().filename(database).connect().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut lock).await.unwrap();
    gateway.signal("-STOP");
    let shown = run(&scratch, &["status"]);
    gateway.signal("-CONT");
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(1), ""));
    let says = format!("warning: `gatefold serve`, process {}, runs but does not", gateway.pid());
    assert!(shown.stderr.contains(&says), "{}", shown.stderr);
    assert!(shown.stderr.contains("is held by another program"), "{}", shown.stderr);
}

#[tokio::test]
async fn nonsense_on_the_socket_harms_nobody() {
    let scratch = scratch_with_a_hidden_configuration();
    let gateway = serve_hidden(&scratch).await;
    let socket = &sockets(&scratch)[0];
    let said = |line: &[u8]| {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.write_all(line).unwrap();
        let mut reply = String::new();
        BufReader::new(stream).read_line(&mut reply).unwrap();
        reply
    };
    let fault = said(b"{\"what\": 1}\n");
    assert!(fault.contains("does not know this request"), "{fault}");
    assert!(said(b"\xff\xfe\n").is_empty());
    // A line without an end.
    let mut endless = UnixStream::connect(socket).unwrap();
    let mut sent = 0;
    while endless.write_all(&vec![b'x'; 64 * 1024]).is_ok() && sent < 1024 {
        sent += 1;
    }
    assert!(sent < 1024, "64 MiB were read");
    let mut reply = Vec::new();
    drop(endless.read_to_end(&mut reply));
    // Connections that send nothing.
    let silent: Vec<_> = (0..8).map(|_| UnixStream::connect(socket).unwrap()).collect();
    assert_eq!(status(&scratch)["running"]["process"], gateway.pid());
    drop(silent);
}

/// A command that runs until it is stopped.
fn started(scratch: &Scratch, args: &[&str]) -> Child {
    let mut command = command(scratch, args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[tokio::test]
async fn a_call_is_given_up_with_its_command() {
    let scratch = Scratch::new();
    let server = serve_http(Fixture::new(&[]).unwrap()).unwrap();
    scratch.write("gatefold.toml", format!("[sources.slow]\nurl = '{}'\n", server.url));
    let gateway = Gateway::serve(&scratch).await;
    assert_eq!(run(&scratch, &["tools", "list"]).code, Some(0), "{}", gateway.log());
    let mut calling = started(&scratch, &["tools", "call", "slow__slow", "--arg", "ms=60000"]);
    let in_flight = || status(&scratch)["running"]["sources"][0]["calls_in_flight"] == 1;
    assert!(wait_until(LIMIT, in_flight).await, "{}", status(&scratch));
    kill_process(Pid::from_child(&calling), Signal::INT).unwrap();
    assert_eq!(calling.wait().unwrap().code(), Some(130));
    let is_cancelled = || status(&scratch)["running"]["calls"]["cancelled"] == 1;
    assert!(wait_until(LIMIT, is_cancelled).await, "{}", status(&scratch));
}
