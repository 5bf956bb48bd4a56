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
    let (title, tool, arguments) = reading_on(steps.last().context("the walk has no steps")?)?;
    let answer = endpoint.call(tool, &arguments).await?;
    steps.push(Step { title, tool, arguments, answer, request_tokens: 0, answer_tokens: 0 });
    let pinned = app.pin();
    let given = first.iter().map(Value::to_string).chain([app.surface().instructions]);
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

/// Who reports to whom.
const REPORTS: &str = "SELECT e.name, m.name AS manager, e.email FROM employees e \
                       JOIN employees m ON m.id = e.reports_to ORDER BY m.name, e.name LIMIT 3";

/// How many people are away on each day of a year, which is a large result.
const AWAY: &str = "WITH RECURSIVE days(day) AS (SELECT '2026-01-01' UNION ALL SELECT date(day, '+1 day') \
                    FROM days WHERE day < '2026-12-31') SELECT day, count(l.id) AS away FROM days \
                    LEFT JOIN leave_requests l ON day BETWEEN l.first_day AND l.last_day GROUP BY day";

/// Which of these days have somebody away.
const AWAY_DAYS: &str =
    "SELECT day, away FROM result WHERE away > 0 ORDER BY away DESC, day LIMIT 5";

/// A step of the walk: what it is for, the tool and its arguments.
type WalkStep = (&'static str, &'static str, Value);

/// Reads on in the result of the last step by the handle that it gave.
fn reading_on(last: &Step) -> anyhow::Result<WalkStep> {
    let envelope = last.answer.lines().next().unwrap_or_default();
    let envelope: Value = serde_json::from_str(envelope).context("the envelope is not JSON")?;
    let handle = envelope["result"]["handle"].as_str().context("a large result has no handle")?;
    let arguments = json!({
        "tool_name": "results__read_result",
        "arguments": { "handle": handle, "sql": AWAY_DAYS },
    });
    Ok(("The result is kept. Its handle reads any part of it.", "execute_tool", arguments))
}

/// A model that is asked to note a problem.
fn script() -> Vec<WalkStep> {
    const CREATE: &str = "issues__create_issue";
    const SEARCH: &str = "issues__search_issues";
    const PRODUCTS: &str = "shop__list_products";
    const QUERY: &str = "staff__query";
    const CALCULATE: &str = "builtin__calculate";
    const SKILL: &str = "skills__read_skill";
    const HANDBOOK: &str = "handbook__grounded_retrieve";
    const MAKES_TEA: &str = "What is to be done if the coffee machine makes tea?";
    let mut steps = vec![
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
        (
            "Is there a remedy? An HTTP API is called the same way.",
            "execute_tool",
            json!({ "tool_name": PRODUCTS, "arguments": { "query": "coffee", "in_stock": true } }),
        ),
        (
            "Who can approve it? A search finds tables too.",
            "discover_tools",
            json!({ "query": "who reports to whom" }),
        ),
        (
            "A database is only read, and what is hidden does not exist.",
            "execute_tool",
            json!({ "tool_name": QUERY, "arguments": { "sql": REPORTS } }),
        ),
        (
            "How should it have been done? A skill says so, with the tools that it names.",
            "execute_tool",
            json!({ "tool_name": SKILL, "arguments": { "name": "report-a-fault" } }),
        ),
    ];
    if cfg!(feature = "knowledge") {
        steps.push((
            "What does the handbook say? Its own words, and where they stand.",
            "execute_tool",
            json!({ "tool_name": HANDBOOK, "arguments": { "question": MAKES_TEA, "quotes": 2 } }),
        ));
    }
    steps.extend([
        (
            "How many cups are in a sack? Some tools need no server.",
            "execute_tool",
            json!({ "tool_name": CALCULATE, "arguments": { "expression": "12 kg / (15 g)" } }),
        ),
        (
            "What is large is shown in part.",
            "execute_tool",
            json!({ "tool_name": QUERY, "arguments": { "sql": AWAY } }),
        ),
    ]);
    steps
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
        let blocks = result["content"].as_array().context("a result has no content")?;
        let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let text = texts.join("\n");
        if result["isError"] == true {
            bail!("`{tool}` failed: {text}");
        }
        Ok(text)
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
