use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{Manifest, ServerInfo};
use gatefold_core::{Clock as _, Digest, Domain, ManualClock, SystemClock, Timestamp};
use gatefold_store::{ReachAttempt, ReachRecord, SourceKey, Store, StoreOptions, reach_records};
use serde_json::value::RawValue;
use tempfile::{TempDir, tempdir};

use crate::fixture::{NOW, at, open};

fn key(domain: &str, config: u8) -> SourceKey {
    SourceKey { domain: Domain::from_key(domain), config: Digest::new([config; 32]) }
}

fn manifest(tool: &str, fetched_at: Timestamp) -> Manifest {
    described("", tool, fetched_at)
}

fn described(description: &str, tool: &str, fetched_at: Timestamp) -> Manifest {
    let server = ServerInfo {
        name: "server".to_owned(),
        version: "1".to_owned(),
        title: None,
        description: None,
        instructions: None,
        protocol: "2025-06-18".to_owned(),
        capabilities: None,
        whole: None,
    };
    let tool = format!(
        r#"{{"name":"{tool}","description":"{description}","inputSchema":{{"type":"object"}}}}"#
    );
    let page = format!(r#"{{"tools":[{tool}]}}"#);
    Manifest::from_pages(server, &[RawValue::from_string(page).unwrap()], fetched_at)
}

/// The first tool of each known source.
async fn known(store: &Store, keys: &[SourceKey]) -> Vec<(String, String)> {
    let known = store.known_sources(keys).await.unwrap();
    known
        .into_iter()
        .map(|known| {
            let tool = known.manifest.map(|manifest| manifest.tools()[0].name().to_owned());
            (known.key.domain.to_string(), tool.unwrap_or_default())
        })
        .collect()
}

async fn with_manifest() -> (TempDir, Store, PathBuf) {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let manifest = manifest("search", NOW);
    store.save_manifest(&key("a", 1), &manifest).await.unwrap();
    let file = directory.path().join(format!("manifests/{}.bin", manifest.digest()));
    (directory, store, file)
}

#[tokio::test]
async fn what_a_source_offers_is_known_after_a_restart() {
    let (directory, store, _) = with_manifest().await;
    store.save_manifest(&key("b", 1), &manifest("list", NOW)).await.unwrap();
    store.close().await.unwrap();
    let store = open(directory.path()).await;
    let keys = [key("b", 1), key("never", 1), key("a", 1)];
    let expected = [("b".to_owned(), "list".to_owned()), ("a".to_owned(), "search".to_owned())];
    assert_eq!(known(&store, &keys).await, expected);
    let later = manifest("find", NOW);
    store.save_manifest(&key("a", 1), &later).await.unwrap();
    assert_eq!(known(&store, &keys[2..]).await[0].1, "find");
}

#[tokio::test]
async fn a_manifest_seen_again_has_the_later_moment() {
    let (_directory, store, _) = with_manifest().await;
    let later = NOW.plus(Duration::from_mins(1));
    store.save_manifest(&key("a", 1), &manifest("search", later)).await.unwrap();
    let known = store.known_sources(&[key("a", 1)]).await.unwrap();
    assert_eq!(known[0].manifest.as_ref().unwrap().fetched_at(), later);
}

#[tokio::test]
async fn another_configuration_is_another_source() {
    let (_directory, store, _) = with_manifest().await;
    assert_eq!(known(&store, &[key("a", 2)]).await, []);
    store.forget_source(&key("a", 1)).await.unwrap();
    assert_eq!(known(&store, &[key("a", 1)]).await, []);
}

#[tokio::test]
async fn a_damaged_manifest_counts_as_unknown() {
    let (_directory, store, file) = with_manifest().await;
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&whole[..whole.len() / 2], b"", b"garbage", &flipped] {
        fs::write(&file, damaged).unwrap();
        assert_eq!(known(&store, &[key("a", 1)]).await, [("a".to_owned(), String::new())]);
    }
    fs::remove_file(&file).unwrap();
    assert_eq!(known(&store, &[key("a", 1)]).await, [("a".to_owned(), String::new())]);
    store.save_manifest(&key("a", 1), &manifest("search", NOW)).await.unwrap();
    assert_eq!(known(&store, &[key("a", 1)]).await[0].1, "search");
}

#[tokio::test]
async fn only_the_latest_configurations_of_a_domain_are_remembered() {
    let (_directory, store, _) = with_manifest().await;
    for config in 2..=9 {
        let at = NOW.plus(Duration::from_secs(config.into()));
        store.save_manifest(&key("a", config), &manifest("search", at)).await.unwrap();
    }
    let keys: Vec<_> = (1..=9).map(|config| key("a", config)).collect();
    assert_eq!(known(&store, &keys).await.len(), 8);
    assert_eq!(known(&store, &keys[..1]).await, []);
}

