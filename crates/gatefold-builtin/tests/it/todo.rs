use std::sync::Arc;

use gatefold_core::{ClientName, Principal, UserId};
use serde_json::{Value, json};

use crate::fixture::{call_with, said, toolbox};

#[tokio::test]
async fn every_call_answers_with_the_whole_list() {
    let tools = toolbox();
    for (arguments, list) in [
        (json!({}), "the list is empty"),
        (json!({ "add": ["read", "write"] }), "[ ] 1. read\n[ ] 2. write"),
        (
            json!({ "change": [{ "id": 1, "state": "done" }, { "id": 2, "state": "active" }] }),
            "[x] 1. read\n[>] 2. write",
        ),
        (
            json!({ "remove": [1], "add": [" test "], "change": [{ "id": 2, "text": "rewrite" }] }),
            "[>] 2. rewrite\n[ ] 3. test",
        ),
        (json!({ "clear": true, "add": ["anew"] }), "[ ] 4. anew"),
    ] {
        assert_eq!(said(&tools, "todo", &arguments).await, list, "{arguments}");
    }
    let answer = tools.answer("todo", &call_with(&json!({}))).await.unwrap();
    let expected = json!({ "items": [{ "id": 4, "text": "anew", "state": "open" }] });
    assert_eq!(answer.structured, expected);
}

#[tokio::test]
async fn a_list_belongs_to_its_principal_and_client() {
    let tools = toolbox();
    said(&tools, "todo", &json!({ "add": ["mine"] })).await;
    let mut other = call_with(&json!({}));
    other.client = Some(ClientName::new("another"));
    assert_eq!(tools.answer("todo", &other).await.unwrap().text, "the list is empty");
    let mut other = call_with(&json!({}));
    other.principal = Arc::new(Principal::user(UserId::new("bob")));
    assert_eq!(tools.answer("todo", &other).await.unwrap().text, "the list is empty");
    assert_eq!(said(&tools, "todo", &json!({})).await, "[ ] 1. mine");
}

#[tokio::test]
async fn a_wrong_or_hostile_change_changes_nothing() {
    let tools = toolbox();
    said(&tools, "todo", &json!({ "add": ["kept"] })).await;
    let check = async |arguments: Value, error: &str| {
        let text = said(&tools, "todo", &arguments).await;
        assert_eq!(text, format!("error: {error}"), "{arguments}");
        assert_eq!(said(&tools, "todo", &json!({})).await, "[ ] 1. kept", "{arguments}");
    };
    // What a call clears is gone for its own changes, and comes back when it fails.
    check(json!({ "clear": true, "remove": [1] }), "there is no item 1 in this list").await;
    check(json!({ "add": ["x"], "change": [{ "id": 2 }] }), "there is no item 2 in this list")
        .await;
    let many = vec!["x"; 100];
    check(json!({ "add": many }), "a list has at most 100 items; remove some first").await;
    check(json!({ "add": ["x", " "] }), "an item's text is empty").await;
    let long = "x".repeat(501);
    check(json!({ "add": [long] }), "`text` has 501 bytes, more than the limit: 500").await;
    check(
        json!({ "change": [{ "id": 1, "state": "lost" }] }),
        "unknown variant `lost`, expected one of `open`, `active`, `done`",
    )
    .await;
}
