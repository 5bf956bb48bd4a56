//! How the gateway introduces itself.

use libtest_mimic::Trial;
use serde_json::json;

use super::edge::{Edge, LATEST, STATELESS, initialize, trial};
use super::scripted::Scripted;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("each_version_with_a_handshake_is_answered_with_itself", negotiated),
        trial("the_gateway_offers_what_its_sources_do_together", together),
        trial("an_endpoint_of_one_source_introduces_that_source", source),
        trial("discovery_names_every_version", discovered),
        trial("there_is_no_endpoint_of_a_source_that_is_not_there", absent),
    ]
}

async fn negotiated() {
    let up = Scripted::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for (asked, given) in [
        (Some("2024-11-05"), "2024-11-05"),
        (Some("2025-03-26"), "2025-03-26"),
        (Some("2025-06-18"), "2025-06-18"),
        (Some("2025-11-25"), "2025-11-25"),
        (Some(STATELESS), LATEST),
        (Some("2099-01-01"), LATEST),
        (Some(""), LATEST),
        (None, LATEST),
    ] {
        for path in ["/mcp", "/mcp/source/up"] {
            let reply = edge.post(path, &[], &initialize(asked, &json!({}))).await;
            assert_eq!(reply.result()["protocolVersion"], given, "{asked:?} at {path}");
            assert!(!reply.header("mcp-session-id").is_empty());
        }
    }
}

async fn together() {
    let resources = json!({"resources": {"subscribe": true}, "logging": {}});
    let kept = json!({"io.modelcontextprotocol/skills": {"b": 1}});
    let mut extensions = kept.clone();
    extensions["com.example/a"] = json!({"what": "the gateway does not know"});
    let one = Scripted::declaring("one", resources).await;
    let two =
        json!({"tools": {}, "prompts": {}, "extensions": extensions, "experimental": {"x": {}}});
    let two = Scripted::declaring("two", two).await;
    let edge = Edge::over(&[&one.settings, &two.settings]).await;
    let expected = json!({
        "extensions": kept,
        "logging": {},
        "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "tools": {"listChanged": true},
    });
    let session = edge.session("/mcp").await;
    assert_eq!(session.introduction["capabilities"], expected);
    assert_eq!(session.introduction["serverInfo"]["name"], "gatefold");
    let discovered = edge.result("/mcp", "server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"], expected);
}

async fn source() {
    let up = Scripted::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp/source/up").await;
    let told = &session.introduction;
    let capabilities = json!({
        "tools": {"listChanged": true},
        "prompts": {},
        "resources": {"subscribe": true},
        "completions": {},
    });
    let server = json!({"name": "scripted", "title": "Scripted", "version": "7"});
    assert_eq!(told["capabilities"], capabilities, "what cannot be relayed is left out");
    assert_eq!(told["serverInfo"], server);
    assert_eq!(told["instructions"], "Do as the script says.");
    let discovered = edge.result("/mcp/source/up", "server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"], capabilities);
    assert_eq!(discovered["_meta"]["io.modelcontextprotocol/serverInfo"], server);
    assert_eq!(discovered["instructions"], "Do as the script says.");
    let tools = session.result("tools/list", json!({})).await;
    let own = super::scripted::tool_names(&tools);
    assert_eq!(own, ["button", "chat", "hold", "link", "say", "view"]);
}

async fn discovered() {
    let up = Scripted::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let told = edge.result("/mcp", "server/discover", json!({})).await;
    let versions = json!([STATELESS, LATEST, "2025-06-18", "2025-03-26", "2024-11-05"]);
    assert_eq!(told["supportedVersions"], versions);
    assert_eq!(told["resultType"], "complete");
    assert_eq!(told["cacheScope"], "private");
}

async fn absent() {
    let up = Scripted::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for path in ["/mcp/source/down", "/mcp/source/UP", "/mcp/source/"] {
        let reply = edge.post(path, &[], &initialize(None, &json!({}))).await;
        assert_eq!(reply.status, 404, "{path}");
    }
    let reply = edge.post("/mcp?disclosure=none", &[], &initialize(None, &json!({}))).await;
    assert_eq!(reply.status, 400);
}
