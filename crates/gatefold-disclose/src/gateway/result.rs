//! How the result of a call is worded.

use std::borrow::Cow;

use gatefold_catalog::{Request, Tool, View, call_signature, differences, object_fields};
use gatefold_core::{CallError, Domain, Operation, Outcome, Payload};
use serde_json::value::RawValue;

use super::GatewayLimits;
use crate::arguments::{json_text, object, object_text, unquoted};
use crate::blocks::{Block, ResultParts};
use crate::surface::{Reply, UsageError, text_block};
use crate::wording::{hinted, listed, unknown_tool};

/// The protocol's code for a client that lacks a required capability (MCP 2026-07-28).
const MISSING_CAPABILITY: i64 = -32021;

/// How much is said about the kinds of blocks that come instead of a text, in bytes.
const KINDS_LENGTH: usize = 80;

pub(crate) struct Rendering<'a> {
    view: &'a View,
    operation: &'a Operation,
    /// The tool, if the name refers to one.
    tool: Option<&'a Tool>,
    /// What the client called it, if that is not its id.
    called: Option<&'a str>,
    limits: &'a GatewayLimits,
    /// How to find a tool's name, as a sentence, if the surface has a tool for that.
    hint: &'a str,
}

impl<'a> Rendering<'a> {
    pub(crate) fn new(view: &'a View, request: &'a Request, limits: &'a GatewayLimits) -> Self {
        let tool = request.entry.as_ref().and_then(|entry| view.tool_of(entry));
        Self { view, operation: &request.operation, tool, called: None, limits, hint: "" }
    }

    /// The same for a client that lists the tool under another name.
    pub(crate) fn called(self, name: &'a str) -> Self {
        Self { called: Some(name), ..self }
    }

    /// The same with a way to find a tool's name.
    pub(crate) fn hinting(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }

