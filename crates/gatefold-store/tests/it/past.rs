//! Past queries: kept, decaying, bounded, erased, and seen by every process.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Clock as _, ManualClock, Tenant, ToolId};
use gatefold_dispatch::{PastQueries as _, PastUse};
use gatefold_store::{PastQueryFilter, PastQueryRecord, Store};
use tempfile::tempdir;

use crate::fixture::{NOW, at};

const DAY: Duration = Duration::from_hours(24);

/// How long a use may take to be written.
const WRITTEN: Duration = Duration::from_secs(20);

struct KeptQueries {
    store: Store,
    clock: Arc<ManualClock>,
}

impl KeptQueries {
    async fn open(directory: &std::path::Path) -> Self {
        let clock = Arc::new(ManualClock::at(NOW));
        Self { store: Store::open(directory, at(&clock)).await.unwrap(), clock }
    }

    /// Learns a query, and waits until it is written.
    async fn learn(&self, tenant: &str, tool: &str, query: &str) {
        let before = self.store.version().await.unwrap();
        let (tenant, tool) = (Tenant::new(tenant), Some(ToolId::new(tool)));
        let (query, at) = (query.to_owned(), self.clock.now());
        self.store.note(PastUse { tenant, tool, query, at });
        let written = async {
            while self.store.version().await.unwrap() == before {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(WRITTEN, written).await.unwrap();
    }

    async fn records(&self) -> Vec<PastQueryRecord> {
        self.store.past_queries(&PastQueryFilter::Every, 10_000).await.unwrap()
    }

    /// Each past query with its weight.
    async fn listed(&self) -> Vec<String> {
        let line = |record: &PastQueryRecord| {
            let PastQueryRecord { tenant, tool, query, weight, .. } = record;
            format!("{tenant} {tool}: {query} {weight:.2}")
        };
        self.records().await.iter().map(line).collect()
    }

    async fn kept(&self, tenant: &str) -> Vec<String> {
        let mut kept: Vec<_> = self
            .store
            .kept(&Tenant::new(tenant))
            .await
            .unwrap()
            .iter()
            .map(|kept| format!("{}: {} {:.2}", kept.tool, kept.query, kept.weight))
            .collect();
        kept.sort();
        kept
    }
}

#[tokio::test]
async fn what_was_learnt_outlives_a_restart_and_stays_with_its_tenant() {
    let directory = tempdir().unwrap();
    let first = KeptQueries::open(directory.path()).await;
    first.learn("user:ann", "mail__send", "tell bob").await;
    first.learn("user:ann", "mail__send", "tell bob").await;
    first.learn("user:bob", "mail__send", "tell ann").await;
    first.store.close().await.unwrap();
    drop(first);
    let second = KeptQueries::open(directory.path()).await;
    assert_eq!(second.kept("user:ann").await, ["mail__send: tell bob 2.00"]);
    assert_eq!(second.kept("user:bob").await, ["mail__send: tell ann 1.00"]);
    assert!(second.kept("user:eve").await.is_empty());
}

#[tokio::test]
async fn weight_halves_in_thirty_days_and_what_weighs_little_goes() {
    let directory = tempdir().unwrap();
    let kept = KeptQueries::open(directory.path()).await;
    kept.learn("t", "a", "old").await;
    kept.clock.advance(30 * DAY);
    assert_eq!(kept.listed().await, ["t a: old 0.50"]);
    kept.learn("t", "a", "new").await;
    kept.learn("t", "a", "old").await;
    assert_eq!(kept.listed().await, ["t a: old 1.50", "t a: new 1.00"]);
    kept.clock.advance(95 * DAY);
    kept.store.prune().await.unwrap();
    assert_eq!(kept.listed().await, ["t a: old 0.17"]);
    kept.clock.advance(30 * DAY);
    kept.store.prune().await.unwrap();
    assert!(kept.listed().await.is_empty());
}

#[tokio::test]
async fn a_tool_keeps_its_weightiest_and_its_latest() {
    let directory = tempdir().unwrap();
    let kept = KeptQueries::open(directory.path()).await;
    for query in 0..20 {
        kept.learn("t", "a", &format!("q{query:02}")).await;
        kept.learn("t", "a", &format!("q{query:02}")).await;
    }
    kept.learn("t", "a", "latest").await;
    kept.learn("t", "b", "of another tool").await;
    let records = kept.records().await;
    let of_a: Vec<_> = records.iter().filter(|record| record.tool == "a").collect();
    assert_eq!(of_a.len(), 20);
    assert!(of_a.iter().any(|record| record.query == "latest"));
    assert_eq!(records.len(), 21);
}

#[tokio::test]
async fn a_tenant_keeps_so_many() {
    let directory = tempdir().unwrap();
    let kept = KeptQueries::open(directory.path()).await;
    let mut connection = crate::fixture::connect(directory.path()).await;
    let fill = "
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO past_queries SELECT 't', 'tool' || i, 'q', 1000.0, 1 FROM n";
    sqlx::query(fill).execute(&mut connection).await.unwrap();
    kept.learn("other", "a", "q").await;
    kept.learn("t", "a", "one more").await;
    let records = kept.records().await;
    assert_eq!(records.iter().filter(|record| record.tenant == "t").count(), 2000);
    assert!(records.iter().any(|record| record.query == "one more"));
    assert!(records.iter().any(|record| record.tenant == "other"));
}

#[tokio::test]
async fn what_is_forgotten_is_gone_for_every_store_on_the_directory() {
    let directory = tempdir().unwrap();
    let (here, there) =
        (KeptQueries::open(directory.path()).await, KeptQueries::open(directory.path()).await);
    here.learn("t", "a", "one").await;
    here.learn("t", "b", "two").await;
    here.learn("u", "b", "three").await;
    let version = here.store.version().await.unwrap();
    assert_eq!(there.listed().await.len(), 3);
    assert_eq!(
        there.store.forget_past_queries(&PastQueryFilter::Tool("b".to_owned())).await.unwrap(),
        2
    );
    assert_ne!(here.store.version().await.unwrap(), version);
    assert_eq!(here.kept("t").await, ["a: one 1.00"]);
    assert_eq!(there.store.forget_past_queries(&PastQueryFilter::Every).await.unwrap(), 1);
    let version = here.store.version().await.unwrap();
    assert_eq!(there.store.forget_past_queries(&PastQueryFilter::Every).await.unwrap(), 0);
    assert_eq!(here.store.version().await.unwrap(), version, "nothing has changed");
}

#[tokio::test]
async fn searches_that_led_nowhere_are_kept_apart_and_in_bounds() {
    let directory = tempdir().unwrap();
    let past = KeptQueries::open(directory.path()).await;
    past.learn("user:ann", "notes__file", "file a note").await;
    let missed = |number: u32| PastUse {
        tenant: Tenant::new("user:ann"),
        tool: None,
        query: format!("nobody serves {number}"),
        at: past.clock.now(),
    };
    let listed =
        || async { past.store.past_queries(&PastQueryFilter::Missed, 1000).await.unwrap() };
    for number in 0..250 {
        past.store.note(missed(number));
        let query = missed(number).query;
        let written = async {
            while !listed().await.iter().any(|record| record.query == query) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(WRITTEN, written).await.unwrap();
    }
    assert_eq!(listed().await.len(), 200);
    let tenant = Tenant::new("user:ann");
    let kept = past.store.kept(&tenant).await.unwrap();
    assert_eq!(kept.len(), 1, "nobody ranks by them");
    let learnt = past.store.past_queries(&PastQueryFilter::Every, 1000).await.unwrap();
    assert_eq!(learnt.len(), 1, "they are no past queries of a tool");
    assert_eq!(past.store.forget_past_queries(&PastQueryFilter::Every).await.unwrap(), 201);
    assert!(listed().await.is_empty());
}
