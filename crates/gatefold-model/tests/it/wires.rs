//! Requests and answers as they travel.

use bytes::Bytes;
use gatefold_model::{
    Api, AssistantPart, CallArguments, Delta, Fields, History, Image, ModelAnswer, ModelError,
    ModelRequest, ModelSpec, Origin, RawJson, Round, SseDecoder, StopReason, Target, ToolChoice,
    ToolResult, UserMessage, UserPart,
};
use serde_json::{Value, json};

use crate::{asking, tool};

fn spec(api: Api, model: &str) -> ModelSpec {
    ModelSpec::new(api, "https://models.example/v1".parse().unwrap(), model)
}

fn origin(spec: &ModelSpec) -> Origin {
    Origin::new(spec.api, &spec.url, &spec.model)
}

fn encode(request: &ModelRequest<'_>, spec: &ModelSpec) -> String {
    let origin = origin(spec);
    let target = Target { spec, origin: &origin, streams: false };
    serde_json::to_string(&spec.api.wire().encode(request, &target)).unwrap()
}

fn encoded(request: &ModelRequest<'_>, spec: &ModelSpec) -> Value {
    serde_json::from_str(&encode(request, spec)).unwrap()
}

fn decode(spec: &ModelSpec, body: &Value) -> Result<ModelAnswer, ModelError> {
    spec.api.wire().decode(body.to_string().as_bytes(), &origin(spec))
}

/// Reads a stream whose bytes come in these parts.
fn read_stream(spec: &ModelSpec, parts: &[&[u8]]) -> (Vec<Delta>, Result<ModelAnswer, ModelError>) {
    let mut decoder = spec.api.wire().decoder(&origin(spec));
    let (mut events, mut deltas) = (SseDecoder::new(1 << 20), Vec::new());
    for part in parts {
        let mut read = Vec::new();
        events.push(part, &mut read).unwrap();
        for event in read {
            if let Err(error) = decoder.read(&event, &mut deltas) {
                return (deltas, Err(error));
            }
        }
    }
    (deltas, decoder.finish())
}

/// Adds what a model said to a history, with the same result for each call.
fn go_on(history: &mut History, answer: ModelAnswer) {
    let results = answer.message.calls().map(|_| ToolResult::text("done")).collect();
    history.push(Round::new(answer.message, results).unwrap()).unwrap();
}

#[test]
fn a_request_is_as_each_provider_wants_it() {
    let image = Image::new("image/png", Bytes::from_static(b"png")).unwrap();
    let parts = [UserPart::Text("What is this?".to_owned()), UserPart::Image(image.clone())];
    let mut history = History::new(UserMessage::new(parts).unwrap());
    let tools = [tool("look", &json!({ "properties": { "at": {} }, "anyOf": [{}] }))];
    let answer = json!({ "choices": [{ "message": { "tool_calls": [
        { "id": "c1", "function": { "name": "look", "arguments": "{\"at\": 1}" } },
        { "id": "c2", "function": { "name": "look", "arguments": "{\"at\"" } },
    ] } }] });
    let answer = decode(&spec(Api::OpenAiChat, "other"), &answer).unwrap();
    let seen = ToolResult { parts: vec![UserPart::Image(image)], is_error: false };
    let results = vec![seen, ToolResult::error("the arguments are not JSON")];
    history.push(Round::new(answer.message, results).unwrap()).unwrap();
    history.say(UserMessage::text("Go on.").unwrap());
    let request = ModelRequest {
        tool_choice: ToolChoice::Required,
        ..ModelRequest::new("Be kind.", &history).tools(&tools)
    };
    let mut extra = Fields::default();
    extra.set("top_p", &0.5);
    let with = |api: Api| ModelSpec {
        max_output_tokens: Some(100),
        parallel_calls: Some(false),
        temperature: Some(0.0),
        extra: extra.clone(),
        ..spec(api, "m")
    };
    for api in Api::ALL {
        insta::assert_snapshot!(api.name(), format!("{:#}", encoded(&request, &with(api))));
    }
}

