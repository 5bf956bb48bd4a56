//! Learning from use, through a running gateway: search, call, search again.

use std::time::Duration;

use gatefold_testkit::{RawClient, wait_until};
use serde_json::Value;

use crate::process::{Gateway, LIMIT, Run, WITHOUT_ENCODER, run, two_sources};
use crate::scratch::Scratch;

/// Shares no word with the tool, as a user's own words often do.
const QUERY: &str = "grumpy customer on the phone";

const TOOL: &str = "issues__create_issue";

/// How long it may take until something learnt takes effect.
const LEARNT: Duration = Duration::from_secs(4);

struct World {
    scratch: Scratch,
    gateway: Gateway,
    client: RawClient,
}

impl World {
    /// A gateway with more keys of `search`.
    async fn new(keys: &str) -> Self {
        let scratch = Scratch::new();
        scratch.write("gatefold.toml", two_sources(&scratch) + WITHOUT_ENCODER + keys);
        let args = ["serve", "--listen", "127.0.0.1:0", "--log", "trace"];
        let gateway = Gateway::start(&scratch, &args);
        gateway.await_log("listening").await;
        let client = RawClient::new(gateway.url()).unwrap();
        let world = Self { scratch, gateway, client };
        while !world.found("create issue").await.contains(&TOOL.to_owned()) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        world
    }

    async fn answer(&self, arguments: &Value) -> Value {
        let arguments = arguments.to_string();
        let answered = self.client.call("discover_tools", &arguments).await.unwrap();
        serde_json::from_str(&answered.text()).unwrap()
    }

