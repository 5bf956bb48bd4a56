use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use gatefold_core::{CallId, Clock};
use gatefold_dispatch::{AuditOutcome, AuditSlot, CallClosed, CallOpened, DiscoveryRecord};
use tokio::sync::{mpsc, oneshot};

use crate::StoreError;

mod row;
mod writer;

pub(crate) use writer::Writer;

/// How many entries wait for the writer before whoever brings another one waits too.
const ENTRIES_WAITING: usize = 4096;

/// How many records may be open at once. Each holds a place for its closing, so that closing
/// never waits; past this number opening fails at once, rather than wait for calls which may
/// themselves wait for the one that is to open.
const OPEN_LIMIT: usize = 65_536;

/// Where records are handed in.
pub(crate) struct Ledger {
    entries: mpsc::Sender<Entry>,
    endings: mpsc::Sender<CallRow>,
    owner: i64,
    attempts: AtomicI64,
    clock: Arc<dyn Clock>,
}

/// What waits for the writer, beside endings.
enum Entry {
    Open {
        row: CallRow,
        slot: Box<Slot>,
        answer: oneshot::Sender<Opening>,
    },
    /// A record that is over already.
    Ended(CallRow),
    Discovery(String),
    /// Asks to be told when everything before it is written.
    Flush(oneshot::Sender<Written>),
    /// The same, and then the writer ends.
    Close(oneshot::Sender<Written>),
}

/// Whether everything asked about was written.
type Written = Result<(), Arc<StoreError>>;

type Opening = Result<Box<Slot>, Arc<StoreError>>;

/// A call's record as JSON, ready for the database.
struct CallRow {
    id: CallId,
    json: String,
}

/// Who holds a record: a store and its count of records.
#[derive(Debug, Clone, Copy)]
struct Holder {
    owner: i64,
    attempt: i64,
}

/// The writing half's ends of the two channels.
pub(crate) struct Intake {
    entries: mpsc::Receiver<Entry>,
    endings: mpsc::Receiver<CallRow>,
}

impl Ledger {
    pub(crate) fn new(owner: i64, clock: Arc<dyn Clock>) -> (Self, Intake) {
        let (entries, entries_in) = mpsc::channel(ENTRIES_WAITING);
        let (endings, endings_in) = mpsc::channel(OPEN_LIMIT);
        let intake = Intake { entries: entries_in, endings: endings_in };
        (Self { entries, endings, owner, attempts: AtomicI64::new(0), clock }, intake)
    }

    /// Opens a record, and waits until it is written.
    pub(crate) async fn open(
        &self,
        opened: CallOpened,
    ) -> Result<Box<dyn AuditSlot>, Arc<StoreError>> {
        let place = self.endings.clone().try_reserve_owned().map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => StoreError::TooManyOpen { limit: OPEN_LIMIT },
            mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
        })?;
        let holder = self.next_holder();
        let row = CallRow { id: opened.id, json: row::open(&opened, holder) };
        let slot =
            Box::new(Slot { held: Some((place, opened)), holder, clock: self.clock.clone() });
        let slot = self.ask(|answer| Entry::Open { row, slot, answer }).await?;
        Ok(slot as Box<dyn AuditSlot>)
    }

    /// Hands in the record of a call that was refused, which is over when it opens.
    pub(crate) async fn refuse(&self, opened: CallOpened, closed: CallClosed) {
        let json = row::ended(&opened, &closed, self.next_holder());
        self.leave(Entry::Ended(CallRow { id: opened.id, json })).await;
    }

    pub(crate) async fn discover(&self, record: DiscoveryRecord) {
        self.leave(Entry::Discovery(row::discovery(&record))).await;
    }

    pub(crate) async fn flush(&self) -> Written {
        self.ask(Entry::Flush).await
    }

    pub(crate) async fn close(&self) -> Written {
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

    /// Hands in what nobody waits for, as soon as there is room.
    async fn leave(&self, entry: Entry) {
        if self.entries.send(entry).await.is_err() {
            tracing::error!("an audit record was lost: the store is closed");
        }
    }

    fn next_holder(&self) -> Holder {
        Holder { owner: self.owner, attempt: self.attempts.fetch_add(1, Ordering::Relaxed) }
    }
}

/// The place kept for the end of one record. Dropped without an end, the call counts as
/// cancelled: nobody took the slot, since whoever opened the record had given up by then.
struct Slot {
    held: Option<(mpsc::OwnedPermit<CallRow>, CallOpened)>,
    holder: Holder,
    clock: Arc<dyn Clock>,
}

impl Slot {
    /// Lets go of the place when the record was never written.
    fn forget(mut self: Box<Self>) {
        self.held = None;
    }

    fn end(&mut self, closed: impl FnOnce(&CallOpened) -> CallClosed) {
        let Some((place, opened)) = self.held.take() else { return };
        let json = row::ended(&opened, &closed(&opened), self.holder);
        place.send(CallRow { id: opened.id, json });
    }
}

impl AuditSlot for Slot {
    fn close(mut self: Box<Self>, record: CallClosed) {
        self.end(|_| record);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let at = self.clock.now();
        self.end(|opened| CallClosed {
            id: opened.id,
            at,
            took: at.since(opened.at),
            outcome: AuditOutcome::Cancelled,
            result_bytes: 0,
        });
    }
}
