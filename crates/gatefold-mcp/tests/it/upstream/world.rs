//! A dispatcher over MCP sources, with everything else in memory.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use gatefold_catalog::{GroupRules, KindName, Manifest};
use gatefold_core::{
    CallError, Digest, Domain, Operation, Outcome, Payload, Principal, Resume, SystemClock,
    ToolName,
};
use gatefold_dispatch::{
    AuditError, AuditLog, AuditSlot, CallClosed, CallOpened, Caller, Credentials, DiscoveryRecord,
    Dispatcher, Event, EventSink, IdentityScope, Limits, Manifests, NoApprovals, Ports, SealKey,
    Setup, SourceReport, SourceSetup, SourceState,
};
use gatefold_egress::{Egress, HttpClient, Reach, Settings};
use gatefold_mcp::{
    GatewayPath, McpPorts, McpSettings, McpSource, SessionPlaces, StartLimits, StartPlaces,
    UserSessionLimits,
};
use gatefold_policy::Policy;
use gatefold_testkit::wait_until;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::support::LONG;

pub(crate) struct World {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) keeper: Arc<MemoryManifests>,
    pub(crate) path: Arc<GatewayPath>,
}

/// How a world differs from the default.
#[derive(Clone)]
pub(crate) struct WorldOptions {
    pub(crate) limits: Limits,
    pub(crate) identity: IdentityScope,
    pub(crate) known: Option<Arc<Manifest>>,
    pub(crate) policy: Policy,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    pub(crate) starts: StartLimits,
    pub(crate) sessions: UserSessionLimits,
    pub(crate) path: Arc<GatewayPath>,
    /// The client for sources over HTTP, or none for one that reaches every address.
    pub(crate) client: Option<HttpClient>,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self {
            limits: Limits { result_bytes: 1 << 20, ..Limits::default() },
            identity: IdentityScope::Shared,
            known: None,
            policy: Policy::default(),
            credentials: None,
            starts: StartLimits::default(),
            sessions: UserSessionLimits::default(),
            path: Arc::default(),
            client: None,
        }
    }
}

impl World {
    /// A world whose sources have not been asked anything yet.
    pub(crate) fn new(settings: &[&McpSettings]) -> Self {
        Self::made(settings, &WorldOptions::default())
    }

