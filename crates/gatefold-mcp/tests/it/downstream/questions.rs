//! What sources ask of clients on the way.

use libtest_mimic::Trial;
use reqwest::Method;
use serde_json::{Value, json};

use super::edge::{Edge, Session, Sse, request, said, trial};
use super::scripted::ScriptedServer;
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::support::{Era, Wire};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("each_of_two_clients_is_asked_what_is_its_own", two),
        trial("answers_to_questions_nobody_asked_are_ignored", foreign),
        trial("a_client_that_hangs_up_frees_the_source_it_was_asked_by", hung_up),
        trial("a_cancelled_call_takes_its_question_back", taken_back),
        trial("a_client_without_a_session_is_asked_by_the_answer", by_retry),
        trial("a_client_that_declines_makes_the_call_fail", declined),
        trial("a_call_asks_its_client_so_often_and_no_more", pestered),
    ]
}

async fn edge() -> (ReferenceUpstream, Edge) {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = Edge::over(&[&up.settings]).await;
    (up, edge)
}

fn asking() -> Value {
    json!({"elicitation": {}})
}

/// Makes a call that asks, on a path of either kind, and returns the question too.
async fn asked(session: &Session<'_>, id: u64) -> (Sse, Value) {
    let params = if session.path == "/mcp" {
        json!({"name": "execute_tool", "arguments": {"tool_name": "up__matrix_elicit"}})
    } else {
        json!({"name": "matrix_elicit", "arguments": {}})
    };
    let body = request(id, "tools/call", &params);
    let mut call = Sse::of(session.send(Method::POST, &[], &body).await);
    let question = call.message().await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "What is your name?");
    (call, question["id"].clone())
}

fn name(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

fn told(name: &str) -> String {
    format!(r#"action=accept, content={{"name":"{name}"}}"#)
}

async fn two() {
    let (_up, edge) = edge().await;
    for path in ["/mcp", "/mcp/source/up"] {
        let ada = edge.session_of(path, "2025-11-25", asking()).await;
        let bob = edge.session_of(path, "2025-06-18", asking()).await;
        let (mut of_ada, ada_asked) = asked(&ada, 1).await;
        let (mut of_bob, bob_asked) = asked(&bob, 1).await;
        assert_eq!(bob.answer(&bob_asked, name("Bob")).await, 202);
        assert_eq!(said(&of_bob.message().await["result"]), told("Bob"));
        assert_eq!(ada.answer(&ada_asked, name("Ada")).await, 202);
        assert_eq!(said(&of_ada.message().await["result"]), told("Ada"));
    }
}

async fn foreign() {
    let (_up, edge) = edge().await;
    let ada = edge.session_of("/mcp/source/up", "2025-11-25", asking()).await;
    let bob = edge.session_of("/mcp/source/up", "2025-11-25", asking()).await;
    let (mut call, question) = asked(&ada, 1).await;
    assert_eq!(bob.answer(&question, name("Bob")).await, 202);
    for id in [json!("gatefold-99"), json!(0), json!("")] {
        assert_eq!(ada.answer(&id, name("Nobody")).await, 202);
    }
    assert_eq!(ada.answer(&question, name("Ada")).await, 202);
    assert_eq!(said(&call.message().await["result"]), told("Ada"));
    let (mut call, next) = asked(&ada, 2).await;
    assert_ne!(question, next);
    assert_eq!(ada.answer(&question, name("Old")).await, 202);
    assert_eq!(ada.answer(&next, name("New")).await, 202);
    assert_eq!(said(&call.message().await["result"]), told("New"));
    // The first answer counts.
    assert_eq!(ada.answer(&next, name("Late")).await, 202);
}

/// How many calls of `matrix_elicit` the gateway has under way.
fn under_way(edge: &Edge) -> usize {
    edge.world.report("up").calls_in_flight
}

async fn hung_up() {
    let (_up, edge) = edge().await;
    let session = edge.session_of("/mcp", "2025-06-18", asking()).await;
    let (call, question) = asked(&session, 1).await;
    assert_eq!(under_way(&edge), 0, "a waiting question takes no place");
    drop(call);
    assert_eq!(session.answer(&question, name("Late")).await, 202);
    let (mut call, question) = asked(&session, 2).await;
    assert_eq!(session.answer(&question, name("Ada")).await, 202);
    assert_eq!(said(&call.message().await["result"]), told("Ada"));
}

async fn taken_back() {
    let (_up, edge) = edge().await;
    let session = edge.session_of("/mcp/source/up", "2025-11-25", asking()).await;
    let (mut call, _) = asked(&session, 5).await;
    assert_eq!(session.note("notifications/cancelled", json!({"requestId": 5})).await, 202);
    while let Some(message) = call.next().await {
        assert_eq!(message["method"], "notifications/cancelled", "{message}");
    }
    assert_eq!(under_way(&edge), 0);
}

async fn by_retry() {
    let (_up, edge) = edge().await;
    for (path, params) in [
        ("/mcp", json!({"name": "execute_tool", "arguments": {"tool_name": "up__matrix_elicit"}})),
        ("/mcp/source/up", json!({"name": "matrix_elicit", "arguments": {}})),
    ] {
        let asked = edge.result(path, "tools/call", params.clone()).await;
        assert_eq!(asked["resultType"], "input_required");
        let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(question["method"], "elicitation/create");
        let mut again = params.clone();
        again["requestState"] = asked["requestState"].clone();
        again["inputResponses"] = json!({key: name("Ada")});
        let result = edge.result(path, "tools/call", again.clone()).await;
        assert_eq!(said(&result), told("Ada"));
        assert_eq!(result["resultType"], "complete");
        again["requestState"] = "made up".into();
        let reply = edge.ask(path, "tools/call", again).await;
        let message = reply.message();
        let is_refused = message["error"]["code"] == -32602 || message["result"]["isError"] == true;
        assert!(is_refused, "{message}");
    }
}

async fn declined() {
    let (_up, edge) = edge().await;
    let session = edge.session_of("/mcp/source/up", "2025-11-25", asking()).await;
    let (mut call, question) = asked(&session, 1).await;
    let error = json!({"code": -1, "message": "not today"});
    let answer = json!({"jsonrpc": "2.0", "id": question, "error": error});
    assert_eq!(session.post(&answer.to_string()).await.status, 202);
    let message = call.message().await;
    assert!(message.to_string().contains("not today"), "{message}");
}

/// The most questions of one call.
const LIMIT: u64 = 64;

async fn pestered() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session_of("/mcp/source/up", "2025-11-25", json!({"sampling": {}})).await;
    let mut call = session.call(1, "chat", json!({"asks": true})).await;
    let mut asked = 0;
    let result = loop {
        let message = call.message().await;
        if message["method"] != "sampling/createMessage" {
            break message["result"].clone();
        }
        asked += 1;
        let sample =
            json!({"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"});
        assert_eq!(session.answer(&message["id"], sample).await, 202);
    };
    assert_eq!((asked, said(&result)), (LIMIT, format!("{LIMIT} answers")));
}
