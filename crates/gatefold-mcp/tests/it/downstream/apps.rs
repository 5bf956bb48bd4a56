//! MCP Apps behind the gateway: tools with views, and tools for views alone.

use libtest_mimic::Trial;
use serde_json::json;

use super::edge::{Edge, said, trial};
use super::scripted::{ScriptedServer, VIEW};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("the_view_of_a_listed_tool_can_be_read_by_its_address", views),
        trial("a_tool_for_apps_alone_is_not_discovered_and_can_be_called", for_apps_alone),
    ]
}

async fn views() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for (path, name, is_own) in
        [("/mcp?disclosure=flat", "up__view", false), ("/mcp/source/up", "view", true)]
    {
        let listed = edge.result(path, "tools/list", json!({})).await;
        let tools = listed["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let uri = &tool["_meta"]["ui"]["resourceUri"];
        assert!(uri.as_str().unwrap().starts_with("ui://"), "{uri}");
        assert_eq!(*uri == VIEW, is_own, "{path}: {uri}");
        let read = edge.result(path, "resources/read", json!({"uri": uri})).await;
        assert_eq!(read["contents"][0]["text"], format!("read {VIEW}"));
        assert_eq!(read["contents"][0]["uri"], *uri);
    }
}

async fn for_apps_alone() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for arguments in [json!({}), json!({"domain": "up"}), json!({"query": "button"})] {
        let params = json!({"name": "discover_tools", "arguments": arguments});
        let found = edge.result("/mcp", "tools/call", params).await;
        assert!(!found["content"].to_string().contains("up__button"), "{arguments}: {found}");
    }
    let arguments = json!({"tool_name": "up__button", "arguments": {"a": 1}});
    for (path, params) in [
        ("/mcp", json!({"name": "execute_tool", "arguments": arguments})),
        ("/mcp?disclosure=flat", json!({"name": "up__button", "arguments": {"a": 1}})),
        ("/mcp/source/up", json!({"name": "button", "arguments": {"a": 1}})),
    ] {
        let result = edge.result(path, "tools/call", params).await;
        assert_eq!(said(&result), r#"button {"a":1}"#, "{path}");
    }
}
