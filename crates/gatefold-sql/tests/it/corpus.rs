//! The corpora of statements, on a real file.

use gatefold_sql::{DatabaseAddress, DatabaseSettings, SqliteFile};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

use crate::claims;
use crate::statements::text;

/// A folder with a database in it.
async fn database() -> (tempfile::TempDir, SqliteFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hr.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    let schema = sqlx::raw_sql(AssertSqlSafe(text("schema.sqlite.sql")));
    connection.execute(schema).await.unwrap();
    let settings = DatabaseSettings::new(DatabaseAddress::Sqlite(path.clone()));
    let database = SqliteFile::new(path, &settings);
    (folder, database)
}

#[tokio::test(flavor = "multi_thread")]
async fn harmless_statements_give_their_rows() {
    let (_folder, database) = database().await;
    let file = "harmless.sqlite.sql";
    claims::harmless_statements_give_the_rows_they_give_directly(&database, file).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attacks_change_nothing_without_the_guard() {
    let (folder, database) = database().await;
    let files = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let read = entries.map(|entry| {
            let path = entry.unwrap().path();
            (path.clone(), std::fs::read(path).unwrap())
        });
        let mut files: Vec<_> = read.collect();
        files.sort();
        files
    };
    let before = files();
    let became = claims::attacks_without_the_guard(&database, "attacks.sqlite.sql").await;
    assert_eq!(files(), before);
    println!("attacks past the guard: {became:?}");
}
