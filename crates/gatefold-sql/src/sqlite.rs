//! SQLite: a file that a worker opens.
//!
//! The walls here are a connection that is opened for reading, `query_only`, an authorizer that SQLite
//! asks about everything that a statement would do, and limits with a deadline that SQLite's machine
//! is held to.

mod authorizer;
mod errors;
mod functions;
mod reading;
mod schema;
mod sessions;
mod values;
mod virtual_tables;
mod watch;
mod worker;
mod writing;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::{
    Database, DatabaseError, DatabaseSettings, Dialect, OpenWrite, Privilege, QueryRows, ReadQuery,
    Role, Schema, Writes,
};
use sessions::SessionPool;

pub use worker::{SQLITE_TASK, SqliteWorker};

/// A file of SQLite's, opened in this process: for a worker.
pub struct SqliteFile {
    sessions: Arc<SessionPool>,
    writes: Writes,
}

impl SqliteFile {
    /// Opens nothing yet.
    pub fn new(path: PathBuf, settings: &DatabaseSettings) -> Self {
        let limit = settings.connections.max(1);
        let sessions = SessionPool::new(path, settings.connect_timeout, limit);
        Self { sessions: Arc::new(sessions), writes: settings.writes }
    }
}

impl Database for SqliteFile {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn role(&self) -> BoxFuture<'_, Result<Role, DatabaseError>> {
        role(&self.sessions).boxed()
    }

    fn read_schema(&self) -> BoxFuture<'_, Result<Schema, DatabaseError>> {
        schema::read(&self.sessions).boxed()
    }

    fn query(&self, query: ReadQuery) -> BoxFuture<'_, Result<QueryRows, DatabaseError>> {
        reading::query(&self.sessions, query).boxed()
    }

    fn explain(
        &self,
        sql: String,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<String, DatabaseError>> {
        reading::explain(&self.sessions, sql, timeout).boxed()
    }

    fn write(
        &self,
        sql: String,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWrite>, DatabaseError>> {
        async move {
            match self.writes {
                Writes::Refuse => Err(DatabaseError::Write),
                Writes::Ask => writing::write(&self.sessions, sql, timeout).await,
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.sessions.close().boxed()
    }
}

/// SQLite has no roles: what this process may do with the file is what a statement could.
async fn role(sessions: &Arc<SessionPool>) -> Result<Role, DatabaseError> {
    // SQLite is asked, since to open the file beside it would take its locks away.
    let mut lease = sessions.writing().await?;
    let is_read_only = lease.with_handle(|handle, _| authorizer::is_read_only(handle)).await?;
    let privileges = if is_read_only {
        Vec::new()
    } else {
        let path = sessions.path().display();
        vec![Privilege { text: format!("write to the file `{path}`"), is_refused: false }]
    };
    Ok(Role {
        name: "file".to_owned(),
        server: format!("SQLite {}", authorizer::version()),
        privileges,
        better: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
