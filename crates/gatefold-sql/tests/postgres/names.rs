//! What runs under a name: what is built in, or nothing.

use futures::FutureExt as _;
use gatefold_sql::{
    Database as _, DatabaseError, Guard, Postgres, TableRules, VisibleSchema, Writes,
};

use crate::server::{Claim, TestDatabase, open, query, run};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("nothing_of_somebody_else_runs_under_a_known_name", |it| {
        nothing_of_somebody_else_runs_under_a_known_name(it).boxed()
    }),
    ("what_an_extension_made_goes_on_running", |it| {
        what_an_extension_made_goes_on_running(it).boxed()
    }),
];

/// Each fits a column of `varchar` better than what is built in.
const FOREIGN: &str = "
    CREATE TABLE people (name varchar PRIMARY KEY, note varchar);
    INSERT INTO people VALUES ('Ann', 'a');
    CREATE FUNCTION ran_text(varchar, varchar) RETURNS varchar LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'somebody else ran'; END $$;
    CREATE FUNCTION ran(varchar, varchar) RETURNS boolean LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'somebody else ran'; END $$;
    CREATE FUNCTION lower(varchar) RETURNS varchar LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'somebody else ran'; END $$;
    CREATE FUNCTION similarity(varchar, varchar) RETURNS varchar LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'somebody else ran'; END $$;
    CREATE FUNCTION \"substring\"(varchar, integer) RETURNS varchar LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'somebody else ran'; END $$;
    CREATE OPERATOR -> (leftarg = varchar, rightarg = varchar, function = ran_text);
    CREATE OPERATOR || (leftarg = varchar, rightarg = varchar, function = ran_text);
    CREATE OPERATOR = (leftarg = varchar, rightarg = varchar, function = ran);
    CREATE OPERATOR ~~ (leftarg = varchar, rightarg = varchar, function = ran);
    CREATE OPERATOR >= (leftarg = varchar, rightarg = varchar, function = ran);
    CREATE DOMAIN citext AS varchar CHECK (ran(VALUE, VALUE));
";

/// Each runs something of somebody else's where nothing stops it.
const STATEMENTS: &[&str] = &[
    "SELECT lower(name) FROM people",
    "SELECT similarity(name, note) FROM people",
    "SELECT substring(name, 1) FROM people",
    "SELECT name || note FROM people",
    "SELECT 1 FROM people WHERE name = 'Ann'",
    "SELECT 1 FROM people WHERE name IN ('Ann', 'Bo')",
    "SELECT 1 FROM people WHERE name LIKE 'A%'",
    "SELECT 1 FROM people WHERE name BETWEEN 'A' AND 'B'",
    "SELECT 1 FROM people WHERE name IS DISTINCT FROM 'A'",
    "SELECT CASE name WHEN 'Ann' THEN 1 END FROM people",
    "SELECT nullif(name, 'Ann') FROM people",
    "SELECT 1 FROM people AS a JOIN people AS b USING (name)",
    "SELECT 1 FROM people AS a NATURAL JOIN people AS b",
    "SELECT 1 FROM people WHERE name = ANY (ARRAY['Ann'::varchar])",
    "SELECT name::citext FROM people",
];

async fn guarded(database: &Postgres, sql: &str) -> String {
    let schema = database.read_schema().await.expect("it reads");
    let visible = VisibleSchema::new(database.dialect(), &schema, &TableRules::default());
    let checked = Guard::new(&visible).with_writes().check(sql);
    checked.unwrap_or_else(|error| panic!("{sql}: {error}")).sql
}

async fn nothing_of_somebody_else_runs_under_a_known_name(it: &TestDatabase) {
    it.set_up(FOREIGN).await;
    let mut settings = it.settings();
    settings.writes = Writes::Ask;
    let reader = &it.reader;
    run(&it.admin, format!("GRANT ALL ON people TO {reader}")).await;
    for path in ["public", "public, pg_catalog"] {
        run(&it.admin, format!("ALTER ROLE {reader} SET search_path = {path}")).await;
        let database = open(&settings);
        for sql in STATEMENTS {
            let unguarded = sqlx::raw_sql(sqlx::AssertSqlSafe((*sql).to_owned()));
            let ran = unguarded.execute(&it.admin).await.expect_err(sql).to_string();
            assert!(ran.contains("somebody else ran"), "{sql}: {ran}");

            let sql = guarded(&database, sql).await;
            let timeout = settings.statement_timeout;
            let refused = [
                query(&database, &sql).await.map(drop),
                database.explain(sql.clone(), timeout).await.map(drop),
            ];
            for refused in refused {
                let Err(DatabaseError::Statement { message, .. }) = refused else {
                    panic!("{sql}: {refused:?}");
                };
                assert!(message.contains("somebody has made one of this name"), "{sql}: {message}");
            }
        }
        let write = "UPDATE people SET note = name || 'x'";
        let sql = guarded(&database, write).await;
        let refused = database.write(sql, settings.statement_timeout).await.map(|_| ());
        assert!(matches!(refused, Err(DatabaseError::Statement { .. })), "{refused:?}");

        // What has no second meaning runs, and so does what says which one is meant.
        for sql in
            ["SELECT upper(name), note FROM people", "SELECT pg_catalog.lower(name) FROM people"]
        {
            query(&database, &guarded(&database, sql).await).await.expect(sql);
        }
    }
}

async fn what_an_extension_made_goes_on_running(it: &TestDatabase) {
    it.set_up(
        "CREATE EXTENSION citext; CREATE EXTENSION pg_trgm; \
         CREATE TABLE people (name citext); INSERT INTO people VALUES ('Ann');",
    )
    .await;
    let database = it.open();
    for sql in [
        "SELECT name FROM people WHERE name = 'ANN'",
        "SELECT name FROM people WHERE name LIKE 'a%'",
        "SELECT name FROM people WHERE similarity(name::text, 'Ann') > 0.9",
        "SELECT name FROM people WHERE 'ann'::citext = name",
    ] {
        let rows = query(&database, &guarded(&database, sql).await).await.expect(sql).rows;
        assert_eq!(rows.len(), 1, "{sql}");
    }
}
