//! The corpora of statements, on a real server.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::claims;
use crate::server::{Claim, TestDatabase};
use crate::statements::text;

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("harmless_statements_give_their_rows", harmless_statements_give_their_rows),
    ("attacks_change_nothing_without_the_guard", attacks_change_nothing_without_the_guard),
];

/// What is in the tables, and which there are.
const TABLES: &str = "CHECKSUM TABLE employees, orders, departments, secrets";

async fn digest(it: &TestDatabase) -> Vec<String> {
    let mut admin = it.admin().await;
    let mut found = Vec::new();
    let sums = sqlx::raw_sql(TABLES);
    let sums = sqlx::Executor::fetch_all(&mut admin, sums).await.unwrap();
    for row in &sums {
        found
            .push(format!("{:?}", sqlx::Row::try_get_unchecked::<Option<i64>, _>(row, 1).unwrap()));
    }
    let names = format!(
        "SELECT concat(table_name, table_type) FROM information_schema.tables \
         WHERE table_schema = '{}' ORDER BY 1",
        it.name
    );
    found.extend(it.ask(&names).await);
    found
}

fn harmless_statements_give_their_rows(it: &TestDatabase) -> BoxFuture<'_, ()> {
    async move {
        it.change(&text("schema.mysql.sql")).await;
        let file = "harmless.mysql.sql";
        claims::harmless_statements_give_the_rows_they_give_directly(&it.open(), file).await;
    }
    .boxed()
}

fn attacks_change_nothing_without_the_guard(it: &TestDatabase) -> BoxFuture<'_, ()> {
    async move {
        it.change(&text("schema.mysql.sql")).await;
        let before = digest(it).await;
        let became = claims::attacks_without_the_guard(&it.open(), "attacks.mysql.sql").await;
        assert_eq!(digest(it).await, before);
        println!("attacks past the guard, as the reader: {became:?}");
    }
    .boxed()
}
