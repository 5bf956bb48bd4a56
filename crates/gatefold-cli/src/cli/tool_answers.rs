//! The requests of `gatefold tools` and their answers, given by a running gateway or by one that
//! the command opens itself.

use gatefold::App;
use gatefold_catalog::{Hit, Scope, Tool, View, fit, search};
use gatefold_core::{CallError, Operation, Outcome, ToolName};
use gatefold_dispatch::{Caller, PinnedTurn};
use gatefold_search::Fit;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::arguments::ModeName;
use super::catalogue::{self, LeftOutSource, NO_SOURCE, resolve};
use super::failure::{ReportedFault, usage, with_help};
use super::progress::Progress;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolsRequest {
    List { domain: Option<String> },
    Search { query: String, mode: ModeName, limit: usize },
    Schema { names: Vec<String> },
    Call { name: String, arguments: CallArguments },
}

impl ToolsRequest {
    fn ranks_by_meaning(&self) -> bool {
        matches!(self, Self::Search { mode, .. } if mode.ranks_by_meaning())
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallArguments {
    /// One JSON object.
    Object(Box<RawValue>),
    /// Keys and values. A value that is JSON is taken as JSON, unless the tool's schema says that
    /// the argument is a string.
    Pairs(Vec<(String, String)>),
}

/// An answer, and the sources that are missing from it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AnsweredRequest {
    pub(super) answer: Result<ToolsAnswer, ReportedFault>,
    pub(super) left_out: Vec<LeftOutSource>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolsAnswer {
    Tools(Vec<ListedTool>),
    Found(FoundTools),
    Schemas(Vec<ToolDefinition>),
    Call(CallAnswer),
}

/// What a search found, best first, and how well the best of it fits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FoundTools {
    pub(super) fit: Fit,
    /// Whether the encoder had not read all tools yet, so that they were ranked without it.
    #[serde(default)]
    pub(super) is_early: bool,
    pub(super) tools: Vec<ListedTool>,
}

/// A tool in a list, and the text that only people are shown.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ListedTool {
    pub(super) line: ToolLine,
    /// The description in the form shown to people.
    pub(super) shown: String,
}

/// A tool in a list, in the form that `--json` prints.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToolLine {
    pub(super) name: String,
    pub(super) domain: String,
    pub(super) group: String,
    pub(super) description: String,
    /// What the tool knows about that fits the words of a search.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub(super) topic: Option<String>,
}

/// A tool with its schemas, in the form that `--json` prints and models are shown.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToolDefinition {
    pub(super) name: String,
    pub(super) domain: String,
    pub(super) group: String,
    pub(super) description: String,
    pub(super) parameters: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output_schema: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) annotations: Option<Box<RawValue>>,
}

/// The outcome of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallAnswer {
    Done {
        tool: String,
        is_error: bool,
        result: Box<RawValue>,
    },
    /// It waits for a person's approval.
    Waits {
        tool: String,
    },
    Task {
        tool: String,
        id: String,
    },
    Refused {
        tool: String,
        error: String,
        kind: String,
    },
}

/// Answers a request. Sources that were never reached are asked first, if the request needs them.
pub(super) async fn ask(app: &App, request: &ToolsRequest, progress: &Progress) -> AnsweredRequest {
    let left_out = catalogue::complete(app, progress, |view| is_known(request, view)).await;
    let answer = answer(request, app, progress).await.map_err(ReportedFault::from);
    AnsweredRequest { answer, left_out }
}

/// Whether everything that a request names is known, so that it need not wait for unknown sources.
fn is_known(request: &ToolsRequest, view: &View) -> bool {
    match request {
        ToolsRequest::List { .. } | ToolsRequest::Search { .. } => false,
        ToolsRequest::Schema { names } => names.iter().all(|name| resolve(view, name).is_ok()),
        ToolsRequest::Call { name, .. } => resolve(view, name).is_ok(),
    }
}

