//! Random values, written and read by the server's own client and read through the source.

use std::fmt::Write as _;
use std::process::Command;

use base64::Engine as _;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_sql::ServerPlace;
use proptest::prelude::{Strategy, any};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::client::{self, hex, plain, unhex};
use crate::server::{Claim, TestDatabase, query};

pub(crate) const ALL: &[(&str, Claim)] = &[("random_values_come_through", come_through)];

const ROWS: usize = 300;

const TABLE: &str = "
    CREATE TABLE t (id INT, a BIGINT, b BIGINT UNSIGNED, c DOUBLE, d FLOAT, e DECIMAL(38,10),
        f LONGTEXT, g LONGBLOB, h DATE, i DATETIME(6), j TIME(6), k BIT(64)) DEFAULT CHARSET utf8mb4;
";

/// Written so that neither a tab nor a line's end is in any value.
const READ: &str = "
    SELECT a, b, c, CAST(d AS DOUBLE), e, HEX(f), HEX(g), h, i, j, k + 0 FROM t ORDER BY id;
";

fn come_through(it: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        it.change(TABLE).await;
        let mut script = "SET time_zone = '+00:00';\n".to_owned();
        let mut runner = TestRunner::deterministic();
        for id in 0..ROWS {
            let row = literals().new_tree(&mut runner).expect("there is one").current();
            writeln!(script, "INSERT INTO t VALUES ({id}, {row});")
                .expect("a String takes everything");
        }
        let theirs = client::rows(own_client(it), &(script + READ));
        let source = it.open();
        let ours = query(&source, "SELECT a, b, c, d, e, f, g, h, i, j, k FROM t ORDER BY id");
        let ours = ours.await.expect("it reads");
        assert_eq!((theirs.len(), ours.rows.len()), (ROWS, ROWS));
        for (theirs, ours) in theirs.iter().zip(&ours.rows) {
            check(theirs, ours);
        }
    }
    .boxed()
}

/// The values of a row as they are written in SQL.
fn literals() -> impl Strategy<Value = String> {
    let text = proptest::option::of(any::<String>());
    let numbers = (
        any::<i64>(),
        any::<u64>(),
        proptest::num::f64::NORMAL,
        proptest::num::f32::NORMAL,
        -10_i128.pow(37)..10_i128.pow(37),
        any::<u64>(),
    );
    let moments = (
        0..3_652_000_u32,
        0..253_402_300_799_000_000_u64,
        -3_020_399_000_000..3_020_399_000_000_i64,
    );
    (numbers, text, any::<Vec<u8>>(), moments).prop_map(|(numbers, text, bytes, moments)| {
        let (signed, unsigned, wide, narrow, mantissa, bits) = numbers;
        let (days, micros, time) = moments;
        let text = text.map_or("NULL".to_owned(), |text| format!("_utf8mb4 x'{}'", hex(text.as_bytes())));
        format!(
            "{signed}, {unsigned}, {wide:e}, {narrow:e}, {mantissa} / 10000000000.0, {text}, x'{}', \
             DATE '0001-01-01' + INTERVAL {days} DAY, \
             TIMESTAMP '0001-01-01 00:00:00' + INTERVAL {micros} MICROSECOND, \
             SEC_TO_TIME({time} / 1000000.0), {bits}",
            hex(&bytes)
        )
    })
}

fn own_client(it: &TestDatabase) -> Command {
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--skip-ssl", "--batch", "--raw", "--skip-column-names"]);
    client.args(["--default-character-set=utf8mb4", &format!("--database={}", it.name)]);
    match &it.address.place {
        ServerPlace::Host(host) => {
            let port = format!("--port={}", it.address.port);
            client.args(["--protocol=tcp", &format!("--host={host}"), &port]);
        }
        ServerPlace::Socket(path) => {
            client.arg(format!("--socket={}", path.display()));
        }
    }
    client.arg(format!("--user={}", it.address.user.as_deref().unwrap_or("root")));
    if let Some(password) = &it.address.password {
        client.env("MYSQL_PWD", password.expose());
    }
    client
}

fn check(theirs: &[String], ours: &[Value]) {
    let float = |text: &str| text.parse::<f64>().expect("it is a number");
    for exact in [0, 1, 4, 7, 10] {
        assert_eq!(plain(&ours[exact]), theirs[exact]);
    }
    assert_eq!(float(&plain(&ours[2])).to_bits(), float(&theirs[2]).to_bits(), "{}", theirs[2]);
    let narrow: f32 = plain(&ours[3]).parse().expect("it is a number");
    assert_eq!(f64::from(narrow).to_bits(), float(&theirs[3]).to_bits(), "{}", theirs[3]);
    let text = (theirs[5] != "NULL").then(|| String::from_utf8(unhex(&theirs[5])).expect("a text"));
    assert_eq!(ours[5], json!(text));
    let bytes = unhex(&theirs[6]);
    let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
    assert_eq!(ours[6], json!({ "bytes": bytes.len(), "base64": base64 }));
    for moment in [8, 9] {
        let ours = plain(&ours[moment]);
        let whole = if ours.contains('.') { ours } else { ours + ".000000" };
        assert_eq!(whole, theirs[moment].replace(' ', "T"));
    }
}
