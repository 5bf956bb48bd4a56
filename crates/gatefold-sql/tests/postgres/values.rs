use futures::FutureExt as _;
use gatefold_sql::Database as _;

use crate::server::{Claim, TestDatabase, query};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("every_type_comes_through", |it| every_type_comes_through(it).boxed()),
    ("names_that_repeat_are_kept", |it| names_that_repeat_are_kept(it).boxed()),
];

const SETUP: &str = "
    CREATE TYPE mood AS ENUM ('sad', 'très happy');
    CREATE TYPE pair AS (a int, b text);
    CREATE DOMAIN posint AS int CHECK (value > 0);
    CREATE DOMAIN ints AS int[];
    CREATE DOMAIN email AS text;
";

/// An expression, its type, and the value as JSON.
const TYPES: &[(&str, &str, &str)] = &[
    ("true", "boolean", "true"),
    ("NULL::boolean", "boolean", "null"),
    ("(-32768)::int2", "smallint", "-32768"),
    ("2147483647", "integer", "2147483647"),
    ("9007199254740991", "bigint", "9007199254740991"),
    ("9223372036854775807", "bigint", "\"9223372036854775807\""),
    ("4294967295::oid", "oid", "4294967295"),
    ("1.50::numeric", "numeric", "1.50"),
    ("0.1::numeric(10,5)", "numeric", "0.10000"),
    ("12345678901234567890.123456789", "numeric", "\"12345678901234567890.123456789\""),
    ("1e40::numeric", "numeric", "\"10000000000000000000000000000000000000000\""),
    ("'NaN'::numeric", "numeric", "\"NaN\""),
    ("'Infinity'::numeric", "numeric", "\"Infinity\""),
    ("0.1::float4", "real", "0.1"),
    ("0.1::float8 + 0.2::float8", "double precision", "0.30000000000000004"),
    ("1e308::float8", "double precision", "1e+308"),
    ("5e-324::float8", "double precision", "5e-324"),
    ("'-Infinity'::float8", "double precision", "\"-Infinity\""),
    ("'NaN'::float4", "real", "\"NaN\""),
    ("''", "text", "\"\""),
    ("E'é \\n \"q\" 😀'", "text", "\"é \\n \\\"q\\\" 😀\""),
    ("'ab'::varchar(5)", "character varying", "\"ab\""),
    ("'ab'::char(5)", "character", "\"ab   \""),
    ("'x'::\"char\"", "\"char\"", "\"x\""),
    ("'n'::name", "name", "\"n\""),
    ("'très happy'::mood", "mood", "\"très happy\""),
    ("7::posint", "integer", "7"),
    ("'a@b'::email", "text", "\"a@b\""),
    ("'{1,2}'::ints", "integer[]", "[1,2]"),
    ("'{\"{1,2}\",NULL}'::ints[]", "ints[]", "[[1,2],null]"),
    ("ARRAY[1::posint]", "posint[]", "[1]"),
    (
        "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid",
        "uuid",
        "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"",
    ),
    ("'2024-02-29'::date", "date", "\"2024-02-29\""),
    ("'infinity'::date", "date", "\"infinity\""),
    ("'0044-03-15 BC'::date", "date", "\"-0043-03-15\""),
    ("'5874897-12-31'::date", "date", "\"+5874897-12-31\""),
    ("'24:00'::time", "time without time zone", "\"24:00:00\""),
    ("'01:02:03.000004'::time", "time without time zone", "\"01:02:03.000004\""),
    ("'01:02:03-08'::timetz", "time with time zone", "\"01:02:03-08:00\""),
    ("'01:02:03+05:30'::timetz", "time with time zone", "\"01:02:03+05:30\""),
    (
        "'2024-01-02 03:04:05.6'::timestamp",
        "timestamp without time zone",
        "\"2024-01-02T03:04:05.6\"",
    ),
    ("'-infinity'::timestamp", "timestamp without time zone", "\"-infinity\""),
    (
        "'2024-01-02 03:04:05+02'::timestamptz",
        "timestamp with time zone",
        "\"2024-01-02T01:04:05+00:00\"",
    ),
    (
        "'0001-01-01 00:00:00+00 BC'::timestamptz",
        "timestamp with time zone",
        "\"0000-01-01T00:00:00+00:00\"",
    ),
    ("'1 year 2 mons -3 days 04:05:06.7'::interval", "interval", "\"P1Y2M-3DT4H5M6.7S\""),
    ("'0'::interval", "interval", "\"PT0S\""),
    (
        r#"'{"b": 1.0, "a": [null, 123456789012345678901234567890]}'::json"#,
        "json",
        r#"{"b":1.0,"a":[null,123456789012345678901234567890]}"#,
    ),
    (r#"'{"b": 1.10, "a": "x"}'::jsonb"#, "jsonb", r#"{"a":"x","b":1.10}"#),
    ("'null'::jsonb", "jsonb", "null"),
    ("'[\"a\"]'::jsonb", "jsonb", "[\"a\"]"),
    ("'{}'::int[]", "integer[]", "[]"),
    ("'{1,NULL,3}'::int[]", "integer[]", "[1,null,3]"),
    ("'[5:6][2:3]={{1,2},{3,4}}'::int[]", "integer[]", "[[1,2],[3,4]]"),
    (
        r#"ARRAY['a,b', 'c"d', 'e\f', '', NULL, 'NULL', '{}']"#,
        "text[]",
        r#"["a,b","c\"d","e\\f","",null,"NULL","{}"]"#,
    ),
    (
        "ARRAY['infinity', '2024-01-02']::timestamp[]",
        "timestamp without time zone[]",
        "[\"infinity\",\"2024-01-02T00:00:00\"]",
    ),
    ("ARRAY['{\"a\": 1}']::jsonb[]", "jsonb[]", "[{\"a\":1}]"),
    ("ARRAY['\\x00ff']::bytea[]", "bytea[]", "[{\"bytes\":2,\"base64\":\"AP8=\"}]"),
    ("ARRAY['sad']::mood[]", "mood[]", "[\"sad\"]"),
    ("'{(1,1),(0,0);(3,3),(2,2)}'::box[]", "box[]", "[\"(1,1),(0,0)\",\"(3,3),(2,2)\"]"),
    ("'1 2 3'::int2vector", "int2vector", "\"1 2 3\""),
    ("int4range(1, 10)", "int4range", "\"[1,10)\""),
    ("'empty'::numrange", "numrange", "\"empty\""),
    ("'\\x'::bytea", "bytea", "{\"bytes\":0,\"base64\":\"\"}"),
    ("'\\x00ff'::bytea", "bytea", "{\"bytes\":2,\"base64\":\"AP8=\"}"),
    ("'192.168.0.1/24'::inet", "inet", "\"192.168.0.1/24\""),
    ("'10.0.0.0/8'::cidr", "cidr", "\"10.0.0.0/8\""),
    ("'08:00:2b:01:02:03'::macaddr", "macaddr", "\"08:00:2b:01:02:03\""),
    ("B'0101'", "bit", "\"0101\""),
    ("B'01'::varbit", "bit varying", "\"01\""),
    ("'(1,2)'::point", "point", "\"(1,2)\""),
    ("'<(1,2),3>'::circle", "circle", "\"<(1,2),3>\""),
    ("ROW(1, 'x y')::pair", "pair", "\"(1,\\\"x y\\\")\""),
    ("ROW(1, NULL)", "record", "\"(1,)\""),
    ("'<a>1</a>'::xml", "xml", "\"<a>1</a>\""),
    ("to_tsvector('simple', 'a b')", "tsvector", "\"'a':1 'b':2\""),
    ("'$.a'::jsonpath", "jsonpath", "\"$.\\\"a\\\"\""),
    ("'16/B374D848'::pg_lsn", "pg_lsn", "\"16/B374D848\""),
    ("'pg_class'::regclass", "regclass", "\"pg_class\""),
];

async fn every_type_comes_through(it: &TestDatabase) {
    it.set_up(SETUP).await;
    let database = it.open();
    for (expression, column_type, json) in TYPES {
        let result = query(&database, &format!("SELECT {expression} AS value")).await;
        let result = result.unwrap_or_else(|error| panic!("{expression}: {error}"));
        assert_eq!(result.columns[0].column_type, *column_type, "{expression}");
        assert_eq!(result.rows[0][0].to_string(), *json, "{expression}");
    }
    println!("{} values of types came through", TYPES.len());
    // Of a role that has its own ideas of how values are written.
    let reader = &it.reader;
    let odd = "SET datestyle = 'German'; SET timezone = 'Asia/Kolkata'; SET bytea_output = 'escape'; \
               SET intervalstyle = 'postgres_verbose'; SET extra_float_digits = -10";
    for set in odd.split("; ") {
        it.set_up(&format!("ALTER ROLE {reader} {set}")).await;
    }
    database.close().await;
    let database = it.open();
    for (expression, _, json) in TYPES {
        let result = query(&database, &format!("SELECT {expression}")).await.expect(expression);
        assert_eq!(result.rows[0][0].to_string(), *json, "{expression}");
    }
}

async fn names_that_repeat_are_kept(it: &TestDatabase) {
    let sql = "SELECT 1 AS a, 2 AS a, 3 AS \"A\", 4, 5 AS gatefold, 6 AS statement";
    let result = query(&it.open(), sql).await.expect("it reads");
    let names: Vec<_> = result.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["a", "a", "A", "?column?", "gatefold", "statement"]);
    assert_eq!(serde_json::json!(result.rows), serde_json::json!([[1, 2, 3, 4, 5, 6]]));
}
