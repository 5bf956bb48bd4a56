//! The gateway over the pipes of its own process: this test binary, started again.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::Principal;
use gatefold_exchange::Scope;
use gatefold_mcp::{McpSettings, Server, serve_stdio};
use gatefold_testkit::StdioClient;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::edge::{STATELESS, exchange, initialize, request, said, standing_alone, trial};
use super::scripted::{DOC, ScriptedServer};
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::rooted::{EAGER, rooted};
use crate::upstream::support::{Era, Wire, http};
use crate::upstream::world::World;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("both_eras_are_served_on_one_connection", eras),
        trial("requests_on_one_connection_are_worked_on_at_once", parallel),
        trial("a_request_that_is_taken_back_is_not_answered", cancelled),
        trial("a_line_too_long_costs_only_itself", too_long),
        trial("an_argument_of_5_mb_reaches_its_tool_over_pipes", large),
        trial("a_batch_over_pipes_is_answered_as_one", batch),
        trial("only_one_version_has_batches_over_pipes", versions_of_batches),
        trial("what_is_no_message_is_refused_and_the_next_is_read", unreadable),
        trial("the_end_of_input_lets_calls_finish", end_of_input),
        trial("calls_that_outlast_the_end_of_input_are_given_up", too_late),
        trial("questions_on_one_connection_are_answered_out_of_order", questions),
        trial("the_roots_of_the_only_client_are_the_gateways", || of_only(ROOTED)),
        trial("a_server_that_runs_already_hears_of_the_only_clients_roots", || {
            of_only(RUNNING_ROOTED)
        }),
        trial("the_only_client_is_not_asked_for_roots_that_it_does_not_have", without_roots),
        trial("notices_come_in_both_eras_on_one_connection", notices),
    ]
}

/// The first argument that turns this binary into a gateway on its standard input and output.
const GATEWAY: &str = "stdio-gateway";
/// Stands for the server that asks for roots as soon as it is greeted, before there is a client, or
/// with its first call.
const RUNNING_ROOTED: &str = "running-rooted";
const ROOTED: &str = "rooted";
/// How long calls may take after the input has ended, unless a test says otherwise.
const DRAIN_MS: u64 = 20_000;

/// Serves as a gateway over the source at this address, if the process was started to.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() != Some(GATEWAY) {
        return None;
    }
    let (source, drain) = (args.next()?, args.next()?.parse().ok()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = runtime.block_on(async {
        let world = match source.as_str() {
            RUNNING_ROOTED => World::connected(&rooted("up", &[EAGER])).await,
            ROOTED => World::new(&[&rooted("up", &[EAGER])]),
            url => World::connected(&http("up", url)).await,
        };
        let server = Server::new(exchange(&world), world.path.clone());
        let audience = server.audience(Scope::Everything, None).unwrap();
        let drain = Duration::from_millis(drain);
        let principal = Arc::new(Principal::local());
        serve_stdio(server, principal, audience, drain, CancellationToken::new()).await
    });
    // A thread may be blocked in a read of stdin, and nothing can stop it.
    std::mem::forget(runtime);
    Some(if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A client of a gateway on pipes, in front of a source.
struct PipedGateway<S = ScriptedServer> {
    up: S,
    client: StdioClient,
}

impl PipedGateway {
    async fn new() -> Self {
        Self::draining(DRAIN_MS).await
    }

    async fn draining(drain_ms: u64) -> Self {
        let up = ScriptedServer::new("up").await;
        let client = start(&up.settings, drain_ms);
        Self { up, client }
    }
}

fn start(source: &McpSettings, drain_ms: u64) -> StdioClient {
    let gatefold_mcp::Transport::Http(http) = &source.transport else {
        unreachable!("it is served over HTTP")
    };
    start_over(&http.url, drain_ms)
}

fn start_over(source: &str, drain_ms: u64) -> StdioClient {
    let program = std::env::current_exe().unwrap();
    let args = vec![GATEWAY.to_owned(), source.to_owned(), drain_ms.to_string()];
    StdioClient::spawn((program, args)).unwrap()
}

impl<S> PipedGateway<S> {
    async fn send(&mut self, line: &str) {
        self.client.send(line).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.client.receive().await.unwrap()).unwrap()
    }

    /// Reads messages until one answers this request.
    async fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    async fn open(&mut self) {
        self.open_with("2025-06-18").await;
    }

    async fn open_with(&mut self, version: &str) {
        self.send(&initialize(Some(version), &json!({}))).await;
        assert_eq!(self.answer(0).await["result"]["protocolVersion"], version);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }

    async fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        let arguments = json!({"tool_name": format!("up__{tool}"), "arguments": arguments});
        let params = json!({"name": "execute_tool", "arguments": arguments});
        self.send(&request(id, "tools/call", &params)).await;
    }
}

