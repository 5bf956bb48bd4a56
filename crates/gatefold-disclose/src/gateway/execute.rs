//! What a call of `execute_tool` asks for, whichever way a model passed the arguments.

use std::sync::Arc;

use gatefold_catalog::{
    ParameterKind, Request, Tool, View, call_signature, declared, object_fields,
};
use gatefold_core::{Operation, ToolName};
use serde_json::value::RawValue;

use super::{DISCOVER, EXECUTE, SCHEMA};
use crate::arguments::{Arguments, object, unquoted};
use crate::surface::UsageError;
use crate::wording::{BROWSE, quoted, unknown_tool};

/// Names under which models pass a tool's arguments instead of `arguments`.
const WRAPPERS: [&str; 5] = ["arguments", "args", "parameters", "params", "input"];

/// The call of a pinned tool, with unchanged arguments.
pub(super) fn untouched(view: &View, tool: &Tool, arguments: &RawValue) -> Request {
    let arguments = if arguments.get() == "null" { object([]) } else { arguments.to_owned() };
    let name = ToolName::of(tool.id());
    let operation = Arc::new(Operation::Tool { name, arguments });
    Request { operation, entry: Some(view.resolved(tool)) }
}

pub(super) fn request(view: &View, arguments: &RawValue) -> Result<Request, UsageError> {
    let arguments = Arguments::parse(EXECUTE, arguments)?;
    let name = arguments.text("tool_name")?.ok_or_else(|| {
        UsageError::new(format!("Missing parameter 'tool_name' of {EXECUTE}. {BROWSE}"))
    })?;
    let name = ToolName::parse(name.trim())
        .map_err(|_| UsageError::new(format!("{} {BROWSE}", unknown_tool(view, &name, &[]))))?;
    let Some(tool) = view.find(name.as_str()) else {
        if let Some(own) = [DISCOVER, SCHEMA, EXECUTE].into_iter().find(|own| *own == name.as_str())
        {
            return Err(UsageError::new(format!(
                "'{own}' is a tool of its own. Call {own} directly, not through {EXECUTE}."
            )));
        }
        // An unknown tool is called anyway: the record then shows the attempt.
        let given = arguments.get("arguments").and_then(as_object);
        let arguments = given.unwrap_or_else(|| object([]));
        return Ok(Operation::Tool { name, arguments }.into());
    };
    let others = arguments.others(&["tool_name", "arguments"]);
    let nothing = |given: &&str| object_fields(given).is_some_and(|fields| fields.is_empty());
    let given = arguments.get("arguments").filter(|given| others.is_empty() || !nothing(given));
    let arguments = match (given, others.as_slice()) {
        (None, []) => object([]),
        (Some(given), []) => {
            let given = as_object(given).ok_or_else(|| {
                let signature = call_signature(tool);
                UsageError::new(format!(
                    "Parameter 'arguments' of {EXECUTE} must be an object for {signature}"
                ))
            })?;
            unwrapped(tool, &given).unwrap_or(given)
        }
        (None, others) => flattened(tool, others).ok_or_else(|| misplaced(tool, others))?,
        (Some(_), others) => return Err(misplaced(tool, others)),
    };
    let arguments = destringified(tool, &arguments).unwrap_or(arguments);
    let operation = Arc::new(Operation::Tool { name, arguments });
    Ok(Request { operation, entry: Some(view.resolved(tool)) })
}

fn misplaced(tool: &Tool, others: &[(&str, &str)]) -> UsageError {
    let names: Vec<_> = others.iter().take(5).map(|(name, _)| quoted(name)).collect();
    let (names, signature) = (names.join(", "), call_signature(tool));
    UsageError::new(format!(
        "Unknown parameters of {EXECUTE}: {names}. Put the tool's own into 'arguments': {signature}"
    ))
}

/// An object, or an object in a string, with its text unchanged.
fn as_object(raw: &str) -> Option<Box<RawValue>> {
    let text = unquoted(raw);
    let text = text.as_deref().unwrap_or(raw).trim();
    object_fields(text)?;
    RawValue::from_string(text.to_owned()).ok()
}

/// The tool's arguments besides `tool_name`, if all are its parameters, or if they are in one other
/// object.
fn flattened(tool: &Tool, others: &[(&str, &str)]) -> Option<Box<RawValue>> {
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
