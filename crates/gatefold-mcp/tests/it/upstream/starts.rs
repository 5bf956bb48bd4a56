use std::time::Duration;

use gatefold_dispatch::{Caller, SourceState};
use gatefold_mcp::{McpSettings, StdioSettings, Transport};
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use tokio::time::Instant;

use super::support::{Era, LONG, Upstream, Wire, http, settings, stdio, trial};
use super::world::{World, WorldOptions, text};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = FAULTS
        .iter()
        .map(|(name, broken, error)| {
            let name = format!("a_source_that_cannot_start_costs_only_itself::{name}");
            trial(name, move || fault(broken(), error))
        })
        .collect();
    trials.extend([
        trial("lines_that_are_not_the_protocol_do_no_harm", garbage),
        trial("a_source_that_cannot_start_is_listed_and_its_calls_say_why", listed),
        trial("calls_at_once_share_one_start::stdio", || shared(Wire::Stdio)),
        trial("calls_at_once_share_one_start::http", || shared(Wire::Http)),
        trial("who_gives_up_waiting_for_a_start_does_not_end_it", given_up),
        trial("a_source_that_failed_is_left_alone_for_a_while", backoff),
    ]);
    trials
}

const HANGS_FOR: Duration = Duration::from_secs(3);
const LATE: &str = "it did not answer within 3 s";

/// A source that cannot start, and the server that causes this.
struct BrokenSource {
    settings: McpSettings,
    _server: Option<Upstream>,
}

impl BrokenSource {
    fn program(command: &str) -> Self {
        Self::with(StdioSettings { command: command.to_owned(), ..Default::default() })
    }

    fn with(stdio: StdioSettings) -> Self {
        Self::alone(settings("broken", Transport::Stdio(stdio)))
    }

    fn alone(settings: McpSettings) -> Self {
        Self { settings, _server: None }
    }

    fn fixture(wire: Wire, behaviour: &[&str]) -> Self {
        let server = Upstream::behaving("broken", wire, behaviour);
        Self { settings: server.settings.clone(), _server: Some(server) }
    }

    /// A command that would run, but in a missing directory.
    fn lost() -> Self {
        let (command, _) = gatefold_testkit::fixture_command(&[]);
        let (command, cwd) = (command.to_str().unwrap().to_owned(), Some("/no/such".into()));
        Self::with(StdioSettings { command, cwd, ..Default::default() })
    }

    fn not_there() -> Self {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", socket.local_addr().unwrap());
        Self::alone(http("broken", &url))
    }
}

type Fault = (&'static str, fn() -> BrokenSource, &'static str);

const FAULTS: &[Fault] = &[
    (
        "missing_command",
        || BrokenSource::program("/no/such/server"),
        "`/no/such/server` was not found; install it, or give its full path",
    ),
    (
        "not_executable",
        || BrokenSource::program("/etc/passwd"),
        "`/etc/passwd` may not be run; check that it is executable",
    ),
    ("missing_directory", BrokenSource::lost, "its working directory `/no/such` was not found"),
    (
        "exits",
        || BrokenSource::fixture(Wire::Stdio, &["--exit", "3"]),
        "the server exited with code 3; it last wrote: fixture: exiting with 3 as asked",
    ),
    ("hangs", || BrokenSource::fixture(Wire::Stdio, &["--hang"]), LATE),
    (
        "says_garbage",
        || BrokenSource::fixture(Wire::Stdio, &["--garbage-only"]),
        "it wrote lines that are not the protocol, such as: npm warn deprecated",
    ),
    ("hangs_over_http", || BrokenSource::fixture(Wire::Http, &["--hang"]), LATE),
    (
        "says_garbage_over_http",
        || BrokenSource::fixture(Wire::Http, &["--garbage-only"]),
        "its answer is not JSON-RPC",
    ),
    ("not_there", BrokenSource::not_there, "the server cannot be reached: Connection refused"),
    (
        "unusable",
        || {
            BrokenSource::alone(settings(
                "broken",
                Transport::Unusable("`url` is missing".to_owned()),
            ))
        },
        "`url` is missing",
    ),
    (
        "disabled",
        || BrokenSource::alone(settings("broken", Transport::Disabled)),
        "it is disabled in the configuration",
    ),
];

