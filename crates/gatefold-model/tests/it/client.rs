//! The client against a scripted endpoint.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant as Clock};

use gatefold_core::Secret;
use gatefold_model::{
    Api, Delta, ModelClient, ModelError, ModelRequest, ModelSpec, Round, StopReason, ToolResult,
};
use gatefold_testkit::model::{ModelTurn, Move, ScriptedModel, StreamEnd, TurnOutcome};
use serde_json::json;

use crate::{answer_of, asking, client, client_of, soon, spec, tool};

fn model(
    script: impl Fn(&gatefold_testkit::model::Prompt) -> Move + Send + Sync + 'static,
) -> ScriptedModel {
    ScriptedModel::start(script)
}

fn turn() -> ModelTurn {
    ModelTurn {
        thinking: Some(("Let me think.".to_owned(), "sig+/=".to_owned())),
        text: "Grüße, 漢字".to_owned(),
        calls: vec![
            ("first".to_owned(), r#"{"a":"é"}"#.to_owned()),
            ("second".to_owned(), r#"{"b":[1,2]}"#.to_owned()),
        ],
        piece_chars: 2,
        interleaves: true,
        ..ModelTurn::default()
    }
}

#[tokio::test]
async fn an_answer_is_the_same_whole_and_in_fragments_of_any_size() {
    let tools = [tool("first", &json!({})), tool("second", &json!({}))];
    let history = asking("Go.");
    let request = ModelRequest::new("", &history).tools(&tools);
    for api in Api::ALL {
        let whole = client(&model(|_| Move::Turn(turn())), api).ask(request, soon()).await.unwrap();
        assert_eq!(
            (whole.message.text().as_str(), &whole.stop),
            ("Grüße, 漢字", &StopReason::Calls)
        );
        assert_eq!((whole.usage.total(), whole.usage.cached), (Some(100), Some(50)), "{api}");
        for fragment_bytes in [0, 1, 2, 3, 5, 7, 64, 100_000] {
            let endpoint = model(move |_| Move::Turn(ModelTurn { fragment_bytes, ..turn() }));
            let mut stream = client(&endpoint, api).stream(request, soon()).await.unwrap();
            let (mut text, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
            while let Some(delta) = stream.next().await.unwrap() {
                match delta {
                    Delta::Text(more) => text += &more,
                    Delta::Thinking(more) => thought += &more,
                    Delta::Call { call, name } => {
                        assert_eq!(call, calls.len());
                        calls.push((name, String::new()));
                    }
                    Delta::Arguments { call, json } => calls[call].1 += &json,
                }
            }
            assert_eq!(
                (text, thought, calls),
                (turn().text, turn().thinking.unwrap().0, turn().calls)
            );
            let mut answer = stream.answer().await.unwrap();
            // Each endpoint has an address of its own.
            answer.message.origin = whole.message.origin.clone();
            assert_eq!(answer, whole, "{api}, {fragment_bytes}");
        }
    }
}

#[tokio::test]
async fn a_round_goes_back_as_both_providers_want_it() {
    for api in Api::ALL {
        let endpoint = model(|prompt| match prompt.told().as_slice() {
            [] => Move::Turn(turn()),
            told => Move::say(&told.join(" and ")),
        });
        let (client, mut history) = (client(&endpoint, api), asking("Go."));
        let tools = [tool("first", &json!({})), tool("second", &json!({}))];
        let request = ModelRequest::new("Be kind.", &history).tools(&tools);
        let answer = answer_of(&client, request, true).await.unwrap();
        let results = vec![ToolResult::text("one"), ToolResult::error("two")];
        history.push(Round::new(answer.message, results).unwrap()).unwrap();
        let request = ModelRequest::new("Be kind.", &history).tools(&tools);
        let answer = answer_of(&client, request, false).await.unwrap();
        assert_eq!(answer.message.text(), "one and two", "{api}");
        let sent = endpoint.requests().pop().unwrap();
        assert_eq!(sent.contains("sig+/="), api == Api::Anthropic, "{sent}");
    }
}

/// How an endpoint fails first, and how often it is asked until it answers, or for good.
async fn check(first: Move, api: Api, streams: bool, asked: usize, error: Option<&str>) {
    let (count, what) = (AtomicUsize::new(0), format!("{first:?}, {api}, streams: {streams}"));
    let endpoint = model(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => first.clone(),
        _ => Move::say("Hello!"),
    });
    let history = asking("Go.");
    let answer = answer_of(&client(&endpoint, api), ModelRequest::new("", &history), streams).await;
    match (answer, error) {
        (Ok(answer), None) => assert_eq!(answer.message.text(), "Hello!", "{what}"),
        (Err(error), Some(part)) => assert!(error.to_string().contains(part), "{what}: {error}"),
        (answer, _) => panic!("{what}: {answer:?}"),
    }
    assert_eq!(endpoint.requests().len(), asked, "{what}");
}

fn ending(end: StreamEnd) -> Move {
    Move::Turn(ModelTurn { end, ..turn() })
}

#[tokio::test]
async fn what_fails_before_the_first_piece_is_tried_again() {
    for api in Api::ALL {
        for streams in [false, true] {
            let now = "retry-after: 0\r\n";
            check(Move::Fail("429 Too Many Requests", now, "{}"), api, streams, 2, None).await;
            check(Move::Fail("529 Overloaded", now, "busy"), api, streams, 2, None).await;
            let refusal = r#"{"error":{"message":"wrong"}}"#;
            let wrong = Move::Fail("400 Bad Request", "", refusal);
            check(wrong, api, streams, 1, Some("400 Bad Request: wrong")).await;
            let late = Move::Fail("429 Too Many Requests", "retry-after: 9999\r\n", "{}");
            check(late, api, streams, 1, Some("429 Too Many")).await;
        }
        for end in [StreamEnd::Cut(1), StreamEnd::Broken(1), StreamEnd::Error(1)] {
            check(ending(end), api, true, 2, None).await;
        }
    }
    let nothing =
        || Move::Turn(ModelTurn { outcome: TurnOutcome::Nothing, ..ModelTurn::default() });
    check(nothing(), Api::OpenAiChat, false, 2, None).await;
    check(nothing(), Api::OpenAiChat, true, 2, None).await;
}

#[tokio::test]
async fn what_fails_after_the_first_piece_is_told_and_nothing_is_sent_again() {
    for api in Api::ALL {
        check(ending(StreamEnd::Cut(8)), api, true, 1, Some("ended before it was complete")).await;
        check(ending(StreamEnd::Broken(8)), api, true, 1, Some("ended before it was complete"))
            .await;
        let fell = "reported an error: the model fell over";
        check(ending(StreamEnd::Error(8)), api, true, 1, Some(fell)).await;
    }
}

#[tokio::test]
async fn the_fallback_answers_for_a_model_that_cannot() {
    let busy = "retry-after: 9999\r\n";
    for (status, is_replaced) in
        [("429 Too Many Requests", true), ("400 Bad Request", false), ("401 Unauthorized", false)]
    {
        let failing = model(move |_| Move::Fail(status, busy, "{}"));
        let other = model(|_| Move::say("From the other."));
        let fallback = ModelSpec { model: "other".to_owned(), ..spec(&other, Api::Anthropic) };
        let client = client(&failing, Api::OpenAiChat).with_fallback(client_of(fallback));
        let history = asking("Go.");
        let request = ModelRequest::new("", &history);
        let stream = client.stream(request, soon()).await;
        assert_eq!(
            stream.as_ref().ok().map(gatefold_model::ModelStream::model),
            is_replaced.then_some("other")
        );
        let answer = client.ask(request, soon()).await;
        assert_eq!(answer.is_ok(), is_replaced, "{status}: {answer:?}");
        assert_eq!(other.requests().len(), if is_replaced { 2 } else { 0 });
    }
    let other = model(|_| Move::say("From the other."));
    let nobody = ModelSpec::new(Api::OpenAiChat, "http://127.0.0.1:1/v1".parse().unwrap(), "m");
    let client = client_of(nobody).with_fallback(client_of(spec(&other, Api::OpenAiChat)));
    let history = asking("Go.");
    assert!(client.ask(ModelRequest::new("", &history), soon()).await.is_ok());
}

#[tokio::test]
async fn a_silent_endpoint_costs_no_more_than_the_models_time() {
    let endpoint = model(|_| Move::Hang);
    let short =
        ModelSpec { timeout: Duration::from_millis(300), ..spec(&endpoint, Api::OpenAiChat) };
    let (client, history) = (client_of(short), asking("Go."));
    let begun = Clock::now();
    for streams in [false, true] {
        let late = answer_of(&client, ModelRequest::new("", &history), streams).await.unwrap_err();
        assert!(late.to_string().contains("did not answer in time"), "{late}");
        assert!(!late.is_final() && !late.for_model().contains("127.0.0.1"));
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn the_key_goes_into_its_header_and_into_no_message() {
    let refusal = r#"{"error":{"message":"wrong key: k3y\nof-mine"}}"#;
    for (api, header) in [
        (Api::OpenAiChat, "authorization: Bearer k3y-of-mine"),
        (Api::Anthropic, "x-api-key: k3y-of-mine"),
    ] {
        let endpoint = model(|_| {
            Move::Fail("401 Unauthorized", "", r#"{"error":{"message":"wrong key: k3y-of-mine"}}"#)
        });
        let key = Some(Secret::new("k3y-of-mine"));
        let client = client_of(ModelSpec { key, ..spec(&endpoint, api) });
        let history = asking("Go.");
        let refused = client.ask(ModelRequest::new("", &history), soon()).await.unwrap_err();
        let said = "the model's endpoint answered 401 Unauthorized: wrong key: [the key]";
        assert_eq!((refused.to_string().as_str(), refused.is_final()), (said, true));
        assert!(!format!("{refused:?}{:?}", client.spec()).contains("k3y"), "{refused:?}");
        assert!(endpoint.requests()[0].contains(header), "{}", endpoint.requests()[0]);
    }
    let endpoint = model(move |_| Move::Fail("400 Bad Request", "", refusal));
    let history = asking("Go.");
    let request = ModelRequest::new("", &history);
    let refused = client(&endpoint, Api::OpenAiChat).ask(request, soon()).await.unwrap_err();
    assert!(refused.to_string().ends_with("wrong key: k3y of-mine"), "one line: {refused}");
    let with_key =
        |key: &str| ModelSpec { key: Some(Secret::new(key)), ..spec(&endpoint, Api::Anthropic) };
    let egress = gatefold_egress::Egress::new(gatefold_egress::Settings::default()).unwrap();
    let http = egress.client_for(gatefold_egress::Reach::any());
    assert!(matches!(ModelClient::new(http.clone(), with_key("a\nb")), Err(ModelError::Key)));
    let file = ModelSpec::new(Api::OpenAiChat, "file:///x".parse().unwrap(), "m");
    assert!(matches!(ModelClient::new(http, file), Err(ModelError::Address)));
}

#[tokio::test]
async fn a_server_that_knows_no_events_is_read_whole() {
    const WHOLE: &str = r#"{"choices":[{"message":{"content":"Hello!","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let endpoint = model(|_| Move::Fail("200 OK", "", WHOLE));
    let (client, history) = (client(&endpoint, Api::OpenAiChat), asking("Go."));
    let mut stream = client.stream(ModelRequest::new("", &history), soon()).await.unwrap();
    let mut deltas = Vec::new();
    while let Some(delta) = stream.next().await.unwrap() {
        deltas.push(delta);
    }
    let call = Delta::Call { call: 0, name: "f".to_owned() };
    let arguments = Delta::Arguments { call: 0, json: "{}".to_owned() };
    assert_eq!(deltas, [Delta::Text("Hello!".to_owned()), call, arguments]);
    assert_eq!(stream.answer().await.unwrap().stop, StopReason::Calls);
}

#[tokio::test]
async fn models_are_listed_and_a_finished_conversation_is_not_asked_about() {
    let endpoint = model(|_| Move::say("Hello!"));
    let (client, mut history) = (client(&endpoint, Api::Anthropic), asking("Go."));
    assert_eq!(client.models(soon()).await.unwrap(), ["scripted"]);
    let answer = client.ask(ModelRequest::new("", &history), soon()).await.unwrap();
    history.push(Round::new(answer.message, Vec::new()).unwrap()).unwrap();
    let asked = endpoint.requests().len();
    let refused = client.ask(ModelRequest::new("", &history), soon()).await;
    assert!(matches!(refused, Err(ModelError::NothingAsked)), "{refused:?}");
    assert_eq!(endpoint.requests().len(), asked);
}

#[tokio::test]
async fn too_long_a_conversation_is_told_apart_and_not_sent_again() {
    for api in Api::ALL {
        for (status, body) in [
            (
                "400 Bad Request",
                r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            ),
            ("400 Bad Request", r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#),
            (
                "500 Internal Server Error",
                r#"{"error":{"message":"exceeds the available context size"}}"#,
            ),
        ] {
            let endpoint = model(move |_| Move::Fail(status, "", body));
            for streams in [false, true] {
                let history = asking("Go.");
                let request = ModelRequest::new("", &history);
                let answer = answer_of(&client(&endpoint, api), request, streams).await;
                assert!(matches!(answer, Err(ModelError::Overflow { .. })), "{api}: {answer:?}");
            }
            assert_eq!(endpoint.requests().len(), 2, "{api}: {body}");
        }
    }
}

#[tokio::test]
async fn refusals_and_limits_are_reasons_to_stop() {
    for api in Api::ALL {
        for (outcome, stop) in
            [(TurnOutcome::Refusal, StopReason::Refusal), (TurnOutcome::Length, StopReason::Length)]
        {
            let turn = ModelTurn { outcome, text: "No.".to_owned(), ..ModelTurn::default() };
            let endpoint = model(move |_| Move::Turn(turn.clone()));
            for streams in [false, true] {
                let history = asking("Go.");
                let request = ModelRequest::new("", &history);
                let answer = answer_of(&client(&endpoint, api), request, streams).await.unwrap();
                assert_eq!((answer.message.text().as_str(), &answer.stop), ("No.", &stop), "{api}");
            }
        }
    }
}
