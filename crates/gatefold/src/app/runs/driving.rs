//! The task that drives a run.

use std::sync::Arc;

use gatefold_agent::{AgentRun, Driver, ModelMeter, RunFault, RunLimits};
use gatefold_dispatch::{ModelLedger, UseOrigin};
use gatefold_model::History;

use super::RunHost;
use super::beginning::PreparedRun;
use super::live::{LiveState, RunPosition, RunReport, RunUsage};

impl RunHost {
    /// Drives a run that has just begun, in a task of its own.
    pub(super) fn spawn_new(
        self: &Arc<Self>,
        state: Arc<LiveState>,
        prepared: PreparedRun,
        history: History,
        limits: RunLimits,
    ) {
        let host = self.clone();
        self.tasks.spawn(async move {
            let driving = async {
                let driver = host.driver(&state, &prepared);
                driver.drive(history, limits).await
            };
            let driven = state.abandon.run_until_cancelled(driving).await;
            host.finish(&state, driven).await;
        });
    }

    fn driver<'a>(&self, state: &'a LiveState, prepared: &'a PreparedRun) -> Driver<'a> {
        let PreparedRun { principal, agent, model, tools } = prepared;
        let ledger: Arc<dyn ModelLedger> = Arc::new(self.store.clone());
        let origin = UseOrigin::Run(state.id);
        let meter = ModelMeter::new(ledger, principal, agent.as_ref(), origin, model.chain.clone());
        Driver::new(&model.client, tools)
            .with_watcher(state)
            .with_journal(state.journal.clone())
            .with_meter(meter)
            .with_cancellation(state.cancel.clone())
    }

    /// Says what became of a run, and lets it go.
    async fn finish(&self, state: &LiveState, driven: Option<Result<AgentRun, RunFault>>) {
        let report = match driven {
            Some(Ok(run)) => {
                let end = run.end_state().cloned();
                let position = end.map_or(RunPosition::Interrupted, RunPosition::Ended);
                let usage = RunUsage::default();
                RunReport { position, answer: run.answer(), usage }
            }
            Some(Err(error)) => {
                tracing::error!(run = %state.id, %error, "a run could not go on");
                RunReport::interrupted()
            }
            None => RunReport::interrupted(),
        };
        self.all_live().remove(&state.id);
        state.report.send_replace(Some(report));
    }
}
