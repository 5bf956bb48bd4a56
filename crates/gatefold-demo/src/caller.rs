//! The client at the other end of a call: messages to it, questions and answers.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::{
    RoleServer,
    model::{
        CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
        InputRequest, InputRequests, InputRequiredResult, InputResponses,
        ProgressNotificationParam, ProtocolVersion,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::error::{ToolError, refuse};

/// How long a client with a session may take to answer a question.
const ANSWER_LIMIT: Duration = Duration::from_secs(300);
/// The key of the one question that a call asks.
const QUESTION: &str = "confirmation";

/// The caller of a tool; empty for a call in process.
pub(crate) struct Caller(Option<Request>);

struct Request {
    context: RequestContext<RoleServer>,
    /// The client's answers to the questions of the previous round.
    responses: InputResponses,
}

/// What a call returns.
pub(crate) enum Answer {
    Value(Value),
    /// A result and a picture.
    Picture {
        value: Value,
        png: Vec<u8>,
    },
    /// The client must answer a question first, and then call again.
    Question(Box<InputRequiredResult>),
}

/// The user's answer to a question, or the question itself where the client must deliver it.
pub(crate) enum Confirmation {
    Given,
    Refused,
    Awaited(Box<InputRequiredResult>),
}

impl Caller {
    pub(crate) fn in_process() -> Self {
        Self(None)
    }

    pub(crate) fn of(context: RequestContext<RoleServer>, responses: InputResponses) -> Self {
        Self(Some(Request { context, responses }))
    }

    /// Reports `done` of `total` steps. A client that has gone away does not stop the call.
    pub(crate) async fn report(&self, done: usize, total: usize, message: &str) {
        let Some(Request { context, .. }) = &self.0 else { return };
        let Some(token) = context.meta.get_progress_token() else { return };
        let count = |size| f64::from(u32::try_from(size).unwrap_or(u32::MAX));
        let notification = ProgressNotificationParam::new(token, count(done))
            .with_total(count(total))
            .with_message(message);
        let _ = context.peer.notify_progress(notification).await;
    }

    /// Asks the user for confirmation in the way of the client's era: within a session the server
    /// sends a request of its own, while a stateless client gets the question as the call's result.
    pub(crate) async fn confirm(&self, question: &str) -> Result<Confirmation, ToolError> {
        let can_be_asked = |request: &&Request| {
            request.context.client_capabilities().is_some_and(|known| known.elicitation.is_some())
        };
        let Some(Request { context, responses }) = self.0.as_ref().filter(can_be_asked) else {
            return Err(refuse(
                "this needs the user's confirmation, and the client cannot ask for it",
                "use a tool that changes one thing at a time",
            ));
        };
        let version = context.protocol_version();
        let is_stateless = version
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let answer = if is_stateless {
            match responses.get(QUESTION) {
                Some(answer) => answer.clone(),
                None => return Ok(Confirmation::Awaited(Box::new(required(question)))),
            }
        } else {
            let asked = context.peer.create_elicitation(form(question));
            let answered = timeout(ANSWER_LIMIT, asked).await.ok().and_then(Result::ok);
            let Some(answer) = answered else {
                return Err(refuse("the user did not answer", "ask them, and call again"));
            };
            serde_json::to_value(answer).unwrap_or_default()
        };
        let is_given = answer["action"] == "accept" && answer["content"]["confirm"] == true;
        Ok(if is_given { Confirmation::Given } else { Confirmation::Refused })
    }
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl Answer {
    pub(crate) fn into_response(self) -> CallToolResponse {
        match self {
            Self::Value(value) => CallToolResult::structured(value).into(),
            Self::Picture { value, png } => {
                let mut result = CallToolResult::structured(value);
                result.content.push(ContentBlock::image(STANDARD.encode(png), "image/png"));
                result.into()
            }
            Self::Question(question) => CallToolResponse::InputRequired(*question),
        }
    }
}

fn required(question: &str) -> InputRequiredResult {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question)));
    InputRequiredResult::new(Some(InputRequests::from([(QUESTION.to_owned(), request)])), None)
}

fn form(question: &str) -> ElicitRequestParams {
    let schema = json!({
        "type": "object",
        "properties": { "confirm": { "type": "boolean", "title": "Yes, do it" } },
        "required": ["confirm"],
    });
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.to_owned(),
        requested_schema: serde_json::from_value(schema).expect("the schema is a form's"),
    }
}
