//! What the server's errors mean.

use std::io;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgErrorPosition};

use super::session::{MAX_ROW_BYTES, ROW_TOO_LARGE, Wrapping};
use crate::{DatabaseError, Missing};

/// The longest message or hint of the server that is passed on.
const MAX_MESSAGE: usize = 2_000;

/// The longest statement.
const MAX_STATEMENT: usize = 1024 * 1024;

/// A statement that the server may refuse.
pub(super) struct Statement<'a> {
    sql: &'a str,
    wrapping: Wrapping,
    timeout: Duration,
}

impl Statement<'static> {
    /// One of our own, in which no place is worth pointing at.
    pub(super) fn ours(timeout: Duration) -> Self {
        Self { sql: "", wrapping: Wrapping::nothing(), timeout }
    }
}

impl<'a> Statement<'a> {
    /// A model's statement inside one of ours. A zero byte would end it early in the protocol, which
    /// would take what follows for something else.
    pub(super) fn new(
        sql: &'a str,
        wrapping: Wrapping,
        timeout: Duration,
    ) -> Result<Self, DatabaseError> {
        let fault = |message: String, position| DatabaseError::Statement {
            message,
            code: None,
            position,
            hint: None,
            missing: None,
        };
        if sql.len() > MAX_STATEMENT {
            return Err(fault(format!("the statement is longer than {MAX_STATEMENT} bytes"), None));
        }
        match sql.chars().position(|c| c == '\0') {
            Some(at) => Err(fault("the statement has a zero byte in it".to_owned(), Some(at))),
            None => Ok(Self { sql, wrapping, timeout }),
        }
    }
}

impl Statement<'_> {
    pub(super) fn around(&self) -> String {
        self.wrapping.around(self.sql)
    }

    pub(super) fn error(&self, error: sqlx::Error) -> DatabaseError {
        let Some(server) = server_error(&error) else {
            return match error {
                sqlx::Error::Io(_) | sqlx::Error::Tls(_) => DatabaseError::Unreachable {
                    reason: "the connection was lost".to_owned(),
                    source: Some(error.into()),
                },
                other => DatabaseError::Failed(other.into()),
            };
        };
        match server.code() {
            // It says so of a timeout and of a cancellation alike; nobody but us cancels.
            "57014" => DatabaseError::Timeout(self.timeout),
            "25006" => DatabaseError::Write,
            // Only a query at the top of a statement may write in its `WITH`.
            "0A000" if server.message().contains("data-modifying") => DatabaseError::Write,
            "22P02" if server.message().contains(ROW_TOO_LARGE) => {
                DatabaseError::RowTooLarge(MAX_ROW_BYTES)
            }
            "57P01" | "57P02" | "57P03" | "25P03" | "57P05" => DatabaseError::Unreachable {
                reason: format!("the server ended the connection: {}", cut(server.message())),
                source: Some(error.into()),
            },
            // The driver sends no values for `$1`.
            "08P01" if server.message().contains("requires") => DatabaseError::Statement {
                message: "a statement has no parameters; write the values into it".to_owned(),
                code: Some("42P02".to_owned()),
                position: self.sql.find('$').map(|at| self.sql[..at].chars().count()),
                hint: None,
                missing: None,
            },
            _ => self.refusal(server),
        }
    }

    fn refusal(&self, server: &PgDatabaseError) -> DatabaseError {
        let position = match server.position() {
            Some(PgErrorPosition::Original(at)) => self.wrapping.position_within(self.sql, at),
            _ => None,
        };
        let missing = match server.code() {
            "42P01" | "3F000" => Some(Missing::Table),
            "42703" => Some(Missing::Column),
            "42883" => Some(Missing::Function),
            _ => None,
        };
        DatabaseError::Statement {
            message: cut(server.message()),
            code: Some(server.code().to_owned()),
            position,
            hint: server.hint().map(cut),
            missing,
        }
    }
}

/// Why there is no connection. No message of the driver or the server holds a password.
pub(super) fn connect_error(error: sqlx::Error, options: &PgConnectOptions) -> DatabaseError {
    let place = || match options.get_socket() {
        Some(folder) => format!("`{}/.s.PGSQL.{}`", folder.display(), options.get_port()),
        None => format!("`{}:{}`", options.get_host(), options.get_port()),
    };
    let user = options.get_username();
    let reason = match &error {
        sqlx::Error::Io(io) => match io.kind() {
            io::ErrorKind::ConnectionRefused => format!("nothing listens at {}", place()),
            io::ErrorKind::NotFound if options.get_socket().is_none() => {
                "a file of its TLS settings does not exist".to_owned()
            }
            io::ErrorKind::NotFound => format!("there is no {}", place()),
            io::ErrorKind::PermissionDenied => format!("{} may not be opened", place()),
            _ => format!("{}: {io}", place()),
        },
        sqlx::Error::Tls(tls) => format!("no secure connection to {}: {tls}", place()),
        sqlx::Error::Configuration(fault) => format!("its settings are wrong: {fault}"),
        sqlx::Error::Database(_) => match server_error(&error) {
            Some(server) => match server.code() {
                "28P01" => format!("the server refuses the password of `{user}`"),
                "28000" => format!("the server refuses `{user}`: {}", cut(server.message())),
                "53300" => "the server has no connection left".to_owned(),
                _ => cut(server.message()),
            },
            None => "the server refuses the connection".to_owned(),
        },
        _ => format!("what answers at {} does not behave as PostgreSQL does", place()),
    };
    DatabaseError::Unreachable { reason, source: Some(error.into()) }
}

fn server_error(error: &sqlx::Error) -> Option<&PgDatabaseError> {
    error.as_database_error()?.try_downcast_ref()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
