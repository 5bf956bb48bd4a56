//! Learning from use, and who learns from whom.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Listing, Manifest, Request, Scope, SearchMode, ServerInfo, View, search};
use gatefold_core::{
    BoxError, CallError, Domain, Operation, OrganisationId, Outcome, Payload, Principal, RuleId,
    Tenant, ToolId, ToolName, UserId,
};
use gatefold_disclose::{
    ClientLimits, Disclosure, Gateway, Reply, SearchAnswer, Step, Surface, UsageError,
};
use gatefold_dispatch::{CallContext, Source, SourceState, SourceStatus};
use gatefold_exchange::{Disclosures, Exchange, KeptQuery, PastQueries, PastUse, Scope as Part};
use gatefold_policy::{
    Effect, Entries, Glob, Permit, Policy, PrincipalFilter, Rule, Scope as RuleScope,
};
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::turns::call;
use crate::world::{START, World, raw};

/// How often a test looks for what comes in the background.
const TURNS: usize = 10_000;

/// Keeps past queries in memory.
#[derive(Default)]
pub(crate) struct MemoryPast {
    uses: Mutex<Vec<PastUse>>,
    version: AtomicU64,
}

impl MemoryPast {
    /// The queries kept so far, each with its tenant and tool.
    fn uses(&self) -> Vec<String> {
        let uses = self.uses.lock().unwrap();
        let shown = |used: &PastUse| {
            let tool = used.tool.as_ref().map_or("no tool", ToolId::as_str);
            format!("{} {tool}: {}", used.tenant, used.query)
        };
        uses.iter().map(shown).collect()
    }

    fn clear(&self) {
        self.uses.lock().unwrap().clear();
        self.version.fetch_add(1, Ordering::SeqCst);
    }
}

impl PastQueries for MemoryPast {
    fn note(&self, used: PastUse) {
        self.uses.lock().unwrap().push(used);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    fn version(&self) -> BoxFuture<'_, Result<u64, BoxError>> {
        Box::pin(async { Ok(self.version.load(Ordering::SeqCst)) })
    }

    fn kept<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<KeptQuery>, BoxError>> {
        Box::pin(async move {
            let uses = self.uses.lock().unwrap();
            let own = uses.iter().filter(|used| used.tenant == *tenant);
            let kept = own.filter_map(|PastUse { tool, query, .. }| {
                let (tool, query) = (tool.clone()?, query.clone());
                Some(KeptQuery { tool, query, weight: 1.0 })
            });
            Ok(kept.collect())
        })
    }
}

const FILE: &str = "notes__file";
const SEND: &str = "notes__send";

/// A source whose tools succeed, unless they are called `fail` or `refuse`.
struct Notes {
    domain: Domain,
    manifest: watch::Sender<Option<Arc<Manifest>>>,
}

