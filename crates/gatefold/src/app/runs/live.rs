//! A run that goes on, as others see it.

use std::sync::{Arc, Mutex, PoisonError};

use gatefold_agent::{CALLS_PER_ANSWER, RunEnd, RunJournal, RunWatcher};
use gatefold_core::{ApprovalId, TokenId};
use gatefold_dispatch::{DataOwner, RunId, ThreadId};
use gatefold_model::Delta;
use gatefold_store::ModelUsage;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many pieces of answers wait for a slow reader, who then misses the oldest.
const PIECES: usize = 128;

/// A handle on a run that this process drives. Cheap to clone.
#[derive(Clone)]
pub struct LiveRun {
    state: Arc<LiveState>,
    /// Ends the run with the last handle of the request that it belongs to.
    _tied: Option<Arc<DropGuard>>,
}

/// A piece of a model's answer. It is worth nothing later: the whole answer is an event.
#[derive(Debug, Clone)]
pub struct RunPiece {
    /// The number of the last event before it: the answer that it is of comes later.
    pub after: u64,
    pub delta: Delta,
}

/// Where a run is that is not driven any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunPosition {
    Ended(RunEnd),
    /// It goes on once somebody has decided about one of these.
    Waiting(Vec<ApprovalId>),
    /// The gateway stops, or its journal could not be written. It can be taken up again.
    Interrupted,
}

/// What a run came to.
#[derive(Debug, Clone)]
pub struct RunReport {
    pub position: RunPosition,
    /// The text of the model's last answer.
    pub answer: Option<String>,
    /// What models took for it, as the ledger has it.
    pub usage: ModelUsage,
}

/// What the host knows of a run that it drives.
pub(super) struct LiveState {
    pub(super) id: RunId,
    pub(super) owner: DataOwner,
    pub(super) thread: Option<ThreadId>,
    pub(super) journal: RunJournal,
    pub(super) pieces: broadcast::Sender<RunPiece>,
    /// Ends the run as a person does.
    pub(super) cancel: CancellationToken,
    /// The token with which it was begun, if that can be revoked here.
    pub(super) token: Option<TokenId>,
    /// The approvals that calls wait for, at most [`CALLS_PER_ANSWER`].
    waiting: Mutex<Vec<ApprovalId>>,
    /// Stops it where it is.
    pub(super) abandon: CancellationToken,
    pub(super) report: watch::Sender<Option<RunReport>>,
}

impl LiveRun {
    /// A handle that the run does not depend on.
    pub(super) fn watching(state: Arc<LiveState>) -> Self {
        Self { state, _tied: None }
    }

    /// A handle without which the run ends.
    pub(super) fn tied(state: Arc<LiveState>) -> Self {
        let guard = state.cancel.clone().drop_guard();
        Self { state, _tied: Some(Arc::new(guard)) }
    }

    pub fn id(&self) -> RunId {
        self.state.id
    }

    /// The conversation that it belongs to.
    pub fn thread(&self) -> Option<ThreadId> {
        self.state.thread
    }

    /// The pieces of answers from now on. A slow reader is told how many it has missed; it misses no event, because
    /// those are in the journal.
    pub fn deltas(&self) -> broadcast::Receiver<RunPiece> {
        self.state.pieces.subscribe()
    }

    /// Waits until it is not driven any more.
    pub async fn done(&self) -> RunReport {
        let mut report = self.state.report.subscribe();
        let done = report.wait_for(Option::is_some).await;
        let report = done.ok().and_then(|report| report.clone());
        // The host reports before it lets the run go.
        report.unwrap_or_else(RunReport::interrupted)
    }

    /// Ends the run as a person does. It may take a moment.
    pub fn cancel(&self) {
        self.state.cancel.cancel();
    }
}

impl RunReport {
    pub(super) fn interrupted() -> Self {
        Self { position: RunPosition::Interrupted, answer: None, usage: ModelUsage::default() }
    }
}

impl LiveState {
    pub(super) fn new(
        (id, owner, thread): (RunId, DataOwner, Option<ThreadId>),
        journal: RunJournal,
        token: Option<TokenId>,
    ) -> (Self, broadcast::Receiver<RunPiece>) {
        let (pieces, first) = broadcast::channel(PIECES);
        let (cancel, abandon) = (CancellationToken::new(), CancellationToken::new());
        let report = watch::Sender::new(None);
        let waiting = Mutex::default();
        let state =
            Self { id, owner, thread, journal, pieces, cancel, token, waiting, abandon, report };
        (state, first)
    }

    pub(super) fn wait_for(&self, approval: &ApprovalId) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < CALLS_PER_ANSWER {
            waiting.push(approval.clone());
        }
    }

    pub(super) fn waiting(&self) -> Vec<ApprovalId> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl RunWatcher for LiveState {
    fn on_wait(&self, _: usize, approval: &ApprovalId) {
        self.wait_for(approval);
    }

    fn on_delta(&self, delta: &Delta) {
        // Nobody may be listening.
        let _ = self.pieces.send(RunPiece { after: self.journal.last(), delta: delta.clone() });
    }
}
