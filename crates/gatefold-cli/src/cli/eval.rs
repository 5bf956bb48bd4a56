//! Measuring how well tools are found, and how well a model gets on with them.

mod agent;
mod catalog;
mod encoder;
mod search;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum, value_parser};
use gatefold::Environment;
use gatefold_model::ToolCalls;

use super::arguments::{Format, ModeName, SharedOptions};
use super::model_options::ModelOptions;
use super::output::Output;
use super::stop;

#[derive(Debug, Subcommand)]
pub(crate) enum Eval {
    /// Measure how often a search finds the right tool
    ///
    /// A line of the requests is a JSON object with `id`, `text` and `relevant`, the ids of the
    /// tools that fit. A line of the tools has `id`, `name` and `description`, and optionally
    /// `schema`, `server`, `server_title`, `server_description` and `category`.
    #[command(after_long_help = "Example:\n  gatefold eval search --queries requests.jsonl --json")]
    Search(EvalSearch),
    /// Find tools that are hard to tell apart or hard to find, with advice
    #[command(
        after_long_help = "Example:\n  gatefold eval catalog --mcp-config ~/.cursor/mcp.json"
    )]
    Catalog(EvalCatalog),
    /// Run tasks through a model, once for each way to show tools, and compare how it does
    ///
    /// A line of the tasks is a JSON object with `request` and `tools`, the ids of the tools that
    /// fit, or an empty list if the task needs none. It may have `arguments`, members that a call
    /// must have; `check`, a text that the last answer must contain, or an object with `contains` or
    /// `lacks`; `calls`, how many calls it takes (1); and `before`, what was said earlier: a list of
    /// objects with `user` and `assistant`.
    ///
    /// The model is any that answers to OpenAI's chat completions or Anthropic's messages. Its calls
    /// are real ones, with their rights and records. Calls of tools that do not say `readOnlyHint:
    /// true` are refused unless `--allow-writes` is given; a refused call still counts as the model's
    /// choice. With `--allow-writes`, each disclosure's calls take effect before the next one's.
    #[command(after_long_help = "Example:\n  gatefold eval agent tasks.jsonl --model-url \
            http://127.0.0.1:8080/v1 --model qwen3")]
    Agent(EvalAgent),
}

#[derive(Debug, Args)]
pub(crate) struct EvalSearch {
    /// The tools to search [default: those of the configured sources]
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// The requests, with the tools that fit each
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// The sentence encoder: `builtin`, `none`, or a folder or file [default: `builtin`; for the
    /// configured sources `search.encoder`]
    #[arg(long, value_name = "PATH", requires = "tools")]
    encoder: Option<String>,
    /// How tools are ranked
    #[arg(long, value_enum, default_value_t)]
    mode: ModeName,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct EvalCatalog {
    /// The most tools to list of each kind
    #[arg(long, default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct EvalAgent {
    /// The tasks, one JSON object a line
    #[arg(value_name = "TASKS")]
    tasks: PathBuf,
    #[command(flatten)]
    model: ModelOptions,
    /// A way to show tools; may be given more than once, and the others are compared with the first
    /// [default: all of them]
    #[arg(long, value_name = "NAME")]
    disclosure: Vec<String>,
    /// The most answers of the model in one task
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = value_parser!(u16).range(1..=100))]
    turns: u16,
    /// How the model calls tools
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    tool_calls: ToolCallsName,
    /// Also make calls of tools that may change something
    #[arg(long)]
    allow_writes: bool,
    #[command(flatten)]
    format: Format,
}

/// How a model calls tools.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum ToolCallsName {
    /// As its API has it, and as JSON where the endpoint says that it cannot
    #[default]
    Auto,
    /// As its API has it
    Native,
    /// As a JSON object, whose form the endpoint forces if it can
    Json,
}

impl From<ToolCallsName> for ToolCalls {
    fn from(name: ToolCallsName) -> Self {
        match name {
            ToolCallsName::Auto => Self::Auto,
            ToolCallsName::Native => Self::Native,
            ToolCallsName::Json => Self::Json,
        }
    }
}

impl Eval {
    pub(super) fn format(&self) -> &Format {
        match self {
            Self::Search(search) => &search.format,
            Self::Catalog(catalog) => &catalog.format,
            Self::Agent(agent) => &agent.format,
        }
    }
}

pub(super) async fn run(
    eval: &Eval,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        match eval {
            Eval::Search(asked) => search::run(asked, shared, environment, output).await,
            Eval::Catalog(asked) => catalog::run(asked, shared, environment, output).await,
            Eval::Agent(asked) => agent::run(asked, shared, environment, output).await,
        }
    })
    .await
}
