//! A dispatcher over bases, with everything else in memory.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use gatefold_catalog::{GroupRules, Manifest};
use gatefold_core::{
    Digest, Domain, EntryKind, Operation, Outcome, Principal, RuleId, SystemClock, ToolName, Uri,
};
use gatefold_dispatch::{
    AuditError, AuditLog, AuditSlot, CallClosed, CallOpened, Caller, DiscoveryRecord, Dispatcher,
    IdentityScope, Limits, Manifests, NoApprovals, Ports, SealKey, Setup, Source, SourceSetup,
    StatelessAdapter, StatelessSettings, StatelessSource,
};
use gatefold_documents::{Hints, READING_TIME, read_document};
use gatefold_knowledge::{
    DocumentReader, Folder, KnowledgeHub, KnowledgePorts, KnowledgeSource, KnowledgeSourceSettings,
    PastLimits, ReadDocument, RemoteDocuments, UnreadDocument,
};
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope};
use serde_json::Value;
use serde_json::value::RawValue;

/// How long anything may take that happens behind the calls.
const LIMIT: Duration = Duration::from_secs(30);

/// How often what is fetched is looked at.
const REFRESH: Duration = Duration::from_millis(100);

/// Bases in folders of a temporary one.
pub(super) struct World {
    home: tempfile::TempDir,
    policy: Policy,
    dispatcher: Arc<Dispatcher>,
    /// What the base `handbook` has beside its folder.
    remote: Option<Arc<dyn RemoteDocuments>>,
}

impl World {
    pub(super) fn new() -> Self {
        Self::under(Policy::default())
    }

    /// One in which nobody may have these resources.
    pub(super) fn denying(pattern: &str) -> Self {
        Self::under(Policy::new(vec![Rule {
            id: RuleId::new("hidden"),
            effect: Effect::Deny,
            who: PrincipalFilter::everybody(),
            scope: Scope::Domain(Domain::parse("handbook").unwrap()),
            entries: Entries::Only(EntryKind::Resource),
            pattern: Glob::new(pattern),
            unless: Vec::new(),
        }]))
    }

    fn under(policy: Policy) -> Self {
        let dispatcher = Dispatcher::new(Ports {
            audit: Arc::new(NoRecords),
            approvals: Arc::new(NoApprovals),
            clock: Arc::new(SystemClock),
            seal: SealKey::new([7; 32]),
        });
        Self { home: tempfile::tempdir().unwrap(), policy, dispatcher, remote: None }
    }

    pub(super) fn with_remote(self, remote: Arc<dyn RemoteDocuments>) -> Self {
        Self { remote: Some(remote), ..self }
    }

    pub(super) fn folder(&self, base: &str) -> PathBuf {
        self.home.path().join("files").join(base)
    }

