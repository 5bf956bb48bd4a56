//! Runs and their journals.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{ApprovalId, ManualClock, Principal, UserId};
use gatefold_dispatch::{
    DataOwner, Journal as _, JournalError, NewRun, NewRunEvent, RUN_EVENT_BYTES, RUN_EVENTS, RunId,
    RunKind, RunOutcome, RunPhase,
};
use gatefold_store::{Retention, RunClaim, RunTenure, Store, StoreOptions};
use serde_json::value::RawValue;
use tempfile::tempdir;
use tokio::time::timeout;

use crate::fixture::{NOW, at, open};

fn owner(user: &str) -> DataOwner {
    DataOwner::lasting(&Principal::user(UserId::new(user)))
}

fn id(number: u128) -> RunId {
    RunId::new(NOW, number)
}

async fn begin(store: &Store, number: u128) -> RunId {
    let run = NewRun {
        id: id(number),
        owner: owner("ann"),
        kind: RunKind::Agent,
        subject: "scribe".to_owned(),
        parent: number.checked_sub(1).map(id),
        thread: None,
    };
    store.begin(run).await.unwrap();
    id(number)
}

fn event(json: &str) -> NewRunEvent {
    NewRunEvent { kind: "said", json: RawValue::from_string(json.to_owned()).unwrap() }
}

async fn texts(store: &Store, run: RunId, after: u64) -> Vec<(u64, String)> {
    let events = store.events(&owner("ann"), run, after, 100).await.unwrap();
    events.into_iter().map(|event| (event.number, event.json.get().to_owned())).collect()
}

#[tokio::test]
async fn what_a_run_wrote_outlives_the_process_and_belongs_to_its_owner() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let run = begin(&store, 0).await;
    assert_eq!(store.append(run, 0, vec![event("1"), event("{}")]).await.unwrap(), 2);
    assert_eq!(store.append(run, 2, vec![event("[3]")]).await.unwrap(), 3);
    store.end(run, 3, RunOutcome::Failed).await.unwrap();
    let other = begin(&store, 1).await;
    store.close().await.unwrap();

    let store = open(directory.path()).await;
    let all = [(1, "1".to_owned()), (2, "{}".to_owned()), (3, "[3]".to_owned())];
    assert_eq!(texts(&store, run, 0).await, all);
    assert_eq!(texts(&store, run, 2).await, all[2..]);
    let known = store.run(&owner("ann"), run).await.unwrap().unwrap();
    assert_eq!((known.subject.as_str(), known.last), ("scribe", 3));
    assert_eq!(known.end, Some((NOW, RunOutcome::Failed)));
    let listed = |before| {
        let store = store.clone();
        async move {
            let runs = store.runs(&owner("ann"), before, 10).await.unwrap();
            runs.into_iter().map(|run| (run.id, run.parent)).collect::<Vec<_>>()
        }
    };
    assert_eq!(listed(None).await, [(other, Some(run)), (run, None)]);
    assert_eq!(listed(Some(other)).await, [(run, None)]);

    assert_eq!(store.run(&owner("bob"), run).await.unwrap(), None);
    assert!(store.runs(&owner("bob"), None, 10).await.unwrap().is_empty());
    let hidden = store.events(&owner("bob"), run, 0, 10).await.unwrap_err();
    let missing = store.events(&owner("ann"), id(9), 0, 10).await.unwrap_err();
    assert_eq!(hidden.to_string(), missing.to_string());
}

#[tokio::test]
async fn a_second_writer_and_one_that_comes_late_add_nothing() {
    let directory = tempdir().unwrap();
    let (one, other) = (open(directory.path()).await, open(directory.path()).await);
    let run = begin(&one, 0).await;
    one.append(run, 0, vec![event("1")]).await.unwrap();
    let refused = other.append(run, 0, vec![event("2"), event("3")]).await.unwrap_err();
    assert!(matches!(refused, JournalError::Overtaken { last: 1 }), "{refused:?}");
    let refused = other.end(run, 0, RunOutcome::Done).await.unwrap_err();
    assert!(matches!(refused, JournalError::Overtaken { last: 1 }), "{refused:?}");
    other.end(run, 1, RunOutcome::Cancelled).await.unwrap();
    let refused = one.append(run, 1, vec![event("2")]).await.unwrap_err();
    assert!(matches!(refused, JournalError::RunEnded), "{refused:?}");
    let refused = one.append(id(9), 0, vec![event("2")]).await.unwrap_err();
    assert!(matches!(refused, JournalError::UnknownRun), "{refused:?}");
    assert_eq!(texts(&one, run, 0).await, [(1, "1".to_owned())]);
}

