//! Calls that give the same result again and again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use gatefold_model::{CallArguments, ToolCall, ToolResult, UserPart};

/// From this time on, the model is told that it has made the call before.
const NOTED: u32 = 3;
/// At this time, the run ends with what is known.
const ENDING: u32 = 5;

/// How often each call of a run gave each of its results.
///
/// Kept as hashes: two calls that share one by chance would only be advised against too early.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repeats(HashMap<u64, u32>);

/// What a repeated call leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repetition {
    None,
    /// It is worth a note: the call was made so many times.
    Noted(u32),
    /// The run should end.
    Ending(u32),
}

impl Repeats {
    pub(crate) fn count(&mut self, call: &ToolCall, result: &ToolResult) -> Repetition {
        let mut hasher = DefaultHasher::new();
        call.name.hash(&mut hasher);
        match &call.arguments {
            CallArguments::Object(json) => json.text().hash(&mut hasher),
            CallArguments::Malformed { written, .. } => written.hash(&mut hasher),
        }
        result.is_error.hash(&mut hasher);
        for part in &result.parts {
            match part {
                UserPart::Text(text) => text.hash(&mut hasher),
                UserPart::Image(image) => image.bytes().hash(&mut hasher),
            }
        }
        let times = self.0.entry(hasher.finish()).or_default();
        *times += 1;
        match *times {
            ENDING.. => Repetition::Ending(*times),
            NOTED.. => Repetition::Noted(*times),
            _ => Repetition::None,
        }
    }
}
