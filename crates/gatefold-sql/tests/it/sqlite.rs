use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gatefold_sql::{
    Column, ColumnPattern, Database, DatabaseAddress, DatabaseError, DatabaseSettings, Dialect,
    Guard, Missing, QueryRows, ReadQuery, SQLITE_TASK, Schema, SqliteFile, SqliteWorker, Stop,
    TableKind, TableName, TablePattern, TableRules, VisibleSchema, Writes,
};
use gatefold_worker::{Task, WorkerPool, WorkerProgram, WorkerSettings};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

const TIMEOUT: Duration = Duration::from_secs(20);

/// A file with tables of its own, in a folder that goes with it.
struct TestFile {
    folder: tempfile::TempDir,
}

impl TestFile {
    async fn new(sql: &str) -> Self {
        let file = Self { folder: tempfile::tempdir().unwrap() };
        file.change(sql).await;
        file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("test.db")
    }

    async fn change(&self, sql: &str) {
        let options = SqliteConnectOptions::new().filename(self.path()).create_if_missing(true);
        let mut connection = options.connect().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    fn open(&self) -> SqliteWorker {
        open(&self.path(), Writes::Refuse)
    }

    /// Everything in the folder, by name.
    fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let mut contents: Vec<_> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()))
            .collect();
        contents.sort();
        contents
    }
}

/// Not a test: what [`workers`] starts.
#[test]
fn serves() {
    const TASKS: &[Task] = &[SQLITE_TASK];
    gatefold_worker::run_if_asked(TASKS);
}

fn workers() -> WorkerPool {
    let program = WorkerProgram::this().unwrap().argument("sqlite::serves").argument("--exact");
    WorkerPool::new(WorkerSettings { workers: 4, ..WorkerSettings::new(Some(program)) })
}

fn open(path: &Path, writes: Writes) -> SqliteWorker {
    let mut settings = DatabaseSettings::new(DatabaseAddress::Sqlite(path.to_owned()));
    settings.writes = writes;
    SqliteWorker::new(path.to_owned(), &settings, workers())
}

fn reading(sql: &str) -> ReadQuery {
    ReadQuery {
        sql: sql.to_owned(),
        masked: Vec::new(),
        max_rows: 1_000,
        max_bytes: 1 << 20,
        timeout: TIMEOUT,
    }
}

async fn query(database: &dyn Database, sql: &str) -> Result<QueryRows, DatabaseError> {
    database.query(reading(sql)).await
}

async fn values(database: &dyn Database, sql: &str) -> Vec<Vec<Value>> {
    query(database, sql).await.unwrap().rows
}

fn columns(rows: &QueryRows) -> Vec<(&str, &str)> {
    rows.columns.iter().map(|column| (column.name.as_str(), column.column_type.as_str())).collect()
}

const HR: &str = "
    CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE employees (
        id INTEGER PRIMARY KEY,
        name VARCHAR(20) NOT NULL DEFAULT 'nobody',
        salary REAL,
        department_id INTEGER REFERENCES departments,
        initial TEXT GENERATED ALWAYS AS (substr(name, 1, 1)) VIRTUAL
    );
    CREATE INDEX by_name ON employees (name, lower(name));
    CREATE VIEW names AS SELECT name FROM employees;
    CREATE VIEW rich AS WITH high AS (SELECT * FROM employees WHERE salary > 10)
        SELECT names.name FROM names, high WHERE EXISTS (SELECT 1 FROM departments);
    INSERT INTO departments VALUES (1, 'Research'), (2, 'Sales');
    INSERT INTO employees (id, name, salary, department_id)
        VALUES (1, 'Ada', 20.5, 1), (2, 'Bob', NULL, 2);
";

