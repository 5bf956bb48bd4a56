//! `gatefold chat -p`: one request, for scripts.

use std::io::{IsTerminal as _, Read as _, stdin};
use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;

use anyhow::Context as _;
use gatefold::App;
use gatefold_agent::{
    AgentEvent, AgentRun, AgentTools as _, Budget, Driver, EarlierTurns, RunEnd, RunFault,
    RunLimits, RunWatcher, Spending, WaitingCall,
};
use gatefold_core::Cost;
use gatefold_dispatch::{RunId, Settlement};
use gatefold_model::Origin;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::chosen_model::ChosenModel;
use crate::cli::failure::{usage, with_help};
use crate::cli::output::Output;

use super::conversation::{Conversation, OpenRun};
use super::files::{attach_all, compose};
use super::interactive::cancelled_elsewhere;
use super::screen::FALLBACK;
use super::tools::{CallLines, ChatTools};
use super::world::{Stance, World};

/// The most bytes of standard input that are part of a request.
const INPUT_BYTES: u64 = 1024 * 1024;

/// The request, with what is piped in after it.
pub(super) fn request(prompt: &str) -> anyhow::Result<String> {
    if stdin().is_terminal() {
        return Ok(prompt.to_owned());
    }
    let mut piped = String::new();
    let read = stdin().lock().take(INPUT_BYTES + 1).read_to_string(&mut piped);
    read.context("standard input could not be read as UTF-8")?;
    if piped.len() as u64 > INPUT_BYTES {
        return Err(usage(format!("standard input is longer than {INPUT_BYTES} bytes")));
    }
    let parts = [prompt.trim(), piped.trim_end()].map(str::to_owned);
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"))
}

pub(super) async fn run(
    (request, paths): (&str, &[PathBuf]),
    mut conversation: Conversation,
    stance: &Stance,
    world: &World,
    model: &ChosenModel,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if request.trim().is_empty() {
        return Err(usage("there is nothing to ask\n  help: write `-p 'What to do'`"));
    }
    let lines = if output.is_json() { CallLines::Nowhere } else { CallLines::Stderr };
    let tools = world.tools(stance, None, lines, output)?;
    world.learn(output).await;
    finish_open(&mut conversation, (stance, model), world, &tools, output).await?;
    let message = compose(request, &attach_all(paths, world, &tools).await?)?;
    tools.surface.choose_for(conversation.earlier_turns(), &message).await;
    let offer = tools.offer().await.map_err(|error| anyhow::anyhow!(error))?;
    let limits = RunLimits::for_model(&model.runs.room, &offer, &model.runs.limits);
    let watcher = Commentary { output, origin: model.origin() };
    let (id, journal) = conversation.begin_run(&message).await?;
    let (budget, cancel) = (Budget::unlimited(), CancellationToken::new());
    let driver = Driver::new(&model.runs.client, &tools)
        .with_watcher(&watcher)
        .with_clock(world.clock())
        .with_journal(journal)
        .with_meter(world.meter(stance, model, id))
        .with_budget(budget.clone())
        .with_cancellation(cancel.clone());
    let driving = driver.drive(conversation.with(message), limits);
    let run = end_if_cancelled(driving, &cancel, &world.app, id).await?;
    conversation.keep(id, run.clone()).await?;
    report((&run, budget.spent()), &conversation, model, &tools, output)
}

