//! Functions, operators and types that somebody made.

use super::*;
use crate::{Operator, OwnType, Routine, Volatility};

fn name(text: &str) -> TableName {
    let (schema, name) = text.split_once('.').unwrap_or(("public", text));
    TableName::new(schema, name)
}

fn routine(text: &str, volatility: Volatility) -> Routine {
    Routine { name: name(text), volatility, of_extension: false, as_owner: false }
}

fn schema() -> Schema {
    let mut shops = table(
        Dialect::Postgres,
        "shops",
        TableKind::Table,
        &["id", "name", "status", "address", "hidden"],
    );
    for (at, own) in [(2, "order_status"), (3, "address"), (4, "secret_status")] {
        shops.columns[at].column_type = own.to_owned();
    }
    let view = |text: &str, call: &str| Table {
        reads: Some(vec![name("shops")]),
        calls: vec![name(call)],
        ..table(Dialect::Postgres, text, TableKind::View, &["id", "n"])
    };
    let own = |text: &str, fields: &[&str]| OwnType {
        name: name(text),
        written: text.to_owned(),
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
    };
    Schema {
        default_schemas: vec!["public".to_owned()],
        tables: vec![shops, view("shop_years", "fiscal_year"), view("shop_activity", "liar")],
        routines: vec![
            routine("net", Volatility::Immutable),
            routine("fiscal_year", Volatility::Stable),
            routine("wipe", Volatility::Volatile),
            routine("liar", Volatility::Stable),
            routine("near", Volatility::Immutable),
            routine("sneaky", Volatility::Volatile),
            routine("acct.vat", Volatility::Immutable),
        ],
        operators: vec![
            Operator { name: name("==="), routine: name("near") },
            Operator { name: name("@#@"), routine: name("sneaky") },
        ],
        types: vec![
            own("order_status", &[]),
            own("secret_status", &[]),
            own("address", &["street", "city"]),
        ],
        ..Schema::default()
    }
}

fn check_with(functions: &[&str], sql: &str) -> Result<String, GuardError> {
    let rules = TableRules {
        functions: functions.iter().map(|text| TablePattern::new(text).unwrap()).collect(),
        hide: vec![ColumnPattern::new("shops.hidden").unwrap()],
        mask: vec![ColumnPattern::new("shops.name").unwrap()],
        ..TableRules::default()
    };
    let visible = VisibleSchema::new(Dialect::Postgres, &schema(), &rules);
    Guard::new(&visible).check(sql).map(|passed| passed.sql)
}

#[test]
fn a_function_runs_if_a_rule_names_it() {
    let all = ["net", "fiscal_year", "acct.*", "wipe", "near"];
    let passes = |sql: &str, expected: &str| {
        assert_eq!(check_with(&all, sql).as_deref(), Ok(expected), "{sql}");
        check_with(&[], sql).unwrap_err();
    };
    passes("SELECT net(1)", "SELECT \"public\".\"net\"(1)");
    passes("SELECT public.Net(1)", "SELECT \"public\".\"net\"(1)");
    passes("SELECT acct.vat(1)", "SELECT \"acct\".\"vat\"(1)");
    passes(
        "SELECT f FROM fiscal_year('2024-01-01') AS f",
        "SELECT f FROM \"public\".\"fiscal_year\"('2024-01-01') AS f",
    );
    passes("SELECT 'a' === 'b'", "SELECT 'a' OPERATOR(\"public\".===) 'b'");
    for sql in [
        "SELECT wipe()",
        "SELECT public.wipe()",
        "SELECT liar()",
        "SELECT vat(1)",
        "SELECT other.net(1)",
        "SELECT 'a' @#@ 1",
        "SELECT 'a' OPERATOR(public.@#@) 1",
        "SELECT 'a' OPERATOR(other.===) 'b'",
        "SELECT 'a' OPERATOR(pg_catalog.=) 'b'",
        "SELECT net(name) FROM shops",
        "SELECT pg_read_file('/etc/hostname')",
    ] {
        check_with(&all, sql).unwrap_err();
    }
    // A pattern admits what depends on its arguments alone.
    check_with(&["*"], "SELECT net(1)").unwrap();
    check_with(&["*"], "SELECT liar()").unwrap_err();
    let told = |functions: &[&str], sql: &str| check_with(functions, sql).unwrap_err().to_string();
    insta::assert_snapshot!(told(&[], "SELECT net(1)"), @"the function `net` is not allowed: only built-in functions may be called, and those that `allow_functions` of this source names; whoever runs the gateway can add `public.net` there");
    insta::assert_snapshot!(told(&["*"], "SELECT liar()"), @"the function `liar` is not allowed: `public.liar` is STABLE or runs with its owner's rights, so it may read any table; whoever runs the gateway can name it in `allow_functions` of this source, without `*`");
    insta::assert_snapshot!(told(&["*"], "SELECT wipe()"), @"the function `wipe` is not allowed: `public.wipe` is VOLATILE or runs a text, so it may do anything, and `allow_functions` of this source cannot name it; built-in functions may be called");
    insta::assert_snapshot!(told(&[], "SELECT 'a' === 'b'"), @"the operator `===`, which runs the function `public.near`, is not allowed: only built-in functions may be called, and those that `allow_functions` of this source names; whoever runs the gateway can add `public.near` there");
}

