//! What clients hear after they have cancelled a call.

use libtest_mimic::Trial;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::edge::{Edge, LATEST, Reply, Session, request, said, trial};
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::support::{Era, LONG, Wire};

pub(super) fn trials() -> Vec<Trial> {
    let wires = [Wire::Stdio, Wire::Http].into_iter();
    let ways = wires.flat_map(|wire| [(wire, Era::Handshake), (wire, Era::Stateless)]);
    ways.flat_map(|(wire, era)| {
        let name = "log_messages_of_the_call_after_a_cancelled_one_are_heard";
        let way = format!("{wire:?}_{era:?}").to_lowercase();
        [
            trial(format!("{name}::session_{way}"), move || with_session(wire, era)),
            trial(format!("{name}::stateless_{way}"), move || without_session(wire, era)),
        ]
    })
    .collect()
}

const PATH: &str = "/mcp/source/up";
/// How many messages `matrix_log` logs.
const LOGGED: usize = 8;

fn tool(name: &str) -> Value {
    json!({"name": name, "arguments": {}})
}

/// The methods of the messages of an answer, in order.
fn methods(reply: &Reply) -> Vec<String> {
    let messages = reply.messages().into_iter();
    messages.map(|message| message["method"].as_str().unwrap_or("answer").to_owned()).collect()
}

#[track_caller]
fn assert_logged(reply: &Reply) {
    let mut expected = vec!["notifications/message"; LOGGED];
    expected.push("answer");
    assert_eq!(methods(reply), expected);
}

/// Waits until so many calls of `matrix_wait` are under way, as another client.
async fn waiting(edge: &Edge, count: &str) {
    let reached = async {
        while said(&edge.result(PATH, "tools/call", tool("matrix_waiting")).await) != count {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, reached).await.expect("it comes to that");
}

async fn with_session(wire: Wire, era: Era) {
    let up = ReferenceUpstream::new(wire, era).await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session_of(PATH, LATEST, json!({})).await;
    assert_eq!(session.ask(9, "logging/setLevel", json!({"level": "debug"})).await.code(), None);
    let body = request(1, "tools/call", &tool("matrix_wait"));
    let cancelled = async {
        waiting(&edge, "1").await;
        assert_eq!(session.note("notifications/cancelled", json!({"requestId": 1})).await, 202);
    };
    let (call, ()) = tokio::join!(session.send(Method::POST, &[], &body), cancelled);
    let heard = Reply::of(call).await;
    assert!(heard.body.is_empty() || methods(&heard).is_empty(), "{}", heard.body);
    waiting(&edge, "0").await;
    assert_logged(&logged(&session).await);
}

async fn logged(session: &Session<'_>) -> Reply {
    session.ask(2, "tools/call", tool("matrix_log")).await
}

async fn without_session(wire: Wire, era: Era) {
    let up = ReferenceUpstream::new(wire, era).await;
    let edge = Edge::over(&[&up.settings]).await;
    let logging = |name: &str| {
        let mut params = tool(name);
        params["_meta"] = json!({"io.modelcontextprotocol/logLevel": "debug"});
        params
    };
    tokio::select! {
        reply = edge.ask(PATH, "tools/call", logging("matrix_wait")) => panic!("{}", reply.body),
        () = waiting(&edge, "1") => {}
    }
    waiting(&edge, "0").await;
    assert_logged(&edge.ask(PATH, "tools/call", logging("matrix_log")).await);
}
