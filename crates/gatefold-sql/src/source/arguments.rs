use serde::de::DeserializeOwned;

use super::ToolError;

/// Reads a tool's arguments. Numbers and booleans in quotes are not accepted: the signature, which the
/// caller is shown with the error, says what is wanted.
pub(super) fn read<T: DeserializeOwned>(arguments: &str) -> Result<T, ToolError> {
    serde_json::from_str(arguments).map_err(|error| {
        // The place is in a text that the caller did not write.
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or(&text);
        ToolError::Arguments(text.to_owned())
    })
}
