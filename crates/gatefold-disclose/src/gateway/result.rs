//! How the result of a call is worded.

use std::borrow::Cow;

use gatefold_catalog::{Request, Tool, View, call_signature, differences, object_fields};
use gatefold_core::{CallError, Operation, Outcome, Payload};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::GatewayLimits;
use crate::arguments::{json_text, object, object_text, unquoted};
use crate::surface::{Mend, Reply, text_block};
use crate::wording::{BROWSE, unknown_tool};

/// The protocol's code for a client that lacks a required capability (MCP 2026-07-28).
const MISSING_CAPABILITY: i64 = -32021;

pub(super) struct Rendering<'a> {
    operation: &'a Operation,
    /// The tool, if the name means one.
    tool: Option<&'a Tool>,
    limits: &'a GatewayLimits,
}

/// The parts of a `tools/call` result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts<'a> {
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

impl<'a> Rendering<'a> {
    pub(super) fn new(view: &'a View, request: &'a Request, limits: &'a GatewayLimits) -> Self {
        let tool = request.entry.as_ref().and_then(|entry| view.tool_of(entry));
        Self { operation: &request.operation, tool, limits }
    }

    /// The unchanged result, for a tool at the top level.
    pub(super) fn untouched(&self, result: Result<Outcome, CallError>) -> Reply {
        let payload = match self.payload(result) {
            Ok(payload) => payload,
            Err(reply) => return reply,
        };
        match serde_json::from_str::<Parts<'_>>(payload.json.get()) {
            Ok(parts) => Reply {
                content: parts.content.into_iter().map(ToOwned::to_owned).collect(),
                structured: parts.structured_content.map(ToOwned::to_owned),
                meta: parts.meta.map(ToOwned::to_owned),
                is_error: payload.is_error,
            },
            Err(_) => Reply { is_error: payload.is_error, ..Reply::text(payload.json.get()) },
        }
    }

    /// `{"tool": id, "result": ...}` in the first block, then all blocks that are not text.
    pub(super) fn envelope(&self, result: Result<Outcome, CallError>) -> Reply {
        let payload = match self.payload(result) {
            Ok(payload) => payload,
            Err(reply) => return reply,
        };
        let is_error = payload.is_error;
        let Ok(parts) = serde_json::from_str::<Parts<'_>>(payload.json.get()) else {
            let text = if is_error {
                self.source_error(payload.json.get(), Signature::WhenArgumentsDiffer)
            } else {
                self.source_result(payload.json.get())
            };
            return Reply { is_error, ..Reply::text(&text) };
        };
        let structured = parts.structured_content;
        let (texts, others): (Vec<_>, Vec<_>) =
            parts.content.into_iter().map(Block::of).partition(|block| block.text.is_some());
        let envelope = if is_error {
            self.source_error(&joined(&texts, structured), Signature::WhenArgumentsDiffer)
        } else {
            self.source_result(&result_of(&texts, structured))
        };
        let first = first_block(&texts, &envelope);
        let others = others.into_iter().map(|block| block.raw.to_owned());
        Reply {
            content: std::iter::once(first).chain(others).collect(),
            structured: structured.map(ToOwned::to_owned),
            meta: parts.meta.map(ToOwned::to_owned),
            is_error,
        }
    }

    /// The name for answers: the tool's id, whatever it was called by.
    fn name(&self) -> &str {
        self.tool.map_or(self.operation.subject(), |tool| tool.id().as_str())
    }

    fn source_result(&self, result: &str) -> String {
        object_text([("tool", json_text(self.name()).as_str()), ("result", result)])
    }

    /// A source's own error. If the arguments do not match the schema, it says so.
    fn source_error(&self, error: &str, signature: Signature) -> String {
        let (name, error) = (json_text(self.name()), json_text(error));
        let mut fields = vec![("tool", name.as_str()), ("error", error.as_str())];
        let Some(tool) = self.tool else { return object_text(fields) };
        let differences = differences(tool, self.operation.arguments());
        let differs = json_text(&differences.join("; "));
        if !differences.is_empty() {
            fields.push(("differs", &differs));
        }
        let shown = signature == Signature::Always || !differences.is_empty();
        let signature = if shown { json_text(&call_signature(tool)) } else { String::new() };
        if shown {
            fields.push(("signature", &signature));
        }
        object_text(fields)
    }

    /// The call's payload, unless the answer is an error of the gateway.
    fn payload(&self, result: Result<Outcome, CallError>) -> Result<Payload, Reply> {
        let outcome = result.map_err(|error| self.error(&error))?;
        let name = self.name();
        match outcome {
            Outcome::Done(payload) if payload.json.get().len() > self.limits.result_bytes => {
                let (size, limit) = (payload.json.get().len(), self.limits.result_bytes);
                Err(Mend::new(too_large(name, size as u64, limit as u64)).into())
            }
            Outcome::Done(payload) => Ok(payload),
            Outcome::Suspended(_) => Err(Mend::new(format!(
                "Tool '{name}' needs an answer before it goes on, and this client cannot give it."
            ))
            .into()),
            Outcome::Task(task) => Err(Mend::new(format!(
                "Tool '{name}' goes on as task '{}', which this client cannot follow.",
                task.id
            ))
            .into()),
        }
    }

    fn error(&self, error: &CallError) -> Reply {
        let name = self.name();
        let text = match error {
            CallError::UnknownTool { name, nearest } if nearest.is_empty() => {
                format!("{} {BROWSE}", unknown_tool(name.as_str(), nearest))
            }
            CallError::UnknownTool { name, nearest } => unknown_tool(name.as_str(), nearest),
            CallError::Unavailable { domain, .. } | CallError::CircuitOpen { domain, .. } => {
                format!(
                    "Tool '{name}' is temporarily unavailable: upstream server '{domain}' is \
                 unreachable. Other domains are still available."
                )
            }
            CallError::Busy { domain, of } => format!(
                "Tool '{name}' is busy: upstream server '{domain}' {}. {}",
                of.reason(),
                sentence(of.advice())
            ),
            CallError::Deadline { limit, .. } => format!(
                "Tool '{name}' did not answer within {} s. It may have taken effect all the same.",
                limit.as_secs_f32()
            ),
            CallError::Lost { .. } => format!(
                "Tool '{name}' did not finish: the connection to its upstream server ended while \
                 the call was under way. It may have taken effect all the same."
            ),
            CallError::Refused { code: MISSING_CAPABILITY, message, data, .. } => {
                let message = match lacking(data.as_deref()) {
                    Some(lacking) => format!("{message}: {lacking}"),
                    None => message.clone(),
                };
                let body = self.source_error(&message, Signature::WhenArgumentsDiffer);
                return Reply { is_error: true, ..Reply::text(&body) };
            }
            CallError::InvalidArguments { message, .. } => {
                let body = self.source_error(message, Signature::Always);
                return Reply { is_error: true, ..Reply::text(&body) };
            }
            CallError::Refused { message, .. } => {
                let body = self.source_error(message, Signature::WhenArgumentsDiffer);
                return Reply { is_error: true, ..Reply::text(&body) };
            }
            CallError::TooLarge { size, limit, .. } => too_large(name, *size, *limit),
            CallError::Protocol { domain, .. } => format!(
                "Tool '{name}' failed: upstream server '{domain}' broke the protocol. Other \
                 domains are still available."
            ),
            CallError::Denied { rule, .. } => {
                format!("Tool '{name}' is not allowed by rule '{rule}'.")
            }
            other => sentence(&other.to_string()),
        };
        Mend::new(text).into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signature {
    Always,
    WhenArgumentsDiffer,
}

/// The capabilities that the client lacks.
fn lacking(data: Option<&RawValue>) -> Option<String> {
    let fields = object_fields(data?.get())?;
    let (_, required) = fields.iter().find(|(key, _)| key == "requiredCapabilities")?;
    let required = object_fields(required)?;
    let names: Vec<_> = required.iter().map(|(name, _)| name.as_ref()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn too_large(name: &str, size: u64, limit: u64) -> String {
    format!(
        "The result of '{name}' has {size} bytes, more than the limit of {limit}. Ask for less of \
         it, with a filter or a smaller page."
    )
}

/// An error of ours as a sentence in the style of the others.
fn sentence(text: &str) -> String {
    let text = text.replace('`', "'");
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", chars.as_str())
}

/// A content block, its fields raw.
struct Block<'a> {
    raw: &'a RawValue,
    fields: Vec<(Cow<'a, str>, &'a str)>,
    /// The text of a text block, as JSON.
    text: Option<&'a str>,
}

impl<'a> Block<'a> {
    fn of(raw: &'a RawValue) -> Self {
        let fields = object_fields(raw.get()).unwrap_or_default();
        let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let is_text = get("type").and_then(unquoted).as_deref() == Some("text");
        let text = get("text").filter(|text| is_text && text.starts_with('"'));
        Self { raw, fields, text }
    }

    /// The JSON in its text, letter for letter, otherwise the text.
    fn json(&self) -> Cow<'a, str> {
        let raw = self.text.unwrap_or(r#""""#);
        let Some(text) = unquoted(raw) else { return raw.into() };
        match serde_json::from_str::<&RawValue>(text.trim()) {
            Ok(json) => json.get().to_owned().into(),
            Err(_) => raw.into(),
        }
    }
}

/// The JSON of the one text, a list of several, or the structured content if there is none.
fn result_of<'a>(texts: &[Block<'a>], structured: Option<&'a RawValue>) -> Cow<'a, str> {
    match texts {
        [] => structured.map_or("null", RawValue::get).into(),
        [one] => one.json(),
        several => {
            let all: Vec<_> = several.iter().map(Block::json).collect();
            format!("[{}]", all.join(",")).into()
        }
    }
}

/// An error's texts, one a line, or the structured content if there is none.
fn joined(texts: &[Block<'_>], structured: Option<&RawValue>) -> String {
    if texts.is_empty() {
        return structured.map_or("the tool reported an error", RawValue::get).to_owned();
    }
    let contents = texts.iter().filter_map(|block| unquoted(block.text?));
    contents.collect::<Vec<_>>().join("\n")
}

/// The envelope as a text block. If it replaces a single text, it keeps that block's other fields.
fn first_block(texts: &[Block<'_>], envelope: &str) -> Box<RawValue> {
    let [one] = texts else { return text_block(envelope) };
    let text = json_text(envelope);
    object(one.fields.iter().map(|(key, value)| {
        if key == "text" { ("text", text.as_str()) } else { (key.as_ref(), *value) }
    }))
}
