//! A turn of another agent within a call: what it may see and call, and what is on record.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{Manifest, ManifestBuilder, ToolSpec};
use gatefold_core::{
    AgentId, BoxError, CallError, CallId, Digest, Domain, ManualClock, Narrowing, Operation,
    Outcome, Payload, Principal, Right, Rights, RuleId, TokenGrant, TokenId, ToolName, UserId,
};
use gatefold_dispatch::{
    AdmittedCall, Answer, AskError, AuditError, AuditLog, AuditSlot, CallClosed, CallContext,
    CallOpened, Caller, ClientCapabilities, DiscoveryRecord, Dispatcher, Limits, Manifests,
    NestedOptions, NoApprovals, Peer, Ports, Question, QuestionMode, SealKey, Setup,
    StatelessAdapter, StatelessSettings, StatelessSource,
};
use gatefold_exchange::{
    AgentProfile, AgentProfiles, Exchange, TaskSupport, ToolAnswer, ToolCall, Turn,
};
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

use crate::turns::standard;
use crate::world::{START, raw, setup_of};

const SECRET: &str = "secret";

/// What a source is asked to do: to delegate to an agent, which makes these calls.
#[derive(Deserialize)]
struct Task {
    agent: String,
    calls: Vec<(String, serde_json::Value)>,
}

/// What the agent sees, and what it was answered.
#[derive(Debug, Deserialize, Serialize)]
struct Report {
    sees: Vec<String>,
    answers: Vec<String>,
}

/// Delegates, echoes, hangs, or makes a call with no rights.
struct Office {
    tools: &'static [&'static str],
    exchange: Arc<OnceLock<Weak<Exchange>>>,
}

impl Office {
    async fn delegate(&self, task: &str, context: &CallContext) -> Result<Payload, CallError> {
        let Task { agent, calls } = serde_json::from_str(task).unwrap();
        let exchange = self.exchange.get().unwrap().upgrade().unwrap();
        let unknown = || CallError::Unknown { kind: "agent", name: agent.clone() };
        let audience = exchange.agent_audience(&AgentId::new(agent.as_str()), Some("flat"));
        let audience = audience.ok_or_else(unknown)?.unwrap();
        let turn = exchange.delegate(&context.nested, &audience)?;
        let mut sees: Vec<_> = turn.view().tools().map(|tool| tool.id().to_string()).collect();
        sees.sort();
        let mut answers = Vec::new();
        for (tool, arguments) in calls {
            answers.push(answer(&turn, &tool, &arguments.to_string(), context).await);
        }
        let report = serde_json::to_string(&Report { sees, answers }).unwrap();
        Ok(Payload::text(&report))
    }
}