#[test]
fn a_statement_that_calls_what_somebody_made_says_so() {
    let rules = ["net", "near"].map(|text| TablePattern::new(text).unwrap());
    let rules = TableRules { functions: rules.into(), ..TableRules::default() };
    let visible = VisibleSchema::new(Dialect::Postgres, &schema(), &rules);
    for (sql, calls_own) in [
        ("SELECT id FROM shops", false),
        ("SELECT upper('a')", false),
        ("SELECT id FROM shops WHERE id = (SELECT net(1))", true),
        ("SELECT n FROM net(1) AS n", true),
        ("SELECT 'a' === 'b'", true),
    ] {
        assert_eq!(Guard::new(&visible).check(sql).unwrap().calls_own, calls_own, "{sql}");
    }
}

#[test]
fn a_view_counts_by_the_functions_it_calls() {
    let check = |functions: &[&str], shown: &str, left_out: &[&str]| {
        let rules = TableRules {
            functions: functions.iter().map(|text| TablePattern::new(text).unwrap()).collect(),
            ..TableRules::default()
        };
        let visible = VisibleSchema::new(Dialect::Postgres, &schema(), &rules);
        let names = visible.tables().iter().map(|table| table.table.name.name.as_str());
        assert_eq!(names.collect::<Vec<_>>().join(" "), shown);
        let absent = visible.views_left_out().iter().map(|(view, _)| view.name.as_str());
        assert_eq!(absent.collect::<Vec<_>>(), left_out);
    };
    check(&[], "shops", &["shop_years", "shop_activity"]);
    check(&["fiscal_year"], "shops shop_years", &["shop_activity"]);
    check(&["*"], "shops", &["shop_years", "shop_activity"]);
    let visible = VisibleSchema::new(Dialect::Postgres, &schema(), &TableRules::default());
    insta::assert_snapshot!(visible.views_left_out()[0].1, @"it calls `public.fiscal_year`, which might read anything; name `public.fiscal_year` in `allow_functions`, or the view in `allow_tables`, if models may see it");
}

#[test]
fn a_label_and_a_field_of_a_visible_column_can_be_named() {
    let passes = |sql: &str, expected: &str| {
        let passed = check_with(&[], sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(passed.starts_with(expected), "{passed}");
    };
    let labels = "SELECT 'open'::\"public\".\"order_status\"";
    passes("SELECT 'open'::order_status", labels);
    passes("SELECT 'open'::public.Order_Status", labels);
    passes("SELECT '{open}'::order_status[]", "SELECT '{open}'::\"public\".\"order_status\"[]");
    passes("SELECT order_status 'open'", "SELECT \"public\".\"order_status\" 'open'");
    passes("SELECT (address).city FROM shops", "SELECT (address).city FROM (SELECT");
    passes("SELECT (s.address).city FROM shops s", "SELECT (s.address).city FROM (SELECT");
    for sql in [
        "SELECT 'x'::secret_status",
        "SELECT 'x'::address",
        "SELECT 'x'::other.order_status",
        "SELECT name::order_status FROM shops",
        "SELECT (address).pg_sleep FROM shops",
        "SELECT (address).city.upper FROM shops",
        "SELECT (name).city FROM shops",
        "SELECT (status).city FROM shops",
        "SELECT (hidden).city FROM shops",
        "SELECT (q.b).city FROM shops AS q (a, c, d, b)",
        "SELECT address.city FROM shops",
    ] {
        check_with(&[], sql).unwrap_err();
    }
}
