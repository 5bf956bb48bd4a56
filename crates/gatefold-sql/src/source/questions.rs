//! What models send instead of a SELECT: statements in fences, and questions about the schema in the
//! words of some client.

use gatefold_core::SuggestedCall;
use serde_json::json;

use super::ToolError;
use super::advice::{structure_calls, suggested};
use super::tools::{EXPLAIN, LIST_TABLES};

/// A question about the schema.
#[derive(Debug)]
pub(super) enum SchemaQuestion {
    /// `SHOW TABLES`.
    Tables,
    /// `DESCRIBE customer`.
    Table(String),
    /// `EXPLAIN SELECT ...`, with the rest.
    Plan(String),
    /// What nothing here answers, and the calls to make instead.
    Elsewhere(String, Vec<SuggestedCall>),
}

/// Takes off what stands around a statement: the fence of a code block, a label, quotes around all of
/// it, and a client's own end.
pub(super) fn strip_wrapping(sql: &str) -> &str {
    let mut text = sql.trim();
    if let Some(inner) = text.strip_prefix("```") {
        let inner = inner.trim_end();
        let inner = inner.strip_suffix("```").unwrap_or(inner);
        // The language is on the line of the fence, or right behind it.
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
        let (language, behind) = inner.split_at(end);
        let is_language = behind.starts_with(['\n', '\r']) || language.eq_ignore_ascii_case("sql");
        text = if is_language { behind.trim() } else { inner.trim() };
    }
    if let Some((label, behind)) = text.split_once(':')
        && label.trim().eq_ignore_ascii_case("sql")
    {
        text = behind.trim();
    }
    for quote in ['"', '\'', '`'] {
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote) && is_statement(inner)) {
            text = inner.trim();
        }
    }
    text.strip_suffix("\\G").or_else(|| text.strip_suffix("\\g")).unwrap_or(text)
}

fn is_statement(text: &str) -> bool {
    matches!(&*first_word(text), "SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW" | "DESCRIBE")
}