    /// Writes a file of the base `handbook`.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        self.put_in("handbook", name, bytes);
    }

    pub(super) fn put_in(&self, base: &str, name: &str, bytes: &[u8]) {
        let path = self.folder(base).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(super) fn remove(&self, name: &str) {
        fs::remove_file(self.folder("handbook").join(name)).unwrap();
    }

    /// Installs these bases, and the tools for all of them.
    pub(super) async fn start(&self, bases: &[&str]) {
        let own = bases.iter().map(|base| self.base(base));
        let hub = KnowledgeHub::new(Arc::new(SystemClock));
        let manifest = hub.manifest();
        let hub = setup(KnowledgeHub::DOMAIN, Arc::new(hub), Some(manifest));
        let sources = own.chain([hub]).collect();
        self.dispatcher.install(Setup {
            policy: self.policy.clone(),
            limits: Limits { result_bytes: 1 << 20, ..Limits::default() },
            learns: false,
            encoder: None,
            texts: None,
            loop_sources: Vec::new(),
            sources,
        });
        for (domain, refreshed) in self.dispatcher.refresh().await {
            refreshed.unwrap_or_else(|error| panic!("{domain}: {error}"));
        }
    }

    fn base(&self, base: &str) -> SourceSetup {
        let roots = vec![self.folder(base)];
        let settings = KnowledgeSourceSettings {
            domain: Domain::parse(base).unwrap(),
            title: None,
            folder: Arc::new(Folder::new(&roots, &[], &[]).unwrap()),
            roots,
            state: self.home.path().join("state").join(base),
            past: PastLimits::default(),
            refresh: REFRESH,
            seen_by_all: Arc::new(|_| true),
        };
        let ports = KnowledgePorts {
            reader: Arc::new(PlainReader),
            remote: self.remote.clone().filter(|_| base == "handbook"),
            encoder: Arc::new(|| None),
            clock: Arc::new(SystemClock),
        };
        setup(base, Arc::new(KnowledgeSource::new(settings, ports)), None)
    }

    /// Waits until the base `handbook` has read its files and lists so many documents.
    pub(super) async fn settle(&self, count: usize) {
        let is_settled = |answer: &Value| {
            answer["structuredContent"]["total"] == count
                && !answer.to_string().contains("still being read")
        };
        let none = serde_json::json!({});
        let settled = self.until("handbook__list_documents", &none, is_settled).await;
        assert!(
            settled,
            "not {count} documents: {:?}",
            self.call("handbook__list_documents", none).await
        );
    }

    /// Repeats a call until its answer is as it should be.
    pub(super) async fn until(
        &self,
        tool: &str,
        arguments: &Value,
        is_right: impl Fn(&Value) -> bool,
    ) -> bool {
        let end = Instant::now() + LIMIT;
        while Instant::now() < end {
            if self.call(tool, arguments.clone()).await.is_ok_and(|answer| is_right(&answer)) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        false
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let arguments = RawValue::from_string(arguments.to_string()).unwrap();
        self.operate(Operation::Tool { name: ToolName::parse(tool).unwrap(), arguments }).await
    }

    /// Reads a citation as a resource.
    pub(super) async fn read(&self, citation: &str) -> Result<Value, String> {
        self.operate(Operation::Resource(Uri::new(citation))).await
    }

    async fn operate(&self, operation: Operation) -> Result<Value, String> {
        let pinned = self.dispatcher.pin(Arc::new(Principal::local()));
        match pinned.call(operation, None, Caller::silent()).await {
            Ok(Outcome::Done(payload)) => {
                assert!(!payload.is_error, "{payload:?}");
                Ok(serde_json::from_str(payload.json.get()).unwrap())
            }
            Ok(other) => panic!("not done: {other:?}"),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn setup(domain: &str, source: Arc<impl StatelessSource>, known: Option<Manifest>) -> SourceSetup {
    let settings = StatelessSettings {
        domain: Domain::parse(domain).unwrap(),
        config_digest: Digest::new([0; 32]),
        describe_deadline: LIMIT,
        known: known.map(Arc::new),
    };
    let source: Arc<dyn Source> =
        StatelessAdapter::new(source, settings, Arc::new(NoManifests), Arc::new(SystemClock));
    SourceSetup {
        source,
        kind: KnowledgeSource::KIND,
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        identity: IdentityScope::Shared,
        call_deadline: None,
    }
}

/// Reads documents in this process: workers are tested with the gateway.
struct PlainReader;

impl DocumentReader for PlainReader {
    fn read<'a>(
        &'a self,
        name: &'a str,
        bytes: &'a [u8],
    ) -> BoxFuture<'a, Result<ReadDocument, UnreadDocument>> {
        let hints = Hints { name: Some(name), ..Hints::default() };
        let read = read_document(bytes, &hints, Instant::now() + READING_TIME);
        let read = read.map(|document| ReadDocument { document, note: String::new() });
        ready(read.map_err(|fault| UnreadDocument::Fault {
            state: fault.state().to_owned(),
            reason: fault.to_string(),
        }))
        .boxed()
    }
}

struct NoManifests;

impl Manifests for NoManifests {
    fn keep(&self, _: Domain, _: Digest, _: Arc<Manifest>) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }
}

/// Records are tested in dispatch.
struct NoRecords;

impl AuditLog for NoRecords {
    fn open(&self, _: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>> {
        ready(Ok(Box::new(NoRecords) as Box<dyn AuditSlot>)).boxed()
    }

    fn refuse(&self, _: CallOpened, _: CallClosed) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }

    fn discover(&self, _: DiscoveryRecord) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }
}

impl AuditSlot for NoRecords {
    fn close(self: Box<Self>, _: CallClosed) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }
}
