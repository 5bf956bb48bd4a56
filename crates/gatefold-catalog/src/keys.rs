//! Names of arguments that model providers refuse, and the names that are shown instead.
//!
//! Providers refuse a whole request when one key at the top of one tool's schema does not match
//! `^[a-zA-Z0-9_.-]{1,64}$`. APIs name arguments `ids[]`, `StartTime<` or `$filter`.

use std::collections::{HashMap, HashSet};

use gatefold_core::Digest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::fields::{Field, changeable, field, to_json};
use crate::raw::object_fields;

/// The longest key that providers take, in characters.
const MAX_KEY: usize = 64;
/// How many digits of a digest tell two keys apart that would be written alike.
const DIGEST_DIGITS: usize = 6;

/// An input schema's own keys and the legal ones in their place.
type LegalKeys = HashMap<String, String>;

/// The schema with legal keys. `None` if all of them are.
pub(crate) fn legal_schema(schema: &str) -> Option<String> {
    let keys = legal_keys(schema);
    if keys.is_empty() {
        return None;
    }
    let mut value = serde_json::from_str(schema).ok()?;
    rename_arguments(&mut value, &keys);
    Some(value.to_string())
}

/// Arguments under the schema's own keys. `None` if none had another.
pub(crate) fn own_arguments(schema: &str, arguments: &str) -> Option<String> {
    let own: HashMap<String, String> =
        legal_keys(schema).into_iter().map(|(own, legal)| (legal, own)).collect();
    let mut fields: Vec<Field<'_>> = changeable(arguments)?;
    let given: HashSet<String> = fields.iter().map(|(key, _)| key.to_string()).collect();
    let mut is_changed = false;
    for (key, _) in &mut fields {
        // Somebody who gives both names sees the one that is too many refused.
        if let Some(own) = own.get(&**key).filter(|own| !given.contains(*own)) {
            *key = own.clone().into();
            is_changed = true;
        }
    }
    is_changed.then(|| to_json(&fields))
}

/// The keys at the top of a schema that providers refuse. A legal key depends on all keys of the schema,
/// never on their order.
fn legal_keys(schema: &str) -> LegalKeys {
    let members = object_fields(schema).unwrap_or_default();
    let properties = field(&members, "properties").and_then(object_fields).unwrap_or_default();
    let (legal, odd): (Vec<_>, Vec<_>) =
        properties.iter().map(|(key, _)| &**key).partition(|key| is_legal(key));
    if odd.is_empty() {
        return LegalKeys::new();
    }
    let mut uses = HashMap::<String, usize>::new();
    for key in legal.into_iter().map(str::to_owned).chain(odd.iter().map(|key| plain(key))) {
        *uses.entry(key).or_default() += 1;
    }
    let named = odd.into_iter().map(|key| {
        let plain = plain(key);
        let is_clear = is_legal(&plain) && uses.get(&plain) == Some(&1);
        (key.to_owned(), if is_clear { plain } else { with_digest(&plain, key) })
    });
    named.collect()
}

