use gatefold_core::{CallError, CallId};
use gatefold_policy::Effect;

use crate::source::{FakeSource, QUESTIONS};
use crate::world::{World, ann, bob, done, refused, rule, suspended};

/// A call of `mail__wait` by Ann that is suspended: its id and its sealed state.
async fn parked(world: &World) -> (CallId, String) {
    let suspension = suspended(world.call_as(&ann(), "mail__wait", "{}").await);
    assert_eq!(suspension.questions.get(), QUESTIONS);
    let record = world.log.last();
    assert_eq!(record.ended(), "suspended");
    (record.opened.id, suspension.state.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_suspended_call_resumes_with_its_sources_own_state_and_its_first_id() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let (id, state) = parked(&world).await;
    assert!(!state.contains("the source's own"), "the state is sealed");

    let result = world.resume(&ann(), "mail__wait", "{}", &state).await;
    assert_eq!(done(result), r#"{"state":"the source's own","answers":{"name":"Ada"}}"#);
    assert_eq!(world.log.ended(), ["suspended", "done"]);
    assert!(world.log.records().iter().all(|r| r.opened.id == id));
    assert!(mail.seen().iter().all(|seen| seen.call == id));
}

#[tokio::test(start_paused = true)]
async fn an_answer_counts_once() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let (_, state) = parked(&world).await;
    done(world.resume(&ann(), "mail__wait", "{}", &state).await);
    let again = refused(world.resume(&ann(), "mail__wait", "{}", &state).await);
    assert_eq!(again, "the answer cannot be resumed: it was answered already");
    assert_eq!((mail.calls(), world.counted("resume")), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_resumes_on_a_later_runtime_that_still_admits_it() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let (_, state) = parked(&world).await;
    world.install(&[&mail], &[rule(Effect::Allow, "mail", "wait")]);
    done(world.resume(&ann(), "mail__wait", "{}", &state).await);
    assert_eq!(mail.seen()[1].rule.as_str(), "allow-wait");
}

#[tokio::test(start_paused = true)]
async fn a_revoked_call_does_not_resume_and_its_record_says_so() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let (id, state) = parked(&world).await;
    world.install(&[&mail], &[rule(Effect::Deny, "mail", "wait")]);
    let refused = refused(world.resume(&ann(), "mail__wait", "{}", &state).await);
    assert_eq!(refused, "unknown tool `mail__wait`");
    assert_eq!(mail.calls(), 1, "nothing was sent");
    let record = world.log.last();
    assert_eq!((record.opened.id, &*record.ended()), (id, "failed: unknown"));
}

/// What changes between a suspension and the attempt to resume it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResumeChange {
    Nothing,
    Seal,
    Time,
    Caller,
    Definition,
    Arguments,
}

#[tokio::test(start_paused = true)]
async fn a_call_resumes_only_as_it_was_suspended() {
    for (changed, expected) in [
        (ResumeChange::Nothing, ""),
        (ResumeChange::Seal, "its state is not one that was given out"),
        (ResumeChange::Time, "its state has expired"),
        (ResumeChange::Caller, "it belongs to another caller"),
        (ResumeChange::Definition, "the tool's definition has changed since"),
        (ResumeChange::Arguments, "its arguments have changed since"),
    ] {
        resumes(changed, expected).await;
    }
}

async fn resumes(changed: ResumeChange, expected: &str) {
    let mail = FakeSource::with_tools("mail", &["wait"]);
    let world = World::new(&[&mail]);
    let (id, mut state) = parked(&world).await;
    let (mut principal, mut arguments) = (ann(), "{}");
    match changed {
        ResumeChange::Nothing => {}
        ResumeChange::Seal => state.insert(3, 'A'),
        ResumeChange::Time => world.clock.advance(world.limits.suspension),
        ResumeChange::Caller => principal = bob(),
        ResumeChange::Definition => {
            mail.redefines(&["wait"]);
            world.install(&[&mail], &[]);
        }
        ResumeChange::Arguments => arguments = "{ }",
    }
    let resumed = world.resume(&principal, "mail__wait", arguments, &state).await;
    if changed == ResumeChange::Nothing {
        done(resumed);
        return;
    }
    let error = resumed.unwrap_err();
    assert!(matches!(error, CallError::Resume(_)));
    assert_eq!(error.to_string(), format!("the answer cannot be resumed: {expected}"));
    assert_eq!(mail.calls(), 1, "nothing was sent: {changed:?}");
    let record = world.log.last();
    assert_eq!(record.ended(), "failed: resume");
    assert_ne!(record.opened.id, id, "the suspended record is left alone");
}
