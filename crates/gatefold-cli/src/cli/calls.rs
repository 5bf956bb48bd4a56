//! `gatefold calls`: the record of calls.

mod following;
mod report;

use std::process::ExitCode;

use clap::{Args, Subcommand, value_parser};
use gatefold::Environment;
use gatefold_store::{CallFilter, CallRecord, Store, StoreOptions};
use serde_json::json;

use super::arguments::{Format, SharedOptions};
use super::failure::with_help;
use super::output::Output;
use super::{control, stop};

/// How many calls one command shows at most.
const SHOWN: i64 = 10_000;

/// The fewest digits of an id to look for: fewer would match too many.
const ID_DIGITS: usize = 4;

/// How many calls to read to see whether digits match exactly one.
const FITTING: u32 = 2;

#[derive(Debug, Args)]
pub(crate) struct Calls {
    #[command(subcommand)]
    one: Option<OneCall>,
    /// The most calls to show: the latest ones
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    #[arg(value_parser = value_parser!(u32).range(0..=SHOWN))]
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

    fn filter(&self) -> CallFilter {
        let (tool, only_failed) = (self.tool.clone(), self.failed);
        CallFilter { tool, only_failed, ..CallFilter::default() }
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
    let store = Store::open(&state_dir, StoreOptions::keeping_all()).await?;
    let done = match &calls.one {
        Some(OneCall::Show { id, .. }) => show(&store, id, output).await,
        None if calls.follow => {
            let stop = stop::on_signal()?;
            let filter = calls.filter();
            let following = following::follow(&store, calls.limit, &filter, output);
            stop.run_until_cancelled(following).await.unwrap_or(Ok(()))
        }
        None if calls.discoveries => discoveries(&store, calls.limit, output).await,
        None => list(&store, calls, output).await,
    };
    store.close().await?;
    done.map(|()| ExitCode::SUCCESS)
}

async fn list(store: &Store, calls: &Calls, output: &Output) -> anyhow::Result<()> {
    let mut records = store.recent_calls(calls.limit, &calls.filter()).await?;
    records.reverse();
    if output.is_json() {
        output.json(&json!({ "calls": records }));
    } else {
        output.lines(&report::table(&records, output.style()));
    }
    Ok(())
}

async fn discoveries(store: &Store, limit: u32, output: &Output) -> anyhow::Result<()> {
    let mut found = store.recent_discoveries(limit).await?;
    found.reverse();
    if output.is_json() {
        output.json(&json!({ "discoveries": found }));
    } else {
        output.lines(&report::discoveries(&found, output.style()));
    }
    Ok(())
}

async fn show(store: &Store, id: &str, output: &Output) -> anyhow::Result<()> {
    let record = find(store, id).await?;
    if output.is_json() {
        output.json(&json!({ "call": record }));
    } else {
        output.lines(&report::details(&record, output.style()));
    }
    Ok(())
}

async fn find(store: &Store, id: &str) -> anyhow::Result<CallRecord> {
    let unknown = || {
        with_help(
            format!("no call with the id `{id}` is on record"),
            "`gatefold calls` shows the last digits of each; all of an id, or its last digits, will do",
        )
    };
    if id.len() < ID_DIGITS || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(unknown());
    }
    let mut fitting = store.calls_by_id(id, FITTING).await?;
    if fitting.len() > 1 {
        return Err(with_help(
            format!("several calls have an id that ends with `{id}`"),
            "give more digits; `gatefold calls --json` has all of them",
        ));
    }
    fitting.pop().ok_or_else(unknown)
}
