//! JSON to values that take no more memory than they need.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The key under which `serde_json` hands over a number as text.
const NUMBER: &str = "$serde_json::private::Number";

/// Reads one value. Lists and objects are made when all of their parts are there: a description of some
/// megabytes is mostly objects of two members, and growing each would reserve half as much again.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = FittedValue.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

struct FittedValue;

impl<'de> DeserializeSeed<'de> for FittedValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FittedValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        list.shrink_to_fit();
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut list: Vec<(String, Value)> = Vec::new();
        while let Some(key) = members.next_key::<String>()? {
            if key == NUMBER && list.is_empty() {
                let digits: String = members.next_value()?;
                let number: Number = serde_json::from_str(&digits).map_err(A::Error::custom)?;
                return Ok(Value::Number(number));
            }
            list.push((key, members.next_value_seed(Self)?));
        }
        let mut object = Map::with_capacity(list.len());
        object.extend(list);
        Ok(Value::Object(object))
    }
}
