use std::time::Duration;

use gatefold_core::{BusyResource, CallError};
use gatefold_dispatch::{BreakerState, Caller, Limits};
use tokio::time::Instant;

use crate::source::FakeSource;
use crate::world::{SECOND, World, done, refused, until};

#[tokio::test(start_paused = true)]
async fn a_full_queue_turns_the_next_call_away() {
    let mail = FakeSource::new("mail");
    let limits = Limits { calls_in_flight: 1, calls_waiting: 1, ..Limits::default() };
    let world = World::with_limits(&[&mail], limits);
    let inside = world.start("mail__hang", Caller::silent());
    mail.reached(1).await;
    let waits = world.start("mail__echo", Caller::silent());
    until("a waiting call", || world.report("mail").calls_waiting == 1).await;
    assert_eq!(
        refused(world.call("mail__echo", "{}").await),
        "`mail` has too many calls waiting; try again shortly"
    );
    assert_eq!(world.log.last().ended(), "failed: busy");
    inside.abort();
    done(waits.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_hung_source_does_not_slow_the_others() {
    let (hung, well) = (FakeSource::new("hung"), FakeSource::new("well"));
    let limits = Limits { calls_in_flight: 2, ..Limits::default() };
    let world = World::with_limits(&[&hung, &well], limits);
    let stuck: Vec<_> = (0..10).map(|_| world.start("hung__hang", Caller::silent())).collect();
    hung.reached(2).await;
    let began = Instant::now();
    for _ in 0..100 {
        done(world.call("well__echo", "{}").await);
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    stuck.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn the_breaker_opens_when_a_source_fails_and_not_when_a_call_does() {
    for (tool, expected) in [
        ("unplug", BreakerState::Open),
        ("garble", BreakerState::Closed),
        ("misanswer", BreakerState::Closed),
        ("withhold", BreakerState::Closed),
        ("lose", BreakerState::Open),
        ("rest", BreakerState::Closed),
        ("hang", BreakerState::Open),
        ("echo", BreakerState::Closed),
        ("fail", BreakerState::Closed),
        ("refuse", BreakerState::Closed),
        ("big", BreakerState::Closed),
        ("none", BreakerState::Closed),
    ] {
        let mail = FakeSource::new("mail");
        let limits =
            Limits { breaker_failures: 3, breaker_pause: 10 * SECOND, ..Limits::default() };
        let world = World::with_limits(&[&mail], limits);
        for _ in 0..limits.breaker_failures {
            assert_eq!(world.report("mail").breaker, BreakerState::Closed, "{tool}");
            drop(world.call(&format!("mail__{tool}"), "{}").await);
        }
        assert_eq!(world.report("mail").breaker, expected, "{tool}");
        if expected == BreakerState::Open {
            recovers(&world, &mail).await;
        }
    }
}

async fn recovers(world: &World, mail: &FakeSource) {
    let before = mail.calls();
    assert_eq!(
        refused(world.call("mail__echo", "{}").await),
        "`mail` is unavailable: its last calls failed; it is tried again in 11 s"
    );
    assert_eq!(mail.calls(), before, "the source is left alone");
    assert_eq!(world.log.last().ended(), "failed: unavailable");
    tokio::time::advance(world.limits.breaker_pause).await;
    done(world.call("mail__echo", "{}").await);
    done(world.call("mail__echo", "{}").await);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_says_nothing_about_its_source() {
    let mail = FakeSource::new("mail");
    let limits = Limits { breaker_failures: 1, ..Limits::default() };
    let world = World::with_limits(&[&mail], limits);
    let caller = Caller::silent();
    let cancel = caller.cancel.clone();
    let call = world.start("mail__hang", caller);
    mail.reached(1).await;
    cancel.cancel();
    assert!(call.await.unwrap().is_err());
    assert_eq!(world.report("mail").breaker, BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_includes_the_wait_for_a_place() {
    let mail = FakeSource::new("mail");
    let limits = Limits { calls_in_flight: 1, breaker_failures: 2, ..Limits::default() };
    let world = World::with_limits(&[&mail], limits);
    let began = Instant::now();
    let inside = world.start("mail__hang", Caller::silent());
    mail.reached(1).await;
    tokio::time::advance(20 * SECOND).await;
    let waits = world.start("mail__hang", Caller::silent());

    let late = "`mail__hang` did not answer within 60 s";
    assert_eq!(refused(inside.await.unwrap()), late);
    assert_eq!(began.elapsed(), 60 * SECOND);
    assert_eq!(refused(waits.await.unwrap()), late);
    assert_eq!(began.elapsed(), 80 * SECOND, "40 s in the queue, 20 s inside");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_left_the_queue_says_nothing_about_its_source() {
    let mail = FakeSource::new("mail");
    let limits = Limits { calls_in_flight: 1, breaker_failures: 2, ..Limits::default() };
    let world = World::with_limits(&[&mail], limits);
    let inside = world.start("mail__hang", Caller::silent());
    mail.reached(1).await;
    let waits = world.start("mail__hang", Caller::silent());
    assert!(inside.await.unwrap().is_err());
    let error = waits.await.unwrap().unwrap_err();
    assert!(matches!(error, CallError::Busy { of: BusyResource::Places, .. }), "{error:?}");
    let text = "`mail` had no place free before the call's deadline, and nothing was sent; try again shortly";
    assert_eq!(error.to_string(), text);
    assert_eq!(mail.calls(), 1, "both ran out of time at once");
    assert_eq!(world.report("mail").breaker, BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_result_over_the_limit_is_an_error_with_its_size() {
    let world = World::new(&[&FakeSource::new("mail")]);
    assert_eq!(
        refused(world.call("mail__big", "{}").await),
        "the result of `mail__big` has 2000011 bytes, more than the limit: 1048576"
    );
    let limits = Limits { result_bytes: 22, ..Limits::default() };
    let world = World::with_limits(&[&FakeSource::new("mail")], limits);
    done(world.call("mail__echo", r#"{"exactly":"22 bytes"}"#).await);
    assert!(world.call("mail__echo", r#"{"exactly":"23 bytes!"}"#).await.is_err());
}
