//! What to tell the caller of a statement, beside what the database says.

use std::fmt::Write as _;
use std::time::Duration;

use gatefold_catalog::one_line;
use gatefold_core::SuggestedCall;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ToolError;
use super::known::KnownSchema;
use super::tools::{DESCRIBE_TABLE, LIST_TABLES};
use crate::{CheckedStatement, Database, DatabaseError, Dialect, GuardError, LimitForm, Stop};

/// How much of a statement is shown around a fault, in characters to each side.
const AROUND: usize = 30;

/// How long the plan of a slow statement may take to find out, and how much of it is told.
const PLAN_TIMEOUT: Duration = Duration::from_secs(2);
const PLAN_LENGTH: usize = 300;

/// The longest message of a database that is passed on, in characters.
const MESSAGE: usize = 1000;

/// A database's own message with the place and its advice.
pub(super) fn of_statement(error: &DatabaseError, sql: &str) -> String {
    let DatabaseError::Statement { message, position, hint, .. } = error else {
        return error.to_string();
    };
    let mut text = one_line(message, MESSAGE);
    if let Some(position) = position {
        let _ = write!(text, ", at `{}`", around(sql, *position));
    }
    if let Some(hint) = hint {
        let _ = write!(text, " ({})", one_line(hint, MESSAGE));
    }
    text
}

/// What stands around a place, on one line.
fn around(sql: &str, position: usize) -> String {
    let part: String = sql.chars().skip(position.saturating_sub(AROUND)).take(2 * AROUND).collect();
    let has_before = position > AROUND;
    let line = one_line(&part, 2 * AROUND);
    if has_before { format!("...{line}") } else { line }
}

pub(super) async fn estimated_plan(database: &dyn Database, sql: &str) -> Option<String> {
    database.explain(sql.to_owned(), PLAN_TIMEOUT).await.ok()
}

pub(super) fn too_slow(timeout: Duration, plan: Option<String>) -> String {
    let mut text =
        format!("the statement took longer than {} s and was stopped", timeout.as_secs());
    if let Some(plan) = plan {
        let _ = write!(text, "; its plan: {}", one_line(&plan, PLAN_LENGTH));
    }
    text.push_str("; narrow it with WHERE over an indexed column, or read fewer rows");
    text
}

/// How to read on after a result that was cut, in words that the dialect takes.
pub(super) fn next_page(
    stopped: Stop,
    rows: usize,
    checked: &CheckedStatement,
    dialect: Dialect,
) -> String {
    let reached = stopped.as_str();
    let way = match checked.limit {
        _ if !checked.has_order => {
            format!("order by a unique column and add LIMIT {rows} OFFSET {rows}")
        }
        // Only PostgreSQL takes an offset without a count.
        LimitForm::None if dialect == Dialect::Postgres => format!("add OFFSET {rows}"),
        LimitForm::None => format!("add LIMIT {rows} OFFSET {rows}"),
        LimitForm::Limit => format!("add OFFSET {rows} behind LIMIT"),
        LimitForm::Fetch => format!("add OFFSET {rows} ROWS before FETCH"),
        LimitForm::Comma => format!("raise the first number behind LIMIT by {rows}"),
        LimitForm::Offset | LimitForm::LimitOffset | LimitForm::OffsetFetch => {
            format!("raise OFFSET by {rows}")
        }
    };
    format!(
        "{reached} was reached and there are more; to read on, {way}, or count or filter instead"
    )
}

/// Quotes that texts are typeset with, and that no database takes for its own.
const TYPOGRAPHIC_QUOTES: [char; 8] = ['“', '”', '„', '‘', '’', '‚', '«', '»'];

/// What the guard says of a statement, with a hint where it is written for another place.
pub(super) fn of_guard(error: &GuardError, sql: &str, known: &KnownSchema) -> ToolError {
    match error {
        GuardError::LongCatalogue => ToolError::Elsewhere(error.to_string(), structure_calls()),
        GuardError::UnknownTable { name, .. } if is_of_catalogue(name) => {
            let message = format!(
                "{error}; of the server's own tables only those that tell of tables and columns \
                 can be read"
            );
            ToolError::Elsewhere(message, structure_calls())
        }
        _ => ToolError::Arguments(match hint(error, sql, known) {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        }),
    }
}

/// Calls that tell of all tables, and of the columns of all.
pub(super) fn structure_calls() -> Vec<SuggestedCall> {
    [LIST_TABLES, DESCRIBE_TABLE].map(|tool| suggested(tool, &json!({}))).to_vec()
}

pub(super) fn suggested(tool: &str, arguments: &Value) -> SuggestedCall {
    let arguments = RawValue::from_string(arguments.to_string()).expect("a value is JSON");
    SuggestedCall { tool: tool.to_owned(), arguments }
}

