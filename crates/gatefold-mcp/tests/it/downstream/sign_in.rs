//! A stateless server that sends people to a page, and a client with a session.

use axum::Router;
use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use libtest_mimic::Trial;
use reqwest::Method;
use serde_json::{Value, json};

use super::edge::{Edge, Sse, request, said, trial};
use crate::serving::serve_router;
use crate::upstream::support::http;

pub(super) fn trials() -> Vec<Trial> {
    vec![trial("a_page_that_a_stateless_server_asks_for_gets_an_id_of_ours", identified)]
}

const PAGE: &str = "https://login.example/start?state=1";

/// Asks for a page to be opened, and answers the call once it was.
async fn take(body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let params = &message["params"];
    let mut result = match message["method"].as_str().unwrap() {
        "server/discover" => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        }
        "tools/list" => {
            json!({"tools": [{"name": "sign_in", "inputSchema": {"type": "object"}}]})
        }
        _ if params["inputResponses"]["page"]["action"] == "accept" => {
            json!({"content": [{"type": "text", "text": "signed in"}]})
        }
        _ => {
            let asked = json!({"mode": "url", "message": "Sign in", "url": PAGE});
            let page = json!({"method": "elicitation/create", "params": asked});
            json!({"resultType": "input_required", "inputRequests": {"page": page}})
        }
    };
    if result["resultType"].is_null() {
        result["resultType"] = "complete".into();
    }
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    ([("content-type", "application/json")], answer.to_string()).into_response()
}

async fn identified() {
    let (url, _running) = serve_router(Router::new().route("/mcp", post(take))).await;
    let edge = Edge::over(&[&http("up", &url)]).await;
    let offered = json!({"elicitation": {"form": {}, "url": {}}});
    let mut ids = Vec::new();
    for path in ["/mcp", "/mcp/source/up"] {
        let session = edge.session_of(path, "2025-11-25", offered.clone()).await;
        let params = match path {
            "/mcp" => json!({"name": "execute_tool", "arguments": {"tool_name": "up__sign_in"}}),
            _ => json!({"name": "sign_in", "arguments": {}}),
        };
        let body = request(1, "tools/call", &params);
        let mut call = Sse::of(session.send(Method::POST, &[], &body).await);
        let question = call.message().await;
        let asked = &question["params"];
        assert_eq!((&asked["mode"], &asked["url"]), (&json!("url"), &json!(PAGE)), "{question}");
        let id = asked["elicitationId"].as_str().expect("2025-11-25 requires an id");
        ids.push(id.to_owned());
        assert_eq!(session.answer(&question["id"], json!({"action": "accept"})).await, 202);
        assert_eq!(said(&call.message().await["result"]), "signed in");
    }
    assert_ne!(ids[0], ids[1]);
}
