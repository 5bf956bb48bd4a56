//! Functions, operators, types and views that somebody made.

use futures::FutureExt as _;
use gatefold_sql::{Database as _, Guard, TablePattern, TableRules, VisibleSchema, Volatility};
use serde_json::json;

use crate::server::{Claim, TestDatabase, query};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("named_functions_run_and_others_do_not", |it| named_functions_run(it).boxed()),
    ("views_count_by_the_functions_they_call", |it| views_count_by_functions(it).boxed()),
    ("labels_and_fields_of_columns_can_be_named", |it| labels_and_fields(it).boxed()),
    ("the_catalogue_tells_of_what_is_visible", |it| the_catalogue_tells(it).boxed()),
];

const MADE: &str = "
    CREATE TABLE shops (id int PRIMARY KEY, name text);
    INSERT INTO shops VALUES (1, 'Bern'), (2, 'Zug');
    CREATE FUNCTION net(gross numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS
      'SELECT round(gross / 1.081, 2)';
    CREATE FUNCTION fiscal_year(d date) RETURNS int LANGUAGE plpgsql STABLE AS
      'BEGIN RETURN extract(year FROM d + 92); END';
    CREATE FUNCTION wipe() RETURNS void LANGUAGE sql VOLATILE AS 'DELETE FROM shops';
    CREATE FUNCTION liar() RETURNS bigint LANGUAGE sql STABLE AS
      'SELECT count(*) FROM pg_stat_activity';
    CREATE SCHEMA acct;
    CREATE FUNCTION acct.vat(g numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS
      'SELECT g - public.net(g)';
    CREATE FUNCTION near(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
      'SELECT lower(a) = lower(b)';
    CREATE OPERATOR === (leftarg = text, rightarg = text, function = near);
    CREATE FUNCTION sneaky(text, int) RETURNS boolean LANGUAGE plpgsql AS
      'BEGIN DELETE FROM shops; RETURN true; END';
    CREATE OPERATOR @@@@ (leftarg = text, rightarg = int, function = sneaky);
    CREATE FUNCTION net_step(int, int) RETURNS int LANGUAGE plpgsql VOLATILE AS
      'BEGIN RETURN $1 + $2; END';
    CREATE AGGREGATE net_all (int) (sfunc = net_step, stype = int, initcond = '0');
    CREATE VIEW shop_prices AS SELECT id, net(100 + id) AS net FROM shops;
    CREATE VIEW shop_years AS SELECT id, fiscal_year(DATE '2026-10-01') AS year FROM shops;
    CREATE VIEW shop_activity AS SELECT id, liar() AS n FROM shops;
    CREATE TYPE status AS ENUM ('open', 'done');
    CREATE TYPE hidden_status AS ENUM ('a', 'b');
    CREATE TYPE address AS (street text, city text);
    CREATE TABLE orders (id int, state status, place address, past status[]);
    INSERT INTO orders VALUES (1, 'open', ('A', 'Bern'), '{done}'), (2, 'done', NULL, NULL);
    CREATE TABLE secrets (token text, kind hidden_status);
";

fn rules(functions: &[&str]) -> TableRules {
    let pattern = |text: &&str| TablePattern::new(text).expect("it is one");
    TableRules {
        deny: vec![pattern(&"secrets")],
        functions: functions.iter().map(pattern).collect(),
        ..TableRules::default()
    }
}

/// What a statement answers as a model's, or why not.
async fn answer(
    it: &TestDatabase,
    rules: &TableRules,
    sql: &str,
) -> Result<serde_json::Value, String> {
    let database = it.open();
    let schema = database.read_schema().await.expect("it reads");
    let visible = VisibleSchema::new(database.dialect(), &schema, rules);
    let checked = Guard::new(&visible).with_catalogue().check(sql);
    let checked = checked.map_err(|error| error.to_string())?;
    let rows = query(&database, &checked.sql).await.map_err(|error| error.to_string())?;
    Ok(json!(rows.rows))
}

async fn named_functions_run(it: &TestDatabase) {
    it.set_up(MADE).await;
    let reader = &it.reader;
    crate::server::run(&it.admin, format!("GRANT USAGE ON SCHEMA acct TO {reader}")).await;
    let schema = it.open().read_schema().await.expect("it reads");
    let volatility = |name: &str| {
        let mut routines = schema.routines.iter();
        routines.find(|own| own.name.name == name).map(|own| own.volatility)
    };
    assert_eq!(volatility("net"), Some(Volatility::Immutable));
    assert_eq!(volatility("fiscal_year"), Some(Volatility::Stable));
    assert_eq!(volatility("net_all"), Some(Volatility::Volatile));
    let named = rules(&["net", "fiscal_year", "acct.*", "near", "wipe", "sneaky", "net_all"]);
    for (sql, expected) in [
        ("SELECT net(108.10), fiscal_year(DATE '2026-10-01')", json!([[100.0, 2027]])),
        ("SELECT acct.vat(108.10)", json!([[8.1]])),
        ("SELECT id FROM shops WHERE name === 'bern'", json!([[1]])),
    ] {
        let rows = answer(it, &named, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let plain = |value: &serde_json::Value| value.to_string().replace(['\"', '.', '0'], "");
        assert_eq!(plain(&rows), plain(&expected), "{sql}");
        let refused = answer(it, &rules(&[]), sql).await.expect_err(sql);
        assert!(refused.contains("`allow_functions`"), "{refused}");
    }
    for sql in [
        "SELECT wipe()",
        "SELECT public.wipe()",
        "SELECT liar()",
        "SELECT id FROM shops WHERE name @@@@ 1",
        "SELECT net_all(id) FROM shops",
    ] {
        answer(it, &named, sql).await.expect_err(sql);
    }
    assert_eq!(it.read("SELECT count(*)::text FROM shops").await, "2");
}

async fn views_count_by_functions(it: &TestDatabase) {
    it.set_up(MADE).await;
    let named = rules(&["fiscal_year"]);
    let prices = "SELECT id, net FROM shop_prices ORDER BY id";
    assert_eq!(answer(it, &rules(&[]), prices).await.expect("it reads")[1][0], 2);
    let years = "SELECT year FROM shop_years ORDER BY id";
    assert_eq!(answer(it, &named, years).await, Ok(json!([[2027], [2027]])));
    answer(it, &rules(&[]), years).await.expect_err("nothing names it");
    answer(it, &named, "SELECT n FROM shop_activity").await.expect_err("nothing names it");
    let schema = it.open().read_schema().await.expect("it reads");
    let visible = VisibleSchema::new(it.open().dialect(), &schema, &rules(&[]));
    let left_out: Vec<_> =
        visible.views_left_out().iter().map(|(view, why)| (view.name.as_str(), why)).collect();
    assert_eq!(
        left_out.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["shop_activity", "shop_years"]
    );
    assert!(left_out[1].1.contains("`public.fiscal_year`"), "{left_out:?}");
}

async fn labels_and_fields(it: &TestDatabase) {
    it.set_up(MADE).await;
    let rules = rules(&[]);
    for (sql, expected) in [
        ("SELECT id FROM orders WHERE state = 'open'::status", json!([[1]])),
        ("SELECT 'done'::public.status = ANY (past) FROM orders WHERE id = 1", json!([[true]])),
        ("SELECT (place).city FROM orders WHERE id = 1", json!([["Bern"]])),
        ("SELECT (o.place).street FROM orders o WHERE o.* IS NOT NULL", json!([["A"]])),
    ] {
        assert_eq!(answer(it, &rules, sql).await, Ok(expected), "{sql}");
    }
    for sql in ["SELECT 'a'::hidden_status", "SELECT (place).pg_sleep FROM orders"] {
        answer(it, &rules, sql).await.expect_err(sql);
    }
}

async fn the_catalogue_tells(it: &TestDatabase) {
    it.set_up(MADE).await;
    let rules = rules(&[]);
    let tables = "SELECT table_name FROM information_schema.tables \
                  WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1";
    assert_eq!(answer(it, &rules, tables).await, Ok(json!([["orders"], ["shops"]])));
    let columns = "SELECT column_name, data_type FROM information_schema.columns \
                   WHERE table_name = 'shops' ORDER BY ordinal_position";
    let expected = json!([["id", "integer"], ["name", "text"]]);
    assert_eq!(answer(it, &rules, columns).await, Ok(expected));
    let hidden = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'secrets'";
    assert_eq!(answer(it, &rules, hidden).await, Ok(json!([[0]])));
    let listed = "SELECT count(*) FROM pg_tables WHERE tablename IN ('secrets', 'shops')";
    assert_eq!(answer(it, &rules, listed).await, Ok(json!([[1]])));
    answer(it, &rules, "SELECT relname FROM pg_class").await.expect_err("it tells of all");
}