    pub(crate) fn made(settings: &[&McpSettings], made: &WorldOptions) -> Self {
        let keeper = Arc::<MemoryManifests>::default();
        let starts = Arc::new(StartPlaces::new(made.starts));
        let sessions = Arc::new(SessionPlaces::new(made.sessions));
        let sources = settings.iter().map(|settings| SourceSetup {
            source: presenting(settings, &keeper, (&starts, &sessions), made),
            kind: KindName::new("mcp"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            identity: made.identity,
            call_deadline: None,
        });
        let dispatcher = Dispatcher::new(Ports {
            audit: Arc::new(NoRecords),
            approvals: Arc::new(NoApprovals),
            clock: Arc::new(SystemClock),
            seal: SealKey::new([7; 32]),
        });
        dispatcher.install(Setup {
            policy: made.policy.clone(),
            limits: made.limits,
            learns: false,
            encoder: None,
            texts: None,
            loop_sources: Vec::new(),
            sources: sources.collect(),
        });
        Self { dispatcher, keeper, path: made.path.clone() }
    }

    /// A world of one source that has been connected and asked for its list.
    pub(crate) async fn connected(settings: &McpSettings) -> Self {
        Self::connected_as(settings, &WorldOptions::default()).await
    }

    pub(crate) async fn connected_as(settings: &McpSettings, made: &WorldOptions) -> Self {
        let world = Self::made(&[settings], made);
        let refreshed = world.refresh().await;
        assert_eq!(refreshed, [(settings.domain.to_string(), Ok(()))]);
        world
    }

    /// Connects all sources. Errors are given as people read them.
    pub(crate) async fn refresh(&self) -> Vec<(String, Result<(), String>)> {
        let refreshed = self.dispatcher.refresh().await.into_iter();
        let told = refreshed
            .map(|(domain, fared)| (domain.to_string(), fared.map_err(|error| error.to_string())));
        told.collect()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Result<Payload, CallError> {
        self.call_with(tool, arguments, &Principal::local(), Caller::silent()).await
    }

    pub(crate) async fn call_with(
        &self,
        tool: &str,
        arguments: &str,
        principal: &Principal,
        caller: Caller,
    ) -> Result<Payload, CallError> {
        let pinned = self.dispatcher.pin(Arc::new(principal.clone()));
        match pinned.call(tool_call(tool, arguments), None, caller).await? {
            Outcome::Done(payload) => Ok(payload),
            other => panic!("not done: {other:?}"),
        }
    }

    /// Any operation of the local principal.
    pub(crate) async fn operate(
        &self,
        operation: Operation,
        resume: Option<Resume>,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let pinned = self.dispatcher.pin(Arc::new(Principal::local()));
        pinned.call(operation, resume, caller).await
    }

    /// The result of an operation that must succeed at once.
    pub(crate) async fn done(&self, operation: Operation, caller: Caller) -> serde_json::Value {
        match self.operate(operation, None, caller).await {
            Ok(Outcome::Done(payload)) => serde_json::from_str(payload.json.get()).unwrap(),
            other => panic!("not done: {other:?}"),
        }
    }

    /// The text of the first block of a result that must come.
    pub(crate) async fn text(&self, tool: &str, arguments: &str) -> String {
        text(&self.call(tool, arguments).await.expect("the call is answered"))
    }

    /// The error of a call that must fail, as its caller reads it.
    pub(crate) async fn error(&self, tool: &str, arguments: &str) -> String {
        self.call(tool, arguments).await.expect_err("the call fails").to_string()
    }

    /// Starts a call in a task of its own.
    pub(crate) fn start(&self, tool: &str, arguments: &str, caller: Caller) -> CallTask {
        let world = Self {
            dispatcher: self.dispatcher.clone(),
            keeper: self.keeper.clone(),
            path: self.path.clone(),
        };
        let (tool, arguments) = (tool.to_owned(), arguments.to_owned());
        tokio::spawn(async move {
            world.call_with(&tool, &arguments, &Principal::local(), caller).await
        })
    }

    pub(crate) fn tools(&self) -> Vec<String> {
        let pinned = self.dispatcher.pin(Arc::new(Principal::local()));
        let tools = pinned.view().tools();
        tools.map(|tool| tool.id().to_string()).collect()
    }

    pub(crate) fn report(&self, domain: &str) -> SourceReport {
        let mut reports = self.dispatcher.reports().into_iter();
        reports.find(|report| report.domain.as_str() == domain).expect("the domain is installed")
    }

    pub(crate) fn state(&self, domain: &str) -> SourceState {
        self.report(domain).status.state
    }

    pub(crate) async fn reaches(&self, domain: &str, state: SourceState) {
        let reached = wait_until(LONG, || self.state(domain) == state).await;
        assert!(reached, "still {:?}", self.report(domain).status);
    }
}

pub(crate) fn tool_call(tool: &str, arguments: &str) -> Operation {
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    Operation::Tool { name: ToolName::parse(tool).unwrap(), arguments }
}

pub(crate) type CallTask = tokio::task::JoinHandle<Result<Payload, CallError>>;

pub(crate) fn source(
    settings: &McpSettings,
    keeper: &Arc<MemoryManifests>,
    known: Option<Arc<Manifest>>,
) -> Arc<McpSource> {
    let starts = Arc::new(StartPlaces::new(StartLimits::default()));
    let sessions = Arc::new(SessionPlaces::new(UserSessionLimits::default()));
    presenting(
        settings,
        keeper,
        (&starts, &sessions),
        &WorldOptions { known, ..WorldOptions::default() },
    )
}

fn presenting(
    settings: &McpSettings,
    keeper: &Arc<MemoryManifests>,
    (starts, sessions): (&Arc<StartPlaces>, &Arc<SessionPlaces>),
    made: &WorldOptions,
) -> Arc<McpSource> {
    let (keeper, clock) = (keeper.clone(), Arc::new(SystemClock));
    let credentials = made.credentials.clone();
    let client = made.client.clone().unwrap_or_else(|| egress().client_for(Reach::any()));
    let (starts, sessions) = (starts.clone(), sessions.clone());
    let path = made.path.clone();
    let containers = None;
    let ports = McpPorts { client, credentials, keeper, clock, starts, sessions, path, containers };
    McpSource::new(settings.clone(), ports, made.known.clone())
}

/// What makes guarded clients.
pub(crate) fn egress() -> Egress {
    let settings = Settings { read_timeout: None, ..Settings::default() };
    Egress::new(settings).unwrap().without_proxies()
}

#[expect(clippy::disallowed_methods, reason = "the guarded client is tested where it is made")]
pub(crate) fn client() -> reqwest::Client {
    // The client wants a provider even for plain HTTP; another one may be installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true);
    client.redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

pub(crate) fn text(payload: &Payload) -> String {
    let result: serde_json::Value = serde_json::from_str(payload.json.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// A caller that listens, and what it hears.
pub(crate) fn listening() -> (Caller, mpsc::Receiver<Event>) {
    let (sender, events) = mpsc::channel(64);
    (Caller { events: EventSink::new(sender), ..Caller::silent() }, events)
}

/// Keeps manifests in memory, in the order in which they came.
#[derive(Default)]
pub(crate) struct MemoryManifests(Mutex<Vec<(Domain, Digest, Arc<Manifest>)>>);

impl MemoryManifests {
    pub(crate) fn kept(&self) -> Vec<(Domain, Digest, Arc<Manifest>)> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Arc<Manifest> {
        self.kept().pop().expect("a manifest was kept").2
    }
}

impl Manifests for MemoryManifests {
    fn keep(&self, domain: Domain, config: Digest, manifest: Arc<Manifest>) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().push((domain, config, manifest));
        Box::pin(std::future::ready(()))
    }
}

/// Records are tested in dispatch.
struct NoRecords;

impl AuditLog for NoRecords {
    fn open(&self, _: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>> {
        Box::pin(async { Ok(Box::new(NoRecords) as Box<dyn AuditSlot>) })
    }

    fn refuse(&self, _: CallOpened, _: CallClosed) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn discover(&self, _: DiscoveryRecord) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl AuditSlot for NoRecords {
    fn close(self: Box<Self>, _: CallClosed) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}
