//! A serde `Deserializer` over a value of a document.
//!
//! Serde stops at the first error, but a person wants to see all faults at once. So each error is
//! noted with its place, the key or item that caused it is left out, and the whole value is read
//! again. Every round leaves out one more, and [`FAULT_LIMIT`] bounds the rounds.

mod access;
mod error;

use std::cell::{Cell, RefCell};

use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer as _, Visitor};

use super::super::FAULT_LIMIT;
use super::{Field, LIST_HINT};
use crate::names::{self, ITEM_LIMIT};
use access::{Entries, Items};
use error::ReadError;
use gatefold_located::{Entry, Node, Value};

/// Reads a whole value. Keys that `T` does not have are noted as faults.
pub(crate) fn read<T: DeserializeOwned>(field: &Field<'_>) -> Option<T> {
    rounds(field, &ReadAttempt::default())
}

/// Reads the keys of a table that `T` has, and reports in `keys` which these are.
pub(crate) fn read_part<T: DeserializeOwned>(
    field: &Field<'_>,
    keys: &mut Vec<&'static str>,
) -> Option<T> {
    let attempt = ReadAttempt { is_part: Cell::new(true), ..ReadAttempt::default() };
    let read = rounds(field, &attempt);
    keys.extend(attempt.keys.get());
    read
}

fn rounds<T: DeserializeOwned>(field: &Field<'_>, attempt: &ReadAttempt) -> Option<T> {
    for _ in 0..FAULT_LIMIT {
        let is_part = attempt.is_part.get();
        let error = match T::deserialize(ValueReader { field: field.clone(), attempt }) {
            Ok(value) => return Some(value),
            Err(error) => error.at(field),
        };
        attempt.is_part.set(is_part);
        let cause = error.note(field.document());
        if cause == Some(NodeId::of(field.node())) {
            return None;
        }
        attempt.left_out.borrow_mut().push(cause?);
    }
    None
}

/// Identifies a value by its address. The tree does not move while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NodeId(usize);

impl NodeId {
    fn of(node: &Node) -> Self {
        Self(std::ptr::from_ref(node).addr())
    }
}

/// State that the rounds over one value share.
#[derive(Default)]
struct ReadAttempt {
    /// Values that caused faults in earlier rounds, at most [`FAULT_LIMIT`].
    left_out: RefCell<Vec<NodeId>>,
    /// Whether the outermost table may have keys that `T` does not have.
    is_part: Cell<bool>,
    /// The keys of `T`'s outermost table.
    keys: Cell<&'static [&'static str]>,
}

impl ReadAttempt {
    fn is_left_out(&self, node: &Node) -> bool {
        self.left_out.borrow().contains(&NodeId::of(node))
    }
}

/// Reads one value.
struct ValueReader<'r, 'a> {
    field: Field<'a>,
    attempt: &'r ReadAttempt,
}

impl<'a> ValueReader<'_, 'a> {
    /// A string with its references replaced.
    fn text(&self) -> Result<String, ReadError> {
        let Value::Text(text) = self.field.value() else {
            return Err(ReadError::wrong_kind(&"a string"));
        };
        let expanded = self.field.document().expanded(text).map_err(ReadError::unresolved)?;
        Ok(expanded.text)
    }

    fn visit_number<'de, V: Visitor<'de>>(number: &str, visitor: V) -> Result<V::Value, ReadError> {
        if let Ok(count) = number.parse() {
            return visitor.visit_u64(count);
        }
        if let Ok(count) = number.parse() {
            return visitor.visit_i64(count);
        }
        if number.bytes().all(|b| b.is_ascii_digit()) {
            let message = format!("is too large: {number}");
            return Err(ReadError::of(message, "write a smaller number"));
        }
        visitor.visit_f64(number.parse().unwrap_or(f64::NAN))
    }

    fn entries(&self) -> Result<&'a [Entry], ReadError> {
        let Value::Table(entries) = self.field.value() else {
            let (expected, hint) = self.field.table_words();
            return Err(ReadError::of(self.field.wrong_kind(expected), hint));
        };
        Ok(entries)
    }

    /// Visits the entries whose keys are in `keys`, the last of each, in the order of the file.
    fn visit_keys<'de, V: Visitor<'de>>(
        self,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let entries = self.entries()?;
        if self.attempt.is_part.take() {
            self.attempt.keys.set(keys);
        } else {
            self.field.note_unknown_keys(entries, keys);
        }
        let last = |key: &&str| entries.iter().rfind(|entry| entry.key == *key);
        let mut read: Vec<_> = keys.iter().filter_map(last).collect();
        read.sort_by_key(|entry| entry.key_span.start);
        let is_left_out = |key: &str| {
            entries.iter().any(|one| one.key == key && self.attempt.is_left_out(&one.node))
        };
        let read = visitor.visit_map(Entries::new(&self.field, read, self.attempt));
        read.map_err(|error| error.unless_left_out(is_left_out))
    }

    /// A path, relative to the directory of the file that names it.
    fn visit_path<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, ReadError> {
        let text = self.text()?;
        if text.trim().is_empty() {
            return Err(ReadError::empty());
        }
        if !self.field.is_put_in(&text) {
            return visitor.visit_string(text);
        }
        let path = self.field.path_of(&text);
        visitor.visit_byte_buf(std::os::unix::ffi::OsStringExt::into_vec(path.into_os_string()))
    }

    /// Notes a list or a table that is too long. It is read anyway: the fault is enough.
    fn limit_length(&self) {
        let length = match self.field.value() {
            Value::List(items) => items.len(),
            Value::Table(entries) => entries.len(),
            _ => 0,
        };
        if length > ITEM_LIMIT {
            let message = format!("has more than {ITEM_LIMIT} entries");
            self.field.key_fault(message, "remove some");
        }
    }
}

/// Numbers of every width are read alike: the visitor decides what it accepts.
macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match self.field.value() {
                Value::Number(number) => Self::visit_number(number, visitor),
                _ => Err(ReadError::wrong_kind(&visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for ValueReader<'_, '_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.field.value() {
            Value::Text(_) => visitor.visit_string(self.text()?),
            Value::Number(number) => Self::visit_number(number, visitor),
            Value::Flag(flag) => visitor.visit_bool(*flag),
            Value::List(_) => self.deserialize_seq(visitor),
            Value::Table(_) => self.deserialize_map(visitor),
            Value::Null => visitor.visit_unit(),
            Value::Date => Err(ReadError::wrong_kind(&visitor)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let Value::Flag(flag) = self.field.value() else {
            let message = self.field.wrong_kind("a boolean");
            return Err(ReadError::of(message, "write `true` or `false`, without quotes"));
        };
        visitor.visit_bool(*flag)
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.field.node().is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match (name, self.field.value()) {
            (names::LOOSE_TEXT, Value::Number(number)) => visitor.visit_str(number),
            (names::LOOSE_TEXT, Value::Flag(flag)) => visitor.visit_string(flag.to_string()),
            (names::LOOSE_TEXT, _) => self.deserialize_str(visitor),
            (names::FILE_PATH, _) => self.visit_path(visitor),
            (names::LIMITED, _) => {
                self.limit_length();
                visitor.visit_newtype_struct(self)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.field.value() {
            Value::List(items) => visitor.visit_seq(Items::new(&self.field, items, self.attempt)),
            _ => Err(ReadError::of(self.field.wrong_kind("a list"), LIST_HINT)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let entries = self.entries()?.iter().collect();
        visitor.visit_map(Entries::new(&self.field, entries, self.attempt))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.visit_keys(fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }
}

#[cfg(test)]
mod tests;
