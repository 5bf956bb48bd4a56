//! What holds for the corpora on a real database.

use std::collections::BTreeMap;
use std::time::Duration;

use gatefold_sql::{
    Database, DatabaseError, Dialect, Guard, QueryRows, ReadQuery, TablePattern, TableRules,
    VisibleSchema,
};

use crate::statements::statements;

/// How long a statement of the corpora may take.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How much later than its timeout a statement may end on a busy machine.
const GRACE: Duration = Duration::from_secs(8);

async fn run(database: &dyn Database, sql: &str) -> Result<QueryRows, DatabaseError> {
    let query = ReadQuery {
        sql: sql.to_owned(),
        masked: Vec::new(),
        max_rows: 1000,
        max_bytes: 1 << 20,
        timeout: TIMEOUT,
    };
    database.query(query).await
}

/// Every harmless statement passes the guard, and what it sends gives the rows of what was written.
pub(crate) async fn harmless_statements_give_the_rows_they_give_directly(
    database: &dyn Database,
    file: &str,
) -> usize {
    let schema = database.read_schema().await.expect("the schema can be read");
    let deny = vec![TablePattern::new("secrets").expect("it is a table")];
    let rules = TableRules { deny, ..TableRules::default() };
    let visible = VisibleSchema::new(database.dialect(), &schema, &rules);
    // The corpora call the schema of MySQL and MariaDB `hr`; a test's own has another name.
    let own = format!("{}.", schema.default_schemas[0]);
    let with_own_schema = |(_, sql): (String, String)| match database.dialect() {
        Dialect::MySql | Dialect::MariaDb => sql.replace("hr.", &own),
        Dialect::Sqlite | Dialect::Postgres => sql,
    };
    let harmless: Vec<_> = statements(file).into_iter().map(with_own_schema).collect();
    for sql in &harmless {
        let checked = Guard::new(&visible).check(sql);
        let checked = checked.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let through = run(database, &checked.sql).await;
        let through = through.unwrap_or_else(|error| panic!("{}: {error:?}", checked.sql));
        let direct = run(database, sql).await;
        let direct = direct.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        assert_eq!(through.rows, direct.rows, "{sql}");
        let names = |rows: &QueryRows| -> Vec<_> {
            rows.columns.iter().map(|column| column.name.clone()).collect()
        };
        // The others name what has no name by its text, and what is sent is another one.
        if database.dialect() == Dialect::Postgres {
            assert_eq!(names(&through), names(&direct), "{sql}");
        }
    }
    harmless.len()
}

/// Sends every attack past the guard, and says what became of how many. None outlives its timeout.
pub(crate) async fn attacks_without_the_guard(
    database: &dyn Database,
    file: &str,
) -> BTreeMap<&'static str, usize> {
    let mut became = BTreeMap::new();
    for (_, sql) in statements(file) {
        let ended = tokio::time::timeout(TIMEOUT + GRACE, run(database, &sql)).await;
        let ended = ended.unwrap_or_else(|_| panic!("it outlived its timeout: {sql}"));
        let end = match ended {
            Ok(_) => "changed nothing",
            Err(DatabaseError::Timeout(_)) => "was stopped at its timeout",
            Err(DatabaseError::Write) => "was refused as a write",
            Err(_) => "was refused",
        };
        *became.entry(end).or_default() += 1;
    }
    became
}
