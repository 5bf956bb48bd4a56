use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::server::{Claim, HR, TestDatabase, query, reading, values};
use gatefold_sql::{Database as _, QueryRows};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("values_keep_their_type_and_are_exact", values_keep_their_type_and_are_exact),
    ("extremes_and_zero_dates_survive", extremes_and_zero_dates_survive),
    ("shapes_are_texts", shapes_are_texts),
    ("names_that_repeat_stay_apart", names_that_repeat_stay_apart),
    ("masked_values_are_not_told", masked_values_are_not_told),
];

/// A table of every type, with a row of values and one of nulls.
const EVERY_TYPE: &str = "CREATE TABLE t (
                    a TINYINT, b TINYINT(1) UNSIGNED, c SMALLINT, d MEDIUMINT UNSIGNED, e INT,
                    f BIGINT, g BIGINT UNSIGNED, h FLOAT, i DOUBLE, j DECIMAL(30,10), k DECIMAL(10,2),
                    l BIT(12), m YEAR, n DATE, o DATETIME(6), p TIMESTAMP NULL, q TIME(3),
                    r CHAR(3), s VARCHAR(20) COLLATE utf8mb4_bin, t TEXT, u BLOB, v VARBINARY(5),
                    w ENUM('x','y'), x SET('p','q'), y LONGTEXT, z BINARY(2)
                ) DEFAULT CHARSET utf8mb4;
                SET time_zone = '+02:00';
                INSERT INTO t VALUES (
                    -1, 200, -300, 16777215, -5, 9007199254740992, 18446744073709551615, 1.1, 1e300,
                    '12345678901234567890.0123456789', 10.50, b'100000000001', 2026, '2026-11-24',
                    '2026-11-24 01:02:03.5', '2026-11-24 02:00:00', '-100:00:01.25', 'abc', 'Straße',
                    '', x'00ff', 'a', 'y', 'p,q', '{\"b\": 1}', 'a'
                );
                INSERT INTO t (a) VALUES (NULL);";

/// The types of its first columns.
const EVERY_NAME: [&str; 23] = [
    "tinyint",
    "tinyint unsigned",
    "smallint",
    "mediumint unsigned",
    "int",
    "bigint",
    "bigint unsigned",
    "float",
    "double",
    "decimal",
    "decimal",
    "bit",
    "year",
    "date",
    "datetime",
    "timestamp",
    "time",
    "char",
    "varchar",
    "text",
    "blob",
    "varbinary",
    "enum",
];

fn types(rows: &QueryRows) -> Vec<&str> {
    rows.columns.iter().map(|column| column.column_type.as_str()).collect()
}

fn values_keep_their_type_and_are_exact(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(EVERY_TYPE).await;
        let rows = query(&database.open(), "SELECT * FROM t ORDER BY a DESC").await.unwrap();
        let expected = json!([
            -1,
            200,
            -300,
            16_777_215,
            -5,
            "9007199254740992",
            "18446744073709551615",
            1.1,
            1e300,
            "12345678901234567890.0123456789",
            "ten and a half",
            2049,
            2026,
            "2026-11-24",
            "2026-11-24T01:02:03.500000",
            "2026-11-24T00:00:00Z",
            "-100:00:01.250000",
            "abc",
            "Straße",
            "",
            { "bytes": 2, "base64": "AP8=" },
            { "bytes": 1, "base64": "YQ==" },
            "y",
            "p,q",
            "{\"b\": 1}",
            { "bytes": 2, "base64": "YQA=" },
        ]);
        let mut first = rows.rows[0].clone();
        assert_eq!(first[10].to_string(), "10.50");
        first[10] = Value::from("ten and a half");
        assert_eq!(Value::from(first), expected);
        assert!(rows.rows[1].iter().all(Value::is_null), "{:?}", rows.rows[1]);
        assert_eq!(types(&rows)[..EVERY_NAME.len()], EVERY_NAME);
    }
    .boxed()
}

fn extremes_and_zero_dates_survive(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database
            .change(
                "SET sql_mode = '';
                 CREATE TABLE t (id INT, d DATE, dt DATETIME, ti TIME, b TINYINT(1));
                 INSERT INTO t VALUES (1, '0000-00-00', '0000-00-00', '838:59:59', -1),
                    (2, '2026-00-00', '9999-12-31 23:59:59', '-838:59:59', 127),
                    (3, '0001-01-01', '1000-01-01', '00:00:00', 0);",
            )
            .await;
        let rows = values(&database.open(), "SELECT d, dt, ti, b FROM t ORDER BY id").await;
        let expected = json!([
            ["0000-00-00", "0000-00-00T00:00:00", "838:59:59", -1],
            ["2026-00-00", "9999-12-31T23:59:59", "-838:59:59", 127],
            ["0001-01-01", "1000-01-01T00:00:00", "00:00:00", 0],
        ]);
        assert_eq!(json!(rows), expected);
    }
    .boxed()
}

fn shapes_are_texts(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let shapes = [
            "POINT(1 2.5)",
            "LINESTRING(0 0,1 1)",
            "POLYGON((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))",
            "MULTILINESTRING((0 0,1 1),(2 2,3 3))",
            "MULTIPOLYGON(((0 0,4 0,4 4,0 0)))",
            "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))",
        ];
        database.change("CREATE TABLE t (id INT, g GEOMETRY)").await;
        for (at, shape) in shapes.iter().enumerate() {
            let sql = format!("INSERT INTO t VALUES ({at}, ST_GeomFromText('{shape}'))");
            database.change(&sql).await;
        }
        let rows = values(&database.open(), "SELECT g FROM t ORDER BY id").await;
        assert_eq!(json!(rows), json!(shapes.map(|shape| [shape])));
    }
    .boxed()
}

fn names_that_repeat_stay_apart(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let sql = "SELECT 1 AS a, 'x' AS a, NULL AS b, 1.50 AS c";
        let rows = query(&database.open(), sql).await.unwrap();
        let names: Vec<_> = rows.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["a", "a", "b", "c"]);
        assert_eq!(json!(rows.rows[0]).to_string(), r#"[1,"x",null,1.50]"#);
    }
    .boxed()
}

fn masked_values_are_not_told(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        let sql = "SELECT name, salary FROM employees ORDER BY id";
        let masked = gatefold_sql::ReadQuery { masked: vec![1], ..reading(sql) };
        let rows = database.open().query(masked).await.unwrap();
        assert_eq!(json!(rows.rows), json!([["Ada", "***"], ["Bob", null]]));
    }
    .boxed()
}
