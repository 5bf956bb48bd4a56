//! What is on record after a gateway was killed during calls.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gatefold_core::Digest;
use gatefold_dispatch::SealKey;
use gatefold_store::DigestKey;
use gatefold_testkit::{Fixture, RawClient, serve_http, wait_until};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;

/// Clients that make one call after another, all at once.
const CLIENTS: usize = 16;
const KILLS: usize = 6;

/// Arguments, as their record has them, and the outcome that their call was answered with.
type AnsweredCall = (String, &'static str);

/// The digest that is kept of arguments.
fn digest(arguments: &str) -> String {
    let plain = Digest::new(Sha256::digest(arguments).into());
    DigestKey::new(&SealKey::new(SEAL_KEY)).kept(&plain).to_string()
}

/// What seals in the state directory, from which the key of digests comes.
const SEAL_KEY: [u8; 32] = [7; 32];

/// Calls until the gateway is gone.
async fn call(url: String, name: String, heard: Arc<AtomicUsize>) -> Vec<AnsweredCall> {
    let client = RawClient::new(url).unwrap();
    let mut answered = Vec::new();
    for number in 0.. {
        let (tool, outcome) =
            if number % 2 == 0 { ("echo", "done") } else { ("fail", "tool_error") };
        let arguments = format!(r#"{{"message": "{name}, call {number}"}}"#);
        let called = format!(r#"{{"tool_name": "up__{tool}", "arguments": {arguments}}}"#);
        let Ok(answer) = client.call("execute_tool", &called).await else { break };
        let text = answer.text();
        assert!(text.contains(&format!("{name}, call {number}")), "{}", answer.response);
        answered.push((digest(&arguments), outcome));
        heard.fetch_add(1, Ordering::Relaxed);
    }
    answered
}

#[tokio::test]
async fn every_call_that_was_answered_before_a_kill_has_ended_on_record() {
    let scratch = Scratch::new();
    let server = serve_http(Fixture::new(&[]).unwrap()).unwrap();
    scratch.write("gatefold.toml", format!("[sources.up]\nurl = '{}'\n", server.url));
    scratch.write(".local/state/gatefold/seal.key", SEAL_KEY);
    let mut gateway = Gateway::serve(&scratch).await;
    gateway.await_log("took up a new list of tools domain=up").await;
    let mut answered = Vec::new();
    for kill in 0..KILLS {
        let (url, heard) = (gateway.url(), Arc::new(AtomicUsize::new(0)));
        let mut clients: JoinSet<_> = (0..CLIENTS)
            .map(|client| call(url.clone(), format!("{kill}, client {client}"), heard.clone()))
            .collect();
        // At a different moment each time, with calls under way.
        let enough = 3 * CLIENTS + 17 * kill;
        let are_heard = wait_until(LIMIT, || heard.load(Ordering::Relaxed) >= enough).await;
        assert!(are_heard, "{heard:?}: {}", gateway.log());
        gateway.signal("-KILL");
        while let Some(calls) = clients.join_next().await {
            answered.extend(calls.unwrap());
        }
        gateway.ended().await;
        gateway = Gateway::serve(&scratch).await;
    }
    let calls = run(&scratch, &["calls", "--json", "--limit", "10000"]).json();
    let calls = calls["calls"].as_array().unwrap();
    let outcome = |call: &serde_json::Value| {
        let text = |key: &str| call[key].as_str().unwrap().to_owned();
        (text("arguments_digest"), text("outcome"))
    };
    let recorded: HashMap<_, _> = calls.iter().map(outcome).collect();
    let interrupted = recorded.values().filter(|outcome| *outcome == "interrupted").count();
    println!(
        "{KILLS} kills: {} calls answered, {} on record, {interrupted} of them interrupted",
        answered.len(),
        recorded.len()
    );
    let wrong = answered.iter().filter(|(digest, outcome)| recorded[digest] != *outcome).count();
    assert_eq!(wrong, 0, "of {} that were answered", answered.len());
    assert!(!recorded.values().any(|outcome| outcome == "open"), "{recorded:?}");
}
