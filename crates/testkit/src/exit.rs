//! How the servers of this crate say why they end.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

/// The exit code after arguments that make no sense, as is usual for command lines.
const USAGE_EXIT: u8 = 2;

/// Writes an error with its causes to stderr, behind the name of who failed.
pub(crate) fn fail(server: &str, error: &dyn Error) -> ExitCode {
    complain(&format!("{server}: {error}"));
    let mut source = error.source();
    while let Some(cause) = source {
        complain(&format!("  because {cause}"));
        source = cause.source();
    }
    ExitCode::from(USAGE_EXIT)
}

/// Writes one line to stderr; nobody may be listening.
pub(crate) fn complain(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}
