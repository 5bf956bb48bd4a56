//! Two worlds: one in which a source is hidden from somebody, and one that never had it. Whatever
//! they ask, the answers are the same, byte for byte, and take as long.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Listing, Manifest, ServerInfo};
use gatefold_core::{
    CallError, Completion, Domain, Operation, Outcome, Payload, Principal, PromptName, Reference,
    Right, RuleId, ToolName, UserId,
};
use gatefold_disclose::{
    AutoDisclosure, Disclosure, IntentDisclosure, Names, NamespaceDisclosure, TypedDisclosure,
};
use gatefold_dispatch::{CallContext, Caller, Source, SourceState, SourceStatus};
use gatefold_exchange::{
    Disclosures, Exchange, List, NamingScheme, Scope as Part, TaskSupport, ToolAnswer, ToolCall,
    Turn,
};
use gatefold_policy::{Effect, Entries, Glob, Permit, Policy, PrincipalFilter, Rule, Scope};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::turns::standard;
use crate::world::{START, World, raw};

/// What somebody sees: names that the hidden source has too, nouns that groups are made of, and
/// words whose rarity decides what comes first.
const CRM: &[&str] = &[
    "find_customer",
    "merge_customer",
    "find_invoice",
    "archive_invoice",
    "archive_payment",
    "echo",
    "status",
];

/// What is hidden.
const LEDGER: &[&str] = &[
    "find_invoice",
    "archive_invoice",
    "archive_ledger",
    "merge_invoice",
    "print_invoice",
    "echo",
    "customer",
    "audit_customer_payment",
];

/// A source that is listed, starts for ever, or is broken.
struct Fake {
    domain: Domain,
    manifest: watch::Sender<Option<Arc<Manifest>>>,
    error: Option<&'static str>,
    /// How often it was asked for its list or called.
    asked: AtomicUsize,
}

impl Fake {
    fn listed(domain: &str, tools: &[&str]) -> Arc<Self> {
        Self::new(domain, Some(manifest(domain, tools)), None)
    }

    fn new(domain: &str, manifest: Option<Manifest>, error: Option<&'static str>) -> Arc<Self> {
        Arc::new(Self {
            domain: Domain::parse(domain).unwrap(),
            manifest: watch::Sender::new(manifest.map(Arc::new)),
            error,
            asked: AtomicUsize::new(0),
        })
    }
}