#[tokio::test]
async fn a_journal_is_bounded() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let run = begin(&store, 0).await;
    let large = format!("\"{}\"", "x".repeat(RUN_EVENT_BYTES));
    let refused = store.append(run, 0, vec![event("1"), event(&large)]).await.unwrap_err();
    assert!(matches!(refused, JournalError::TooLargeEvent), "{refused:?}");
    let most = usize::try_from(RUN_EVENTS).unwrap();
    store.append(run, 0, vec![event("1"); most]).await.unwrap();
    let refused = store.append(run, RUN_EVENTS, vec![event("1")]).await.unwrap_err();
    assert!(matches!(refused, JournalError::TooManyEvents), "{refused:?}");
}

#[tokio::test]
async fn whoever_follows_a_run_misses_nothing() {
    const EVENTS: u64 = 300;
    let directory = tempdir().unwrap();
    let (writer, reader) = (open(directory.path()).await, open(directory.path()).await);
    let run = begin(&writer, 0).await;
    let mut readers = tokio::task::JoinSet::new();
    // In the writer's process, and in another one.
    for store in [writer.clone(), reader] {
        readers.spawn(async move {
            let mut numbers = Vec::new();
            loop {
                let after = numbers.last().copied().unwrap_or(0);
                let events = store.follow(&owner("ann"), run, after, 7).await.unwrap();
                if events.is_empty() {
                    return numbers;
                }
                numbers.extend(events.iter().map(|event| event.number));
            }
        });
    }
    for last in 0..EVENTS {
        writer.append(run, last, vec![event("1")]).await.unwrap();
    }
    writer.end(run, EVENTS, RunOutcome::Done).await.unwrap();
    let read = timeout(Duration::from_secs(60), readers.join_all()).await.unwrap();
    let all: Vec<u64> = (1..=EVENTS).collect();
    assert_eq!(read, [all.clone(), all]);
}

#[tokio::test]
async fn what_ended_long_ago_is_deleted_with_its_events() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let day = Duration::from_hours(24);
    let retention = Retention { age: day, ..Retention::default() };
    let options = StoreOptions { retention, ..at(&clock) };
    let store = Store::open(directory.path(), options).await.unwrap();
    let (old, unended) = (begin(&store, 0).await, begin(&store, 1).await);
    for run in [old, unended] {
        store.append(run, 0, vec![event("1"); 500]).await.unwrap();
    }
    store.end(old, 500, RunOutcome::Done).await.unwrap();
    clock.advance(2 * day);
    store.prune().await.unwrap();
    assert_eq!(store.run(&owner("ann"), old).await.unwrap(), None);
    assert_eq!(store.run(&owner("ann"), unended).await.unwrap().unwrap().last, 500);
    let mut connection = crate::fixture::connect(directory.path()).await;
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM run_events")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(left, 500);
}

#[tokio::test]
async fn a_run_has_one_driver_and_is_taken_over_only_from_a_dead_one() {
    let directory = tempdir().unwrap();
    let (first, second) = (open(directory.path()).await, open(directory.path()).await);
    let (owner, id) = (owner("ann"), begin(&first, 0).await);
    first.keep_run_up(id).await.unwrap();
    let claim =
        async |store: &Store| store.claim_run(&owner, id, RunTenure::Lasting).await.unwrap();
    assert_eq!(claim(&second).await, RunClaim::Driven);
    assert!(second.unended_runs().await.unwrap().is_empty());
    let approvals = [ApprovalId::new("7hq2-m4xk")];
    first.release_run(id, &approvals).await.unwrap();
    let waiting = second.unended_runs().await.unwrap();
    assert_eq!(waiting[0].run.phase, RunPhase::Waiting(approvals.to_vec()));
    assert_eq!(claim(&second).await, RunClaim::Claimed { crashes: 0 });
    assert!(first.ask_to_cancel(&owner, id).await.unwrap());
    assert_eq!(second.cancelled_runs().await.unwrap(), [id]);
    second.close().await.unwrap();
    drop(second);
    // Its lock is free a moment later.
    let taken = async {
        loop {
            match claim(&first).await {
                RunClaim::Driven => tokio::task::yield_now().await,
                claimed => return claimed,
            }
        }
    };
    let taken = timeout(Duration::from_secs(5), taken).await.unwrap();
    assert_eq!(taken, RunClaim::Claimed { crashes: 1 });
    first.end(id, 0, RunOutcome::Cancelled).await.unwrap();
    assert_eq!(claim(&first).await, RunClaim::Ended);
}
