use std::time::{Duration, Instant};

use futures::FutureExt as _;
use gatefold_sql::{Database as _, DatabaseError, Postgres, ReadQuery, ResultColumn, Stop};
use serde_json::{Value, json};

use crate::server::{Claim, TestDatabase, query, read_query};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("a_result_ends_at_its_rows", |it| a_result_ends_at_its_rows(it).boxed()),
    ("a_result_ends_at_its_bytes", |it| a_result_ends_at_its_bytes(it).boxed()),
    ("a_row_that_is_too_large_is_refused", |it| a_row_that_is_too_large_is_refused(it).boxed()),
    ("a_million_rows_are_not_read", |it| a_million_rows_are_not_read(it).boxed()),
    ("no_statement_outlives_its_time", |it| no_statement_outlives_its_time(it).boxed()),
    ("a_dropped_query_ends_on_the_server", |it| a_dropped_query_ends_on_the_server(it).boxed()),
    ("an_empty_result_has_columns", |it| an_empty_result_has_columns(it).boxed()),
    ("a_masked_value_is_not_shown", |it| a_masked_value_is_not_shown(it).boxed()),
    ("a_small_query_costs_little", |it| a_small_query_costs_little(it).boxed()),
];

async fn a_result_ends_at_its_rows(it: &TestDatabase) {
    let database = it.open();
    let count = async |rows: usize, max_rows: usize| {
        let sql = format!("SELECT g FROM generate_series(1, {rows}) AS g");
        let result = database.query(ReadQuery { max_rows, ..read_query(&sql) }).await;
        let result = result.expect("it reads");
        let last = result.rows.last().map(|row| row[0].clone()).unwrap_or_default();
        (result.rows.len(), last, result.stopped)
    };
    assert_eq!(count(10, 9).await, (9, json!(9), Some(Stop::Rows)));
    assert_eq!(count(10, 10).await, (10, json!(10), None));
    assert_eq!(count(10, 11).await, (10, json!(10), None));
    assert_eq!(count(1, 1).await, (1, json!(1), None));
    assert_eq!(count(2, 1).await, (1, json!(1), Some(Stop::Rows)));
    assert_eq!(count(2, 0).await, (0, Value::Null, Some(Stop::Rows)));
    assert_eq!(count(5_000, 3_500).await, (3_500, json!(3_500), Some(Stop::Rows)));
    assert_eq!(count(5_000, 9_000).await, (5_000, json!(5_000), None));
}

async fn a_result_ends_at_its_bytes(it: &TestDatabase) {
    let database = it.open();
    let sql = "SELECT repeat('x', 100) FROM generate_series(1, 100000)";
    let small = ReadQuery { max_bytes: 10_000, ..read_query(sql) };
    let result = database.query(small).await.expect("it reads");
    assert_eq!(result.stopped, Some(Stop::Bytes));
    assert!((90..100).contains(&result.rows.len()), "{}", result.rows.len());
    // The connection has nothing of that result left in it.
    let next = query(&database, "SELECT 7").await.expect("it reads");
    assert_eq!(next.rows, [[json!(7)]]);
}

async fn a_row_that_is_too_large_is_refused(it: &TestDatabase) {
    let database = it.open();
    let large = |sql: &str| ReadQuery { max_bytes: 1_000, ..read_query(sql) };
    let error = database.query(large("SELECT repeat('x', 2000)")).await;
    assert!(matches!(error, Err(DatabaseError::RowTooLarge(1_000))), "{error:?}");
    // This one does not reach us.
    let error = query(&database, "SELECT repeat('x', 50000000)").await;
    assert!(matches!(error, Err(DatabaseError::RowTooLarge(16_777_216))), "{error:?}");
    // A row that the query leaves out is none.
    let sql = "SELECT q.g FROM (SELECT g, repeat('x', 20000000 * (g % 2)) AS large \
               FROM generate_series(1, 4) AS g) AS q WHERE length(q.large) = 0";
    let result = query(&database, sql).await.expect("it reads");
    assert_eq!(result.rows, [[json!(2)], [json!(4)]]);
    let sql = "SELECT convert_to(repeat('x', 5000000), 'UTF8')";
    let result = database.query(large(sql)).await.expect("its size is shown");
    assert_eq!(result.rows, [[json!({"bytes": 5_000_000, "truncated": true})]]);
}

