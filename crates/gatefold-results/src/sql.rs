//! Queries over the rows of a table, in a SQLite database in memory.
//!
//! The database holds nothing but the rows. Its authorizer lets a statement read them and call
//! functions, so nothing can be attached, written or loaded, and what a statement gives is bounded.
//! Nothing here bounds its time or its memory: it is for a process that somebody else bounds.

use std::cell::Cell;
use std::fmt::Write as _;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params_from_iter};

use crate::ReadingError;
use crate::table_rows::{MAX_ROWS, MAX_TEXT, TableRows};

/// The table's name.
pub(crate) const TABLE: &str = "result";

/// The most bytes of an outcome.
const MAX_OUTCOME: usize = 16 * 1024 * 1024;

/// The longest statement, in bytes.
const MAX_STATEMENT: usize = 20_000;

/// What a query gave.
pub(crate) struct SqlOutcome {
    /// `{"columns":[...],"rows":[[...]]}`
    pub(crate) text: String,
    pub(crate) rows: usize,
    /// What was left out of the table, as a sentence; empty if nothing was.
    pub(crate) note: String,
}

/// Runs one statement over the rows of a text.
pub(crate) fn run(text: &str, statement: &str) -> Result<SqlOutcome, ReadingError> {
    if statement.len() > MAX_STATEMENT {
        let message = format!("the statement is longer than {MAX_STATEMENT} bytes");
        return Err(ReadingError::TooMuch(message));
    }
    let rows = TableRows::of(text)?;
    let (database, note) = loaded(&rows).map_err(|error| internal(&error))?;
    confine(&database).map_err(|error| internal(&error))?;
    query(&database, &rows, statement).map(|outcome| SqlOutcome { note, ..outcome })
}

/// A database with the rows, and what of them was left out.
fn loaded(table: &TableRows<'_>) -> rusqlite::Result<(Connection, String)> {
    let mut database = Connection::open_in_memory()?;
    let names: Vec<_> = table.columns.iter().map(|name| quoted(name)).collect();
    database.execute_batch(&format!("CREATE TABLE {TABLE} ({})", names.join(", ")))?;
    let places = vec!["?"; names.len()].join(", ");
    let (cut, mut beyond) = (Cell::new(0), 0);
    let transaction = database.transaction()?;
    {
        let mut insert = transaction.prepare(&format!("INSERT INTO {TABLE} VALUES ({places})"))?;
        for (count, values) in table.rows(&cut).enumerate() {
            if count < MAX_ROWS {
                insert.execute(params_from_iter(values))?;
            } else {
                beyond += 1;
            }
        }
    }
    transaction.commit()?;
    Ok((database, left_out(cut.get(), beyond)))
}

fn left_out(cut: usize, beyond: usize) -> String {
    let mut note = String::new();
    if cut > 0 {
        let _ =
            write!(note, " {cut} texts are cut at {MAX_TEXT} bytes here; `path` reads them whole.");
    }
    if beyond > 0 {
        let _ = write!(note, " The last {beyond} rows are left out; `jq` reads them.");
    }
    note
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', ""))
}

/// Lets statements read the rows and nothing else.
fn confine(database: &Connection) -> rusqlite::Result<()> {
    let limit = |limit: Limit, most: usize| {
        database.set_limit(limit, i32::try_from(most).unwrap_or(i32::MAX)).map(drop)
    };
    limit(Limit::SQLITE_LIMIT_LENGTH, 16 * MAX_TEXT)?;
    limit(Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_STATEMENT)?;
    limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, 200)?;
    limit(Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50)?;
    limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200)?;
    database.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Read { table_name, .. } if !table_name.starts_with("sqlite_") => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } if is_harmless(function_name) => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }))
}

/// Functions that only compute.
fn is_harmless(name: &str) -> bool {
    const REFUSED: [&str; 8] = [
        "load_extension",
        "readfile",
        "writefile",
        "edit",
        "fts3_tokenizer",
        "randomblob",
        "zeroblob",
        "sqlite_log",
    ];
    !REFUSED.iter().any(|refused| refused.eq_ignore_ascii_case(name))
}

