use std::time::Instant;

use futures::FutureExt as _;
use gatefold_sql::{
    ColumnPattern, Database as _, Dialect, Schema, Table, TablePattern, TableRules, VisibleSchema,
};
use serde_json::{Value, json};

use crate::server::{Claim, TestDatabase, run};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("a_schema_is_read_whole", |it| a_schema_is_read_whole(it).boxed()),
    ("only_what_the_role_may_read_is_read", |it| only_what_may_be_read(it).boxed()),
    ("views_tell_what_they_read", |it| views_tell_what_they_read(it).boxed()),
    ("what_has_the_rows_of_a_denied_table_is_denied", |it| parts_are_judged(it).boxed()),
    ("five_thousand_tables_are_read_fast", |it| five_thousand_tables(it).boxed()),
];

async fn schema(it: &TestDatabase) -> Schema {
    it.open().read_schema().await.expect("it reads")
}

fn table<'a>(schema: &'a Schema, name: &str) -> &'a Table {
    let mut tables = schema.tables.iter();
    tables.find(|table| table.name.to_string() == name).unwrap_or_else(|| panic!("no {name}"))
}

async fn a_schema_is_read_whole(it: &TestDatabase) {
    it.set_up(
        "CREATE TABLE departments (id int PRIMARY KEY, name text NOT NULL UNIQUE);
         CREATE TABLE employees (
             id bigint GENERATED ALWAYS AS IDENTITY, department int REFERENCES departments,
             name varchar(20) NOT NULL DEFAULT 'nobody', pay numeric(10,2)[],
             upper_name text GENERATED ALWAYS AS (upper(name)) STORED, dropped int,
             PRIMARY KEY (name, id));
         ALTER TABLE employees DROP COLUMN dropped;
         COMMENT ON TABLE employees IS 'Who works here';
         COMMENT ON COLUMN employees.pay IS 'In euros';
         CREATE INDEX by_lower ON employees (lower(name), id DESC) INCLUDE (pay);
         CREATE UNIQUE INDEX partly ON employees (department) WHERE department > 3;
         INSERT INTO departments SELECT g, g::text FROM generate_series(1, 42) AS g;
         CREATE TABLE parts (day date, x int) PARTITION BY RANGE (day);
         CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
         INSERT INTO parts SELECT '2024-03-04', g FROM generate_series(1, 500) AS g;
         ANALYZE;",
    )
    .await;
    let schema = schema(it).await;
    assert!(schema.version.starts_with("PostgreSQL "), "{}", schema.version);
    assert_eq!((&*schema.default_schemas, schema.tables_left_out), (&["public".to_owned()][..], 0));
    let names: Vec<_> = schema.tables.iter().map(|table| table.name.to_string()).collect();
    assert_eq!(names, ["public.departments", "public.employees", "public.parts"]);
    assert_eq!(table(&schema, "public.departments").rows, Some(42));
    assert_eq!(table(&schema, "public.parts").rows, Some(500));
    let column = |name: &str,
                  column_type: &str,
                  nullable: bool,
                  default: Value,
                  generated: bool| {
        json!({"name": name, "column_type": column_type, "nullable": nullable, "default": default,
               "generated": generated, "comment": null})
    };
    let mut pay = column("pay", "numeric(10,2)[]", true, Value::Null, false);
    pay["comment"] = json!("In euros");
    assert_eq!(
        serde_json::to_value(table(&schema, "public.employees")).expect("it can be written"),
        json!({
            "name": {"schema": "public", "name": "employees"},
            "kind": "table",
            "comment": "Who works here",
            "rows": 0,
            "columns": [
                column("id", "bigint", false, Value::Null, true),
                column("department", "integer", true, Value::Null, false),
                column("name", "character varying(20)", false,
                       json!("'nobody'::character varying"), false),
                pay,
                column("upper_name", "text", true, json!("upper((name)::text)"), true),
            ],
            "primary_key": ["name", "id"],
            "foreign_keys": [{
                "columns": ["department"],
                "table": {"schema": "public", "name": "departments"},
                "references": ["id"],
            }],
            "indexes": [
                {"name": "by_lower", "columns": ["lower(name::text)", "id"], "unique": false},
                {"name": "partly", "columns": ["department"], "unique": false},
            ],
            "reads": [],
        })
    );
}

