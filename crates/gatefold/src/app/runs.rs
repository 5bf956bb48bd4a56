//! Runs of agents that belong to the gateway: they go on when whoever began them is gone.

mod beginning;
mod driving;
mod live;
mod prepared;
mod setting;
mod taking_up;
mod tools;
mod watching;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use gatefold_agent::ReplayError;
use gatefold_core::{AgentId, BoxError, Clock, Narrowing, Principal};
use gatefold_dispatch::{Approvals, DataOwner, JournalError, RunId, ThreadId};
use gatefold_exchange::Exchange;
use gatefold_model::{Turn, UserMessage};
use gatefold_store::{Store, StoreError};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::people::ConfiguredPeople;
use crate::ModelChoiceError;
use crate::config::Config;
use live::LiveState;

pub use live::{LiveRun, RunPiece, RunPosition, RunReport};
pub use setting::{RunLife, RunOrigin};
pub use taking_up::{RUN_CRASHES, TakeUpError, cancel_run};

/// The most runs that are driven at once, and the most of one person.
pub const LIVE_RUNS: usize = 4_096;
pub const LIVE_RUNS_OF_ONE: usize = 1_024;

/// How long runs may take to get the results of calls that are under way when the gateway stops.
const STOP_WAIT: Duration = Duration::from_secs(5);

/// A run that is to begin.
pub struct NewAgentRun {
    /// Whose run it is, with what their token leaves.
    pub principal: Arc<Principal>,
    /// The agent. Without one it is the thread's or the principal's, or nobody's, which has every tool.
    pub agent: Option<AgentId>,
    /// A name in `[models]`. Without one it is the agent's, or the first that the principal may use.
    pub model: Option<String>,
    pub conversation: RunConversation,
    pub message: UserMessage,
    /// What the client tells the model beside what the gateway does, and behind it.
    pub instructions: Option<String>,
    pub origin: RunOrigin,
    pub life: RunLife,
}

/// What was said before.
pub enum RunConversation {
    /// Nothing: a thread begins with this run.
    New,
    /// What was said in a thread of the same person.
    Thread(ThreadId),
    /// What a client sent that keeps it itself. The run belongs to no thread.
    Sent(Vec<Turn>),
}

/// A run that has begun, and the pieces of its answers from the first one on.
pub struct BegunRun {
    pub run: LiveRun,
    pub pieces: broadcast::Receiver<RunPiece>,
}

