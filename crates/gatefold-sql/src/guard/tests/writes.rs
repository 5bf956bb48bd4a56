use super::*;

fn write(dialect: Dialect, sql: &str) -> Result<CheckedStatement, GuardError> {
    Guard::new(&visible(dialect, Rules::Closed)).with_writes().check(sql)
}

#[test]
fn one_table_is_written() {
    for (sql, verb) in [
        ("INSERT INTO orders (id, note) VALUES (1, 'a'), (2, DEFAULT)", WriteVerb::Insert),
        ("INSERT INTO orders (id) SELECT id FROM employees", WriteVerb::Insert),
        ("INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO NOTHING", WriteVerb::Insert),
        (
            "INSERT INTO orders (id, note) VALUES (1, 'a') \
             ON CONFLICT (id) DO UPDATE SET note = excluded.note WHERE orders.amount > 1",
            WriteVerb::Insert,
        ),
        ("UPDATE orders SET note = upper(note) WHERE id = 3", WriteVerb::Update),
        (
            "UPDATE orders o SET note = 'a' WHERE o.id IN (SELECT id FROM employees)",
            WriteVerb::Update,
        ),
        ("DELETE FROM orders WHERE amount < 0", WriteVerb::Delete),
    ] {
        let passed = write(Dialect::Postgres, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let table = TableName::new("public", "orders");
        assert_eq!(passed.kind, StatementKind::Write { verb, table }, "{sql}");
        assert!(passed.sql.contains("\"public\".\"orders\""), "{}", passed.sql);
        check(Dialect::Postgres, sql).unwrap_err();
    }
    let email = "UPDATE employees SET email = 'a@b' WHERE id = 1";
    write(Dialect::Postgres, email).unwrap();
}

#[test]
fn a_write_reveals_and_sets_nothing_hidden() {
    for dialect in DIALECTS {
        for sql in [
            "INSERT INTO employees (id, salary) VALUES (1, 2)",
            "INSERT INTO employees VALUES (1)",
            "INSERT INTO secrets (id) VALUES (1)",
            "INSERT INTO staff (id) VALUES (1)",
            "INSERT INTO orders (note) SELECT email FROM employees",
            "INSERT INTO orders (note) SELECT token FROM secrets",
            "INSERT INTO orders (id) VALUES (1) RETURNING *",
            "INSERT INTO orders (id) VALUES ((SELECT salary FROM employees))",
            "UPDATE employees SET salary = 1",
            "UPDATE employees SET name = email",
            "UPDATE employees SET name = salary",
            "UPDATE employees SET name = 'a' WHERE email = 'b'",
            "UPDATE employees SET name = 'a' WHERE salary > 10",
            "UPDATE employees SET name = 'a' RETURNING salary",
            "UPDATE orders SET note = (SELECT token FROM secrets)",
            "DELETE FROM employees WHERE salary > 10",
            "DELETE FROM employees WHERE email = 'b'",
            "DELETE FROM secrets",
            "DELETE FROM orders RETURNING *",
            "UPDATE orders SET note = 'a'; DELETE FROM orders",
            "WITH x AS (SELECT 1) DELETE FROM orders",
            "DROP TABLE orders",
            "TRUNCATE orders",
            "SELECT 1 INTO t2",
        ] {
            let passed = write(dialect, sql);
            assert!(passed.is_err(), "{dialect} {sql}: {passed:?}");
        }
    }
    write(Dialect::Postgres, "UPDATE employees SET name = employees::text").unwrap_err();
    write(Dialect::Postgres, "UPDATE employees SET name = to_json(employees)").unwrap_err();
}
