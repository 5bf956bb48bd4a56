//! A file of SQLite's that a worker opens: whatever a statement takes, it takes from a process of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_worker::{Conversation, Job, Message, Task, WorkerError, WorkerLease, WorkerPool};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::SqliteFile;
use crate::{
    Database, DatabaseAddress, DatabaseError, DatabaseSettings, Dialect, OpenWrite, QueryRows,
    ReadQuery, Role, Schema, Writes,
};

/// What a worker does with files of SQLite's.
pub const SQLITE_TASK: Task = Task { name: "sqlite", run: work };

/// How long reading a file's tables may take.
const SCHEMA_TIME: Duration = Duration::from_secs(60);

/// How long a worker has to break a statement off by itself, which tells more, before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// How long ending a transaction may take. What was written has to reach the disk.
const END_TIME: Duration = Duration::from_secs(60);

const COMMIT: &str = "commit";
const ROLL_BACK: &str = "roll back";

/// A file of SQLite's behind a worker.
#[derive(Debug, Clone)]
pub struct SqliteWorker {
    /// Absolute, since a worker runs elsewhere.
    path: PathBuf,
    writes: Writes,
    connect_timeout: Duration,
    workers: WorkerPool,
    /// Whose statements these are.
    owner: Vec<u8>,
}

/// One job of a worker.
#[derive(Serialize, Deserialize)]
struct FileJob {
    path: PathBuf,
    writes: bool,
    connect_timeout: Duration,
    work: FileWork,
}

#[derive(Serialize, Deserialize)]
enum FileWork {
    Role,
    Schema,
    Query(ReadQuery),
    Explain { sql: String, timeout: Duration },
    Write { sql: String, timeout: Duration },
}

/// A transaction that a worker holds open. Dropping it kills the worker, by which SQLite rolls back.
struct WorkerWrite {
    lease: WorkerLease,
    rows_affected: u64,
}

impl SqliteWorker {
    /// Opens nothing yet.
    pub fn new(path: PathBuf, settings: &DatabaseSettings, workers: WorkerPool) -> Self {
        Self {
            path: std::path::absolute(&path).unwrap_or(path),
            writes: settings.writes,
            connect_timeout: settings.connect_timeout,
            workers,
            owner: Vec::new(),
        }
    }

    async fn begin(
        &self,
        work: FileWork,
        time: Duration,
    ) -> Result<(Message, Option<WorkerLease>), DatabaseError> {
        let job = FileJob {
            path: self.path.clone(),
            writes: self.writes == Writes::Ask,
            connect_timeout: self.connect_timeout,
            work,
        };
        let head = serde_json::to_string(&job).map_err(|error| DatabaseError::Unreachable {
            reason: "its file has a name that is not UTF-8".to_owned(),
            source: Some(error.into()),
        })?;
        let job = Job {
            owner: &self.owner,
            task: SQLITE_TASK.name,
            head: &head,
            body: &[],
            time: time + self.connect_timeout + GRACE,
        };
        self.workers.begin(&job).await.map_err(|error| failure(error, time))
    }

    async fn run<T: DeserializeOwned>(
        &self,
        work: FileWork,
        time: Duration,
    ) -> Result<T, DatabaseError> {
        let (answer, _) = self.begin(work, time).await?;
        read(&answer.head)
    }

    async fn begin_write(
        &self,
        sql: String,
        timeout: Duration,
    ) -> Result<Box<dyn OpenWrite>, DatabaseError> {
        if self.writes == Writes::Refuse {
            return Err(DatabaseError::Write);
        }
        let (answer, lease) = self.begin(FileWork::Write { sql, timeout }, timeout).await?;
        let rows_affected = read(&answer.head)?;
        let mut lease = lease.ok_or_else(|| broken("the transaction was lost"))?;
        // A person is asked now, which takes none of a worker's time.
        lease.release_slot();
        Ok(Box::new(WorkerWrite { lease, rows_affected }))
    }
}

impl Database for SqliteWorker {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn for_owner(&self, owner: &[u8]) -> Option<Arc<dyn Database>> {
        Some(Arc::new(Self { owner: owner.to_vec(), ..self.clone() }))
    }

