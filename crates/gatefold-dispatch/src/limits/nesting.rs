//! How deep calls may nest, and what they carry.

use gatefold_catalog::is_nested_deeper;
use gatefold_core::{Call, CallError, Lineage, Target};

/// How deep arguments and answers may be nested. Nobody's are, and parsers that recurse read as many.
pub const JSON_LEVELS: usize = 256;

/// Refuses a call that is nested too deep, or in a call of the same tool.
pub(crate) fn check_nesting(
    lineage: &Lineage,
    target: &Target,
    limit: usize,
) -> Result<(), CallError> {
    if lineage.depth >= limit {
        return Err(CallError::TooDeep { limit });
    }
    if lineage.tools.contains(&target.id) {
        return Err(CallError::Cycle { tool: target.id.clone() });
    }
    Ok(())
}

/// Refuses what many parsers cannot read without exhausting their stack: a server that ends of one
/// call's arguments ends everybody's calls.
pub(crate) fn check_depth(call: &Call, target: &Target) -> Result<(), CallError> {
    let answers = call.resume.as_ref().map_or("null", |resume| resume.answers.get());
    let is_deep = |text| is_nested_deeper(text, JSON_LEVELS);
    if !is_deep(call.operation.arguments()) && !is_deep(answers) {
        return Ok(());
    }
    let message = format!("its arguments are nested more than {JSON_LEVELS} levels deep");
    Err(CallError::InvalidArguments { tool: target.id.clone(), message, data: None })
}
