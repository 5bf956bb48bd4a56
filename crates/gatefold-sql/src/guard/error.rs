//! Why the guard does not pass a statement.

/// Why a statement may not run. The message is for the model that wrote it, and says how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    #[error("the statement is empty; send one `SELECT`")]
    Empty,
    #[error("only one statement may be sent at a time; send them one after another")]
    Several,
    #[error("the statement is longer than {0} bytes, as it is or with its columns written out")]
    TooLarge(usize),
    #[error("the statement cannot be read: {message}{}", place(*.position))]
    Syntax {
        message: String,
        /// The line and the column in it, in characters, both from one.
        position: Option<(u64, u64)>,
    },
    /// What tells of tables and columns is too much for a statement.
    #[error("there are too many tables and columns to select them from the catalogue")]
    LongCatalogue,
    #[error("{what} is not allowed: {allowed}")]
    Refused { what: String, allowed: String },
    #[error(
        "the values of `{column}` are masked, so it may only be selected as itself, not used \
         {place}; leave it out there"
    )]
    Masked {
        column: String,
        /// Where it was used, to follow "used".
        place: String,
    },
    #[error("there is no table `{name}`{}", suggestion(.near))]
    UnknownTable { name: String, near: Vec<String> },
    #[error("there is no column `{name}` here{}{}", suggestion(.near), holders(.in_tables))]
    UnknownColumn {
        name: String,
        /// The nearest of the columns that could be named there.
        near: Vec<String>,
        /// Visible tables that have such a column.
        in_tables: Vec<String>,
    },
}

fn place(position: Option<(u64, u64)>) -> String {
    let text = |(line, column)| format!(" (line {line}, column {column})");
    position.map(text).unwrap_or_default()
}

fn suggestion(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", list(near, "or")) }
}

fn holders(tables: &[String]) -> String {
    match tables {
        [] => String::new(),
        [table] => format!("; the table `{table}` has one"),
        tables => format!("; the tables {} have one", list(tables, "and")),
    }
}

fn list(names: &[String], last: &str) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match &*quoted {
        [rest @ .., end] if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        quoted => quoted.concat(),
    }
}

pub(super) fn refused(what: impl Into<String>, allowed: impl Into<String>) -> GuardError {
    GuardError::Refused { what: what.into(), allowed: allowed.into() }
}

pub(super) fn too_deep() -> GuardError {
    refused(
        "a statement nested this deep",
        "write it with fewer parentheses and operators in a row",
    )
}

/// The parser's own words, whose place is taken out of the text.
pub(super) fn syntax_error(text: &str) -> GuardError {
    let text = text.strip_prefix("sql parser error: ").unwrap_or(text);
    let (message, position) = match text.rsplit_once(" at Line: ") {
        Some((message, place)) => (message, read_place(place)),
        None => (text, None),
    };
    let message = message.strip_prefix("Expected: ").map_or_else(
        || message.to_owned(),
        |rest| format!("expected {}", rest.replace(", found: ", ", found ")),
    );
    GuardError::Syntax { message, position }
}

fn read_place(place: &str) -> Option<(u64, u64)> {
    let (line, column) = place.split_once(", Column: ")?;
    Some((line.trim().parse().ok()?, column.trim().parse().ok()?))
}
