use super::*;

fn written(siblings: Siblings, direction: Direction, document: &Value) -> (String, Vec<String>) {
    let library = Library::of(document);
    let mut schemas = Schemas::new(&library, siblings);
    let node = library.root().get("schema").unwrap();
    let schema = schemas.translate(node, direction);
    let text = schemas.write(&schema, direction, usize::MAX);
    let value: Value = serde_json::from_str(&text).unwrap();
    jsonschema::draft202012::new(&value).unwrap();
    (text, schemas.take_notes())
}

fn check(schema: &Value, expected: &Value) {
    let (text, _) = written(Siblings::Annotate, Direction::Request, &json!({ "schema": schema }));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), *expected);
}

#[test]
fn old_dialects_become_2020_12() {
    for (schema, expected) in [
        (json!({ "type": "string", "nullable": true }), json!({ "type": ["string", "null"] })),
        (
            json!({ "type": "string", "nullable": true, "enum": ["a"] }),
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
        ),
        (
            json!({ "allOf": [{ "type": "object" }], "nullable": true, "description": "d" }),
            json!({ "description": "d", "anyOf": [{ "allOf": [{ "type": "object" }] }, { "type": "null" }] }),
        ),
        (
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false }),
            json!({ "type": "integer", "exclusiveMinimum": 1, "maximum": 5 }),
        ),
        (
            json!({ "type": "string", "example": "a" }),
            json!({ "type": "string", "examples": ["a"] }),
        ),
        (json!({ "type": "any" }), json!({})),
        (json!({ "type": "file" }), json!({ "type": "string" })),
        (json!({ "type": "Int" }), json!({ "type": "integer" })),
        (json!({ "type": ["string", "null"] }), json!({ "type": ["string", "null"] })),
        (
            json!({ "type": "object", "properties": { "a": { "type": "string", "required": true }, "b": { "required": false } } }),
            json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": {} }, "required": ["a"] }),
        ),
        (
            json!({ "type": "array", "items": [{ "type": "string" }] }),
            json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": {} }),
        ),
        (
            json!({ "type": "string", "xml": {}, "externalDocs": {}, "x-a": 1, "discriminator": "a" }),
            json!({ "type": "string" }),
        ),
        (json!({ "pattern": "(" }), json!({})),
        (json!({ "pattern": "^a$" }), json!({ "pattern": "^a$" })),
        (
            json!({ "minLength": -1, "maxLength": "5", "minItems": 2.0, "title": 3, "enum": [], "required": [] }),
            json!({ "maxLength": 5, "minItems": 2 }),
        ),
        (
            json!({ "type": "string", "enum": [1, true] }),
            json!({ "type": "string", "enum": ["1", "true"] }),
        ),
        (
            json!({ "type": "integer", "enum": ["1", "2"] }),
            json!({ "type": "integer", "enum": [1, 2] }),
        ),
        (json!({ "allOf": {} , "oneOf": [] }), json!({ "allOf": [{}] })),
        (
            json!({ "properties": { "a": null, "b": true, "c": false } }),
            json!({ "properties": { "a": {}, "b": true, "c": false } }),
        ),
        (
            json!({ "dependencies": { "a": ["b"], "c": { "type": "object" } } }),
            json!({ "dependentSchemas": { "c": { "type": "object" } }, "dependentRequired": { "a": ["b"] } }),
        ),
        (
            json!({ "oneOf": [{ "type": "object" }], "discriminator": { "propertyName": "kind", "mapping": { "cat": "#/a", "dog": "#/b" } } }),
            json!({ "oneOf": [{ "type": "object" }], "description": "`kind` says which one it is: `cat`, `dog`." }),
        ),
    ] {
        check(&schema, &expected);
    }
}