fn query(
    database: &Connection,
    table: &TableRows<'_>,
    statement: &str,
) -> Result<SqlOutcome, ReadingError> {
    let failed = |error: rusqlite::Error| refused(&error, &table.columns);
    let mut prepared = database.prepare(statement.trim()).map_err(failed)?;
    let names: Vec<_> = prepared.column_names().iter().map(|name| json_text(name)).collect();
    let mut text = format!("{{\"columns\":[{}],\"rows\":[", names.join(","));
    let mut rows = prepared.query([]).map_err(failed)?;
    let mut count = 0;
    while let Some(row) = rows.next().map_err(failed)? {
        text.push_str(if count > 0 { ",[" } else { "[" });
        for at in 0..names.len() {
            text.extend((at > 0).then_some(','));
            text.push_str(&written(row.get_ref(at).map_err(failed)?));
        }
        text.push(']');
        count += 1;
        if text.len() > MAX_OUTCOME {
            let message = "the query gives more than 16 MiB: add a LIMIT or fewer columns";
            return Err(ReadingError::TooMuch(message.to_owned()));
        }
    }
    text.push_str("]}");
    Ok(SqlOutcome { text, rows: count, note: String::new() })
}

fn written(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => {
            serde_json::Number::from_f64(number).map_or("null".to_owned(), |n| n.to_string())
        }
        ValueRef::Text(text) => json_text(&String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json_text(&format!("({} bytes)", bytes.len())),
    }
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// How many columns an error names.
const NAMED_COLUMNS: usize = 40;

fn refused(error: &rusqlite::Error, columns: &[String]) -> ReadingError {
    let text = error.to_string();
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OutOfMemory) {
        let message = "the query needed too much memory and was stopped: make it simpler";
        return ReadingError::TooMuch(message.to_owned());
    }
    if text.contains("not authorized") {
        let message = format!("`sql` takes one SELECT over the table `{TABLE}`");
        return ReadingError::Syntax(message);
    }
    if matches!(error, rusqlite::Error::MultipleStatement) {
        return ReadingError::Syntax("`sql` takes one statement".to_owned());
    }
    let mut names: Vec<_> =
        columns.iter().take(NAMED_COLUMNS).map(|name| crate::lines::head(name, 60)).collect();
    let more = format!("+{} more", columns.len().saturating_sub(NAMED_COLUMNS));
    if columns.len() > NAMED_COLUMNS {
        names.push(&more);
    }
    let text = crate::lines::head(&text, 200);
    ReadingError::Syntax(format!(
        "SQLite says: {text}. The table is `{TABLE}`, its columns: {}",
        names.join(", ")
    ))
}

