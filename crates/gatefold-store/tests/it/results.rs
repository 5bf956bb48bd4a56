//! Results that are too large to show: kept encrypted, found by their owner alone, until they expire.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{ManualClock, Principal, Timestamp, ToolId, UserId};
use gatefold_dispatch::{DataOwner, NewResult, ResultHandle, StoredResults as _};
use gatefold_store::Store;
use tempfile::tempdir;

use crate::fixture::{NOW, at, open};

const LASTS: Duration = Duration::from_hours(1);

fn ann() -> DataOwner {
    DataOwner::of(&Principal::user(UserId::new("ann")))
}

fn bob() -> DataOwner {
    DataOwner::of(&Principal::user(UserId::new("bob")))
}

fn new(owner: DataOwner, text: &str, now: Timestamp) -> NewResult {
    NewResult {
        owner,
        tool: ToolId::new("logs__read"),
        text: text.to_owned(),
        at: now,
        expires_at: now.plus(LASTS),
        kept_each: 3,
    }
}

async fn keep(store: &Store, owner: DataOwner, text: &str) -> ResultHandle {
    store.keep(new(owner, text, NOW)).await.unwrap()
}

async fn found(store: &Store, owner: DataOwner, handle: &ResultHandle, now: Timestamp) -> String {
    let found = store.find(owner, handle, now).await.unwrap();
    found.map_or("nothing".to_owned(), |found| format!("{}: {}", found.tool.as_str(), found.text))
}

fn files(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory.join("results"));
    entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn a_result_is_its_owners_until_it_expires() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let handle = keep(&store, ann(), "line one").await;
    let random = ResultHandle::new("0".repeat(24));
    let long = ResultHandle::new("0".repeat(1_000_000));
    let later = NOW.plus(LASTS);
    for (owner, handle, now, expected) in [
        (ann(), &handle, NOW, "logs__read: line one"),
        (ann(), &handle, Timestamp::from_millis(later.as_millis() - 1), "logs__read: line one"),
        (ann(), &handle, later, "nothing"),
        (bob(), &handle, NOW, "nothing"),
        (ann(), &random, NOW, "nothing"),
        (ann(), &long, NOW, "nothing"),
    ] {
        assert_eq!(found(&store, owner, handle, now).await, expected);
    }
}

#[tokio::test]
async fn another_process_on_the_same_directory_finds_it() {
    let directory = tempdir().unwrap();
    let handle = keep(&open(directory.path()).await, ann(), "kept").await;
    let store = open(directory.path()).await;
    assert_eq!(found(&store, ann(), &handle, NOW).await, "logs__read: kept");
}

#[tokio::test]
async fn neither_text_nor_handle_lies_readable_in_the_directory() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let handle = keep(&store, ann(), "a planted secret").await;
    store.close().await.unwrap();
    let mut looked_at = 0;
    let mut folders = vec![directory.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            for secret in ["a planted secret", handle.as_str()] {
                let holds = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
                assert!(!holds, "{} holds {secret}", path.display());
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 2, "only {looked_at} files");
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_may_open_a_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    keep(&store, ann(), "text").await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&files(directory.path())[0]), 0o600);
    assert_eq!(mode(&directory.path().join("results")), 0o700);
}

#[tokio::test]
async fn a_file_that_was_altered_or_exchanged_reads_like_none() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let first = keep(&store, ann(), "first text").await;
    let second = keep(&store, ann(), "other text").await;
    let paths = files(directory.path());
    let (one, other) = (fs::read(&paths[0]).unwrap(), fs::read(&paths[1]).unwrap());
    fs::write(&paths[0], &other).unwrap();
    let mut altered = other;
    altered[20] ^= 1;
    fs::write(&paths[1], altered).unwrap();
    for handle in [&first, &second] {
        assert_eq!(found(&store, ann(), handle, NOW).await, "nothing");
    }
    drop(one);
}

#[tokio::test]
async fn the_oldest_of_an_owner_goes_first() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let bobs = keep(&store, bob(), "bob's").await;
    let mut handles = Vec::new();
    for number in 0..5_u64 {
        let now = NOW.plus(Duration::from_secs(number));
        let text = number.to_string();
        handles.push(store.keep(new(ann(), &text, now)).await.unwrap());
    }
    let mut all = Vec::new();
    for handle in &handles {
        all.push(found(&store, ann(), handle, NOW).await);
    }
    assert_eq!(all, ["nothing", "nothing", "logs__read: 2", "logs__read: 3", "logs__read: 4"]);
    assert_eq!(found(&store, bob(), &bobs, NOW).await, "logs__read: bob's");
    assert_eq!(files(directory.path()).len(), 4);
}

#[tokio::test]
async fn housekeeping_deletes_expired_results_and_lost_files() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let store = Store::open(directory.path(), at(&clock)).await.unwrap();
    keep(&store, ann(), "short-lived").await;
    let lost = directory.path().join("results").join("ab".repeat(32));
    fs::write(&lost, "left by a process that was killed").unwrap();
    let young = directory.path().join("results").join("cd".repeat(32));
    fs::write(&young, "its row is about to come").unwrap();
    let written = fs::metadata(&lost).unwrap().modified().unwrap();
    let hour_ago = written - Duration::from_hours(1);
    fs::File::options().write(true).open(&lost).unwrap().set_modified(hour_ago).unwrap();
    store.prune().await.unwrap();
    assert_eq!(files(directory.path()).len(), 2, "the kept one and the young one");
    clock.advance(LASTS);
    store.prune().await.unwrap();
    assert_eq!(files(directory.path()), [young]);
}
