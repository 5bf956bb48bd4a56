//! One request in progress: its arguments, and messages and questions to the client.

#![expect(deprecated, reason = "sampling, roots and logging live on in both eras")]

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateMessageRequest, ElicitRequest, GetPromptRequestParams, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, JsonObject, ListRootsRequest, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ReadResourceRequestParams,
    SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use super::connection::{Reference, is_stateless};
use crate::fixture::lock;

/// How long a client of the handshake era may take to answer a question.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// How long a client of the stateless era may take to come back with its answers.
const STATE_LIMIT: Duration = Duration::from_secs(300);

pub(super) struct Call {
    pub(super) server: Reference,
    pub(super) context: RequestContext<RoleServer>,
    /// The tool's or the prompt's name, or the resource's address.
    pub(super) name: String,
    arguments: JsonObject,
    responses: InputResponses,
    state: Option<String>,
}

/// Why a request ends before its usual result.
pub(super) enum EarlyEnd {
    /// The client must answer first.
    Input(Box<InputRequiredResult>),
    /// The caller gets a message. Only a tool's result can carry one.
    Failure(String),
    Fault(ErrorData),
}

impl From<ErrorData> for EarlyEnd {
    fn from(error: ErrorData) -> Self {
        Self::Fault(error)
    }
}

/// A tool result with one text.
pub(super) fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

