use std::time::Instant;

use super::*;

/// A statement that is judged within any stack and soon, whatever the answer.
fn judge(dialect: Dialect, sql: &str) -> Result<CheckedStatement, GuardError> {
    let beginning: String = sql.chars().take(40).collect();
    let started = Instant::now();
    let visible = visible(dialect, Rules::Closed);
    let judged = Guard::new(&visible).check(sql);
    assert!(started.elapsed().as_secs() < 20, "{beginning} took {:?}", started.elapsed());
    judged
}

#[test]
fn deep_statements_are_refused_and_do_no_harm() {
    for dialect in DIALECTS {
        let nested = |open: &str, inner: &str, close: &str, count: usize| {
            format!("SELECT {}{inner}{}", open.repeat(count), close.repeat(count))
        };
        let check = |sql: &str| {
            judge(dialect, sql).unwrap_err();
        };
        check(&nested("(", "1", ")", 10_000));
        check(&nested("(", "1", ")", 30_000));
        check(&nested("(SELECT ", "1", ")", 5_000));
        check(&nested("- ", "1", "", 20_000));
        check(&nested("NOT ", "1", "", 10_000));
        check(&nested("CASE WHEN 1=1 THEN ", "1", " END", 2_000));
        check(&nested("abs(", "1", ")", 90));
        check(&nested("", "1", " + 1", 10_000));
        check(&nested("", "1", " OR 1", 10_000));
        check(&nested("", "1", "+1", 30_000));
        check(&nested("", "1", " UNION SELECT 1", 4_000));
        check(&format!("SELECT * FROM {}orders{}", "(".repeat(5_000), ")".repeat(5_000)));
        let _ =
            judge(dialect, &format!("SELECT 1 FROM {}orders{}", "(".repeat(60), ")".repeat(60)));
    }
}

/// `WITH` queries of which each names the one before twice.
fn doubled(levels: usize) -> String {
    let level = |at| format!("a{at} AS (SELECT * FROM a{0} UNION ALL SELECT * FROM a{0})", at - 1);
    let all: Vec<_> = (1..=levels).map(level).collect();
    format!("WITH a0 AS (SELECT 1 AS x), {} SELECT count(*) FROM a{levels}", all.join(", "))
}

#[test]
fn queries_that_double_at_each_level_are_refused() {
    for dialect in DIALECTS {
        let refused = judge(dialect, &doubled(26)).unwrap_err().to_string();
        assert!(refused.contains("`WITH` queries that are named this often"), "{refused}");
        judge(dialect, &doubled(6)).unwrap();
    }
}

#[test]
fn nesting_as_people_write_it_passes() {
    for dialect in DIALECTS {
        let parentheses = format!("SELECT {}1{}", "(".repeat(40), ")".repeat(40));
        judge(dialect, &parentheses).unwrap();
        let chain = format!("SELECT 1 FROM orders WHERE id = 0{}", " OR id = 1".repeat(400));
        judge(dialect, &chain).unwrap();
        let list = format!("SELECT 1 FROM orders WHERE id IN (1{})", ", 1".repeat(15_000));
        judge(dialect, &list).unwrap();
        let subqueries = (0..12).fold("SELECT id FROM orders".to_owned(), |inner, at| {
            format!("SELECT id FROM ({inner}) q{at}")
        });
        judge(dialect, &subqueries).unwrap();
    }
}

#[test]
fn long_statements_are_refused() {
    let long = format!("SELECT '{}'", "a".repeat(MAX_STATEMENT_BYTES));
    assert_eq!(judge(Dialect::Sqlite, &long), Err(GuardError::TooLarge(MAX_STATEMENT_BYTES)));
    let stars = format!("SELECT *{} FROM employees", ", *".repeat(15_000));
    judge(Dialect::Sqlite, &stars).unwrap_err();
    let wide = format!("SELECT 1 FROM orders{}", ", orders".repeat(5_900));
    judge(Dialect::Sqlite, &wide).unwrap_err();
    let doubled = (1..30).fold("WITH a0 AS (SELECT * FROM orders)".to_owned(), |before, at| {
        format!("{before}, a{at} AS (SELECT * FROM a{0} x, a{0} y)", at - 1)
    });
    judge(Dialect::Postgres, &format!("{doubled} SELECT 1 FROM a29")).unwrap_err();
}

#[test]
fn what_is_written_out_is_bounded() {
    let names: Vec<_> =
        (0..3_000).map(|at| format!("a_name_of_at_least_forty_characters_{at}")).collect();
    let columns: Vec<_> = names.iter().map(String::as_str).collect();
    let dialect = Dialect::Postgres;
    let schema = Schema {
        default_schemas: vec!["public".to_owned()],
        tables: vec![table(dialect, "wide", TableKind::Table, &columns)],
        ..Schema::default()
    };
    let hide = vec![ColumnPattern::new(&format!("wide.{}", names[7])).unwrap()];
    let rules = TableRules { hide, ..TableRules::default() };
    let visible = VisibleSchema::new(dialect, &schema, &rules);
    let guard = Guard::new(&visible);
    guard.check(&format!("SELECT {} FROM wide", names[6])).unwrap();
    let unions = ["SELECT 1 FROM wide"; 5].join(" UNION ALL ");
    assert_eq!(guard.check(&unions), Err(GuardError::TooLarge(edits::MAX_RENDERED_BYTES)));
}

#[test]
fn odd_nesting_is_judged_soon() {
    for dialect in DIALECTS {
        let nested = |open: &str, inner: &str, close: &str| {
            let sql = format!("{}{inner}{}", open.repeat(28), close.repeat(28));
            let _ = judge(dialect, &sql);
        };
        nested("SELECT * FROM (", "SELECT 1 AS a", ") q");
        nested("(SELECT 1 UNION ", "SELECT 1", ")");
        nested("((", "SELECT 1", "))");
        nested("SELECT * FROM ((", "SELECT 1", "))");
        nested("SELECT (((", "1", ")))");
        nested("SELECT * FROM (orders JOIN (", "orders", ") ON 1 = 1)");
        nested("SELECT 1 IN (", "1", ")");
        nested("SELECT CAST(CAST(", "1", " AS int) AS int)");
        nested("SELECT ARRAY[(", "1", ")]");
        nested("SELECT CASE WHEN (1 IN (", "1", ")) THEN 1 END");
        nested("SELECT INTERVAL (", "1", ") DAY");
        nested("SELECT EXISTS (", "SELECT 1", ")");
        nested("WITH a AS (", "SELECT 1", ") SELECT * FROM a");
        nested("SELECT 1 BETWEEN (1) AND (", "1", ")");
        nested("SELECT POSITION(", "1", " IN 'a')");
        nested("SELECT (1, (", "1", "))");
    }
}

#[test]
fn recursive_queries_within_each_other_are_bounded() {
    let nested = (0..12).fold("SELECT 1 AS n".to_owned(), |inner, _| {
        format!("WITH RECURSIVE r AS (SELECT n FROM ({inner}) q UNION ALL SELECT n FROM r) SELECT n FROM r")
    });
    let _ = judge(Dialect::Postgres, &nested);
}
