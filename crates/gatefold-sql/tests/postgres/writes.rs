use std::time::Duration;

use futures::FutureExt as _;
use gatefold_sql::{Database as _, DatabaseError, Postgres, Writes};

use crate::server::{Claim, TestDatabase, open, query, run};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("a_write_waits_for_its_commit", |it| a_write_waits_for_its_commit(it).boxed()),
    ("a_write_is_refused_unless_allowed", |it| a_write_is_refused_unless_allowed(it).boxed()),
];

const TIMEOUT: Duration = Duration::from_secs(10);

async fn writer(it: &TestDatabase) -> Postgres {
    it.set_up(
        "CREATE TABLE t (id int PRIMARY KEY, boss int REFERENCES t DEFERRABLE INITIALLY DEFERRED); \
         INSERT INTO t SELECT g FROM generate_series(1, 10) AS g",
    )
    .await;
    run(&it.admin, format!("GRANT ALL ON t TO {}", it.reader)).await;
    let mut settings = it.settings();
    settings.writes = Writes::Ask;
    open(&settings)
}

async fn a_write_waits_for_its_commit(it: &TestDatabase) {
    let database = writer(it).await;
    let count = "SELECT count(*)::text FROM t";
    let delete = |from: u32| {
        let sql = format!("DELETE FROM t WHERE id > {from} RETURNING *");
        database.write(sql, TIMEOUT)
    };
    let open_write = delete(7).await.expect("it writes");
    assert_eq!(open_write.rows_affected(), 3);
    assert_eq!(it.read(count).await, "10");
    open_write.roll_back().await;
    assert_eq!(it.read(count).await, "10");

    delete(7).await.expect("it writes").commit().await.expect("it is committed");
    assert_eq!(it.read(count).await, "7");

    drop(delete(2).await.expect("it writes"));
    // Whoever holds the rows no more has rolled back.
    run(&it.admin, "DO $$ BEGIN LOCK TABLE t; END $$").await;
    assert_eq!(it.read(count).await, "7");

    let wrong = database.write("UPDATE t SET boss = 99 WHERE id = 1".to_owned(), TIMEOUT).await;
    let error = wrong.expect("it is checked later").commit().await.expect_err("it is checked now");
    assert!(matches!(&error, DatabaseError::Statement { code: Some(code), .. } if code == "23503"));
    for sql in ["DELETE FROM t; DELETE FROM t", "DELETE FROM nothing", ""] {
        let error = database.write(sql.to_owned(), TIMEOUT).await.map(|done| done.rows_affected());
        let is_empty = sql.is_empty() && matches!(error, Ok(0));
        assert!(is_empty || matches!(error, Err(DatabaseError::Statement { .. })), "{error:?}");
    }
    // What reads still only reads, on the same connections.
    let read = query(&database, "WITH x AS (DELETE FROM t RETURNING 1) SELECT 1").await;
    assert!(read.is_err());
    assert_eq!(it.read(count).await, "7");
}

async fn a_write_is_refused_unless_allowed(it: &TestDatabase) {
    drop(writer(it).await);
    let database = it.open();
    let refused = database.write("DELETE FROM t".to_owned(), TIMEOUT).await;
    assert!(matches!(refused, Err(DatabaseError::Write)));
    assert_eq!(it.read("SELECT count(*)::text FROM t").await, "10");
}
