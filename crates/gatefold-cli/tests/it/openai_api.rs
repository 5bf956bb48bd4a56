//! Agents behind OpenAI's chat completions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gatefold_testkit::model::{ModelTurn, Move, Prompt, ScriptedModel, StreamEnd};
use gatefold_testkit::wait_until;
use serde_json::{Value, json};

use crate::access_tokens::{create, serve};
use crate::chat::{requests, section};
use crate::process::{Gateway, LIMIT, run, two_sources};
use crate::scratch::Scratch;
use crate::web::Web;

const COMPLETIONS: &str = "/v1/chat/completions";

const AGENTS: &str = "[agents.support]\ninstructions = 'You help.'\n\
                      [agents.hidden]\nvisible_to = ['nobody']\n\
                      [agents.poor]\nmodel = 'poor'\n\
                      [models.poor]\nurl = 'http://127.0.0.1:9/v1'\nmodel = 'x'\nvisible_to = ['nobody']\n";

/// Two sources, some agents, and a model that answers them.
fn scratch(model: &ScriptedModel, config: &str) -> Scratch {
    let scratch = Scratch::new();
    let (sources, model) = (two_sources(&scratch), section("fast", "openai-chat", model, ""));
    scratch.write("gatefold.toml", format!("{config}{sources}{model}{AGENTS}"));
    scratch
}

fn asks(model: &str, text: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": text }] })
}

fn with(mut request: Value, member: &str, value: Value) -> Value {
    request[member] = value;
    request
}

/// Says something, makes a call, and says something else, in pieces.
fn counting(prompt: &Prompt) -> Move {
    let turn = ModelTurn { piece_chars: 3, ..ModelTurn::default() };
    if prompt.told().is_empty() {
        let call = json!({ "subcommand": "call", "server": "issues", "tool": "count_issues",
            "parameters": { "by": "state" } });
        let calls = vec![("mcp".to_owned(), call.to_string())];
        return Move::Turn(ModelTurn { text: "Let me count.".to_owned(), calls, ..turn });
    }
    Move::Turn(ModelTurn { text: "All are\ncounted.".to_owned(), ..turn })
}

/// Has an agent answer, and repeats that.
fn delegating(prompt: &Prompt) -> Move {
    if prompt.whole().to_string().contains("You help.") {
        return Move::say("There are four.");
    }
    match prompt.told().first() {
        None => Move::call("call_agent", &json!({ "agent_id": "support", "task": "Count" })),
        Some(answer) => Move::say(answer),
    }
}

#[tokio::test]
async fn what_agents_take_that_work_for_a_run_is_its_usage() {
    let model = ScriptedModel::start(delegating);
    let scratch = scratch(&model, "");
    let gateway = serve(&scratch).await;
    let answered = Web::new(&gateway).post(COMPLETIONS, &asks("gatefold", "Count the issues"));
    let id = answered.header("x-gatefold-run").unwrap().to_owned();
    let answer = answered.json(200);
    assert_eq!(answer["choices"][0]["message"]["content"], "There are four.");
    assert_eq!(answer["usage"]["total_tokens"], 300, "two answers and the agent's");
    let shown = run(&scratch, &["runs", "show", &id, "--json"]).json();
    assert_eq!(shown["run"]["usage"]["answers"], 3, "{shown}");
}

