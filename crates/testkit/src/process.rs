//! The fixture as a process of its own.

use std::process::ExitCode;

use crate::exit::{complain, fail};
use crate::fixture::{Behaviour, COMMAND, Fixture, StartMode, Transport, serve_stdio};
use crate::http::serve_process;

/// Serves as the fixture if the first argument is `fixture` and a flag follows; else `None`.
///
/// Makes its own runtime, so `main` must not be inside one.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1).peekable();
    if args.next().as_deref() != Some(COMMAND) || !args.peek()?.starts_with("--") {
        return None;
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Some(fail(COMMAND, &error)),
    };
    let code = runtime.block_on(run_from_args(args));
    // A read of stdin may be under way in a thread that nothing can stop, and calls that still run
    // were not cancelled: the process just ends.
    std::mem::forget(runtime);
    Some(code)
}

/// Serves as the fixture with these flags until its peer has gone.
///
/// On stdio the order of the log is the order of arrival only on a single-threaded runtime.
pub async fn run_from_args(args: impl Iterator<Item = String>) -> ExitCode {
    let fixture = match Fixture::from_args(args) {
        Ok(fixture) => fixture,
        Err(error) => return fail(COMMAND, &error),
    };
    if let Some(code) = start_faults(&fixture.behaviour) {
        return code;
    }
    let served = match fixture.behaviour.transport {
        Transport::Stdio => serve_stdio(fixture).await,
        Transport::Http => serve_process(fixture).await,
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(COMMAND, &error),
    }
}

fn start_faults(behaviour: &Behaviour) -> Option<ExitCode> {
    for line in 1..=behaviour.stderr_lines {
        complain(&format!("fixture: stderr line {line}"));
    }
    match behaviour.start {
        StartMode::Exit(code) => {
            complain(&format!("fixture: exiting with {code} as asked"));
            Some(ExitCode::from(code))
        }
        StartMode::Serve | StartMode::Hang | StartMode::GarbageOnly => None,
    }
}
