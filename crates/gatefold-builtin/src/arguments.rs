use serde::de::DeserializeOwned;

use crate::BuiltinError;

/// Reads a tool's arguments. The signature, which the caller is shown with the error, says what is
/// wanted.
pub(crate) fn read<T: DeserializeOwned>(arguments: &str) -> Result<T, BuiltinError> {
    serde_json::from_str(arguments).map_err(|error| {
        // The place is in a text that the caller did not write.
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or_default();
        BuiltinError::arguments(text)
    })
}

/// Refuses a text that is longer than a tool takes.
pub(crate) fn bounded<'t>(
    name: &str,
    text: &'t str,
    limit: usize,
) -> Result<&'t str, BuiltinError> {
    if text.len() <= limit {
        return Ok(text);
    }
    let size = text.len();
    Err(BuiltinError::arguments(format!("`{name}` has {size} bytes, more than the limit: {limit}")))
}

/// An argument that an action cannot do without.
pub(crate) fn needed<T>(name: &str, action: &str, value: Option<T>) -> Result<T, BuiltinError> {
    let message = || BuiltinError::arguments(format!("`{action}` needs `{name}`"));
    value.ok_or_else(message)
}
