use std::collections::HashSet;

use gatefold_catalog::{Tool, View, token_bound};
use gatefold_core::ToolName;
use serde_json::value::RawValue;

use super::{GatewayLimits, SCHEMA};
use crate::arguments::{Arguments, json_text, object_text, unquoted};
use crate::levels::{self, Rest};
use crate::surface::{Reply, UsageError};
use crate::wording::{BROWSE, unknown_tool};

pub(super) fn answer(
    view: &View,
    limits: &GatewayLimits,
    arguments: &RawValue,
) -> Result<Reply, UsageError> {
    let arguments = Arguments::parse(SCHEMA, arguments)?;
    arguments.only(&["tool_name", "tool_names", "path"])?;
    let one = arguments.text("tool_name")?;
    let path = arguments.text("path")?;
    let many = arguments.get("tool_names").map(names).transpose()?.unwrap_or_default();
    match (one, many.as_slice()) {
        (None, []) => Err(UsageError::new(format!(
            "Missing parameter 'tool_name' of {SCHEMA}. Name one tool, or several in tool_names. {BROWSE}"
        ))),
        (Some(name), []) => {
            let tool = find(view, &name, SuggestionMode::Yes).map_err(UsageError::new)?;
            described_by(SCHEMA, tool, path.as_deref())
        }
        _ if path.is_some() => Err(UsageError::new(format!(
            "Parameter 'path' of {SCHEMA} goes with one tool, in tool_name."
        ))),
        (one, _) => {
            let mut seen = HashSet::new();
            let mut names: Vec<_> = one.into_iter().chain(many).collect();
            names.retain(|name| seen.insert(name.clone()));
            batch(view, limits, &names)
        }
    }
}

/// The names in a list, in a list in a string, or in a single string.
fn names(raw: &str) -> Result<Vec<String>, UsageError> {
    let list = |json: &str| serde_json::from_str::<Vec<String>>(json).ok();
    let names = match unquoted(raw) {
        Some(text) => list(&text).or_else(|| (!text.trim().is_empty()).then(|| vec![text])),
        None => list(raw),
    };
    let wrong = || {
        UsageError::new(format!("Parameter 'tool_names' of {SCHEMA} must be an array of strings."))
    };
    names.ok_or_else(wrong)
}

/// Whether an unknown name gets suggestions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SuggestionMode {
    Yes,
    No,
}

fn find<'a>(view: &'a View, name: &str, suggesting: SuggestionMode) -> Result<&'a Tool, String> {
    let nearest = match (ToolName::parse(name.trim()), suggesting) {
        // A name that is too long for any tool resembles none of them.
        (Err(_), _) => Vec::new(),
        (Ok(name), SuggestionMode::Yes) => match view.resolve(&name) {
            Ok(tool) => return Ok(tool),
            Err(miss) => miss.nearest,
        },
        (Ok(name), SuggestionMode::No) => match view.find(name.as_str()) {
            Some(tool) => return Ok(tool),
            None => Vec::new(),
        },
    };
    Err(format!("{} {BROWSE}", unknown_tool(view, name, &nearest)))
}

/// A tool with its schemas, as far as they are shown, and what `reader` says of the rest.
pub(crate) fn described(tool: &Tool, reader: Option<&str>) -> String {
    let (name, domain) = (json_text(tool.id().as_str()), json_text(tool.domain().as_str()));
    let group = json_text(tool.group());
    described_after(&[("name", &name), ("domain", &domain), ("group", &group)], tool, reader)
}

/// A tool, or one part of its schemas, for a tool of this name that takes `path`.
pub(crate) fn described_by(
    reader: &str,
    tool: &Tool,
    path: Option<&str>,
) -> Result<Reply, UsageError> {
    let reader = by_tool_name(reader);
    match path {
        Some(path) => part_of(tool, path, &reader),
        None => Ok(Reply::text(&described(tool, Some(&reader))).showing([tool])),
    }
}