impl Call {
    pub(super) fn of_tool(
        server: Reference,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Self {
        Self {
            server,
            context,
            name: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            responses: request.input_responses.unwrap_or_default(),
            state: request.request_state,
        }
    }

    pub(super) fn of_prompt(
        server: Reference,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Self {
        Self {
            server,
            context,
            name: request.name,
            arguments: request.arguments.unwrap_or_default(),
            responses: request.input_responses.unwrap_or_default(),
            state: request.request_state,
        }
    }

    pub(super) fn of_resource(
        server: Reference,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Self {
        Self {
            server,
            context,
            name: request.uri,
            arguments: JsonObject::new(),
            responses: request.input_responses.unwrap_or_default(),
            state: request.request_state,
        }
    }

    pub(super) fn is_stateless(&self) -> bool {
        is_stateless(&self.context)
    }

    pub(super) fn text(&self, name: &str) -> Result<&str, ErrorData> {
        self.arguments
            .get(name)
            .and_then(Value::as_str)
            .ok_or_else(|| ErrorData::invalid_params(format!("`{name}` must be a string"), None))
    }

    pub(super) fn text_or<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or(default)
    }

    /// A whole number from 0 to `limit`, or `default` where there is none.
    pub(super) fn number(&self, name: &str, default: u64, limit: u64) -> Result<u64, ErrorData> {
        let Some(value) = self.arguments.get(name) else { return Ok(default) };
        value.as_u64().filter(|number| *number <= limit).ok_or_else(|| {
            let text = format!("`{name}` must be a whole number from 0 to {limit}");
            ErrorData::invalid_params(text, None)
        })
    }

    pub(super) fn client(&self) -> ClientCapabilities {
        self.context.client_capabilities().unwrap_or_default()
    }

    /// Logs a message, if the client wants that level.
    pub(super) async fn log(&self, level: LoggingLevel, text: &str) {
        let wanted = if self.is_stateless() {
            self.context.meta.log_level()
        } else {
            Some(*lock(&self.server.session.level))
        };
        if wanted.is_some_and(|wanted| (level as u8) >= (wanted as u8)) {
            let message = LoggingMessageNotificationParam::new(level, Value::from(text))
                .with_logger("reference");
            // A client that has gone hears no more of this call.
            drop(self.context.peer.notify_logging_message(message).await);
        }
    }

    /// Reports progress, if the client asked for it.
    pub(super) async fn progress(&self, progress: f64, total: f64) {
        if let Some(token) = self.context.meta.get_progress_token() {
            let notice = ProgressNotificationParam::new(token, progress)
                .with_total(total)
                .with_message(format!("{progress} of {total}"));
            drop(self.context.peer.notify_progress(notice).await);
        }
    }

    /// Seals the state for the next round. Only the same tool, prompt or resource can open it.
    pub(super) fn seal(&self, state: &impl Serialize) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(self.name.as_bytes()).ttl(STATE_LIMIT);
        let sealed = self.server.shared.states.seal_json_with(state, &options);
        sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// The state from the round before. An error if anything else came back.
    pub(super) fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, ErrorData> {
        let Some(sealed) = &self.state else { return Ok(None) };
        let opened = self.server.shared.states.open_json_with(sealed, self.name.as_bytes());
        // A client must not learn why it could not be opened.
        opened.map(Some).map_err(|_| ErrorData::invalid_params("invalid requestState", None))
    }

    /// Asks the client one question, in the way of its era.
    pub(super) async fn ask(
        &self,
        key: &str,
        request: InputRequest,
        state: Option<String>,
    ) -> Result<Value, EarlyEnd> {
        let requests = InputRequests::from([(key.to_owned(), request)]);
        let mut answers = self.ask_all(requests, state).await?;
        Ok(answers.remove(key).unwrap_or_default())
    }

    /// Asks several questions: one by one in the handshake era, all at once in the stateless era.
    pub(super) async fn ask_all(
        &self,
        requests: InputRequests,
        state: Option<String>,
    ) -> Result<InputResponses, EarlyEnd> {
        let client = self.client();
        for request in requests.values() {
            self.check_capability(&client, request)?;
        }
        if !self.is_stateless() {
            let mut answers = InputResponses::new();
            for (key, request) in requests {
                answers.insert(key, self.ask_session(request).await?);
            }
            return Ok(answers);
        }
        let is_answered = |(key, request): (&String, &InputRequest)| {
            self.responses.get(key).is_some_and(|answer| is_answer_to(request, answer))
        };
        if requests.iter().all(is_answered) {
            return Ok(self.responses.clone());
        }
        // Answered questions are asked again: the client keeps nothing between rounds.
        Err(EarlyEnd::Input(Box::new(InputRequiredResult::new(Some(requests), state))))
    }

    fn check_capability(
        &self,
        client: &ClientCapabilities,
        request: &InputRequest,
    ) -> Result<(), EarlyEnd> {
        if can_answer(client, request) {
            return Ok(());
        }
        let (name, required) = match request {
            InputRequest::CreateMessage(_) => {
                ("sampling", ClientCapabilities::builder().enable_sampling().build())
            }
            InputRequest::ListRoots(_) => {
                ("roots", ClientCapabilities::builder().enable_roots().build())
            }
            _ => ("elicitation", ClientCapabilities::builder().enable_elicitation().build()),
        };
        if self.is_stateless() {
            return Err(ErrorData::missing_required_client_capability(required).into());
        }
        Err(EarlyEnd::Failure(format!("the client does not offer {name}")))
    }

    async fn ask_session(&self, request: InputRequest) -> Result<Value, EarlyEnd> {
        let peer = &self.context.peer;
        let asked = async {
            match request {
                InputRequest::CreateMessage(CreateMessageRequest { params, .. }) => {
                    peer.create_message(params).await.map(|answer| to_value(&answer))
                }
                InputRequest::Elicitation(ElicitRequest { params, .. }) => {
                    peer.create_elicitation(params).await.map(|answer| to_value(&answer))
                }
                InputRequest::ListRoots(ListRootsRequest { .. }) => {
                    peer.list_roots().await.map(|answer| to_value(&answer))
                }
                _ => Err(rmcp::ServiceError::UnexpectedResponse),
            }
        };
        match timeout(ANSWER_LIMIT, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(EarlyEnd::Failure(format!("the client did not answer: {error}"))),
            Err(_) => Err(EarlyEnd::Failure("the client took too long to answer".to_owned())),
        }
    }
}

fn to_value(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

/// Whether the client declared that it can answer this kind of question.
pub(super) fn can_answer(client: &ClientCapabilities, request: &InputRequest) -> bool {
    match request {
        InputRequest::CreateMessage(_) => client.sampling.is_some(),
        InputRequest::ListRoots(_) => client.roots.is_some(),
        _ => client.elicitation.is_some(),
    }
}

fn is_answer_to(request: &InputRequest, answer: &Value) -> bool {
    match request {
        InputRequest::CreateMessage(_) => {
            answer["role"].is_string() && !answer["content"].is_null()
        }
        InputRequest::ListRoots(_) => answer["roots"].is_array(),
        _ => answer["action"].is_string(),
    }
}
