//! One source that offers each user something different.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{
    GroupRules, KindName, Manifest, ManifestBuilder, Scope, SearchMode, Snapshot, ToolSpec, search,
};
use gatefold_core::{
    AgentId, BoxError, CallError, Digest, Domain, ManualClock, Payload, Principal, Timestamp,
    ToolName, UpstreamIdentity, UserId,
};
use gatefold_dispatch::{
    AdmittedCall, BreakerState, CallContext, Caller, IdentityScope, Limits, Manifests, PinnedTurn,
    Setup, Source as _, SourceSetup, StatelessAdapter, StatelessSettings, StatelessSource,
};
use gatefold_policy::Policy;

use crate::source::{FakeSource, raw};
use crate::world::{World, ann, bob, done, operation, until};

/// A search of everything.
const SCOPE: Scope<'_> = Scope { domain: None, group: None };

/// Offers each user what the test set for them, and others nothing.
#[derive(Default)]
struct PersonalSource {
    tools: Mutex<BTreeMap<&'static str, Vec<&'static str>>>,
    /// The names of everybody it was asked about.
    asked: Mutex<Vec<String>>,
    /// Whose calls fail.
    failing: Mutex<BTreeSet<&'static str>>,
}

impl StatelessSource for PersonalSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        async { Err("it offers nothing to nobody in particular".into()) }.boxed()
    }

    fn describe_to<'a>(
        &'a self,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<Manifest, BoxError>> {
        async move {
            let UpstreamIdentity::User(user) = identity else { return Err("nobody asks".into()) };
            self.asked.lock().unwrap().push(user.to_string());
            let tools = self.tools.lock().unwrap().get(user.as_str()).cloned().unwrap_or_default();
            let tools = tools.into_iter().map(|name| ToolSpec::new(name).description("Does it."));
            let manifest = Manifest::builder(Timestamp::from_millis(0));
            Ok(tools.fold(manifest, ManifestBuilder::tool).build())
        }
        .boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        let UpstreamIdentity::User(user) = context.identity else { panic!("a user calls") };
        if self.failing.lock().unwrap().contains(user.as_str()) {
            let domain = call.target().domain.clone();
            let reason = "it refuses this account".to_owned();
            return async { Err(CallError::Unavailable { domain, reason, source: None }) }.boxed();
        }
        let json = raw(&format!("\"{} for {user}\"", call.target().name));
        async { Ok(Payload { json, is_error: false }) }.boxed()
    }
}

/// Keeps nothing.
struct NoKeeper;

impl Manifests for NoKeeper {
    fn keep(&self, _: Domain, _: Digest, _: Arc<Manifest>) -> BoxFuture<'_, ()> {
        panic!("what one identity is offered is not kept for all")
    }
}

struct Bench {
    world: World,
    personal: Arc<PersonalSource>,
    source: Arc<StatelessAdapter<PersonalSource>>,
}

impl Bench {
    /// A source `own` for two users, next to one that is the same for everybody.
    fn new() -> Self {
        let personal = Arc::<PersonalSource>::default();
        personal.offer("ann", &["book_flight", "read"]);
        personal.offer("bob", &["book_hotel", "read"]);
        let settings = StatelessSettings {
            domain: Domain::parse("own").unwrap(),
            config_digest: Digest::new([1; 32]),
            describe_deadline: Duration::from_secs(5),
            known: None,
        };
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        let source = StatelessAdapter::new(personal.clone(), settings, Arc::new(NoKeeper), clock);
        let world = World::new(&[]);
        let setup = |source, identity| SourceSetup {
            source,
            kind: KindName::new("plain"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            identity,
            call_deadline: None,
        };
        world.dispatcher.install(Setup {
            policy: Policy::default(),
            limits: Limits::default(),
            learns: false,
            encoder: None,
            texts: None,
            loop_sources: Vec::new(),
            sources: vec![
                setup(source.clone(), IdentityScope::PerUser),
                setup(FakeSource::with_tools("mail", &["send"]), IdentityScope::Shared),
            ],
        });
        Self { world, personal, source }
    }

    /// The same, once both users were seen.
    async fn known() -> Self {
        let bench = Self::new();
        for (principal, tools) in [(ann(), 3), (bob(), 3)] {
            until("their tools", || bench.tools(&principal).len() == tools).await;
        }
        bench
    }

    fn pin(&self, principal: &Principal) -> PinnedTurn {
        self.world.dispatcher.pin(Arc::new(principal.clone()))
    }

    fn tools(&self, principal: &Principal) -> Vec<String> {
        let pinned = self.pin(principal);
        pinned.view().tools().map(|tool| tool.id().to_string()).collect()
    }

    fn snapshot(&self, principal: &Principal) -> Arc<Snapshot> {
        self.pin(principal).view().snapshot().clone()
    }
}

impl PersonalSource {
    fn offer(&self, user: &'static str, tools: &[&'static str]) {
        self.tools.lock().unwrap().insert(user, tools.to_vec());
    }
}

fn carol() -> Principal {
    Principal::user(UserId::new("carol"))
}

#[tokio::test(start_paused = true)]
async fn each_identity_sees_its_own_tools_once_its_source_was_asked() {
    let bench = Bench::new();
    assert_eq!(bench.tools(&ann()), ["mail__send"], "nobody has asked yet");
    until("Ann's tools", || bench.tools(&ann()).len() == 3).await;
    assert_eq!(bench.tools(&ann()), ["mail__send", "own__book_flight", "own__read"]);
    assert_eq!(*bench.personal.asked.lock().unwrap(), ["ann"], "once, and only for her");
    until("Bob's tools", || bench.tools(&bob()).len() == 3).await;
    assert_eq!(bench.tools(&bob()), ["mail__send", "own__book_hotel", "own__read"]);
    assert_eq!(bench.tools(&ann()), ["mail__send", "own__book_flight", "own__read"]);
}

