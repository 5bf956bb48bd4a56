//! Whatever was said, both providers take the history.

use bytes::Bytes;
use gatefold_model::{
    Api, AssistantMessage, AssistantPart, CallArguments, Fields, History, HistoryError, Image,
    ModelRequest, ModelSpec, Origin, RawJson, Round, Target, ToolCall, ToolResult, UserMessage,
    UserPart,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use gatefold_testkit::model::{check_chat, check_messages};

/// How many histories are tried. `GATEFOLD_MODEL_CASES` names another number, for runs by hand.
const CASES: u32 = 20_000;

fn spec(api: Api) -> ModelSpec {
    ModelSpec::new(api, "http://127.0.0.1:1/v1".parse().unwrap(), "m")
}

fn origin(api: Api) -> Origin {
    Origin::new(api, &spec(api).url, "m")
}

fn encode(api: Api, history: &History, system: &str) -> Value {
    let (spec, origin) = (spec(api), origin(api));
    let target = Target { spec: &spec, origin: &origin, streams: false };
    let body = api.wire().encode(&ModelRequest::new(system, history), &target);
    serde_json::from_str(&serde_json::to_string(&body).unwrap()).unwrap()
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" \n\t".to_owned()),
        "[a-z ]{1,12}",
        any::<String>(),
        Just("é漢\u{0}\u{feff}\"\\ ".to_owned()),
    ]
}

fn user_part() -> impl Strategy<Value = UserPart> {
    let image = prop::collection::vec(any::<u8>(), 0..8)
        .prop_map(|bytes| UserPart::Image(Image::new("IMAGE/PNG", Bytes::from(bytes)).unwrap()));
    prop_oneof![4 => words().prop_map(UserPart::Text), 1 => image]
}

fn user() -> impl Strategy<Value = UserMessage> {
    prop::collection::vec(user_part(), 0..4).prop_map(|parts| {
        UserMessage::new(parts).unwrap_or_else(|_| UserMessage::text("go on").unwrap())
    })
}

