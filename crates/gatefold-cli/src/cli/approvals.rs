//! `gatefold approvals`: calls that need a person's approval, and the decision.

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::{ExitCode, Stdio};

use clap::Subcommand;
use gatefold::Environment;
use gatefold_catalog::by_ends;
use gatefold_core::{Clock as _, SystemClock, Timestamp};
use gatefold_operations::{
    ApprovalFilter, ApprovalRecord, DecideApproval, REASON_BYTES, StateOperations, Verdict,
};
use serde_json::json;
use tokio::process::Command;

use super::arguments::{Format, SharedOptions};
use super::failure::usage;
use super::output::{Output, Style};
use super::table::Table;
use super::{prompt, session, stop, visible};

/// Of each longer value among a call's arguments, a list shows this many characters from either end. `approve` and
/// `--json` show all of it.
const LISTED_ENDS: usize = 20;

/// The most characters of a call's arguments in a list. With more members than fit, none is shown: a person must not
/// take some of them for all.
const LISTED: usize = 1000;

/// Longer arguments are shown a second time by the ends of their values, right above the question, in characters.
const LONG: usize = 1000;

/// How far lines of arguments are moved to the right, at most, in steps.
const MAX_MARGIN: usize = 12;

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
        reason if reason.len() > REASON_BYTES => {
            Err(format!("it is longer than {REASON_BYTES} bytes"))
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
    if let Approvals::Approve { yes: false, format, .. } = approvals {
        refuse_without_terminal(format.json)?;
    }
    let state_dir = session::state_dir_alone(shared, environment)?;
    stop::unless_stopped(async {
        session::with_state(&state_dir, async |state| match approvals {
            Approvals::List { all, .. } => list(state, *all, output).await,
            Approvals::Approve { id, yes, .. } => approve(state, id, *yes, output).await,
            Approvals::Deny { id, reason, .. } => {
                let verdict = Verdict::Deny { reason: reason.clone() };
                decide(state, id, verdict, output).await
            }
        })
        .await
    })
    .await
}

/// Approves what a person has seen, or what a program decides.
async fn approve(
    state: &StateOperations,
    id: &str,
    yes: bool,
    output: &Output,
) -> anyhow::Result<()> {
    let asked = state.approval(id).await?;
    if asked.state == "pending" && !yes {
        output.lines(&whole(&asked));
        let question = format!("Approve one call of `{}` with these arguments?", asked.tool);
        if !prompt::agree(&question)? {
            output.line("nothing was decided");
            return Ok(());
        }
    }
    decide(state, id, Verdict::Approve, output).await
}

async fn decide(
    state: &StateOperations,
    id: &str,
    verdict: Verdict,
    output: &Output,
) -> anyhow::Result<()> {
    let decision = DecideApproval { id: id.to_owned(), verdict, by: user_name().await };
    say(&state.decide(&decision).await?, output);
    Ok(())
}

/// All that a person needs for a decision.
fn whole(record: &ApprovalRecord) -> Vec<String> {
    let mut lines = vec![
        format!("tool       {} of {}", record.tool, record.domain),
        format!("who        {}", visible::on_one_line(&who(record))),
        format!("rule       {}", record.rule),
        "arguments".to_owned(),
    ];
    let Some(arguments) = &record.arguments else { return lines };
    let all = by_ends(arguments.get(), usize::MAX / 4);
    lines.extend(indent(&all));
    if all.chars().nth(LONG).is_some() {
        lines.push("arguments, long values by their ends".to_owned());
        lines.extend(indent(&by_ends(arguments.get(), LISTED_ENDS)));
    }
    lines
}

