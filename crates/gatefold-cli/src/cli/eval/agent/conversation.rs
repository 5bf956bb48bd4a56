//! One task under one disclosure: the model is asked, its calls are carried out, until it is done.

use std::sync::Arc;

use gatefold::App;
use gatefold_core::{CallError, ClientName, Payload, ToolName};
use gatefold_dispatch::{Caller, RequestMeta, SharedLabel};
use gatefold_exchange::{Audience, TaskSupport, ToolAnswer, ToolCall};
use gatefold_model::{
    AssistantMessage, CallArguments, History, ModelClient, ModelRequest, Round,
    ToolCall as WrittenCall, ToolResult, UserMessage,
};
use serde_json::{Value, json};

use super::call_log::{CallLog, InnerCall};
use super::functions::Functions;
use crate::cli::model_options::{NoAnswer, ask};
use crate::cli::tokens;

/// The longest conversation, in bytes.
const CONVERSATION_BYTES: usize = 8 * 1024 * 1024;

/// The client's name in the records of the calls.
const CLIENT: &str = "gatefold-eval";

/// One disclosure with what a model is given under it.
pub(super) struct Stage<'a> {
    pub(super) app: &'a App,
    pub(super) model: &'a ModelClient,
    pub(super) audience: Audience,
    pub(super) instructions: String,
    pub(super) functions: Functions,
    /// The most answers of the model.
    pub(super) turns: usize,
}

/// What happened in one task.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) calls: Vec<InnerCall>,
    /// The last answer, if the model came to one.
    pub(super) answer: Option<String>,
    pub(super) ended: RunEnd,
    pub(super) turns: usize,
    pub(super) tokens: u64,
    /// Whether some of the tokens were counted here, because the endpoint did not report them.
    pub(super) is_counted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunEnd {
    /// The model answered without a call.
    Answered,
    /// It still made calls when its turns were used up.
    Turns,
    /// The conversation became too long.
    TooLong,
}

/// What was said so far, and what it cost.
struct Conversation {
    history: History,
    /// The messages as texts, from which tokens are counted.
    texts: Vec<String>,
    bytes: usize,
    tokens: u64,
    /// How many messages each request had whose tokens the endpoint did not report.
    unreported: Vec<usize>,
}

impl Conversation {
    fn new(instructions: &str, request: &str) -> Result<Self, NoAnswer> {
        let message = UserMessage::text(request)
            .map_err(|error| NoAnswer { reason: error.to_string(), is_final: false })?;
        let history = History::new(message);
        let mut own =
            Self { history, texts: Vec::new(), bytes: 0, tokens: 0, unreported: Vec::new() };
        if !instructions.is_empty() {
            own.note(&json!({ "role": "system", "content": instructions }));
        }
        own.note(&json!({ "role": "user", "content": request }));
        Ok(own)
    }

    fn note(&mut self, message: &Value) {
        let text = message.to_string();
        self.bytes += text.len();
        self.texts.push(text);
    }

    /// Notes the model's answer to all messages so far.
    fn note_answer(&mut self, message: &AssistantMessage, tokens: Option<u64>) {
        match tokens {
            Some(tokens) => self.tokens = self.tokens.saturating_add(tokens),
            None => self.unreported.push(self.texts.len()),
        }
        let calls = message.calls().map(|call| match &call.arguments {
            CallArguments::Object(arguments) => {
                json!({ "name": call.name, "arguments": arguments })
            }
            CallArguments::Malformed { .. } => json!({ "name": call.name }),
        });
        let calls: Vec<_> = calls.collect();
        self.note(&json!({ "role": "assistant", "content": message.text(), "calls": calls }));
    }

    fn is_too_long(&self) -> bool {
        self.bytes > CONVERSATION_BYTES
    }

    /// The tokens of all requests and answers: as reported, and otherwise counted.
    async fn all_tokens(&self, functions: &Functions) -> anyhow::Result<u64> {
        if self.unreported.is_empty() {
            return Ok(self.tokens);
        }
        let tools = functions.definitions().iter().map(|tool| {
            let (name, description) = (tool.name(), tool.description());
            json!({ "name": name, "description": description, "parameters": tool.schema() })
        });
        let tools = tools.collect::<Value>().to_string();
        let texts: Vec<_> = std::iter::once(tools).chain(self.texts.iter().cloned()).collect();
        let counts = tokens::count(&texts).await?;
        // The definitions, the messages of the request, and the answer after them.
        let of = |messages: usize| counts.iter().take(messages + 2).sum::<usize>();
        let counted: usize = self.unreported.iter().map(|messages| of(*messages)).sum();
        Ok(self.tokens.saturating_add(u64::try_from(counted).unwrap_or(u64::MAX)))
    }
}

