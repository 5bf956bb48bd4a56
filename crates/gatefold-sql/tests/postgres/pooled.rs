//! Through PgBouncer, which gives one session of the server to many clients in turn, a transaction at a time, and resets
//! nothing between them.

use std::time::Duration;

use futures::FutureExt as _;
use gatefold_core::Secret;
use gatefold_sql::{
    Database as _, DatabaseAddress, DatabaseError, DatabaseSettings, ReadQuery, Writes,
};
use serde_json::json;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};

use crate::server::{PASSWORD, PooledClaim, TestDatabase, open, query, read_query, run};

pub(crate) const ALL: &[(&str, PooledClaim)] = &[
    ("a_pooled_session_reads_and_writes", |it, pooler| reads_and_writes(it, pooler).boxed()),
    ("a_pooled_session_is_given_back_as_it_was", |it, pooler| given_back(it, pooler).boxed()),
    ("what_others_set_in_a_pooled_session_does_not_count", |it, pooler| others(it, pooler).boxed()),
    ("many_share_one_pooled_session", |it, pooler| many_share_one(it, pooler).boxed()),
];

const TIMEOUT: Duration = Duration::from_secs(10);

/// What a client of a pooler would notice if a transaction had left it behind.
const SETTINGS: [&str; 8] = [
    "statement_timeout",
    "lock_timeout",
    "idle_in_transaction_session_timeout",
    "extra_float_digits",
    "search_path",
    "default_transaction_read_only",
    "work_mem",
    "TimeZone",
];

async fn tables(it: &TestDatabase) {
    it.set_up(
        "CREATE TABLE orders (id int PRIMARY KEY, total float8); \
         INSERT INTO orders VALUES (1, 0.1::float8 + 0.2::float8)",
    )
    .await;
    run(&it.admin, format!("GRANT ALL ON orders TO {}", it.reader)).await;
}

/// As the reader, through the pooler.
fn settings(it: &TestDatabase, pooler: &str) -> DatabaseSettings {
    let Ok(DatabaseAddress::Server(mut address)) = DatabaseAddress::parse(pooler) else {
        panic!("it is the address of a server");
    };
    address.database = Some(it.name().to_owned());
    address.user = Some(it.reader.clone());
    address.password = Some(Secret::new(PASSWORD));
    DatabaseSettings::new(DatabaseAddress::Server(address))
}

/// Another client of the same pool.
async fn other_client(it: &TestDatabase, pooler: &str) -> PgConnection {
    let options: PgConnectOptions = pooler.parse().expect("the address can be read");
    let options = options.username(&it.reader).password(PASSWORD).database(it.name());
    options.extra_float_digits(None).connect().await.expect("the pooler answers")
}

async fn ask(client: &mut PgConnection, sql: &str) -> String {
    let rows = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).fetch_all(client).await.expect(sql);
    rows.last().map_or_else(String::new, |row| row.get(0))
}

async fn shown(client: &mut PgConnection) -> Vec<String> {
    let mut values = Vec::new();
    for name in SETTINGS {
        values.push(format!("{name} = {}", ask(client, &format!("SHOW {name}")).await));
    }
    values
}

async fn reads_and_writes(it: &TestDatabase, pooler: String) {
    tables(it).await;
    let database = open(&settings(it, &pooler));
    let schema = database.read_schema().await.expect("it is read");
    let table = schema.tables.iter().find(|table| table.name.name == "orders").expect("it is seen");
    assert_eq!(table.columns.len(), 2);
    let total = query(&database, "SELECT total FROM orders").await.expect("it reads");
    assert_eq!(json!(total.rows).to_string(), "[[0.30000000000000004]]");
    let plan = database.explain("SELECT * FROM orders".to_owned(), TIMEOUT).await;
    assert!(plan.expect("it has a plan").contains("orders"));

    let changed = query(&database, "DELETE FROM orders").await;
    assert!(matches!(changed, Err(DatabaseError::Statement { .. })), "{changed:?}");
    let short = Duration::from_millis(200);
    let slow = ReadQuery { timeout: short, ..read_query("SELECT pg_sleep(30)::text") };
    let slow = database.query(slow).await;
    assert!(matches!(slow, Err(DatabaseError::Timeout(_))), "{slow:?}");
    it.wait_for(&it.running(), "0").await;

    let insert = "INSERT INTO orders VALUES (2, 7)";
    let refused = database.write(insert.to_owned(), TIMEOUT).await;
    assert!(matches!(refused, Err(DatabaseError::Write)));
    let writer = open(&DatabaseSettings { writes: Writes::Ask, ..settings(it, &pooler) });
    writer.write(insert.to_owned(), TIMEOUT).await.expect("it writes").roll_back().await;
    assert_eq!(it.read("SELECT count(*)::text FROM orders").await, "1");
    let written = writer.write(insert.to_owned(), TIMEOUT).await.expect("it writes");
    written.commit().await.expect("it is committed");
    assert_eq!(it.read("SELECT count(*)::text FROM orders").await, "2");
}

