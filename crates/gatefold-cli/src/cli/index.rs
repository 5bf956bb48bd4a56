//! `gatefold index`: texts by which searches find tools.

mod describing;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use gatefold::{Environment, read_texts, texts_file};
use gatefold_catalog::{Pattern, RetrievalTexts, Tool, View};
use gatefold_model::ModelClient;
use gatefold_operations::complete;
use gatefold_setup as setup;
use serde::Serialize;

use super::arguments::{Format, SharedOptions};
use super::failure::with_help;
use super::model_options::ModelOptions;
use super::output::Output;
use super::progress::Progress;
use super::table::number_of;
use super::{catalogue, session, stop};

/// Where the texts are, beside the configuration, unless it names another file.
const FILE: &str = "retrieval.toml";

/// After so many tools the file is written, so that little is lost when the command is stopped.
const SAVED_AFTER: usize = 10;

/// After so many failures in a row the others are left.
const FAILURES_IN_A_ROW: usize = 5;

#[derive(Debug, Subcommand)]
pub(crate) enum Index {
    /// Have a model write a summary and a few requests for each tool, by which it is found
    ///
    /// The model is any that answers to OpenAI's chat completions or Anthropic's messages; a small local
    /// one will do. It reads the definitions of the tools, and nothing else. Tools that have texts for their present
    /// definition are left as they are. The file is for people to read, edit and commit; `search.texts`
    /// in `gatefold.toml` puts it to use.
    #[command(after_long_help = "Example:\n  gatefold index describe --model-url \
            http://127.0.0.1:8080/v1 --model qwen3 --only 'tickets__*'")]
    Describe(Describe),
}

#[derive(Debug, Args)]
pub(crate) struct Describe {
    #[command(flatten)]
    model: ModelOptions,
    /// Only these tools, by patterns over their ids
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,
    /// Write new texts also for tools that have some
    #[arg(long)]
    again: bool,
    /// The file [default: `search.texts`, or else `retrieval.toml` beside the configuration]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

impl Index {
    pub(super) fn format(&self) -> &Format {
        let Self::Describe(describe) = self;
        &describe.format
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct DescribeReport {
    file: PathBuf,
    /// Tools that have new texts.
    described: usize,
    /// Tools that had texts and kept them.
    kept: usize,
    failed: Vec<FailedTool>,
    /// Whether the configuration puts this file to use.
    in_use: bool,
}

#[derive(Serialize)]
struct FailedTool {
    tool: String,
    reason: String,
}

pub(super) async fn run(
    index: &Index,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let Index::Describe(asked) = index;
    stop::unless_stopped(Box::pin(describe(asked, shared, environment, output))).await
}

async fn describe(
    asked: &Describe,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let model = asked.model.client(environment)?;
    let app = session::open(shared, environment).await?.app;
    let config = app.config();
    let usual = config.search.texts.clone();
    let path = match (&asked.file, &usual, config.files.first()) {
        (Some(file), ..) => environment.directory().join(file),
        (None, Some(usual), _) => usual.clone(),
        (None, None, Some(config)) => config.with_file_name(FILE),
        (None, None, None) => environment.directory().join(FILE),
    };
    let mut file = TextFile::read(path)?;
    let left_out = complete(&app, &Progress::new(output, "learning"), |_| false).await;
    catalogue::warn_of(&left_out, output);
    let written = write(asked, &mut file, app.pin().view(), &model, output).await;
    app.close().await;
    let report = DescribeReport { in_use: usual == Some(file.path.clone()), ..written? };
    if output.is_json() {
        output.json(&report);
    } else {
        print(&report, output);
    }
    let is_whole = left_out.is_empty() && report.failed.is_empty();
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Has the model write what is missing.
async fn write(
    asked: &Describe,
    file: &mut TextFile,
    view: &View,
    model: &ModelClient,
    output: &Output,
) -> anyhow::Result<DescribeReport> {
    let only: Vec<_> = asked.only.iter().map(|text| Pattern::new(text)).collect();
    let is_meant = |tool: &&Tool| {
        let goes_by = |pattern: &Pattern| tool.target().goes_by(|name| pattern.matches(name));
        only.is_empty() || only.iter().any(goes_by)
    };
    let (known, missing): (Vec<_>, Vec<_>) =
        view.tools().filter(is_meant).partition(|tool| file.has(tool) && !asked.again);
    let progress = Progress::new(output, "describing");
    let (mut described, mut failed, mut in_a_row) = (0, Vec::new(), 0);
    for tool in missing {
        let id = tool.id().as_str();
        progress.begin(id);
        let written = describing::describe(tool, model).await;
        progress.end(id);
        match written {
            Ok(texts) => {
                in_a_row = 0;
                if !file.texts.insert(id, texts) {
                    let most = RetrievalTexts::TOOLS;
                    return Err(anyhow!("a file has texts of at most {most} tools; use `--only`"));
                }
                described += 1;
                if described % SAVED_AFTER == 0 {
                    file.save()?;
                }
            }
            Err(failure) => {
                in_a_row += 1;
                let is_final = failure.is_final || in_a_row == FAILURES_IN_A_ROW;
                failed.push(FailedTool { tool: id.to_owned(), reason: failure.reason });
                if is_final {
                    break;
                }
            }
        }
    }
    if described > 0 {
        file.save()?;
    }
    let path = file.path.clone();
    Ok(DescribeReport { file: path, described, kept: known.len(), failed, in_use: false })
}

/// The file of texts, as it was read and as it is to be.
struct TextFile {
    path: PathBuf,
    /// What another program must not have changed meanwhile.
    read: Option<String>,
    texts: RetrievalTexts,
}

impl TextFile {
    fn read(path: PathBuf) -> anyhow::Result<Self> {
        let help = "correct it, or name another with `--file`";
        let texts = read_texts(&path)
            .map_err(|error| with_help(format!("`{}`: {error}", path.display()), help))?;
        let (read, texts) = texts.unzip();
        Ok(Self { path, read, texts: texts.unwrap_or_default() })
    }

    /// Whether a tool has texts for its present definition.
    fn has(&self, tool: &Tool) -> bool {
        self.texts.fitting(tool.id().as_str(), tool.definition().digest()).is_some()
    }

    fn save(&mut self) -> anyhow::Result<()> {
        let text = texts_file(&self.texts);
        setup::write(&self.path, self.read.as_deref(), &text).context("the texts are not kept")?;
        self.read = Some(text);
        Ok(())
    }
}

fn print(report: &DescribeReport, output: &Output) {
    let DescribeReport { file, described, kept, failed, in_use } = report;
    for FailedTool { tool, reason } in failed {
        output.warning(&format!("{tool} has no texts: {reason}"));
    }
    let kept = match kept {
        0 => String::new(),
        kept => format!("; {} had texts", number_of(*kept, "tool")),
    };
    output.line(&format!("described {}{kept}", number_of(*described, "tool")));
    if *described > 0 {
        output.line(&format!("wrote {}", file.display()));
    }
    if *described > 0 && !in_use {
        let name = toml::Value::from(file.display().to_string());
        output.line("To use them, put this into gatefold.toml:");
        output.line(&format!("[search]\ntexts = {name}"));
    }
}
