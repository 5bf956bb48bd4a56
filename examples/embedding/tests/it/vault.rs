use gatefold_core::Domain;
use gatefold_embedding_example::vault::Vault;
use gatefold_testkit::{Fixture, HttpFixture, serve_http};
use serde_json::Value;

use crate::world::World;

/// A server that wants a token.
fn guarded(token: &str) -> HttpFixture {
    serve_http(Fixture::new(&["--bearer", token]).unwrap()).unwrap()
}

/// Whether an echo at a source fails.
async fn fails(world: &World, domain: &str) -> bool {
    let arguments = format!(r#"{{"tool_name":"{domain}__echo","arguments":{{"text":"x"}}}}"#);
    let called = world.ann().call("execute_tool", &arguments).await.unwrap();
    called.result()["isError"] == Value::Bool(true)
}

#[tokio::test]
async fn the_vault_gives_the_credentials_of_its_sources_and_leaves_others_alone() {
    let (good, old, own) = (guarded("good"), guarded("new"), guarded("own"));
    let config = format!(
        "sources.good.url = '{}'\nsources.old.url = '{}'\n\
         sources.own = {{ url = '{}', headers = {{ Authorization = 'Bearer own' }} }}\n",
        good.url, old.url, own.url
    );
    let domain = |name| Domain::parse(name).unwrap();
    let vault = Vault::default().with(domain("good"), "good").with(domain("old"), "old");
    let world = World::with(&config, vault).await;
    assert!(!fails(&world, "good").await);
    assert!(fails(&world, "old").await);
    assert!(!fails(&world, "own").await);
}
