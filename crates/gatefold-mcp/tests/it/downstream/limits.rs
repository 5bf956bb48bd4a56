//! Clients that send nothing, or too much, over sockets of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gatefold_http::HttpEndpoint;
use gatefold_policy::Policy;
use gatefold_testkit::{RAW_TOOL, serve_raw, wait_until};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::edge::{Edge, Reply, Session, request, said, trial};
use super::scripted::ScriptedServer;
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::support::{Era, LONG, Wire, http};

/// A limit that a test waits for.
const SHORT: Duration = Duration::from_millis(200);

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("silent_connections_give_way_to_new_ones", silent),
        trial("connections_in_use_are_never_given_up_for_new_ones", in_use),
        trial("a_connection_that_sends_no_whole_head_is_closed", no_head),
        trial("a_connection_that_is_idle_after_a_request_is_closed", idle),
        trial("a_body_that_does_not_end_is_refused_in_time", no_end),
        trial("a_declared_length_over_the_limit_is_refused_before_it_comes", declared),
        trial("an_argument_over_the_limit_is_refused_and_the_next_call_works", whole),
        trial("unfinished_bodies_share_a_budget_that_small_requests_need_not", unfinished),
        trial("arguments_of_calls_under_way_count", arguments),
        trial("sixty_large_calls_to_a_source_that_stopped_reading_share_the_budget", unread),
        trial("arguments_of_parked_calls_count_and_keep_no_new_call_out", parked),
        trial("what_is_nested_too_deep_never_reaches_a_server", nested),
        trial("a_client_that_takes_nothing_of_an_answer_loses_its_connection", unread_answer),
        trial("half_sent_bodies_give_way_to_new_connections", half_sent),
    ]
}

async fn edge(endpoint: HttpEndpoint) -> Edge {
    Edge::with(&[], Policy::default(), endpoint).await
}

/// A connection whose every byte a test writes.
struct Raw(TcpStream);

impl Raw {
    async fn to(edge: &Edge) -> Self {
        Self(TcpStream::connect(edge.base.trim_start_matches("http://")).await.unwrap())
    }

    /// Sends the head of a request and what follows it.
    async fn begin(&mut self, length: usize, body: &[u8]) {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n"
        );
        self.0.write_all(head.as_bytes()).await.unwrap();
        self.0.write_all(body).await.unwrap();
    }

    /// The status and the text of one answer.
    async fn answer(&mut self) -> (u16, String) {
        let mut read = Vec::new();
        let whole = async {
            loop {
                let text = String::from_utf8_lossy(&read).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n") {
                    let length = head.lines().find_map(|l| l.strip_prefix("content-length: "));
                    if body.len() >= length.unwrap().parse::<usize>().unwrap() {
                        return (head[9..12].parse().unwrap(), message(body));
                    }
                }
                assert_ne!(self.0.read_buf(&mut read).await.unwrap(), 0, "closed after {text:?}");
            }
        };
        timeout(LONG, whole).await.expect("an answer comes")
    }

    /// Whether the gateway closes the connection within a while.
    async fn is_closed_within(&mut self, time: Duration) -> bool {
        let mut rest = Vec::new();
        // Unread data turns the close into a reset.
        timeout(time, self.0.read_to_end(&mut rest)).await.is_ok()
    }
}

async fn ping(edge: &Edge) -> u16 {
    edge.ask("/mcp", "server/discover", json!({})).await.status
}

async fn silent() {
    let edge = edge(HttpEndpoint { connections: 8, ..HttpEndpoint::default() }).await;
    assert_eq!(ping(&edge).await, 200);
    let mut silent = Vec::new();
    for _ in 0..24 {
        silent.push(Raw::to(&edge).await);
    }
    assert_eq!(ping(&edge).await, 200, "a client with a request gets a place");
    for one in &mut silent[..16] {
        assert!(one.is_closed_within(LONG).await, "the oldest are closed");
    }
    let last = silent.last_mut().unwrap();
    assert!(!last.is_closed_within(SHORT).await, "no more than needed are closed");
}

