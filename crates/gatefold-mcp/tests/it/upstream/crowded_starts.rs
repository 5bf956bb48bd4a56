//! Many sources that start at once.

use std::path::Path;
use std::time::Duration;

use gatefold_dispatch::{Caller, Limits, SourceState};
use gatefold_mcp::{McpSettings, StartLimits, StdioSettings, Transport};
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use tokio::time::Instant;

use super::support::{LONG, Upstream, Wire, settings, stdio, trial};
use super::world::{World, WorldOptions};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("twenty_servers_that_slow_one_another_down_are_all_up_in_the_end", crowd),
        trial("a_call_waits_for_no_place_that_a_hanging_server_has", overtaking),
        trial("a_call_that_waits_for_a_start_ends_at_its_own_deadline", deadline),
    ]
}

const SERVERS: usize = 20;

/// How long one server's start takes when it runs alone.
const ALONE: &str = "0.2";

/// A server that starts only while no other one does, as if they shared one processor.
fn crowding(domain: &str, lock: &Path) -> McpSettings {
    let (command, args) = gatefold_testkit::fixture_command(&[]);
    let turn = format!(
        r#"until mkdir "$0" 2>/dev/null; do sleep 0.02; done; sleep {ALONE}; rmdir "$0"; exec "$@""#
    );
    let mut all = vec!["-c".to_owned(), turn, lock.to_str().unwrap().to_owned()];
    all.push(command.to_str().unwrap().to_owned());
    all.extend(args);
    let stdio = StdioSettings { command: "sh".to_owned(), args: all, ..StdioSettings::default() };
    settings(domain, Transport::Stdio(stdio))
}

async fn crowd() {
    let directory = tempfile::tempdir().unwrap();
    let lock = directory.path().join("lock");
    let crowd: Vec<_> = (0..SERVERS)
        .map(|n| McpSettings {
            connect_deadline: Duration::from_secs(3),
            ..crowding(&format!("s{n}"), &lock)
        })
        .collect();
    let made = WorldOptions {
        starts: StartLimits { starts: Some(3), ..StartLimits::default() },
        ..WorldOptions::default()
    };
    let world = World::made(&crowd.iter().collect::<Vec<_>>(), &made);
    let began = Instant::now();
    for (domain, refreshed) in world.refresh().await {
        assert_eq!(refreshed, Ok(()), "{domain}");
    }
    assert!(began.elapsed() > Duration::from_secs(3), "one waited longer than its deadline");
    world.dispatcher.close().await;
}

/// A world with a single place for starts, taken by a server that hangs, and another server that
/// waits for it.
async fn with_hanging(limits: Limits) -> (World, Upstream) {
    let known = World::connected(&stdio("up", &[])).await.keeper.last();
    let hanging = Upstream::behaving("hanging", Wire::Stdio, &["--hang"]);
    let starts = StartLimits { starts: Some(1), ..StartLimits::default() };
    let made = WorldOptions { known: Some(known), starts, limits, ..WorldOptions::default() };
    let world = World::made(&[&hanging.settings, &stdio("up", &[])], &made);
    world.start("hanging__echo", "{}", Caller::silent());
    assert!(wait_until(LONG, || !hanging.received().is_empty()).await);
    let dispatcher = world.dispatcher.clone();
    tokio::spawn(async move { dispatcher.refresh().await });
    world.reaches("up", SourceState::Starting).await;
    (world, hanging)
}

async fn overtaking() {
    let (world, hanging) = with_hanging(Limits::default()).await;
    let began = Instant::now();
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert!(began.elapsed() < hanging.settings.connect_deadline / 4, "{:?}", began.elapsed());
    assert_eq!(world.state("hanging"), SourceState::Starting);
    world.dispatcher.close().await;
}

async fn deadline() {
    let limits = Limits { call_deadline: Duration::from_millis(500), ..Limits::default() };
    let (world, _hanging) = with_hanging(limits).await;
    let began = Instant::now();
    let call = world.start("up__echo", "{}", Caller::silent());
    let error = call.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "`up__echo` did not answer within 0.5 s");
    assert!(began.elapsed() < LONG / 4, "{:?}", began.elapsed());
    world.reaches("up", SourceState::Running).await;
    world.dispatcher.close().await;
}
