use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, ready};
use gatefold_dispatch::{Answer, AskError, ClientCapabilities, Peer, Question, QuestionMode};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::fixture::{call_with, said, toolbox};

/// A client whose person always answers the same.
struct AnsweringPeer {
    capabilities: ClientCapabilities,
    mode: QuestionMode,
    answer: Result<Value, AskError>,
    asked: Mutex<Vec<Value>>,
}

impl AnsweringPeer {
    fn new(answer: Result<Value, AskError>) -> Self {
        let declared = RawValue::from_string(r#"{"elicitation":{}}"#.to_owned()).unwrap();
        Self {
            capabilities: ClientCapabilities::read(&declared),
            mode: QuestionMode::Live,
            answer,
            asked: Mutex::default(),
        }
    }
}

impl Peer for AnsweringPeer {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        self.mode
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        let params = serde_json::from_str(question.params.get()).unwrap();
        self.asked.lock().unwrap().push(params);
        let answer = self.answer.clone().map(|answer| Answer(to_raw_value(&answer).unwrap()));
        Box::pin(ready(answer))
    }
}

async fn asked(peer: &Arc<AnsweringPeer>, arguments: &Value) -> String {
    let mut call = call_with(arguments);
    call.peer = peer.clone();
    match toolbox().answer("ask_user", &call).await {
        Ok(answer) => format!("{} {}", answer.text, answer.structured),
        Err(error) => format!("error: {error}"),
    }
}

#[tokio::test]
async fn the_answer_of_a_person_is_passed_on() {
    for (answer, told) in [
        (
            json!({ "action": "accept", "content": { "answer": "blue" } }),
            r#"blue {"action":"answered","answer":"blue"}"#,
        ),
        (json!({ "action": "decline" }), r#"the person declined to answer {"action":"declined"}"#),
        (json!({ "action": "cancel" }), r#"the person gave no answer {"action":"dismissed"}"#),
        (json!({ "action": "accept" }), r#"the person gave no answer {"action":"dismissed"}"#),
        (
            json!({ "action": "accept", "content": { "answer": 5 } }),
            r#"5 {"action":"answered","answer":"5"}"#,
        ),
        (json!({ "action": 1 }), "error: the client's answer is malformed"),
    ] {
        let peer = Arc::new(AnsweringPeer::new(Ok(answer)));
        let arguments = json!({ "question": "Which?", "options": ["blue", "red"] });
        assert_eq!(asked(&peer, &arguments).await, told);
        let question = json!({
            "mode": "form",
            "message": "Which?",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "answer": { "type": "string", "title": "Answer", "enum": ["blue", "red"] },
                },
                "required": ["answer"],
            },
        });
        assert_eq!(*peer.asked.lock().unwrap(), [question]);
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not_asked() {
    assert_eq!(
        said(&toolbox(), "ask_user", &json!({ "question": "?" })).await,
        "error: this client does not offer elicitation; ask in your own answer instead"
    );
    let mut peer = AnsweringPeer::new(Ok(json!({ "action": "decline" })));
    peer.mode = QuestionMode::ByRetry;
    let peer = Arc::new(peer);
    assert_eq!(
        asked(&peer, &json!({ "question": "?" })).await,
        "error: this client cannot be asked during a call; ask in your own answer instead"
    );
    assert!(peer.asked.lock().unwrap().is_empty());
    let gone = Arc::new(AnsweringPeer::new(Err(AskError::Gone)));
    assert_eq!(asked(&gone, &json!({ "question": "?" })).await, "error: the client is gone");
}

#[tokio::test]
async fn hostile_questions_are_refused() {
    let many = vec!["x"; 21];
    for (arguments, error) in [
        (json!({ "question": " " }), "`question` is empty"),
        (
            json!({ "question": "x".repeat(2001) }),
            "`question` has 2001 bytes, more than the limit: 2000",
        ),
        (json!({ "question": "?", "options": many }), "`options` has more than 20 items"),
        (
            json!({ "question": "?", "options": ["x".repeat(201)] }),
            "`options` has 201 bytes, more than the limit: 200",
        ),
    ] {
        let text = said(&toolbox(), "ask_user", &arguments).await;
        assert_eq!(text, format!("error: {error}"));
    }
}
