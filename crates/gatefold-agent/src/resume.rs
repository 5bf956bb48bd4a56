//! Runs that are taken up again: after the process that drove them has died, or when somebody has decided about an
//! approval that they waited for.

use std::collections::VecDeque;
use std::time::Duration;

use gatefold_core::Timestamp;
use gatefold_dispatch::{DataOwner, Journal, JournalError, RunEvent, RunId, Settlement};
use gatefold_model::{ToolCall, ToolResult};
use tokio::time::Instant;

use crate::driver::RunProgress;
use crate::replay::{self, ReplayError};
use crate::wait_notes::{RESUME_KIND, Resumption, WAIT_KIND, WaitingCall};
use crate::{AgentEvent, AgentRun, Driver, Effect, RunFault, RunJournal, Spending, Transcript};

const INTERRUPTED: &str = "The call was interrupted before its result came, and may have taken effect. Check that before \
                           you make it again.";
const NOT_DECIDED: &str = "The call was not made: it needs a person's approval, and the request for that is over, because \
                           nobody decided in time or another call used it. Make it again if it is still needed, which \
                           asks again.";

/// A run as its journal has it, to go on with.
#[derive(Debug, Clone)]
pub struct KeptRun {
    pub run: AgentRun,
    /// The number of its last event.
    pub last: u64,
    /// The calls that wait for somebody's approval. They have not taken effect.
    pub waiting: Vec<WaitingCall>,
    /// How long it was driven so far.
    pub elapsed: Duration,
}

impl KeptRun {
    /// Reads a run, given what was said before it. None if its journal does not have how it began: then it has done
    /// nothing.
    pub async fn read(
        journal: &dyn Journal,
        owner: &DataOwner,
        run: RunId,
        before: Option<Transcript>,
    ) -> Result<Option<Self>, ReplayError> {
        let mut notes = JournalNotes::default();
        let replayed = replay::read_run(journal, owner, run, before, |event| notes.take(event));
        let (_, replayed) = replayed.await?;
        let JournalNotes { last, waiting, elapsed, .. } = notes;
        Ok(replayed.map(|run| Self { run, last, waiting, elapsed }))
    }

    /// What has become of one of its calls, if that waits.
    fn wait_state(&self, call: usize) -> Option<Settlement> {
        self.waiting.iter().find(|waiting| waiting.call == call).map(|waiting| waiting.state)
    }
}

/// What a journal says beside the events of the loop.
#[derive(Default)]
struct JournalNotes {
    last: u64,
    waiting: Vec<WaitingCall>,
    elapsed: Duration,
    written_at: Option<Timestamp>,
}

impl JournalNotes {
    fn take(&mut self, event: &RunEvent) -> serde_json::Result<()> {
        let RunEvent { number, at, kind, json } = event;
        let mut since = self.written_at;
        match kind.as_str() {
            WAIT_KIND => self.waiting.push(serde_json::from_str(json.get())?),
            RESUME_KIND => {
                let Resumption { calls } = serde_json::from_str(json.get())?;
                self.waiting.retain(|waiting| !calls.contains(&waiting.call));
                // Nobody drove it in between.
                since = None;
            }
            _ => {}
        }
        let millis = since.map_or(0, |since| at.as_millis().saturating_sub(since.as_millis()));
        self.elapsed += Duration::from_millis(millis);
        (self.last, self.written_at) = (*number, Some(*at));
        Ok(())
    }
}

/// What is to be done with a call that was under way when its run stopped.
enum CallPlan {
    /// It is made, for the first time or without harm once more.
    Make,
    /// It has a result already, in words.
    Tell(&'static str),
    KeepWaiting,
}

impl Driver<'_> {
    /// Goes on with a run where its journal ends, which is the one of this driver. What it has `spent` counts for its
    /// limits, and so does the time that it took.
    ///
    /// A call whose result is kept is not made again. One that was under way is made again if its tool says that this
    /// does no harm, or if it waited for an approval; otherwise the model is told that it may have taken effect.
    pub async fn resume(&self, kept: KeptRun, spent: Spending) -> Result<AgentRun, RunFault> {
        let limits = kept.run.limits();
        let deadline = Instant::now() + limits.run.saturating_sub(kept.elapsed);
        let budget = self.budget_of(limits);
        budget.spend(spent);
        let (mut effects, mut told, mut calls) = (VecDeque::new(), Vec::new(), Vec::new());
        for effect in kept.run.pending() {
            let Effect::Call { call, request } = &effect else {
                effects.push_back(effect);
                continue;
            };
            match self.plan(&kept, *call, request).await {
                CallPlan::KeepWaiting => continue,
                CallPlan::Tell(text) => told.push((*call, text)),
                CallPlan::Make => effects.push_back(effect.clone()),
            }
            calls.push(*call);
        }
        // Before any of them is made: one that is under way now does not wait any more.
        self.note(replay::write_event(RESUME_KIND, &Resumption { calls })).await?;
        let mut run = kept.run;
        for (call, text) in told {
            let result = ToolResult::error(text);
            effects.extend(self.take(&mut run, AgentEvent::Returned { call, result }).await?);
        }
        Box::pin(self.go_on(RunProgress { run, effects, deadline, budget })).await
    }

    async fn plan(&self, kept: &KeptRun, call: usize, request: &ToolCall) -> CallPlan {
        match kept.wait_state(call) {
            Some(Settlement::Open) => CallPlan::KeepWaiting,
            Some(Settlement::Decided) => CallPlan::Make,
            Some(Settlement::Over) => CallPlan::Tell(NOT_DECIDED),
            None if self.tools().is_repeatable(request).await => CallPlan::Make,
            None => CallPlan::Tell(INTERRUPTED),
        }
    }
}

/// Ends a run that nobody drives, where its journal ends.
pub async fn end_kept(
    kept: KeptRun,
    journal: &RunJournal,
    event: AgentEvent,
) -> Result<(), JournalError> {
    let mut run = kept.run;
    if run.end_state().is_none() {
        journal.append(vec![replay::event(&event)]).await?;
        run.step(event);
    }
    match run.end_state() {
        Some(end) => journal.end(end).await,
        None => Ok(()),
    }
}
