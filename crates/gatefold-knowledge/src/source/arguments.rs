//! The arguments of the tools.

use gatefold_core::{CallError, Target};
use gatefold_dispatch::AdmittedCall;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// How many passages are given if nobody says so, and the most of one call.
const TOP: usize = 5;
pub(super) const MOST_TOP: usize = 20;

/// The same for quotes.
const QUOTES: usize = 8;
const MOST_QUOTES: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetrieveArguments {
    pub(super) query: String,
    top_k: Option<u64>,
    cursor: Option<String>,
    /// Only the tool for all bases has it.
    pub(super) knowledge_base: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroundArguments {
    pub(super) question: String,
    quotes: Option<u64>,
    /// Only the tool for all bases has it.
    pub(super) knowledge_base: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    /// The name of the last document of the page before.
    pub(super) cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    pub(super) document: String,
    pub(super) place: Option<String>,
    pub(super) cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckArguments {
    pub(super) text: String,
}

impl RetrieveArguments {
    pub(super) fn top(&self) -> usize {
        limited(self.top_k, TOP, MOST_TOP)
    }

    /// How many passages earlier pages had.
    pub(super) fn offset(&self) -> Result<usize, String> {
        let Some(cursor) = self.cursor.as_deref().filter(|cursor| !cursor.is_empty()) else {
            return Ok(0);
        };
        let wrong = "'cursor' is not one of this tool; leave it out to begin anew, or repeat the one that it gave";
        cursor.parse().map_err(|_| wrong.to_owned())
    }
}

impl GroundArguments {
    pub(super) fn quotes(&self) -> usize {
        limited(self.quotes, QUOTES, MOST_QUOTES)
    }
}

fn limited(wanted: Option<u64>, usual: usize, most: usize) -> usize {
    wanted.map_or(usual, |wanted| usize::try_from(wanted).unwrap_or(most)).clamp(1, most)
}

/// Reads the arguments of a call.
pub(super) fn read<T: DeserializeOwned>(call: &AdmittedCall) -> Result<T, CallError> {
    let arguments = call.arguments().map_or("{}", RawValue::get);
    serde_json::from_str(arguments).map_err(|error| wrong(call.target(), error.to_string()))
}

/// An error that mends the call.
pub(super) fn wrong(target: &Target, message: String) -> CallError {
    CallError::InvalidArguments { tool: target.id.clone(), message, data: None }
}
