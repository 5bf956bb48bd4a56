//! Tools: listed, found, inspected and called.

use gatefold_catalog::{Hit, Scope, SearchMode, Tool, View, fit, search};
use gatefold_core::{CallError, Operation, Outcome, ToolName};
use gatefold_dispatch::Caller;
use gatefold_search::Fit;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::catalogue::{LeftOutSource, NO_SOURCE, await_encoder, complete, resolve};
use crate::{AppOperations, Asker, Fault, OperationError};

/// Which tools are there?
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ListTools {
    /// Those of this domain only.
    pub domain: Option<String>,
}

/// Which tools do this?
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchTools {
    pub query: String,
    #[serde(default)]
    pub mode: SearchMode,
    /// The most tools to find.
    pub limit: usize,
}

/// What are the schemas of these tools?
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InspectTools {
    /// Ids, or own names that are unique.
    pub names: Vec<String>,
}

/// One call, on the same path as any other, with a record.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallTool {
    /// The tool's id, or its own name if that is unique.
    pub name: String,
    pub arguments: CallArguments,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArguments {
    /// One JSON object.
    Object(Box<RawValue>),
    /// Keys and values. A value that is JSON is taken as JSON, unless the tool's schema says that
    /// the argument is a string.
    Pairs(Vec<(String, String)>),
}

/// An answer, and the sources that are missing from it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answered<T> {
    pub answer: Result<T, OperationError>,
    pub left_out: Vec<LeftOutSource>,
}

/// What a search found, best first, and how well the best of it fits.
#[derive(Debug, Serialize, Deserialize)]
pub struct FoundTools {
    pub fit: Fit,
    /// Whether the encoder had not read all tools yet, so that they were ranked without it.
    #[serde(default)]
    pub is_early: bool,
    pub tools: Vec<ListedTool>,
}

/// A tool in a list, and the text that only people are shown.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedTool {
    pub line: ToolLine,
    /// The description in the form shown to people.
    pub shown: String,
}

/// A tool in a list, for programs.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolLine {
    pub name: String,
    pub domain: String,
    pub group: String,
    pub description: String,
    /// What the tool knows about that fits the words of a search.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
}

/// A tool with its schemas, as models are shown it.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolDefinition {
    pub name: String,
    pub domain: String,
    pub group: String,
    pub description: String,
    pub parameters: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<RawValue>>,
}

/// The outcome of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallAnswer {
    Done {
        tool: String,
        is_error: bool,
        result: Box<RawValue>,
    },
    /// It waits for a person's approval.
    Waits {
        tool: String,
    },
    /// It goes on as a task of this id.
    Task {
        tool: String,
        id: String,
    },
    /// It was not made, or gave no result.
    Refused {
        tool: String,
        error: String,
        kind: String,
    },
}

