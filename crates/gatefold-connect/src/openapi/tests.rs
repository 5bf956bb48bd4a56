use std::fmt::Write as _;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use serde_json::json;

use super::*;
use crate::action::ResultShape;

/// A description with its tools.
#[derive(Debug)]
struct Described {
    tools: Vec<ToolDraft>,
    read: ApiDescription,
}

fn described(document: &Value) -> Result<Described, DescriptionError> {
    described_with(document, &DescriptionOptions::default())
}

fn described_with(
    document: &Value,
    options: &DescriptionOptions,
) -> Result<Described, DescriptionError> {
    read(&ApiDocuments::of(document), options)
}

fn read(
    documents: &ApiDocuments,
    options: &DescriptionOptions,
) -> Result<Described, DescriptionError> {
    let overlay = Overlay::default();
    let mut reading = documents.read(options, &overlay)?;
    Ok(Described { tools: reading.by_ref().collect(), read: reading.finish() })
}

/// Every tool as three lines: its name, its action and its arguments. Then what was changed.
fn printed(document: &Value) -> String {
    let description = described(document).unwrap();
    let mut text = String::new();
    for tool in &description.tools {
        let schema: Value = serde_json::from_str(&tool.input_schema).unwrap();
        jsonschema::draft202012::new(&schema).unwrap();
        let action = serde_json::to_string(&tool.action).unwrap();
        _ = write!(text, "{}\n  {action}\n  {}\n", tool.name, tool.input_schema);
        if let Some(output) = &tool.output_schema {
            let schema: Value = serde_json::from_str(output).unwrap();
            jsonschema::draft202012::new(&schema).unwrap();
            _ = writeln!(text, "  answers {output}");
        }
    }
    for one in &description.read.unusable {
        _ = writeln!(text, "unusable: {}: {}", one.operation, one.why);
    }
    for note in &description.read.notes {
        _ = writeln!(text, "note: {}: {}", note.tool.as_deref().unwrap_or("-"), note.what);
    }
    text
}

/// A description of 3.0 with one POST.
fn with_post(operation: &Value) -> Value {
    json!({
        "openapi": "3.0.3",
        "info": { "title": "T", "version": "1" },
        "servers": [{ "url": "https://x.example" }],
        "paths": { "/do": { "post": operation } },
    })
}

#[test]
fn an_operation_of_each_edition_becomes_the_same_tool() {
    let new = json!({
        "openapi": "3.0.3",
        "info": { "title": "Pets", "version": "1" },
        "servers": [{ "url": "http://pets.example/v1/" }, { "url": "https://pets.example/v1" }],
        "paths": { "/pets/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
            "get": {
                "operationId": "getPet",
                "summary": "Get a pet",
                "tags": ["pets & co"],
                "parameters": [
                    { "name": "fields", "in": "query", "explode": false, "style": "form",
                      "schema": { "type": "array", "items": { "type": "string" } } },
                    { "name": "Authorization", "in": "header", "schema": { "type": "string" } },
                ],
                "responses": {
                    "200": { "description": "OK", "content": { "application/json": {
                        "schema": { "$ref": "#/components/schemas/Pet" } } } },
                    "404": { "description": "There is no such pet" },
                },
            },
        } },
        "components": { "schemas": { "Pet": {
            "type": "object", "properties": { "name": { "type": "string", "nullable": true } } } } },
    });
    let old = json!({
        "swagger": "2.0",
        "info": { "title": "Pets", "version": "1" },
        "host": "pets.example",
        "basePath": "/v1",
        "schemes": ["http", "https"],
        "produces": ["application/json"],
        "paths": { "/pets/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "type": "integer" }],
            "get": {
                "operationId": "getPet",
                "summary": "Get a pet",
                "tags": ["pets & co"],
                "parameters": [
                    { "name": "fields", "in": "query", "type": "array", "items": { "type": "string" } },
                    { "name": "Authorization", "in": "header", "type": "string" },
                ],
                "responses": {
                    "200": { "description": "OK", "schema": { "$ref": "#/definitions/Pet" } },
                    "404": { "description": "There is no such pet" },
                },
            },
        } },
        "definitions": { "Pet": {
            "type": "object", "properties": { "name": { "type": "string", "x-nullable": true } } } },
    });
    let text = printed(&new);
    assert_eq!(printed(&old), text);
    insta::assert_snapshot!(text, @r#"
        getPet
          {"method":"GET","base":"https://pets.example/v1","path":"/pets/{id}","parameters":[{"name":"id","in":"path"},{"name":"fields","in":"query","explode":false}],"accept":["application/json"],"failures":{"404":"There is no such pet"}}
          {"type":"object","properties":{"id":{"type":"integer"},"fields":{"type":"array","items":{"type":"string"}}},"required":["id"],"additionalProperties":false}
          answers {"type":"object","properties":{"name":{"type":["string","null"]}}}
        "#);
    let description = described(&new).unwrap();
    let tool = &description.tools[0];
    assert_eq!(tool.title.as_deref(), Some("Get a pet"));
    assert_eq!(tool.description.as_deref(), Some("Get a pet"));
    assert_eq!(tool.group.as_deref(), Some("pets co"));
}