async fn only_what_may_be_read(it: &TestDatabase) {
    let reader = &it.reader;
    it.set_up(
        "CREATE TABLE seen (id int PRIMARY KEY, x int);
         CREATE SCHEMA closed; CREATE TABLE closed.t (x int)",
    )
    .await;
    run(
        &it.admin,
        format!(
            "CREATE TABLE unseen (id int PRIMARY KEY);
             CREATE TABLE partly (a int, b int UNIQUE, c int REFERENCES unseen,
             d int REFERENCES seen);
             GRANT SELECT (a, c, d) ON partly TO {reader}; GRANT SELECT ON closed.t TO {reader}"
        ),
    )
    .await;
    let schema = schema(it).await;
    let names: Vec<_> = schema.tables.iter().map(|table| table.name.to_string()).collect();
    assert_eq!(names, ["public.partly", "public.seen"]);
    let partly = table(&schema, "public.partly");
    let columns: Vec<_> = partly.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(columns, ["a", "c", "d"]);
    assert_eq!((partly.foreign_keys.len(), &*partly.foreign_keys[0].table.name), (1, "seen"));
    assert_eq!(partly.indexes, []);
}

async fn views_tell_what_they_read(it: &TestDatabase) {
    it.set_up(
        "CREATE TABLE a (x int); CREATE TABLE b (x int);
         CREATE VIEW both_of AS SELECT a.x FROM a JOIN b USING (x);
         CREATE VIEW of_view AS SELECT * FROM both_of WHERE x IN (SELECT x FROM b);
         CREATE VIEW of_nothing AS SELECT 1 AS x;
         CREATE MATERIALIZED VIEW kept AS SELECT * FROM a;
         CREATE FUNCTION f() RETURNS SETOF a LANGUAGE sql AS 'SELECT * FROM a';
         CREATE VIEW of_function AS SELECT f.x FROM f(), b;
         CREATE FUNCTION g(x int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT x + 1';
         CREATE VIEW of_sum AS SELECT g(max(x)) AS x, now() AS at, random() AS r FROM a;
         CREATE FUNCTION h(text, text) RETURNS boolean LANGUAGE plpgsql STABLE AS
             'BEGIN RETURN true; END';
         CREATE OPERATOR === (leftarg = text, rightarg = text, function = h);
         CREATE VIEW of_operator AS SELECT x FROM a WHERE x::text === 'q';
         CREATE FUNCTION step(int, int) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $2; END';
         CREATE AGGREGATE last_of (int) (sfunc = step, stype = int);
         CREATE VIEW of_aggregate AS SELECT last_of(x) AS x FROM a;
         CREATE VIEW of_xml AS SELECT query_to_xml('SELECT * FROM b', true, true, '') AS x;
         CREATE VIEW of_table_xml AS SELECT table_to_xml('b', true, true, '') AS x FROM a;
         CREATE VIEW of_file AS SELECT pg_read_file('x') AS x;
         CREATE VIEW of_catalogue AS SELECT relname FROM pg_class
             WHERE oid IN (SELECT attrelid FROM pg_attribute)",
    )
    .await;
    let schema = schema(it).await;
    let reads = |name: &str| {
        let reads = table(&schema, &format!("public.{name}")).reads.as_ref()?;
        let mut reads: Vec<_> = reads.iter().map(ToString::to_string).collect();
        reads.sort();
        Some(reads.join(" "))
    };
    assert_eq!(reads("both_of").as_deref(), Some("public.a public.b"));
    assert_eq!(reads("of_view").as_deref(), Some("public.b public.both_of"));
    assert_eq!(reads("of_nothing").as_deref(), Some(""));
    assert_eq!(reads("kept").as_deref(), Some("public.a"));
    assert_eq!(reads("of_sum").as_deref(), Some("public.a"));
    let calls = |name: &str| {
        let calls = table(&schema, &format!("public.{name}")).calls.iter();
        calls.map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    for (name, called) in [
        ("of_function", "public.f"),
        ("of_sum", ""),
        ("of_operator", "public.h"),
        ("of_aggregate", "public.last_of"),
        ("of_xml", "pg_catalog.query_to_xml"),
        ("of_table_xml", "pg_catalog.table_to_xml"),
        ("of_file", "pg_catalog.pg_read_file"),
    ] {
        assert_eq!(calls(name), called, "{name}");
    }
    let catalogue = reads("of_catalogue");
    assert_eq!(catalogue.as_deref(), Some("pg_catalog.pg_attribute pg_catalog.pg_class"));
    let kind = |name: &str| serde_json::to_value(table(&schema, name).kind).expect("it is written");
    assert_eq!(
        (kind("public.kept"), kind("public.both_of")),
        (json!("materialized_view"), json!("view"))
    );
}

async fn parts_are_judged(it: &TestDatabase) {
    it.set_up(
        "CREATE TABLE people (id int, name text, pay int);
         CREATE TABLE chiefs (bonus int) INHERITS (people);
         CREATE TABLE owners () INHERITS (chiefs);
         CREATE VIEW everybody AS SELECT name FROM people;
         CREATE TABLE events (day date, ip text) PARTITION BY RANGE (day);
         CREATE TABLE events_2024 PARTITION OF events
           FOR VALUES FROM ('2024-01-01') TO ('2025-01-01') PARTITION BY RANGE (day);
         CREATE TABLE events_may PARTITION OF events_2024
           FOR VALUES FROM ('2024-05-01') TO ('2024-06-01');",
    )
    .await;
    let schema = schema(it).await;
    let check = |allow: &[&str], deny: &[&str], hide: &[&str], mask: &[&str], shown: &str| {
        let tables = |texts: &[&str]| {
            texts.iter().map(|text| TablePattern::new(text).expect("it is one")).collect()
        };
        let columns = |texts: &[&str]| {
            texts.iter().map(|text| ColumnPattern::new(text).expect("it is one")).collect()
        };
        let rules = TableRules {
            allow: tables(allow),
            deny: tables(deny),
            hide: columns(hide),
            mask: columns(mask),
            ..TableRules::default()
        };
        let visible = VisibleSchema::new(Dialect::Postgres, &schema, &rules);
        let names = visible.tables().iter().map(|table| table.table.name.name.as_str());
        let case = format!("{allow:?} {deny:?} {hide:?} {mask:?}");
        assert_eq!(names.collect::<Vec<_>>().join(" "), shown, "{case}");
    };
    let all = "chiefs events everybody owners people";
    check(&[], &[], &[], &[], all);
    check(&[], &["owners"], &[], &[], "events");
    check(&[], &["chiefs"], &[], &[], "events owners");
    check(&[], &["events_may"], &[], &[], "chiefs everybody owners people");
    check(&[], &["events_2024"], &[], &[], "chiefs everybody owners people");
    check(&["p*", "e*"], &[], &[], &[], "events");
    check(&["*s", "people", "everybody"], &["owners"], &[], &[], "events everybody people");
    check(&["events"], &[], &[], &[], "events");
    check(&[], &[], &["owners.pay"], &[], "events owners");
    check(&[], &[], &["owners.bonus"], &[], "events everybody owners people");
    check(&[], &[], &["*.pay"], &[], "chiefs events owners people");
    check(&[], &[], &[], &["chiefs.pay"], "chiefs events owners");
    check(&[], &[], &["people.pay", "chiefs.pay"], &["owners.pay"], "chiefs events owners people");
    check(&[], &[], &["events_may.ip"], &[], "chiefs everybody owners people");
}

async fn five_thousand_tables(it: &TestDatabase) {
    // Each hundred by themselves, for the locks of all are more than a server has.
    it.set_up(
        "DO $$ BEGIN FOR n IN 1..5000 LOOP
         EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, a int, b int, c int, d int, e date, \
         f numeric, g numeric, h timestamptz, i bool NOT NULL DEFAULT true)', n);
         IF n % 100 = 0 THEN COMMIT; END IF; END LOOP; END $$",
    )
    .await;
    let database = it.open();
    let began = Instant::now();
    let schema = database.read_schema().await.expect("it reads");
    let cold = began.elapsed();
    let began = Instant::now();
    database.read_schema().await.expect("it reads");
    println!("5,000 tables: read in {cold:?}, again in {:?}", began.elapsed());
    assert_eq!(schema.tables.len(), 5_000);
    assert!(schema.tables.iter().all(|table| table.columns.len() == 10));
    assert!(cold.as_secs() < 20, "{cold:?}");
}
