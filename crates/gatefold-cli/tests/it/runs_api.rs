//! Runs over HTTP, which go on when their client leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gatefold_testkit::model::{ModelTurn, Move, ScriptedModel};
use gatefold_testkit::wait_until;
use serde_json::{Value, json};

use crate::access_tokens::{create, serve};
use crate::chat::{requests, section};
use crate::process::{Gateway, LIMIT, run, two_sources};
use crate::scratch::Scratch;
use crate::web::{SentEvent, Web};

fn scratch(model: &ScriptedModel, config: &str) -> Scratch {
    let scratch = Scratch::new();
    let (sources, model) = (two_sources(&scratch), section("fast", "openai-chat", model, ""));
    let agents = "[agents.support]\ninstructions = 'You help.'\n";
    scratch.write("gatefold.toml", format!("{config}{sources}{model}{agents}"));
    scratch
}

/// A model that makes a call, and answers only once it may.
fn gated() -> (ScriptedModel, Arc<AtomicBool>) {
    let may_answer = Arc::new(AtomicBool::new(false));
    let released = may_answer.clone();
    let model = ScriptedModel::start(move |prompt| {
        if prompt.told().is_empty() {
            let call = json!({ "subcommand": "call", "server": "issues", "tool": "count_issues",
                "parameters": { "by": "state" } });
            return Move::call("mcp", &call);
        }
        while !released.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let text = "All are counted.".to_owned();
        Move::Turn(ModelTurn { text, piece_chars: 3, ..ModelTurn::default() })
    });
    (model, may_answer)
}

/// Begins a run and returns its id.
fn begin(web: &Web, body: &Value) -> String {
    let begun = web.post("/api/runs", body);
    let location = begun.header("location").unwrap_or_default().to_owned();
    let begun = begun.json(201);
    let id = begun["id"].as_str().unwrap().to_owned();
    assert_eq!(location, format!("/api/runs/{id}"));
    id
}

async fn await_status(web: &Web, id: &str, status: &str) -> Value {
    let shown = || web.get(&format!("/api/runs/{id}")).json(200);
    let is_there = wait_until(LIMIT, || shown()["status"] == status).await;
    assert!(is_there, "{}", shown());
    shown()
}

fn numbers(events: &[SentEvent]) -> Vec<u64> {
    events.iter().filter_map(|event| event.id).collect()
}

