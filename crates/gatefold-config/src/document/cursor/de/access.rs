//! The entries of a table and the items of a list, without those that earlier rounds left out.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer as _, MapAccess, SeqAccess};

use super::super::Field;
use super::error::ReadError;
use super::{ReadAttempt, ValueReader};
use gatefold_located::{Entry, Node};

pub(super) struct Entries<'r, 'a> {
    table: &'r Field<'a>,
    rest: std::vec::IntoIter<&'a Entry>,
    /// The entry whose key was read last.
    current: Option<&'a Entry>,
    attempt: &'r ReadAttempt,
}

impl<'r, 'a> Entries<'r, 'a> {
    pub(super) fn new(
        table: &'r Field<'a>,
        entries: Vec<&'a Entry>,
        attempt: &'r ReadAttempt,
    ) -> Self {
        Self { table, rest: entries.into_iter(), current: None, attempt }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        // Null in clients' JSON means that there is no value.
        let attempt = self.attempt;
        let is_read = |entry: &&Entry| !entry.node.is_null() && !attempt.is_left_out(&entry.node);
        self.current = self.rest.find(is_read);
        let Some(entry) = self.current else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, ReadError> = entry.key.as_str().into_deserializer();
        let key = seed.deserialize(key).map_err(|error| error.at_key(&self.table.child(entry)))?;
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let entry = self.current.expect("a value is asked for after its key");
        let field = self.table.child(entry);
        let reader = ValueReader { field: field.clone(), attempt: self.attempt };
        seed.deserialize(reader).map_err(|error| error.at(&field))
    }
}

pub(super) struct Items<'r, 'a> {
    list: &'r Field<'a>,
    rest: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
    attempt: &'r ReadAttempt,
}

impl<'r, 'a> Items<'r, 'a> {
    pub(super) fn new(list: &'r Field<'a>, items: &'a [Node], attempt: &'r ReadAttempt) -> Self {
        Self { list, rest: items.iter().enumerate(), attempt }
    }
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let attempt = self.attempt;
        let Some((index, node)) = self.rest.find(|(_, node)| !attempt.is_left_out(node)) else {
            return Ok(None);
        };
        let field = self.list.item(index, node);
        let reader = ValueReader { field: field.clone(), attempt };
        seed.deserialize(reader).map(Some).map_err(|error| error.at(&field))
    }
}
