//! A source whose tools do what their names say.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Manifest, ServerInfo};
use gatefold_core::{
    CallError, CallId, Domain, Operation, Outcome, Payload, Principal, RuleId, Suspension,
    Timestamp, ToolId, ToolName, UpstreamIdentity,
};
use gatefold_dispatch::{CallContext, Caller, Question, Source, SourceState, SourceStatus, Taint};
use gatefold_policy::Permit;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The tools of a source that nobody gave others.
pub(crate) const TOOLS: &[&str] = &[
    "ask", "big", "browse", "echo", "fail", "garble", "hang", "lose", "nest", "refuse", "rest",
    "unplug", "wait",
];

/// What a source learns of one call.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) call: CallId,
    pub(crate) tool: ToolId,
    pub(crate) name: Arc<str>,
    pub(crate) arguments: String,
    pub(crate) rule: RuleId,
    pub(crate) principal: Arc<Principal>,
    pub(crate) identity: UpstreamIdentity,
    pub(crate) nested_parent: Option<CallId>,
    pub(crate) depth: usize,
    pub(crate) taint: Taint,
}

pub(crate) struct FakeSource {
    domain: Domain,
    manifest: watch::Sender<Option<Arc<Manifest>>>,
    seen: Mutex<Vec<Seen>>,
    /// How many calls have reached the source.
    reached: watch::Sender<usize>,
    /// How many are there now.
    running: watch::Sender<usize>,
    /// The caller's token of the last call.
    cancel: Mutex<Option<CancellationToken>>,
    closed: watch::Sender<bool>,
    /// What a refresh takes and brings.
    pub(crate) refresh: Mutex<(Duration, Option<Arc<Manifest>>)>,
}

impl FakeSource {
    /// A source that has said it offers [`TOOLS`].
    pub(crate) fn new(domain: &str) -> Arc<Self> {
        Self::with_tools(domain, TOOLS)
    }

    pub(crate) fn with_tools(domain: &str, tools: &[&str]) -> Arc<Self> {
        let source = Self::silent(domain);
        source.offers(tools);
        source
    }

    /// A source that has said nothing yet.
    pub(crate) fn silent(domain: &str) -> Arc<Self> {
        Arc::new(Self {
            domain: Domain::parse(domain).unwrap(),
            manifest: watch::Sender::new(None),
            seen: Mutex::default(),
            reached: watch::Sender::new(0),
            running: watch::Sender::new(0),
            cancel: Mutex::default(),
            closed: watch::Sender::new(false),
            refresh: Mutex::default(),
        })
    }

    pub(crate) fn offers(&self, tools: &[&str]) {
        self.manifest.send_replace(Some(manifest(tools, "")));
    }

    /// Offers the same tools under other definitions.
    pub(crate) fn redefines(&self, tools: &[&str]) {
        let changed = manifest(tools, "now with a description");
        self.manifest.send_replace(Some(changed));
    }

    /// Waits until so many calls have reached the source.
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

    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
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
        self.seen.lock().unwrap().push(Seen {
            call: call.id,
            tool: permit.target().id.clone(),
            name: permit.target().name.clone(),
            arguments: call.operation.arguments().to_owned(),
            rule: permit.rule().clone(),
            principal: call.principal.clone(),
            identity: context.identity.clone(),
            nested_parent: call.parent,
            depth: context.nested.depth(),
            taint: context.nested.taint(),
        });
        *self.cancel.lock().unwrap() = Some(context.cancel.clone());
    }

    async fn answer(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> Result<Outcome, CallError> {
        self.note(&permit, &context);
        self.running.send_modify(|running| *running += 1);
        self.reached.send_modify(|reached| *reached += 1);
        let _running = Running(&self.running);
        let arguments = permit.call().operation.arguments();
        match &*permit.target().name {
            "ask" => ask(&context).await,
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
            "nest" => nest(&context, arguments).await,
            "refuse" => Err(CallError::Refused {
                tool: permit.target().id.clone(),
                code: -32602,
                message: "as asked".to_owned(),
            }),
            "rest" => Err(CallError::Resting {
                domain: self.domain.clone(),
                reason: "as asked".to_owned(),
            }),
            "unplug" => Err(CallError::Unavailable {
                domain: self.domain.clone(),
                reason: "as asked".to_owned(),
                source: None,
            }),
            "wait" => Ok(wait(&permit)),
            _ => Ok(done(arguments)),
        }
    }
}

/// Answers with what the caller's client said.
async fn ask(context: &CallContext) -> Result<Outcome, CallError> {
    let question = Question { method: "elicitation/create".to_owned(), params: raw("{}") };
    match context.peer.ask(question).await {
        Ok(answer) => Ok(done(answer.0.get())),
        Err(error) => Ok(done(&json!(error.to_string()).to_string())),
    }
}

/// Calls the first tool of a list, which gets the others for arguments; answers with its answer.
async fn nest(context: &CallContext, arguments: &str) -> Result<Outcome, CallError> {
    let mut tools: Vec<String> = serde_json::from_str(arguments).unwrap();
    let name = ToolName::new(tools.remove(0));
    let arguments = raw(&serde_json::to_string(&tools).unwrap());
    let operation = Operation::Tool { name, arguments };
    context.nested.call(operation, Caller::silent()).await
}

/// Suspends; resumed, answers with its own state and what was answered.
fn wait(permit: &Permit) -> Outcome {
    match &permit.call().resume {
        None => Outcome::Suspended(Suspension {
            questions: raw(r#"{"name":"?"}"#),
            state: "the source's own".to_owned(),
        }),
        Some(resume) => {
            done(&format!(r#"{{"state":"{}","answers":{}}}"#, resume.state, resume.answers.get()))
        }
    }
}

struct Running<'a>(&'a watch::Sender<usize>);

impl Drop for Running<'_> {
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

    fn status(&self) -> SourceStatus {
        SourceStatus {
            state: SourceState::Running,
            since: Timestamp::from_millis(0),
            error: None,
            protocol: None,
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
    let server = ServerInfo {
        name: "fake".to_owned(),
        version: "1".to_owned(),
        title: None,
        instructions: None,
        protocol: "2026-07-28".to_owned(),
    };
    let now = Timestamp::from_millis(0);
    Arc::new(Manifest::from_pages(server, &[raw(&page)], now))
}
