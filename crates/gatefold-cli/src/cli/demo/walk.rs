//! What a model would do, done over the real endpoint, and what it costs.

use std::net::SocketAddr;

use anyhow::{Context as _, bail};
use gatefold::App;
use serde_json::{Value, json};

use crate::cli::loopback;
use crate::cli::tokens::{self, ChildCounter};

/// The protocol version of the walk, in which each request stands alone.
const PROTOCOL: &str = "2026-07-28";

/// Everything that the demonstration reports.
pub(super) struct Tour {
    pub(super) domains: Vec<DomainCost>,
    /// What a model is given first: the definitions and the instructions.
    pub(super) first_tools: Vec<String>,
    pub(super) first_tokens: usize,
    pub(super) steps: Vec<Step>,
}

/// A domain and the cost of its full definitions.
pub(super) struct DomainCost {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) tools: usize,
    pub(super) tokens: usize,
}

/// One call of the walk.
pub(super) struct Step {
    pub(super) title: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    pub(super) answer: String,
    pub(super) request_tokens: usize,
    pub(super) answer_tokens: usize,
}

impl Step {
    fn request(&self) -> String {
        format!("{} {}", self.tool, self.arguments)
    }
}

/// Makes the calls and counts tokens.
pub(super) async fn take(app: &App, address: SocketAddr) -> anyhow::Result<Tour> {
    let endpoint = Endpoint { address };
    let first = endpoint.ask("tools/list", None, json!({})).await?;
    let first: Vec<_> = first["tools"].as_array().context("`tools/list` lists nothing")?.clone();
    let mut steps = Vec::new();
    for (title, tool, arguments) in script() {
        let answer = endpoint.call(tool, &arguments).await?;
        steps.push(Step { title, tool, arguments, answer, request_tokens: 0, answer_tokens: 0 });
    }
    let pinned = app.pin();
    let given = first.iter().map(Value::to_string).chain([app.surface(&pinned).instructions]);
    let requests = steps.iter().map(Step::request);
    let answers = steps.iter().map(|step| step.answer.clone());
    let texts: Vec<_> = requests.chain(answers).chain(given).collect();
    let flat = async { Ok(app.count_definitions(&ChildCounter).await?) };
    let (flat, counts) = tokio::try_join!(flat, tokens::count(&texts))?;
    let (requests, counts) = counts.split_at(steps.len());
    let (answers, given) = counts.split_at(steps.len());
    for (step, (request, answer)) in steps.iter_mut().zip(requests.iter().zip(answers)) {
        (step.request_tokens, step.answer_tokens) = (*request, *answer);
    }
    let domains = pinned.view().domains().map(|entry| DomainCost {
        name: entry.domain().to_string(),
        description: entry.description().to_owned(),
        tools: pinned.view().tools_in(entry).count(),
        tokens: flat.get(entry.domain()).copied().unwrap_or_default(),
    });
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    Ok(Tour {
        domains: domains.collect(),
        first_tools: first.iter().map(name).collect(),
        first_tokens: given.iter().sum(),
        steps,
    })
}

/// A model that is asked to note a problem.
fn script() -> [(&'static str, &'static str, Value); 5] {
    const CREATE: &str = "issues__create_issue";
    const SEARCH: &str = "issues__search_issues";
    [
        ("What is there?", "discover_tools", json!({})),
        ("Which tool reports a bug?", "discover_tools", json!({ "query": "report a bug" })),
        ("How is it called?", "get_tool_schema", json!({ "tool_name": CREATE })),
        (
            "Call it.",
            "execute_tool",
            json!({ "tool_name": CREATE, "arguments": {
                "title": "The coffee machine makes tea",
                "body": "Every second cup. Reported through Gatefold.",
                "priority": "high",
            }}),
        ),
        (
            "Is it there? It is, after a restart too.",
            "execute_tool",
            json!({ "tool_name": SEARCH, "arguments": { "query": "coffee", "limit": 1 } }),
        ),
    ]
}

/// The gateway as any client on this machine reaches it.
struct Endpoint {
    address: SocketAddr,
}

impl Endpoint {
    /// Calls a tool and returns the text that a model would read.
    async fn call(&self, tool: &str, arguments: &Value) -> anyhow::Result<String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.ask("tools/call", Some(tool), params).await?;
        let text = result["content"][0]["text"].as_str().context("a result has no text")?;
        if result["isError"] == true {
            bail!("`{tool}` failed: {text}");
        }
        Ok(text.to_owned())
    }

    async fn ask(
        &self,
        method: &str,
        name: Option<&str>,
        mut params: Value,
    ) -> anyhow::Result<Value> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": PROTOCOL,
            "io.modelcontextprotocol/clientInfo": { "name": "gatefold-demo", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut headers = vec![
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", PROTOCOL),
            ("Mcp-Method", method),
        ];
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        let answer = loopback::post(self.address, "/mcp", &headers, &request.to_string()).await;
        let answer = answer.context("the demonstration's endpoint gave no answer")?;
        let mut body: Value = serde_json::from_str(&answer.body)
            .with_context(|| format!("the demonstration's endpoint answered {}", answer.status))?;
        if let Some(message) = body["error"]["message"].as_str() {
            bail!("`{method}` failed: {message}");
        }
        Ok(body["result"].take())
    }
}