#[tokio::test]
async fn a_completion_is_a_run_of_the_agent_that_it_names() {
    let model = ScriptedModel::start(counting);
    let scratch = scratch(&model, "");
    let gateway = serve(&scratch).await;
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "Hello" },
        { "role": "assistant", "content": "Hi." },
        { "role": "user", "content": [{ "type": "text", "text": "Count the issues" }] },
    ]);
    let request =
        json!({ "model": "support", "messages": messages, "temperature": 0.1, "user": "x" });
    let answered = Web::new(&gateway).post(COMPLETIONS, &request);
    let id = answered.header("x-gatefold-run").unwrap().to_owned();
    let mut answer = answered.json(200);
    assert!(answer["created"].take().is_u64());
    let details = |answer: &mut Value, name: &str| answer["usage"][name].take();
    assert!(details(&mut answer, "prompt_tokens_details")["cached_tokens"].is_u64());
    assert!(details(&mut answer, "completion_tokens_details")["reasoning_tokens"].is_u64());
    let usage = answer["usage"].take();
    let sum =
        usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!((&usage["total_tokens"], sum), (&json!(200), 200), "both answers count: {usage}");
    assert!(answer["system_fingerprint"].take().is_string());
    assert_eq!(
        answer,
        json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": null, "model": "support",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant", "content": "All are\ncounted.", "refusal": null, "annotations": [],
                },
                "logprobs": null, "finish_reason": "stop",
            }],
            "usage": null, "system_fingerprint": null,
        })
    );
    let asked = &requests(&model)[0];
    let system = asked["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("You help.") && system.contains("Be brief."), "{system}");
    let said = asked["messages"].as_array().unwrap().iter().skip(1);
    let said: Vec<_> = said.map(|message| message["content"].to_string()).collect();
    assert!(
        said[0].contains("Hello") && said[1].contains("Hi.") && said[2].contains("Count"),
        "{said:?}"
    );
    let call = &run(&scratch, &["calls", "--json"]).json()["calls"][0];
    assert_eq!(
        (&call["tool"], &call["agent"]),
        (&json!("issues__count_issues"), &json!("support"))
    );
}

#[tokio::test]
async fn a_streamed_answer_comes_in_pieces_and_says_what_it_took() {
    let model = ScriptedModel::start(counting);
    let scratch = scratch(&model, "");
    let gateway = serve(&scratch).await;
    let request = with(asks("gatefold", "Count"), "stream", json!(true));
    let streamed = |request: &Value| {
        let mut answer = Web::new(&gateway).post(COMPLETIONS, request);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("text/event-stream"))
        );
        let mut events = answer.rest();
        assert_eq!(events.pop().unwrap().data, "[DONE]");
        events.iter().map(super::web::SentEvent::json).collect::<Vec<_>>()
    };
    let chunks = streamed(&request);
    let text: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, "Let me count.\n\nAll are\ncounted.");
    assert!(chunks.len() > 8, "it comes in pieces: {chunks:?}");
    assert_eq!(chunks[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": "" }));
    let last = chunks.last().unwrap();
    assert_eq!(
        (&last["choices"][0]["finish_reason"], &last["choices"][0]["delta"]),
        (&json!("stop"), &json!({}))
    );
    assert!(
        chunks.iter().all(|chunk| chunk["id"] == last["id"] && chunk["created"] == last["created"])
    );
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));

    let chunks = streamed(&with(request, "stream_options", json!({ "include_usage": true })));
    let (last, others) = chunks.split_last().unwrap();
    assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(200)));
    assert!(others.iter().all(|chunk| chunk["usage"] == Value::Null));
}

#[tokio::test]
async fn what_an_agent_does_not_do_is_refused_in_words_before_it_runs() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "");
    let gateway = Gateway::serve(&scratch).await;
    let web = Web::new(&gateway);
    let tools = json!([{ "type": "function", "function": { "name": "f", "parameters": {} } }]);
    let refused = web.post(COMPLETIONS, &with(asks("support", "Hi"), "tools", tools)).json(400);
    let error = &refused["error"];
    assert_eq!(
        (&error["type"], &error["param"]),
        (&json!("invalid_request_error"), &json!("tools"))
    );
    assert!(error["message"].as_str().unwrap().contains("calls its own tools"), "{error}");
    let history = json!([{ "role": "tool", "tool_call_id": "1", "content": "1" }]);
    let refused =
        web.post(COMPLETIONS, &json!({ "model": "support", "messages": history })).json(400);
    assert_eq!(refused["error"]["param"], "messages[0].role");
    let unread = web.send("POST", COMPLETIONS, "content-type: application/json\r\n", "{");
    assert!(unread.json(400)["error"]["message"].as_str().unwrap().contains("cannot be read"));
    let elsewhere = web.post("/v1/responses", &json!({})).json(404);
    assert!(elsewhere["error"]["message"].as_str().unwrap().contains("POST /v1/chat/completions"));
    assert!(model.requests().is_empty(), "nothing was asked");
}

