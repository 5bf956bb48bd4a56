//! What `tools/list` shows.

use std::collections::HashSet;

use gatefold_testkit::{Error, Exchange, Fixture};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::support::{Client, Era, Wire, stdio, trial, trials_each_way};

const DEFAULT_TOOLS: usize = 20;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials_each_way("the_list_is_whole_and_marked_by_its_era", list);
    trials.extend(trials_each_way("pages_add_up_to_the_list", pages));
    trials.extend([
        trial("synthetic_tools_have_names_of_their_own", synthetic),
        trial("every_tool_has_an_annotation_for_each_hint", annotations),
        trial("endless_pages_bring_new_tools_and_cursors", endless_pages),
        trial("a_repeated_cursor_brings_the_same_page", repeated_cursor),
        trial("an_unknown_cursor_is_refused", unknown_cursor),
        trial("a_malformed_tool_stands_among_good_ones", malformed),
        trial("a_replay_keeps_every_byte_but_space", replay),
        trial("a_replay_names_its_server", replayed_server),
        trial("a_shuffle_changes_only_the_order", shuffle),
        trial("drift_shows_from_the_second_list_on", drift),
        trial("an_unknown_behaviour_is_an_error", unknown_behaviour),
    ]);
    trials
}

async fn list(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &[]).await;
    let mut result = client.list().await.result();
    assert_eq!(result["tools"].take().as_array().map(Vec::len), Some(DEFAULT_TOOLS));
    let rest = match era {
        Era::Handshake => json!({"tools": null}),
        Era::Stateless => json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": null,
        }),
    };
    assert_eq!(result, rest);
}

