use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::{answer, said, toolbox};

async fn check(arguments: Value, text: &str) {
    assert_eq!(said(&toolbox(), "text", &arguments).await, text, "{arguments}");
}

async fn structured(arguments: Value) -> Value {
    answer(&toolbox(), "text", &arguments).await.unwrap().structured
}

#[tokio::test]
async fn a_text_is_counted() {
    assert_eq!(
        structured(json!({ "action": "count", "text": "Grüße an\nalle, \u{1f600}\n" })).await,
        json!({ "characters": 17, "words": 4, "lines": 2, "bytes": 22 })
    );
    check(json!({ "action": "count", "text": "" }), "0 characters, 0 words, 0 lines, 0 bytes")
        .await;
}

#[tokio::test]
async fn matches_are_found_with_their_places() {
    let arguments = json!({
        "action": "find",
        "text": "ä=1\nb=22\n\nc = 333",
        "pattern": r"(\w)\s*=\s*(\d+)(!)?",
        "max_matches": 2,
    });
    assert_eq!(
        structured(arguments.clone()).await,
        json!({
            "count": 3,
            "matches": [
                { "line": 1, "column": 1, "text": "ä=1", "groups": ["ä", "1", null] },
                { "line": 2, "column": 1, "text": "b=22", "groups": ["b", "22", null] },
            ],
        })
    );
    check(arguments, "3 matches, the first 2\n1:1: ä=1\n2:1: b=22").await;
    check(json!({ "action": "find", "text": "abc", "pattern": "x" }), "no match").await;
}

#[tokio::test]
async fn matches_are_replaced() {
    let arguments = json!({
        "action": "replace",
        "text": "Ann Lee, Bo Ek",
        "pattern": r"(?<first>\w+) (\w+)",
        "replacement": "$2 ${first}",
    });
    assert_eq!(structured(arguments).await, json!({ "result": "Lee Ann, Ek Bo", "count": 2 }));
}

#[tokio::test]
async fn texts_are_compared_by_lines() {
    let arguments = json!({ "action": "diff", "text": "a\nb\nc\n", "other": "a\nB\nc\nd\n" });
    let expected = "@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n";
    assert_eq!(
        structured(arguments).await,
        json!({ "result": expected, "added": 2, "removed": 1 })
    );
    check(json!({ "action": "diff", "text": "a", "other": "a" }), "the texts are equal").await;
}

#[tokio::test]
async fn every_code_is_read_back() {
    let text = "Grüße & \"Küsse\"?\n";
    for (encoding, code) in [
        ("base64", "R3LDvMOfZSAmICJLw7xzc2UiPwo="),
        ("base64url", "R3LDvMOfZSAmICJLw7xzc2UiPwo"),
        ("hex", "4772c3bcc39f65202620224bc3bc737365223f0a"),
        ("url", "Gr%C3%BC%C3%9Fe%20%26%20%22K%C3%BCsse%22%3F%0A"),
        ("json", r#""Grüße & \"Küsse\"?\n""#),
    ] {
        check(json!({ "action": "encode", "encoding": encoding, "text": text }), code).await;
        check(json!({ "action": "decode", "encoding": encoding, "text": code }), text).await;
    }
    check(
        json!({ "action": "decode", "encoding": "hex", "text": "abc" }),
        "error: `text` is not hex",
    )
    .await;
    check(
        json!({ "action": "decode", "encoding": "base64", "text": "/w==" }),
        "error: it decodes to 1 bytes that are no text",
    )
    .await;
}

#[tokio::test]
async fn digests_are_those_of_the_standards() {
    // FIPS 180-4's examples.
    check(
        json!({ "action": "hash", "text": "abc" }),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    )
    .await;
    check(
        json!({ "action": "hash", "algorithm": "sha512", "text": "abc" }),
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    )
    .await;
}

#[tokio::test]
async fn hostile_patterns_and_texts_end_soon() {
    let long = "a".repeat(256 * 1024);
    let grown = "$0".repeat(1000);
    for arguments in [
        json!({ "action": "find", "text": long, "pattern": "(a*)*b" }),
        json!({ "action": "find", "text": long, "pattern": "(a+)+$" }),
        json!({ "action": "find", "text": long, "pattern": "" }),
        json!({ "action": "find", "text": long, "pattern": ".*?.*?.*?b" }),
        json!({ "action": "find", "text": long, "pattern": r"(\w{50}){50}" }),
        json!({ "action": "find", "text": long, "pattern": "((a{100}){100}){100}" }),
        json!({ "action": "find", "text": long, "pattern": "(".repeat(900) }),
        json!({ "action": "replace", "text": long, "pattern": ".", "replacement": grown }),
        json!({ "action": "replace", "text": long, "pattern": "(?s).*", "replacement": grown }),
        json!({ "action": "diff", "text": "a\nb\n".repeat(60_000), "other": "b\nc\n".repeat(60_000) }),
        json!({ "action": "decode", "encoding": "json", "text": "[".repeat(100_000) }),
    ] {
        let start = Instant::now();
        let text = said(&toolbox(), "text", &arguments).await;
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
        assert!(text.len() < 600_000, "{}", text.len());
    }
    check(
        json!({ "action": "find", "text": "", "pattern": "((a{100}){100}){100}" }),
        "error: `pattern` repeats too much",
    )
    .await;
    check(
        json!({ "action": "find", "text": "a", "pattern": "(?=a)" }),
        "error: `pattern` is no regular expression: look-around, including look-ahead and look-behind, \
         is not supported",
    )
    .await;
    check(
        json!({ "action": "count", "text": "a".repeat(256 * 1024 + 1) }),
        "error: `text` has 262145 bytes, more than the limit: 262144",
    )
    .await;
}
