//! Servers over HTTP that answer wrongly.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use gatefold_core::CallError;
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::logs::ThreadLog;
use super::support::{Era, LONG, Upstream, Wire, http, trial, with_header};
use super::world::World;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for &(fault, error) in FAULTS {
        trials.push(trial(format!("a_fault_of_a_call_is_told_in_words::{fault}"), move || {
            call_fault(fault, error)
        }));
    }
    for &(fault, error) in GREETING_FAULTS {
        trials.push(trial(format!("a_fault_of_a_greeting_is_told_in_words::{fault}"), move || {
            greeting_fault(fault, error)
        }));
    }
    trials.extend([
        trial("a_refused_call_is_logged_once_and_shown_until_one_is_answered", shown),
        trial("a_flood_of_requests_is_refused_within_bounds", flooded),
        trial("an_expired_session_is_opened_again_once", expired),
        trial("a_configured_header_is_sent_and_never_shown", bearer),
        trial("closing_ends_the_session_at_the_server", ended),
        trial("a_server_that_was_away_is_found_again", away),
    ]);
    trials
}

/// The server's answer to a call, and what the caller reads about it.
const FAULTS: &[(&str, &str)] = &[
    (
        "401",
        "`up` gave no result: it answered with HTTP status 401 Unauthorized; check its credentials; \
         nothing was done",
    ),
    (
        "403",
        "`up` gave no result: it answered with HTTP status 403 Forbidden; check its credentials; \
         nothing was done",
    ),
    (
        "500",
        "`up` gave no result: it answered with HTTP status 500 Internal Server Error; it may have \
         taken effect, so find out before you call it again",
    ),
    (
        "404",
        "`up` gave no result: it answered with HTTP status 404 Not Found; check its URL; nothing \
         was done",
    ),
    (
        "302",
        "`up` gave no result: it answered with HTTP status 302 Found; check its URL; nothing was \
         done",
    ),
    (
        "429",
        "`up` gave no result: it answered with HTTP status 429 Too Many Requests; nothing was done; \
         it may be called again in 7 s",
    ),
    ("html", "`up` broke the protocol: its answer is not JSON-RPC"),
    ("empty", "`up` broke the protocol: its answer is not JSON-RPC"),
    ("accepted", "`up` broke the protocol: its answer is not JSON-RPC"),
    ("neither", "`up` broke the protocol: its answer has neither a result nor an error"),
    ("list", "`up` broke the protocol: its result is not a tool's result"),
    ("rpc_error_with_400", "`up__rpc_error_with_400` refused the call: as asked"),
    (
        "stream_that_ends",
        "the connection ended while `up__stream_that_ends` was under way; it may have taken \
         effect: the server ended its answer early",
    ),
    (
        "input",
        "the questions of `up__input` were not put to the client: it asked 16 times in a row, which is the limit",
    ),
];

/// The server's answer to a greeting, and what is said about it.
const GREETING_FAULTS: &[(&str, &str)] = &[
    ("401", "it answered with HTTP status 401 Unauthorized; check its credentials"),
    ("403", "it answered with HTTP status 403 Forbidden; check its credentials"),
    ("500", "it answered with HTTP status 500 Internal Server Error"),
    ("404", "it answered with HTTP status 404 Not Found; check its URL"),
    ("302", "it answered with HTTP status 302 Found; check its URL"),
    ("html", "its answer is not JSON-RPC"),
    ("empty", "its answer is not JSON-RPC"),
    ("rpc_error_with_400", "as asked"),
];

const SECRET: &str = "hunter2";

/// A server of the stateless era whose tools, or whose greeting, fail as their names say.
struct FaultyServer {
    url: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for FaultyServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl FaultyServer {
    async fn serve(greeting: &'static str) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp?key={SECRET}", listener.local_addr().unwrap());
        let router = Router::new().fallback(async move |body: Bytes| answer(&body, greeting));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, task }
    }
}

