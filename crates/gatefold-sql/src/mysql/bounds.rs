//! What a connection is set to before anything runs on it.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Executor as _, MySqlConnection};

use super::errors::own_failure;
use super::texts::{number, text};
use crate::{DatabaseError, Dialect};

/// What a server says of itself and of a connection to it.
#[derive(Debug, Clone)]
pub(super) struct ServerFacts {
    /// MySQL or MariaDB, whatever the address says.
    pub dialect: Dialect,
    pub version: String,
    /// The database that was connected to, if one was named.
    pub database: Option<String>,
    /// As `USER@HOST`, as the server matched it.
    pub user: String,
}

/// Modes of SQL that change no syntax, which are left as the server has them. All others are off, so
/// that the server reads a statement as the guard did: `"` quotes texts, and `\` escapes.
const KEPT_MODES: &[&str] = &[
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "NO_AUTO_CREATE_USER",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_ENGINE_SUBSTITUTION",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE",
    "ONLY_FULL_GROUP_BY",
    "PAD_CHAR_TO_FULL_LENGTH",
    "STRICT_ALL_TABLES",
    "STRICT_TRANS_TABLES",
    "TIME_ROUND_FRACTIONAL",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// Bounds that every server knows. Times are in seconds, sizes in bytes.
const BOUNDS: &str = "autocommit = 1, lock_wait_timeout = 5, innodb_lock_wait_timeout = 5, \
     net_read_timeout = 30, net_write_timeout = 30, \
     tmp_table_size = LEAST(@@tmp_table_size, 67108864), \
     max_heap_table_size = LEAST(@@max_heap_table_size, 67108864), \
     sort_buffer_size = LEAST(@@sort_buffer_size, 16777216), \
     join_buffer_size = LEAST(@@join_buffer_size, 16777216), \
     group_concat_max_len = LEAST(@@group_concat_max_len, 4194304)";

/// Bounds that only some versions of MariaDB know, each set by itself: what a temporary table takes on
/// disk, and the memory of one connection.
const MARIADB_BOUNDS: [&str; 2] =
    ["tmp_disk_table_size = 2147483648", "max_session_mem_used = 536870912"];

/// Sets a new connection's bounds, and says what is at its other end and the server's number for it.
pub(super) async fn set(
    connection: &mut MySqlConnection,
) -> Result<(ServerFacts, u64), DatabaseError> {
    let sql = "SELECT VERSION(), @@SESSION.sql_mode, CONNECTION_ID(), DATABASE(), CURRENT_USER()";
    let row = connection.fetch_one(sqlx::raw_sql(sql)).await.map_err(own_failure)?;
    let version = text(&row, 0).unwrap_or_default();
    let is_mariadb = version.to_ascii_lowercase().contains("mariadb");
    let facts = ServerFacts {
        dialect: if is_mariadb { Dialect::MariaDb } else { Dialect::MySql },
        version,
        database: text(&row, 3),
        user: text(&row, 4).unwrap_or_default(),
    };
    let id = number(&row, 2).unwrap_or_default();
    let modes = text(&row, 1).unwrap_or_default();
    let kept: Vec<_> = modes.split(',').filter(|mode| KEPT_MODES.contains(mode)).collect();
    let settings = format!("SET SESSION sql_mode = '{}', {BOUNDS}", kept.join(","));
    connection.execute(sqlx::raw_sql(AssertSqlSafe(settings))).await.map_err(own_failure)?;
    if is_mariadb {
        for bound in MARIADB_BOUNDS {
            let setting = sqlx::raw_sql(AssertSqlSafe(format!("SET SESSION {bound}")));
            if let Err(error) = connection.execute(setting).await {
                tracing::debug!(bound, %error, "the server does not know a bound");
            }
        }
    }
    Ok((facts, id))
}

/// What is known before a server was reached.
impl Default for ServerFacts {
    fn default() -> Self {
        Self {
            dialect: Dialect::MySql,
            version: String::new(),
            database: None,
            user: String::new(),
        }
    }
}

impl ServerFacts {
    /// The setting that stops a statement. MySQL only has one for statements that read; the others are
    /// stopped from here.
    pub(super) fn statement_limit(&self, timeout: Duration) -> String {
        match self.dialect {
            Dialect::MariaDb => format!("max_statement_time = {:.3}", timeout.as_secs_f64()),
            _ => format!("max_execution_time = {}", timeout.as_millis().max(1)),
        }
    }

    /// The version as a person would say it.
    pub(super) fn server(&self) -> String {
        format!("{} {}", self.dialect, self.version)
    }
}