const SIGNED: &str =
    r#"{"type":"thinking" , "thinking":"caf\u00e9\n","signature":"a+/=", "future":1.50}"#;
const SEALED: &str = r#"{"data":"xyz==","type":"redacted_thinking"}"#;
const SEARCH: &str = r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{"q": 1}}"#;

#[test]
fn thoughts_go_back_byte_for_byte_with_their_siblings_and_only_to_who_had_them() {
    let text = r#"{"type":"text","text":"Let me look.","citations":[{"cited_text": "x"}]}"#;
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"look","input":{"a" :1},"caller":{"type":"direct"}}"#;
    let blocks = [SIGNED, SEALED, text, SEARCH, call].join(",");
    let body = format!(r#"{{"content":[{blocks}],"stop_reason":"tool_use","future":1}}"#);
    let own = spec(Api::Anthropic, "m");
    let answer = own.api.wire().decode(body.as_bytes(), &origin(&own)).unwrap();
    assert_eq!(answer.message.text(), "Let me look.");
    let mut history = asking("Look.");
    go_on(&mut history, answer);
    let kept: History = serde_json::from_str(&serde_json::to_string(&history).unwrap()).unwrap();
    for history in [history, kept] {
        let request = ModelRequest::new("", &history);
        let sent = encode(&request, &own);
        let whole = format!(
            r#"{{"role":"assistant","content":[{SIGNED},{SEALED},{text},{SEARCH},{call}]}}"#
        );
        assert!(sent.contains(&whole), "{sent}");
        for other in [spec(Api::Anthropic, "another"), spec(Api::OpenAiChat, "m")] {
            let sent = encode(&request, &other);
            assert!(
                !sent.contains("signature")
                    && !sent.contains("xyz")
                    && !sent.contains("web_search")
            );
            assert!(sent.contains("Let me look.") && sent.contains("look"), "{sent}");
        }
    }
}

#[test]
fn members_that_nobody_knows_go_back_to_who_sent_them() {
    let message = json!({
        "role": "assistant",
        "content": "Looking.",
        "reasoning_content": "hm",
        "reasoning_details": [{ "type": "x", "data": "y" }],
        "annotations": [],
        "audio": null,
        "tool_calls": [{
            "id": "c1", "type": "function", "index": 0,
            "function": { "name": "look", "arguments": { "a": 1 } },
            "extra_content": { "google": { "thought_signature": "sig" } },
        }],
    });
    let own = spec(Api::OpenAiChat, "m");
    let answer = decode(&own, &json!({ "choices": [{ "message": message }] })).unwrap();
    assert_eq!(answer.stop, StopReason::Calls);
    let mut history = asking("Look.");
    go_on(&mut history, answer);
    let sent = &encoded(&ModelRequest::new("", &history), &own)["messages"][1];
    let call = &message["tool_calls"][0];
    assert_eq!(sent["tool_calls"][0]["extra_content"], call["extra_content"]);
    assert_eq!(sent["reasoning_details"], message["reasoning_details"]);
    assert_eq!(sent["reasoning_content"], "hm");
    assert_eq!((sent.get("annotations"), sent.get("audio")), (None, None));
    let elsewhere = encode(&ModelRequest::new("", &history), &spec(Api::OpenAiChat, "other"));
    assert!(!elsewhere.contains("thought_signature") && !elsewhere.contains("reasoning"));
    let alone = json!({ "content": "Done.", "reasoning_content": "hm" });
    let answer = decode(&own, &json!({ "choices": [{ "message": alone }] })).unwrap();
    let mut history = asking("Look.");
    go_on(&mut history, answer);
    history.say(UserMessage::text("Thanks.").unwrap());
    let sent = encode(&ModelRequest::new("", &history), &own);
    assert!(!sent.contains("reasoning"), "some refuse thoughts that led to no call: {sent}");
}

