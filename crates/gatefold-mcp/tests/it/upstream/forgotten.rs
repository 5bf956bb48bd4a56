//! Servers of the handshake era over HTTP that forget a session, and those that only refuse something.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use http::HeaderMap;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;

use super::support::{http as at, trial};
use super::world::World;
use crate::serving::serve_router;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for &(name, refusal) in LOST {
        trials.push(trial(format!("a_lost_session_is_opened_again_once::{name}"), move || {
            lost(refusal)
        }));
    }
    for &(name, refusal, told) in REFUSED {
        trials.push(trial(format!("an_error_is_told_and_sent_once::{name}"), move || {
            refused(refusal, told)
        }));
    }
    trials.extend([
        trial("a_server_that_refuses_a_call_like_a_lost_session_keeps_it", own_sessions),
        trial("a_redirect_to_a_slash_names_the_address_to_write", slashed),
    ]);
    trials
}

/// A status, the kind of the answer, and its text, in which `ID` is the request's id.
type Refusal = (u16, &'static str, &'static str);

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const EVENTS: &str = "text/event-stream";

/// What a server says to a session that it does not know.
const LOST: &[(&str, Refusal)] = &[
    ("404_text", (404, TEXT, "session not found")),
    (
        "404_null",
        (404, JSON, r#"{"id":null,"error":{"code":-32001,"message":"Session not found"}}"#),
    ),
    ("404_own", (404, JSON, r#"{"id":ID,"error":{"code":-32001,"message":"Session not found"}}"#)),
    ("404_other", (404, JSON, r#"{"id":ID,"error":{"code":-32000,"message":"Unknown session"}}"#)),
    ("400_null", (400, JSON, r#"{"id":null,"error":{"code":-32000,"message":"greet me"}}"#)),
    (
        "400_own",
        (400, JSON, r#"{"id":ID,"error":{"code":-32000,"message":"No valid session ID"}}"#),
    ),
    ("400_text", (400, TEXT, "Bad Request: there is no such session")),
    ("410_text", (410, TEXT, "session expired")),
    ("200", (200, JSON, r#"{"id":ID,"error":{"code":-32002,"message":"Not initialized"}}"#)),
    (
        "200_stream",
        (
            200,
            EVENTS,
            "data: {\"id\":ID,\"error\":{\"code\":-32600,\"message\":\"Session has expired\"}}\n\n",
        ),
    ),
];

/// How a server refuses a call in a session that it knows, and what the caller reads.
const REFUSED: &[(&str, Refusal, &str)] = &[
    (
        "404_method",
        (404, JSON, r#"{"id":ID,"error":{"code":-32601,"message":"no such method"}}"#),
        "`up__count` refused the call: no such method",
    ),
    (
        "404_row",
        (404, JSON, r#"{"id":ID,"error":{"code":-32000,"message":"No such row"}}"#),
        "`up__count` refused the call: No such row",
    ),
    (
        "400_busy",
        (400, JSON, r#"{"id":ID,"error":{"code":-32000,"message":"out of paper"}}"#),
        "`up__count` refused the call: out of paper",
    ),
    (
        "200_tab",
        (200, JSON, r#"{"id":ID,"error":{"code":-32000,"message":"Session not found: tab 3"}}"#),
        "`up__count` refused the call: Session not found: tab 3",
    ),
];

#[derive(Clone)]
struct ForgetfulServer(Arc<Mutex<Sessions>>);

struct Sessions {
    /// Greetings so far. The last one's session is known.
    greetings: usize,
    is_known: bool,
    /// Calls that came, and those that ran.
    came: usize,
    ran: usize,
    refusal: Refusal,
    /// Whether known sessions are refused as well when they call.
    refuses_calls: bool,
}

impl ForgetfulServer {
    async fn serve(refusal: Refusal, refuses_calls: bool) -> (Self, World, DropGuard) {
        let server = Self(Arc::new(Mutex::new(Sessions {
            greetings: 0,
            is_known: false,
            came: 0,
            ran: 0,
            refusal,
            refuses_calls,
        })));
        let router = Router::new().route("/mcp", post(answer)).with_state(server.clone());
        let (url, serving) = serve_router(router).await;
        let world = World::connected(&at("up", &url)).await;
        (server, world, serving)
    }

    fn forget(&self) {
        self.0.lock().unwrap().is_known = false;
    }

    fn counts(&self) -> (usize, usize, usize) {
        let sessions = self.0.lock().unwrap();
        (sessions.greetings, sessions.came, sessions.ran)
    }
}

fn respond(status: u16, kind: &str, body: String) -> Response {
    let response = Response::builder().status(status).header("content-type", kind);
    response.body(Body::from(body)).unwrap()
}

async fn answer(
    State(server): State<ForgetfulServer>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut sessions = server.0.lock().unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap();
    let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
    let result = |result: Value| {
        respond(200, JSON, json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    };
    let is_call = method == "tools/call";
    sessions.came += usize::from(is_call);
    if method == "server/discover" {
        let error = json!({"code": -32601, "message": "unknown"});
        let refusal = json!({"jsonrpc": "2.0", "id": id, "error": error});
        return respond(200, JSON, refusal.to_string());
    }
    if method == "initialize" {
        sessions.greetings += 1;
        sessions.is_known = true;
        let mut answer = result(json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "forgetful", "version": "1"},
        }));
        let session = sessions.greetings.to_string().parse().unwrap();
        answer.headers_mut().insert("mcp-session-id", session);
        return answer;
    }
    let session = headers.get("mcp-session-id").and_then(|value| value.to_str().ok());
    let is_current = session == Some(&sessions.greetings.to_string());
    let is_known = is_current && sessions.is_known;
    if !is_known || is_call && sessions.refuses_calls {
        let (status, kind, text) = sessions.refusal;
        return respond(status, kind, text.replace("ID", &id.to_string()));
    }
    match method {
        "tools/list" => {
            result(json!({"tools": [{"name": "count", "inputSchema": {"type": "object"}}]}))
        }
        "tools/call" => {
            sessions.ran += 1;
            result(json!({"content": [{"type": "text", "text": format!("ran {}", sessions.ran)}]}))
        }
        _ => respond(202, TEXT, String::new()),
    }
}

async fn lost(refusal: Refusal) {
    let (server, world, _serving) = ForgetfulServer::serve(refusal, false).await;
    assert_eq!(world.text("up__count", "{}").await, "ran 1");
    server.forget();
    assert_eq!(world.text("up__count", "{}").await, "ran 2");
    assert_eq!(world.text("up__count", "{}").await, "ran 3");
    let (greetings, _, ran) = server.counts();
    assert_eq!((greetings, ran), (2, 3));
}

async fn refused(refusal: Refusal, told: &str) {
    let (server, world, _serving) = ForgetfulServer::serve(refusal, true).await;
    for calls in 1..=3 {
        assert_eq!(world.error("up__count", "{}").await, told);
        assert_eq!(server.counts().1, calls, "it is sent once");
    }
    if refusal.0 != 400 {
        assert_eq!(server.counts().0, 1, "the session goes on");
    }
}

/// What is not forgotten answers the list as before, whatever it says to a call.
async fn own_sessions() {
    let refusal =
        (400, JSON, r#"{"id":null,"error":{"code":-32600,"message":"no session for you"}}"#);
    let (server, world, _serving) = ForgetfulServer::serve(refusal, true).await;
    let told = world.error("up__count", "{}").await;
    assert!(told.ends_with("no session for you"), "{told}");
    assert_eq!(server.counts().1, 1, "it is sent once");
}

async fn slashed() {
    let router =
        Router::new().route("/mcp", post(async || axum::response::Redirect::temporary("/mcp/")));
    let (url, _serving) = serve_router(router).await;
    let world = World::new(&[&at("up", &url)]);
    let told = world.refresh().await.remove(0).1.unwrap_err();
    let expected = format!("write its URL as the server does: {url}/");
    assert!(told.ends_with(&expected), "{told}");
}