    /// What a search finds; nothing if its answer says that nothing fits.
    async fn found(&self, query: &str) -> Vec<String> {
        let answer = self.answer(&serde_json::json!({ "query": query })).await;
        if answer["note"].is_string() {
            return Vec::new();
        }
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
        results.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    async fn call(&self) {
        let arguments = format!(r#"{{"tool_name": "{TOOL}", "arguments": {{"title": "t"}}}}"#);
        let called = self.client.call("execute_tool", &arguments).await.unwrap();
        assert!(called.result()["isError"].is_null(), "{}", called.text());
    }

    /// Waits until a search finds the tool first, or stops doing so.
    async fn await_first(&self, query: &str, is_first: bool) {
        let deadline = tokio::time::Instant::now() + LIMIT;
        while (self.found(query).await.first().map(String::as_str) == Some(TOOL)) != is_first {
            assert!(tokio::time::Instant::now() < deadline, "{}", self.listed());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn run(&self, args: &[&str]) -> Run {
        run(&self.scratch, args)
    }

    /// The queries on record, each with its tool.
    fn listed(&self) -> String {
        let listed = self.run(&["queries", "--json"]).json();
        let queries = listed["queries"].as_array().unwrap_or_else(|| panic!("{listed}"));
        let line = |query: &Value| format!("{} <- {}", query["tool"], query["query"]);
        queries.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// A request that fits another tool better, so that a search for it finds this one among others.
fn teaching() -> String {
    format!("{QUERY} close the issue")
}

#[tokio::test]
async fn a_search_learns_from_the_call_that_follows_and_forgets_when_told_to() {
    let world = World::new("").await;
    let query = teaching();
    let before = world.found(&query).await;
    assert!(before.contains(&TOOL.to_owned()), "{before:?}");
    assert_ne!(before[0], TOOL);
    let surface = world.client.list().await.unwrap().result()["tools"].to_string();
    world.call().await;
    world.await_first(&query, true).await;
    world.await_first("a grumpy customer", true).await;
    assert_eq!(world.client.list().await.unwrap().result()["tools"].to_string(), surface);
    assert_eq!(world.listed(), format!("\"{TOOL}\" <- \"{query}\""));
    let first = &world.run(&["queries", "--json"]).json()["queries"][0];
    let fields: Vec<_> = first.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        fields,
        ["tenant", "tool", "query", "weight", "last_used"],
        "as docs/json.md has it"
    );
    let shown = world.run(&["queries", "--tool", TOOL]).stdout;
    assert!(shown.contains(TOOL) && shown.contains(&query) && shown.contains("1.00"), "{shown}");
    assert_eq!(world.run(&["queries", "--tool", "other"]).stdout, "nothing learnt yet\n");

    // Another process learns it from the state directory.
    let found = world.run(&["tools", "search", "grumpy customer", "--json"]).json();
    assert_eq!(found["tools"][0]["name"], TOOL);

    let forgotten = world.run(&["queries", "forget", "--tool", TOOL]);
    assert_eq!(forgotten.stdout, "forgot 1 query\n");
    world.await_first(&query, false).await;
    assert_eq!(world.listed(), "");
    assert!(!world.gateway.log().contains("grumpy"), "words of a search are in the log");
}

#[tokio::test]
async fn a_query_with_a_secret_in_it_is_not_kept() {
    let world = World::new("").await;
    let secret = "create an issue with password=hunter2";
    assert!(world.found(secret).await.contains(&TOOL.to_owned()));
    world.call().await;
    // Lessons are written in order, so once this one is there, an earlier one would be too.
    world.found(&teaching()).await;
    world.call().await;
    let is_written = || world.listed().contains("grumpy");
    assert!(wait_until(LIMIT, is_written).await, "{}", world.listed());
    assert!(!world.listed().contains("hunter2"));
    assert!(!world.gateway.log().contains("hunter2"));
}

#[tokio::test]
async fn switched_off_nothing_is_learnt() {
    let world = World::new("learn = false\n").await;
    let before = world.found(&teaching()).await;
    world.call().await;
    tokio::time::sleep(LEARNT).await;
    assert_eq!(world.found(&teaching()).await, before);
    assert_eq!(world.listed(), "");
}

#[test]
fn forgetting_asks_for_what() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "");
    let unsaid = run(&scratch, &["queries", "forget"]);
    assert_eq!(unsaid.code, Some(2));
    assert!(unsaid.stderr.contains("--tool"), "{}", unsaid.stderr);
    let all = run(&scratch, &["queries", "forget", "--all", "--json"]);
    assert_eq!(all.json(), serde_json::json!({ "forgotten": 0 }));
    assert_eq!(run(&scratch, &["queries"]).stdout, "nothing learnt yet\n");
}

#[tokio::test]
async fn what_nobody_serves_is_listed_and_what_was_mended_is_counted() {
    let world = World::new("").await;
    let (before, nonsense) = (world.found(QUERY).await, "zebra stripes xylophone");
    assert_eq!(world.found(nonsense).await, [] as [String; 0], "{before:?}");
    let wrong = format!(r#"{{"tool_name": "{TOOL}", "arguments": {{"title": 7}}}}"#);
    let refused = world.client.call("execute_tool", &wrong).await.unwrap().text();
    assert!(refused.contains("error"), "{refused}");
    world.call().await;
    let listed = || run(&world.scratch, &["queries", "--missed", "--json"]).json()["missed"].take();
    let is_listed = || {
        let missed = listed();
        missed.as_array().unwrap().iter().any(|one| one["query"] == nonsense)
    };
    assert!(wait_until(LIMIT, is_listed).await, "{}", listed());
    let ranked = run(&world.scratch, &["queries", "--json"]).json().to_string();
    assert!(!ranked.contains(nonsense), "{ranked}");
    let address = world.gateway.address();
    let status = run(&world.scratch, &["status", "--json", "--listen", &address]).json();
    let found = &status["running"]["tokens"]["found"];
    assert_eq!(found["mended"], 1, "{found}");
    assert!(found["missed"].as_u64() >= Some(1) && found["searches"].as_u64() > Some(1), "{found}");
    let forgotten = run(&world.scratch, &["queries", "forget", "--all", "--json"]).json();
    assert!(forgotten["forgotten"].as_u64() >= Some(1), "{forgotten}");
    assert_eq!(listed(), serde_json::json!([]));
}
