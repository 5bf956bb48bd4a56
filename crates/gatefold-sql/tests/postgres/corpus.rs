//! The corpora of statements, on a real server.

use futures::FutureExt as _;

use crate::claims;
use crate::server::{Claim, TestDatabase};
use crate::statements::text;

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("harmless_statements_give_their_rows", |it| harmless_statements_give_their_rows(it).boxed()),
    ("attacks_change_nothing_without_the_guard", |it| {
        attacks_change_nothing_without_the_guard(it).boxed()
    }),
];

/// All that is in the tables, and which tables, views, functions and sequences there are.
const DIGEST: &str = "
    SELECT md5(concat_ws(' ', (SELECT string_agg(t::text, ',' ORDER BY id) FROM employees t),
    (SELECT string_agg(t::text, ',' ORDER BY id) FROM orders t),
    (SELECT string_agg(t::text, ',' ORDER BY id) FROM departments t),
    (SELECT string_agg(t::text, ',' ORDER BY id) FROM secrets t),
    (SELECT string_agg(concat(relname, relkind), ',' ORDER BY oid) FROM pg_class),
    (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_largeobject_metadata),
    (SELECT count(*) FROM pg_namespace), (SELECT string_agg(rolname, ',' ORDER BY oid)
    FROM pg_roles WHERE rolname !~ '^gatefold_test_')))
";

async fn harmless_statements_give_their_rows(it: &TestDatabase) {
    it.set_up(&text("schema.postgres.sql")).await;
    let file = "harmless.postgres.sql";
    let count =
        claims::harmless_statements_give_the_rows_they_give_directly(&it.open(), file).await;
    println!("{count} harmless statements gave the rows they give directly");
}

async fn attacks_change_nothing_without_the_guard(it: &TestDatabase) {
    it.set_up(&text("schema.postgres.sql")).await;
    let before = it.read(DIGEST).await;
    let became = claims::attacks_without_the_guard(&it.open(), "attacks.postgres.sql").await;
    assert_eq!(it.read(DIGEST).await, before);
    println!("attacks past the guard, as the reader: {became:?}");
}