#[tokio::test]
async fn a_list_that_keeps_changing_takes_the_room_of_one() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let files = || fs::read_dir(directory.path().join("manifests")).unwrap().count();
    for number in 0..200 {
        let manifest = manifest(&format!("tool_{number}"), NOW);
        store.save_manifest(&key("a", 1), &manifest).await.unwrap();
        store.keep_token_counts(manifest.digest(), &[3]).await.unwrap();
        assert_eq!(files(), 2);
    }
    assert_eq!(known(&store, &[key("a", 1)]).await[0].1, "tool_199");
}

#[tokio::test]
async fn a_manifest_that_another_source_has_too_stays() {
    let (_directory, store, file) = with_manifest().await;
    store.save_manifest(&key("b", 1), &manifest("search", NOW)).await.unwrap();
    store.save_manifest(&key("a", 1), &manifest("find", NOW)).await.unwrap();
    assert!(file.exists());
    store.save_manifest(&key("b", 1), &manifest("find", NOW)).await.unwrap();
    assert!(!file.exists());
    let expected = [("a".to_owned(), "find".to_owned()), ("b".to_owned(), "find".to_owned())];
    assert_eq!(known(&store, &[key("a", 1), key("b", 1)]).await, expected);
}

#[tokio::test]
async fn the_manifests_of_a_domain_have_a_quota() {
    const QUOTA: u64 = 120_000;
    let directory = tempdir().unwrap();
    let options = StoreOptions { manifest_bytes: QUOTA, ..StoreOptions::default() };
    let store = Store::open(directory.path(), options).await.unwrap();
    for config in 1..=4 {
        // When the clock goes back, the latest one must still stay.
        let at = NOW.plus(Duration::from_secs(100 - u64::from(config)));
        let described = described(&"a long text ".repeat(4_000), &format!("tool_{config}"), at);
        store.save_manifest(&key("a", config), &described).await.unwrap();
    }
    let kept = fs::read_dir(directory.path().join("manifests")).unwrap();
    let kept: Vec<_> = kept.map(|file| file.unwrap().metadata().unwrap().len()).collect();
    assert!(kept.len() == 2 && kept.iter().sum::<u64>() <= QUOTA, "{kept:?}");
    assert_eq!(known(&store, &[key("a", 4)]).await.len(), 1);
    store.save_manifest(&key("b", 1), &manifest("search", NOW)).await.unwrap();
    assert_eq!(known(&store, &[key("b", 1)]).await[0].1, "search");
}

#[tokio::test]
async fn a_file_that_nothing_refers_to_is_removed_once_it_is_old() {
    // Files have the system's time, whatever a test's clock says.
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let store = Store::open(directory.path(), at(&clock)).await.unwrap();
    store.save_manifest(&key("a", 1), &manifest("find", NOW)).await.unwrap();
    // What a killed process leaves behind.
    fs::write(directory.path().join("manifests/.tmp123"), "half a manifest").unwrap();
    let files = || fs::read_dir(directory.path().join("manifests")).unwrap().count();
    store.prune().await.unwrap();
    assert_eq!(files(), 2);
    clock.advance(Duration::from_hours(2));
    store.prune().await.unwrap();
    assert_eq!((files(), &*known(&store, &[key("a", 1)]).await[0].1), (1, "find"));
}

#[tokio::test]
async fn a_source_that_a_check_could_not_reach_is_on_record_until_it_is_reached_again() {
    let (directory, store, _) = with_manifest().await;
    let keys = [key("a", 1), key("a", 2), key("b", 1)];
    let records = async || reach_records(directory.path(), &keys).await.unwrap();
    let others = [ReachRecord::Never; 2];
    let expected = |first| [&[first][..], &others].concat();
    assert_eq!(records().await, expected(ReachRecord::Reached));
    let attempts = |failed_at| {
        let attempt = |key: &SourceKey| ReachAttempt { key: key.clone(), failed_at };
        keys.iter().map(attempt).collect::<Vec<_>>()
    };
    store.note_reach(&attempts(Some(NOW))).await.unwrap();
    assert_eq!(records().await, expected(ReachRecord::Failed));
    store.note_reach(&attempts(None)).await.unwrap();
    assert_eq!(records().await, expected(ReachRecord::Reached));
    store.note_reach(&attempts(Some(NOW))).await.unwrap();
    store.save_manifest(&key("a", 1), &manifest("find", NOW)).await.unwrap();
    assert_eq!(records().await, expected(ReachRecord::Reached));
    let elsewhere = tempdir().unwrap();
    let nothing = reach_records(elsewhere.path(), &keys).await.unwrap();
    assert_eq!(nothing, [ReachRecord::Never; 3]);
}
