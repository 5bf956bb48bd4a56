use std::sync::Arc;

use gatefold_catalog::Miss;
use gatefold_core::{Principal, ToolName};
use gatefold_policy::{Effect, Rule, Who};

use crate::source::FakeSource;
use crate::world::{World, ann, bob, done, refused, rule};

const TOOLS: &[&str] = &["read", "delete_all", "delete_one"];

/// A world in which only Ann may delete, and what Bob's would be if nothing could be deleted.
fn worlds() -> (Arc<FakeSource>, World, World) {
    let mail = FakeSource::with_tools("mail", TOOLS);
    let world = World::new(&[&mail]);
    let only_bob = Rule { who: Who::user(bob().user), ..rule(Effect::Deny, "mail", "delete_*") };
    world.install(&[&mail], &[only_bob]);
    let without = World::new(&[&FakeSource::with_tools("mail", &["read"])]);
    (mail, world, without)
}

fn listed(world: &World, principal: &Principal) -> Vec<String> {
    let pinned = world.dispatcher.pin(Arc::new(principal.clone()));
    let tools = pinned.view().tools();
    tools.map(|tool| tool.id().to_string()).collect()
}

fn resolved(world: &World, principal: &Principal, name: &str) -> Result<String, Miss> {
    let pinned = world.dispatcher.pin(Arc::new(principal.clone()));
    let tool = pinned.view().resolve(&ToolName::new(name));
    tool.map(|tool| tool.id().to_string())
}

#[tokio::test(start_paused = true)]
async fn a_hidden_tool_is_neither_listed_nor_resolved_nor_suggested_nor_called() {
    let (mail, world, without) = worlds();
    assert_eq!(listed(&world, &ann()), ["mail__delete_all", "mail__delete_one", "mail__read"]);
    assert_eq!(listed(&world, &bob()), ["mail__read"]);
    assert_eq!(resolved(&world, &ann(), "delete_all"), Ok("mail__delete_all".to_owned()));
    for name in ["mail__delete_all", "delete_all", "mail__delete_al", "reed"] {
        assert_eq!(
            resolved(&world, &bob(), name),
            resolved(&without, &bob(), name),
            "{name} reads as if there were no such tool"
        );
    }
    assert!(
        resolved(&world, &ann(), "mail__delete_al").is_err_and(|miss| !miss.nearest.is_empty()),
        "for Ann there is something to suggest"
    );

    done(world.call_as(&ann(), "mail__delete_all", "{}").await);
    for name in ["mail__delete_all", "delete_one", "mail__delete_al"] {
        let hidden = world.call_as(&bob(), name, "{}").await.unwrap_err();
        let missing = without.call_as(&bob(), name, "{}").await.unwrap_err();
        assert_eq!(format!("{hidden:?}"), format!("{missing:?}"));
        assert_eq!(hidden.to_string(), format!("unknown tool `{name}`"));
    }
    assert_eq!(mail.calls(), 1, "Bob's calls reached nothing");
    assert_eq!(world.log.ended()[1..], ["failed: unknown"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_name_hidden_from_one_can_be_unique_for_another() {
    let mail = FakeSource::with_tools("mail", &["send"]);
    let post = FakeSource::with_tools("post", &["send"]);
    let world = World::new(&[&mail, &post]);
    let only_bob = Rule { who: Who::user(bob().user), ..rule(Effect::Deny, "post", "*") };
    world.install(&[&mail, &post], &[only_bob]);
    done(world.call_as(&bob(), "send", "{}").await);
    assert_eq!((mail.calls(), post.calls()), (1, 0));
    assert_eq!(refused(world.call_as(&ann(), "send", "{}").await), "unknown tool `send`");
}
