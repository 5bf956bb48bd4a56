//! What a call of `execute_tool` asks for, whichever way a model passed the arguments.

use std::sync::Arc;

use gatefold_catalog::{
    ParameterKind, Request, Tool, View, call_signature, declared, object_fields,
};
use gatefold_core::{Domain, Operation, ToolName};
use serde_json::value::RawValue;

use crate::arguments::{Arguments, object, unquoted};
use crate::executing;
use crate::surface::UsageError;
use crate::wording::{quoted, unknown_tool};

/// Names under which models pass a tool's arguments instead of `arguments`.
const WRAPPERS: [&str; 5] = ["arguments", "args", "parameters", "params", "input"];

/// The call of a pinned tool, with unchanged arguments.
pub(crate) fn untouched(view: &View, tool: &Tool, arguments: &RawValue) -> Request {
    let (name, arguments) = (ToolName::of(tool.id()), called_arguments(arguments));
    let operation = Arc::new(Operation::Tool { name, arguments });
    Request { operation, entry: Some(view.resolved(tool)) }
}

/// The arguments of a tool at the top level, unchanged unless there are none.
pub(crate) fn called_arguments(arguments: &RawValue) -> Box<RawValue> {
    if arguments.get() == "null" { object([]) } else { arguments.to_owned() }
}

/// A tool at the top level that calls others by their names.
pub(crate) struct ExecutingTool<'a> {
    pub(crate) name: &'a str,
    /// The tools beside it, which are called directly.
    pub(crate) own: &'a [&'a str],
    /// How to find a tool's name, as a sentence.
    pub(crate) hint: &'a str,
    /// The domain that it stays in, if it does.
    pub(crate) domain: Option<&'a Domain>,
}

impl ExecutingTool<'_> {
    fn find<'v>(&self, view: &'v View, name: &str) -> Option<&'v Tool> {
        match self.domain {
            Some(domain) => find_in(view, domain, name),
            None => view.find(name),
        }
    }

    /// What the dispatcher takes an unknown name for. It stays in the domain, too.
    fn unknown(&self, name: ToolName) -> ToolName {
        match self.domain {
            Some(domain) => unknown_in(domain, name),
            None => name,
        }
    }
}

/// A tool of a domain by its own name or its id.
pub(crate) fn find_in<'v>(view: &'v View, domain: &Domain, name: &str) -> Option<&'v Tool> {
    let by_id = || view.find(name).filter(|tool| tool.domain() == domain);
    view.tool_named(domain, name).or_else(by_id)
}

/// What the dispatcher takes a name for that no tool of a domain has.
pub(crate) fn unknown_in(domain: &Domain, name: ToolName) -> ToolName {
    let prefix = format!("{domain}__");
    if name.as_str().starts_with(&prefix) {
        return name;
    }
    ToolName::parse(&format!("{prefix}{name}")).unwrap_or(name)
}

/// Where a tool at the top level takes the arguments of the tool that it calls.
pub(crate) struct ArgumentPlace<'a> {
    /// The tool at the top level.
    pub(crate) meta: &'a str,
    /// Its parameter for them.
    pub(crate) parameter: &'a str,
    /// Its other parameters.
    pub(crate) own: &'a [&'a str],
}

impl ArgumentPlace<'_> {
    /// What was passed for a tool that nobody knows.
    pub(crate) fn unchecked(&self, arguments: &Arguments<'_>) -> Box<RawValue> {
        arguments.get(self.parameter).and_then(as_object).unwrap_or_else(|| object([]))
    }

    /// The arguments of a tool, whichever way they were passed.
    pub(crate) fn read(
        &self,
        tool: &Tool,
        arguments: &Arguments<'_>,
    ) -> Result<Box<RawValue>, UsageError> {
        let Self { meta, parameter, own } = *self;
        let mut others = arguments.others(own);
        others.retain(|(name, _)| *name != parameter);
        let nothing = |given: &&str| object_fields(given).is_some_and(|fields| fields.is_empty());
        let given = arguments.get(parameter).filter(|given| others.is_empty() || !nothing(given));
        let read = match (given, others.as_slice()) {
            (None, []) => object([]),
            (Some(given), []) => {
                let given = as_object(given).ok_or_else(|| {
                    let signature = call_signature(tool);
                    UsageError::new(format!(
                        "Parameter '{parameter}' of {meta} must be an object for {signature}"
                    ))
                })?;
                unwrapped(tool, &given).unwrap_or(given)
            }
            (None, others) => {
                flattened(tool, others).ok_or_else(|| self.misplaced(tool, others))?
            }
            (Some(_), others) => return Err(self.misplaced(tool, others)),
        };
        Ok(destringified(tool, &read).unwrap_or(read))
    }

    fn misplaced(&self, tool: &Tool, others: &[(&str, &str)]) -> UsageError {
        let Self { meta, parameter, .. } = self;
        let names: Vec<_> = others.iter().take(5).map(|(name, _)| quoted(name)).collect();
        let (names, signature) = (names.join(", "), call_signature(tool));
        UsageError::new(format!(
            "Unknown parameters of {meta}: {names}. Put the tool's own into '{parameter}': {signature}"
        ))
    }
}

