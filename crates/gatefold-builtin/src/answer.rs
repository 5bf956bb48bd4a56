use gatefold_core::Payload;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// What a tool answers: a text for a model, and the same by the names of its output schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuiltinAnswer {
    pub text: String,
    pub structured: Value,
}

impl BuiltinAnswer {
    pub(crate) fn new(text: impl Into<String>, structured: &impl Serialize) -> Self {
        // Every answer is a plain structure with text keys, which cannot fail to serialize.
        let structured = serde_json::to_value(structured).unwrap_or_default();
        Self { text: text.into(), structured }
    }

    pub(crate) fn payload(&self) -> Payload {
        let result = json!({
            "content": [{ "type": "text", "text": self.text }],
            "structuredContent": self.structured,
        });
        let json = to_raw_value(&result).expect("a JSON value is valid JSON");
        Payload { json, is_error: false }
    }
}
