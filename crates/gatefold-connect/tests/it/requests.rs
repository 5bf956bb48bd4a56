use serde_json::{Value, json};

use crate::arrival::{ArrivedValue, Form, arrived, form_pairs};
use crate::fixture::{ArrivedPart, FixtureApi};

/// Every place with its styles (OpenAPI 3.2, "Style Values"; Swagger 2, `collectionFormat`).
const PLACES: [(&str, &[&str]); 4] = [
    ("path", &["simple", "label", "matrix"]),
    ("query", &["form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"]),
    ("header", &["simple"]),
    ("cookie", &["form", "cookie"]),
];

/// Every place, style and `explode`.
pub(crate) fn ways() -> Vec<(&'static str, &'static str, bool)> {
    let styles =
        PLACES.iter().flat_map(|(place, styles)| styles.iter().map(|style| (*place, *style)));
    styles.flat_map(|(place, style)| [(place, style, true), (place, style, false)]).collect()
}

/// A call with one argument, `v`.
pub(crate) fn action(place: &str, style: &str, explode: bool) -> Value {
    let parameter = json!({ "name": "v", "in": place, "style": style, "explode": explode });
    let path = if place == "path" { "/a/{v}/b" } else { "/" };
    json!({ "method": "GET", "path": path, "parameters": [parameter] })
}

#[tokio::test]
async fn every_style_arrives_from_every_place() {
    let api = FixtureApi::start().await;
    let values = [
        (Form::Scalar, json!("blue")),
        (Form::Scalar, json!(-7)),
        (Form::Scalar, json!(1.5)),
        (Form::Scalar, json!(true)),
        (Form::List, json!(["blue"])),
        (Form::List, json!(["blue", 2, false, null, { "a": [1] }, [2, 3]])),
        (Form::Object, json!({ "R": 100 })),
        (Form::Object, json!({ "R": 100, "G": "200", "none": null, "B": true })),
    ];
    let mut calls = 0;
    for how @ (place, style, explode) in ways() {
        for (form, value) in &values {
            // No specification defines a list in this style. The unit tests have ours.
            if style == "deepObject" && *form == Form::List {
                continue;
            }
            match api.call(action(place, style, explode), &json!({ "v": value })).await {
                Ok(request) => {
                    assert_eq!(
                        arrived(&request, how, *form),
                        ArrivedValue::of(value),
                        "{how:?} {value}"
                    );
                    calls += 1;
                }
                // Items of a header end at a comma, and such a cookie carries neither it nor quotes.
                Err(error) => {
                    let has_commas = value.to_string().contains("[2,3]");
                    let is_right = has_commas && (place == "header" || style == "cookie");
                    assert!(is_right, "{how:?} {value}: {error}");
                }
            }
        }
    }
    assert_eq!(calls, 168);
}

#[tokio::test]
async fn a_hostile_argument_stays_in_its_place() {
    let api = FixtureApi::start().await;
    let hostile = [
        "../admin",
        "..%2fadmin",
        "%2e%2e/x",
        "a/../../b",
        "/",
        "\\..\\",
        "?x=1",
        "#f",
        "a?b#c",
        "a&v=2",
        "a=b;c=d",
        "%",
        "%00",
        "\u{0}",
        "a\tb",
        "a b+c",
        "//evil.example",
        "@evil.example:80",
        "http://evil.example/",
        "é𝄞日本",
        "a,b|c",
        "'\"<>`{}^",
        "[x]",
        ":@!$&'()*+,;=",
    ];
    for value in hostile {
        for (place, style) in
            [("path", "simple"), ("path", "matrix"), ("query", "form"), ("cookie", "form")]
        {
            let sent = api.call(action(place, style, false), &json!({ "v": value })).await;
            // A server that decodes first would go up, or stay.
            let has_dots = value.contains("..") || value.contains("%2e");
            // The first segment of this style begins with the name.
            let is_behind_name = style == "matrix" && value.starts_with(['.', '%']);
            if place == "path" && has_dots && !is_behind_name {
                let refused = sent.unwrap_err().to_string();
                assert_eq!(refused, "`v` would lead to another path: leave out `.` and `..`");
                continue;
            }
            let request = sent.unwrap();
            let arrived = arrived(&request, (place, style, false), Form::Scalar);
            assert_eq!(arrived, ArrivedValue::Scalar(value.to_owned()), "{place} {style}");
            let own_path = if place == "path" { "/a/" } else { "/" };
            assert!(request.path.starts_with(own_path), "{}", request.path);
        }
    }
    for value in ["a\r\nHost: evil.example", "a\nb", "\u{0}", "é", "\u{7f}"] {
        let refused = api.call(action("header", "simple", false), &json!({ "v": value })).await;
        assert!(refused.is_err(), "{value:?}");
    }
}

