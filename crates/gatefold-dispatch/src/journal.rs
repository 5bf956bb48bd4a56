//! Runs of agents and workflows, each with a journal of what happened.

use std::fmt;

use futures::future::BoxFuture;
use gatefold_core::{ApprovalId, BoxError, Timestamp};
use serde_json::value::RawValue;

use crate::DataOwner;

/// The most events of a run, and the most bytes of one.
pub const RUN_EVENTS: u64 = 20_000;
pub const RUN_EVENT_BYTES: usize = 6 * 1024 * 1024;

/// One execution of an agent or a workflow. Ids begin with their time, so later runs have larger ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(u128);

impl RunId {
    /// Joins a time with 80 bits of the caller's randomness.
    pub fn new(now: Timestamp, random: u128) -> Self {
        const RANDOM_BITS: u32 = 80;
        Self(u128::from(now.as_millis()) << RANDOM_BITS | random & ((1 << RANDOM_BITS) - 1))
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u128::from_str_radix(text, 16).ok().map(Self))?
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A conversation, which is a row of runs. It has the id of the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(RunId);

impl ThreadId {
    pub fn of(first: RunId) -> Self {
        Self(first)
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        RunId::parse(text).map(Self)
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    Agent,
    Workflow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    Done,
    Failed,
    Cancelled,
}

/// A run that begins.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub id: RunId,
    pub owner: DataOwner,
    pub kind: RunKind,
    /// The agent's or the workflow's name.
    pub subject: String,
    /// The run in which this one was started.
    pub parent: Option<RunId>,
    /// The conversation that it belongs to.
    pub thread: Option<ThreadId>,
}

/// What is known of a run besides its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub kind: RunKind,
    pub subject: String,
    pub parent: Option<RunId>,
    pub thread: Option<ThreadId>,
    pub began_at: Timestamp,
    /// When and how it ended, once it has.
    pub end: Option<(Timestamp, RunOutcome)>,
    /// The number of the last event; 0 if there is none.
    pub last: u64,
    pub phase: RunPhase,
}

/// Whether a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunPhase {
    /// A process that lives drives it.
    Driven,
    /// Nobody drives it until somebody has decided about one of these approvals.
    Waiting(Vec<ApprovalId>),
    /// Whoever drove it is gone.
    Interrupted,
    Ended,
}

/// What is written into a journal.
#[derive(Debug, Clone)]
pub struct NewRunEvent {
    /// What happened, in a word that its writer and its readers share.
    pub kind: &'static str,
    pub json: Box<RawValue>,
}

/// An event as it stands in a journal, where it stays as it is.
#[derive(Debug, Clone)]
pub struct RunEvent {
    /// 1 for a run's first event, and one more for each.
    pub number: u64,
    pub at: Timestamp,
    pub kind: String,
    pub json: Box<RawValue>,
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("there is no such run")]
    UnknownRun,
    #[error("there is no such conversation any more")]
    UnknownThread,
    #[error("the run has ended")]
    RunEnded,
    #[error("somebody else has written to the run: its last event is {last}")]
    Overtaken { last: u64 },
    #[error("a run has at most {RUN_EVENTS} events")]
    TooManyEvents,
    #[error("an event has at most {RUN_EVENT_BYTES} bytes")]
    TooLargeEvent,
    #[error("the journal cannot be used")]
    Unusable(#[source] BoxError),
}

/// What is answered about runs.
pub type Journaled<'a, T> = BoxFuture<'a, Result<T, JournalError>>;

/// Where runs and their events are kept. Nobody sees the runs of another owner.
///
/// A run has one writer. It says which event it wrote last, so a second one, after a crash that was
/// none, adds nothing.
pub trait Journal: Send + Sync + 'static {
    /// Fails if the run belongs to a thread and its owner has none of this id.
    fn begin(&self, run: NewRun) -> Journaled<'_, ()>;

    /// Adds events behind the one with the number `last`, all or none, and answers with the number of the
    /// new last one. They are kept before it answers.
    fn append(&self, run: RunId, last: u64, events: Vec<NewRunEvent>) -> Journaled<'_, u64>;

    /// Ends a run whose last event is `last`. Nothing is added afterwards.
    fn end(&self, run: RunId, last: u64, outcome: RunOutcome) -> Journaled<'_, ()>;

    fn run<'a>(&'a self, owner: &'a DataOwner, run: RunId) -> Journaled<'a, Option<Run>>;

    /// The newest runs that began before `before`, the newest first.
    fn runs<'a>(
        &'a self,
        owner: &'a DataOwner,
        before: Option<RunId>,
        limit: u32,
    ) -> Journaled<'a, Vec<Run>>;

    /// The events behind the one with the number `after`, in order, `limit` at most.
    fn events<'a>(
        &'a self,
        owner: &'a DataOwner,
        run: RunId,
        after: u64,
        limit: u32,
    ) -> Journaled<'a, Vec<RunEvent>>;

    /// The same, once there are any: waits for the next event. None are left if the run has ended. Whoever
    /// asks again behind the last one that it was given misses nothing.
    fn follow<'a>(
        &'a self,
        owner: &'a DataOwner,
        run: RunId,
        after: u64,
        limit: u32,
    ) -> Journaled<'a, Vec<RunEvent>>;
}
