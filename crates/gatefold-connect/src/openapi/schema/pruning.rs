//! Leaves out the deepest parts of a schema.

use serde_json::{Map, Value, json};

/// The same schema, with `{}` for what has parts of its own below `depth` levels.
pub(super) fn pruned(schema: &Value, depth: usize) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let Some(inner) = depth.checked_sub(1) else {
        return if members.keys().any(|key| is_part(key)) { json!({}) } else { schema.clone() };
    };
    let mut out = Map::new();
    for (key, value) in members {
        let value = match value {
            Value::Object(named) if is_map(key) => {
                let named = named.iter().map(|(name, part)| (name.clone(), pruned(part, inner)));
                Value::Object(named.collect())
            }
            Value::Array(list) if is_part(key) => {
                list.iter().map(|part| pruned(part, inner)).collect()
            }
            Value::Object(_) if is_part(key) => pruned(value, inner),
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Value::Object(out)
}

/// Whether a keyword's value is schemas by name.
fn is_map(key: &str) -> bool {
    matches!(key, "properties" | "patternProperties" | "dependentSchemas")
}

/// Whether a keyword's value is made of schemas.
fn is_part(key: &str) -> bool {
    is_map(key)
        || matches!(
            key,
            "items"
                | "prefixItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "propertyNames"
                | "allOf"
                | "anyOf"
                | "oneOf"
                | "not"
                | "if"
                | "then"
                | "else"
        )
}
