//! A dispatcher over one fake source, with everything else in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{GroupRules, KindName, Listing, Manifest, ServerInfo};
use gatefold_core::{
    BoxError, CallError, Domain, ManualClock, Outcome, Payload, Principal, SuggestedCall,
    Timestamp, ToolId,
};
use gatefold_dispatch::{
    AuditError, AuditLog, AuditSlot, CallClosed, CallContext, CallOpened, DiscoveryRecord,
    Dispatcher, IdentityScope, Limits, NoApprovals, Ports, SealKey, Setup, Source, SourceSetup,
    SourceState, SourceStatus,
};
use gatefold_exchange::{Disclosures, Exchange, LearningPorts, PastQueries, UsedTools, UtcDay};
use gatefold_policy::{Permit, Policy};
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::past::MemoryPast;

pub(crate) const START: Timestamp = Timestamp::from_millis(1_000_000);

/// The reason of a start that waits for somebody to sign in.
pub(crate) const SIGN_IN: &str = "needs somebody to sign in: `gatefold login up`";

/// A start that takes so long downloads, and has for a while.
pub(crate) const DOWNLOAD: Duration = Duration::from_mins(3);
const DOWNLOADING: Duration = Duration::from_secs(23);

pub(crate) struct World {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) used: Arc<Uses>,
    pub(crate) past: Arc<MemoryPast>,
    log: Arc<Counts>,
}

