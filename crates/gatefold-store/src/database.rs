use std::path::{Path, PathBuf};
use std::time::Duration;

use gatefold_core::Timestamp;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, SqlSafeStr as _, SqliteConnection};

use crate::StoreError;
use crate::options::Durability;

/// How long a statement waits for another process to finish writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of log pages at which SQLite moves them to the database in the middle of a commit.
/// That takes milliseconds, so housekeeping does it between commits and far more often; this is the
/// bound on the log (64 MiB) for when commits leave it no time.
const LOG_PAGES: &str = "16384";

/// The schema, one migration after another. Released migrations never change.
const MIGRATIONS: [(i64, &str, &str); 19] = [
    (1, "records", include_str!("../migrations/0001_records.sql")),
    (2, "operations", include_str!("../migrations/0002_operations.sql")),
    (3, "past_queries", include_str!("../migrations/0003_past_queries.sql")),
    (4, "approvals", include_str!("../migrations/0004_approvals.sql")),
    (5, "aging", include_str!("../migrations/0005_aging.sql")),
    (6, "reach", include_str!("../migrations/0006_reach.sql")),
    (7, "results", include_str!("../migrations/0007_results.sql")),
    (8, "notes", include_str!("../migrations/0008_notes.sql")),
    (9, "used_tools", include_str!("../migrations/0009_used_tools.sql")),
    (10, "grants", include_str!("../migrations/0010_grants.sql")),
    (11, "access_tokens", include_str!("../migrations/0011_access_tokens.sql")),
    (12, "sign_ins", include_str!("../migrations/0012_sign_ins.sql")),
    (13, "providers", include_str!("../migrations/0013_providers.sql")),
    (14, "error_reasons", include_str!("../migrations/0014_error_reasons.sql")),
    (15, "shown_schemas", include_str!("../migrations/0015_shown_schemas.sql")),
    (16, "runs", include_str!("../migrations/0016_runs.sql")),
    (17, "threads", include_str!("../migrations/0017_threads.sql")),
    (18, "model_uses", include_str!("../migrations/0018_model_uses.sql")),
    (19, "driven_runs", include_str!("../migrations/0019_driven_runs.sql")),
];

#[derive(Clone)]
pub(crate) struct Database {
    path: PathBuf,
    options: SqliteConnectOptions,
}

impl Database {
    pub(crate) fn path(state_dir: &Path) -> PathBuf {
        state_dir.join("gatefold.db")
    }

    pub(crate) fn at(state_dir: &Path, durability: Durability) -> Self {
        let path = Self::path(state_dir);
        let synchronous = match durability {
            Durability::Process => SqliteSynchronous::Normal,
            Durability::Disk => SqliteSynchronous::Full,
        };
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(synchronous)
            .busy_timeout(BUSY_TIMEOUT)
            .foreign_keys(true)
            .pragma("wal_autocheckpoint", LOG_PAGES)
            .disable_statement_logging();
        Self { path, options }
    }

    pub(crate) async fn connect(&self) -> Result<SqliteConnection, StoreError> {
        self.options.connect().await.map_err(|source| self.error(source))
    }

    /// A connection that cannot write.
    pub(crate) async fn connect_to_read(&self) -> Result<SqliteConnection, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .read_only(true)
            .busy_timeout(BUSY_TIMEOUT)
            .disable_statement_logging();
        options.connect().await.map_err(|source| self.error(source))
    }

    /// Migrates the schema. Only one process may do so at a time.
    pub(crate) async fn migrate(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        let known = Self::known();
        let migrations = MIGRATIONS.map(|(version, name, sql)| {
            let sql = sql.into_sql_str();
            Migration::new(version, name.into(), MigrationType::Simple, sql, false)
        });
        Migrator::with_migrations(migrations.into())
            .run(connection)
            .await
            .map_err(|source| StoreError::migration(&self.path, known, source))
    }

    /// The newest schema version that this program knows.
    fn known() -> i64 {
        MIGRATIONS.map(|(version, ..)| version).into_iter().max().unwrap_or_default()
    }

    /// The migration that the database is at, if this program can use it and all its tables exist.
    /// `None` for a database without any.
    pub(crate) async fn schema(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Option<i64>, StoreError> {
        let damaged = || StoreError::Damaged { path: self.path.clone(), source: None };
        let tables = sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'table'");
        let tables: Vec<String> =
            tables.fetch_all(&mut *connection).await.map_err(|source| self.error(source))?;
        let has = |table: &str| tables.iter().any(|own| own == table);
        if !has(STEPS) {
            let is_ours = tables_until(i64::MAX).any(has);
            return if is_ours { Err(damaged()) } else { Ok(None) };
        }
        let found = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations WHERE success");
        let found: Option<i64> =
            found.fetch_one(connection).await.map_err(|source| self.error(source))?;
        let (step, known) = (found.unwrap_or_default(), Self::known());
        if step > known {
            return Err(StoreError::Newer { path: self.path.clone(), found: step, known });
        }
        if tables_until(step).all(has) { Ok(found) } else { Err(damaged()) }
    }

    pub(crate) fn error(&self, source: sqlx::Error) -> StoreError {
        StoreError::database(&self.path, source)
    }
}

/// The table that records which migrations a database has had.
const STEPS: &str = "_sqlx_migrations";

/// The tables that a database has after these migrations.
fn tables_until(step: i64) -> impl Iterator<Item = &'static str> {
    let taken = MIGRATIONS.into_iter().filter(move |(own, ..)| *own <= step);
    let lines = taken.flat_map(|(_, _, sql)| sql.lines());
    lines.filter_map(|line| line.strip_prefix("CREATE TABLE ")?.split(' ').next())
}

/// A time as the database stores it: milliseconds since 1970.
pub(crate) fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.as_millis()).unwrap_or(i64::MAX)
}
