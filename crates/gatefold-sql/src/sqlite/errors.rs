//! SQLite's errors in the words of a source.

use std::time::Duration;

use libsqlite3_sys as ffi;

use super::authorizer::{MAX_LENGTH, PreparationError};
use super::watch::{Denial, StatementWatch};
use crate::{DatabaseError, Missing};

/// An error of the driver while it opened the file or ran a statement of Gatefold's own.
pub(super) fn own_failure(error: sqlx::Error) -> DatabaseError {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let code = code.and_then(|code| code.parse().ok()).unwrap_or(ffi::SQLITE_ERROR);
    match unreachable_reason(code) {
        Some(reason) => {
            DatabaseError::Unreachable { reason: reason.to_owned(), source: Some(error.into()) }
        }
        None => DatabaseError::Failed(error.into()),
    }
}

/// Whether a file could not be opened since SQLite would have to write beside it, which it may not.
pub(super) fn needs_to_write_beside(error: &DatabaseError) -> bool {
    let (DatabaseError::Unreachable { source: Some(cause), .. } | DatabaseError::Failed(cause)) =
        error
    else {
        return false;
    };
    let cause = cause.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
    let code = cause.and_then(sqlx::error::DatabaseError::code);
    let code = code.and_then(|code| code.parse().ok()).map(primary);
    matches!(code, Some(ffi::SQLITE_CANTOPEN | ffi::SQLITE_READONLY))
}

/// An error of the driver while it ran a model's statement.
pub(super) fn run_failure(
    error: sqlx::Error,
    watch: &StatementWatch,
    timeout: Duration,
) -> DatabaseError {
    let Some(database) = error.as_database_error() else { return own_failure(error) };
    let code = database.code().and_then(|code| code.parse().ok()).unwrap_or(ffi::SQLITE_ERROR);
    if primary(code) == ffi::SQLITE_TOOBIG {
        return DatabaseError::RowTooLarge(usize::try_from(MAX_LENGTH).unwrap_or_default());
    }
    let failure = PreparationError { code, message: database.message().to_owned(), offset: None };
    preparation_failure(failure, "", watch, timeout)
}

/// Why a model's statement could not be prepared.
pub(super) fn preparation_failure(
    error: PreparationError,
    sql: &str,
    watch: &StatementWatch,
    timeout: Duration,
) -> DatabaseError {
    if let Some(denial) = watch.take_denial() {
        return denied(denial);
    }
    match primary(error.code) {
        ffi::SQLITE_READONLY => return DatabaseError::Write,
        // The kernel bounds what a worker may take.
        ffi::SQLITE_NOMEM => {
            let what = "needed more memory than it may have and was stopped";
            return DatabaseError::TooMuch(what.to_owned());
        }
        ffi::SQLITE_INTERRUPT => return DatabaseError::Timeout(timeout),
        _ => {}
    }
    if let Some(reason) = unreachable_reason(error.code) {
        return DatabaseError::Unreachable {
            reason: reason.to_owned(),
            source: Some(error.message.into()),
        };
    }
    let missing = missing(&error.message);
    DatabaseError::Statement {
        position: error.offset.and_then(|at| Some(sql.get(..at)?.chars().count())),
        code: Some(error.code.to_string()),
        hint: None,
        missing,
        message: error.message,
    }
}

/// A statement that SQLite understands and that is no single query.
pub(super) fn refusal(message: &str) -> DatabaseError {
    statement(message.to_owned(), None)
}

fn denied(denial: Denial) -> DatabaseError {
    match denial {
        Denial::Write => DatabaseError::Write,
        Denial::Table(name) => statement(format!("no such table: {name}"), Some(Missing::Table)),
        Denial::Function(name) => {
            statement(format!("no such function: {name}"), Some(Missing::Function))
        }
        Denial::Kind(kind) => statement(format!("a statement of {kind} is refused here"), None),
    }
}

fn statement(message: String, missing: Option<Missing>) -> DatabaseError {
    let code = missing.map(|_| ffi::SQLITE_ERROR.to_string());
    DatabaseError::Statement { message, code, position: None, hint: None, missing }
}

fn missing(message: &str) -> Option<Missing> {
    let kinds = [
        ("no such table", Missing::Table),
        ("no such column", Missing::Column),
        ("no such function", Missing::Function),
    ];
    kinds.into_iter().find(|(start, _)| message.starts_with(start)).map(|(_, kind)| kind)
}

/// What to say of an error that is about the file and not about a statement.
fn unreachable_reason(code: i32) -> Option<&'static str> {
    match primary(code) {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => {
            Some("another process is writing to the file; try again")
        }
        ffi::SQLITE_NOTADB => Some("the file is not a SQLite database, or it is encrypted"),
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_READONLY => Some(
            "the file cannot be opened; if it is in WAL mode, this process must be able to write to \
             its folder, or another must have it open",
        ),
        ffi::SQLITE_CORRUPT => Some("the file is damaged"),
        ffi::SQLITE_IOERR => Some("the file cannot be read"),
        ffi::SQLITE_PERM => Some("this process may not read the file"),
        _ => None,
    }
}

/// Extended codes have the primary one in their lowest byte.
fn primary(code: i32) -> i32 {
    code & 0xff
}
