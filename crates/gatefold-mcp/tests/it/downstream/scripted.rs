//! A handshake-era server over HTTP that counts what reaches it, and whose calls wait until they
//! are released.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::response::Response;
use axum::routing::post;
use futures::StreamExt as _;
use gatefold_mcp::McpSettings;
use gatefold_testkit::wait_until;
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::DropGuard;

use crate::serving::serve_router;
use crate::upstream::support::{LONG, http};

pub(super) const DOC: &str = "scripted://doc";
pub(super) const VIEW: &str = "ui://view/main.html";
/// A pause between two steps of the tool `chat`.
const STEP: Duration = Duration::from_millis(5);

/// The server, running until it is dropped.
pub(super) struct ScriptedServer {
    pub(super) settings: McpSettings,
    pub(super) script: Arc<Script>,
    _running: DropGuard,
}

pub(super) struct Script {
    /// Every message that came.
    received: Mutex<Vec<Value>>,
    /// Whether the calls of `hold` were released.
    released: watch::Sender<bool>,
    /// Calls that were given up before they were answered.
    given_up: Mutex<usize>,
    /// The messages on the session's own stream.
    notices: broadcast::Sender<String>,
    capabilities: Value,
    /// The tools, prompts and resources that it lists instead of the usual ones, by name and URI.
    listed: Option<[Vec<String>; 3]>,
}

impl Script {
    fn list(&self, method: &str) -> Option<Value> {
        let [tools, prompts, resources] = self.listed.as_ref()?;
        let named = |key: &str, all: &[String]| -> Value {
            let one =
                |name: &String| json!({key: name, "name": name, "inputSchema": {"type": "object"}});
            all.iter().map(one).collect()
        };
        Some(match method {
            "tools/list" => json!({"result": {"tools": named("name", tools)}}),
            "prompts/list" => json!({"result": {"prompts": named("name", prompts)}}),
            "resources/list" => json!({"result": {"resources": named("uri", resources)}}),
            "resources/templates/list" => json!({"result": {"resourceTemplates": []}}),
            _ => return None,
        })
    }

    pub(super) fn received(&self, method: &str) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        received.iter().filter(|message| message["method"] == method).cloned().collect()
    }

    pub(super) fn count(&self, method: &str) -> usize {
        self.received(method).len()
    }

    /// Waits until this many messages of a method have come.
    pub(super) async fn reached(&self, method: &str, count: usize) {
        let reached = wait_until(LONG, || self.count(method) >= count).await;
        assert!(reached, "{method} came {} times, not {count}", self.count(method));
    }

    /// What it was answered to one of the questions of `chat`.
    fn answer_to(&self, step: u64) -> Option<Value> {
        let received = self.received.lock().unwrap();
        let id = format!("pester-{step}");
        received.iter().find(|message| message["id"] == id && message["method"].is_null()).cloned()
    }

    pub(super) fn given_up(&self) -> usize {
        *self.given_up.lock().unwrap()
    }

    /// Waits until this many calls were given up.
    pub(super) async fn gave_up(&self, count: usize) {
        let did = wait_until(LONG, || self.given_up() >= count).await;
        assert!(did, "{} calls were given up, not {count}", self.given_up());
    }

    pub(super) fn release(&self) {
        self.released.send_replace(true);
    }

    pub(super) fn tell(&self, method: &str, params: &Value) {
        let notice = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.notices.send(notice.to_string()).expect("the gateway listens");
    }
}

impl ScriptedServer {
    pub(super) async fn new(domain: &str) -> Self {
        let capabilities = json!({
            "tools": {"listChanged": true},
            "prompts": {},
            "resources": {"subscribe": true},
            "completions": {},
            "experimental": {"x": {}},
        });
        Self::made(domain, capabilities, None).await
    }

    pub(super) async fn declaring(domain: &str, capabilities: Value) -> Self {
        Self::made(domain, capabilities, None).await
    }

