//! The command line: what each command does, and everything that is printed.

mod approvals;
mod arguments;
mod call;
mod catalogue;
mod check;
mod command_line;
mod config;
mod connect;
mod demo;
mod descriptors;
mod disconnect;
mod doctor;
mod eval;
mod failure;
mod import;
mod init;
mod loopback;
mod manual;
mod memory;
mod model;
mod output;
mod paths;
mod progress;
mod prompt;
mod prose;
mod queries;
mod reload;
mod secret;
mod serve;
mod session;
mod status;
mod stderr;
mod stdio;
mod stop;
mod table;
mod tokens;
mod tools;
mod visible;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use gatefold::Environment;
use gatefold_setup::secrets;
use tokio::runtime::Builder;
use tracing_subscriber::EnvFilter;

use command_line::{Command, CommandLine};
use output::Output;

/// How long threads that wait for input or a lookup may delay the end of the process.
const ENDING: Duration = Duration::from_millis(100);

/// The demo's servers are this very program, and rmcp, which carries them, logs each request that it
/// sees. That shows only when a filter names it; nothing else here has rmcp.
const QUIET: &str = "rmcp=off";

/// Runs the command line and returns the exit code: 0 if all went well, 1 if something failed, 2 if
/// the command line or the configuration is wrong.
pub(crate) fn run() -> ExitCode {
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
    start_logs(arguments, environment)?;
    let mut builder = match arguments.command {
        Command::DemoServer { .. } | Command::CountTokens => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().context("no runtime could be started")?;
    let result = runtime.block_on(async {
        stop::outlive_full_files().context("a signal could not be handled")?;
        dispatch(arguments, environment, output).await
    });
    runtime.shutdown_timeout(ENDING);
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
        Command::Import(import) => import::run(import, shared, environment, output),
        Command::Connect(connect) => connect::run(connect, shared, environment, output).await,
        Command::Disconnect(it) => disconnect::run(it, shared, environment, output),
        Command::Check(it) => check::run(it, shared, environment, output).await,
        Command::Doctor(it) => doctor::run(it, shared, environment, output).await,
        Command::Tools(tools) => tools::run(tools, shared, environment, output).await,
        Command::Eval(eval) => eval::run(eval, shared, environment, output).await,
        Command::Model(it) => model::run(it, shared, environment, output).await,
        Command::Approvals(it) => approvals::run(it, shared, environment, output).await,
        Command::Queries(it) => queries::run(it, shared, environment, output).await,
        Command::Status(status) => status::run(status, shared, environment, output).await,
        Command::Secret(secret) => secret::run(secret, output).await,
        Command::Init(init) => init::run(init, shared, environment, output),
        Command::Config(command) => config::run(command, shared, environment, output),
        Command::Demo(demo) => demo::run(demo, shared, environment, output).await,
        Command::DemoServer { name, scratch } => {
            gatefold_demo::serve_stdio(name, scratch).await?;
            Ok(ExitCode::SUCCESS)
        }
        Command::CountTokens => tokens::count_lines(),
        Command::Completions { shell } => Ok(manual::completions(*shell)),
        Command::Man { dir } => manual::pages(dir.as_deref(), environment),
    }
}

/// Sends logs to standard error, because standard output is for results and the protocol.
fn start_logs(arguments: &CommandLine, environment: &Environment) -> anyhow::Result<()> {
    let filter = arguments.shared.log.as_deref();
    let filter = filter.unwrap_or_else(|| arguments.command.default_log());
    let with_default = format!("{QUIET},{filter}");
    let filter = EnvFilter::try_new(with_default).map_err(|error| {
        failure::usage(format!(
            "`--log {filter}` is not a filter: {error}\n  help: write a level, such as `info`, or \
             `gatefold_mcp=debug,warn`"
        ))
    })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| stderr::Log)
        .with_ansi(output::allows_colour(arguments.shared.color, environment, &std::io::stderr()))
        .init();
    Ok(())
}
