use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{CallId, Clock};
use gatefold_dispatch::{AuditOutcome, AuditSlot, CallClosed, CallOpened, DiscoveryRecord};
use tokio::sync::{mpsc, oneshot};

use crate::StoreError;
use crate::digests::DigestKey;

mod ending_log;
mod row;
mod writer;

use ending_log::PendingEnd;
pub(crate) use ending_log::{EndingFiles, EndingLog, recover_ends};
pub(crate) use row::TEXT_LIMIT;
pub use writer::LINGER;
pub(crate) use writer::Writer;

/// How many entries may wait for the writer before adding another one waits too.
const ENTRIES_WAITING: usize = 4096;

/// How many records may be open at once. Each reserves room for its closing, so that closing never
/// waits. Past this number opening fails at once instead of waiting: the open calls may themselves
/// be waiting for the one that wants to open (a nested call).
const OPEN_LIMIT: usize = 65_536;

/// The front of the audit log: hands records to the writer.
pub(crate) struct Ledger {
    entries: mpsc::Sender<Entry>,
    endings: mpsc::Sender<CallRow>,
    log: EndingLog,
    owner: i64,
    attempts: AtomicI64,
    digests: DigestKey,
    clock: Arc<dyn Clock>,
}

/// What the writer receives besides endings of open records.
enum Entry {
    Open {
        row: CallRow,
        slot: Box<RecordSlot>,
        answer: oneshot::Sender<OpenResult>,
    },
    /// A record that has already ended. Somebody waits for it to be written.
    Ended(CallRow),
    Discovery(String),
    /// Asks for a notice when everything before it is written.
    Flush(oneshot::Sender<WriteResult>),
    /// The same, after which the writer ends.
    Close(oneshot::Sender<WriteResult>),
}

/// Whether everything up to this point was written.
type WriteResult = Result<(), Arc<StoreError>>;

type OpenResult = Result<Box<RecordSlot>, Arc<StoreError>>;

/// A call's record, to be sent to the database as JSON.
struct CallRow {
    id: CallId,
    json: String,
    /// Its number among the ends in the log of ends, or zero if it is not in there.
    number: u64,
    /// Notified once it is written.
    written: Option<oneshot::Sender<()>>,
}

impl CallRow {
    fn new(id: CallId, json: String) -> Self {
        Self { id, json, number: 0, written: None }
    }
}

/// The store that holds a record, and the record's number in that store.
#[derive(Debug, Clone, Copy)]
struct RecordHolder {
    owner: i64,
    attempt: i64,
}

/// The writer's ends of the two channels.
pub(crate) struct WriterInputs {
    entries: mpsc::Receiver<Entry>,
    endings: mpsc::Receiver<CallRow>,
}

impl Ledger {
    pub(crate) fn new(
        owner: i64,
        log: EndingLog,
        digests: DigestKey,
        clock: Arc<dyn Clock>,
    ) -> (Self, WriterInputs) {
        let (entries, entries_in) = mpsc::channel(ENTRIES_WAITING);
        let (endings, endings_in) = mpsc::channel(OPEN_LIMIT);
        let intake = WriterInputs { entries: entries_in, endings: endings_in };
        let attempts = AtomicI64::new(0);
        (Self { entries, endings, log, owner, attempts, digests, clock }, intake)
    }

    /// Opens a record, and waits until it is written.
    pub(crate) async fn open(
        &self,
        mut opened: CallOpened,
    ) -> Result<Box<dyn AuditSlot>, Arc<StoreError>> {
        opened.arguments_digest = self.digests.kept(&opened.arguments_digest);
        let place = self.endings.clone().try_reserve_owned().map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreError::TooManyOpen { limit: OPEN_LIMIT },
            mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
        })?;
        let holder = self.next_holder();
        let row = CallRow::new(opened.id, row::open(&opened, holder));
        let (log, clock) = (self.log.clone(), self.clock.clone());
        let (held, began) = (Some((place, opened)), clock.uptime());
        let slot = Box::new(RecordSlot { held, holder, log, clock, began });
        let slot = self.ask(|answer| Entry::Open { row, slot, answer }).await?;
        Ok(slot as Box<dyn AuditSlot>)
    }

    /// Writes the record of a call that was refused, which ends as soon as it opens. Waits until it
    /// is written, or until one attempt has failed.
    pub(crate) async fn refuse(&self, mut opened: CallOpened, closed: CallClosed) {
        opened.arguments_digest = self.digests.kept(&opened.arguments_digest);
        let json = row::ended(&opened, &closed, self.next_holder());
        let (written, kept) = oneshot::channel();
        let row = CallRow { written: Some(written), ..CallRow::new(opened.id, json) };
        self.leave(Entry::Ended(row)).await;
        let _ = kept.await;
    }

    pub(crate) async fn discover(&self, mut record: DiscoveryRecord) {
        record.arguments_digest = self.digests.kept(&record.arguments_digest);
        self.leave(Entry::Discovery(row::discovery(&record))).await;
    }

    pub(crate) async fn flush(&self) -> WriteResult {
        self.log.pass_on().await;
        self.ask(Entry::Flush).await
    }

    pub(crate) async fn close(&self) -> WriteResult {
        self.log.pass_on().await;
        self.ask(Entry::Close).await
    }

    async fn ask<T>(
        &self,
        entry: impl FnOnce(oneshot::Sender<Result<T, Arc<StoreError>>>) -> Entry,
    ) -> Result<T, Arc<StoreError>> {
        let (answer, answered) = oneshot::channel();
        let sent = self.entries.send(entry(answer)).await;
        sent.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    /// Passes on an entry that nobody waits for, as soon as there is room.
    async fn leave(&self, entry: Entry) {
        if self.entries.send(entry).await.is_err() {
            tracing::error!("an audit record was lost: the store is closed");
        }
    }

    fn next_holder(&self) -> RecordHolder {
        RecordHolder { owner: self.owner, attempt: self.attempts.fetch_add(1, Ordering::Relaxed) }
    }
}

/// Room reserved for the end of one record. If it is dropped without an end, the call counts as
/// cancelled: the caller gave up before taking the slot.
struct RecordSlot {
    held: Option<(mpsc::OwnedPermit<CallRow>, CallOpened)>,
    holder: RecordHolder,
    log: EndingLog,
    clock: Arc<dyn Clock>,
    /// By the clock's uptime.
    began: Duration,
}

impl RecordSlot {
    /// Releases the slot of a record that was never written.
    fn forget(mut self: Box<Self>) {
        self.held = None;
    }
}

impl AuditSlot for RecordSlot {
    fn close(mut self: Box<Self>, closed: CallClosed) -> BoxFuture<'static, ()> {
        let Some((place, opened)) = self.held.take() else {
            return std::future::ready(()).boxed();
        };
        let json = row::ended(&opened, &closed, self.holder);
        let line = row::end(&closed, self.holder);
        let (written, kept) = oneshot::channel();
        let row = CallRow { written: Some(written), ..CallRow::new(opened.id, json) };
        self.log.keep(PendingEnd { place, row, line });
        kept.map(drop).boxed()
    }
}

impl Drop for RecordSlot {
    fn drop(&mut self) {
        let Some((place, opened)) = self.held.take() else { return };
        let at = self.clock.now();
        let closed = CallClosed {
            id: opened.id,
            at,
            took: self.clock.uptime().saturating_sub(self.began),
            outcome: AuditOutcome::Cancelled,
            reason: None,
            result_bytes: 0,
        };
        // Nobody waits for this end, so it can be written with the next commit.
        place.send(CallRow::new(opened.id, row::ended(&opened, &closed, self.holder)));
    }
}