fn events(list: &[Value]) -> String {
    let events: Vec<_> = list.iter().map(|data| format!("data: {data}\n\n")).collect();
    events.concat()
}

fn chunk(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn chat_stream() -> String {
    let call = |index: u32, id: Option<&str>, name: Option<&str>, arguments: &str| {
        let mut call = json!({ "index": index, "function": { "arguments": arguments } });
        if let Some(id) = id {
            call["id"] = json!(id);
            call["function"]["name"] = json!(name);
            call["extra_content"] = json!({ "signature": id });
        }
        chunk(&json!({ "tool_calls": [call] }))
    };
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 5, "completion_tokens": 2,
        "prompt_tokens_details": { "cached_tokens": 3 },
        "completion_tokens_details": { "reasoning_tokens": 1 } } });
    let chunks = [
        chunk(&json!({ "role": "assistant", "content": "" })),
        chunk(&json!({ "reasoning_content": "h" })),
        chunk(&json!({ "reasoning_content": "m", "reasoning_details": [1] })),
        chunk(&json!({ "content": "Gr", "reasoning_details": [2] })),
        chunk(&json!({ "content": "üß" })),
        call(0, Some("a"), Some("first"), ""),
        call(1, Some("b"), Some("second"), "{\"x"),
        call(0, None, None, "{\"y\":"),
        call(1, None, None, "\":1}"),
        call(0, None, None, "\"漢\"}"),
        end,
        usage,
    ];
    format!(": hello\n\n{}data: [DONE]\n\n", events(&chunks))
}

