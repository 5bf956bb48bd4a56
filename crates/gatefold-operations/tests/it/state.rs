//! What needs only a state directory.

use std::sync::Arc;

use gatefold_core::{AgentId, Principal, Timestamp, UserId};
use gatefold_dispatch::{
    DataOwner, Journal as _, NewRun, NewRunEvent, NewThread, RunId, RunKind, ThreadId, Threads as _,
};
use gatefold_operations::{
    ApprovalFilter, Asker, CallAnswer, CallFilter, DecideApproval, Fault, ListCalls,
    NewAccessToken, OperationError, PastQueryFilter, REASON_BYTES, RevokedAccess, StateOperations,
    Verdict,
};
use gatefold_store::{Store, StoreOptions};
use serde_json::json;
use serde_json::value::to_raw_value;
use tempfile::TempDir;

use crate::gateway::{TestApp, call};

async fn empty() -> (StateOperations, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    (StateOperations::open(&state, Asker::Operator).await.unwrap(), folder)
}

fn of_ann() -> Asker {
    Asker::Principal(Arc::new(Principal::user(UserId::new("ann"))))
}

/// A conversation of somebody in which a model once said "Done.".
async fn begin_thread(state_dir: &std::path::Path, who: &Principal, title: &str) {
    let store = Store::open(state_dir, StoreOptions::keeping_all()).await.unwrap();
    let owner = DataOwner::lasting(who);
    let id = RunId::new(Timestamp::from_millis(1_795_255_020_000), title.len() as u128);
    let thread = ThreadId::of(id);
    let new = NewThread { id: thread, owner, title: title.to_owned(), agent: None };
    store.begin_thread(new).await.unwrap();
    let (kind, subject) = (RunKind::Agent, String::new());
    let run = NewRun { id, owner, kind, subject, parent: None, thread: Some(thread) };
    store.begin(run).await.unwrap();
    let events = [
        ("agent_begin", json!({ "said": [{ "text": title }], "limits": {} })),
        (
            "agent",
            json!({ "answered": { "answer": {
            "message": { "origin": "o", "parts": [{ "text": { "text": "Done.", "raw": null } }], "extra": {} },
            "stop": "done",
            "usage": {},
        } } }),
        ),
    ];
    let events =
        events.map(|(kind, json)| NewRunEvent { kind, json: to_raw_value(&json).unwrap() });
    store.append(id, 0, events.into()).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_conversation_is_its_persons_own() {
    let folder = tempfile::tempdir().unwrap();
    let (local, ann) = (Principal::local(), Principal::user(UserId::new("ann")));
    begin_thread(folder.path(), &local, "Orders").await;
    begin_thread(folder.path(), &ann, "Refunds").await;
    let state = StateOperations::open(folder.path(), Asker::Operator).await.unwrap();
    let [orders] = state.threads("").await.unwrap().try_into().unwrap();
    assert_eq!(
        (orders.title.as_str(), state.threads("refunds").await.unwrap().len()),
        ("Orders", 0)
    );
    let digits = &orders.id[24..];
    let (_, history) = state.conversation(digits).await.unwrap();
    let turns = json!(history.unwrap());
    assert_eq!(turns[0]["user"][0]["text"], "Orders");
    assert_eq!(turns[1]["round"]["said"]["parts"][0]["text"]["text"], "Done.");
    assert_eq!(state.rename_thread(digits, " May ").await.unwrap().title, "May");
    assert_eq!(kind(&state.rename_thread(digits, " ").await.unwrap_err()), "invalid");
    state.close().await.unwrap();

    let state = StateOperations::open(folder.path(), of_ann()).await.unwrap();
    assert_eq!(kind(&state.thread(&orders.id).await.unwrap_err()), "not found");
    assert_eq!(kind(&state.delete_thread(digits).await.unwrap_err()), "not found");
    let [refunds] = state.threads("").await.unwrap().try_into().unwrap();
    assert_eq!(state.delete_thread(&refunds.id).await.unwrap(), refunds);
    assert_eq!(state.threads("").await.unwrap(), []);
    state.close().await.unwrap();
}

fn latest(limit: u32) -> ListCalls {
    ListCalls { limit, filter: CallFilter::default() }
}

fn kind(error: &OperationError) -> &'static str {
    match error {
        OperationError::NotFound(_) => "not found",
        OperationError::Refused(_) => "refused",
        OperationError::Invalid(_) => "invalid",
        OperationError::Unavailable(_) => "unavailable",
        OperationError::Failed(_) => "failed",
    }
}