/// Goes on with what was interrupted, before anything else is asked.
async fn finish_open(
    conversation: &mut Conversation,
    (stance, model): (&Stance, &ChosenModel),
    world: &World,
    tools: &ChatTools<'_>,
    output: &Output,
) -> anyhow::Result<()> {
    let Some(OpenRun { id, journal, kept, spent, requests }) = conversation.take_up().await? else {
        return Ok(());
    };
    let is_open = |waiting: &&WaitingCall| waiting.state == Settlement::Open;
    if let Some(waiting) = kept.waiting.iter().find(is_open) {
        let approval = waiting.approval.clone();
        let all: Vec<_> = kept.waiting.iter().map(|waiting| waiting.approval.clone()).collect();
        conversation.release(id, &all).await?;
        return Err(with_help(
            "the last answer of this conversation waits for somebody's approval",
            format!("`gatefold approvals approve {approval}`, or `deny` instead; then go on"),
        ));
    }
    if !output.is_json() {
        output.warning("the last answer was interrupted: it goes on now");
    }
    let said = EarlierTurns { turns: kept.run.history().turns(), requests };
    tools.surface.choose_again(said).await;
    tools.offer().await.map_err(|error| anyhow::anyhow!(error))?;
    let watcher = Commentary { output, origin: model.origin() };
    let cancel = CancellationToken::new();
    let driver = Driver::new(&model.runs.client, tools)
        .with_watcher(&watcher)
        .with_journal(journal)
        .with_meter(world.meter(stance, model, id))
        .with_cancellation(cancel.clone());
    let driving = driver.resume(kept, spent);
    let run = end_if_cancelled(driving, &cancel, &world.app, id).await?;
    conversation.keep(id, run).await?;
    Ok(())
}

/// Waits for a run, and ends it if somebody wants that in another process.
async fn end_if_cancelled(
    driving: impl Future<Output = Result<AgentRun, RunFault>>,
    cancel: &CancellationToken,
    app: &App,
    id: RunId,
) -> Result<AgentRun, RunFault> {
    let mut driving = pin!(driving);
    tokio::select! {
        run = &mut driving => run,
        () = cancelled_elsewhere(app, id) => {
            cancel.cancel();
            driving.await
        }
    }
}

/// What a model says before its answer, on standard error.
struct Commentary<'o> {
    output: &'o Output,
    origin: Origin,
}

impl RunWatcher for Commentary<'_> {
    fn on_event(&self, event: &AgentEvent) {
        let AgentEvent::Answered { answer } = event else { return };
        if answer.message.origin != self.origin {
            self.output.warning(FALLBACK);
        }
        let said = answer.message.text();
        let is_last = answer.message.calls().next().is_none();
        if !is_last && !said.trim().is_empty() && !self.output.is_json() {
            self.output.complain(said.trim_end());
        }
    }
}

fn report(
    (run, spent): (&AgentRun, Spending),
    conversation: &Conversation,
    model: &ChosenModel,
    tools: &ChatTools<'_>,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let end = run.end_state().context("the run has not ended")?;
    let ended = match end {
        RunEnd::Answered => "answered",
        RunEnd::Short { .. } => "short",
        RunEnd::Refused => "refused",
        RunEnd::Cancelled => "cancelled",
        RunEnd::Failed { reason, is_final: true } => {
            return Err(with_help(reason, "`gatefold models check` says what is wrong"));
        }
        RunEnd::Failed { reason, .. } => anyhow::bail!("{reason}"),
        RunEnd::DaySpent { reason } => {
            return Err(with_help(reason, "another model answers with `--model NAME`"));
        }
    };
    let answer = run.answer();
    if output.is_json() {
        output.json(&json!({
            "answer": answer,
            "ended": ended,
            "model": model.config.name,
            "agent": conversation.agent(),
            "thread": conversation.thread().map(|thread| thread.to_string()),
            "answers": run.answers(),
            "tokens": spent.tokens,
            "cost": spent.cost.map(Cost::as_units),
            "calls": tools.calls_made(),
        }));
    } else {
        output.verbatim(answer.as_deref().unwrap_or_default().trim_end());
        match end {
            RunEnd::Short { of } => output.warning(&format!("the answer may lack something: {of}")),
            RunEnd::Refused => output.warning("the model, or its provider, would not answer"),
            _ => {}
        }
    }
    let is_answered = *end == RunEnd::Answered;
    Ok(if is_answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
