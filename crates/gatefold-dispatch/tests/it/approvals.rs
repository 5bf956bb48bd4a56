//! Calls that need a person's approval: asked at their client, or elsewhere.

use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, join_all};
use gatefold_core::{
    ApprovalId, BoxError, CallError, ClientCredential, Digest, Domain, Narrowing, Outcome,
    Principal, Timestamp, TokenGrant, TokenId,
};
use gatefold_dispatch::{
    ApprovalKey, ApprovalState, Approvals, Caller, DecidedBy, NewApproval, StandingApproval,
};
use gatefold_policy::{Effect, PrincipalFilter, Rule};

use crate::clients::{ClientReaction, FORMS, live};
use crate::source::FakeSource;
use crate::world::{SECOND, World, ann, bob, done, refused, retrying, rule, suspended};

/// Keeps requests in memory.
#[derive(Default)]
pub(crate) struct MemoryApprovals(Mutex<Vec<KeptApproval>>);

struct KeptApproval {
    request: NewApproval,
    standing: StandingApproval,
    is_used: bool,
}

impl MemoryApprovals {
    fn requests(&self) -> Vec<NewApproval> {
        self.0.lock().unwrap().iter().map(|kept| kept.request.clone()).collect()
    }

    /// Decides about the last request, until the given time.
    fn decide(&self, state: ApprovalState, until: Timestamp) {
        let mut all = self.0.lock().unwrap();
        let last = &mut all.last_mut().expect("there is a request").standing;
        (last.state, last.expires_at) = (state, until);
    }
}

impl Approvals for MemoryApprovals {
    fn request(&self, request: NewApproval) -> BoxFuture<'_, Result<ApprovalId, BoxError>> {
        Box::pin(async move {
            let mut all = self.0.lock().unwrap();
            let is_open = |kept: &&KeptApproval| {
                kept.request.key == request.key && kept.standing.state == ApprovalState::Pending
            };
            if let Some(open) = all.iter().find(is_open) {
                return Ok(open.standing.id.clone());
            }
            let id = ApprovalId::new(format!("a{}", all.len() + 1));
            let (state, expires_at) = (ApprovalState::Pending, request.expires_at);
            let standing = StandingApproval { id: id.clone(), state, expires_at };
            all.push(KeptApproval { request, standing, is_used: false });
            Ok(id)
        })
    }

    fn find<'a>(
        &'a self,
        key: &'a ApprovalKey,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>> {
        Box::pin(async move {
            let all = self.0.lock().unwrap();
            let stands = |kept: &&KeptApproval| {
                kept.request.key == *key && !kept.is_used && kept.standing.expires_at > now
            };
            Ok(all.iter().rfind(stands).map(|kept| kept.standing.clone()))
        })
    }

    fn consume<'a>(
        &'a self,
        id: &'a ApprovalId,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<bool, BoxError>> {
        Box::pin(async move {
            // Another call that found the same approval may be faster.
            tokio::task::yield_now().await;
            let mut all = self.0.lock().unwrap();
            let kept = all.iter_mut().find(|kept| kept.standing.id == *id).expect("it is kept");
            Ok(!std::mem::replace(&mut kept.is_used, true))
        })
    }
}

const ARGUMENTS: &str = r#"{"to":1}"#;
const YES: &str = r#"{"action":"accept","content":{"approve":true}}"#;

fn asking() -> (Arc<FakeSource>, World) {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    world.install(&[&mail], &[rule(Effect::Ask, "mail", "*")]);
    (mail, world)
}

fn approved() -> ApprovalState {
    ApprovalState::Approved { by: "olga".into() }
}

fn decided_by(world: &World) -> Option<String> {
    world.log.last().opened.decided_by.map(|by| by.as_str().to_owned())
}

/// A call through a client that cannot be asked anything.
async fn call(world: &World, who: &Principal, arguments: &str) -> Result<Outcome, CallError> {
    world.call_by(who, "mail__echo", arguments, Caller::silent()).await
}

fn needs_approval(id: &str) -> String {
    format!(
        "`mail__echo` needs a person's approval, which this client cannot ask for; tell the person to \
         run `gatefold approvals approve {id}` in a terminal, or `gatefold approvals deny {id}` to \
         refuse; then make the same call again, within 24 h"
    )
}

