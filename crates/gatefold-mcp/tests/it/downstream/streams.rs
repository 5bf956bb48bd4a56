//! Answers that are plain, and answers that come in pieces.

use std::time::Duration;

use libtest_mimic::Trial;
use reqwest::Method;
use serde_json::json;

use super::edge::{Edge, LATEST, Reply, SOON, Sse, pass, request, said, trial};
use super::scripted::ScriptedServer;
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::support::{Era, Wire};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("a_quick_answer_of_the_gateway_is_plain", plain),
        trial("progress_makes_a_stream_of_an_answer", progress),
        trial("an_endpoint_of_one_source_streams_only_what_comes_before_an_answer", source),
        trial("a_stream_that_can_be_taken_up_begins_by_saying_so", priming),
        trial("a_client_that_hangs_up_cancels_what_it_asked_for", hung_up),
        trial("a_cancelled_request_is_not_answered", cancelled),
        trial("a_silent_stream_says_that_it_is_there", kept_alive),
        trial("an_answer_that_takes_long_becomes_a_stream", slow),
    ]
}

fn execute(tool: &str) -> serde_json::Value {
    json!({"name": "execute_tool", "arguments": {"tool_name": tool}})
}

async fn plain() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp").await;
    for reply in [
        edge.ask("/mcp", "tools/call", execute("up__say")).await,
        session.ask(1, "tools/call", execute("up__say")).await,
        session.ask(2, "tools/list", json!({})).await,
        edge.ask("/mcp", "tools/list", json!({})).await,
    ] {
        assert_eq!((reply.status, &*reply.header("content-type")), (200, "application/json"));
        reply.result();
    }
}

async fn progress() {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = Edge::over(&[&up.settings]).await;
    let mut params = execute("up__matrix_progress");
    params["_meta"] = json!({"progressToken": "mine"});
    let session = edge.session("/mcp").await;
    for reply in [
        edge.ask("/mcp", "tools/call", params.clone()).await,
        session.ask(1, "tools/call", params.clone()).await,
    ] {
        assert!(reply.is_stream());
        let messages = reply.messages();
        let (answer, told) = messages.split_last().unwrap();
        assert_eq!(told.len(), 3, "{messages:?}");
        for (at, notice) in told.iter().enumerate() {
            assert_eq!(notice["method"], "notifications/progress");
            assert_eq!(notice["params"]["progressToken"], "mine");
            assert_eq!(notice["params"]["progress"].as_f64(), Some([1.0, 2.0, 3.0][at]));
        }
        assert_eq!(said(&answer["result"]), "took 3 steps");
    }
}

async fn source() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let path = "/mcp/source/up";
    let (session, old) =
        (edge.session(path).await, edge.session_of(path, "2025-06-18", json!({})).await);
    let say = json!({"name": "say", "arguments": {"a": 1}});
    for reply in [
        edge.ask(path, "tools/call", say.clone()).await,
        session.ask(1, "tools/call", say.clone()).await,
        old.ask(1, "tools/call", say.clone()).await,
    ] {
        assert_eq!((reply.status, &*reply.header("content-type")), (200, "application/json"));
        assert_eq!(said(&reply.result()), r#"say {"a":1}"#);
    }
    let unknown = json!({"name": "no_such"});
    for reply in [
        edge.ask(path, "tools/call", unknown.clone()).await,
        session.ask(2, "tools/call", unknown.clone()).await,
    ] {
        assert!(!reply.is_stream());
        assert_eq!(reply.code(), Some(-32602), "{}", reply.body);
    }
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = Edge::over(&[&up.settings]).await;
    let params = json!({"name": "matrix_progress", "_meta": {"progressToken": "mine"}});
    let (session, old) =
        (edge.session(path).await, edge.session_of(path, "2025-06-18", json!({})).await);
    for reply in [
        edge.ask(path, "tools/call", params.clone()).await,
        session.ask(1, "tools/call", params.clone()).await,
        old.ask(1, "tools/call", params.clone()).await,
    ] {
        assert!(reply.is_stream());
        assert_eq!(reply.header("cache-control"), "no-cache");
        let messages = reply.messages();
        assert_eq!(messages.len(), 4, "{messages:?}");
        assert_eq!(said(&messages[3]["result"]), "took 3 steps");
    }
}