async fn in_use() {
    let up = ScriptedServer::new("up").await;
    let endpoint = HttpEndpoint { connections: 2, ..HttpEndpoint::default() };
    let edge = Edge::with(&[&up.settings], Policy::default(), endpoint).await;
    let session = edge.session("/mcp").await;
    let _notices = session.listen().await;
    let held = json!({"name": "execute_tool", "arguments": {"tool_name": "up__hold"}});
    let refused = async {
        up.script.reached("tools/call", 1).await;
        let mut third = Raw::to(&edge).await;
        let refused = third.answer().await;
        up.script.release();
        refused
    };
    let (held, refused) = tokio::join!(edge.ask("/mcp", "tools/call", held), refused);
    assert_eq!(said(&held.result()), "hold {}", "the call was not disturbed");
    assert_eq!(refused, (503, String::new()));
}

async fn no_head() {
    let edge = edge(HttpEndpoint { head_deadline: SHORT, ..HttpEndpoint::default() }).await;
    let (mut nothing, mut half) = (Raw::to(&edge).await, Raw::to(&edge).await);
    half.0.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc").await.unwrap();
    assert!(nothing.is_closed_within(LONG).await);
    assert!(half.is_closed_within(LONG).await);
}

async fn idle() {
    let edge = edge(HttpEndpoint { connection_idle: SHORT, ..HttpEndpoint::default() }).await;
    let mut client = Raw::to(&edge).await;
    client.begin(2, b"{}").await;
    assert_eq!(client.answer().await.0, 400);
    assert!(client.is_closed_within(LONG).await);
}

/// The message of a JSON-RPC error, or the whole body.
fn message(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    value["error"]["message"].as_str().unwrap_or(body).to_owned()
}

async fn no_end() {
    let edge = edge(HttpEndpoint { body_deadline: SHORT, ..HttpEndpoint::default() }).await;
    let mut client = Raw::to(&edge).await;
    client.begin(100, b"{").await;
    let late = "the request was not complete within 0.2 s";
    assert_eq!(client.answer().await, (408, late.to_owned()));
}

async fn declared() {
    let edge = edge(HttpEndpoint { request_body_bytes: 1000, ..HttpEndpoint::default() }).await;
    let mut client = Raw::to(&edge).await;
    client.begin(1001, b"").await;
    let large = "the request has more than 1000 bytes";
    assert_eq!(client.answer().await, (413, large.to_owned()));
}

async fn whole() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let text = "x".repeat(5 * 1000 * 1000);
    let body = request(7, "tools/call", &json!({"name": "say", "arguments": {"text": text}}));
    let mut client = Raw::to(&edge).await;
    // It sends the whole body before it reads.
    client.begin(body.len(), body.as_bytes()).await;
    let large = "the request has more than 4194304 bytes";
    assert_eq!(client.answer().await, (413, large.to_owned()));
    client.begin(2, b"{}").await;
    assert_eq!(client.answer().await.0, 400, "the connection goes on");
    let session = edge.session("/mcp/source/up").await;
    let refused = session.post(&body).await;
    assert_eq!((refused.status, refused.code()), (413, Some(-32600)));
    let answer = session.result("tools/call", json!({"name": "say", "arguments": {}})).await;
    assert_eq!(said(&answer), "say {}", "the session goes on");
}

async fn unfinished() {
    const KIB: usize = 1024;
    let endpoint = HttpEndpoint {
        requests_bytes: 512 * KIB,
        request_body_bytes: 512 * KIB,
        ..HttpEndpoint::default()
    };
    let edge = edge(endpoint).await;
    let most = vec![b' '; 120 * KIB];
    let mut clients = Vec::new();
    for _ in 0..10 {
        let mut client = Raw::to(&edge).await;
        client.begin(121 * KIB, &most).await;
        clients.push(client);
    }
    let (mut refused, until) = (0, Instant::now() + LONG);
    let mut waiting: Vec<_> = clients.iter_mut().collect();
    while refused < 6 && Instant::now() < until {
        for client in std::mem::take(&mut waiting) {
            if timeout(SHORT, client.0.readable()).await.is_err() {
                waiting.push(client);
                continue;
            }
            let (status, text) = client.answer().await;
            assert!(text.contains("large requests are under way"), "{status} {text}");
            assert_eq!(status, 503);
            refused += 1;
        }
    }
    // Four fit, or fewer if a half-read one took what another needed.
    assert!((6..10).contains(&refused), "{refused} of 10 were refused");
    assert_eq!(ping(&edge).await, 200, "a small request needs no share");
    drop(clients);
    let is_read = async {
        let whole = vec![b' '; 512 * KIB];
        while edge.post("/mcp", &[], std::str::from_utf8(&whole).unwrap()).await.status != 400 {}
    };
    timeout(LONG, is_read).await.expect("an aborted request frees its share");
}

