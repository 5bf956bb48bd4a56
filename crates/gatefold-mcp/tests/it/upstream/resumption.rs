//! Answers over HTTP whose stream ends early.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use gatefold_core::CallError;
use gatefold_dispatch::Event;
use http::HeaderMap;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::DropGuard;

use super::support::{LONG, http as at, trial};
use super::world::{World, listening};
use crate::serving::serve_router;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("an_answer_that_ends_early_is_taken_up_where_it_ended", taken_up),
        trial("an_answer_that_ends_early_without_an_id_is_lost", lost),
        trial("a_server_that_wants_to_be_left_alone_for_ever_is_not", bounded),
        trial("a_server_that_never_goes_on_is_given_up", given_up),
    ]
}

/// How long the server asks us to wait before we come back.
const RETRY: Duration = Duration::from_millis(300);

/// A server of the handshake era that ends each stream before it has answered the call.
#[derive(Clone, Default)]
struct EarlyEndingServer {
    /// The fields of the first event before the end.
    fields: &'static str,
    goes_on: bool,
    ended: Arc<Mutex<Option<(Instant, Value)>>>,
    /// How long we waited, and the event that we named.
    resumed: Arc<Mutex<Vec<(Duration, String)>>>,
}

async fn serve(early: EarlyEndingServer) -> (String, DropGuard) {
    let router = Router::new().route("/mcp", post(answer).get(go_on)).with_state(early);
    serve_router(router).await
}

fn respond(status: u16, kind: &str, body: impl Into<Body>) -> Response {
    let response = Response::builder().status(status).header("content-type", kind);
    response.body(body.into()).unwrap()
}

async fn answer(State(early): State<EarlyEndingServer>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "early", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "slow", "inputSchema": {"type": "object"}}]}),
        "tools/call" => {
            *early.ended.lock().unwrap() = Some((Instant::now(), message["id"].clone()));
            return respond(200, "text/event-stream", format!("{}data: \n\n", early.fields));
        }
        "server/discover" => {
            let error = json!({"code": -32601, "message": "unknown"});
            let refusal = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            return respond(200, "application/json", refusal.to_string());
        }
        _ => return respond(202, "text/plain", ""),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    respond(200, "application/json", answer.to_string())
}

async fn go_on(State(early): State<EarlyEndingServer>, headers: HeaderMap) -> Response {
    let Some(event) = headers.get("last-event-id") else {
        return respond(405, "text/plain", "");
    };
    let (ended, id) = early.ended.lock().unwrap().clone().unwrap();
    let event = event.to_str().unwrap().to_owned();
    early.resumed.lock().unwrap().push((ended.elapsed(), event));
    if !early.goes_on {
        let nothing = futures::stream::empty::<Result<Bytes, Infallible>>();
        return respond(200, "text/event-stream", Body::from_stream(nothing));
    }
    let result = json!({"content": [{"type": "text", "text": "at last"}]});
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
    respond(200, "text/event-stream", format!("id: e2\ndata: {answer}\n\n"))
}

async fn taken_up() {
    let early = EarlyEndingServer {
        fields: "id: e1\nretry: 300\n",
        goes_on: true,
        ..EarlyEndingServer::default()
    };
    let (url, _server) = serve(early.clone()).await;
    let world = World::connected(&at("up", &url)).await;
    assert_eq!(world.text("up__slow", "{}").await, "at last");
    let resumed = early.resumed.lock().unwrap().clone();
    assert_eq!(resumed.len(), 1);
    assert_eq!(resumed[0].1, "e1");
    assert!(resumed[0].0 >= RETRY, "left alone for {:?}", resumed[0].0);
}

async fn lost() {
    let early = EarlyEndingServer { fields: "", goes_on: true, ..EarlyEndingServer::default() };
    let (url, _server) = serve(early.clone()).await;
    let world = World::connected(&at("up", &url)).await;
    let error = world.call("up__slow", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error}");
    assert!(early.resumed.lock().unwrap().is_empty());
}

async fn bounded() {
    let fields = "id: e1\nretry: 18446744073709551615\n";
    let (url, _server) = serve(EarlyEndingServer { fields, ..EarlyEndingServer::default() }).await;
    let world = World::connected(&at("up", &url)).await;
    let (caller, mut events) = listening();
    let call = world.start("up__slow", "{}", caller);
    let event = timeout(LONG, events.recv()).await.expect("its client is told").unwrap();
    let Event::Pause { retry } = event else { panic!("{event:?}") };
    assert_eq!(retry, Duration::from_secs(30));
    call.abort();
}

async fn given_up() {
    let early = EarlyEndingServer {
        fields: "id: e1\nretry: 1\n",
        goes_on: false,
        ..EarlyEndingServer::default()
    };
    let (url, _server) = serve(early.clone()).await;
    let world = World::connected(&at("up", &url)).await;
    let error = world.call("up__slow", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error}");
    assert_eq!(early.resumed.lock().unwrap().len(), 10);
}