impl Notes {
    fn source(tools: &[&str]) -> Arc<dyn Source> {
        let server = ServerInfo {
            name: "notes".to_owned(),
            version: "1".to_owned(),
            title: None,
            description: None,
            instructions: None,
            protocol: "2025-11-25".to_owned(),
            capabilities: None,
            whole: None,
        };
        let tool = |name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        let tools: Vec<_> = tools.iter().map(tool).collect();
        let page = raw(&format!(r#"{{"tools":[{}]}}"#, tools.join(",")));
        let listing = Listing { tools: &[page], ..Listing::default() };
        let manifest = Arc::new(Manifest::from_listing(server, listing, START));
        let domain = Domain::parse("notes").unwrap();
        Arc::new(Self { domain, manifest: watch::Sender::new(Some(manifest)) })
    }
}

impl Source for Notes {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifest.subscribe()
    }

    fn status(&self) -> SourceStatus {
        let state = SourceState::Running;
        SourceStatus {
            state,
            since: START,
            error: None,
            protocol: None,
            downloading: None,
            sessions: 0,
        }
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        Box::pin(async { Ok(()) })
    }

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        _: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        let (tool, message) = (permit.target().id.clone(), "not today".to_owned());
        let result = match &*permit.target().name {
            "refuse" => Err(CallError::Refused { tool, code: -32000, message, data: None }),
            name => {
                let is_error = name == "fail";
                Ok(Outcome::Done(Payload { json: raw(r#"{"content":[]}"#), is_error }))
            }
        };
        Box::pin(std::future::ready(result))
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}

/// Answers a search with the tools that are named in its arguments, and makes any other call as it
/// is.
struct Finder;

const FIND: &str = "find";

impl Disclosure for Finder {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        Gateway::default().surface(view, limits)
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        if name.as_str() == FIND {
            let (query, tools): (String, Vec<ToolId>) =
                serde_json::from_str(arguments.get()).unwrap();
            let answer = SearchAnswer { query, tools, whole: Vec::new() };
            return Ok(Step::Found(Reply::text(""), answer));
        }
        let (name, arguments) = (name.clone(), arguments.to_owned());
        let entry = view.find_tool(name.as_str());
        let operation = Arc::new(Operation::Tool { name, arguments });
        Ok(Step::Call(Request { operation, entry }))
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        Gateway::default().render(view, name, request, result)
    }
}

/// A world with an exchange that learns.
struct School {
    world: World,
    exchange: Arc<Exchange>,
    source: Arc<dyn Source>,
}

impl School {
    fn new(tools: &[&str], learns: bool) -> Self {
        let source = Notes::source(tools);
        let world = World::governed(Vec::new(), Policy::default());
        let finder: Arc<dyn Disclosure> = Arc::new(Finder);
        let exchange = world.learning_exchange(Disclosures::standard(&finder));
        let school = Self { world, exchange, source };
        school.install(&[], learns);
        school
    }

    fn install(&self, rules: &[Rule], learns: bool) {
        let policy = Policy::new(rules.to_vec());
        self.world.install(vec![self.source.clone()], policy, learns);
    }

    async fn call(&self, principal: &Principal, tool: &str, arguments: &str) {
        let audience = self.exchange.audience(Part::Everything, None).unwrap();
        let turn = self.exchange.turn(&audience, Arc::new(principal.clone())).unwrap();
        drop(call(&turn, tool, arguments).await);
    }

    async fn searched(&self, principal: &Principal, query: &str, shown: &[&str]) {
        let arguments = serde_json::to_string(&(query, shown)).unwrap();
        self.call(principal, FIND, &arguments).await;
    }

    fn uses(&self) -> Vec<String> {
        self.world.past.uses()
    }

    fn hits(&self, principal: &Principal, query: &str) -> Vec<String> {
        let pinned = self.exchange.pin(Arc::new(principal.clone()));
        let hits = search(pinned.view(), query, &Scope::default(), SearchMode::Keyword, 9);
        let hits = hits.iter().filter(|hit| hit.fits());
        hits.map(|hit| hit.tool.id().to_string()).collect()
    }

    /// What a search finds once everything learnt has been read.
    async fn finds(&self, principal: &Principal, query: &str) -> Vec<String> {
        self.exchange.recollect(&principal.tenant()).await.unwrap();
        self.hits(principal, query)
    }
}

fn learning() -> School {
    School::new(&["file", "send"], true)
}

fn ann() -> Principal {
    Principal::user(UserId::new("ann"))
}

fn bob() -> Principal {
    Principal::user(UserId::new("bob"))
}

fn member(organisation: &str, user: Principal) -> Principal {
    Principal { organisation: Some(OrganisationId::new(organisation)), ..user }
}

fn without_sending() -> Rule {
    Rule {
        id: RuleId::new("no-sending"),
        effect: Effect::Deny,
        who: PrincipalFilter::everybody(),
        scope: RuleScope::Domain(Domain::parse("notes").unwrap()),
        entries: Entries::Every,
        pattern: Glob::new("*send"),
        unless: Vec::new(),
    }
}

const QUERY: &str = "umbrella for tomorrow";

#[tokio::test]
async fn a_call_that_went_well_teaches_the_search_that_led_to_it() {
    let world = learning();
    assert!(world.finds(&ann(), QUERY).await.is_empty());
    world.searched(&ann(), QUERY, &[FILE, SEND]).await;
    world.call(&ann(), SEND, "{}").await;
    world.call(&ann(), SEND, "{}").await;
    assert_eq!(world.uses(), [format!("user:ann {SEND}: {QUERY}")]);
    assert_eq!(world.finds(&ann(), "the umbrella of tomorrow").await, [SEND]);
}

#[tokio::test]
async fn a_search_that_nothing_fits_is_kept_as_one_that_led_nowhere() {
    let world = learning();
    world.searched(&ann(), QUERY, &[]).await;
    world.searched(&ann(), "password=hunter2 for tomorrow", &[]).await;
    assert_eq!(world.uses(), [format!("user:ann no tool: {QUERY}")]);
    let found = world.world.dispatcher.counters().discovery();
    assert_eq!((found.missed, found.led), (1, 0));
    let world = School::new(&["file", "send"], false);
    world.searched(&ann(), QUERY, &[]).await;
    assert!(world.uses().is_empty());
}

#[tokio::test]
async fn a_call_that_failed_teaches_nothing() {
    let world = School::new(&["fail", "refuse"], true);
    let tools = ["notes__fail", "notes__refuse", "notes__missing"];
    world.searched(&ann(), QUERY, &tools).await;
    for tool in tools {
        world.call(&ann(), tool, "{}").await;
    }
    assert!(world.uses().is_empty(), "{:?}", world.uses());
}

#[tokio::test]
async fn a_tenant_learns_together_and_nobody_else_with_them() {
    let world = learning();
    let (ann, bob_of_acme) = (member("acme", ann()), member("acme", bob()));
    world.searched(&ann, QUERY, &[SEND]).await;
    world.call(&ann, SEND, "{}").await;
    assert_eq!(world.finds(&bob_of_acme, QUERY).await, [SEND]);
    assert!(world.finds(&bob(), QUERY).await.is_empty());
    assert!(world.finds(&member("other", bob()), QUERY).await.is_empty());
}

#[tokio::test]
async fn a_hidden_tool_gets_nothing_by_what_others_learnt() {
    let world = learning();
    world.searched(&ann(), QUERY, &[SEND]).await;
    world.call(&ann(), SEND, "{}").await;
    world.install(&[without_sending()], true);
    assert!(world.finds(&ann(), QUERY).await.is_empty());
}

#[tokio::test]
async fn the_view_stays_the_same_whatever_was_learnt() {
    let world = learning();
    let pin = || world.exchange.pin(Arc::new(ann()));
    let before = pin();
    world.searched(&ann(), QUERY, &[SEND]).await;
    world.call(&ann(), SEND, "{}").await;
    assert_eq!(world.finds(&ann(), QUERY).await, [SEND]);
    assert!(pin().view().is_same(before.view()));
}

#[tokio::test]
async fn secrets_and_names_are_not_learnt() {
    let world = learning();
    for query in ["log in, password=hunter2", "notes send", "Send", &"word ".repeat(41)] {
        world.searched(&ann(), query, &[SEND]).await;
        world.call(&ann(), SEND, "{}").await;
    }
    assert!(world.uses().is_empty(), "{:?}", world.uses());
}

#[tokio::test]
async fn what_is_switched_off_neither_learns_nor_uses() {
    let world = learning();
    world.searched(&ann(), QUERY, &[SEND]).await;
    world.call(&ann(), SEND, "{}").await;
    world.install(&[], false);
    assert!(world.finds(&ann(), QUERY).await.is_empty());
    world.searched(&ann(), "another thing", &[FILE]).await;
    world.call(&ann(), FILE, "{}").await;
    assert_eq!(world.uses().len(), 1);
}

#[tokio::test]
async fn a_turn_notices_after_a_while_what_was_forgotten() {
    let world = learning();
    world.searched(&ann(), QUERY, &[SEND]).await;
    world.call(&ann(), SEND, "{}").await;
    assert_eq!(world.finds(&ann(), QUERY).await, [SEND]);
    world.world.past.clear();
    world.world.clock.advance(Duration::from_secs(3));
    // It is read anew in the background.
    for _ in 0..TURNS {
        if world.hits(&ann(), QUERY).is_empty() {
            return;
        }
        tokio::task::yield_now().await;
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the past was not read anew");
}