#[tokio::test(start_paused = true)]
async fn neither_identity_finds_is_suggested_or_calls_what_is_the_others() {
    let bench = Bench::known().await;
    let names = ["own__book_hotel", "book_hotel", "own__book_hotle"];
    for name in names {
        let pinned = bench.pin(&ann());
        let miss = pinned.view().resolve(&ToolName::parse(name).unwrap()).unwrap_err();
        assert!(miss.nearest.iter().all(|id| !id.as_str().contains("hotel")), "{miss:?}");
        let error = bench.world.call_as(&ann(), name, "{}").await.unwrap_err();
        assert!(matches!(error, CallError::UnknownTool { .. }), "{error:?}");
    }
    let view = bench.pin(&ann()).view().clone();
    let found = search(&view, "book a hotel", &SCOPE, SearchMode::Hybrid, 10);
    let found: Vec<_> = found.iter().map(|hit| hit.tool.id().as_str()).collect();
    assert!(
        found.contains(&"own__book_flight") && !found.contains(&"own__book_hotel"),
        "{found:?}"
    );
    assert_eq!(
        done(bench.world.call_as(&bob(), "own__book_hotel", "{}").await),
        r#""book_hotel for bob""#
    );
}

#[tokio::test(start_paused = true)]
async fn what_both_are_offered_is_called_for_whoever_calls_and_the_record_says_who() {
    let bench = Bench::known().await;
    for (principal, name) in [(ann(), "ann"), (bob(), "bob")] {
        let said = done(bench.world.call_as(&principal, "own__read", "{}").await);
        assert_eq!(said, format!("\"read for {name}\""));
        assert_eq!(bench.world.log.last().opened.principal.user.as_str(), name);
    }
}

#[tokio::test(start_paused = true)]
async fn what_fails_for_one_identity_pauses_its_calls_alone() {
    let bench = Bench::known().await;
    bench.personal.failing.lock().unwrap().insert("ann");
    let call = async |principal: &Principal| {
        let called = bench.world.call_as(principal, "own__read", "{}").await;
        called.map_or_else(|error| error.to_string(), |_| "done".to_owned())
    };
    let limit = Limits::default().breaker_failures;
    for _ in 0..limit {
        assert_eq!(call(&ann()).await, "`own` is unavailable: it refuses this account");
    }
    let paused = "`own` is unavailable: its last calls failed; it is tried again in 11 s";
    assert_eq!(call(&ann()).await, paused);
    assert_eq!(call(&bob()).await, "done");
    let state = || bench.world.report("own").breaker;
    assert_eq!(state(), BreakerState::Closed, "the source is there");
    let pause = Limits::default().breaker_pause;
    tokio::time::advance(pause).await;
    call(&ann()).await;
    assert_eq!(state(), BreakerState::Open, "nobody got through since, though Bob did once");
    call(&bob()).await;
    assert_eq!(state(), BreakerState::Closed);
    bench.personal.failing.lock().unwrap().clear();
    tokio::time::advance(pause).await;
    assert_eq!((call(&ann()).await, call(&bob()).await), ("done".to_owned(), "done".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_offered_the_same_shares_one_catalogue() {
    let bench = Bench::known().await;
    bench.personal.offer("carol", &["book_flight", "read"]);
    until("Carol's tools", || bench.tools(&carol()).len() == 3).await;
    assert!(Arc::ptr_eq(&bench.snapshot(&ann()), &bench.snapshot(&carol())));
    assert!(!Arc::ptr_eq(&bench.snapshot(&ann()), &bench.snapshot(&bob())));
    let agent = Principal { agent: Some(AgentId::new("a")), ..ann() };
    assert!(Arc::ptr_eq(&bench.snapshot(&ann()), &bench.snapshot(&agent)));
    assert!(bench.pin(&ann()).view().is_same(bench.pin(&agent).view()));
}

#[tokio::test(start_paused = true)]
async fn a_change_for_one_identity_is_told_and_leaves_the_others_alone() {
    let bench = Bench::known().await;
    let mut epochs = bench.world.dispatcher.epochs();
    let (epoch, bobs) = (*epochs.borrow_and_update(), bench.snapshot(&bob()));
    bench.personal.offer("ann", &["read"]);
    bench.source.clone().refresh_for(UpstreamIdentity::User(ann().user)).await.unwrap();
    epochs.changed().await.unwrap();
    assert_eq!(*epochs.borrow(), epoch, "the common list has not changed");
    assert_eq!(bench.tools(&ann()), ["mail__send", "own__read"]);
    assert!(Arc::ptr_eq(&bobs, &bench.snapshot(&bob())));
}

#[tokio::test(start_paused = true)]
async fn a_turn_keeps_the_tools_that_it_began_with() {
    let bench = Bench::known().await;
    let pinned = bench.pin(&ann());
    bench.personal.offer("ann", &["read"]);
    bench.source.clone().refresh_for(UpstreamIdentity::User(ann().user)).await.unwrap();
    let operation = operation("own__book_flight", "{}");
    assert_eq!(
        done(pinned.call(operation, None, Caller::silent()).await),
        r#""book_flight for ann""#
    );
}
