//! A dispatcher with everything it needs, all of it in memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{GroupRules, KindName};
use gatefold_core::{
    CallError, Domain, ManualClock, Operation, Outcome, Principal, Resume, RuleId, Suspension,
    Timestamp, ToolName, UserId,
};
use gatefold_dispatch::{
    Answer, AskError, AuditError, AuditLog, AuditOutcome, AuditSlot, CallClosed, CallOpened,
    Caller, ClientCapabilities, DiscoveryRecord, Dispatcher, IdentityScope, Limits, Peer, Ports,
    Question, QuestionMode, SealKey, Setup, SourceReport, SourceSetup,
};
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope};

use crate::approvals::MemoryApprovals;
use crate::source::{FakeSource, raw};

pub(crate) const START: Timestamp = Timestamp::from_millis(1_000_000);

/// The largest result, smaller than usual.
pub(crate) const RESULT_BYTES: u64 = 1024 * 1024;

pub(crate) struct World {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) log: Arc<MemoryLog>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) approvals: Arc<MemoryApprovals>,
    pub(crate) limits: Limits,
}

impl World {
    /// A world with these sources, the default limits and no rules.
    pub(crate) fn new(sources: &[&Arc<FakeSource>]) -> Self {
        let limits = Limits { result_bytes: RESULT_BYTES, ..Limits::default() };
        Self::with_limits(sources, limits)
    }

    pub(crate) fn with_limits(sources: &[&Arc<FakeSource>], limits: Limits) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let (log, approvals) = (Arc::<MemoryLog>::default(), Arc::<MemoryApprovals>::default());
        let dispatcher = Dispatcher::new(Ports {
            audit: log.clone(),
            approvals: approvals.clone(),
            clock: clock.clone(),
            seal: SealKey::new([7; 32]),
        });
        let world = Self { dispatcher, log, clock, approvals, limits };
        world.install(sources, &[]);
        world
    }

    pub(crate) fn install(&self, sources: &[&Arc<FakeSource>], rules: &[Rule]) {
        self.install_policy(sources, Policy::new(rules.to_vec()));
    }

    pub(crate) fn install_policy(&self, sources: &[&Arc<FakeSource>], policy: Policy) {
        let sources = sources.iter().map(|source| SourceSetup {
            source: (*source).clone(),
            kind: KindName::new("mcp"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            identity: IdentityScope::Shared,
            call_deadline: None,
        });
        self.dispatcher.install(Setup {
            policy,
            limits: self.limits,
            learns: false,
            encoder: None,
            texts: None,
            loop_sources: Vec::new(),
            sources: sources.collect(),
        });
    }

    /// Makes a call as the local user, who only waits for the result.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> Result<Outcome, CallError> {
        self.call_as(&Principal::local(), tool, arguments).await
    }

    pub(crate) async fn call_as(
        &self,
        principal: &Principal,
        tool: &str,
        arguments: &str,
    ) -> Result<Outcome, CallError> {
        self.call_by(principal, tool, arguments, retrying(ASKED)).await
    }

    pub(crate) async fn call_by(
        &self,
        principal: &Principal,
        tool: &str,
        arguments: &str,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let pinned = self.dispatcher.pin(Arc::new(principal.clone()));
        pinned.call(operation(tool, arguments), None, caller).await
    }

    /// Makes a call in a task of its own.
    pub(crate) fn start(&self, tool: &str, caller: Caller) -> CallTask {
        let pinned = self.dispatcher.pin(Arc::new(Principal::local()));
        let operation = operation(tool, "{}");
        tokio::spawn(async move { pinned.call(operation, None, caller).await })
    }

    pub(crate) async fn resume(
        &self,
        principal: &Principal,
        tool: &str,
        arguments: &str,
        state: &str,
    ) -> Result<Outcome, CallError> {
        let answers = r#"{"name":"Ada"}"#;
        self.answer(principal, tool, arguments, (state, answers), retrying(ASKED)).await
    }

    /// Repeats a call with the answers to its questions.
    pub(crate) async fn answer(
        &self,
        principal: &Principal,
        tool: &str,
        arguments: &str,
        (state, answers): (&str, &str),
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let pinned = self.dispatcher.pin(Arc::new(principal.clone()));
        let resume = Resume { state: Some(state.to_owned()), answers: raw(answers) };
        pinned.call(operation(tool, arguments), Some(resume), caller).await
    }

    pub(crate) fn report(&self, domain: &str) -> SourceReport {
        let reports = self.dispatcher.reports().into_iter();
        let mut own = reports.filter(|report| report.domain.as_str() == domain);
        own.next().expect("the domain is installed")
    }

    pub(crate) fn counted(&self, outcome: &str) -> u64 {
        let counted = self.dispatcher.counters().snapshot();
        counted.get(outcome).copied().unwrap_or_default()
    }
}

pub(crate) type CallTask = tokio::task::JoinHandle<Result<Outcome, CallError>>;

