//! `gatefold eval agent`: the same tasks through a real model, once for each way to show tools.

mod call_log;
mod conversation;
mod measures;
mod read_only;
mod report;
mod statistics;
mod tasks;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::anyhow;
use gatefold::config::load;
use gatefold::{App, Environment};
use gatefold_catalog::SearchMode;
use gatefold_core::{SystemClock, ToolName};
use gatefold_exchange::{Disclosures, Scope};
use gatefold_model::ModelClient;
use gatefold_operations::complete;

use super::EvalAgent;
use super::encoder::{configured_model, examine, prepare};
use crate::cli::arguments::SharedOptions;
use crate::cli::failure::{usage, with_help};
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::{catalogue, session};
use conversation::Stage;
use measures::{DisclosureRuns, MeasuredRun, Verdict};
use report::{AgentReport, FailedRun};
use tasks::{Task, read_tasks};

/// After so many failures in a row, a disclosure is given up.
const FAILURES_IN_A_ROW: usize = 5;

pub(super) async fn run(
    asked: &EvalAgent,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let mut tasks = read_tasks(&environment.directory().join(&asked.tasks))?;
    let model = asked.model.client_that_calls(asked.tool_calls.into(), environment)?;
    examine(configured_model(shared, environment)?.as_ref(), environment).await?;
    let app = open(asked, shared, environment).await?;
    let progress = Progress::new(output, "learning");
    let left_out = complete(&app, &progress, |_| false).await;
    catalogue::warn_of(&left_out, output);
    resolve_tools(&mut tasks, &app, output);
    drop(progress);
    let compared = async {
        if let Some(first) = tasks.first() {
            prepare(app.pin().view(), &first.request, SearchMode::Hybrid, output).await?;
        }
        compare(&tasks, asked, &model, &app, output).await
    };
    let compared = compared.await;
    app.close().await;
    let (measured, failures) = compared?;
    let report = AgentReport::new(&asked.model.model, &tasks, &measured, &failures);
    if output.is_json() {
        output.json(&report);
    } else {
        report.print(output);
    }
    let is_whole = left_out.is_empty() && failures.is_empty();
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A gateway of our own. It learns nothing from the calls: what one disclosure found would help the
/// next. Nor has it tools that no source has: what is measured is how sources' tools are shown.
async fn open(
    asked: &EvalAgent,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<App> {
    let mut config = load(&shared.inputs().located(environment)?, environment)?;
    config.search.learn = false;
    config.disclosure.builtin_tools.clear();
    let state_dir = session::state_dir(shared, &config, environment)?;
    let builder = if asked.allow_writes {
        App::builder(config, state_dir)
    } else {
        let config = read_only::asking_for_writes(config);
        App::builder(config, state_dir).approvals(Arc::new(read_only::NothingApproved))
    };
    Ok(builder.clock(Arc::new(SystemClock)).build().await?)
}

/// Puts ids in the place of other names, and warns of tools that nobody has.
fn resolve_tools(tasks: &mut [Task], app: &App, output: &Output) {
    let pinned = app.pin();
    let mut unknown = Vec::new();
    for task in tasks {
        for tool in &mut task.tools {
            let name = ToolName::parse(tool).ok();
            match name.and_then(|name| pinned.view().resolve(&name).ok()) {
                Some(found) => *tool = found.id().to_string(),
                None => unknown.push((task.line, tool.clone())),
            }
        }
    }
    if let Some((line, tool)) = unknown.first() {
        let count = unknown.len();
        output.warning(&format!(
            "{count} of the tools that fit cannot be called, such as `{tool}` in line {line}; no \
             call of them is right"
        ));
    }
}

/// The disclosures to compare, the first of which the others are compared with.
fn disclosures(asked: &EvalAgent) -> Vec<String> {
    if asked.disclosure.is_empty() {
        return Disclosures::OURS.map(str::to_owned).to_vec();
    }
    let mut names: Vec<String> = Vec::new();
    for name in &asked.disclosure {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

async fn compare(
    tasks: &[Task],
    asked: &EvalAgent,
    model: &ModelClient,
    app: &App,
    output: &Output,
) -> anyhow::Result<(Vec<DisclosureRuns>, Vec<FailedRun>)> {
    let names = disclosures(asked);
    let stages = names.iter().map(|name| stage(name, asked, model, app));
    let stages = stages.collect::<anyhow::Result<Vec<_>>>()?;
    let progress = Progress::new(output, "asking");
    let (mut measured, mut failures) = (Vec::new(), Vec::new());
    for (disclosure, stage) in names.into_iter().zip(stages) {
        let mut measurement = Measurement {
            stage,
            disclosure,
            runs: Vec::new(),
            failures: &mut failures,
            in_a_row: 0,
        };
        for task in tasks {
            measurement.measure(task, &progress).await?;
        }
        let Measurement { disclosure, runs, .. } = measurement;
        measured.push(DisclosureRuns { disclosure, runs });
    }
    Ok((measured, failures))
}

fn stage<'a>(
    disclosure: &str,
    asked: &EvalAgent,
    model: &'a ModelClient,
    app: &'a App,
) -> anyhow::Result<Stage<'a>> {
    let audience = app.exchange().audience(Scope::Everything, Some(disclosure));
    let audience = audience.map_err(|error| usage(error.to_string()))?;
    app.exchange()
        .turn(&audience, app.local_user())
        .ok_or_else(|| anyhow!("nothing can be shown"))?;
    Ok(Stage { app, model, audience, turns: u32::from(asked.turns) })
}

/// The tasks under one disclosure, so far.
struct Measurement<'a> {
    stage: Stage<'a>,
    disclosure: String,
    runs: Vec<Option<MeasuredRun>>,
    failures: &'a mut Vec<FailedRun>,
    in_a_row: usize,
}

impl Measurement<'_> {
    /// Measures one more task. Only what no further task can survive is an error.
    async fn measure(&mut self, task: &Task, progress: &Progress) -> anyhow::Result<()> {
        if self.in_a_row >= FAILURES_IN_A_ROW {
            let reason = format!("not tried after {FAILURES_IN_A_ROW} failures in a row");
            self.fail(task, reason);
            return Ok(());
        }
        let name = format!("line {}, {}", task.line, self.disclosure);
        progress.begin(&name);
        let result = self.stage.run(task.conversation.clone()).await;
        progress.end(&name);
        match result {
            Ok(run) => {
                let own = self.stage.app.pin();
                // The tool that reads on is the gateway's own, and not among what sources offer.
                let reads_on = |tool: &str| own.view().find(tool).is_none();
                let verdict = Verdict::of(task, &run, reads_on);
                self.runs.push(Some(MeasuredRun { run, verdict }));
                self.in_a_row = 0;
            }
            Err(failure) if failure.is_final => {
                let help = "check `--model-url`, `--model` and the key's variable";
                return Err(with_help(failure.reason, help));
            }
            Err(failure) => {
                self.in_a_row += 1;
                self.fail(task, failure.reason);
            }
        }
        Ok(())
    }

    fn fail(&mut self, task: &Task, reason: String) {
        let (line, disclosure) = (task.line, self.disclosure.clone());
        self.failures.push(FailedRun { line, disclosure, reason });
        self.runs.push(None);
    }
}
