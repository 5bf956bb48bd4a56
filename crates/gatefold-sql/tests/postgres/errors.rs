use futures::FutureExt as _;
use gatefold_sql::{DatabaseError, Missing};

use crate::server::{Claim, TestDatabase, query};

pub(crate) const ALL: &[(&str, Claim)] =
    &[("an_error_says_where_and_what", |it| an_error_says_where_and_what(it).boxed())];

async fn an_error_says_where_and_what(it: &TestDatabase) {
    it.set_up("CREATE TABLE employees (id int, salary numeric)").await;
    let database = it.open();
    let check =
        async |sql: &str, code: &str, at: Option<&str>, missing: Option<Missing>| match query(
            &database, sql,
        )
        .await
        {
            Err(DatabaseError::Statement {
                message,
                code: Some(found),
                position,
                missing: what,
                hint,
            }) => {
                assert_eq!((found.as_str(), what), (code, missing), "{sql}: {message}");
                let rest = position.map(|at| sql.chars().skip(at).collect::<String>());
                let starts = rest.as_deref().zip(at).is_some_and(|(rest, at)| rest.starts_with(at));
                assert!(starts || rest.is_none() && at.is_none(), "{sql}: {position:?}");
                hint
            }
            other => panic!("{sql}: {other:?}"),
        };
    let (table, column, function) = (Missing::Table, Missing::Column, Missing::Function);
    check("SELECT 'é', id FROM nothing", "42P01", Some("nothing"), Some(table)).await;
    check("SELECT 1 FROM no.employees", "42P01", Some("no.emp"), Some(table)).await;
    let hint =
        check("SELECT salaries FROM employees", "42703", Some("salaries"), Some(column)).await;
    assert!(hint.is_some_and(|hint| hint.contains("employees.salary")));
    check("SELECT nothing(1)", "42883", Some("nothing"), Some(function)).await;
    check("SELEC 1", "42601", Some("1"), None).await;
    check("SELECT * FROM employees WHERE", "42601", None, None).await;
    check("SELECT 1 / 0", "22012", None, None).await;
    check("SELECT 'x'::int", "22P02", Some("'x'"), None).await;
    check("SELECT * FROM pg_authid", "42501", None, None).await;
    check("SELECT $1::int", "42P02", Some("$1"), None).await;
    check("", "42601", None, None).await;
    for odd in ["SELECT 1\0; DELETE FROM employees".to_owned(), " ".repeat(2_000_000)] {
        let error = query(&database, &odd).await;
        assert!(matches!(error, Err(DatabaseError::Statement { .. })), "{error:?}");
    }
    // The connection is as good as before.
    assert!(query(&database, "SELECT 1 -- the last line\n").await.is_ok());
    assert!(query(&database, "SELECT 1 -- the last line").await.is_ok());
    for sql in [
        "VALUES (1), (2)",
        "TABLE employees",
        "(SELECT 1) UNION SELECT 2 ORDER BY 1",
        "WITH a AS (SELECT 1) SELECT * FROM a",
    ] {
        assert!(query(&database, sql).await.is_ok(), "{sql}");
    }
}
