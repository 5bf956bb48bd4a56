//! Models that know no calls.

use gatefold_model::{
    Api, ModelAnswer, ModelError, ModelRequest, ModelSpec, Round, StopReason, ToolCalls,
    ToolChoice, ToolDefinition, ToolResult,
};
use gatefold_testkit::model::{Move, Prompt, ScriptedModel};
use serde_json::{Value, json};

use crate::{answer_of, asking, client_of, spec, tool};

const CALL: &str = "Sure:\n```json\n{\"tool\": \"add\", \"arguments\": {\"a\": 1,}}\n```";

fn tools() -> [ToolDefinition; 2] {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    [tool("add", &schema), tool("stop", &json!({}))]
}

fn json_mode(model: &ScriptedModel) -> ModelSpec {
    ModelSpec { tool_calls: ToolCalls::Json, ..spec(model, Api::OpenAiChat) }
}

async fn ask(model: &ScriptedModel, choice: ToolChoice<'_>) -> Result<ModelAnswer, ModelError> {
    let (tools, history) = (tools(), asking("Go."));
    let request = ModelRequest {
        tool_choice: choice,
        ..ModelRequest::new("Be kind.", &history).tools(&tools)
    };
    answer_of(&client_of(json_mode(model)), request, false).await
}

fn last_said(prompt: &Prompt) -> &str {
    let last = prompt.whole()["messages"].as_array().unwrap().last().unwrap();
    last["content"].as_str().unwrap()
}

/// A model that writes these texts, one after another.
fn writing(texts: &'static [&'static str]) -> ScriptedModel {
    let count = std::sync::atomic::AtomicUsize::new(0);
    ScriptedModel::start(move |_| {
        Move::say(texts[count.fetch_add(1, std::sync::atomic::Ordering::SeqCst)])
    })
}

#[tokio::test]
async fn calls_and_answers_are_read_from_json() {
    let called = ask(&writing(&[CALL]), ToolChoice::Auto).await.unwrap();
    let call = called.message.calls().next().unwrap();
    let arguments = format!("{:?}", call.arguments);
    assert_eq!((call.name.as_str(), &called.stop), ("add", &StopReason::Calls));
    assert!(arguments.contains("{\"a\": 1}"), "{arguments}");
    let said = ask(&writing(&[r#"{"answer":"It is 2."}"#]), ToolChoice::Auto).await.unwrap();
    assert_eq!((said.message.text().as_str(), said.stop), ("It is 2.", StopReason::Done));
    let plain = ask(&writing(&["It is 2."]), ToolChoice::Auto).await.unwrap();
    assert_eq!(plain.message.text(), "It is 2.", "words without JSON are an answer");
    let silent = writing(&["It is 2."]);
    assert_eq!(ask(&silent, ToolChoice::None).await.unwrap().message.text(), "It is 2.");
    assert!(!silent.requests()[0].contains("add"), "no tool is spoken of");
}

#[tokio::test]
async fn what_cannot_be_read_is_asked_for_once_more() {
    let mended = writing(&[r#"{"tool":"subtract","arguments":{}}"#, CALL]);
    let answer = ask(&mended, ToolChoice::Auto).await.unwrap();
    assert_eq!((answer.message.calls().count(), answer.usage.total()), (1, Some(200)));
    let second = &mended.requests()[1];
    assert!(second.contains("there is no tool `subtract`"), "{second}");
    let broken = writing(&["{", r#"{"answer": 7}"#]);
    let error = ask(&broken, ToolChoice::Auto).await.unwrap_err().to_string();
    assert_eq!((error.contains("it has no `tool`"), broken.requests().len()), (true, 2), "{error}");
    let forced = ask(&writing(&["It is 2.", CALL]), ToolChoice::Tool("add")).await.unwrap();
    assert_eq!(forced.message.calls().count(), 1, "an answer is not what was wanted");
}

#[tokio::test]
async fn the_form_is_forced_as_far_as_the_endpoint_can() {
    for (refused, sent) in [(0, 1), (1, 2), (2, 3)] {
        let model = ScriptedModel::start(move |prompt| {
            let schema = &prompt.whole()["response_format"]["json_schema"]["schema"]["anyOf"];
            let forms = schema.as_array().map_or(0, Vec::len);
            // A form for each tool and one for an answer, then one for all tools, then none.
            let level = [3, 2, 0].iter().position(|of_level| *of_level == forms).unwrap();
            if level < refused {
                let body = r#"{"error":{"message":"failed to parse grammar"}}"#;
                return Move::Fail("400 Bad Request", "", body);
            }
            Move::say(CALL)
        });
        let client = client_of(json_mode(&model));
        let (tools, history) = (tools(), asking("Go."));
        let request = ModelRequest::new("", &history).tools(&tools);
        answer_of(&client, request, false).await.unwrap();
        assert_eq!(model.requests().len(), sent);
        answer_of(&client, request, true).await.unwrap();
        assert_eq!(model.requests().len(), sent + 1, "what it refused is not tried again");
    }
}

#[tokio::test]
async fn a_whole_round_is_told_in_texts() {
    let model = ScriptedModel::start(|prompt| match last_said(prompt) {
        "Go." => Move::say(CALL),
        told => Move::Say(json!({ "answer": told }).to_string()),
    });
    let client = client_of(json_mode(&model));
    let (tools, mut history) = (tools(), asking("Go."));
    let first = ModelRequest::new("", &history).tools(&tools);
    let answer = answer_of(&client, first, true).await.unwrap();
    history.push(Round::new(answer.message, vec![ToolResult::text("2")]).unwrap()).unwrap();
    let second = ModelRequest::new("", &history).tools(&tools);
    let answer = answer_of(&client, second, false).await.unwrap();
    assert_eq!(answer.message.text(), "Result of add:\n\n2");
    let sent = model.requests().pop().unwrap();
    let body: Value = serde_json::from_str(sent.split_once("\n\n").unwrap().1).unwrap();
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    assert_eq!(body["messages"][2]["content"], "{\"tool\":\"add\",\"arguments\":{\"a\":1}}\n");
}

#[tokio::test]
async fn an_endpoint_that_lacks_calls_is_found_out_once() {
    for (status, words) in [
        ("400 Bad Request", r#"{"error":{"message":"m does not support tools"}}"#),
        (
            "500 Internal Server Error",
            r#"{"error":{"message":"tools param requires --jinja flag"}}"#,
        ),
        ("404 Not Found", r#"{"error":{"message":"No endpoints found that support tool use"}}"#),
    ] {
        let model = ScriptedModel::start(move |prompt| {
            let has_tools = prompt.functions().next().is_some();
            if has_tools { Move::Fail(status, "", words) } else { Move::say(CALL) }
        });
        let client = client_of(spec(&model, Api::OpenAiChat));
        let (tools, history) = (tools(), asking("Go."));
        let request = ModelRequest::new("", &history).tools(&tools);
        for streams in [false, true] {
            let answer = answer_of(&client, request, streams).await.unwrap();
            assert_eq!(answer.message.calls().count(), 1);
        }
        assert_eq!(model.requests().len(), 3, "{status}");
        let native = ModelSpec { tool_calls: ToolCalls::Native, ..spec(&model, Api::OpenAiChat) };
        assert!(answer_of(&client_of(native), request, false).await.is_err());
    }
}