#[tokio::test]
async fn a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice() {
    let (model, may_answer) = gated();
    let scratch = scratch(&model, "");
    let gateway = serve(&scratch).await;
    let web = Web::new(&gateway);
    let id = begin(&web, &json!({ "agent": "support", "message": "Count the issues" }));
    let events = format!("/api/runs/{id}/events");
    let mut seen = Vec::new();
    // It leaves after each event, also while the run goes on.
    while !seen.iter().any(|event: &SentEvent| event.name == "call_returned") {
        let last = numbers(&seen).last().copied().unwrap_or(0).to_string();
        let mut stream = web.with("last-event-id", &last).get(&events);
        assert_eq!(
            (stream.status, stream.header("content-type")),
            (200, Some("text/event-stream"))
        );
        seen.push(stream.next().unwrap());
    }
    let last = numbers(&seen).last().unwrap().to_string();
    let mut stream = web.get(&format!("{events}?after={last}"));
    may_answer.store(true, Ordering::Release);
    let rest = stream.rest();
    let pieces = rest.iter().filter(|event| event.name == "text");
    assert!(pieces.clone().all(|piece| piece.id.is_none()));
    let said: String =
        pieces.map(|piece| piece.json()["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(said, "All are counted.");
    seen.extend(rest.into_iter().filter(|event| event.name != "text"));
    let all: Vec<u64> = (1..=seen.len() as u64).collect();
    assert_eq!(numbers(&seen), all, "{seen:?}");
    let names: Vec<_> =
        seen.iter().map(|event| event.name.as_str()).filter(|name| *name != "noted").collect();
    assert_eq!(names, ["run_began", "answered", "call_returned", "answered", "run_ended"]);
    let end = seen.last().unwrap();
    assert_eq!(end.json()["outcome"], "done");

    let again: Vec<_> = web.get(&events).rest();
    assert_eq!(again, seen, "whoever reads it later sees the same");
    let over = web.with("last-event-id", &end.id.unwrap().to_string()).get(&events);
    assert_eq!(over.status, 204, "browsers do not come back");
    let page = web.with("accept", "application/json").get(&events).json(200);
    let of_page: Vec<_> = page["events"].as_array().unwrap().clone();
    let of_stream: Vec<_> = seen.iter().map(SentEvent::json).collect();
    assert_eq!((of_page, &page["is_last"]), (of_stream, &json!(true)));
    assert_eq!(web.with("last-event-id", "x").get(&events).json(400)["code"], "invalid_event_id");
}

#[tokio::test]
async fn a_run_goes_on_without_its_client_and_says_what_it_came_to() {
    let (model, may_answer) = gated();
    let scratch = scratch(&model, "");
    let gateway = serve(&scratch).await;
    let web = Web::new(&gateway);
    let parts = json!([{ "type": "text", "text": "Count" }]);
    let id = begin(&web, &json!({ "message": parts }));
    let mut stream = web.get(&format!("/api/runs/{id}/events"));
    stream.next().unwrap();
    drop(stream);
    let shown = web.get(&format!("/api/runs/{id}")).json(200);
    assert_eq!(shown["status"], "running");
    let second = json!({ "thread": shown["thread"], "message": "And now?" });
    assert_eq!(web.post("/api/runs", &second).json(409)["code"], "thread_busy");
    assert_eq!(web.delete(&format!("/api/runs/{id}")).json(409)["code"], "run_active");
    may_answer.store(true, Ordering::Release);
    let ended = await_status(&web, &id, "done").await;
    assert_eq!((&ended["answer"], &ended["reason"]), (&json!("All are counted."), &Value::Null));
    assert_eq!((&ended["agent"], ended["ended_at"].is_string()), (&Value::Null, true));

    let thread = ended["thread"].as_str().unwrap();
    let next = begin(&web, &json!({ "thread": thread, "message": "And now?" }));
    await_status(&web, &next, "done").await;
    let asked = requests(&model).pop().unwrap().to_string();
    assert!(asked.contains("Count") && asked.contains("And now?"), "{asked}");
    let listed = web.get("/api/runs?limit=1").json(200);
    assert_eq!((&listed["runs"][0]["id"], &listed["next"]), (&json!(next), &json!(next)));
    let listed = web.get(&format!("/api/runs?before={next}")).json(200);
    assert_eq!((&listed["runs"][0]["id"], &listed["next"]), (&json!(id), &Value::Null));
    for path in [&id, &next].map(|id| format!("/api/runs/{id}")) {
        assert_eq!(web.delete(&path).status, 204);
        assert_eq!(web.get(&path).json(404)["code"], "unknown_run");
    }
}

#[tokio::test]
async fn a_run_is_cancelled_once() {
    let model = ScriptedModel::start(|_| Move::Hang);
    let scratch = scratch(&model, "");
    let gateway = Gateway::serve(&scratch).await;
    let web = Web::new(&gateway);
    let id = begin(&web, &json!({ "message": "Hi" }));
    let cancel = format!("/api/runs/{id}/cancel");
    assert_eq!(web.post(&cancel, &json!({})).json(202)["id"], json!(id));
    let ended = await_status(&web, &id, "cancelled").await;
    assert_eq!(ended["reason"], "it was cancelled");
    assert_eq!(web.post(&cancel, &json!({})).json(409)["code"], "run_ended");
}

#[tokio::test]
async fn what_cannot_begin_is_a_problem_in_words() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "");
    let gateway = Gateway::serve(&scratch).await;
    let web = Web::new(&gateway);
    let nowhere = "0".repeat(32);
    for (body, status, code) in [
        (json!({ "message": "Hi", "agent": "missing" }), 404, "unknown_agent"),
        (json!({ "message": "Hi", "model": "missing" }), 404, "unknown_model"),
        (json!({ "message": "Hi", "thread": nowhere }), 404, "unknown_thread"),
        (json!({ "message": "Hi", "thread": "x" }), 404, "unknown_thread"),
        (json!({ "message": " " }), 400, "invalid_message"),
        (json!({ "message": "Hi", "tools": [] }), 400, "invalid_request"),
        (json!({}), 400, "invalid_request"),
    ] {
        let refused = web.post("/api/runs", &body);
        assert_eq!(refused.header("content-type"), Some("application/problem+json"));
        let refused = refused.json(status);
        assert_eq!(
            (&refused["code"], &refused["status"]),
            (&json!(code), &json!(status)),
            "{body}"
        );
    }
    for query in ["limit=x", "before=x"] {
        assert_eq!(web.get(&format!("/api/runs?{query}")).json(400)["code"], "invalid_query");
    }
    for path in [&nowhere, "x"] {
        assert_eq!(web.get(&format!("/api/runs/{path}")).json(404)["code"], "unknown_run");
    }
    assert!(model.requests().is_empty(), "nothing was asked");
}

