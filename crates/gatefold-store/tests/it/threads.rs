//! Threads and their runs.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{AgentId, ManualClock, Principal, UserId};
use gatefold_dispatch::{
    DataOwner, Journal as _, JournalError, NewRun, NewRunEvent, NewThread, RunId, RunKind,
    RunOutcome, THREAD_TITLE, Thread, ThreadId, Threads as _,
};
use gatefold_store::{Retention, Store, StoreOptions};
use serde_json::value::RawValue;
use tempfile::tempdir;

use crate::fixture::{NOW, at, open};

fn owner(user: &str) -> DataOwner {
    DataOwner::lasting(&Principal::user(UserId::new(user)))
}

fn run(number: u128) -> RunId {
    RunId::new(NOW, number)
}

/// A thread of somebody with one run, which has one event.
async fn begin(store: &Store, user: &str, number: u128, title: &str) -> ThreadId {
    let (id, agent) = (ThreadId::of(run(number)), Some(AgentId::new("clerk")));
    let thread = NewThread { id, owner: owner(user), title: title.to_owned(), agent };
    store.begin_thread(thread).await.unwrap();
    add_run(store, user, number, id).await;
    id
}

async fn add_run(store: &Store, user: &str, number: u128, thread: ThreadId) {
    begin_run(store, user, number, thread).await.unwrap();
    let json = RawValue::from_string("1".to_owned()).unwrap();
    store.append(run(number), 0, vec![NewRunEvent { kind: "agent", json }]).await.unwrap();
    store.end(run(number), 1, RunOutcome::Done).await.unwrap();
}

async fn begin_run(
    store: &Store,
    user: &str,
    number: u128,
    thread: ThreadId,
) -> Result<(), JournalError> {
    let (id, owner, kind) = (run(number), owner(user), RunKind::Agent);
    let subject = "clerk".to_owned();
    store.begin(NewRun { id, owner, kind, subject, parent: None, thread: Some(thread) }).await
}

async fn titles(store: &Store, user: &str, words: &str) -> Vec<String> {
    let threads = store.threads(&owner(user), words, 10).await.unwrap();
    threads.into_iter().map(|Thread { title, .. }| title).collect()
}

async fn runs(store: &Store, user: &str, thread: ThreadId) -> Vec<RunId> {
    let runs = store.runs_of(&owner(user), thread).await.unwrap();
    runs.into_iter().map(|run| run.id).collect()
}

#[tokio::test]
async fn the_threads_of_a_person_are_found_by_their_words_the_last_used_first() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let store = Store::open(directory.path(), at(&clock)).await.unwrap();
    let first = begin(&store, "ann", 1, "  Orders of May ").await;
    begin(&store, "bea", 2, "Orders of Bea").await;
    clock.advance(Duration::from_secs(1));
    begin(&store, "ann", 3, "Refunds").await;
    assert_eq!(titles(&store, "ann", "").await, ["Refunds", "Orders of May"]);
    assert_eq!(titles(&store, "ann", "may ORDERS").await, ["Orders of May"]);
    assert_eq!(titles(&store, "ann", "%").await, [] as [&str; 0]);

    clock.advance(Duration::from_secs(1));
    add_run(&store, "ann", 4, first).await;
    assert_eq!(titles(&store, "ann", "").await, ["Orders of May", "Refunds"]);
    assert_eq!(runs(&store, "ann", first).await, [run(1), run(4)]);
    let thread = store.thread(&owner("ann"), first).await.unwrap().unwrap();
    assert_eq!(thread.agent, Some(AgentId::new("clerk")));
    assert_eq!(thread.began_at, NOW);
}

#[tokio::test]
async fn a_thread_is_its_persons_alone() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let thread = begin(&store, "ann", 1, "Orders").await;
    let bea = owner("bea");
    assert_eq!(store.thread(&bea, thread).await.unwrap(), None);
    assert_eq!(runs(&store, "bea", thread).await, []);
    assert!(!store.rename_thread(&bea, thread, "Mine").await.unwrap());
    assert!(!store.delete_run(&bea, run(1)).await.unwrap());
    assert!(!store.delete_thread(&bea, thread).await.unwrap());
    let refused = begin_run(&store, "bea", 2, thread).await;
    assert!(matches!(refused, Err(JournalError::UnknownThread)), "{refused:?}");
    assert_eq!(titles(&store, "ann", "").await, ["Orders"]);
    assert_eq!(store.events(&owner("ann"), run(1), 0, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_deleted_is_gone_with_its_events() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let ann = owner("ann");
    let thread = begin(&store, "ann", 1, "Orders").await;
    add_run(&store, "ann", 2, thread).await;
    assert!(store.rename_thread(&ann, thread, &"x".repeat(500)).await.unwrap());
    assert_eq!(titles(&store, "ann", "").await, ["x".repeat(THREAD_TITLE)]);

    assert!(store.delete_run(&ann, run(2)).await.unwrap());
    assert_eq!(runs(&store, "ann", thread).await, [run(1)]);
    assert!(store.events(&ann, run(2), 0, 10).await.is_err());
    let other = begin(&store, "ann", 3, "Alone").await;
    assert!(store.delete_run(&ann, run(3)).await.unwrap());
    assert_eq!(store.thread(&ann, other).await.unwrap(), None, "it went with its last run");
    assert!(store.delete_thread(&ann, thread).await.unwrap());
    assert_eq!(store.run(&ann, run(1)).await.unwrap(), None);
    assert!(!store.delete_thread(&ann, thread).await.unwrap());
    assert_eq!(titles(&store, "ann", "").await, [] as [&str; 0]);
}

#[tokio::test]
async fn an_old_thread_goes_with_its_runs() {
    let directory = tempdir().unwrap();
    let (clock, day) = (Arc::new(ManualClock::at(NOW)), Duration::from_hours(24));
    let retention = Retention { age: day, ..Retention::default() };
    let options = StoreOptions { retention, ..at(&clock) };
    let store = Store::open(directory.path(), options).await.unwrap();
    begin(&store, "ann", 1, "Old").await;
    let broken_off = ThreadId::of(run(1));
    begin_run(&store, "ann", 4, broken_off).await.unwrap();
    let used = begin(&store, "ann", 2, "Used").await;
    clock.advance(2 * day);
    add_run(&store, "ann", 3, used).await;
    store.prune().await.unwrap();
    assert_eq!(titles(&store, "ann", "").await, ["Used"]);
    assert_eq!(runs(&store, "ann", used).await, [run(2), run(3)], "it is kept as a whole");
    for gone in [1, 4] {
        assert_eq!(store.run(&owner("ann"), run(gone)).await.unwrap(), None);
    }
}