fn message_stream() -> String {
    let block = |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let call = |id: &str, name: &str| json!({ "type": "tool_use", "id": id, "name": name, "input": {}, "caller": { "type": "direct" } });
    let json_piece = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
    let text = |text: &str| json!({ "type": "text_delta", "text": text });
    let thought = |text: &str| json!({ "type": "thinking_delta", "thinking": text });
    let signature = json!({ "type": "signature_delta", "signature": "a+/=" });
    let start = json!({ "type": "message_start", "message": { "usage": {
        "input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 0 } } });
    let list = [
        start,
        block(0, json!({ "type": "thinking", "thinking": "", "signature": "", "future": 1 })),
        json!({ "type": "ping" }),
        delta(0, thought("h")),
        delta(0, thought("m")),
        delta(0, signature),
        json!({ "type": "content_block_stop", "index": 0 }),
        block(1, json!({ "type": "text", "text": "" })),
        delta(1, text("Gr")),
        delta(1, text("üß")),
        block(2, call("a", "first")),
        block(3, call("b", "second")),
        delta(3, json_piece("{\"x")),
        delta(2, json_piece("{\"y\":")),
        delta(3, json_piece("\":1}")),
        delta(2, json_piece("\"漢\"}")),
        json!({ "type": "future_event" }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" },
            "usage": { "output_tokens": 2 } }),
        json!({ "type": "message_stop" }),
    ];
    events(&list)
}

#[test]
fn a_stream_is_the_same_wherever_it_is_cut_into_fragments() {
    for (api, text) in [(Api::OpenAiChat, chat_stream()), (Api::Anthropic, message_stream())] {
        let spec = spec(api, "m");
        let bytes = text.as_bytes();
        let (deltas, answer) = read_stream(&spec, &[bytes]);
        let answer = answer.unwrap();
        let said = |text: &str| Delta::Text(text.to_owned());
        let thought = |text: &str| Delta::Thinking(text.to_owned());
        let call = |call: usize, name: &str| Delta::Call { call, name: name.to_owned() };
        let more = |call: usize, json: &str| Delta::Arguments { call, json: json.to_owned() };
        let mut expected = vec![
            thought("h"),
            thought("m"),
            said("Gr"),
            said("üß"),
            call(0, "first"),
            call(1, "second"),
        ];
        expected.extend([
            more(1, "{\"x"),
            more(0, "{\"y\":"),
            more(1, "\":1}"),
            more(0, "\"漢\"}"),
        ]);
        assert_eq!(deltas, expected, "{api}");
        assert_eq!((answer.message.text(), &answer.stop), ("Grüß".to_owned(), &StopReason::Calls));
        let usage = answer.usage;
        let counts = [usage.input, usage.output, usage.cached, usage.total()];
        assert_eq!(counts, [Some(5), Some(2), Some(3), Some(7)], "{api}");
        let calls = answer.message.calls().map(|call| {
            let CallArguments::Object(json) = &call.arguments else { panic!("{call:?}") };
            (call.id.as_str(), call.name.as_str(), json.text(), call.extra.is_empty())
        });
        let calls: Vec<_> = calls.collect();
        assert_eq!(
            calls,
            [("a", "first", "{\"y\":\"漢\"}", false), ("b", "second", "{\"x\":1}", false)]
        );
        for at in 0..=bytes.len() {
            let (cut, whole) = read_stream(&spec, &[&bytes[..at], &bytes[at..]]);
            assert_eq!((&cut, whole.as_ref().unwrap()), (&deltas, &answer), "{api}, cut at {at}");
        }
        let (single, whole) = read_stream(&spec, &bytes.chunks(1).collect::<Vec<_>>());
        assert_eq!((single, whole.unwrap()), (deltas, answer), "{api}, byte by byte");
    }
}

#[test]
fn a_streamed_thought_has_the_block_that_a_whole_answer_has() {
    let spec = spec(Api::Anthropic, "m");
    let (_, answer) = read_stream(&spec, &[message_stream().as_bytes()]);
    let answer = answer.unwrap();
    let Some(AssistantPart::Thinking { text, raw: Some(raw) }) = answer.message.parts.first()
    else {
        panic!("{answer:?}")
    };
    let block = r#"{"type":"thinking","thinking":"hm","signature":"a+/=","future":1}"#;
    assert_eq!((text.as_str(), raw), ("hm", &RawJson::parse(block).unwrap()));
    let chat = crate::wires::spec(Api::OpenAiChat, "m");
    let (_, answer) = read_stream(&chat, &[chat_stream().as_bytes()]);
    let extra = answer.unwrap().message.extra;
    let expected = r#"{"reasoning_content":"hm","reasoning_details":[1,2]}"#;
    assert_eq!(serde_json::to_string(&extra).unwrap(), expected);
}

#[test]
fn a_stream_that_ends_early_is_never_taken_for_whole() {
    for (api, text) in [(Api::OpenAiChat, chat_stream()), (Api::Anthropic, message_stream())] {
        let spec = spec(api, "m");
        let reason =
            if api == Api::Anthropic { "\"stop_reason\"" } else { "\"finish_reason\":\"tool" };
        let complete = text.find(reason).unwrap();
        for at in 0..complete {
            if !text.is_char_boundary(at) {
                continue;
            }
            let (_, cut) = read_stream(&spec, &[&text.as_bytes()[..at]]);
            assert!(matches!(cut, Err(ModelError::Cut)), "{api}, at {at}: {cut:?}");
        }
    }
}

#[test]
fn servers_that_count_calls_wrongly_or_not_at_all_are_understood() {
    let own = spec(Api::OpenAiChat, "m");
    let call = |id: &str, index: Option<u32>| {
        let mut call = json!({ "id": id, "function": { "name": id, "arguments": "{}" } });
        if let Some(index) = index {
            call["index"] = json!(index);
        }
        call
    };
    for index in [None, Some(0)] {
        let chunks = [
            chunk(&json!({ "tool_calls": [call("a", index), call("b", index)] })),
            chunk(&json!({ "tool_calls": [call("c", index)] })),
            json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
        ];
        let (deltas, answer) = read_stream(&own, &[events(&chunks).as_bytes()]);
        let answer = answer.unwrap();
        let names: Vec<_> = answer.message.calls().map(|call| call.name.as_str()).collect();
        assert_eq!((names, answer.stop, deltas.len()), (vec!["a", "b", "c"], StopReason::Calls, 6));
    }
}

#[test]
fn errors_refusals_and_empty_answers_are_what_they_are() {
    let (chat, anthropic) = (spec(Api::OpenAiChat, "m"), spec(Api::Anthropic, "m"));
    let said = |result: Result<ModelAnswer, ModelError>| result.unwrap_err().to_string();
    let nothing = "the model's endpoint answered without a message";
    assert_eq!(said(decode(&chat, &json!({ "choices": [] }))), nothing);
    let error = json!({ "error": { "message": "no credit", "type": "billing" } });
    assert_eq!(said(decode(&chat, &error)), "the model's endpoint reported an error: no credit");
    assert_eq!(
        said(decode(&anthropic, &error)),
        "the model's endpoint reported an error: no credit"
    );
    let other = "the model's endpoint did not answer with ";
    assert_eq!(said(decode(&chat, &json!({}))), format!("{other}a chat completion"));
    assert_eq!(said(decode(&anthropic, &json!([1]))), format!("{other}a message"));

    let refused = json!({ "choices": [{ "message": { "content": null, "refusal": "I won't." } }] });
    let refused = decode(&chat, &refused).unwrap();
    assert_eq!(
        (refused.message.text(), refused.stop),
        ("I won't.".to_owned(), StopReason::Refusal)
    );
    let filtered = json!({ "choices": [{ "message": {}, "finish_reason": "content_filter" }] });
    assert_eq!(decode(&chat, &filtered).unwrap().stop, StopReason::Refusal);
    let refused = json!({ "content": [], "stop_reason": "refusal" });
    assert_eq!(decode(&anthropic, &refused).unwrap().stop, StopReason::Refusal);
    let cut = json!({ "content": [], "stop_reason": "max_tokens" });
    assert_eq!(decode(&anthropic, &cut).unwrap().stop, StopReason::Length);

    let ended = events(&[json!({ "choices": [] })]) + "data: [DONE]\n\n";
    assert_eq!(said(read_stream(&chat, &[ended.as_bytes()]).1), nothing);
    let begun = events(&[chunk(&json!({ "content": "He" })), error.clone()]);
    let (deltas, error) = read_stream(&chat, &[begun.as_bytes()]);
    assert_eq!(deltas, [Delta::Text("He".to_owned())]);
    assert!(said(error).contains("no credit"));
    let overloaded =
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "full" } });
    let (_, error) = read_stream(&anthropic, &[events(&[overloaded]).as_bytes()]);
    assert!(matches!(error, Err(ModelError::Reported { is_passing: true, .. })), "{error:?}");
}

#[test]
fn an_answer_has_a_limited_number_of_calls_and_members() {
    let own = spec(Api::OpenAiChat, "m");
    let call =
        |at: usize| json!({ "id": format!("c{at}"), "index": at, "function": { "name": "f" } });
    let calls: Vec<_> = (0..40).map(call).collect();
    let whole = json!({ "choices": [{ "message": { "tool_calls": calls } }] });
    assert_eq!(decode(&own, &whole).unwrap().message.calls().count(), 32);
    let stream = events(&[chunk(&json!({ "tool_calls": calls }))]) + "data: [DONE]\n\n";
    let (deltas, answer) = read_stream(&own, &[stream.as_bytes()]);
    assert_eq!((answer.unwrap().message.calls().count(), deltas.len()), (32, 32));
    let many: serde_json::Map<_, _> = (0..2000).map(|at| (format!("m{at}"), json!(at))).collect();
    let whole = json!({ "choices": [{ "message": many }] });
    assert!(matches!(decode(&own, &whole), Err(ModelError::NotAnAnswer { .. })));
}