#[tokio::test(start_paused = true)]
async fn a_client_that_can_be_asked_at_once_is_asked_about_the_tool_itself() {
    let (mail, world) = asking();
    let (caller, client) = live(FORMS, ClientReaction::Answer(YES));
    done(world.call_by(&ann(), "echo", ARGUMENTS, caller).await);
    let [asked] = client.asked().try_into().unwrap();
    assert!(asked.starts_with("elicitation/create "), "{asked}");
    assert!(asked.contains("Allow one call of `mail__echo` of `mail`?"), "{asked}");
    assert!(asked.contains(r#"Arguments: {\"to\":1}"#), "{asked}");
    assert_eq!((mail.calls(), world.log.ended()), (1, vec!["suspended".into(), "done".into()]));
    assert_eq!(decided_by(&world).as_deref(), Some("client"));
    let ids: Vec<_> = world.log.records().iter().map(|record| record.opened.id).collect();
    assert_eq!(ids[0], ids[1]);
    assert!(world.approvals.requests().is_empty(), "nobody else is asked");
}

#[tokio::test(start_paused = true)]
async fn a_no_is_a_refusal_that_says_so() {
    for (says, expected) in [
        (
            ClientReaction::Answer(r#"{"action":"decline"}"#),
            "`mail__echo` was not approved: the person who was asked said no",
        ),
        (
            ClientReaction::Answer(r#"{"action":"accept","content":{"approve":false}}"#),
            "`mail__echo` was not approved: the person who was asked said no",
        ),
        (
            ClientReaction::Answer(r#"{"action":"cancel"}"#),
            "`mail__echo` was not approved: the person who was asked closed the question without \
             an answer",
        ),
        (
            ClientReaction::Gone,
            "`echo` sent `elicitation/create` to the client, and the client is gone",
        ),
        (
            ClientReaction::Nothing,
            "`echo` sent `elicitation/create` to the client, and the client did not answer in time",
        ),
    ] {
        let (mail, world) = asking();
        let (caller, _) = live(FORMS, says);
        let result = world.call_by(&ann(), "echo", ARGUMENTS, caller).await;
        assert_eq!(refused(result), expected);
        assert_eq!(mail.calls(), 0, "{expected}");
        assert!(world.log.last().ended().starts_with("failed: "), "{expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_whose_requests_stand_alone_comes_back_with_its_yes_once() {
    let (mail, world) = asking();
    let ann_asks = world.call_by(&ann(), "mail__echo", ARGUMENTS, retrying(FORMS)).await;
    let asked = suspended(ann_asks);
    assert!(asked.questions.get().contains(r#""approval":{"method":"elicitation/create""#));
    let state = asked.state.unwrap();
    let answer = async |who: Principal, arguments: &str, answers: &str| {
        let resume = (&*state, answers);
        world.answer(&who, "mail__echo", arguments, resume, retrying(FORMS)).await
    };
    let yes = format!(r#"{{"approval":{YES}}}"#);
    for (refusal, why) in [
        (answer(bob(), ARGUMENTS, &yes).await, "it belongs to another caller"),
        (answer(ann(), "{}", &yes).await, "its arguments have changed since"),
    ] {
        assert_eq!(refused(refusal), format!("the answer cannot be resumed: {why}"));
    }
    suspended(answer(ann(), ARGUMENTS, "null").await);
    assert_eq!(mail.calls(), 0, "asking twice is no yes");
    assert_eq!(done(answer(ann(), ARGUMENTS, &yes).await), ARGUMENTS);
    assert_eq!(decided_by(&world).as_deref(), Some("client"));
    let again = refused(answer(ann(), ARGUMENTS, &yes).await);
    assert_eq!(again, "the answer cannot be resumed: it was answered already");
    assert_eq!(mail.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_is_told_how_a_person_can_approve() {
    let (mail, world) = asking();
    assert_eq!(refused(call(&world, &ann(), ARGUMENTS).await), needs_approval("a1"));
    assert_eq!(refused(call(&world, &ann(), ARGUMENTS).await), needs_approval("a1"));
    assert_eq!(world.log.last().ended(), "failed: approval");
    let [request] = world.approvals.requests().try_into().unwrap();
    let shown = (request.tool.as_str(), request.rule.as_str(), request.arguments.get());
    assert_eq!(shown, ("mail__echo", "ask-*", ARGUMENTS));

    let later = request.at.plus(SECOND);
    world.approvals.decide(approved(), later);
    assert_eq!(done(call(&world, &ann(), ARGUMENTS).await), ARGUMENTS);
    assert_eq!(decided_by(&world).as_deref(), Some("olga"));
    let again = refused(call(&world, &ann(), ARGUMENTS).await);
    assert_eq!((again, mail.calls()), (needs_approval("a2"), 1), "one yes serves one call");
}

#[tokio::test(start_paused = true)]
async fn a_yes_serves_one_of_many_calls_at_once() {
    let (mail, world) = asking();
    drop(call(&world, &ann(), ARGUMENTS).await);
    world.approvals.decide(approved(), crate::world::START.plus(SECOND));
    let ann = ann();
    let outcomes = join_all((0..20).map(|_| call(&world, &ann, ARGUMENTS))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert_eq!(mail.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_yes_is_for_one_principal_definition_and_arguments_and_expires() {
    let (mail, world) = asking();
    let yes = || {
        world.approvals.decide(approved(), crate::world::START.plus(SECOND));
    };
    drop(call(&world, &ann(), ARGUMENTS).await);
    yes();
    assert_eq!(refused(call(&world, &bob(), ARGUMENTS).await), needs_approval("a2"));
    assert_eq!(refused(call(&world, &ann(), "{}").await), needs_approval("a3"));
    mail.redefines(&["echo"]);
    world.install(&[&mail], &[rule(Effect::Ask, "mail", "*")]);
    assert_eq!(refused(call(&world, &ann(), ARGUMENTS).await), needs_approval("a4"));
    yes();
    world.clock.advance(SECOND);
    assert_eq!(refused(call(&world, &ann(), ARGUMENTS).await), needs_approval("a5"));
    assert_eq!(mail.calls(), 0);
}

/// Ann with another token each time, which leaves what matches a pattern.
fn with_token(id: &str, only: &str) -> Principal {
    let narrowing = Narrowing::to([only]);
    let token = TokenGrant { id: TokenId::new(id), name: id.into(), narrowing };
    Principal { token: Some(Arc::new(token)), ..ann() }
}

#[tokio::test(start_paused = true)]
async fn an_approval_outlives_the_token_that_asked_as_far_as_the_next_one_reaches() {
    let (mail, world) = asking();
    let first = with_token("first", "mail__*");
    assert_eq!(refused(call(&world, &first, ARGUMENTS).await), needs_approval("a1"));
    world.approvals.decide(approved(), crate::world::START.plus(SECOND));
    let narrow = with_token("narrow", "mail__other");
    assert_eq!(refused(call(&world, &narrow, ARGUMENTS).await), "unknown tool `mail__echo`");
    let user = ann().user;
    let sent = ClientCredential { user, digest: Digest::new([5; 32]), value: None };
    let sent = [(Domain::parse("mail").unwrap(), sent)].into_iter().collect();
    let elsewhere = Principal { sent, ..first.clone() };
    assert_eq!(refused(call(&world, &elsewhere, ARGUMENTS).await), needs_approval("a2"));
    let next = with_token("next", "mail__*");
    assert_eq!(done(call(&world, &next, ARGUMENTS).await), ARGUMENTS);
    assert_eq!((mail.calls(), decided_by(&world).as_deref()), (1, Some("olga")));
    assert_eq!(refused(call(&world, &first, ARGUMENTS).await), needs_approval("a3"));
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_longer_than_a_suspended_call_and_its_debug_has_no_arguments() {
    let (_, world) = asking();
    drop(call(&world, &ann(), ARGUMENTS).await);
    let [request] = world.approvals.requests().try_into().unwrap();
    assert_eq!(request.expires_at, request.at.plus(world.limits.approval));
    assert!(world.limits.approval > world.limits.suspension);
    assert!(request.arguments.get().contains("to"), "{}", request.arguments);
    let debug = format!("{request:?}");
    assert!(debug.contains("mail__echo") && !debug.contains(ARGUMENTS), "{debug}");
}

#[tokio::test(start_paused = true)]
async fn a_no_from_elsewhere_is_given_with_its_reason() {
    let (mail, world) = asking();
    let deny = |reason: Option<&str>| {
        let state = ApprovalState::Denied { by: "olga".into(), reason: reason.map(Into::into) };
        world.approvals.decide(state, crate::world::START.plus(SECOND));
    };
    for (reason, text) in
        [(Some("not on Sundays"), "not on Sundays"), (None, "no reason was given")]
    {
        drop(call(&world, &ann(), ARGUMENTS).await);
        deny(reason);
        let no = refused(call(&world, &ann(), ARGUMENTS).await);
        assert_eq!(no, format!("`mail__echo` was not approved: {text}"));
        assert_eq!(decided_by(&world).as_deref(), Some("olga"));
    }
    // Even a client that could be asked is not, once somebody has denied the call.
    let (caller, client) = live(FORMS, ClientReaction::Answer(YES));
    refused(world.call_by(&ann(), "mail__echo", ARGUMENTS, caller).await);
    assert_eq!((client.asked().len(), mail.calls()), (0, 0));
    let record = world.log.last().opened;
    assert_eq!(record.decided_by, Some(DecidedBy::Person("olga".into())));
    assert_eq!(record.rule.unwrap().as_str(), "ask-*");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_approved_may_pause_and_needs_no_second_yes() {
    let (mail, world) = asking();
    let silent = Caller::silent();
    drop(world.call_by(&ann(), "mail__wait", "{}", silent).await);
    world.approvals.decide(approved(), crate::world::START.plus(SECOND));
    let state = suspended(world.call_as(&ann(), "mail__wait", "{}").await).state.unwrap();
    done(world.resume(&ann(), "mail__wait", "{}", &state).await);
    assert_eq!((mail.calls(), decided_by(&world).as_deref()), (2, Some("olga")));
}

#[tokio::test(start_paused = true)]
async fn a_hidden_tool_is_not_asked_about() {
    let (mail, world) = asking();
    let hidden =
        Rule { who: PrincipalFilter::user(ann().user), ..rule(Effect::Deny, "mail", "echo") };
    world.install(&[&mail], &[rule(Effect::Ask, "mail", "*"), hidden]);
    let unknown = refused(call(&world, &ann(), ARGUMENTS).await);
    assert_eq!(unknown, "unknown tool `mail__echo`");
    assert!(world.approvals.requests().is_empty());
}
