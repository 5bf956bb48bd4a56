//! Patterns that name tables and columns: `public.*`, `employees.salary`, `*.email`.

use std::fmt;

use crate::TableName;

/// The longest pattern.
const MAX_LENGTH: usize = 300;

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("`{0}` is no table: write it as `table` or `schema.table`; `*` stands for any text")]
    Table(String),
    #[error(
        "`{0}` is no column: write it as `table.column` or `schema.table.column`; `*` stands for any \
         text"
    )]
    Column(String),
}

/// Names tables. Without a schema it names them in every schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePattern {
    schema: Option<String>,
    table: String,
}

/// Names columns of tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnPattern {
    table: TablePattern,
    column: String,
}

impl TablePattern {
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let parts = parts(text).ok_or_else(|| PatternError::Table(text.to_owned()))?;
        match &*parts {
            [table] => Ok(Self { schema: None, table: table.clone() }),
            [schema, table] => Ok(Self { schema: Some(schema.clone()), table: table.clone() }),
            _ => Err(PatternError::Table(text.to_owned())),
        }
    }

    /// Case does not matter: a rule that misses a table for its case would show what it should hide.
    pub fn matches(&self, name: &TableName) -> bool {
        matches(&self.table, &name.name)
            && self.schema.as_ref().is_none_or(|schema| matches(schema, &name.schema))
    }

    /// Whether it names one table, without a wildcard.
    pub fn is_exact(&self) -> bool {
        !self.table.contains('*') && self.schema.as_ref().is_none_or(|schema| !schema.contains('*'))
    }
}

impl ColumnPattern {
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let fault = || PatternError::Column(text.to_owned());
        let mut parts = parts(text).ok_or_else(fault)?;
        let column = parts.pop().ok_or_else(fault)?;
        let table = match (parts.pop(), parts.pop(), parts.is_empty()) {
            (Some(table), schema, true) => TablePattern { schema, table },
            _ => return Err(fault()),
        };
        Ok(Self { table, column })
    }

    /// Whether it matches columns of this name, in whichever table.
    pub(crate) fn names(&self, column: &str) -> bool {
        matches(&self.column, column)
    }

    pub fn matches(&self, table: &TableName, column: &str) -> bool {
        matches(&self.column, column) && self.table.matches(table)
    }
}

impl fmt::Display for TablePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(&self.table)
    }
}

impl fmt::Display for ColumnPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.column)
    }
}

/// At most three parts between dots. A part in double quotes may contain dots.
fn parts(text: &str) -> Option<Vec<String>> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let (mut parts, mut part, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    let is_fine = !quoted && parts.len() <= 3 && parts.iter().all(|part| !part.is_empty());
    is_fine.then_some(parts)
}

/// Whether a pattern with `*` matches a whole name, whatever the case.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = pattern.contains('*').then(|| pieces.next_back()).flatten() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_names() {
        let check = |pattern: &str, name: (&str, &str), expected: bool| {
            let pattern = TablePattern::new(pattern).expect("it can be read");
            let name = TableName::new(name.0, name.1);
            assert_eq!(pattern.matches(&name), expected, "{pattern} {name}");
        };
        check("public.*", ("public", "employees"), true);
        check("public.*", ("private", "employees"), false);
        check("employees", ("any", "Employees"), true);
        check("employees", ("any", "employees_old"), false);
        check("*.emp*s", ("any", "employees"), true);
        check("*.emp*s", ("any", "emps"), true);
        check("*.emps*s", ("any", "emps"), false);
        check("\"a.b\".c", ("a.b", "c"), true);
    }

    #[test]
    fn a_column_has_a_table_and_maybe_a_schema() {
        let check = |pattern: &str, column: &str, expected: bool| {
            let pattern = ColumnPattern::new(pattern).expect("it can be read");
            let table = TableName::new("hr", "employees");
            assert_eq!(pattern.matches(&table, column), expected, "{pattern} {column}");
        };
        check("employees.salary", "salary", true);
        check("hr.employees.SALARY", "salary", true);
        check("*.email", "email", true);
        check("pay.employees.salary", "salary", false);
        check("employees.*", "anything", true);
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for text in ["", ".", "a.b.c", "a..b", "\"a"] {
            assert!(TablePattern::new(text).is_err(), "{text}");
        }
        for text in ["", "salary", "a.b.c.d", "a.", ".a"] {
            assert!(ColumnPattern::new(text).is_err(), "{text}");
        }
    }
}