fn is_legal(key: &str) -> bool {
    (1..=MAX_KEY).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// The key in letters that are taken: `ids[]` as `ids`, `filter[status]` as `filter_status`, `StartTime<`
/// as `StartTime_lt`.
fn plain(key: &str) -> String {
    let mut plain = String::with_capacity(key.len());
    for c in key.chars() {
        match c {
            '<' => plain.push_str("_lt"),
            '>' => plain.push_str("_gt"),
            c if c.is_ascii_alphanumeric() || "_.-".contains(c) => plain.push(c),
            _ => plain.push('_'),
        }
    }
    let start =
        if key.starts_with('_') { 0 } else { plain.len() - plain.trim_start_matches('_').len() };
    plain.drain(..start);
    if !key.ends_with('_') {
        plain.truncate(plain.trim_end_matches('_').len());
    }
    plain
}

/// A key that no other is written like.
fn with_digest(plain: &str, key: &str) -> String {
    let digest = Digest::new(Sha256::digest(key).into()).to_string();
    let digest = &digest[..DIGEST_DIGITS];
    let plain: String = plain.chars().take(MAX_KEY - digest.len() - 1).collect();
    if plain.is_empty() { format!("arg_{digest}") } else { format!("{plain}_{digest}") }
}

/// Renames the arguments wherever a schema names those of one object: at its top, and in the schemas
/// that the same object has to meet.
fn rename_arguments(schema: &mut Value, keys: &LegalKeys) {
    let Value::Object(members) = schema else { return };
    for (member, value) in members.iter_mut() {
        match member.as_str() {
            "properties" | "dependentSchemas" | "dependentRequired" | "dependencies" => {
                rename_keys(value, keys);
                let Value::Object(parts) = value else { continue };
                let depends = member != "properties";
                for part in parts.values_mut().filter(|_| depends) {
                    rename_names(part, keys);
                    rename_arguments(part, keys);
                }
            }
            "required" => rename_names(value, keys),
            "allOf" | "anyOf" | "oneOf" => {
                for part in value.as_array_mut().into_iter().flatten() {
                    rename_arguments(part, keys);
                }
            }
            "if" | "then" | "else" | "not" => rename_arguments(value, keys),
            _ => {}
        }
    }
}

fn rename_keys(value: &mut Value, keys: &LegalKeys) {
    let Value::Object(members) = value else { return };
    let own = std::mem::take(members).into_iter();
    *members = own.map(|(key, value)| (keys.get(&key).cloned().unwrap_or(key), value)).collect();
}

fn rename_names(value: &mut Value, keys: &LegalKeys) {
    for name in value.as_array_mut().into_iter().flatten() {
        if let Some(legal) = name.as_str().and_then(|name| keys.get(name)) {
            *name = legal.clone().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn schema(keys: &[&str]) -> String {
        let properties: Map<_, _> = keys.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
        json!({ "type": "object", "properties": properties, "required": keys }).to_string()
    }

    #[track_caller]
    fn check(own: &[&str], expected: &[&str]) {
        let legal = legal_schema(&schema(own)).unwrap();
        assert_eq!(legal, schema(expected));
        for key in expected {
            assert!(is_legal(key), "{key}");
        }
        let mut turned = own.to_vec();
        turned.reverse();
        let mut expected = expected.to_vec();
        expected.reverse();
        assert_eq!(legal_schema(&schema(&turned)).unwrap(), schema(&expected));
    }

    #[test]
    fn keys_that_providers_refuse_get_legal_ones_that_are_their_own() {
        check(&["ids[]", "$top", "page size", "plain"], &["ids", "top", "page_size", "plain"]);
        check(
            &["StartTime", "StartTime<", "StartTime>"],
            &["StartTime", "StartTime_lt", "StartTime_gt"],
        );
        check(&["filter.status", "filter[status]"], &["filter.status", "filter_status"]);
        check(&["_x!", "a_b", "a b"], &["_x", "a_b", "a_b_c8687a"]);
        check(&["ключ"], &["arg_1de36a"]);
        let long = "x".repeat(75);
        let cut = format!("{}_81d23b", "x".repeat(57));
        check(&[&long], &[&cut]);
        assert_eq!(legal_schema(&schema(&["a.b", "c-d", "e_1"])), None);
        assert_eq!(legal_schema(r#"{"type":"object"}"#), None);
    }

    #[test]
    fn only_what_names_the_same_object_is_renamed() {
        let own = json!({
            "properties": { "a[]": { "properties": { "b[]": {} }, "required": ["a[]"] } },
            "anyOf": [{ "required": ["a[]"] }, { "not": { "required": ["a[]"] } }],
            "dependentRequired": { "a[]": ["a[]"] },
            "additionalProperties": false
        });
        let expected = json!({
            "properties": { "a": { "properties": { "b[]": {} }, "required": ["a[]"] } },
            "anyOf": [{ "required": ["a"] }, { "not": { "required": ["a"] } }],
            "dependentRequired": { "a": ["a"] },
            "additionalProperties": false
        });
        assert_eq!(legal_schema(&own.to_string()).unwrap(), expected.to_string());
    }

    #[test]
    fn both_names_of_an_argument_are_taken() {
        let schema = schema(&["ids[]", "id", "$top"]);
        let own = |arguments: &str| own_arguments(&schema, arguments);
        assert_eq!(own(r#"{"ids":[1.50],"id":2}"#).unwrap(), r#"{"ids[]":[1.50],"id":2}"#);
        assert_eq!(own(r#"{"top":1,"ids[]":[ ]}"#).unwrap(), r#"{"$top":1,"ids[]":[ ]}"#);
        assert_eq!(own(r#"{"ids[]":[1],"ids":[2]}"#), None);
        assert_eq!(own(r#"{"id":1}"#), None);
        assert_eq!(own("[]"), None);
    }
}
