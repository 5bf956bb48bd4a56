//! Several processes on one state directory. A test here plays both processes: it starts itself
//! again with [`ROLE`] set to the state directory.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use futures::future::join_all;
use gatefold_dispatch::AuditOutcome;
use gatefold_store::{CallFilter, Store, StoreOptions};
use tempfile::tempdir;

use crate::fixture::{closed, id, open, open_record, outcomes};

const ROLE: &str = "GATEFOLD_STORE_TEST_DIRECTORY";

#[tokio::test]
async fn a_record_that_a_crash_left_open_is_interrupted() {
    if let Some(directory) = child_directory() {
        let store = open(&directory).await;
        let _first = open_record(&store, 1).await;
        let _second = open_record(&store, 2).await;
        open_record(&store, 3).await.close(closed(id(3), AuditOutcome::Done)).await;
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
    assert_eq!(owners(directory.path()).len(), 1, "the dead process's files are gone");
}

/// How many calls the child of [`an_end_that_was_answered_outlives_a_kill`] makes at once.
const CLIENTS: u128 = 8;

#[tokio::test]
async fn an_end_that_was_answered_outlives_a_kill() {
    if let Some(directory) = child_directory() {
        let store = Store::open(&directory, StoreOptions::default()).await.unwrap();
        let process = u128::from(std::process::id()) << 32;
        let clients = (0..CLIENTS).map(|client| answer_calls(&store, process + (client << 24)));
        join_all(clients).await;
        return;
    }
    let directory = tempdir().unwrap();
    let (mut answered, mut last) = (BTreeSet::new(), String::new());
    for round in 0..20 {
        let name = "processes::an_end_that_was_answered_outlives_a_kill";
        let mut child = command(name, directory.path()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut heard = 0;
        // At a different moment each time, with calls under way.
        while heard < 50 + round * 7 {
            last = lines.next().unwrap().unwrap();
            heard += usize::from(note_answer(&last, &mut answered));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Answers sent before the kill count as well.
        for line in lines.map_while(Result::ok) {
            note_answer(&line, &mut answered);
        }
    }
    let store = open(directory.path()).await;
    let filter = CallFilter { outcome: Some("done".to_owned()), ..CallFilter::default() };
    let ended = store.recent_calls(u32::MAX, &filter).await.unwrap();
    let ended: BTreeSet<_> = ended.into_iter().map(|record| record.id).collect();
    let missing: Vec<_> = answered.difference(&ended).collect();
    assert_eq!(missing, [""; 0], "of {} that were answered, at last `{last}`", answered.len());
    assert_eq!(owners(directory.path()).len(), 1, "the files of those that were killed are gone");
}

/// Makes one call after another, and reports each answered one.
async fn answer_calls(store: &Store, first: u128) {
    for number in first.. {
        open_record(store, number).await.close(closed(id(number), AuditOutcome::Done)).await;
        stdout().write_all(format!("\nanswered {}\n", id(number)).as_bytes()).unwrap();
    }
}

fn note_answer(line: &str, answered: &mut BTreeSet<String>) -> bool {
    let id = line.strip_prefix("answered ").filter(|id| id.len() == 32);
    id.is_some_and(|id| answered.insert(id.to_owned()))
}

/// The owners that have files in a state directory.
fn owners(directory: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(directory.join("owners")).unwrap();
    let name = |file: std::fs::DirEntry| file.file_name().into_string().unwrap();
    let owner = |name: String| name.split('.').next().unwrap_or_default().to_owned();
    files.map(|file| owner(name(file.unwrap()))).collect()
}

#[tokio::test]
async fn two_processes_share_a_directory() {
    if let Some(directory) = child_directory() {
        let store = open(&directory).await;
        let slot = open_record(&store, 1).await;
        say_ready_and_wait();
        slot.close(closed(id(1), AuditOutcome::Done)).await;
        for number in 100..200 {
            open_record(&store, number).await.close(closed(id(number), AuditOutcome::Done)).await;
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
        open_record(&store, number).await.close(closed(id(number), AuditOutcome::Done)).await;
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

#[expect(clippy::disallowed_methods, reason = "how the test tells its child process what to do")]
pub(crate) fn child_directory() -> Option<PathBuf> {
    std::env::var_os(ROLE).map(PathBuf::from)
}

/// Tells the parent that setup is done, and waits until the parent closes the pipe.
fn say_ready_and_wait() {
    stdout().write_all(b"ready\n").unwrap();
    stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Starts a test as a child and waits until it is ready. The caller must keep its output open.
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