impl AppOperations<'_> {
    /// All tools, or those of one domain.
    pub async fn list_tools(
        &self,
        request: &ListTools,
    ) -> Result<Answered<Vec<ListedTool>>, OperationError> {
        let left_out = self.complete(|_| false).await;
        let answer = list(self.turn().view(), request.domain.as_deref());
        Ok(Answered { answer, left_out })
    }

    /// The tools that fit a query, the best first.
    pub async fn search_tools(
        &self,
        request: &SearchTools,
    ) -> Result<Answered<FoundTools>, OperationError> {
        let SearchTools { query, mode, limit } = request;
        let left_out = self.complete(|_| false).await;
        let ranks_by_meaning = *mode != SearchMode::Keyword;
        let is_early = ranks_by_meaning && !await_encoder(self.app, self.observer).await;
        let turn = self.turn();
        let hits = search(turn.view(), query, &Scope::default(), *mode, *limit);
        let tools = hits.iter().map(found).collect();
        Ok(Answered { answer: Ok(FoundTools { fit: fit(&hits), is_early, tools }), left_out })
    }

    /// Tools with their schemas, in the order of the request.
    pub async fn inspect_tools(
        &self,
        request: &InspectTools,
    ) -> Result<Answered<Vec<ToolDefinition>>, OperationError> {
        let names = &request.names;
        let is_known = |view: &View| names.iter().all(|name| resolve(view, name).is_ok());
        let left_out = self.complete(is_known).await;
        let turn = self.turn();
        let tools = names.iter().map(|name| resolve(turn.view(), name));
        let tools = tools.collect::<Result<Vec<_>, _>>();
        let answer = tools.and_then(|tools| tools.into_iter().map(definition).collect());
        Ok(Answered { answer, left_out })
    }

    /// Calls a tool. A call that was not made, or failed, is an answer too.
    pub async fn call_tool(
        &self,
        request: &CallTool,
    ) -> Result<Answered<CallAnswer>, OperationError> {
        let left_out = self.complete(|view| resolve(view, &request.name).is_ok()).await;
        Ok(Answered { answer: self.call(request).await, left_out })
    }

    async fn call(&self, request: &CallTool) -> Result<CallAnswer, OperationError> {
        let turn = self.turn();
        let tool = resolve(turn.view(), &request.name)?;
        let arguments = match &request.arguments {
            CallArguments::Object(object) => object.clone(),
            CallArguments::Pairs(pairs) => {
                to_raw_value(&from_pairs(pairs, tool)?).expect("arguments are JSON")
            }
        };
        let operation = Operation::Tool { name: ToolName::of(tool.id()), arguments };
        let tool = tool.id().to_string();
        Ok(match turn.call(operation, None, Caller::silent()).await {
            Ok(Outcome::Done(payload)) => {
                CallAnswer::Done { tool, is_error: payload.is_error, result: payload.json.clone() }
            }
            Ok(Outcome::Suspended(_)) => CallAnswer::Waits { tool },
            Ok(Outcome::Task(task)) => CallAnswer::Task { tool, id: task.id.clone() },
            Err(error) => refused(tool, &error),
        })
    }

    /// Asks the sources that were never reached, if the operator asks: a gateway that serves others
    /// does so by itself, and does not tell them of its sources.
    async fn complete(&self, is_enough: impl FnOnce(&View) -> bool) -> Vec<LeftOutSource> {
        match self.asker {
            Asker::Operator => complete(self.app, self.observer, is_enough).await,
            Asker::Principal(_) => Vec::new(),
        }
    }
}

fn list(view: &View, domain: Option<&str>) -> Result<Vec<ListedTool>, OperationError> {
    if let Some(domain) = domain.filter(|domain| view.domain(domain).is_none()) {
        let known: Vec<_> = view.domains().map(|entry| entry.domain().as_str()).collect();
        let help = match known.as_slice() {
            [] => NO_SOURCE.to_owned(),
            known => format!("the domains are {}", known.join(", ")),
        };
        let fault = Fault::new(format!("unknown domain `{domain}`"));
        return Err(OperationError::NotFound(fault.with_help(help)));
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

fn definition(tool: &Tool) -> Result<ToolDefinition, OperationError> {
    let definition = tool.definition();
    let raw = |text: &str| -> Result<Box<RawValue>, OperationError> {
        serde_json::from_str(text)
            .map_err(|error| OperationError::Failed(Fault::new(error.to_string())))
    };
    Ok(ToolDefinition {
        name: tool.id().to_string(),
        domain: tool.domain().to_string(),
        group: tool.group().to_owned(),
        description: definition.description().unwrap_or_default().to_owned(),
        parameters: raw(definition.input_schema())?,
        output_schema: definition.output_schema().map(raw).transpose()?,
        annotations: definition.annotations().map(raw).transpose()?,
    })
}

fn refused(tool: String, error: &CallError) -> CallAnswer {
    CallAnswer::Refused { tool, error: error.for_person(), kind: error.kind().as_str().to_owned() }
}

fn from_pairs(
    pairs: &[(String, String)],
    tool: &Tool,
) -> Result<Map<String, Value>, OperationError> {
    let schema: Value = serde_json::from_str(tool.definition().input_schema()).unwrap_or_default();
    let mut arguments = Map::new();
    for (key, text) in pairs {
        let is_string = schema["properties"][key]["type"] == "string";
        let value = match serde_json::from_str(text) {
            Ok(value) if !is_string => value,
            _ => Value::String(text.clone()),
        };
        if arguments.insert(key.clone(), value).is_some() {
            let fault = Fault::new(format!("`--arg {key}` is given twice"));
            return Err(OperationError::Invalid(fault.with_help("give each argument once")));
        }
    }
    Ok(arguments)
}
