//! What every kind of database does for a source.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::BoxError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Dialect, Schema};

/// One database, with a pool of connections to it.
///
/// Every statement of a model runs in a transaction that cannot write, with the session's bounds set.
/// Dropping a future ends its statement on the server too.
pub trait Database: Send + Sync + 'static {
    fn dialect(&self) -> Dialect;

    /// The same for the statements of one owner, where owners share what is scarce.
    fn for_owner(&self, _owner: &[u8]) -> Option<Arc<dyn Database>> {
        None
    }

    /// Who is connected, and what that role could do beyond reading. Refused with
    /// [`DatabaseError::Privileged`] as every other method is, unless the settings allow such a role.
    fn role(&self) -> BoxFuture<'_, Result<Role, DatabaseError>>;

    fn read_schema(&self) -> BoxFuture<'_, Result<Schema, DatabaseError>>;

    fn query(&self, query: ReadQuery) -> BoxFuture<'_, Result<QueryRows, DatabaseError>>;

    /// The plan of a statement, in the server's own words. The statement never runs.
    fn explain(
        &self,
        sql: String,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<String, DatabaseError>>;

    /// Runs one statement that writes, and leaves its transaction open. Only where the settings allow
    /// writes.
    fn write(
        &self,
        sql: String,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWrite>, DatabaseError>>;

    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A statement that has written, whose transaction waits for a decision. Dropping it rolls it back.
pub trait OpenWrite: Send {
    fn rows_affected(&self) -> u64;

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), DatabaseError>>;

    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// A statement that the guard has passed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadQuery {
    pub sql: String,
    /// The positions of result columns whose values are masked.
    pub masked: Vec<usize>,
    pub max_rows: usize,
    pub max_bytes: usize,
    pub timeout: Duration,
}

/// A query's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryRows {
    pub columns: Vec<ResultColumn>,
    /// Each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
    /// Which bound ended it, if it has more rows.
    pub stopped: Option<Stop>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultColumn {
    pub name: String,
    /// The type as the server names it, in lower case.
    #[serde(rename = "type")]
    pub column_type: String,
}

/// The bound that ended a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    Rows,
    Bytes,
}

/// A database role, and what it could do beyond reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    pub name: String,
    pub server: String,
    /// What it could do, the gravest first.
    pub privileges: Vec<Privilege>,
    /// Statements that make a role which can only read, one per line.
    pub better: Vec<String>,
}

/// Something that a role could do beyond reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privilege {
    /// What it could do, to follow "could": "read files of the server (`pg_read_server_files`)".
    pub text: String,
    /// Whether such a role is refused.
    pub is_refused: bool,
}

/// Why a database did not answer. The message is for the caller; causes are for the operator.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum DatabaseError {
    #[error("the database cannot be reached: {reason}")]
    Unreachable {
        reason: String,
        #[source]
        #[serde(with = "optional_cause")]
        source: Option<BoxError>,
    },
    #[error("all {0} connections to the database are in use; try again")]
    Busy(u32),
    /// Too many statements are running.
    #[error("too many statements are running; try again shortly")]
    NoWorker,
    /// The role could do more than a source needs. The list follows "could".
    #[error(
        "the role `{role}` could {could}; connect with one that can only read, or set \
         `privileged_role = true`"
    )]
    Privileged { role: String, could: String },
    #[error("the statement took longer than {} s and was stopped", .0.as_secs())]
    Timeout(Duration),
    /// The statement is wrong, in the server's own words.
    #[error("{message}")]
    Statement {
        message: String,
        /// The SQLSTATE, or SQLite's code.
        code: Option<String>,
        /// Where in the statement, counted in characters from zero.
        position: Option<usize>,
        /// The server's own advice.
        hint: Option<String>,
        /// What kind of thing is missing, if the server says that something is.
        missing: Option<Missing>,
    },
    #[error("the statement would write, and this database is only read")]
    Write,
    #[error("one row is larger than {0} bytes; select fewer or shorter columns")]
    RowTooLarge(usize),
    /// What the statement did, to follow "it".
    #[error("the statement {0}; sort, group or join fewer rows")]
    TooMuch(String),
    #[error("the database failed")]
    Failed(
        #[source]
        #[serde(with = "cause")]
        BoxError,
    ),
}

/// A cause is written as its own text and those of its causes.
mod cause {
    use std::error::Error;

    use gatefold_core::BoxError;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        cause: &BoxError,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text(cause))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<BoxError, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }

    pub(super) fn text(cause: &BoxError) -> String {
        let first: &(dyn Error + 'static) = &**cause;
        let causes = std::iter::successors(Some(first), |cause| (*cause).source());
        causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
    }
}

mod optional_cause {
    use gatefold_core::BoxError;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(
        cause: &Option<BoxError>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        cause.as_ref().map(super::cause::text).serialize(serializer)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Option<BoxError>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(Into::into))
    }
}

/// What a statement named that the database does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    Table,
    Column,
    Function,
}
