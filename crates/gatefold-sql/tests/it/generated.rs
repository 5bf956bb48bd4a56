//! Random values, written and read by another driver and read through the source.

use base64::Engine as _;
use gatefold_sql::{Database as _, DatabaseAddress, DatabaseSettings, ReadQuery, SqliteFile};
use proptest::prelude::{Strategy, any};
use proptest::strategy::{Just, ValueTree as _};
use proptest::test_runner::TestRunner;
use rusqlite::types::Value as Stored;
use serde_json::{Value, json};

const ROWS: usize = 500;

#[tokio::test]
async fn random_values_come_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.db");
    let theirs = rusqlite::Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, v)").unwrap();
    let mut runner = TestRunner::deterministic();
    for id in 0..ROWS {
        let value = stored_values().new_tree(&mut runner).unwrap().current();
        theirs
            .execute("INSERT INTO t VALUES (?1, ?2)", (i64::try_from(id).unwrap(), value))
            .unwrap();
    }
    let settings = DatabaseSettings::new(DatabaseAddress::Sqlite(path.clone()));
    let query = ReadQuery {
        sql: "SELECT v FROM t ORDER BY id".to_owned(),
        masked: Vec::new(),
        max_rows: ROWS,
        max_bytes: 1 << 24,
        timeout: std::time::Duration::from_secs(20),
    };
    let ours = SqliteFile::new(path, &settings).query(query).await.unwrap();
    let mut select = theirs.prepare("SELECT v FROM t ORDER BY id").unwrap();
    let stored = select.query_map((), |row| row.get::<_, Stored>(0)).unwrap();
    let stored: Vec<_> = stored.map(Result::unwrap).collect();
    assert_eq!((stored.len(), ours.rows.len()), (ROWS, ROWS));
    for (ours, theirs) in ours.rows.iter().zip(stored) {
        assert_eq!(ours[0].to_string(), expected(theirs).to_string());
    }
}

fn stored_values() -> impl Strategy<Value = Stored> {
    proptest::prop_oneof![
        Just(Stored::Null),
        any::<i64>().prop_map(Stored::Integer),
        (-100..100_i64).prop_map(Stored::Integer),
        proptest::num::f64::ANY.prop_map(Stored::Real),
        any::<String>().prop_map(Stored::Text),
        any::<Vec<u8>>().prop_map(Stored::Blob),
    ]
}

/// What an answer should have for a value.
fn expected(value: Stored) -> Value {
    const EXACT: i64 = (1 << 53) - 1;
    match value {
        Stored::Null => Value::Null,
        Stored::Integer(number) if (-EXACT..=EXACT).contains(&number) => json!(number),
        Stored::Integer(number) => json!(number.to_string()),
        Stored::Real(number) if number.is_finite() => json!(number),
        Stored::Real(number) => json!(if number > 0.0 { "Infinity" } else { "-Infinity" }),
        Stored::Text(text) => json!(text),
        Stored::Blob(bytes) => {
            let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
            json!({ "bytes": bytes.len(), "base64": base64 })
        }
    }
}
