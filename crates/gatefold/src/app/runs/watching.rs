//! Looks from time to time for runs that somebody has to go on with, and for those that are to end.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use gatefold_dispatch::{Journal as _, Run, RunOutcome, RunPhase, Settlement};
use gatefold_store::UnendedRun;
use tokio::time::{MissedTickBehavior, interval};

use super::RunHost;
use super::taking_up::{TakeUpError, cancel_kept};

/// How often it looks.
const LOOK: Duration = Duration::from_secs(1);

impl RunHost {
    /// Takes up the runs that nobody drives, for as long as the gateway runs: those of processes that have died, and those
    /// about whose calls somebody has decided.
    pub(crate) async fn keep_up(self: Arc<Self>) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut was_read = true;
        while self.stop.run_until_cancelled(looks.tick()).await.is_some() {
            let looked = self.look().await;
            if let Some(error) = looked.as_ref().err().filter(|_| was_read) {
                tracing::error!(%error, "the runs could not be looked through; none is taken up");
            }
            was_read = looked.is_ok();
        }
    }

    async fn look(self: &Arc<Self>) -> Result<(), TakeUpError> {
        self.end_revoked().await?;
        for id in self.store.cancelled_runs().await? {
            if let Some(state) = self.all_live().get(&id) {
                state.cancel.cancel();
            }
        }
        for unended in self.store.unended_runs().await? {
            let UnendedRun { owner, run, is_cancelled } = &unended;
            let done = if *is_cancelled {
                cancel_kept(&self.store, owner, run).await
            } else if self.can_go_on(run).await {
                self.take_up(owner, run).await.map(drop)
            } else {
                continue;
            };
            match done {
                Ok(()) => tracing::info!(run = %run.id, is_cancelled, "took up a run"),
                Err(TakeUpError::GivenUp(reason)) => {
                    tracing::warn!(run = %run.id, reason, "ended a run that cannot go on");
                }
                // Others go first, and this one when there is room.
                Err(TakeUpError::TooMany { .. } | TakeUpError::Stopping) => return Ok(()),
                Err(TakeUpError::Driven | TakeUpError::Ended) => {}
                // Nobody ever goes on with what cannot be read.
                Err(error @ (TakeUpError::NotHosted | TakeUpError::Replay(_))) => {
                    tracing::warn!(run = %run.id, %error, "ended a run that cannot go on");
                    self.store.end(run.id, run.last, RunOutcome::Failed).await?;
                }
                Err(error) => {
                    let error = gatefold_core::with_causes(&error);
                    tracing::warn!(run = %run.id, error, "a run could not be taken up");
                }
            }
        }
        Ok(())
    }

    /// Whether nothing is in the way of a run that nobody drives.
    async fn can_go_on(&self, run: &Run) -> bool {
        let RunPhase::Waiting(approvals) = &run.phase else { return true };
        for approval in approvals {
            if self.settlement(approval).await != Settlement::Open {
                return true;
            }
        }
        false
    }

    /// Ends the runs whose token was revoked.
    async fn end_revoked(&self) -> Result<(), TakeUpError> {
        let tokens: HashSet<_> =
            self.all_live().values().filter_map(|state| state.token.clone()).collect();
        for token in tokens {
            if self.store.knows_token(&token).await? {
                continue;
            }
            for state in
                self.all_live().values().filter(|state| state.token.as_ref() == Some(&token))
            {
                tracing::info!(run = %state.id, %token, "ended a run whose token was revoked");
                state.cancel.cancel();
            }
        }
        Ok(())
    }
}
