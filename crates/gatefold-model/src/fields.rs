//! JSON that keeps the text in which it arrived.

use std::fmt;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The most members of one object that is read member by member. Each is compared with the others.
const MEMBERS: usize = 1024;

/// One JSON value, in the text in which it was written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

/// A JSON object whose members keep their order and their text.
///
/// What is taken out of one leaves the members that nobody here knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields(Vec<(String, RawJson)>);

impl RawJson {
    pub fn of(value: &impl Serialize) -> Self {
        let text = serde_json::value::to_raw_value(value);
        Self(text.expect("the keys of what is encoded here are texts"))
    }

    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub fn text(&self) -> &str {
        self.0.get()
    }

    pub fn raw(&self) -> &RawValue {
        &self.0
    }

    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.text()).ok()
    }

    pub(crate) fn is_null(&self) -> bool {
        self.text() == "null"
    }

    pub(crate) fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Fields {
    /// The object that bytes are.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Sets a member in its place, or at the end.
    pub fn set(&mut self, name: &str, value: &impl Serialize) {
        self.set_raw(name, RawJson::of(value));
    }

    pub(crate) fn set_raw(&mut self, name: &str, value: RawJson) {
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Sets all members of another object here.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (name, value) in &other.0 {
            self.set_raw(name, value.clone());
        }
    }

    /// Takes a member out. One that is null counts as absent.
    pub(crate) fn take(&mut self, name: &str) -> Option<RawJson> {
        let at = self.0.iter().position(|(own, _)| own == name)?;
        let (_, value) = self.0.remove(at);
        (!value.is_null()).then_some(value)
    }

    /// Takes a member out and reads it. One of another type counts as absent.
    pub(crate) fn take_as<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        self.take(name)?.read()
    }

    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.get(name)?.read()
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&str, &RawJson) -> bool) {
        self.0.retain(|(name, value)| keep(name, value));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, RawJson)> for Fields {
    fn from_iter<I: IntoIterator<Item = (String, RawJson)>>(members: I) -> Self {
        let mut fields = Self::default();
        for (name, value) in members {
            fields.set_raw(&name, value);
        }
        fields
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some((name, value)) = members.next_entry::<String, RawJson>()? {
            if fields.0.len() == MEMBERS {
                return Err(serde::de::Error::custom("the object has too many members"));
            }
            // Of two members with one name, JSON's readers take the last.
            fields.set_raw(&name, value);
        }
        Ok(fields)
    }
}
