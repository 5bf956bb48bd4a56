//! What a server receives when a description says where an argument goes: every place, style and `explode`
//! with every type, in each edition.

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_connect::{ApiDocuments, DescriptionOptions, DocumentBudget, Documents, Overlay};
use serde_json::{Map, Value, json};
use url::Url;

use crate::arrival::{ArrivedValue, Form, arrived, form_pairs};
use crate::fixture::FixtureApi;
use crate::requests::ways;

/// One document.
struct OneDocument(String);

impl Documents for OneDocument {
    fn fetch<'a>(
        &'a self,
        _: &'a Url,
        _: &'a DocumentBudget,
    ) -> BoxFuture<'a, Result<Bytes, gatefold_core::BoxError>> {
        std::future::ready(Ok(Bytes::from(self.0.clone()))).boxed()
    }
}

/// The action that a description with one operation gives, as it is kept.
async fn action_of(document: &Value) -> Value {
    let url = Url::parse("http://127.0.0.1/openapi.json").unwrap();
    let documents = OneDocument(document.to_string());
    let loaded = ApiDocuments::load(&url, &documents).await.unwrap();
    let (options, overlay) = (DescriptionOptions::default(), Overlay::default());
    let mut reading = loaded.read(&options, &overlay).unwrap();
    let tools: Vec<_> = reading.by_ref().collect();
    let read = reading.finish();
    let [tool] = &tools[..] else { panic!("{:?} {:?}", read.unusable, read.notes) };
    assert!(read.notes.is_empty(), "{:?}\n{document}", read.notes);
    serde_json::to_value(&tool.action).unwrap()
}

fn document(version: &str, path: &str, method: &str, operation: &Value) -> Value {
    let key = if version == "2.0" { "swagger" } else { "openapi" };
    json!({
        key: version,
        "info": { "title": "T", "version": "1" },
        "host": "127.0.0.1",
        "servers": [{ "url": "http://127.0.0.1" }],
        "paths": { path: { method: operation } },
    })
}

fn path_of(place: &str) -> &'static str {
    if place == "path" { "/a/{v}/b" } else { "/" }
}

const TYPES: [Form; 3] = [Form::Scalar, Form::List, Form::Object];

fn schema(form: Form) -> Value {
    match form {
        Form::Scalar => json!({ "type": "string" }),
        Form::List => json!({ "type": "array", "items": { "type": "string" } }),
        Form::Object => {
            json!({ "type": "object", "additionalProperties": { "type": "string" } })
        }
    }
}

/// Texts that stand in every place, and such as only an encoding carries there.
fn values(form: Form) -> Vec<Value> {
    let texts = [
        "blue", "a b", "é𝄞", "a/b?c#d", "x&y=z", "%2F%00", "+", "..x", "a;b", "[\"q\"]", "\u{0}\n",
    ];
    match form {
        Form::Scalar => texts.map(Value::from).to_vec(),
        Form::List => texts.iter().map(|text| json!([text, "second", "2"])).collect(),
        Form::Object => texts.iter().map(|text| json!({ "R": text, "G": "200" })).collect(),
    }
}

/// Whether a place has no way to carry a value, so that the call is refused.
fn is_uncarried((place, style, explode): (&str, &str, bool), value: &Value) -> bool {
    let text = value.as_str().or(value[0].as_str()).or(value["R"].as_str()).unwrap();
    let is_list = value.is_array() || value.is_object();
    match (place, style) {
        ("header", _) => {
            text.contains(|c: char| !(' '..='~').contains(&c))
                || (value.is_object() && explode && text.contains(','))
        }
        ("cookie", "cookie") => {
            text.contains(|c: char| !c.is_ascii_graphic() || "\";\\,=".contains(c))
        }
        // The style's own dot would stand alone before a slash, or before what URLs lose.
        ("path", "label") => {
            !value.is_object() && text.starts_with("%2F")
                || !is_list && text.chars().all(char::is_control)
        }
        ("query", "spaceDelimited") => is_list && !explode && text.contains(' '),
        ("query", "pipeDelimited") => is_list && !explode && text.contains('|'),
        _ => false,
    }
}

