//! Every way to show tools: what is printed is what a client lists, and the same goal is reached through each.

use std::time::Duration;

use gatefold_testkit::{RawClient, wait_until};
use serde_json::{Value, json};

use crate::process::{Gateway, LIMIT, run, run_with_input, two_sources};
use crate::scratch::Scratch;

const DISCLOSURES: [&str; 6] = ["gateway", "namespace", "typed", "intent", "flat", "auto"];

/// Words for a goal that one tool serves, and its arguments.
const GOAL: &str = "count issues by state";
const ARGUMENTS: &str = r#"{"by":"state"}"#;

fn scratch_with(config: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch) + config);
    scratch
}

/// Served, once both sources list their tools: they come up in any order.
async fn gateway(scratch: &Scratch) -> Gateway {
    let gateway = Gateway::serve(scratch).await;
    let client = client(&gateway, "flat");
    for wanted in ["issues__close_issue", "units__list_units"] {
        while !tools(&client).await.iter().any(|tool| tool["name"] == wanted) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    gateway
}

fn client(gateway: &Gateway, disclosure: &str) -> RawClient {
    RawClient::new(format!("{}?disclosure={disclosure}", gateway.url())).unwrap()
}

/// The definitions that a client is given.
async fn tools(client: &RawClient) -> Vec<Value> {
    let listed = client.list().await.unwrap().result();
    listed["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_is_printed_is_what_a_client_is_given() {
    let scratch = scratch_with("");
    let gateway = gateway(&scratch).await;
    for disclosure in DISCLOSURES {
        let printed = run(&scratch, &["surface", "--disclosure", disclosure, "--json"]).json();
        let definitions = printed["tools"].as_array().unwrap().iter();
        let definitions: Vec<_> = definitions.map(|tool| tool["definition"].clone()).collect();
        assert_eq!(definitions, tools(&client(&gateway, disclosure)).await, "{disclosure}");
        let counts = printed["tools"].as_array().unwrap().iter();
        let sum: u64 = counts.map(|tool| tool["tokens"].as_u64().unwrap()).sum();
        let instructions = printed["instructions"]["tokens"].as_u64().unwrap();
        assert_eq!(printed["tokens"], sum + instructions, "{disclosure}");
        let first = &printed["tools"][0];
        let exact = tiktoken_count(&scratch, &first["definition"].to_string());
        assert_eq!([&first["tokens"], &first["cl100k"]], [&exact[0], &exact[1]], "{disclosure}");
    }
}

/// The counts of a text in o200k and cl100k.
fn tiktoken_count(scratch: &Scratch, text: &str) -> Vec<Value> {
    let line = Value::from(text).to_string();
    let counted = run_with_input(scratch, &["count-tokens", "o200k", "cl100k"], &line);
    let counts = counted.stdout.trim().split(' ');
    counts.map(|count| Value::from(count.parse::<u64>().unwrap())).collect()
}

#[test]
fn a_client_is_shown_what_its_profile_says() {
    let scratch = scratch_with("[clients.editor]\ndisclosure = 'flat'\n");
    let shown = run(&scratch, &["surface", "--client", "editor", "--json"]);
    assert_eq!(shown.stderr, "");
    let shown = shown.json();
    assert_eq!([&shown["disclosure"], &shown["client"]], ["flat", "editor"]);
    let named = ["surface", "--client", "editor", "--disclosure", "intent", "--json"];
    assert_eq!(run(&scratch, &named).json()["disclosure"], "intent", "a request's own name wins");
    let unknown = run(&scratch, &["surface", "--client", "stranger", "--json"]);
    assert_eq!(unknown.json()["disclosure"], "gateway");
    assert_eq!(
        unknown.stderr,
        "warning: there is no profile `clients.stranger`: such a client is shown the default\n"
    );
}

#[test]
fn a_clients_instructions_are_as_long_as_it_takes() {
    let scratch = scratch_with("[clients.small]\ninstructions_size = '600B'\n");
    let bytes = |args: &[&str]| {
        let shown = run(&scratch, &[&["surface", "--json"], args].concat()).json();
        assert_eq!(shown["exceeds"], json!([]), "{shown}");
        shown["instructions"]["text"].as_str().unwrap().len()
    };
    assert!(bytes(&["--client", "small"]) <= 600);
    assert!(bytes(&["--client", "small"]) < bytes(&[]), "the names of domains are left out");
}

#[test]
fn two_ways_are_set_beside_each_other() {
    let scratch = scratch_with("");
    let difference =
        |a: &str, b: &str| run(&scratch, &["surface", "--diff", a, b, "--json"]).json();
    let names = |list: &Value| -> Vec<String> {
        let tools = list.as_array().unwrap().iter();
        tools.map(|tool| tool["definition"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let found = difference("gateway", "intent");
    assert_eq!(names(&found["only_in_a"]), ["get_tool_schema"]);
    assert_eq!(names(&found["only_in_b"]), [""; 0]);
    let differing = found["differing"].as_array().unwrap().iter();
    let differing: Vec<_> = differing.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(differing, ["discover_tools", "execute_tool"]);
    assert_eq!(found["instructions_differ"], true);
    for count in ["tokens", "cl100k"] {
        let all = |side: &str| found[side][count].as_i64().unwrap();
        assert_eq!(found[count], all("b") - all("a"), "{count}");
    }
    let same = difference("flat", "auto");
    assert_eq!([&same["only_in_a"], &same["only_in_b"], &same["differing"]], [&json!([]); 3]);
    assert_eq!((&same["tokens"], &same["instructions_differ"]), (&json!(0), &json!(false)));
    let printed = run(&scratch, &["surface", "--diff", "gateway", "intent"]).stdout;
    let is_so = |name: &str, note: &str| {
        printed.lines().any(|line| line.starts_with(name) && line.ends_with(note))
    };
    assert!(is_so("get_tool_schema", "only in A"), "{printed}");
    assert!(is_so("execute_tool", "defined differently"), "{printed}");
    assert!(is_so("instructions", "differ"), "{printed}");
    assert_eq!(run(&scratch, &["surface", "--diff", "gateway", "loud"]).code, Some(1));
    assert_eq!(run(&scratch, &["surface", "--diff", "gateway"]).code, Some(2));
}

/// An HTTP API with so many operations.
fn api(scratch: &Scratch, operations: usize) {
    let path = |number| {
        let get = json!({ "operationId": format!("getThing{number}"), "responses": {} });
        (format!("/things/{number}"), json!({ "get": get }))
    };
    let paths: serde_json::Map<_, _> = (0..operations).map(path).collect();
    let api = json!({
        "openapi": "3.1.0",
        "info": { "title": "Things", "version": "1" },
        "servers": [{ "url": "https://things.example" }],
        "paths": paths,
    });
    scratch.write("things.json", api.to_string());
}

#[test]
fn a_check_warns_of_what_some_clients_do_not_take() {
    let warnings = |operations, config: &str| {
        let scratch = Scratch::new();
        api(&scratch, operations);
        scratch
            .write("gatefold.toml", format!("[sources.things]\nopenapi = 'things.json'\n{config}"));
        let checked = run(&scratch, &["check", "--json"]);
        assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
        checked.json()["warnings"].clone()
    };
    let flat = "[disclosure]\ndefault = 'flat'\n";
    // The tool that reads large results counts too.
    assert_eq!(warnings(127, flat), json!([]));
    let many = "which is more than some clients take (130 tools, some clients take 128): `gateway` stays \
                within it";
    assert_eq!(warnings(129, flat), json!([format!("`disclosure.default` is `flat`, {many}")]));
    let clients = "[clients.big]\ndisclosure = 'flat'\n[clients.small]\ndisclosure = 'typed'\n";
    assert_eq!(
        warnings(129, clients),
        json!([format!("`clients.big.disclosure` is `flat`, {many}")])
    );
}

#[test]
fn all_ways_are_compared_in_a_table() {
    let scratch = scratch_with("");
    let table = run(&scratch, &["surface", "--table", "--json"]).json();
    let rows = table["disclosures"].as_array().unwrap();
    let tokens = |name: &str| {
        let row = rows.iter().find(|row| row["disclosure"] == *name).unwrap();
        row["tokens"].as_u64().unwrap()
    };
    let names: Vec<_> = rows.iter().map(|row| row["disclosure"].as_str().unwrap()).collect();
    assert_eq!(names, DISCLOSURES);
    assert!(tokens("gateway") < tokens("flat") && tokens("intent") < tokens("flat"), "{table}");
    // Two small sources fit into a tenth of the context.
    assert_eq!(tokens("auto"), tokens("flat"));
    let row = |name: &str| rows.iter().find(|row| row["disclosure"] == *name).unwrap();
    let calls = |name: &str| row(name)["task"]["calls"].as_f64().unwrap();
    let reads = |name: &str| row(name)["task"]["tokens"].as_u64().unwrap();
    for (name, expected) in [("gateway", 3.0), ("intent", 2.0), ("flat", 1.0), ("auto", 1.0)] {
        assert!((calls(name) - expected).abs() < 0.01, "{name}: {table}");
    }
    assert_eq!((reads("flat"), reads("auto")), (0, 0));
    assert!(reads("gateway") > 0 && row("gateway")["task"]["cl100k"].as_u64().unwrap() > 0);
    assert_eq!(table["tasks"].as_array().unwrap().len(), 2, "one of each source: {table}");
    let session = |row: &Value| {
        row["tokens"].as_u64().unwrap() + 10 * row["task"]["tokens"].as_u64().unwrap()
    };
    let fewest = rows.iter().min_by_key(|row| session(row)).unwrap();
    assert_eq!(table["choice"]["disclosure"], fewest["disclosure"], "{table}");
    assert_eq!(table["choice"]["tokens"], session(fewest), "{table}");
    let printed = run(&scratch, &["surface", "--table"]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(printed.stdout.starts_with("disclosure"), "{}", printed.stdout);
    let last = printed.stdout.lines().last().unwrap();
    let choice = table["choice"]["disclosure"].as_str().unwrap();
    assert!(last.starts_with(&format!("choose `{choice}`: ")), "{last}");
}

#[test]
fn a_table_of_nothing_chooses_nothing() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "");
    let table = run(&scratch, &["surface", "--table", "--json"]).json();
    assert_eq!((&table["choice"], &table["tasks"]), (&Value::Null, &json!([])), "{table}");
    let printed = run(&scratch, &["surface", "--table"]);
    let expected = "no tool is known, so no task was rehearsed";
    assert_eq!(printed.stdout.lines().last(), Some(expected), "{}", printed.stderr);
}

#[test]
fn an_unknown_way_is_refused_with_those_there_are() {
    let refused = run(&scratch_with(""), &["surface", "--disclosure", "loud"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    for name in DISCLOSURES {
        assert!(refused.stderr.contains(&format!("`{name}`")), "{}", refused.stderr);
    }
    let refused = run(&scratch_with("[disclosure]\ndefault = 'loud'\n"), &["surface"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("`disclosure.default` is not a disclosure: loud"),
        "{}",
        refused.stderr
    );
}

#[test]
fn the_configuration_chooses_the_default() {
    let scratch =
        scratch_with("[disclosure]\ndefault = 'auto'\nauto_share = 0.001\ncontext_tokens = 1000\n");
    let printed = run(&scratch, &["surface", "--json"]).json();
    assert_eq!(printed["disclosure"], "auto");
    assert_eq!(
        printed["tools"][0]["definition"]["name"], "discover_tools",
        "one token holds no tool"
    );
}

/// A client that knows its goal and no tool. It derives each call from what it was told before.
struct Seeker {
    client: RawClient,
    listed: Vec<Value>,
}

impl Seeker {
    async fn answer(&self, tool: &str, arguments: &Value) -> Value {
        let answered = self.client.call(tool, &arguments.to_string()).await.unwrap();
        assert!(answered.result()["isError"].is_null(), "{tool}: {}", answered.text());
        serde_json::from_str(&answered.text()).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.listed.iter().any(|tool| tool["name"] == *name)
    }

    /// The listed tool whose text has the first words of the goal.
    fn telling(&self) -> Option<&Value> {
        self.listed.iter().find(|tool| {
            let text = tool["description"].as_str().unwrap_or_default().to_lowercase();
            GOAL.split(' ').take(2).all(|word| text.contains(word.trim_end_matches('s')))
        })
    }

    /// Through `mcp`: the server whose tools have the goal's first word in their names.
    async fn reach_by_server(&self, arguments: &Value) -> Value {
        let mcp = self.listed.iter().find(|tool| tool["name"] == "mcp").unwrap();
        let word = GOAL.split(' ').next().unwrap();
        let mut stubs = mcp["description"].as_str().unwrap().lines();
        let stub = stubs.find(|line| line.starts_with("  - ") && line.contains(word)).unwrap();
        let server = stub["  - ".len()..].split(':').next().unwrap();
        let found =
            self.answer("mcp", &json!({ "subcommand": "discover", "server": server })).await;
        let tools = found["tools"].as_array().unwrap().iter();
        let is_it = |tool: &&Value| tool["description"].to_string().to_lowercase().contains(word);
        let tool = tools.clone().find(is_it).unwrap_or_else(|| panic!("{found}"));
        let call = json!({
            "subcommand": "call", "server": server, "tool": tool["name"], "parameters": arguments,
        });
        self.answer("mcp", &call).await["result"].clone()
    }

    async fn reach(&self) -> Value {
        let arguments: Value = serde_json::from_str(ARGUMENTS).unwrap();
        if self.has("get_tool_schema") {
            let found = self.answer("discover_tools", &json!({ "query": GOAL })).await;
            let name = found["results"][0]["name"].clone();
            let schema = self.answer("get_tool_schema", &json!({ "tool_name": name })).await;
            let call = json!({ "tool_name": schema["name"], "arguments": arguments });
            return self.answer("execute_tool", &call).await["result"].clone();
        }
        if self.has("discover_tools") {
            let found = self.answer("discover_tools", &json!({ "intent": GOAL })).await;
            assert!(found["tools"][0]["parameters"].is_object(), "{found}");
            let call = json!({ "tool_name": found["tools"][0]["name"], "arguments": arguments });
            return self.answer("execute_tool", &call).await["result"].clone();
        }
        if self.has("mcp") {
            return self.reach_by_server(&arguments).await;
        }
        let telling = self.telling().unwrap_or_else(|| panic!("nothing tells of {GOAL}"));
        let name = telling["name"].as_str().unwrap();
        let Some(domain) = name.strip_suffix("__get_tool_schema") else {
            let answered = self.client.call(name, ARGUMENTS).await.unwrap();
            return serde_json::from_str(&answered.text()).unwrap();
        };
        let lines = telling["description"].as_str().unwrap().lines();
        let is_it = |line: &&str| line.to_lowercase().contains("count");
        let line = lines.filter(|line| line.starts_with("- ")).find(is_it).unwrap();
        let own = line[2..].split(':').next().unwrap();
        let schema = self.answer(name, &json!({ "tool_name": own })).await;
        assert!(schema["parameters"].is_object(), "{schema}");
        let call = json!({ "tool_name": own, "arguments": arguments });
        self.answer(&format!("{domain}__invoke_tool"), &call).await["result"].clone()
    }
}

#[tokio::test]
async fn the_same_goal_is_reached_through_each() {
    let scratch = scratch_with("");
    let gateway = gateway(&scratch).await;
    let mut results = Vec::new();
    for disclosure in DISCLOSURES {
        let client = client(&gateway, disclosure);
        let listed = tools(&client).await;
        results.push(Seeker { client, listed }.reach().await);
    }
    assert!(results[0]["counts"].is_object() || results[0]["counts"].is_array(), "{results:?}");
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
}

#[tokio::test]
async fn whoever_says_what_it_is_asked_gets_the_tools_for_that_and_can_load_the_others() {
    let scratch = scratch_with("");
    let gateway = gateway(&scratch).await;
    let address = format!("{}?disclosure=flat&for=close+the%20issue", gateway.url());
    let mut client = RawClient::new(&address).unwrap();
    for era in ["stateless", "handshake"] {
        if era == "handshake" {
            client.initialize().await.unwrap();
        }
        let names = client.list().await.unwrap().tool_names();
        assert_eq!(names.len(), 8, "{era}: {names:?}");
        assert!(names.contains(&"issues__close_issue".to_owned()), "{era}: {names:?}");
        assert!(!names.contains(&"units__list_units".to_owned()), "{era}: {names:?}");
        let asked = r#"{"tool_names": ["units__list_units"]}"#;
        let loaded = client.call("request_tools", asked).await.unwrap().text();
        assert!(loaded.contains(r#""name":"units__list_units""#), "{era}: {loaded}");
        let call = r#"{"tool_name": "units__list_units", "arguments": {}}"#;
        let through = client.call("execute_tool", call).await.unwrap().result();
        let direct = client.call("units__list_units", "{}").await.unwrap().result();
        assert_eq!(through["content"], direct["content"], "{era}");
    }
    let whole = RawClient::new(format!("{}?disclosure=flat", gateway.url())).unwrap();
    assert!(whole.list().await.unwrap().tool_names().len() > 20);
}

#[tokio::test]
async fn what_it_is_asked_may_stand_beside_a_request_or_on_the_command_line() {
    let scratch = scratch_with("[disclosure]\ndefault = 'flat'\n");
    let gateway = gateway(&scratch).await;
    let asked = r#"{"_meta": {"gatefold/request": "close the issue"}}"#;
    let count = |exchange: &gatefold_testkit::client::Exchange| exchange.tool_names().len();
    let stateless = RawClient::new(gateway.url()).unwrap();
    assert_eq!(count(&stateless.request("tools/list", asked).await.unwrap()), 8);
    assert!(count(&stateless.list().await.unwrap()) > 20, "without a session nothing is kept");
    let mut session = RawClient::new(gateway.url()).unwrap();
    session.initialize().await.unwrap();
    assert_eq!(count(&session.request("tools/list", asked).await.unwrap()), 8);
    assert_eq!(count(&session.list().await.unwrap()), 8, "a session goes on with it");
    let loaded = session.call("request_tools", r#"{"tool_names": ["units__list_units"]}"#).await;
    assert!(loaded.unwrap().text().contains(r#""name":"units__list_units""#));
    let mut stdio = crate::process::command(&scratch, &["stdio", "--for", "close the issue"]);
    stdio.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut client =
        gatefold_testkit::StdioClient::from_command(tokio::process::Command::from(stdio)).unwrap();
    client.initialize().await.unwrap();
    assert_eq!(count(&client.list().await.unwrap()), 8);
}

#[tokio::test]
async fn schemas_that_were_shown_are_on_record() {
    let scratch = scratch_with("");
    let gateway = gateway(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap();
    client.call("discover_tools", r#"{"query": "close the issue"}"#).await.unwrap();
    let wanted = r#"{"tool_name": "issues__close_issue"}"#;
    client.call("get_tool_schema", wanted).await.unwrap();
    let found =
        || run(&scratch, &["calls", "--discoveries", "--json"]).json()["discoveries"].clone();
    assert!(wait_until(LIMIT, || found().as_array().unwrap().len() == 2).await, "{}", found());
    let found = found();
    assert_eq!(found[0]["shown"], serde_json::json!([]), "{found}");
    assert_eq!(found[1]["shown"], serde_json::json!(["issues__close_issue"]), "{found}");
    assert_eq!(
        (&found[1]["meta_tool"], &found[1]["user"]),
        (&"get_tool_schema".into(), &"local".into())
    );
    let printed = run(&scratch, &["calls", "--discoveries"]).stdout;
    assert!(printed.contains("issues__close_issue"), "{printed}");
}

#[tokio::test]
async fn execution_can_be_split_for_a_clients_own_rules() {
    let scratch = scratch_with("[disclosure]\nsplit_execute = true\n");
    let gateway = gateway(&scratch).await;
    let client = RawClient::new(gateway.url()).unwrap();
    let names = client.list().await.unwrap().tool_names();
    assert_eq!(names, ["discover_tools", "get_tool_schema", "execute_read", "execute_write"]);
    let reading = r#"{"tool_name": "issues__count_issues", "arguments": {"by": "state"}}"#;
    let read = client.call("execute_read", reading).await.unwrap().result();
    assert_eq!(read["isError"], Value::Null, "{read}");
    let writing = r#"{"tool_name": "issues__create_issue", "arguments": {"title": "x"}}"#;
    let refused = client.call("execute_read", writing).await.unwrap().text();
    assert!(refused.contains("Call it through execute_write."), "{refused}");
}