async fn fault(broken: BrokenSource, error: &str) {
    let mut settings = broken.settings.clone();
    settings.connect_deadline = HANGS_FOR;
    let world = World::new(&[&settings, &stdio("well", &[])]);
    let began = Instant::now();
    let refreshing = tokio::spawn({
        let dispatcher = world.dispatcher.clone();
        async move { dispatcher.refresh().await }
    });
    assert!(wait_until(LONG, || !world.tools().is_empty()).await);
    for _ in 0..50 {
        assert_eq!(world.text("well__echo", "{}").await, "{}");
    }
    let refreshed = refreshing.await.unwrap();
    assert!(began.elapsed() < LONG, "each has its own deadline: {:?}", began.elapsed());
    assert!(refreshed[1].1.is_ok());
    let told = refreshed[0].1.as_ref().unwrap_err().to_string();
    assert!(told.starts_with("`broken` is unavailable: "), "{told}");
    assert!(told.contains(error), "{told}");
    let status = world.report("broken").status;
    if status.state != SourceState::Disabled {
        assert_eq!(status.state, SourceState::Failing);
        assert!(status.error.is_some_and(|status| status.contains(error)), "operators read it too");
    }
    assert_eq!(world.state("well"), SourceState::Running);
    world.dispatcher.close().await;
}

async fn garbage() {
    for era in [Era::Handshake, Era::Stateless] {
        let upstream = Upstream::new("up", Wire::Stdio, era, &["--garbage"]);
        let world = World::connected(&upstream.settings).await;
        assert_eq!(world.text("up__echo", "{}").await, "{}");
    }
}

async fn listed() {
    let first = World::connected(&stdio("up", &[])).await;
    let made = WorldOptions { known: Some(first.keeper.last()), ..WorldOptions::default() };
    let world = World::made(&[&stdio("up", &["--exit", "3"])], &made);
    assert_eq!(world.tools(), first.tools());
    let error = world.error("up__echo", "{}").await;
    assert!(error.starts_with("`up` is unavailable: the server exited with code 3"), "{error}");
    assert_eq!(world.tools(), first.tools(), "the list does not depend on a running server");
}

async fn shared(wire: Wire) {
    let first = World::connected(&Upstream::new("up", wire, Era::Stateless, &[]).settings).await;
    let made = WorldOptions { known: Some(first.keeper.last()), ..WorldOptions::default() };
    let upstream = Upstream::new("up", wire, Era::Stateless, &["--slow-start", "300"]);
    let world = World::made(&[&upstream.settings], &made);
    let calls: Vec<_> = (0..20).map(|_| world.start("up__echo", "{}", Caller::silent())).collect();
    for call in calls {
        assert_eq!(text(&call.await.unwrap().unwrap()), "{}");
    }
    assert_eq!(upstream.count("server/discover"), 1);
    assert_eq!(upstream.processes().len(), 1);
}

async fn given_up() {
    let first = World::connected(&stdio("up", &[])).await;
    let made = WorldOptions { known: Some(first.keeper.last()), ..WorldOptions::default() };
    let upstream = Upstream::new("up", Wire::Stdio, Era::Stateless, &["--slow-start", "1000"]);
    let world = World::made(&[&upstream.settings], &made);
    let call = world.start("up__echo", "{}", Caller::silent());
    world.reaches("up", SourceState::Starting).await;
    call.abort();
    world.reaches("up", SourceState::Running).await;
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(upstream.processes().len(), 1);
}

async fn backoff() {
    let mut upstream = Upstream::behaving("up", Wire::Stdio, &["--hang"]);
    upstream.settings.connect_deadline = Duration::from_secs(3);
    let world = World::new(&[&upstream.settings]);
    let first = world.refresh().await.remove(0).1.unwrap_err();
    let again = world.refresh().await.remove(0).1.unwrap_err();
    assert!(again.ends_with("(tried again in 1 s)"), "{again}");
    assert_eq!(upstream.processes().len(), 1, "nothing was started: {first}");
    let retried = async || {
        drop(world.refresh().await);
        upstream.processes().len() > 1
    };
    let deadline = Instant::now() + LONG;
    while !retried().await {
        assert!(Instant::now() < deadline, "it is tried again");
    }
}
