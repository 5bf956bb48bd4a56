//! One task under one disclosure: the model is asked, its calls are carried out, until it is done.

use std::sync::Arc;

use gatefold::App;
use gatefold_core::{CallError, ClientName, Payload, ToolName};
use gatefold_dispatch::{Caller, RequestMeta, SharedLabel};
use gatefold_exchange::{Audience, TaskSupport, ToolAnswer, ToolCall};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::call_log::{CallLog, InnerCall};
use super::functions::Functions;
use crate::cli::endpoint::{FunctionCall, ModelAnswer, ModelEndpoint, NoAnswer};
use crate::cli::tokens;

/// The longest conversation, in bytes.
const CONVERSATION_BYTES: usize = 8 * 1024 * 1024;

/// The client's name in the records of the calls.
const CLIENT: &str = "gatefold-eval";

/// One disclosure with what a model is given under it.
pub(super) struct Stage<'a> {
    pub(super) app: &'a App,
    pub(super) model: &'a ModelEndpoint,
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

/// The messages so far, and what they cost.
struct Conversation {
    messages: Vec<Value>,
    bytes: usize,
    tokens: u64,
    /// How many messages each request had whose tokens the endpoint did not report.
    unreported: Vec<usize>,
}

impl Conversation {
    fn new(instructions: &str, request: &str) -> Self {
        let mut own = Self { messages: Vec::new(), bytes: 0, tokens: 0, unreported: Vec::new() };
        if !instructions.is_empty() {
            own.push(json!({ "role": "system", "content": instructions }));
        }
        own.push(json!({ "role": "user", "content": request }));
        own
    }

    fn push(&mut self, message: Value) {
        self.bytes += message.to_string().len();
        self.messages.push(message);
    }

    /// Takes in the model's answer to all messages so far.
    fn answered(&mut self, message: Value, tokens: Option<u64>) {
        match tokens {
            Some(tokens) => self.tokens = self.tokens.saturating_add(tokens),
            None => self.unreported.push(self.messages.len()),
        }
        self.push(message);
    }

    /// The tokens of all requests and answers: as reported, and otherwise counted.
    async fn all_tokens(&self, functions: &Functions) -> anyhow::Result<u64> {
        if self.unreported.is_empty() {
            return Ok(self.tokens);
        }
        let tools = Value::from(functions.definitions()).to_string();
        let messages = self.messages.iter().map(Value::to_string);
        let texts: Vec<_> = std::iter::once(tools).chain(messages).collect();
        let counts = tokens::count(&texts).await?;
        // The definitions, the messages of the request, and the answer after them.
        let of = |messages: usize| counts.iter().take(messages + 2).sum::<usize>();
        let counted: usize = self.unreported.iter().map(|messages| of(*messages)).sum();
        Ok(self.tokens.saturating_add(u64::try_from(counted).unwrap_or(u64::MAX)))
    }
}

impl Stage<'_> {
    pub(super) async fn run(&self, request: &str) -> Result<Run, NoAnswer> {
        let mut conversation = Conversation::new(&self.instructions, request);
        let log = Arc::new(CallLog::default());
        let caller = caller();
        let (mut turns, mut ended, mut last) = (0, RunEnd::Turns, None);
        while turns < self.turns {
            if conversation.bytes > CONVERSATION_BYTES {
                ended = RunEnd::TooLong;
                break;
            }
            turns += 1;
            let asked = self.model.ask(&conversation.messages, self.functions.definitions()).await;
            let ModelAnswer { message, text, calls, tokens } = asked?;
            conversation.answered(message, tokens);
            if calls.is_empty() {
                (ended, last) = (RunEnd::Answered, Some(text));
                break;
            }
            for call in &calls {
                if conversation.bytes > CONVERSATION_BYTES {
                    break;
                }
                let told = self.carry_out(call, &log, &caller).await;
                let id = &call.id;
                conversation.push(json!({ "role": "tool", "tool_call_id": id, "content": told }));
            }
        }
        let tokens = conversation.all_tokens(&self.functions).await.map_err(|error| {
            let reason = format!("the tokens cannot be counted: {error:#}");
            NoAnswer { reason, is_final: false }
        })?;
        let is_counted = !conversation.unreported.is_empty();
        Ok(Run { calls: log.take(), answer: last, ended, turns, tokens, is_counted })
    }

    /// Carries out one call as that of an MCP client, and returns what the model is told.
    async fn carry_out(&self, call: &FunctionCall, log: &Arc<CallLog>, caller: &Caller) -> String {
        let arguments = match read_arguments(&call.arguments) {
            Ok(arguments) => arguments,
            Err(fault) => return fault,
        };
        let Ok(name) = ToolName::parse(self.functions.tool_of(&call.name)) else {
            return "there is no such tool".to_owned();
        };
        let exchange = self.app.exchange();
        let Some(turn) = exchange.turn(&self.audience, self.app.local_user()) else {
            return "no tool can be called any more".to_owned();
        };
        let observer = log.of(turn.view());
        let turn = turn.observed_by(observer);
        let call = ToolCall { name: &name, arguments, resume: None, tasks: TaskSupport::Cannot };
        told(turn.call(call, caller.clone()).await)
    }
}

/// The caller of one task. Its label is its own, as a session's is.
fn caller() -> Caller {
    let meta = RequestMeta { client: Some(ClientName::new(CLIENT)), ..RequestMeta::default() };
    Caller { meta: Arc::new(meta), label: SharedLabel::default(), ..Caller::silent() }
}

/// The arguments of a call, which may be left out.
fn read_arguments(written: &str) -> Result<Box<RawValue>, String> {
    let text = if written.trim().is_empty() { "{}" } else { written.trim() };
    let fault = |why: &str| format!("the arguments {why}; nothing was called");
    let raw: Box<RawValue> =
        serde_json::from_str(text).map_err(|error| fault(&format!("are not JSON: {error}")))?;
    if raw.get().starts_with('{') { Ok(raw) } else { Err(fault("are not a JSON object")) }
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