/// Why a run did not begin. What is hidden looks the same as what there is not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginRunError {
    #[error("there is no agent `{0}`")]
    UnknownAgent(AgentId),
    #[error("there is no conversation `{0}`")]
    UnknownThread(ThreadId),
    /// It is a thread with another agent.
    #[error("the conversation is with {}", of.as_ref().map_or_else(|| "no agent".to_owned(), |of| format!("the agent `{of}`")))]
    OtherAgent { of: Option<AgentId> },
    #[error("the run `{run}` of this conversation has not ended; wait for it, or cancel it")]
    ThreadBusy { run: RunId },
    #[error(transparent)]
    Model(#[from] ModelChoiceError),
    #[error("there is no model that could answer")]
    NoModel,
    #[error("there is nothing that the run could call")]
    NoTools(#[source] BoxError),
    #[error("what was said is too long to be kept")]
    TooLarge,
    #[error("what was said before is not a conversation: it begins with a message of the user")]
    NoConversation,
    #[error("{of} runs are under way, which is the limit; try again when one has ended")]
    TooMany { of: usize },
    #[error("the gateway is stopping")]
    Stopping,
    #[error("the run could not be kept")]
    Journal(#[from] JournalError),
    #[error("the run could not be kept")]
    Store(#[from] StoreError),
    #[error("the conversation could not be read")]
    Thread(#[from] ReplayError),
}

/// Whose runs those of a principal are. They outlive its token, unless the token reaches less far than its
/// person: what it could not call must not be read with it either.
pub fn owner_of_runs(principal: &Principal) -> DataOwner {
    // That it is bound to an agent narrows it, too, but all tokens of the agent alike.
    let is_narrowed = |narrowing: &Narrowing| narrowing.only.is_some() || narrowing.read_only;
    if principal.narrowing().is_some_and(is_narrowed) {
        DataOwner::of(principal)
    } else {
        DataOwner::lasting(principal)
    }
}

/// Drives runs. What began one may go: its task belongs to this host.
pub struct RunHost {
    store: Store,
    exchange: Arc<Exchange>,
    people: Arc<ConfiguredPeople>,
    clock: Arc<dyn Clock>,
    approvals: Arc<dyn Approvals>,
    config: ArcSwap<Config>,
    /// At most [`LIVE_RUNS`].
    live: Mutex<HashMap<RunId, Arc<LiveState>>>,
    tasks: TaskTracker,
    /// Fires when no further answer of a model may begin.
    stop: CancellationToken,
}

impl RunHost {
    pub(super) fn new(
        store: &Store,
        exchange: &Arc<Exchange>,
        people: &Arc<ConfiguredPeople>,
        clock: &Arc<dyn Clock>,
        approvals: Arc<dyn Approvals>,
    ) -> Arc<Self> {
        Arc::new(Self {
            store: store.clone(),
            exchange: exchange.clone(),
            people: people.clone(),
            clock: clock.clone(),
            approvals,
            config: ArcSwap::default(),
            live: Mutex::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    pub(super) fn set_config(&self, config: &Config) {
        self.config.store(Arc::new(config.clone()));
    }

    /// Begins a run. It goes on by itself, as long as its [`RunLife`] says.
    pub async fn begin(self: &Arc<Self>, run: NewAgentRun) -> Result<BegunRun, BeginRunError> {
        beginning::begin(self, run).await
    }

    /// A run that this process drives, if it is this owner's. Its events are followed by its journal,
    /// [`Journal::follow`](gatefold_dispatch::Journal::follow), whichever process drives it.
    pub fn live(&self, owner: &DataOwner, run: RunId) -> Option<LiveRun> {
        let state = self.all_live().get(&run).filter(|state| state.owner == *owner).cloned();
        state.map(LiveRun::watching)
    }

    /// Ends a run of this owner, wherever it is driven. It may take a moment until it has ended.
    pub async fn cancel(&self, owner: &DataOwner, run: RunId) -> Result<(), TakeUpError> {
        if let Some(live) = self.live(owner, run) {
            live.cancel();
            return Ok(());
        }
        cancel_run(&self.store, owner, run).await
    }

    /// How many runs this process drives.
    pub fn live_runs(&self) -> usize {
        self.all_live().len()
    }

    /// Lets calls that are under way return for a moment, and then stops all runs so that they can be taken
    /// up again.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(STOP_WAIT, self.tasks.wait()).await.is_err() {
            for state in self.all_live().values() {
                state.abandon.cancel();
            }
            self.tasks.wait().await;
        }
    }

    fn check_room(&self, owner: &DataOwner) -> Result<(), BeginRunError> {
        self.check_room_in(&self.all_live(), owner)
    }

    fn check_room_in(
        &self,
        live: &HashMap<RunId, Arc<LiveState>>,
        owner: &DataOwner,
    ) -> Result<(), BeginRunError> {
        if self.stop.is_cancelled() {
            return Err(BeginRunError::Stopping);
        }
        let of_owner = live.values().filter(|state| state.owner == *owner).count();
        match (live.len() >= LIVE_RUNS, of_owner >= LIVE_RUNS_OF_ONE) {
            (true, _) => Err(BeginRunError::TooMany { of: live.len() }),
            (_, true) => Err(BeginRunError::TooMany { of: of_owner }),
            _ => Ok(()),
        }
    }

    fn insert(&self, state: &Arc<LiveState>) -> Result<(), BeginRunError> {
        let mut live = self.all_live();
        // Others may have begun meanwhile.
        self.check_room_in(&live, &state.owner)?;
        live.insert(state.id, state.clone());
        Ok(())
    }

    fn all_live(&self) -> MutexGuard<'_, HashMap<RunId, Arc<LiveState>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
