//! PostgreSQL.
//!
//! A model's statement runs as the query of a cursor, inside a transaction that cannot write and that
//! is always rolled back. Three things follow from the cursor: the server takes nothing but one query
//! in its place, rows come in batches of a known size, and fetching them is our own statement, so that
//! the server may write every value as text, also those of types that nobody here has heard of.

mod connections;
mod errors;
mod path;
mod privileges;
mod reading;
mod role;
mod schema;
mod session;
mod texts;
mod types;
mod values;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::{
    Database, DatabaseError, DatabaseSettings, Dialect, OpenWrite, QueryRows, ReadQuery, Role,
    Schema, ServerAddress, Writes,
};

use connections::Connections;
use types::KnownTypes;

/// A database of PostgreSQL 12 or later.
#[derive(Debug)]
pub struct Postgres {
    connections: Arc<Connections>,
    types: KnownTypes,
    writes: Writes,
    statement_timeout: Duration,
}

impl Postgres {
    /// Connects to nothing yet.
    pub fn new(
        address: &ServerAddress,
        settings: &DatabaseSettings,
    ) -> Result<Self, DatabaseError> {
        Ok(Self {
            connections: Arc::new(Connections::new(address, settings)?),
            types: KnownTypes::default(),
            writes: settings.writes,
            statement_timeout: settings.statement_timeout,
        })
    }
}

impl Database for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn role(&self) -> BoxFuture<'_, Result<Role, DatabaseError>> {
        role::read(&self.connections, self.statement_timeout).boxed()
    }

    fn read_schema(&self) -> BoxFuture<'_, Result<Schema, DatabaseError>> {
        schema::read(&self.connections).boxed()
    }

    fn query(&self, query: ReadQuery) -> BoxFuture<'_, Result<QueryRows, DatabaseError>> {
        reading::query(&self.connections, &self.types, query).boxed()
    }

    fn explain(
        &self,
        sql: String,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<String, DatabaseError>> {
        reading::explain(&self.connections, sql, timeout).boxed()
    }

    fn write(
        &self,
        sql: String,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWrite>, DatabaseError>> {
        if self.writes == Writes::Refuse {
            return std::future::ready(Err(DatabaseError::Write)).boxed();
        }
        writing::write(&self.connections, sql, timeout).boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.connections.close().boxed()
    }
}