pub(crate) fn request(
    view: &View,
    through: &ExecutingTool<'_>,
    arguments: &RawValue,
) -> Result<Request, UsageError> {
    let ExecutingTool { name: meta, own, hint, .. } = *through;
    let arguments = Arguments::parse(meta, arguments)?;
    let name = arguments.text("tool_name")?.ok_or_else(|| {
        UsageError::new(format!("Missing parameter 'tool_name' of {meta}. {hint}"))
    })?;
    let name = ToolName::parse(name.trim())
        .map_err(|_| UsageError::new(format!("{} {hint}", unknown_tool(view, &name, &[]))))?;
    let place = ArgumentPlace { meta, parameter: "arguments", own: &["tool_name"] };
    let Some(tool) = through.find(view, name.as_str()) else {
        if let Some(own) = own.iter().find(|own| **own == name.as_str()) {
            return Err(UsageError::new(format!(
                "'{own}' is a tool of its own. Call {own} directly, not through {meta}."
            )));
        }
        // An unknown tool is called anyway: the record then shows the attempt.
        let arguments = place.unchecked(&arguments);
        return Ok(Operation::Tool { name: through.unknown(name), arguments }.into());
    };
    if !executing::admits(meta, tool.target().hints.read_only == Some(true)) {
        let (name, writing) = (quoted(name.as_str()), executing::writing());
        return Err(UsageError::new(format!(
            "{name} may change something. Call it through {writing}."
        )));
    }
    let arguments = place.read(tool, &arguments)?;
    let name = if through.domain.is_some() { ToolName::of(tool.id()) } else { name };
    let operation = Arc::new(Operation::Tool { name, arguments });
    Ok(Request { operation, entry: Some(view.resolved(tool)) })
}

/// An object, or an object in a string, with its text unchanged.
fn as_object(raw: &str) -> Option<Box<RawValue>> {
    let text = unquoted(raw);
    let text = text.as_deref().unwrap_or(raw).trim();
    object_fields(text)?;
    RawValue::from_string(text.to_owned()).ok()
}

/// A tool's arguments among a meta-tool's own, if all are its parameters, or if they are in one other
/// object.
pub(crate) fn flattened(tool: &Tool, others: &[(&str, &str)]) -> Option<Box<RawValue>> {
    let fields = object(others.iter().copied());
    let known = declared(tool, others.iter().map(|(name, _)| *name));
    if known.iter().all(|known| *known != ParameterKind::No) {
        return Some(fields);
    }
    unwrapped(tool, &fields)
}

/// The content of an object's single field, if the tool has no such parameter but has all those in
/// it.
fn unwrapped(tool: &Tool, arguments: &RawValue) -> Option<Box<RawValue>> {
    let fields = object_fields(arguments.get())?;
    let [(name, inner)] = fields.as_slice() else { return None };
    if !WRAPPERS.contains(&name.as_ref()) || declared(tool, [name.as_ref()]) != [ParameterKind::No]
    {
        return None;
    }
    let inner = as_object(inner)?;
    let fields = object_fields(inner.get())?;
    let known = declared(tool, fields.iter().map(|(name, _)| name.as_ref()));
    known.iter().all(|known| *known != ParameterKind::No).then_some(inner)
}

/// The arguments with strings unpacked to objects or arrays where the tool takes those and no
/// strings. `None` if there are none.
fn destringified(tool: &Tool, arguments: &RawValue) -> Option<Box<RawValue>> {
    let fields = object_fields(arguments.get())?;
    let structure = |value: &str| {
        let text = unquoted(value)?;
        let text = text.trim();
        if !text.starts_with(['{', '[']) {
            return None;
        }
        serde_json::from_str::<Box<RawValue>>(text).ok()
    };
    let mut meant: Vec<_> = fields.iter().map(|(_, value)| structure(value)).collect();
    if meant.iter().all(Option::is_none) {
        // This is true of most calls, so the schema is not read for them.
        return None;
    }
    let known = declared(tool, fields.iter().map(|(name, _)| name.as_ref()));
    for (meant, known) in meant.iter_mut().zip(known) {
        meant.take_if(|_| known != ParameterKind::Structured);
    }
    meant.iter().any(Option::is_some).then(|| {
        let fields = fields.iter().zip(&meant);
        object(fields.map(|((name, value), meant)| {
            (name.as_ref(), meant.as_ref().map_or(*value, |json| json.get()))
        }))
    })
}
