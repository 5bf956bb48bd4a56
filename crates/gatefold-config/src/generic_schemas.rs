//! The JSON Schema of the values that hold others.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::names::ITEM_LIMIT;
use crate::values::{Count, HandRead, LimitedItems, Pairs};

/// They are written where they are used, so their names do not matter.
macro_rules! inline {
    ($name:literal) => {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            $name.into()
        }
    };
}

impl<T: TryFrom<u64>> JsonSchema for Count<T> {
    inline!("Count");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // TOML has no larger one than the last.
        let limits = [u8::MAX.into(), u16::MAX.into(), u32::MAX.into(), i64::MAX.unsigned_abs()];
        let limit = limits.into_iter().rfind(|limit| T::try_from(*limit).is_ok());
        json_schema!({
            "type": "integer",
            "minimum": 1,
            "maximum": limit.unwrap_or(1),
            "x-constraint": "above zero",
        })
    }
}

impl<K: JsonSchema, V: JsonSchema> JsonSchema for Pairs<K, V> {
    inline!("Pairs");

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (names, values) = (generator.subschema_for::<K>(), generator.subschema_for::<V>());
        let pattern = names.get("pattern").and_then(Value::as_str).unwrap_or(r"\S");
        let mut schema = json_schema!({
            "type": "object",
            "patternProperties": { pattern: values },
            "additionalProperties": false,
        });
        let constraint = names.get("x-constraint").or_else(|| values.get("x-constraint"));
        if let Some(constraint) = constraint {
            schema.insert("x-constraint".to_owned(), constraint.clone());
        }
        schema
    }
}

impl<T: JsonSchema> JsonSchema for LimitedItems<T> {
    inline!("LimitedItems");

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = generator.subschema_for::<T>();
        let is_list = schema.get("type") == Some(&json!("array"));
        let keyword = if is_list { "maxItems" } else { "maxProperties" };
        schema.insert(keyword.to_owned(), ITEM_LIMIT.into());
        schema
    }
}

impl<T: JsonSchema> JsonSchema for HandRead<T> {
    inline!("HandRead");

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}
