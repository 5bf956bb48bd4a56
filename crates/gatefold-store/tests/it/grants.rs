//! Sign-ins at sources, sealed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use gatefold_core::{Domain, ManualClock, Secret, UpstreamIdentity, UserId};
use gatefold_identity::{GrantPlace, Grants as _};
use gatefold_store::{GrantTable, KeyCommand, RootKey, RootSecret, Store, StoreError};
use sqlx::Connection as _;
use tempfile::tempdir;

use crate::fixture::{NOW, at};

const TEXT: &str = "planted-grant-text";

fn place(source: &str, user: Option<&str>) -> GrantPlace {
    let shared = UpstreamIdentity::Shared;
    let identity = user.map_or(shared, |user| UpstreamIdentity::User(UserId::new(user)));
    GrantPlace { domain: Domain::from_key(source), identity }
}

async fn open(directory: &Path, root: RootKey) -> (Store, GrantTable) {
    let store = Store::open(directory, at(&Arc::new(ManualClock::at(NOW)))).await.unwrap();
    let table = store.grants(root);
    (store, table)
}

async fn text(table: &GrantTable, place: &GrantPlace) -> Option<String> {
    let read = table.read(place).await.unwrap();
    read.map(|grant| grant.text.expose().to_owned())
}

/// Why a grant cannot be read.
async fn fault(table: &GrantTable, place: &GrantPlace) -> StoreError {
    *table.read(place).await.unwrap_err().downcast().unwrap()
}

fn given(current: &str, previous: Option<&str>) -> RootKey {
    let text = |key: &str| RootSecret::Text(Secret::new(key));
    RootKey { given: Some(text(current)), previous: previous.map(text) }
}