async fn priming() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let versions = [(LATEST, true), ("2025-06-18", false), ("2024-11-05", false)];
    let mut begun = Vec::new();
    for (calls, (version, is_primed)) in (1..).zip(versions) {
        let session = edge.session_of("/mcp/source/up", version, json!({})).await;
        let call = session.held_call(&up, 1, calls).await;
        begun.push((session, call, is_primed));
    }
    up.script.release();
    for (session, call, is_primed) in &mut begun {
        let first = call.event().await.unwrap();
        let has_id = first.starts_with("id: ");
        assert_eq!(has_id, *is_primed, "{}: {first}", session.version);
        if *is_primed {
            assert!(first.contains("\nretry: 1000\n") && first.ends_with("data:"), "{first}");
            let second = call.event().await.unwrap();
            assert!(second.starts_with("id: ") && !second.contains("retry"), "{second}");
        }
    }
}

async fn hung_up() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp").await;
    let old = edge.session_of("/mcp", "2025-06-18", json!({})).await;
    let own = edge.session_of("/mcp/source/up", "2025-06-18", json!({})).await;
    let hold = json!({"name": "hold", "arguments": {}});
    let in_session = request(1, "tools/call", &execute("up__hold"));
    let mut calls = 0;
    for way in ["stateless", "of the source", "in a session", "in an old session", "own"] {
        let sent = async {
            match way {
                "stateless" => drop(edge.ask("/mcp", "tools/call", execute("up__hold")).await),
                "of the source" => {
                    drop(edge.ask("/mcp/source/up", "tools/call", hold.clone()).await);
                }
                "in a session" => drop(session.post(&in_session).await),
                "in an old session" => drop(old.post(&in_session).await),
                _ => drop(own.post(&request(1, "tools/call", &hold)).await),
            }
        };
        calls += 1;
        tokio::select! {
            () = sent => panic!("answered {way}"),
            () = up.script.reached("tools/call", calls) => {}
        }
        up.script.gave_up(calls).await;
        assert_eq!(up.script.given_up(), calls, "{way}");
    }
}

async fn cancelled() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for (calls, path) in [(1, "/mcp"), (2, "/mcp/source/up")] {
        let session = edge.session(path).await;
        let params = match path {
            "/mcp" => execute("up__hold"),
            _ => json!({"name": "hold", "arguments": {}}),
        };
        let body = request(9, "tools/call", &params);
        let cancel = async {
            up.script.reached("tools/call", calls).await;
            let of_another = json!({"requestId": "9"});
            assert_eq!(session.note("notifications/cancelled", of_another).await, 202);
            let of_nobody = json!({"requestId": 8});
            assert_eq!(session.note("notifications/cancelled", of_nobody).await, 202);
            assert_eq!(session.ask(1, "ping", json!({})).await.status, 200);
            assert_eq!(up.script.given_up(), calls - 1);
            assert_eq!(session.note("notifications/cancelled", json!({"requestId": 9})).await, 202);
        };
        let (reply, ()) = tokio::join!(session.post(&body), cancel);
        assert!(!reply.body.contains("jsonrpc"), "{}", reply.body);
        up.script.gave_up(calls).await;
    }
}

const KEEP_ALIVE: Duration = Duration::from_secs(15);

async fn kept_alive() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp/source/up").await;
    let listen = edge.begin("/mcp", "subscriptions/listen", json!({"notifications": {}}));
    let mut listening = Sse::of(listen.await);
    listening.message().await;
    let mut call = session.held_call(&up, 1, 1).await;
    call.event().await;
    let mut streams = [session.listen().await, call, listening];
    for stream in &mut streams {
        pass(KEEP_ALIVE).await;
        assert_eq!(stream.event().await.unwrap(), ": still here");
    }
}

async fn slow() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let own = json!({"name": "hold", "arguments": {}});
    let mut held = Vec::new();
    for (calls, path, params) in [(2, "/mcp", execute("up__hold")), (4, "/mcp/source/up", own)] {
        let session = edge.session(path).await;
        let in_session = request(1, "tools/call", &params);
        let in_time = async {
            up.script.reached("tools/call", calls).await;
            pass(SOON).await;
        };
        let alone = edge.begin(path, "tools/call", params);
        let of_session = session.send(Method::POST, &[], &in_session);
        let (alone, of_session, ()) = tokio::join!(alone, of_session, in_time);
        for response in [alone, of_session] {
            assert_eq!(response.headers()["content-type"], "text/event-stream", "{path}");
            held.push(response);
        }
    }
    up.script.release();
    for response in held {
        assert_eq!(said(&Reply::of(response).await.result()), "hold {}");
    }
}
