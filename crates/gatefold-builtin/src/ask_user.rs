//! `ask_user`: a question to the person behind the call, by the protocol's elicitation.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Hints;
use gatefold_dispatch::{AskError, Question, QuestionMode};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// The longest question and the longest answer to choose, in bytes, and how many of these.
const MAX_QUESTION: usize = 2000;
const MAX_OPTION: usize = 200;
const MAX_OPTIONS: usize = 20;

/// The longest answer that is passed on, in characters.
const MAX_ANSWER: usize = 10_000;

/// How long a person may think.
const PATIENCE: Duration = Duration::from_mins(10);

/// The field of the form.
const ANSWER: &str = "answer";

pub(crate) struct AskUser;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskArguments {
    question: String,
    #[serde(default)]
    options: Vec<String>,
}

#[derive(Serialize)]
struct AskAnswer {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

/// What a client answers (MCP, "Elicitation").
#[derive(Deserialize)]
struct ElicitationResult {
    action: String,
    #[serde(default)]
    content: Value,
}

impl AskUser {
    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: AskArguments = arguments::read(&call.arguments)?;
        let question = question(&asked)?;
        if let Some(lacks) = call.peer.capabilities().lacks(&question) {
            let reason =
                format!("this client does not offer {lacks}; ask in your own answer instead");
            return Err(BuiltinError::Unasked(reason));
        }
        if call.peer.question_mode() != QuestionMode::Live {
            let reason =
                "this client cannot be asked during a call; ask in your own answer instead";
            return Err(BuiltinError::Unasked(reason.to_owned()));
        }
        let _pause = call.peer.pause();
        let answer = match tokio::time::timeout(PATIENCE, call.peer.ask(question)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(AskError::Deadline)) | Err(_) => {
                return Err(BuiltinError::Unasked("nobody answered in time".to_owned()));
            }
            Ok(Err(error)) => return Err(BuiltinError::Unasked(error.to_string())),
        };
        let result: ElicitationResult = serde_json::from_str(answer.0.get())
            .map_err(|_| BuiltinError::Unasked("the client's answer is malformed".to_owned()))?;
        Ok(told(&result))
    }
}

fn told(result: &ElicitationResult) -> BuiltinAnswer {
    let answer: Option<String> = match (&result.action[..], &result.content[ANSWER]) {
        ("accept", Value::String(text)) => Some(text.chars().take(MAX_ANSWER).collect()),
        ("accept", Value::Null) => None,
        ("accept", other) => Some(other.to_string().chars().take(MAX_ANSWER).collect()),
        _ => None,
    };
    let (action, text): (_, String) = match (&result.action[..], &answer) {
        ("accept", Some(answer)) => ("answered", answer.clone()),
        ("decline", _) => ("declined", "the person declined to answer".to_owned()),
        _ => ("dismissed", "the person gave no answer".to_owned()),
    };
    BuiltinAnswer::new(text, &AskAnswer { action, answer })
}

fn question(asked: &AskArguments) -> Result<Question, BuiltinError> {
    let message = arguments::bounded("question", asked.question.trim(), MAX_QUESTION)?;
    if message.is_empty() {
        return Err(BuiltinError::arguments("`question` is empty"));
    }
    if asked.options.len() > MAX_OPTIONS {
        let message = format!("`options` has more than {MAX_OPTIONS} items");
        return Err(BuiltinError::Arguments(message));
    }
    for option in &asked.options {
        arguments::bounded("options", option, MAX_OPTION)?;
    }
    let mut field = json!({ "type": "string", "title": "Answer" });
    if !asked.options.is_empty() {
        field["enum"] = json!(asked.options);
    }
    let params = json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": { ANSWER: field },
            "required": [ANSWER],
        },
    });
    let params = to_raw_value(&params).expect("a JSON value is valid JSON");
    Ok(Question { method: "elicitation/create".to_owned(), params })
}

impl BuiltinTool for AskUser {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "ask_user",
            title: "Ask the user",
            description:
                "Ask the person a question and wait for the answer, if the client can show \
                          questions. For a choice give `options`. Never ask for passwords or keys."
                    .to_owned(),
            category: ToolCategory::General,
            hints: Hints { idempotent: Some(false), open_world: Some(true), ..face::reading() },
            input: face::object(
                &json!({
                    "question": face::bounded_text("What to ask.", MAX_QUESTION),
                    "options": {
                        "type": "array",
                        "items": { "type": "string", "maxLength": MAX_OPTION },
                        "maxItems": MAX_OPTIONS,
                        "description": "The answers to choose from. Any text if it is left out.",
                    },
                }),
                &["question"],
            ),
            output: face::object(
                &json!({
                    "action": face::choice("What came of it.", &["answered", "declined", "dismissed"]),
                    "answer": { "type": "string" },
                }),
                &["action"],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        self.answer(call).boxed()
    }
}