fn answer(body: &[u8], greeting: &str) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(body) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    let id = &request["id"];
    let result = match request["method"].as_str().unwrap_or_default() {
        "server/discover" if greeting.is_empty() => json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        }),
        "tools/list" => {
            let tool =
                |(name, _): &(&str, &str)| json!({"name": name, "inputSchema": {"type": "object"}});
            let tools: Vec<_> = FAULTS.iter().map(tool).collect();
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools})
        }
        "tools/call" => return fault(request["params"]["name"].as_str().unwrap(), id),
        _ => return fault(greeting, id),
    };
    axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}

fn fault(name: &str, id: &Value) -> Response {
    let stack_trace = || format!("at handler.js:1 with {SECRET}");
    let result = |result: Value| {
        axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
    };
    match name {
        "302" => (StatusCode::FOUND, [(header::LOCATION, format!("/login?key={SECRET}"))])
            .into_response(),
        "429" => (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "7")]).into_response(),
        "html" => axum::response::Html("<p>{this is not JSON").into_response(),
        "empty" => StatusCode::OK.into_response(),
        "accepted" => StatusCode::ACCEPTED.into_response(),
        "neither" => axum::Json(json!({"jsonrpc": "2.0", "id": id})).into_response(),
        "list" => result(json!([1, 2])),
        "input" => result(json!({"resultType": "input_required", "inputRequests": {}})),
        "rpc_error_with_400" => {
            let error = json!({"code": -32000, "message": "as asked"});
            let body = axum::Json(json!({"jsonrpc": "2.0", "id": id, "error": error}));
            (StatusCode::BAD_REQUEST, body).into_response()
        }
        "stream_that_ends" => {
            let events = Body::from(": nothing to say\n\n");
            ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
        }
        status => {
            let status = StatusCode::from_bytes(status.as_bytes()).unwrap();
            (status, stack_trace()).into_response()
        }
    }
}

/// Everything that is said about an error: to its caller, and to the operator of the gateway.
fn all_that_is_said(error: &CallError) -> String {
    let mut said = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        write!(said, " {cause} {cause:?}").unwrap();
        source = cause.source();
    }
    said
}

async fn call_fault(fault: &str, expected: &str) {
    let server = FaultyServer::serve("").await;
    let world = World::connected(&http("up", &server.url)).await;
    let error = world.call(&format!("up__{fault}"), "{}").await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    let said = all_that_is_said(&error);
    assert!(!said.contains(SECRET), "{said}");
}

async fn greeting_fault(fault: &'static str, expected: &str) {
    let server = FaultyServer::serve(fault).await;
    let settings = with_header(http("up", &server.url), "x-key", SECRET);
    let world = World::new(&[&settings]);
    let error = world.dispatcher.refresh().await.remove(0).1.unwrap_err();
    let told = error.to_string();
    assert!(told.starts_with("`up` is unavailable: ") && told.ends_with(expected), "{told}");
    let said = all_that_is_said(&error);
    assert!(!said.contains(SECRET), "{said}");
}

async fn shown() {
    let logged = ThreadLog::start();
    let server = FaultyServer::serve("").await;
    let world = World::connected(&http("up", &server.url)).await;
    for _ in 0..2 {
        assert!(world.call("up__401", "{}").await.is_err());
    }
    let reason = "it answered with HTTP status 401 Unauthorized; check its credentials";
    assert_eq!(world.report("up").status.error.as_deref(), Some(reason));
    let text = logged.text();
    let lines: Vec<_> = text.lines().filter(|line| line.contains("a call was refused")).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(lines[0].contains("WARN") && lines[0].contains("domain=up"), "{text}");
    assert!(lines[0].contains(reason) && !text.contains(SECRET), "{text}");
    assert!(world.call("up__rpc_error_with_400", "{}").await.is_err());
    assert_eq!(world.report("up").status.error, None, "the server answers again");
}

