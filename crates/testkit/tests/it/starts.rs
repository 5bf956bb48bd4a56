//! How a fixture starts, and which eras it serves.

use std::time::{Duration, Instant};

use gatefold_testkit::{Error, process_alive, wait_until};
use libtest_mimic::Trial;
use serde_json::json;

use crate::support::{LONG, SHORT, stdio, trial};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = ERAS
        .iter()
        .map(|case| trial(format!("eras::{}", case.claim), move || check_era(case)))
        .collect();
    trials.extend([
        trial("discover_names_versions_and_server", discover),
        trial("exit_on_discover_still_serves_initialize", exit_on_discover),
        trial("ignored_discover_leaves_initialize_alive", ignore_discover),
        trial("a_slow_start_answers_late", slow_start),
        trial("exit_says_why_on_stderr", exit),
        trial("hang_answers_nothing", hang),
        trial("garbage_comes_before_good_answers", garbage),
        trial("garbage_only_never_answers", garbage_only),
        trial("stderr_lines_are_written", stderr_lines),
        trial("the_server_exits_when_stdin_closes", exit_on_eof),
        trial("ignore_eof_outlives_stdin", ignore_eof),
        trial("a_line_that_is_no_message_gets_an_error", bad_line),
    ]);
    trials
}

/// One message to a fresh server, and the code of its error or its protocol version.
struct EraCase {
    claim: &'static str,
    behaviour: &'static [&'static str],
    method: &'static str,
    params: &'static str,
    expected: Result<&'static str, i64>,
}

const NEW_META: &str = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
const OTHER_META: &str = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}"#;

const ERAS: &[EraCase] = &[
    EraCase {
        claim: "handshake_does_not_know_discover",
        behaviour: &["--era", "handshake"],
        method: "server/discover",
        params: NEW_META,
        expected: Err(-32601),
    },
    EraCase {
        claim: "handshake_wants_initialize_first",
        behaviour: &["--era", "handshake"],
        method: "tools/list",
        params: NEW_META,
        expected: Err(-32600),
    },
    EraCase {
        claim: "an_old_server_answers_with_its_newest",
        behaviour: &["--old", "2024-11-05"],
        method: "initialize",
        params: r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#,
        expected: Ok("2024-11-05"),
    },
    EraCase {
        claim: "an_older_version_is_taken_up",
        behaviour: &["--era", "both"],
        method: "initialize",
        params: r#"{"protocolVersion":"2025-03-26","capabilities":{}}"#,
        expected: Ok("2025-03-26"),
    },
    EraCase {
        claim: "initialize_never_gets_the_stateless_version",
        behaviour: &["--era", "both"],
        method: "initialize",
        params: r#"{"protocolVersion":"2026-07-28","capabilities":{}}"#,
        expected: Ok("2025-11-25"),
    },
    EraCase {
        claim: "stateless_refuses_initialize",
        behaviour: &["--era", "stateless"],
        method: "initialize",
        params: r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#,
        expected: Err(-32022),
    },
    EraCase {
        claim: "stateless_wants_a_version",
        behaviour: &["--era", "stateless"],
        method: "tools/list",
        params: "{}",
        expected: Err(-32602),
    },
    EraCase {
        claim: "an_unknown_version_is_unsupported",
        behaviour: &["--era", "both"],
        method: "server/discover",
        params: OTHER_META,
        expected: Err(-32022),
    },
    EraCase {
        claim: "an_unknown_method_is_unknown",
        behaviour: &["--era", "both"],
        method: "prompts/list",
        params: NEW_META,
        expected: Err(-32601),
    },
];

async fn check_era(case: &EraCase) {
    let mut client = stdio(case.behaviour);
    let EraCase { method, params, .. } = case;
    let line = format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":{params}}}"#);
    client.send(&line).await.expect("the request is sent");
    let answer = client.receive().await.expect("it answers");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("the answer is JSON");
    assert_eq!(answer["id"], "x");
    let got = match answer["error"]["code"].as_i64() {
        Some(code) => Err(code),
        None => Ok(answer["result"]["protocolVersion"].as_str().unwrap_or_default()),
    };
    assert_eq!(got, case.expected);
}

