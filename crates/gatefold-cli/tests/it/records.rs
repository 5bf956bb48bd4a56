//! What a gateway does when it cannot keep a record, whatever the reason.

use std::process::Command;
use std::time::{Duration, Instant};

use gatefold_testkit::RawClient;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _, SqliteConnection};

use crate::process::{BINARY, Gateway, LIMIT, two_sources};
use crate::scratch::Scratch;

const COUNT: &str = r#"{"tool_name": "issues__count_issues", "arguments": {"by": "state"}}"#;

const UNSENT: &str = "The call could not be recorded, so nothing was sent";

/// How long an answer may take while the database is locked: several tries to write, each with its
/// wait.
const PATIENCE: Duration = Duration::from_secs(60);

async fn count(client: &RawClient) -> String {
    client.call("execute_tool", COUNT).await.unwrap().text()
}

/// A gateway whose source is known.
async fn serving(scratch: &Scratch, limits: &str) -> (Gateway, RawClient) {
    scratch.write("gatefold.toml", two_sources(scratch) + limits);
    let gateway = Gateway::serve(scratch).await;
    let client = RawClient::new(gateway.url()).unwrap().with_limit(PATIENCE);
    let began = Instant::now();
    while !count(&client).await.contains("counts") {
        assert!(began.elapsed() < LIMIT, "{}", count(&client).await);
    }
    (gateway, client)
}

/// Locks the database, as another program does that writes to it.
async fn held(scratch: &Scratch) -> SqliteConnection {
    let options = SqliteConnectOptions::new();
    let path = scratch.path().join(".local/state/gatefold/gatefold.db");
    let mut connection = options.filename(path).connect().await.unwrap();
    connection.execute("BEGIN IMMEDIATE").await.unwrap();
    connection
}

#[tokio::test]
async fn a_call_says_that_nothing_was_sent_while_another_program_holds_the_database() {
    let scratch = Scratch::new();
    for deadline in ["60s", "2s"] {
        let limits = format!("[limits]\ncall_deadline = '{deadline}'\n");
        let (gateway, client) = serving(&scratch, &limits).await;
        let holding = held(&scratch).await;
        let refused = count(&client).await;
        assert!(refused.contains(UNSENT), "with {deadline}: {refused}");
        drop(holding);
        let mut said = String::new();
        let began = Instant::now();
        while !said.contains("counts") {
            assert!(began.elapsed() < LIMIT, "{said}\n{}", gateway.log());
            said = count(&client).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn a_limit_on_the_size_of_files_costs_calls_and_not_the_gateway() {
    let scratch = Scratch::new();
    drop(serving(&scratch, "").await);
    // Three quarters of a mebibyte: the log of the database reaches it after some calls.
    let line = format!("ulimit -f 1536; exec '{BINARY}' serve --listen 127.0.0.1:0");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).env("HOME", scratch.path()).current_dir(scratch.path());
    let gateway = Gateway::of(command);
    gateway.await_log("listening").await;
    let client = RawClient::new(gateway.url()).unwrap();
    let began = Instant::now();
    let mut said = String::new();
    while !said.contains(UNSENT) {
        assert!(began.elapsed() < LIMIT, "the limit is never reached: {said}");
        said = client
            .call("execute_tool", COUNT)
            .await
            .unwrap_or_else(|error| panic!("{error}: {}", gateway.log()))
            .text();
    }
    // Housekeeping may have made room in the meantime. Either way the call is answered.
    let next = count(&client).await;
    assert!(next.contains(UNSENT) || next.contains("counts"), "{next}");
    // The caller is answered before the log is written.
    gateway.await_log("audit records could not be written").await;
}
