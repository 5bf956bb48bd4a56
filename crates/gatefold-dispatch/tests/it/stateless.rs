//! A source without sessions, behind the adapter.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{GroupRules, KindName, Manifest, ManifestBuilder, ToolSpec};
use gatefold_core::{
    BoxError, CallError, Digest, Domain, ManualClock, Outcome, Payload, RuleId, Timestamp,
};
use gatefold_dispatch::{
    AdmittedCall, CallContext, Caller, IdentityScope, Limits, Manifests, Setup, Source as _,
    SourceSetup, SourceState, StatelessAdapter, StatelessSettings, StatelessSource,
};
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope};
use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};

use crate::source::raw;
use crate::world::{RESULT_BYTES, World};

/// Offers what it is told to, and does what the names of its tools say.
struct ScriptedSource {
    tools: Mutex<Result<Vec<&'static str>, &'static str>>,
    /// The arguments of every call that reached it.
    reached: watch::Sender<Vec<String>>,
    dropped: Arc<Notify>,
}

impl StatelessSource for ScriptedSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        async {
            let tools = self.tools.lock().unwrap().clone()?;
            let manifest = Manifest::builder(Timestamp::from_millis(0));
            let tools = tools.into_iter().map(|name| ToolSpec::new(name).group("plain"));
            Ok(tools.fold(manifest, ManifestBuilder::tool).build())
        }
        .boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        _: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        async move {
            let arguments = call.arguments().expect("it has only tools").get().to_owned();
            self.reached.send_modify(|reached| reached.push(arguments.clone()));
            match &*call.target().name {
                "hang" => {
                    let _dropped = DropSignal(self.dropped.clone());
                    std::future::pending().await
                }
                "fail" => Err(CallError::Protocol {
                    domain: call.target().domain.clone(),
                    reason: "as asked".to_owned(),
                    source: None,
                }),
                "down" => Err(CallError::Unavailable {
                    domain: call.target().domain.clone(),
                    reason: "as asked".to_owned(),
                    source: None,
                }),
                "big" => Ok(payload(&format!("\"{}\"", "x".repeat(2_000_000)))),
                _ => Ok(payload(&arguments)),
            }
        }
        .boxed()
    }

    fn answers_from_memory(&self, tool: &str, arguments: &RawValue) -> bool {
        tool == "recall" && arguments.get() == "{}"
    }
}

/// Signals that a call was dropped.
struct DropSignal(Arc<Notify>);

impl Drop for DropSignal {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn deny(pattern: &&str) -> Rule {
    Rule {
        id: RuleId::new("deny"),
        effect: Effect::Deny,
        who: PrincipalFilter::everybody(),
        scope: Scope::Everywhere,
        entries: Entries::Every,
        pattern: Glob::new(*pattern),
        unless: Vec::new(),
    }
}

/// One source, and these rules.
pub(crate) fn setup(source: Arc<dyn gatefold_dispatch::Source>, rules: Vec<Rule>) -> Setup {
    Setup {
        policy: Policy::new(rules),
        limits: Limits { result_bytes: RESULT_BYTES, ..Limits::default() },
        learns: false,
        encoder: None,
        texts: None,
        loop_sources: Vec::new(),
        sources: vec![SourceSetup {
            source,
            kind: KindName::new("plain"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            identity: IdentityScope::Shared,
            call_deadline: None,
        }],
    }
}

fn payload(json: &str) -> Payload {
    Payload { json: raw(json), is_error: false }
}

/// Keeps the digests of manifests.
#[derive(Default)]
struct KeptDigests(Mutex<Vec<Digest>>);

impl Manifests for KeptDigests {
    fn keep(&self, _: Domain, _: Digest, manifest: Arc<Manifest>) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().push(manifest.digest());
        async {}.boxed()
    }
}

struct Bench {
    world: World,
    plain: Arc<ScriptedSource>,
    source: Arc<StatelessAdapter<ScriptedSource>>,
    kept: Arc<KeptDigests>,
}

impl Bench {
    /// A dispatcher with one source, which has described itself, and these patterns denied.
    async fn new(denied: &[&str]) -> Self {
        let tools = Mutex::new(Ok(vec!["big", "down", "echo", "fail", "hang", "recall"]));
        let (reached, dropped) = (watch::Sender::default(), Arc::default());
        let plain = Arc::new(ScriptedSource { tools, reached, dropped });
        let kept = Arc::<KeptDigests>::default();
        let settings = StatelessSettings {
            domain: Domain::parse("plain").unwrap(),
            config_digest: Digest::new([1; 32]),
            describe_deadline: Duration::from_secs(5),
            known: None,
        };
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        let source = StatelessAdapter::new(plain.clone(), settings, kept.clone(), clock);
        assert_eq!(source.status().state, SourceState::Configured);
        source.clone().refresh().await.unwrap();
        assert_eq!(source.status().state, SourceState::Running);
        let world = World::new(&[]);
        world.dispatcher.install(setup(source.clone(), denied.iter().map(deny).collect()));
        Self { world, plain, source, kept }
    }

