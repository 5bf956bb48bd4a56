//! Requests for a person's approval, from the call that asks to the call that uses the answer.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{
    ApprovalId, ClientName, Digest, Domain, ManualClock, Principal, RuleId, Timestamp, ToolId,
    UserId,
};
use gatefold_dispatch::{
    ApprovalDecision, ApprovalKey, ApprovalState, Approvals as _, NewApproval,
};
use gatefold_store::{ApprovalFilter, ApprovalRecord, DigestKey, Store, StoreError};
use serde_json::value::RawValue;
use tempfile::{TempDir, tempdir};

use crate::fixture::{NOW, at};
use crate::processes::{child_directory, command};

const LASTS: Duration = Duration::from_mins(10);

struct World {
    directory: TempDir,
    clock: Arc<ManualClock>,
    store: Store,
}

impl World {
    async fn new() -> Self {
        let directory = tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(NOW));
        let store = Store::open(directory.path(), at(&clock)).await.unwrap();
        Self { directory, clock, store }
    }

    async fn request(&self, request: NewApproval) -> Result<ApprovalId, StoreError> {
        let failed = |error: gatefold_core::BoxError| *error.downcast().unwrap();
        self.store.request(request).await.map_err(failed)
    }

    /// What a call with these arguments finds.
    async fn found(&self, arguments: u8) -> String {
        let now = gatefold_core::Clock::now(&*self.clock);
        let found = self.store.find(&key(1, arguments), now).await.unwrap();
        found.map_or("nothing".to_owned(), |found| match found.state {
            ApprovalState::Pending => "pending".to_owned(),
            ApprovalState::Approved { by } => format!("approved by {by}"),
            ApprovalState::Denied { by, reason } => format!("denied by {by}: {reason:?}"),
        })
    }

    async fn consume(&self, id: &ApprovalId) -> bool {
        let now = gatefold_core::Clock::now(&*self.clock);
        self.store.consume(id, now).await.unwrap()
    }

    async fn every(&self) -> Vec<ApprovalRecord> {
        self.store.approvals(ApprovalFilter::Every, 10_000).await.unwrap()
    }

    async fn states(&self) -> Vec<String> {
        self.every().await.into_iter().map(|record| record.state).collect()
    }
}

fn key(principal: u8, arguments: u8) -> ApprovalKey {
    ApprovalKey {
        principal: Digest::new([principal; 32]),
        tool: ToolId::new("mail__send"),
        definition: Digest::new([7; 32]),
        arguments: Digest::new([arguments; 32]),
    }
}

fn new(arguments: u8) -> NewApproval {
    new_at(key(1, arguments), NOW)
}

fn new_at(key: ApprovalKey, now: Timestamp) -> NewApproval {
    let arguments = r#"{"to": "bob", "amount": 1.50}"#;
    NewApproval {
        tool: key.tool.clone(),
        key,
        principal: Arc::new(Principal::user(UserId::new("ann"))),
        client: Some(ClientName::new("claude-code")),
        domain: Domain::from_key("mail"),
        rule: RuleId::new("policy.ask:mail__*"),
        arguments: RawValue::from_string(arguments.to_owned()).unwrap(),
        arguments_bytes: arguments.len(),
        at: now,
        expires_at: now.plus(LASTS),
    }
}

/// The error of a decision that is expected to be refused.
fn refusal(decided: Result<ApprovalRecord, StoreError>) -> String {
    decided.err().expect("the decision is refused").to_string()
}

#[tokio::test]
async fn a_yes_serves_one_call() {
    let world = World::new().await;
    assert_eq!(world.found(1).await, "nothing");
    let id = world.request(new(1)).await.unwrap();
    assert_eq!(world.found(1).await, "pending");
    assert!(!world.consume(&id).await, "nobody has decided");
    world.store.approve(id.as_str(), "bob").await.unwrap();
    assert_eq!(world.found(1).await, "approved by bob");
    assert_eq!(world.found(2).await, "nothing", "other arguments need a yes of their own");
    assert!(world.consume(&id).await);
    assert!(!world.consume(&id).await);
    assert_eq!(world.found(1).await, "nothing");
    let again = world.request(new(1)).await.unwrap();
    assert_ne!(again, id);
    assert_eq!(world.states().await.iter().filter(|state| *state == "used").count(), 1);
}