    fn role(&self) -> BoxFuture<'_, Result<Role, DatabaseError>> {
        self.run(FileWork::Role, self.connect_timeout).boxed()
    }

    fn read_schema(&self) -> BoxFuture<'_, Result<Schema, DatabaseError>> {
        self.run(FileWork::Schema, SCHEMA_TIME).boxed()
    }

    fn query(&self, query: ReadQuery) -> BoxFuture<'_, Result<QueryRows, DatabaseError>> {
        let timeout = query.timeout;
        self.run(FileWork::Query(query), timeout).boxed()
    }

    fn explain(
        &self,
        sql: String,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<String, DatabaseError>> {
        self.run(FileWork::Explain { sql, timeout }, timeout).boxed()
    }

    fn write(
        &self,
        sql: String,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWrite>, DatabaseError>> {
        self.begin_write(sql, timeout).boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

impl OpenWrite for WorkerWrite {
    fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), DatabaseError>> {
        async move {
            let asked = self.lease.ask(&Message::new(COMMIT, []), END_TIME).await;
            let (answer, _) = asked.map_err(|error| failure(error, END_TIME))?;
            read(&answer.head)
        }
        .boxed()
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
        async move {
            // Without an answer the worker is killed, by which SQLite rolls back.
            let _ = self.lease.ask(&Message::new(ROLL_BACK, []), END_TIME).await;
        }
        .boxed()
    }
}

fn read<T: DeserializeOwned>(answer: &str) -> Result<T, DatabaseError> {
    serde_json::from_str(answer).unwrap_or_else(|error| Err(DatabaseError::Failed(error.into())))
}

fn broken(what: &str) -> DatabaseError {
    DatabaseError::Failed(what.into())
}

/// What ended a worker was the statement, but for what it says itself.
fn failure(error: WorkerError, time: Duration) -> DatabaseError {
    match error {
        WorkerError::Busy => DatabaseError::NoWorker,
        WorkerError::Time(_) => DatabaseError::Timeout(time),
        WorkerError::Absent | WorkerError::Start(_) => DatabaseError::Unreachable {
            reason: "there is no worker to open its file".to_owned(),
            source: Some(error.into()),
        },
        error => DatabaseError::TooMuch(error.to_string()),
    }
}

fn work(job: &Message, conversation: &mut Conversation<'_>) -> Message {
    let job: FileJob = serde_json::from_str(&job.head).expect("the other side writes it so");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answer = match runtime {
        Ok(runtime) => runtime.block_on(answer(job, conversation)),
        Err(error) => written::<()>(&Err(DatabaseError::Failed(error.into()))),
    };
    Message::new(answer, [])
}

async fn answer(job: FileJob, conversation: &mut Conversation<'_>) -> String {
    let has_journal = journal_of(&job.path).exists();
    let file = SqliteFile::new(
        job.path.clone(),
        &DatabaseSettings {
            writes: if job.writes { Writes::Ask } else { Writes::Refuse },
            connect_timeout: job.connect_timeout,
            connections: 1,
            ..DatabaseSettings::new(DatabaseAddress::Sqlite(job.path))
        },
    );
    // A worker that was killed in the midst of a write leaves a journal behind, which only an opening that may write
    // rolls back.
    if job.writes && has_journal {
        let _ = file.role().await;
    }
    let answer = match job.work {
        FileWork::Role => written(&file.role().await),
        FileWork::Schema => written(&file.read_schema().await),
        FileWork::Query(query) => written(&file.query(query).await),
        FileWork::Explain { sql, timeout } => written(&file.explain(sql, timeout).await),
        FileWork::Write { sql, timeout } => match file.write(sql, timeout).await {
            Ok(open) => end(open, conversation).await,
            Err(error) => written::<()>(&Err(error)),
        },
    };
    file.close().await;
    answer
}

/// Where SQLite keeps what a change overwrites, until it is committed.
fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    name.into()
}

/// Tells how many rows were changed, and does then what it is told.
async fn end(open: Box<dyn OpenWrite>, conversation: &mut Conversation<'_>) -> String {
    let rows = written(&Ok(open.rows_affected()));
    let decision = conversation.ask(&Message::new(rows, []));
    if decision.is_some_and(|decision| decision.head == COMMIT) {
        return written(&open.commit().await);
    }
    open.roll_back().await;
    written(&Ok(()))
}

fn written<T: Serialize>(answer: &Result<T, DatabaseError>) -> String {
    serde_json::to_string(answer).expect("names and texts are JSON")
}