#[tokio::test]
async fn values_keep_their_type_and_are_exact() {
    let file = TestFile::new(
        "CREATE TABLE t (i INTEGER, r REAL, n NUMERIC, s TEXT, b BLOB, f BOOLEAN, d DATE, j JSON);
         INSERT INTO t VALUES
            (9007199254740991, 1.5, '1.25', '', x'00ff', 1, '2026-01-02', '{\"b\":1, \"a\":2}'),
            (-9007199254740992, 9e999, 10, 'a' || char(0) || 'b', x'', 0, 7, NULL),
            (9223372036854775807, -9e999, 'x', CAST(x'41ff' AS TEXT), 'text', 'yes', x'01', 1e300);",
    )
    .await;
    let rows = query(&file.open(), "SELECT * FROM t").await.unwrap();
    assert_eq!(
        columns(&rows),
        [
            ("i", "integer"),
            ("r", "real"),
            ("n", "numeric"),
            ("s", "text"),
            ("b", "blob"),
            ("f", "boolean"),
            ("d", "date"),
            ("j", "json")
        ]
    );
    let blob = |bytes: u32, base64: &str| json!({ "bytes": bytes, "base64": base64 });
    let expected = json!([
        [
            9_007_199_254_740_991_u64,
            1.5,
            1.25,
            "",
            blob(2, "AP8="),
            1,
            "2026-01-02",
            "{\"b\":1, \"a\":2}"
        ],
        ["-9007199254740992", "Infinity", 10, "a\0b", blob(0, ""), 0, 7, null],
        [
            "9223372036854775807",
            "-Infinity",
            "x",
            "A\u{fffd}",
            "text",
            "yes",
            blob(1, "AQ=="),
            1e300
        ],
    ]);
    assert_eq!(json!(rows.rows), expected);
}

#[tokio::test]
async fn columns_that_are_no_tables_take_the_type_of_their_values() {
    let file = TestFile::new(HR).await;
    let sql = "SELECT 1 AS a, 'x' AS a, NULL, sum(salary), x'01', upper(name) FROM employees";
    let rows = query(&file.open(), sql).await.unwrap();
    assert_eq!(
        columns(&rows),
        [
            ("a", "integer"),
            ("a", "text"),
            ("NULL", "any"),
            ("sum(salary)", "real"),
            ("x'01'", "blob"),
            ("upper(name)", "text")
        ]
    );
}

#[tokio::test]
async fn a_large_blob_is_told_by_its_size() {
    let file = TestFile::new("CREATE TABLE t (b); INSERT INTO t VALUES (zeroblob(100000));").await;
    let rows = values(&file.open(), "SELECT b FROM t").await;
    assert_eq!(json!(rows), json!([[{ "bytes": 100_000, "truncated": true }]]));
    let longest = query(&file.open(), "SELECT hex(zeroblob(3000000))").await;
    assert!(matches!(longest, Err(DatabaseError::RowTooLarge(_))), "{longest:?}");
}

/// Statements that would change something, with no guard before them.
const WRITES: &[&str] = &[
    "INSERT INTO departments VALUES (3, 'x')",
    "REPLACE INTO departments VALUES (1, 'x')",
    "UPDATE employees SET salary = 1",
    "DELETE FROM employees",
    "DELETE FROM employees RETURNING *",
    "WITH gone AS (SELECT 1) DELETE FROM employees WHERE id IN gone",
    "INSERT INTO departments SELECT 4, 'y' ON CONFLICT DO UPDATE SET name = 'z'",
    "CREATE TABLE t (a)",
    "CREATE TEMP TABLE t (a)",
    "CREATE TABLE t AS SELECT * FROM employees",
    "CREATE VIEW v AS SELECT 1",
    "CREATE TEMP TRIGGER g AFTER INSERT ON employees BEGIN SELECT 1; END",
    "CREATE INDEX i ON employees (salary)",
    "CREATE VIRTUAL TABLE f USING fts5(a)",
    "DROP TABLE employees",
    "DROP VIEW names",
    "DROP INDEX by_name",
    "ALTER TABLE employees RENAME TO people",
    "ALTER TABLE employees ADD COLUMN more",
    "ALTER TABLE employees DROP COLUMN salary",
    "ANALYZE",
    "REINDEX",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
];

/// Statements that would leave the transaction, the file or what is set.
const ESCAPES: &[&str] = &[
    "ATTACH 'other.db' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "PRAGMA query_only = OFF",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA writable_schema = ON",
    "PRAGMA temp_store_directory = '/tmp'",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "END",
    "SAVEPOINT s",
    "RELEASE s",
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('x', 'y')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT * FROM sqlite_master",
    "SELECT sql FROM main.sqlite_schema",
    "SELECT * FROM sqlite_temp_master",
    "SELECT count(*) FROM sqlite_schema",
    "SELECT (SELECT sql FROM sqlite_master LIMIT 1)",
    "SELECT * FROM pragma_table_list",
    "SELECT * FROM pragma_table_info('employees')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM dbstat",
    "SELECT sqlite_compileoption_get(1)",
    "SELECT 1; DELETE FROM employees",
    "SELECT 1; SELECT 2",
    "SELECT 1;; /* c */ ; SELECT",
    "",
    " -- nothing\n ",
    ";",
    "SELECT 1\0; DELETE FROM employees",
];

