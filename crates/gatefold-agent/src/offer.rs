use gatefold_model::{RawJson, ToolDefinition};

/// What a model is given beside the conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOffer {
    pub instructions: String,
    pub tools: Vec<ToolDefinition>,
}

impl ToolOffer {
    /// About how many bytes it takes in a request.
    pub(crate) fn bytes(&self) -> usize {
        let definitions = self.tools.iter().map(|tool| {
            tool.name().len() + tool.description().len() + RawJson::of(tool.schema()).text().len()
        });
        self.instructions.len() + definitions.sum::<usize>()
    }
}
