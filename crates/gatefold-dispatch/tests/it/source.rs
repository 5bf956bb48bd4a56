//! A source whose tools do what their names say.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Listing, Manifest, ServerInfo};
use gatefold_core::{
    AnswerFault, CallEffect, CallError, CallId, Domain, Label, Operation, Outcome, Payload,
    Principal, Resume, RuleId, Suspension, TaskAct, TaskHandle, TaskRequest, Timestamp, ToolId,
    ToolName, UnsentCause, UpstreamIdentity,
};
use gatefold_dispatch::{
    AskError, CallContext, Caller, Event, NestedOptions, Question, Source, SourceState,
    SourceStatus,
};
use gatefold_policy::Permit;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::world::{ASKED, retrying};

/// The default tools of a source.
pub(crate) const TOOLS: &[&str] = &[
    "again",
    "ask",
    "badger",
    "begin",
    "big",
    "both",
    "brood",
    "browse",
    "chat",
    "cope",
    "crowd",
    "echo",
    "fail",
    "garble",
    "hang",
    "hasty",
    "lose",
    "misanswer",
    "mumble",
    "nap",
    "nest",
    "refuse",
    "rest",
    "twice",
    "unplug",
    "wait",
    "withhold",
];

/// How long `hasty` waits for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long `nap` sleeps before it asks: as long as a call has.
pub(crate) const NAP: Duration = Duration::from_mins(1);

/// What `wait` asks.
pub(crate) const QUESTIONS: &str = r#"{"name":{"method":"elicitation/create","params":{}}}"#;

/// What a source sees of one call.
#[derive(Debug)]
pub(crate) struct SeenCall {
    pub(crate) call: CallId,
    pub(crate) tool: ToolId,
    pub(crate) name: Arc<str>,
    pub(crate) operation: &'static str,
    pub(crate) arguments: String,
    pub(crate) rule: RuleId,
    pub(crate) principal: Arc<Principal>,
    pub(crate) identity: UpstreamIdentity,
    pub(crate) nested_parent: Option<CallId>,
    pub(crate) depth: usize,
    pub(crate) label: Label,
}

pub(crate) struct FakeSource {
    domain: Domain,
    manifest: watch::Sender<Option<Arc<Manifest>>>,
    seen: Mutex<Vec<SeenCall>>,
    /// How many calls have reached the source.
    reached: watch::Sender<usize>,
    /// How many are there now.
    running: watch::Sender<usize>,
    /// The caller's token of the last call.
    cancel: Mutex<Option<CancellationToken>>,
    closed: watch::Sender<bool>,
    /// How the next nested call differs.
    nested: Mutex<NestedOptions>,
    updates: broadcast::Sender<Arc<str>>,
    /// How long a refresh takes and what it brings.
    pub(crate) refresh: Mutex<(Duration, Option<Arc<Manifest>>)>,
}

impl FakeSource {
    /// A source that offers [`TOOLS`].
    pub(crate) fn new(domain: &str) -> Arc<Self> {
        Self::with_tools(domain, TOOLS)
    }

    pub(crate) fn with_tools(domain: &str, tools: &[&str]) -> Arc<Self> {
        let source = Self::silent(domain);
        source.offers(tools);
        source
    }

    /// A source that was never listed.
    pub(crate) fn silent(domain: &str) -> Arc<Self> {
        Arc::new(Self {
            domain: Domain::parse(domain).unwrap(),
            manifest: watch::Sender::new(None),
            seen: Mutex::default(),
            reached: watch::Sender::new(0),
            running: watch::Sender::new(0),
            cancel: Mutex::default(),
            closed: watch::Sender::new(false),
            nested: Mutex::default(),
            updates: broadcast::Sender::new(16),
            refresh: Mutex::default(),
        })
    }

    pub(crate) fn offers(&self, tools: &[&str]) {
        self.manifest.send_replace(Some(manifest(tools, "")));
    }

    /// Offers one tool with this input schema.
    pub(crate) fn offers_with_schema(&self, tool: &str, schema: &Value) {
        let page = json!({"tools": [{"name": tool, "inputSchema": schema}]}).to_string();
        let now = Timestamp::from_millis(0);
        let manifest = Manifest::from_pages(server(), &[raw(&page)], now);
        self.manifest.send_replace(Some(Arc::new(manifest)));
    }

