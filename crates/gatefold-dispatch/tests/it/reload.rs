use std::sync::Arc;

use gatefold_core::Principal;
use gatefold_dispatch::{BreakerState, Caller, Limits};
use gatefold_policy::Effect;
use tokio::time::Instant;

use crate::source::FakeSource;
use crate::world::{World, done, operation, refused, rule, until};

#[tokio::test(start_paused = true)]
async fn a_call_ends_on_the_runtime_it_began_with() {
    let (agent, mail) = (FakeSource::new("agent"), FakeSource::new("mail"));
    let world = World::new(&[&agent, &mail]);
    let pinned = world.dispatcher.pin(Arc::new(Principal::local()));
    let newer = FakeSource::with_tools("mail", &["send"]);
    world.install(&[&agent, &newer], &[rule(Effect::Deny, "agent", "*")]);

    let nested = operation("agent__nest", r#"["mail__echo", "x"]"#);
    assert_eq!(done(pinned.call(nested, None, Caller::silent()).await), r#"["x"]"#);
    assert_eq!((mail.calls(), newer.calls()), (1, 0));
    assert_eq!(
        refused(world.call("agent__nest", "[]").await),
        "unknown tool `agent__nest`",
        "a call that begins later has the new policy"
    );
}

#[tokio::test(start_paused = true)]
async fn a_removed_source_is_closed_when_its_calls_are_done() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let caller = Caller::silent();
    let cancel = caller.cancel.clone();
    let call = world.start("mail__hang", caller);
    mail.reached(1).await;
    world.install(&[], &[]);
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert!(!mail.is_closed(), "a call is under way");
    cancel.cancel();
    assert!(call.await.unwrap().is_err());
    mail.when_closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_removed_source_that_does_not_finish_is_closed_all_the_same() {
    let mail = FakeSource::new("mail");
    let limits = Limits { drain: Limits::default().call_deadline / 2, ..Limits::default() };
    let world = World::with_limits(&[&mail], limits);
    let call = world.start("mail__hang", Caller::silent());
    mail.reached(1).await;
    let began = Instant::now();
    world.install(&[], &[]);
    mail.when_closed().await;
    assert_eq!(began.elapsed(), limits.drain);
    call.abort();
}

#[tokio::test(start_paused = true)]
async fn who_comes_to_a_removed_source_too_late_is_told_so_at_once() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let pinned = world.dispatcher.pin(Arc::new(Principal::local()));
    world.install(&[], &[]);
    mail.when_closed().await;
    let began = Instant::now();
    let late = operation("mail__echo", "{}");
    assert_eq!(
        refused(pinned.call(late, None, Caller::silent()).await),
        "`mail` is unavailable: it was removed from the configuration"
    );
    assert_eq!((began.elapsed().as_secs(), mail.calls()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_kept_source_keeps_its_gate_and_its_breaker_and_a_new_one_starts_afresh() {
    let limits = Limits { breaker_failures: 1, ..Limits::default() };
    let mail = FakeSource::new("mail");
    let world = World::with_limits(&[&mail], limits);
    let call = world.start("mail__hang", Caller::silent());
    mail.reached(1).await;
    assert!(world.call("mail__unplug", "{}").await.is_err());

    world.install(&[&mail, &FakeSource::new("files")], &[]);
    let kept = world.report("mail");
    assert_eq!((kept.calls_in_flight, kept.breaker), (1, BreakerState::Open));
    assert!(!mail.is_closed());

    world.install(&[&FakeSource::new("mail")], &[]);
    let fresh = world.report("mail");
    assert_eq!((fresh.calls_in_flight, fresh.breaker), (0, BreakerState::Closed));
    done(world.call("mail__echo", "{}").await);
    call.abort();
    mail.when_closed().await;
}

#[tokio::test(start_paused = true)]
async fn closing_closes_every_source_removed_ones_too() {
    let (mail, files) = (FakeSource::new("mail"), FakeSource::new("files"));
    let world = World::new(&[&mail, &files]);
    let call = world.start("mail__hang", Caller::silent());
    mail.reached(1).await;
    world.install(&[&files], &[]);
    let began = Instant::now();
    world.dispatcher.close().await;
    assert!(mail.is_closed() && files.is_closed());
    assert_eq!(began.elapsed().as_secs(), 0, "nobody waited for the call");
    call.abort();
}

#[tokio::test(start_paused = true)]
async fn a_dispatcher_nobody_holds_watches_nothing() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let dispatcher = Arc::downgrade(&world.dispatcher);
    drop(world);
    until("the end", || dispatcher.upgrade().is_none()).await;
}
