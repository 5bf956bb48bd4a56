//! The protocol as a client sees it, line by line, in both eras.

use std::time::Duration;

use gatefold_demo::{DemoError, Server};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};

const PIPE_BYTES: usize = 64 * 1024;
/// A server that has not answered by then never will.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// A client that reads and writes JSON lines and knows nothing else of the protocol.
struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: WriteHalf<DuplexStream>,
    server: JoinHandle<Result<(), DemoError>>,
    _scratch: TempDir,
}

impl Client {
    async fn connect(server: &str) -> Self {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let server = Server::open(server, scratch.path()).await.expect("a server");
        let (here, there) = tokio::io::duplex(PIPE_BYTES);
        let (output, input) = tokio::io::split(here);
        let (its_input, its_output) = tokio::io::split(there);
        Self {
            lines: BufReader::new(output).lines(),
            input,
            server: tokio::spawn(server.serve(its_input, its_output)),
            _scratch: scratch,
        }
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.expect("the server reads");
    }

    async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(ANSWER_WITHIN, self.lines.next_line()).await;
        let line = line.expect("the server answers in time").expect("in UTF-8").expect("and stays");
        serde_json::from_str(&line).expect("JSON on every line")
    }

    async fn request(&mut self, id: u32, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(message).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "claims", "version": "1" },
        });
        let answer = self.request(0, "initialize", params).await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer
    }

    /// Closes the server's input and waits for it to stop.
    async fn close(mut self) -> Result<(), DemoError> {
        self.input.shutdown().await.expect("the pipe is open");
        drop((self.input, self.lines));
        let stopped = tokio::time::timeout(ANSWER_WITHIN, self.server).await;
        stopped.expect("the server stops").expect("and does not panic")
    }
}

/// What every request of the stateless era carries.
fn stateless(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "claims", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    params
}

#[tokio::test]
async fn the_handshake_era_is_served() {
    let mut client = Client::connect("units").await;
    let hello = client.initialize().await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["result"]["serverInfo"]["name"], "gatefold-demo-units");
    let listed = client.request(1, "tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 10);
    let call = json!({ "name": "evaluate_expression", "arguments": { "expression": "6 * 7" } });
    let called = client.request(2, "tools/call", call).await;
    assert_eq!(called["result"]["structuredContent"]["value"], 42.0);
    assert!(called["result"].get("resultType").is_none(), "a field of the later era: {called}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn the_stateless_era_is_served() {
    let mut client = Client::connect("units").await;
    let found = client.request(1, "server/discover", stateless(json!({}))).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    assert!(found["result"]["capabilities"]["tools"].is_object(), "{found}");
    assert_eq!(
        found["result"]["instructions"],
        "Calculate, summarise numbers and convert units of measure."
    );
    let listed = client.request(2, "tools/list", stateless(json!({}))).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 10);
    let call = json!({ "name": "evaluate_expression", "arguments": { "expression": "6 * 7" } });
    let called = client.request(3, "tools/call", stateless(call)).await;
    assert_eq!(called["result"]["structuredContent"]["value"], 42.0);
    assert_eq!(called["result"]["resultType"], "complete");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_wrong_call_is_a_result_and_an_unknown_tool_is_an_error() {
    let mut client = Client::connect("units").await;
    client.initialize().await;
    let wrong = json!({ "name": "evaluate_expression", "arguments": {} });
    let answer = client.request(1, "tools/call", wrong).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let bare = client.request(2, "tools/call", json!({ "name": "evaluate_expression" })).await;
    assert_eq!(bare["result"], answer["result"], "no arguments are empty arguments");
    let unknown =
        client.request(3, "tools/call", json!({ "name": "launch", "arguments": {} })).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(unknown["error"]["message"], "unknown tool `launch`");
}

#[tokio::test]
async fn progress_is_reported_when_asked_for() {
    for meta in [json!({}), stateless(json!({}))["_meta"].clone()] {
        let mut client = Client::connect("files").await;
        if meta == json!({}) {
            client.initialize().await;
        }
        let mut params =
            json!({ "name": "search_files", "arguments": { "query": "rain" }, "_meta": meta });
        params["_meta"]["progressToken"] = json!("token-7");
        client
            .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
            .await;
        for done in 1..=6 {
            let report = client.receive().await;
            assert_eq!(report["method"], "notifications/progress", "{report}");
            assert_eq!(report["params"]["progressToken"], "token-7");
            assert_eq!(report["params"]["progress"].as_f64(), Some(f64::from(done)), "{report}");
            assert_eq!(report["params"]["total"].as_f64(), Some(6.0), "{report}");
        }
        let answer = client.receive().await;
        assert_eq!(answer["result"]["structuredContent"]["files_searched"], 6, "{answer}");
    }
}

#[tokio::test]
async fn no_progress_is_reported_unasked() {
    let mut client = Client::connect("files").await;
    client.initialize().await;
    let call = json!({ "name": "search_files", "arguments": { "query": "rain" } });
    let answer = client.request(1, "tools/call", call).await;
    assert_eq!(answer["result"]["structuredContent"]["files_searched"], 6, "{answer}");
}

#[tokio::test]
async fn a_client_that_leaves_early_is_no_failure() {
    Client::connect("text").await.close().await.unwrap();
    let mut client = Client::connect("text").await;
    client.request(1, "server/discover", stateless(json!({}))).await;
    client.close().await.unwrap();
}

/// October's four events.
const CLEAR: &str = r#"{"name": "clear_events",
    "arguments": {"from": "2026-10-01T00:00", "to": "2026-11-01T00:00"}}"#;