#[tokio::test]
async fn nobody_finds_a_run_of_somebody_else_or_of_a_token_that_reaches_further() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "[server]\nauthentication = 'token'\n");
    let whole = create(&scratch, "whole", &[]);
    let narrow = create(&scratch, "narrow", &["--tools", "units__*"]);
    let bound = create(&scratch, "bound", &["--agent", "support"]);
    let made = run(&scratch, &["token", "create", "--name", "bobs", "--for", "bob"]);
    let bobs = made.stdout.trim_end().to_owned();
    let gateway = Gateway::serve(&scratch).await;
    let web = |token: &str| Web::new(&gateway).bearer(token);
    let refused = Web::new(&gateway).post("/api/runs", &json!({ "message": "Hi" })).json(401);
    assert_eq!(refused["code"], "unauthenticated");

    let id = begin(&web(&whole), &json!({ "message": "Hi" }));
    let thread = web(&whole).get(&format!("/api/runs/{id}")).json(200)["thread"].clone();
    let unknown = web(&bobs).get(&format!("/api/runs/{}", "0".repeat(32))).json(404);
    for token in [&bobs, &narrow, &bound] {
        for path in ["", "/events"] {
            assert_eq!(web(token).get(&format!("/api/runs/{id}{path}")).json(404), unknown);
        }
        assert_eq!(
            web(token).post(&format!("/api/runs/{id}/cancel"), &json!({})).json(404),
            unknown
        );
        assert_eq!(web(token).get("/api/runs").json(200)["runs"], json!([]));
        let goes_on = json!({ "message": "Hi", "thread": thread });
        assert_eq!(web(token).post("/api/runs", &goes_on).json(404)["code"], "unknown_thread");
    }
    let own = begin(&web(&bound), &json!({ "message": "Hi" }));
    assert_eq!(web(&bound).get(&format!("/api/runs/{own}")).json(200)["agent"], "support");
    let other = web(&bound).post("/api/runs", &json!({ "message": "Hi", "agent": "other" }));
    assert_eq!(other.json(404)["code"], "unknown_agent");
}

#[tokio::test]
async fn a_revoked_token_ends_what_is_streamed_to_it() {
    let model = ScriptedModel::start(|_| Move::Hang);
    let scratch = scratch(&model, "[server]\nauthentication = 'token'\n");
    let token = create(&scratch, "laptop", &[]);
    let gateway = Gateway::serve(&scratch).await;
    let web = Web::new(&gateway).bearer(&token);
    let id = begin(&web, &json!({ "message": "Hi" }));
    let mut events = web.get(&format!("/api/runs/{id}/events"));
    let body = json!({ "model": "support", "stream": true,
        "messages": [{ "role": "user", "content": "Hi" }] });
    let mut completion = web.post("/v1/chat/completions", &body);
    assert_eq!((events.status, completion.status), (200, 200));
    assert_eq!(run(&scratch, &["token", "revoke", "laptop"]).code, Some(0));
    // Both end, within the limit for reading.
    completion.rest();
    events.rest();
    assert_eq!(web.get("/api/runs").status, 401);
}
