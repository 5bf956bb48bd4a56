//! Servers over HTTP whose answers never end, next to one that behaves.

use std::io;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::join_all;
use gatefold_dispatch::{Caller, Limits};
use gatefold_testkit::{RAW_TOOL, serve_raw};
use libtest_mimic::Trial;
use tokio::sync::oneshot;

use super::support::{Era, Upstream, Wire, http};
use super::world::{World, WorldOptions};

/// How long the hostile server's calls may take.
const DEADLINE: Duration = Duration::from_secs(2);
/// How many of them there are at once.
const CALLS: usize = 4;
/// The longest that a neighbour's call may take in the meantime, on a busy machine.
const NEIGHBOUR: Duration = Duration::from_millis(500);

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const NOTICE: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\
                      \"params\":{\"progressToken\":1,\"progress\":1}}\n\n";

/// What a server repeats without end in its answer, and what the caller is told.
const FLOODS: &[(&str, &str, &str)] = &[
    ("notices", NOTICE, "within 2 s"),
    ("small_events", "data: 1\n\n", "within 2 s"),
    ("comments", ":\n\n", "more than the limit"),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for &(flood, repeated, reason) in FLOODS {
        trials.push(trial(flood, move || endless_answer(repeated, reason)));
    }
    trials
}

/// A test on as many workers as the smallest machine gives the gateway.
fn trial<F: Future<Output = ()>>(flood: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(format!("upstream::an_endless_answer_costs_only_its_call::{flood}"), move || {
        let workers =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        workers.block_on(test());
        Ok(())
    })
}

fn options() -> WorldOptions {
    WorldOptions {
        limits: Limits { call_deadline: DEADLINE, ..Limits::default() },
        ..WorldOptions::default()
    }
}

fn repeat(mut socket: impl io::Write, repeated: &str) -> io::Result<()> {
    socket.write_all(EVENTS.as_bytes())?;
    let flood = repeated.repeat(65_536 / repeated.len());
    loop {
        socket.write_all(flood.as_bytes())?;
    }
}

async fn endless_answer(repeated: &'static str, reason: &str) {
    let url = serve_raw(move |socket| repeat(socket, repeated)).unwrap();
    let near = Upstream::new("near", Wire::Http, Era::Stateless, &[]);
    let world = World::made(&[&http("up", &url), &near.settings], &options());
    for (domain, refreshed) in world.refresh().await {
        assert_eq!(refreshed, Ok(()), "{domain}");
    }
    let began = Instant::now();
    let tool = format!("up__{RAW_TOOL}");
    let calls = [(); CALLS].map(|()| world.start(&tool, "{}", Caller::silent()));
    let done = join_all(calls).map(|errors| (errors, began.elapsed()));
    let ((errors, elapsed), slowest) = beside(world, done).await;
    for error in errors {
        let error = error.unwrap().unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(elapsed < DEADLINE + Duration::from_secs(1), "{elapsed:?}");
    assert!(slowest < NEIGHBOUR, "{slowest:?}");
}

/// Waits for something, and measures the slowest of the calls that a neighbour answers in the
/// meantime.
async fn beside<T>(world: World, something: impl Future<Output = T>) -> (T, Duration) {
    let (over, is_over) = oneshot::channel::<()>();
    let neighbour = tokio::spawn(async move {
        let mut slowest = Duration::ZERO;
        while !over.is_closed() {
            let began = Instant::now();
            world.text("near__echo", r#"{"text":"hi"}"#).await;
            slowest = slowest.max(began.elapsed());
        }
        slowest
    });
    let something = something.await;
    drop(is_over);
    (something, neighbour.await.unwrap())
}
