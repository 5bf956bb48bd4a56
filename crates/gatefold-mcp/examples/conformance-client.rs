//! The client that the official conformance suite tests: Gatefold's own source of MCP tools under a
//! real dispatcher, with everything else in memory.
//!
//! The suite appends its server's URL to the command and names the scenario in
//! `MCP_CONFORMANCE_SCENARIO`:
//!
//! ```text
//! conformance client --command target/debug/examples/conformance-client --requirements 2026-07-28
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{GroupRules, KindName, Manifest};
use gatefold_core::{
    Digest, Domain, Operation, Outcome, Principal, PromptName, SystemClock, ToolName, Uri,
};
use gatefold_dispatch::{
    Answer, AskError, AuditError, AuditLog, AuditSlot, CallClosed, CallOpened, Caller,
    ClientCapabilities, DiscoveryRecord, Dispatcher, IdentityScope, Limits, Manifests, NoApprovals,
    Peer, PinnedTurn, Ports, Question, QuestionMode, SealKey, Setup, SourceSetup,
};
use gatefold_egress::{Egress, HttpClient, Reach, Settings};
use gatefold_mcp::{
    EraChoice, HttpSettings, McpPorts, McpSettings, McpSource, SessionPlaces, StartLimits,
    StartPlaces, Transport, UserSessionLimits,
};
use gatefold_policy::Policy;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

type Failure = Box<dyn Error + Send + Sync>;

/// How long the server may take to be met.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error, "the scenario could not be played");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the suite sets its requests in variables")]
async fn run() -> Result<(), Failure> {
    let url = std::env::args().next_back().ok_or("the server's URL is missing")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context = serde_json::from_str(&context).unwrap_or(Value::Null);
    let dispatcher = dispatcher(&url)?;
    for (_, refreshed) in dispatcher.refresh().await {
        refreshed?;
    }
    let client = Client { pinned: dispatcher.pin(Arc::new(Principal::local())) };
    client.play(&scenario, &context).await?;
    dispatcher.close().await;
    Ok(())
}

struct Client {
    pinned: PinnedTurn,
}

impl Client {
    async fn play(&self, scenario: &str, context: &Value) -> Result<(), Failure> {
        match scenario {
            "tools_call" => self.tool("add_numbers", &json!({"a": 5, "b": 3})).await,
            "http-custom-headers" => {
                for call in context["toolCalls"].as_array().into_iter().flatten() {
                    let name = call["name"].as_str().unwrap_or_default();
                    self.tool(name, &call["arguments"]).await?;
                }
                Ok(())
            }
            "json-schema-2020-12-preservation" => self.echo_schema().await,
            "sep-2322-client-request-state" => {
                for tool in [
                    "test_mrtr_echo_state",
                    "test_mrtr_unrelated",
                    "test_mrtr_no_state",
                    "test_mrtr_no_result_type",
                ] {
                    self.tool(tool, &json!({})).await?;
                }
                Ok(())
            }
            // Being met and listed is all there is to them.
            "initialize" | "request-metadata" | "json-schema-ref-no-deref" => Ok(()),
            _ => self.everything().await,
        }
    }

    /// Uses whatever the server lists.
    async fn everything(&self) -> Result<(), Failure> {
        let view = self.pinned.view();
        let tools = view
            .tools()
            .map(|tool| Operation::Tool { name: ToolName::of(tool.id()), arguments: empty() });
        let prompts = view.prompts().map(|prompt| Operation::Prompt {
            name: PromptName::new(prompt.id().as_str()),
            arguments: empty(),
        });
        let resources = view.resources();
        let resources = resources.map(|entry| Operation::Resource(Uri::new(entry.id().as_str())));
        let operations: Vec<_> = tools.chain(prompts).chain(resources).collect();
        for operation in operations {
            self.make(operation).await?;
        }
        Ok(())
    }

