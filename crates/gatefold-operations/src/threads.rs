//! Conversations with agents: each is its person's own.

use gatefold_agent::{Transcript, replay};
use gatefold_core::{AgentId, Timestamp};
use gatefold_dispatch::{DataOwner, Thread, ThreadId, Threads as _};
use gatefold_model::History;
use serde::Serialize;

use crate::{Fault, OperationError, StateOperations};

/// The most conversations in one answer.
const LISTED_THREADS: u32 = 1_000;

/// The fewest last digits of an id that stand for it.
const LAST_DIGITS: usize = 6;

/// A conversation, without what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadRecord {
    pub id: String,
    pub title: String,
    pub agent: Option<AgentId>,
    pub began_at: Timestamp,
    /// When something was last said.
    pub used_at: Timestamp,
}

impl From<Thread> for ThreadRecord {
    fn from(thread: Thread) -> Self {
        let Thread { id, title, agent, began_at, used_at } = thread;
        Self { id: id.to_string(), title, agent, began_at, used_at }
    }
}

impl StateOperations {
    /// The conversations of whoever asks with these words in their titles, the last used first. The
    /// operator's are the local user's.
    pub async fn threads(&self, words: &str) -> Result<Vec<ThreadRecord>, OperationError> {
        let threads = self.store.threads(&self.owner(), words, LISTED_THREADS).await?;
        Ok(threads.into_iter().map(ThreadRecord::from).collect())
    }

    /// One of them, by its id or the last digits of it.
    pub async fn thread(&self, id: &str) -> Result<ThreadRecord, OperationError> {
        self.find_thread(id).await.map(ThreadRecord::from)
    }

    /// What was said in one of them. None if nothing was.
    pub async fn conversation(
        &self,
        id: &str,
    ) -> Result<(ThreadRecord, Option<History>), OperationError> {
        let (owner, thread) = (self.owner(), self.find_thread(id).await?);
        let runs = self.store.runs_of(&owner, thread.id).await?;
        let runs = runs.into_iter().map(|run| run.id);
        let said = replay(&self.store, &owner, runs).await?;
        Ok((thread.into(), said.map(Transcript::into_history)))
    }

    pub async fn rename_thread(
        &self,
        id: &str,
        title: &str,
    ) -> Result<ThreadRecord, OperationError> {
        if title.trim().is_empty() {
            return Err(OperationError::Invalid(Fault::new("a title has at least one character")));
        }
        let thread = self.find_thread(id).await?;
        self.store.rename_thread(&self.owner(), thread.id, title).await?;
        self.thread(&thread.id.to_string()).await
    }

    /// Deletes a conversation with all that was said in it.
    pub async fn delete_thread(&self, id: &str) -> Result<ThreadRecord, OperationError> {
        let thread = self.find_thread(id).await?;
        self.store.delete_thread(&self.owner(), thread.id).await?;
        Ok(thread.into())
    }

    pub(crate) fn owner(&self) -> DataOwner {
        self.asker.owner()
    }

    async fn find_thread(&self, id: &str) -> Result<Thread, OperationError> {
        let (owner, id) = (self.owner(), id.trim().to_ascii_lowercase());
        if let Some(whole) = ThreadId::parse(&id) {
            let thread = self.store.thread(&owner, whole).await?;
            return thread.ok_or_else(|| unknown(&id));
        }
        let all = self.store.threads(&owner, "", LISTED_THREADS).await?;
        let is_meant =
            |thread: &Thread| id.len() >= LAST_DIGITS && thread.id.to_string().ends_with(&id);
        let mut meant = all.into_iter().filter(is_meant);
        let first = meant.next().ok_or_else(|| unknown(&id))?;
        match meant.next() {
            None => Ok(first),
            Some(_) => Err(OperationError::Invalid(Fault::new(format!(
                "several conversations end with `{id}`; write more of the id"
            )))),
        }
    }
}

fn unknown(id: &str) -> OperationError {
    let fault = Fault::new(format!("there is no conversation `{id}`"));
    OperationError::NotFound(fault.with_help("`gatefold threads` lists them"))
}
