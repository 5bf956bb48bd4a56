//! `gatefold tools call`: the arguments of the call, and what became of it.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::Context as _;
use gatefold_operations::{CallAnswer, CallArguments};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::arguments::Call;
use super::failure::{usage, with_help};
use super::output::Output;

/// The largest arguments that are read from standard input.
const ARGUMENTS_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// How arguments are written.
const OBJECT_HELP: &str =
    "\n  help: write `--arguments '{\"name\": value, ...}'`, or `--arg NAME=VALUE` for each";

pub(super) fn arguments(call: &Call) -> anyhow::Result<CallArguments> {
    let text = match call.arguments.as_deref() {
        None => return Ok(CallArguments::Pairs(call.arg.clone())),
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
        Ok(CallArguments::Object(raw))
    } else {
        Err(usage(format!("`--arguments` is not a JSON object{OBJECT_HELP}")))
    }
}

pub(super) fn show(called: &CallAnswer, output: &Output) -> anyhow::Result<ExitCode> {
    match called {
        CallAnswer::Done { tool, is_error, result } => show_result(tool, *is_error, result, output),
        CallAnswer::Waits { tool } => Err(with_help(
            format!("`{tool}` waits for a person's approval"),
            "call it from a client that can ask for one",
        )),
        CallAnswer::Task { tool, id } => {
            output.line(&format!("`{tool}` continues as a task: {id}"));
            Ok(ExitCode::SUCCESS)
        }
        CallAnswer::Refused { error, .. } if !output.is_json() => anyhow::bail!("{error}"),
        CallAnswer::Refused { tool, error, kind } => {
            output.json(&json!({ "tool": tool, "error": error, "kind": kind }));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn show_result(
    tool: &str,
    is_error: bool,
    result: &RawValue,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let code = if is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if output.is_json() {
        output.json(&json!({ "tool": tool, "is_error": is_error, "result": result }));
        return Ok(code);
    }
    let result: Value = serde_json::from_str(result.get())?;
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lines: Vec<_> = blocks.iter().map(block).collect();
    if is_error {
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
