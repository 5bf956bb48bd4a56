//! Answers of a session that a client can resume where they broke off (MCP 2025-11-25,
//! "Resumability and Redelivery").

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::body::Bytes;
use serde_json::value::RawValue;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::request::{RequestInProgress, RequestStep};
use super::streams::Event;

/// How long an answer waits for a client whose stream broke off. If the answer is not complete by
/// then, its request is cancelled.
const GRACE: Duration = Duration::from_secs(30);
/// When a client should come back, if its source sets no time.
const RETRY: Duration = Duration::from_secs(1);
/// The latest time at which a client is told to come back. It is well before [`GRACE`] ends.
const LONGEST_RETRY: Duration = Duration::from_secs(10);
/// The most resumable answers of one session. One more replaces the oldest that was sent in full;
/// if there is none, the new one is not resumable.
const REPLAYS: usize = 64;
/// The most bytes of a session's whole answers that are kept while nobody reads them. A single
/// answer may be larger.
const SENT_BYTES: usize = 4 * 1024 * 1024;
/// The same for all sessions together. An answer that does not fit is not kept.
const ALL_SENT_BYTES: usize = 64 * 1024 * 1024;
/// What one permit of the room for whole answers stands for, in bytes.
const UNIT: usize = 1024;
/// The most unread bytes of one answer. Beyond that, the source's messages wait until somebody
/// reads.
const UNREAD_BYTES: usize = 256 * 1024;
/// The same, counted in messages, because each takes room besides its bytes.
const UNREAD_MESSAGES: usize = 4096;
/// The most bytes of the messages before an answer that are kept after they were read, for a client
/// that comes back. More than this is never in flight when a connection breaks.
const READ_BYTES: usize = 256 * 1024;
/// The same, counted in messages.
const READ_MESSAGES: usize = 1024;

/// How answers are kept for clients whose streams broke off.
#[derive(Clone)]
pub(super) struct Retention {
    /// How long they wait.
    grace: Duration,
    /// The room left for whole answers that nobody reads, in units.
    room: Arc<Semaphore>,
}

impl Retention {
    /// An answer is kept no longer than the session that it belongs to.
    pub(super) fn for_sessions(idle: Duration) -> Self {
        Self { grace: GRACE.min(idle), room: Arc::new(Semaphore::new(ALL_SENT_BYTES / UNIT)) }
    }
}

/// The answers of one session that are incomplete, or that the client may not have received: what
/// was written to a connection is lost if it breaks.
#[derive(Default)]
pub(super) struct Replays {
    /// At most [`REPLAYS`].
    open: Mutex<HashMap<u64, Arc<Replay>>>,
    begun: AtomicU64,
}

impl Replays {
    /// Works on a request independently of its readers. Some of its messages may already be sent.
    /// Returns the request if there are too many.
    pub(super) fn begin(
        self: &Arc<Self>,
        said: Option<ReplayPiece>,
        working: RequestInProgress,
        id: Box<RawValue>,
        retention: &Retention,
    ) -> Result<ReplayReader, Box<RequestInProgress>> {
        let mut open = self.lock();
        if open.len() >= REPLAYS && !forget_oldest(&mut open) {
            return Err(Box::new(working));
        }
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let mut log = ReplayLog::default();
        log.extend(said);
        let log = Mutex::new(log);
        let retention = retention.clone();
        let replay = Arc::new(Replay { log, changed: Notify::new(), retention });
        let written = replay.clone().write(working, id, self.clone(), number);
        let task = AbortOnDropHandle::new(tokio::spawn(written));
        replay.log().task = Some(task);
        open.insert(number, replay.clone());
        drop(open);
        Ok(ReplayReader::new(replay, self, number, 0))
    }

    /// What follows the event with this id, as far as it is still kept.
    ///
    /// Messages read long ago are gone: then the oldest kept one comes first. The specification
    /// lets a server choose what it replays, and the answer is worth more than the notices before
    /// it: a client that gets nothing would have to repeat its call.
    pub(super) fn resume(self: &Arc<Self>, event: &str) -> Option<ReplayReader> {
        let (number, place) = event.split_once('-')?;
        let (number, place) = (number.parse().ok()?, place.parse::<usize>().ok()?);
        let replay = self.lock().get(&number).cloned()?;
        let is_sent = place <= replay.log().end();
        is_sent.then(|| ReplayReader::new(replay, self, number, place))
    }

    /// Cancels everything that is running.
    pub(super) fn clear(&self) {
        let open = std::mem::take(&mut *self.lock());
        for replay in open.into_values() {
            replay.drop_task();
            replay.end();
        }
    }

