//! What SQLite asks while it prepares and runs a statement, and the answers.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use libsqlite3_sys as ffi;

/// Functions that a statement of a model may not call: they reach outside the database, write to an
/// index, or tell how SQLite was built. Most are not built in; they stand here in case that changes.
const DENIED_FUNCTIONS: &[&str] = &[
    "edit",
    "fts3_tokenizer",
    "load_extension",
    "optimize",
    "readfile",
    "sqlite_compileoption_get",
    "sqlite_compileoption_used",
    "sqlite_log",
    "sqlite_offset",
    "writefile",
];

/// The most tables whose reading is noted for one view.
const MAX_NOTED_READS: usize = 1_000;

/// Whose statement is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    /// Gatefold's own: everything is allowed.
    Own,
    /// A model's that may only read.
    Read,
    /// A model's that may write rows.
    Write,
}

/// Something that SQLite is about to let a statement do.
#[derive(Debug)]
pub(super) struct AuthorizerRequest<'a> {
    /// One of SQLite's action codes.
    pub action: i32,
    /// What the action is about, often a table.
    pub first: &'a str,
    /// Often a column, or a function.
    pub second: &'a str,
}

/// What a statement of a model was not allowed to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denial {
    Write,
    /// A table that does not exist for a model.
    Table(String),
    Function(String),
    /// A statement of a kind that is no query.
    Kind(&'static str),
}

/// Shared by one connection and what SQLite calls back on its thread.
#[derive(Debug)]
pub(super) struct StatementWatch {
    epoch: Instant,
    phase: AtomicU8,
    /// Microseconds after `epoch`.
    deadline_us: AtomicU64,
    is_cancelled: AtomicBool,
    denial: Mutex<Option<Denial>>,
    /// The tables that are read while this is not `None`, at most [`MAX_NOTED_READS`].
    reads: Mutex<Option<BTreeSet<String>>>,
    /// Lets the pool count the connections that SQLite has not closed yet.
    _open: Arc<()>,
}

impl StatementWatch {
    pub(super) fn new(open: Arc<()>) -> Self {
        Self {
            epoch: Instant::now(),
            phase: AtomicU8::new(Phase::Own as u8),
            deadline_us: AtomicU64::new(u64::MAX),
            is_cancelled: AtomicBool::new(false),
            denial: Mutex::new(None),
            reads: Mutex::new(None),
            _open: open,
        }
    }

    /// From here to [`Self::end`], statements are a model's.
    pub(super) fn begin(&self, phase: Phase, timeout: Duration) {
        let deadline = self.epoch.elapsed() + timeout;
        self.deadline_us.store(microseconds(deadline), Ordering::Release);
        *locked(&self.denial) = None;
        self.phase.store(phase as u8, Ordering::Release);
    }

    pub(super) fn end(&self) {
        self.phase.store(Phase::Own as u8, Ordering::Release);
        self.deadline_us.store(u64::MAX, Ordering::Release);
        self.is_cancelled.store(false, Ordering::Release);
    }

    /// Lets Gatefold's own statements be prepared again, while one of a model may still run.
    pub(super) fn take_back(&self) {
        self.phase.store(Phase::Own as u8, Ordering::Release);
        self.cancel();
    }

    /// Stops what runs, as soon as SQLite asks again.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
    }

    pub(super) fn take_denial(&self) -> Option<Denial> {
        locked(&self.denial).take()
    }

    /// Whether a running statement may go on. What it may take in memory is the kernel's to say.
    pub(super) fn goes_on(&self) -> bool {
        !self.is_cancelled.load(Ordering::Acquire)
            && microseconds(self.epoch.elapsed()) < self.deadline_us.load(Ordering::Acquire)
    }

    /// Whether a statement that is being prepared may do this.
    pub(super) fn permits(&self, access: &AuthorizerRequest<'_>) -> bool {
        let denial = match self.phase.load(Ordering::Acquire) {
            phase if phase == Phase::Own as u8 => {
                self.note_read(access);
                None
            }
            phase if phase == Phase::Write as u8 => writing_denial(access),
            _ => reading_denial(access),
        };
        let Some(denial) = denial else { return true };
        locked(&self.denial).get_or_insert(denial);
        false
    }

    /// Notes the tables that are read from here to [`Self::noted_reads`].
    pub(super) fn note_reads(&self) {
        *locked(&self.reads) = Some(BTreeSet::new());
    }

    /// `None` if there were too many.
    pub(super) fn noted_reads(&self) -> Option<BTreeSet<String>> {
        locked(&self.reads).take()
    }

    fn note_read(&self, access: &AuthorizerRequest<'_>) {
        let mut reads = locked(&self.reads);
        let Some(noted) = reads.as_mut().filter(|_| access.action == ffi::SQLITE_READ) else {
            return;
        };
        if noted.len() < MAX_NOTED_READS {
            noted.insert(access.first.to_owned());
        } else {
            *reads = None;
        }
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Whether a table is SQLite's own: its catalogue, or a function that tells of it.
fn is_system_table(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("sqlite_") || name.starts_with("pragma_") || name == "dbstat"
}

fn reading_denial(access: &AuthorizerRequest<'_>) -> Option<Denial> {
    match access.action {
        ffi::SQLITE_SELECT | ffi::SQLITE_RECURSIVE => None,
        ffi::SQLITE_READ => {
            is_system_table(access.first).then(|| Denial::Table(access.first.to_owned()))
        }
        ffi::SQLITE_FUNCTION => {
            let name = access.second.to_ascii_lowercase();
            DENIED_FUNCTIONS.contains(&name.as_str()).then_some(Denial::Function(name))
        }
        // The full-text index asks for this itself.
        ffi::SQLITE_PRAGMA if access.first.eq_ignore_ascii_case("data_version") => None,
        ffi::SQLITE_PRAGMA => Some(Denial::Kind("PRAGMA")),
        ffi::SQLITE_ATTACH => Some(Denial::Kind("ATTACH")),
        ffi::SQLITE_DETACH => Some(Denial::Kind("DETACH")),
        ffi::SQLITE_TRANSACTION | ffi::SQLITE_SAVEPOINT => Some(Denial::Kind("TRANSACTION")),
        _ => Some(Denial::Write),
    }
}

fn writing_denial(access: &AuthorizerRequest<'_>) -> Option<Denial> {
    match access.action {
        ffi::SQLITE_INSERT | ffi::SQLITE_UPDATE | ffi::SQLITE_DELETE => {
            is_system_table(access.first).then(|| Denial::Table(access.first.to_owned()))
        }
        _ => reading_denial(access),
    }
}

/// Nothing here can panic while it holds a lock, and SQLite's callbacks must not.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
