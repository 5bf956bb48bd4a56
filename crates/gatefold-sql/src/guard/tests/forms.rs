//! Forms that are harmless, each beside one like it that is not.

use super::*;

/// Checks that each first one passes and each second one does not.
fn check_pairs(dialects: &[Dialect], pairs: &[(&str, &str)]) {
    for dialect in dialects {
        let visible = visible(*dialect, Rules::Open);
        let closed = super::visible(*dialect, Rules::Closed);
        for (harmless, hostile) in pairs {
            let passed = Guard::new(&visible).check(harmless);
            let passed = passed.unwrap_or_else(|error| panic!("{dialect} {harmless}: {error}"));
            let again = Guard::new(&visible).check(&passed.sql).map(|again| again.sql);
            assert_eq!(again, Ok(passed.sql), "{dialect} {harmless}");
            let refused = Guard::new(&closed).check(hostile);
            assert!(refused.is_err(), "{dialect} {hostile}: {refused:?}");
        }
    }
}

#[test]
fn forms_of_postgres() {
    check_pairs(
        &[Dialect::Postgres],
        &[
            (
                "SELECT id FROM orders o WHERE o.* IS NULL",
                "SELECT id FROM employees e WHERE e.* IS NOT NULL",
            ),
            (
                "SELECT id FROM orders o WHERE o.* IS NOT NULL",
                "SELECT id FROM secrets s WHERE s.* IS NULL",
            ),
            (
                "SELECT (jsonb_each(data)).key FROM employees",
                "SELECT (jsonb_each(data)).pg_sleep FROM employees",
            ),
            ("SELECT (json_each_text('{}')).value", "SELECT (upper('a')).value"),
            ("SELECT (ST_Dump(note::geometry)).geom FROM orders", "SELECT (ST_Dump(email)).geom"),
            (
                "SELECT id FROM orders WHERE note LIKE ANY (ARRAY['a%', 'b%'])",
                "SELECT id FROM employees WHERE email LIKE ANY (ARRAY['a%', 'b%'])",
            ),
            (
                "SELECT id FROM orders WHERE note NOT ILIKE ANY ('{a,b}')",
                "SELECT id FROM orders WHERE note ILIKE ANY (SELECT email FROM employees)",
            ),
            ("SELECT (o.*)::text FROM orders o", "SELECT (e.*)::text FROM employees e"),
            ("SELECT CURRENT_ROLE", "SELECT \"current_role\""),
            ("SELECT id FROM ONLY orders", "SELECT id FROM ONLY employees"),
            ("SELECT id FROM ONLY (orders) AS o", "SELECT id FROM ONLY (secrets)"),
            ("SELECT current_user, user, current_catalog", "SELECT session_user"),
            (
                "SELECT normalize(note, NFC) FROM orders",
                "SELECT normalize(note, salary) FROM employees",
            ),
            ("SELECT id::oid FROM orders", "SELECT 'secrets'::regclass::oid"),
            (
                "SELECT pg_size_pretty(12345678)",
                "SELECT pg_size_pretty(pg_relation_size('secrets'))",
            ),
            (
                "SELECT inet '10.0.0.1', uuid_generate_v5(uuid_ns_url(), 'a')",
                "SELECT regclass 'secrets'",
            ),
            (
                "SELECT ST_Buffer(note::geometry, 10) FROM orders",
                "SELECT ST_EstimatedExtent('secrets', 'token')",
            ),
            (
                "SELECT ST_AsGeoJSON(note::geometry) FROM orders \
                 WHERE ST_DWithin(note::geography, ST_MakePoint(7.4, 46.9)::geography, 20000)",
                "SELECT ST_AsGeoJSON(note::geometry), pg_sleep(5) FROM orders",
            ),
            ("SELECT format('%s', 1234567)", "SELECT format('%1000000s', 'x')"),
            ("SELECT format('%10s of 1234567', 'x')", "SELECT format('%*s', 1000000, 'x')"),
        ],
    );
}

