use gatefold_catalog::ToolDefinition;
use serde::Deserialize;

use crate::action::Action;
use crate::arguments::ArgumentCheck;

/// A tool's action with what checks its arguments, made once for many calls.
pub(super) struct PreparedAction {
    pub(super) action: Action,
    pub(super) check: ArgumentCheck,
}

#[derive(Deserialize)]
struct Definition {
    #[serde(rename = "_meta")]
    meta: Meta,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "gatefold/http")]
    action: Action,
}

impl PreparedAction {
    /// The error says what is wrong with the definition.
    pub(super) fn of(definition: &ToolDefinition) -> Result<Self, String> {
        let Definition { meta: Meta { action } } = serde_json::from_str(definition.raw())
            .map_err(|error| format!("what was kept of this tool cannot be read: {error}"))?;
        let check = ArgumentCheck::new(definition.input_schema())
            .map_err(|error| format!("the schema of its arguments cannot be used: {error}"))?;
        Ok(Self { action, check })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_key_of_an_action_is_the_one_that_is_written() {
        assert_eq!(crate::ACTION_KEY, "gatefold/http");
    }
}
