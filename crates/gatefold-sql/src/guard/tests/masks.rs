use super::*;

fn masked(sql: &str) -> Vec<usize> {
    check(Dialect::Postgres, sql).unwrap_or_else(|error| panic!("{sql}: {error}")).masked
}

#[test]
fn a_masked_column_is_followed_to_its_place() {
    let check = |sql: &str, expected: &[usize]| assert_eq!(masked(sql), expected, "{sql}");
    check("SELECT id, email FROM employees", &[1]);
    check("SELECT e.email AS x, (email) FROM employees e", &[0, 1]);
    check("SELECT * FROM employees", &[2]);
    check("SELECT d.*, e.* FROM departments d JOIN employees e ON e.department_id = d.id", &[6]);
    check("SELECT * FROM departments d JOIN employees e USING (id)", &[5]);
    check("TABLE employees", &[2]);
    check("SELECT q.b FROM (SELECT id, email FROM employees) AS q (a, b)", &[0]);
    check("WITH q (a, b) AS (SELECT id, email FROM employees) SELECT b, a FROM q", &[0]);
    check("SELECT name FROM departments UNION ALL SELECT email FROM employees", &[0]);
    check("SELECT x.email FROM employees e, LATERAL (SELECT e.email) x", &[0]);
    check("SELECT id FROM employees WHERE EXISTS (SELECT email FROM employees)", &[]);
    check("SELECT DISTINCT ON (id) id, email FROM employees ORDER BY id", &[1]);
    check(
        "WITH RECURSIVE r AS (SELECT 1 AS n, 'x' AS s UNION ALL \
         SELECT r.n + 1, e.email FROM r JOIN employees e ON e.id = r.n) SELECT n, s FROM r",
        &[1],
    );
}

#[test]
fn a_star_over_masked_columns_is_written_out() {
    let visible = "`id`, `name`, `email`, `manager_id`, `department_id`, `hired_at`, `data`";
    assert_eq!(
        sent(
            Dialect::MySql,
            "SELECT e.*, d.* FROM departments d, (SELECT id, email FROM employees) e"
        ),
        format!(
            "SELECT e.`id`, `e`.`email`, d.* FROM `hr`.`departments` d, (SELECT id, email FROM \
             (SELECT {visible} FROM `hr`.`employees`) AS `employees`) e"
        ),
    );
    for twice in [
        "SELECT q.* FROM (SELECT email, 1 AS id, 'a' AS email FROM employees) q",
        "SELECT * FROM (SELECT * FROM employees, (SELECT 1 AS email) x) q",
        "SELECT q.* FROM departments q JOIN (SELECT id, email FROM employees) q",
        "SELECT q.* FROM departments q, (SELECT id, email FROM employees) Q",
    ] {
        check(Dialect::Sqlite, twice).unwrap_err();
        check(Dialect::MariaDb, twice).unwrap_err();
    }
    let nameless = "SELECT * FROM (SELECT email, count(*) FROM employees) q";
    check(Dialect::Sqlite, nameless).unwrap_err();
}

#[test]
fn a_place_in_the_result_is_no_way_round() {
    for sql in [
        "SELECT id, email FROM employees ORDER BY (2)",
        "SELECT id, email FROM employees ORDER BY 2 COLLATE NOCASE",
        "SELECT id, email FROM employees ORDER BY +2",
        "SELECT id, email FROM employees ORDER BY likely(2)",
        "SELECT id, email FROM employees ORDER BY likelihood(2, 0.5) DESC",
        "SELECT id, email FROM employees UNION ALL SELECT 1, 'a' ORDER BY 2 COLLATE NOCASE",
    ] {
        let error = check(Dialect::Sqlite, sql);
        assert!(matches!(error, Err(GuardError::Masked { .. })), "{sql}: {error:?}");
    }
    for sql in [
        "SELECT email, count(*) FROM employees GROUP BY ROLLUP (1)",
        "SELECT email, count(*) FROM employees GROUP BY GROUPING SETS ((1), ())",
        "SELECT email AS x, count(*) FROM employees GROUP BY CUBE (x)",
        "SELECT id, email FROM employees GROUP BY (1, 2)",
        "SELECT DISTINCT ON (2) id, email FROM employees",
    ] {
        let error = check(Dialect::Postgres, sql);
        assert!(matches!(error, Err(GuardError::Masked { .. })), "{sql}: {error:?}");
    }
}

#[test]
fn a_masked_column_is_used_nowhere_else() {
    for sql in [
        "SELECT upper(email) FROM employees",
        "SELECT email || '' FROM employees",
        "SELECT id FROM employees WHERE email LIKE 'a%'",
        "SELECT id FROM employees ORDER BY email",
        "SELECT id, email FROM employees ORDER BY 2",
        "SELECT email AS x FROM employees ORDER BY x",
        "SELECT count(*) FROM employees GROUP BY email",
        "SELECT email FROM employees GROUP BY 1",
        "SELECT count(email) FROM employees",
        "SELECT DISTINCT email FROM employees",
        "SELECT DISTINCT * FROM employees",
        "SELECT email FROM employees UNION SELECT 'a'",
        "SELECT email FROM employees INTERSECT SELECT 'a'",
        "SELECT 'a' EXCEPT SELECT email FROM employees",
        "SELECT (SELECT email FROM employees LIMIT 1)",
        "SELECT 1 WHERE 'a' IN (SELECT email FROM employees)",
        "SELECT 1 WHERE 'a' = ANY (SELECT email FROM employees)",
        "SELECT ARRAY(SELECT email FROM employees)",
        "SELECT e.id FROM employees e JOIN employees f USING (email)",
        "SELECT e.id FROM employees e NATURAL JOIN employees f",
        "SELECT row_number() OVER (ORDER BY email) FROM employees",
        "SELECT row_number() OVER w FROM employees WINDOW w AS (PARTITION BY email)",
        "SELECT e FROM employees e",
        "SELECT row_to_json(e) FROM employees e",
        "SELECT count(e.*) FROM employees e",
        "SELECT q.x || '' FROM (SELECT email AS x FROM employees) q",
        "WITH q AS (SELECT email AS x FROM employees) SELECT 1 FROM q WHERE x = 'a'",
        "SELECT upper(b) FROM employees AS q (a, c, b)",
        "SELECT CASE WHEN email = 'a' THEN 1 END FROM employees",
        "SELECT id FROM employees e WHERE EXISTS (SELECT 1 FROM orders WHERE e.email = note)",
        "SELECT id FROM employees LIMIT (SELECT length(email) FROM employees LIMIT 1)",
        // The server takes the outer column, because the inner `x` is not in this join.
        "SELECT id FROM employees WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS email) x, \
         orders o JOIN departments d ON email = 'a')",
    ] {
        let error = check(Dialect::Postgres, sql);
        assert!(matches!(error, Err(GuardError::Masked { .. })), "{sql}: {error:?}");
    }
    insta::assert_snapshot!(message(Dialect::Postgres, "SELECT 1 FROM employees WHERE email = 'a'"), @"the values of `email` are masked, so it may only be selected as itself, not used in an expression, filter, join, grouping or order; leave it out there");
}

#[test]
fn a_row_id_tells_nothing_of_what_is_masked() {
    check(Dialect::Sqlite, "SELECT rowid, _rowid_ FROM orders").unwrap();
    check(Dialect::Sqlite, "SELECT rowid FROM employees").unwrap_err();
    check(Dialect::Postgres, "SELECT ctid FROM orders").unwrap_err();
}
