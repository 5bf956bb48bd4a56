//! Listed values, where they do not fit the type beside them.

use serde_json::{Map, Number, Value, json};

/// YAML reads `1.0`, `on` and `404` as other types than the author meant. Where no listed value is of the
/// type, and each has a form that is, the type decides.
pub(super) fn fit(out: &mut Map<String, Value>) {
    for key in ["enum", "const", "default"] {
        let Some(value) = out.get(key) else { continue };
        let fitted = match (key, value) {
            ("enum", Value::Array(values)) => fit_all(values, out.get("type")).map(Value::Array),
            ("enum", _) => None,
            (_, value) => fit_all(std::slice::from_ref(value), out.get("type"))
                .and_then(|values| values.into_iter().next()),
        };
        if let Some(fitted) = fitted {
            out.insert(key.to_owned(), fitted);
        }
    }
}

fn fit_all(values: &[Value], types: Option<&Value>) -> Option<Vec<Value>> {
    let types = match types? {
        Value::String(one) => vec![one.as_str()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let is_fit = |value: &Value| types.iter().any(|name| is_of(value, name));
    if values.iter().all(is_fit) {
        return None;
    }
    let target = *types.iter().find(|name| **name != "null")?;
    let fitted = values.iter().map(|value| {
        if is_fit(value) || value.is_null() { Some(value.clone()) } else { cast(value, target) }
    });
    fitted.collect()
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64() || is_whole(value),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn is_whole(value: &Value) -> bool {
    value.is_number() && value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn cast(value: &Value, name: &str) -> Option<Value> {
    match (name, value) {
        ("string", Value::Bool(_) | Value::Number(_)) => Some(value.to_string().into()),
        ("integer" | "number", Value::String(text)) => {
            let number: Number = serde_json::from_str(text.trim()).ok()?;
            Some(Value::Number(number)).filter(|number| is_of(number, name))
        }
        ("boolean", Value::String(text)) => match text.as_str() {
            "true" | "True" => Some(json!(true)),
            "false" | "False" => Some(json!(false)),
            _ => None,
        },
        _ => None,
    }
}
