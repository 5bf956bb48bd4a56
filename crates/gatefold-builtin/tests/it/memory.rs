use std::sync::Arc;

use gatefold_builtin::Toolbox;
use gatefold_core::{AgentId, OrganisationId, Principal, UserId};
use serde_json::{Value, json};

use crate::fixture::{call_with, said, toolbox};

async fn check(tools: &Toolbox, tool: &str, arguments: Value, text: &str) {
    assert_eq!(said(tools, tool, &arguments).await, text, "{tool} {arguments}");
}

async fn add(tools: &Toolbox, title: &str, text: &str) {
    let arguments = json!({ "action": "add", "title": title, "text": text });
    let said = said(tools, "remember", &arguments).await;
    assert!(said.starts_with("added note "), "{said}");
}

#[tokio::test]
async fn notes_are_kept_changed_and_deleted() {
    let tools = toolbox();
    add(&tools, "Build", "Use two jobs.").await;
    add(&tools, "", "Ann reviews on Mondays.").await;
    let list = || json!({ "action": "list" });
    let both = "1. Build: Use two jobs.\n2. Ann reviews on Mondays.";
    check(&tools, "recall", list(), both).await;
    let update = json!({ "action": "update", "id": 1, "text": "Use four jobs." });
    check(&tools, "remember", update, "updated note 1").await;
    check(&tools, "recall", json!({ "action": "get", "id": 1 }), "Build\n\nUse four jobs.").await;
    let delete = || json!({ "action": "delete", "id": 2 });
    check(&tools, "remember", delete(), "deleted note 2").await;
    check(&tools, "remember", delete(), "error: there is no note 2").await;
    let answer = tools.answer("recall", &call_with(&list())).await.unwrap();
    let note = json!({
        "id": 1, "title": "Build", "text": "Use four jobs.", "updated": "2026-03-01T12:00:00.000Z",
    });
    assert_eq!(answer.structured, json!({ "notes": [note], "total": 1 }));
}

#[tokio::test]
async fn notes_are_found_by_their_words_and_what_they_mean() {
    let tools = toolbox();
    add(&tools, "Deployment", "The staging server is restarted on Fridays.").await;
    add(&tools, "Coffee", "The machine needs descaling once a month.").await;
    let filler = "nothing of interest here ".repeat(120);
    add(&tools, "Minutes", &format!("{filler} the password rotation happens in March")).await;
    for (query, first) in
        [("coffee machine", "2."), ("when is staging restarted", "1."), ("password rotation", "3.")]
    {
        let arguments = json!({ "action": "search", "query": query, "max_results": 1 });
        let text = said(&tools, "recall", &arguments).await;
        assert!(text.starts_with(first), "{query}: {text}");
    }
}

#[tokio::test]
async fn notes_of_one_principal_are_invisible_to_others() {
    let tools = toolbox();
    add(&tools, "", "a secret of the local user").await;
    let local = Principal::local();
    let in_acme = Principal { organisation: Some(OrganisationId::new("acme")), ..local.clone() };
    let agent = Principal { agent: Some(AgentId::new("helper")), ..local };
    for other in [Principal::user(UserId::new("bob")), in_acme, agent] {
        let said = async |tool: &str, arguments: Value| {
            let mut call = call_with(&arguments);
            call.principal = Arc::new(other.clone());
            match tools.answer(tool, &call).await {
                Ok(answer) => answer.text,
                Err(error) => format!("error: {error}"),
            }
        };
        assert_eq!(said("recall", json!({ "action": "list" })).await, "there are no notes");
        let search = json!({ "action": "search", "query": "secret" });
        assert_eq!(said("recall", search).await, "there are no notes");
        for (tool, action) in [("recall", "get"), ("remember", "update"), ("remember", "delete")] {
            let text = said(tool, json!({ "action": action, "id": 1 })).await;
            assert_eq!(text, "error: there is no note 1", "{action}");
        }
    }
    let list = json!({ "action": "list" });
    check(&tools, "recall", list, "1. a secret of the local user").await;
}

#[tokio::test]
async fn notes_are_bounded_and_listed_in_pages() {
    let tools = toolbox();
    for number in 0..1000 {
        add(&tools, "", &format!("note {number}")).await;
    }
    let more = json!({ "action": "add", "text": "x" });
    let full = "error: there are 1000 notes, as many as are kept; delete some first";
    check(&tools, "remember", more, full).await;
    let page = json!({ "action": "list", "after": 998, "max_results": 1 });
    check(&tools, "recall", page, "999. note 998\n[1000 notes in all; go on with after=999]").await;
    let last = json!({ "action": "list", "after": 999 });
    check(&tools, "recall", last, "1000. note 999").await;
    for (tool, arguments, error) in [
        ("remember", json!({ "action": "add", "text": " " }), "`text` is empty"),
        (
            "remember",
            json!({ "action": "add", "text": "x".repeat(8193) }),
            "`text` has 8193 bytes, more than the limit: 8192",
        ),
        (
            "remember",
            json!({ "action": "update", "id": 1, "title": "x".repeat(201) }),
            "`title` has 201 bytes, more than the limit: 200",
        ),
        ("recall", json!({ "action": "get" }), "`get` needs `id`"),
        ("recall", json!({ "action": "get", "id": -1 }), "there is no note -1"),
        ("recall", json!({ "action": "search" }), "`search` needs `query`"),
    ] {
        check(&tools, tool, arguments, &format!("error: {error}")).await;
    }
    for query in ["", "' OR 1=1 --", "*", "\u{0}", &"x ".repeat(4000)] {
        let arguments = json!({ "action": "search", "query": query });
        let text = said(&tools, "recall", &arguments).await;
        assert!(!text.starts_with("error"), "{query}: {text}");
    }
}