    async fn answer(&self, tool: &str, arguments: &str) -> Result<String, CallError> {
        match self.world.call(tool, arguments).await? {
            Outcome::Done(payload) => Ok(payload.json.get().to_owned()),
            outcome => panic!("{outcome:?}"),
        }
    }

    fn calls(&self) -> Vec<String> {
        self.plain.reached.borrow().clone()
    }
}

#[tokio::test]
async fn arguments_and_results_stay_letter_for_letter() {
    let bench = Bench::new(&[]).await;
    let arguments = r#"{"id": 12345678901234567890, "rate":1.50, "text":"\u00e9"}"#;
    assert_eq!(bench.answer("plain__echo", arguments).await.unwrap(), arguments);
    assert_eq!(bench.calls(), [arguments]);
}

#[tokio::test]
async fn a_call_without_a_permit_never_reaches_the_source() {
    let bench = Bench::new(&["*__echo"]).await;
    let error = bench.answer("plain__echo", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::UnknownTool { .. }), "{error}");
    assert!(bench.calls().is_empty());
}

#[tokio::test]
async fn an_error_and_a_hanging_call_stop_no_other() {
    let bench = Bench::new(&[]).await;
    let hanging = bench.world.start("plain__hang", Caller::silent());
    let mut reached = bench.plain.reached.subscribe();
    reached.wait_for(|calls| !calls.is_empty()).await.unwrap();
    let error = bench.answer("plain__fail", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::Protocol { .. }), "{error}");
    let error = bench.answer("plain__big", "{}").await.unwrap_err();
    assert!(matches!(error, CallError::TooLarge { .. }), "{error}");
    assert_eq!(bench.answer("plain__echo", "{}").await.unwrap(), "{}");
    hanging.abort();
    bench.plain.dropped.notified().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_memory_is_neither_held_back_nor_counted() {
    let bench = Bench::new(&[]).await;
    let failures = Limits::default().breaker_failures;
    for _ in 0..failures {
        bench.answer("plain__down", "{}").await.unwrap_err();
        assert_eq!(bench.answer("plain__recall", "{}").await.unwrap(), "{}");
    }
    let held_back = bench.answer("plain__echo", "{}").await.unwrap_err();
    assert!(matches!(held_back, CallError::CircuitOpen { .. }), "{held_back}");
    let asks = bench.answer("plain__recall", r#"{"refresh":true}"#).await.unwrap_err();
    assert!(matches!(asks, CallError::CircuitOpen { .. }), "{asks}");
    tokio::time::advance(Limits::default().breaker_pause).await;
    bench.answer("plain__recall", "{}").await.unwrap();
    bench.answer("plain__down", "{}").await.unwrap_err();
    let held_back = bench.answer("plain__echo", "{}").await.unwrap_err();
    assert!(matches!(held_back, CallError::CircuitOpen { .. }), "it was no probe: {held_back}");
}

#[tokio::test]
async fn a_refresh_changes_the_manifest_and_a_failed_one_leaves_it() {
    let bench = Bench::new(&[]).await;
    let mut manifests = bench.source.manifests();
    let first = manifests.borrow_and_update().clone().unwrap();
    assert_eq!(first.tools()[0].group(), Some("plain"));
    bench.source.clone().refresh().await.unwrap();
    assert!(!manifests.has_changed().unwrap(), "the same offer is no news");
    *bench.plain.tools.lock().unwrap() = Ok(vec!["other"]);
    bench.source.clone().refresh().await.unwrap();
    let second = manifests.borrow_and_update().clone().unwrap();
    assert_eq!(second.tools()[0].name(), "other");
    *bench.plain.tools.lock().unwrap() = Err("the description is gone");
    let error = bench.source.clone().refresh().await.unwrap_err();
    assert_eq!(error.to_string(), "`plain` is unavailable: the description is gone");
    let status = bench.source.status();
    assert_eq!(status.state, SourceState::Failing);
    assert_eq!(status.error.as_deref(), Some("the description is gone"));
    assert_eq!(manifests.borrow().as_ref().unwrap().digest(), second.digest());
    assert_eq!(*bench.kept.0.lock().unwrap(), [first.digest(), second.digest()]);
}

#[tokio::test]
async fn closing_ends_calls_and_refuses_further_ones() {
    let bench = Bench::new(&[]).await;
    let hanging = bench.world.start("plain__hang", Caller::silent());
    let mut reached = bench.plain.reached.subscribe();
    reached.wait_for(|calls| !calls.is_empty()).await.unwrap();
    bench.source.clone().close().await;
    let ended = hanging.await.unwrap().unwrap_err();
    assert!(matches!(ended, CallError::Unavailable { .. }), "{ended}");
    for error in [
        bench.answer("plain__echo", "{}").await.unwrap_err(),
        bench.source.clone().refresh().await.unwrap_err(),
    ] {
        let removed = "`plain` is unavailable: it was removed from the configuration";
        assert_eq!(error.to_string(), removed);
    }
    assert_eq!(bench.calls().len(), 1, "only the first call reached the source");
}

#[tokio::test(start_paused = true)]
async fn a_call_has_an_old_description_read_again_and_waits_for_nothing() {
    let bench = Bench::new(&[]).await;
    let mut manifests = bench.source.manifests();
    manifests.mark_unchanged();
    *bench.plain.tools.lock().unwrap() = Ok(vec!["echo", "other"]);
    bench.answer("plain__echo", "{}").await.unwrap();
    tokio::time::advance(Duration::from_mins(59)).await;
    bench.answer("plain__echo", "{}").await.unwrap();
    assert!(!manifests.has_changed().unwrap(), "it is not old yet");
    tokio::time::advance(Duration::from_mins(2)).await;
    bench.answer("plain__echo", "{}").await.unwrap();
    manifests.changed().await.unwrap();
    let tools = manifests.borrow_and_update().clone().unwrap();
    assert_eq!(tools.tools().len(), 2);

    *bench.plain.tools.lock().unwrap() = Err("the description is gone");
    tokio::time::advance(Duration::from_hours(2)).await;
    bench.answer("plain__echo", "{}").await.unwrap();
    while bench.source.status().state != SourceState::Failing {
        tokio::task::yield_now().await;
    }
    bench.answer("plain__echo", "{}").await.unwrap();
    // Not at every call, but long before another hour has passed.
    *bench.plain.tools.lock().unwrap() = Ok(vec!["echo"]);
    bench.answer("plain__echo", "{}").await.unwrap();
    assert_eq!(bench.source.status().state, SourceState::Failing);
    tokio::time::advance(Duration::from_mins(2)).await;
    bench.answer("plain__echo", "{}").await.unwrap();
    manifests.changed().await.unwrap();
    assert_eq!(bench.source.status().state, SourceState::Running);
}

/// Offers one tool, whose name counts how often it was asked what it offers.
#[derive(Default)]
struct ChangingSource {
    described: AtomicUsize,
    change: Notify,
}

impl StatelessSource for ChangingSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        let name = format!("tool_{}", self.described.fetch_add(1, Ordering::SeqCst) + 1);
        let manifest = Manifest::builder(Timestamp::from_millis(0)).tool(ToolSpec::new(name));
        async { Ok(manifest.build()) }.boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        _: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        async move { Ok(Payload::text(&call.target().name)) }.boxed()
    }

    fn tells_changes(&self) -> bool {
        true
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.change.notified().boxed()
    }
}