#[tokio::test]
async fn grants_outlive_the_process_and_lie_nowhere_in_the_clear() {
    let directory = tempdir().unwrap();
    let (store, table) = open(directory.path(), RootKey::default()).await;
    let (shared, ann) = (place("a", None), place("a", Some("ann")));
    table.write(&shared, &Secret::new(TEXT), None).await.unwrap().unwrap();
    table.write(&ann, &Secret::new("of ann"), None).await.unwrap().unwrap();
    store.close().await.unwrap();
    for entry in fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(TEXT.len()).any(|part| part == TEXT.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    let mode = fs::metadata(directory.path().join("root.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let (_store, table) = open(directory.path(), RootKey::default()).await;
    assert_eq!(text(&table, &shared).await.unwrap(), TEXT);
    assert_eq!(text(&table, &ann).await.unwrap(), "of ann");
    assert_eq!(table.places().await.unwrap(), [shared.clone(), ann]);
    assert!(table.remove(&shared).await.unwrap());
    assert_eq!(text(&table, &shared).await, None);
    assert!(!table.remove(&shared).await.unwrap());
}

#[tokio::test]
async fn a_write_over_another_generation_changes_nothing() {
    let directory = tempdir().unwrap();
    let (_store, table) = open(directory.path(), RootKey::default()).await;
    let place = place("a", None);
    let first = table.write(&place, &Secret::new("1"), None).await.unwrap().unwrap();
    let second = table.write(&place, &Secret::new("2"), Some(first)).await.unwrap().unwrap();
    assert!(second > first);
    assert_eq!(table.write(&place, &Secret::new("3"), Some(first)).await.unwrap(), None);
    assert_eq!(text(&table, &place).await.unwrap(), "2");
    table.remove(&place).await.unwrap();
    assert_eq!(table.write(&place, &Secret::new("4"), Some(second)).await.unwrap(), None);
    assert_eq!(table.generation(&place).await.unwrap(), None);
}

#[tokio::test]
async fn one_of_many_processes_gets_the_lease() {
    let directory = tempdir().unwrap();
    let (_store, first) = open(directory.path(), RootKey::default()).await;
    let (_other, second) = open(directory.path(), RootKey::default()).await;
    let place = place("a", None);
    let generation = first.write(&place, &Secret::new("1"), None).await.unwrap().unwrap();
    let until = NOW.plus(Duration::from_secs(40));
    let holders: Vec<_> = (0..32).map(|at| format!("holder-{at}")).collect();
    let leases = holders.iter().enumerate().map(|(at, holder)| {
        let table = if at % 2 == 0 { &first } else { &second };
        table.lease(&place, generation, holder, NOW, until)
    });
    let taken: Vec<_> = join_all(leases).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(taken.iter().filter(|own| **own).count(), 1);
    let winner = &holders[taken.iter().position(|own| *own).unwrap()];
    assert!(!second.lease(&place, generation, "late", NOW, until).await.unwrap());
    assert!(second.lease(&place, generation, "late", until, until).await.unwrap(), "it ran out");
    first.release(&place, winner).await.unwrap();
    assert!(!first.lease(&place, generation, "again", NOW, until).await.unwrap(), "not its own");
    first.release(&place, "late").await.unwrap();
    assert!(first.lease(&place, generation, "again", NOW, until).await.unwrap());
    assert!(!first.lease(&place, generation + 1, "x", until, until).await.unwrap());
}

#[tokio::test]
async fn rows_can_neither_be_exchanged_nor_altered() {
    let directory = tempdir().unwrap();
    let (store, table) = open(directory.path(), RootKey::default()).await;
    let (one, other) = (place("a", None), place("b", None));
    table.write(&one, &Secret::new("of a"), None).await.unwrap();
    table.write(&other, &Secret::new("of b"), None).await.unwrap();
    store.close().await.unwrap();
    let swap = "
        UPDATE grants SET source = 'x' WHERE source = 'a';
        UPDATE grants SET source = 'a' WHERE source = 'b';
        UPDATE grants SET source = 'b' WHERE source = 'x';";
    let mut connection = crate::fixture::connect(directory.path()).await;
    sqlx::raw_sql(swap).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let (_store, table) = open(directory.path(), RootKey::default()).await;
    for place in [&one, &other] {
        let altered = fault(&table, place).await;
        assert!(matches!(altered, StoreError::AlteredGrant { .. }), "{altered}");
    }
    table.write(&one, &Secret::new("new"), None).await.unwrap();
    assert_eq!(text(&table, &one).await.unwrap(), "new");
}

#[tokio::test]
async fn a_rotation_seals_everything_anew_and_loses_nothing() {
    let directory = tempdir().unwrap();
    let (_store, table) = open(directory.path(), RootKey::default()).await;
    let (_other, running) = open(directory.path(), RootKey::default()).await;
    let places: Vec<_> = (0..20).map(|at| place(&format!("s{at}"), None)).collect();
    let mut generations = Vec::new();
    for place in &places {
        generations.push(table.write(place, &Secret::new(TEXT), None).await.unwrap().unwrap());
        running.read(place).await.unwrap();
    }
    let root = || fs::read(directory.path().join("root.key")).unwrap();
    let before = root();
    assert_eq!(table.rotate().await.unwrap(), places.len());
    assert_ne!(root(), before);
    assert_eq!(root().len(), 32);
    for (place, generation) in places.iter().zip(generations) {
        for table in [&table, &running] {
            let read = table.read(place).await.unwrap().unwrap();
            assert_eq!((read.text.expose(), read.generation), (TEXT, generation));
        }
    }
    let rotated = join_all([table.rotate(), running.rotate()]).await;
    assert!(rotated.iter().all(Result::is_ok), "{rotated:?}");
    assert_eq!(text(&table, &places[0]).await.unwrap(), TEXT);
    fs::write(directory.path().join("root.key"), before).unwrap();
    let (_store, table) = open(directory.path(), RootKey::default()).await;
    assert!(matches!(fault(&table, &places[0]).await, StoreError::OtherRootKey { .. }));
}

#[tokio::test]
async fn a_root_key_from_elsewhere_is_changed_by_a_rotation() {
    let directory = tempdir().unwrap();
    let place = place("a", None);
    let (store, table) = open(directory.path(), given("first", None)).await;
    table.write(&place, &Secret::new(TEXT), None).await.unwrap();
    store.close().await.unwrap();
    assert!(!directory.path().join("root.key").exists());

    let (store, table) = open(directory.path(), given("second", None)).await;
    assert!(matches!(fault(&table, &place).await, StoreError::OtherRootKey { .. }));
    store.close().await.unwrap();

    let (store, table) = open(directory.path(), given("second", Some("first"))).await;
    assert_eq!(text(&table, &place).await.unwrap(), TEXT);
    table.rotate().await.unwrap();
    store.close().await.unwrap();

    let (_store, table) = open(directory.path(), given("second", None)).await;
    assert_eq!(text(&table, &place).await.unwrap(), TEXT);
}

#[tokio::test]
async fn a_root_key_moves_out_of_the_file_and_back() {
    let directory = tempdir().unwrap();
    let place = place("a", None);
    let file = directory.path().join("root.key");
    let (store, table) = open(directory.path(), RootKey::default()).await;
    table.write(&place, &Secret::new(TEXT), None).await.unwrap();
    store.close().await.unwrap();

    let (store, table) = open(directory.path(), given("elsewhere", None)).await;
    assert_eq!(text(&table, &place).await.unwrap(), TEXT);
    table.rotate().await.unwrap();
    assert!(!file.exists());
    store.close().await.unwrap();

    let root = RootKey { given: None, ..given("", Some("elsewhere")) };
    let (store, table) = open(directory.path(), root).await;
    assert_eq!(text(&table, &place).await.unwrap(), TEXT);
    table.rotate().await.unwrap();
    store.close().await.unwrap();

    let (_store, table) = open(directory.path(), RootKey::default()).await;
    assert_eq!(text(&table, &place).await.unwrap(), TEXT);
}

/// A root key that this script prints.
fn printed(script: &str) -> RootKey {
    let args = ["-c", script].map(str::to_owned).to_vec();
    let command = KeyCommand { program: "sh".to_owned(), args };
    RootKey { given: Some(RootSecret::Command(command)), previous: None }
}

#[tokio::test]
async fn a_program_prints_the_root_key_once_and_holds_nobody_up() {
    let directory = tempdir().unwrap();
    let place = place("a", None);
    let runs = directory.path().join("runs");
    let script =
        format!("echo run >> '{}'; sleep 0.5; echo {}", runs.display(), "0123456789".repeat(4));
    let (store, table) = open(directory.path(), printed(&script)).await;
    assert!(table.read(&place).await.unwrap().is_none());
    assert!(!runs.exists(), "it is not run before it is needed");
    let secret = Secret::new(TEXT);
    let (written, looked) = tokio::join!(table.write(&place, &secret, None), async {
        let began = Instant::now();
        tokio::time::sleep(Duration::from_millis(50)).await;
        table.places().await.unwrap();
        began.elapsed()
    });
    assert!(looked < Duration::from_millis(400), "{looked:?}");
    written.unwrap();
    assert_eq!(text(&table, &place).await.unwrap(), TEXT);
    assert_eq!(fs::read_to_string(&runs).unwrap(), "run\n");
    store.close().await.unwrap();

    let (_store, table) = open(directory.path(), given(&"0123456789".repeat(4), None)).await;
    assert_eq!(text(&table, &place).await.unwrap(), TEXT, "it is the same key as text");
}

#[tokio::test]
async fn a_program_that_prints_no_key_is_named_with_the_reason() {
    let directory = tempdir().unwrap();
    let place = place("a", None);
    for (script, reason) in [
        ("exit 3", "it ended with exit status: 3"),
        ("echo planted-short", "it printed less than 32 characters"),
        ("head -c 5000 /dev/zero | tr '\\0' a", "it printed more than 4096 bytes"),
        ("printf '\\377%040d' 0", "it printed something else than text"),
    ] {
        let (store, table) = open(directory.path(), printed(script)).await;
        let error = table.write(&place, &Secret::new(TEXT), None).await.unwrap_err().to_string();
        let told =
            format!("`sh` gave no root key: {reason}; run the command of `secrets.root_key`");
        assert!(error.starts_with(&told), "{script}: {error}");
        assert!(!error.contains("planted"), "{error}");
        store.close().await.unwrap();
    }
    let command = KeyCommand { program: "not-installed".to_owned(), args: Vec::new() };
    let root = RootKey { given: Some(RootSecret::Command(command)), previous: None };
    let (_store, table) = open(directory.path(), root).await;
    let error = table.write(&place, &Secret::new(TEXT), None).await.unwrap_err().to_string();
    assert!(error.contains("`not-installed` gave no root key: it could not be started"), "{error}");
    assert!(!directory.path().join("root.key").exists(), "no other key is made instead");
}

#[tokio::test]
async fn a_program_that_fails_is_not_run_for_each_who_waits() {
    let directory = tempdir().unwrap();
    let runs = directory.path().join("runs");
    let script = format!("echo run >> '{}'; sleep 0.2; exit 1", runs.display());
    let (_store, table) = open(directory.path(), printed(&script)).await;
    let secret = Secret::new(TEXT);
    let places: Vec<_> = (0..8).map(|number| place(&format!("s{number}"), None)).collect();
    let written = join_all(places.iter().map(|place| table.write(place, &secret, None))).await;
    assert!(written.iter().all(Result::is_err), "{written:?}");
    assert!(table.write(&places[0], &secret, None).await.is_err());
    assert_eq!(fs::read_to_string(&runs).unwrap(), "run\n");
}

#[tokio::test]
async fn the_key_before_is_missed_only_where_it_is_needed() {
    let directory = tempdir().unwrap();
    let (a, b) = (place("a", None), place("b", None));
    let (store, table) = open(directory.path(), given("second", None)).await;
    table.write(&a, &Secret::new(TEXT), None).await.unwrap();
    store.close().await.unwrap();

    let previous = printed("exit 1").given;
    let root = RootKey { previous: previous.clone(), ..given("second", None) };
    let (store, table) = open(directory.path(), root).await;
    assert_eq!(text(&table, &a).await.unwrap(), TEXT);
    table.write(&b, &Secret::new(TEXT), None).await.unwrap();
    store.close().await.unwrap();

    let root = RootKey { previous, ..given("third", None) };
    let (_store, table) = open(directory.path(), root).await;
    let error = table.read(&a).await.unwrap_err().to_string();
    assert!(error.contains("run the command of `secrets.previous_root_key`"), "{error}");
}
