use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Secret;
use gatefold_sql::{Database as _, DatabaseError, MySqlServer, ReadQuery, ServerPlace, Stop};

use crate::server::{Claim, TestDatabase, query, reading, values};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("a_statement_ends_at_its_timeout", a_statement_ends_at_its_timeout),
    ("dropping_a_query_ends_its_statement", dropping_a_query_ends_its_statement),
    ("a_result_is_cut_at_its_bounds", a_result_is_cut_at_its_bounds),
    ("a_million_rows_are_cut_soon", a_million_rows_are_cut_soon),
    ("busy_connections_are_told", busy_connections_are_told),
    ("a_server_out_of_reach_says_why", a_server_out_of_reach_says_why),
    ("a_connection_that_the_server_closed_is_replaced", a_closed_connection_is_replaced),
];

/// Runs for ever, as far as a test waits.
const ENDLESS: &str = "SELECT COUNT(*) FROM information_schema.COLUMNS a, \
     information_schema.COLUMNS b, information_schema.COLUMNS c";

fn a_statement_ends_at_its_timeout(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let server = database.open();
        let timeout = Duration::from_millis(500);
        let run = async |sql: &str| {
            let begun = Instant::now();
            let result = server.query(ReadQuery { timeout, ..reading(sql) }).await;
            assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
            result
        };
        let endless = run(ENDLESS).await;
        assert!(matches!(endless, Err(DatabaseError::Timeout(_))), "{endless:?}");
        // The server ends this one too, and answers 0 as if it were done.
        let _ = run("SELECT BENCHMARK(10000000000, MD5('x'))").await;
        assert_eq!(values(&server, "SELECT 1").await[0][0], 1);
    }
    .boxed()
}

async fn running(database: &TestDatabase) -> usize {
    let sql = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE '%gatefold endless%' \
               AND ID <> CONNECTION_ID()";
    database.ask(sql).await.len()
}

fn dropping_a_query_ends_its_statement(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let server = database.open();
        let sql = "SELECT SLEEP(100) AS `gatefold endless`";
        let dropped = tokio::time::timeout(Duration::from_millis(500), query(&server, sql));
        let seen = async {
            tokio::time::sleep(Duration::from_millis(250)).await;
            running(database).await
        };
        let (dropped, seen) = tokio::join!(dropped, seen);
        assert!(dropped.is_err());
        assert_eq!(seen, 1);
        let begun = Instant::now();
        while running(database).await > 0 {
            assert!(begun.elapsed() < Duration::from_secs(5), "it still runs");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    .boxed()
}

fn a_result_is_cut_at_its_bounds(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database
            .change("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2), (3), (4), (5)")
            .await;
        let server = database.open();
        let cut = async |sql: &str, max_rows, max_bytes| {
            let rows = server.query(ReadQuery { max_rows, max_bytes, ..reading(sql) }).await;
            rows.map(|rows| (rows.rows.len(), rows.stopped))
        };
        let sql = "SELECT a FROM t";
        assert_eq!(cut(sql, 3, 1_000).await.unwrap(), (3, Some(Stop::Rows)));
        assert_eq!(cut(sql, 5, 1_000).await.unwrap(), (5, None));
        assert_eq!(cut("SELECT a FROM t LIMIT 4", 3, 1_000).await.unwrap(), (3, Some(Stop::Rows)));
        assert_eq!(cut(sql, 5, 10).await.unwrap(), (2, Some(Stop::Bytes)));
        let union = "SELECT a FROM t UNION ALL SELECT a FROM t";
        assert_eq!(cut(union, 7, 1_000).await.unwrap(), (7, Some(Stop::Rows)));
        let inner = "SELECT COUNT(*) FROM (SELECT a FROM t ORDER BY a) x";
        assert_eq!(
            server.query(ReadQuery { max_rows: 2, ..reading(inner) }).await.unwrap().rows[0][0],
            5
        );
        let large = cut("SELECT REPEAT('x', 1000)", 5, 100).await;
        assert!(matches!(large, Err(DatabaseError::RowTooLarge(100))), "{large:?}");
        assert_eq!(values(&server, sql).await.len(), 5);
    }
    .boxed()
}

fn a_million_rows_are_cut_soon(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change("CREATE TABLE t (a INT); INSERT INTO t VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)").await;
        let server = database.open();
        let million = "SELECT a.a, REPEAT('x', 100) FROM t a, t b, t c, t d, t e, t f";
        assert_eq!(values(&server, &format!("SELECT COUNT(*) FROM ({million}) x")).await[0][0], 1_000_000);
        for sql in [million.to_owned(), format!("{million} LIMIT 1000000")] {
            let begun = Instant::now();
            let rows = query(&server, &sql).await.unwrap();
            assert_eq!((rows.rows.len(), rows.stopped), (1_000, Some(Stop::Rows)));
            assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        }
        assert_eq!(values(&server, "SELECT 1").await[0][0], 1);
    }
    .boxed()
}

fn busy_connections_are_told(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let (address, mut settings) = database.settings(&database.reader());
        settings.connections = 1;
        settings.connect_timeout = Duration::from_millis(500);
        let server = MySqlServer::new(&address, &settings);
        let slow = query(&server, "SELECT SLEEP(2)");
        let (slow, other) = tokio::join!(slow, async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            query(&server, "SELECT 1").await
        });
        assert!(slow.is_ok(), "{slow:?}");
        assert!(matches!(other, Err(DatabaseError::Busy(1))), "{other:?}");
    }
    .boxed()
}

fn a_server_out_of_reach_says_why(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let (address, settings) = database.settings(&database.reader());
        let check =
            async |server: MySqlServer, expected: &str| match query(&server, "SELECT 1").await {
                Err(DatabaseError::Unreachable { reason, source }) => {
                    assert_eq!(reason, expected);
                    assert!(!format!("{source:?}").contains("hunter2"), "{source:?}");
                }
                other => panic!("{other:?}"),
            };
        let mut wrong = settings.clone();
        wrong.password = Some(Secret::new("hunter2"));
        check(MySqlServer::new(&address, &wrong), "the user or the password is wrong").await;
        let mut closed = address.clone();
        closed.place = ServerPlace::Host("127.0.0.1".to_owned());
        closed.port = 9;
        check(MySqlServer::new(&closed, &settings), "nothing listens at its address").await;
        let mut socket = address.clone();
        socket.place = ServerPlace::Socket("/nowhere/to/be.sock".into());
        check(MySqlServer::new(&socket, &settings), "its socket does not exist").await;
        let mut other = address.clone();
        other.database = Some("mysql".to_owned());
        check(MySqlServer::new(&other, &settings), "the user may not use the database").await;
    }
    .boxed()
}

fn a_closed_connection_is_replaced(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let server = database.open();
        let id = values(&server, "SELECT CONNECTION_ID()").await.remove(0).remove(0);
        assert_eq!(values(&server, "SELECT CONNECTION_ID()").await[0][0], id);
        database.change(&format!("KILL {id}")).await;
        assert_ne!(values(&server, "SELECT CONNECTION_ID()").await[0][0], id);
    }
    .boxed()
}
