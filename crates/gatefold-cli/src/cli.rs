//! The command line: what each command does, and everything that is printed.

mod access_tokens;
mod accounts;
mod approvals;
mod arguments;
mod call;
mod calls;
mod catalogue;
mod chat;
mod check;
mod chosen_model;
mod command_line;
mod completions;
mod config;
mod connect;
mod control;
mod demo;
mod descriptors;
mod disconnect;
mod doctor;
mod eval;
mod failure;
mod import;
mod index;
mod init;
#[cfg(feature = "knowledge")]
mod knowledge;
mod log;
mod logs;
mod loopback;
mod manual;
mod memory;
mod model;
mod model_options;
mod models;
mod output;
mod paths;
mod progress;
mod prompt;
mod prose;
mod queries;
mod reload;
mod runs;
mod secret;
mod serve;
mod session;
mod skills;
mod sources;
mod status;
mod stderr;
mod stdio;
mod stop;
mod surface;
mod table;
mod terminal;
mod threads;
mod tokens;
mod tools;
mod users;
mod visible;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use gatefold::Environment;
use gatefold_setup::{SourceSwitch, secrets};
use tokio::runtime::Builder;
use tracing_subscriber::EnvFilter;

use command_line::{Command, CommandLine};
use log::LogQueue;
use output::Output;

/// How long threads that wait for input or a lookup may delay the exit of the process.
const ENDING: Duration = Duration::from_millis(100);

/// The demo's servers run in this same program on rmcp, which logs every request. Those logs appear
/// only if a filter names rmcp; nothing else here uses it.
const QUIET: &str = "rmcp=off";

/// Runs the command line and returns the exit code: 0 if all went well, 1 if something failed, 2 if
/// the command line or the configuration is wrong.
pub(crate) fn run() -> ExitCode {
    completions::answer();
    let arguments = manual::parse();
    let environment = Environment::of_process().with_secrets(secrets::system());
    let is_json = arguments.command.is_json();
    let output = Output::new(&environment, arguments.shared.color, is_json);
    let result = on_a_runtime(&arguments, &environment, &output);
    result.unwrap_or_else(|error| failure::report(&error, &output))
}

fn on_a_runtime(
    arguments: &CommandLine,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let log = start_logs(arguments, environment)?;
    let mut builder = match arguments.command {
        Command::DemoServer { .. } | Command::CountTokens { .. } => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().context("no runtime could be started")?;
    let result = runtime.block_on(async {
        stop::outlive_full_files().context("a signal could not be handled")?;
        Box::pin(dispatch(arguments, environment, output)).await
    });
    runtime.shutdown_timeout(ENDING);
    if let Some(log) = log {
        log.flush();
    }
    result
}

async fn dispatch(
    arguments: &CommandLine,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let shared = &arguments.shared;
    match &arguments.command {
        Command::Serve(serve) => serve::run(serve, shared, environment).await,
        Command::Stdio(arguments) => stdio::run(arguments, shared, environment).await,
        Command::Add(it) => sources::add(it, shared, environment, output).await,
        Command::List(_) => sources::list(shared, environment, output),
        Command::Remove(it) => sources::remove(it, shared, environment, output).await,
        Command::Enable(it) => {
            sources::switch(it, SourceSwitch::On, shared, environment, output).await
        }
        Command::Disable(it) => {
            sources::switch(it, SourceSwitch::Off, shared, environment, output).await
        }
        Command::Import(import) => import::run(import, shared, environment, output),
        Command::Connect(connect) => connect::run(connect, shared, environment, output).await,
        Command::Disconnect(it) => disconnect::run(it, shared, environment, output),
        Command::Check(it) => check::run(it, shared, environment, output).await,
        Command::Doctor(it) => doctor::run(it, shared, environment, output).await,
        Command::Tools(tools) => tools::run(tools, shared, environment, output).await,
        Command::Eval(eval) => eval::run(eval, shared, environment, output).await,
        Command::Surface(it) => surface::run(it, shared, environment, output).await,
        Command::Skills(it) => skills::run(it, shared, environment, output),
        #[cfg(feature = "knowledge")]
        Command::Knowledge(it) => Box::pin(knowledge::run(it, shared, environment, output)).await,
        Command::Index(it) => index::run(it, shared, environment, output).await,
        Command::Chat(it) => Box::pin(chat::run(it, shared, environment, output)).await,
        Command::Models(it) => models::run(it, shared, environment, output).await,
        Command::Model(it) => model::run(it, shared, environment, output).await,
        Command::Approvals(it) => approvals::run(it, shared, environment, output).await,
        Command::Calls(it) => calls::run(it, shared, environment, output).await,
        Command::Logs(it) => logs::run(it, shared, environment, output).await,
        Command::Queries(it) => queries::run(it, shared, environment, output).await,
        Command::Runs(it) => Box::pin(runs::run(it, shared, environment, output)).await,
        Command::Threads(it) => threads::run(it, shared, environment, output).await,
        Command::Status(status) => status::run(status, shared, environment, output).await,
        Command::Login(it) => accounts::login(it, shared, environment, output).await,
        Command::Logout(it) => accounts::logout(it, shared, environment, output).await,
        Command::Accounts(it) => accounts::list(it, shared, environment, output).await,
        Command::Token(it) => access_tokens::run(it, shared, environment, output).await,
        Command::User(it) => users::run(it, shared, environment, output).await,
        Command::Secret(secret) => secret::run(secret, shared, environment, output).await,
        Command::Init(init) => init::run(init, shared, environment, output),
        Command::Config(command) => config::run(command, shared, environment, output).await,
        Command::Demo(demo) => demo::run(demo, shared, environment, output).await,
        Command::DemoServer { name, scratch } => {
            gatefold_demo::serve_stdio(name, scratch).await?;
            Ok(ExitCode::SUCCESS)
        }
        Command::CountTokens { vocabularies } => tokens::count_lines(vocabularies),
        Command::Completions { shell } => completions::script(*shell),
        Command::Man { dir } => manual::pages(dir.as_deref(), environment),
    }
}

/// Sends logs to standard error, because standard output is for results and the protocol. A command
/// that serves gets a queue for them. The others write directly, so that their output stays in
/// order.
fn start_logs(
    arguments: &CommandLine,
    environment: &Environment,
) -> anyhow::Result<Option<LogQueue>> {
    let filter = arguments.shared.log.as_deref();
    let filter = filter.unwrap_or_else(|| arguments.command.default_log());
    let with_default = format!("{QUIET},{filter}");
    let filter = EnvFilter::try_new(with_default).map_err(|error| {
        failure::usage(format!(
            "`--log {filter}` is not a filter: {error}\n  help: write a level, such as `info`, or \
             `gatefold_mcp=debug,warn`"
        ))
    })?;
    let has_colour = output::allows_colour(arguments.shared.color, environment, &std::io::stderr());
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(has_colour);
    if !arguments.command.serves() {
        log.with_writer(|| stderr::Log).init();
        return Ok(None);
    }
    let queue = LogQueue::start().context("the log's thread could not be started")?;
    log.with_writer(queue.clone()).init();
    Ok(Some(queue))
}
