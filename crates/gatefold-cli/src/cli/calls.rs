//! `gatefold calls`: the record of calls.

mod report;

use std::process::ExitCode;

use clap::{Args, Subcommand, value_parser};
use gatefold::Environment;
use gatefold_operations::{CallFilter, LISTED, ListCalls, StateOperations};
use serde_json::json;

use super::arguments::{Format, SharedOptions};
use super::output::Output;
use super::{control, session, stop};

#[derive(Debug, Args)]
pub(crate) struct Calls {
    #[command(subcommand)]
    one: Option<OneCall>,
    /// The most calls to show: the latest ones
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    #[arg(value_parser = value_parser!(u32).range(0..=i64::from(LISTED)))]
    limit: u32,
    /// Go on with each further call when it ends; Ctrl-C leaves
    #[arg(long, short)]
    follow: bool,
    /// Only calls that failed, were cancelled or were cut off
    #[arg(long)]
    failed: bool,
    /// Only calls of this tool, by its id; `*` stands for any characters
    #[arg(long, value_name = "PATTERN")]
    tool: Option<String>,
    /// Instead of calls, what models looked up: which schemas were shown, to whom, when
    #[arg(long, conflicts_with_all = ["follow", "failed", "tool"])]
    discoveries: bool,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OneCall {
    /// Show all that is on record of one call
    #[command(after_long_help = "Example:\n  gatefold calls show 5f2c91aa")]
    Show {
        /// The call's id, or its last digits
        id: String,
        #[command(flatten)]
        format: Format,
    },
}

impl Calls {
    pub(super) fn is_json(&self) -> bool {
        match &self.one {
            Some(OneCall::Show { format, .. }) => format.json,
            None => self.format.json,
        }
    }

    fn request(&self) -> ListCalls {
        let (tool, only_failed) = (self.tool.clone(), self.failed);
        let filter = CallFilter { tool, only_failed, ..CallFilter::default() };
        ListCalls { limit: self.limit, filter }
    }
}

/// Reads the records from disk, so no gateway needs to run. A running gateway uses the same files,
/// and writes the end of a call there within milliseconds.
pub(super) async fn run(
    calls: &Calls,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let state_dir = control::locate(shared, environment).await?.state_dir;
    let request = calls.request();
    session::with_state(&state_dir, async |state| match &calls.one {
        Some(OneCall::Show { id, .. }) => show(state, id, output).await,
        None if calls.follow => {
            let stop = stop::on_signal()?;
            let following = follow(state, &request, output);
            stop.run_until_cancelled(following).await.unwrap_or(Ok(()))
        }
        None if calls.discoveries => discoveries(state, calls.limit, output).await,
        None => list(state, &request, output).await,
    })
    .await
}

async fn list(state: &StateOperations, request: &ListCalls, output: &Output) -> anyhow::Result<()> {
    let records = state.calls(request).await?;
    if output.is_json() {
        output.json(&json!({ "calls": records }));
    } else {
        output.lines(&report::table(&records, output.style()));
    }
    Ok(())
}

/// Shows the latest calls, and then each further one when it ends or waits for its client.
async fn follow(
    state: &StateOperations,
    request: &ListCalls,
    output: &Output,
) -> anyhow::Result<()> {
    let (mut records, mut calls) = state.follow_calls(request).await?;
    loop {
        for record in &records {
            if output.is_json() {
                output.json_line(record);
            } else {
                output.line(&report::line(record, output.style()));
            }
        }
        if output.is_gone() {
            return Ok(());
        }
        records = calls.next().await?;
    }
}

async fn discoveries(state: &StateOperations, limit: u32, output: &Output) -> anyhow::Result<()> {
    let found = state.discoveries(limit).await?;
    if output.is_json() {
        output.json(&json!({ "discoveries": found }));
    } else {
        output.lines(&report::discoveries(&found, output.style()));
    }
    Ok(())
}

async fn show(state: &StateOperations, id: &str, output: &Output) -> anyhow::Result<()> {
    let record = state.call(id).await?;
    if output.is_json() {
        output.json(&json!({ "call": record }));
    } else {
        output.lines(&report::details(&record, output.style()));
    }
    Ok(())
}
