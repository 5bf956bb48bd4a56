//! A gateway on a socket of its own, and clients that send exactly what a test wants.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use gatefold_disclose::{Disclosure, Gateway};
use gatefold_exchange::{Disclosures, Exchange};
use gatefold_http::HttpEndpoint;
use gatefold_mcp::{McpSettings, Server, serve_http};
use gatefold_policy::Policy;
use libtest_mimic::Trial;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::scripted::ScriptedServer;
use crate::upstream::support::LONG;
use crate::upstream::world::{World, WorldOptions, client};

pub(super) const STATELESS: &str = "2026-07-28";
pub(super) const LATEST: &str = "2025-11-25";

/// A test that runs on a runtime of its own.
pub(super) fn trial<F: Future<Output = ()>>(
    name: impl Into<String>,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(format!("downstream::{}", name.into()), move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(test());
        Ok(())
    })
}

/// Makes the clock of the runtime jump. Nothing else runs in the meantime, so nothing is late.
pub(super) async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// The exchange of a world, with the two disclosures that every gateway has.
pub(super) fn exchange(world: &World) -> Arc<Exchange> {
    let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
    Exchange::new(world.dispatcher.clone(), Disclosures::standard(&gateway))
}

/// A gateway over some sources.
pub(super) struct Edge {
    pub(super) base: String,
    pub(super) world: World,
    pub(super) shutdown: CancellationToken,
    pub(super) served: JoinHandle<io::Result<()>>,
    pub(super) http: reqwest::Client,
}

impl Drop for Edge {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

impl Edge {
    pub(super) async fn over(sources: &[&McpSettings]) -> Self {
        Self::with(sources, Policy::default(), HttpEndpoint::default()).await
    }

    pub(super) async fn with(
        sources: &[&McpSettings],
        policy: Policy,
        endpoint: HttpEndpoint,
    ) -> Self {
        let world = World::made(sources, &WorldOptions { policy, ..WorldOptions::default() });
        for (domain, fared) in world.refresh().await {
            assert_eq!(fared, Ok(()), "{domain}");
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::at(listener, world, endpoint)
    }

    /// A gateway at an address that was known before its sources were.
    pub(super) fn at(listener: TcpListener, world: World, endpoint: HttpEndpoint) -> Self {
        let base = format!("http://{}", listener.local_addr().unwrap());
        let gateway = Server::new(exchange(&world), world.path.clone());
        let shutdown = CancellationToken::new();
        let end = shutdown.clone();
        let served = tokio::spawn(serve_http(gateway, listener, endpoint, Router::new(), end));
        Self { base, world, shutdown, served, http: client() }
    }

    /// Sends a request as it is. `headers` replace the usual ones of the same names; those with an
    /// empty value are left out.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<String>,
    ) -> Response {
        let usual = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let is_given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        let usual = usual.into_iter().filter(|(name, _)| !is_given(name));
        let mut all = HeaderMap::new();
        for (name, value) in usual.chain(headers.iter().copied()).filter(|(_, v)| !v.is_empty()) {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            all.append(name, HeaderValue::from_str(value).unwrap());
        }
        let request = self.http.request(method, format!("{}{path}", self.base)).headers(all);
        timeout(LONG, request.body(body.into()).send()).await.expect("an answer begins").unwrap()
    }

    pub(super) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        Reply::of(self.send(Method::POST, path, headers, body).await).await
    }

    /// A stateless request.
    pub(super) async fn ask(&self, path: &str, method: &str, params: Value) -> Reply {
        Reply::of(self.begin(path, method, params).await).await
    }

    /// The same, with its answer still unread.
    pub(super) async fn begin(&self, path: &str, method: &str, params: Value) -> Response {
        let (headers, body) = standing_alone(method, params);
        let headers: Vec<_> = headers.iter().map(|(k, v)| (*k, v.as_str())).collect();
        self.send(Method::POST, path, &headers, body).await
    }

    /// The result of a stateless request.
    pub(super) async fn result(&self, path: &str, method: &str, params: Value) -> Value {
        self.ask(path, method, params).await.result()
    }

    pub(super) async fn session(&self, path: &str) -> Session<'_> {
        self.session_of(path, LATEST, json!({})).await
    }

    pub(super) async fn session_of(
        &self,
        path: &str,
        version: &str,
        capabilities: Value,
    ) -> Session<'_> {
        let reply = self.post(path, &[], &initialize(Some(version), &capabilities)).await;
        let id = reply.header("mcp-session-id");
        let path = path.to_owned();
        let introduction = reply.result();
        Session { edge: self, path, version: version.to_owned(), id, introduction }
    }
}

pub(super) fn initialize(version: Option<&str>, capabilities: &Value) -> String {
    let client = json!({"name": "test", "version": "1"});
    let mut params = json!({"capabilities": capabilities, "clientInfo": client});
    if let Some(version) = version {
        params["protocolVersion"] = version.into();
    }
    request(0, "initialize", &params)
}

pub(super) fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