/// A stateless request with an id of its own.
fn alone(id: u64, method: &str, params: Value) -> String {
    let (_, body) = standing_alone(method, params);
    let mut message: Value = serde_json::from_str(&body).unwrap();
    message["id"] = id.into();
    message.to_string()
}

async fn eras() {
    let mut piped = PipedGateway::new().await;
    piped.send(&request(1, "ping", &json!({}))).await;
    assert_eq!(piped.next().await["result"], json!({}));
    piped.send(&request(2, "tools/list", &json!({}))).await;
    assert_eq!(piped.next().await["error"]["code"], -32600, "there is no session yet");
    piped.send(&alone(3, "server/discover", json!({}))).await;
    assert_eq!(piped.next().await["result"]["supportedVersions"][0], STATELESS);
    piped.open().await;
    piped.send(&initialize(None, &json!({}))).await;
    assert_eq!(piped.answer(0).await["error"]["code"], -32600, "the session has already begun");
    for round in 0..3 {
        let id = 10 + 10 * round;
        piped.send(&request(id, "tools/list", &json!({}))).await;
        let listed = piped.answer(id).await;
        assert!(listed["result"].get("resultType").is_none());
        piped.send(&alone(id + 1, "tools/list", json!({}))).await;
        let standing_alone = piped.answer(id + 1).await;
        assert_eq!(standing_alone["result"]["resultType"], "complete");
        assert_eq!(standing_alone["result"]["tools"], listed["result"]["tools"]);
    }
    piped.send(&alone(50, "ping", json!({}))).await;
    assert_eq!(piped.answer(50).await["error"]["code"], -32601);
}

async fn parallel() {
    let mut piped = PipedGateway::new().await;
    piped.open().await;
    piped.call(1, "hold", json!({})).await;
    let execute = json!({"name": "execute_tool", "arguments": {"tool_name": "up__hold"}});
    piped.send(&alone(2, "tools/call", execute)).await;
    for id in 3..30 {
        piped.call(id, "say", json!({"id": id})).await;
    }
    let mut answered = Vec::new();
    for _ in 3..30 {
        let answer = piped.next().await;
        let id = answer["id"].as_u64().unwrap();
        assert_eq!(said(&answer["result"]), format!(r#"say {{"id":{id}}}"#));
        answered.push(id);
    }
    answered.sort_unstable();
    assert!(answered.into_iter().eq(3..30));
    piped.up.script.release();
    let mut held = [piped.next().await["id"].clone(), piped.next().await["id"].clone()];
    held.sort_by_key(Value::as_u64);
    assert_eq!(held, [1, 2]);
}

async fn cancelled() {
    let mut piped = PipedGateway::new().await;
    piped.open().await;
    for id in [7, 8] {
        if id == 7 {
            piped.call(id, "hold", json!({})).await;
        } else {
            let execute = json!({"name": "execute_tool", "arguments": {"tool_name": "up__hold"}});
            piped.send(&alone(id, "tools/call", execute)).await;
        }
        let calls = usize::try_from(id - 6).unwrap();
        piped.up.script.reached("tools/call", calls).await;
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id}});
        piped.send(&notice.to_string()).await;
        piped.up.script.gave_up(calls).await;
        piped.send(&request(99, "ping", &json!({}))).await;
        assert_eq!(piped.next().await["id"], 99, "the call is not answered");
    }
}

async fn too_long() {
    let mut piped = PipedGateway::new().await;
    piped.open().await;
    let padding = "x".repeat(16 * 1024 * 1024);
    piped.call(1, "say", json!({"padding": padding})).await;
    let refused = piped.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
    piped.call(2, "say", json!({})).await;
    assert_eq!(said(&piped.answer(2).await["result"]), "say {}");
    assert_eq!(piped.up.script.count("tools/call"), 1);
}

