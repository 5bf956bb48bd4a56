//! Servers over HTTP whose answers never end, next to one that behaves.

use std::io::{self, Read as _};
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::join_all;
use gatefold_dispatch::{Caller, Limits};
use gatefold_mcp::McpSettings;
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

const EARLY_HINTS: &str = "HTTP/1.1 103 Early Hints\r\n\r\n";

/// How a server begins its answer, what it repeats endlessly, and what the caller is told.
const FLOODS: &[(&str, &str, &str, &str)] = &[
    ("notices", EVENTS, NOTICE, "within 2 s"),
    ("small_events", EVENTS, "data: 1\n\n", "within 2 s"),
    ("comments", EVENTS, ":\n\n", "more than the limit"),
    ("early_hints", "", EARLY_HINTS, "interim answers"),
    ("continue", "", "HTTP/1.1 100 Continue\r\n\r\n", "interim answers"),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for &(flood, begins, repeated, reason) in FLOODS {
        let name = format!("an_endless_answer_costs_only_its_call::{flood}");
        trials.push(trial(&name, move || endless_answer(begins, repeated, reason)));
    }
    trials.push(trial("endless_interim_answers_to_a_greeting_cost_only_their_source", greeting));
    trials
}

/// A test on as many workers as the smallest machine gives the gateway.
fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(format!("upstream::{name}"), move || {
        // In parallel, they would slow down each other's neighbours.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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

fn repeat(mut socket: impl io::Write, begins: &str, repeated: &str) -> io::Result<()> {
    socket.write_all(begins.as_bytes())?;
    let flood = repeated.repeat(65_536 / repeated.len());
    loop {
        socket.write_all(flood.as_bytes())?;
    }
}

async fn endless_answer(begins: &'static str, repeated: &'static str, reason: &str) {
    let url = serve_raw(move |socket| repeat(socket, begins, repeated)).unwrap();
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

async fn greeting() {
    let hostile = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", hostile.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut socket in hostile.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                socket.read_exact(&mut [0; 16])?;
                repeat(socket, "", EARLY_HINTS)
            });
        }
    });
    let near = Upstream::new("near", Wire::Http, Era::Stateless, &[]);
    let settings = McpSettings { connect_deadline: DEADLINE, ..http("up", &url) };
    let world = World::made(&[&settings, &near.settings], &options());
    world.dispatcher.refresh().await;
    let began = Instant::now();
    let hostile = World::made(&[&settings], &options());
    let greeted = async { (hostile.refresh().await, began.elapsed()) };
    let ((fared, elapsed), slowest) = beside(world, greeted).await;
    let error = fared[0].1.as_ref().unwrap_err();
    assert!(error.contains("interim answers"), "{error}");
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