pub(crate) fn operation(tool: &str, arguments: &str) -> Operation {
    Operation::Tool { name: ToolName::parse(tool).unwrap(), arguments: raw(arguments) }
}

/// The capabilities of a client that answers `wait`.
pub(crate) const ASKED: &str = r#"{"elicitation":{}}"#;

/// A caller whose client answers by repeating its request, with the declared capabilities.
pub(crate) fn retrying(capabilities: &str) -> Caller {
    let capabilities = ClientCapabilities::read(&raw(capabilities));
    Caller { peer: Arc::new(Retries(capabilities)), ..Caller::silent() }
}

struct Retries(ClientCapabilities);

impl Peer for Retries {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.0
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::ByRetry
    }

    fn ask(&self, _: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        unreachable!("it is never asked at once")
    }
}

pub(crate) fn ann() -> Principal {
    Principal::user(UserId::new("ann"))
}

pub(crate) fn bob() -> Principal {
    Principal::user(UserId::new("bob"))
}

pub(crate) fn rule(effect: Effect, domain: &str, pattern: &str) -> Rule {
    Rule {
        id: RuleId::new(format!("{effect:?}-{pattern}").to_lowercase()),
        effect,
        who: PrincipalFilter::everybody(),
        scope: Scope::Domain(Domain::parse(domain).unwrap()),
        entries: Entries::Every,
        pattern: Glob::new(pattern),
        unless: Vec::new(),
    }
}

/// The result's text.
pub(crate) fn done(result: Result<Outcome, CallError>) -> String {
    match result.expect("the call ends well") {
        Outcome::Done(payload) => payload.json.get().to_owned(),
        other => panic!("not done: {other:?}"),
    }
}

pub(crate) fn suspended(result: Result<Outcome, CallError>) -> Suspension {
    match result.expect("the call ends well") {
        Outcome::Suspended(suspension) => suspension,
        other => panic!("not suspended: {other:?}"),
    }
}

/// The error's text, as its caller reads it.
pub(crate) fn refused(result: Result<Outcome, CallError>) -> String {
    result.expect_err("the call fails").to_string()
}

/// Lets other tasks run until something holds, while time is paused.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    const TURNS: usize = 100_000;
    for _ in 0..TURNS {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("never came: {what}");
}

/// Keeps records in memory, and fails or hangs when told to.
#[derive(Default)]
pub(crate) struct MemoryLog {
    records: Arc<Mutex<Vec<Record>>>,
    pub(crate) discoveries: Mutex<Vec<DiscoveryRecord>>,
    pub(crate) fails: AtomicBool,
    pub(crate) hangs: AtomicBool,
}

#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) opened: CallOpened,
    pub(crate) closed: Option<CallClosed>,
}

impl Record {
    /// The record's outcome, with the kind of a failure; `open` until it ends.
    pub(crate) fn ended(&self) -> String {
        match self.closed.as_ref().map(|closed| closed.outcome) {
            None => "open".to_owned(),
            Some(AuditOutcome::Failed(kind)) => format!("failed: {}", kind.as_str()),
            Some(outcome) => outcome.as_str().to_owned(),
        }
    }
}

impl MemoryLog {
    pub(crate) fn records(&self) -> Vec<Record> {
        self.records.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Record {
        self.records().pop().expect("there is a record")
    }

    /// How every record ended, in the order in which they were opened.
    pub(crate) fn ended(&self) -> Vec<String> {
        self.records().iter().map(Record::ended).collect()
    }
}

impl AuditLog for MemoryLog {
    fn open(&self, opened: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>> {
        Box::pin(async move {
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            if self.fails.load(Ordering::SeqCst) {
                return Err(AuditError::Failed("the disk is full".into()));
            }
            let mut records = self.records.lock().unwrap();
            let last = records.iter().rfind(|record| record.opened.id == opened.id);
            if last.is_some_and(|record| record.ended() != "suspended") {
                return Err(AuditError::NotSuspended);
            }
            records.push(Record { opened, closed: None });
            let (records, place) = (self.records.clone(), records.len() - 1);
            Ok(Box::new(Slot { records, place }) as Box<dyn AuditSlot>)
        })
    }

    fn refuse(&self, opened: CallOpened, closed: CallClosed) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            let closed = Some(closed);
            self.records.lock().unwrap().push(Record { opened, closed });
        })
    }

    fn discover(&self, record: DiscoveryRecord) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            self.discoveries.lock().unwrap().push(record);
        })
    }
}

struct Slot {
    records: Arc<Mutex<Vec<Record>>>,
    place: usize,
}

impl AuditSlot for Slot {
    fn close(self: Box<Self>, record: CallClosed) -> BoxFuture<'static, ()> {
        let closed = &mut self.records.lock().unwrap()[self.place].closed;
        assert!(closed.is_none(), "a record ends once");
        *closed = Some(record);
        Box::pin(std::future::ready(()))
    }
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);