fn manifest(domain: &str, tools: &[&str]) -> Manifest {
    let server = ServerInfo {
        name: domain.to_owned(),
        version: "1".to_owned(),
        title: None,
        description: None,
        instructions: None,
        protocol: "2025-11-25".to_owned(),
        capabilities: None,
        whole: None,
    };
    let tool = |name: &&str| {
        let words = name.replace('_', " ");
        format!(
            r#"{{"name":"{name}","description":"Can {words} of a customer.","inputSchema":{{"type":"object"}}}}"#
        )
    };
    let tools: Vec<_> = tools.iter().map(tool).collect();
    let page = |member: &str, entries: &str| raw(&format!(r#"{{"{member}":[{entries}]}}"#));
    let resources = format!(
        r#"{{"uri":"note://shared","name":"shared"}},{{"uri":"note://{domain}","name":"own"}}"#
    );
    let listing = Listing {
        tools: &[page("tools", &tools.join(","))],
        prompts: &[page("prompts", r#"{"name":"greet"}"#)],
        resources: &[page("resources", &resources)],
        templates: &[page("resourceTemplates", r#"{"uriTemplate":"note://{id}","name":"each"}"#)],
    };
    Manifest::from_listing(server, listing, START)
}

impl Source for Fake {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifest.subscribe()
    }

    fn status(&self) -> SourceStatus {
        let state = if self.error.is_some() { SourceState::Failing } else { SourceState::Starting };
        let error = self.error.map(ToOwned::to_owned);
        SourceStatus { state, since: START, error, protocol: None, downloading: None, sessions: 0 }
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {
            tokio::time::sleep(Duration::from_mins(5)).await;
            Ok(())
        })
    }

    fn invoke(
        self: Arc<Self>,
        _: Permit,
        _: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let text = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, self.domain);
        let payload = Payload { json: raw(&text), is_error: false };
        Box::pin(std::future::ready(Ok(Outcome::Done(payload))))
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

fn all() -> Disclosures {
    let typed: Arc<dyn Disclosure> = Arc::new(TypedDisclosure::default());
    let namespace: Arc<dyn Disclosure> = Arc::new(NamespaceDisclosure::default());
    let intent: Arc<dyn Disclosure> = Arc::new(IntentDisclosure::default());
    let auto: Arc<dyn Disclosure> = Arc::new(AutoDisclosure::default());
    [("typed", typed), ("namespace", namespace), ("intent", intent), ("auto", auto)]
        .into_iter()
        .fold(standard(), |all, (name, one)| {
            all.with(name, NamingScheme::Public, move |_: Names| one.clone())
        })
}

fn someone() -> Arc<Principal> {
    Arc::new(Principal::user(UserId::new("ann")))
}

fn shown(answer: Result<ToolAnswer, CallError>) -> String {
    match answer {
        Ok(ToolAnswer::Reply(reply)) => format!("{reply:?}"),
        Ok(ToolAnswer::Result(payload)) => payload.json.get().to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("{error:?}"),
    }
}

/// Everything that a turn says, with how long it took in paused time.
async fn told(turn: &Turn) -> Vec<String> {
    let lists = turn.lists();
    let mut told = vec![lists.surface().instructions.clone()];
    for list in [List::Tools, List::Prompts, List::Resources, List::Templates] {
        told.push(lists.get(list).to_owned());
    }
    let names: Vec<_> = lists.surface().tools.iter().map(|tool| tool.name.clone()).collect();
    let mut arguments = vec!["{}".to_owned()];
    for query in ["find an invoice", "customer", "archive the payment", "ledger", "merge", "zzz"] {
        arguments.push(format!(r#"{{"query":"{query}"}}"#));
        arguments.push(format!(r#"{{"intent":"{query}","request":"{query}"}}"#));
    }
    for tool in [
        "echo",
        "find_invoice",
        "customer",
        "ledger__echo",
        "ledger_echo",
        "crm__eco",
        "crm__echo",
        "archive_ledger",
    ] {
        arguments.push(format!(r#"{{"tool_name":"{tool}","arguments":{{}}}}"#));
        arguments.push(format!(r#"{{"action":"{tool}","params":{{}}}}"#));
    }
    for domain in ["ledger", "crm"] {
        arguments.push(format!(r#"{{"domain":"{domain}"}}"#));
        arguments.push(format!(r#"{{"source":"{domain}"}}"#));
    }
    for name in names.iter().map(String::as_str).chain(["echo", "ledger__echo"]) {
        for arguments in &arguments {
            let began = Instant::now();
            let call = ToolCall {
                name: &ToolName::parse(name).unwrap(),
                arguments: raw(arguments),
                resume: None,
                tasks: TaskSupport::Cannot,
            };
            let answer = shown(turn.call(call, Caller::silent()).await);
            told.push(format!("{name} {arguments} {:?} {answer}", began.elapsed()));
        }
    }
    told.extend(operated(turn).await);
    told
}

/// What is answered beside tools.
async fn operated(turn: &Turn) -> Vec<String> {
    let mut told = Vec::new();
    let mut operations = Vec::new();
    for name in ["greet", "crm__greet", "ledger__greet"] {
        let reference = Reference::Prompt(PromptName::new(name));
        operations.push(Operation::Complete(Completion { reference, params: raw("{}") }));
        operations.push(Operation::Prompt { name: PromptName::new(name), arguments: raw("{}") });
    }
    for uri in [
        "note://shared",
        "note://ledger",
        "note://other",
        "gatefold://crm/note://shared",
        "gatefold://ledger/note://shared",
        "gatefold://ledger/note://other",
    ] {
        operations.push(Operation::Resource(turn.resource_uri(uri)));
        operations.push(Operation::Subscribe(turn.resource_uri(uri)));
    }
    for operation in operations {
        let (asked, began) = (format!("{operation:?}"), Instant::now());
        let answer = turn.operate(operation, None, Caller::silent()).await;
        told.push(format!("{asked} {:?} {answer:?}", began.elapsed()));
    }
    told
}

fn rule(who: PrincipalFilter, scope: Scope, pattern: &str) -> Rule {
    let (entries, pattern) = Entries::read(pattern);
    let (id, effect) = (RuleId::new("hides"), Effect::Deny);
    Rule { id, effect, who, scope, entries, pattern: Glob::new(pattern), unless: Vec::new() }
}

/// The ways to hide the ledger from Ann.
fn policies() -> Vec<Policy> {
    let own = || Scope::Domain(Domain::parse("ledger").unwrap());
    let outsiders = PrincipalFilter {
        without_rights: vec![Right::new("group:books")],
        ..PrincipalFilter::everybody()
    };
    let all = PrincipalFilter::everybody;
    vec![
        Policy::new(vec![rule(all(), own(), "*")]),
        Policy::new(vec![rule(outsiders, own(), "*")]),
        Policy::new(
            ["tool:*", "prompt:*", "resource:*"].map(|each| rule(all(), own(), each)).into(),
        ),
        Policy::new(vec![
            Rule { effect: Effect::Allow, ..rule(all(), Scope::Everywhere, "crm__*") },
            Rule { effect: Effect::Allow, ..rule(all(), Scope::Everywhere, "gatefold://crm/*") },
        ]),
    ]
}

fn world(sources: &[&Arc<Fake>], policy: Policy) -> (World, Arc<Exchange>) {
    let sources = sources.iter().map(|source| Arc::clone(source) as Arc<dyn Source>);
    let world = World::governed(sources.collect(), policy);
    let exchange = Exchange::new(world.dispatcher.clone(), all());
    (world, exchange)
}

async fn check(hidden: fn() -> Arc<Fake>) {
    for policy in policies() {
        let (crm, ledger) = (Fake::listed("crm", CRM), hidden());
        let (_with, with) = world(&[&crm, &ledger], policy);
        let (_without, without) = world(&[&Fake::listed("crm", CRM)], Policy::default());
        for disclosure in Disclosures::OURS {
            let told_by = async |exchange: &Arc<Exchange>| {
                let audience = exchange.audience(Part::Everything, Some(disclosure)).unwrap();
                told(&exchange.turn(&audience, someone()).unwrap()).await
            };
            let (shown, expected) = (told_by(&with).await, told_by(&without).await);
            for (shown, expected) in shown.iter().zip(&expected) {
                assert_eq!(shown, expected, "{disclosure}");
            }
            assert_eq!(shown.len(), expected.len(), "{disclosure}");
        }
        for exchange in [&with, &without] {
            let alone = Part::Source(Domain::parse("ledger").unwrap());
            let audience = exchange.audience(alone, None).unwrap();
            assert!(exchange.informed_turn(&audience, someone()).await.is_none());
        }
        assert_eq!(ledger.asked.load(Ordering::SeqCst), 0, "nobody asked it anything");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hidden_source_that_is_listed_changes_no_answer() {
    check(|| Fake::listed("ledger", LEDGER)).await;
}

#[tokio::test(start_paused = true)]
async fn a_hidden_source_that_has_listed_nothing_yet_changes_no_answer() {
    check(|| Fake::new("ledger", None, None)).await;
}

#[tokio::test(start_paused = true)]
async fn a_hidden_source_that_is_broken_changes_no_answer() {
    check(|| Fake::new("ledger", None, Some("no such program: /srv/ledger"))).await;
}

#[tokio::test(start_paused = true)]
async fn a_hidden_source_that_offers_nothing_changes_no_answer() {
    check(|| Fake::new("ledger", Some(Manifest::builder(START).build()), None)).await;
}

/// A source of which a part is hidden reads as if it did not list that part.
#[tokio::test(start_paused = true)]
async fn hidden_tools_of_a_source_that_is_seen_change_no_answer() {
    let more: Vec<_> =
        CRM.iter().copied().chain(["audit_invoice", "audit_customer", "merge_invoice"]).collect();
    let own = || Scope::Domain(Domain::parse("crm").unwrap());
    let rules = ["audit_*", "merge_invoice"];
    let rules = rules.map(|each| rule(PrincipalFilter::everybody(), own(), each));
    let (_with, with) = world(&[&Fake::listed("crm", &more)], Policy::new(rules.into()));
    let (_without, without) = world(&[&Fake::listed("crm", CRM)], Policy::default());
    for disclosure in Disclosures::OURS {
        let told_by = async |exchange: &Arc<Exchange>| {
            let audience = exchange.audience(Part::Everything, Some(disclosure)).unwrap();
            told(&exchange.turn(&audience, someone()).unwrap()).await
        };
        let (shown, expected) = (told_by(&with).await, told_by(&without).await);
        for (shown, expected) in shown.iter().zip(&expected) {
            assert_eq!(shown, expected, "{disclosure}");
        }
    }
}
