use std::sync::Arc;
use std::time::Duration;

use futures::future::OptionFuture;
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use super::{
    CallRow, ENTRIES_WAITING, EndingFiles, Entry, OPEN_LIMIT, OpenResult, RecordSlot, WriteResult,
    WriterInputs, row,
};
use crate::StoreError;
use crate::database::Database;
use crate::owner::Owner;

/// How long rows that nobody waits for may wait for others. By then a call's ending is in the log
/// of ends, and it is mostly written together with the next call's opening, which saves every other
/// commit.
pub const LINGER: Duration = Duration::from_millis(5);

/// The same where all of them are discoveries: nothing depends on when those are written, and the longer
/// they wait, the more of them share a commit.
const DISCOVERIES_LINGER: Duration = Duration::from_millis(100);

/// How long the writer pauses before it retries a failed write.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// The most records to keep for a retry if nobody waits for them.
const KEPT_LIMIT: usize = OPEN_LIMIT;

/// How many records to write before housekeeping is told to checkpoint the database's log.
const ROWS_PER_CHECKPOINT: usize = 1000;

/// The one task that writes records. It collects everything that waits and commits it together.
pub(crate) struct Writer {
    database: Database,
    connection: SqliteConnection,
    intake: WriterInputs,
    batch: Batch,
    checkpoint: Arc<Notify>,
    rows_since_checkpoint: usize,
    /// The log of ends, which is told which ends need no recovery any more.
    ends: EndingFiles,
    /// Held until the end. Without it, other processes would believe that this one is dead.
    owner: Owner,
}

#[derive(Default)]
struct Batch {
    /// Endings of open records, and records that are already complete.
    ended: Vec<CallRow>,
    opened: Vec<CallRow>,
    /// One for each record in `opened`.
    openers: Vec<(Box<RecordSlot>, oneshot::Sender<OpenResult>)>,
    discoveries: Vec<String>,
    flushes: Vec<oneshot::Sender<WriteResult>>,
    /// Callers that wait for the writer to end, which it does after this batch.
    closers: Vec<oneshot::Sender<WriteResult>>,
    /// The latest time to write the batch.
    due: Option<Instant>,
    /// The same for discoveries alone.
    discoveries_due: Option<Instant>,
}

impl Writer {
    pub(crate) fn new(
        database: Database,
        connection: SqliteConnection,
        intake: WriterInputs,
        ends: EndingFiles,
        owner: Owner,
        checkpoint: Arc<Notify>,
    ) -> Self {
        Self {
            database,
            connection,
            intake,
            batch: Batch::default(),
            checkpoint,
            rows_since_checkpoint: 0,
            ends,
            owner,
        }
    }

    /// Writes until the store is closed, or until it is dropped and its last open record has ended.
    pub(crate) async fn run(mut self) {
        let written = loop {
            let more = self.gather().await;
            let written = self.write().await;
            if !more || !self.batch.closers.is_empty() {
                break written;
            }
        };
        let Self { connection, intake, batch, ends, owner, .. } = self;
        drop(intake);
        if let Err(error) = connection.close().await {
            tracing::warn!(%error, "the audit database did not close cleanly");
        }
        if batch.rows() > 0 {
            // The next start finds the ends among them.
            tracing::error!(lost = batch.rows(), "audit records were lost: the store has closed");
        } else {
            ends.remove();
        }
        drop(owner);
        for closer in batch.closers {
            let _ = closer.send(written.clone());
        }
    }

    /// Waits until there is something to write. `false` once nothing more can come.
    async fn gather(&mut self) -> bool {
        let (mut entries, mut endings) = (Vec::new(), Vec::new());
        let mut entries_come = true;
        loop {
            let due: OptionFuture<_> = self.batch.due().map(sleep_until).into();
            tokio::select! {
                biased;
                count = self.intake.entries.recv_many(&mut entries, ENTRIES_WAITING),
                    if entries_come => entries_come = count > 0,
                count = self.intake.endings.recv_many(&mut endings, OPEN_LIMIT) => {
                    if count == 0 {
                        return false;
                    }
                }
                Some(()) = due => return true,
            }
            // Endings from before an entry came are in the channel by now, and must be written
            // before it: a call may be resumed as soon as it was suspended.
            while endings.len() < OPEN_LIMIT
                && let Ok(ended) = self.intake.endings.try_recv()
            {
                endings.push(ended);
            }
            let urgent = self.batch.take(&mut entries, &mut endings);
            if urgent {
                return true;
            }
        }
    }

    async fn write(&mut self) -> WriteResult {
        (self.batch.due, self.batch.discoveries_due) = (None, None);
        self.rows_since_checkpoint += self.batch.rows();
        let calls = self.write_calls().await;
        let discoveries = self.write_discoveries().await;
        let written = calls.and(discoveries);
        if let Err(error) = &written {
            self.set_aside(error);
        }
        for flush in self.batch.flushes.drain(..) {
            let _ = flush.send(written.clone());
        }
        if self.rows_since_checkpoint >= ROWS_PER_CHECKPOINT {
            self.rows_since_checkpoint = 0;
            self.checkpoint.notify_one();
        }
        written
    }

