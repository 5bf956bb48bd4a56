//! What each wall stops by itself, of statements that do harm where none stands.
//!
//! SQLite has no roles, and so three walls: the guard; a file that is opened for reading, with
//! `query_only`; and the authorizer with its limits and its deadline, by one prepared statement.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, Row as _, SqliteConnection,
};
use tokio::time::timeout;

use super::sessions::SessionPool;
use super::{SqliteFile, reading};
use crate::statements;
use crate::{
    CheckedStatement, Database as _, DatabaseAddress, DatabaseError, DatabaseSettings, Dialect,
    Guard, LimitForm, ReadQuery, StatementKind, VisibleSchema,
};
use harms::{
    BOUND, HANGING, Harm, HarmedDatabase, Observed, Part, TIMEOUT, Twin, Walls, answer_text,
    closed_rules, try_harms,
};

#[path = "../../tests/corpus/harms.rs"]
mod harms;

/// How long a statement may take that is none of those that hang.
const QUICK: Duration = Duration::from_secs(20);

/// What the second twin has instead of the first one's secrets.
const OTHER_SECRETS: &str = "
    DROP VIEW peek;
    ALTER TABLE secrets RENAME TO vault;
    CREATE VIEW peek AS SELECT id, token FROM vault;
    UPDATE vault SET token = 'other' || id;
    INSERT INTO vault VALUES (7, 'more');
    UPDATE employees SET salary = CASE id WHEN 1 THEN 1000 WHEN 2 THEN 2000 WHEN 3 THEN 3000
      ELSE 12000 END, email = CASE id WHEN 1 THEN 'zoe@corp.example' WHEN 3 THEN 'cy@corp.example'
      WHEN 2 THEN NULL ELSE 'ann@corp.example' END;
    UPDATE sqlite_sequence SET seq = 9;
    INSERT INTO words VALUES ('hidden words of the second');
";

/// What one connection has that another one has not.
const SESSION: &str = "SELECT group_concat(x, '|') FROM (
    SELECT name AS x FROM pragma_database_list UNION ALL SELECT name FROM sqlite_temp_master
    UNION ALL SELECT 'a' LIKE 'A' UNION ALL SELECT * FROM pragma_foreign_keys
    UNION ALL SELECT * FROM pragma_cache_size UNION ALL SELECT * FROM pragma_recursive_triggers)";

/// Files of both twins, which are copied for each statement.
struct HarmedFiles {
    folder: tempfile::TempDir,
    visible: [VisibleSchema; 2],
}

#[tokio::test(flavor = "multi_thread")]
async fn every_harm_is_stopped() {
    let files = HarmedFiles::new().await;
    try_harms(&files, "harms.sqlite.sql", Part::WHOLE).await.check("SQLite");
}

fn file_name(twin: Twin) -> &'static str {
    match twin {
        Twin::First => "first.db",
        Twin::Second => "second.db",
    }
}

async fn open(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    options.busy_timeout(Duration::ZERO).connect().await.unwrap()
}

impl HarmedFiles {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let schema =
            statements::text("schema.sqlite.sql") + &statements::text("harms.sqlite.setup.sql");
        let make = async |twin, other: &str| {
            let path = folder.path().join(file_name(twin));
            let mut connection = open(&path).await;
            connection
                .execute(sqlx::raw_sql(AssertSqlSafe(format!("{schema}{other}"))))
                .await
                .unwrap();
            connection.close().await.unwrap();
            let settings = DatabaseSettings::new(DatabaseAddress::Sqlite(path.clone()));
            let schema = SqliteFile::new(path, &settings).read_schema().await.unwrap();
            VisibleSchema::new(Dialect::Sqlite, &schema, &closed_rules(&["secrets", "vault"]))
        };
        let visible = [make(Twin::First, "").await, make(Twin::Second, OTHER_SECRETS).await];
        let mut planted = open(&folder.path().join("planted.db")).await;
        let sql = "CREATE TABLE t (text); INSERT INTO t VALUES ('planted-5f1c')";
        planted.execute(sqlx::raw_sql(sql)).await.unwrap();
        planted.close().await.unwrap();
        Self { folder, visible }
    }

    fn visible(&self, twin: Twin) -> &VisibleSchema {
        &self.visible[usize::from(twin == Twin::Second)]
    }
}

