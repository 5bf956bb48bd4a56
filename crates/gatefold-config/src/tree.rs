//! The content of a configuration file in any format, with the place of everything.

use std::ops::Range;

use crate::Dialect;

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

impl Value {
    /// The kind of value, with its article, in the words of the file's format.
    pub fn kind(&self, dialect: Dialect) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Number(_) => "a number",
            Self::Flag(_) => "a boolean",
            Self::List(_) => "a list",
            Self::Table(_) if dialect == Dialect::Client => "an object",
            Self::Table(_) => "a table",
            Self::Date => "a date",
            Self::Null => "null",
        }
    }
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