#[tokio::test]
async fn every_style_of_a_description_arrives_with_every_type() {
    let api = FixtureApi::start().await;
    let (mut calls, mut refused) = (0, 0);
    for how @ (place, style, explode) in ways() {
        for form in TYPES {
            // Only Swagger 2 has the first, and nobody defines the second.
            if style == "tabDelimited" || (style == "deepObject" && form != Form::Object) {
                continue;
            }
            let versions: &[&str] =
                if style == "cookie" { &["3.2.0"] } else { &["3.0.3", "3.1.0", "3.2.0"] };
            for version in versions {
                let parameter = json!({ "name": "v", "in": place, "style": style,
                    "explode": explode, "required": true, "schema": schema(form) });
                let operation = json!({ "parameters": [parameter] });
                let action = action_of(&document(version, path_of(place), "get", &operation)).await;
                for value in values(form) {
                    let shown = format!("{version} {how:?} {value}");
                    match api.call(action.clone(), &json!({ "v": value })).await {
                        Ok(request) => {
                            let expected = ArrivedValue::of(&value);
                            assert_eq!(arrived(&request, how, form), expected, "{shown}");
                            calls += 1;
                        }
                        Err(error) => {
                            assert!(is_uncarried(how, &value), "{shown}: {error}");
                            refused += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!((calls, refused), (1626, 90));
}

#[tokio::test]
async fn every_collection_format_of_swagger_2_arrives() {
    let api = FixtureApi::start().await;
    let formats = [
        ("csv", "query", "form", false),
        ("ssv", "query", "spaceDelimited", false),
        ("tsv", "query", "tabDelimited", false),
        ("pipes", "query", "pipeDelimited", false),
        ("multi", "query", "form", true),
        ("csv", "path", "simple", false),
        ("csv", "header", "simple", false),
    ];
    for (format, place, style, explode) in formats {
        let parameter = json!({ "name": "v", "in": place, "required": true, "type": "array",
            "items": { "type": "string" }, "collectionFormat": format });
        let operation = json!({ "parameters": [parameter] });
        let action = action_of(&document("2.0", path_of(place), "get", &operation)).await;
        for value in values(Form::List) {
            let shown = format!("{format} {place} {value}");
            match api.call(action.clone(), &json!({ "v": value })).await {
                Ok(request) => {
                    let arrived = arrived(&request, (place, style, explode), Form::List);
                    assert_eq!(arrived, ArrivedValue::of(&value), "{shown}");
                }
                Err(error) => {
                    assert!(is_uncarried((place, style, explode), &value), "{shown}: {error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn reserved_characters_arrive_bare_only_where_a_description_allows_it() {
    let api = FixtureApi::start().await;
    // What would end the pair or the query, and what forms read as a space, is encoded all the same.
    for (is_allowed, expected) in [
        (true, "v=:/?@!$()*,;%23%26=%2B[%25%20%C3%A9"),
        (false, "v=%3A%2F%3F%40%21%24%28%29%2A%2C%3B%23%26%3D%2B%5B%25%20%C3%A9"),
    ] {
        let parameter = json!({ "name": "v", "in": "query", "allowReserved": is_allowed,
            "schema": { "type": "string" } });
        let operation = json!({ "parameters": [parameter] });
        let action = action_of(&document("3.1.0", "/", "get", &operation)).await;
        let value = ":/?@!$()*,;#&=+[% é";
        let request = api.call(action, &json!({ "v": value })).await.unwrap();
        assert_eq!(request.query.as_deref(), Some(expected));
        let pairs = form_pairs(expected);
        assert_eq!(pairs, [("v".to_owned(), value.to_owned())]);
    }
}

/// The text of a parameter, decoded as its place wants.
fn text_in(place: &str, request: &crate::fixture::ArrivedRequest) -> String {
    let how = match place {
        "path" => ("path", "simple", false),
        "header" => ("header", "simple", false),
        "cookie" => ("cookie", "form", false),
        _ => ("query", "form", false),
    };
    match arrived(request, how, Form::Scalar) {
        ArrivedValue::Scalar(text) => text,
        other => panic!("{place}: {other:?}"),
    }
}

#[tokio::test]
async fn a_parameter_with_content_arrives_in_its_media_type() {
    let api = FixtureApi::start().await;
    let value = json!({ "a/b": [1, "x,y;z", null], "c": { "d": "e=f&g" } });
    for place in ["path", "query", "header", "cookie"] {
        let content = json!({ "application/json": { "schema": { "type": "object" } } });
        let parameter = json!({ "name": "v", "in": place, "required": true, "content": content });
        let operation = json!({ "parameters": [parameter] });
        let action = action_of(&document("3.1.0", path_of(place), "get", &operation)).await;
        let request = api.call(action, &json!({ "v": value })).await.unwrap();
        let arrived: Value = serde_json::from_str(&text_in(place, &request)).unwrap();
        assert_eq!(arrived, value, "{place}");
    }
    // The whole query in one media type (OpenAPI 3.2).
    for (media, expected) in [
        ("application/x-www-form-urlencoded", "c=1&d=x%20y"),
        ("application/json", "%7B%22c%22%3A1%2C%22d%22%3A%22x%20y%22%7D"),
    ] {
        let content = json!({ media: { "schema": { "type": "object" } } });
        let parameter = json!({ "name": "v", "in": "querystring", "content": content });
        let operation = json!({ "parameters": [parameter] });
        let action = action_of(&document("3.2.0", "/", "get", &operation)).await;
        let request = api.call(action, &json!({ "v": { "c": 1, "d": "x y" } })).await.unwrap();
        assert_eq!(request.query.unwrap().replace('+', "%20"), expected, "{media}");
    }
}

/// The schema of a body with members of every kind, and one that tells the media type.
fn members(media: &str) -> Value {
    json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string" }, "count": { "type": "integer" },
        "tags": { "type": "array", "items": { "type": "string" } },
        "place": { "type": "object", "properties": { "x": { "type": "number" } } },
        "via": { "enum": [media] },
    } })
}

#[tokio::test]
async fn a_described_body_arrives_in_each_media_type_that_a_call_chooses() {
    let api = FixtureApi::start().await;
    let types = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"];
    let content = types.map(|media| (media.to_owned(), json!({ "schema": members(media) })));
    let content: Map<_, _> = content.into_iter().collect();
    for version in ["3.0.3", "3.1.0", "3.2.0"] {
        let operation = json!({ "requestBody": { "required": true, "content": content } });
        let action = action_of(&document(version, "/multipart", "post", &operation)).await;
        let choice = action["body"]["choice"].as_str().unwrap();
        let argument = action["body"]["arguments"]["whole"].as_str().unwrap();
        for media in types {
            let value = json!({ "name": "é &=\r\n", "count": 7, "tags": ["a", "b,c"],
                "place": { "x": 1.5 }, "via": media });
            let arguments = json!({ argument: value, choice: media });
            if media == types[2] {
                let parts = api.parts(action["body"].clone(), &arguments).await;
                let parts = parts.into_iter().map(|part| (part.name, part.content)).collect();
                assert_eq!(texts_of(parts), expected_texts(media), "{version}");
                continue;
            }
            let request = api.call(action_at(&action, "/x"), &arguments).await.unwrap();
            assert_eq!(request.header("content-type"), [media]);
            if media == types[0] {
                let body: Value = serde_json::from_slice(&request.body()).unwrap();
                assert_eq!(body, value, "{version}");
            } else {
                let pairs = form_pairs(std::str::from_utf8(&request.body()).unwrap());
                assert_eq!(texts_of(pairs), expected_texts(media), "{version}");
            }
        }
    }
}

fn action_at(action: &Value, path: &str) -> Value {
    let mut action = action.clone();
    action["path"] = path.into();
    action
}

fn texts_of(pairs: Vec<(String, String)>) -> Vec<String> {
    pairs.into_iter().map(|(name, text)| format!("{name}: {text}")).collect()
}

fn expected_texts(media: &str) -> Vec<String> {
    let texts = ["name: é &=\r\n", "count: 7", "tags: a", "tags: b,c", r#"place: {"x":1.5}"#];
    texts.map(str::to_owned).into_iter().chain([format!("via: {media}")]).collect()
}

#[tokio::test]
async fn what_an_api_alone_may_set_is_no_argument_and_is_not_sent() {
    let api = FixtureApi::start().await;
    let schema = json!({ "type": "object", "properties": {
        "name": { "type": "string" }, "own": { "type": "string", "readOnly": true } } });
    for media in ["application/json", "application/x-www-form-urlencoded"] {
        let content = json!({ media: { "schema": schema } });
        let operation = json!({ "requestBody": { "content": content } });
        let action = action_of(&document("3.1.0", "/x", "post", &operation)).await;
        let request = api.call(action, &json!({ "name": "n", "own": "mine" })).await.unwrap();
        let body = String::from_utf8(request.body()).unwrap();
        assert!(body.contains("name") && !body.contains("mine"), "{media}: {body}");
    }
}

#[tokio::test]
async fn a_described_file_arrives_with_its_name_and_its_type() {
    let api = FixtureApi::start().await;
    let file = json!({ "filename": "a \"b\".png", "media_type": "image/png", "base64": "AP8A" });
    for (version, one) in [
        ("3.0.3", json!({ "type": "string", "format": "binary" })),
        ("3.1.0", json!({ "contentMediaType": "image/png" })),
        ("3.1.0", json!({ "type": "string", "format": "binary" })),
    ] {
        let schema = json!({ "type": "object", "properties": {
            "image": one, "more": { "type": "array", "items": one },
            "data": { "type": "object" }, "note": { "type": "string" },
        } });
        let media = json!({ "schema": schema, "encoding": {
            "note": { "contentType": "text/markdown" }, "data": { "contentType": "application/json" } } });
        let operation = json!({ "requestBody": { "content": { "multipart/form-data": media } } });
        let action = action_of(&document(version, "/multipart", "post", &operation)).await;
        let arguments =
            json!({ "image": file, "more": [file, file], "data": { "k": 1 }, "note": "#" });
        let parts = api.parts(action["body"].clone(), &arguments).await;
        let shown: Vec<_> = parts
            .iter()
            .map(|part| {
                let file = part.filename.as_deref().unwrap_or("-");
                format!("{} {file} {}", part.name, part.media_type.as_deref().unwrap_or("-"))
            })
            .collect();
        let image = "a %22b%22.png image/png";
        let expected = [
            format!("image {image}"),
            format!("more {image}"),
            format!("more {image}"),
            "data - application/json".to_owned(),
            "note - text/markdown".to_owned(),
        ];
        assert_eq!(shown, expected, "{version} {one}");
        assert!(parts[..3].iter().all(|part| part.content == "AP8A"), "{parts:?}");
    }
    // Swagger 2 says the same in another way.
    let parameters = json!([
        { "name": "image", "in": "formData", "type": "file", "required": true },
        { "name": "note", "in": "formData", "type": "string" },
        { "name": "tags", "in": "formData", "type": "array", "items": { "type": "string" }, "collectionFormat": "multi" },
    ]);
    let operation = json!({ "consumes": ["multipart/form-data"], "parameters": parameters });
    let action = action_of(&document("2.0", "/multipart", "post", &operation)).await;
    let arguments = json!({ "image": file, "note": "é", "tags": ["a", "b"] });
    let parts = api.parts(action["body"].clone(), &arguments).await;
    let shown: Vec<_> =
        parts.iter().map(|part| (part.name.as_str(), part.content.as_str())).collect();
    assert_eq!(shown, [("image", "AP8A"), ("note", "é"), ("tags", "a"), ("tags", "b")]);
}

#[tokio::test]
async fn a_described_text_and_raw_bytes_arrive_as_they_are() {
    let api = FixtureApi::start().await;
    for (media, schema, value, sent, expected) in [
        (
            "text/plain",
            json!({ "type": "string" }),
            json!("é\r\n\u{0}"),
            "text/plain",
            "é\r\n\u{0}".as_bytes(),
        ),
        ("application/xml", json!({ "type": "string" }), json!("<a/>"), "application/xml", b"<a/>"),
        (
            "application/octet-stream",
            json!({ "type": "string", "format": "binary" }),
            json!({ "filename": "x", "media_type": "image/gif", "base64": "AP8A" }),
            "image/gif",
            &[0, 255, 0],
        ),
        (
            "image/png",
            json!({ "type": "string", "format": "binary" }),
            json!({ "base64": "AP8A" }),
            "image/png",
            &[0, 255, 0],
        ),
        (
            "application/json",
            json!({ "type": "array", "items": {} }),
            json!([1, null]),
            "application/json",
            b"[1,null]",
        ),
        ("application/json", json!({ "type": "string" }), json!("x"), "application/json", b"\"x\""),
    ] {
        let operation = json!({ "requestBody": { "content": { media: { "schema": schema } } } });
        let action = action_of(&document("3.0.3", "/x", "put", &operation)).await;
        let argument = action["body"]["arguments"]["whole"].as_str().unwrap().to_owned();
        let request = api.call(action, &json!({ argument: value })).await.unwrap();
        assert_eq!(request.method, "PUT");
        assert_eq!(
            (request.header("content-type"), &request.body()[..]),
            (vec![sent], expected),
            "{media}"
        );
    }
}

#[tokio::test]
async fn arguments_of_one_name_arrive_each_in_its_own_place() {
    let api = FixtureApi::start().await;
    let parameters: Vec<Value> = ["path", "query", "header", "cookie"]
        .iter()
        .map(|place| json!({ "name": "v", "in": place, "required": true, "schema": { "type": "string" } }))
        .collect();
    let schema = json!({ "type": "object", "properties": { "v": { "type": "string" } } });
    let operation = json!({ "parameters": parameters,
        "requestBody": { "content": { "application/json": { "schema": schema } } } });
    let action = action_of(&document("3.1.0", "/a/{v}/b", "post", &operation)).await;
    let specs = action["parameters"].as_array().unwrap();
    let argument =
        |spec: &Value| spec.get("argument").unwrap_or(&spec["name"]).as_str().unwrap().to_owned();
    let mut arguments: Map<String, Value> =
        specs.iter().map(|spec| (argument(spec), spec["in"].clone())).collect();
    assert_eq!(arguments.len(), 4, "{arguments:?}");
    let body = action["body"]["arguments"].clone();
    let name = body["whole"].as_str().or(body["members"]["names"][0].as_str()).unwrap().to_owned();
    let is_whole = body["whole"].is_string();
    let value = if is_whole { json!({ "v": "body" }) } else { json!("body") };
    assert!(arguments.insert(name, value).is_none(), "{arguments:?}");
    let request = api.call(action, &Value::Object(arguments)).await.unwrap();
    for place in ["path", "query", "header", "cookie"] {
        assert_eq!(text_in(place, &request), place);
    }
    assert_eq!(request.body(), br#"{"v":"body"}"#);
}
