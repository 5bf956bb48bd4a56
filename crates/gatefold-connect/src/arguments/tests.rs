use serde_json::{Value, json};

use super::*;

fn faults(schema: &Value, arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    let check = ArgumentCheck::new(&schema.to_string()).unwrap();
    check.check(&arguments).err().unwrap_or_else(|| "fits".to_owned())
}

fn check(arguments: &str, expected: &str) {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            "above": { "exclusiveMinimum": 0, "exclusiveMaximum": 9, "multipleOf": 2 },
            "sort": { "enum": ["asc", "desc"] },
            "fixed": { "const": 7 },
            "name": { "type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]*$" },
            "ids": { "type": "array", "items": { "type": "integer" }, "minItems": 1, "maxItems": 2, "uniqueItems": true },
            "filter": { "$ref": "#/$defs/Filter" },
            "maybe": { "type": ["integer", "null"] },
            "either": { "oneOf": [{ "type": "integer" }, { "type": "boolean" }] },
            "overlapping": { "oneOf": [{ "type": "integer" }, { "type": "number" }] },
            "shape": { "anyOf": [
                { "type": "object", "properties": { "radius": { "type": "number" } }, "required": ["radius"] },
                { "type": "object", "properties": { "w": { "type": "number" }, "h": { "type": "number" } }, "required": ["w", "h"] },
                { "type": "string" },
            ]},
            "never": false,
            "not": { "not": { "const": 0 } },
            "map": { "type": "object", "propertyNames": { "maxLength": 2 }, "maxProperties": 1 },
            "free": true,
        },
        "required": ["limit"],
        "additionalProperties": false,
        "$defs": { "Filter": {
            "type": "object",
            "properties": { "owner": { "type": "string" }, "tag": { "type": "string" } },
            "required": ["owner"],
            "additionalProperties": false,
        }},
    });
    assert_eq!(faults(&schema, arguments), expected, "{arguments}");
}

