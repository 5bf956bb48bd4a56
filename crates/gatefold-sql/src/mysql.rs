//! MySQL and MariaDB.
//!
//! The walls here are prepared statements, of which each is one; a read-only transaction on a
//! connection whose transactions all are; the session's bounds; and a look at the user's grants. The
//! server decides whether it is MySQL or MariaDB, whatever the address says.

mod bounds;
mod connections;
mod errors;
mod geometry;
mod merged;
mod reading;
mod role;
mod schema;
mod texts;
mod values;
mod views;
mod words;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::ConnectOptions as _;
use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};

use crate::{
    Database, DatabaseError, DatabaseSettings, Dialect, OpenWrite, QueryRows, ReadQuery, Role,
    Schema, ServerAddress, ServerPlace, TlsMode, Writes,
};
use connections::MySqlConnections;

/// A server of MySQL or MariaDB.
pub struct MySqlServer {
    connections: Arc<MySqlConnections>,
    /// What the address says, until the server has said it itself.
    dialect: Dialect,
    writes: Writes,
    statement_timeout: Duration,
}

impl MySqlServer {
    /// Connects to nothing yet.
    pub fn new(address: &ServerAddress, settings: &DatabaseSettings) -> Self {
        let connections = MySqlConnections::new(
            options(address, settings),
            settings.connect_timeout,
            settings.connections.max(1),
            settings.privileged_role,
        );
        Self {
            connections: Arc::new(connections),
            dialect: address.dialect,
            writes: settings.writes,
            statement_timeout: settings.statement_timeout,
        }
    }
}

/// Sets all that the driver would take from elsewhere. The session's settings are made in `bounds`.
fn options(address: &ServerAddress, settings: &DatabaseSettings) -> MySqlConnectOptions {
    let tls = settings.tls.or(&address.tls);
    let mode = match tls.mode {
        None | Some(TlsMode::Prefer) => MySqlSslMode::Preferred,
        Some(TlsMode::Disable) => MySqlSslMode::Disabled,
        Some(TlsMode::Require) => MySqlSslMode::Required,
        Some(TlsMode::VerifyCa) => MySqlSslMode::VerifyCa,
        Some(TlsMode::VerifyFull) => MySqlSslMode::VerifyIdentity,
    };
    let mut options = MySqlConnectOptions::new()
        .port(address.port)
        .username(address.user.as_deref().unwrap_or_default())
        .ssl_mode(mode)
        // One, so that what was prepared to be looked at is what runs.
        .statement_cache_capacity(1)
        .charset("utf8mb4")
        .timezone("+00:00".to_owned())
        .pipes_as_concat(false)
        .no_engine_substitution(false)
        .disable_statement_logging();
    options = match &address.place {
        ServerPlace::Host(host) => options.host(host),
        ServerPlace::Socket(path) => options.socket(path),
    };
    if let Some(password) = settings.password.as_ref().or(address.password.as_ref()) {
        options = options.password(password.expose());
    }
    if let Some(database) = &address.database {
        options = options.database(database);
    }
    if let Some(path) = &tls.ca {
        options = options.ssl_ca(path);
    }
    if let (Some(cert), Some(key)) = (&tls.cert, &tls.key) {
        options = options.ssl_client_cert(cert).ssl_client_key(key);
    }
    options
}

impl Database for MySqlServer {
    fn dialect(&self) -> Dialect {
        self.connections.facts().map_or(self.dialect, |facts| facts.dialect)
    }

    fn role(&self) -> BoxFuture<'_, Result<Role, DatabaseError>> {
        async {
            let mut lease = self.connections.reading(self.statement_timeout, None).await?;
            let facts = self.connections.facts().cloned().unwrap_or_default();
            let role = role::read(lease.connection()?, &facts).await?;
            lease.give_back().await;
            Ok(role)
        }
        .boxed()
    }

    fn read_schema(&self) -> BoxFuture<'_, Result<Schema, DatabaseError>> {
        schema::read(&self.connections, self.statement_timeout).boxed()
    }

    fn query(&self, query: ReadQuery) -> BoxFuture<'_, Result<QueryRows, DatabaseError>> {
        reading::query(&self.connections, query).boxed()
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
        async move {
            match self.writes {
                Writes::Refuse => Err(DatabaseError::Write),
                Writes::Ask => writing::write(&self.connections, sql, timeout).await,
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.connections.close().boxed()
    }
}