    /// Offers these prompts and resources, a template that fits `note:*`, and the tool `begin`.
    pub(crate) fn with_entries(domain: &str, prompts: &[&str], resources: &[&str]) -> Arc<Self> {
        let source = Self::silent(domain);
        let prompts = prompts.iter().map(|name| json!({"name": name}));
        let resources = resources.iter().map(|uri| json!({"uri": uri, "name": uri}));
        let page = |key: &str, entries: Vec<Value>| [raw(&json!({ key: entries }).to_string())];
        let listing = Listing {
            tools: &page(
                "tools",
                vec![json!({"name": "begin", "inputSchema": {"type": "object"}})],
            ),
            prompts: &page("prompts", prompts.collect()),
            resources: &page("resources", resources.collect()),
            templates: &page(
                "resourceTemplates",
                vec![json!({"uriTemplate": "note:{id}", "name": "notes"})],
            ),
        };
        let manifest = Manifest::from_listing(server(), listing, Timestamp::from_millis(0));
        assert!(manifest.alterations().is_empty(), "{:?}", manifest.alterations());
        source.manifest.send_replace(Some(Arc::new(manifest)));
        source
    }

    /// Announces that a resource has changed.
    pub(crate) fn updates(&self, uri: &str) {
        drop(self.updates.send(uri.into()));
    }

    /// Offers the same tools with other definitions.
    pub(crate) fn redefines(&self, tools: &[&str]) {
        let changed = manifest(tools, "now with a description");
        self.manifest.send_replace(Some(changed));
    }

    /// Waits until this many calls have reached the source.
    pub(crate) async fn reached(&self, calls: usize) {
        let mut reached = self.reached.subscribe();
        reached.wait_for(|count| *count >= calls).await.unwrap();
    }

    pub(crate) fn calls(&self) -> usize {
        *self.reached.borrow()
    }

    pub(crate) fn running(&self) -> usize {
        *self.running.borrow()
    }

    pub(crate) fn seen(&self) -> Vec<SeenCall> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    /// Makes the next nested call with these options.
    pub(crate) fn nests_with(&self, options: NestedOptions) {
        *self.nested.lock().unwrap() = options;
    }