#[test]
fn parameters_keep_their_places_styles_and_names() {
    let document = json!({
        "openapi": "3.1.0",
        "servers": [{ "url": "https://x.example" }],
        "paths": { "/a/{id}/{rest}/{+deep}/{v}": { "get": {
            "operationId": "a",
            "parameters": [
                { "name": "id", "in": "cookie", "schema": { "type": "string" } },
                { "name": "id", "in": "query", "required": true, "schema": { "type": "string" } },
                { "name": "id", "in": "path", "style": "label", "description": "d",
                  "schema": { "description": "overruled" } },
                { "name": "id", "in": "header", "deprecated": true, "schema": true },
                { "name": "deep", "in": "path", "schema": { "type": "string" } },
                { "name": "filter", "in": "query", "style": "deepObject", "explode": true, "example": { "a": 1 },
                  "schema": { "type": "object" } },
                { "name": "json", "in": "query", "content": { "application/json": { "schema": { "type": "object" } } } },
                { "name": "gone", "in": "path", "schema": {} },
                { "name": "v", "in": "path", "schema": { "default": "v1" } },
                { "name": "odd", "in": "somewhere" },
                { "$ref": "#/nowhere" },
                { "name": "key", "in": "query", "schema": { "type": "string" } },
                { "name": "Accept", "in": "header", "schema": {} },
            ],
        } } },
        "components": { "securitySchemes": { "k": { "type": "apiKey", "in": "query", "name": "key" } } },
    });
    insta::assert_snapshot!(printed(&document), @r#"
        a
          {"method":"GET","base":"https://x.example","path":"/a/{id}/{rest}/{deep}/{v}","parameters":[{"name":"id","in":"path","style":"label"},{"name":"deep","in":"path","allow_reserved":true},{"name":"v","in":"path","default":"v1"},{"name":"rest","in":"path"},{"name":"id","argument":"query_id","in":"query"},{"name":"filter","in":"query","style":"deepObject","explode":true},{"name":"json","in":"query","content":"application/json"},{"name":"id","argument":"header_id","in":"header"},{"name":"id","argument":"cookie_id","in":"cookie"}],"security":[{"k":{"key":{"in":"query","name":"key"}}}]}
          {"type":"object","properties":{"id":{"description":"d"},"deep":{"type":"string"},"v":{"default":"v1"},"rest":{"type":"string"},"query_id":{"type":"string"},"filter":{"type":"object","examples":[{"a":1}]},"json":{"type":"object"},"header_id":{"deprecated":true},"cookie_id":{"type":"string"}},"required":["id","deep","rest","query_id"],"additionalProperties":false}
        note: a: a parameter was left out: `#/nowhere` leads nowhere
        note: a: parameter `gone` was left out: the path has no place for it
        note: a: parameter `odd` was left out: it does not say where it goes
        note: a: the path's `rest` is not described: it became a text
        "#);
}

#[test]
fn a_plain_object_becomes_arguments_and_anything_else_one() {
    let body = |schema: Value, required: bool| {
        let document = with_post(&json!({
            "operationId": "p",
            "parameters": [{ "name": "q", "in": "query", "schema": {} }],
            "requestBody": { "required": required, "content": { "application/json": { "schema": schema } } },
        }));
        let tool = described(&document).unwrap().tools.remove(0);
        let arguments = tool.action.body.unwrap().arguments;
        format!("{} {}", serde_json::to_string(&arguments).unwrap(), tool.input_schema)
    };
    let name = json!({ "type": "string" });
    let cases = [
        body(json!({ "properties": { "a": name } , "required": ["a"] }), true),
        body(json!({ "properties": { "a": name } }), false),
        body(json!({ "properties": { "a": name }, "required": ["a"] }), false),
        body(json!({ "properties": { "q": name } }), true),
        body(json!({ "properties": { "a": name }, "additionalProperties": true }), true),
        body(json!({ "oneOf": [{ "properties": { "a": name } }] }), true),
        body(
            json!({ "allOf": [{ "properties": { "a": name } }, { "properties": { "b": { "readOnly": true } , "c": name }, "required": ["c"] }] }),
            true,
        ),
        body(json!({ "type": "array", "items": name }), true),
    ];
    insta::assert_snapshot!(cases.join("\n"), @r#"
        {"members":{"names":["a"],"required":true}} {"type":"object","properties":{"q":{},"a":{"type":"string"}},"required":["a"],"additionalProperties":false}
        {"members":{"names":["a"]}} {"type":"object","properties":{"q":{},"a":{"type":"string"}},"additionalProperties":false}
        {"whole":"body"} {"type":"object","properties":{"q":{},"body":{"properties":{"a":{"type":"string"}},"required":["a"]}},"additionalProperties":false}
        {"whole":"body"} {"type":"object","properties":{"q":{},"body":{"properties":{"q":{"type":"string"}}}},"required":["body"],"additionalProperties":false}
        {"whole":"body"} {"type":"object","properties":{"q":{},"body":{"properties":{"a":{"type":"string"}},"additionalProperties":true}},"required":["body"],"additionalProperties":false}
        {"whole":"body"} {"type":"object","properties":{"q":{},"body":{"oneOf":[{"properties":{"a":{"type":"string"}}}]}},"required":["body"],"additionalProperties":false}
        {"members":{"names":["a","c"],"required":true}} {"type":"object","properties":{"q":{},"a":{"type":"string"},"c":{"type":"string"}},"required":["c"],"additionalProperties":false}
        {"whole":"body"} {"type":"object","properties":{"q":{},"body":{"type":"array","items":{"type":"string"}}},"required":["body"],"additionalProperties":false}
        "#);
}

#[test]
fn bodies_of_every_kind_are_offered() {
    let file = json!({ "type": "string", "format": "binary" });
    let object = json!({ "type": "object", "properties": {
        "a": { "type": "string" }, "f": file, "list": { "type": "array", "items": file }, "b": { "type": "string", "format": "byte" } } });
    let contents = [
        json!({ "multipart/form-data": { "schema": object, "encoding": { "a": { "contentType": "text/csv" } } } }),
        json!({ "application/x-www-form-urlencoded": { "schema": object } }),
        json!({ "application/octet-stream": {} }),
        json!({ "image/*": { "schema": file } }),
        json!({ "text/plain": { "schema": { "type": "string" } } }),
        json!({ "application/xml": { "schema": object }, "application/json": { "schema": object } }),
        json!({ "application/*+xml": { "schema": object } }),
        json!({ "application/octet-stream": { "schema": file }, "application/json": { "schema": { "type": "array" } } }),
        json!({ "*/*": { "schema": { "type": "integer" } } }),
    ];
    let text: Vec<String> = contents
        .iter()
        .map(|content| {
            let document = with_post(&json!({ "operationId": "p", "requestBody": { "required": true, "content": content } }));
            let tool = described(&document).unwrap().tools.remove(0);
            format!("{}\n  {}", serde_json::to_string(&tool.action.body).unwrap(), tool.input_schema)
        })
        .collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
        {"arguments":{"members":{"names":["a","f","list","b"],"required":true}},"media":[{"type":"multipart/form-data","encoding":{"a":{"content_type":"text/csv"}},"files":["f","list"]}]}
          {"type":"object","properties":{"a":{"type":"string"},"f":{"type":"object","properties":{"filename":{"type":"string"},"media_type":{"type":"string","pattern":"^[\\w.+-]+/[\\w.+-]+(; ?[\\w-]+=[\\w.+-]+)*$"},"base64":{"type":"string","contentEncoding":"base64"}},"required":["base64"],"additionalProperties":false},"list":{"type":"array","items":{"type":"object","properties":{"filename":{"type":"string"},"media_type":{"type":"string","pattern":"^[\\w.+-]+/[\\w.+-]+(; ?[\\w-]+=[\\w.+-]+)*$"},"base64":{"type":"string","contentEncoding":"base64"}},"required":["base64"],"additionalProperties":false}},"b":{"type":"string","format":"byte"}},"additionalProperties":false}
        {"arguments":{"members":{"names":["a","f","list","b"],"required":true}},"media":[{"type":"application/x-www-form-urlencoded"}]}
          {"type":"object","properties":{"a":{"type":"string"},"f":{"type":"string","format":"binary"},"list":{"type":"array","items":{"type":"string","format":"binary"}},"b":{"type":"string","format":"byte"}},"additionalProperties":false}
        {"arguments":{"whole":"body"},"media":[{"type":"application/octet-stream","files":["*"]}]}
          {"type":"object","properties":{"body":{"type":"object","properties":{"filename":{"type":"string"},"media_type":{"type":"string","pattern":"^[\\w.+-]+/[\\w.+-]+(; ?[\\w-]+=[\\w.+-]+)*$"},"base64":{"type":"string","contentEncoding":"base64"}},"required":["base64"],"additionalProperties":false}},"required":["body"],"additionalProperties":false}
        {"arguments":{"whole":"body"},"media":[{"type":"image/*","files":["*"]}]}
          {"type":"object","properties":{"body":{"type":"object","properties":{"filename":{"type":"string"},"media_type":{"type":"string","pattern":"^[\\w.+-]+/[\\w.+-]+(; ?[\\w-]+=[\\w.+-]+)*$"},"base64":{"type":"string","contentEncoding":"base64"}},"required":["base64"],"additionalProperties":false}},"required":["body"],"additionalProperties":false}
        {"arguments":{"whole":"body"},"media":[{"type":"text/plain"}]}
          {"type":"object","properties":{"body":{"type":"string"}},"required":["body"],"additionalProperties":false}
        {"arguments":{"members":{"names":["a","f","list","b"],"required":true}},"media":[{"type":"application/json"}]}
          {"type":"object","properties":{"a":{"type":"string"},"f":{"type":"string","format":"binary"},"list":{"type":"array","items":{"type":"string","format":"binary"}},"b":{"type":"string","format":"byte"}},"additionalProperties":false}
        {"arguments":{"whole":"body"},"media":[{"type":"application/xml"}]}
          {"type":"object","properties":{"body":{"type":"string","description":"Text of type application/xml."}},"required":["body"],"additionalProperties":false}
        {"arguments":{"whole":"body"},"media":[{"type":"application/json"},{"type":"application/octet-stream","files":["*"]}],"choice":"content_type"}
          {"type":"object","properties":{"body":{"anyOf":[{"type":"array"},{"type":"object","properties":{"filename":{"type":"string"},"media_type":{"type":"string","pattern":"^[\\w.+-]+/[\\w.+-]+(; ?[\\w-]+=[\\w.+-]+)*$"},"base64":{"type":"string","contentEncoding":"base64"}},"required":["base64"],"additionalProperties":false}]},"content_type":{"type":"string","enum":["application/json","application/octet-stream"],"default":"application/json","description":"The media type of `body`."}},"required":["body"],"additionalProperties":false}
        {"arguments":{"whole":"body"},"media":[{"type":"application/json"}]}
          {"type":"object","properties":{"body":{"type":"integer"}},"required":["body"],"additionalProperties":false}
        "#);
}

#[test]
fn what_is_no_media_type_is_refused_before_it_is_sent() {
    let content = json!({ "application/octet-stream": {} });
    let document = with_post(&json!({ "requestBody": { "content": content } }));
    let tool = described(&document).unwrap().tools.remove(0);
    let check = crate::ArgumentCheck::new(&tool.input_schema).unwrap();
    for (media_type, is_one) in [
        ("image/png", true),
        ("text/plain; charset=utf-8", true),
        ("png", false),
        ("image/", false),
        ("image/png\r\nX: y", false),
        ("image/√", false),
    ] {
        let file = json!({ "body": { "base64": "AAAA", "media_type": media_type } });
        assert_eq!(check.check(&file).is_ok(), is_one, "{media_type}");
    }
}

#[test]
fn forms_of_swagger_2_are_made_of_parameters() {
    let document = json!({
        "swagger": "2.0",
        "host": "x.example",
        "consumes": ["application/x-www-form-urlencoded"],
        "paths": { "/do": {
            "post": { "operationId": "form", "parameters": [
                { "name": "a", "in": "formData", "type": "string", "required": true },
                { "name": "b", "in": "formData", "type": "array", "items": { "type": "string" }, "collectionFormat": "pipes" },
            ] },
            "put": { "operationId": "upload", "consumes": ["multipart/form-data"], "parameters": [
                { "name": "f", "in": "formData", "type": "file", "description": "A file." },
            ] },
            "patch": { "operationId": "json", "consumes": ["application/json", "application/xml"], "parameters": [
                { "name": "x", "in": "body", "required": true, "description": "A body.", "schema": { "type": "array", "items": {} } },
            ] },
        } },
    });
    insta::assert_snapshot!(printed(&document), @r#"
        form
          {"method":"POST","base":"https://x.example","path":"/do","body":{"arguments":{"members":{"names":["a","b"],"required":true}},"media":[{"type":"application/x-www-form-urlencoded","encoding":{"b":{"style":"pipeDelimited"}}}]}}
          {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"string"}}},"required":["a"],"additionalProperties":false}
        upload
          {"method":"PUT","base":"https://x.example","path":"/do","body":{"arguments":{"members":{"names":["f"]}},"media":[{"type":"multipart/form-data","files":["f"]}]}}
          {"type":"object","properties":{"f":{"type":"object","properties":{"filename":{"type":"string"},"media_type":{"type":"string","pattern":"^[\\w.+-]+/[\\w.+-]+(; ?[\\w-]+=[\\w.+-]+)*$"},"base64":{"type":"string","contentEncoding":"base64"}},"required":["base64"],"additionalProperties":false,"description":"A file."}},"additionalProperties":false}
        json
          {"method":"PATCH","base":"https://x.example","path":"/do","body":{"arguments":{"whole":"body"},"media":[{"type":"application/json"}]}}
          {"type":"object","properties":{"body":{"type":"array","items":{},"description":"A body."}},"required":["body"],"additionalProperties":false}
        "#);
}

