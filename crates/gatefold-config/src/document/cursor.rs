//! Keys and values of a document, for code that reads it by hand or partly through serde.

mod de;

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use serde::de::DeserializeOwned;

use super::{Document, References};
use crate::key_paths::{joined, unknown_key_hint};
use crate::notation::{Part, SECRET, parts};
use crate::{Dialect, ExpandedText};
use gatefold_located::{Entry, Node, Value};

/// A table whose keys are checked. A key that nobody read is unknown.
pub struct Table<'a> {
    field: Field<'a>,
    entries: &'a [Entry],
    known: Vec<Cow<'static, str>>,
}

impl<'a> Table<'a> {
    /// The value under a key, which is known from now on.
    pub fn field(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.know(key);
        self.peek(key)
    }

    /// The first of several names for the same setting that is present.
    pub fn field_of_any(&mut self, keys: &[&'static str]) -> Option<Field<'a>> {
        keys.iter().find_map(|&key| self.field(key))
    }

    /// The value under a key, without making the key known.
    pub fn peek(&self, key: &str) -> Option<Field<'a>> {
        let entry = self.entries.iter().rfind(|entry| entry.key == key)?;
        Some(self.field.child(entry))
    }

    /// Makes a key known. Hints list them in the order in which they became known.
    pub fn know(&mut self, key: impl Into<Cow<'static, str>>) {
        let key = key.into();
        if !self.known.contains(&key) {
            self.known.push(key);
        }
    }

    /// The entries that nobody has read, where unknown keys are legal.
    pub fn unread(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> {
        self.fields().filter(|(key, _)| !self.known.iter().any(|known| known == key))
    }

    /// All entries, where any key is legal.
    pub fn fields(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> {
        self.entries.iter().map(|entry| (entry.key.as_str(), self.field.child(entry)))
    }

    /// Reads the keys of the table that `T` has and makes them known. Faults are noted and their
    /// values left out. `None` if what is left does not make a `T`.
    pub fn read<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut keys = Vec::new();
        let read = de::read_part(&self.field, &mut keys);
        for key in keys {
            self.know(key);
        }
        read
    }

    /// The secrets from the keyring to which anything in the table refers. One that is missing is left out;
    /// reading the value notes it.
    pub fn keyring_secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        if self.field.document.dialect() == Dialect::Gatefold && !self.field.is_as_written() {
            collect_secrets(self.field.node, self.field.document, &mut secrets);
        }
        secrets
    }

    /// Notes every key that is not known.
    pub fn finish(self) {
        let known: Vec<_> = self.known.iter().map(AsRef::as_ref).collect();
        self.field.note_unknown_keys(self.entries, &known);
    }
}

fn collect_secrets(node: &Node, document: &Document<'_>, secrets: &mut Vec<String>) {
    match &node.value {
        Value::Text(text) => {
            let names = parts(text).filter_map(|part| match part {
                Part::Reference(inner) => inner.strip_prefix(SECRET),
                Part::Plain(_) | Part::Unclosed(_) => None,
            });
            secrets.extend(names.filter_map(|name| document.surroundings().secret(name).ok()));
        }
        Value::List(items) => {
            for item in items {
                collect_secrets(item, document, secrets);
            }
        }
        Value::Table(entries) => {
            for entry in entries {
                collect_secrets(&entry.node, document, secrets);
            }
        }
        Value::Number(_) | Value::Flag(_) | Value::Date | Value::Null => {}
    }
}

/// One key and the value behind it.
#[derive(Clone)]
pub struct Field<'a> {
    document: &'a Document<'a>,
    key: String,
    key_span: Range<usize>,
    node: &'a Node,
}

impl<'a> Field<'a> {
    pub(crate) fn new(
        document: &'a Document<'a>,
        key: String,
        key_span: Range<usize>,
        node: &'a Node,
    ) -> Self {
        Self { document, key, key_span, node }
    }

    pub fn document(&self) -> &'a Document<'a> {
        self.document
    }

    /// The path of the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The line that the key stands in.
    pub fn line(&self) -> usize {
        self.document.line(self.key_span.start)
    }