#[tokio::test]
async fn a_session_is_asked_before_events_are_cleared() {
    for (answer, deleted) in [
        (json!({ "action": "decline" }), 0),
        (json!({ "action": "accept", "content": { "confirm": false } }), 0),
        (json!({ "action": "accept", "content": { "confirm": true } }), 4),
    ] {
        let mut client = Client::connect("calendar").await;
        client.initialize().await;
        let params: Value = serde_json::from_str(CLEAR).unwrap();
        client
            .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
            .await;
        let asked = client.receive().await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let message = &asked["params"]["message"];
        assert_eq!(message, "Delete 4 events from 2026-10-01T00:00 to 2026-11-01T00:00?");
        client.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer })).await;
        let done = client.receive().await;
        assert_eq!(done["result"]["structuredContent"]["deleted"], deleted, "{done}");
    }
}

#[tokio::test]
async fn a_stateless_client_gets_the_question_as_a_result() {
    let mut client = Client::connect("calendar").await;
    let params: Value = serde_json::from_str(CLEAR).unwrap();
    let asked = client.request(1, "tools/call", stateless(params.clone())).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let question = &asked["result"]["inputRequests"]["confirmation"];
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    let mut params = stateless(params);
    params["inputResponses"] =
        json!({ "confirmation": { "action": "accept", "content": { "confirm": true } } });
    let done = client.request(2, "tools/call", params).await;
    assert_eq!(done["result"]["structuredContent"]["deleted"], 4, "{done}");
}

#[tokio::test]
async fn a_picture_comes_beside_the_result() {
    let mut client = Client::connect("files").await;
    let call = json!({ "name": "read_picture", "arguments": { "path": "pictures/beds.png" } });
    let called = client.request(1, "tools/call", stateless(call)).await;
    let image = &called["result"]["content"][1];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"), "{called}");
}

#[tokio::test]
async fn files_are_resources_and_stay_in_the_folder() {
    let mut client = Client::connect("files").await;
    let listed = client.request(1, "resources/list", stateless(json!({}))).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], "scratch:///README.md", "{listed}");
    let listed = client.request(2, "resources/templates/list", stateless(json!({}))).await;
    let template = &listed["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "scratch:///{+path}", "{listed}");
    let read = |uri: &str| stateless(json!({ "uri": uri }));
    let found = client.request(3, "resources/read", read("scratch:///notes/todo.md")).await;
    let text = found["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("# To do"), "{found}");
    for (id, uri) in (4..).zip(["scratch:///../secret", "scratch:////etc/passwd", "file:///x", "x"])
    {
        let refused = client.request(id, "resources/read", read(uri)).await;
        assert!(refused["error"]["message"].is_string(), "{uri}: {refused}");
    }
}

#[tokio::test]
async fn a_prompt_is_filled_in() {
    let mut client = Client::connect("text").await;
    let listed = client.request(1, "prompts/list", stateless(json!({}))).await;
    assert_eq!(listed["result"]["prompts"][0]["name"], "proofread", "{listed}");
    let get = |arguments| stateless(json!({ "name": "proofread", "arguments": arguments }));
    let got = client.request(2, "prompts/get", get(json!({ "text": "teh roof" }))).await;
    let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.ends_with("The text: teh roof"), "{got}");
    let refused = client.request(3, "prompts/get", get(json!({}))).await;
    assert_eq!(refused["error"]["message"], "missing argument `text`");
}