async fn arguments() {
    let up = ScriptedServer::new("up").await;
    let endpoint = HttpEndpoint {
        requests_bytes: 1024 * 1024,
        request_body_bytes: 1024 * 1024,
        ..HttpEndpoint::default()
    };
    let edge = Edge::with(&[&up.settings], Policy::default(), endpoint).await;
    let large = json!({"name": "execute_tool", "arguments": {
        "tool_name": "up__hold", "arguments": {"text": "x".repeat(600 * 1024)},
    }});
    let second = async {
        up.script.reached("tools/call", 1).await;
        let refused = edge.ask("/mcp", "tools/call", large.clone()).await;
        up.script.release();
        refused.status
    };
    let (first, second) = tokio::join!(edge.ask("/mcp", "tools/call", large.clone()), second);
    assert_eq!((first.status, second), (200, 503));
    assert_eq!(edge.ask("/mcp", "tools/call", large).await.status, 200);
}

/// The budget holds four requests of this size at once, because each counts twice.
const LARGE: usize = 128 * 1024;

fn four_large() -> HttpEndpoint {
    HttpEndpoint {
        requests_bytes: 4 * 2 * LARGE,
        request_body_bytes: 4 * LARGE,
        ..HttpEndpoint::default()
    }
}

fn large_call(tool: &str) -> Value {
    let arguments = json!({"text": "x".repeat(LARGE - 1024)});
    json!({"name": "execute_tool", "arguments": {"tool_name": tool, "arguments": arguments}})
}

async fn unread() {
    let reached = Arc::new(AtomicUsize::new(0));
    let reaching = reached.clone();
    let url = serve_raw(move |_| {
        reaching.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(LONG);
        Ok(())
    });
    let settings = http("up", &url.unwrap());
    let edge = &Edge::with(&[&settings], Policy::default(), four_large()).await;
    let tool = &format!("up__{RAW_TOOL}");
    // Follows a call until it reaches its source, which never answers, or is refused.
    let begin = async || {
        let before = reached.load(Ordering::SeqCst);
        let mut call = Box::pin(edge.begin("/mcp", "tools/call", large_call(tool)));
        let is_there = wait_until(LONG, || reached.load(Ordering::SeqCst) > before);
        tokio::select! {
            // A call that takes long begins its stream.
            answer = &mut call => match answer.status().as_u16() {
                200 => Ok((call, Some(answer))),
                _ => Err(Reply::of(answer).await),
            },
            is_there = is_there => {
                assert!(is_there);
                Ok((call, None))
            }
        }
    };
    let mut under_way = Vec::new();
    for number in 0..60 {
        match begin().await {
            Ok(call) => under_way.push(call),
            Err(refused) => {
                let (status, text) = (refused.status, message(&refused.body));
                assert_eq!((status, &*refused.header("retry-after")), (503, "1"));
                assert!(text.contains("large requests are under way"), "{text}");
                assert!(number >= 4, "{number} was refused");
            }
        }
    }
    assert_eq!(under_way.len(), 4);
    drop(under_way);
    let again = async { while begin().await.is_err() {} };
    timeout(LONG, again).await.expect("what is given up is given back");
}

