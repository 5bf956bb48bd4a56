use gatefold_dispatch::ApprovalState;
use gatefold_testkit::RawClient;

use crate::world::{World, greet};

const CONFIG: &str = "sources.hello = { greeting = 'Good morning', ask = ['*'] }";

/// A client that cannot be asked anything, so that the desk is.
fn client(world: &World) -> RawClient {
    world.ann().with_capabilities("{}")
}

async fn say(client: &RawClient) -> String {
    client.call("execute_tool", &greet("hello__greet", "Bea")).await.unwrap().text()
}

#[tokio::test]
async fn a_yes_at_the_desk_serves_one_call() {
    let world = World::of(CONFIG).await;
    let client = client(&world);
    let refused = say(&client).await;
    let [(id, request)] = &world.desk.pending()[..] else { panic!("one request") };
    assert!(refused.contains(id.as_str()), "{refused}");
    assert_eq!(request.tool.as_str(), "hello__greet");
    assert_eq!(request.arguments.get(), r#"{"name":"Bea"}"#);
    assert_eq!(say(&client).await, refused, "nobody has decided yet");

    world.desk.decide(id, ApprovalState::Approved { by: "carol".into() });
    assert!(say(&client).await.contains("Good morning, Bea!"));
    let (user, _, decided_by, outcome) = &world.records().await[0];
    assert_eq!((user.as_str(), outcome.as_str()), ("ann", "done"));
    assert_eq!(decided_by.as_deref(), Some("carol"));

    let again = say(&client).await;
    assert!(!again.contains("Good morning"), "one yes serves one call: {again}");
}

#[tokio::test]
async fn a_no_at_the_desk_refuses_the_call_with_its_reason() {
    let world = World::of(CONFIG).await;
    let client = client(&world);
    say(&client).await;
    let [(id, _)] = &world.desk.pending()[..] else { panic!("one request") };
    let reason = Some("she is asleep".to_owned());
    world.desk.decide(id, ApprovalState::Denied { by: "carol".into(), reason });
    let refused = say(&client).await;
    assert!(refused.contains("she is asleep"), "{refused}");
    assert!(world.records().await.iter().all(|(.., outcome)| outcome != "done"));
}

#[tokio::test]
async fn a_yes_for_one_principal_is_none_for_another() {
    let world = World::of(CONFIG).await;
    let (ann, bob) = (client(&world), world.bob().with_capabilities("{}"));
    say(&ann).await;
    let [(id, _)] = &world.desk.pending()[..] else { panic!("one request") };
    world.desk.decide(id, ApprovalState::Approved { by: "carol".into() });
    assert!(!say(&bob).await.contains("Good morning"));
    assert!(say(&ann).await.contains("Good morning, Bea!"));
}
