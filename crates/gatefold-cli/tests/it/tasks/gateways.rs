//! A gateway with a configuration of every kind of source, in a folder of its own.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::future::pending;
use std::path::Path;
use std::time::Duration;

use gatefold_demo::{
    DemoApi, DemoServer, apis, create_database, create_skills, databases, servers, skill_folders,
};
use gatefold_testkit::{RawClient, wait_until};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::process::{BINARY, Gateway, LIMIT, run};
use crate::scratch::Scratch;

const BUILTIN: &str = "['calculate', 'datetime', 'json_query', 'memory', 'todo']";

/// How long to wait until the tools are listed again.
const PAUSE: Duration = Duration::from_millis(50);

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

pub(super) struct TaskGateway {
    gateway: Gateway,
    scratch: Scratch,
}

impl TaskGateway {
    /// Starts it, with these lines of configuration besides, and waits until all tools are there.
    pub(super) async fn start(disclosure: &str) -> Self {
        let scratch = Scratch::new();
        let config = config(&scratch.path().join("data")).await;
        scratch.write("gatefold.toml", config + disclosure);
        let gateway = Gateway::serve(&scratch).await;
        let flat = RawClient::new(format!("{}?disclosure=flat", gateway.url())).unwrap();
        let sources = servers().iter().chain(apis()).chain(databases()).chain(skill_folders());
        let mut missing: Vec<_> = sources.map(|source| format!("{}__", source.name)).collect();
        for _ in 0..LIMIT.as_millis() / PAUSE.as_millis() {
            let names = flat.list().await.unwrap().tool_names();
            missing.retain(|start| !names.iter().any(|name| name.starts_with(start)));
            if missing.is_empty() {
                return Self { gateway, scratch };
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("{missing:?} are missing: {}", gateway.log());
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

/// The demonstration's sources, and more built-in tools than it has.
async fn config(data: &Path) -> String {
    std::fs::create_dir(data).unwrap();
    let mut config = format!("[sources.builtin]\nbuiltin = {BUILTIN}\n");
    let mut add = |about: &DemoServer, keys: &str| {
        let DemoServer { name, description } = about;
        writeln!(config, "[sources.{name}]\ndescription = '{description}'\n{keys}").unwrap();
    };
    for about in servers() {
        let (name, data) = (about.name, data.display());
        let args = format!("args = ['demo-server', '{name}', '--scratch', '{data}']");
        add(about, &format!("command = '{BINARY}'\n{args}"));
    }
    for about in apis() {
        let api = DemoApi::open(about.name, data).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(api.serve(listener, pending()));
        add(about, &format!("openapi = 'http://{address}/openapi.json'"));
    }
    for about in databases() {
        let path = create_database(about.name, data).await.unwrap();
        add(about, &format!("database = 'sqlite:{}'", path.display()));
    }
    for about in skill_folders() {
        let path = create_skills(about.name, data).unwrap();
        add(about, &format!("skills = '{}'", path.display()));
    }
    config
}
