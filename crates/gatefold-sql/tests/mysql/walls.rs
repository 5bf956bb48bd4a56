use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_sql::{Database as _, DatabaseError, Missing};
use serde_json::json;

use crate::server::{Claim, HR, TIMEOUT, TestDatabase, query, values};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("nothing_is_written_by_a_user_who_may", nothing_is_written_by_a_user_who_may),
    ("a_statement_reads_as_the_guard_reads_it", a_statement_reads_as_the_guard_reads_it),
    ("what_the_server_says_of_a_wrong_statement_is_told", what_the_server_says_is_told),
    ("a_plan_runs_nothing", a_plan_runs_nothing),
];

/// Statements that would change something, as one who may, with no guard before them.
const WRITES: &[&str] = &[
    "INSERT INTO departments VALUES (3, 'x')",
    "INSERT INTO departments VALUES (3, 'x') ON DUPLICATE KEY UPDATE name = 'y'",
    "INSERT IGNORE INTO departments SELECT 4, 'z'",
    "REPLACE INTO departments VALUES (1, 'x')",
    "UPDATE employees SET salary = 1",
    "UPDATE employees JOIN departments SET salary = 1",
    "DELETE FROM employees",
    "DELETE employees FROM employees JOIN departments",
    "INSERT INTO plain VALUES (2)",
    "UPDATE plain SET a = 2",
    "TRUNCATE employees",
    "CREATE TABLE t (a INT)",
    "CREATE TABLE t SELECT * FROM employees",
    "CREATE TEMPORARY TABLE t (a INT)",
    "CREATE VIEW v AS SELECT 1",
    "CREATE INDEX i ON employees (salary)",
    "CREATE TRIGGER g AFTER INSERT ON employees FOR EACH ROW SET @x = 1",
    "CREATE FUNCTION f() RETURNS INT RETURN 1",
    "DROP TABLE employees",
    "DROP VIEW names",
    "ALTER TABLE employees ADD COLUMN more INT",
    "RENAME TABLE employees TO people",
    "ANALYZE TABLE employees",
    "OPTIMIZE TABLE employees",
    "LOCK TABLES employees WRITE",
    "CALL changes()",
    "DO changed()",
    "SELECT changed()",
    "SET SESSION TRANSACTION READ WRITE",
    "SET SESSION sql_mode = 'ANSI_QUOTES'",
    "SET @x = 1",
    "START TRANSACTION READ WRITE",
    "COMMIT",
    "FLUSH TABLES",
    "SELECT 1 INTO @x",
    "SELECT 'x' INTO OUTFILE '/tmp/gatefold-outfile'",
    "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE departments",
    "HANDLER employees OPEN",
    "SELECT 1; DELETE FROM employees",
    "SELECT 1; SELECT 2",
    "SELECT 1\0; DELETE FROM employees",
    "",
];

fn nothing_is_written_by_a_user_who_may(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        database
            .change(
                "CREATE TABLE plain (a INT) ENGINE=MyISAM; INSERT INTO plain VALUES (1);
                 CREATE PROCEDURE changes() DELETE FROM employees;
                 CREATE FUNCTION changed() RETURNS INT
                    BEGIN DELETE FROM employees; RETURN 1; END",
            )
            .await;
        let state = async || {
            let tables = database.ask("SHOW TABLES").await;
            let sums = "SELECT CONCAT_WS(' ', (SELECT GROUP_CONCAT(id, name) FROM departments), \
                        (SELECT GROUP_CONCAT(id, name, COALESCE(salary, '')) FROM employees), \
                        (SELECT GROUP_CONCAT(a) FROM plain))";
            (tables, database.ask(sums).await)
        };
        let before = state().await;
        let (address, settings) = database.settings(&database.writer());
        let server = gatefold_sql::MySqlServer::new(&address, &settings);
        for sql in WRITES {
            let result = query(&server, sql).await;
            assert!(result.is_err(), "{sql}: {result:?}");
        }
        assert_eq!(state().await, before);
        // A function that writes is stopped by the transaction alone.
        let function = query(&server, "SELECT changed()").await;
        assert!(matches!(function, Err(DatabaseError::Write)), "{function:?}");
        assert_eq!(values(&server, "SELECT COUNT(*) FROM employees").await[0][0], 2);
        let refused = server.write("DELETE FROM employees".to_owned(), TIMEOUT).await;
        assert!(matches!(refused, Err(DatabaseError::Write)));
    }
    .boxed()
}

fn a_statement_reads_as_the_guard_reads_it(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let sql = r#"SELECT "a", 'b\'c', 'd''e', 'x' || 'y', @@sql_mode"#;
        let row = values(&database.open(), sql).await.remove(0);
        assert_eq!(json!(row[..4]), json!(["a", "b'c", "d'e", 0]));
        let mode = row[4].as_str().unwrap();
        assert!(!mode.contains("QUOTES") && !mode.contains("SPACE"), "{mode}");
    }
    .boxed()
}

fn what_the_server_says_is_told(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        let server = database.open();
        let fault = async |sql: &str| match query(&server, sql).await {
            Err(DatabaseError::Statement { position, missing, code, .. }) => {
                (position, missing, code.is_some())
            }
            other => panic!("{sql}: {other:?}"),
        };
        let table = fault("SELECT * FROM nope").await;
        assert_eq!(table, (None, Some(Missing::Table), true));
        assert_eq!(fault("SELECT nope FROM names").await.1, Some(Missing::Column));
        assert_eq!(fault("SELECT nope(1)").await.1, Some(Missing::Function));
        assert_eq!(fault("SELECT 'é' FORM FORM employees").await, (Some(16), None, true));
        assert_eq!(fault("SELECT 1 FROM").await, (Some(13), None, true));
        // The connections are used again after each of these.
        assert_eq!(values(&server, "SELECT 1").await[0][0], 1);
    }
    .boxed()
}

fn a_plan_runs_nothing(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        let (address, settings) = database.settings(&database.writer());
        let server = gatefold_sql::MySqlServer::new(&address, &settings);
        let plan = server.explain("SELECT * FROM employees WHERE id = 1".to_owned(), TIMEOUT).await;
        let plan = plan.unwrap();
        assert!(plan.contains("table: employees"), "{plan}");
        for sql in ["DELETE FROM employees", "ANALYZE SELECT 1", "SELECT 1; DELETE FROM employees"]
        {
            assert!(server.explain(sql.to_owned(), TIMEOUT).await.is_err(), "{sql}");
        }
        assert_eq!(database.ask("SELECT COUNT(*) FROM employees").await, ["2"]);
    }
    .boxed()
}
