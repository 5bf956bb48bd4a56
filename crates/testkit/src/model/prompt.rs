use serde_json::Value;

use super::ModelWire;

/// What a model is given with one request.
#[derive(Debug)]
pub struct Prompt {
    wire: ModelWire,
    body: Value,
}

impl Prompt {
    pub(super) fn new(wire: ModelWire, body: Value) -> Self {
        Self { wire, body }
    }

    pub fn wire(&self) -> ModelWire {
        self.wire
    }

    /// What the user wants: the first text that is said to the model, without the day on which it is said.
    pub fn request(&self) -> &str {
        let user = self.messages().find(|message| message["role"] == "user");
        let text = user.and_then(|user| text_in(&user["content"])).unwrap_or_default();
        text.split("\n\n[Today is ").next().unwrap_or_default()
    }

    /// The answers to its calls so far.
    pub fn told(&self) -> Vec<&str> {
        let texts = self.messages().flat_map(|message| match self.wire {
            ModelWire::OpenAiChat if message["role"] == "tool" => vec![&message["content"]],
            ModelWire::OpenAiChat => Vec::new(),
            ModelWire::Anthropic => {
                let blocks = message["content"].as_array().into_iter().flatten();
                let results = blocks.filter(|block| block["type"] == "tool_result");
                results.map(|block| &block["content"]).collect()
            }
        });
        texts.map(|content| text_in(content).unwrap_or_default()).collect()
    }

    /// Such an answer as JSON; null if it is something else.
    pub fn told_json(&self, at: usize) -> Value {
        let told = self.told();
        told.get(at).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The definitions of tools, as the wire has them.
    pub fn functions(&self) -> impl Iterator<Item = &Value> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.map(|tool| match self.wire {
            ModelWire::OpenAiChat => &tool["function"],
            ModelWire::Anthropic => tool,
        })
    }

    pub fn has(&self, name: &str) -> bool {
        self.functions().any(|function| function["name"] == name)
    }

    /// All of it.
    pub fn whole(&self) -> &Value {
        &self.body
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        self.body["messages"].as_array().into_iter().flatten()
    }
}

/// A content's text, or the first of its parts that is one.
fn text_in(content: &Value) -> Option<&str> {
    let parts = || content.as_array().into_iter().flatten();
    content.as_str().or_else(|| parts().find_map(|part| part["text"].as_str()))
}
