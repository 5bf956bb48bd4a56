//! `gatefold calls`: the record of calls, with and without a gateway.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gatefold_testkit::{RawClient, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};

use crate::process::{Gateway, LIMIT, command, run, two_sources};
use crate::scratch::Scratch;

const COUNT: &[&str] = &["tools", "call", "issues__count_issues", "--arg", "by=state"];

fn scratch_with_sources() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch));
    scratch
}

/// Two calls that go well, and one that its tool fails.
fn scratch_with_calls() -> Scratch {
    let scratch = scratch_with_sources();
    assert_eq!(run(&scratch, COUNT).code, Some(0));
    assert_eq!(
        run(&scratch, &["tools", "call", "issues__get_issue", "--arg", "id=9999"]).code,
        Some(1)
    );
    assert_eq!(run(&scratch, &["tools", "call", "units__list_units"]).code, Some(0));
    scratch
}

fn calls(scratch: &Scratch, args: &[&str]) -> Vec<Value> {
    let args = [&["calls", "--json"], args].concat();
    run(scratch, &args).json()["calls"].as_array().unwrap().clone()
}

fn tools(calls: &[Value]) -> Vec<&str> {
    calls.iter().map(|call| call["tool"].as_str().unwrap()).collect()
}

/// `gatefold calls --follow`, and what it has printed. Dropping it kills it.
struct Follower {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Follower {
    fn start(scratch: &Scratch, args: &[&str]) -> Self {
        let args = [&["calls", "--follow"], args].concat();
        let mut child = command(scratch, &args).stdout(Stdio::piped()).spawn().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (stdout, sink) = (child.stdout.take().unwrap(), lines.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                sink.lock().unwrap().push(line);
            }
        });
        Self { child, lines }
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    async fn await_lines(&self, count: usize) -> Vec<String> {
        let are_there = wait_until(LIMIT, || self.lines().len() >= count).await;
        assert!(are_there, "{:?}", self.lines());
        self.lines()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn calls_are_listed_the_latest_last_without_any_gateway() {
    let scratch = scratch_with_calls();
    let all = ["issues__count_issues", "issues__get_issue", "units__list_units"];
    assert_eq!(tools(&calls(&scratch, &[])), all);
    assert_eq!(tools(&calls(&scratch, &["--limit", "2"])), all[1..]);
    assert_eq!(tools(&calls(&scratch, &["--failed"])), all[1..2]);
    assert_eq!(tools(&calls(&scratch, &["--tool", "issues__*"])), all[..2]);
    assert_eq!(tools(&calls(&scratch, &["--tool", "units__list_units"])), all[2..]);
    assert_eq!(tools(&calls(&scratch, &["--tool", "[iu]*"])), [""; 0]);
    let shown = run(&scratch, &["calls"]).stdout;
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert!(lines[0].starts_with("when ") && lines[2].contains(" tool_error "), "{shown}");

    // Neither a configuration nor the sources are needed.
    std::fs::remove_file(scratch.path().join("gatefold.toml")).unwrap();
    assert_eq!(tools(&calls(&scratch, &[])), all);
    let nothing = Scratch::new();
    assert_eq!(run(&nothing, &["calls"]).stdout, "no calls on record\n");
}

#[test]
fn a_call_is_shown_by_its_id_or_its_last_digits() {
    let scratch = scratch_with_calls();
    let failed = &calls(&scratch, &["--failed"])[0];
    let id = failed["id"].as_str().unwrap();
    let digits = &id[id.len() - 8..];
    let listed = run(&scratch, &["calls", "--failed"]).stdout;
    assert!(listed.lines().last().unwrap().ends_with(digits), "{listed}");
    for given in [id, digits] {
        let shown = run(&scratch, &["calls", "show", given]);
        assert!(
            shown.stdout.starts_with("issues__get_issue\n"),
            "{}{}",
            shown.stdout,
            shown.stderr
        );
        for part in [id, "tool_error", "issues", "digest ", " bytes"] {
            assert!(shown.stdout.contains(part), "no `{part}` in {}", shown.stdout);
        }
    }
    assert_eq!(run(&scratch, &["calls", "show", digits, "--json"]).json()["call"], *failed);
    for unknown in ["00000000", "x", "' OR 1=1", ""] {
        let shown = run(&scratch, &["calls", "show", unknown]);
        assert_eq!(shown.code, Some(1), "{unknown}");
        assert!(shown.stderr.contains("is on record"), "{}", shown.stderr);
    }
}

#[tokio::test]
async fn a_follower_shows_each_call_once_when_it_ends() {
    let scratch = scratch_with_calls();
    let gateway = Gateway::serve(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap();
    let follower = Follower::start(&scratch, &["--limit", "1"]);
    let failures = Follower::start(&scratch, &["--limit", "1", "--failed", "--json"]);
    failures.await_lines(1).await;
    assert!(follower.await_lines(1).await[0].contains("units__list_units  done"));
    client.call("execute_tool", r#"{"tool_name": "units__list_units"}"#).await.unwrap();
    let fails = r#"{"tool_name": "issues__get_issue", "arguments": {"id": 9999}}"#;
    client.call("execute_tool", fails).await.unwrap();
    let lines = follower.await_lines(3).await;
    assert!(lines[1].contains("units__list_units  done"), "{lines:?}");
    assert!(lines[2].contains("issues__get_issue  tool_error"), "{lines:?}");
    let failed: Value = serde_json::from_str(&failures.await_lines(2).await[1]).unwrap();
    assert_eq!(failed["tool"], "issues__get_issue");

    // A follower that is killed leaves nothing behind that disturbs others.
    kill_process(Pid::from_child(&follower.child), Signal::KILL).unwrap();
    drop(follower);
    let next = Follower::start(&scratch, &["--limit", "1"]);
    // Its first line shows that it is ready to be interrupted.
    next.await_lines(1).await;
    client.call("execute_tool", r#"{"tool_name": "units__list_units"}"#).await.unwrap();
    assert_eq!(calls(&scratch, &[]).len(), 6);
    assert!(next.lines().len() <= 2, "{:?}", next.lines());
    let mut next = next;
    kill_process(Pid::from_child(&next.child), Signal::INT).unwrap();
    assert_eq!(next.child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn the_records_of_a_killed_gateway_are_shown_as_they_ended() {
    let scratch = Scratch::new();
    let hangs = gatefold_testkit::serve_http(gatefold_testkit::Fixture::new(&[]).unwrap()).unwrap();
    scratch.write("gatefold.toml", format!("[sources.slow]\nurl = '{}'\n", hangs.url));
    let mut gateway = Gateway::serve(&scratch).await;
    assert_eq!(run(&scratch, &["tools", "list"]).code, Some(0));
    let args = ["tools", "call", "slow__slow", "--arg", "ms=60000"];
    let mut calling = command(&scratch, &args).stderr(Stdio::piped()).spawn().unwrap();
    let is_open = || calls(&scratch, &[]).first().is_some_and(|call| call["outcome"] == "open");
    assert!(wait_until(LIMIT, is_open).await, "{}", gateway.log());
    gateway.signal("-KILL");
    gateway.ended().await;
    assert_eq!(calling.wait().unwrap().code(), Some(1));
    assert_eq!(calls(&scratch, &["--failed"])[0]["outcome"], "interrupted");
}

#[tokio::test]
async fn ten_thousand_records_are_read_at_once() {
    let scratch = scratch_with_calls();
    let path = scratch.path().join(".local/state/gatefold/gatefold.db");
    let mut database = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    let many = "
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
        INSERT INTO calls (id, owner, attempt, opened_at, user, client, subject, domain, tool,
            arguments_digest, arguments_bytes, outcome, closed_at, took_ms, result_bytes, operation)
        SELECT randomblob(16), 1, n, 1790000000000 + n, 'local', 'many', 'many__tool', 'many',
            'many__tool', zeroblob(32), 2, 'done', 1790000000001 + n, 1, 2, 'tool'
        FROM n";
    database.execute(many).await.unwrap();
    drop(database);
    let began = Instant::now();
    assert_eq!(calls(&scratch, &["--limit", "10000"]).len(), 10_000);
    assert_eq!(calls(&scratch, &["--tool", "issues__*"]).len(), 2);
    assert_eq!(run(&scratch, &["calls"]).stdout.lines().count(), 21);
    assert!(began.elapsed() < LIMIT, "{:?}", began.elapsed());
    let too_many = run(&scratch, &["calls", "--limit", "10001"]);
    assert_eq!(too_many.code, Some(2), "{}", too_many.stderr);
    // A pipe that closes ends a follower.
    let follower = Follower::start(&scratch, &["--limit", "10000"]);
    assert_eq!(follower.await_lines(10_000).await.len(), 10_000);
}
