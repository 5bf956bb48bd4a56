use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{
    AgentId, CallId, ClientName, Digest, Domain, ManualClock, OrganisationId, Principal, RuleId,
    Timestamp, ToolId, UserId,
};
use gatefold_dispatch::{
    AuditLog as _, AuditOutcome, AuditSlot, CallClosed, CallOpened, DecidedBy,
};
use gatefold_store::{CallFilter, CallRecord, Store, StoreOptions};
use sqlx::{ConnectOptions as _, SqliteConnection};

/// 2026-11-21T09:57:00Z.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_795_255_020_000);

pub(crate) fn at(clock: &Arc<ManualClock>) -> StoreOptions {
    StoreOptions { clock: clock.clone(), ..StoreOptions::default() }
}

pub(crate) async fn open(directory: &Path) -> Store {
    Store::open(directory, at(&Arc::new(ManualClock::at(NOW)))).await.unwrap()
}

pub(crate) fn id(number: u128) -> CallId {
    CallId::new(NOW, number)
}

pub(crate) fn opened(number: u128) -> CallOpened {
    opened_as(id(number), NOW)
}

pub(crate) fn opened_as(id: CallId, at: Timestamp) -> CallOpened {
    let principal = Principal {
        organisation: Some(OrganisationId::new("acme")),
        agent: Some(AgentId::new("scribe")),
        ..Principal::user(UserId::new("ann"))
    };
    CallOpened {
        id,
        parent: None,
        at,
        principal: Arc::new(principal),
        client: Some(ClientName::new("claude-code")),
        operation: "tool",
        subject: "create \"issue\"".to_owned(),
        domain: Some(Domain::from_key("github")),
        tool: Some(ToolId::new("github__create_issue")),
        tool_digest: Some(Digest::new([7; 32])),
        rule: Some(RuleId::new("default")),
        decided_by: Some(DecidedBy::Person("bob".into())),
        arguments_digest: Digest::new([9; 32]),
        arguments_bytes: 120,
    }
}

pub(crate) fn closed(id: CallId, outcome: AuditOutcome) -> CallClosed {
    let took = Duration::from_millis(40);
    CallClosed { id, at: NOW.plus(took), took, outcome, reason: None, result_bytes: 800 }
}

pub(crate) async fn open_record(store: &Store, number: u128) -> Box<dyn AuditSlot> {
    store.open(opened(number)).await.unwrap()
}

/// All records, the oldest first.
pub(crate) async fn records(store: &Store) -> Vec<CallRecord> {
    let mut records = store.recent_calls(100, &CallFilter::default()).await.unwrap();
    records.reverse();
    records
}

pub(crate) async fn outcomes(store: &Store) -> Vec<String> {
    records(store).await.into_iter().map(|record| record.outcome).collect()
}

/// A connection that bypasses the store, as another program might open one.
pub(crate) async fn connect(directory: &Path) -> SqliteConnection {
    let options = sqlx::sqlite::SqliteConnectOptions::new();
    options.filename(directory.join("gatefold.db")).connect().await.unwrap()
}