    /// A server that lists only these tools, prompts and resources.
    pub(super) async fn listing(
        domain: &str,
        tools: &[&str],
        prompts: &[&str],
        resources: &[&str],
    ) -> Self {
        let owned = |names: &[&str]| names.iter().copied().map(str::to_owned).collect();
        let capabilities = json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}});
        let listed = [owned(tools), owned(prompts), owned(resources)];
        Self::made(domain, capabilities, Some(listed)).await
    }

    async fn made(domain: &str, capabilities: Value, listed: Option<[Vec<String>; 3]>) -> Self {
        let script = Arc::new(Script {
            received: Mutex::default(),
            released: watch::Sender::new(false),
            given_up: Mutex::default(),
            notices: broadcast::Sender::new(64),
            capabilities,
            listed,
        });
        let router = Router::new().route("/mcp", post(take).get(stand)).with_state(script.clone());
        let router = router.layer(DefaultBodyLimit::disable());
        let (url, running) = serve_router(router).await;
        Self { settings: http(domain, &url), script, _running: running }
    }
}

fn respond(status: u16, kind: &str, body: impl Into<Body>) -> Response {
    let response = Response::builder().status(status).header("content-type", kind);
    response.header("mcp-session-id", "one").body(body.into()).unwrap()
}

async fn stand(State(script): State<Arc<Script>>) -> Response {
    let notices = script.notices.subscribe();
    let events = futures::stream::unfold(notices, async |mut notices| {
        let notice = notices.recv().await.ok()?;
        Some((Ok::<_, Infallible>(format!("data: {notice}\n\n")), notices))
    });
    respond(200, "text/event-stream", Body::from_stream(events.boxed()))
}

async fn take(State(script): State<Arc<Script>>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    script.received.lock().unwrap().push(message.clone());
    let id = &message["id"];
    if id.is_null() || message["method"].is_null() {
        return respond(202, "text/plain", "");
    }
    let params = &message["params"];
    let answer = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"result": {
            "protocolVersion": "2025-11-25",
            "capabilities": script.capabilities,
            "serverInfo": server_info(),
            "instructions": "Do as the script says.",
        }}),
        "tools/call" => match params["name"].as_str().unwrap_or_default() {
            "hold" => return hold(script, message).await,
            "chat" if params["arguments"]["asks"] == true => return pester(script, message),
            "chat" => return chat(&script, message),
            name => json!({"result": called(name, &params["arguments"])}),
        },
        method => script.list(method).unwrap_or_else(|| answered(method, params)),
    };
    let mut answer = answer;
    answer["jsonrpc"] = "2.0".into();
    answer["id"] = id.clone();
    respond(200, "application/json", answer.to_string())
}

/// What it says about itself, including members that no version of the protocol knows.
pub(super) fn server_info() -> Value {
    json!({
        "name": "scripted",
        "title": "Scripted",
        "version": "7",
        "websiteUrl": "https://scripted.example",
        "icons": [{"src": "https://scripted.example/icon.png", "sizes": ["48x48"]}],
        "x-build": 1.10,
    })
}

fn answered(method: &str, params: &Value) -> Value {
    match method {
        "tools/list" => json!({"result": {"tools": tools()}}),
        "prompts/list" => json!({"result": {"prompts": [{"name": "greet"}, {"name": "part"}]}}),
        "resources/list" => json!({"result": {"resources": [
            {"uri": DOC, "name": "doc"},
            {"uri": "scripted://secret", "name": "secret"},
            {"uri": VIEW, "name": "view", "mimeType": "text/html;profile=mcp-app"},
        ]}}),
        "resources/templates/list" => json!({"result": {"resourceTemplates": [
            {"uriTemplate": "scripted://page/{number}", "name": "page"},
        ]}}),
        "prompts/get" => {
            let text = format!("prompt {}", params["name"].as_str().unwrap());
            let content = json!({"type": "text", "text": text});
            json!({"result": {"messages": [{"role": "user", "content": content}]}})
        }
        "resources/read" => {
            let text = format!("read {}", params["uri"].as_str().unwrap());
            json!({"result": {"contents": [{"uri": params["uri"], "text": text}]}})
        }
        "completion/complete" => {
            let values = json!([params["ref"].to_string()]);
            json!({"result": {"completion": {"values": values}}})
        }
        "resources/subscribe" | "resources/unsubscribe" | "ping" => json!({"result": {}}),
        _ => json!({"error": {"code": -32601, "message": "unknown"}}),
    }
}

