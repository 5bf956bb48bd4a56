use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{join, join_all};
use gatefold_core::{CallError, Digest, Domain, Principal, UserId};
use gatefold_dispatch::{
    AuditError, AuditLog as _, AuditOutcome, CallClosed, CallOpened, DiscoveryRecord,
};
use gatefold_store::{CallFilter, DigestKey, Store};
use sqlx::Executor as _;
use tempfile::tempdir;

use crate::fixture::{NOW, closed, connect, id, open, open_record, opened, outcomes, records};

#[tokio::test]
async fn a_record_says_who_did_what_and_how_it_ended() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let child = CallOpened { parent: Some(id(1)), ..opened(2) };
    store.open(child).await.unwrap().close(closed(id(2), AuditOutcome::Done)).await;
    let records = records(&store).await;
    // Nobody finds short arguments by trying, and the same ones have the same digest.
    let plain = opened(2).arguments_digest;
    let kept = DigestKey::new(&store.seal_key()).kept(&plain).to_string();
    let shown = serde_json::to_string_pretty(&records).unwrap();
    assert!(!shown.contains(&plain.to_string()), "{shown}");
    insta::assert_snapshot!(shown.replace(&kept, "KEYED"), @r#"
    [
      {
        "id": "01a1fd89a9e000000000000000000002",
        "parent": "01a1fd89a9e000000000000000000001",
        "opened_at": 1795255020000,
        "user": "ann",
        "organisations": [
          "acme"
        ],
        "agent": "scribe",
        "client": "claude-code",
        "token": null,
        "operation": "tool",
        "subject": "create \"issue\"",
        "domain": "github",
        "tool": "github__create_issue",
        "tool_digest": "0707070707070707070707070707070707070707070707070707070707070707",
        "rule": "default",
        "decided_by": "bob",
        "arguments_digest": "KEYED",
        "arguments_bytes": 120,
        "outcome": "done",
        "error_kind": null,
        "error_reason": null,
        "expires_at": null,
        "closed_at": 1795255020040,
        "took_ms": 40,
        "result_bytes": 800
      }
    ]
    "#);
}

#[tokio::test]
async fn a_record_is_written_when_its_opener_goes_on() {
    let directory = tempdir().unwrap();
    let (store, other) = (open(directory.path()).await, open(directory.path()).await);
    let slot = open_record(&store, 1).await;
    assert_eq!(outcomes(&other).await, ["open"]);
    slot.close(closed(id(1), AuditOutcome::ToolError)).await;
    store.flush().await.unwrap();
    assert_eq!(outcomes(&other).await, ["tool_error"]);
}

#[tokio::test]
async fn an_end_reaches_the_disk_without_anyone_asking() {
    let directory = tempdir().unwrap();
    let (store, other) = (open(directory.path()).await, open(directory.path()).await);
    open_record(&store, 1).await.close(closed(id(1), AuditOutcome::Done)).await;
    while outcomes(&other).await != ["done"] {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn many_ends_outgrow_their_log_and_leave_nothing_behind() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let owners = directory.path().join("owners");
    let mut largest = 0;
    for round in 0..24 {
        let numbers = (0..1000).map(|number| round * 1000 + number);
        join_all(numbers.map(async |number| {
            open_record(&store, number).await.close(closed(id(number), AuditOutcome::Done)).await;
        }))
        .await;
        let sizes = std::fs::read_dir(&owners).unwrap();
        let size: u64 = sizes.map(|file| file.unwrap().metadata().unwrap().len()).sum();
        largest = largest.max(size);
    }
    let (least, most) = (1024 * 1024, 3 * 1024 * 1024);
    assert!((least..most).contains(&largest), "{largest} bytes");
    let totals = store.totals().await.unwrap();
    assert_eq!((totals.outcomes.len(), totals.outcomes[0].calls), (1, 24_000));
    store.close().await.unwrap();
    assert_eq!(std::fs::read_dir(&owners).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_are_under_way_at_once() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let opening = (0..10_000).map(|number| {
        let store = store.clone();
        tokio::spawn(async move { store.open(opened(number)).await.unwrap() })
    });
    let slots: Vec<_> = join_all(opening).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(store.totals().await.unwrap().outcomes[0].calls, 10_000);
    for (number, slot) in (0..).zip(slots) {
        slot.close(closed(id(number), AuditOutcome::Done)).await;
    }
    let totals = store.totals().await.unwrap();
    let [done] = &totals.outcomes[..] else { panic!("{totals:?}") };
    assert_eq!((done.outcome.as_str(), done.calls), ("done", 10_000));
    assert_eq!((done.arguments_bytes, done.result_bytes), (1_200_000, 8_000_000));
}

#[tokio::test]
async fn the_outcome_keeps_its_word() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let failure = CallError::Cancelled.kind();
    let ends = [
        AuditOutcome::Done,
        AuditOutcome::ToolError,
        AuditOutcome::Failed(failure),
        AuditOutcome::Cancelled,
        AuditOutcome::Suspended(NOW),
        AuditOutcome::Task,
    ];
    for (number, end) in (0..).zip(ends) {
        open_record(&store, number).await.close(closed(id(number), end)).await;
    }
    for (record, end) in records(&store).await.iter().zip(ends) {
        assert_eq!(record.outcome, end.as_str());
        assert_eq!(record.closed_at.is_none(), end.as_str() == "suspended");
        assert_eq!(record.error_kind.is_some(), end.as_str() == "failed");
    }
}

#[tokio::test]
async fn a_failed_call_says_why_within_bounds() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let failed = closed(id(1), AuditOutcome::Failed(CallError::Cancelled.kind()));
    let reason = Some(format!("it ended early: {}", "x".repeat(10_000)));
    open_record(&store, 1).await.close(CallClosed { reason, ..failed }).await;
    open_record(&store, 2).await.close(closed(id(2), AuditOutcome::Done)).await;
    let records = records(&store).await;
    let reason = records[0].error_reason.as_deref().unwrap();
    assert!(reason.starts_with("it ended early: xxx") && reason.len() == 512, "{reason}");
    assert_eq!(records[1].error_reason, None);
}