fn internal(error: &rusqlite::Error) -> ReadingError {
    ReadingError::Unsuitable(format!("the rows cannot be loaded: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUES: &str = r#"{"total":3,"items":[
        {"id":1,"title":"Login \"fails\"","open":true,"labels":["bug"]},
        {"id":2,"title":"Slow","open":false,"score":1.5},
        {"ID":9007199254740993,"title":null}]}"#;

    fn run_text(text: &str, statement: &str) -> Result<String, String> {
        run(text, statement).map(|it| it.text).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_of_objects_are_a_table() {
        for (statement, expected) in [
            (
                "SELECT id, title FROM result WHERE open",
                r#"{"columns":["id","title"],"rows":[[1,"Login \"fails\""]]}"#,
            ),
            (
                "SELECT max(id), count(*) FROM result",
                r#"{"columns":["max(id)","count(*)"],"rows":[[9007199254740993,3]]}"#,
            ),
            (
                "SELECT labels, score FROM result ORDER BY score DESC",
                r#"{"columns":["labels","score"],"rows":[[null,1.5],["[\"bug\"]",null],[null,null]]}"#,
            ),
            (
                "SELECT labels ->> 0 AS l FROM result LIMIT 1",
                r#"{"columns":["l"],"rows":[["bug"]]}"#,
            ),
        ] {
            assert_eq!(run_text(ISSUES, statement).as_deref(), Ok(expected), "{statement}");
        }
        let alone = r#"[{"a":1},{"a":2}]"#;
        assert_eq!(
            run_text(alone, "SELECT sum(a) FROM result").unwrap(),
            r#"{"columns":["sum(a)"],"rows":[[3]]}"#
        );
    }

    #[test]
    fn a_header_and_rows_are_a_table() {
        let ours = r#"{"columns":[{"name":"id","type":"int"},{"name":"x"},{"name":"X"}],"rows":[[1,"a",true],[2,null]]}"#;
        let expected = r#"{"columns":["id","x","X_2"],"rows":[[1,"a",1],[2,null,null]]}"#;
        assert_eq!(run_text(ours, "SELECT * FROM result").unwrap(), expected);
        let plain = r#"{"columns":["a"],"rows":[[1]]}"#;
        assert_eq!(run_text(plain, "SELECT a FROM result").unwrap(), plain);
    }

    #[test]
    fn lines_of_objects_are_a_table() {
        let lines = "{\"a\":1,\"b\":\"x\"}\n\n{\"a\":2.5}\r\n{\"c\":null}\n";
        let expected =
            r#"{"columns":["a","b","c"],"rows":[[1,"x",null],[2.5,null,null],[null,null,null]]}"#;
        assert_eq!(run_text(lines, "SELECT * FROM result").unwrap(), expected);
    }

    #[test]
    fn values_with_commas_or_tabs_are_a_table() {
        let commas = "id,name,Name,share\n1,\"a, \"\"b\"\"\",x,0.50\n007,,y,-2\n3,z,,1e9\n";
        let expected = r#"{"columns":["id","name","Name_2","share"],"rows":[[1,"a, \"b\"","x",0.5],["007",null,"y",-2],[3,"z",null,"1e9"]]}"#;
        assert_eq!(run_text(commas, "SELECT * FROM result").unwrap(), expected);
        let tabs = "a\tb\n1\t2\n3\t4\n";
        assert_eq!(
            run_text(tabs, "SELECT sum(a) AS a, sum(b) AS b FROM result").unwrap(),
            r#"{"columns":["a","b"],"rows":[[4,6]]}"#
        );
    }

    #[test]
    fn nothing_but_reading_the_rows_is_allowed() {
        for statement in [
            "ATTACH '/tmp/x.db' AS x",
            "CREATE TABLE t (a)",
            "DELETE FROM result",
            "UPDATE result SET id = 1",
            "INSERT INTO result (id) VALUES (1)",
            "DROP TABLE result",
            "PRAGMA database_list",
            "VACUUM INTO '/tmp/x.db'",
            "SELECT load_extension('x')",
            "SELECT zeroblob(1000000)",
            "SELECT * FROM sqlite_master",
            "SELECT * FROM pragma_database_list",
            "BEGIN",
            "WITH d AS (SELECT 1) DELETE FROM result",
            "SELECT 1; SELECT 2",
            "",
        ] {
            let refused = run_text(ISSUES, statement);
            assert!(refused.is_err(), "{statement}: {refused:?}");
        }
    }

    #[test]
    fn an_error_names_the_columns() {
        let error = run_text(ISSUES, "SELECT titel FROM result").unwrap_err();
        assert_eq!(
            error,
            "SQLite says: no such column: titel. The table is `result`, its columns: id, title, open, \
             labels, score"
        );
        for unsuitable in [r#"{"a":1}"#, "plain text", "", "{\"a\":1}\n{\"a\":"] {
            let error = run_text(unsuitable, "SELECT 1").unwrap_err();
            assert!(error.starts_with("`sql` reads a list of JSON objects"), "{error}");
        }
    }

    #[test]
    fn long_texts_are_cut_and_that_is_said() {
        let long = format!(r#"[{{"a":"{}"}}]"#, "x".repeat(MAX_TEXT + 10));
        let outcome = run(&long, "SELECT length(a) FROM result").unwrap();
        assert_eq!(outcome.text, format!(r#"{{"columns":["length(a)"],"rows":[[{MAX_TEXT}]]}}"#));
        assert_eq!(outcome.note, " 1 texts are cut at 65536 bytes here; `path` reads them whole.");
    }
}
