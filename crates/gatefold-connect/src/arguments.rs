//! Arguments are checked before anything is sent: here the gateway is the server.

mod fault;

#[cfg(test)]
mod tests;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// The most faults of one call that are told.
const MAX_FAULTS: usize = 5;

/// The most faults that are looked at.
const MAX_EXAMINED: usize = 1000;

/// The longest text about faults, in bytes.
const MAX_BYTES: usize = 2 * 1024;

/// A compiled input schema.
#[derive(Debug)]
pub struct ArgumentCheck {
    validator: Validator,
    /// The schema as a value, where the names of arguments are found.
    schema: Value,
}

impl ArgumentCheck {
    /// Compiles a JSON Schema 2020-12. Nothing outside it is read.
    pub fn new(input_schema: &str) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(input_schema)
            .map_err(|error| format!("the input schema is not JSON: {error}"))?;
        let options = jsonschema::draft202012::options().offline();
        let validator = options.build(&schema).map_err(|error| {
            let place = error.instance_path().as_str();
            format!("the input schema cannot be used, at `{place}`: {}", error.masked())
        })?;
        Ok(Self { validator, schema })
    }

    /// Whether the arguments can be sent. If not, the text says of each argument what it is and what is
    /// wanted, five at most.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        let errors = self.validator.iter_errors(arguments).take(MAX_EXAMINED);
        let mut faults = Vec::new();
        for error in errors.filter(is_of_the_caller) {
            for fault in fault::described(&error, &self.schema, arguments) {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
            if faults.len() > MAX_FAULTS {
                break;
            }
        }
        if faults.is_empty() {
            return Ok(());
        }
        let has_more = faults.len() > MAX_FAULTS;
        faults.truncate(MAX_FAULTS);
        faults.extend(has_more.then(|| "and more".to_owned()));
        let mut text = faults.join("; ");
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        Err(text)
    }
}

/// Whether the caller could mend it.
///
/// Alternatives that overlap are the commonest mistake of descriptions, and a server takes what fits two of
/// them. A pattern that fails to run says nothing about the argument either.
fn is_of_the_caller(error: &ValidationError<'_>) -> bool {
    !matches!(
        error.kind(),
        ValidationErrorKind::OneOfMultipleValid { .. }
            | ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
    )
}
