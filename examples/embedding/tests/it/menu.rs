use serde_json::json;

use crate::world::World;

const CONFIG: &str = "sources.hello.greeting = 'Good morning'\nsources.bye.greeting = 'Good night'";

#[tokio::test]
async fn the_disclosure_that_is_asked_for_decides_what_is_listed() {
    let world = World::of(CONFIG).await;
    let usual = world.ann().list().await.unwrap();
    assert_eq!(usual.tool_names(), ["discover_tools", "get_tool_schema", "execute_tool"]);
    let menu = world.client("?disclosure=menu").with_bearer("token-of-ann");
    let listed = menu.list().await.unwrap();
    assert_eq!(listed.tool_names(), ["bye", "hello", "results"]);
    let description = listed.result()["tools"][1]["description"].take();
    assert!(description.as_str().unwrap().ends_with("- greet: Greets somebody by name."));
}

#[tokio::test]
async fn what_the_disclosure_shows_can_be_called_by_it() {
    let world = World::of(CONFIG).await;
    let menu = world.client("?disclosure=menu").with_bearer("token-of-ann");
    let order = r#"{"tool":"greet","arguments":{"name":"Bea"}}"#;
    let called = menu.call("bye", order).await.unwrap();
    assert_eq!(called.result()["content"], json!([{ "type": "text", "text": "Good night, Bea!" }]));
    let (_, tool, _, outcome) = world.records().await.remove(0);
    assert_eq!((tool.as_str(), outcome.as_str()), ("bye__greet", "done"));

    let wrong = menu.call("bye", r#"{"tool":"wave"}"#).await.unwrap();
    assert_eq!(wrong.result()["isError"], true);
    assert!(wrong.text().contains("`bye` has no `wave`: it has greet"), "{}", wrong.text());
}

#[tokio::test]
async fn a_disclosure_that_nobody_added_is_refused() {
    let world = World::of(CONFIG).await;
    let client = world.client("?disclosure=loud").with_bearer("token-of-ann");
    let refused = client.list().await.unwrap_err().to_string();
    assert!(
        refused.contains("use `gateway`, `flat`, `namespace`, `typed`, `intent`, `auto` or `menu`"),
        "{refused}"
    );
}