/// A server that asks many questions during an answer and accepts no answers itself.
async fn flooded() {
    const REQUESTS: usize = 200;
    const MOST: usize = 32;
    let refusals = Arc::new(AtomicUsize::new(0));
    let counted = refusals.clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = Router::new().fallback(async move |body: Bytes| {
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        if message.get("error").is_some() {
            counted.fetch_add(1, Ordering::SeqCst);
            return std::future::pending().await;
        }
        if message["method"] != "tools/call" {
            return answer(&body, "");
        }
        let mut events = String::new();
        for id in 0..REQUESTS {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"});
            write!(events, "data: {request}\n\n").unwrap();
        }
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}});
        write!(events, "data: {answer}\n\n").unwrap();
        ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
    });
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let world = World::connected(&http("up", &url)).await;
    for _ in 0..3 {
        world.call("up__list", "{}").await.unwrap();
        let most = || refusals.load(Ordering::SeqCst) >= MOST;
        assert!(wait_until(LONG, most).await, "some are sent");
    }
    assert_eq!(refusals.load(Ordering::SeqCst), MOST, "the others are dropped");
    task.abort();
}

async fn expired() {
    for wire in [Wire::Http, Wire::Sse] {
        let upstream = Upstream::new("up", wire, Era::Handshake, &[]);
        let world = World::connected(&upstream.settings).await;
        world.text("up__echo", "{}").await;
        let call = upstream.received().into_iter().rfind(|message| message.method == "tools/call");
        let session = call.unwrap().headers["mcp-session-id"].as_str().unwrap().to_owned();
        let gatefold_mcp::Transport::Http(http) = &upstream.settings.transport else { panic!() };
        let ended = super::world::client().delete(&http.url).header("mcp-session-id", &session);
        assert!(ended.send().await.unwrap().status().is_success());

        assert_eq!(world.text("up__echo", "{}").await, "{}", "the call is sent on a new session");
        assert_eq!(upstream.count("initialize"), 2);
        assert_eq!(world.text("up__echo", "{}").await, "{}");
        assert_eq!(upstream.count("initialize"), 2);
    }
}

async fn bearer() {
    let upstream = Upstream::new("up", Wire::Http, Era::Handshake, &["--bearer", SECRET]);
    let world = World::new(&[&upstream.settings]);
    let refused = world.refresh().await.remove(0).1.unwrap_err();
    assert!(refused.ends_with("HTTP status 401 Unauthorized; check its credentials"), "{refused}");

    let settings =
        with_header(upstream.settings.clone(), "authorization", &format!("Bearer {SECRET}"));
    assert!(!format!("{settings:?}").contains(SECRET));
    let world = World::connected(&settings).await;
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert!(world.call("up__grow", "{}").await.is_ok());
}

async fn ended() {
    let upstream = Upstream::new("up", Wire::Http, Era::Handshake, &[]);
    let world = World::connected(&upstream.settings).await;
    world.text("up__echo", "{}").await;
    let call = upstream.received().into_iter().rfind(|message| message.method == "tools/call");
    let session = call.unwrap().headers["mcp-session-id"].as_str().unwrap().to_owned();
    world.dispatcher.close().await;
    let gatefold_mcp::Transport::Http(http) = &upstream.settings.transport else { panic!() };
    let again = super::world::client().delete(&http.url).header("mcp-session-id", &session);
    let status = again.send().await.unwrap().status();
    assert_eq!(status, StatusCode::NOT_FOUND, "the session is over already");
}

async fn away() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let settings = http("up", &format!("http://{address}/mcp"));
    let world = World::new(&[&settings]);
    assert!(world.refresh().await.remove(0).1.is_err());
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let router = Router::new().fallback(async |body: Bytes| answer(&body, ""));
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let deadline = tokio::time::Instant::now() + LONG;
    while world.refresh().await.remove(0).1.is_err() {
        assert!(tokio::time::Instant::now() < deadline, "it is found again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    task.abort();
}