#[tokio::test]
async fn a_call_is_listed_shown_and_followed() {
    let gateway = TestApp::build().await;
    let now = json!({ "action": "now" });
    gateway.call("own__datetime", &now).await;
    gateway.call("recall", &json!({ "action": "list" })).await;
    let state = gateway.state();
    let all = state.calls(&latest(10)).await.unwrap();
    let tools: Vec<_> = all.iter().map(|call| call.tool.as_deref().unwrap()).collect();
    assert_eq!(tools, ["own__datetime", "own__recall"]);
    assert_eq!(state.calls(&latest(1)).await.unwrap(), all[1..]);
    let last_digits = &all[0].id[all[0].id.len() - 8..];
    assert_eq!(state.call(last_digits).await.unwrap(), all[0]);
    for unknown in ["ffffffff", "12", "not-hexadecimal"] {
        let error = state.call(unknown).await.unwrap_err();
        assert_eq!(kind(&error), "not found", "{error}");
    }

    let filter = CallFilter { tool: Some("own__date*".to_owned()), ..CallFilter::default() };
    let (known, mut calls) = state.follow_calls(&ListCalls { limit: 1, filter }).await.unwrap();
    assert_eq!(known, all[..1]);
    gateway.call("recall", &json!({ "action": "list" })).await;
    gateway.call("own__datetime", &now).await;
    let mut further = Vec::new();
    while further.is_empty() {
        further = calls.next().await.unwrap();
    }
    assert_eq!(further.len(), 1);
    assert_eq!(further[0].tool.as_deref(), Some("own__datetime"));
    assert_eq!(state.discoveries(10).await.unwrap(), []);
    gateway.app.close().await;
}

#[tokio::test]
async fn a_principal_sees_their_own_calls_and_nothing_of_others() {
    let gateway = TestApp::build().await;
    let now = json!({ "action": "now" });
    gateway.call("own__datetime", &now).await;
    call(&gateway.asked_by(of_ann()), "own__datetime", &now).await;
    let (all, state) = (gateway.state(), StateOperations::of(&gateway.app, of_ann()));
    let all = all.calls(&latest(10)).await.unwrap();
    let own = state.calls(&latest(10)).await.unwrap();
    assert_eq!(own.iter().map(|call| call.user.as_str()).collect::<Vec<_>>(), ["ann"]);
    assert_eq!(own, all[1..]);
    assert_eq!(state.call(&own[0].id).await.unwrap(), own[0]);
    // The same as for a call that is not there.
    let others = state.call(&all[0].id).await.unwrap_err();
    assert_eq!(kind(&others), "not found");
    let (known, _) = state.follow_calls(&latest(10)).await.unwrap();
    assert_eq!(known, own);

    let decision = DecideApproval {
        id: "0000-0000".to_owned(),
        verdict: Verdict::Approve,
        by: "ann".to_owned(),
    };
    let user = UserId::new("ann");
    for refused in [
        state.discoveries(1).await.err(),
        state.approvals(ApprovalFilter::Every).await.err(),
        state.approval("0000-0000").await.err(),
        state.decide(&decision).await.err(),
        state.access_tokens().await.err(),
        state.create_access_token(token("laptop")).await.err(),
        state.revoke_access("laptop").await.err(),
        state.people().await.err(),
        state.create_password_link(user.clone(), "https://tools.example").await.err(),
        state.remove_person(&user).await.err(),
        state.past_queries(&PastQueryFilter::Every).await.err(),
        state.forget_past_queries(&PastQueryFilter::Every).await.err(),
    ] {
        assert_eq!(refused.as_ref().map(kind), Some("refused"), "{refused:?}");
    }
    gateway.app.close().await;
}

#[tokio::test]
async fn an_approval_is_listed_and_decided_once() {
    let gateway = TestApp::build().await;
    let note = json!({ "action": "add", "text": "kept" });
    let refused = gateway.call("own__remember", &note).await;
    assert!(matches!(refused, CallAnswer::Refused { .. }), "{refused:?}");
    let state = gateway.state();
    let waiting = state.approvals(ApprovalFilter::Pending).await.unwrap();
    let [asked] = waiting.as_slice() else { panic!("{} wait", waiting.len()) };
    assert_eq!(asked.tool, "own__remember");
    assert_eq!(state.approval(&asked.id).await.unwrap().id, asked.id);

    let decide = async |id: &str, verdict: Verdict| {
        let decision = DecideApproval { id: id.to_owned(), verdict, by: "ann".to_owned() };
        state.decide(&decision).await
    };
    let deny = |reason: String| Verdict::Deny { reason: Some(reason) };
    let unknown = decide("0000-0000", Verdict::Approve).await.err();
    assert_eq!(unknown.as_ref().map(kind), Some("not found"));
    for wrong in [String::new(), "x".repeat(REASON_BYTES + 1)] {
        let error = decide(&asked.id, deny(wrong)).await.err();
        assert_eq!(error.as_ref().map(kind), Some("invalid"));
    }
    let approved = decide(&asked.id, Verdict::Approve).await.unwrap();
    assert_eq!(
        (approved.state.as_str(), approved.decided_by.as_deref()),
        ("approved", Some("ann"))
    );
    let late = decide(&asked.id, deny("no".to_owned())).await.err();
    assert_eq!(late.as_ref().map(kind), Some("refused"));
    let done = gateway.call("own__remember", &note).await;
    assert!(matches!(done, CallAnswer::Done { is_error: false, .. }), "{done:?}");
    assert!(state.approvals(ApprovalFilter::Pending).await.unwrap().is_empty());
    let [used] = state.approvals(ApprovalFilter::Every).await.unwrap().try_into().ok().unwrap();
    assert_eq!(used.state, "used");
    gateway.app.close().await;
}