#[tokio::test]
async fn nothing_is_written_without_the_guard() {
    let file = TestFile::new(HR).await;
    let before = file.contents();
    let database = file.open();
    for sql in WRITES {
        let result = query(&database, sql).await;
        assert!(matches!(result, Err(DatabaseError::Write)), "{sql}: {result:?}");
    }
    for sql in ESCAPES {
        let result = query(&database, sql).await;
        assert!(
            matches!(result, Err(DatabaseError::Statement { .. } | DatabaseError::Write)),
            "{sql}: {result:?}"
        );
    }
    assert_eq!(values(&database, "SELECT count(*) FROM employees; -- that is all").await[0][0], 2);
    assert_eq!(file.contents(), before);
}

#[tokio::test]
async fn a_statement_that_may_write_rows_may_do_nothing_else() {
    let file = TestFile::new(HR).await;
    let before = file.contents();
    let database = open(&file.path(), Writes::Ask);
    let refused = WRITES.iter().skip(7).chain(ESCAPES);
    let own = [
        "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 0, 'x')",
        "UPDATE sqlite_schema SET sql = ''",
        "DELETE FROM employees; COMMIT",
    ];
    for sql in refused.chain(&own) {
        assert!(database.write((*sql).to_owned(), TIMEOUT).await.is_err(), "{sql}");
    }
    assert_eq!(file.contents(), before);
}

