//! The ledger of what models were asked.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Cost, ManualClock, OrganisationId, Principal, UserId};
use gatefold_dispatch::{
    DaySpending, ModelLedger as _, ModelUseEnd, NewModelUse, RunId, UseOrigin, UsedTokens, UtcDay,
};
use gatefold_store::{Retention, Store, StoreOptions};
use tempfile::tempdir;

use crate::fixture::{NOW, at, connect, open};

fn used(input: u64, output: u64) -> UsedTokens {
    UsedTokens { input, output, ..UsedTokens::default() }
}

fn entry(user: &str, model: &str) -> NewModelUse {
    let organisation = Some(OrganisationId::new("acme"));
    let who = Principal { organisation, ..Principal::user(UserId::new(user)) };
    let guess = UsedTokens { is_estimated: true, ..used(40, 0) };
    let origin = UseOrigin::Run(RunId::new(NOW, 1));
    let cost = Some(Cost::from_micros(4));
    NewModelUse { tokens: guess, cost, ..NewModelUse::by(&who, origin, model) }
}

fn end(model: &str, tokens: UsedTokens, micros: u64) -> ModelUseEnd {
    let (cost, took) = (Some(Cost::from_micros(micros)), Duration::from_millis(70));
    ModelUseEnd { model: model.to_owned(), tokens, cost, took }
}

async fn ask(store: &Store, user: &str, asked: &str, end: Option<ModelUseEnd>) {
    let open = store.begin_use(entry(user, asked)).await.unwrap();
    store.end_use(open, end).await.unwrap();
}

/// The tokens, those that are a guess, and the cost of a model today.
async fn spent(store: &Store, user: &str, model: &str) -> (u64, u64, u64) {
    let spent = store.spent_today(&UserId::new(user), model).await.unwrap();
    (spent.tokens, spent.estimated, spent.cost.as_micros())
}

async fn rows(directory: &std::path::Path, table: &'static str) -> i64 {
    let query = sqlx::query_scalar(match table {
        "model_uses" => "SELECT count(*) FROM model_uses",
        _ => "SELECT count(*) FROM model_days",
    });
    query.fetch_one(&mut connect(directory).await).await.unwrap()
}

#[tokio::test]
async fn a_request_counts_by_a_guess_until_its_answer_and_by_it_afterwards() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let under_way = store.begin_use(entry("ann", "fast")).await.unwrap();
    assert_eq!(spent(&store, "ann", "fast").await, (40, 40, 4));
    store.end_use(under_way, Some(end("fast", used(100, 20), 9))).await.unwrap();
    assert_eq!(spent(&store, "ann", "fast").await, (120, 0, 9));
    // Another model answered instead of the one that was asked.
    ask(&store, "ann", "fast", Some(end("slow", used(10, 1), 2))).await;
    assert_eq!(spent(&store, "ann", "fast").await, (120, 0, 9));
    assert_eq!(spent(&store, "ann", "slow").await, (11, 0, 2));
    // Nothing was used at all.
    ask(&store, "ann", "gone", None).await;
    assert_eq!(spent(&store, "ann", "gone").await, (0, 0, 0));
    let all = store.all_spent_today(&UserId::new("ann")).await.unwrap();
    let names: Vec<_> = all.iter().map(|(name, own)| (&**name, own.answers)).collect();
    assert_eq!(names, [("fast", 1), ("slow", 1)]);
    assert_eq!(rows(directory.path(), "model_uses").await, 2);
}

#[tokio::test]
async fn people_do_not_share_and_a_day_outlives_a_crash() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let store = Store::open(directory.path(), at(&clock)).await.unwrap();
    ask(&store, "ann", "fast", Some(end("fast", used(100, 20), 9))).await;
    // Nobody says what became of it.
    store.begin_use(entry("ann", "fast")).await.unwrap();
    drop(store);
    let store = Store::open(directory.path(), at(&clock)).await.unwrap();
    assert_eq!(spent(&store, "ann", "fast").await, (160, 40, 13));
    assert_eq!(spent(&store, "bob", "fast").await, (0, 0, 0));
    assert_eq!(store.all_spent_today(&UserId::new("bob")).await.unwrap(), []);

    // An answer belongs to the day on which it was asked for.
    let late = store.begin_use(entry("ann", "fast")).await.unwrap();
    clock.advance(Duration::from_hours(24));
    store.end_use(late, Some(end("fast", used(1, 1), 1))).await.unwrap();
    let today = store.spent_today(&UserId::new("ann"), "fast").await.unwrap();
    let day = UtcDay::of(NOW.plus(Duration::from_hours(24)));
    let nothing = DaySpending { day, answers: 0, tokens: 0, estimated: 0, cost: Cost::ZERO };
    assert_eq!(today, nothing);
}

#[tokio::test]
async fn sums_stay_exact_when_rows_are_deleted_and_never_overflow() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let retention = Retention { age: Duration::from_hours(48), rows: 3 };
    let options = StoreOptions { retention, ..at(&clock) };
    let store = Store::open(directory.path(), options).await.unwrap();
    for _ in 0..10 {
        ask(&store, "ann", "fast", Some(end("fast", used(100, 20), 9))).await;
    }
    for user in ["bob", "eve", "joe", "kim", "lea"] {
        ask(&store, user, "fast", Some(end("fast", used(1, 1), 1))).await;
    }
    store.prune().await.unwrap();
    assert_eq!(rows(directory.path(), "model_uses").await, 3);
    assert_eq!(spent(&store, "ann", "fast").await, (1200, 0, 90));
    assert_eq!(rows(directory.path(), "model_days").await, 6);

    clock.advance(Duration::from_hours(24));
    for _ in 0..3 {
        ask(&store, "ann", "fast", Some(end("fast", used(u64::MAX, u64::MAX), u64::MAX))).await;
    }
    let (tokens, _, cost) = spent(&store, "ann", "fast").await;
    assert!(tokens > u64::MAX / 8 && cost > u64::MAX / 8, "{tokens} {cost}");
    store.prune().await.unwrap();
    assert_eq!(rows(directory.path(), "model_days").await, 1 + 3, "today's, and three before");
    clock.advance(Duration::from_hours(72));
    store.prune().await.unwrap();
    assert_eq!(rows(directory.path(), "model_uses").await, 0);
    assert_eq!(rows(directory.path(), "model_days").await, 0);
}
