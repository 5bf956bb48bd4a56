//! `gatefold runs`: runs of agents.

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use gatefold::{App, Environment};
use gatefold_agent::{AgentEvent, RunEnd};
use gatefold_dispatch::{DataOwner, RunId};
use gatefold_operations::{
    AppOperations, Asker, CostGroup, CostRecord, EventRecord, ResumeRun, RunDetails, RunRecord,
    StateOperations, UsageRecord,
};
use serde_json::json;

use super::arguments::{Format, SharedOptions};
use super::output::{Output, Style};
use super::table::{Table, grouped, number_of};
use super::threads::last_digits;
use super::visible::on_one_line;
use super::{control, session, stop};

/// The most days of a report, and how many it has usually.
const DAYS: u64 = 3650;
const USUAL_DAYS: u64 = 30;

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List your runs, the newest first
    #[command(after_long_help = "Example:\n  gatefold runs list --json")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Show one with its request, its answer and what it took
    #[command(after_long_help = "Example:\n  gatefold runs show 3f9a61")]
    Show(NamedRun),
    /// Print the events of one, and each further one when it happens; Ctrl-C leaves
    ///
    /// The run goes on without you. `--from` is the number of the last event that you have seen: no
    /// event behind it is missed, and none comes twice.
    #[command(after_long_help = "Example:\n  gatefold runs follow 3f9a61 --from 12")]
    Follow {
        #[command(flatten)]
        run: NamedRun,
        /// Only events behind the one with this number
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        from: u64,
    },
    /// End one, whichever process drives it
    #[command(after_long_help = "Example:\n  gatefold runs cancel 3f9a61")]
    Cancel(NamedRun),
    /// Delete one that has ended, with all that was said in it
    ///
    /// One of a conversation is taken out of it. `gatefold threads delete` deletes whole conversations.
    #[command(after_long_help = "Example:\n  gatefold runs delete 3f9a61")]
    Delete(NamedRun),
    /// Go on with one that was interrupted
    ///
    /// `gatefold serve` does that by itself. Without a gateway, this command goes on with it to its
    /// end. `gatefold chat --thread ID` goes on with the run of a chat.
    #[command(after_long_help = "Example:\n  gatefold runs resume 3f9a61")]
    Resume(NamedRun),
    /// Report what models took, from the ledger
    #[command(after_long_help = "Example:\n  gatefold runs cost --by person --days 7")]
    Cost {
        /// By what it is told apart
        #[arg(long, value_enum, default_value = "day")]
        by: CostBy,
        /// Of how many days, today included, by UTC
        #[arg(long, value_name = "NUMBER", default_value_t = USUAL_DAYS)]
        #[arg(value_parser = clap::value_parser!(u64).range(1..=DAYS))]
        days: u64,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NamedRun {
    /// Its id, or the last digits of it
    id: String,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostBy {
    Day,
    Person,
    Agent,
    Model,
}

impl Runs {
    pub(super) fn format(&self) -> &Format {
        match self {
            Self::List { format } | Self::Cost { format, .. } => format,
            Self::Show(run)
            | Self::Cancel(run)
            | Self::Delete(run)
            | Self::Resume(run)
            | Self::Follow { run, .. } => &run.format,
        }
    }
}

pub(super) async fn run(
    runs: &Runs,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if let Runs::Follow { run, from } = runs {
        let state_dir = control::locate(shared, environment).await?.state_dir;
        return session::with_state(&state_dir, async |state| {
            let following = follow(state, &run.id, *from, output);
            stop::on_signal()?.run_until_cancelled(following).await.unwrap_or(Ok(()))
        })
        .await;
    }
    if let Runs::Resume(run) = runs {
        return resume(&run.id, shared, environment, output).await;
    }
    control::on_record(shared, environment, async |state| match runs {
        Runs::List { .. } => list(state, output).await,
        Runs::Show(run) => show(state, &run.id, output).await,
        Runs::Cancel(run) => {
            let run = state.cancel_run(&run.id).await?;
            match run.state.as_str() {
                // Another process drives it, and ends it within a second or two.
                "running" if !output.is_json() => output.line("asked to end"),
                _ => tell(&run, "cancelled", output),
            }
            Ok(())
        }
        Runs::Delete(run) => {
            let run = state.delete_run(&run.id).await?;
            tell(&run, "deleted", output);
            Ok(())
        }
        Runs::Cost { by, days, .. } => cost(state, *by, *days, output).await,
        Runs::Follow { .. } | Runs::Resume(_) => Ok(()),
    })
    .await
}

async fn list(state: &StateOperations, output: &Output) -> anyhow::Result<()> {
    let runs = state.runs().await?;
    if output.is_json() {
        output.json(&json!({ "runs": runs }));
        return Ok(());
    }
    if runs.is_empty() {
        output.line("there are no runs; `gatefold chat` begins one");
        return Ok(());
    }
    let style = output.style();
    let mut table =
        Table::new(&["id", "state", "agent", "began", "events"]).spare(&[2]).numbers(&[4]);
    for run in &runs {
        let began = run.began_at.to_string();
        let second = began.get(..19).unwrap_or(&began).replace('T', " ");
        let agent = run.agent.clone().unwrap_or_default();
        let digits = style.strong(last_digits(&run.id));
        table.row([digits, state_word(run, style), agent, second, run.events.to_string()]);
    }
    output.lines(&table.lines(style));
    Ok(())
}

fn state_word(run: &RunRecord, style: Style) -> String {
    match run.state.as_str() {
        "done" => style.good("done"),
        "failed" | "interrupted" => style.bad(&run.state),
        other => other.to_owned(),
    }
}

async fn show(state: &StateOperations, id: &str, output: &Output) -> anyhow::Result<()> {
    let details = state.run(id).await?;
    if output.is_json() {
        output.json(&json!({ "run": details }));
        return Ok(());
    }
    let RunDetails { run, request, answer, end, usage } = details;
    let line = |name: &str, text: &str| output.line(&format!("{name:<9} {text}"));
    line("id", &run.id);
    line("state", &run.state);
    if let Some(RunEnd::Failed { reason, .. } | RunEnd::DaySpent { reason }) = &end {
        line("because", &on_one_line(reason));
    }
    for approval in &run.approvals {
        line("waits for", &format!("`gatefold approvals approve {approval}`"));
    }
    line("agent", run.agent.as_deref().unwrap_or("none"));
    if let Some(thread) = &run.thread {
        line("thread", &format!("`gatefold threads show {}`", last_digits(thread)));
    }
    line("began", &run.began_at.to_string());
    if let Some(at) = run.ended_at {
        line("ended", &at.to_string());
    }
    line("events", &run.events.to_string());
    line("took", &usage_words(&usage));
    if let Some(request) = request {
        output.line("");
        for text in request.lines() {
            output.line(&format!("> {}", on_one_line(text)));
        }
    }
    if let Some(answer) = answer {
        output.verbatim(answer.trim_end());
    }
    Ok(())
}

fn usage_words(usage: &UsageRecord) -> String {
    let tokens = usize::try_from(usage.input_tokens.saturating_add(usage.output_tokens));
    let tokens = grouped(tokens.unwrap_or(usize::MAX));
    let cost = usage.cost.map(|cost| format!(", cost {cost}")).unwrap_or_default();
    let answers = usize::try_from(usage.answers).unwrap_or(usize::MAX);
    format!("{} of models, {tokens} tokens{cost}", number_of(answers, "answer"))
}

fn tell(run: &RunRecord, what: &str, output: &Output) {
    if output.is_json() {
        output.json(&json!({ what: run }));
    } else {
        output.line(&format!("{what}: {}", last_digits(&run.id)));
    }
}

/// Prints the events behind a number until the run has ended.
async fn follow(
    state: &StateOperations,
    id: &str,
    from: u64,
    output: &Output,
) -> anyhow::Result<()> {
    let id = state.run(id).await?.run.id;
    let mut after = from;
    loop {
        let events = state.follow_run(&id, after).await?;
        for event in &events {
            after = event.number;
            if output.is_json() {
                output.json_line(event);
            } else {
                output.line(&event_line(event, output.style()));
            }
        }
        if events.is_empty() || output.is_gone() {
            return Ok(());
        }
    }
}

fn event_line(event: &EventRecord, style: Style) -> String {
    let read = serde_json::from_str::<AgentEvent>(event.event.get());
    let words = match (event.kind.as_str(), read) {
        ("run_setting", _) => "was asked for".to_owned(),
        ("agent_earlier", _) => "was told what was said before".to_owned(),
        ("agent_begin", _) => "began".to_owned(),
        ("agent_wait", _) => "a call waits for an approval".to_owned(),
        ("agent_resumed", _) => "was taken up again".to_owned(),
        (_, Ok(event)) => event_words(&event),
        (kind, Err(_)) => kind.to_owned(),
    };
    let at = event.at.to_string();
    let time = at.get(11..19).unwrap_or(&at).to_owned();
    format!("{:>5} {} {}", event.number, style.faint(&time), on_one_line(&words))
}

fn event_words(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Answered { answer } => {
            let calls: Vec<_> = answer.message.calls().map(|call| call.name.as_str()).collect();
            match calls.as_slice() {
                [] => format!("the model answered: {}", answer.message.text().trim()),
                calls => format!("the model calls {}", calls.join(", ")),
            }
        }
        AgentEvent::Returned { call, result } if result.is_error => {
            format!("call {} failed", call + 1)
        }
        AgentEvent::Returned { call, .. } => format!("call {} is done", call + 1),
        AgentEvent::NotAnswered { reason, .. }
        | AgentEvent::DaySpent { reason }
        | AgentEvent::GivenUp { reason } => format!("ended: {reason}"),
        AgentEvent::Overflowed { .. } => {
            "the model takes less: the conversation is shortened".to_owned()
        }
        AgentEvent::Compacted { .. } => "the conversation was shortened for the model".to_owned(),
        AgentEvent::RanShort { of } => format!("is to end: {of}"),
        AgentEvent::Cancelled => "was cancelled".to_owned(),
    }
}

/// Has a gateway go on with a run, or goes on with it here to its end.
async fn resume(
    id: &str,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let located = control::locate(shared, environment).await?;
    let state = StateOperations::open(&located.state_dir, Asker::Operator).await?;
    let found = state.run(id).await;
    state.close().await?;
    let request = ResumeRun { run: found?.run.id };
    if let Some(gateway) = located.for_sources() {
        let run: RunRecord = gateway.ask(&request).await?;
        tell(&run, "resumed", output);
        return Ok(ExitCode::SUCCESS);
    }
    let app = session::open(shared, environment).await?.app;
    let resumed = stop::unless_stopped(async {
        let run = AppOperations::new(&app, Asker::Operator, &()).resume_run(&request).await?;
        let of = StateOperations::of(&app, Asker::Operator);
        tokio::select! {
            followed = follow(&of, &run.id, run.events, output) => followed?,
            // It waits for somebody's approval, unless it has ended: this process does not wait with it.
            () = wait_while_driven(&app, &run.id) => {}
        }
        let details = of.run(&run.id).await?;
        tell(&details.run, "resumed", output);
        if details.run.state == "waiting" {
            output.warning(
                "it waits for an approval: decide with `gatefold approvals`, then resume it again",
            );
        }
        Ok(if details.run.state == "done" { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    });
    let resumed = resumed.await;
    // Whatever has stopped it: what is let go here can be resumed, and counts as no crash.
    app.close().await;
    resumed
}

async fn wait_while_driven(app: &App, run: &str) {
    let owner = DataOwner::lasting(&app.local_user());
    if let Some(live) = RunId::parse(run).and_then(|run| app.runs().live(&owner, run)) {
        live.done().await;
    }
}

async fn cost(
    state: &StateOperations,
    by: CostBy,
    days: u64,
    output: &Output,
) -> anyhow::Result<()> {
    let (group, head) = match by {
        CostBy::Day => (CostGroup::Day, "day"),
        CostBy::Person => (CostGroup::Person, "person"),
        CostBy::Agent => (CostGroup::Agent, "agent"),
        CostBy::Model => (CostGroup::Model, "model"),
    };
    let costs = state.costs(group, days).await?;
    if output.is_json() {
        output.json(&json!({ "by": head, "days": days, "costs": costs }));
        return Ok(());
    }
    if costs.is_empty() {
        output.line("no model was asked in these days");
        return Ok(());
    }
    let heads = [head, "answers", "tokens", "from caches", "cost"];
    let mut table = Table::new(&heads).numbers(&[1, 2, 3, 4]);
    let number = |number: u64| grouped(usize::try_from(number).unwrap_or(usize::MAX));
    for CostRecord { name, usage } in &costs {
        let name = if name.is_empty() { "(none)" } else { name };
        let tokens = number(usage.input_tokens.saturating_add(usage.output_tokens));
        let guess = if usage.is_estimated { "~" } else { "" };
        let cost = usage.cost.map(|cost| cost.to_string()).unwrap_or_default();
        let cached = number(usage.cached_tokens);
        table.row([
            on_one_line(name),
            number(usage.answers),
            format!("{guess}{tokens}"),
            cached,
            cost,
        ]);
    }
    output.lines(&table.lines(output.style()));
    if costs.iter().any(|cost| cost.usage.is_estimated) {
        output.line(&output.style().faint("~ some of it is an estimate"));
    }
    Ok(())
}
