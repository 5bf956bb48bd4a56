//! How the gateway introduces itself.

use libtest_mimic::Trial;
use serde_json::json;

use super::edge::{Edge, LATEST, STATELESS, initialize, trial};
use super::scripted::ScriptedServer;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("each_version_with_a_handshake_is_answered_with_itself", negotiated),
        trial("the_gateway_offers_what_its_sources_do_together", together),
        trial("a_session_is_told_of_all_that_its_sources_may_come_to_have", promised),
        trial("an_endpoint_of_one_source_introduces_that_source", source),
        trial("discovery_names_every_version", discovered),
        trial("there_is_no_endpoint_of_a_source_that_is_not_there", absent),
    ]
}

async fn negotiated() {
    let up = ScriptedServer::new("up").await;
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
    let one = ScriptedServer::declaring("one", resources).await;
    let two =
        json!({"tools": {}, "prompts": {}, "extensions": extensions, "experimental": {"x": {}}});
    let two = ScriptedServer::declaring("two", two).await;
    let edge = Edge::over(&[&one.settings, &two.settings]).await;
    let expected = json!({
        "extensions": kept,
        "logging": {},
        "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "tools": {"listChanged": true},
    });
    let session = edge.session("/mcp").await;
    let mut for_life = expected.clone();
    for_life["completions"] = json!({});
    assert_eq!(
        session.introduction["capabilities"], for_life,
        "everything that a source may ever have"
    );
    assert_eq!(session.introduction["serverInfo"]["name"], "gatefold");
    let discovered = edge.result("/mcp", "server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"], expected);
}

async fn promised() {
    let tools = ScriptedServer::declaring("up", json!({"tools": {}})).await;
    let edge = Edge::over(&[&tools.settings]).await;
    let session = edge.session("/mcp").await;
    let told = &session.introduction["capabilities"];
    assert_eq!(told["resources"], json!({"listChanged": true, "subscribe": true}));
    for key in ["prompts", "completions", "logging"] {
        assert!(told[key].is_object(), "{key}");
    }
    for (method, list) in [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        assert_eq!(session.result(method, json!({})).await[list], json!([]), "{method}");
    }
    session.result("logging/setLevel", json!({"level": "debug"})).await;
    let unknown = json!({"uri": "gatefold://up/x://y"});
    assert!(session.ask(1, "resources/subscribe", unknown).await.code().is_some());
    let of_none =
        json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}});
    assert!(session.ask(2, "completion/complete", of_none).await.code().is_some());
}

async fn source() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp/source/up").await;
    let told = &session.introduction;
    let capabilities = json!({
        "tools": {"listChanged": true},
        "prompts": {},
        "resources": {"subscribe": true},
        "completions": {},
    });
    let server = super::scripted::server_info();
    assert_eq!(told["capabilities"], capabilities, "what cannot be relayed is left out");
    assert_eq!(told["serverInfo"], server);
    assert_eq!(told["instructions"], "Do as the script says.");
    let discovered = edge.result("/mcp/source/up", "server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"], capabilities);
    assert_eq!(discovered["_meta"]["io.modelcontextprotocol/serverInfo"], server);
    assert_eq!(discovered["instructions"], "Do as the script says.");
    let tools = session.result("tools/list", json!({})).await;
    let own = super::scripted::tool_names(&tools);
    assert_eq!(own, ["say", "link", "hold", "chat", "view", "button"], "in its own order");
    let resources = session.result("resources/list", json!({})).await;
    let first = &resources["resources"][0];
    assert_eq!(first["name"], "doc", "{resources}");
}

async fn discovered() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let told = edge.result("/mcp", "server/discover", json!({})).await;
    let versions = json!([STATELESS, LATEST, "2025-06-18", "2025-03-26", "2024-11-05"]);
    assert_eq!(told["supportedVersions"], versions);
    assert_eq!(told["resultType"], "complete");
    assert_eq!(told["cacheScope"], "private");
}

async fn absent() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for path in ["/mcp/source/down", "/mcp/source/UP", "/mcp/source/"] {
        let reply = edge.post(path, &[], &initialize(None, &json!({}))).await;
        assert_eq!(reply.status, 404, "{path}");
    }
    let reply = edge.post("/mcp?disclosure=none", &[], &initialize(None, &json!({}))).await;
    assert_eq!(reply.status, 400);
}