/// A source as it is set up when nothing is said about it.
pub(crate) fn setup_of(source: Arc<dyn Source>) -> SourceSetup {
    SourceSetup {
        source,
        kind: KindName::new("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        identity: IdentityScope::Shared,
        call_deadline: None,
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_tools(0)
    }

    /// A world with this many tools besides `echo`.
    pub(crate) fn with_tools(others: usize) -> Self {
        Self::of(Echo::new(others))
    }

    /// A world whose source was never reached. It lists its tools after this time, or fails with
    /// this.
    pub(crate) fn unlisted(start: Result<Duration, &'static str>) -> Self {
        Self::of(Echo { manifest: watch::Sender::new(None), start, ..Echo::new(0) })
    }

    fn of(source: Echo) -> Self {
        Self::governed(vec![Arc::new(source)], Policy::default())
    }

    /// A world of these sources under these rules.
    pub(crate) fn governed(sources: Vec<Arc<dyn Source>>, policy: Policy) -> Self {
        let (log, used) = (Arc::<Counts>::default(), Arc::<Uses>::default());
        let clock = Arc::new(ManualClock::at(START));
        let dispatcher = Dispatcher::new(Ports {
            audit: log.clone(),
            approvals: Arc::new(NoApprovals),
            clock: clock.clone(),
            seal: SealKey::new([7; 32]),
        });
        let past = Arc::default();
        let world = Self { dispatcher, clock, used, past, log };
        world.install(sources, policy, false);
        world
    }

    /// The world with these sources besides `up`.
    pub(crate) fn and(self, others: Vec<Arc<dyn Source>>) -> Self {
        let own = Arc::new(Echo::new(0)) as Arc<dyn Source>;
        self.install([vec![own], others].concat(), Policy::default(), false);
        self
    }

    pub(crate) fn install(&self, sources: Vec<Arc<dyn Source>>, policy: Policy, learns: bool) {
        self.dispatcher.install(Setup {
            policy,
            limits: Limits::default(),
            learns,
            encoder: None,
            texts: None,
            loop_sources: Vec::new(),
            sources: sources.into_iter().map(setup_of).collect(),
        });
    }

    /// An exchange that learns from use, and remembers in memory.
    pub(crate) fn learning_exchange(&self, disclosures: Disclosures) -> Arc<Exchange> {
        let past: Arc<dyn PastQueries> = self.past.clone();
        let ports = LearningPorts { past, used: self.used.clone() };
        Exchange::learning(ports, self.dispatcher.clone(), disclosures)
    }

    /// Calls that were sent.
    pub(crate) fn calls(&self) -> usize {
        self.log.calls.load(Ordering::SeqCst)
    }

    /// Meta-calls that only discovered.
    pub(crate) fn discoveries(&self) -> usize {
        self.log.discoveries.load(Ordering::SeqCst)
    }
}

pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// A source whose tool echoes its arguments.
struct Echo {
    domain: Domain,
    manifest: watch::Sender<Option<Arc<Manifest>>>,
    listing: Arc<Manifest>,
    /// How long it takes to say what it offers, or why it cannot.
    start: Result<Duration, &'static str>,
}

/// The arguments to which it suggests another call.
pub(crate) const ELSEWHERE: &str = r#"{"elsewhere":true}"#;

impl Echo {
    fn new(others: usize) -> Self {
        let server = ServerInfo {
            name: "up".to_owned(),
            version: "1".to_owned(),
            title: None,
            description: None,
            instructions: None,
            protocol: "2025-11-25".to_owned(),
            capabilities: None,
            whole: None,
        };
        let names = (0..others).map(|number| format!("archive_linked_invoice_{number}"));
        let tool = |name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        let tools: Vec<_> = names.chain(["echo".to_owned()]).map(tool).collect();
        let page = raw(&format!(r#"{{"tools":[{}]}}"#, tools.join(",")));
        let listing = Listing { tools: &[page], ..Listing::default() };
        let listing = Arc::new(Manifest::from_listing(server, listing, START));
        let manifest = watch::Sender::new(Some(listing.clone()));
        Self { domain: Domain::parse("up").unwrap(), manifest, listing, start: Ok(Duration::ZERO) }
    }
}

impl Source for Echo {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifest.subscribe()
    }

    fn status(&self) -> SourceStatus {
        let state = if self.start.is_ok() { SourceState::Running } else { SourceState::Failing };
        let error = self.start.err().map(ToOwned::to_owned);
        let is_download = self.start.is_ok_and(|takes| takes >= DOWNLOAD);
        let downloading = is_download.then_some(DOWNLOADING);
        SourceStatus { state, since: START, error, protocol: None, downloading, sessions: 0 }
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        Box::pin(async move {
            let failed = |reason: &str| {
                let (domain, reason) = (self.domain.clone(), reason.to_owned());
                if reason == SIGN_IN {
                    return CallError::NeedsSignIn { domain, reason };
                }
                CallError::Unavailable { domain, reason, source: None }
            };
            tokio::time::sleep(self.start.map_err(failed)?).await;
            self.manifest.send_replace(Some(self.listing.clone()));
            Ok(())
        })
    }

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        _: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        let arguments = permit.call().operation.arguments();
        if arguments == ELSEWHERE {
            let suggested =
                |tool: &str| SuggestedCall { tool: tool.to_owned(), arguments: raw(r#"{"n":1}"#) };
            let error = CallError::AnsweredElsewhere {
                tool: permit.target().id.clone(),
                message: "not here".to_owned(),
                calls: ["echo", "absent"].map(suggested).to_vec(),
            };
            return Box::pin(std::future::ready(Err(error)));
        }
        let text = serde_json::to_string(arguments).unwrap();
        let json = raw(&format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#));
        Box::pin(std::future::ready(Ok(Outcome::Done(Payload { json, is_error: false }))))
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// What users used most, by their names.
#[derive(Default)]
pub(crate) struct Uses {
    tools: Mutex<HashMap<String, Vec<ToolId>>>,
    takes: Mutex<Duration>,
    asked: AtomicUsize,
}

impl Uses {
    pub(crate) fn set(&self, user: &str, tools: &[&str]) {
        let tools = tools.iter().map(|id| ToolId::new(*id)).collect();
        self.tools.lock().unwrap().insert(user.to_owned(), tools);
    }

    /// Sets how long an answer takes.
    pub(crate) fn take(&self, long: Duration) {
        *self.takes.lock().unwrap() = long;
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl UsedTools for Uses {
    fn most_used<'a>(
        &'a self,
        principal: &'a Principal,
        _: UtcDay,
    ) -> BoxFuture<'a, Result<Vec<ToolId>, BoxError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let takes = *self.takes.lock().unwrap();
        Box::pin(async move {
            if !takes.is_zero() {
                tokio::time::sleep(takes).await;
            }
            Ok(self.tools.lock().unwrap().get(principal.user.as_str()).cloned().unwrap_or_default())
        })
    }
}

/// Counts records and forgets them.
#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    discoveries: AtomicUsize,
}

impl AuditLog for Counts {
    fn open(&self, _: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(Box::new(Slot) as Box<dyn AuditSlot>)))
    }

    fn refuse(&self, _: CallOpened, _: CallClosed) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn discover(&self, _: DiscoveryRecord) -> BoxFuture<'_, ()> {
        self.discoveries.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

struct Slot;

impl AuditSlot for Slot {
    fn close(self: Box<Self>, _: CallClosed) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}