async fn answer(turn: &Turn, tool: &str, arguments: &str, context: &CallContext) -> String {
    let name = ToolName::parse(tool).unwrap();
    let (arguments, tasks) = (raw(arguments), TaskSupport::Cannot);
    let call = ToolCall { name: &name, arguments, resume: None, tasks };
    match turn.call(call, context.nested_caller()).await {
        Ok(ToolAnswer::Reply(reply)) => reply.content.iter().map(|block| block.get()).collect(),
        Ok(ToolAnswer::Result(payload)) => payload.json.get().to_owned(),
        Ok(other) => panic!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

impl StatelessSource for Office {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        let tools = self.tools.iter().map(|name| ToolSpec::new(*name));
        let manifest = tools.fold(Manifest::builder(START), ManifestBuilder::tool).build();
        std::future::ready(Ok(manifest)).boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        async move {
            let arguments = call.arguments().unwrap().get();
            match &*call.target().name {
                "call_agent" => self.delegate(arguments, &context).await,
                "hang" => std::future::pending().await,
                "lower" => {
                    let name = ToolName::parse("agents__call_agent").unwrap();
                    let operation = Operation::Tool { name, arguments: raw(arguments) };
                    let rights = Some(Rights::none());
                    let options = NestedOptions { rights, ..NestedOptions::default() };
                    let nested =
                        context.nested.call_with(operation, context.nested_caller(), options);
                    match nested.await? {
                        Outcome::Done(payload) => Ok(payload),
                        other => panic!("{other:?}"),
                    }
                }
                _ => Ok(Payload::text(arguments)),
            }
        }
        .boxed()
    }
}

impl Manifests for Office {
    fn keep(&self, _: Domain, _: Digest, _: Arc<Manifest>) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

struct World {
    dispatcher: Arc<Dispatcher>,
    exchange: Arc<Exchange>,
    log: Arc<Log>,
}

/// The agents `clerk`, `writer` and the hidden `boss`; sources that delegate (`agents`, `desk`), and
/// others (`mail`, `files`). The clerk has no mail, the writer no files.
async fn office(rules: Vec<Rule>) -> World {
    let (log, handle) = (Arc::<Log>::default(), Arc::<OnceLock<Weak<Exchange>>>::default());
    let clock = Arc::new(ManualClock::at(START));
    let dispatcher = Dispatcher::new(Ports {
        audit: log.clone(),
        approvals: Arc::new(NoApprovals),
        clock: clock.clone(),
        seal: SealKey::new([7; 32]),
    });
    let source = |domain: &str, tools| {
        let office = Arc::new(Office { tools, exchange: handle.clone() });
        let settings = StatelessSettings {
            domain: Domain::parse(domain).unwrap(),
            config_digest: Digest::new([1; 32]),
            describe_deadline: std::time::Duration::from_secs(1),
            known: None,
        };
        let manifests = office.clone();
        setup_of(StatelessAdapter::new(office, settings, manifests, clock.clone()))
    };
    let sources = vec![
        source("agents", &["call_agent"]),
        source("desk", &["call_agent", "lower"]),
        source("mail", &["hang", "read", "send"]),
        source("files", &["read"]),
    ];
    let own = [denied("clerk", "mail"), denied("writer", "files")];
    dispatcher.install(Setup {
        policy: Policy::new(own.into_iter().chain(rules).collect()),
        limits: Limits::default(),
        learns: false,
        encoder: None,
        texts: None,
        loop_sources: Vec::new(),
        sources,
    });
    dispatcher.refresh().await;
    let exchange = Exchange::new(dispatcher.clone(), standard());
    handle.set(Arc::downgrade(&exchange)).unwrap();
    let profile = |visible_to: &[&str]| AgentProfile {
        instructions: "Work.".into(),
        visible_to: visible_to.iter().map(|right| Right::new(*right)).collect(),
        disclosure: None,
        disclosures: standard(),
    };
    let agents = [("clerk", profile(&[])), ("writer", profile(&[])), ("boss", profile(&[SECRET]))];
    let agents = agents.map(|(name, profile)| (AgentId::new(name), profile));
    exchange.set_agents(AgentProfiles::new(agents).unwrap());
    World { dispatcher, exchange, log }
}

fn rule(effect: Effect, domain: &str, pattern: &str) -> Rule {
    Rule {
        id: RuleId::new(format!("{effect:?} {pattern}")),
        effect,
        who: PrincipalFilter::everybody(),
        scope: Scope::Domain(Domain::parse(domain).unwrap()),
        entries: Entries::Every,
        pattern: Glob::new(pattern),
        unless: Vec::new(),
    }
}

fn denied(agent: &str, domain: &str) -> Rule {
    let who = PrincipalFilter { agents: vec![AgentId::new(agent)], ..PrincipalFilter::default() };
    Rule { who, ..rule(Effect::Deny, domain, "*") }
}

/// Ann, through the clerk.
fn clerk() -> Principal {
    let ann = Principal::user(UserId::new("ann"));
    ann.acting_as(&AgentId::new("clerk")).unwrap()
}

fn task(agent: &str, calls: &[&str]) -> String {
    let calls: Vec<_> = calls.iter().map(|tool| json!([tool, { "n": 1 }])).collect();
    json!({ "agent": agent, "calls": calls }).to_string()
}

impl World {
    async fn try_call(
        &self,
        who: &Principal,
        tool: &str,
        task: &str,
        caller: Caller,
    ) -> Result<String, CallError> {
        let pinned = self.dispatcher.pin(Arc::new(who.clone()));
        let (name, arguments) = (ToolName::parse(tool).unwrap(), raw(task));
        match pinned.call(Operation::Tool { name, arguments }, None, caller).await? {
            Outcome::Done(payload) => Ok(payload.json.get().to_owned()),
            other => panic!("{other:?}"),
        }
    }

    async fn report(&self, who: &Principal, task: &str, caller: Caller) -> Report {
        let json = self.try_call(who, "agents__call_agent", task, caller).await.unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        serde_json::from_str(json["content"][0]["text"].as_str().unwrap()).unwrap()
    }
}

const ALL: [&str; 6] =
    ["desk__call_agent", "desk__lower", "files__read", "mail__hang", "mail__read", "mail__send"];

#[tokio::test]
async fn an_agent_that_is_delegated_to_has_its_own_tools_and_not_those_of_who_delegates() {
    let world = office(Vec::new()).await;
    let calls = task("writer", &["mail__read", "files__read"]);
    let report = world.report(&clerk(), &calls, Caller::silent()).await;
    let own: Vec<_> = ALL.into_iter().filter(|tool| !tool.starts_with("files")).collect();
    assert_eq!(report.sees, own, "its own rules, and nothing of the source that delegated");
    assert!(report.answers[0].contains(r#"{\"n\":1}"#), "{report:?}");
    assert!(report.answers[1].contains("nknown tool"), "{report:?}");
    let records = world.log.records();
    let ids: Vec<_> = records.iter().map(|record| record.opened.id).collect();
    let parents: Vec<_> = records.iter().map(|record| record.opened.parent).collect();
    assert_eq!(parents, [None, Some(ids[0]), Some(ids[0])]);
    let agents: Vec<_> = records.iter().map(Record::agent).collect();
    assert_eq!(agents, ["clerk", "writer", "writer"]);
    assert_eq!(records[1].opened.principal.user, clerk().user);
    assert!(world.exchange.shows_agent(&clerk(), &AgentId::new("writer")));
}

#[tokio::test]
async fn the_tokens_narrowing_stays() {
    let world = office(Vec::new()).await;
    let narrowing = Narrowing { read_only: false, ..Narrowing::to(["agents__*", "mail__read"]) };
    let token = TokenGrant { id: TokenId::new("t"), name: "t".into(), narrowing };
    let who = Principal { token: Some(Arc::new(token)), ..clerk() };
    let calls = task("writer", &["mail__read", "mail__send", "desk__call_agent"]);
    let report = world.report(&who, &calls, Caller::silent()).await;
    assert_eq!(report.sees, ["mail__read"]);
    assert!(report.answers[0].contains(r#"{\"n\":1}"#), "{report:?}");
    assert!(report.answers[1..].iter().all(|answer| answer.contains("nknown tool")), "{report:?}");
}

#[tokio::test]
async fn the_users_rights_stay_and_so_do_those_that_were_given_up() {
    let outsiders =
        PrincipalFilter { without_rights: vec![Right::new("staff")], ..PrincipalFilter::default() };
    let staff_only = Rule { who: outsiders, ..rule(Effect::Deny, "mail", "send") };
    let boss_only =
        PrincipalFilter { rights: vec![Right::new("staff")], ..PrincipalFilter::default() };
    let not_staff = Rule { who: boss_only, ..rule(Effect::Deny, "mail", "read") };
    let world = office(vec![staff_only, not_staff]).await;
    let staff = Principal { rights: Rights::from(vec![Right::new("staff")]), ..clerk() };
    let sees = async |who: &Principal, tool| {
        let json = world.try_call(who, tool, &task("writer", &[]), Caller::silent()).await.unwrap();
        ["mail__read", "mail__send"].map(|tool| json.contains(tool))
    };
    assert_eq!(sees(&clerk(), "agents__call_agent").await, [true, false]);
    assert_eq!(sees(&staff, "agents__call_agent").await, [false, true]);
    assert_eq!(sees(&staff, "desk__lower").await, [false, false], "neither more nor others");
}

#[tokio::test]
async fn a_hidden_agent_reads_as_unknown() {
    let world = office(Vec::new()).await;
    for agent in ["boss", "nobody"] {
        let (who, task) = (clerk(), task(agent, &[]));
        let result = world.try_call(&who, "agents__call_agent", &task, Caller::silent()).await;
        assert_eq!(result.unwrap_err().to_string(), format!("unknown agent `{agent}`"));
    }
    let chief = Principal { rights: Rights::from(vec![Right::new(SECRET)]), ..clerk() };
    assert_eq!(world.report(&chief, &task("boss", &[]), Caller::silent()).await.sees, ALL);
}

#[tokio::test]
async fn delegation_goes_one_level_deep() {
    let world = office(Vec::new()).await;
    let again = json!({ "agent": "writer", "calls": [
        ["desk__call_agent", { "agent": "clerk", "calls": [] }],
        ["agents__call_agent", { "agent": "clerk", "calls": [] }],
    ]});
    let report = world.report(&clerk(), &again.to_string(), Caller::silent()).await;
    let refused = "'clerk' was not asked: an agent that was delegated to cannot delegate again";
    assert!(report.answers[0].contains(refused), "{report:?}");
    assert!(report.answers[1].contains("nknown tool"), "{report:?}");
    // Nor by a detour over a call with fewer rights.
    let detour = json!({ "agent": "writer", "calls": [
        ["desk__lower", { "agent": "clerk", "calls": [] }],
    ]});
    let report = world.report(&clerk(), &detour.to_string(), Caller::silent()).await;
    assert!(report.answers[0].contains("nknown tool"), "{report:?}");
}

#[tokio::test]
async fn an_approval_in_an_agents_call_is_asked_for_and_is_its_own() {
    let world = office(vec![rule(Effect::Ask, "mail", "send")]).await;
    let calls = task("writer", &["mail__send"]);
    for (yes, expected) in [(true, r#"{\"n\":1}"#), (false, "was not approved")] {
        let client = Arc::new(Person { yes, asked: Mutex::default(), ..Person::default() });
        let caller = Caller { peer: client.clone(), ..Caller::silent() };
        let report = world.report(&clerk(), &calls, caller).await;
        assert!(report.answers[0].contains(expected), "{report:?}");
        let asked = client.asked.lock().unwrap().concat();
        let expected_question = "Allow one call of `mail__send` of `mail` for the agent `writer`?";
        assert!(asked.contains(expected_question), "{asked}");
        let last = world.log.records().pop().unwrap();
        let tool = last.opened.tool.as_ref().unwrap();
        assert_eq!((last.agent(), tool.as_str()), ("writer", "mail__send"));
        assert_eq!(last.opened.decided_by.as_ref().unwrap().as_str(), "client");
    }
    // Nobody can be asked, so nothing is sent, whoever approved the call that delegates.
    let report = world.report(&clerk(), &calls, Caller::silent()).await;
    assert!(report.answers[0].contains("approved"), "{report:?}");
    assert!(!report.answers[0].contains(r#"{\"n\":1}"#), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn the_outer_deadline_ends_all() {
    let world = office(Vec::new()).await;
    let began = Instant::now();
    let hangs = task("writer", &["mail__hang", "mail__hang"]);
    let report = world.report(&clerk(), &hangs, Caller::silent()).await;
    assert!(report.answers.iter().all(|answer| answer.contains("mail__hang")), "{report:?}");
    assert_eq!(began.elapsed(), Limits::default().call_deadline, "both together");
    let records = world.log.records();
    assert!(records.iter().all(|record| record.is_closed), "each has ended");
}

/// A client whose user says yes or no.
struct Person {
    capabilities: ClientCapabilities,
    yes: bool,
    asked: Mutex<Vec<String>>,
}

impl Default for Person {
    fn default() -> Self {
        let capabilities = ClientCapabilities::read(&raw(r#"{"elicitation":{}}"#));
        Self { capabilities, yes: true, asked: Mutex::default() }
    }
}

impl Peer for Person {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        self.asked.lock().unwrap().push(question.params.get().to_owned());
        let action = if self.yes { "accept" } else { "decline" };
        let answer = json!({ "action": action, "content": { "approve": self.yes } });
        std::future::ready(Ok(Answer(raw(&answer.to_string())))).boxed()
    }
}

/// Keeps records in memory.
#[derive(Default)]
struct Log(Arc<Mutex<Vec<Record>>>);

#[derive(Clone)]
struct Record {
    opened: CallOpened,
    is_closed: bool,
}

impl Record {
    fn agent(&self) -> &str {
        self.opened.principal.agent.as_ref().unwrap().as_str()
    }
}

impl Log {
    fn records(&self) -> Vec<Record> {
        self.0.lock().unwrap().clone()
    }
}

impl AuditLog for Log {
    fn open(&self, opened: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>> {
        let id = opened.id;
        self.0.lock().unwrap().push(Record { opened, is_closed: false });
        let slot = Box::new(Slot { log: self.0.clone(), id }) as Box<dyn AuditSlot>;
        std::future::ready(Ok(slot)).boxed()
    }

    fn refuse(&self, opened: CallOpened, _: CallClosed) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().push(Record { opened, is_closed: true });
        std::future::ready(()).boxed()
    }

    fn discover(&self, _: DiscoveryRecord) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

struct Slot {
    log: Arc<Mutex<Vec<Record>>>,
    id: CallId,
}

impl AuditSlot for Slot {
    fn close(self: Box<Self>, _: CallClosed) -> BoxFuture<'static, ()> {
        for record in self.log.lock().unwrap().iter_mut() {
            record.is_closed |= record.opened.id == self.id;
        }
        std::future::ready(()).boxed()
    }
}