fn tools() -> Value {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let mut view = tool("view");
    view["_meta"] = json!({"ui": {"resourceUri": VIEW}});
    let mut button = tool("button");
    button["_meta"] = json!({"ui": {"resourceUri": VIEW, "visibility": ["app"]}});
    json!([tool("say"), tool("link"), tool("hold"), tool("chat"), view, button])
}

fn called(name: &str, arguments: &Value) -> Value {
    match name {
        "link" => json!({"content": [
            {"type": "resource_link", "uri": DOC, "name": "doc"},
            {"type": "resource", "resource": {"uri": "scripted://page/7", "text": "seven"}},
        ]}),
        _ => json!({"content": [{"type": "text", "text": format!("{name} {arguments}")}]}),
    }
}

/// Counts a call that is dropped unanswered.
struct UnansweredCall(Option<Arc<Script>>);

impl Drop for UnansweredCall {
    fn drop(&mut self) {
        if let Some(script) = self.0.take() {
            *script.given_up.lock().unwrap() += 1;
        }
    }
}

fn result(message: &Value) -> String {
    let result = called("hold", &message["params"]["arguments"]);
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
}

/// Answers when it is released.
async fn hold(script: Arc<Script>, message: Value) -> Response {
    let mut unanswered = UnansweredCall(Some(script.clone()));
    drop(script.released.subscribe().wait_for(|released| *released).await);
    unanswered.0 = None;
    respond(200, "application/json", result(&message))
}

/// Reports progress again and again until it is released.
fn chat(script: &Arc<Script>, message: Value) -> Response {
    let state = (UnansweredCall(Some(script.clone())), script.released.subscribe(), 0, message);
    let events = futures::stream::unfold(Some(state), async |state| {
        let (mut unanswered, released, step, message) = state?;
        if *released.borrow() {
            unanswered.0 = None;
            return Some((format!("data: {}\n\n", result(&message)), None));
        }
        tokio::time::sleep(STEP).await;
        let token = &message["params"]["_meta"]["progressToken"];
        let bytes = message["params"]["arguments"]["bytes"].as_u64().unwrap_or_default();
        let text = "x".repeat(usize::try_from(bytes).unwrap());
        let params = json!({"progressToken": token, "progress": step, "message": text});
        let method = "notifications/progress";
        let notice = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let state = Some((unanswered, released, step + 1, message));
        Some((format!("data: {notice}\n\n"), state))
    });
    let events = events.map(Ok::<_, Infallible>);
    respond(200, "text/event-stream", Body::from_stream(events.boxed()))
}

/// How often the tool `chat` asks, if it is to ask.
pub(super) const QUESTIONS: u64 = 100;

/// Asks again and again, each time after the answer before, and says how many were answered.
fn pester(script: Arc<Script>, message: Value) -> Response {
    let events = futures::stream::unfold(Some(0), move |step| {
        let (script, message) = (script.clone(), message.clone());
        async move {
            let step = step?;
            if step > 0 {
                let is_answered = || script.answer_to(step - 1).is_some();
                assert!(wait_until(LONG, is_answered).await, "question {step} has no answer");
            }
            if step < QUESTIONS {
                let params = json!({"messages": [], "maxTokens": 1});
                let question = json!({
                    "jsonrpc": "2.0", "id": format!("pester-{step}"),
                    "method": "sampling/createMessage", "params": params,
                });
                return Some((format!("data: {question}\n\n"), Some(step + 1)));
            }
            let answers = (0..QUESTIONS).filter_map(|step| script.answer_to(step));
            let answered = answers.filter(|answer| answer.get("result").is_some()).count();
            let content = json!([{"type": "text", "text": format!("{answered} answers")}]);
            let result =
                json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}});
            Some((format!("data: {result}\n\n"), None))
        }
    });
    let events = events.map(Ok::<_, Infallible>);
    respond(200, "text/event-stream", Body::from_stream(events.boxed()))
}

/// The names in the result of `tools/list`.
pub(super) fn tool_names(result: &Value) -> Vec<&str> {
    let tools = result["tools"].as_array().expect("tools are listed");
    tools.iter().map(|tool| tool["name"].as_str().expect("a tool has a name")).collect()
}
