//! Answers that are resumed where they broke off.

use std::time::Duration;

use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::edge::{Edge, Reply, SOON, Session, Sse, event_id, pass, request, said, trial};
use super::scripted::ScriptedServer;
use crate::upstream::support::LONG;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("a_call_is_taken_up_where_it_broke_off", resumed),
        trial("a_call_is_taken_up_in_the_middle_of_what_was_said", in_the_middle),
        trial("an_event_that_was_never_sent_cannot_be_gone_on_from", unknown),
        trial("a_client_that_stays_away_loses_its_call", away),
        trial("a_source_that_talks_does_not_keep_the_call_of_a_client_that_stays_away", chatty),
        trial("a_client_that_comes_back_in_time_keeps_its_call", back),
        trial("an_answer_lost_on_the_wire_can_be_had_again", cut),
        trial("what_was_read_to_its_end_is_kept_for_a_while", forgotten),
        trial("an_answer_nobody_reads_is_kept_and_then_forgotten", unread),
        trial("a_deleted_session_ends_the_streams_of_its_calls", deleted),
    ]
}

/// How long a client may stay away.
const GRACE: Duration = Duration::from_secs(30);

async fn edge() -> (ScriptedServer, Edge) {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    (up, edge)
}

async fn resumed() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let mut call = session.held_call(&up, 7, 1).await;
    let first = call.event().await.unwrap();
    drop(call);
    let mut call = Sse::of(session.resume(event_id(&first)).await);
    up.script.release();
    let answer = call.message().await;
    assert_eq!(answer["id"], 7);
    assert_eq!(said(&answer["result"]), "hold {}");
    assert_eq!(call.next().await, None);
    assert_eq!((up.script.count("tools/call"), up.script.given_up()), (1, 0));
}

/// A call that reports progress, and its first events.
async fn chat(session: &Session<'_>) -> (Sse, Vec<String>) {
    let params = json!({"name": "chat", "arguments": {}, "_meta": {"progressToken": "t"}});
    let body = request(1, "tools/call", &params);
    let mut call = Sse::of(session.send(reqwest::Method::POST, &[], &body).await);
    let mut events = Vec::new();
    for _ in 0..4 {
        events.push(call.event().await.unwrap());
    }
    (call, events)
}

fn steps(messages: &[Value]) -> Vec<i64> {
    messages.iter().filter_map(|message| message["params"]["progress"].as_i64()).collect()
}

async fn in_the_middle() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let (call, events) = chat(&session).await;
    assert!(events[2].contains(r#""progress":1,"#) || events[2].contains(r#""progress":1}"#));
    drop(call);
    up.script.release();
    let reply = Reply::of(session.resume(event_id(&events[2])).await).await;
    let messages = reply.messages();
    let (answer, told) = messages.split_last().unwrap();
    let steps = steps(told);
    let expected: Vec<_> = (2..2 + i64::try_from(told.len()).unwrap()).collect();
    assert_eq!(steps, expected, "none is lost and none comes twice");
    assert!(!steps.is_empty());
    assert_eq!(said(&answer["result"]), "hold {}");
}

async fn unknown() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let mut call = session.held_call(&up, 1, 1).await;
    let first = call.event().await.unwrap();
    assert_eq!(event_id(&first), "0-0");
    let other = edge.session("/mcp/source/up").await;
    for (session, event) in [
        (&session, "1-0"),
        (&session, "0-1"),
        (&session, "0-99999999999999999999999999"),
        (&session, "0-999"),
        (&session, "0--1"),
        (&session, "x-0"),
        (&session, "0"),
        (&session, "-"),
        (&other, "0-0"),
    ] {
        let response = session.resume(event).await;
        assert_eq!(response.status(), 400, "{event}");
        assert_eq!(Reply::of(response).await.code(), Some(-32600), "{event}");
    }
    up.script.release();
    call.message().await;
}

/// A few round trips, so that the gateway does what is due.
async fn settle(session: &Session<'_>) {
    for _ in 0..3 {
        assert_eq!(session.ask(99, "ping", json!({})).await.status, 200);
    }
}

