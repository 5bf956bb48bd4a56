//! The real binary, run as a person would.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use gatefold_testkit::{process_alive, wait_until};
use serde_json::Value;

use crate::scratch::Scratch;

/// The longest that a test waits for anything.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// How long logs may take to be read once a process has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_gatefold");

/// The binary with an environment of its own, run in the scratch directory.
pub(crate) fn command(scratch: &Scratch, args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(args)
        .env_clear()
        .env("HOME", scratch.path())
        .env("PATH", "/usr/bin:/bin")
        .env("TOKEN", "s3cret")
        // Nothing answers there, so that no test reaches the keyring of the person who runs it.
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
        .current_dir(scratch.path());
    command
}

/// The result of a run.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|_| panic!("not JSON: {}{}", self.stdout, self.stderr))
    }
}

/// Runs the binary to its end.
pub(crate) fn run(scratch: &Scratch, args: &[&str]) -> Run {
    run_with_input(scratch, args, "")
}

pub(crate) fn run_with_input(scratch: &Scratch, args: &[&str], input: &str) -> Run {
    let mut child = command(scratch, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    ran(child.wait_with_output().unwrap())
}

/// Runs a command to its end.
pub(crate) fn ended(mut command: Command) -> Run {
    ran(command.output().unwrap())
}

fn ran(output: Output) -> Run {
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Two of the demonstration's servers as sources.
pub(crate) fn two_sources(scratch: &Scratch) -> String {
    ["issues", "units"].map(|name| demo_source(scratch, name)).concat()
}

/// One of the demonstration's servers as a source.
pub(crate) fn demo_source(scratch: &Scratch, name: &str) -> String {
    let (binary, data) = (BINARY, scratch.path().display());
    format!(
        "[sources.{name}]\ncommand = '{binary}'\n\
         args = ['demo-server', '{name}', '--scratch', '{data}/data']\n"
    )
}

/// For tests of exact answers: with an encoder, those before it has read all tools differ from those
/// after.
pub(crate) const WITHOUT_ENCODER: &str = "[search]\nencoder = 'none'\n";

/// A running gateway. Dropping it kills it.
pub(crate) struct Gateway {
    child: Child,
    log: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
}

impl Gateway {
    /// Starts a long-lived command and collects its log.
    pub(crate) fn start(scratch: &Scratch, args: &[&str]) -> Self {
        Self::of(command(scratch, args))
    }

    /// The same for a command that is already set up.
    pub(crate) fn of(mut command: Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (stderr, sink) = (child.stderr.take().unwrap(), log.clone());
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut log = sink.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        Self { child, log, reader }
    }

    /// Starts `gatefold serve` on a free port and waits until it listens.
    pub(crate) async fn serve(scratch: &Scratch) -> Self {
        let gateway = Self::start(scratch, &["serve", "--listen", "127.0.0.1:0"]);
        gateway.await_log("listening").await;
        gateway
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits for a line in the log.
    pub(crate) async fn await_log(&self, text: &str) {
        let found = wait_until(LIMIT, || self.log().contains(text)).await;
        assert!(found, "no `{text}` in: {}", self.log());
    }

    /// The address that the log names.
    pub(crate) fn url(&self) -> String {
        let log = self.log();
        let rest = log.split_once("url=").expect("the log has an address").1;
        rest.split_whitespace().next().unwrap().to_owned()
    }

    /// The address without scheme and path.
    pub(crate) fn address(&self) -> String {
        let url = self.url();
        let (_, address) = url.split_once("://").unwrap();
        address.trim_end_matches("/mcp").to_owned()
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.pid().to_string()]).status();
        assert!(status.unwrap().success());
    }

    /// Waits for the end, and for the log before it, and returns the exit code.
    pub(crate) async fn ended(&mut self) -> Option<i32> {
        let mut status = None;
        let ended = wait_until(LIMIT, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(ended.await, "it does not end: {}", self.log());
        // A surviving child may hold the stream open: then the log is what has come so far.
        let _ = wait_until(LAST_WORDS, || self.reader.is_finished()).await;
        status.and_then(|status| status.code())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes whose parent this one is, see proc_pid_stat(5).
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let parent = |stat: &str| {
        let fields = stat.rsplit_once(") ")?.1;
        fields.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        parent(&stat) == Some(pid)
    };
    ids.filter(is_child).collect()
}

/// Waits until none of these processes is running.
pub(crate) async fn await_gone(pids: &[u32]) {
    let gone = wait_until(LIMIT, || !pids.iter().any(|pid| process_alive(*pid))).await;
    assert!(gone, "some of {pids:?} are still there");
}