/// The question that a text asks, if it is none that the guard reads. Where a second statement follows,
/// it is none either.
pub(super) fn question(sql: &str) -> Option<SchemaQuestion> {
    let text = sql.trim().trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    if text.contains(';') {
        return None;
    }
    if let Some(command) = text.strip_prefix(['\\', '.']) {
        return client_command(command);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
    let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
    let table = |at: usize| words.get(at).map(|name| SchemaQuestion::Table(bare_name(name)));
    match &*upper {
        ["SHOW", "TABLES", ..]
        | ["SHOW", "FULL", "TABLES", ..]
        | ["SHOW", "TABLE", "STATUS", ..] => Some(SchemaQuestion::Tables),
        ["SHOW", "FULL", "COLUMNS" | "FIELDS", "FROM" | "IN", _, ..] => table(4),
        [
            "SHOW",
            "COLUMNS" | "FIELDS" | "INDEX" | "INDEXES" | "KEYS" | "CREATE",
            "FROM" | "IN" | "TABLE" | "VIEW",
            _,
            ..,
        ] => table(3),
        ["SHOW", ..] => Some(elsewhere(
            "of what `SHOW` tells, only tables and columns can be asked for",
            structure_calls(),
        )),
        ["DESC" | "DESCRIBE", "TABLE", _] => table(2),
        ["EXPLAIN" | "DESC" | "DESCRIBE", ..] => {
            plan(text).or_else(|| table(1).filter(|_| upper.len() <= 3))
        }
        ["PRAGMA", ..] => pragma(text),
        ["USE", ..] => Some(elsewhere(
            "`USE` has no effect here: write a table of another schema as `schema.table`; to list \
             all by schema",
            vec![suggested(LIST_TABLES, &json!({}))],
        )),
        ["HELP" | "?"] => {
            Some(elsewhere("send one SELECT; for tables and columns", structure_calls()))
        }
        _ => None,
    }
}

/// The statement whose plan is asked for, without the word and its options.
fn plan(text: &str) -> Option<SchemaQuestion> {
    const STATEMENTS: [&str; 6] = ["SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE"];
    let upper = text.to_ascii_uppercase();
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    let begins = |word: &&str| {
        let mut places = upper.match_indices(*word).map(|(at, _)| at);
        places.find(|at| {
            let (before, behind) = (&upper[..*at], &upper[at + word.len()..]);
            is_edge(before.chars().next_back()) && is_edge(behind.chars().next())
        })
    };
    let at = STATEMENTS.iter().filter_map(begins).min()?;
    let options = upper[..at].trim_end();
    if options.contains("ANALYZE") {
        let statement = text.get(at..)?.trim();
        return Some(elsewhere(
            "`EXPLAIN ANALYZE` would run the statement; for its plan without that",
            vec![suggested(EXPLAIN, &json!({ "sql": statement }))],
        ));
    }
    // Parentheses round the first query are a part of it.
    let at = options.trim_end_matches(['(', ' ']).len();
    Some(SchemaQuestion::Plan(text.get(at..)?.trim().to_owned()))
}

/// A command of psql, or of SQLite's shell.
fn client_command(command: &str) -> Option<SchemaQuestion> {
    let mut words = command.split_whitespace();
    let name = words.next()?.trim_end_matches(['+', 'S']).to_ascii_lowercase();
    let argument = words.next().map(bare_name);
    Some(match (name.as_str(), argument) {
        ("d" | "dt" | "dv" | "dm" | "schema" | "fullschema", Some(table)) => {
            SchemaQuestion::Table(table)
        }
        ("d" | "dt" | "dv" | "dm" | "dn" | "l" | "tables" | "schema" | "fullschema", None)
        | ("tables", Some(_)) => SchemaQuestion::Tables,
        _ => elsewhere(
            "commands of a client are not known here: send one SELECT; for tables and columns",
            structure_calls(),
        ),
    })
}

/// `PRAGMA table_info(customer)` and its like. Others set or tell the state of the connection.
fn pragma(text: &str) -> Option<SchemaQuestion> {
    let rest = behind(text, 1);
    let rest = rest.strip_prefix("main.").unwrap_or(rest);
    let end = rest.find(['(', '=', ' ']).unwrap_or(rest.len());
    let (name, argument) = rest.split_at(end);
    let argument = argument.trim().trim_start_matches(['(', '=']).trim_end_matches(')').trim();
    match &*name.to_ascii_lowercase() {
        "table_info" | "table_xinfo" | "foreign_key_list" | "index_list"
            if !argument.is_empty() =>
        {
            Some(SchemaQuestion::Table(bare_name(argument)))
        }
        "table_list" => Some(SchemaQuestion::Tables),
        _ => None,
    }
}

/// What follows so many words of a text.
fn behind(text: &str, words: usize) -> &str {
    let mut rest = text.trim_start();
    for _ in 0..words {
        rest = rest.trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
    }
    rest
}

fn first_word(text: &str) -> String {
    text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_uppercase()
}

/// A name as it stands between quotes of any kind.
fn bare_name(written: &str) -> String {
    written.trim_matches(['"', '\'', '`', '[', ']', ';', '(', ')']).to_owned()
}

fn elsewhere(message: &str, calls: Vec<SuggestedCall>) -> SchemaQuestion {
    SchemaQuestion::Elsewhere(message.to_owned(), calls)
}

/// Where the plan of a statement is told that is asked for here.
pub(super) fn plan_elsewhere(sql: &str) -> ToolError {
    if matches!(&*first_word(sql), "INSERT" | "UPDATE" | "DELETE") {
        let message = "the plan of a statement that writes is not told, only that of a SELECT";
        return ToolError::Arguments(message.to_owned());
    }
    let call = suggested(EXPLAIN, &json!({ "sql": sql }));
    ToolError::Elsewhere("a plan is not told here".to_owned(), vec![call])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_statement_is_taken_off() {
        for (written, expected) in [
            ("```sql\nSELECT name FROM customer;\n```", "SELECT name FROM customer;"),
            ("```\nSELECT 1\n```", "SELECT 1"),
            ("```SQL SELECT 1```", "SELECT 1"),
            ("```SELECT 1```", "SELECT 1"),
            ("```sqlite\nSELECT 1", "SELECT 1"),
            ("sql: SELECT 1", "SELECT 1"),
            ("\"SELECT name FROM customer\"", "SELECT name FROM customer"),
            ("SELECT 1\\G", "SELECT 1"),
            ("SELECT '```', \"a\"", "SELECT '```', \"a\""),
            ("\"a\" UNION SELECT \"b\"", "\"a\" UNION SELECT \"b\""),
            ("SELECT 'sql: 1'", "SELECT 'sql: 1'"),
        ] {
            assert_eq!(strip_wrapping(written), expected, "{written}");
        }
    }

    #[test]
    fn questions_about_the_schema_are_understood() {
        let table = |name: &str| Some(SchemaQuestion::Table(name.to_owned()));
        let plan = |sql: &str| Some(SchemaQuestion::Plan(sql.to_owned()));
        for (written, expected) in [
            ("SHOW TABLES;", Some(SchemaQuestion::Tables)),
            ("show full tables from shop", Some(SchemaQuestion::Tables)),
            ("\\dt", Some(SchemaQuestion::Tables)),
            ("\\dt+", Some(SchemaQuestion::Tables)),
            (".tables", Some(SchemaQuestion::Tables)),
            ("PRAGMA table_list", Some(SchemaQuestion::Tables)),
            ("DESCRIBE customer", table("customer")),
            ("DESC `customer`;", table("customer")),
            ("EXPLAIN customer", table("customer")),
            ("\\d public.customer", table("public.customer")),
            (".schema customer", table("customer")),
            ("SHOW COLUMNS FROM customer", table("customer")),
            ("SHOW FULL COLUMNS IN customer", table("customer")),
            ("SHOW CREATE TABLE customer", table("customer")),
            ("PRAGMA table_info(customer)", table("customer")),
            ("pragma main.table_info('customer');", table("customer")),
            ("EXPLAIN SELECT * FROM customer", plan("SELECT * FROM customer")),
            ("EXPLAIN QUERY PLAN SELECT 1", plan("SELECT 1")),
            ("describe select 1", plan("select 1")),
            ("PRAGMA writable_schema = 1", None),
            ("SELECT 1", None),
            ("DELETE FROM customer", None),
            ("EXPLAIN (FORMAT JSON) SELECT 1", plan("SELECT 1")),
            ("EXPLAIN (SELECT 1) UNION SELECT 2", plan("(SELECT 1) UNION SELECT 2")),
            ("SHOW TABLES; DROP TABLE customer", None),
            ("DESCRIBE customer; DELETE FROM customer", None),
        ] {
            assert_eq!(format!("{:?}", question(written)), format!("{expected:?}"), "{written}");
        }
        for written in
            ["SHOW search_path", "USE shop", "help", "\\copy x", "EXPLAIN ANALYZE SELECT 1"]
        {
            let question = question(written);
            assert!(matches!(question, Some(SchemaQuestion::Elsewhere(..))), "{written}");
        }
    }
}
