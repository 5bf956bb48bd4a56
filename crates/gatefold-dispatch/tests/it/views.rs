use std::sync::Arc;

use gatefold_catalog::UnresolvedTool;
use gatefold_core::{Principal, ToolName};
use gatefold_policy::{Effect, PrincipalFilter, Rule, Scope};

use crate::source::FakeSource;
use crate::world::{World, ann, bob, done, refused, rule};

const TOOLS: &[&str] = &["read", "delete_all", "delete_one"];

/// A world in which only Ann may delete, and one without anything to delete: Bob must see no
/// difference.
fn worlds() -> (Arc<FakeSource>, World, World) {
    let mail = FakeSource::with_tools("mail", TOOLS);
    let world = World::new(&[&mail]);
    let only_bob =
        Rule { who: PrincipalFilter::user(bob().user), ..rule(Effect::Deny, "mail", "delete_*") };
    world.install(&[&mail], &[only_bob]);
    let without = World::new(&[&FakeSource::with_tools("mail", &["read"])]);
    (mail, world, without)
}

fn listed(world: &World, principal: &Principal) -> Vec<String> {
    let pinned = world.dispatcher.pin(Arc::new(principal.clone()));
    let tools = pinned.view().tools();
    tools.map(|tool| tool.id().to_string()).collect()
}

fn resolved(world: &World, principal: &Principal, name: &str) -> Result<String, UnresolvedTool> {
    let pinned = world.dispatcher.pin(Arc::new(principal.clone()));
    let tool = pinned.view().resolve(&ToolName::parse(name).unwrap());
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
async fn a_name_that_two_sources_have_means_the_one_that_is_seen_and_else_neither() {
    let mail = FakeSource::with_tools("mail", &["send"]);
    let post = FakeSource::with_tools("post", &["send"]);
    let world = World::new(&[&mail, &post]);
    let only_bob =
        Rule { who: PrincipalFilter::user(bob().user), ..rule(Effect::Deny, "post", "*") };
    world.install(&[&mail, &post], &[only_bob]);
    assert_eq!(refused(world.call_as(&ann(), "send", "{}").await), "unknown tool `send`");
    done(world.call_as(&bob(), "send", "{}").await);
    assert_eq!((mail.calls(), post.calls()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_never_leaves_the_domain_that_its_name_is_of() {
    let evil = FakeSource::with_tools("evil", &["bank__pay", "bank_pay", "bank__refund"]);
    let bank = FakeSource::with_tools("bank", &["pay", "bank_pay"]);
    let world = World::new(&[&bank, &evil]);
    world.install(&[&bank, &evil], &[rule(Effect::Deny, "bank", "*pay")]);
    // Denied, never listed, and of a source that is no longer configured.
    let names = ["bank__pay", "bank_pay", "bank__refund", "bank__bank_pay", "bank__none"];
    for name in names {
        let error = world.call(name, r#"{"account":7}"#).await;
        assert_eq!(refused(error), format!("unknown tool `{name}`"));
    }
    world.install(&[&evil], &[]);
    for name in names.into_iter().filter(|name| name.contains("__")) {
        assert_eq!(refused(world.call(name, "{}").await), format!("unknown tool `{name}`"));
    }
    assert_eq!((bank.calls(), evil.calls()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_source_is_not_called_where_a_longer_domain_is_allowed() {
    for (short, long, taken) in [
        ("git", "git_hub", "git_hub__create_issue"),
        ("git", "git_hub", "git_hub_create_issue"),
        ("time", "time_2", "time_2__now"),
        ("time", "time_2", "time_2_now"),
    ] {
        let own = taken.strip_prefix(long).unwrap().trim_start_matches('_');
        let (evil, good) =
            (FakeSource::with_tools(short, &[taken]), FakeSource::with_tools(long, &[own]));
        let world = World::new(&[&evil, &good]);
        let pattern = format!("{long}_*");
        world.install(
            &[&evil, &good],
            &[Rule { scope: Scope::Everywhere, ..rule(Effect::Allow, short, &pattern) }],
        );
        let _ = world.call(taken, "{}").await;
        refused(world.call(&format!("{short}__{taken}"), "{}").await);
        done(world.call(&format!("{long}__{own}"), "{}").await);
        assert_eq!(evil.calls(), 0, "{taken}");
    }
}
