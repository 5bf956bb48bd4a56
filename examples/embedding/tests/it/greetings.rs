use crate::world::{World, greet};

const CONFIG: &str = "sources.hello.greeting = 'Good morning'";

#[tokio::test]
async fn a_tool_of_an_own_kind_is_found_and_called_and_the_call_is_on_record() {
    let world = World::of(CONFIG).await;
    let ann = world.ann();
    let found = ann.call("discover_tools", r#"{"query":"greet somebody"}"#).await.unwrap();
    assert!(found.text().contains("hello__greet"), "{}", found.text());
    let called = ann.call("execute_tool", &greet("hello__greet", "Bea")).await.unwrap();
    assert_eq!(called.text(), r#"{"tool":"hello__greet","result":"Good morning, Bea!"}"#);
    let record = ("ann".to_owned(), "hello__greet".to_owned(), None, "done".to_owned());
    assert_eq!(world.records().await, [record]);
}

#[tokio::test]
async fn arguments_that_the_kind_rejects_are_worded_for_the_model() {
    let world = World::of(CONFIG).await;
    let arguments = r#"{"tool_name":"hello__greet","arguments":{"nam":"Bea"}}"#;
    let called = world.ann().call("execute_tool", arguments).await.unwrap();
    assert_eq!(called.result()["isError"], true);
    assert!(called.text().contains("missing field `name`"), "{}", called.text());
}

#[tokio::test]
async fn an_own_kind_has_a_tool_for_all_its_sources() {
    let world = World::of(&format!("{CONFIG}\nsources.bye.greeting = 'Good night'")).await;
    let client = world.client("?disclosure=typed").with_bearer("token-of-ann");
    let greeting = client.list().await.unwrap().response;
    for words in ["Greet people. Available hosts:", "- bye (1 greeting: greet)", "say <host>"] {
        assert!(greeting.contains(words), "{words} is not in {greeting}");
    }
    let call =
        r#"{"subcommand":"say","host":"bye","greeting":"greet","parameters":{"name":"Bea"}}"#;
    let called = client.call("greeting", call).await.unwrap();
    assert!(called.text().contains("Good night, Bea!"), "{}", called.text());
}