    /// Writes endings, then openings, and answers the openers.
    async fn write_calls(&mut self) -> WriteResult {
        let Batch { ended, opened, openers, .. } = &mut self.batch;
        let count = ended.len() + opened.len();
        if count == 0 {
            return Ok(());
        }
        let json = array(ended.iter().chain(opened.iter()).map(|row| row.json.as_str()));
        match keep_calls(&mut self.connection, &json, count).await {
            Ok(not_kept) => {
                report_not_kept(ended, &not_kept);
                answer(openers, opened, &not_kept, ended.len());
                let numbers = ended.iter().map(|row| row.number);
                self.ends.applied_to(numbers.max().unwrap_or_default());
                for written in ended.drain(..).filter_map(|row| row.written) {
                    let _ = written.send(());
                }
                Ok(())
            }
            Err(error) => {
                let error = Arc::new(self.database.error(error));
                opened.clear();
                for (slot, answer) in openers.drain(..) {
                    slot.forget();
                    let _ = answer.send(Err(error.clone()));
                }
                Err(error)
            }
        }
    }

    async fn write_discoveries(&mut self) -> WriteResult {
        let discoveries = &mut self.batch.discoveries;
        if discoveries.is_empty() {
            return Ok(());
        }
        let json = array(discoveries.iter().map(String::as_str));
        let kept =
            sqlx::query(row::KEEP_DISCOVERIES).bind(json).execute(&mut self.connection).await;
        kept.map_err(|error| Arc::new(self.database.error(error)))?;
        discoveries.clear();
        Ok(())
    }

    /// Keeps a failed batch for a retry, unless a retry cannot help.
    fn set_aside(&mut self, error: &StoreError) {
        let Batch { ended, discoveries, due, .. } = &mut self.batch;
        let limit = if error.is_passing() { KEPT_LIMIT } else { 0 };
        let waited = ended.len() + discoveries.len();
        ended.truncate(limit);
        discoveries.truncate(limit - ended.len());
        let kept = ended.len() + discoveries.len();
        let lost = waited - kept;
        for row in ended.iter_mut() {
            // Let callers go on: the write may keep failing for as long as the disk is full.
            row.written = None;
        }
        tracing::error!(%error, kept, lost, "audit records could not be written");
        *due = (kept > 0).then(|| Instant::now() + RETRY_PAUSE);
    }
}

impl Batch {
    fn due(&self) -> Option<Instant> {
        self.due.into_iter().chain(self.discoveries_due).min()
    }

    fn rows(&self) -> usize {
        self.ended.len() + self.opened.len() + self.discoveries.len()
    }

    /// Adds what arrived. Returns whether anybody waits for it.
    fn take(&mut self, entries: &mut Vec<Entry>, endings: &mut Vec<CallRow>) -> bool {
        self.ended.append(endings);
        for entry in entries.drain(..) {
            match entry {
                Entry::Open { row, slot, answer } => {
                    self.opened.push(row);
                    self.openers.push((slot, answer));
                }
                Entry::Ended(row) => self.ended.push(row),
                Entry::Discovery(json) => self.discoveries.push(json),
                Entry::Flush(answer) => self.flushes.push(answer),
                Entry::Close(answer) => self.closers.push(answer),
            }
        }
        let is_awaited = self.ended.iter().any(|row| row.written.is_some());
        if is_awaited
            || !self.openers.is_empty()
            || !self.flushes.is_empty()
            || !self.closers.is_empty()
        {
            return true;
        }
        // A time that is set already stays: it may be the pause before a retry.
        if self.due.is_none() && !self.ended.is_empty() {
            self.due = Some(Instant::now() + LINGER);
        } else if self.due().is_none() && !self.discoveries.is_empty() {
            self.discoveries_due = Some(Instant::now() + DISCOVERIES_LINGER);
        }
        self.ended.len() + self.discoveries.len() >= KEPT_LIMIT + ENTRIES_WAITING
    }
}

/// Answers each opener. `not_kept` counts from the first of the endings that were written before
/// them.
fn answer(
    openers: &mut Vec<(Box<RecordSlot>, oneshot::Sender<OpenResult>)>,
    opened: &mut Vec<CallRow>,
    not_kept: &[usize],
    endings: usize,
) {
    for (place, ((slot, answer), row)) in openers.drain(..).zip(opened.drain(..)).enumerate() {
        if not_kept.contains(&(endings + place)) {
            slot.forget();
            let _ = answer.send(Err(Arc::new(StoreError::NotSuspended { id: row.id })));
        } else {
            // An opener that has given up drops the slot, which closes the record as cancelled.
            let _ = answer.send(Ok(slot));
        }
    }
}

fn report_not_kept(ended: &[CallRow], not_kept: &[usize]) {
    for row in not_kept.iter().filter_map(|place| ended.get(*place)) {
        tracing::warn!(call = %row.id, "an end was not recorded: the record had ended already");
    }
}

/// Writes a batch of `count` records, and returns the indexes of those that were not stored.
async fn keep_calls(
    connection: &mut SqliteConnection,
    json: &str,
    count: usize,
) -> sqlx::Result<Vec<usize>> {
    let kept = sqlx::query(row::KEEP_CALLS).bind(json).execute(&mut *connection).await?;
    if kept.rows_affected() == count as u64 {
        return Ok(Vec::new());
    }
    let places: Vec<i64> =
        sqlx::query_scalar(row::NOT_KEPT).bind(json).fetch_all(connection).await?;
    Ok(places.into_iter().filter_map(|place| usize::try_from(place).ok()).collect())
}

fn array<'a>(records: impl Iterator<Item = &'a str>) -> String {
    let mut json = String::from("[");
    for record in records {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(record);
    }
    json.push(']');
    json
}
