//! What to tell the caller of a statement, beside what the database says.

use std::fmt::Write as _;
use std::time::Duration;

use gatefold_catalog::one_line;

use crate::{CheckedStatement, Database, DatabaseError, Stop};

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

/// How to read on after a result that was cut.
pub(super) fn next_page(stopped: Stop, rows: usize, checked: &CheckedStatement) -> String {
    let (reached, limit) = (stopped.as_str(), "add LIMIT and OFFSET");
    let way = match (checked.has_order, checked.has_limit) {
        (true, false) => format!("add OFFSET {rows}"),
        (true, true) => format!("raise OFFSET by {rows}"),
        (false, _) => format!("order by a unique column and {limit}, from OFFSET {rows} on"),
    };
    format!(
        "{reached} was reached and there are more; to read on, {way}, or count or filter instead"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