async fn discover() {
    let discovered =
        stdio(&[]).request("server/discover", "{}").await.expect("it answers").result();
    assert_eq!(
        discovered,
        json!({
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
            "supportedVersions":
                ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
            "capabilities": {"tools": {"listChanged": true}},
            "instructions": "A fixture for tests.",
            "_meta": {"io.modelcontextprotocol/serverInfo": {
                "name": "gatefold-fixture", "version": env!("CARGO_PKG_VERSION"),
            }},
        })
    );
}

async fn exit_on_discover() {
    let mut client = stdio(&["--exit-on-discover"]);
    let error = client.request("server/discover", "{}").await.expect_err("it dies");
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    let mut client = stdio(&["--exit-on-discover", "--era", "handshake"]);
    client.initialize().await.expect("it answers initialize");
}

async fn ignore_discover() {
    let mut client = stdio(&["--ignore-discover"]).with_limit(SHORT);
    let error = client.request("server/discover", "{}").await.expect_err("it is ignored");
    assert!(matches!(error, Error::Late { .. }), "{error}");
    let mut client = client.with_limit(LONG);
    client.initialize().await.expect("it answers initialize");
}

async fn slow_start() {
    let started = Instant::now();
    stdio(&["--slow-start", "300"]).list().await.expect("it answers");
    assert!(started.elapsed() >= Duration::from_millis(300));
}

async fn exit() {
    let mut client = stdio(&["--exit", "7"]);
    assert_eq!(client.wait().await.expect("it exits").code(), Some(7));
    assert!(wait_until(LONG, || client.stderr() == "fixture: exiting with 7 as asked\n").await);
}

async fn hang() {
    let mut client = stdio(&["--hang"]).with_limit(SHORT);
    let error = client.initialize().await.expect_err("it hangs");
    assert!(matches!(error, Error::Late { .. }), "{error}");
    assert!(client.pid().is_some_and(process_alive));
}

async fn garbage() {
    let mut client = stdio(&["--garbage"]);
    let exchange = client.list().await.expect("it answers");
    assert_eq!(exchange.notices.len(), 3);
    assert!(exchange.notices[0].starts_with("npm warn"));
    assert_eq!(client.call("echo", "{}").await.expect("it answers").notices, [""; 0]);
}

async fn garbage_only() {
    let mut client = stdio(&["--garbage-only"]).with_limit(SHORT);
    assert!(matches!(client.list().await, Err(Error::Late { .. })));
}

async fn stderr_lines() {
    let mut client = stdio(&["--stderr-lines", "500"]);
    client.list().await.expect("it answers");
    assert!(wait_until(LONG, || client.stderr().lines().count() == 500).await);
}

async fn exit_on_eof() {
    let mut client = stdio(&[]);
    client.list().await.expect("it answers");
    // A call that never ends does not keep it alive.
    client.start("tools/call", r#"{"name":"never"}"#).await.expect("the call is sent");
    client.close_stdin();
    assert_eq!(client.wait().await.expect("it exits").code(), Some(0));
}

async fn ignore_eof() {
    let mut client = stdio(&["--ignore-eof"]).with_limit(SHORT);
    client.list().await.expect("it answers");
    client.close_stdin();
    assert!(matches!(client.wait().await, Err(Error::Late { .. })));
}

async fn bad_line() {
    let mut client = stdio(&[]);
    for (line, start) in [
        ("{nonsense", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"#),
        (r#"{"id":1}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"#),
        (r#"{"id":1,"method":"ping","params":[]}"#, r#"{"jsonrpc":"2.0","id":1,"#),
    ] {
        client.send(line).await.expect("the line is sent");
        let answer = client.receive().await.expect("it answers");
        assert!(answer.starts_with(start), "{answer}");
    }
    let ping = format!(r#"{{"id":1,"method":"ping","params":{{{META}}}}}"#);
    client.send(&ping).await.expect("the line is sent");
    assert_eq!(
        client.receive().await.expect("it answers"),
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}"#
    );
}