#[tokio::test]
async fn a_hidden_agent_and_a_missing_one_look_the_same() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "");
    let gateway = Gateway::serve(&scratch).await;
    let web = Web::new(&gateway);
    let told = |name: &str| web.post(COMPLETIONS, &asks(name, "Hi")).json(404).to_string();
    let missing = told("missing");
    assert!(missing.contains("model_not_found"), "{missing}");
    // `fast` is what agents ask, and nobody's to ask here.
    for name in ["hidden", "poor", "fast", "scripted"] {
        assert_eq!(told(name).replace(name, "missing"), missing, "{name}");
        let shown = web.get(&format!("/v1/models/{name}")).json(404).to_string();
        assert_eq!(shown.replace(name, "missing"), missing, "{name}");
    }
    let listed = web.get("/v1/models").json(200);
    let names: Vec<_> =
        listed["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(names, [&json!("gatefold"), &json!("support")]);
    let shown = web.get("/v1/models/support").json(200);
    assert_eq!((&shown["object"], &shown["owned_by"]), (&json!("model"), &json!("gatefold")));
    assert!(model.requests().is_empty(), "nothing was asked");
}

#[tokio::test]
async fn a_token_reaches_no_further_than_at_mcp() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "[server]\nauthentication = 'token'\n");
    let narrow = create(&scratch, "narrow", &["--tools", "units__*"]);
    let bound = create(&scratch, "bound", &["--agent", "support"]);
    let gateway = serve(&scratch).await;
    let web = Web::new(&gateway);
    let refused = web.post(COMPLETIONS, &asks("support", "Hi"));
    assert!(refused.header("www-authenticate").unwrap().starts_with("bearer"));
    let refused = refused.json(401);
    assert_eq!(refused["error"]["code"], "invalid_api_key");

    web.bearer(&narrow).post(COMPLETIONS, &asks("gatefold", "Hi")).json(200);
    let asked = requests(&model)[0].to_string();
    assert!(asked.contains("units") && !asked.contains("issues"), "{asked}");

    let web = web.bearer(&bound);
    let missing = web.post(COMPLETIONS, &asks("missing", "Hi")).json(404).to_string();
    let free = web.post(COMPLETIONS, &asks("gatefold", "Hi")).json(404).to_string();
    assert_eq!(free.replace("gatefold", "missing"), missing);
    web.post(COMPLETIONS, &asks("support", "Hi")).json(200);
    let listed = web.get("/v1/models").json(200);
    let names: Vec<_> =
        listed["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(names, [&json!("support")]);
}

#[tokio::test]
async fn a_run_ends_when_the_client_of_its_completion_leaves() {
    let model = ScriptedModel::start(|_| Move::Hang);
    let scratch = scratch(&model, "");
    let gateway = Gateway::serve(&scratch).await;
    let web = Web::new(&gateway);
    let mut first = Vec::new();
    for stream in [true, false] {
        let before = model.requests().len();
        let (own, request) =
            (Web::new(&gateway), with(asks("support", "Hi"), "stream", json!(stream)));
        if stream {
            // The head of the answer comes although nothing was said.
            let answer = own.post(COMPLETIONS, &request);
            assert_eq!(answer.status, 200);
            drop(answer);
        } else {
            own.leave_after(COMPLETIONS, &request, || model.requests().len() > before);
        }
        let newest = || web.get("/api/runs?limit=1").json(200)["runs"][0].clone();
        let ended = wait_until(LIMIT, || newest()["status"] == "cancelled");
        assert!(ended.await, "{}", newest());
        first.push(newest()["id"].clone());
    }
    assert_ne!(first[0], first[1]);
}