#[tokio::test]
async fn whoever_gives_up_while_opening_leaves_a_cancelled_record() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    assert!(store.open(opened(1)).now_or_never().is_none());
    let slot = open_record(&store, 2).await;
    drop(slot);
    // The writer closes the first record when it finds nobody waiting for it.
    store.flush().await.unwrap();
    assert_eq!(outcomes(&store).await, ["cancelled", "cancelled"]);
}

#[tokio::test]
async fn a_refusal_and_a_discovery_leave_their_records() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let denied = AuditOutcome::Failed(CallError::Cancelled.kind());
    store.refuse(opened(1), closed(id(1), denied)).await;
    let record = DiscoveryRecord {
        at: NOW,
        principal: Arc::new(Principal::local()),
        client: None,
        meta_tool: "discover_tools".to_owned(),
        arguments_digest: Digest::new([3; 32]),
        result_bytes: 2000,
        is_error: false,
        shown: vec!["jira__get_issue".to_owned()],
    };
    store.discover(record).await;
    let totals = store.totals().await.unwrap();
    assert_eq!((totals.discoveries, totals.discovery_bytes), (1, 2000));
    let discoveries = store.recent_discoveries(5).await.unwrap();
    let [read] = discoveries.as_slice() else { panic!("{discoveries:?}") };
    assert_eq!((read.at, read.user.as_str()), (NOW, "local"));
    assert_eq!((read.meta_tool.as_str(), read.result_bytes), ("discover_tools", 2000));
    assert_eq!(read.shown, ["jira__get_issue"]);
    assert_eq!(outcomes(&store).await, ["failed"]);
}

#[tokio::test]
async fn a_resumed_call_carries_on_its_record_once() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let until = NOW.plus(Duration::from_mins(10));
    store.refuse(opened(1), closed(id(1), AuditOutcome::Suspended(until))).await;
    let (one, other) = join(store.open(opened(1)), store.open(opened(1))).await;
    let mut slots: Vec<_> = [one, other].into_iter().filter_map(Result::ok).collect();
    assert_eq!((slots.len(), outcomes(&store).await), (1, vec!["open".to_owned()]));
    slots.remove(0).close(closed(id(1), AuditOutcome::Suspended(until))).await;
    open_record(&store, 1).await.close(closed(id(1), AuditOutcome::Done)).await;
    let error = store.open(opened(1)).await.err().unwrap();
    assert!(matches!(error, AuditError::NotSuspended), "{error}");
    store.refuse(opened(1), closed(id(1), AuditOutcome::Suspended(until))).await;
    assert_eq!(outcomes(&store).await, ["done"]);
}

