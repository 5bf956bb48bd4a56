//! Several processes on one state directory. A test here is both processes: it starts itself
//! again with [`ROLE`] set to the state directory.

use std::io::{BufRead, BufReader, Read as _, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use gatefold_dispatch::AuditOutcome;
use tempfile::tempdir;

use crate::fixture::{closed, id, open, open_record, outcomes};

const ROLE: &str = "GATEFOLD_STORE_TEST_DIRECTORY";

#[tokio::test]
async fn a_record_that_a_crash_left_open_is_interrupted() {
    if let Some(directory) = child_directory() {
        let store = open(&directory).await;
        let _first = open_record(&store, 1).await;
        let _second = open_record(&store, 2).await;
        open_record(&store, 3).await.close(closed(id(3), AuditOutcome::Done));
        store.flush().await.unwrap();
        say_ready_and_wait();
        return;
    }
    let directory = tempdir().unwrap();
    let name = "processes::a_record_that_a_crash_left_open_is_interrupted";
    let (mut child, _output) = start(name, directory.path());
    // On Unix this is SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    let store = open(directory.path()).await;
    assert_eq!(outcomes(&store).await, ["interrupted", "interrupted", "done"]);
    let owners = std::fs::read_dir(directory.path().join("owners")).unwrap();
    assert_eq!(owners.count(), 1, "the dead process's lock is gone");
}

#[tokio::test]
async fn two_processes_share_a_directory() {
    if let Some(directory) = child_directory() {
        let store = open(&directory).await;
        let slot = open_record(&store, 1).await;
        say_ready_and_wait();
        slot.close(closed(id(1), AuditOutcome::Done));
        for number in 100..200 {
            open_record(&store, number).await.close(closed(id(number), AuditOutcome::Done));
        }
        store.close().await.unwrap();
        return;
    }
    let directory = tempdir().unwrap();
    let (mut child, _output) =
        start("processes::two_processes_share_a_directory", directory.path());
    let store = open(directory.path()).await;
    assert_eq!(outcomes(&store).await, ["open"], "its process lives");
    drop(child.stdin.take());
    for number in 200..300 {
        open_record(&store, number).await.close(closed(id(number), AuditOutcome::Done));
    }
    assert!(child.wait().unwrap().success());
    let totals = store.totals().await.unwrap();
    let [done] = &totals.outcomes[..] else { panic!("{totals:?}") };
    assert_eq!((done.outcome.as_str(), done.calls), ("done", 201));
}

#[tokio::test]
async fn processes_that_start_together_agree_on_schema_and_key() {
    if let Some(directory) = child_directory() {
        let store = open(&directory).await;
        open_record(&store, u128::from(std::process::id())).await;
        store.close().await.unwrap();
        return;
    }
    let directory = tempdir().unwrap();
    let name = "processes::processes_that_start_together_agree_on_schema_and_key";
    let children: Vec<_> =
        (0..4).map(|_| command(name, directory.path()).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(outcomes(&open(directory.path()).await).await, ["cancelled"; 4]);
}

#[expect(clippy::disallowed_methods, reason = "how a test tells itself which part to play")]
pub(crate) fn child_directory() -> Option<PathBuf> {
    std::env::var_os(ROLE).map(PathBuf::from)
}

/// Tells the parent that all is set up, and waits until the parent closes the line.
fn say_ready_and_wait() {
    stdout().write_all(b"ready\n").unwrap();
    stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Starts a test as a child and waits until it is ready. Its output must be kept open.
fn start(test: &str, directory: &Path) -> (Child, impl BufRead) {
    let mut child = command(test, directory).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    assert!(output.by_ref().lines().any(|line| line.unwrap().ends_with("ready")));
    (child, output)
}

pub(crate) fn command(test: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", test]).env(ROLE, directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}
