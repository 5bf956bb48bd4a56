//! A gateway with a configuration of every kind of source, in a folder of its own.

use std::collections::HashMap;

use gatefold_demo::apis;
use gatefold_testkit::{RawClient, wait_until};
use serde_json::Value;

use crate::every_kind::{self, EveryKind};
use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;

const BUILTIN: &str = "['calculate', 'datetime', 'json_query', 'memory', 'todo']";

/// More calls than the tasks make.
const CALLS: &str = "1000";

/// What is the same of a call's record, whichever disclosure it came through. When it was made and how
/// long it took is its own.
const RECORDED: [&str; 13] = [
    "user",
    "agent",
    "operation",
    "subject",
    "domain",
    "tool",
    "tool_digest",
    "rule",
    "decided_by",
    "arguments_digest",
    "arguments_bytes",
    "outcome",
    "result_bytes",
];

/// What seals in every one's state directory, so that the same arguments have the same digest.
pub(super) const SEAL_KEY: [u8; 32] = [7; 32];

pub(super) struct TaskGateway {
    gateway: Gateway,
    scratch: Scratch,
}

impl TaskGateway {
    /// Starts it, with these lines of configuration besides, and waits until all tools are there. With
    /// an encoder, or with what it learns, a search would depend on the time at which it is asked.
    pub(super) async fn start(disclosure: &str) -> Self {
        let scratch = Scratch::new();
        scratch.write(".local/state/gatefold/seal.key", SEAL_KEY);
        let kinds = EveryKind { builtin: BUILTIN, keys: |_| Some("") };
        let config = format!("[search]\nencoder = 'none'\nlearn = false\n{disclosure}");
        let gateway = every_kind::serve(&scratch, &kinds, &config).await;
        Self { gateway, scratch }
    }

    /// Where it keeps its configuration and its state.
    pub(super) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// A client of this name at the address with this query.
    pub(super) fn client(&self, query: &str, name: &str) -> RawClient {
        RawClient::new(format!("{}?{query}", self.gateway.url())).unwrap().with_name(name)
    }

    /// What is on record of the calls of each client, once all have ended.
    pub(super) async fn records(&self) -> HashMap<String, Vec<Value>> {
        let mut calls: Vec<Value> = Vec::new();
        let ended = wait_until(LIMIT, || {
            let listed = run(&self.scratch, &["calls", "--json", "--limit", CALLS]).json();
            calls.clone_from(listed["calls"].as_array().unwrap());
            calls.iter().all(|call| call["closed_at"].is_number())
        });
        assert!(ended.await, "{calls:?}");
        let mut records: HashMap<_, Vec<_>> = HashMap::new();
        for call in calls {
            let kept = RECORDED.iter().map(|key| ((*key).to_owned(), call[key].clone()));
            let mut kept: Value = kept.collect();
            // The definition of an API's tool has the API's port, which is another one each time.
            if apis().iter().any(|api| kept["domain"] == *api.name) {
                kept["tool_digest"] = Value::Null;
            }
            let client = call["client"].as_str().unwrap().to_owned();
            records.entry(client).or_default().push(kept);
        }
        records
    }
}