    /// Keeps an answer that is whole and that nobody reads, if there is room. The task that wrote it
    /// forgets it in time.
    fn keep(&self, number: u64, replay: &Replay) {
        let mut open = self.lock();
        let (is_kept, bytes) = {
            let log = replay.log();
            (log.room.is_some(), log.bytes())
        };
        if is_kept || !open.contains_key(&number) {
            return;
        }
        let room = &replay.retention.room;
        loop {
            let kept = sent_bytes(&open);
            if (kept == 0 || kept + bytes <= SENT_BYTES)
                && let Some(share) = share(room, bytes)
            {
                let mut log = replay.log();
                log.pieces.iter_mut().for_each(ReplayPiece::uncount);
                log.room = Some(share);
                return;
            }
            if !forget_oldest(&mut open) {
                break;
            }
        }
        remove(&mut open, number);
    }

    fn forget(&self, number: u64) {
        let gone = self.lock().remove(&number);
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Replay>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A share of the room for whole answers.
fn share(room: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let units = u32::try_from(bytes.div_ceil(UNIT)).ok()?;
    room.clone().try_acquire_many_owned(units).ok()
}

/// The bytes of the whole answers that are kept.
fn sent_bytes(open: &HashMap<u64, Arc<Replay>>) -> usize {
    open.values()
        .map(|replay| replay.log())
        .filter(|log| log.room.is_some())
        .map(|log| log.bytes())
        .sum()
}

/// Makes room. Returns false if every answer is incomplete, unread or being read.
fn forget_oldest(open: &mut HashMap<u64, Arc<Replay>>) -> bool {
    let gives_way = |replay: &Replay| {
        let log = replay.log();
        log.room.is_some() && log.readers == 0
    };
    let oldest =
        open.iter().filter(|(_, replay)| gives_way(replay)).map(|(number, _)| *number).min();
    oldest.inspect(|number| remove(open, *number)).is_some()
}

/// Forgets an answer, and ends its task, which would have forgotten it later.
fn remove(open: &mut HashMap<u64, Arc<Replay>>, number: u64) {
    if let Some(replay) = open.remove(&number) {
        replay.drop_task();
    }
}

/// One answer: the messages so far.
struct Replay {
    log: Mutex<ReplayLog>,
    /// Rung when there is a new message, and when a reader comes or goes.
    changed: Notify,
    retention: Retention,
}

/// The messages so far. Their places count from the first message of all.
#[derive(Default)]
struct ReplayLog {
    /// At most [`READ_MESSAGES`] that were read and [`UNREAD_MESSAGES`] that were not.
    pieces: VecDeque<ReplayPiece>,
    /// The place of the oldest kept piece.
    start: usize,
    /// The first unread place.
    read: usize,
    /// The bytes of the pieces that were read and are kept.
    read_bytes: usize,
    /// The bytes of the unread pieces.
    unread_bytes: usize,
    is_whole: bool,
    readers: usize,
    /// Since when there has been no reader.
    deserted_since: Option<Instant>,
    /// Its share of the room for answers that nobody reads, once it is whole.
    room: Option<OwnedSemaphorePermit>,
    task: Option<AbortOnDropHandle<()>>,
}

impl ReplayLog {
    /// The place after the last piece.
    fn end(&self) -> usize {
        self.start + self.pieces.len()
    }

    fn bytes(&self) -> usize {
        self.read_bytes + self.unread_bytes
    }

    fn has_room(&self) -> bool {
        let unread = self.end() - self.read;
        self.unread_bytes <= UNREAD_BYTES && unread <= UNREAD_MESSAGES
    }

    fn extend(&mut self, pieces: impl IntoIterator<Item = ReplayPiece>) {
        for piece in pieces {
            self.unread_bytes += piece.bytes();
            self.pieces.push_back(piece);
        }
    }

    /// The piece at a place, or the oldest kept one, and the place after it.
    fn read(&mut self, place: usize) -> Option<(ReplayPiece, usize)> {
        let place = place.max(self.start);
        let is_answer = self.is_whole && place + 1 == self.end();
        let kept = self.pieces.get_mut(place - self.start)?;
        let piece = kept.clone();
        if place >= self.read {
            // The answer itself, which may be large, counts until it is written.
            if !is_answer {
                kept.uncount();
            }
            self.read = place + 1;
            self.unread_bytes -= piece.bytes();
            self.read_bytes += piece.bytes();
            self.trim();
        }
        Some((piece, place + 1))
    }

    /// Forgets the oldest messages that were read, because a call may send messages for as long as
    /// it runs. The answer itself stays, however large: the connection may have broken in the
    /// middle of it.
    fn trim(&mut self) {
        while self.read_bytes > READ_BYTES || self.read - self.start > READ_MESSAGES {
            if self.is_whole && self.pieces.len() == 1 {
                return;
            }
            let Some(oldest) = self.pieces.pop_front() else { return };
            self.read_bytes -= oldest.bytes();
            self.start += 1;
        }
    }
}

/// One piece of an answer.
#[derive(Clone)]
pub(super) enum ReplayPiece {
    Message(Bytes),
    /// The stream must end here; the client comes back for the rest.
    Pause(Duration),
}

impl ReplayPiece {
    /// Gives back what it took of the memory for what waits to be written: what is kept after that
    /// has bounds of its own.
    fn uncount(&mut self) {
        if let Self::Message(text) = self {
            *text = Bytes::copy_from_slice(text);
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Message(text) => text.len(),
            Self::Pause(_) => 0,
        }
    }
}

impl Replay {
    async fn write(
        self: Arc<Self>,
        mut working: RequestInProgress,
        id: Box<RawValue>,
        replays: Arc<Replays>,
        number: u64,
    ) {
        loop {
            let step = tokio::select! {
                biased;
                () = self.deserted() => break,
                step = async {
                    self.has_room().await;
                    working.next().await
                } => step,
            };
            let (piece, is_whole) = match step {
                RequestStep::Message(text) => (ReplayPiece::Message(text), false),
                RequestStep::Pause(retry) => (ReplayPiece::Pause(retry), false),
                RequestStep::Cancelled => {
                    self.end();
                    break;
                }
                RequestStep::Answer(answer) => (ReplayPiece::Message(answer.line(&id)), true),
            };
            self.say(piece, is_whole);
            if is_whole {
                drop(working);
                if self.log().readers == 0 {
                    replays.keep(number, &self);
                }
                self.deserted().await;
                break;
            }
        }
        replays.forget(number);
    }

    /// Waits until there is room for more unread messages.
    async fn has_room(&self) {
        loop {
            let changed = self.changed.notified();
            if self.log().has_room() {
                return;
            }
            changed.await;
        }
    }

    fn say(&self, piece: ReplayPiece, is_whole: bool) {
        {
            let mut log = self.log();
            log.extend([piece]);
            log.is_whole = is_whole;
        }
        self.changed.notify_waiters();
    }

    /// Ends the task that writes it, and gives back its room. The task may live a little longer.
    fn drop_task(&self) {
        let (task, room) = {
            let mut log = self.log();
            (log.task.take(), log.room.take())
        };
        drop((task, room));
    }

    /// Nothing more will be added.
    fn end(&self) {
        self.log().is_whole = true;
        self.changed.notify_waiters();
    }

    /// Waits until there has been no reader for as long as a client may stay away.
    async fn deserted(&self) {
        let grace = self.retention.grace;
        loop {
            let changed = self.changed.notified();
            let since = self.log().deserted_since;
            match since {
                None => changed.await,
                Some(since) if since.elapsed() >= grace => return,
                Some(since) => drop(timeout_at(since + grace, changed).await),
            }
        }
    }

    fn log(&self) -> MutexGuard<'_, ReplayLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader of an answer, starting at some place.
pub(super) struct ReplayReader {
    replay: Arc<Replay>,
    replays: Weak<Replays>,
    number: u64,
    /// How many pieces were read.
    place: usize,
    /// Whether the stream has begun, with the event that makes it resumable.
    has_begun: bool,
    is_over: bool,
}

impl ReplayReader {
    fn new(replay: Arc<Replay>, replays: &Arc<Replays>, number: u64, place: usize) -> Self {
        {
            let mut log = replay.log();
            log.readers += 1;
            log.deserted_since = None;
        }
        replay.changed.notify_waiters();
        let replays = Arc::downgrade(replays);
        Self { replay, replays, number, place, has_begun: place > 0, is_over: false }
    }

    /// The next event of the stream; nothing at its end.
    pub(super) async fn next(&mut self) -> Option<Event> {
        if self.is_over {
            return None;
        }
        if !self.has_begun {
            self.has_begun = true;
            return Some(self.event(Bytes::new(), Some(RETRY)));
        }
        loop {
            let replay = self.replay.clone();
            let changed = replay.changed.notified();
            let (piece, is_last) = {
                let mut log = self.replay.log();
                let piece = log.read(self.place);
                let next = piece.as_ref().map_or(self.place, |(_, next)| *next);
                (piece, log.is_whole && next >= log.end())
            };
            let Some((piece, next)) = piece else {
                if is_last {
                    return None;
                }
                changed.await;
                continue;
            };
            self.place = next;
            self.replay.changed.notify_waiters();
            return Some(match piece {
                ReplayPiece::Message(text) => {
                    self.is_over = is_last;
                    self.event(text, None)
                }
                ReplayPiece::Pause(retry) => {
                    self.is_over = true;
                    self.event(Bytes::new(), Some(retry.min(LONGEST_RETRY)))
                }
            });
        }
    }

    fn event(&self, data: Bytes, retry: Option<Duration>) -> Event {
        Event { id: Some(format!("{}-{}", self.number, self.place)), retry, data }
    }
}

impl Drop for ReplayReader {
    fn drop(&mut self) {
        let is_kept = {
            let mut log = self.replay.log();
            log.readers -= 1;
            if log.readers == 0 {
                log.deserted_since = Some(Instant::now());
            }
            log.is_whole && log.readers == 0
        };
        if let (true, Some(replays)) = (is_kept, self.replays.upgrade()) {
            replays.keep(self.number, &self.replay);
        }
        self.replay.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
