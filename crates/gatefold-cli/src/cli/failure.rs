//! How failures are reported, and which exit code they get.

use std::fmt;
use std::process::ExitCode;

use gatefold::AppError;
use gatefold::config::{ConfigError, Fault};
use gatefold_operations::OperationError;
use gatefold_setup::SetupError;
use serde_json::{Value, json};

use super::output::Output;
use super::stop;

/// The exit code for a wrong command line or configuration, the same as clap's.
const USAGE: u8 = 2;

/// Separates a fault from its fix, here as in the library's errors.
const HELP: &str = "\n  help: ";

/// A fault of the command line that clap cannot see.
#[derive(Debug)]
struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The person pressed Ctrl-C at a question: nothing more is done.
#[derive(Debug)]
pub(super) struct Interruption;

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted; nothing was written")
    }
}

impl std::error::Error for Interruption {}

/// An error that is the command line's fault.
pub(super) fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// A fault of the command line or the configuration and, separately, its fix.
pub(super) fn usage_with_help(fault: impl fmt::Display, help: impl fmt::Display) -> anyhow::Error {
    usage(format!("{fault}{HELP}{help}"))
}

/// A fault and, separately, its fix.
pub(super) fn with_help(fault: impl fmt::Display, help: impl fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("{fault}{HELP}{help}")
}

/// Prints an error on standard error or as JSON, and returns its exit code.
pub(super) fn report(error: &anyhow::Error, output: &Output) -> ExitCode {
    if error.is::<Interruption>() {
        output.complain(&error.to_string());
        return ExitCode::from(stop::INTERRUPTED);
    }
    if output.is_json() {
        output.json(&as_json(error));
    } else {
        output.error(&error.to_string());
        for cause in error.chain().skip(1) {
            output.complain(&format!("  because: {cause}"));
        }
    }
    if is_usage(error) { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
}

/// Whether the command line or the configuration is at fault.
fn is_usage(error: &anyhow::Error) -> bool {
    config_error(error).is_some()
        || error.is::<Usage>()
        || matches!(error.downcast_ref(), Some(OperationError::Invalid(_)))
        || is_unreadable_file(error)
        || is_set_up_wrongly(error)
}

/// A client's file that cannot be read counts as a configuration that cannot.
fn is_unreadable_file(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(SetupError::File { act: "read", .. }))
}

/// An error of a set-up that the user can fix on the command line or in a file.
fn is_set_up_wrongly(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<SetupError>(),
        Some(
            SetupError::Config(_)
                | SetupError::NoHome
                | SetupError::NotAppendable { .. }
                | SetupError::Uneditable { .. }
        )
    )
}

/// The fault and the help separately, and every fault of a configuration by itself.
fn as_json(error: &anyhow::Error) -> Value {
    if let Some(faults) = faults(error).filter(|faults| !faults.is_empty()) {
        return json!({ "error": "the configuration is wrong", "faults": faults });
    }
    let causes: Vec<_> = error.chain().skip(1).map(ToString::to_string).collect();
    let text = error.to_string();
    match text.split_once(HELP) {
        Some((fault, help)) => json!({ "error": fault, "help": help, "causes": causes }),
        None => json!({ "error": text, "causes": causes }),
    }
}

fn config_error(error: &anyhow::Error) -> Option<&ConfigError> {
    error.downcast_ref::<ConfigError>().or_else(|| match error.downcast_ref::<AppError>() {
        Some(AppError::Config(error)) => Some(error),
        _ => None,
    })
}

fn faults(error: &anyhow::Error) -> Option<&[Fault]> {
    config_error(error).map(ConfigError::faults)
}