impl HarmedDatabase for HarmedFiles {
    fn walls(&self) -> Vec<Walls> {
        vec![Walls::Guard, Walls::Transaction, Walls::Session]
    }

    fn marks(&self) -> &[&str] {
        &["planted-5f1c", "tok-7f3a", "tok-99b2"]
    }

    async fn observe(&self, walls: Walls, twin: Twin, harm: Harm, sql: &str) -> Observed {
        let run = OneRun::new(self, twin);
        let sql = sql
            .replace("{planted}", &run.folder.path().join("planted.db").display().to_string())
            .replace("{file}", &run.folder.path().join("made.db").display().to_string());
        let mut seen = Observed::default();
        let sent = match walls {
            Walls::Guard | Walls::All => match Guard::new(self.visible(twin)).check(&sql) {
                Ok(checked) => checked,
                Err(error) => {
                    let folder = run.folder.path().display().to_string();
                    let answer = error.to_string().replace(&folder, "FOLDER");
                    return Observed { answer, ..seen };
                }
            },
            _ => unjudged(&sql),
        };
        reset_peak();
        let before = memory_used();
        match walls {
            Walls::All => run.behind_all(&mut seen, &sent.sql, sent.masked).await,
            Walls::Session => run.watched(&mut seen, harm, &sent.sql).await,
            _ => run.alone(&mut seen, walls, harm, &sent.sql, &sent.masked).await,
        }
        seen.eaten_bytes = peak_memory().saturating_sub(before);
        let folder = run.folder.path().display().to_string();
        // What a statement names itself is no news.
        seen.answer = seen.answer.replace(&folder, "FOLDER");
        let path = run.path();
        seen.changed_tables = std::fs::read(&path).unwrap() != run.before;
        seen.wrote_file |= run.has_more_files();
        seen
    }
}

/// A folder for one statement.
struct OneRun {
    folder: tempfile::TempDir,
    before: Vec<u8>,
}

impl OneRun {
    fn new(files: &HarmedFiles, twin: Twin) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let from = |name: &str| files.folder.path().join(name);
        std::fs::copy(from(file_name(twin)), folder.path().join("hr.db")).unwrap();
        std::fs::copy(from("planted.db"), folder.path().join("planted.db")).unwrap();
        let before = std::fs::read(folder.path().join("hr.db")).unwrap();
        Self { folder, before }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("hr.db")
    }

    fn has_more_files(&self) -> bool {
        let names = std::fs::read_dir(self.folder.path()).unwrap();
        names
            .map(|entry| entry.unwrap().file_name())
            .any(|name| name != "hr.db" && name != "planted.db")
    }

    async fn is_locked(&self) -> bool {
        let mut other = open(&self.path()).await;
        let locked = other.execute("BEGIN IMMEDIATE").await.is_err();
        let _ = other.close().await;
        locked
    }

    /// In a connection of our own, with one wall at most.
    async fn alone(
        &self,
        seen: &mut Observed,
        walls: Walls,
        harm: Harm,
        sql: &str,
        masked: &[usize],
    ) {
        let is_reading = walls == Walls::Transaction;
        let options = SqliteConnectOptions::new()
            .filename(self.path())
            .read_only(is_reading)
            .create_if_missing(!is_reading);
        let options = if is_reading { options.pragma("query_only", "ON") } else { options };
        let mut connection = options.connect().await.unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let goes_on = Arc::clone(&is_over);
        let mut handle = connection.lock_handle().await.unwrap();
        handle.set_progress_handler(1_000, move || !goes_on.load(Ordering::Acquire));
        drop(handle);
        // What ends a transaction needs one.
        if is_reading || ["COMMIT", "END", "ROLLBACK"].iter().any(|end| sql.starts_with(end)) {
            connection.execute("BEGIN DEFERRED").await.unwrap();
        }
        let before = text(&mut connection, SESSION).await;
        let bound = if harm == Harm::Hangs { HANGING } else { QUICK };
        let answered = timeout(bound, answer(&mut connection, sql, masked)).await;
        is_over.store(true, Ordering::Release);
        let Ok(answer) = answered else {
            seen.outlived = true;
            return;
        };
        is_over.store(false, Ordering::Release);
        seen.answer = answer;
        seen.wrote_file = self.has_more_files() && harm == Harm::WritesFile;
        if is_reading {
            let _ = connection.execute("ROLLBACK").await;
        }
        seen.held_lock = self.is_locked().await;
        seen.changed_session = text(&mut connection, SESSION).await != before;
        let _ = connection.close().await;
    }

    /// With the authorizer and its limits, on a file that may be written.
    async fn watched(&self, seen: &mut Observed, harm: Harm, sql: &str) {
        let pool = Arc::new(SessionPool::new(self.path(), QUICK, 1));
        let mut lease = pool.writing().await.unwrap();
        let before = text(lease.connection().unwrap(), SESSION).await;
        let ran = timeout(BOUND, async {
            reading::begin(&mut lease, sql, TIMEOUT).await?;
            Ok::<_, DatabaseError>(answer(lease.connection()?, sql, &[]).await)
        });
        match ran.await {
            Ok(Ok(answer)) => seen.answer = answer,
            Ok(Err(_)) => "refused".clone_into(&mut seen.answer),
            Err(_) => {
                seen.outlived = true;
                return;
            }
        }
        lease.watch().end();
        let _ = lease.execute("COMMIT").await;
        seen.held_lock = harm == Harm::Locks && self.is_locked().await;
        seen.changed_session = text(lease.connection().unwrap(), SESSION).await != before;
    }

    /// As a model's statement is run.
    async fn behind_all(&self, seen: &mut Observed, sql: &str, masked: Vec<usize>) {
        let settings = DatabaseSettings::new(DatabaseAddress::Sqlite(self.path()));
        let database = SqliteFile::new(self.path(), &settings);
        let query = ReadQuery {
            sql: sql.to_owned(),
            masked,
            max_rows: 1_000,
            max_bytes: 1 << 20,
            timeout: TIMEOUT,
        };
        // Others are answered meanwhile.
        let beside = async {
            let other =
                ReadQuery { sql: "SELECT 1".to_owned(), masked: Vec::new(), ..query.clone() };
            tokio::time::sleep(Duration::from_millis(5)).await;
            database.query(other).await.expect("others are answered")
        };
        let (ran, _) = tokio::join!(timeout(BOUND, database.query(query.clone())), beside);
        match ran {
            Ok(Ok(rows)) => seen.answer = format!("{:?}", rows.rows),
            Ok(Err(DatabaseError::Statement { message, .. })) => seen.answer = message,
            Ok(Err(error)) => seen.answer = error.to_string(),
            Err(_) => seen.outlived = true,
        }
        seen.held_lock = self.is_locked().await;
        database.close().await;
    }
}

