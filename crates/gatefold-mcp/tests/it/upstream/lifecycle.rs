use std::time::Duration;

use gatefold_core::{CallError, Principal, UserId};
use gatefold_dispatch::{BreakerState, Caller, IdentityScope, SourceState};
use gatefold_testkit::{process_alive, wait_until};
use libtest_mimic::Trial;

use super::support::{Era, LONG, Upstream, Wire, stdio, trial};
use super::world::{World, WorldOptions, text};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_call_whose_server_died_is_an_error_and_not_sent_again", died),
        trial("the_call_after_a_death_starts_the_server_again", restarted),
        trial("a_call_that_may_be_repeated_outlives_its_server", repeated),
        trial("a_server_that_keeps_dying_is_left_alone_for_a_while", keeps_dying),
        trial("each_death_counts_whoever_sees_it_first", counted),
        trial("a_lost_call_that_cannot_be_repeated_yet_says_that_it_was_lost", lost),
        trial("a_server_nobody_uses_is_stopped_and_the_next_call_starts_it", idle),
        trial("a_server_with_a_call_under_way_is_not_idle", busy),
        trial("each_user_has_a_session_of_their_own", identities),
        trial("a_closed_source_is_not_started_again", closed),
    ]
}

fn fixture(behaviour: &[&str]) -> Upstream {
    Upstream::new("up", Wire::Stdio, Era::Stateless, behaviour)
}

async fn died() {
    let upstream = fixture(&[]);
    let world = World::connected(&upstream.settings).await;
    let error = world.call("up__die", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }));
    assert_eq!(
        error.to_string(),
        "the connection ended while `up__die` was under way; it may have taken effect: the server \
         exited with code 1"
    );
    assert_eq!(upstream.count("tools/call"), 1);
}

async fn restarted() {
    let upstream = fixture(&[]);
    let world = World::connected(&upstream.settings).await;
    assert!(world.call("up__die", "{}").await.is_err());
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(upstream.processes().len(), 2);
    assert_eq!(world.state("up"), SourceState::Running);
}

async fn repeated() {
    let upstream = fixture(&[]);
    let world = World::connected(&upstream.settings).await;
    let slow = world.start("up__slow", r#"{"ms":2000}"#, Caller::silent());
    assert!(wait_until(LONG, || upstream.count("tools/call") == 1).await);
    assert!(world.call("up__die", "{}").await.is_err());
    assert_eq!(text(&slow.await.unwrap().unwrap()), "slept 2000 ms");
    let calls = upstream.messages("tools/call");
    let names: Vec<_> = calls.iter().map(|call| call["params"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["slow", "die", "slow"]);
}

async fn keeps_dying() {
    let upstream = fixture(&[]);
    let world = World::connected(&upstream.settings).await;
    for _ in 0..2 {
        let error = world.error("up__die", "{}").await;
        assert!(error.ends_with("the server exited with code 1"), "{error}");
    }
    let error = world.error("up__echo", "{}").await;
    assert!(error.contains("(tried again in "), "{error}");
    assert_eq!(upstream.processes().len(), 2);
    let back = async || world.call("up__echo", "{}").await.is_ok();
    let deadline = tokio::time::Instant::now() + LONG;
    while !back().await {
        assert!(tokio::time::Instant::now() < deadline, "it is started again");
        tokio::task::yield_now().await;
    }
}

/// A call in a task of its own notices the death before the session's task does.
async fn counted() {
    let upstream = fixture(&[]);
    let world = World::connected(&upstream.settings).await;
    for _ in 0..2 {
        let call = world.start("up__die", "{}", Caller::silent());
        assert!(matches!(call.await.unwrap(), Err(CallError::Lost { .. })));
        let status = world.report("up").status;
        assert_eq!((status.state, status.sessions), (SourceState::Failing, 0));
        assert_eq!(status.error.as_deref(), Some("the server exited with code 1"));
    }
    for _ in 0..10 {
        let error = world.call("up__echo", "{}").await.unwrap_err();
        assert!(matches!(error, CallError::CircuitOpen { .. }), "{error}");
        assert!(error.to_string().contains("(tried again in "), "{error}");
    }
    assert_eq!(upstream.processes().len(), 2);
    assert_eq!(world.report("up").breaker, BreakerState::Closed, "nothing was attempted");
}

async fn lost() {
    let upstream = fixture(&[]);
    let world = World::connected(&upstream.settings).await;
    assert!(world.call("up__die", "{}").await.is_err());
    let slow = world.start("up__slow", r#"{"ms":600000}"#, Caller::silent());
    assert!(wait_until(LONG, || upstream.count("tools/call") == 2).await);
    assert!(world.call("up__die", "{}").await.is_err());
    let error = slow.await.unwrap().unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error}");
    assert_eq!(upstream.processes().len(), 2);
}

async fn idle() {
    let mut upstream = fixture(&[]);
    upstream.settings.idle_stop = Duration::from_millis(300);
    let world = World::connected(&upstream.settings).await;
    world.reaches("up", SourceState::Idle).await;
    assert_eq!(world.report("up").status.sessions, 0);
    let first = upstream.processes()[0];
    assert!(wait_until(LONG, || !process_alive(first)).await);
    let shown = world.tools();
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(upstream.processes().len(), 2);
    assert_eq!(world.tools(), shown);
}

async fn busy() {
    let mut upstream = fixture(&[]);
    upstream.settings.idle_stop = Duration::from_millis(200);
    let world = World::connected(&upstream.settings).await;
    assert_eq!(world.text("up__slow", r#"{"ms":1500}"#).await, "slept 1500 ms");
    world.reaches("up", SourceState::Idle).await;
}

async fn identities() {
    let first = World::connected(&stdio("up", &[])).await;
    let known = Some(first.keeper.last());
    let made = WorldOptions { known, identity: IdentityScope::PerUser, ..WorldOptions::default() };
    let upstream = fixture(&[]);
    let world = World::made(&[&upstream.settings], &made);
    for user in ["ann", "bob", "ann", "bob"] {
        let principal = Principal::user(UserId::new(user));
        let called = world.call_with("up__echo", "{}", &principal, Caller::silent()).await;
        assert_eq!(text(&called.unwrap()), "{}");
    }
    let mut processes = upstream.processes();
    processes.sort_unstable();
    processes.dedup();
    assert_eq!(processes.len(), 2);
    assert_eq!(world.report("up").status.sessions, 2);
}

async fn closed() {
    let upstream = fixture(&[]);
    let world = World::connected(&upstream.settings).await;
    world.dispatcher.close().await;
    let error = world.error("up__echo", "{}").await;
    assert_eq!(error, "`up` is unavailable: it was removed from the configuration");
    assert_eq!(upstream.processes().len(), 1);
}