#[tokio::test]
async fn a_page_from_elsewhere_begins_no_run() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "");
    let gateway = Gateway::serve(&scratch).await;
    let web = Web::new(&gateway);
    let run = json!({ "message": "Hi" });
    for (path, body) in [(COMPLETIONS, asks("support", "Hi")), ("/api/runs", run)] {
        for (name, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
            assert_eq!(web.with(name, value).post(path, &body).status, 403, "{path} {name}");
        }
        for kind in ["", "content-type: text/plain\r\n", "content-type: multipart/form-data\r\n"] {
            assert_eq!(
                web.send("POST", path, kind, &body.to_string()).status,
                415,
                "{path} {kind}"
            );
        }
    }
    assert!(model.requests().is_empty(), "nothing was asked");
}

#[tokio::test]
async fn a_run_that_fails_is_an_error_that_clients_do_not_repeat() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let model = ScriptedModel::start(move |prompt| {
        counter.fetch_add(1, Ordering::SeqCst);
        if prompt.whole().to_string().contains("Break") {
            let text = "Never said in full.".to_owned();
            return Move::Turn(ModelTurn {
                text,
                piece_chars: 3,
                end: StreamEnd::Error(4),
                ..ModelTurn::default()
            });
        }
        Move::Fail("401 Unauthorized", "", r#"{"error":{"message":"no such key"}}"#)
    });
    let scratch = scratch(&model, "");
    let gateway = Gateway::serve(&scratch).await;
    let web = Web::new(&gateway);
    for stream in [false, true] {
        let request = with(asks("support", "Hi"), "stream", json!(stream));
        let failed = web.post(COMPLETIONS, &request);
        assert_eq!(failed.header("x-should-retry"), Some("false"));
        let error = failed.json(424)["error"].take();
        assert_eq!(
            (&error["type"], &error["code"]),
            (&json!("server_error"), &json!("run_failed"))
        );
    }
    let mut broken = web.post(COMPLETIONS, &with(asks("support", "Break"), "stream", json!(true)));
    assert_eq!(broken.status, 200);
    let events = broken.rest();
    let last = events.last().unwrap().json();
    assert_eq!(last["error"]["code"], "run_failed", "{events:?}");
    assert!(last["error"]["message"].is_string());
}

#[tokio::test]
async fn a_slow_reader_of_a_stream_misses_nothing_and_reads_nothing_twice() {
    const PIECES: usize = 20_000;
    let text: Vec<_> = (0..PIECES).map(|number| format!("{number:06} ")).collect();
    let text = text.concat();
    let said = text.clone();
    let model = ScriptedModel::start(move |_| {
        Move::Turn(ModelTurn { text: said.clone(), piece_chars: 7, ..ModelTurn::default() })
    });
    let scratch = scratch(&model, "");
    let gateway = Gateway::serve(&scratch).await;
    let request = with(asks("support", "Count"), "stream", json!(true));
    let mut answer = Web::new(&gateway).post(COMPLETIONS, &request);
    // The pieces are more than the connection takes meanwhile.
    let is_over = || Web::new(&gateway).get("/api/runs").json(200)["runs"][0]["status"] == "done";
    assert!(wait_until(LIMIT, is_over).await, "the run waits for its reader");
    let mut events = answer.rest();
    assert_eq!(events.pop().unwrap().data, "[DONE]");
    assert!(events.len() < PIECES, "no piece was lost, so this shows nothing");
    let chunks = events.iter().map(super::web::SentEvent::json);
    let read: String = chunks
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect();
    assert!(read == text, "{} of {} bytes", read.len(), text.len());
}
