//! Random values, written and read through the driver alone and read through the source.

use base64::Engine as _;
use futures::FutureExt as _;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use sqlx::Row as _;

use crate::server::{Claim, TestDatabase, query};

pub(crate) const ALL: &[(&str, Claim)] =
    &[("random_values_come_through", |it| random_values_come_through(it).boxed())];

const ROWS: usize = 300;

type Values = (i64, f64, f32, Option<String>, Vec<u8>, Vec<Option<String>>, Vec<i32>);

async fn random_values_come_through(it: &TestDatabase) {
    it.set_up(
        "CREATE TABLE t (at int, a int8, b float8, c float4, d text, e bytea, f text[], g int[])",
    )
    .await;
    // The server has no text with a zero in it.
    let text = || any::<String>().prop_map(|text| text.replace('\0', ""));
    let strategy = (
        any::<i64>(),
        any::<f64>(),
        any::<f32>(),
        proptest::option::of(text()),
        any::<Vec<u8>>(),
        proptest::collection::vec(proptest::option::of(text()), 0..6),
        any::<Vec<i32>>(),
    );
    let mut runner = TestRunner::deterministic();
    for at in 0..ROWS {
        let values: Values = strategy.new_tree(&mut runner).expect("there is one").current();
        let insert = sqlx::query("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
        let insert = insert.bind(i32::try_from(at).expect("it is small")).bind(values.0);
        let insert = insert.bind(values.1).bind(values.2).bind(values.3).bind(values.4);
        let insert = insert.bind(values.5).bind(values.6);
        insert.execute(&it.admin).await.expect("it is written");
    }
    let result = query(&it.open(), "SELECT a, b, c, d, e, f, g FROM t ORDER BY at").await;
    let result = result.expect("it reads");
    let select = sqlx::query("SELECT a, b, c, d, e, f, g FROM t ORDER BY at");
    let rows = select.fetch_all(&it.admin).await.expect("it reads");
    assert_eq!((result.rows.len(), rows.len()), (ROWS, ROWS));
    for (ours, row) in result.rows.iter().zip(&rows) {
        check(ours, row).expect("the driver reads it");
    }
}

fn check(ours: &[Value], row: &sqlx::postgres::PgRow) -> Result<(), sqlx::Error> {
    let number = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    assert_eq!(number(&ours[0]), row.try_get::<i64, _>(0)?.to_string());
    let wide: f64 = row.try_get(1)?;
    let read: f64 = number(&ours[1]).parse().expect("it is a number");
    assert!(read.total_cmp(&wide).is_eq() || wide.is_nan() && read.is_nan(), "{read} {wide}");
    let narrow: f32 = row.try_get(2)?;
    let read: f32 = number(&ours[2]).parse().expect("it is a number");
    assert!(read.total_cmp(&narrow).is_eq() || narrow.is_nan() && read.is_nan(), "{read} {narrow}");
    assert_eq!(ours[3], serde_json::json!(row.try_get::<Option<String>, _>(3)?));
    let bytes: Vec<u8> = row.try_get(4)?;
    let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
    assert_eq!(ours[4], serde_json::json!({"bytes": bytes.len(), "base64": base64}));
    assert_eq!(ours[5], serde_json::json!(row.try_get::<Vec<Option<String>>, _>(5)?));
    assert_eq!(ours[6], serde_json::json!(row.try_get::<Vec<i32>, _>(6)?));
    Ok(())
}
