//! What a client says of itself decides how it is shown tools, and never which.

use gatefold_testkit::RawClient;

use crate::world::{World, greet};

const CONFIG: &str = "
    sources.hello = { greeting = 'Good morning', deny = ['greet'] }
    sources.bye = { greeting = 'Good night' }
    clients.plain-client = { disclosure = 'flat' }
    clients.menu-client = { disclosure = 'menu' }
";

/// The tools that a client of each era is shown which calls itself so.
async fn shown(client: impl Fn() -> RawClient, name: &str) -> Vec<String> {
    let stateless = client().with_name(name).list().await.unwrap().tool_names();
    let mut session = client().with_name(name);
    session.initialize().await.unwrap();
    assert_eq!(session.list().await.unwrap().tool_names(), stateless, "both eras show the same");
    stateless
}

#[tokio::test]
async fn a_claim_changes_the_disclosure_and_not_the_rights() {
    let world = World::of(CONFIG).await;
    let usual = shown(|| world.ann(), "somebody").await;
    assert_eq!(usual, ["discover_tools", "get_tool_schema", "execute_tool"]);
    assert_eq!(shown(|| world.ann(), "plain-client").await, ["bye__greet", "results__read_result"]);
    assert_eq!(shown(|| world.ann(), "menu-client").await, ["bye", "results"]);

    let hidden = world.ann().with_name("plain-client");
    let called = hidden.call("hello__greet", r#"{"name":"Bea"}"#).await.unwrap();
    assert!(called.response.contains("unknown tool `hello__greet`"), "{}", called.response);
    let client = world.client("").with_name("plain-client");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(client.post_raw(body, http::HeaderMap::new()).await.unwrap().status, 401);
}

#[tokio::test]
async fn a_request_that_names_a_disclosure_gets_that_one() {
    let world = World::of(CONFIG).await;
    let named = || world.client("?disclosure=gateway").with_bearer("token-of-ann");
    assert_eq!(shown(named, "menu-client").await.len(), 3);
    let own = || RawClient::new(world.url_of("bye")).unwrap().with_bearer("token-of-ann");
    assert_eq!(shown(own, "menu-client").await, ["greet"], "one source is shown as it is");
}

#[tokio::test]
async fn a_call_by_what_a_claim_chose_is_recorded_as_any_other() {
    let world = World::of(CONFIG).await;
    let client = world.bob().with_name("menu-client");
    let called = client.call("bye", r#"{"tool":"greet","arguments":{"name":"Bea"}}"#).await;
    assert_eq!(called.unwrap().text(), "Good night, Bea!");
    let usual = world.bob().call("execute_tool", &greet("bye__greet", "Bea")).await.unwrap();
    assert!(usual.text().contains("Good night, Bea!"));
    let records = world.records().await;
    assert_eq!(records[0], records[1]);
    assert_eq!(records[0].0, "bob");
}
