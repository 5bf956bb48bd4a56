//! Random values, written and read through the driver alone or by the server's own client, and read
//! through the source.

use std::fmt::Write as _;
use std::process::Command;

use base64::Engine as _;
use futures::FutureExt as _;
use gatefold_sql::ServerPlace;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use sqlx::Row as _;

use crate::client::{self, hex, plain, unhex};
use crate::server::{Claim, TestDatabase, query};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("random_values_come_through", |it| random_values_come_through(it).boxed()),
    ("random_values_are_as_psql_reads_them", |it| as_psql_reads_them(it).boxed()),
];

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
    assert_eq!(plain(&ours[0]), row.try_get::<i64, _>(0)?.to_string());
    let wide: f64 = row.try_get(1)?;
    let read: f64 = plain(&ours[1]).parse().expect("it is a number");
    assert!(read.total_cmp(&wide).is_eq() || wide.is_nan() && read.is_nan(), "{read} {wide}");
    let narrow: f32 = row.try_get(2)?;
    let read: f32 = plain(&ours[2]).parse().expect("it is a number");
    assert!(read.total_cmp(&narrow).is_eq() || narrow.is_nan() && read.is_nan(), "{read} {narrow}");
    assert_eq!(ours[3], serde_json::json!(row.try_get::<Option<String>, _>(3)?));
    let bytes: Vec<u8> = row.try_get(4)?;
    let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
    assert_eq!(ours[4], serde_json::json!({"bytes": bytes.len(), "base64": base64}));
    assert_eq!(ours[5], serde_json::json!(row.try_get::<Vec<Option<String>>, _>(5)?));
    assert_eq!(ours[6], serde_json::json!(row.try_get::<Vec<i32>, _>(6)?));
    Ok(())
}

const TABLE: &str = "
    CREATE TABLE u (id int, n numeric, d date, s timestamp, z timestamptz, i interval, u uuid,
        j jsonb, t time, a inet, r int8range, x text, b bytea, l text[]);
";

/// Written so that neither a tab nor a line's end is in any value.
const READ: &str = "
    SELECT n, d, s, z, i, u, t, a, r, encode(convert_to(j::text, 'UTF8'), 'hex'),
        encode(convert_to(x, 'UTF8'), 'hex'), encode(b, 'hex'),
        encode(convert_to(to_json(l)::text, 'UTF8'), 'hex') FROM u ORDER BY id;
";

/// How psql is told to write a value that is missing.
const MISSING: &str = "~";

async fn as_psql_reads_them(it: &TestDatabase) {
    it.set_up(TABLE).await;
    let set = "SET timezone = 'UTC'; SET intervalstyle = 'iso_8601'; SET datestyle = 'ISO, YMD';\n";
    let mut script = set.to_owned();
    let mut runner = TestRunner::deterministic();
    for id in 0..ROWS {
        let row = literals().new_tree(&mut runner).expect("there is one").current();
        writeln!(script, "INSERT INTO u VALUES ({id}, {row});").expect("a String takes everything");
    }
    let theirs = client::rows(psql(it), &(script + READ));
    let ours = "SELECT n, d, s, z, i, u, t, a, r, j, x, b, l FROM u ORDER BY id";
    let ours = query(&it.open(), ours).await.expect("it reads");
    assert_eq!((theirs.len(), ours.rows.len()), (ROWS, ROWS));
    for (theirs, ours) in theirs.iter().zip(&ours.rows) {
        check_with_psql(theirs, ours);
    }
}

/// The values of a row as they are written in SQL.
fn literals() -> impl Strategy<Value = String> {
    let text = || any::<String>().prop_map(|text| text.replace('\0', ""));
    let micros = 250_000_000_000_000_000_i64;
    let moments = (
        0..3_652_000_u32,
        -60_000_000_000_000_000..micros,
        -60_000_000_000_000_000..micros,
        0..86_400_000_000_u64,
    );
    let interval = (-99_999..99_999_i32, -9_999..9_999_i32, any::<i32>());
    let others = (any::<u128>(), any::<[u8; 4]>(), any::<i32>(), 0..1_000_000_i64);
    let texts = (proptest::option::of(text()), any::<Vec<u8>>(), text());
    let number = (any::<i128>(), 0..40_u8);
    let list = proptest::collection::vec(proptest::option::of(text()), 0..5);
    (number, moments, interval, others, texts, list).prop_map(
        |((mantissa, scale), (days, stamp, zoned, time), interval, others, texts, list)| {
            let ((months, month_days, interval_micros), (uuid, net, from, length)) =
                (interval, others);
            let (text, bytes, key) = texts;
            let [a, b, c, d] = net;
            let moment = |micros: i64| {
                format!(
                    "'2000-01-01' + make_interval(secs => {}) + {} * interval '1us'",
                    micros / 1_000_000,
                    micros % 1_000_000
                )
            };
            let list: Vec<_> = list.iter().map(|item| sql_text(item.as_deref())).collect();
            format!(
                "{mantissa}e-{scale}::numeric, DATE '0001-01-01' + {days}, TIMESTAMP {}, \
                 TIMESTAMPTZ {}, \
                 '{months} months {month_days} days {interval_micros} microseconds', \
                 '{uuid:032x}'::uuid, jsonb_build_object({key}, {text}, 'n', {mantissa}e-{scale}), \
                 TIME '00:00' + {time} * interval '1us', '{a}.{b}.{c}.{d}', \
                 int8range({from}, {from} + {length}), {text}, '\\x{}', ARRAY[{}]::text[]",
                moment(stamp),
                moment(zoned),
                hex(&bytes),
                list.join(", "),
                key = sql_text(Some(&key)),
                text = sql_text(text.as_deref()),
            )
        },
    )
}

fn sql_text(text: Option<&str>) -> String {
    let written = |text: &str| format!("convert_from('\\x{}', 'UTF8')", hex(text.as_bytes()));
    text.map_or("NULL::text".to_owned(), written)
}

fn psql(it: &TestDatabase) -> Command {
    let mut client = Command::new("psql");
    client.args(["-X", "-q", "-A", "-t", "-F", "\t", "-P", &format!("null={MISSING}")]);
    client.args(["-v", "ON_ERROR_STOP=1", "-d", it.name()]);
    match &it.address.place {
        ServerPlace::Host(host) => client.args(["-h", host]),
        ServerPlace::Socket(folder) => client.arg("-h").arg(folder),
    };
    client.args(["-p", &it.address.port.to_string()]);
    client.args(["-U", it.address.user.as_deref().unwrap_or("postgres")]);
    if let Some(password) = &it.address.password {
        client.env("PGPASSWORD", password.expose());
    }
    client
}

fn check_with_psql(theirs: &[String], ours: &[Value]) {
    let text = |at: usize| String::from_utf8(unhex(&theirs[at])).expect("it is a text");
    let json = |at: usize| serde_json::from_str::<Value>(&text(at)).expect("it is JSON");
    for same in [0, 1, 4, 5, 6, 7, 8] {
        assert_eq!(plain(&ours[same]), theirs[same]);
    }
    assert_eq!(plain(&ours[2]), theirs[2].replace(' ', "T"));
    assert_eq!(plain(&ours[3]), theirs[3].replace(' ', "T") + ":00");
    assert_eq!(ours[9].to_string(), json(9).to_string());
    let expected = (theirs[10] != MISSING).then(|| text(10));
    assert_eq!(ours[10], serde_json::json!(expected));
    let bytes = unhex(&theirs[11]);
    let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
    assert_eq!(ours[11], serde_json::json!({ "bytes": bytes.len(), "base64": base64 }));
    assert_eq!(ours[12], json(12));
}
