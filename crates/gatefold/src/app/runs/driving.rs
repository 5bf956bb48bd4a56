//! The task that drives a run.

use std::sync::Arc;

use gatefold_agent::{AgentRun, Driver, ModelMeter, RunFault};
use gatefold_core::ApprovalId;
use gatefold_dispatch::{Journal as _, ModelLedger, RunOutcome, UseOrigin};

use super::RunHost;
use super::live::{LiveState, RunPosition, RunReport};
use super::prepared::{DrivenRun, PreparedRun};

impl RunHost {
    /// Drives a run in a task of its own.
    pub(super) fn spawn(
        self: &Arc<Self>,
        state: Arc<LiveState>,
        prepared: PreparedRun,
        run: DrivenRun,
    ) {
        let host = self.clone();
        self.tasks.spawn(async move {
            let driver = host.driver(&state, &prepared);
            let work = async {
                match run {
                    DrivenRun::New(conversation, limits) => {
                        driver.drive(conversation, limits).await
                    }
                    DrivenRun::Kept(run, spent) => driver.resume(*run, spent).await,
                }
            };
            let run = state.abandon.run_until_cancelled(work).await;
            host.finish(&state, run).await;
        });
    }

    fn driver<'a>(&self, state: &'a LiveState, prepared: &'a PreparedRun) -> Driver<'a> {
        let PreparedRun { principal, agent, model, tools } = prepared;
        let ledger: Arc<dyn ModelLedger> = Arc::new(self.store.clone());
        let origin = UseOrigin::Run(state.id);
        let meter = ModelMeter::new(ledger, principal, agent.as_ref(), origin, model.chain.clone());
        let driver = Driver::new(&model.client, tools)
            .with_watcher(state)
            .with_journal(state.journal.clone())
            .with_meter(meter)
            .with_cancellation(state.cancel.clone())
            .with_pause(self.stop.clone());
        match state.thread {
            Some(_) => driver.with_clock(self.clock.clone()),
            // Its client sends it again as it knows it. With a day written into it, no prompt would begin as the one before.
            None => driver,
        }
    }

    /// Says what became of a run, and lets it go.
    async fn finish(&self, state: &LiveState, driven: Option<Result<AgentRun, RunFault>>) {
        let id = state.id;
        let mut report = RunReport::interrupted();
        // Before it is released: whoever takes it up then has a place of its own there.
        self.all_live().remove(&id);
        match driven {
            // It was abandoned, for another process to go on with.
            None => self.release(state, &[]).await,
            Some(Err(error)) => {
                let reason = gatefold_core::with_causes(&error);
                tracing::error!(run = %id, error = reason, "a run could not go on");
                if error.is_lasting() {
                    let _ = self.store.end(id, state.journal.last(), RunOutcome::Failed).await;
                } else {
                    self.release(state, &[]).await;
                }
            }
            Some(Ok(run)) => {
                report.answer = run.answer();
                report.position = if let Some(end) = run.end_state() {
                    RunPosition::Ended(end.clone())
                } else {
                    let waiting = state.waiting();
                    self.release(state, &waiting).await;
                    // It was paused if it waits for nothing.
                    if waiting.is_empty() {
                        RunPosition::Interrupted
                    } else {
                        RunPosition::Waiting(waiting)
                    }
                };
            }
        }
        match self.store.run_usage(id).await {
            Ok(usage) => report.usage = usage,
            Err(error) => tracing::warn!(run = %id, %error, "what a run used could not be read"),
        }
        state.report.send_replace(Some(report));
    }

    async fn release(&self, state: &LiveState, waiting: &[ApprovalId]) {
        if let Err(error) = self.store.release_run(state.id, waiting).await {
            tracing::warn!(run = %state.id, %error, "a run could not be released; the next start takes it up");
        }
    }
}
