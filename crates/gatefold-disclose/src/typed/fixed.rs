//! What a subcommand means that calls one certain tool of a source.

use gatefold_catalog::{DomainEntry, FixedCall, MetaTool, Request, View, object_fields};
use gatefold_core::{Operation, ToolName};

use super::kinds::parameters;
use super::request;
use crate::arguments::{Arguments, object};
use crate::gateway::{flattened, unknown_in};
use crate::surface::UsageError;

/// The call of the source's tool. Parameters of the meta-tool that the tool has no use for are left out,
/// because models fill in what a definition has; others are the tool's own.
pub(super) fn fixed_call(
    view: &View,
    (meta, subcommand): (&MetaTool, &str),
    fixed: FixedCall,
    entry: &DomainEntry,
    arguments: &Arguments<'_>,
) -> Result<Request, UsageError> {
    let parameters = parameters(meta);
    let mut taken = Vec::new();
    for name in fixed.takes {
        if arguments.text(name)?.is_some() {
            taken.extend(arguments.get(name).map(|raw| (*name, raw)));
        }
    }
    let Some(tool) = view.tool_named(entry.domain(), fixed.tool) else {
        // A tool that is not there is called anyway: the record then shows the attempt.
        let name = ToolName::parse(fixed.tool).expect("a kind's own names are short");
        let name = unknown_in(entry.domain(), name);
        return Ok(Operation::Tool { name, arguments: object(taken) }.into());
    };
    let others = arguments.others(&parameters);
    let extra = flattened(tool, &others);
    if extra.is_none() {
        arguments.only(&parameters)?;
    }
    let extra = extra.as_ref().and_then(|extra| object_fields(extra.get())).unwrap_or_default();
    taken.extend(extra.iter().map(|(name, raw)| (name.as_ref(), *raw)));
    if let Some((needed, _)) = fixed.needs
        && !taken.iter().any(|(name, _)| *name == needed)
    {
        return Err(UsageError::new(format!(
            "Missing parameter '{needed}' of {}, which the subcommand '{subcommand}' needs.",
            meta.name
        )));
    }
    Ok(request(view, tool, object(taken)))
}