async fn a_million_rows_are_not_read(it: &TestDatabase) {
    it.set_up(
        "CREATE TABLE large AS SELECT g AS id, md5(g::text) AS text FROM generate_series(1, 1000000) g",
    )
    .await;
    let database = it.open();
    let warm = query(&database, "SELECT 1").await.expect("it reads");
    assert_eq!(warm.rows.len(), 1);
    let began = Instant::now();
    let result = query(&database, "SELECT * FROM large").await.expect("it reads");
    println!("1,000,000 rows with a cap of 1,000: {:?}", began.elapsed());
    assert_eq!((result.rows.len(), result.stopped), (1_000, Some(Stop::Rows)));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

async fn no_statement_outlives_its_time(it: &TestDatabase) {
    let database = it.open();
    let timeout = Duration::from_millis(400);
    for sql in [
        "SELECT pg_sleep(60)",
        "SELECT g, pg_sleep(0.05) FROM generate_series(1, 1000) AS g",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
        "SELECT set_config('statement_timeout', '0', false), pg_sleep(0.1) \
         FROM generate_series(1, 1000)",
    ] {
        let began = Instant::now();
        let error = database.query(ReadQuery { timeout, ..read_query(sql) }).await;
        assert!(matches!(error, Err(DatabaseError::Timeout(_))), "{sql}: {error:?}");
        assert!(began.elapsed() < Duration::from_secs(3), "{sql}: {:?}", began.elapsed());
        it.wait_for(&it.running(), "0").await;
    }
    let error = database.explain("SELECT 1".to_owned(), Duration::ZERO).await;
    assert!(matches!(error, Ok(_) | Err(DatabaseError::Timeout(_))), "{error:?}");
    let next = query(&database, "SELECT 7").await.expect("others go on");
    assert_eq!(next.rows, [[json!(7)]]);
}

async fn a_dropped_query_ends_on_the_server(it: &TestDatabase) {
    let database = it.open();
    let query = ReadQuery {
        timeout: Duration::from_secs(300),
        ..read_query("SELECT count(*) FROM generate_series(1, 1000000000)")
    };
    let running = it.running();
    tokio::select! {
        result = database.query(query) => panic!("{result:?}"),
        () = it.wait_for(&running, "1") => {}
    }
    let began = Instant::now();
    it.wait_for(&it.running(), "0").await;
    println!("a dropped query ended on the server after {:?}", began.elapsed());
}

async fn an_empty_result_has_columns(it: &TestDatabase) {
    it.set_up(
        "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE t (m mood, n numeric(5,2)[])",
    )
    .await;
    let database = it.open();
    let column = |name: &str, column_type: &str| ResultColumn {
        name: name.to_owned(),
        column_type: column_type.to_owned(),
    };
    // Twice, with other columns each time, on the same connection.
    for _ in 0..2 {
        let result = query(&database, "SELECT m, n, m FROM t").await.expect("it reads");
        let columns = [column("m", "mood"), column("n", "numeric[]"), column("m", "mood")];
        assert_eq!((&*result.columns, &*result.rows), (&columns[..], &[][..]));
        let result = query(&database, "SELECT 1 AS one WHERE false").await.expect("it reads");
        assert_eq!(result.columns, [column("one", "integer")]);
    }
}

async fn a_masked_value_is_not_shown(it: &TestDatabase) {
    let masked = ReadQuery {
        masked: vec![1],
        ..read_query("SELECT * FROM (VALUES (1, 'a@b.c'), (2, NULL)) AS v(id, email)")
    };
    let result = it.open().query(masked).await.expect("it reads");
    assert_eq!(result.rows, [[json!(1), json!("***")], [json!(2), Value::Null]]);
}

async fn a_small_query_costs_little(it: &TestDatabase) {
    const ROUNDS: u32 = 500;
    it.set_up(
        "CREATE TABLE t AS SELECT g AS id, md5(g::text) AS text FROM generate_series(1, 10) g",
    )
    .await;
    let database: Postgres = it.open();
    let sql = "SELECT id, text FROM t ORDER BY id";
    query(&database, sql).await.expect("it reads");
    let began = Instant::now();
    for _ in 0..ROUNDS {
        query(&database, sql).await.expect("it reads");
    }
    let ours = began.elapsed() / ROUNDS;
    let began = Instant::now();
    for _ in 0..ROUNDS {
        sqlx::query(sql).fetch_all(&it.admin).await.expect("it reads");
    }
    println!("a small query: {ours:?}, through sqlx alone {:?}", began.elapsed() / ROUNDS);
    assert!(ours < Duration::from_millis(50), "{ours:?}");
}
