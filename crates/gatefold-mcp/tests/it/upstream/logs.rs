use std::cell::RefCell;
use std::io;

use gatefold_core::{Domain, Secret};
use gatefold_mcp::Transport;
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;

use super::support::{Era, LONG, Upstream, Wire, stdio, trial, with_header};
use super::world::World;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("what_a_server_writes_to_stderr_is_logged_under_its_name", stderr),
        trial("a_flood_on_stderr_does_not_hold_up_calls", flood),
        trial("neither_arguments_nor_results_nor_secrets_are_logged", secrets),
    ]
}

thread_local! {
    /// What this thread has logged, while a test captures it.
    static LOGGED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Sends what is logged to the thread that logs it.
///
/// One subscriber for all threads. With one subscriber per thread, whichever thread first logs at a
/// place in the code decides whether that place is ever logged.
pub(crate) fn subscribe() {
    tracing_subscriber::fmt()
        .with_env_filter("info,gatefold_mcp=trace,gatefold_dispatch=trace")
        .with_ansi(false)
        .with_writer(|| ThreadWriter)
        .init();
}

struct ThreadWriter;

impl io::Write for ThreadWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOGGED.with_borrow_mut(|logged| {
            if let Some(logged) = logged {
                logged.extend_from_slice(bytes);
            }
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Captures what this thread logs, for a test that has the thread for itself.
pub(crate) struct ThreadLog;

impl ThreadLog {
    pub(crate) fn start() -> Self {
        LOGGED.set(Some(Vec::new()));
        Self
    }

    #[expect(clippy::unused_self, reason = "only a test that collects logs may read them")]
    pub(crate) fn text(&self) -> String {
        LOGGED.with_borrow(|logged| String::from_utf8(logged.clone().unwrap()).unwrap())
    }
}

impl Drop for ThreadLog {
    fn drop(&mut self) {
        LOGGED.set(None);
    }
}

async fn stderr() {
    let logged = ThreadLog::start();
    let world = World::connected(&stdio("up", &["--stderr-lines", "3"])).await;
    let all = || (1..=3).all(|n| logged.text().contains(&format!("fixture: stderr line {n}")));
    assert!(wait_until(LONG, all).await, "{}", logged.text());
    let text = logged.text();
    let line = text.lines().find(|line| line.contains("stderr line 2")).unwrap();
    assert!(line.contains("INFO gatefold::upstream: ") && line.contains("domain=up"), "{line}");
    world.dispatcher.close().await;
}

async fn flood() {
    let world = World::connected(&stdio("up", &["--stderr-lines", "20000"])).await;
    assert_eq!(world.text("up__echo", "{}").await, "{}");
}

async fn secrets() {
    const SECRETS: [&str; 4] = ["hunter-env", "hunter-url", "hunter-header", "hunter-argument"];
    let logged = ThreadLog::start();
    let mut local = stdio("local", &["--garbage"]);
    if let Transport::Stdio(stdio) = &mut local.transport {
        stdio.env.push(("TOKEN".to_owned(), Secret::new(SECRETS[0])));
    }
    let upstream = Upstream::new("remote", Wire::Http, Era::Handshake, &[]);
    let mut remote = with_header(upstream.settings.clone(), "x-key", SECRETS[2]);
    let (mut broken, mut gone) = (remote.clone(), remote.clone());
    broken.domain = Domain::parse("broken").unwrap();
    gone.domain = Domain::parse("gone").unwrap();
    for settings in [&mut remote, &mut broken, &mut gone] {
        if let Transport::Http(http) = &mut settings.transport {
            http.url.push_str("?key=hunter-url");
        }
    }
    if let Transport::Http(http) = &mut broken.transport {
        http.url = http.url.replace("/mcp", "/elsewhere");
    }
    if let Transport::Http(http) = &mut gone.transport {
        let url = "http://user:hunter-url@127.0.0.1:1/mcp?key=hunter-url";
        url.clone_into(&mut http.url);
    }
    let world = World::new(&[&local, &remote, &broken, &gone]);
    let refreshed = world.refresh().await;
    assert_eq!(refreshed.iter().filter(|(_, fared)| fared.is_ok()).count(), 2, "{refreshed:?}");
    for tool in ["local__echo", "remote__echo", "local__fail", "remote__protocol_error"] {
        drop(world.call(tool, r#"{"message":"hunter-argument"}"#).await);
    }
    world.dispatcher.close().await;
    let text = logged.text();
    assert!(text.contains("connected") && text.contains("connecting failed"), "{text}");
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} in:\n{text}");
    }
}