#[tokio::test]
async fn what_sqlite_says_of_a_wrong_statement_is_told() {
    let file = TestFile::new(HR).await;
    let database = file.open();
    let fault = async |sql: &str| match query(&database, sql).await {
        Err(DatabaseError::Statement { message, position, missing, .. }) => {
            (message, position, missing)
        }
        other => panic!("{sql}: {other:?}"),
    };
    let expected = ("no such table: nope".to_owned(), None, Some(Missing::Table));
    assert_eq!(fault("SELECT * FROM nope").await, expected);
    let expected = ("no such table: sqlite_master".to_owned(), None, Some(Missing::Table));
    assert_eq!(fault("SELECT * FROM sqlite_master").await, expected);
    let expected = ("no such column: nope".to_owned(), Some(12), Some(Missing::Column));
    assert_eq!(fault("SELECT 'é', nope FROM employees").await, expected);
    let (message, position, missing) = fault("SELECT nope(1)").await;
    assert_eq!((message.as_str(), missing), ("no such function: nope", Some(Missing::Function)));
    assert!(position.is_some());
    let expected = ("near \"employees\": syntax error".to_owned(), Some(15), None);
    assert_eq!(fault("SELECT id FORM employees").await, expected);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_unreachable_and_never_made() {
    let folder = tempfile::tempdir().unwrap();
    let reason = async |path: &Path| match open(path, Writes::Ask).read_schema().await {
        Err(DatabaseError::Unreachable { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let missing = folder.path().join("missing.db");
    assert_eq!(reason(&missing).await, format!("there is no file `{}`", missing.display()));
    assert!(!missing.exists());
    let folder_reason = reason(folder.path()).await;
    assert_eq!(folder_reason, format!("`{}` is not a file", folder.path().display()));
    let text = folder.path().join("text.db");
    std::fs::write(&text, "this is a text and not a database\n".repeat(100)).unwrap();
    assert_eq!(reason(&text).await, "the file is not a SQLite database, or it is encrypted");
    let here = std::env::current_dir().unwrap();
    for name in [":memory:", "file:x?mode=rwc"] {
        let path = here.join(name);
        let expected = format!("there is no file `{}`", path.display());
        assert_eq!(reason(Path::new(name)).await, expected);
    }
}

const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[tokio::test]
async fn a_statement_ends_at_its_timeout() {
    let file = TestFile::new(HR).await;
    let database = file.open();
    let timeout = Duration::from_millis(300);
    let begun = Instant::now();
    let result = database.query(ReadQuery { timeout, ..reading(ENDLESS) }).await;
    assert!(matches!(result, Err(DatabaseError::Timeout(told)) if told == timeout), "{result:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(values(&database, "SELECT 1").await[0][0], 1);
}

#[tokio::test]
async fn dropping_a_query_ends_its_statement() {
    let file = TestFile::new(HR).await;
    let database = file.open();
    // Each would run for ever, and a connection is only opened while SQLite has closed enough others.
    for _ in 0..6 {
        let query = tokio::time::timeout(Duration::from_millis(50), query(&database, ENDLESS));
        assert!(query.await.is_err());
    }
    assert_eq!(values(&database, "SELECT 1").await[0][0], 1);
}

/// Calls whose time SQLite's own functions take from the product of two lengths.
#[tokio::test]
async fn no_function_takes_hours() {
    let file = TestFile::new(HR).await;
    let database = file.open();
    let long = "hex(zeroblob(1500000))";
    let calls = [
        format!("instr({long}, hex(zeroblob(700000)) || '1')"),
        format!("length(replace({long}, hex(zeroblob(700000)) || '1', 'x'))"),
        format!("length(trim({long}, replace(hex(zeroblob(1000000)), '0', 'a') || '0'))"),
        format!("length(unhex(replace({long}, '0', '-'), replace({long}, '0', 'x') || '-'))"),
        format!("{long} LIKE '%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%01'"),
    ];
    for call in calls {
        let begun = Instant::now();
        let result = query(&database, &format!("SELECT {call}")).await;
        assert!(result.is_ok(), "{call}: {result:?}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{call}: {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn functions_answer_as_sqlites_own() {
    let file = TestFile::new(HR).await;
    let texts = ["''", "'a'", "'xaax'", "'héé€'", "x'6162ff'", "NULL", "12", "'41 42'"];
    let mut calls = Vec::new();
    for first in texts {
        for second in ["''", "'a'", "'é'", "'xa'", "x'ff'", "NULL", "2", "' '"] {
            for function in ["instr", "trim", "ltrim", "rtrim", "unhex"] {
                calls.push(format!("{function}({first}, {second})"));
            }
            calls.push(format!("replace({first}, {second}, 'zz')"));
            // A text that is not UTF-8 cannot be compared through the driver.
            calls.retain(|call| call.starts_with("instr") || !call.contains("x'6162ff'"));
        }
    }
    let options = SqliteConnectOptions::new().filename(file.path());
    let mut plain = options.connect().await.unwrap();
    let database = file.open();
    for call in calls {
        let sql = format!("SELECT quote({call})");
        let own: String =
            sqlx::query_scalar(AssertSqlSafe(sql.as_str())).fetch_one(&mut plain).await.unwrap();
        assert_eq!(values(&database, &sql).await[0][0], own, "{call}");
    }
}

#[tokio::test]
async fn what_a_file_computes_may_use_such_functions() {
    let file = TestFile::new(
        "CREATE TABLE t (a TEXT, b GENERATED ALWAYS AS (instr(a, 'y')) VIRTUAL);
         CREATE INDEX i ON t (trim(a, 'x'));
         CREATE VIEW v AS SELECT replace(a, 'x', '-') AS c FROM t;
         INSERT INTO t VALUES ('xyx'), ('z');",
    )
    .await;
    let database = file.open();
    let sql = "SELECT b, (SELECT max(c) FROM v) FROM t WHERE trim(a, 'x') = 'y'";
    assert_eq!(json!(values(&database, sql).await), json!([[2, "z"]]));
    let plan = database.explain(sql.to_owned(), TIMEOUT).await.unwrap();
    assert!(plan.contains("USING INDEX i"), "{plan}");
}

/// `WITH` queries of which each names the one before twice. Preparing it takes the memory.
fn doubled(levels: usize) -> String {
    let level = |at| format!("a{at} AS (SELECT * FROM a{0} UNION ALL SELECT * FROM a{0})", at - 1);
    let all: Vec<_> = (1..=levels).map(level).collect();
    format!("WITH a0 AS (SELECT 1 x), {} SELECT count(*) FROM a{levels}", all.join(", "))
}

#[tokio::test]
async fn memory_is_bounded() {
    let file = TestFile::new(HR).await;
    let database = file.open();
    let bombs = [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
         SELECT i, hex(zeroblob(1000)) h FROM n ORDER BY h, i",
        "WITH RECURSIVE n(s) AS (SELECT hex(zeroblob(1000000)) UNION ALL SELECT s || 'x' FROM n) \
         SELECT * FROM n ORDER BY 1",
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000) \
         SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY hex(zeroblob(100)) || i) FROM n)",
        "SELECT length(json_group_array(hex(zeroblob(2000)))) FROM (WITH RECURSIVE n(i) AS \
         (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) SELECT i FROM n)",
        &doubled(24),
    ];
    for sql in bombs {
        let result = query(&database, sql).await;
        let Err(DatabaseError::TooMuch(message)) = &result else { panic!("{result:?}") };
        assert!(message.contains("memory"), "{message}");
    }
    assert_eq!(values(&database, "SELECT 1").await[0][0], 1);
}

#[tokio::test]
async fn a_result_is_cut_at_its_bounds() {
    let file = TestFile::new(HR).await;
    let database = file.open();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                   SELECT i FROM n";
    let begun = Instant::now();
    let rows = query(&database, endless).await.unwrap();
    assert_eq!((rows.rows.len(), rows.stopped), (1_000, Some(Stop::Rows)));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let few = ReadQuery { max_bytes: 100, ..reading(endless) };
    let rows = database.query(few).await.unwrap();
    assert_eq!(rows.stopped, Some(Stop::Bytes));
    assert!((10..30).contains(&rows.rows.len()), "{}", rows.rows.len());
    let exactly = ReadQuery { max_rows: 2, ..reading("SELECT id FROM employees") };
    assert_eq!(database.query(exactly).await.unwrap().stopped, None);
    let large = ReadQuery { max_bytes: 100, ..reading("SELECT hex(zeroblob(100))") };
    let result = database.query(large).await;
    assert!(matches!(result, Err(DatabaseError::RowTooLarge(100))), "{result:?}");
}

#[tokio::test]
async fn masked_values_are_not_told() {
    let file = TestFile::new(HR).await;
    let sql = "SELECT name, salary FROM employees ORDER BY id";
    let masked = ReadQuery { masked: vec![1], ..reading(sql) };
    let rows = file.open().query(masked).await.unwrap();
    assert_eq!(json!(rows.rows), json!([["Ada", "***"], ["Bob", null]]));
}

#[tokio::test]
async fn a_plan_is_a_tree_and_runs_nothing() {
    let file = TestFile::new(HR).await;
    let database = file.open();
    let sql = "SELECT name FROM employees WHERE id = 1 UNION SELECT name FROM departments";
    let plan = database.explain(sql.to_owned(), TIMEOUT).await.unwrap();
    insta::assert_snapshot!(plan, @"
    COMPOUND QUERY
      LEFT-MOST SUBQUERY
        SEARCH employees USING INTEGER PRIMARY KEY (rowid=?)
      UNION USING TEMP B-TREE
        SCAN departments
    ");
    let endless = database.explain(ENDLESS.to_owned(), TIMEOUT).await.unwrap();
    assert!(endless.contains("RECURSIVE STEP"), "{endless}");
    let refused = database.explain("DELETE FROM employees".to_owned(), TIMEOUT).await;
    assert!(matches!(refused, Err(DatabaseError::Write)), "{refused:?}");
}

fn table<'a>(schema: &'a Schema, name: &str) -> &'a gatefold_sql::Table {
    schema.tables.iter().find(|table| table.name.name == name).unwrap()
}

fn column(name: &str, column_type: &str) -> Column {
    Column {
        name: name.to_owned(),
        column_type: column_type.to_owned(),
        nullable: true,
        default: None,
        generated: false,
        comment: None,
    }
}

fn reads(schema: &Schema, view: &str) -> Vec<String> {
    let reads = table(schema, view).reads.clone().unwrap();
    reads.into_iter().map(|name| name.to_string()).collect()
}

#[tokio::test]
async fn a_schema_has_columns_keys_indexes_and_what_views_read() {
    let file = TestFile::new(HR).await;
    file.change(
        "CREATE TABLE pairs (b, a, PRIMARY KEY (a, b)) WITHOUT ROWID;
         CREATE VIRTUAL TABLE notes USING fts5(title, body);
         CREATE VIEW broken AS SELECT gone FROM nowhere;
         CREATE VIEW shape AS SELECT name, value FROM employees, json_each('[1]');
         ANALYZE;",
    )
    .await;
    let schema = file.open().read_schema().await.unwrap();
    assert!(schema.version.starts_with("SQLite 3."), "{}", schema.version);
    assert_eq!(schema.default_schemas, ["main"]);
    let names: Vec<_> = schema.tables.iter().map(|table| table.name.name.as_str()).collect();
    assert_eq!(names, ["departments", "employees", "names", "notes", "pairs", "rich", "shape"]);
    let employees = table(&schema, "employees");
    assert_eq!(
        employees.columns,
        [
            column("id", "integer"),
            Column {
                nullable: false,
                default: Some("'nobody'".to_owned()),
                ..column("name", "varchar(20)")
            },
            column("salary", "real"),
            column("department_id", "integer"),
            Column { generated: true, ..column("initial", "text") },
        ]
    );
    assert_eq!(employees.primary_key, ["id"]);
    assert_eq!(employees.rows, Some(2));
    let key = &employees.foreign_keys[0];
    assert_eq!(key.table, TableName::new("main", "departments"));
    assert_eq!(
        (&key.columns[..], &key.references[..]),
        (&["department_id".into()][..], &["id".into()][..])
    );
    let index = &employees.indexes[0];
    assert_eq!((index.name.as_str(), index.unique), ("by_name", false));
    assert_eq!(index.columns, ["name", "(expression)"]);
    assert_eq!(table(&schema, "pairs").primary_key, ["a", "b"]);
    assert_eq!(table(&schema, "notes").columns, [column("title", ""), column("body", "")]);
    assert_eq!(table(&schema, "names").kind, TableKind::View);
    assert_eq!(table(&schema, "names").columns, [column("name", "varchar(20)")]);
    assert_eq!(reads(&schema, "names"), ["main.employees"]);
    assert_eq!(reads(&schema, "rich"), ["main.departments", "main.employees", "main.names"]);
    assert_eq!(reads(&schema, "shape"), ["main.employees"]);
}

#[tokio::test]
async fn a_full_text_index_of_a_denied_table_is_denied() {
    let file = TestFile::new(
        "CREATE TABLE Secrets (id INTEGER PRIMARY KEY, body TEXT);
         INSERT INTO Secrets VALUES (1, 'hello world');
         CREATE VIRTUAL TABLE found USING fts5(body, content='secrets', content_rowid='id');
         INSERT INTO found(found) VALUES ('rebuild');
         CREATE VIRTUAL TABLE old USING fts4(content=\"Secrets\", body);
         CREATE VIRTUAL TABLE words USING fts5vocab(found, row);
         CREATE VIRTUAL TABLE old_words USING fts4aux(old);
         CREATE VIEW hello AS SELECT body FROM found;
         CREATE VIRTUAL TABLE notes USING fts5(body);
         CREATE VIRTUAL TABLE note_words USING fts5vocab('notes', 'col');
         CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);",
    )
    .await;
    let schema = file.open().read_schema().await.unwrap();
    let shown = |allow: &[&str], deny: &[&str], hide: &[&str]| {
        let tables = |texts: &[&str]| {
            texts.iter().map(|text| TablePattern::new(text).unwrap()).collect::<Vec<_>>()
        };
        let hide = hide.iter().map(|text| ColumnPattern::new(text).unwrap()).collect();
        let rules =
            TableRules { allow: tables(allow), deny: tables(deny), hide, ..TableRules::default() };
        let visible = VisibleSchema::new(Dialect::Sqlite, &schema, &rules);
        let names = visible.tables().iter().map(|table| table.table.name.name.as_str());
        names.collect::<Vec<_>>().join(" ")
    };
    let own = "boxes note_words notes";
    let all = "Secrets boxes found hello note_words notes old old_words words";
    assert_eq!(shown(&[], &[], &[]), all);
    assert_eq!(shown(&[], &["Secrets"], &[]), own);
    assert_eq!(shown(&[], &[], &["Secrets.body"]), format!("Secrets {own}"));
    assert_eq!(shown(&[], &["notes"], &[]), "Secrets boxes found hello old old_words words");
    assert_eq!(shown(&["found", "b*"], &["Secrets"], &[]), "boxes found");
}

#[tokio::test]
async fn full_text_and_spatial_indexes_can_be_searched() {
    let file = TestFile::new(
        "CREATE VIRTUAL TABLE notes USING fts5(body);
         CREATE VIRTUAL TABLE old USING fts4(body);
         CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
         INSERT INTO notes VALUES ('hello world'), ('other');
         INSERT INTO old VALUES ('hello world');
         INSERT INTO boxes VALUES (1, 0, 5);",
    )
    .await;
    let database = file.open();
    let sql = "SELECT snippet(notes, 0, '[', ']', '', 5) FROM notes WHERE notes MATCH 'hello'";
    assert_eq!(values(&database, sql).await[0][0], "[hello] world");
    assert_eq!(values(&database, "SELECT * FROM old WHERE old MATCH 'world'").await.len(), 1);
    assert_eq!(values(&database, "SELECT id FROM boxes WHERE x0 < 1").await[0][0], 1);
    let merge = "SELECT optimize(old) FROM old LIMIT 1";
    assert!(query(&database, merge).await.is_err());
}

/// The text that a guard sends of a statement, if it passes.
async fn guarded(database: &SqliteWorker, rules: &TableRules, sql: &str) -> Option<String> {
    let schema = database.read_schema().await.unwrap();
    let visible = VisibleSchema::new(Dialect::Sqlite, &schema, rules);
    Guard::new(&visible).check(sql).ok().map(|passed| passed.sql)
}

#[tokio::test]
async fn full_text_is_searched_as_its_documentation_writes_it() {
    let file = TestFile::new(
        "CREATE VIRTUAL TABLE email USING fts5(sender, title, body);
         INSERT INTO email VALUES ('ada', 'about fts5', 'how to use fts5'), ('bo', 'x', 'y');",
    )
    .await;
    let database = file.open();
    let column = |text: &str| vec![ColumnPattern::new(text).unwrap()];
    let hidden = TableRules { hide: column("email.body"), ..TableRules::default() };
    let masked = TableRules { mask: column("email.sender"), ..TableRules::default() };
    for sql in [
        "SELECT sender FROM email WHERE email MATCH 'fts5'",
        "SELECT sender FROM email WHERE email = 'fts5'",
        "SELECT sender FROM email('fts5')",
        "SELECT sender FROM main.email('fts5')",
        "SELECT sender FROM email WHERE email MATCH 'fts5' ORDER BY rank",
        "SELECT sender FROM email WHERE email MATCH 'fts5' ORDER BY bm25(email, 10.0, 5.0)",
        "SELECT sender FROM email WHERE email MATCH 'fts5' AND rank MATCH 'bm25(10.0, 5.0)'",
        "SELECT sender, highlight(email, 2, '<b>', '</b>') FROM email('fts5')",
        "SELECT e.sender, snippet(email, -1, '[', ']', '...', 9) FROM email e WHERE email = 'fts5'",
    ] {
        let sent = guarded(&database, &TableRules::default(), sql).await.expect(sql);
        let rows = values(&database, &sent).await;
        assert_eq!((rows.len(), &rows[0][0]), (1, &json!("ada")), "{sent}");
        // A search finds words of every column, hidden and masked ones too.
        for rules in [&hidden, &masked] {
            assert_eq!(guarded(&database, rules, sql).await, None, "{sql}");
        }
    }
    for sql in ["SELECT email FROM t", "SELECT rank FROM sqlite_master", "SELECT * FROM t('x')"] {
        assert_eq!(guarded(&database, &TableRules::default(), sql).await, None, "{sql}");
    }
}

/// In a folder where nothing can be written, as a file that nobody changes.
#[cfg(unix)]
#[tokio::test]
async fn a_file_at_rest_is_read_where_nothing_can_be_written() {
    use std::os::unix::fs::PermissionsExt as _;

    let tables = "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)";
    let file = TestFile::new(tables).await;
    let set = |mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(file.folder.path(), mode).unwrap();
    };
    set(0o555);
    if std::fs::write(file.folder.path().join("probe"), "").is_ok() {
        // Somebody who may write everywhere sees nothing of this.
        set(0o755);
        return;
    }
    let database = file.open();
    assert!(database.role().await.unwrap().privileges.is_empty());
    assert_eq!(database.read_schema().await.unwrap().tables.len(), 1);
    assert_eq!(values(&database, "SELECT a FROM t").await, [[1]]);
    assert_eq!(values(&database, "SELECT a FROM t").await, [[1]]);
    // What lies in a log is a part of the file, which cannot be read without it.
    set(0o755);
    std::fs::write(file.folder.path().join("test.db-wal"), "unfinished").unwrap();
    set(0o555);
    let refused = query(&database, "SELECT a FROM t").await;
    set(0o755);
    assert!(matches!(refused, Err(DatabaseError::Unreachable { .. })), "{refused:?}");
}

#[tokio::test]
async fn five_thousand_tables_are_read_in_time() {
    use std::fmt::Write as _;

    let mut sql = "BEGIN;".to_owned();
    for at in 0..5_000 {
        write!(
            sql,
            "CREATE TABLE t{at} (id INTEGER PRIMARY KEY, name TEXT UNIQUE, other INTEGER \
             REFERENCES t{}, price REAL, made DATE);",
            at / 2
        )
        .unwrap();
    }
    sql.push_str("COMMIT;");
    let file = TestFile::new(&sql).await;
    let database = file.open();
    let begun = Instant::now();
    let schema = database.read_schema().await.unwrap();
    println!("5,000 tables of SQLite were read in {:?}", begun.elapsed());
    assert_eq!(schema.tables.len(), 5_000);
    let keys: usize = schema.tables.iter().map(|table| table.foreign_keys.len()).sum();
    assert_eq!(keys, 5_000);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_role_says_whether_the_file_can_be_written() {
    let file = TestFile::new(HR).await;
    let role = file.open().role().await.unwrap();
    assert_eq!(role.name, "file");
    assert_eq!(role.privileges.len(), 1);
    assert!(!role.privileges[0].is_refused);
    assert!(role.privileges[0].text.starts_with("write to the file"), "{role:?}");
}

#[tokio::test]
async fn a_write_waits_for_its_decision() {
    let file = TestFile::new(HR).await;
    let database = open(&file.path(), Writes::Ask);
    let count = async || values(&database, "SELECT count(*) FROM employees").await[0][0].clone();
    let delete = || database.write("DELETE FROM employees WHERE id = 1".to_owned(), TIMEOUT);

    let write = delete().await.unwrap();
    assert_eq!(write.rows_affected(), 1);
    assert_eq!(count().await, 2);
    write.roll_back().await;
    assert_eq!(count().await, 2);

    drop(delete().await.unwrap());
    assert_eq!(count().await, 2);

    delete().await.unwrap().commit().await.unwrap();
    assert_eq!(count().await, 1);

    let refused = file.open().write("DELETE FROM employees".to_owned(), TIMEOUT).await;
    assert!(matches!(refused, Err(DatabaseError::Write)));
    assert_eq!(count().await, 1);
}

#[tokio::test]
async fn a_worker_that_is_killed_in_the_midst_of_a_write_leaves_the_file_as_it_was() {
    // More than SQLite keeps in memory, so that pages are written to the file before the commit.
    let file = TestFile::new(
        "CREATE TABLE t (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
         INSERT INTO t SELECT hex(zeroblob(500)) FROM n;",
    )
    .await;
    let database = open(&file.path(), Writes::Ask);
    let write =
        database.write("UPDATE t SET x = 'changed' || x".to_owned(), TIMEOUT).await.unwrap();
    assert_eq!(write.rows_affected(), 20_000);
    drop(write);
    let sql = "SELECT count(*) FROM t WHERE x LIKE 'changed%'";
    assert_eq!(values(&database, sql).await[0][0], 0);
}

#[tokio::test]
async fn rows_that_triggers_and_keys_change_are_counted() {
    let file = TestFile::new(
        "CREATE TABLE a (id INTEGER PRIMARY KEY);
         CREATE TABLE b (a_id REFERENCES a ON DELETE CASCADE);
         CREATE TABLE log (text);
         CREATE TRIGGER noted AFTER DELETE ON a BEGIN INSERT INTO log VALUES ('gone'); END;
         INSERT INTO a VALUES (1); INSERT INTO b VALUES (1), (1), (1);",
    )
    .await;
    let database = open(&file.path(), Writes::Ask);
    let write = database.write("DELETE FROM a".to_owned(), TIMEOUT).await.unwrap();
    assert_eq!(write.rows_affected(), 5);
    write.commit().await.unwrap();
    assert_eq!(values(&database, "SELECT count(*) FROM log").await[0][0], 1);
}

#[tokio::test]
async fn a_locked_file_says_so() {
    let file = TestFile::new(HR).await;
    let mut writer = SqliteConnectOptions::new().filename(file.path()).connect().await.unwrap();
    sqlx::raw_sql("BEGIN EXCLUSIVE").execute(&mut writer).await.unwrap();
    let result = query(&file.open(), "SELECT * FROM employees").await;
    let Err(DatabaseError::Unreachable { reason, .. }) = &result else { panic!("{result:?}") };
    assert_eq!(reason, "another process is writing to the file; try again");
}

#[tokio::test]
async fn busy_connections_are_told() {
    let file = TestFile::new(HR).await;
    let mut settings = DatabaseSettings::new(DatabaseAddress::Sqlite(file.path()));
    settings.connections = 1;
    settings.connect_timeout = Duration::from_millis(100);
    let database = SqliteFile::new(file.path(), &settings);
    let endless = ReadQuery { timeout: Duration::from_secs(1), ..reading(ENDLESS) };
    let (first, second) = tokio::join!(database.query(endless), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        query(&database, "SELECT 1").await
    });
    assert!(matches!(first, Err(DatabaseError::Timeout(_))), "{first:?}");
    assert!(matches!(second, Err(DatabaseError::Busy(1))), "{second:?}");
}

#[tokio::test]
async fn a_file_in_wal_mode_is_read_beside_its_writer() {
    let file = TestFile::new(HR).await;
    let options = SqliteConnectOptions::new().filename(file.path());
    let mut writer = options.connect().await.unwrap();
    sqlx::raw_sql("PRAGMA journal_mode = WAL").execute(&mut writer).await.unwrap();
    let database = file.open();
    assert_eq!(values(&database, "SELECT count(*) FROM employees").await[0][0], 2);
    sqlx::raw_sql("DELETE FROM employees").execute(&mut writer).await.unwrap();
    assert_eq!(values(&database, "SELECT count(*) FROM employees").await[0][0], 0);
}