fn arguments() -> impl Strategy<Value = CallArguments> {
    let written = prop_oneof![
        Just(String::new()),
        Just(r#"{"a": [1, 2.50, "é"]}"#.to_owned()),
        Just(r#"{"a": "#.to_owned()),
        Just("[1]".to_owned()),
        words(),
    ];
    written.prop_map(|written| CallArguments::read(&written))
}

fn call() -> impl Strategy<Value = AssistantPart> {
    let id = prop_oneof![Just(String::new()), "call_[0-3]", "[a-zA-Z0-9_-]{1,40}",];
    let name = prop_oneof!["[a-z_]{1,10}", words(), "[a-z]{60,70}"];
    (id, name, arguments()).prop_map(|(id, name, arguments)| {
        AssistantPart::Call(ToolCall { id, name, arguments, extra: Fields::default() })
    })
}

/// A part as a server of one of the wires would have given it.
fn part(api: Api) -> BoxedStrategy<AssistantPart> {
    let thinking = (words(), "[a-z]{4}").prop_map(move |(text, signature)| {
        let block = json!({ "type": "thinking", "thinking": text, "signature": signature });
        let raw = (api == Api::Anthropic).then(|| RawJson::of(&block));
        AssistantPart::Thinking { text, raw }
    });
    let text = words().prop_map(move |text| {
        let raw = RawJson::of(&json!({ "type": "text", "text": text }));
        AssistantPart::Text { text, raw: (api == Api::Anthropic).then_some(raw) }
    });
    prop_oneof![text, thinking, call()].boxed()
}

fn said() -> impl Strategy<Value = AssistantMessage> {
    let of_api = |api: Api| {
        prop::collection::vec(part(api), 0..6).prop_map(move |parts| {
            let mut extra = Fields::default();
            if api == Api::OpenAiChat {
                extra.set("reasoning_content", &"hm");
                extra.set("future", &json!({ "a": 1 }));
            }
            AssistantMessage { origin: origin(api), parts, extra }
        })
    };
    prop_oneof![of_api(Api::OpenAiChat), of_api(Api::Anthropic)]
}

fn result() -> impl Strategy<Value = ToolResult> {
    (prop::collection::vec(user_part(), 0..3), any::<bool>())
        .prop_map(|(parts, is_error)| ToolResult { parts, is_error })
}

fn history() -> impl Strategy<Value = History> {
    let results = prop::collection::vec(result(), 6);
    let turn = (said(), results, prop::option::of(user()), user());
    (user(), prop::collection::vec(turn, 0..5)).prop_map(|(first, turns)| {
        let mut history = History::new(first);
        for (said, mut results, aside, next) in turns {
            results.truncate(said.calls().count());
            history.push(Round::new(said, results).unwrap()).unwrap();
            if let Some(aside) = aside {
                history.say(aside);
            }
            if !history.awaits_answer() {
                history.say(next);
            }
        }
        history
    })
}

#[test]
fn every_history_is_taken_by_both_providers_and_survives_being_kept() {
    #[expect(clippy::disallowed_methods, reason = "how long a run by hand takes")]
    let cases = std::env::var("GATEFOLD_MODEL_CASES");
    let cases = cases.map_or(CASES, |cases| cases.parse().unwrap());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let tried = TestRunner::new(config).run(&(history(), words()), |(history, system)| {
        let chat = encode(Api::OpenAiChat, &history, &system);
        prop_assert_eq!(check_chat(&chat), Ok(()));
        let messages = encode(Api::Anthropic, &history, &system);
        prop_assert_eq!(check_messages(&messages), Ok(()));
        let kept = serde_json::to_string(&history).unwrap();
        let read: History = serde_json::from_str(&kept).unwrap();
        prop_assert_eq!(&read, &history);
        Ok(())
    });
    tried.unwrap();
}

/// Rules that accept everything would show nothing.
#[test]
fn the_rules_refuse_what_providers_refuse() {
    let call =
        json!({ "id": "a", "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let asked = json!({ "role": "user", "content": "hi" });
    let called = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let result = json!({ "role": "tool", "tool_call_id": "a", "content": "" });
    let chat = |messages: &[&Value]| check_chat(&json!({ "messages": messages }));
    assert_eq!(chat(&[&asked, &called, &result]), Ok(()));
    for wrong in [
        &[&asked, &called][..],
        &[&asked, &called, &asked],
        &[&asked, &result],
        &[&asked, &called, &result, &result],
        &[&asked, &called, &result, &called, &result],
    ] {
        assert!(chat(wrong).is_err(), "{wrong:?}");
    }
    let block = json!({ "type": "tool_use", "id": "a", "name": "f", "input": {} });
    let asked = json!({ "role": "user", "content": [{ "type": "text", "text": "hi" }] });
    let called = json!({ "role": "assistant", "content": [block] });
    let result = json!({ "type": "tool_result", "tool_use_id": "a" });
    let answered = json!({ "role": "user", "content": [result] });
    let messages =
        |messages: &[&Value]| check_messages(&json!({ "max_tokens": 1, "messages": messages }));
    assert_eq!(messages(&[&asked, &called, &answered]), Ok(()));
    for wrong in [
        &[&called][..],
        &[&asked, &called],
        &[&asked, &asked, &called],
        &[&asked, &called, &asked],
        &[&answered],
        &[&asked, &called, &answered, &called, &answered],
    ] {
        assert!(messages(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn half_a_round_cannot_be_made() {
    let called = |calls: usize| AssistantMessage {
        origin: origin(Api::Anthropic),
        parts: vec![
            AssistantPart::Call(ToolCall {
                id: "a".to_owned(),
                name: "f".to_owned(),
                arguments: CallArguments::empty(),
                extra: Fields::default(),
            });
            calls
        ],
        extra: Fields::default(),
    };
    let results = |count: usize| vec![ToolResult::text("done"); count];
    let refused = Round::new(called(2), results(1)).unwrap_err();
    assert_eq!(refused, HistoryError::Unanswered { calls: 2, results: 1 });
    assert!(Round::new(called(0), results(1)).is_err());
    let round = Round::new(called(1), results(1)).unwrap();
    let mut history = History::new(UserMessage::text("go").unwrap());
    history.push(round).unwrap();
    assert!(history.awaits_answer());
    history.push(Round::new(called(0), Vec::new()).unwrap()).unwrap();
    assert!(!history.awaits_answer());
    let again = history.push(Round::new(called(0), Vec::new()).unwrap());
    assert_eq!(again, Err(HistoryError::Unasked));
    let kept = serde_json::to_string(&history).unwrap();
    for (whole, half) in [
        ("\"results\":[{", "\"results\":[{\"parts\":[],\"is_error\":true},{"),
        ("[{\"user\"", "[{\"users\""),
    ] {
        let broken = kept.replacen(whole, half, 1);
        assert_ne!(broken, kept);
        assert!(serde_json::from_str::<History>(&broken).is_err(), "{broken}");
    }
}

#[test]
fn what_no_provider_takes_is_refused_at_once() {
    let said = |error: &dyn std::error::Error| error.to_string();
    assert!(said(&UserMessage::text(" \n").unwrap_err()).contains("not blank"));
    assert!(said(&Image::new("image/tiff", Bytes::new()).unwrap_err()).contains("PNG, JPEG"));
    let large = Image::new("image/png", Bytes::from(vec![0; 4_000_000])).unwrap_err();
    assert!(said(&large).contains("4000000 bytes is larger than the limit: 3750000"));
}
