//! Sources that suspend, and a client that can be asked at once.

use gatefold_core::CallError;

use crate::clients::{ClientReaction, FORMS, live};
use crate::source::FakeSource;
use crate::world::{World, done, refused, until};

const YES: &str = r#"{"action":"accept"}"#;

/// A call of a tool that suspends ends as expected. Its records have these outcomes and a single
/// id.
async fn check(tool: &str, says: ClientReaction, expected: Result<&str, &str>, records: &[&str]) {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let (caller, client) = live(FORMS, says);
    let result = world.start(tool, caller).await.unwrap();
    match expected {
        Ok(json) => assert_eq!(done(result), json),
        Err(error) => assert_eq!(refused(result), error),
    }
    assert_eq!(world.log.ended(), records, "{tool}");
    let ids: std::collections::HashSet<_> =
        world.log.records().iter().map(|record| record.opened.id).collect();
    assert_eq!(ids.len(), 1, "one call, one id");
    for record in world.log.records() {
        assert_eq!(record.opened.tool.unwrap().as_str(), tool);
        assert_eq!(record.opened.rule.unwrap().as_str(), "default");
    }
    assert!(mail.seen().iter().all(|seen| ids.contains(&seen.call)));
    assert!(client.asked().iter().all(|asked| asked.starts_with("elicitation/create ")));
    assert_eq!(world.dispatcher.parked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_suspends_is_answered_within_one_call() {
    let expected = format!(r#"{{"state":"the source's own","answers":{{"name":{YES}}}}}"#);
    check("mail__wait", ClientReaction::Answer(YES), Ok(&expected), &["suspended", "done"]).await;
    let long = crate::world::SECOND * 200;
    check("mail__wait", ClientReaction::Late(long, YES), Ok(&expected), &["suspended", "done"])
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_suspended_call_without_an_answer_ends_and_so_does_its_record() {
    let ended = ["suspended", "failed: unanswered"];
    let sent = "`mail__wait` sent `elicitation/create` to the client, and the client";
    for (says, why) in [
        (ClientReaction::Refusal, "refused to answer: not now"),
        (ClientReaction::Nothing, "did not answer in time"),
        (ClientReaction::Gone, "is gone"),
    ] {
        check("mail__wait", says, Err(&format!("{sent} {why}")), &ended).await;
    }
    let yes = ClientReaction::Answer(YES);
    let text = "the questions of `mail__mumble` were not put to the client: they cannot be read";
    check("mail__mumble", yes, Err(text), &ended).await;
    let text = "the questions of `mail__crowd` were not put to the client: there are 17, and the limit is 16";
    check("mail__crowd", yes, Err(text), &ended).await;
}

#[tokio::test(start_paused = true)]
async fn a_source_suspends_one_call_no_more_often_than_the_limit() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let (caller, client) = live(FORMS, ClientReaction::Answer(YES));
    let error = refused(world.start("mail__badger", caller).await.unwrap());
    let expected = "the questions of `mail__badger` were not put to the client: it asked 16 times \
                    in a row, which is the limit";
    assert_eq!(error, expected);
    assert_eq!((client.asked().len(), mail.calls()), (16, 17), "every answer is used");
    assert_eq!(world.log.last().ended(), "failed: unanswered");
    assert_eq!(world.counted("unanswered"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_call_that_is_given_up_ends_cancelled() {
    let world = World::new(&[&FakeSource::new("mail")]);
    let (caller, client) = live(FORMS, ClientReaction::Nothing);
    let cancel = caller.cancel.clone();
    let call = world.start("mail__wait", caller);
    until("a question", || !client.asked().is_empty()).await;
    cancel.cancel();
    assert!(matches!(call.await, Ok(Err(CallError::Cancelled))));
    assert_eq!(world.log.ended(), ["suspended", "cancelled"]);
}
