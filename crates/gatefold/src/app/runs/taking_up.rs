//! How runs that nobody drives are taken up.

use std::sync::Arc;

use gatefold_agent::{
    AgentEvent, AgentTools as _, EarlierTurns, KeptRun, ReplayError, RunJournal, Spending,
    ThreadHistory, end_kept,
};
use gatefold_core::ApprovalId;
use gatefold_dispatch::{
    DataOwner, Journal as _, JournalError, Run, RunId, RunOutcome, Settlement, Threads as _,
};
use gatefold_store::{RunClaim, RunTenure, Store, StoreError};

use super::live::LiveState;
use super::prepared::{DrivenRun, PreparedRun};
use super::setting::{RunLife, RunSetting};
use super::{BeginRunError, LiveRun, RunHost};

/// How many processes may die that drive a run, before it is ended because it may be the reason.
pub const RUN_CRASHES: u32 = 3;

/// Why a run was not taken up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeUpError {
    #[error("the run has ended")]
    Ended,
    #[error("the run goes on already")]
    Driven,
    /// It was begun by something else, which goes on with it.
    #[error("the run does not say how it goes on")]
    NotHosted,
    /// It has ended now.
    #[error("the run was ended: {0}")]
    GivenUp(String),
    #[error("{of} runs are under way, which is the limit")]
    TooMany { of: usize },
    #[error("the gateway is stopping")]
    Stopping,
    #[error("the run could not be kept")]
    Journal(#[from] JournalError),
    #[error("the run could not be read")]
    Replay(#[from] ReplayError),
    #[error("the run could not be kept")]
    Store(#[from] StoreError),
}

/// A run as it is kept, and with what it goes on.
struct FoundRun {
    kept: KeptRun,
    journal: RunJournal,
    /// What its person said when, in all that was said.
    requests: Vec<usize>,
}

impl RunHost {
    /// Goes on with a run of this owner that nobody drives.
    pub async fn take_up(
        self: &Arc<Self>,
        owner: &DataOwner,
        run: &Run,
    ) -> Result<LiveRun, TakeUpError> {
        self.check_room(owner).map_err(|error| no_room(&error))?;
        let setting = self.read_setting(owner, run).await?.ok_or(TakeUpError::NotHosted)?;
        let crashes = match self.store.claim_run(owner, run.id, RunTenure::Lasting).await? {
            RunClaim::Claimed { crashes } => crashes,
            RunClaim::Driven => return Err(TakeUpError::Driven),
            RunClaim::Ended => return Err(TakeUpError::Ended),
        };
        let taken = self.go_on_with(owner, run, &setting, crashes).await;
        if taken.as_ref().is_err_and(|error| !matches!(error, TakeUpError::GivenUp(_))) {
            // What could not be read now may be later.
            self.store.release_run(run.id, &[]).await?;
        }
        taken
    }

    async fn go_on_with(
        self: &Arc<Self>,
        owner: &DataOwner,
        run: &Run,
        setting: &RunSetting,
        crashes: u32,
    ) -> Result<LiveRun, TakeUpError> {
        let Some(found) = FoundRun::find(&self.store, owner, run).await? else {
            self.store.end(run.id, run.last, RunOutcome::Failed).await?;
            return Err(TakeUpError::GivenUp("it had not begun".to_owned()));
        };
        let prepared = match self.make_ready(setting, crashes, &found).await {
            Ok(prepared) => prepared,
            Err(reason) => {
                found.end(AgentEvent::GivenUp { reason: reason.clone() }).await?;
                return Err(TakeUpError::GivenUp(reason));
            }
        };
        let FoundRun { mut kept, journal, .. } = found;
        let of = (run.id, *owner, run.thread);
        let state = Arc::new(LiveState::new(of, journal, setting.token()).0);
        for waiting in &mut kept.waiting {
            waiting.state = self.settlement(&waiting.approval).await;
            if waiting.state == Settlement::Open {
                state.wait_for(&waiting.approval);
            }
        }
        let usage = self.store.run_usage(run.id).await?;
        let spent = Spending { tokens: usage.tokens.total(), cost: usage.cost };
        self.insert(&state).map_err(|error| no_room(&error))?;
        self.spawn(state.clone(), prepared, DrivenRun::Kept(Box::new(kept), spent));
        Ok(LiveRun::watching(state))
    }

    /// What has become of an approval. One of which that is not known is waited for.
    pub(super) async fn settlement(&self, approval: &ApprovalId) -> Settlement {
        self.approvals.settlement(approval).await.unwrap_or_default()
    }

    /// Finds all that a run goes on with, or why it cannot.
    async fn make_ready(
        &self,
        setting: &RunSetting,
        crashes: u32,
        found: &FoundRun,
    ) -> Result<PreparedRun, String> {
        if setting.life == RunLife::WithRequest {
            return Err("its client is gone".to_owned());
        }
        if crashes >= RUN_CRASHES {
            return Err(format!("{crashes} processes have died while they drove it"));
        }
        if let Some(token) = setting.token()
            && !self.store.knows_token(&token).await.map_err(|error| error.to_string())?
        {
            return Err("the token with which it was begun was revoked".to_owned());
        }
        // With the groups that its user is in now.
        let principal = self.people.bound(Arc::new(setting.principal.clone()));
        let principal = self.people.in_groups(principal);
        let prepared = self.prepare(setting, principal).map_err(|error| error.to_string())?;
        let turns = found.kept.run.history().turns();
        let said = EarlierTurns { turns, requests: found.requests.clone() };
        prepared.tools.surface.choose_again(said).await;
        // The names under which its calls were offered are those of this offer.
        prepared.tools.offer().await.map_err(|error| error.to_string())?;
        Ok(prepared)
    }

    async fn read_setting(
        &self,
        owner: &DataOwner,
        run: &Run,
    ) -> Result<Option<RunSetting>, JournalError> {
        let first = self.store.events(owner, run.id, 0, 1).await?;
        Ok(first.first().and_then(RunSetting::read))
    }
}

fn no_room(error: &BeginRunError) -> TakeUpError {
    match error {
        BeginRunError::TooMany { of } => TakeUpError::TooMany { of: *of },
        _ => TakeUpError::Stopping,
    }
}

impl FoundRun {
    /// None if it has not begun.
    async fn find(
        store: &Store,
        owner: &DataOwner,
        run: &Run,
    ) -> Result<Option<Self>, TakeUpError> {
        let before = match run.thread {
            None => ThreadHistory::default(),
            Some(thread) => {
                let runs = store.runs_of(owner, thread).await?.into_iter();
                let earlier = runs.map(|run| run.id).filter(|other| *other < run.id);
                ThreadHistory::read(store, owner, earlier).await?
            }
        };
        let own = before.turns().len();
        let mut requests: Vec<_> = before.said.iter().map(|(at, _)| *at).collect();
        requests.push(own);
        let kept = KeptRun::read(store, owner, run.id, before.transcript).await?;
        Ok(kept.map(|kept| {
            let journal = RunJournal::behind(Arc::new(store.clone()), run.id, kept.last);
            Self { kept, journal, requests }
        }))
    }

    async fn end(self, event: AgentEvent) -> Result<(), JournalError> {
        end_kept(self.kept, &self.journal, event).await
    }
}

/// Ends a run of this owner as a person does, wherever it is driven. Where another process drives it, that may take a
/// moment.
pub async fn cancel_run(store: &Store, owner: &DataOwner, run: RunId) -> Result<(), TakeUpError> {
    let known = store.run(owner, run).await?.ok_or(JournalError::UnknownRun)?;
    if !store.ask_to_cancel(owner, run).await? {
        return Err(TakeUpError::Ended);
    }
    match cancel_kept(store, owner, &known).await {
        Err(TakeUpError::Driven) => Ok(()),
        done => done,
    }
}

/// Ends a run that nobody drives.
pub(super) async fn cancel_kept(
    store: &Store,
    owner: &DataOwner,
    run: &Run,
) -> Result<(), TakeUpError> {
    match store.claim_run(owner, run.id, RunTenure::Passing).await? {
        RunClaim::Claimed { .. } => {}
        RunClaim::Driven => return Err(TakeUpError::Driven),
        RunClaim::Ended => return Err(TakeUpError::Ended),
    }
    match FoundRun::find(store, owner, run).await? {
        Some(found) => Ok(found.end(AgentEvent::Cancelled).await?),
        None => Ok(store.end(run.id, run.last, RunOutcome::Cancelled).await?),
    }
}
