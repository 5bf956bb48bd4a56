use std::sync::Arc;

use crate::{Fields, History, RawJson};

/// What a model is asked, in the words of no wire.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// Instructions; may be empty.
    pub system: &'a str,
    pub history: &'a History,
    pub tools: &'a [ToolDefinition],
    pub tool_choice: ToolChoice<'a>,
    /// What the answer's text has to be, where the endpoint can force it.
    pub schema: Option<AnswerSchema<'a>>,
}

/// A JSON schema that an answer's text has to fit.
#[derive(Debug, Clone, Copy)]
pub struct AnswerSchema<'a> {
    /// Letters, digits, `_` and `-`.
    pub name: &'a str,
    pub schema: &'a RawJson,
}

/// Whether a model has to call something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolChoice<'a> {
    #[default]
    Auto,
    /// It must not call anything.
    None,
    /// It must call one of the tools.
    Required,
    /// It must call this one.
    Tool(&'a str),
}

/// A tool as models are offered it. Clones share what it says, since a run that waits for its model holds them.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    name: Arc<str>,
    description: Arc<str>,
    schema: Arc<Fields>,
}

impl<'a> ModelRequest<'a> {
    /// A request without tools.
    pub fn new(system: &'a str, history: &'a History) -> Self {
        Self { system, history, tools: &[], tool_choice: ToolChoice::Auto, schema: None }
    }

    #[must_use]
    pub fn tools(self, tools: &'a [ToolDefinition]) -> Self {
        Self { tools, ..self }
    }
}

impl ToolDefinition {
    /// The longest name that both wires take.
    pub const NAME_LENGTH: usize = 64;

    /// None if providers would refuse the name. A schema that does not say so is one of an object,
    /// because arguments always are.
    pub fn new(name: &str, description: &str, schema: &RawJson) -> Option<Self> {
        if !is_legal_name(name) {
            return None;
        }
        let mut schema: Fields = schema.read().unwrap_or_default();
        if schema.get("type").map(RawJson::text) != Some("\"object\"") {
            schema.set("type", &"object");
        }
        Some(Self { name: name.into(), description: description.into(), schema: Arc::new(schema) })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn description(&self) -> &str {
        &self.description
    }

    pub fn schema(&self) -> &Fields {
        &self.schema
    }
}

/// Whether both wires take a tool's name.
pub(crate) fn is_legal_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= ToolDefinition::NAME_LENGTH
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
