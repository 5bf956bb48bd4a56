//! `gatefold approvals`: calls that need a person's approval, and the decision.

use std::io::{IsTerminal as _, stdin};
use std::process::{ExitCode, Stdio};

use clap::Subcommand;
use gatefold::Environment;
use gatefold_core::{Clock as _, SystemClock, Timestamp};
use gatefold_store::{ApprovalFilter, ApprovalRecord, Store, StoreError, StoreOptions};
use serde_json::json;
use tokio::process::Command;

use super::arguments::{Format, SharedOptions};
use super::failure::{usage, with_help};
use super::output::{Output, Style};
use super::table::Table;
use super::{session, stop};

/// The most requests to print.
const SHOWN: u32 = 10_000;

/// The most characters of a call's arguments in a table. `--json` shows everything that is stored.
const PREVIEW: usize = 120;

/// The longest reason for a denial, in bytes. It is shown to whoever asked, often a model.
const REASON_LIMIT: usize = 500;

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// List the calls that wait for approval
    #[command(after_long_help = "Example:\n  gatefold approvals list --json")]
    List {
        /// Also those decided, used or expired during the last day
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Approve one call: it succeeds once, when it is made again
    #[command(after_long_help = "Example:\n  gatefold approvals approve 7hq2-m4xk")]
    Approve {
        id: String,
        /// Let a program decide: without it, a yes is taken at a terminal only
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Deny one call
    #[command(
        after_long_help = "Example:\n  gatefold approvals deny 7hq2-m4xk --reason 'ask Ann first'"
    )]
    Deny {
        id: String,
        /// The reason that the caller is told
        #[arg(long, value_name = "TEXT", value_parser = reason)]
        reason: Option<String>,
        #[command(flatten)]
        format: Format,
    },
}

impl Approvals {
    pub(crate) fn format(&self) -> &Format {
        match self {
            Self::List { format, .. }
            | Self::Approve { format, .. }
            | Self::Deny { format, .. } => format,
        }
    }
}

fn reason(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        reason if reason.len() > REASON_LIMIT => {
            Err(format!("it is longer than {REASON_LIMIT} bytes"))
        }
        reason => Ok(reason.to_owned()),
    }
}

pub(super) async fn run(
    approvals: &Approvals,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if let Approvals::Approve { yes: false, .. } = approvals {
        refuse_without_terminal()?;
    }
    let state_dir = session::state_dir_alone(shared, environment)?;
    stop::unless_stopped(async {
        let store = Store::open(&state_dir, StoreOptions::keeping_all()).await?;
        let done = match approvals {
            Approvals::List { all, .. } => list(&store, *all, output).await,
            Approvals::Approve { id, .. } => {
                let decided = store.approve(id, &user_name().await).await;
                decided.map_err(undecided).map(|record| say(&record, output))
            }
            Approvals::Deny { id, reason, .. } => {
                let decided = store.deny(id, &user_name().await, reason.as_deref()).await;
                decided.map_err(undecided).map(|record| say(&record, output))
            }
        };
        store.close().await?;
        done.map(|()| ExitCode::SUCCESS)
    })
    .await
}

/// The refusal tells a model the id of its call, and a model may be able to run commands. This
/// keeps it from approving its own call in passing, though not from passing `--yes`.
fn refuse_without_terminal() -> anyhow::Result<()> {
    if stdin().is_terminal() {
        return Ok(());
    }
    Err(usage(
        "a person says yes at a terminal, and this is none\n  help: run it in a terminal; a program \
         that may decide adds `--yes`",
    ))
}

async fn list(store: &Store, all: bool, output: &Output) -> anyhow::Result<()> {
    let of = if all { ApprovalFilter::Every } else { ApprovalFilter::Pending };
    let records = store.approvals(of, SHOWN).await?;
    if output.is_json() {
        output.json(&json!({ "approvals": records }));
    } else {
        output.lines(&lines(&records, of, SystemClock.now(), output.style()));
    }
    Ok(())
}

/// Reports the decision.
fn say(record: &ApprovalRecord, output: &Output) {
    if output.is_json() {
        output.json(&json!({ "approval": record }));
        return;
    }
    let ApprovalRecord { id, tool, .. } = record;
    let left = span(record.expires_at, SystemClock.now());
    output.line(&match record.state.as_str() {
        "approved" => {
            format!("approved `{id}`: one call of `{tool}` with the same arguments, within {left}")
        }
        _ => format!("denied `{id}`: the same call of `{tool}` is refused for {left}"),
    });
}

fn undecided(error: StoreError) -> anyhow::Error {
    let help = match &error {
        StoreError::NoApproval(_) => "`gatefold approvals list` lists those that wait",
        StoreError::ApprovalExpired(_) => "have the client make the call again, which asks again",
        StoreError::ApprovalUsed(_) => "an approval is good for one call; the next call asks again",
        StoreError::ApprovalDecided { .. } => "`gatefold approvals list --all` shows how",
        _ => return error.into(),
    };
    with_help(error, help)
}

/// The name of the operating system's user who runs this, as its own tools print it.
async fn user_name() -> String {
    // User databases differ between systems, and the system's own command knows them all.
    let asked = Command::new("id").arg("-un").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let said = asked.await.ok().filter(|output| output.status.success());
    let name = said.and_then(|output| String::from_utf8(output.stdout).ok());
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
}

