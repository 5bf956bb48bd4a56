//! Sources that many people use, each under their own identity.

use gatefold_core::{Principal, UserId};
use gatefold_dispatch::{Caller, IdentityScope};
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;

use super::support::{Era, LONG, Upstream, Wire, stdio, trial};
use super::world::{World, WorldOptions, text};

/// The most sessions of one source.
const LIMIT: usize = 64;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("one_session_too_many_retires_the_one_longest_unused", retired),
        trial("one_session_too_many_is_refused_while_all_are_in_use", refused),
    ]
}

/// A world where each user has a session of their own, none of them open yet.
async fn world_of_many(upstream: &Upstream) -> World {
    let known = World::connected(&stdio("up", &[])).await.keeper.last();
    let identity = IdentityScope::PerUser;
    World::made(
        &[&upstream.settings],
        &WorldOptions { known: Some(known), identity, ..WorldOptions::default() },
    )
}

fn user(n: usize) -> Principal {
    Principal::user(UserId::new(format!("user-{n}")))
}

async fn echo(world: &World, n: usize) {
    let called = world.call_with("up__echo", "{}", &user(n), Caller::silent()).await;
    assert_eq!(text(&called.unwrap()), "{}", "user {n}");
}

async fn retired() {
    let upstream = Upstream::new("up", Wire::Http, Era::Stateless, &[]);
    let world = world_of_many(&upstream).await;
    for n in 0..LIMIT {
        echo(&world, n).await;
    }
    assert_eq!(world.report("up").status.sessions, LIMIT);
    assert_eq!(upstream.count("server/discover"), LIMIT);
    // The first is used again, so the second is now the least recently used one.
    echo(&world, 0).await;
    echo(&world, LIMIT).await;
    assert_eq!(world.report("up").status.sessions, LIMIT, "one was opened and one closed");
    echo(&world, 0).await;
    assert_eq!(upstream.count("server/discover"), LIMIT + 1, "the first still has its session");
    echo(&world, 1).await;
    assert_eq!(upstream.count("server/discover"), LIMIT + 2, "the second needs a new one");
    for n in 0..4 * LIMIT {
        echo(&world, n).await;
        assert!(world.report("up").status.sessions <= LIMIT);
    }
}

async fn refused() {
    let upstream = Upstream::new("up", Wire::Http, Era::Stateless, &[]);
    let world = std::sync::Arc::new(world_of_many(&upstream).await);
    let calls: Vec<_> = (0..LIMIT)
        .map(|n| {
            let world = world.clone();
            tokio::spawn(async move {
                let arguments = r#"{"ms":600000}"#;
                world.call_with("up__slow", arguments, &user(n), Caller::silent()).await
            })
        })
        .collect();
    assert!(wait_until(LONG, || upstream.count("tools/call") == LIMIT).await);
    let one_more = world.call_with("up__echo", "{}", &user(LIMIT), Caller::silent()).await;
    let said = one_more.expect_err("no connection is left").to_string();
    let expected = "has all its connections in use by other users; try again in a minute, when one \
                    of them may be free";
    assert!(said.ends_with(expected), "{said}");
    for call in calls {
        call.abort();
    }
    let free =
        async || world.call_with("up__echo", "{}", &user(LIMIT), Caller::silent()).await.is_ok();
    let deadline = tokio::time::Instant::now() + LONG;
    while !free().await {
        assert!(tokio::time::Instant::now() < deadline, "a place becomes free");
        tokio::task::yield_now().await;
    }
}