    pub fn value(&self) -> &'a Value {
        &self.node.value
    }

    /// Reads the value. Faults are noted and left out. `None` if what is left does not make a `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        de::read(self)
    }

    /// Notes a fault of the value.
    pub fn fault(&self, message: impl Into<String>, hint: impl Into<String>) {
        self.document.fault(&self.node.span, &self.key, message, hint);
    }

    /// Notes that the key should not be there at all.
    pub fn key_fault(&self, message: impl Into<String>, hint: impl Into<String>) {
        self.document.fault(&self.key_span, &self.key, message, hint);
    }

    /// Whether references stay references.
    pub fn is_as_written(&self) -> bool {
        self.document.references() == References::AsWritten
    }

    /// Whether the value of a text that was read here is fully known, so that it can be checked.
    pub fn is_put_in(&self, text: &str) -> bool {
        !self.is_as_written() || !text.contains("${")
    }

    /// A replacement text for this field's value, with its references replaced.
    pub fn expanded(&self, text: &str) -> Option<ExpandedText> {
        let note = |why| self.document.unresolved(&self.node.span, &self.key, why);
        self.document.expanded(text).map_err(note).ok()
    }

    /// A path within this field's value: relative to the document's directory; `~/` is the home
    /// directory.
    pub fn path_of(&self, text: &str) -> PathBuf {
        let surroundings = self.document.surroundings();
        let rest = if text == "~" { Some("") } else { text.strip_prefix("~/") };
        let at_home = rest.and_then(|rest| Some(surroundings.home()?.join(rest)));
        let base = self.document.path().parent().unwrap_or(self.document.path());
        at_home.unwrap_or_else(|| surroundings.directory().join(base).join(text))
    }

    /// The items of a list, each with its index in the key: `allow[0]`.
    pub fn items(&self) -> Option<Vec<Field<'a>>> {
        let Value::List(items) = &self.node.value else {
            self.fault(self.wrong_kind("a list"), LIST_HINT);
            return None;
        };
        Some(items.iter().enumerate().map(|(index, node)| self.item(index, node)).collect())
    }

    pub fn is_empty_list(&self) -> bool {
        matches!(&self.node.value, Value::List(items) if items.is_empty())
    }

    /// The value as a table. Anything else is noted as a fault.
    pub fn table(&self) -> Option<Table<'a>> {
        let Value::Table(entries) = &self.node.value else {
            let (expected, hint) = self.table_words();
            self.fault(self.wrong_kind(expected), hint);
            return None;
        };
        Some(Table { field: self.clone(), entries, known: Vec::new() })
    }

    /// What this file format calls a table, and how to write one in it.
    pub(crate) fn table_words(&self) -> (&'static str, String) {
        match self.document.dialect() {
            Dialect::Gatefold => {
                ("a table", format!("write `[{}]` and its keys below it", self.key))
            }
            Dialect::Client => ("an object", "put its members in braces: {...}".to_owned()),
        }
    }

    pub(crate) fn wrong_kind(&self, expected: &str) -> String {
        format!("is {}, not {expected}", name_of(&self.node.value, self.document.dialect()))
    }

    pub(crate) fn note_unknown_keys(&self, entries: &[Entry], known: &[&str]) {
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let hint = unknown_key_hint(&entry.key, known, self.document.foreign_keys());
            self.child(entry).key_fault("is not a known key", hint);
        }
    }

    pub(crate) fn child<'n>(&self, entry: &'n Entry) -> Field<'n>
    where
        'a: 'n,
    {
        let key = joined(&self.key, &entry.key);
        Field::new(self.document, key, entry.key_span.clone(), &entry.node)
    }

    pub(crate) fn item(&self, index: usize, node: &'a Node) -> Self {
        let key = format!("{}[{index}]", self.key);
        Self::new(self.document, key, node.span.clone(), node)
    }

    pub(crate) fn key_span(&self) -> Range<usize> {
        self.key_span.clone()
    }

    pub(crate) fn node(&self) -> &'a Node {
        self.node
    }
}

pub(crate) const LIST_HINT: &str = "put it in brackets: [...]";

/// The kind of value, with its article, in the words of the file's format.
fn name_of(value: &Value, dialect: Dialect) -> &'static str {
    match value {
        Value::Text(_) => "a string",
        Value::Number(_) => "a number",
        Value::Flag(_) => "a boolean",
        Value::List(_) => "a list",
        Value::Table(_) if dialect == Dialect::Client => "an object",
        Value::Table(_) => "a table",
        Value::Date => "a date",
        Value::Null => "null",
    }
}