    /// Sends the schema of one tool as the argument of another, as it came.
    async fn echo_schema(&self) -> Result<(), Failure> {
        let (mut rich, mut echo) = (None, None);
        for tool in self.pinned.view().tools() {
            let schema = tool.definition().input_schema();
            if schema.contains("$defs") {
                rich = Some(format!(r#"{{"schema":{schema}}}"#));
            } else {
                echo = Some(ToolName::of(tool.id()));
            }
        }
        let (name, arguments) = echo.zip(rich).ok_or("the two tools are missing")?;
        let arguments = RawValue::from_string(arguments)?;
        self.make(Operation::Tool { name, arguments }).await
    }

    async fn tool(&self, name: &str, arguments: &Value) -> Result<(), Failure> {
        let (name, arguments) = (ToolName::parse(name)?, to_raw_value(arguments)?);
        self.make(Operation::Tool { name, arguments }).await
    }

    async fn make(&self, operation: Operation) -> Result<(), Failure> {
        let caller = Caller { peer: Arc::new(Person::new()?), ..Caller::silent() };
        match self.pinned.call(operation, None, caller).await? {
            Outcome::Done(payload) => {
                tracing::info!(is_error = payload.is_error, bytes = payload.json.get().len());
                Ok(())
            }
            other => Err(format!("not done: {other:?}").into()),
        }
    }
}

/// A client that says yes to everything, and leaves every field as it is.
struct Person(ClientCapabilities);

impl Person {
    fn new() -> Result<Self, Failure> {
        let capabilities = json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}});
        Ok(Self(ClientCapabilities::read(&to_raw_value(&capabilities)?)))
    }
}

impl Peer for Person {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.0
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        let params: Value = serde_json::from_str(question.params.get()).unwrap_or_default();
        let answer = match question.method.as_str() {
            "elicitation/create" => json!({"action": "accept", "content": filled(&params)}),
            "sampling/createMessage" => json!({
                "role": "assistant",
                "content": {"type": "text", "text": "yes"},
                "model": "none",
            }),
            _ => json!({"roots": []}),
        };
        Box::pin(async move { to_raw_value(&answer).map(Answer).map_err(|_| AskError::Gone) })
    }
}

/// A form with every field at its default, or at something of its kind.
fn filled(params: &Value) -> Value {
    let fields = params["requestedSchema"]["properties"].as_object().into_iter().flatten();
    let filled = fields.map(|(name, field)| {
        let value = field.get("default").cloned().unwrap_or_else(|| match field["type"].as_str() {
            Some("boolean") => true.into(),
            Some("integer" | "number") => 1.into(),
            _ => "yes".into(),
        });
        (name.clone(), value)
    });
    Value::Object(filled.collect())
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("an empty object is JSON")
}

fn dispatcher(url: &str) -> Result<Arc<Dispatcher>, Failure> {
    let settings = McpSettings {
        domain: Domain::parse("suite")?,
        transport: Transport::Http(HttpSettings { url: url.to_owned(), headers: Vec::new() }),
        era: EraChoice::Auto,
        connect_deadline: CONNECT_DEADLINE,
        install_deadline: CONNECT_DEADLINE,
        idle_stop: Duration::from_mins(10),
        config_digest: Digest::new([0; 32]),
    };
    let clock = Arc::new(SystemClock);
    let ports = McpPorts {
        client: http_client()?,
        credentials: None,
        keeper: Arc::new(NoManifests),
        clock,
        starts: Arc::new(StartPlaces::new(StartLimits::default())),
        sessions: Arc::new(SessionPlaces::new(UserSessionLimits::default())),
        path: Arc::default(),
        containers: None,
    };
    let setup = SourceSetup {
        source: McpSource::new(settings, ports, None),
        kind: KindName::new("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        identity: IdentityScope::Shared,
        call_deadline: None,
    };
    let dispatcher = Dispatcher::new(Ports {
        audit: Arc::new(NoManifests),
        approvals: Arc::new(NoApprovals),
        clock: Arc::new(SystemClock),
        seal: SealKey::new([7; 32]),
    });
    dispatcher.install(Setup {
        policy: Policy::default(),
        limits: Limits::default(),
        learns: false,
        encoder: None,
        texts: None,
        loop_sources: Vec::new(),
        sources: vec![setup],
    });
    Ok(dispatcher)
}

/// The suite's servers stand on this machine.
fn http_client() -> Result<HttpClient, Failure> {
    let egress = Egress::new(Settings { read_timeout: None, ..Settings::default() })?;
    Ok(egress.without_proxies().client_for(Reach::any()))
}

/// Keeps nothing.
struct NoManifests;

impl Manifests for NoManifests {
    fn keep(&self, _: Domain, _: Digest, _: Arc<Manifest>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl AuditLog for NoManifests {
    fn open(&self, _: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>> {
        Box::pin(async { Ok(Box::new(NoManifests) as Box<dyn AuditSlot>) })
    }

    fn refuse(&self, _: CallOpened, _: CallClosed) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn discover(&self, _: DiscoveryRecord) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl AuditSlot for NoManifests {
    fn close(self: Box<Self>, _: CallClosed) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}
