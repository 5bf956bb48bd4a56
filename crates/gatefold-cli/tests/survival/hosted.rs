//! A process that begins a run of its gateway and waits for its end.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use gatefold::config::{Inputs, load};
use gatefold::{Environment, NewAgentRun, RunConversation, RunLife, RunOrigin};
use gatefold_core::SystemClock;
use gatefold_model::UserMessage;

use crate::scratch::Scratch;

pub(crate) const COMMAND: &str = "hosted-run";

/// The process, with the state directory and the configuration that the binary has by default.
pub(crate) fn command(scratch: &Scratch, message: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([COMMAND, scratch.path().to_str().unwrap(), message]).current_dir(scratch.path());
    command
}

pub(crate) fn begin_and_wait(arguments: &[String]) -> ExitCode {
    let [directory, message] = arguments else { return ExitCode::FAILURE };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(begin(Path::new(directory), message));
    ExitCode::SUCCESS
}

async fn begin(directory: &Path, message: &str) {
    let home = directory.to_str().unwrap();
    let environment = Environment::new([("HOME", home), ("PATH", "/usr/bin:/bin")], directory);
    let inputs = Inputs { config: Some(PathBuf::from("gatefold.toml")), ..Inputs::default() };
    let config = load(&inputs, &environment).unwrap();
    let state = directory.join(".local/state/gatefold");
    let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    app.keep_learning();
    app.await_first_tools().await;
    let begun = app.runs().begin(NewAgentRun {
        principal: app.local_user(),
        agent: None,
        model: None,
        conversation: RunConversation::New,
        message: UserMessage::text(message).unwrap(),
        instructions: None,
        origin: RunOrigin::Api,
        life: RunLife::Lasting,
    });
    let run = begun.await.unwrap().run;
    run.done().await;
    app.close().await;
}
