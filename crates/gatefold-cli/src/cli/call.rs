//! `gatefold tools call`.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::Context as _;
use gatefold_catalog::Tool;
use gatefold_core::{CallError, Operation, Outcome, Payload, ToolName};
use gatefold_dispatch::{Caller, Pinned};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::arguments::Call;
use super::catalogue;
use super::failure::{usage, with_help};
use super::output::Output;

/// The largest arguments that are read from standard input.
const ARGUMENTS_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// How arguments are written.
const OBJECT_HELP: &str =
    "\n  help: write `--arguments '{\"name\": value, ...}'`, or `--arg NAME=VALUE` for each";

/// Makes one call on the same path as every call, with a record.
pub(super) async fn run(call: &Call, pinned: &Pinned, output: &Output) -> anyhow::Result<ExitCode> {
    let tool = catalogue::resolve(pinned.view(), &call.name)?;
    let arguments = arguments(call, tool)?;
    let name = ToolName::of(tool.id());
    let operation = Operation::Tool { name, arguments };
    match pinned.call(operation, None, Caller::silent()).await {
        Ok(Outcome::Done(payload)) => show(tool, &payload, output),
        Ok(Outcome::Suspended(_)) => Err(with_help(
            format!("`{}` waits for a person's approval", tool.id()),
            "call it from a client that can ask for one",
        )),
        Ok(Outcome::Task(task)) => {
            output.line(&format!("`{}` continues as a task: {}", tool.id(), task.id));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => refused(tool, &error, output),
    }
}

fn refused(tool: &Tool, error: &CallError, output: &Output) -> anyhow::Result<ExitCode> {
    if !output.is_json() {
        anyhow::bail!("{error}");
    }
    let (tool, kind) = (tool.id().as_str(), error.kind().as_str());
    output.json(&json!({ "tool": tool, "error": error.to_string(), "kind": kind }));
    Ok(ExitCode::FAILURE)
}

fn arguments(call: &Call, tool: &Tool) -> anyhow::Result<Box<RawValue>> {
    let text = match call.arguments.as_deref() {
        None => return Ok(to_raw_value(&from_pairs(&call.arg, tool)?)?),
        Some("-") => {
            let mut text = String::new();
            let stdin = std::io::stdin().lock();
            let read = stdin.take(ARGUMENTS_LIMIT_BYTES).read_to_string(&mut text);
            read.context("standard input could not be read")?;
            text
        }
        Some(text) => text.to_owned(),
    };
    let raw: Box<RawValue> = serde_json::from_str(text.trim())
        .map_err(|error| usage(format!("`--arguments` is not JSON: {error}{OBJECT_HELP}")))?;
    if raw.get().starts_with('{') {
        Ok(raw)
    } else {
        Err(usage(format!("`--arguments` is not a JSON object{OBJECT_HELP}")))
    }
}

/// An object from `KEY=VALUE` pairs. A value that is JSON is taken as JSON, unless the tool's
/// schema says that the argument is a string.
fn from_pairs(pairs: &[(String, String)], tool: &Tool) -> anyhow::Result<Map<String, Value>> {
    let schema: Value = serde_json::from_str(tool.definition().input_schema()).unwrap_or_default();
    let mut arguments = Map::new();
    for (key, text) in pairs {
        let is_string = schema["properties"][key]["type"] == "string";
        let value = match serde_json::from_str(text) {
            Ok(value) if !is_string => value,
            _ => Value::String(text.clone()),
        };
        if arguments.insert(key.clone(), value).is_some() {
            return Err(usage(format!(
                "`--arg {key}` is given twice\n  help: give each argument once"
            )));
        }
    }
    Ok(arguments)
}

fn show(tool: &Tool, payload: &Payload, output: &Output) -> anyhow::Result<ExitCode> {
    let code = if payload.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if output.is_json() {
        let (tool, result) = (tool.id().as_str(), &payload.json);
        output.json(&json!({ "tool": tool, "is_error": payload.is_error, "result": result }));
        return Ok(code);
    }
    let result: Value = serde_json::from_str(payload.json.get())?;
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lines: Vec<_> = blocks.iter().map(block).collect();
    if payload.is_error {
        output.error(&lines.join("\n"));
    } else {
        output.verbatim(&lines.join("\n"));
    }
    Ok(code)
}

/// A block of a result as text: JSON pretty-printed, other text as it is, anything else by its
/// type.
fn block(block: &Value) -> String {
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match text("type") {
        "text" => match serde_json::from_str::<Value>(text("text")) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => format!("{value:#}"),
            _ => text("text").to_owned(),
        },
        kind @ ("image" | "audio") => {
            let bytes = text("data").len() / 4 * 3;
            format!("[{kind}, {}, about {bytes} bytes; `--json` shows it]", text("mimeType"))
        }
        "resource_link" => format!("[resource {}]", text("uri")),
        kind => format!("[{kind}; `--json` shows it]"),
    }
}