#[tokio::test]
async fn a_person_is_shown_what_they_decide_about() {
    let world = World::new().await;
    let id = world.request(new(1)).await.unwrap();
    let shown = world.store.approvals(ApprovalFilter::Pending, 10).await.unwrap();
    let kept = DigestKey::new(&world.store.seal_key()).kept(&key(1, 1).arguments).to_string();
    let shown = serde_json::to_string_pretty(&shown[0]).unwrap();
    let shown = shown.replace(id.as_str(), "ID").replace(&kept, "KEYED");
    insta::assert_snapshot!(shown, @r#"
    {
      "id": "ID",
      "state": "pending",
      "tool": "mail__send",
      "domain": "mail",
      "rule": "policy.ask:mail__*",
      "user": "ann",
      "organisation": null,
      "agent": null,
      "client": "claude-code",
      "arguments": {"to": "bob", "amount": 1.50},
      "arguments_bytes": 29,
      "arguments_digest": "KEYED",
      "requested_at": 1795255020000,
      "expires_at": 1795255620000,
      "decided_by": null,
      "decided_at": null,
      "reason": null,
      "used_at": null
    }
    "#);
    world.store.approve(id.as_str(), "bob").await.unwrap();
    assert!(world.store.approvals(ApprovalFilter::Pending, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn asking_again_is_the_same_request_and_waits_anew() {
    let world = World::new().await;
    let id = world.request(new(1)).await.unwrap();
    let later = NOW.plus(LASTS / 2);
    let again = world.request(new_at(key(1, 1), later)).await.unwrap();
    assert_eq!(again, id);
    assert_eq!(world.every().await[0].expires_at, later.plus(LASTS));
    world.clock.advance(LASTS / 2);
    let decided = world.store.approve(id.as_str(), "bob").await.unwrap();
    assert_eq!(decided.expires_at, later.plus(LASTS), "asking twice makes no yes last longer");
    for other in
        [key(2, 1), key(1, 2), ApprovalKey { definition: Digest::new([8; 32]), ..key(1, 1) }]
    {
        assert_ne!(world.request(new_at(other, NOW)).await.unwrap(), id);
    }
}

#[tokio::test]
async fn a_decision_is_made_once_and_says_so() {
    let world = World::new().await;
    let id = world.request(new(1)).await.unwrap();
    let typed = id.as_str().replace('-', "").to_uppercase();
    world.store.deny(&typed, "bob", Some("not to bob")).await.unwrap();
    assert_eq!(world.found(1).await, "denied by bob: Some(\"not to bob\")");
    assert!(!world.consume(&id).await);
    let said = refusal(world.store.approve(id.as_str(), "eve").await).replace(id.as_str(), "ID");
    assert_eq!(said, "the request for approval `ID` was denied by bob before");
    let unknown = refusal(world.store.approve("0000-0000", "eve").await);
    assert_eq!(unknown, "there is no request for approval `0000-0000`");
    let illegal = refusal(world.store.approve(&"x; drop".repeat(500), "eve").await);
    assert!(illegal.len() < 600, "{illegal}");

    let used = world.request(new(2)).await.unwrap();
    world.store.approve(used.as_str(), "bob").await.unwrap();
    assert!(world.consume(&used).await);
    let said = refusal(world.store.deny(used.as_str(), "eve", None).await);
    assert!(said.contains("is used up"), "{said}");
}

#[tokio::test]
async fn what_has_expired_is_neither_decided_nor_used() {
    let world = World::new().await;
    let [waiting, approved] = [1, 2].map(new);
    let waiting = world.request(waiting).await.unwrap();
    let approved = world.request(approved).await.unwrap();
    world.clock.advance(LASTS.saturating_sub(Duration::from_secs(1)));
    world.store.approve(approved.as_str(), "bob").await.unwrap();
    world.clock.advance(Duration::from_secs(1));
    let said = refusal(world.store.approve(waiting.as_str(), "bob").await);
    assert!(said.ends_with("has expired"), "{said}");
    assert_eq!(world.found(1).await, "nothing");
    assert_eq!(world.found(2).await, "approved by bob", "an approved request lasts longer");
    world.clock.advance(LASTS);
    assert_eq!(world.found(2).await, "nothing");
    assert!(!world.consume(&approved).await);
    assert_eq!(world.states().await, ["expired", "expired"]);
}

#[tokio::test]
async fn what_is_over_keeps_no_arguments_and_goes_after_a_day() {
    let world = World::new().await;
    let used = world.request(new(1)).await.unwrap();
    world.store.approve(used.as_str(), "bob").await.unwrap();
    assert!(world.consume(&used).await);
    world.request(new(2)).await.unwrap();
    assert_eq!(world.every().await.iter().filter(|one| one.arguments.is_some()).count(), 1);
    world.clock.advance(LASTS * 3);
    world.store.prune().await.unwrap();
    assert!(world.every().await.iter().all(|one| one.arguments.is_none()));
    assert_eq!(world.every().await.len(), 2);
    world.clock.advance(Duration::from_hours(24));
    world.store.prune().await.unwrap();
    assert!(world.every().await.is_empty());
}

#[tokio::test]
async fn requests_are_bounded_for_one_and_for_all() {
    let world = World::new().await;
    for principal in 0..10 {
        for arguments in 0..100 {
            world.request(new_at(key(principal, arguments), NOW)).await.unwrap();
        }
        let refused = world.request(new_at(key(principal, 100), NOW)).await.unwrap_err();
        assert!(refused.to_string().ends_with("limit: 100"), "{refused}");
        world.request(new_at(key(principal, 0), NOW)).await.expect("it is kept already");
    }
    let refused = world.request(new_at(key(10, 0), NOW)).await.unwrap_err().to_string();
    assert!(refused.ends_with("limit: 1000"), "{refused}");

    // Expired requests make room, and their number is limited too.
    world.clock.advance(LASTS);
    let now = gatefold_core::Clock::now(&*world.clock);
    for arguments in 0..50 {
        world.request(new_at(key(20, arguments), now)).await.unwrap();
    }
    world.clock.advance(LASTS);
    world.store.prune().await.unwrap();
    assert_eq!(world.every().await.len(), 1000);
}

#[tokio::test]
async fn very_large_arguments_are_kept_in_part() {
    let world = World::new().await;
    let large = format!("{{\"text\": \"{}\"}}", "é".repeat(100_000));
    let bytes = large.len();
    let arguments = RawValue::from_string(large).unwrap();
    world.request(NewApproval { arguments, arguments_bytes: bytes, ..new(1) }).await.unwrap();
    let kept = &world.every().await[0];
    let arguments = kept.arguments.as_ref().unwrap().get();
    assert!(arguments.len() < 70_000 && arguments.ends_with("...\""), "{}", arguments.len());
    assert_eq!(kept.arguments_bytes, bytes as u64);
}

#[tokio::test]
async fn of_several_processes_one_uses_a_yes() {
    if let Some(directory) = child_directory() {
        let store = open_now(&directory).await;
        let found = store.find(&key(1, 1), NOW).await.unwrap();
        let used = match found {
            Some(found) => store.consume(&found.id, NOW).await.unwrap(),
            None => false,
        };
        store.close().await.unwrap();
        std::process::exit(if used { 10 } else { 0 });
    }
    let world = World::new().await;
    let id = world.request(new(1)).await.unwrap();
    world.store.approve(id.as_str(), "bob").await.unwrap();
    let name = "approvals::of_several_processes_one_uses_a_yes";
    let children: Vec<_> =
        (0..4).map(|_| command(name, world.directory.path()).spawn().unwrap()).collect();
    let codes = children.into_iter().map(|mut child| child.wait().unwrap().code());
    let mut codes: Vec<_> = codes.collect();
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(0), Some(0), Some(10)]);
    assert_eq!(world.states().await, ["used"]);
}

async fn open_now(directory: &Path) -> Store {
    Store::open(directory, at(&Arc::new(ManualClock::at(NOW)))).await.unwrap()
}

#[tokio::test]
async fn whoever_waits_hears_of_a_decision_by_another_process() {
    let world = World::new().await;
    let elsewhere = Store::open(world.directory.path(), at(&world.clock)).await.unwrap();
    let yes = world.request(new(1)).await.unwrap();
    let no = world.request(new(2)).await.unwrap();
    let waiting: Vec<_> = elsewhere.list(ApprovalFilter::Pending, 10).await.unwrap();
    assert_eq!(waiting.len(), 2);
    let early = tokio::time::timeout(Duration::from_millis(50), world.store.wait(&yes)).await;
    assert!(early.is_err(), "nobody has decided yet");
    let decide = async {
        let approve = ApprovalDecision::Approve { by: "olga".into() };
        let decided = elsewhere.decide(&yes.as_str().to_uppercase(), approve).await.unwrap();
        assert_eq!((&*decided.state, decided.decided_by.as_deref()), ("approved", Some("olga")));
        let reason = Some("not on Sundays".to_owned());
        let deny = ApprovalDecision::Deny { by: "olga".into(), reason };
        elsewhere.decide(no.as_str(), deny.clone()).await.unwrap();
        let again = elsewhere.decide(no.as_str(), deny).await;
        assert!(again.err().unwrap().to_string().contains("olga"), "it is decided once");
    };
    let heard = async |id| world.store.wait(id).await.unwrap().map(|standing| standing.state);
    let (approved, denied, ()) = futures::future::join3(heard(&yes), heard(&no), decide).await;
    assert_eq!(approved, Some(ApprovalState::Approved { by: "olga".into() }));
    let reason = Some("not on Sundays".to_owned());
    assert_eq!(denied, Some(ApprovalState::Denied { by: "olga".into(), reason }));
    assert!(world.consume(&yes).await);
    assert_eq!(heard(&yes).await, None, "it is used");
    world.clock.advance(2 * LASTS);
    assert_eq!(heard(&no).await, None, "it has expired");
}