/// The lines printed for people.
fn lines(
    records: &[ApprovalRecord],
    of: ApprovalFilter,
    now: Timestamp,
    style: Style,
) -> Vec<String> {
    if records.is_empty() {
        return vec!["no call waits for approval".to_owned()];
    }
    let has_state = of == ApprovalFilter::Every;
    let heads = ["id", "tool", "state", "who", "asked", "expires", "arguments"];
    let heads = heads.into_iter().filter(|head| has_state || *head != "state").collect::<Vec<_>>();
    let mut table = Table::new(&heads).spare(if has_state { &[3, 4] } else { &[2, 3] });
    for record in records {
        let mut row = vec![style.strong(&record.id), record.tool.clone()];
        if has_state {
            row.push(state(record));
        }
        row.extend([who(record), format!("{} ago", span(now, record.requested_at))]);
        let is_over = record.expires_at <= now || record.state == "used";
        let left = || format!("in {}", span(record.expires_at, now));
        row.extend([if is_over { String::new() } else { left() }, preview(record)]);
        table.row(row);
    }
    let mut lines = table.lines(style);
    if of == ApprovalFilter::Pending {
        lines.push(String::new());
        let next = "decide with `gatefold approvals approve ID` or `gatefold approvals deny ID`";
        lines.extend(style.sentence(next, 2));
    }
    lines
}

fn state(record: &ApprovalRecord) -> String {
    match &record.decided_by {
        Some(by) => format!("{} by {by}", record.state),
        None => record.state.clone(),
    }
}

/// Who asks, from the person to the program.
fn who(record: &ApprovalRecord) -> String {
    let agent = record.agent.as_ref().map(|agent| format!(" through {agent}"));
    let client = record.client.as_ref().map(|client| format!(" with {client}"));
    let organisation = record.organisation.as_ref().map(|name| format!(" of {name}"));
    let parts = [organisation, agent, client].map(Option::unwrap_or_default);
    format!("{}{}", record.user, parts.concat())
}

fn preview(record: &ApprovalRecord) -> String {
    let Some(arguments) = &record.arguments else { return String::new() };
    let shown: String = arguments.get().chars().take(PREVIEW).collect();
    if shown.len() as u64 == record.arguments_bytes {
        return shown;
    }
    format!("{shown}... ({} bytes)", record.arguments_bytes)
}

/// The time between two timestamps, in the largest unit that is precise enough.
fn span(later: Timestamp, earlier: Timestamp) -> String {
    let seconds = later.as_millis().saturating_sub(earlier.as_millis()) / 1000;
    match seconds {
        0..90 => format!("{seconds} s"),
        90..5400 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_255_020_000);

    fn record(id: &str, tool: &str, state: &str, arguments: Option<&str>) -> ApprovalRecord {
        ApprovalRecord {
            id: id.to_owned(),
            state: state.to_owned(),
            tool: tool.to_owned(),
            domain: "mail".to_owned(),
            rule: "gatefold.toml:3".to_owned(),
            user: "local".to_owned(),
            organisation: None,
            agent: None,
            client: Some("claude-code".to_owned()),
            arguments: arguments.map(|text| RawValue::from_string(text.to_owned()).unwrap()),
            arguments_bytes: arguments.map_or(20, |text| text.len() as u64),
            arguments_digest: String::new(),
            requested_at: Timestamp::from_millis(NOW.as_millis() - 130_000),
            expires_at: Timestamp::from_millis(NOW.as_millis() + 470_000),
            decided_by: (state != "pending").then(|| "ann".to_owned()),
            decided_at: None,
            reason: None,
            used_at: None,
        }
    }

    #[test]
    fn what_waits_is_listed_within_the_width_of_a_terminal() {
        let long = format!(r#"{{"text": "{}"}}"#, "very long ".repeat(30));
        let records = [
            record("7hq2-m4xk", "mail__send", "pending", Some(r#"{"to": "bob@example.com"}"#)),
            record("0c9d-zz3e", "mail__draft", "pending", Some(&long)),
        ];
        let shown = lines(&records, ApprovalFilter::Pending, NOW, Style::plain()).join("\n");
        for part in ["7hq2-m4xk", "mail__send", "local with claude-code", "2 min ago", "in 7 min"] {
            assert!(shown.contains(part), "no `{part}` in\n{shown}");
        }
        assert!(shown.contains("... (312 bytes)") && !shown.contains("state"), "{shown}");
        for width in [80, 120] {
            let lines = lines(&records, ApprovalFilter::Pending, NOW, Style::plain().within(width));
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:#?}");
        }
        let none = lines(&[], ApprovalFilter::Pending, NOW, Style::plain());
        assert_eq!(none, ["no call waits for approval"]);
    }

    #[test]
    fn what_is_over_is_listed_with_who_decided() {
        let records = [record("7hq2-m4xk", "mail__send", "used", None)];
        let shown = lines(&records, ApprovalFilter::Every, NOW, Style::plain()).join("\n");
        assert!(shown.contains("used by ann") && !shown.contains("in 7 min"), "{shown}");
    }

    #[test]
    fn a_span_has_one_unit() {
        for (seconds, expected) in [(0, "0 s"), (89, "89 s"), (90, "1 min"), (5400, "1 h")] {
            let later = Timestamp::from_millis(NOW.as_millis() + seconds * 1000);
            assert_eq!(span(later, NOW), expected);
        }
    }
}