async fn away() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let mut call = session.held_call(&up, 1, 1).await;
    let first = call.event().await.unwrap();
    drop(call);
    settle(&session).await;
    pass(GRACE * 9 / 10).await;
    settle(&session).await;
    assert_eq!(up.script.given_up(), 0, "it may still come back");
    pass(GRACE / 5).await;
    up.script.gave_up(1).await;
    assert_eq!(session.resume(event_id(&first)).await.status(), 400);
}

async fn chatty() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let (call, _) = chat(&session).await;
    drop(call);
    settle(&session).await;
    for _ in 0..4 {
        pass(GRACE / 3).await;
        settle(&session).await;
    }
    let is_over = wait_until(Duration::from_secs(2), || up.script.given_up() == 1).await;
    assert!(is_over, "the call is given up");
}

async fn back() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let mut call = session.held_call(&up, 1, 1).await;
    let first = call.event().await.unwrap();
    for _ in 0..2 {
        drop(call);
        settle(&session).await;
        pass(GRACE / 2).await;
        call = Sse::of(session.resume(event_id(&first)).await);
        settle(&session).await;
    }
    assert_eq!(up.script.given_up(), 0);
    up.script.release();
    assert_eq!(said(&call.message().await["result"]), "hold {}");
}

async fn forgotten() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let mut call = session.held_call(&up, 1, 1).await;
    let first = call.event().await.unwrap();
    up.script.release();
    let answer = call.message().await;
    assert_eq!(call.next().await, None);
    settle(&session).await;
    pass(GRACE * 9 / 10).await;
    let mut again = Sse::of(session.resume(event_id(&first)).await);
    assert_eq!(again.message().await, answer);
    assert_eq!(again.next().await, None);
    settle(&session).await;
    pass(GRACE + Duration::from_secs(1)).await;
    settle(&session).await;
    assert_eq!(session.resume(event_id(&first)).await.status(), 400);
}

/// The connection breaks when part of a large answer has been received.
async fn cut() {
    const BYTES: usize = 600_000;
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let params = json!({"name": "hold", "arguments": {"text": "x".repeat(BYTES)}});
    let body = request(7, "tools/call", &params);
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-session-id: {}\r\n\
         mcp-protocol-version: {}\r\ncontent-length: {}\r\n\r\n",
        session.path,
        session.id,
        session.version,
        body.len()
    );
    let mut socket = TcpStream::connect(edge.base.trim_start_matches("http://")).await.unwrap();
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(body.as_bytes()).await.unwrap();
    up.script.reached("tools/call", 1).await;
    pass(SOON).await;
    up.script.release();
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("hold {") {
        let more = timeout(LONG, socket.read_buf(&mut read)).await.expect("something comes");
        assert_ne!(more.unwrap(), 0, "the answer does not end yet");
    }
    assert!(read.len() < BYTES, "the answer was not received whole");
    // Unread data turns the close into a reset.
    drop(socket);
    settle(&session).await;
    let first = String::from_utf8_lossy(&read).into_owned();
    let reply = Reply::of(session.resume(event_id(&first)).await).await;
    let answer = reply.message();
    assert_eq!(answer["id"], 7);
    assert_eq!(said(&answer["result"]), format!("hold {}", params["arguments"]));
    assert_eq!((up.script.count("tools/call"), up.script.given_up()), (1, 0));
}

async fn unread() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let mut first = Vec::new();
    for calls in [1, 2] {
        let mut call = session.held_call(&up, 1, calls).await;
        first.push(call.event().await.unwrap());
    }
    up.script.release();
    settle(&session).await;
    pass(GRACE / 2).await;
    let mut call = Sse::of(session.resume(event_id(&first[0])).await);
    assert_eq!(said(&call.message().await["result"]), "hold {}");
    drop(call);
    settle(&session).await;
    pass(GRACE + Duration::from_secs(1)).await;
    settle(&session).await;
    for first in first {
        assert_eq!(session.resume(event_id(&first)).await.status(), 400);
    }
}

async fn deleted() {
    let (up, edge) = edge().await;
    let session = edge.session("/mcp/source/up").await;
    let mut call = session.held_call(&up, 1, 1).await;
    call.event().await.unwrap();
    assert_eq!(session.delete().await, 204);
    assert_eq!(call.next().await, None);
    up.script.gave_up(1).await;
}
