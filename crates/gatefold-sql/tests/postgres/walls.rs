//! What the transaction stops by itself: without the guard, and as a superuser.

use std::time::Duration;

use futures::FutureExt as _;
use gatefold_sql::{Database as _, DatabaseError};

use crate::server::{Claim, TestDatabase, open, query};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("nothing_writes", |it| nothing_writes(it).boxed()),
    ("a_plan_never_runs", |it| a_plan_never_runs(it).boxed()),
    ("each_transaction_has_its_settings", |it| each_transaction_has_its_settings(it).boxed()),
    ("no_statement_changes_the_next_one", |it| no_statement_changes_the_next_one(it).boxed()),
];

const SETUP: &str = "
    CREATE TABLE t (id serial PRIMARY KEY, text text);
    INSERT INTO t (text) SELECT md5(g::text) FROM generate_series(1, 100) AS g;
    CREATE MATERIALIZED VIEW m AS SELECT count(*) FROM t;
    CREATE FUNCTION harm() RETURNS int LANGUAGE plpgsql AS
    $$ BEGIN DELETE FROM t; RETURN 1; END $$;
    CREATE FUNCTION freed_harm() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM t; RETURN 1; END $$;
    CREATE PROCEDURE harm_and_commit() LANGUAGE plpgsql AS
    $$ BEGIN DELETE FROM t; COMMIT; END $$;
";

/// Everything that these statements could change.
const DIGEST: &str = "
    SELECT concat_ws(' ', (SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM t),
    (SELECT concat(last_value, is_called) FROM t_id_seq), (SELECT count(*) FROM m),
    (SELECT count(*) FROM pg_largeobject_metadata),
    (SELECT md5(string_agg(concat(relname, relkind), ',' ORDER BY oid)) FROM pg_class),
    (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_namespace),
    (SELECT count(*) FROM pg_prepared_xacts), (SELECT count(*) FROM pg_locks
    WHERE locktype = 'advisory'), (pg_stat_file('gatefold-harm', true)).size)
";

const HARMS: &[&str] = &[
    "INSERT INTO t (text) VALUES ('x')",
    "UPDATE t SET text = 'x'",
    "DELETE FROM t",
    "DELETE FROM t RETURNING *",
    "TRUNCATE t",
    "DROP TABLE t CASCADE",
    "ALTER TABLE t ADD COLUMN x int",
    "CREATE TABLE x (a int)",
    "CREATE TEMP TABLE x (a int)",
    "CREATE FUNCTION x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO t (text) VALUES ('x') RETURNING *) SELECT * FROM x",
    "WITH x AS (UPDATE t SET text = 'x' RETURNING *) SELECT count(*) FROM x",
    "SELECT * INTO x FROM t",
    "SELECT * FROM t FOR UPDATE",
    "SELECT * FROM t FOR SHARE",
    "SELECT nextval('t_id_seq')",
    "SELECT setval('t_id_seq', 1)",
    "SELECT harm()",
    "SELECT freed_harm()",
    "SELECT * FROM t WHERE harm() = 1",
    "CALL harm_and_commit()",
    "DO $$ BEGIN DELETE FROM t; END $$",
    "REFRESH MATERIALIZED VIEW m",
    "COPY t TO 'gatefold-harm'",
    "COPY t FROM PROGRAM 'touch gatefold-harm'",
    "EXPLAIN ANALYZE DELETE FROM t",
    "PREPARE x AS DELETE FROM t",
    "LOCK TABLE t",
    "VACUUM t",
    "COMMIT",
    "SELECT 1; DELETE FROM t",
    "SELECT 1) AS a OFFSET 0) AS b; DELETE FROM t; --",
    "SELECT 1) AS a OFFSET 0) AS b WHERE true; COMMIT; DELETE FROM t; SELECT * FROM (SELECT (1",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
];

/// What a server may run, for it is undone.
const UNDONE: &[&str] = &[
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_import('PG_VERSION')",
    "SELECT pg_advisory_lock(7)",
    "SELECT pg_notify('x', 'y')",
];