    /// The unchanged result, for a tool at the top level.
    pub(crate) fn untouched(&self, result: Result<Outcome, CallError>) -> Reply {
        let payload = match self.payload(result) {
            Ok(payload) => payload,
            Err(reply) => return reply,
        };
        match serde_json::from_str::<ResultParts<'_>>(payload.json.get()) {
            Ok(parts) => Reply {
                content: parts.content.into_iter().map(ToOwned::to_owned).collect(),
                structured: parts.structured_content.map(ToOwned::to_owned),
                meta: parts.meta.map(ToOwned::to_owned),
                is_error: payload.is_error,
                shown: Vec::new(),
            },
            Err(_) => Reply { is_error: payload.is_error, ..Reply::text(payload.json.get()) },
        }
    }

    /// `{"tool": id, "result": ...}` in place of the first texts. All other blocks stay where they
    /// are, because a text may refer to the image before it.
    pub(crate) fn envelope(&self, result: Result<Outcome, CallError>) -> Reply {
        let payload = match self.payload(result) {
            Ok(payload) => payload,
            Err(reply) => return reply,
        };
        let is_error = payload.is_error;
        let Ok(parts) = serde_json::from_str::<ResultParts<'_>>(payload.json.get()) else {
            let text = if is_error {
                self.source_error(payload.json.get(), Signature::WhenArgumentsDiffer, None)
            } else {
                self.source_result(payload.json.get())
            };
            return Reply { is_error, ..Reply::text(&text) };
        };
        let structured = parts.structured_content;
        let blocks: Vec<_> = parts.content.into_iter().map(Block::of).collect();
        let (before, texts, behind) = around_first_texts(&blocks);
        let envelope = if is_error {
            let error = joined(texts, structured);
            self.source_error(&error, Signature::WhenArgumentsDiffer, None)
        } else {
            self.source_result(&result_of(texts, structured, &blocks))
        };
        let first = first_block(texts, &envelope);
        let raw = |blocks: &[Block<'_>]| -> Vec<_> {
            blocks.iter().map(|block| block.raw.to_owned()).collect()
        };
        Reply {
            content: [raw(before), vec![first], raw(behind)].concat(),
            structured: structured.map(ToOwned::to_owned),
            meta: parts.meta.map(ToOwned::to_owned),
            is_error,
            shown: Vec::new(),
        }
    }

    /// The name in answers: the tool's id, or what a client that lists it under another name called
    /// it.
    fn name(&self) -> &str {
        let id = || self.tool.map_or(self.operation.subject(), |tool| tool.id().as_str());
        self.called.unwrap_or_else(id)
    }

    /// How the tool is called, by the name that the client knows.
    fn signature(&self, tool: &Tool) -> String {
        let signature = call_signature(tool);
        match self.called {
            Some(name) => signature.replacen(tool.id().as_str(), name, 1),
            None => signature.into_owned(),
        }
    }

    fn source_result(&self, result: &str) -> String {
        object_text([("tool", json_text(self.name()).as_str()), ("result", result)])
    }

    /// A source's own error and what it attached. If the arguments do not match the schema, it says
    /// so.
    fn source_error(&self, error: &str, signature: Signature, data: Option<&RawValue>) -> String {
        let (name, error) = (json_text(self.name()), json_text(error));
        let mut fields = vec![("tool", name.as_str()), ("error", error.as_str())];
        fields.extend(data.map(|data| ("data", data.get())));
        let Some(tool) = self.tool else { return object_text(fields) };
        let differences = differences(tool, self.operation.arguments());
        let differs = json_text(&differences.join("; "));
        if !differences.is_empty() {
            fields.push(("differs", &differs));
        }
        let shown = signature == Signature::Always || !differences.is_empty();
        let signature = if shown { json_text(&self.signature(tool)) } else { String::new() };
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
            Outcome::Done(payload) if payload.exceeds(self.limits.result_bytes) => {
                let (size, limit) = (payload.json.get().len(), self.limits.result_bytes);
                let text = too_large(name, size as u64, limit as u64) + self.effect_note();
                Err(UsageError::new(text).into())
            }
            Outcome::Done(payload) => Ok(payload),
            Outcome::Suspended(_) => Err(UsageError::new(format!(
                "Tool '{name}' needs an answer before it goes on, and this client cannot give it."
            ))
            .into()),
            Outcome::Task(task) => Err(UsageError::new(format!(
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
                hinted(&unknown_tool(self.view, name.as_str(), nearest), self.hint)
            }
            CallError::UnknownTool { name, nearest } => {
                unknown_tool(self.view, name.as_str(), nearest)
            }
            CallError::NeedsSignIn { domain, reason } => format!(
                "Tool '{name}' cannot be called yet: upstream server '{domain}' {reason}. Tell the \
                 user, and call it again once that is done."
            ),
            CallError::Busy { domain, of } => format!(
                "Tool '{name}' is busy: upstream server '{domain}' {}. {}",
                of.reason(),
                sentence(&of.advice())
            ),
            CallError::Refused { code: MISSING_CAPABILITY, message, data, .. } => {
                let message = match lacking(data.as_deref()) {
                    Some(lacking) => format!("{message}: {lacking}"),
                    None => message.clone(),
                };
                let body = self.source_error(&message, Signature::WhenArgumentsDiffer, None);
                return Reply { is_error: true, ..Reply::text(&body) };
            }
            CallError::InvalidArguments { message, data, .. } => {
                let body = self.source_error(message, Signature::Always, data.as_deref());
                return Reply { is_error: true, ..Reply::text(&body) };
            }
            CallError::Refused { message, data, .. } => {
                let signature = Signature::WhenArgumentsDiffer;
                let body = self.source_error(message, signature, data.as_deref());
                return Reply { is_error: true, ..Reply::text(&body) };
            }
            CallError::Denied { rule, .. } => {
                format!("Tool '{name}' is not allowed by rule '{rule}'.")
            }
            other => self.failure(other),
        };
        UsageError::new(text).into()
    }

    /// The text for a call that was admitted and has no result.
    fn failure(&self, error: &CallError) -> String {
        let name = self.name();
        match error {
            CallError::Unavailable { domain, .. } => unreachable_text(name, domain),
            CallError::CircuitOpen { domain, retry_after, fault, .. } => {
                let why = match fault {
                    None => unreachable_text(name, domain),
                    Some(fault) => {
                        format!("Tool '{name}' was not called: upstream server '{domain}' {fault}.")
                    }
                };
                format!("{why} Nothing was sent; try again in {} s.", retry_after.as_secs() + 1)
            }
            CallError::NoResult { domain, fault, effect, retry_after, .. } => format!(
                "Tool '{name}' gave no result: upstream server '{domain}' {fault}. {}",
                sentence(&effect.advice(*retry_after))
            ),
            CallError::NotSent { cause, .. } => {
                format!("Tool '{name}' was not called, and nothing was done: {cause}.")
            }
            CallError::Deadline { limit, .. } => format!(
                "Tool '{name}' did not answer within {} s. It may have taken effect all the same.",
                limit.as_secs_f32()
            ),
            CallError::Lost { .. } => format!(
                "Tool '{name}' did not finish: the connection to its upstream server ended while \
                 the call was under way. It may have taken effect all the same."
            ),
            CallError::TooLarge { size, limit, .. } => {
                too_large(name, *size, *limit) + self.effect_note()
            }
            CallError::Protocol { domain, .. } => {
                let effect = self.effect_note();
                format!(
                    "Tool '{name}' failed: upstream server '{domain}' broke the protocol.{effect} \
                     Other domains are still available."
                )
            }
            other => sentence(&other.to_string()),
        }
    }

    /// What to add about a call that was answered, if repeating it may do harm.
    fn effect_note(&self) -> &'static str {
        match self.tool {
            Some(tool) if tool.target().hints.is_repeatable() => "",
            _ => " It may have taken effect all the same.",
        }
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

/// What is said where nothing was answered.
fn unreachable_text(name: &str, domain: &Domain) -> String {
    format!(
        "Tool '{name}' is temporarily unavailable: upstream server '{domain}' is unreachable. Other \
         domains are still available."
    )
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

/// The blocks before the first texts, these texts, and the blocks after them. Texts that have more
/// than their text, such as annotations, are kept separate.
fn around_first_texts<'b, 'a>(
    blocks: &'b [Block<'a>],
) -> (&'b [Block<'a>], &'b [Block<'a>], &'b [Block<'a>]) {
    let start = blocks.iter().position(|block| block.text.is_some()).unwrap_or(0);
    let (before, rest) = blocks.split_at(start);
    let plain = |block: &&Block<'_>| block.text.is_some() && block.fields.len() == 2;
    let plain = rest.iter().take_while(plain).count();
    let has_one = rest.first().is_some_and(|block| block.text.is_some());
    let (texts, behind) = rest.split_at(plain.max(usize::from(has_one)));
    (before, texts, behind)
}