#[test]
fn a_bad_operation_costs_itself() {
    let document = json!({
        "openapi": "3.2.0",
        "servers": [{ "url": "https://x.example" }],
        "paths": {
            "/a": { "get": null, "post": { "operationId": "ok" }, "query": {}, "parameters": 3, "x-get": {} },
            "no-slash": { "get": { "parameters": [3, null], "requestBody": { "$ref": "#/none" }, "responses": [], "tags": "x" } },
            "/ref": { "$ref": "#/paths/~1a" },
            "/bad": 3,
            "/more": { "additionalOperations": { "COPY": { "operationId": "copy" }, "NOT OK": {} } },
            "x-path": { "get": {} },
        },
    });
    insta::assert_snapshot!(printed(&document), @r#"
        post_a
          {"method":"POST","base":"https://x.example","path":"/a"}
          {"type":"object","properties":{},"additionalProperties":false}
        query_a
          {"method":"QUERY","base":"https://x.example","path":"/a"}
          {"type":"object","properties":{},"additionalProperties":false}
        get_no-slash
          {"method":"GET","base":"https://x.example","path":"/no-slash"}
          {"type":"object","properties":{},"additionalProperties":false}
        post_ref
          {"method":"POST","base":"https://x.example","path":"/ref"}
          {"type":"object","properties":{},"additionalProperties":false}
        query_ref
          {"method":"QUERY","base":"https://x.example","path":"/ref"}
          {"type":"object","properties":{},"additionalProperties":false}
        copy
          {"method":"COPY","base":"https://x.example","path":"/more"}
          {"type":"object","properties":{},"additionalProperties":false}
        unusable: GET /a: it is not an object
        unusable: GET /ref: it is not an object
        unusable: NOT OK /more: its method is not legal
        note: get_no-slash: a parameter that is no object was left out
        note: get_no-slash: its body was left out: `#/none` leads nowhere
        "#);
}

#[test]
fn answers_have_schemas_where_they_are_json() {
    let answer = |schema: Value| {
        let operation = json!({ "responses": { "201": { "content": { "application/json": { "schema": schema } } } } });
        let tool = described(&with_post(&operation)).unwrap().tools.remove(0);
        tool.output_schema.unwrap_or_default().to_string()
    };
    for (schema, expected) in [
        (
            json!({ "type": "object", "properties": { "p": { "writeOnly": true } } }),
            r#"{"type":"object","properties":{}}"#,
        ),
        (
            json!({ "type": "array", "items": { "type": "integer" } }),
            r#"{"type":"object","properties":{"result":{"type":"array","items":{"type":"integer"}}},"required":["result"]}"#,
        ),
        (json!({}), ""),
        (
            json!({ "allOf": [{ "type": "object" }, {}] }),
            r#"{"type":"object","allOf":[{"type":"object"},{}]}"#,
        ),
        (json!({ "$ref": "#/none" }), ""),
    ] {
        assert_eq!(answer(schema), expected);
    }
    let mut large = json!({ "type": "object", "properties": {} });
    for index in 0..100 {
        large["properties"][format!("p{index}")] = json!({ "type": "object", "properties": { "q": { "type": "string", "description": "d".repeat(400) } } });
    }
    let text = answer(large);
    assert!(text.len() <= 16 * 1024 && text.contains(r#""p99":{}"#), "{text}");
}

#[test]
fn the_server_is_the_nearest_one_that_can_be_used() {
    let servers = |operation: Value, item: Value, root: Value| {
        let mut document = with_post(&json!({}));
        document["servers"] = root;
        document["paths"]["/do"]["servers"] = item;
        document["paths"]["/do"]["post"]["servers"] = operation;
        let options = DescriptionOptions {
            server_variables: [("region".to_owned(), "eu".to_owned())].into(),
            ..DescriptionOptions::default()
        };
        let description = described_with(&document, &options).unwrap();
        description.tools[0].action.base.clone().unwrap()
    };
    let root = json!([{ "url": "/v1/" }]);
    for (operation, item, root, expected) in [
        (json!(null), json!(null), root.clone(), "https://api.example/v1"),
        (json!(null), json!(null), json!([]), "https://api.example"),
        (
            json!(null),
            json!([{ "url": "https://item.example" }]),
            root.clone(),
            "https://item.example",
        ),
        (
            json!([{ "url": "https://op.example/x/" }]),
            json!([{ "url": "https://item.example" }]),
            root.clone(),
            "https://op.example/x",
        ),
        (
            json!(null),
            json!(null),
            json!([{ "url": "https://{region}.{host}:{port}", "variables": {
                "region": { "default": "us" }, "host": { "enum": ["a.example", "b.example"] }, "port": { "default": 8443 } } }]),
            "https://eu.a.example:8443",
        ),
        (
            json!(null),
            json!(null),
            json!([{ "url": "{unknown}" }, { "url": "ws://x" }, { "url": "http://y.example" }]),
            "http://y.example",
        ),
        (
            json!([{ "url": "/v2" }]),
            json!(null),
            json!([{ "url": "https://root.example/v1" }]),
            "https://root.example/v2",
        ),
        (
            json!([{ "url": "beta/" }]),
            json!([{ "url": "/x/y" }]),
            json!([{ "url": "https://root.example/v1" }]),
            "https://root.example/x/beta",
        ),
    ] {
        assert_eq!(servers(operation, item, root), expected);
    }
}

#[test]
fn an_operations_own_path_counts_at_the_configured_server_too() {
    let base = |operation: Value, location: &str| {
        let mut document = with_post(&json!({}));
        document["servers"] = json!([{ "url": "https://root.example/v1" }]);
        document["paths"]["/do"]["post"]["servers"] = operation;
        let mut library = Library::of(&document);
        library.move_to(location);
        let base_url = Some(Url::parse("https://own.example/api/v1?key=k").unwrap());
        let options = DescriptionOptions { base_url, ..DescriptionOptions::default() };
        let read = read(&ApiDocuments { library }, &options).unwrap();
        let base = read.tools[0].action.base.clone();
        assert_eq!(read.read.paths[0].base, base);
        let configured = options.base_url.as_ref();
        (base.clone(), crate::action::server(configured, base.as_deref()).unwrap().to_string())
    };
    for location in ["file:///api.json", "https://docs.example/api.json"] {
        for (operation, own, whole) in [
            (json!([{ "url": "/v2/" }]), Some("/v2"), "https://own.example/v2?key=k"),
            (json!([{ "url": "v2" }]), Some("/api/v2"), "https://own.example/api/v2?key=k"),
            (json!([{ "url": "//evil.example/v2" }]), None, "https://own.example/api/v1?key=k"),
            (json!([{ "url": "https://up.example" }]), None, "https://own.example/api/v1?key=k"),
            (json!(null), None, "https://own.example/api/v1?key=k"),
        ] {
            let expected = (own.map(str::to_owned), whole.to_owned());
            assert_eq!(base(operation.clone(), location), expected, "{operation}");
        }
    }
}

#[tokio::test]
async fn an_operation_that_is_a_reference_is_followed() {
    struct Folder;
    impl Documents for Folder {
        fn fetch<'a>(
            &'a self,
            url: &'a Url,
            _: &'a DocumentBudget,
        ) -> BoxFuture<'a, Result<Bytes, BoxError>> {
            let text = match url.path() {
                "/api.yml" => {
                    "openapi: 3.0.0
servers: [{url: 'https://x.example'}]
security: [{key: []}]
paths:
  /a/{id}: {get: {$ref: ops/get.yml}, delete: {$ref: ops/gone.yml}, put: {$ref: '#/x-shared/put'}}
x-shared: {put: {operationId: put, parameters: [{name: id, in: path, required: true, schema: {type: integer}}]}}
components: {securitySchemes: {key: {type: http, scheme: bearer}}}
"
                }
                "/ops/get.yml" => {
                    "operationId: get
parameters: [{$ref: '../parts/id.yml'}, {name: deep, in: query, schema: {type: boolean}}]
security: []
"
                }
                "/parts/id.yml" => "{name: id, in: path, required: true, schema: {type: integer}}",
                _ => return std::future::ready(Err("no such document".into())).boxed(),
            };
            std::future::ready(Ok(Bytes::from_static(text.as_bytes()))).boxed()
        }
    }

    let url = Url::parse("https://x.example/api.yml").unwrap();
    let documents = ApiDocuments::load(&url, &Folder).await.unwrap();
    let read = read(&documents, &DescriptionOptions::default()).unwrap();
    let tools: Vec<_> = read
        .tools
        .iter()
        .map(|tool| {
            let arguments: Vec<_> =
                tool.action.parameters.iter().map(|one| one.name.as_str()).collect();
            format!("{} {} {:?}", tool.name, arguments.join(","), tool.action.security.is_some())
        })
        .collect();
    assert_eq!(tools, ["get id,deep true", "put id true"]);
    assert_eq!(read.read.unusable[0].operation, "DELETE /a/{id}");
    assert_eq!(read.read.unusable[0].why, "the document `ops/gone.yml` could not be had");
}

#[test]
fn without_a_server_the_configuration_has_to_name_one() {
    let document = json!({ "swagger": "2.0", "paths": { "/a": { "get": {} } } });
    let library = || {
        let mut library = Library::of(&document);
        library.move_to("file:///api.json");
        ApiDocuments { library }
    };
    let error = read(&library(), &DescriptionOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the description does not say where the API is: set `base_url`");
    let base_url = Some(Url::parse("https://x.example").unwrap());
    let options = DescriptionOptions { base_url, ..DescriptionOptions::default() };
    assert_eq!(read(&library(), &options).unwrap().tools[0].action.base, None);
}

#[test]
fn an_operation_names_its_ways_to_sign_in() {
    let document = json!({
        "openapi": "3.0.0",
        "security": [{ "key": [] }],
        "paths": { "/a": {
            "get": { "operationId": "inherits" },
            "put": { "operationId": "open", "security": [] },
            "post": { "operationId": "own", "security": [{ "token": ["x"], "cert": [] }, {}, { "name": [] }] },
            "patch": { "operationId": "unknown", "security": [{ "gone": [] }] },
        } },
        "components": { "securitySchemes": {
            "key": { "type": "apiKey", "in": "header", "name": "X-Key" },
            "name": { "type": "http", "scheme": "Basic" },
            "cert": { "type": "mutualTLS" },
            "token": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "/token", "scopes": {} }, "authorizationCode": { "authorizationUrl": "https://id.example/a", "tokenUrl": "/token", "scopes": {} } } },
        } },
    });
    let description = described(&document).unwrap();
    let security = description.tools.iter().map(|tool| {
        format!("{} {}", tool.name, serde_json::to_string(&tool.action.security).unwrap())
    });
    insta::assert_snapshot!(security.collect::<Vec<_>>().join("\n"), @r#"
        inherits [{"key":{"key":{"in":"header","name":"X-Key"}}}]
        open []
        own [{"cert":"mutual_tls","token":"bearer"},{},{"name":"basic"}]
        unknown null
        "#);
    assert_eq!(description.read.token_urls, ["https://api.example/token"]);
    let urls = |flow: &CodeFlowUrls| format!("{} {}", flow.authorize, flow.token);
    let flows: Vec<_> = description.read.code_flows.iter().map(urls).collect();
    assert_eq!(flows, ["https://id.example/a https://api.example/token"]);
}

