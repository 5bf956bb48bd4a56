//! Sources that many people use, each under their own identity.

use std::sync::Arc;

use gatefold_core::{CallError, Payload, Principal, UserId};
use gatefold_dispatch::{Caller, IdentityScope};
use gatefold_mcp::UserSessionLimits;
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use tokio::task::JoinHandle;

use super::support::{Era, LONG, Upstream, Wire, stdio, trial};
use super::world::{World, WorldOptions, text};

/// How many sessions the users of a test may have.
const FEW: usize = 8;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("one_session_too_many_retires_the_one_longest_unused", retired),
        trial("one_session_too_many_is_refused_while_all_are_in_use", refused),
        trial("a_user_has_four_sessions_at_all_sources_together", own_retired),
        trial("a_user_whose_sessions_are_all_in_use_is_refused_and_nobody_else", own_refused),
        trial("sessions_of_a_thousand_users_are_open_at_once_and_no_more", thousand),
        trial("an_unused_session_of_a_user_ends_and_frees_its_place", idle),
    ]
}

/// A world where each user has sessions of their own, none of them open yet.
async fn world_of_many(upstreams: &[&Upstream], sessions: UserSessionLimits) -> Arc<World> {
    let known = World::connected(&stdio("up", &[])).await.keeper.last();
    let identity = IdentityScope::PerUser;
    let settings: Vec<_> = upstreams.iter().map(|upstream| &upstream.settings).collect();
    let made = WorldOptions { known: Some(known), identity, sessions, ..WorldOptions::default() };
    Arc::new(World::made(&settings, &made))
}

fn few() -> UserSessionLimits {
    UserSessionLimits { of_all: FEW, ..UserSessionLimits::default() }
}

fn user(n: usize) -> Principal {
    Principal::user(UserId::new(format!("user-{n}")))
}

async fn ask(world: &World, source: &str, n: usize) -> Result<Payload, CallError> {
    world.call_with(&format!("{source}__echo"), "{}", &user(n), Caller::silent()).await
}

async fn echo_at(world: &World, source: &str, n: usize) {
    assert_eq!(text(&ask(world, source, n).await.unwrap()), "{}", "user {n} at {source}");
}

async fn echo(world: &World, n: usize) {
    echo_at(world, "up", n).await;
}

/// A call that takes as long as the test.
fn hold(world: &Arc<World>, source: &str, n: usize) -> JoinHandle<Result<Payload, CallError>> {
    let (world, tool) = (world.clone(), format!("{source}__slow"));
    tokio::spawn(async move {
        world.call_with(&tool, r#"{"ms":600000}"#, &user(n), Caller::silent()).await
    })
}

async fn becomes_free(world: &World, source: &str, n: usize) {
    let deadline = tokio::time::Instant::now() + LONG;
    while ask(world, source, n).await.is_err() {
        assert!(tokio::time::Instant::now() < deadline, "a place becomes free");
        tokio::task::yield_now().await;
    }
}

fn remote(domain: &str) -> Upstream {
    Upstream::new(domain, Wire::Http, Era::Stateless, &[])
}

async fn retired() {
    let upstream = remote("up");
    let world = world_of_many(&[&upstream], few()).await;
    for n in 0..FEW {
        echo(&world, n).await;
    }
    assert_eq!(world.report("up").status.sessions, FEW);
    assert_eq!(upstream.count("server/discover"), FEW);
    // The first is used again, so the second is now the least recently used one.
    echo(&world, 0).await;
    echo(&world, FEW).await;
    assert_eq!(world.report("up").status.sessions, FEW, "one was opened and one closed");
    echo(&world, 0).await;
    assert_eq!(upstream.count("server/discover"), FEW + 1, "the first still has its session");
    echo(&world, 1).await;
    assert_eq!(upstream.count("server/discover"), FEW + 2, "the second needs a new one");
    for n in 0..4 * FEW {
        echo(&world, n).await;
        assert!(world.report("up").status.sessions <= FEW);
    }
}

async fn refused() {
    let upstream = remote("up");
    let world = world_of_many(&[&upstream], few()).await;
    let calls: Vec<_> = (0..FEW).map(|n| hold(&world, "up", n)).collect();
    assert!(wait_until(LONG, || upstream.count("tools/call") == FEW).await);
    let said = ask(&world, "up", FEW).await.expect_err("no session is left").to_string();
    let expected = "has no session free, as all users' sessions are in use; try again in a minute";
    assert!(said.ends_with(expected), "{said}");
    for call in calls {
        call.abort();
    }
    becomes_free(&world, "up", FEW).await;
}

async fn own_retired() {
    let names = ["a", "b", "c", "d", "e"];
    let upstreams = names.map(remote);
    let world = world_of_many(&upstreams.each_ref(), UserSessionLimits::default()).await;
    let sessions = || names.iter().map(|name| world.report(name).status.sessions).sum::<usize>();
    // At each turn the sources are also asked what they offer the user.
    for name in names.iter().chain(&names) {
        echo_at(&world, name, 0).await;
        assert!(sessions() <= 4, "{} sessions after {name}", sessions());
    }
    // One may just be closed for another that is not open yet.
    assert!(wait_until(LONG, || sessions() == 4).await, "{} sessions", sessions());
    for name in names {
        echo_at(&world, name, 1).await;
    }
    assert!(sessions() > 4, "each user has as many");
}

async fn own_refused() {
    let upstreams = ["a", "b", "c"].map(remote);
    let limits = UserSessionLimits { of_user: 2, ..UserSessionLimits::default() };
    let world = world_of_many(&upstreams.each_ref(), limits).await;
    let calls = [hold(&world, "a", 0), hold(&world, "b", 0)];
    let are_held = || upstreams[..2].iter().all(|upstream| upstream.count("tools/call") == 1);
    assert!(wait_until(LONG, are_held).await);
    let said = ask(&world, "c", 0).await.expect_err("no session is left").to_string();
    let expected = "has no session free for you: as many as one user may have are in use, here or \
                    at other servers; try again when one of your other calls has ended";
    assert!(said.ends_with(expected), "{said}");
    echo_at(&world, "a", 0).await;
    echo_at(&world, "c", 1).await;
    for call in calls {
        call.abort();
    }
    becomes_free(&world, "c", 0).await;
}

async fn thousand() {
    const ALL: usize = 1000;
    let upstream = remote("up");
    let world = world_of_many(&[&upstream], UserSessionLimits::default()).await;
    for n in 0..ALL {
        echo(&world, n).await;
    }
    assert_eq!(world.report("up").status.sessions, ALL);
    for n in ALL..ALL + 10 {
        echo(&world, n).await;
        assert_eq!(world.report("up").status.sessions, ALL);
    }
    echo(&world, ALL - 1).await;
    assert_eq!(upstream.count("server/discover"), ALL + 10);
}

async fn idle() {
    let mut upstream = remote("up");
    upstream.settings.idle_stop = std::time::Duration::from_millis(50);
    let limits = UserSessionLimits { of_user: 1, ..UserSessionLimits::default() };
    let world = world_of_many(&[&upstream], limits).await;
    echo(&world, 0).await;
    assert!(wait_until(LONG, || world.report("up").status.sessions == 0).await);
    echo(&world, 0).await;
    assert_eq!(upstream.count("server/discover"), 2);
}
