//! Claims about all tools together.

use std::collections::BTreeSet;

use gatefold_demo::{DemoServer, Server, apis, servers};
use serde_json::{Value, json};

use crate::{calendar, claims::fresh, contacts, files, issues, shop, text, units};

#[tokio::test]
async fn every_listed_tool_is_exercised() {
    // It needs a client that can be asked; `wire` has one.
    let of_calendar = [calendar::exercised(), vec!["clear_events"]].concat();
    let exercised = [
        (files::SERVER, files::exercised()),
        (issues::SERVER, issues::exercised()),
        (contacts::SERVER, contacts::exercised()),
        (calendar::SERVER, of_calendar),
        (text::SERVER, text::exercised()),
        (units::SERVER, units::exercised()),
        (shop::SERVER, shop::exercised()),
    ];
    let names: Vec<_> = every().map(|server| server.name).collect();
    assert_eq!(names, exercised.each_ref().map(|(name, _)| *name));
    for (name, exercised) in exercised {
        let (server, _scratch) = fresh(name).await;
        let exercised: BTreeSet<_> = exercised.into_iter().map(str::to_owned).collect();
        assert_eq!(tool_names(&server), exercised, "the tools of `{name}`");
    }
}

#[tokio::test]
async fn every_server_has_eight_to_fifteen_tools() {
    for about in every() {
        let (server, _scratch) = fresh(about.name).await;
        let count = tool_names(&server).len();
        assert!((8..=15).contains(&count), "`{}` has {count} tools", about.name);
    }
}

#[tokio::test]
async fn every_tool_and_argument_is_described_and_bounded() {
    for about in every() {
        let (server, _scratch) = fresh(about.name).await;
        for tool in server.tools().as_array().unwrap() {
            let name = &tool["name"];
            assert!(tool["description"].as_str().unwrap().len() > 20, "{name}");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
            for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
                assert!(schema["description"].is_string(), "{name}.{argument}: {schema}");
                assert!(is_bounded(schema), "{name}.{argument}: {schema}");
            }
        }
    }
}

#[tokio::test]
async fn annotations_say_what_a_call_does() {
    // readOnly, destructive, idempotent
    let expected = [
        ("files", "read_file", [true, false, true]),
        ("files", "write_file", [false, true, true]),
        ("files", "create_directory", [false, false, true]),
        ("files", "move_file", [false, true, true]),
        ("issues", "delete_issue", [false, true, true]),
        ("issues", "create_issue", [false, false, false]),
        ("calendar", "move_event", [false, true, true]),
        ("text", "slugify", [true, false, true]),
    ];
    for (server, name, [read_only, destructive, idempotent]) in expected {
        let (server, _scratch) = fresh(server).await;
        let tools = server.tools();
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        let annotations = json!({
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": false,
        });
        assert_eq!(tool["annotations"], annotations, "{name}");
    }
}

#[tokio::test]
async fn an_unknown_server_is_refused_with_the_names() {
    let scratch = tempfile::tempdir().unwrap();
    let error = Server::open("weather", scratch.path()).await.err().unwrap().to_string();
    assert!(error.starts_with("unknown demo server `weather`: the servers are `files`"), "{error}");
}

#[tokio::test]
async fn a_servers_data_survives_a_restart() {
    let changes = [
        ("files", "write_file", json!({ "path": "a.txt", "content": "kept" }), "a.txt"),
        ("issues", "create_issue", json!({ "title": "Kept issue" }), "Kept issue"),
        ("contacts", "create_contact", json!({ "name": "Kept Person" }), "Kept Person"),
        (
            "calendar",
            "create_event",
            json!({ "title": "Kept event", "start": "2026-12-01T09:00", "end": "2026-12-01T10:00" }),
            "Kept event",
        ),
    ];
    for (name, change, arguments, kept) in changes {
        let scratch = tempfile::tempdir().unwrap();
        let first = Server::open(name, scratch.path()).await.unwrap();
        let result = first.call(change, arguments).await.unwrap();
        assert_eq!(result["isError"], false, "{change}: {result}");
        let listing = ["list_directory", "list_issues", "list_contacts", "list_events"]
            .into_iter()
            .find(|tool| tool_names(&first).contains(*tool))
            .unwrap();
        let before = first.call(listing, json!({})).await.unwrap();
        drop(first);

        let second = Server::open(name, scratch.path()).await.unwrap();
        let after = second.call(listing, json!({})).await.unwrap();
        assert!(after.to_string().contains(kept), "{listing}: {after}");
        assert_eq!(before, after, "nothing is seeded twice");
    }
}

#[tokio::test]
async fn two_processes_can_share_one_scratch_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = tokio::join!(
        Server::open("issues", scratch.path()),
        Server::open("issues", scratch.path())
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    let report = |server: Server| async move {
        for _ in 0..10 {
            let result = server.call("create_issue", json!({ "title": "Busy" })).await.unwrap();
            assert_eq!(result["isError"], false, "{result}");
        }
    };
    tokio::join!(report(one.clone()), report(two));
    let found = one.call("search_issues", json!({ "query": "busy", "limit": 100 })).await.unwrap();
    assert_eq!(found["structuredContent"]["issues"].as_array().unwrap().len(), 20);
}

fn tool_names(server: &Server) -> BTreeSet<String> {
    let tools = server.tools();
    let tools = tools.as_array().expect("a list").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

fn every() -> impl Iterator<Item = &'static DemoServer> {
    servers().iter().chain(apis())
}

fn is_bounded(schema: &Value) -> bool {
    match schema["type"].as_str() {
        Some("string") => schema["maxLength"].is_number() || schema["enum"].is_array(),
        Some("integer") => schema["minimum"].is_number() && schema["maximum"].is_number(),
        Some("array") => schema["maxItems"].is_number() && is_bounded(&schema["items"]),
        Some("boolean" | "number") => true,
        Some("object") => {
            let mut members = schema["properties"].as_object().unwrap().values();
            schema["additionalProperties"] == false && members.all(is_bounded)
        }
        other => panic!("the schema type {other:?} is not expected in an argument"),
    }
}