#[test]
fn a_key_goes_where_it_is_declared_though_no_operation_asks_for_it() {
    let document = json!({
        "openapi": "3.1.0",
        "paths": { "/a": { "get": { "operationId": "silent" }, "put": { "operationId": "free", "security": [] } } },
        "components": { "securitySchemes": { "k": { "type": "apiKey", "in": "header", "name": "X-Key" } } },
    });
    let tools = described(&document).unwrap().tools;
    let security = tools.iter().map(|tool| serde_json::to_string(&tool.action.security).unwrap());
    let expected = [r#"[{"k":{"key":{"in":"header","name":"X-Key"}}}]"#, "[]"];
    assert_eq!(security.collect::<Vec<_>>(), expected);
}

#[test]
fn hints_follow_from_the_method() {
    let mut item = json!({});
    for method in ["get", "head", "query", "put", "delete", "patch", "post"] {
        item[method] = json!({});
    }
    let document = json!({ "openapi": "3.2.0", "paths": { "/a": item } });
    let description = described(&document).unwrap();
    let hints = description.tools.iter().map(|tool| {
        format!("{} {}", tool.action.method, serde_json::to_string(&tool.hints).unwrap())
    });
    insta::assert_snapshot!(hints.collect::<Vec<_>>().join("\n"), @r#"
        GET {"readOnlyHint":true,"openWorldHint":true}
        HEAD {"readOnlyHint":true,"openWorldHint":true}
        QUERY {"readOnlyHint":true,"openWorldHint":true}
        PUT {"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true}
        DELETE {"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true}
        PATCH {"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}
        POST {"readOnlyHint":false,"openWorldHint":true}
        "#);
}

#[test]
fn a_manifest_tells_what_was_changed() {
    let document =
        with_post(&json!({ "deprecated": true, "summary": "S", "requestBody": { "content": {} } }));
    let mut document = document;
    document["paths"]["/do"]["get"] = json!(3);
    let Described { tools, read } = described(&document).unwrap();
    let builder = Manifest::builder(gatefold_core::Timestamp::from_millis(0));
    let builder = tools.into_iter().fold(builder, |all, one| all.tool(one.into_spec()));
    let manifest = read.into_manifest(builder);
    let told: Vec<String> = manifest.alterations().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "operation `GET /do` was left out: it is not an object",
            "tool `post_do` was repaired: its body was left out: it has no media type",
        ],
    );
    insta::assert_snapshot!(manifest.tools()[0].raw(), @r#"{"_meta":{"gatefold/http":{"method":"POST","base":"https://x.example","path":"/do"}},"annotations":{"readOnlyHint":false,"openWorldHint":true},"description":"Deprecated. S","inputSchema":{"type":"object","properties":{},"additionalProperties":false},"name":"post_do","title":"S"}"#);
}

#[test]
fn other_documents_are_refused_with_the_reason() {
    for (document, expected) in [
        (json!({}), "it is no OpenAPI description: it has neither `openapi` nor `swagger`"),
        (json!([]), "it is no OpenAPI description: it has neither `openapi` nor `swagger`"),
        (
            json!({ "openapi": "4.0" }),
            "it is no OpenAPI description: version `4.0` is none of 2.0, 3.0, 3.1 and 3.2",
        ),
    ] {
        assert_eq!(described(&document).unwrap_err().to_string(), expected);
    }
}

#[test]
fn operations_with_the_same_answer_have_the_same_schema_and_keep_their_notes() {
    let answer =
        json!({ "200": { "content": { "application/json": { "schema": { "$ref": "#/a" } } } } });
    let open = json!({ "200": { "content": { "application/json": { "schema": {} } } } });
    let body = json!({ "content": {} });
    let document = json!({
        "openapi": "3.0.0",
        "paths": { "/p": {
            "get": { "responses": answer, "requestBody": body },
            "put": { "responses": answer, "requestBody": body },
            "post": { "responses": open, "requestBody": body },
        } },
        "a": { "type": "array", "items": { "maxLength": "x" } },
    });
    let description = described(&document).unwrap();
    let [get, put, post] = &description.tools[..] else { panic!("{description:?}") };
    assert!(get.output_schema.is_some() && get.output_schema == put.output_schema);
    assert_eq!(
        (get.action.result, put.action.result),
        (ResultShape::Wrapped, ResultShape::Wrapped)
    );
    assert_eq!(post.output_schema, None);
    let noted: Vec<_> =
        description.read.notes.iter().map(|note| note.tool.as_deref().unwrap()).collect();
    assert_eq!(noted, ["get_p", "put_p", "post_p"]);
}
