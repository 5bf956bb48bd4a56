//! Threads of runs.

use gatefold_core::AgentId;
use gatefold_dispatch::{
    DataOwner, Journaled, NewThread, Run, RunId, THREAD_TITLE, Thread, ThreadId, Threads,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _};

use crate::Store;
use crate::database::millis;
use crate::runs::{READ, moment, read_run, unreadable, unusable};

/// How many threads are looked through, the last used ones.
const LISTED: u32 = 10_000;

const BEGIN: &str = "
    INSERT INTO threads (id, owner, title, agent, began_at, used_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?5)";

const ONE: &str = "SELECT * FROM threads WHERE owner = ?1 AND id = ?2";

const LIST: &str = "
    SELECT * FROM threads WHERE owner = ?1 ORDER BY used_at DESC, id DESC LIMIT ?2";

/// The last ones, the last first.
const RUNS: &str = "SELECT * FROM runs WHERE owner = ?1 AND thread = ?2 ORDER BY id DESC LIMIT ?3";

const RENAME: &str = "UPDATE threads SET title = ?3 WHERE owner = ?1 AND id = ?2";

/// In this order: each finds its rows by those that the next one deletes.
const DELETE: [&str; 3] = [
    "DELETE FROM run_events WHERE run IN (SELECT id FROM runs WHERE owner = ?1 AND thread = ?2)",
    "DELETE FROM runs WHERE owner = ?1 AND thread = ?2",
    "DELETE FROM threads WHERE owner = ?1 AND id = ?2",
];
const DELETE_RUN: [&str; 3] = [
    "DELETE FROM run_events WHERE run IN (SELECT id FROM runs WHERE owner = ?1 AND id = ?2)",
    "DELETE FROM threads WHERE id IN (SELECT thread FROM runs WHERE owner = ?1 AND id = ?2)
        AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.thread = threads.id AND runs.id <> ?2)",
    "DELETE FROM runs WHERE owner = ?1 AND id = ?2",
];

/// Those whose runs are gone. Takes the time before which they were used, and the number of rows for one step.
pub(crate) const PRUNE: &str = "
    DELETE FROM threads WHERE id IN (
        SELECT id FROM threads
        WHERE used_at < ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.thread = threads.id)
        LIMIT ?2
    )";

impl Threads for Store {
    fn begin_thread(&self, thread: NewThread) -> Journaled<'_, ()> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(BEGIN)
                .bind(thread.id.to_string())
                .bind(thread.owner.as_bytes())
                .bind(cut(&thread.title))
                .bind(thread.agent.as_ref().map_or("", AgentId::as_str))
                .bind(millis(store.now()));
            let begun = query.execute(&mut *store.connection().await).await;
            begun.map(drop).map_err(|source| unusable(store, source))
        })
    }

    fn thread<'a>(
        &'a self,
        owner: &'a DataOwner,
        thread: ThreadId,
    ) -> Journaled<'a, Option<Thread>> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(ONE).bind(owner.as_bytes()).bind(thread.to_string());
            let row = query.fetch_optional(&mut *store.connection().await).await;
            let thread = row.and_then(|row| row.as_ref().map(read_thread).transpose());
            thread.map_err(|source| unusable(store, source))
        })
    }

    fn threads<'a>(
        &'a self,
        owner: &'a DataOwner,
        words: &'a str,
        limit: u32,
    ) -> Journaled<'a, Vec<Thread>> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(LIST).bind(owner.as_bytes()).bind(LISTED);
            let rows = query.fetch_all(&mut *store.connection().await).await;
            let threads: sqlx::Result<Vec<_>> =
                rows.and_then(|rows| rows.iter().map(read_thread).collect());
            let threads = threads.map_err(|source| unusable(store, source))?.into_iter();
            let words = words.to_lowercase();
            let has_all = |thread: &Thread| {
                let title = thread.title.to_lowercase();
                words.split_whitespace().all(|word| title.contains(word))
            };
            Ok(threads.filter(has_all).take(limit as usize).collect())
        })
    }

    fn runs_of<'a>(&'a self, owner: &'a DataOwner, thread: ThreadId) -> Journaled<'a, Vec<Run>> {
        Box::pin(async move {
            let store = self.inner();
            let query =
                sqlx::query(RUNS).bind(owner.as_bytes()).bind(thread.to_string()).bind(READ);
            let rows = query.fetch_all(&mut *store.connection().await).await;
            let runs =
                rows.and_then(|rows| rows.iter().rev().map(|row| read_run(store, row)).collect());
            runs.map_err(|source| unusable(store, source))
        })
    }

    fn rename_thread<'a>(
        &'a self,
        owner: &'a DataOwner,
        thread: ThreadId,
        title: &'a str,
    ) -> Journaled<'a, bool> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(RENAME)
                .bind(owner.as_bytes())
                .bind(thread.to_string())
                .bind(cut(title));
            let renamed = query.execute(&mut *store.connection().await).await;
            let renamed = renamed.map_err(|source| unusable(store, source))?;
            Ok(renamed.rows_affected() > 0)
        })
    }

    fn delete_thread<'a>(&'a self, owner: &'a DataOwner, thread: ThreadId) -> Journaled<'a, bool> {
        Box::pin(self.delete_all(&DELETE, owner, thread.to_string()))
    }

    fn delete_run<'a>(&'a self, owner: &'a DataOwner, run: RunId) -> Journaled<'a, bool> {
        Box::pin(self.delete_all(&DELETE_RUN, owner, run.to_string()))
    }
}

impl Store {
    /// All of these or none. Whether the last one deleted anything.
    async fn delete_all(
        &self,
        statements: &'static [&'static str],
        owner: &DataOwner,
        id: String,
    ) -> Result<bool, gatefold_dispatch::JournalError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let deleted = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            let mut rows = 0;
            for statement in statements {
                let query = sqlx::query(*statement).bind(owner.as_bytes()).bind(&id);
                rows = query.execute(&mut *transaction).await?.rows_affected();
            }
            transaction.commit().await?;
            Ok(rows > 0)
        };
        let deleted = deleted.await;
        deleted.map_err(|source| unusable(store, source))
    }
}

fn cut(title: &str) -> String {
    title.trim().chars().take(THREAD_TITLE).collect()
}

fn read_thread(row: &SqliteRow) -> sqlx::Result<Thread> {
    let (id, agent): (&str, &str) = (row.try_get("id")?, row.try_get("agent")?);
    let at = |column| row.try_get(column).map(moment);
    Ok(Thread {
        id: ThreadId::parse(id).ok_or_else(|| unreadable("id", id))?,
        title: row.try_get("title")?,
        agent: (!agent.is_empty()).then(|| AgentId::new(agent)),
        began_at: at("began_at")?,
        used_at: at("used_at")?,
    })
}
