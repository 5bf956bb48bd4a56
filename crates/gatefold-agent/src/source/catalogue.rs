//! What the source of agents offers: a tool, and the agents as its topics.

use gatefold_catalog::{
    Manifest, ResourceSpec, STUB_LENGTH, ServerInfo, Supplement, ToolSpec, ToolTopic, topic_stub,
};
use gatefold_core::{Hints, Timestamp};
use serde_json::json;

use super::{
    AGENT_ID, AgentSource, CALL_AGENT, CallableAgent, HEADING, SUMMARY, TASK, TASK_SCHEMA,
};

/// Says to clients that calls may go on as tasks.
const CAPABILITIES: &str =
    r#"{"tools":{},"resources":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

/// How many bytes of stubs stand in the tool's description, and how many names in its schema: with the rest
/// it stays below the 2 KB that clients show.
const STUBS_BYTES: usize = 1_500;
const ENUM_NAMES: usize = 100;

pub(super) fn manifest(agents: &[CallableAgent], now: Timestamp) -> Manifest {
    let topics = agents.iter().map(topic).collect();
    let mut builder = Manifest::builder(now)
        .server(server())
        .tool(call_agent(agents))
        .supplement(Supplement { topics, attachment: String::new() });
    for agent in agents {
        let resource = ResourceSpec::new(AgentSource::resource(&agent.id), agent.id.as_str());
        builder = builder.resource(resource.description(agent.description.as_str()));
    }
    builder.build()
}

fn server() -> ServerInfo {
    ServerInfo {
        name: AgentSource::DOMAIN.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        title: None,
        description: None,
        instructions: None,
        protocol: String::new(),
        capabilities: Some(CAPABILITIES.to_owned()),
        whole: None,
    }
}

/// The tool as everybody is shown it who is not shown it by the agents that they find.
fn call_agent(agents: &[CallableAgent]) -> ToolSpec {
    let open: Vec<_> = agents.iter().filter(|agent| agent.is_everybodys).collect();
    let mut id = json!({ "type": "string", "description": "The agent." });
    // With an agent left out, a client that checks arguments would refuse it to those who may call it.
    if open.len() == agents.len() && (1..=ENUM_NAMES).contains(&open.len()) {
        id["enum"] = open.iter().map(|agent| agent.id.as_str()).collect();
    }
    let task: serde_json::Value = serde_json::from_str(TASK_SCHEMA).expect("the schema is JSON");
    let mut room = STUBS_BYTES;
    let stubs = open.iter().map(|agent| {
        format!("\n{}", topic_stub(agent.id.as_str(), &agent.description, STUB_LENGTH))
    });
    let stubs: Vec<_> = stubs
        .take_while(|stub| {
            let fits = stub.len() <= room;
            room = room.saturating_sub(stub.len());
            fits
        })
        .collect();
    let more = match open.len() - stubs.len() {
        0 => String::new(),
        more => format!("\n+{more} more, which '{AGENT_ID}' names."),
    };
    let known = if stubs.is_empty() {
        String::new()
    } else {
        format!("\n\n{HEADING}{}{more}", stubs.concat())
    };
    ToolSpec::new(CALL_AGENT)
        .title("Have an agent do a task")
        .description(format!("{SUMMARY}{known}"))
        .input_schema(json!({
            "type": "object",
            "properties": { AGENT_ID: id, TASK: task },
            "required": [AGENT_ID, TASK],
            "additionalProperties": false,
        }))
        // What an agent does, its own calls say: each is decided for itself.
        .hints(Hints {
            read_only: Some(false),
            destructive: Some(false),
            idempotent: Some(false),
            open_world: Some(true),
        })
}

/// An agent as a search finds it.
fn topic(agent: &CallableAgent) -> ToolTopic {
    ToolTopic {
        tool: CALL_AGENT.to_owned(),
        line: format!("agent: {}", agent.id),
        name: agent.id.to_string(),
        description: agent.description.clone(),
        parts: Vec::new(),
        resource: Some(AgentSource::resource(&agent.id)),
        domains: Vec::new(),
        text: None,
    }
}
