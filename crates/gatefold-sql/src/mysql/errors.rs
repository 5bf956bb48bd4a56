//! A server's errors in the words of a source. Numbers are those of MySQL's and MariaDB's references.

use std::time::Duration;

use sqlx::mysql::MySqlDatabaseError;

use crate::{DatabaseError, Missing};

const NO_TLS: &str =
    "encryption could not be agreed on, or the server's certificate is not trusted";

/// An error while connecting, or in a statement of Gatefold's own.
pub(super) fn own_failure(error: sqlx::Error) -> DatabaseError {
    match unreachable_reason(&error) {
        Some(reason) => DatabaseError::Unreachable { reason, source: Some(error.into()) },
        None => DatabaseError::Failed(error.into()),
    }
}

/// An error in a model's statement.
pub(super) fn statement_failure(error: sqlx::Error, sql: &str, timeout: Duration) -> DatabaseError {
    let Some(failure) = server_error(&error) else { return own_failure(error) };
    match failure.number() {
        // The server stopped it: MariaDB's limit, MySQL's, or a kill.
        1969 | 3024 | 1317 => return DatabaseError::Timeout(timeout),
        // The transaction only reads, or so does the server.
        1792 | 1836 => return DatabaseError::Write,
        1290 if failure.message().contains("read-only") => return DatabaseError::Write,
        _ => {}
    }
    let message = match failure.number() {
        1290 if failure.message().contains("max-session-mem-used") => {
            "the statement needed too much memory and was stopped; sort, group or join fewer rows"
                .to_owned()
        }
        _ => failure.message().to_owned(),
    };
    DatabaseError::Statement {
        position: syntax_position(failure, sql),
        code: failure.code().map(str::to_owned),
        hint: None,
        missing: missing(failure.number()),
        message,
    }
}

/// A statement that the server would take and that is no query.
pub(super) fn refusal(message: impl Into<String>) -> DatabaseError {
    DatabaseError::Statement {
        message: message.into(),
        code: None,
        position: None,
        hint: None,
        missing: None,
    }
}

fn server_error(error: &sqlx::Error) -> Option<&MySqlDatabaseError> {
    error.as_database_error()?.try_downcast_ref()
}

fn missing(number: u16) -> Option<Missing> {
    match number {
        1051 | 1109 | 1146 => Some(Missing::Table),
        1054 => Some(Missing::Column),
        // One that may not be called looks like one that is not there.
        1305 | 1370 | 1630 => Some(Missing::Function),
        _ => None,
    }
}

/// Where a syntax error is: the server repeats the statement's text from there on, cut after 80
/// characters.
fn syntax_position(failure: &MySqlDatabaseError, sql: &str) -> Option<usize> {
    if failure.number() != 1064 {
        return None;
    }
    let (_, rest) = failure.message().split_once(" near '")?;
    let (near, _) = rest.rsplit_once("' at line ")?;
    let at = if near.is_empty() { sql.trim_end().len() } else { sql.find(near)? };
    Some(sql.get(..at)?.chars().count())
}

/// What to say of an error that is about the connection and not about a statement.
fn unreachable_reason(error: &sqlx::Error) -> Option<String> {
    let reason = match error {
        sqlx::Error::Io(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused => "nothing listens at its address",
            std::io::ErrorKind::NotFound => "its socket does not exist",
            std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::ConnectionReset => {
                "the server closed the connection"
            }
            // What the server sent is no TLS, or its certificate is not trusted.
            std::io::ErrorKind::InvalidData => NO_TLS,
            _ => "the network failed",
        },
        sqlx::Error::Tls(_) => NO_TLS,
        sqlx::Error::Protocol(_) => "the server does not speak as MySQL or MariaDB does",
        sqlx::Error::WorkerCrashed => "the connection broke down",
        _ => match server_error(error)?.number() {
            1045 | 1698 => "the user or the password is wrong",
            1044 | 1142 | 1227 => "the user may not use the database",
            1049 => "there is no such database",
            1040 | 1203 | 1226 => "the server takes no more connections",
            1129 | 1130 => "the server takes no connections from here",
            1251 | 2059 => "the server wants a way to sign in that is not known here",
            1053 | 1077 | 1079 => "the server is shutting down",
            1927 => "the connection was ended on the server",
            _ => return None,
        },
    };
    Some(reason.to_owned())
}