    fn nest_options(&self) -> NestedOptions {
        std::mem::take(&mut self.nested.lock().unwrap())
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    pub(crate) async fn when_closed(&self) {
        let mut closed = self.closed.subscribe();
        closed.wait_for(|closed| *closed).await.unwrap();
    }

    /// Whether the caller's token of the last call has fired.
    pub(crate) fn heard_cancel(&self) -> bool {
        let cancel = self.cancel.lock().unwrap();
        cancel.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    fn note(&self, permit: &Permit, context: &CallContext) {
        let call = permit.call();
        self.seen.lock().unwrap().push(SeenCall {
            call: call.id,
            tool: permit.target().id.clone(),
            name: permit.target().name.clone(),
            operation: call.operation.as_str(),
            arguments: call.operation.arguments().to_owned(),
            rule: permit.rule().clone(),
            principal: call.principal.clone(),
            identity: context.identity.clone(),
            nested_parent: call.parent,
            depth: context.nested.depth(),
            label: context.nested.lineage().label,
        });
        *self.cancel.lock().unwrap() = Some(context.caller.cancel.clone());
    }

    async fn answer(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> Result<Outcome, CallError> {
        self.note(&permit, &context);
        self.running.send_modify(|running| *running += 1);
        self.reached.send_modify(|reached| *reached += 1);
        let _running = RunningCount(&self.running);
        let arguments = permit.call().operation.arguments();
        match &*permit.target().name {
            _ if let Operation::Task(request) = &*permit.call().operation => Ok(task(request)),
            "again" => nest_again(&context, arguments).await,
            "badger" => Ok(asks(QUESTIONS)),
            "begin" => Ok(working("7")),
            tool @ ("ask" | "both" | "brood" | "chat" | "cope" | "hasty" | "nap" | "twice") => {
                Ok(with_answers(tool, &context).await)
            }
            "crowd" => Ok(asks(&crowd())),
            "mumble" => Ok(asks(r#"{"name":7}"#)),
            "big" => Ok(done(&json!({"text": "x".repeat(2_000_000)}).to_string())),
            "fail" => Ok(Outcome::Done(Payload {
                json: raw(r#"{"content":[],"isError":true}"#),
                is_error: true,
            })),
            "garble" => Err(CallError::Protocol {
                domain: self.domain.clone(),
                reason: "as asked".to_owned(),
                source: None,
            }),
            "hang" => std::future::pending().await,
            "lose" => Err(CallError::Lost {
                tool: permit.target().id.clone(),
                reason: "as asked".to_owned(),
            }),
            "misanswer" => Err(CallError::NoResult {
                domain: self.domain.clone(),
                fault: AnswerFault::EndedEarly,
                effect: CallEffect::Possible,
                retry_after: None,
                reason: "as asked".to_owned(),
            }),
            "withhold" => Err(CallError::NotSent {
                domain: self.domain.clone(),
                cause: UnsentCause::Credentials,
                reason: "as asked".to_owned(),
            }),
            "nest" => nest(&context, arguments, self.nest_options()).await,
            "refuse" => Err(CallError::Refused {
                tool: permit.target().id.clone(),
                code: -32602,
                message: "as asked".to_owned(),
                data: None,
            }),
            "rest" => Err(CallError::CircuitOpen {
                domain: self.domain.clone(),
                reason: "as asked".to_owned(),
                retry_after: Duration::ZERO,
                fault: None,
            }),
            "unplug" => Err(CallError::Unavailable {
                domain: self.domain.clone(),
                reason: "as asked".to_owned(),
                source: None,
            }),
            "wait" | "note:wait" => Ok(wait(&permit)),
            _ => Ok(done(arguments)),
        }
    }
}

/// What the caller's client answers.
async fn ask(context: &CallContext) -> Result<String, AskError> {
    let question = Question { method: "elicitation/create".to_owned(), params: raw("{}") };
    context.caller.peer.ask(question).await.map(|answer| answer.0.get().to_owned())
}

/// The tools that ask the caller's client something.
async fn with_answers(tool: &str, context: &CallContext) -> Outcome {
    match tool {
        "both" => {
            let (first, second) = tokio::join!(ask(context), ask(context));
            answered(first.and_then(|first| Ok(format!("[{first},{}]", second?))))
        }
        "brood" => {
            drop(ask(context).await);
            std::future::pending().await
        }
        "chat" => {
            let answer = ask(context).await;
            for text in answer.iter().chain([&"1".to_owned()]) {
                context.caller.events.send(Event::Progress(raw(text)));
            }
            answered(answer)
        }
        "cope" => done(&match ask(context).await {
            Ok(answer) => answer,
            Err(error) => format!("\"without: {error}\""),
        }),
        "hasty" => {
            let answer = timeout(PATIENCE, ask(context)).await;
            done(&answer.map_or_else(|_| r#""gave up""#.to_owned(), Result::unwrap))
        }
        "nap" => {
            tokio::time::sleep(NAP).await;
            answered(ask(context).await)
        }
        "twice" => {
            let first = ask(context).await.unwrap();
            answered(ask(context).await.map(|second| format!("[{first},{second}]")))
        }
        _ => answered(ask(context).await),
    }
}

/// Returns the client's answer.
fn answered(answer: Result<String, AskError>) -> Outcome {
    let Ok(answer) = answer else {
        // Servers use words of their own here.
        let json = r#"{"content":[{"type":"text","text":"no answer"}],"isError":true}"#;
        return Outcome::Done(Payload { json: raw(json), is_error: true });
    };
    done(&answer)
}

/// A running task, as the source knows it.
fn working(id: &str) -> Outcome {
    let json = raw(&json!({"taskId": id, "status": "working"}).to_string());
    Outcome::Task(TaskHandle { id: id.to_owned(), json })
}

/// Answers a request about a task with the source's own id of it.
fn task(request: &TaskRequest) -> Outcome {
    match &request.act {
        TaskAct::Get => working(&request.task),
        TaskAct::Update(answers) => done(&format!(r#"{{"{}":{answers}}}"#, request.task)),
        TaskAct::Cancel => done(&format!(r#""cancelled {}""#, request.task)),
    }
}

fn asks(questions: &str) -> Outcome {
    Outcome::Suspended(Suspension {
        questions: raw(questions),
        state: Some("the source's own".to_owned()),
    })
}

/// One more question than a client is asked at once.
fn crowd() -> String {
    let questions = (0..17).map(|number| format!(r#""{number}":{{"method":"roots/list"}}"#));
    format!("{{{}}}", questions.collect::<Vec<_>>().join(","))
}

/// Calls the first tool of a list with the others as arguments, and returns its answer.
async fn nest(
    context: &CallContext,
    arguments: &str,
    options: NestedOptions,
) -> Result<Outcome, CallError> {
    let mut tools: Vec<String> = serde_json::from_str(arguments).unwrap();
    let name = ToolName::parse(&tools.remove(0)).unwrap();
    let arguments = raw(&serde_json::to_string(&tools).unwrap());
    let operation = Operation::Tool { name, arguments };
    let caller = Caller { peer: context.caller.peer.clone(), ..Caller::silent() };
    context.nested.call_with(operation, caller, options).await
}

/// Calls a tool that suspends, for a client that answers by repeating its request, and resumes that
/// same call.
async fn nest_again(context: &CallContext, arguments: &str) -> Result<Outcome, CallError> {
    let tools: Vec<String> = serde_json::from_str(arguments).unwrap();
    let name = ToolName::parse(&tools[0]).unwrap();
    let operation = Operation::Tool { name, arguments: raw("{}") };
    let nested = |resume| {
        let options = NestedOptions { resume, ..NestedOptions::default() };
        context.nested.call_with(operation.clone(), retrying(ASKED), options)
    };
    let Outcome::Suspended(suspension) = nested(None).await? else { panic!("it does not suspend") };
    let (state, answers) = (suspension.state, raw(r#"{"name":"Ada"}"#));
    nested(Some(Resume { state, answers })).await
}

/// Suspends; when resumed, returns its own state and the answers.
fn wait(permit: &Permit) -> Outcome {
    match &permit.call().resume {
        None => asks(QUESTIONS),
        Some(resume) => {
            let state = resume.state.as_deref().unwrap_or("none");
            done(&format!(r#"{{"state":"{state}","answers":{}}}"#, resume.answers.get()))
        }
    }
}

struct RunningCount<'a>(&'a watch::Sender<usize>);

impl Drop for RunningCount<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

impl Source for FakeSource {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifest.subscribe()
    }

    fn updates(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        Some(self.updates.subscribe())
    }

    fn status(&self) -> SourceStatus {
        SourceStatus {
            state: SourceState::Running,
            since: Timestamp::from_millis(0),
            error: None,
            protocol: None,
            downloading: None,
            sessions: 1,
        }
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        Box::pin(async move {
            let (takes, brings) = self.refresh.lock().unwrap().clone();
            tokio::time::sleep(takes).await;
            let Some(manifest) = brings else {
                return Err(CallError::Unavailable {
                    domain: self.domain.clone(),
                    reason: "as asked".to_owned(),
                    source: None,
                });
            };
            self.manifest.send_replace(Some(manifest));
            Ok(())
        })
    }

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        Box::pin(self.answer(permit, context))
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.closed.send_replace(true);
        })
    }
}

pub(crate) fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn done(json: &str) -> Outcome {
    Outcome::Done(Payload { json: raw(json), is_error: false })
}

/// What a server with these tools would have said. `browse` speaks with the open world.
pub(crate) fn manifest(tools: &[&str], description: &str) -> Arc<Manifest> {
    let tools = tools.iter().map(|name| {
        json!({
            "name": name,
            "description": description,
            "inputSchema": {"type": "object"},
            "annotations": {"openWorldHint": *name == "browse"},
        })
    });
    let page = json!({"tools": tools.collect::<Vec<_>>()}).to_string();
    let now = Timestamp::from_millis(0);
    Arc::new(Manifest::from_pages(server(), &[raw(&page)], now))
}

fn server() -> ServerInfo {
    ServerInfo {
        name: "fake".to_owned(),
        version: "1".to_owned(),
        title: None,
        description: None,
        instructions: None,
        protocol: "2026-07-28".to_owned(),
        capabilities: None,
        whole: None,
    }
}