#[tokio::test]
async fn a_source_that_tells_changes_is_asked_at_once_and_after_each() {
    let plain = Arc::<ChangingSource>::default();
    let settings = StatelessSettings {
        domain: Domain::parse("plain").unwrap(),
        config_digest: Digest::new([1; 32]),
        describe_deadline: Duration::from_secs(5),
        known: None,
    };
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
    let kept = Arc::<KeptDigests>::default();
    let source = StatelessAdapter::new(plain.clone(), settings, kept, clock);
    let mut manifests = source.manifests();
    let mut offers = async |name: &str| {
        let offers = |manifest: &Option<Arc<Manifest>>| {
            manifest.as_ref().is_some_and(|manifest| manifest.tools()[0].name() == name)
        };
        manifests.wait_for(offers).await.unwrap();
    };
    offers("tool_1").await;
    plain.change.notify_one();
    offers("tool_2").await;
    drop(source);
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&plain), 1, "nothing follows a source that is gone");
}

/// Offers one tool, and counts how often it was asked what it offers.
struct CountingSource {
    described: AtomicUsize,
    is_trusting: bool,
}

impl StatelessSource for CountingSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        self.described.fetch_add(1, Ordering::SeqCst);
        async { Ok(one_tool(Timestamp::from_millis(0))) }.boxed()
    }

    fn trusts(&self, _: &Manifest) -> bool {
        self.is_trusting
    }

    fn call(&self, _: AdmittedCall, _: CallContext) -> BoxFuture<'_, Result<Payload, CallError>> {
        async { Ok(Payload::text("done")) }.boxed()
    }
}