#[tokio::test]
async fn nothing_but_its_holder_ends_an_open_record() {
    let directory = tempdir().unwrap();
    let (store, other) = (open(directory.path()).await, open(directory.path()).await);
    let slot = open_record(&store, 1).await;
    for store in [&store, &other] {
        store.refuse(opened(1), closed(id(1), AuditOutcome::Cancelled)).await;
        assert_eq!(outcomes(store).await, ["open"]);
    }
    slot.close(closed(id(1), AuditOutcome::Done)).await;
    assert_eq!(outcomes(&store).await, ["done"]);
}

#[tokio::test]
async fn texts_of_any_kind_are_kept_within_bounds() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    for (number, (subject, kept)) in (0..).zip([
        ("a\"b\\c\n\u{1}'); DROP TABLE calls; --", 31),
        ("日本語\u{1F600}", 13),
        (&"x".repeat(600), 512),
        (&"ü".repeat(600), 512),
        (&format!("x{}", "ü".repeat(600)), 511),
    ]) {
        let opened = CallOpened { subject: subject.to_owned(), ..opened(number) };
        store.open(opened).await.unwrap().close(closed(id(number), AuditOutcome::Done)).await;
        let record = records(&store).await.pop().unwrap();
        assert_eq!(record.subject, subject[..kept]);
    }
}

#[tokio::test]
async fn records_are_found_by_user_domain_and_outcome() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    for number in 0..3 {
        let domain = Some(Domain::from_key(&format!("d{number}")));
        let opened = CallOpened { domain, ..opened(number) };
        store.open(opened).await.unwrap().close(closed(id(number), AuditOutcome::Done)).await;
    }
    let found = async |filter: CallFilter, limit| {
        let records = store.recent_calls(limit, &filter).await.unwrap();
        records.into_iter().filter_map(|record| record.domain).collect::<Vec<_>>()
    };
    assert_eq!(found(CallFilter::default(), 2).await, ["d2", "d1"]);
    let domain = Some(Domain::from_key("d1"));
    assert_eq!(found(CallFilter { domain, ..CallFilter::default() }, 9).await, ["d1"]);
    let user = Some(UserId::new("bob"));
    assert_eq!(found(CallFilter { user, ..CallFilter::default() }, 9).await, [""; 0]);
    let outcome = Some("done".to_owned());
    assert_eq!(found(CallFilter { outcome, ..CallFilter::default() }, 9).await.len(), 3);
}

#[tokio::test]
async fn another_program_that_writes_is_waited_for() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let mut other = connect(directory.path()).await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let mut opening = store.open(opened(1));
    assert!(futures::poll!(&mut opening).is_pending());
    other.execute("COMMIT").await.unwrap();
    assert!(opening.await.is_ok());
}

#[tokio::test]
async fn an_opener_learns_that_its_record_was_not_written() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let mut other = connect(directory.path()).await;
    other.execute("ALTER TABLE calls RENAME TO hidden").await.unwrap();
    let error = cause(store.open(opened(1)).await.err().unwrap());
    assert!(error.contains("gatefold.db` could not be read or written"), "{error}");
    other.execute("ALTER TABLE hidden RENAME TO calls").await.unwrap();
    open_record(&store, 1).await.close(closed(id(1), AuditOutcome::Done)).await;
    assert_eq!(outcomes(&store).await, ["done"]);
}

#[tokio::test]
async fn a_store_that_is_dropped_still_writes_what_it_was_given() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let slot = open_record(&store, 1).await;
    drop(store);
    slot.close(closed(id(1), AuditOutcome::Done)).await;
    let other = open(directory.path()).await;
    while outcomes(&other).await != ["done"] {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_closed_store_opens_no_record_and_leaves_none_open() {
    let directory = tempdir().unwrap();
    let store = open(directory.path()).await;
    let slot = open_record(&store, 1).await;
    store.close().await.unwrap();
    assert_eq!(error_of(&store).await, "the store is closed");
    slot.close(closed(id(1), AuditOutcome::Done)).await;
    assert_eq!(outcomes(&open(directory.path()).await).await, ["interrupted"]);
}

async fn error_of(store: &Store) -> String {
    cause(store.open(opened(2)).await.err().unwrap())
}

/// The cause of a record that could not be written.
fn cause(error: AuditError) -> String {
    match error {
        AuditError::Failed(cause) => cause.to_string(),
        AuditError::NotSuspended => panic!("{error}"),
    }
}