async fn text(connection: &mut SqliteConnection, sql: &'static str) -> Option<String> {
    sqlx::query_scalar(sql).fetch_one(connection).await.ok()
}

/// The first rows of a statement, as texts.
async fn answer(connection: &mut SqliteConnection, sql: &str, masked: &[usize]) -> String {
    let rows = connection.fetch(sqlx::raw_sql(AssertSqlSafe(sql)));
    answer_text(rows, masked, cell).await
}

fn cell(row: &SqliteRow, at: usize) -> String {
    let value = row.try_get_unchecked::<Option<Vec<u8>>, _>(at).unwrap_or_default();
    String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()
}

#[expect(unsafe_code, reason = "the driver has no safe form of this call")]
fn memory_used() -> u64 {
    // SAFETY: the call takes nothing, and may be made at any time from any thread.
    let used = unsafe { libsqlite3_sys::sqlite3_memory_used() };
    u64::try_from(used).unwrap_or_default()
}

#[expect(unsafe_code, reason = "the driver has no safe form of this call")]
fn peak_memory() -> u64 {
    // SAFETY: the call takes and returns numbers, at any time from any thread.
    let peak = unsafe { libsqlite3_sys::sqlite3_memory_highwater(0) };
    u64::try_from(peak).unwrap_or_default()
}

#[expect(unsafe_code, reason = "the driver has no safe form of this call")]
fn reset_peak() {
    // SAFETY: the call takes and returns numbers, at any time from any thread.
    unsafe { libsqlite3_sys::sqlite3_memory_highwater(1) };
}

/// A statement that no guard has seen.
fn unjudged(sql: &str) -> CheckedStatement {
    CheckedStatement {
        sql: sql.to_owned(),
        kind: StatementKind::Read,
        tables: Vec::new(),
        columns: Vec::new(),
        masked: Vec::new(),
        has_order: false,
        limit: LimitForm::None,
        calls_own: false,
    }
}
