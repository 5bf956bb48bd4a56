use std::collections::BTreeMap;

use crate::{TableName, TablePattern};

/// What a person says about tables, by the names they wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableNotes(pub Vec<(TablePattern, TableNote)>);

/// What a person says about one table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableNote {
    /// What to call it in an answer, beside its name.
    pub title: Option<String>,
    /// Takes the place of the table's comment.
    pub description: Option<String>,
    /// By the columns' names; takes the place of their comments.
    pub columns: BTreeMap<String, String>,
    /// The columns with personal data.
    pub personal: Vec<String>,
}

impl TableNotes {
    /// The first note that names a table.
    pub(super) fn of(&self, table: &TableName) -> Option<&TableNote> {
        self.0.iter().find(|(pattern, _)| pattern.matches(table)).map(|(_, note)| note)
    }
}

impl TableNote {
    pub(super) fn column(&self, name: &str) -> Option<&str> {
        let mut notes = self.columns.iter();
        notes.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, note)| note.as_str())
    }

    pub(super) fn is_personal(&self, column: &str) -> bool {
        self.personal.iter().any(|own| own.eq_ignore_ascii_case(column))
    }
}
