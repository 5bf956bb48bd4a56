//! A thousand clients come, call, and vanish without a word: nothing of them may remain.
//!
//! The binary runs itself again as the servers behind the gateway.

#[path = "../matrix/gateway.rs"]
mod gateway;
mod memory;
mod socket;
mod visitor;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use futures::future::join_all;
use gatefold_testkit::RawClient;
use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use crate::gateway::{ListeningProcess, home, http_source, stdio_source};
use crate::visitor::{Era, Habit, Visitor, VisitorActivity};

const CLIENTS: usize = 1000;

/// Clients that connect at the same time.
const COMING_AT_ONCE: usize = 64;

/// How often the crowd comes. The first crowd fills caches, so the others are compared with what it
/// leaves.
const ROUNDS: usize = 3;

/// How much more memory may be in use after the last crowd than after the one before, in percent. The
/// first one does not count: it fills the caches, and the allocator keeps what it needed.
const GROWTH_PERCENT: u64 = 10;

/// How long everything may take to be gone. Sessions may be silent for two seconds here, and calls
/// parked for four.
const SETTLING: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(500);

/// How long an idle gateway may hold memory: it checks every five seconds, and returns memory after
/// the second check.
const RESTING: Duration = Duration::from_secs(12);

/// Tasks that may come and go by themselves. Leaks of every client would be hundreds.
const OTHER_TASKS: u64 = 8;

const LIMITS: &str = "[limits]\nquestion = '60s'\nsuspension = '4s'\nidle_stop = '1s'\n\
                      calls_in_flight = 1000\ncalls_waiting = 1000\n\
                      [server]\nsession_idle = '2s'\n";

fn main() -> ExitCode {
    if let Some(code) = gatefold_testkit::reference::run_if_asked() {
        return code;
    }
    let args = Arguments::from_args();
    let trial = Trial::test("nothing_remains_of_a_crowd_that_vanishes", || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(crowds());
        Ok(())
    });
    libtest_mimic::run(&args, vec![trial]).exit_code()
}

/// The gateway, and the servers behind it.
struct World {
    address: String,
    servers: [RawClient; 2],
    /// The servers' ports.
    ports: [u16; 2],
    http: RawClient,
    _processes: Vec<ListeningProcess>,
    _home: tempfile::TempDir,
}

async fn crowds() {
    let world = World::start().await;
    let idle = world.settled(u64::MAX).await;
    let tasks = world.tasks(&idle);
    let mut before = None;
    for round in 0..ROUNDS {
        let began = Instant::now();
        let visitors = world.crowd().await;
        let peak = world.status().await;
        let (came, at_peak) = (began.elapsed(), memory::resident_kib(process(&peak)));
        drop(visitors);
        let after = world.settled(tasks).await;
        let settled = began.elapsed().saturating_sub(came);
        let most = before.map(|before| before * (100 + GROWTH_PERCENT) / 100);
        let resident = world.rested(process(&after), most).await;
        let line = format!(
            "round {round}: {CLIENTS} clients in {:.1} s, all gone {:.1} s later; at the peak {} \
             sessions, {} parked calls, {} tasks, {}; afterwards {} tasks, {}\n",
            came.as_secs_f64(),
            settled.as_secs_f64(),
            peak["sessions"],
            peak["parked"],
            peak["tasks"],
            memory::shown(at_peak),
            after["tasks"],
            memory::shown(resident),
        );
        // A closed output means that nobody wants it.
        drop(std::io::stdout().write_all(line.as_bytes()));
        if let (Some(resident), Some(most)) = (resident, most) {
            assert!(resident <= most, "{resident} KiB stay in use, more than {most}");
        }
        before = resident.filter(|_| round > 0);
    }
}

fn port(url: &str) -> u16 {
    let address = url.trim_end_matches("/mcp");
    address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("it has a port")
}

fn process(status: &Value) -> u64 {
    status["process"].as_u64().expect("it names its process")
}

impl World {
    async fn start() -> Self {
        let (old, new) = tokio::join!(
            ListeningProcess::reference("handshake"),
            ListeningProcess::reference("stateless")
        );
        let sources = [
            http_source("old", &old.url),
            http_source("new", &new.url),
            stdio_source("local", "both"),
        ];
        let home = home(&format!("{}{LIMITS}", sources.concat()));
        let gateway = ListeningProcess::gateway(&home, "state").await;
        let url = gateway.url.trim_end_matches("/mcp").to_owned();
        let client = |url: &str| RawClient::new(url).expect("the client is made");
        let mut servers = [client(&old.url), client(&new.url)];
        servers[0].initialize().await.expect("it answers");
        Self {
            address: url.trim_start_matches("http://").to_owned(),
            servers,
            ports: [&old, &new].map(|server| port(&server.url)),
            http: client(&format!("{url}/status")),
            _processes: vec![old, new, gateway],
            _home: home,
        }
    }

