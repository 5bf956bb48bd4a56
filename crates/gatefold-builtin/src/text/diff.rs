//! Two texts compared by lines.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::compute::TIME;
use crate::{BuiltinAnswer, BuiltinError};

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

#[derive(Serialize)]
struct DiffAnswer {
    result: String,
    added: usize,
    removed: usize,
}

pub(super) fn compared(text: &str, other: &str) -> Result<BuiltinAnswer, BuiltinError> {
    // Past the time a difference is still right, and perhaps longer than it had to be.
    let diff = TextDiff::configure().timeout(TIME / 2).diff_lines(text, other);
    let result = diff.unified_diff().context_radius(CONTEXT).to_string();
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let result = super::bounded_result(result)?;
    let text = if result.is_empty() { "the texts are equal".to_owned() } else { result.clone() };
    Ok(BuiltinAnswer::new(text, &DiffAnswer { result, added, removed }))
}
