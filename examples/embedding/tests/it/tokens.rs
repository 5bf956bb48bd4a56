use http::HeaderMap;

use crate::world::{World, greet};

const CONFIG: &str = "sources.hello.greeting = 'Good morning'";

#[tokio::test]
async fn without_a_token_that_is_known_nothing_is_answered() {
    let world = World::of(CONFIG).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for client in [world.client(""), world.client("").with_bearer("token-of-nobody")] {
        let refused = client.post_raw(body, HeaderMap::new()).await.unwrap();
        assert_eq!(refused.status, 401);
        assert_eq!(refused.headers["www-authenticate"], "Bearer");
        assert!(!refused.body.contains("nobody"), "{}", refused.body);
    }
    assert_eq!(world.records().await, []);
}

#[tokio::test]
async fn each_token_is_a_principal_of_its_own() {
    let world = World::of(CONFIG).await;
    for client in [world.ann(), world.bob()] {
        client.call("execute_tool", &greet("hello__greet", "Bea")).await.unwrap();
    }
    let users: Vec<_> = world.records().await.into_iter().map(|(user, ..)| user).collect();
    assert_eq!(users, ["bob", "ann"]);
}

#[tokio::test]
async fn a_session_is_unknown_to_whoever_holds_another_token() {
    let world = World::of(CONFIG).await;
    let mut ann = world.ann();
    ann.initialize().await.unwrap();
    assert_eq!(ann.list().await.unwrap().status, 200);
    let ann = ann.with_bearer("token-of-bob");
    let refused = ann.list().await.unwrap_err().to_string();
    assert!(refused.contains("there is no such session"), "{refused}");
}