/// JSON without spaces in lines, a member each.
pub(super) fn indent(json: &str) -> Vec<String> {
    let (mut lines, mut line, mut depth) = (Vec::new(), String::new(), 1_usize);
    let (mut in_string, mut is_escaped) = (false, false);
    let mut end = |line: &mut String, depth: usize| {
        // Deeper ones are as far to the right: a person reads lines, not margins.
        let next = "  ".repeat(depth.min(MAX_MARGIN));
        let ended = std::mem::replace(line, next);
        lines.extend((!ended.trim().is_empty()).then_some(ended));
    };
    end(&mut line, depth);
    for c in json.chars() {
        if !in_string && matches!(c, '}' | ']') {
            depth -= usize::from(depth > 1);
            end(&mut line, depth);
        }
        line.push(c);
        if c == '"' && !is_escaped {
            in_string = !in_string;
        }
        is_escaped = in_string && !is_escaped && c == '\\';
        match c {
            '{' | '[' if !in_string => {
                depth += 1;
                end(&mut line, depth);
            }
            ',' if !in_string => end(&mut line, depth),
            ':' if !in_string => line.push(' '),
            _ => {}
        }
    }
    end(&mut line, depth);
    lines
}

/// The refusal tells a model the id of its call, and a model may be able to run commands. This
/// keeps it from approving its own call in passing, though not from passing `--yes`.
fn refuse_without_terminal(is_json: bool) -> anyhow::Result<()> {
    if stdin().is_terminal() && stdout().is_terminal() && !is_json {
        return Ok(());
    }
    Err(usage(
        "a person says yes at a terminal, and this is none\n  help: run it in a terminal; a program \
         that may decide adds `--yes`",
    ))
}

async fn list(state: &StateOperations, all: bool, output: &Output) -> anyhow::Result<()> {
    let of = if all { ApprovalFilter::Every } else { ApprovalFilter::Pending };
    let records = state.approvals(of).await?;
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
    // A cut cell would hide a member.
    let table = Table::new(&heads).whole_cells();
    let mut table = table.spare(if has_state { &[3, 4] } else { &[2, 3] });
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
    let shown = by_ends(arguments.get(), LISTED_ENDS);
    if shown.chars().nth(LISTED).is_none() {
        return shown;
    }
    format!(
        "{} bytes: see all with `gatefold approvals approve {}`",
        record.arguments_bytes, record.id
    )
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
        assert!(shown.contains("characters ...>") && !shown.contains("state"), "{shown}");
        for width in [80, 120] {
            let lines = lines(&records, ApprovalFilter::Pending, NOW, Style::plain().within(width));
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:#?}");
        }
        let none = lines(&[], ApprovalFilter::Pending, NOW, Style::plain());
        assert_eq!(none, ["no call waits for approval"]);
    }

    #[test]
    fn no_padding_hides_a_member() {
        let pad = "x".repeat(5000);
        let padded = format!(
            "{{\"a\": \"{pad}\", \"amount\": 999999, \"to\": \"b\u{202e}ob\", \"b\": \"{pad}\"}}"
        );
        let padded = record("7hq2-m4xk", "pay", "pending", Some(&padded));
        for shown in [
            preview(&padded),
            whole(&padded).join("\n"),
            lines(&[padded], ApprovalFilter::Pending, NOW, Style::plain().within(80)).join("\n"),
        ] {
            let dense: String = shown.chars().filter(|c| !c.is_whitespace()).collect();
            for part in [r#""amount":999999"#, "b<U+202E>ob"] {
                assert!(dense.contains(part), "{shown}");
            }
        }
        let many = format!("[{}999999]", "0,".repeat(2000));
        let shown = preview(&record("7hq2-m4xk", "pay", "pending", Some(&many)));
        assert!(shown.starts_with("4008 bytes: see all with"), "{shown}");
    }

    #[test]
    fn a_member_has_a_line() {
        insta::assert_snapshot!(indent(r#"{"a":"{,:]","b":[1,{"c\"":[]}],"d":null}"#).join("\n"), @r#"
          {
            "a": "{,:]",
            "b": [
              1,
              {
                "c\"": [
                ]
              }
            ],
            "d": null
          }
        "#);
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
