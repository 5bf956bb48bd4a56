use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{CallId, Clock as _, Digest, ManualClock, Principal};
use gatefold_dispatch::{AuditLog as _, AuditOutcome, CallClosed, DiscoveryRecord};
use gatefold_store::{Retention, Store, StoreOptions};
use tempfile::tempdir;

use crate::fixture::{NOW, at, opened_as, outcomes, records};

const HOUR: Duration = Duration::from_hours(1);

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
    slot.close(CallClosed { id, at: now, took, outcome, result_bytes: 1 }).await;
    let record = DiscoveryRecord {
        at: now,
        principal: Arc::new(Principal::local()),
        client: None,
        meta_tool: "search".to_owned(),
        arguments_digest: Digest::new([1; 32]),
        result_bytes: 1,
        is_error: false,
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
async fn a_suspension_that_ran_out_has_expired() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let first = Store::open(directory.path(), at(&clock)).await.unwrap();
    for (number, wait) in (0..).zip([HOUR, 3 * HOUR]) {
        let id = CallId::new(NOW, number);
        let outcome = AuditOutcome::Suspended(NOW.plus(wait));
        let closed = CallClosed { id, at: NOW, took: HOUR, outcome, result_bytes: 0 };
        first.refuse(opened_as(id, NOW), closed).await;
    }
    first.close().await.unwrap();
    clock.advance(2 * HOUR);
    let second = Store::open(directory.path(), at(&clock)).await.unwrap();
    assert_eq!(outcomes(&second).await, ["expired", "suspended"]);
    assert_eq!(records(&second).await[0].closed_at, Some(NOW.plus(HOUR)));
}
