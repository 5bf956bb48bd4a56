use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_sql::{Database as _, DatabaseError};

use crate::server::{Claim, HR, TIMEOUT, TestDatabase};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("a_write_waits_for_its_decision", a_write_waits_for_its_decision),
    ("nothing_but_rows_is_written", nothing_but_rows_is_written),
    ("a_table_without_transactions_is_not_written", a_table_without_transactions_is_not_written),
    ("a_write_ends_at_its_timeout", a_write_ends_at_its_timeout),
];

async fn count(database: &TestDatabase) -> Vec<String> {
    database.ask("SELECT COUNT(*) FROM employees").await
}

fn a_write_waits_for_its_decision(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        let server = database.open_for_writing();
        let delete = || server.write("DELETE FROM employees WHERE id = 1".to_owned(), TIMEOUT);

        let write = delete().await.unwrap();
        assert_eq!(write.rows_affected(), 1);
        assert_eq!(count(database).await, ["2"]);
        write.roll_back().await;
        assert_eq!(count(database).await, ["2"]);

        drop(delete().await.unwrap());
        // The next one can only write once the dropped one has let go of the row.
        let begun = Instant::now();
        let write = delete().await.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
        write.commit().await.unwrap();
        assert_eq!(count(database).await, ["1"]);
    }
    .boxed()
}

fn nothing_but_rows_is_written(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        let server = database.open_for_writing();
        let refused = [
            "DROP TABLE employees",
            "TRUNCATE employees",
            "COMMIT",
            "/*! DROP TABLE employees */",
            "DELETE FROM employees; COMMIT",
            "SET autocommit = 1",
            "CALL x()",
            "",
        ];
        for sql in refused {
            assert!(server.write(sql.to_owned(), TIMEOUT).await.is_err(), "{sql}");
        }
        assert_eq!(count(database).await, ["2"]);
    }
    .boxed()
}

fn a_table_without_transactions_is_not_written(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change("CREATE TABLE plain (a INT) ENGINE=MyISAM").await;
        let server = database.open_for_writing();
        let result = server.write("INSERT INTO Plain VALUES (1)".to_owned(), TIMEOUT).await;
        // Where names differ by case, there is no such table.
        assert!(matches!(result.err(), Some(DatabaseError::Statement { .. })));
        let result = server.write("INSERT INTO plain VALUES (1)".to_owned(), TIMEOUT).await;
        let Some(DatabaseError::Statement { message, .. }) = result.err() else { panic!() };
        assert!(message.contains("`plain`") && message.contains("MyISAM"), "{message}");
        assert_eq!(database.ask("SELECT COUNT(*) FROM plain").await, ["0"]);
    }
    .boxed()
}

fn a_write_ends_at_its_timeout(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        let server = database.open_for_writing();
        let sql = "UPDATE employees SET salary = SLEEP(30)".to_owned();
        let begun = Instant::now();
        let result = server.write(sql, Duration::from_millis(500)).await;
        assert!(matches!(result.err(), Some(DatabaseError::Timeout(_))));
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
        assert_eq!(count(database).await, ["2"]);
    }
    .boxed()
}
