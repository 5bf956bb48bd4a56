//! The log of ends: files with the ends of calls that are on their way to the database.
//!
//! An end must survive a crash before its caller hears of it. A commit for each would double the
//! cost of a record. So ends are first appended to a small file, as many at once as have arrived,
//! and reach the database with the next opening. Only recovery reads the files.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use sqlx::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use super::{CallRow, OPEN_LIMIT, row};
use crate::StoreError;
use crate::blocking::blocking;
use crate::layout::private_file;
use crate::options::Durability;
use crate::owner;

/// How many ends can wait for the file: as many as records can be open, so that there is always
/// room, and some for callers who only wait for the others.
const WAITING: usize = OPEN_LIMIT + 1024;

/// The most ends in one write.
const AT_ONCE: usize = 1024;

/// How long a file may grow before the other one is used. It exceeds this only while the database
/// cannot be written, and then no record opens either.
const FILE_BYTES: u64 = 1024 * 1024;

/// How many ends recovery applies with one statement.
const APPLIED_AT_ONCE: usize = 1000;

/// The longest line that recovery reads; an end takes some 250 bytes.
const LINE_BYTES: usize = 4096;

/// An end on its way.
pub(super) struct PendingEnd {
    /// Its reserved place among the endings that wait for the writer.
    pub(super) place: mpsc::OwnedPermit<CallRow>,
    pub(super) row: CallRow,
    /// The line for the file.
    pub(super) line: String,
}

enum LogEntry {
    End(PendingEnd),
    /// Asks for a notice when everything before it was passed to the writer.
    PassOn(oneshot::Sender<()>),
}

/// Takes ends. Clones share it.
#[derive(Clone)]
pub(crate) struct EndingLog(mpsc::Sender<LogEntry>);

impl EndingLog {
    /// Starts the log of a store. Its files exist when this returns.
    ///
    /// A thread of its own writes them, because waiting for the disk must not hold up any other
    /// task.
    pub(crate) fn start(files: &EndingFiles, durability: Durability) -> io::Result<Self> {
        let mut file = EndingFile::create(files, durability)?;
        let (entries, mut coming) = mpsc::channel(WAITING);
        thread::Builder::new().name("gatefold-ends".to_owned()).spawn(move || {
            let mut batch = Vec::new();
            while coming.blocking_recv_many(&mut batch, AT_ONCE) > 0 {
                file.keep(&mut batch);
            }
        })?;
        Ok(Self(entries))
    }

    pub(super) fn keep(&self, end: PendingEnd) {
        if let Err(error) = self.0.try_send(LogEntry::End(end)) {
            let (mpsc::error::TrySendError::Full(entry) | mpsc::error::TrySendError::Closed(entry)) =
                error;
            // The writer answers instead, after its commit.
            if let LogEntry::End(PendingEnd { place, row, .. }) = entry {
                place.send(row);
            }
        }
    }

    /// Waits until the writer has all ends that were passed in before.
    pub(super) async fn pass_on(&self) {
        let (passed, is_passed) = oneshot::channel();
        if self.0.send(LogEntry::PassOn(passed)).await.is_ok() {
            let _ = is_passed.await;
        }
    }
}

/// The two files of one store, and how many of the ends in them are in the database.
#[derive(Clone)]
pub(crate) struct EndingFiles {
    paths: [PathBuf; 2],
    applied: Arc<AtomicU64>,
}

impl EndingFiles {
    pub(crate) fn of(state_dir: &Path, owner: i64) -> Self {
        Self { paths: owner::ending_files(state_dir, owner), applied: Arc::default() }
    }

    /// Notes that the ends up to this number are in the database.
    pub(super) fn applied_to(&self, number: u64) {
        self.applied.fetch_max(number, Ordering::Release);
    }

    /// Removes the files, because the database has everything.
    pub(super) fn remove(&self) {
        for path in &self.paths {
            // If this fails, the next process removes them.
            let _ = fs::remove_file(path);
        }
    }
}

