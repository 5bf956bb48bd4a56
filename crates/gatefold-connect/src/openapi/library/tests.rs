use std::collections::BTreeMap;

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _};
use gatefold_core::BoxError;
use serde_json::{Value, json};

use super::super::text::DOCUMENT_LIMIT;
use super::*;

struct Fixtures(BTreeMap<&'static str, Value>);

impl Documents for Fixtures {
    fn fetch<'a>(
        &'a self,
        url: &'a Url,
        _: &'a DocumentBudget,
    ) -> BoxFuture<'a, Result<Bytes, BoxError>> {
        let found = self.0.get(url.as_str()).map(|value| Bytes::from(value.to_string()));
        std::future::ready(found.ok_or_else(|| "no such document".into())).boxed()
    }
}

fn load(first: &str, value: &Value, others: &[(&'static str, Value)]) -> Library {
    let fixtures = Fixtures(others.iter().cloned().collect());
    let url = Url::parse(first).unwrap();
    let text = value.to_string();
    let budget = DocumentBudget::new(DOCUMENT_LIMIT);
    let loading = Library::load(&url, Bytes::from(text), &fixtures, &budget);
    loading.now_or_never().unwrap().unwrap()
}

#[test]
fn references_are_followed_with_their_escapes() {
    let library = Library::of(&json!({
        "a/b": { "c~d": 1, "é f": 2, "g%h": 3 },
        "list": [{ "$ref": "#/a~1b" }],
        "circle": { "$ref": "#/circle" },
        "named": { "$anchor": "here", "x": 4 },
    }));
    for (reference, expected) in [
        ("#/a~1b/c~0d", "1"),
        ("#/a~1b/%C3%A9%20f", "2"),
        ("#/a~1b/é f", "2"),
        ("#/a~1b/g%25h", "3"),
        ("#/a~1b/g%h", "3"),
        ("#here", r#"{"$anchor":"here","x":4}"#),
        ("#/list/0", r#"{"c~d":1,"é f":2,"g%h":3}"#),
        ("#/circle", "references lead in a circle"),
        ("#/none", "`#/none` leads nowhere"),
        ("#none", "`#none` leads nowhere"),
        ("other.json", "the document `other.json` could not be had"),
    ] {
        let value = DocumentValue::of(&json!({ "$ref": reference }));
        let found = library.resolve(Node { document: 0, value: &value });
        assert_eq!(found.map_or_else(|why| why, |node| node.value.to_string()), expected);
    }
}

#[test]
fn documents_are_found_wherever_schemas_are_but_not_in_data() {
    let first = json!({
        "a": { "$ref": "two.json#/x" },
        "example": { "$ref": "never.json" },
        "properties": { "example": { "$ref": "../three.json" }, "$ref": { "type": "string" } },
    });
    let others = [
        ("https://api.example/v1/two.json", json!({ "x": { "$ref": "three.json#/y" } })),
        ("https://api.example/three.json", json!(3)),
    ];
    let library = load("https://api.example/v1/one.json", &first, &others);
    assert_eq!(library.documents.len(), 3);
    let missing = &library.missing;
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0].url, "https://api.example/v1/three.json");
}

#[test]
fn a_file_leads_into_its_folder_and_a_url_to_the_web() {
    for (first, other, expected) in [
        ("file:///a/b/api.json", "parts/x.json", true),
        ("file:///a/b/api.json", "x.json", true),
        ("file:///a/b/api.json", "../x.json", false),
        ("file:///a/b/api.json", "../bc/x.json", false),
        ("file:///a/b/api.json", "/etc/passwd", false),
        ("file:///a/b/api.json", "https://x.example/y", false),
        ("file:///a/b/api.json", "//host/a/b/y", false),
        ("https://x.example/api.json", "http://y.example/z", true),
        ("https://x.example/api.json", "file:///etc/passwd", false),
        ("https://x.example/api.json", "data:text/plain,{}", false),
    ] {
        let first = Url::parse(first).unwrap();
        let other = first.join(other).unwrap();
        assert_eq!(may_lead_to(&first, &other), expected, "{first} {other}");
    }
}

#[test]
fn documents_that_are_too_large_together_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let first = r#"{"a":{"$ref":"two.json"},"b":{"$ref":"three.json"}}"#;
    write("one.json", first);
    write("two.json", r#"{"x":"two"}"#);
    write("three.json", r#"{"x":"three"}"#);
    let (files, url) =
        super::super::documents::FileDocuments::beside(&folder.path().join("one.json")).unwrap();
    for (room, missing) in [(24, 0), (23, 1), (13, 1), (11, 1), (10, 2)] {
        let budget = DocumentBudget::new(room);
        let loading = Library::load(&url, Bytes::from(first), &files, &budget);
        let library = loading.now_or_never().unwrap().unwrap();
        assert_eq!(library.missing.len(), missing, "{room}");
        let told = |one: &MissingDocument| one.why.starts_with("all documents together");
        assert!(library.missing.iter().all(told), "{:?}", library.missing);
    }
}

#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("api");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("api.json"), "{}").unwrap();
    std::fs::write(folder.path().join("secret.json"), "{}").unwrap();
    let (files, url) =
        super::super::documents::FileDocuments::beside(&inner.join("api.json")).unwrap();
    let budget = DocumentBudget::new(DOCUMENT_LIMIT);
    assert!(files.fetch(&url, &budget).now_or_never().unwrap().is_ok());
    std::os::unix::fs::symlink(folder.path().join("secret.json"), inner.join("link.json")).unwrap();
    for other in ["link.json", "none.json", "../secret.json"] {
        let other = url.join(other).unwrap();
        assert!(files.fetch(&other, &budget).now_or_never().unwrap().is_err(), "{other}");
    }
}