async fn large() {
    let mut piped = PipedGateway::new().await;
    piped.open().await;
    let padding = "x".repeat(5 * 1000 * 1000);
    piped.call(1, "link", json!({"padding": padding})).await;
    let answer = piped.answer(1).await;
    assert_eq!(answer["result"]["isError"], Value::Null, "{}", answer["result"]);
    let calls = piped.up.script.received("tools/call");
    assert_eq!(calls[0]["params"]["arguments"]["padding"], padding);
    piped.call(2, "say", json!({})).await;
    assert_eq!(said(&piped.answer(2).await["result"]), "say {}");
}

async fn batch() {
    let mut piped = PipedGateway::new().await;
    piped.open_with("2025-03-26").await;
    let say = |id: u64| {
        let arguments = json!({"tool_name": "up__say", "arguments": {"id": id}});
        request(id, "tools/call", &json!({"name": "execute_tool", "arguments": arguments}))
    };
    let messages = [
        request(1, "ping", &json!({})),
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#.to_owned(),
        say(2),
        request(3, "no/such", &json!({})),
        "7".to_owned(),
        say(4),
    ];
    piped.send(&format!("[{}]", messages.join(","))).await;
    let answers = piped.next().await;
    let mut answers = answers.as_array().expect("they come together").clone();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let code = |at: usize| answers[at]["error"]["code"].as_i64();
    assert_eq!((&answers[0]["id"], code(0)), (&Value::Null, Some(-32600)));
    assert_eq!((&answers[1]["id"], &answers[1]["result"]), (&json!(1), &json!({})));
    assert_eq!(said(&answers[2]["result"]), r#"say {"id":2}"#);
    assert_eq!((&answers[3]["id"], code(3)), (&json!(3), Some(-32601)));
    assert_eq!(said(&answers[4]["result"]), r#"say {"id":4}"#);
    assert_eq!(answers.len(), 5);
    // Notifications get no answer.
    piped.send(r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#).await;
    piped.send("[7]").await;
    assert_eq!(piped.next().await[0]["error"]["code"], -32600);
    for batch in ["[]".to_owned(), format!("[{}]", vec!["7"; 101].join(","))] {
        piped.send(&batch).await;
        let refused = piped.next().await;
        assert_eq!(refused["error"]["message"], "a batch has 1 to 100 messages");
    }
}

async fn versions_of_batches() {
    let batch = format!("[{}]", request(1, "ping", &json!({})));
    for version in [None, Some("2024-11-05"), Some("2025-06-18"), Some("2025-11-25")] {
        let mut piped = PipedGateway::new().await;
        if let Some(version) = version {
            piped.open_with(version).await;
        }
        piped.send(&batch).await;
        let refused = piped.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32600)));
        let text = "only version 2025-03-26 has batches: send one message at a time";
        assert_eq!(refused["error"]["message"], text, "{version:?}");
        piped.send(&request(2, "ping", &json!({}))).await;
        assert_eq!(piped.next().await["id"], 2);
    }
}

async fn unreadable() {
    let mut piped = PipedGateway::new().await;
    for (line, code) in [("{", -32700), ("\u{fffd}", -32700), ("7", -32600), ("{}", -32600)] {
        piped.send(line).await;
        let refused = piped.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(code)));
    }
    piped.send("").await;
    piped.send("  \t ").await;
    piped.send(&request(1, "ping", &json!({}))).await;
    assert_eq!(piped.next().await["id"], 1);
}