/// Appends to one file until it is long enough, then to the other.
struct EndingFile {
    files: [File; 2],
    applied: Arc<AtomicU64>,
    durability: Durability,
    current: usize,
    length: u64,
    /// The number of ends so far, and the number when the other file was left.
    count: u64,
    count_of_other: u64,
}

impl EndingFile {
    fn create(files: &EndingFiles, durability: Durability) -> io::Result<Self> {
        let [one, other] = &files.paths;
        let made = [private_file(one)?, private_file(other)?];
        if durability == Durability::Disk
            && let Some(directory) = one.parent()
        {
            sync_directory(directory)?;
        }
        let applied = files.applied.clone();
        Ok(Self {
            files: made,
            applied,
            durability,
            current: 0,
            length: 0,
            count: 0,
            count_of_other: 0,
        })
    }

    /// Writes what came and passes it on. For ends that could not be written, the writer answers.
    fn keep(&mut self, batch: &mut Vec<LogEntry>) {
        // Starts a new line, in case the previous one was cut short.
        let mut text = String::from("\n");
        for entry in &mut *batch {
            if let LogEntry::End(PendingEnd { row, line, .. }) = entry {
                self.count += 1;
                row.number = self.count;
                text.push_str(line);
            }
        }
        let written = if text.len() > 1 { self.append(&text) } else { Ok(()) };
        if let Err(error) = &written {
            tracing::error!(%error, "ends of calls wait for the database: their log failed");
        }
        for entry in batch.drain(..) {
            match entry {
                LogEntry::End(PendingEnd { place, mut row, .. }) => {
                    let answer = if written.is_ok() { row.written.take() } else { None };
                    // The writer first, because the call may be resumed as soon as it is answered.
                    place.send(row);
                    answer.map(|answer| answer.send(()));
                }
                LogEntry::PassOn(passed) => {
                    let _ = passed.send(());
                }
            }
        }
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        let is_other_free = self.applied.load(Ordering::Acquire) >= self.count_of_other;
        if self.length >= FILE_BYTES && is_other_free {
            let other = 1 - self.current;
            self.files[other].set_len(0)?;
            (self.current, self.length, self.count_of_other) = (other, 0, self.count);
        }
        let file = &mut self.files[self.current];
        self.length += text.len() as u64;
        file.write_all(text.as_bytes())?;
        if self.durability == Durability::Disk { file.sync_data() } else { Ok(()) }
    }
}

/// Ends the records of a process that is gone, in the way it had ended them. Returns how many.
pub(crate) async fn recover_ends(
    connection: &mut SqliteConnection,
    state_dir: &Path,
    owner: i64,
    failed: impl Fn(sqlx::Error) -> StoreError,
) -> Result<u64, StoreError> {
    let paths = owner::ending_files(state_dir, owner);
    let mut ended = 0;
    for path in paths {
        let place = path.clone();
        let read = blocking(move || read(&path)).await;
        for ends in read.map_err(|error| StoreError::unusable(&place, error))? {
            let applied = sqlx::query(row::END_AS_RECORDED).bind(ends).execute(&mut *connection);
            ended += applied.await.map_err(&failed)?.rows_affected();
        }
    }
    Ok(ended)
}

/// The ends in a file, as JSON arrays. Skips lines that are torn or damaged.
fn read(path: &Path) -> io::Result<Vec<String>> {
    let mut file = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut arrays, mut lines) = (Vec::new(), Vec::new());
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 {
        if line.len() <= LINE_BYTES
            && let Ok(text) = str::from_utf8(&line)
            && serde_json::from_str::<row::End<'_>>(text).is_ok()
        {
            lines.push(text.trim_end().to_owned());
        }
        line.clear();
        if lines.len() == APPLIED_AT_ONCE {
            arrays.push(format!("[{}]", lines.join(",")));
            lines.clear();
        }
    }
    if !lines.is_empty() {
        arrays.push(format!("[{}]", lines.join(",")));
    }
    Ok(arrays)
}

/// Makes new names in a directory survive a power cut.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
