//! Threads: conversations with agents, each a row of runs.

use gatefold_core::{AgentId, Timestamp};

use crate::{DataOwner, Journaled, Run, RunId, ThreadId};

/// The longest title of a thread, in characters. Longer ones are cut.
pub const THREAD_TITLE: usize = 120;

/// A thread that begins.
#[derive(Debug, Clone)]
pub struct NewThread {
    pub id: ThreadId,
    pub owner: DataOwner,
    pub title: String,
    pub agent: Option<AgentId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub id: ThreadId,
    pub title: String,
    pub agent: Option<AgentId>,
    pub began_at: Timestamp,
    /// When a run of it last began.
    pub used_at: Timestamp,
}

/// Where threads are kept. Nobody sees those of another owner: to them there is no such thread.
pub trait Threads: Send + Sync + 'static {
    fn begin_thread(&self, thread: NewThread) -> Journaled<'_, ()>;

    fn thread<'a>(
        &'a self,
        owner: &'a DataOwner,
        thread: ThreadId,
    ) -> Journaled<'a, Option<Thread>>;

    /// The threads with all of these words in their titles, the last used first.
    fn threads<'a>(
        &'a self,
        owner: &'a DataOwner,
        words: &'a str,
        limit: u32,
    ) -> Journaled<'a, Vec<Thread>>;

    /// The runs of a thread, the first one first; of very many the last ones.
    fn runs_of<'a>(&'a self, owner: &'a DataOwner, thread: ThreadId) -> Journaled<'a, Vec<Run>>;

    /// Whether there is such a thread.
    fn rename_thread<'a>(
        &'a self,
        owner: &'a DataOwner,
        thread: ThreadId,
        title: &'a str,
    ) -> Journaled<'a, bool>;

    /// Deletes a thread with its runs. Whether there was one.
    fn delete_thread<'a>(&'a self, owner: &'a DataOwner, thread: ThreadId) -> Journaled<'a, bool>;

    /// Deletes one run with its events, as if it had not been, and its thread with the last one. Whether there
    /// was one.
    fn delete_run<'a>(&'a self, owner: &'a DataOwner, run: RunId) -> Journaled<'a, bool>;
}