async fn end_of_input() {
    let mut piped = PipedGateway::new().await;
    piped.open().await;
    piped.call(1, "hold", json!({"a": 1})).await;
    piped.up.script.reached("tools/call", 1).await;
    piped.send(&alone(2, "subscriptions/listen", json!({"notifications": {}}))).await;
    assert_eq!(piped.next().await["method"], "notifications/subscriptions/acknowledged");
    piped.client.close_stdin();
    let ended = piped.answer(2).await;
    assert_eq!(ended["result"]["resultType"], "complete", "streams of notices end: {ended}");
    piped.up.script.release();
    assert_eq!(said(&piped.answer(1).await["result"]), r#"hold {"a":1}"#);
    assert!(piped.client.wait().await.unwrap().success());
}

async fn too_late() {
    let mut piped = PipedGateway::draining(100).await;
    piped.open().await;
    piped.call(1, "hold", json!({})).await;
    piped.up.script.reached("tools/call", 1).await;
    piped.client.close_stdin();
    assert!(piped.client.wait().await.unwrap().success());
    piped.up.script.gave_up(1).await;
}

async fn questions() {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let client = start(&up.settings, DRAIN_MS);
    let mut piped = PipedGateway { up, client };
    piped.send(&initialize(None, &json!({"elicitation": {}}))).await;
    piped.answer(0).await;
    let mut asked = Vec::new();
    for id in [1, 2] {
        piped.call(id, "matrix_elicit", json!({"message": id.to_string()})).await;
        let question = piped.next().await;
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], id.to_string());
        asked.push(question["id"].clone());
    }
    for (id, question) in [(2, &asked[1]), (1, &asked[0])] {
        let result = json!({"action": "accept", "content": {"name": format!("of {id}")}});
        let answer = json!({"jsonrpc": "2.0", "id": question, "result": result});
        piped.send(&answer.to_string()).await;
        let told = format!(r#"action=accept, content={{"name":"of {id}"}}"#);
        assert_eq!(said(&piped.answer(id).await["result"]), told);
    }
}

/// Answers a request for roots, and returns what came before it.
async fn give_roots<S>(piped: &mut PipedGateway<S>, uri: &str) {
    let question = piped.next().await;
    assert_eq!(question["method"], "roots/list", "{question}");
    let result = json!({"roots": [{"uri": uri}]});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    piped.send(&answer.to_string()).await;
}

async fn roots_of<S>(piped: &mut PipedGateway<S>, id: u64) -> String {
    piped.call(id, "roots", json!({})).await;
    said(&piped.answer(id).await["result"])
}

async fn of_only(source: &str) {
    let mut piped = PipedGateway { up: (), client: start_over(source, DRAIN_MS) };
    let offered = json!({"roots": {"listChanged": true}});
    piped.send(&initialize(Some("2025-11-25"), &offered)).await;
    piped.answer(0).await;
    piped.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    if source == ROOTED {
        piped.call(1, "roots", json!({})).await;
        give_roots(&mut piped, "file:///garden").await;
        assert_eq!(said(&piped.answer(1).await["result"]), "file:///garden");
    } else {
        give_roots(&mut piped, "file:///garden").await;
    }
    piped.send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#).await;
    give_roots(&mut piped, "file:///shed").await;
    // The server may read the call before it has read the answer to its own question.
    for id in 2.. {
        if roots_of(&mut piped, id).await == "file:///shed" {
            return;
        }
    }
}

async fn without_roots() {
    let mut piped = PipedGateway { up: (), client: start_over(ROOTED, DRAIN_MS) };
    piped.open().await;
    piped.call(1, "roots", json!({})).await;
    let answer = piped.next().await;
    assert_eq!((&answer["id"], &*said(&answer["result"])), (&json!(1), "no roots"), "{answer}");
}

async fn notices() {
    let mut piped = PipedGateway::new().await;
    piped.open().await;
    let uri = format!("gatefold://up/{DOC}");
    piped.send(&request(1, "resources/subscribe", &json!({"uri": uri}))).await;
    piped.answer(1).await;
    let filter = json!({"notifications": {"resourceSubscriptions": [uri]}});
    piped.send(&alone(2, "subscriptions/listen", filter)).await;
    let acknowledged = piped.next().await;
    assert_eq!(acknowledged["params"]["notifications"]["resourceSubscriptions"], json!([uri]));
    assert_eq!(piped.up.script.count("resources/subscribe"), 1);
    piped.up.script.tell("notifications/resources/updated", &json!({"uri": DOC}));
    let key = "io.modelcontextprotocol/subscriptionId";
    let told = [piped.next().await, piped.next().await];
    for notice in &told {
        assert_eq!(notice["params"]["uri"], uri);
    }
    let named = told.iter().filter(|notice| notice["params"]["_meta"][key] == 2).count();
    assert_eq!(named, 1, "one is for the stream and one for the session: {told:?}");
    // Cancelling the request ends its stream.
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 2}});
    piped.send(&notice.to_string()).await;
    piped.send(&request(3, "resources/unsubscribe", &json!({"uri": uri}))).await;
    piped.answer(3).await;
    piped.up.script.reached("resources/unsubscribe", 1).await;
}