/// The headers and the body of a stateless request.
pub(super) fn standing_alone(
    method: &str,
    mut params: Value,
) -> (Vec<(&'static str, String)>, String) {
    let own = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let mut meta = params["_meta"].as_object().cloned().unwrap_or_default();
    for (key, value) in own.as_object().unwrap() {
        meta.entry(key).or_insert_with(|| value.clone());
    }
    params["_meta"] = meta.into();
    let mut headers =
        vec![("mcp-protocol-version", STATELESS.to_owned()), ("mcp-method", method.to_owned())];
    let name = params.get(if method == "resources/read" { "uri" } else { "name" });
    if let Some(name) = name.and_then(Value::as_str) {
        headers.push(("mcp-name", name.to_owned()));
    }
    (headers, request(1, method, &params))
}

/// A whole answer over HTTP.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Reply {
    pub(super) async fn of(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = timeout(LONG, response.text()).await.expect("the answer ends").unwrap();
        Self { status, headers, body }
    }

    pub(super) fn header(&self, name: &str) -> String {
        self.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    pub(super) fn is_stream(&self) -> bool {
        self.header("content-type") == "text/event-stream"
    }

    /// All messages of it.
    pub(super) fn messages(&self) -> Vec<Value> {
        if !self.is_stream() {
            return vec![serde_json::from_str(&self.body).expect("the answer is JSON")];
        }
        self.body.split("\n\n").filter_map(message).collect()
    }

    pub(super) fn message(&self) -> Value {
        self.messages().pop().expect("the stream has an answer")
    }

    #[track_caller]
    pub(super) fn result(&self) -> Value {
        let mut message = self.message();
        assert!(message.get("result").is_some(), "{message}");
        message["result"].take()
    }

    /// The code of the error, if the answer is one.
    pub(super) fn code(&self) -> Option<i64> {
        if self.is_stream() {
            return self.message()["error"]["code"].as_i64();
        }
        serde_json::from_str::<Value>(&self.body).ok()?["error"]["code"].as_i64()
    }
}

/// The message of one event, if it brings one.
fn message(event: &str) -> Option<Value> {
    let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
    (!data.is_empty()).then(|| serde_json::from_str(data).expect("an event is JSON"))
}

/// The text of the first block of a tool's result, without what `execute_tool` wraps around it.
#[track_caller]
pub(super) fn said(result: &Value) -> String {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let wrapped = serde_json::from_str::<Value>(text).ok();
    let inner = wrapped.as_ref().and_then(|wrapped| wrapped["result"].as_str());
    inner.unwrap_or(text).to_owned()
}

/// How long an answer may take before it becomes a stream.
pub(super) const SOON: Duration = Duration::from_secs(2);

/// A session of a client.
pub(super) struct Session<'a> {
    pub(super) edge: &'a Edge,
    pub(super) path: String,
    pub(super) version: String,
    pub(super) id: String,
    pub(super) introduction: Value,
}

impl Session<'_> {
    pub(super) async fn send(
        &self,
        method: Method,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let own = [("mcp-session-id", &*self.id), ("mcp-protocol-version", &*self.version)];
        let headers: Vec<_> = own.iter().chain(headers).copied().collect();
        self.edge.send(method, &self.path, &headers, body).await
    }

    pub(super) async fn post(&self, body: &str) -> Reply {
        Reply::of(self.send(Method::POST, &[], body).await).await
    }

    pub(super) async fn ask(&self, id: u64, method: &str, params: Value) -> Reply {
        self.post(&request(id, method, &params)).await
    }

    pub(super) async fn result(&self, method: &str, params: Value) -> Value {
        self.ask(1, method, params).await.result()
    }

    /// Calls a tool, and leaves its answer unread.
    pub(super) async fn call(&self, id: u64, tool: &str, arguments: Value) -> Sse {
        let body = request(id, "tools/call", &json!({"name": tool, "arguments": arguments}));
        Sse::of(self.send(Method::POST, &[], &body).await)
    }

    /// Calls the tool `hold` at an endpoint of one source, and lets so much time pass that its
    /// answer becomes a stream. The source has received `calls` calls by then.
    pub(super) async fn held_call(&self, up: &ScriptedServer, id: u64, calls: usize) -> Sse {
        let late = async {
            up.script.reached("tools/call", calls).await;
            pass(SOON).await;
        };
        tokio::join!(self.call(id, "hold", json!({})), late).0
    }

    pub(super) async fn note(&self, method: &str, params: Value) -> u16 {
        let body = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.post(&body.to_string()).await.status
    }

    /// Answers a question of the gateway.
    pub(super) async fn answer(&self, id: &Value, result: Value) -> u16 {
        let body = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.post(&body.to_string()).await.status
    }

    pub(super) async fn listen(&self) -> Sse {
        Sse::of(self.send(Method::GET, &[], "").await)
    }

    pub(super) async fn resume(&self, event: &str) -> Response {
        self.send(Method::GET, &[("last-event-id", event)], "").await
    }

    pub(super) async fn delete(&self) -> u16 {
        self.send(Method::DELETE, &[], "").await.status().as_u16()
    }
}

/// A stream of events as it comes. Dropping it closes its connection.
pub(super) struct Sse {
    pub(super) response: Response,
    buffer: String,
}

impl Sse {
    #[track_caller]
    pub(super) fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, buffer: String::new() }
    }

    /// The next event as it is written, or nothing at the end of the stream.
    pub(super) async fn event(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.find("\n\n") {
                let rest = self.buffer.split_off(end + 2);
                let event = std::mem::replace(&mut self.buffer, rest);
                return Some(event.trim_end().to_owned());
            }
            let piece = timeout(LONG, self.response.chunk()).await.expect("something comes");
            // A connection that ends in the middle of a stream ends the stream.
            let piece = piece.ok().flatten()?;
            self.buffer.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    /// The next message, or nothing at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Value> {
        let next = async {
            loop {
                if let Some(message) = message(&self.event().await?) {
                    return Some(message);
                }
            }
        };
        // A stream that sends only signs of life has nothing to say.
        timeout(LONG, next).await.expect("a message or the end comes")
    }

    pub(super) async fn message(&mut self) -> Value {
        self.next().await.expect("the stream goes on")
    }
}

/// An event's id.
pub(super) fn event_id(event: &str) -> &str {
    event.lines().find_map(|line| line.strip_prefix("id: ")).expect("the event has an id")
}