impl Stage<'_> {
    pub(super) async fn run(&self, request: &str) -> Result<Run, NoAnswer> {
        let mut conversation = Conversation::new(&self.instructions, request)?;
        let log = Arc::new(CallLog::default());
        let caller = caller();
        let (mut turns, mut ended, mut last) = (0, RunEnd::Turns, None);
        while turns < self.turns {
            if conversation.is_too_long() {
                ended = RunEnd::TooLong;
                break;
            }
            turns += 1;
            let request = ModelRequest::new(&self.instructions, &conversation.history);
            let answer = ask(self.model, request.tools(self.functions.definitions())).await?;
            conversation.note_answer(&answer.message, answer.usage.total());
            if answer.message.calls().next().is_none() {
                (ended, last) = (RunEnd::Answered, Some(answer.message.text()));
                break;
            }
            let mut results = Vec::new();
            for call in answer.message.calls() {
                let result = if conversation.is_too_long() {
                    Err("not called, because the conversation is too long".to_owned())
                } else {
                    self.carry_out(call, &log, &caller).await
                };
                let text = result.as_ref().unwrap_or_else(|fault| fault);
                conversation.note(&json!({ "role": "tool", "content": text }));
                results.push(result.map_or_else(ToolResult::error, ToolResult::text));
            }
            let round = Round::new(answer.message, results).expect("each call has a result");
            conversation.history.push(round).expect("the model was asked");
        }
        let tokens = conversation.all_tokens(&self.functions).await.map_err(|error| {
            let reason = format!("the tokens cannot be counted: {error:#}");
            NoAnswer { reason, is_final: false }
        })?;
        let is_counted = !conversation.unreported.is_empty();
        Ok(Run { calls: log.take(), answer: last, ended, turns, tokens, is_counted })
    }

    /// Carries out one call as that of an MCP client, and returns what the model is told. A call that
    /// cannot be made is an error.
    async fn carry_out(
        &self,
        call: &WrittenCall,
        log: &Arc<CallLog>,
        caller: &Caller,
    ) -> Result<String, String> {
        let arguments = match &call.arguments {
            CallArguments::Object(json) => json.raw().to_owned(),
            CallArguments::Malformed { fault, .. } => {
                return Err(format!("{fault}; nothing was called"));
            }
        };
        let name = ToolName::parse(self.functions.tool_of(&call.name))
            .map_err(|_| "there is no such tool".to_owned())?;
        let exchange = self.app.exchange();
        let turn = exchange.turn(&self.audience, self.app.local_user());
        let turn = turn.ok_or("no tool can be called any more")?;
        let observer = log.of(turn.view());
        let turn = turn.observed_by(observer);
        let call = ToolCall { name: &name, arguments, resume: None, tasks: TaskSupport::Cannot };
        Ok(told(turn.call(call, caller.clone()).await))
    }
}

/// The caller of one task. Its label is its own, as a session's is.
fn caller() -> Caller {
    let meta = RequestMeta { client: Some(ClientName::new(CLIENT)), ..RequestMeta::default() };
    Caller { meta: Arc::new(meta), label: SharedLabel::default(), ..Caller::silent() }
}

/// The text that a model reads of an answer.
fn told(answer: Result<ToolAnswer, CallError>) -> String {
    match answer {
        Ok(ToolAnswer::Reply(reply)) => {
            let blocks = reply.content.iter().map(|block| serde_json::from_str(block.get()));
            blocks
                .filter_map(Result::ok)
                .map(|block| block_text(&block))
                .collect::<Vec<_>>()
                .join("\n")
        }
        Ok(ToolAnswer::Result(payload)) => result_text(&payload),
        Ok(ToolAnswer::Question(_)) => {
            "the tool asks for something that nobody can answer here".to_owned()
        }
        Ok(ToolAnswer::Task(task)) => format!("the call continues as a task: {}", task.id),
        Err(error) => error.to_string(),
    }
}

fn result_text(payload: &Payload) -> String {
    let result: Value = serde_json::from_str(payload.json.get()).unwrap_or_default();
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let structured = &result["structuredContent"];
    if blocks.is_empty() && !structured.is_null() {
        return structured.to_string();
    }
    blocks.iter().map(block_text).collect::<Vec<_>>().join("\n")
}

/// A block's text. The endpoint takes nothing else in the answer of a tool.
fn block_text(block: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match block["type"].as_str() {
        Some("text") => text(&block["text"]).unwrap_or_default(),
        Some("resource") if block["resource"]["text"].is_string() => {
            text(&block["resource"]["text"]).unwrap_or_default()
        }
        Some("resource_link") => format!("[resource {}]", text(&block["uri"]).unwrap_or_default()),
        kind => format!("[{}, not shown]", kind.unwrap_or("something")),
    }
}
