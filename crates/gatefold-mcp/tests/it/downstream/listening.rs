//! What clients are told of changes.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::edge::{Edge, Sse, trial};
use super::scripted::{DOC, ScriptedServer};
use crate::upstream::asking::ReferenceUpstream;
use crate::upstream::support::{Era, Wire};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("a_stream_of_notices_says_first_what_it_will_bring", acknowledged),
        trial("notices_name_the_stream_they_are_for", named),
        trial("a_stream_of_notices_ends_with_a_result", ended),
        trial(
            "a_resource_of_two_clients_is_subscribed_to_once_and_let_go_of_with_the_last",
            shared,
        ),
        trial("sessions_hear_only_of_what_they_subscribed_to", sessions),
        trial("a_list_that_changed_is_told_of_in_both_eras", changed),
    ]
}

async fn listen(edge: &Edge, path: &str, filter: Value) -> (Sse, Value) {
    let params = json!({"notifications": filter});
    let mut sse = Sse::of(edge.begin(path, "subscriptions/listen", params).await);
    let first = sse.message().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(stream_of(&first), 1);
    (sse, first["params"]["notifications"].clone())
}

fn stream_of(message: &Value) -> i64 {
    let told = message.get("params").unwrap_or(&message["result"]);
    told["_meta"]["io.modelcontextprotocol/subscriptionId"].as_i64().expect("the stream is named")
}

async fn acknowledged() {
    let tools_alone = ScriptedServer::declaring("tools", json!({"tools": {}})).await;
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&tools_alone.settings, &up.settings]).await;
    let all = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["scripted://nowhere", format!("gatefold://up/{DOC}")],
    });
    for (path, filter, honoured) in [
        ("/mcp", json!({}), json!({})),
        ("/mcp/source/tools", all.clone(), json!({"toolsListChanged": true})),
        (
            "/mcp",
            all.clone(),
            json!({
                "toolsListChanged": true,
                "promptsListChanged": true,
                "resourcesListChanged": true,
                "resourceSubscriptions": [format!("gatefold://up/{DOC}")],
            }),
        ),
        ("/mcp", json!({"toolsListChanged": false}), json!({})),
    ] {
        let (_sse, told) = listen(&edge, path, filter).await;
        assert_eq!(told, honoured, "{path}");
    }
}

async fn named() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    for (path, uri) in
        [("/mcp", format!("gatefold://up/{DOC}")), ("/mcp/source/up", DOC.to_owned())]
    {
        let filter = json!({"resourceSubscriptions": [uri]});
        let (mut sse, told) = listen(&edge, path, filter.clone()).await;
        assert_eq!(told, filter);
        up.script.tell("notifications/resources/updated", &json!({"uri": DOC}));
        let notice = sse.message().await;
        assert_eq!(notice["method"], "notifications/resources/updated");
        assert_eq!(notice["params"]["uri"], uri);
        assert_eq!(stream_of(&notice), 1);
    }
}

async fn ended() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp").await;
    let mut notices = session.listen().await;
    let (mut sse, _) = listen(&edge, "/mcp", json!({"toolsListChanged": true})).await;
    edge.shutdown.cancel();
    let last = sse.message().await;
    assert_eq!((&last["id"], stream_of(&last)), (&json!(1), 1));
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(sse.next().await, None);
    assert_eq!(notices.next().await, None);
}

async fn shared() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let uri = format!("gatefold://up/{DOC}");
    let filter = json!({"resourceSubscriptions": [uri]});
    let (first, _) = listen(&edge, "/mcp", filter.clone()).await;
    let (mut second, _) = listen(&edge, "/mcp", filter).await;
    let session = edge.session("/mcp/source/up").await;
    for _ in 0..2 {
        session.result("resources/subscribe", json!({"uri": DOC})).await;
    }
    assert_eq!(up.script.count("resources/subscribe"), 1);
    drop(first);
    // A round trip through the gateway: what the first one's end led to has happened.
    session.result("resources/read", json!({"uri": DOC})).await;
    session.result("resources/unsubscribe", json!({"uri": DOC})).await;
    assert_eq!(up.script.count("resources/unsubscribe"), 0);
    up.script.tell("notifications/resources/updated", &json!({"uri": DOC}));
    assert_eq!(second.message().await["params"]["uri"], uri);
    drop(second);
    up.script.reached("resources/unsubscribe", 1).await;
    assert_eq!(up.script.received("resources/unsubscribe")[0]["params"]["uri"], DOC);
    // A session that ends lets go as well.
    session.result("resources/subscribe", json!({"uri": DOC})).await;
    assert_eq!(up.script.count("resources/subscribe"), 2);
    assert_eq!(session.delete().await, 204);
    up.script.reached("resources/unsubscribe", 2).await;
}

async fn sessions() {
    let up = ScriptedServer::new("up").await;
    let edge = Edge::over(&[&up.settings]).await;
    let (one, other) = (edge.session("/mcp").await, edge.session("/mcp/source/up").await);
    let (mut of_one, mut of_other) = (one.listen().await, other.listen().await);
    let page = "scripted://page/1";
    one.result("resources/subscribe", json!({"uri": format!("gatefold://up/{DOC}")})).await;
    other.result("resources/subscribe", json!({"uri": page})).await;
    for uri in [page, DOC, page] {
        up.script.tell("notifications/resources/updated", &json!({"uri": uri}));
    }
    assert_eq!(of_one.message().await["params"]["uri"], format!("gatefold://up/{DOC}"));
    for _ in 0..2 {
        assert_eq!(of_other.message().await["params"]["uri"], page);
    }
    other.result("resources/unsubscribe", json!({"uri": page})).await;
    other.result("resources/subscribe", json!({"uri": DOC})).await;
    for uri in [page, DOC] {
        up.script.tell("notifications/resources/updated", &json!({"uri": uri}));
    }
    assert_eq!(of_other.message().await["params"]["uri"], DOC);
    assert_eq!(of_one.message().await["params"]["uri"], format!("gatefold://up/{DOC}"));
}

async fn changed() {
    let up = ReferenceUpstream::new(Wire::Http, Era::Handshake).await;
    let edge = Edge::over(&[&up.settings]).await;
    let session = edge.session("/mcp/source/up").await;
    let mut notices = session.listen().await;
    let filter = json!({"promptsListChanged": true});
    let (mut prompts_alone, _) = listen(&edge, "/mcp", filter).await;
    session.result("tools/call", json!({"name": "matrix_grow", "arguments": {}})).await;
    let mut told = std::collections::BTreeSet::new();
    while told.len() < 3 {
        told.insert(notices.message().await["method"].as_str().unwrap().to_owned());
    }
    let expected =
        ["prompts", "resources", "tools"].map(|l| format!("notifications/{l}/list_changed"));
    assert!(told.iter().eq(&expected), "{told:?}");
    let notice = prompts_alone.message().await;
    assert_eq!(notice["method"], "notifications/prompts/list_changed");
    assert_eq!(stream_of(&notice), 1);
    let prompts = edge.result("/mcp", "prompts/list", json!({})).await;
    assert!(prompts.to_string().contains("up__matrix_grown_prompt_1"));
}