async fn parked() {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = Edge::with(&[&up.settings], Policy::default(), four_large()).await;
    let call = large_call("up__matrix_elicit");
    let ask = async || edge.result("/mcp", "tools/call", call.clone()).await;
    // Waiting calls have half of the budget, and at least room for one request of the largest size.
    let mut parked = Vec::new();
    for _ in 0..4 {
        let asked = ask().await;
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        parked.push(asked);
    }
    let refused = ask().await;
    assert_eq!(refused["isError"], true);
    let text = said(&refused);
    assert!(text.contains("too many calls waiting for your answers"), "{text}");
    let first = &parked[0];
    let key = first["inputRequests"].as_object().unwrap().keys().next().unwrap();
    let mut again = call.clone();
    again["requestState"] = first["requestState"].clone();
    again["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    let answered = edge.result("/mcp", "tools/call", again).await;
    assert_eq!(answered["resultType"], "complete", "{answered}");
    assert_eq!(ask().await["resultType"], "input_required", "its memory is free again");
}

/// Arrays in one another.
fn deep(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

async fn nested() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp/source/up").await;
    let model = edge.session("/mcp").await;
    let arguments = |levels: usize| format!(r#"{{"a": {}}}"#, deep(levels - 1));
    let inner = serde_json::to_string(&arguments(100_000)).unwrap();
    let direct =
        |levels: usize| format!(r#"{{"name": "say", "arguments": {}}}"#, arguments(levels));
    let through = |inner: &str| {
        format!(
            r#"{{"name": "execute_tool", "arguments": {{"tool_name": "up__say", "arguments": {inner}}}}}"#
        )
    };
    let post = async |session: &Session<'_>, method: &str, params: &str| {
        let head = r#"{"jsonrpc": "2.0", "id": 1, "method": "#;
        session
            .post(&format!(r#"{head}"{method}", "params": {params}}}"#))
            .await
            .message()
            .to_string()
    };
    for (session, method, params) in [
        (&session, "tools/call", direct(257)),
        (&session, "tools/call", direct(100_000)),
        (&model, "tools/call", through(&arguments(100_000))),
        (&model, "tools/call", through(&inner)),
        (
            &session,
            "prompts/get",
            format!(r#"{{"name": "greet", "arguments": {}}}"#, arguments(100_000)),
        ),
        (
            &session,
            "completion/complete",
            format!(
                r#"{{"ref": {{"type": "ref/prompt", "name": "greet"}}, "argument": {}}}"#,
                arguments(100_000)
            ),
        ),
    ] {
        let told = post(session, method, &params).await;
        assert!(told.contains("256 levels"), "{method}: {told}");
    }
    for method in ["tools/call", "prompts/get", "completion/complete"] {
        assert_eq!(up.script.count(method), 0, "{method}");
    }
    let meta = format!(r#"{{"name": "say", "_meta": {{"a.example/x": {}}}}}"#, deep(100_000));
    assert!(post(&session, "tools/call", &meta).await.contains("say {}"));
    assert!(!up.script.received("tools/call")[0].to_string().contains("[[["));
    assert!(post(&session, "tools/call", &direct(100)).await.contains("[[["), "it is deep enough");
}

/// How many times as large as what the system buffers an answer is.
const UNREAD: usize = 12 * 1024 * 1024;

async fn unread_answer() {
    let url = serve_raw(|stream| {
        let text = "A".repeat(UNREAD);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        let answer = format!(r#"{head}{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        std::io::Write::write_all(stream, answer.as_bytes())
    });
    let settings = http("up", &url.unwrap());
    let endpoint = HttpEndpoint { unread: SHORT, ..HttpEndpoint::default() };
    let edge = Edge::with(&[&settings], Policy::default(), endpoint).await;
    let mut client = Raw::to(&edge).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = request(1, "tools/call", &json!({"name": RAW_TOOL, "_meta": meta}));
    let head = format!(
        "POST /mcp/source/up HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: {RAW_TOOL}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    client.0.write_all(head.as_bytes()).await.unwrap();
    timeout(LONG, client.0.readable()).await.expect("the answer begins").unwrap();
    // Long enough for the system's buffers to be full and for the patience to end.
    tokio::time::sleep(5 * SHORT).await;
    let mut read = 0;
    let mut piece = vec![0; 64 * 1024];
    while let Ok(Ok(bytes @ 1..)) = timeout(LONG, client.0.read(&mut piece)).await {
        read += bytes;
    }
    assert!(read < UNREAD, "{read} bytes came");
    assert_eq!(ping(&edge).await, 200);
}

async fn half_sent() {
    let edge = edge(HttpEndpoint { connections: 8, ..HttpEndpoint::default() }).await;
    let mut half = Vec::new();
    for _ in 0..8 {
        let mut client = Raw::to(&edge).await;
        client.begin(100, b"{").await;
        half.push(client);
    }
    for _ in 0..4 {
        assert_eq!(ping(&edge).await, 200, "half a request keeps nobody out");
    }
}