async fn nothing_writes(it: &TestDatabase) {
    it.set_up(SETUP).await;
    let database = open(&it.superuser_settings());
    let before = it.read(DIGEST).await;
    for sql in HARMS {
        let result = query(&database, sql).await;
        assert!(result.is_err(), "{sql}: {result:?}");
        assert_eq!(it.read(DIGEST).await, before, "{sql}");
    }
    for sql in UNDONE {
        let _ = query(&database, sql).await;
        assert_eq!(it.read(DIGEST).await, before, "{sql}");
    }
    println!("{} harms were stopped, {} undone", HARMS.len(), UNDONE.len());
    for sql in ["SELECT harm()", "SELECT nextval('t_id_seq')"] {
        let result = query(&database, sql).await;
        assert!(matches!(result, Err(DatabaseError::Write)), "{sql}: {result:?}");
    }
    // The digest sees what it should.
    for (sql, at) in [("SELECT lo_create(0)", 3), ("SELECT harm()", 0), ("CREATE TABLE x ()", 4)] {
        crate::server::run(&it.admin, sql).await;
        let (now, then) = (it.read(DIGEST).await, before.clone());
        assert_ne!(now.split(' ').nth(at), then.split(' ').nth(at), "{sql}");
    }
}

async fn a_plan_never_runs(it: &TestDatabase) {
    it.set_up(SETUP).await;
    let database = open(&it.superuser_settings());
    let explain = |sql: &str| database.explain(sql.to_owned(), Duration::from_secs(10));
    let before = it.read(DIGEST).await;
    let plan = explain("SELECT * FROM t WHERE id = 3").await.expect("it has a plan");
    assert!(plan.contains(" on t ") && plan.contains("(id = 3)"), "{plan}");
    for sql in ["DELETE FROM t", "SELECT harm()", "WITH x AS (DELETE FROM t RETURNING 1) SELECT 1"]
    {
        let plan = explain(sql).await.expect("it has a plan");
        assert!(plan.contains("cost="), "{plan}");
    }
    for sql in ["ANALYZE DELETE FROM t", "(ANALYZE) DELETE FROM t", "SELECT 1; DELETE FROM t"] {
        let plan = explain(sql).await;
        assert!(matches!(plan, Err(DatabaseError::Statement { .. })), "{sql}: {plan:?}");
    }
    assert_eq!(it.read(DIGEST).await, before);
}

async fn each_transaction_has_its_settings(it: &TestDatabase) {
    let reader = &it.reader;
    it.set_up(&format!("ALTER ROLE {reader} SET search_path = \"$user\", \"it's\", public")).await;
    let database = it.open();
    let state = "SELECT current_setting('work_mem'), current_setting('search_path'), \
                 current_setting('lock_timeout'), current_setting('statement_timeout'), \
                 current_setting('transaction_read_only'), current_setting('jit')";
    let path = "\"$user\", \"it's\", public, pg_temp";
    for _ in 0..2 {
        let inside = query(&database, state).await.expect("it reads").rows;
        // What is left of twenty seconds.
        let timeout = inside[0][3].as_str().unwrap_or_default().to_owned();
        assert!(timeout.starts_with("19") || timeout == "20s", "{timeout}");
        let expected = [["32MB", path, "5s", &timeout, "on", "off"]];
        assert_eq!(serde_json::json!(inside), serde_json::json!(expected));
    }
}

/// On one and the same connection.
async fn no_statement_changes_the_next_one(it: &TestDatabase) {
    it.set_up(SETUP).await;
    let mut settings = it.superuser_settings();
    settings.connections = 1;
    let database = open(&settings);
    let state = "SELECT current_setting('search_path'), current_setting('work_mem'), current_user, \
                 current_setting('lock_timeout'), current_setting('default_transaction_read_only'), \
                 current_setting('datestyle'), pg_backend_pid()";
    let before = query(&database, state).await.expect("it reads");
    assert!(before.rows[0][0].to_string().ends_with(", pg_temp\""), "{:?}", before.rows);
    for (name, value) in [
        ("search_path", "pg_catalog"),
        ("work_mem", "1GB"),
        ("role", "pg_monitor"),
        ("lock_timeout", "0"),
        ("default_transaction_read_only", "off"),
        ("datestyle", "German"),
    ] {
        for is_local in [true, false] {
            let sql = format!("SELECT set_config('{name}', '{value}', {is_local})");
            query(&database, &sql).await.expect(&sql);
            assert_eq!(query(&database, state).await.expect("it reads").rows, before.rows, "{sql}");
        }
    }
}
