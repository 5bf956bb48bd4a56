//! The content of a text in any format, with the place of everything.

use std::ops::Range;

/// One value and its bytes in the file.
#[derive(Debug)]
pub struct Node {
    pub span: Range<usize>,
    pub value: Value,
}

/// A value, with those that it contains.
#[derive(Debug)]
pub enum Value {
    Text(String),
    /// A number in decimal, as the file writes it.
    Number(String),
    Flag(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    Date,
    Null,
}

/// One key of a table and the value behind it.
#[derive(Debug)]
pub struct Entry {
    pub key: String,
    pub key_span: Range<usize>,
    pub node: Node,
}

impl Node {
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// The value under `key`, if this is a table. Of several, the last wins, as in JSON.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Value::Table(entries) = &self.value else {
            return None;
        };
        entries.iter().rfind(|entry| entry.key == key).map(|entry| &entry.node)
    }
}