#[tokio::test]
async fn a_body_arrives_as_it_was_given() {
    let api = FixtureApi::start().await;
    let action = |media_type: &str| {
        let body = json!({ "arguments": { "whole": "b" }, "media": [{ "type": media_type }] });
        json!({ "method": "POST", "path": "/x", "body": body })
    };
    let numbers: Value = serde_json::from_str(
        r#"{"id":12345678901234567890123,"x":1.50,"text":"é\u0000","n":[null]}"#,
    )
    .unwrap();
    let file = json!({ "filename": "x", "media_type": "image/png", "base64": "AP8AAQ==" });
    for (media_type, value, expected) in [
        ("application/json", numbers.clone(), numbers.to_string().into_bytes()),
        ("application/vnd.x+json", json!("text"), b"\"text\"".to_vec()),
        ("text/plain", json!("é\n"), "é\n".as_bytes().to_vec()),
        ("application/xml", json!("<a/>"), b"<a/>".to_vec()),
        ("application/octet-stream", file.clone(), vec![0, 255, 0, 1]),
        ("image/*", file, vec![0, 255, 0, 1]),
        ("audio/*", json!({ "base64": "AP8AAQ==" }), vec![0, 255, 0, 1]),
    ] {
        let request = api.call(action(media_type), &json!({ "b": value })).await.unwrap();
        assert_eq!(request.method, "POST");
        let own_type = match media_type {
            "application/octet-stream" | "image/*" => "image/png",
            "audio/*" => "application/octet-stream",
            other => other,
        };
        assert_eq!(request.header("content-type"), [own_type]);
        assert_eq!(request.body(), expected, "{media_type}");
    }
    let request = api.call(action("application/json"), &json!({})).await.unwrap();
    assert!(request.header("content-type").is_empty() && request.body().is_empty());
}

#[tokio::test]
async fn a_form_arrives_as_pairs() {
    let api = FixtureApi::start().await;
    let media = json!([{ "type": "application/x-www-form-urlencoded", "encoding": {
        "deep": { "style": "deepObject" }, "csv": { "explode": false },
    }}]);
    let action = json!({ "method": "POST", "path": "/x", "body": { "arguments": { "whole": "b" }, "media": media } });
    let body = json!({
        "a": "x y&=+%é\r\n", "list": [1, "b"], "o": { "k": [1] }, "deep": { "k": { "l": 1 } }, "csv": [1, 2],
        "none": null, "empty": "", "yes": true,
    });
    let request = api.call(action, &json!({ "b": body })).await.unwrap();
    let expected = [
        ("a", "x y&=+%é\r\n"),
        ("list", "1"),
        ("list", "b"),
        ("o", r#"{"k":[1]}"#),
        ("deep[k][l]", "1"),
        ("csv", "1,2"),
        ("empty", ""),
        ("yes", "true"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(form_pairs(std::str::from_utf8(&request.body()).unwrap()), expected);
}

#[tokio::test]
async fn the_parts_of_a_multipart_body_arrive() {
    let api = FixtureApi::start().await;
    let body = json!({
        "arguments": { "members": { "names": ["text", "list", "object", "file", "files", "typed"] } },
        "media": [{ "type": "multipart/form-data", "files": ["file", "files"], "encoding": {
            "typed": { "content_type": "text/csv" },
        }}],
    });
    let arguments = json!({
        "text": "a\r\n--b\r\n", "list": [1, true], "object": { "x": "é" }, "typed": "1,2",
        "file": { "filename": "é.bin", "media_type": "application/x-y", "base64": "AP8=" },
        "files": ["aGk=", { "filename": "b.txt", "base64": "Yg==" }],
    });
    let part =
        |name: &str, filename: Option<&str>, media_type: Option<&str>, content: &str| ArrivedPart {
            name: name.to_owned(),
            filename: filename.map(str::to_owned),
            media_type: media_type.map(str::to_owned),
            content: content.to_owned(),
        };
    let octets = Some("application/octet-stream");
    let expected = [
        part("text", None, None, "a\r\n--b\r\n"),
        part("list", None, None, "1"),
        part("list", None, None, "true"),
        part("object", None, Some("application/json"), "{\"x\":\"é\"}"),
        part("file", Some("é.bin"), Some("application/x-y"), "AP8="),
        part("files", Some("files"), octets, "hi"),
        part("files", Some("b.txt"), octets, "b"),
        part("typed", None, Some("text/csv"), "1,2"),
    ];
    assert_eq!(api.parts(body, &arguments).await, expected);
}