fn hint(error: &GuardError, sql: &str, known: &KnownSchema) -> Option<String> {
    let has_typographic = |text: &str| text.contains(TYPOGRAPHIC_QUOTES);
    let dialect = known.visible.dialect();
    if has_top(sql) {
        return Some("write `LIMIT count` at the end instead of `TOP`".to_owned());
    }
    match error {
        GuardError::UnknownColumn { name, .. } if has_typographic(name) => {
            Some("write texts between straight quotes: 'text'".to_owned())
        }
        GuardError::Syntax { position, .. } => {
            if let Some(name) = position.and_then(|place| known.named(word_at(sql, place)?)) {
                let quoted = dialect.quoted(name);
                return Some(format!("`{name}` is a word of SQL too: write the name as {quoted}"));
            }
            if has_typographic(sql) {
                return Some("write texts between straight quotes: 'text'".to_owned());
            }
            let is_foreign = match dialect {
                Dialect::Sqlite => false,
                Dialect::Postgres => sql.contains(['`', '[']),
                Dialect::MySql | Dialect::MariaDb => sql.contains('['),
            };
            let quoted = dialect.quoted("name");
            is_foreign.then(|| format!("a name in quotes is written as {quoted} in {dialect}"))
        }
        _ => None,
    }
}

/// Whether a statement begins as SQL Server has it: `SELECT TOP 10`.
fn has_top(sql: &str) -> bool {
    let words: Vec<&str> = sql.split_whitespace().take(3).collect();
    let [select, top, count] = &*words else { return false };
    select.eq_ignore_ascii_case("SELECT")
        && top.eq_ignore_ascii_case("TOP")
        && count.starts_with(|c: char| c.is_ascii_digit() || c == '(')
}

/// Whether a table would be one of a server's own.
fn is_of_catalogue(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let own =
        ["information_schema.", "pg_", "sqlite_", "main.sqlite_", "pragma_", "mysql.", "sys."];
    own.iter().any(|own| name.starts_with(own))
}

/// The word at a line and a column, both counted from one.
fn word_at(sql: &str, (line, column): (u64, u64)) -> Option<&str> {
    let line = sql.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let start = usize::try_from(column).ok()?.checked_sub(1)?;
    let (start, _) = line.char_indices().nth(start)?;
    let rest = line.get(start..)?.trim_start_matches(['"', '`', '[']);
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StatementKind;

    #[test]
    fn each_dialect_is_told_how_it_reads_on() {
        let check = |dialect, has_order, limit, expected: &str| {
            let checked = CheckedStatement {
                sql: String::new(),
                kind: StatementKind::Read,
                tables: Vec::new(),
                columns: Vec::new(),
                masked: Vec::new(),
                has_order,
                limit,
                calls_own: false,
            };
            let text = next_page(Stop::Rows, 10, &checked, dialect);
            assert!(text.contains(&format!("to read on, {expected}, or")), "{text}");
        };
        check(Dialect::Postgres, true, LimitForm::None, "add OFFSET 10");
        for dialect in [Dialect::Sqlite, Dialect::MySql, Dialect::MariaDb] {
            check(dialect, true, LimitForm::None, "add LIMIT 10 OFFSET 10");
            check(dialect, true, LimitForm::Comma, "raise the first number behind LIMIT by 10");
        }
        check(Dialect::Sqlite, true, LimitForm::Limit, "add OFFSET 10 behind LIMIT");
        check(Dialect::Sqlite, true, LimitForm::LimitOffset, "raise OFFSET by 10");
        check(Dialect::MariaDb, true, LimitForm::Fetch, "add OFFSET 10 ROWS before FETCH");
        let unordered = "order by a unique column and add LIMIT 10 OFFSET 10";
        check(Dialect::Postgres, false, LimitForm::None, unordered);
    }

    #[test]
    fn a_word_is_found_by_its_place() {
        assert_eq!(word_at("SELECT *\nFROM Order o", (2, 6)), Some("Order"));
        assert_eq!(word_at("SELECT é, b", (1, 11)), Some("b"));
        assert_eq!(word_at("SELECT *", (1, 8)), None);
        assert_eq!(word_at("SELECT *", (4, 1)), None);
        assert_eq!(word_at("SELECT *", (0, 0)), None);
    }

    #[test]
    fn what_another_server_has_is_told_from_a_column() {
        assert!(has_top("select top 10 name from t") && has_top("SELECT TOP (1) a FROM t"));
        assert!(!has_top("SELECT top FROM t") && !has_top("SELECT top, 1 FROM t"));
    }

    #[test]
    fn a_fault_is_shown_with_what_stands_around_it() {
        let error = |position| DatabaseError::Statement {
            message: "syntax error".to_owned(),
            code: None,
            position,
            hint: Some("look again".to_owned()),
            missing: None,
        };
        let sql = "SELECT a, b, c\nFROM somewhere WHERE this AND thta";
        insta::assert_snapshot!(of_statement(&error(None), sql), @"syntax error (look again)");
        insta::assert_snapshot!(
            of_statement(&error(Some(45)), sql),
            @"syntax error, at `...FROM somewhere WHERE this AND thta` (look again)"
        );
    }
}
