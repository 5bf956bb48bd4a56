//! Servers that list other tools to clients that can be asked something.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::routing::post;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio_util::sync::DropGuard;

use super::edge::{Edge, trial};
use super::scripted::tool_names;
use crate::serving::serve_router;
use crate::upstream::support::http;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("a_client_sees_the_tools_that_it_would_be_listed_directly", lists),
        trial("a_tool_for_other_clients_looks_unknown", unknown),
    ]
}

/// Lists `ask` to clients that can elicit, `chat` to those whose model it can use, `form` to those that
/// cannot elicit, and `echo` to all. It speaks the stateless era.
async fn serve() -> (String, DropGuard) {
    serve_router(Router::new().route("/mcp", post(take))).await
}

async fn take(body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    if message["id"].is_null() {
        return Response::builder().status(202).body(Body::empty()).unwrap();
    }
    let params = &message["params"];
    let declared = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    let mut result = match message["method"].as_str() {
        Some("server/discover") => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        }
        Some("tools/list") => json!({"tools": tools(declared)}),
        Some("tools/call") => {
            let text = format!("called {}", params["name"].as_str().unwrap());
            json!({"content": [{"type": "text", "text": text}]})
        }
        _ => Value::Null,
    };
    let mut answer = json!({"jsonrpc": "2.0", "id": message["id"]});
    if result.is_null() {
        answer["error"] = json!({"code": -32601, "message": "unknown"});
    } else {
        result["resultType"] = "complete".into();
        result["ttlMs"] = 0.into();
        result["cacheScope"] = "private".into();
        answer["result"] = result;
    }
    let response = Response::builder().header("content-type", "application/json");
    response.body(answer.to_string().into()).unwrap()
}

fn tools(declared: &Value) -> Value {
    let has = |member: &str| declared[member].is_object();
    let listed = [
        ("echo", true),
        ("ask", has("elicitation")),
        ("chat", has("sampling")),
        ("form", !has("elicitation")),
    ];
    let listed = listed.into_iter().filter(|(_, is_listed)| *is_listed);
    listed.map(|(name, _)| json!({"name": name, "inputSchema": {"type": "object"}})).collect()
}

fn declaring(declared: &Value) -> Value {
    json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": declared}})
}

fn sorted(result: &Value) -> Vec<&str> {
    let mut names = tool_names(result);
    names.sort_unstable();
    names
}

async fn lists() {
    let (url, _running) = serve().await;
    let edge = Edge::over(&[&http("up", &url)]).await;
    for (declared, tools) in [
        (json!({}), vec!["echo", "form"]),
        (json!({"elicitation": {}}), vec!["ask", "echo"]),
        (json!({"sampling": {}}), vec!["chat", "echo", "form"]),
        (json!({"roots": {}, "sampling": {}}), vec!["chat", "echo", "form"]),
        (json!({"elicitation": {"url": {}}, "sampling": {}}), vec!["ask", "chat", "echo"]),
    ] {
        let session = edge.session_of("/mcp/source/up", "2025-11-25", declared.clone()).await;
        let listed = session.result("tools/list", json!({})).await;
        assert_eq!(sorted(&listed), tools, "a session of {declared}");
        let listed = edge.result("/mcp/source/up", "tools/list", declaring(&declared)).await;
        assert_eq!(sorted(&listed), tools, "a request of {declared}");
    }
}

/// What a client reads that calls a tool by both of its names at the gateway's own endpoint.
async fn told(edge: &Edge, declared: &Value, tool: &str) -> String {
    let mut said = String::new();
    for name in [format!("up__{tool}"), tool.to_owned()] {
        said += &answer(edge, declared, "execute_tool", json!({"tool_name": name})).await;
    }
    said.replace(tool, "TOOL")
}

async fn answer(edge: &Edge, declared: &Value, name: &str, arguments: Value) -> String {
    let mut params = declaring(declared);
    params["name"] = name.into();
    params["arguments"] = arguments;
    edge.ask("/mcp", "tools/call", params).await.message()["result"].to_string()
}

async fn unknown() {
    let (url, _running) = serve().await;
    let edge = Edge::over(&[&http("up", &url)]).await;
    let (able, unable) = (json!({"elicitation": {}}), json!({}));
    assert!(told(&edge, &able, "ask").await.contains("called TOOL"));
    for (client, is_found) in [(&able, true), (&unable, false)] {
        let found = answer(&edge, client, "discover_tools", json!({"query": "ask"})).await;
        assert_eq!(found.contains("up__ask"), is_found, "{found}");
    }
    let hidden = told(&edge, &unable, "ask").await;
    assert!(!hidden.contains("called TOOL"), "{hidden}");
    assert_eq!(hidden, told(&edge, &unable, "xyz").await, "a tool that is nowhere");
}
