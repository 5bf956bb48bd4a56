//! Measuring how well tools are found.

mod catalog;
mod search;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use gatefold::Environment;

use super::arguments::{Format, ModeName, SharedOptions};
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
}

#[derive(Debug, Args)]
pub(crate) struct EvalSearch {
    /// The tools to search [default: those of the configured sources]
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// The requests, with the tools that fit each
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Also use the sentence encoder in this folder or file; without `--tools`, `gatefold.toml` can
    /// name one too
    #[arg(long, value_name = "PATH", requires = "tools")]
    encoder: Option<PathBuf>,
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

impl Eval {
    pub(super) fn format(&self) -> &Format {
        match self {
            Self::Search(search) => &search.format,
            Self::Catalog(catalog) => &catalog.format,
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
        }
    })
    .await
}
