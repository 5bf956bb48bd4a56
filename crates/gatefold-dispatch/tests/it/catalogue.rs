use std::sync::Arc;

use gatefold_core::Principal;
use serde_json::json;
use tokio::time::Instant;

use crate::source::{FakeSource, manifest};
use crate::world::{SECOND, World, done, refused};

fn tools(world: &World) -> Vec<String> {
    let pinned = world.dispatcher.pin(Arc::new(Principal::local()));
    let tools = pinned.view().tools();
    tools.map(|tool| tool.id().to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_a_source_says_is_taken_up_and_told() {
    let mail = FakeSource::silent("mail");
    let world = World::new(&[&mail]);
    assert_eq!(refused(world.call("mail__send", "{}").await), "unknown tool `mail__send`");
    let mut epochs = world.dispatcher.epochs();
    let before = *epochs.borrow_and_update();
    mail.offers(&["send"]);
    epochs.changed().await.unwrap();
    assert_eq!(*epochs.borrow(), before + 1);
    done(world.call("mail__send", "{}").await);
}

#[tokio::test(start_paused = true)]
async fn manifests_that_come_together_make_one_snapshot() {
    let sources = ["a", "b", "c"].map(FakeSource::silent);
    let world = World::new(&sources.each_ref());
    let mut epochs = world.dispatcher.epochs();
    let before = *epochs.borrow_and_update();
    for source in &sources {
        source.offers(&["one"]);
    }
    epochs.changed().await.unwrap();
    assert_eq!(tools(&world), ["a__one", "b__one", "c__one"]);
    tokio::time::sleep(SECOND).await;
    assert_eq!(*epochs.borrow(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn what_says_nothing_new_changes_nothing() {
    let mail = FakeSource::with_tools("mail", &["send"]);
    let world = World::new(&[&mail]);
    let before = *world.dispatcher.epochs().borrow();
    tokio::time::sleep(SECOND).await;
    assert_eq!(*world.dispatcher.epochs().borrow(), before, "after a start");
    mail.offers(&["send"]);
    tokio::time::sleep(SECOND).await;
    assert_eq!(*world.dispatcher.epochs().borrow(), before, "after a repeat");
    mail.redefines(&["send"]);
    tokio::time::sleep(SECOND).await;
    assert_eq!(*world.dispatcher.epochs().borrow(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn a_manifest_that_came_before_a_reload_is_not_lost() {
    let mail = FakeSource::silent("mail");
    let world = World::new(&[&mail]);
    mail.offers(&["send"]);
    world.install(&[&mail], &[]);
    assert_eq!(tools(&world), ["mail__send"]);
    mail.offers(&["send", "read"]);
    tokio::time::sleep(SECOND).await;
    assert_eq!(tools(&world), ["mail__read", "mail__send"]);
}

#[tokio::test(start_paused = true)]
async fn sources_are_asked_at_once_and_one_that_fails_costs_only_itself() {
    let slow = FakeSource::silent("slow");
    *slow.refresh.lock().unwrap() = (9 * SECOND, Some(manifest(&["crawl"], "")));
    let quick = FakeSource::silent("quick");
    *quick.refresh.lock().unwrap() = (SECOND, Some(manifest(&["run"], "")));
    let broken = FakeSource::with_tools("broken", &["old"]);
    *broken.refresh.lock().unwrap() = (10 * SECOND, None);
    let world = World::new(&[&slow, &quick, &broken]);

    let began = Instant::now();
    let refreshed = world.dispatcher.refresh().await;
    assert_eq!(began.elapsed(), 10 * SECOND);
    let fared: Vec<_> =
        refreshed.iter().map(|(domain, fared)| (domain.as_str(), fared.is_ok())).collect();
    assert_eq!(fared, [("broken", false), ("quick", true), ("slow", true)]);
    assert_eq!(tools(&world), ["broken__old", "quick__run", "slow__crawl"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_gets_its_own_names_of_arguments_whichever_were_given() {
    let source = FakeSource::silent("a");
    source.offers_with_schema("echo", &json!({"properties": {"ids[]": {}, "plain": {}}}));
    let world = World::new(&[&source]);
    for arguments in [r#"{"ids":[1],"plain":2}"#, r#"{"ids[]":[1],"plain":2}"#] {
        let result = world.call("a__echo", arguments).await;
        assert_eq!(done(result), r#"{"ids[]":[1],"plain":2}"#);
    }
    let records = world.log.records();
    assert_eq!(records[0].opened.arguments_digest, records[1].opened.arguments_digest);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_what_every_client_takes() {
    let source = FakeSource::new("a");
    let world = World::new(&[&source]);
    for (answer, expected) in [
        (r#"{"content":[],"x": null}"#, r#"{"content":[],"x": null}"#),
        (
            r#"{"content":[],"structuredContent":[],"_meta":null}"#,
            r#"{"content":[],"structuredContent":{}}"#,
        ),
        (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
    ] {
        let result = world.call("a__echo", answer).await;
        assert_eq!(done(result), expected);
    }
}
