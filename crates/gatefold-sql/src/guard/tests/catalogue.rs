use super::*;

fn told(dialect: Dialect, sql: &str) -> Result<CheckedStatement, GuardError> {
    Guard::new(&visible(dialect, Rules::Closed)).with_catalogue().check(sql)
}

/// Every way to the schema, of which a guard without leave knows nothing.
const QUESTIONS: [(Dialect, &str); 10] = [
    (Dialect::Sqlite, "SELECT name FROM sqlite_master WHERE type = 'table'"),
    (Dialect::Sqlite, "SELECT m.sql FROM main.sqlite_schema AS m"),
    (Dialect::Sqlite, "SELECT name FROM pragma_table_info('employees')"),
    (Dialect::Sqlite, "SELECT p.name FROM sqlite_master m, pragma_table_info('orders') AS p"),
    (Dialect::Postgres, "SELECT table_name FROM information_schema.tables"),
    (Dialect::Postgres, "SELECT column_name FROM Information_Schema.Columns c ORDER BY 1"),
    (Dialect::Postgres, "SELECT * FROM pg_catalog.pg_tables"),
    (Dialect::Postgres, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
    (Dialect::MySql, "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES"),
    (Dialect::MariaDb, "SELECT COLUMN_NAME FROM information_schema.columns WHERE table_name = 'x'"),
];

#[test]
fn the_catalogue_tells_of_what_is_visible_and_of_nothing_else() {
    for (dialect, sql) in QUESTIONS {
        let passed = told(dialect, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        for hidden in ["secrets", "salary", "token"] {
            assert!(!passed.sql.contains(hidden), "{sql}: {}", passed.sql);
        }
        for own in ["information_schema", "sqlite_", "pg_", "pragma"] {
            let names = passed.sql.to_lowercase().replace("as \"sqlite_master\"", "");
            let names = names.replace("as \"pg_tables\"", "").replace("\"pragma_table_info\"", "");
            assert!(!names.contains(own), "{sql}: {}", passed.sql);
        }
        assert!(passed.sql.contains("employees") || passed.sql.contains("hired_at"), "{sql}");
        assert!(passed.tables.is_empty(), "{sql}");
        let again = told(dialect, &passed.sql).map(|again| again.sql);
        assert_eq!(again, Ok(passed.sql), "{sql}");
        check(dialect, sql).unwrap_err();
    }
}

#[test]
fn the_rest_of_the_catalogue_stays_unknown() {
    for (dialect, sql) in [
        (Dialect::Sqlite, "SELECT * FROM sqlite_temp_master"),
        (Dialect::Sqlite, "SELECT * FROM temp.sqlite_schema"),
        (Dialect::Sqlite, "SELECT * FROM sqlite_stat1"),
        (Dialect::Sqlite, "SELECT * FROM sqlite_sequence"),
        (Dialect::Sqlite, "SELECT * FROM pragma_database_list"),
        (Dialect::Sqlite, "SELECT * FROM pragma_table_info((SELECT name FROM sqlite_master))"),
        (Dialect::Sqlite, "SELECT * FROM pragma_index_list('employees')"),
        (Dialect::Postgres, "SELECT * FROM pg_class"),
        (Dialect::Postgres, "SELECT * FROM pg_catalog.pg_stats"),
        (Dialect::Postgres, "SELECT * FROM information_schema.role_table_grants"),
        (Dialect::Postgres, "SELECT view_definition FROM information_schema.views"),
        (Dialect::Postgres, "SELECT * FROM other.tables"),
        (Dialect::Postgres, "SELECT tableowner FROM pg_tables"),
        (Dialect::Postgres, "SELECT table_name::regclass FROM information_schema.tables"),
        (Dialect::MySql, "SELECT * FROM information_schema.processlist"),
        (Dialect::MySql, "SELECT * FROM mysql.user"),
        (Dialect::MySql, "SELECT * FROM information_schema.tables FOR UPDATE"),
    ] {
        told(dialect, sql).unwrap_err();
    }
}

#[test]
fn a_hidden_table_has_no_columns_to_tell() {
    let hidden = told(Dialect::Sqlite, "SELECT * FROM pragma_table_info('secrets')").unwrap().sql;
    let none = told(Dialect::Sqlite, "SELECT * FROM pragma_table_info('nothing')").unwrap().sql;
    assert_eq!(hidden, none);
}

#[test]
fn texts_of_the_catalogue_end_where_they_should() {
    let mut named = table(Dialect::MySql, "it's \\ a`b", TableKind::Table, &["id"]);
    named.columns[0].comment = Some("'); DROP TABLE x; -- \u{7}\\".to_owned());
    for dialect in DIALECTS {
        let schema = Schema {
            default_schemas: vec![default_schema(dialect).to_owned()],
            tables: vec![named.clone()],
            ..Schema::default()
        };
        let visible = VisibleSchema::new(dialect, &schema, &TableRules::default());
        let guard = Guard::new(&visible).with_catalogue();
        let sql = match dialect {
            Dialect::Sqlite => "SELECT * FROM sqlite_master",
            _ => "SELECT * FROM information_schema.columns",
        };
        let once = guard.check(sql).unwrap().sql;
        assert_eq!(guard.check(&once).unwrap().sql, once);
    }
}
