//! JSON to values.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::super::value::{DocumentValue, Members, SharedTexts};

/// The key under which `serde_json` hands over a number as text.
const NUMBER: &str = "$serde_json::private::Number";

pub(super) fn parse(bytes: &[u8]) -> Result<DocumentValue, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = ValueReader(&mut SharedTexts::default()).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

struct KeyReader<'t>(&'t mut SharedTexts);

impl<'de> DeserializeSeed<'de> for KeyReader<'_> {
    type Value = Arc<str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Arc<str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyReader<'_> {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Arc<str>, E> {
        Ok(self.0.take(key))
    }
}

struct ValueReader<'t>(&'t mut SharedTexts);

impl<'de> DeserializeSeed<'de> for ValueReader<'_> {
    type Value = DocumentValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DocumentValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReader<'_> {
    type Value = DocumentValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<DocumentValue, E> {
        Ok(DocumentValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<DocumentValue, E> {
        Ok(DocumentValue::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<DocumentValue, E> {
        Ok(DocumentValue::Number(Box::new(value.into())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<DocumentValue, E> {
        Ok(DocumentValue::Number(Box::new(value.into())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<DocumentValue, E> {
        Ok(Number::from_f64(value)
            .map_or(DocumentValue::Null, |number| DocumentValue::Number(Box::new(number))))
    }

    fn visit_str<E>(self, value: &str) -> Result<DocumentValue, E> {
        Ok(DocumentValue::String(self.0.take(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<DocumentValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(ValueReader(&mut *self.0))? {
            list.push(item);
        }
        Ok(DocumentValue::Array(list.into_boxed_slice()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<DocumentValue, A::Error> {
        let mut list = Vec::new();
        while let Some(key) = members.next_key_seed(KeyReader(&mut *self.0))? {
            if *key == *NUMBER && list.is_empty() {
                let digits: String = members.next_value()?;
                let number: Number = serde_json::from_str(&digits).map_err(A::Error::custom)?;
                return Ok(DocumentValue::Number(Box::new(number)));
            }
            list.push((key, members.next_value_seed(ValueReader(&mut *self.0))?));
        }
        Ok(DocumentValue::Object(Members::of(list)))
    }
}