#[test]
fn a_fault_names_the_argument_and_what_is_wanted() {
    for (arguments, expected) in [
        (r#"{"limit": 5}"#, "fits"),
        (r"{}", "`limit` is missing"),
        (r"[]", "what was given is [], and an object is wanted"),
        (r#"{"limit": "ten"}"#, "`limit` is \"ten\", and an integer is wanted"),
        (r#"{"limit": null}"#, "`limit` is null, and an integer is wanted: leave it out instead"),
        (r#"{"limit": 1.5}"#, "`limit` is 1.5, and an integer is wanted"),
        (r#"{"limit": 0}"#, "`limit` is 0, and at least 1 is wanted"),
        (r#"{"limit": 101}"#, "`limit` is 101, and at most 100 is wanted"),
        (r#"{"limit": 1, "above": 0}"#, "`above` is 0, and more than 0 is wanted"),
        (
            r#"{"limit": 1, "above": 9}"#,
            "`above` is 9, and less than 9 is wanted; `above` is 9, and a multiple of 2 is wanted",
        ),
        (
            r#"{"limit": 1, "sort": "ascending"}"#,
            "`sort` is \"ascending\", and one of \"asc\", \"desc\" is wanted",
        ),
        (r#"{"limit": 1, "fixed": 8}"#, "`fixed` is 8, and 7 is wanted"),
        (r#"{"limit": 1, "name": "x"}"#, "`name` has 1 character, and at least 2 are wanted"),
        (r#"{"limit": 1, "name": "abcde"}"#, "`name` has 5 characters, and at most 4 are wanted"),
        (
            r#"{"limit": 1, "name": "A1"}"#,
            "`name` is \"A1\", and a text that matches `^[a-z]*$` is wanted",
        ),
        (r#"{"limit": 1, "ids": []}"#, "`ids` has 0 items, and at least 1 is wanted"),
        (r#"{"limit": 1, "ids": [1, 1]}"#, "`ids` has an item twice"),
        (r#"{"limit": 1, "ids": [1, "b"]}"#, "`ids[1]` is \"b\", and an integer is wanted"),
        (r#"{"limit": 1, "filter": {}}"#, "`filter.owner` is missing"),
        (r#"{"limit": 1, "filter": {"owner": 1}}"#, "`filter.owner` is 1, and a text is wanted"),
        (
            r#"{"limit": 1, "filter": {"owner": "a", "tags": 1}}"#,
            "`filter.tags` is not known: did you mean `tag`?",
        ),
        (r#"{"limit": 1, "maybe": null}"#, "fits"),
        (r#"{"limit": 1, "maybe": "x"}"#, "`maybe` is \"x\", and an integer or null is wanted"),
        (
            r#"{"limit": 1, "either": "x"}"#,
            "`either` is \"x\", and an integer or a boolean is wanted",
        ),
        (r#"{"limit": 1, "overlapping": 1}"#, "fits"),
        (r#"{"limit": 1, "shape": {"w": 1}}"#, "`shape.radius` is missing"),
        (r#"{"limit": 1, "shape": {"w": 1, "h": "x"}}"#, "`shape.radius` is missing"),
        (r#"{"limit": 1, "never": 1}"#, "`never` is not known here: leave it out"),
        (r#"{"limit": 1, "not": 0}"#, "`not` is 0, which it may not be"),
        (r#"{"limit": 1, "map": {"abc": 1}}"#, "`map` has the member \"abc\", which it may not"),
        (r#"{"limit": 1, "free": {"a": [1]}}"#, "fits"),
        (r#"{"limti": 1}"#, "`limti` is not known: did you mean `limit`?; `limit` is missing"),
    ] {
        check(arguments, expected);
    }
}

#[test]
fn whole_numbers_are_judged_exactly() {
    let schema = json!({ "properties": {
        "id": { "type": "integer" },
        "unsigned": { "type": "integer", "maximum": 18_446_744_073_709_551_615_u64 },
    }});
    for (arguments, expected) in [
        (r#"{"id": 12345678901234567890123}"#, "fits"),
        (r#"{"id": -9223372036854775809}"#, "fits"),
        (r#"{"id": 1.0}"#, "fits"),
        // A fraction of so large a number is not seen. The server judges it.
        (r#"{"id": 12345678901234567890123.5}"#, "fits"),
        (r#"{"id": 12345678901.5}"#, "`id` is 12345678901.5, and an integer is wanted"),
        (r#"{"unsigned": 18446744073709551615}"#, "fits"),
        (
            r#"{"unsigned": 18446744073709551616}"#,
            "`unsigned` is 18446744073709551616, and at most 18446744073709551615 is wanted",
        ),
    ] {
        assert_eq!(faults(&schema, arguments), expected, "{arguments}");
    }
}

#[test]
fn faults_are_few_and_short() {
    let properties: serde_json::Map<_, _> =
        (0..50).map(|n| (format!("p{n}"), json!({ "type": "integer" }))).collect();
    let schema = json!({ "properties": properties });
    let long: serde_json::Map<_, _> =
        (0..50).map(|n| (format!("p{n}"), json!("é".repeat(100_000)))).collect();
    let text = faults(&schema, &Value::Object(long).to_string());
    assert_eq!(text.matches("is wanted").count(), MAX_FAULTS);
    assert!(text.ends_with("; and more") && text.len() <= MAX_BYTES, "{text}");
    let names: serde_json::Map<_, _> =
        (0..50).map(|n| (format!("x{n}").repeat(500), json!(1))).collect();
    let text = faults(&json!({ "additionalProperties": false }), &Value::Object(names).to_string());
    assert!(text.len() <= MAX_BYTES, "{text}");
}

#[test]
fn a_schema_that_is_none_is_refused() {
    for (schema, expected) in [
        ("{", "the input schema is not JSON: EOF while parsing an object at line 1 column 1"),
        (
            r#"{"type": "strnig"}"#,
            "the input schema cannot be used, at `/type`: value is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
    ] {
        assert_eq!(ArgumentCheck::new(schema).map(drop), Err(expected.to_owned()), "{schema}");
    }
    let outside = ArgumentCheck::new(r#"{"$ref": "https://example.com/x.json"}"#).unwrap_err();
    assert!(outside.starts_with("the input schema cannot be used, at ``"), "{outside}");
}