/// What reads a part of a schema, where it takes `tool_name`.
pub(crate) fn by_tool_name(reader: &str) -> String {
    format!("{reader} with `tool_name`")
}

/// The part of a tool's schemas at a path. `reader` says what else reads parts.
pub(crate) fn part_of(tool: &Tool, path: &str, reader: &str) -> Result<Reply, UsageError> {
    let definition = tool.definition();
    let input = [definition.input_schema(), definition.listed_schema()];
    let part = levels::part(&input, definition.output_schema(), path);
    let part = part.ok_or_else(|| {
        UsageError::new(format!(
            "Tool '{}' has nothing at this path of its schemas. Give a path or a `$ref` of them as it is.",
            tool.id()
        ))
    })?;
    let (name, path) = (json_text(tool.id().as_str()), json_text(path));
    let note = json_text(&levels::note(Some(reader)));
    let fields = [("name", name.as_str()), ("path", &path), ("schema", &part.text)];
    let note = part.is_cut.then_some(("note", note.as_str()));
    Ok(Reply::text(&object_text(fields.into_iter().chain(note))).showing([tool]))
}

/// A tool's description and schemas, after other fields, whose values are raw.
pub(crate) fn described_after(first: &[(&str, &str)], tool: &Tool, reader: Option<&str>) -> String {
    let definition = tool.definition();
    let description = definition.description().or(definition.title()).map(json_text);
    let rest = Rest::by(reader);
    let parameters = levels::shown(definition.input_schema(), levels::PARAMETERS, rest);
    let output = definition.output_schema();
    let output = output.map(|schema| levels::shown(schema, levels::OUTPUT, rest));
    let is_cut = parameters.is_cut || output.as_ref().is_some_and(|output| output.is_cut);
    let note = is_cut.then(|| json_text(&levels::note(reader)));
    let mut fields = first.to_vec();
    fields.extend(description.as_deref().map(|text| ("description", text)));
    fields.extend(note.as_deref().map(|note| ("note", note)));
    fields.push(("parameters", &parameters.text));
    fields.extend(output.as_ref().map(|output| ("output_schema", output.text.as_str())));
    object_text(fields)
}

/// `{"tools": [...], "remaining": [...]}`: the first whole, others while they fit, then the names
/// of the rest. Unknown names are among them with their errors; only the first gets suggestions.
fn batch(view: &View, limits: &GatewayLimits, names: &[String]) -> Result<Reply, UsageError> {
    if names.len() > limits.batch_names {
        let most = limits.batch_names;
        return Err(UsageError::new(format!(
            "Parameter 'tool_names' of {SCHEMA} takes at most {most} names."
        )));
    }
    // One name a batch gets suggestions, so that a list of invented names costs no more than one.
    let mut suggesting = SuggestionMode::Yes;
    let reader = by_tool_name(SCHEMA);
    let answers = names.iter().map(|name| match find(view, name, suggesting) {
        Ok(tool) => (described(tool, Some(&reader)), Some(tool)),
        Err(error) => {
            suggesting = SuggestionMode::No;
            let (name, error) = (json_text(name), json_text(&error));
            (object_text([("name", name.as_str()), ("error", &error)]), None)
        }
    });
    let mut shown: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for (answer, tool) in answers {
        shown.push(answer);
        if shown.len() > 1
            && token_bound(&written(&shown, &names[shown.len()..])) > limits.discovery_tokens
        {
            shown.pop();
            break;
        }
        found.extend(tool);
    }
    let text = written(&shown, &names[shown.len()..]);
    Ok(Reply { is_error: found.is_empty(), ..Reply::text(&text).showing(found) })
}

fn written(shown: &[String], remaining: &[String]) -> String {
    let tools = format!("[{}]", shown.join(","));
    let names: Vec<_> = remaining.iter().map(|name| json_text(name)).collect();
    let names = format!("[{}]", names.join(","));
    let rest = (!remaining.is_empty()).then_some(("remaining", names.as_str()));
    object_text([("tools", tools.as_str())].into_iter().chain(rest))
}