fn one_tool(fetched_at: Timestamp) -> Manifest {
    Manifest::builder(fetched_at).tool(ToolSpec::new("echo")).build()
}

#[tokio::test(start_paused = true)]
async fn a_restart_asks_a_source_that_trusts_its_list_only_when_that_is_old() {
    let hour = 60 * 60 * 1000;
    for (is_trusting, age, expected) in
        [(true, 0, 0), (true, hour - 1, 0), (true, hour, 1), (false, 0, 1)]
    {
        let now = Timestamp::from_millis(10 * hour);
        let described = AtomicUsize::new(0);
        let plain = Arc::new(CountingSource { described, is_trusting });
        let settings = StatelessSettings {
            domain: Domain::parse("plain").unwrap(),
            config_digest: Digest::new([1; 32]),
            describe_deadline: Duration::from_secs(5),
            known: Some(Arc::new(one_tool(Timestamp::from_millis(10 * hour - age)))),
        };
        let clock = Arc::new(ManualClock::at(now));
        let kept = Arc::<KeptDigests>::default();
        let source = StatelessAdapter::new(plain.clone(), settings, kept.clone(), clock);
        let world = World::new(&[]);
        world.dispatcher.install(setup(source.clone(), Vec::new()));
        world.call("plain__echo", "{}").await.unwrap();
        tokio::time::advance(Duration::from_millis(0)).await;
        assert_eq!(plain.described.load(Ordering::SeqCst), expected, "{is_trusting} {age}");
        source.refresh().await.unwrap();
        // The same list counts anew from when it was read, where the next start asks for that.
        assert_eq!(!kept.0.lock().unwrap().is_empty(), is_trusting);
    }
}
