use super::*;

#[test]
fn tables_are_written_with_their_schema() {
    let check = |dialect: Dialect, sql: &str, expected: &str| {
        assert_eq!(sent(dialect, sql), expected);
    };
    check(
        Dialect::Postgres,
        "select D.id from Departments d /* x */ where d.city='a';",
        "select D.id from \"public\".\"departments\" d where d.city='a'",
    );
    check(
        Dialect::MySql,
        "SELECT id FROM departments -- all\nWHERE name = \"it's\"",
        "SELECT id FROM `hr`.`departments` WHERE name = 'it''s'",
    );
    check(
        Dialect::Sqlite,
        "SELECT [id] FROM [departments]",
        "SELECT \"id\" FROM \"main\".\"departments\"",
    );
}

#[test]
fn a_table_with_hidden_columns_is_read_through_its_visible_ones() {
    let columns =
        "\"id\", \"name\", \"email\", \"manager_id\", \"department_id\", \"hired_at\", \"data\"";
    assert_eq!(
        sent(Dialect::Postgres, "SELECT employees.id FROM employees"),
        format!(
            "SELECT employees.id FROM (SELECT {columns} FROM \"public\".\"employees\") AS \"employees\""
        ),
    );
    assert_eq!(
        sent(Dialect::Postgres, "TABLE employees"),
        format!("SELECT {columns} FROM \"public\".\"employees\""),
    );
    let columns = columns.split(", ").map(|column| format!("\"employees\".{column}"));
    let columns = columns.collect::<Vec<_>>().join(", ");
    assert_eq!(
        sent(Dialect::Sqlite, "SELECT main.employees.id FROM main.employees"),
        format!(
            "SELECT \"employees\".id FROM (SELECT {columns} FROM \"main\".\"employees\") AS \"employees\""
        ),
    );
}

#[test]
fn unknown_names_suggest_near_ones() {
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT * FROM employes"), @"there is no table `employes`; did you mean `employees`?");
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT * FROM secrets"), @"there is no table `secrets`");
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT nme FROM employees"), @"there is no column `nme` here; did you mean `name`?");
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT city FROM employees e"), @"there is no column `city` here; the table `departments` has one");
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT salary FROM employees e"), @"there is no column `salary` here");
    insta::assert_snapshot!(message(Dialect::MySql, "SELECT * FROM information_schema.tables"), @"there is no table `information_schema.tables`");
}

#[test]
fn faults_say_where_they_are() {
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT 1 FROM\n  WHERE"), @"the statement cannot be read: expected table name, found WHERE (line 2, column 3)");
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT 'a"), @"the statement cannot be read: unterminated string literal (line 1, column 8)");
    insta::assert_snapshot!(message(Dialect::Postgres, "DROP TABLE orders"), @"`DROP` is not allowed: a statement may be `SELECT`, `WITH`, `VALUES` or `TABLE`");
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT pg_sleep(1)"), @"the function `pg_sleep` is not allowed: only built-in functions of PostgreSQL that compute a value may be called, for texts, numbers, dates, JSON, aggregates and windows");
    insta::assert_snapshot!(message(Dialect::Sqlite, "SELECT 1; SELECT 2"), @"only one statement may be sent at a time; send them one after another");
    insta::assert_snapshot!(message(Dialect::Sqlite, " ; "), @"the statement is empty; send one `SELECT`");
    insta::assert_snapshot!(message(Dialect::MySql, "SELECT @@version"), @"the variable `@@version` is not allowed: write the values into the statement; neither variables of the server nor of the session can be read");
}

#[test]
fn with_queries_hide_tables_only_where_the_server_agrees() {
    for dialect in DIALECTS {
        check(dialect, "WITH secrets AS (SELECT 1 AS a) SELECT a FROM secrets").unwrap();
        check(dialect, "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT x FROM b")
            .unwrap();
        check(
            dialect,
            "WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a",
        )
        .unwrap_err();
        check(dialect, "WITH a AS (SELECT 1 AS x) SELECT (SELECT x FROM a), id FROM orders")
            .unwrap();
        check(dialect, "SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) q, a").unwrap_err();
    }
    // Where the file system tells letters apart, this reads the table.
    check(Dialect::MySql, "WITH SECRETS AS (SELECT 1 AS a) SELECT a FROM secrets").unwrap_err();
    check(Dialect::Postgres, "WITH SECRETS AS (SELECT 1 AS a) SELECT a FROM secrets").unwrap();
    check(Dialect::Postgres, "WITH \"SECRETS\" AS (SELECT 1 AS a) SELECT a FROM secrets")
        .unwrap_err();
}

#[test]
fn a_query_tells_its_shape() {
    let shape = |sql: &str| {
        let passed = check(Dialect::Postgres, sql).unwrap();
        (passed.has_order, passed.limit)
    };
    assert_eq!(shape("SELECT id FROM orders"), (false, LimitForm::None));
    assert_eq!(shape("SELECT id FROM orders ORDER BY id LIMIT 3"), (true, LimitForm::Limit));
    let inner = "SELECT id FROM (SELECT id FROM orders ORDER BY 1 LIMIT 3) q";
    assert_eq!(shape(inner), (false, LimitForm::None));
    let fetch = "SELECT id FROM orders OFFSET 2 FETCH FIRST 3 ROWS ONLY";
    assert_eq!(shape(fetch), (false, LimitForm::OffsetFetch));
    let offset = "SELECT id FROM orders ORDER BY id OFFSET 3";
    assert_eq!(shape(offset), (true, LimitForm::Offset));
    assert_eq!(shape("SELECT id FROM orders LIMIT 3 OFFSET 4"), (false, LimitForm::LimitOffset));
    let passed = check(Dialect::Postgres, "SELECT 1 FROM orders, public.departments").unwrap();
    let named: Vec<_> = passed.tables.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["public.departments", "public.orders"]);
}