async fn answer(
    request: &ToolsRequest,
    app: &App,
    progress: &Progress,
) -> anyhow::Result<ToolsAnswer> {
    let is_early = request.ranks_by_meaning() && !catalogue::await_encoder(app, progress).await;
    let pinned = &app.pin();
    let view = pinned.view();
    match request {
        ToolsRequest::List { domain } => list(view, domain.as_deref()).map(ToolsAnswer::Tools),
        ToolsRequest::Search { query, mode, limit } => {
            let hits = search(view, query, &Scope::default(), (*mode).into(), *limit);
            let tools = hits.iter().map(found).collect();
            Ok(ToolsAnswer::Found(FoundTools { fit: fit(&hits), is_early, tools }))
        }
        ToolsRequest::Schema { names } => {
            let tools = names.iter().map(|name| resolve(view, name));
            let tools = tools.collect::<Result<Vec<_>, _>>()?;
            let schemas = tools.into_iter().map(definition).collect::<Result<_, _>>()?;
            Ok(ToolsAnswer::Schemas(schemas))
        }
        ToolsRequest::Call { name, arguments } => {
            call(name, arguments, pinned).await.map(ToolsAnswer::Call)
        }
    }
}

fn list(view: &View, domain: Option<&str>) -> anyhow::Result<Vec<ListedTool>> {
    if let Some(domain) = domain.filter(|domain| view.domain(domain).is_none()) {
        let known: Vec<_> = view.domains().map(|entry| entry.domain().as_str()).collect();
        let fault = format!("unknown domain `{domain}`");
        let help = match known.as_slice() {
            [] => NO_SOURCE.to_owned(),
            known => format!("the domains are {}", known.join(", ")),
        };
        return Err(with_help(fault, help));
    }
    let is_asked = |tool: &&Tool| domain.is_none_or(|domain| tool.domain().as_str() == domain);
    Ok(view.tools().filter(is_asked).map(listed).collect())
}

fn found(hit: &Hit<'_>) -> ListedTool {
    let ListedTool { mut line, mut shown } = listed(hit.tool);
    if let Some(topic) = hit.topic {
        line.topic = Some(topic.to_owned());
        shown = format!("{topic}: {shown}");
    }
    ListedTool { line, shown }
}

fn listed(tool: &Tool) -> ListedTool {
    let line = ToolLine {
        name: tool.id().to_string(),
        domain: tool.domain().to_string(),
        group: tool.group().to_owned(),
        description: tool.line().to_owned(),
        topic: None,
    };
    ListedTool { line, shown: tool.marked_line() }
}

fn definition(tool: &Tool) -> anyhow::Result<ToolDefinition> {
    let definition = tool.definition();
    Ok(ToolDefinition {
        name: tool.id().to_string(),
        domain: tool.domain().to_string(),
        group: tool.group().to_owned(),
        description: definition.description().unwrap_or_default().to_owned(),
        parameters: serde_json::from_str(definition.input_schema())?,
        output_schema: definition.output_schema().map(serde_json::from_str).transpose()?,
        annotations: definition.annotations().map(serde_json::from_str).transpose()?,
    })
}

/// Makes one call on the same path as any other, with a record.
async fn call(
    name: &str,
    arguments: &CallArguments,
    pinned: &PinnedTurn,
) -> anyhow::Result<CallAnswer> {
    let tool = resolve(pinned.view(), name)?;
    let arguments = match arguments {
        CallArguments::Object(object) => object.clone(),
        CallArguments::Pairs(pairs) => to_raw_value(&from_pairs(pairs, tool)?)?,
    };
    let operation = Operation::Tool { name: ToolName::of(tool.id()), arguments };
    let tool = tool.id().to_string();
    Ok(match pinned.call(operation, None, Caller::silent()).await {
        Ok(Outcome::Done(payload)) => {
            CallAnswer::Done { tool, is_error: payload.is_error, result: payload.json.clone() }
        }
        Ok(Outcome::Suspended(_)) => CallAnswer::Waits { tool },
        Ok(Outcome::Task(task)) => CallAnswer::Task { tool, id: task.id.clone() },
        Err(error) => refused(tool, &error),
    })
}

fn refused(tool: String, error: &CallError) -> CallAnswer {
    CallAnswer::Refused { tool, error: error.for_person(), kind: error.kind().as_str().to_owned() }
}

fn from_pairs(pairs: &[(String, String)], tool: &Tool) -> anyhow::Result<Map<String, Value>> {
    let schema: Value = serde_json::from_str(tool.definition().input_schema()).unwrap_or_default();
    let mut arguments = Map::new();
    for (key, text) in pairs {
        let is_string = schema["properties"][key]["type"] == "string";
        let value = match serde_json::from_str(text) {
            Ok(value) if !is_string => value,
            _ => Value::String(text.clone()),
        };
        if arguments.insert(key.clone(), value).is_some() {
            return Err(usage(format!(
                "`--arg {key}` is given twice\n  help: give each argument once"
            )));
        }
    }
    Ok(arguments)
}