#[test]
fn what_travels_one_way_is_left_out_of_the_other() {
    let document = json!({
        "schema": {
            "type": "object",
            "required": ["id", "name", "secret"],
            "properties": {
                "id": { "type": "integer", "readOnly": true },
                "name": { "type": "string" },
                "secret": { "$ref": "#/secret" },
                "inner": { "allOf": [{ "$ref": "#/base" }, { "required": ["at", "by"] }] },
            },
        },
        "secret": { "type": "string", "writeOnly": true },
        "base": { "properties": { "at": { "readOnly": true }, "by": {} } },
    });
    let (request, _) = written(Siblings::Annotate, Direction::Request, &document);
    insta::assert_snapshot!(request, @r#"{"type":"object","properties":{"name":{"type":"string"},"secret":{"type":"string"},"inner":{"allOf":[{"properties":{"by":{}}},{"required":["by"]}]}},"required":["name","secret"]}"#);
    let (answer, _) = written(Siblings::Annotate, Direction::Answer, &document);
    insta::assert_snapshot!(answer, @r#"{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"inner":{"allOf":[{"properties":{"at":{},"by":{}}},{"required":["at","by"]}]}},"required":["id","name"]}"#);
}

#[test]
fn what_is_used_once_stands_in_its_place_and_the_rest_in_defs() {
    let document = json!({
        "schema": { "properties": {
            "once": { "$ref": "#/once" },
            "a": { "$ref": "#/x/twice" },
            "b": { "$ref": "#/x/twice" },
            "tree": { "$ref": "#/tree" },
            "named": { "$ref": "#/named", "description": "d", "minLength": 3 },
            "gone": { "$ref": "#/gone" },
            "link": { "$ref": "#/link" },
        } },
        "once": { "items": { "$ref": "#/deep" } },
        "deep": { "type": "boolean" },
        "x": { "twice": { "type": "string" } },
        "tree": { "properties": { "left": { "$ref": "#/tree" } } },
        "named": { "type": "string" },
        "link": { "$ref": "#/link2" },
        "link2": { "$ref": "#/deep" },
    });
    let (text, notes) = written(Siblings::Annotate, Direction::Request, &document);
    insta::assert_snapshot!(text, @r##"{"properties":{"once":{"items":{"$ref":"#/$defs/deep"}},"a":{"$ref":"#/$defs/twice"},"b":{"$ref":"#/$defs/twice"},"tree":{"$ref":"#/$defs/tree"},"named":{"$ref":"#/$defs/named","description":"d"},"gone":{},"link":{"$ref":"#/$defs/deep"}},"$defs":{"named":{"type":"string"},"deep":{"type":"boolean"},"twice":{"type":"string"},"tree":{"properties":{"left":{"$ref":"#/$defs/tree"}}}}}"##);
    assert_eq!(notes, ["`#/gone` leads nowhere"]);
    let (text, _) = written(Siblings::Count, Direction::Request, &document);
    let expected = r##""named":{"$ref":"#/$defs/named","description":"d","minLength":3}"##;
    assert!(text.contains(expected), "{text}");
}

#[test]
fn names_in_defs_are_legal_and_unlike_each_other() {
    let document = json!({
        "schema": { "items": { "anyOf": [
            { "$ref": "#/a/P%C3%A9t" }, { "$ref": "#/a/P%C3%A9t" },
            { "$ref": "#/b/P%C3%A9t" }, { "$ref": "#/b/P%C3%A9t" },
        ] } },
        "a": { "Pét": { "type": "string" } },
        "b": { "Pét": { "type": "integer" } },
    });
    let (text, _) = written(Siblings::Annotate, Direction::Request, &document);
    insta::assert_snapshot!(text, @r##"{"items":{"anyOf":[{"$ref":"#/$defs/P_t"},{"$ref":"#/$defs/P_t"},{"$ref":"#/$defs/P_t_2607dba3"},{"$ref":"#/$defs/P_t_2607dba3"}]},"$defs":{"P_t":{"type":"string"},"P_t_2607dba3":{"type":"integer"}}}"##);
}

#[test]
fn a_budget_cuts_what_is_referred_to_from_the_deepest() {
    let document = json!({
        "schema": { "properties": { "a": { "$ref": "#/a" } } },
        "a": { "properties": { "b": { "$ref": "#/b" } } },
        "b": { "description": "a long description that does not fit into the budget" },
    });
    let library = Library::of(&document);
    let mut schemas = Schemas::new(&library, Siblings::Annotate);
    let schema = schemas.translate(library.root().get("schema").unwrap(), Direction::Answer);
    let text = schemas.write(&schema, Direction::Answer, 80);
    assert_eq!(text, r#"{"properties":{"a":{"properties":{"b":{}}}}}"#);
    assert_eq!(schemas.take_notes().len(), 1);
}

#[test]
fn schemas_that_nest_without_end_are_cut() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..60 {
        schema = json!({ "items": schema });
    }
    let (text, notes) =
        written(Siblings::Annotate, Direction::Request, &json!({ "schema": schema }));
    assert!(text.len() < 500 && notes.len() == 1, "{text} {notes:?}");
}