fn token(name: &str) -> NewAccessToken {
    NewAccessToken {
        name: name.to_owned(),
        user: UserId::new("ann"),
        agent: Some(AgentId::new("sales")),
        tools: vec!["own__*".to_owned()],
        read_only: true,
        expires_at: Some(Timestamp::from_millis(4_000_000_000_000)),
    }
}

#[tokio::test]
async fn a_token_is_created_listed_and_revoked() {
    let (state, _folder) = empty().await;
    let created = state.create_access_token(token("laptop")).await.unwrap();
    let record = created.access_token.clone();
    assert!(serde_json::to_string(&created).unwrap().contains(created.token.expose()));
    let listed = state.access_tokens().await.unwrap();
    assert_eq!(listed.access_tokens, std::slice::from_ref(&record));
    assert!(!serde_json::to_string(&listed).unwrap().contains(created.token.expose()));
    for (name, expected) in [("laptop", "refused"), (" padded", "refused")] {
        let error = state.create_access_token(token(name)).await.unwrap_err();
        assert_eq!(kind(&error), expected, "{error}");
    }
    let revoked = state.revoke_access("laptop").await.unwrap();
    assert!(matches!(&revoked, RevokedAccess::Token(gone) if *gone == record), "{revoked:?}");
    let error = state.revoke_access("laptop").await.unwrap_err();
    assert_eq!(kind(&error), "not found", "{error}");
    state.close().await.unwrap();
}

#[tokio::test]
async fn a_person_is_invited_listed_and_removed() {
    let (state, _folder) = empty().await;
    assert_eq!(state.people().await.unwrap(), []);
    let ann = UserId::new("ann");
    let made = state.create_password_link(ann.clone(), "https://tools.example").await.unwrap();
    assert!(made.link.starts_with("https://tools.example/oauth/password?link="), "{made:?}");
    let people = state.people().await.unwrap();
    assert_eq!((people.len(), people[0].link_expires_at), (1, Some(made.expires_at)));
    state.remove_person(&ann).await.unwrap();
    let error = state.remove_person(&ann).await.unwrap_err();
    assert_eq!(kind(&error), "not found", "{error}");
    state.close().await.unwrap();
}

#[tokio::test]
async fn where_nothing_is_recorded_every_list_is_empty() {
    let (state, _folder) = empty().await;
    assert_eq!(state.calls(&latest(10)).await.unwrap(), []);
    assert!(state.approvals(ApprovalFilter::Every).await.unwrap().is_empty());
    assert!(state.past_queries(&PastQueryFilter::Missed).await.unwrap().is_empty());
    let forgotten = state.forget_past_queries(&PastQueryFilter::Tool("x".to_owned())).await;
    assert_eq!(forgotten.unwrap(), 0);
    state.close().await.unwrap();
}

#[tokio::test]
async fn a_state_directory_that_cannot_be_used_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    std::fs::write(&file, "a file").unwrap();
    let error = StateOperations::open(&file, Asker::Operator).await.err().unwrap();
    assert_eq!(kind(&error), "unavailable", "{error}");
}

#[test]
fn an_error_keeps_its_help_and_its_causes_as_json() {
    let cause = Fault::new("the disk is full");
    let fault = Fault { because: Some(Box::new(cause)), ..Fault::new("it failed") };
    let error = OperationError::Failed(fault.with_help("free some"));
    let read: OperationError =
        serde_json::from_str(&serde_json::to_string(&error).unwrap()).unwrap();
    assert_eq!(read, error);
    assert_eq!(read.to_string(), "it failed\n  help: free some");
    let source = std::error::Error::source(&read).unwrap();
    assert_eq!(source.to_string(), "the disk is full");
}
