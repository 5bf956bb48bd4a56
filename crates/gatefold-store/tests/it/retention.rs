use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{CallId, Clock as _, Digest, ManualClock, Principal, Timestamp};
use gatefold_dispatch::{AuditLog as _, AuditOutcome, CallClosed, DiscoveryRecord};
use gatefold_store::{Retention, Store, StoreOptions};
use sqlx::Executor as _;
use tempfile::tempdir;

use crate::fixture::{NOW, at, connect, opened_as, outcomes, records};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

async fn store(
    directory: &std::path::Path,
    clock: &Arc<ManualClock>,
    retention: Retention,
) -> Store {
    Store::open(directory, StoreOptions { retention, ..at(clock) }).await.unwrap()
}

/// One call that ended and one discovery.
async fn use_once(store: &Store, clock: &ManualClock, number: u128) {
    let now = clock.now();
    let id = CallId::new(now, number);
    let (took, outcome) = (Duration::ZERO, AuditOutcome::Done);
    let slot = store.open(opened_as(id, now)).await.unwrap();
    slot.close(CallClosed { id, at: now, took, outcome, reason: None, result_bytes: 1 }).await;
    let record = DiscoveryRecord {
        at: now,
        principal: Arc::new(Principal::local()),
        client: None,
        meta_tool: "search".to_owned(),
        arguments_digest: Digest::new([1; 32]),
        result_bytes: 1,
        is_error: false,
        shown: vec!["jira__get_issue".to_owned()],
    };
    store.discover(record).await;
}

#[tokio::test]
async fn records_past_their_age_are_deleted() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let store = store(directory.path(), &clock, Retention { age: 3 * HOUR, rows: 1000 }).await;
    let still_open = store.open(opened_as(CallId::new(NOW, 0), NOW)).await.unwrap();
    for number in 1..=5 {
        use_once(&store, &clock, number).await;
        clock.advance(HOUR);
    }
    store.flush().await.unwrap();
    assert_eq!(store.prune().await.unwrap(), 4);
    assert_eq!(outcomes(&store).await, ["open", "done", "done", "done"]);
    assert_eq!(store.totals().await.unwrap().discoveries, 3);
    drop(still_open);
}

#[tokio::test]
async fn records_past_their_number_are_deleted() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let store = store(directory.path(), &clock, Retention { age: HOUR, rows: 10 }).await;
    for number in 0..450 {
        use_once(&store, &clock, number).await;
    }
    store.flush().await.unwrap();
    assert_eq!(store.prune().await.unwrap(), 880);
    let newest = records(&store).await;
    assert_eq!((newest.len(), newest[9].id.as_str()), (10, &*CallId::new(NOW, 449).to_string()));
    assert_eq!(store.totals().await.unwrap().discoveries, 10);
}

#[tokio::test]
async fn a_command_beside_a_gateway_deletes_no_records() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let options = StoreOptions { clock: clock.clone(), ..StoreOptions::keeping_all() };
    let store = Store::open(directory.path(), options).await.unwrap();
    use_once(&store, &clock, 1).await;
    store.flush().await.unwrap();
    assert_eq!(store.prune().await.unwrap(), 0);
    // Ten years, of which the clock leaves no doubt.
    clock.advance(3650 * DAY);
    assert_eq!(store.prune().await.unwrap(), 0);
    assert_eq!(outcomes(&store).await, ["done"]);
}

#[tokio::test]
async fn a_suspension_that_ran_out_has_expired() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let first = Store::open(directory.path(), at(&clock)).await.unwrap();
    for (number, wait) in (0..).zip([HOUR, 3 * HOUR]) {
        let id = CallId::new(NOW, number);
        let outcome = AuditOutcome::Suspended(NOW.plus(wait));
        let closed = CallClosed { id, at: NOW, took: HOUR, outcome, reason: None, result_bytes: 0 };
        first.refuse(opened_as(id, NOW), closed).await;
    }
    first.close().await.unwrap();
    clock.advance(2 * HOUR);
    let second = Store::open(directory.path(), at(&clock)).await.unwrap();
    assert_eq!(outcomes(&second).await, ["expired", "suspended"]);
    assert_eq!(records(&second).await[0].closed_at, Some(NOW.plus(HOUR)));
}

/// One record a day for four weeks; records are kept for thirty days.
async fn four_weeks(directory: &std::path::Path, clock: &Arc<ManualClock>) -> Store {
    let store = store(directory, clock, Retention::default()).await;
    for number in 0..28 {
        use_once(&store, clock, number).await;
        clock.advance(DAY);
        assert_eq!(store.prune().await.unwrap(), 0);
    }
    store
}

#[tokio::test]
async fn a_clock_that_jumps_erases_nothing_before_it_has_lasted() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let store = four_weeks(directory.path(), &clock).await;
    clock.set(clock.now().plus(40 * DAY));
    for _ in 0..60 {
        clock.advance(Duration::from_secs(33));
        assert_eq!(store.prune().await.unwrap(), 0);
    }
    assert_eq!(records(&store).await.len(), 28);
    // The clock was wrong and is corrected: nothing has changed.
    clock.set(NOW.plus(28 * DAY));
    clock.advance(HOUR);
    assert_eq!(store.prune().await.unwrap(), 0);
    // The clock was right: what is too old is deleted within two days.
    clock.set(NOW.plus(68 * DAY));
    clock.advance(2 * DAY);
    store.prune().await.unwrap();
    assert_eq!(records(&store).await.len(), 0);
}

#[tokio::test]
async fn a_clock_that_is_wrong_after_a_restart_erases_nothing() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let first = four_weeks(directory.path(), &clock).await;
    first.close().await.unwrap();
    drop(first);
    for wrong in [NOW.plus(68 * DAY), Timestamp::from_millis(0), NOW.plus(30_000 * DAY)] {
        let clock = Arc::new(ManualClock::at(wrong));
        let store = store(directory.path(), &clock, Retention::default()).await;
        clock.advance(Duration::from_secs(33));
        assert_eq!(store.prune().await.unwrap(), 0, "{wrong}");
        store.close().await.unwrap();
    }
    let clock = Arc::new(ManualClock::at(NOW.plus(28 * DAY)));
    let store = store(directory.path(), &clock, Retention::default()).await;
    assert_eq!(records(&store).await.len(), 28);
}

#[tokio::test]
async fn a_database_of_before_goes_by_its_latest_record() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let first = four_weeks(directory.path(), &clock).await;
    first.close().await.unwrap();
    drop(first);
    let mut other = connect(directory.path()).await;
    other.execute("DELETE FROM aging").await.unwrap();
    let clock = Arc::new(ManualClock::at(NOW.plus(68 * DAY)));
    let store = store(directory.path(), &clock, Retention::default()).await;
    clock.advance(Duration::from_secs(33));
    assert_eq!(store.prune().await.unwrap(), 0);
    assert_eq!(records(&store).await.len(), 28);
}

#[tokio::test]
async fn processes_that_share_a_directory_believe_no_faster_than_one() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let first = four_weeks(directory.path(), &clock).await;
    let mut others = Vec::new();
    for _ in 0..8 {
        others.push(store(directory.path(), &clock, Retention::default()).await);
    }
    clock.set(clock.now().plus(40 * DAY));
    for _ in 0..6 {
        clock.advance(Duration::from_mins(10));
        for store in others.iter().chain([&first]) {
            store.prune().await.unwrap();
        }
    }
    // An hour has passed, so one day of the step is believed. Nine hours would have deleted seven
    // records.
    assert_eq!(records(&first).await.len(), 28);
}