async fn given_back(it: &TestDatabase, pooler: String) {
    tables(it).await;
    let mut other = other_client(it, &pooler).await;
    let before = shown(&mut other).await;
    let process = ask(&mut other, "SELECT pg_backend_pid()::text").await;
    ask(&mut other, "SELECT pg_advisory_lock(42)::text").await;
    let database = open(&DatabaseSettings { writes: Writes::Ask, ..settings(it, &pooler) });
    let short = Duration::from_millis(200);
    let slow = ReadQuery { timeout: short, ..read_query("SELECT pg_sleep(30)::text") };
    for sql in ["SELECT total FROM orders", "SELECT 1 / 0", "DELETE FROM orders", "SELECT nothing"]
    {
        let _ = query(&database, sql).await;
        assert_eq!(shown(&mut other).await, before, "{sql}");
    }
    // The test means something only if it was the same session all along.
    assert_eq!(ask(&mut other, "SELECT pg_backend_pid()::text").await, process);
    let locks = "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND pid = \
                 pg_backend_pid()";
    assert_eq!(ask(&mut other, locks).await, "1");
    // Whoever gives a statement up gives up its session, and the pool has another one.
    assert!(database.query(slow).await.is_err());
    drop(database.write("DELETE FROM orders".to_owned(), TIMEOUT).await.expect("it writes"));
    it.wait_for(&it.running(), "0").await;
    assert_eq!(shown(&mut other).await, before);
    assert_eq!(it.read("SELECT count(*)::text FROM orders").await, "1");
}

async fn others(it: &TestDatabase, pooler: String) {
    tables(it).await;
    let mut other = other_client(it, &pooler).await;
    for setting in [
        "extra_float_digits = -15",
        "search_path = pg_catalog",
        "statement_timeout = '1ms'",
        "bytea_output = escape",
        "intervalstyle = iso_8601",
        "default_transaction_read_only = off",
    ] {
        ask(&mut other, &format!("SET {setting}")).await;
    }
    let before = shown(&mut other).await;
    let database = open(&settings(it, &pooler));
    let sql = "SELECT total, '\\x01ff'::bytea, interval '1 day' FROM public.orders";
    let through = query(&database, sql).await.expect("it reads");
    let direct = query(&it.open(), sql).await.expect("it reads");
    assert_eq!(json!(through.rows), json!(direct.rows));
    let changed = query(&database, "DELETE FROM public.orders").await;
    assert!(matches!(changed, Err(DatabaseError::Statement { .. })), "{changed:?}");
    assert_eq!(shown(&mut other).await, before);
}

async fn many_share_one(it: &TestDatabase, pooler: String) {
    tables(it).await;
    let database = open(&settings(it, &pooler));
    let queries: Vec<_> = (0..20).map(|number| format!("SELECT {number}")).collect();
    let asked = queries.iter().map(|sql| query(&database, sql));
    for (number, answer) in futures::future::join_all(asked).await.into_iter().enumerate() {
        assert_eq!(answer.expect("it reads").rows, [[json!(number)]]);
    }
    let sessions = format!(
        "SELECT count(*)::text FROM pg_stat_activity WHERE usename = '{}' AND datname = '{}'",
        it.reader,
        it.name()
    );
    assert_eq!(it.read(&sessions).await, "1");
}
