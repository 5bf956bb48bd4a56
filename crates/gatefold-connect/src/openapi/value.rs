//! The values of a document, in little memory: a description of some megabytes is mostly objects of two members, whose
//! keys and texts are the same few. Whole descriptions repeat too.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Number, Value};

/// How many members are looked through one by one. More have an index.
const FEW_MEMBERS: usize = 16;

#[derive(Debug, Clone)]
pub(super) enum DocumentValue {
    Null,
    Bool(bool),
    Number(Box<Number>),
    String(Arc<str>),
    Array(Box<[DocumentValue]>),
    Object(Members),
}

/// The members of an object, in their order.
#[derive(Debug, Clone)]
pub(super) enum Members {
    Few(Box<[NamedValue]>),
    Many(Box<IndexedMembers>),
}

type NamedValue = (Arc<str>, DocumentValue);

#[derive(Debug, Clone)]
pub(super) struct IndexedMembers {
    list: Box<[NamedValue]>,
    /// Their places, by the order of their keys.
    sorted: Box<[u32]>,
}

/// The texts of one document, each kept once for all its places.
#[derive(Debug, Default)]
pub(super) struct SharedTexts(HashSet<Arc<str>>);

impl SharedTexts {
    pub(super) fn take(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new = Arc::<str>::from(text);
        self.0.insert(new.clone());
        new
    }
}

impl Members {
    /// Of two equal keys the last value counts, in the place of the first.
    pub(super) fn of(mut list: Vec<NamedValue>) -> Self {
        if list.len() <= FEW_MEMBERS {
            let mut at = 1;
            while at < list.len() {
                match list[..at].iter().position(|(key, _)| *key == list[at].0) {
                    Some(first) => list[first].1 = list.remove(at).1,
                    None => at += 1,
                }
            }
            return Self::Few(list.into_boxed_slice());
        }
        let mut places: HashMap<Arc<str>, usize> = HashMap::with_capacity(list.len());
        let mut distinct: Vec<NamedValue> = Vec::with_capacity(list.len());
        for (key, value) in list {
            if let Some(first) = places.get(&key) {
                distinct[*first].1 = value;
            } else {
                places.insert(key.clone(), distinct.len());
                distinct.push((key, value));
            }
        }
        let count = u32::try_from(distinct.len()).expect("a document has fewer bytes");
        let mut sorted: Box<[u32]> = (0..count).collect();
        sorted.sort_unstable_by_key(|at| &*distinct[*at as usize].0);
        Self::Many(Box::new(IndexedMembers { list: distinct.into_boxed_slice(), sorted }))
    }

    pub(super) fn as_slice(&self) -> &[NamedValue] {
        match self {
            Self::Few(list) => list,
            Self::Many(indexed) => &indexed.list,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &DocumentValue)> {
        self.as_slice().iter().map(|(key, value)| (&**key, value))
    }

    pub(super) fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub(super) fn get(&self, key: &str) -> Option<&DocumentValue> {
        match self {
            Self::Few(list) => list.iter().find(|(own, _)| **own == *key).map(|(_, value)| value),
            Self::Many(indexed) => {
                let IndexedMembers { list, sorted } = &**indexed;
                let at = sorted.binary_search_by(|at| (*list[*at as usize].0).cmp(key)).ok()?;
                Some(&list[sorted[at] as usize].1)
            }
        }
    }

    pub(super) fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn into_list(self) -> Vec<NamedValue> {
        match self {
            Self::Few(list) => list.into_vec(),
            Self::Many(indexed) => indexed.list.into_vec(),
        }
    }
}

impl DocumentValue {
    /// A member of an object.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    pub(super) fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(super) fn as_object(&self) -> Option<&Members> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(super) fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::Number((**number).clone()),
            Self::String(text) => Value::String((**text).to_owned()),
            Self::Array(items) => items.iter().map(Self::to_json).collect(),
            Self::Object(members) => {
                let members = members.iter();
                Value::Object(
                    members.map(|(key, value)| (key.to_owned(), value.to_json())).collect(),
                )
            }
        }
    }

    #[cfg(test)]
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(Box::new(number.clone())),
            Value::String(text) => Self::String(text.as_str().into()),
            Value::Array(items) => Self::Array(items.iter().map(Self::of).collect()),
            Value::Object(members) => {
                let members = members.iter();
                let list = members.map(|(key, value)| (key.as_str().into(), Self::of(value)));
                Self::Object(Members::of(list.collect()))
            }
        }
    }
}

/// The order of members says nothing.
impl PartialEq for DocumentValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Number(one), Self::Number(two)) => one == two,
            (Self::String(one), Self::String(two)) => one == two,
            (Self::Array(one), Self::Array(two)) => one == two,
            (Self::Object(one), Self::Object(two)) => {
                let mut members = one.iter();
                one.len() == two.len() && members.all(|(key, value)| two.get(key) == Some(value))
            }
            _ => false,
        }
    }
}

impl Serialize for DocumentValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// JSON.
impl fmt::Display for DocumentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn few_members_and_many_are_found_and_the_last_of_two_counts() {
        for count in [1, FEW_MEMBERS, FEW_MEMBERS + 1, 300] {
            let member = |at: usize, value: usize| {
                (format!("key{at}").into(), DocumentValue::of(&json!(value)))
            };
            let mut list: Vec<NamedValue> = (0..count).map(|at| member(at, at)).collect();
            list.push(member(0, 1000));
            let members = Members::of(list);
            assert_eq!(members.len(), count);
            assert!(!members.contains_key("key"));
            for at in 0..count {
                let expected = if at == 0 { 1000 } else { at };
                let found = members.get(&format!("key{at}")).unwrap();
                assert_eq!(found.to_json(), json!(expected), "{count}");
            }
            assert_eq!(members.iter().next().unwrap().0, "key0");
        }
    }

    #[test]
    fn a_value_is_small() {
        assert_eq!(std::mem::size_of::<DocumentValue>(), 24);
    }
}