async fn pages(wire: Wire, era: Era) {
    let mut client = Client::connect(wire, era, &["--page-size", "8"]).await;
    let mut page = client.list().await;
    let mut sizes = Vec::new();
    let mut names = HashSet::new();
    loop {
        sizes.push(page.tool_names().len());
        names.extend(page.tool_names());
        let Some(cursor) = cursor(&page) else { break };
        page = client.request("tools/list", &format!(r#"{{"cursor":{cursor}}}"#)).await;
    }
    assert_eq!((sizes, names.len()), (vec![8, 8, 4], DEFAULT_TOOLS));
}

fn cursor(page: &Exchange) -> Option<String> {
    page.result().get("nextCursor").map(Value::to_string)
}

async fn synthetic() {
    let mut client = stdio(&["--bare", "--tools", "1000"]);
    let list = client.list().await.expect("it answers");
    let names: HashSet<_> = list.tool_names().into_iter().collect();
    assert_eq!(names.len(), 1000);
    assert!(names.contains("list_invoice") && names.contains("list_invoice_2"));
    let text = client.call("list_invoice", r#"{"limit":1.0}"#).await.expect("it answers").text();
    assert_eq!(text, r#"{"limit":1.0}"#);
}

async fn annotations() {
    let list = stdio(&["--tools", "30"]).list().await.expect("it answers").result();
    let tools = list["tools"].as_array().expect("there are tools");
    assert_eq!(tools.len(), 50);
    for tool in tools {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{} {hint}", tool["name"]);
        }
    }
}

async fn endless_pages() {
    let mut client = stdio(&["--endless-pages", "--page-size", "3"]);
    let mut page = client.list().await.expect("it answers");
    let (mut names, mut cursors) = (HashSet::new(), HashSet::new());
    for _ in 0..10 {
        names.extend(page.tool_names());
        let next = cursor(&page).expect("it never ends");
        page = client
            .request("tools/list", &format!(r#"{{"cursor":{next}}}"#))
            .await
            .expect("it answers");
        cursors.insert(next);
    }
    assert_eq!((names.len(), cursors.len()), (30, 10));
}

async fn repeated_cursor() {
    let mut client = stdio(&["--repeat-cursor"]);
    let first = client.list().await.expect("it answers");
    let second = client.request("tools/list", r#"{"cursor":"again"}"#).await.expect("it answers");
    assert_eq!(first.result(), second.result());
    assert_eq!(cursor(&first).as_deref(), Some(r#""again""#));
}

async fn unknown_cursor() {
    let mut client = stdio(&["--page-size", "3"]);
    for cursor in ["again", "offset-x", "offset-1000"] {
        let params = format!(r#"{{"cursor":"{cursor}"}}"#);
        let exchange = client.request("tools/list", &params).await.expect("it answers");
        assert_eq!(exchange.error_code(), Some(-32602), "{cursor}");
    }
}

type Fault = fn(&Value) -> bool;

async fn malformed() {
    let kinds: [(&str, Fault); 3] = [
        ("no-name", |tool| tool.get("name").is_none()),
        ("string-schema", |tool| tool["inputSchema"].is_string()),
        ("number-description", |tool| tool["description"].is_number()),
    ];
    for (kind, is_broken) in kinds {
        let list = stdio(&["--malformed-tool", kind]).list().await.expect("it answers").result();
        let tools = list["tools"].as_array().expect("there are tools");
        let broken: Vec<_> = (0..tools.len()).filter(|index| is_broken(&tools[*index])).collect();
        assert_eq!((tools.len(), broken), (DEFAULT_TOOLS + 1, vec![DEFAULT_TOOLS / 2]), "{kind}");
    }
}

const RECORDING: &str = r#"{
 "server": "recorded", "command": ["x"],
 "initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
   "serverInfo": {"name": "Recorded Server", "version": "3"}, "instructions": "Be kind."},
 "tools": [
  {"name": "b", "inputSchema": {"type": "object", "x": 1.10}, "description": "a \"b\" \u00e9 { }"},
  {"name": "a", "execution": {"taskSupport": "optional"},
   "inputSchema": {"type": "object", "maximum": 123456789012345678901234567890}}
 ]
}"#;

/// Writes the recording to a file that lives as long as the folder.
fn recording() -> (tempfile::TempDir, String) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = scratch.path().join("recording.json");
    std::fs::write(&path, RECORDING).expect("the file is written");
    let path = path.to_str().expect("a printable path").to_owned();
    (scratch, path)
}

async fn replay() {
    let (_scratch, path) = recording();
    let mut client = stdio(&["--replay", &path]);
    let list = client.list().await.expect("it answers");
    let tools = r#""tools":[{"name":"b","inputSchema":{"type":"object","x":1.10},"description":"a \"b\" \u00e9 { }"},{"name":"a","execution":{"taskSupport":"optional"},"inputSchema":{"type":"object","maximum":123456789012345678901234567890}}]"#;
    assert!(list.response.contains(tools), "{}", list.response);
    let text = client.call("a", r#"{"k":1}"#).await.expect("it answers").text();
    assert_eq!(text, r#"{"k":1}"#);
    let unknown = client.call("echo", "{}").await.expect("it answers");
    assert_eq!(unknown.error_code(), Some(-32602));
}

async fn replayed_server() {
    let (_scratch, path) = recording();
    let mut client = stdio(&["--replay", &path]);
    let discovered = client.request("server/discover", "{}").await.expect("it answers").result();
    let info = &discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
    assert_eq!(
        (info, &discovered["instructions"]),
        (&json!("Recorded Server"), &json!("Be kind."))
    );
    let greeted = client.initialize().await.expect("it answers").result();
    assert_eq!(greeted["protocolVersion"], "2025-11-25");
    assert_eq!(greeted["serverInfo"]["name"], "Recorded Server");
}

async fn shuffle() {
    let listed = |behaviour: &'static [&'static str]| async move {
        let list = stdio(behaviour).list().await.expect("it answers");
        let mut tools = list.result()["tools"].take();
        let tools = tools.as_array_mut().expect("there are tools");
        tools.sort_by_key(|tool| tool["name"].to_string());
        (list.response, json!(tools))
    };
    let (plain, plain_tools) = listed(&["--tools", "20"]).await;
    let (one, one_tools) = listed(&["--tools", "20", "--shuffle", "1"]).await;
    let (again, _) = listed(&["--tools", "20", "--shuffle", "1"]).await;
    let (two, two_tools) = listed(&["--tools", "20", "--shuffle", "2"]).await;
    assert_eq!(one, again);
    assert!(plain != one && one != two);
    // Objects compare without regard to the order of their keys.
    assert!(plain_tools == one_tools && one_tools == two_tools);
    assert_ne!(plain_tools.to_string(), one_tools.to_string());
}

async fn drift() {
    let mut client = stdio(&["--drift"]);
    let mut first_tool =
        async || client.list().await.expect("it answers").result()["tools"][0].take();
    let (first, second, third) = (first_tool().await, first_tool().await, first_tool().await);
    assert_eq!(first["name"], second["name"]);
    assert_ne!(first["inputSchema"], second["inputSchema"]);
    assert_eq!(second, third);
}

async fn unknown_behaviour() {
    let error = |behaviour: &[&str]| Fixture::new(behaviour).err().expect("it is an error");
    assert!(matches!(error(&["--fly"]), Error::UnknownBehaviour(flag) if flag == "--fly"));
    assert!(matches!(error(&["--tools", "many"]), Error::BadValue { .. }));
    assert!(matches!(error(&["--era"]), Error::BadValue { .. }));
    assert!(matches!(error(&["--replay", "/nowhere"]), Error::Io { .. }));
    let mut client = stdio(&["--fly"]);
    assert_eq!(client.wait().await.expect("it exits").code(), Some(2));
}
