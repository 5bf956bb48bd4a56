//! What models read of a tool.

use gatefold_catalog::ToolSpec;
use gatefold_core::Hints;
use serde_json::{Map, Value, json};

/// The member of a definition's `_meta` that has the category.
const CATEGORY: &str = "gatefold/category";

/// What a tool is for, in one word. Whoever offers tools to agents can choose by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCategory {
    Computation,
    Web,
    Filesystem,
    Knowledge,
    General,
}

impl ToolCategory {
    pub const ALL: [Self; 5] =
        [Self::Computation, Self::Web, Self::Filesystem, Self::Knowledge, Self::General];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Computation => "computation",
            Self::Web => "web",
            Self::Filesystem => "filesystem",
            Self::Knowledge => "knowledge",
            Self::General => "general",
        }
    }
}

/// How a tool shows itself.
pub(crate) struct ToolFace {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: String,
    pub(crate) category: ToolCategory,
    pub(crate) hints: Hints,
    pub(crate) input: Value,
    pub(crate) output: Value,
}

impl ToolFace {
    pub(crate) fn spec(self) -> ToolSpec {
        let category = self.category.as_str();
        ToolSpec::new(self.name)
            .title(self.title)
            .description(self.description)
            .input_schema(self.input)
            .output_schema(self.output)
            .hints(self.hints)
            .meta(Map::from_iter([(CATEGORY.to_owned(), category.into())]))
            .group(category)
    }
}

/// The hints of a tool that only reads or computes, and nothing from outside.
pub(crate) const fn reading() -> Hints {
    Hints {
        read_only: Some(true),
        destructive: Some(false),
        idempotent: Some(true),
        open_world: Some(false),
    }
}

pub(crate) fn object(properties: &Value, required: &[&str]) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

pub(crate) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(crate) fn bounded_text(description: &str, max_length: usize) -> Value {
    json!({ "type": "string", "description": description, "maxLength": max_length })
}

pub(crate) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

pub(crate) fn count(description: &str, max: usize) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": max, "description": description })
}

pub(crate) fn choice(description: &str, words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}