/// The JSON of the one text, a list of several, or else the structured content, or what follows
/// instead of a text.
fn result_of<'a>(
    texts: &[Block<'a>],
    structured: Option<&'a RawValue>,
    blocks: &[Block<'_>],
) -> Cow<'a, str> {
    match texts {
        [] => match structured {
            Some(structured) => structured.get().into(),
            None if blocks.is_empty() => "null".into(),
            None => json_text(&without_text(blocks)).into(),
        },
        [one] => one.json(),
        several => {
            let all: Vec<_> = several.iter().map(Block::json).collect();
            format!("[{}]", all.join(",")).into()
        }
    }
}

/// `no text, but 2 blocks: image, audio`
fn without_text(blocks: &[Block<'_>]) -> String {
    let kinds: Vec<_> = blocks.iter().map(Block::kind).collect();
    let kinds = listed(kinds.iter().map(String::as_str), KINDS_LENGTH, str::len);
    let count = blocks.len();
    let noun = if count == 1 { "block" } else { "blocks" };
    format!("no text, but {count} {noun}: {kinds}")
}

/// An error's texts, one a line, or the structured content if there is none.
fn joined(texts: &[Block<'_>], structured: Option<&RawValue>) -> String {
    let contents = texts.iter().filter_map(|block| unquoted(block.text?));
    let text = contents.collect::<Vec<_>>().join("\n");
    if !text.trim().is_empty() {
        return text;
    }
    structured.map_or("the tool reported an error and did not say why", RawValue::get).to_owned()
}

/// The envelope as a text block. If it replaces a single text, it keeps that block's other fields.
fn first_block(texts: &[Block<'_>], envelope: &str) -> Box<RawValue> {
    let [one] = texts else { return text_block(envelope) };
    let text = json_text(envelope);
    object(one.fields.iter().map(|(key, value)| {
        if key == "text" { ("text", text.as_str()) } else { (key.as_ref(), *value) }
    }))
}
