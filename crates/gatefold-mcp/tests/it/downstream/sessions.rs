//! What a session is, and how it ends.

use std::collections::HashSet;
use std::time::Duration;

use gatefold_http::HttpEndpoint;
use gatefold_policy::Policy;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::edge::{Edge, pass, request, said, trial};
use super::scripted::ScriptedServer;
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::support::{Era, Wire};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("nobody_guesses_the_id_of_a_session", ids),
        trial("a_deleted_session_ends_with_all_that_goes_on_in_it", deleted),
        trial("a_silent_session_ends_and_one_that_listens_does_not", silent),
        trial("a_second_stream_of_notices_takes_the_place_of_the_first", replaced),
        trial("only_one_version_has_batches", versions_of_batches),
        trial("a_batch_is_answered_as_one", batch),
        trial("a_batch_has_its_bounds", bounds),
        trial("a_call_in_a_batch_that_would_ask_is_told_that_it_cannot", asking_batch),
    ]
}

async fn ids() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let mut seen = HashSet::new();
    for _ in 0..20 {
        let id = edge.session("/mcp").await.id;
        assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        assert!(seen.insert(id));
    }
    let differing: HashSet<_> = seen.iter().map(|id| &id[..4]).collect();
    assert!(differing.len() > 10, "they do not count upwards");
}

async fn deleted() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for (round, path) in ["/mcp/source/up", "/mcp"].into_iter().enumerate() {
        for version in ["2025-11-25", "2025-06-18"] {
            let session = edge.session_of(path, version, json!({})).await;
            let mut notices = session.listen().await;
            let (tool, arguments) = match path {
                "/mcp" => ("execute_tool", json!({"tool_name": "up__hold"})),
                _ => ("hold", json!({})),
            };
            let before = up.script.count("tools/call");
            let given_up = up.script.given_up();
            let body = request(7, "tools/call", &json!({"name": tool, "arguments": arguments}));
            let call = session.post(&body);
            let delete = async {
                up.script.reached("tools/call", before + 1).await;
                assert_eq!(session.delete().await, 204);
            };
            let (ended, ()) = tokio::join!(call, delete);
            let answers = ended.body.matches("\"result\"").count();
            assert_eq!(answers, 0, "{path} {version} {round}: {}", ended.body);
            up.script.gave_up(given_up + 1).await;
            assert_eq!(notices.next().await, None, "the stream of notices ends");
            assert_eq!(session.ask(1, "ping", json!({})).await.status, 404);
            assert_eq!(session.delete().await, 404);
        }
    }
}

async fn silent() {
    let up = ScriptedServer::new("up").await;
    let idle = Duration::from_secs(20);
    let endpoint = HttpEndpoint { session_idle: idle, ..HttpEndpoint::default() };
    let edge = Edge::with(&[&up.settings], Policy::default(), endpoint).await;
    let (silent, listening) = (edge.session("/mcp").await, edge.session("/mcp").await);
    let _notices = listening.listen().await;
    let status =
        async |session: &super::edge::Session<'_>| session.ask(1, "ping", json!({})).await.status;
    pass(idle / 2).await;
    assert_eq!(status(&silent).await, 200);
    // The search for silent sessions runs once per idle period.
    for _ in 0..3 {
        pass(idle).await;
        assert_eq!(status(&listening).await, 200);
    }
    assert_eq!(status(&silent).await, 404);
}

async fn replaced() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp").await;
    let mut first = session.listen().await;
    let _second = session.listen().await;
    assert_eq!(first.next().await, None);
}

async fn versions_of_batches() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let batch = format!("[{}]", request(1, "ping", &json!({})));
    for (version, status) in
        [("2024-11-05", 400), ("2025-03-26", 200), ("2025-06-18", 400), ("2025-11-25", 400)]
    {
        let session = edge.session_of("/mcp", version, json!({})).await;
        let reply = session.post(&batch).await;
        assert_eq!(reply.status, status, "{version}");
        assert_eq!(reply.code(), (status == 400).then_some(-32600), "{version}");
    }
    assert_eq!(edge.post("/mcp", &[], &batch).await.status, 400);
}

async fn batch() {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = Edge::over(&[&up.settings]).await;
    let capabilities = json!({"roots": {}});
    let session = edge.session_of("/mcp/source/up", "2025-03-26", capabilities).await;
    let mut asking = session.call(1, "matrix_roots", json!({})).await;
    let question = asking.message().await;
    assert_eq!(question["method"], "roots/list");
    let answer = json!({"roots": [{"uri": "file:///shed"}]});
    let call = json!({"name": "test_simple_text", "arguments": {}});
    let messages = [
        request(2, "ping", &json!({})),
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#.to_owned(),
        json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string(),
        request(3, "tools/call", &call),
        request(4, "no/such", &json!({})),
        "7".to_owned(),
    ];
    let reply = session.post(&format!("[{}]", messages.join(","))).await;
    assert_eq!(reply.status, 200);
    let answers: Vec<Value> = serde_json::from_str(&reply.body).unwrap();
    let short: Vec<_> =
        answers.iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
    let null = Value::Null;
    let (ids, codes) = ([2, 3, 4].map(Value::from), [-32601, -32600].map(Value::from));
    let expected = [(&ids[0], &null), (&ids[1], &null), (&ids[2], &codes[0]), (&null, &codes[1])];
    assert_eq!(short, expected);
    assert_eq!(said(&asking.message().await["result"]), "file:///shed");
    let notices = r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#;
    let reply = session.post(notices).await;
    assert_eq!((reply.status, &*reply.body), (202, ""));
}

async fn bounds() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session_of("/mcp", "2025-03-26", json!({})).await;
    for (messages, status) in [(0, 400), (1, 200), (100, 200), (101, 400)] {
        let batch = vec![request(1, "ping", &json!({})); messages];
        let reply = session.post(&format!("[{}]", batch.join(","))).await;
        assert_eq!(reply.status, status, "{messages}");
    }
}

async fn asking_batch() {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session_of("/mcp/source/up", "2025-03-26", json!({"roots": {}})).await;
    let call = request(1, "tools/call", &json!({"name": "matrix_roots", "arguments": {}}));
    let reply = session.post(&format!("[{call}]")).await;
    let answers: Vec<Value> = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(answers.len(), 1, "{}", reply.body);
    assert_eq!(answers[0]["id"], 1);
    let is_refused = !answers[0]["error"].is_null() || answers[0]["result"]["isError"] == true;
    assert!(is_refused, "{}", reply.body);
}