#[test]
fn forms_of_mysql() {
    check_pairs(
        &[Dialect::MySql, Dialect::MariaDb],
        &[
            (
                "SELECT d.id FROM departments d LEFT JOIN (employees e, orders o) \
                 ON e.department_id = d.id AND o.employee_id = e.id",
                "SELECT d.id FROM departments d LEFT JOIN (orders o, secrets s) ON s.id = d.id",
            ),
            (
                "SELECT d.id, o.id FROM (departments d, orders o)",
                "SELECT d.id FROM (departments d, secrets s)",
            ),
            ("SELECT INTERVAL(23, 1, 15, 17, 30)", "SELECT INTERVAL(SLEEP(5), 1, 2)"),
            (
                "SELECT INTERVAL(salary, 1000, 5000) FROM employees",
                "SELECT INTERVAL(salary, 1000, 5000) FROM employees",
            ),
            (
                "SELECT '2024-01-01' + INTERVAL (1 + 1) DAY",
                "SELECT NOW() + INTERVAL (SLEEP(1)) DAY",
            ),
            ("SELECT CHAR(77, 121 USING utf8mb4)", "SELECT CHAR(SLEEP(1) USING utf8mb4)"),
            ("SELECT USER(), CURRENT_USER, CURRENT_USER()", "SELECT CONNECTION_ID()"),
            (
                "SELECT CHARSET(name), COLLATION(name) FROM departments",
                "SELECT CHARSET(email) FROM employees",
            ),
            (
                "SELECT ST_Buffer(ST_GeomFromText('POINT(0 0)'), 2)",
                "SELECT ST_Buffer(salary, 2) FROM employees",
            ),
            (
                "SELECT TIMESTAMPDIFF(SQL_TSI_DAY, placed_at, NOW()) FROM orders",
                "SELECT TIMESTAMPDIFF(SQL_TSI_X, placed_at, NOW()) FROM orders",
            ),
            ("SELECT CAST('2024' AS YEAR)", "SELECT CAST(email AS YEAR) FROM employees"),
            ("SELECT FORMAT(1234567.891, 2)", "SELECT SFORMAT('{:1000000}', 'x')"),
        ],
    );
}

#[test]
fn forms_of_sqlite() {
    check_pairs(
        &[Dialect::Sqlite],
        &[
            (
                "SELECT d.id FROM departments d LEFT JOIN (employees e, orders o) \
                 ON e.department_id = d.id AND o.employee_id = e.id",
                "SELECT d.id FROM departments d LEFT JOIN (orders o, secrets s) ON s.id = d.id",
            ),
            ("SELECT \"Total\", count(*) FROM orders", "SELECT \"salary\" FROM employees"),
            ("SELECT \"n/a\" FROM orders", "SELECT \"nme\", id FROM employees"),
            ("SELECT \"yes\" AS answer FROM orders", "SELECT max(\"salary\") FROM employees"),
            ("SELECT \"it's\"", "SELECT \"city\", id FROM employees"),
            (
                "SELECT CAST(id AS STRING), CAST(id AS LONG) FROM orders",
                "SELECT CAST(email AS STRING) FROM employees",
            ),
            (
                "SELECT printf('%d', 1234567), format('%s: 1234567', 'a')",
                "SELECT printf('%1000000d', 1)",
            ),
            ("SELECT printf('%.2f', 1234567.891)", "SELECT printf('%.*f', 1000000, 1.5)"),
            ("SELECT printf('%,d', 1234567)", "SELECT printf('%-1000000d', 1)"),
        ],
    );
    // What is hidden is a text like any other that is no column.
    let text = |sql: &str| sent(Dialect::Sqlite, sql).replace("salary", "X").replace("bonus", "X");
    assert_eq!(
        text("SELECT \"salary\" AS a FROM departments"),
        text("SELECT \"bonus\" AS a FROM departments")
    );
}