    /// Lets all of them come, and waits until each is in the middle of something.
    async fn crowd(&self) -> Vec<Visitor> {
        let places = Semaphore::new(COMING_AT_ONCE);
        let visits = (0..CLIENTS).map(async |number| {
            let _place = places.acquire().await;
            Habit::of(number).visit(&self.address).await
        });
        let visitors = join_all(visits).await;
        let habits = (0..CLIENTS).map(Habit::of);
        let waiting = habits.filter(|habit| habit.doing == VisitorActivity::Waiting).count();
        self.await_waiting(waiting).await;
        let is_busy = |habit: &Habit| habit.listens || habit.doing != VisitorActivity::Nothing;
        let sessions = (0..CLIENTS).map(Habit::of).filter(|habit| habit.era == Era::Handshake);
        let busy = sessions.filter(is_busy).count() as u64;
        let open = self.status().await["sessions"].as_u64().unwrap_or_default();
        assert!(open >= busy, "{open} sessions are open, but {busy} have something going on");
        visitors
    }

    /// Waits until this many calls wait at the servers.
    async fn await_waiting(&self, expected: usize) {
        let deadline = Instant::now() + SETTLING;
        loop {
            let mut waiting = 0;
            for server in &self.servers {
                let said = server.call("matrix_waiting", "{}").await.expect("it answers").text();
                waiting += said.parse::<usize>().expect("it says a number");
            }
            if waiting == expected {
                return;
            }
            assert!(Instant::now() < deadline, "{waiting} calls wait, not {expected}");
            sleep(POLL).await;
        }
    }

    /// The gateway's own status.
    async fn status(&self) -> Value {
        let status = self.http.get_raw().await.expect("it answers");
        serde_json::from_str(&status.body).expect("a status is JSON")
    }

    /// The unexplained tasks. A connection to a server is kept for a while for the next call, and
    /// is a task.
    fn tasks(&self, status: &Value) -> u64 {
        let tasks = status["tasks"].as_u64().expect("it counts its tasks");
        let connections: u64 = self.ports.iter().map(|port| memory::connections_to(*port)).sum();
        tasks.saturating_sub(connections)
    }

    /// The memory in use after the gateway has been idle long enough to return memory, or once it
    /// is at most `most`.
    async fn rested(&self, process: u64, most: Option<u64>) -> Option<u64> {
        let deadline = Instant::now() + RESTING;
        loop {
            let resident = memory::resident_kib(process)?;
            if most.is_some_and(|most| resident <= most) || Instant::now() >= deadline {
                return Some(resident);
            }
            sleep(POLL).await;
        }
    }

    /// Waits until nothing is left: no session, no call, no process, no connection to a server, and
    /// no more tasks than before the first visitor came.
    async fn settled(&self, tasks: u64) -> Value {
        self.await_waiting(0).await;
        let deadline = Instant::now() + SETTLING;
        loop {
            let status = self.status().await;
            let mut left = left(&status);
            let more = self.tasks(&status).saturating_sub(tasks);
            if more > OTHER_TASKS {
                left.push(format!("{more} tasks more than before"));
            }
            if left.is_empty() {
                return status;
            }
            assert!(Instant::now() < deadline, "there are still {}", left.join(", "));
            sleep(POLL).await;
        }
    }
}

/// What is still left.
fn left(status: &Value) -> Vec<String> {
    let mut left = Vec::new();
    let mut none = |what: String, count: &Value| {
        if *count != 0 {
            left.push(format!("{count} {what}"));
        }
    };
    none("sessions".to_owned(), &status["sessions"]);
    none("parked calls".to_owned(), &status["parked"]);
    for source in status["sources"].as_array().expect("it names its sources") {
        let domain = &source["domain"];
        for what in ["sessions", "calls_in_flight", "calls_waiting"] {
            none(format!("{what} of {domain}"), &source[what]);
        }
        // Until it has been asked once, nobody knows whether the source works.
        none(format!("{domain} not known yet"), &json!(u8::from(source["tools"] == 0)));
    }
    none("processes".to_owned(), &json!(memory::children_of(process(status)).len()));
    left
}
