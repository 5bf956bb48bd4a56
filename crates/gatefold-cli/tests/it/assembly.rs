//! What a model is given in our own loop: the tables of two modes, and tools chosen from one question to the next.

use gatefold_testkit::model::{Move, Prompt, ScriptedModel};
use gatefold_testkit::{RawClient, StdioClient};
use insta::assert_snapshot;
use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

use crate::chat::{requests, section};
use crate::process::{Gateway, WITHOUT_ENCODER, command, run, run_with_input, two_sources};
use crate::scratch::Scratch;

const SOURCES: &str = r#"
[sources.jira]
base_url = "http://127.0.0.1:9/jira"
description = "Project management"
actions = [{ name = "get_issue", method = "GET", path = "/issue", description = "Get one issue." }]
[sources.shop]
base_url = "http://127.0.0.1:9/shop"
description = "Orders"
actions = [{ name = "get_order", method = "GET", path = "/order", description = "Get one order." }]
[sources.crm]
database = "sqlite:crm.db"
description = "Customers"
[sources.procedures]
skills = "skills"
[agents.clerk]
description = "Answers questions about issues"
instructions = "You are the clerk."
connector_ids = ["jira"]
tool_categories = ["computation"]
[agents.writer]
description = "Writes letters"
[agents.maker]
builder = true
[agents.boss]
visible_to = ["board"]
"#;

/// Every kind of source, agents, and a model.
async fn scratch(model: &ScriptedModel, more: &str) -> Scratch {
    let scratch = Scratch::new();
    let file = SqliteConnectOptions::new().filename(scratch.path().join("crm.db"));
    let mut file = file.create_if_missing(true).connect().await.unwrap();
    sqlx::query("CREATE TABLE customers (name TEXT)").execute(&mut file).await.unwrap();
    for (name, about) in [("pay-back", "Give money back."), ("complain", "Handle a complaint.")] {
        let text = format!("---\nname: {name}\ndescription: {about}\n---\nFirst be kind.\n");
        scratch.write(&format!("skills/{name}/SKILL.md"), text);
    }
    let model = section("fast", "openai-chat", model, "");
    scratch.write("gatefold.toml", format!("{}{SOURCES}{model}{more}", two_sources(&scratch)));
    scratch
}

/// What a model is given at first.
struct Assembly {
    instructions: String,
    tools: Vec<Value>,
}

impl Assembly {
    fn of(request: &Value) -> Self {
        let instructions = request["messages"][0]["content"].as_str().unwrap().to_owned();
        let tools = request["tools"].as_array().unwrap().iter();
        Self { instructions, tools: tools.map(|tool| tool["function"].clone()).collect() }
    }

    /// That of a chat's only request.
    fn in_chat(scratch: &Scratch, model: &ScriptedModel, args: &[&str]) -> Self {
        let before = requests(model).len();
        let ran =
            run(scratch, &[&["chat", "-p", "Give the money for an order back"], args].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        Self::of(&requests(model)[before])
    }

    fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
    }

    /// The values that a parameter of a tool may have; none if there is no such tool.
    fn choice(&self, tool: &str, parameter: &str) -> Vec<&str> {
        let tool = self.tools.iter().find(|own| own["name"] == tool);
        let values = tool.map(|own| &own["parameters"]["properties"][parameter]["enum"]);
        let values = values.and_then(Value::as_array).into_iter().flatten();
        values.map(|value| value.as_str().unwrap()).collect()
    }

    fn built_in(&self) -> Vec<&str> {
        self.names().into_iter().filter_map(|name| name.strip_prefix("builtin__")).collect()
    }

    fn text(&self) -> String {
        let tool = |tool: &Value| {
            let [name, about] = ["name", "description"].map(|key| tool[key].as_str().unwrap());
            format!("# {name}\n{about}\n{}\n", tool["parameters"])
        };
        let tools: Vec<_> = self.tools.iter().map(tool).collect();
        format!("{}\n\n{}", self.instructions, tools.join("\n"))
    }
}

const STUBS: &str = "- **complain**: Handle a complaint.\n- **pay-back**: Give money back.";

/// The rows of "Auto-Discovery Mode" in the seeds' table.
#[tokio::test]
async fn without_an_agent_everything_that_the_user_has_is_discovered() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "[disclosure]\nselection_threshold = 100\n").await;
    let shown = Assembly::in_chat(&scratch, &model, &[]);
    assert_eq!(shown.choice("connector", "connector"), ["jira", "shop"], "Connectors (API)");
    assert_eq!(shown.choice("database", "database"), ["crm"], "Connectors (DB)");
    assert!(!shown.names().iter().any(|name| name.contains("retrieve")), "Knowledge Bases");
    assert_eq!(shown.choice("read_skill", "name"), ["complain", "pay-back"], "Skills");
    assert!(shown.instructions.ends_with(STUBS), "Skills: {}", shown.instructions);
    assert_eq!(shown.choice("mcp", "server"), ["issues", "units"], "MCP Servers");
    assert_eq!(shown.choice("call_agent", "agent_id"), ["clerk", "writer"], "Agents");
    let all =
        ["ask_user", "calculate", "datetime", "json_query", "recall", "remember", "text", "todo"];
    assert_eq!(shown.built_in(), all, "Built-in Tools");
    let persona = "You are an assistant in a person's terminal.";
    assert!(shown.instructions.starts_with(persona), "Instructions: {}", shown.instructions);
    let order = ["connector", "database", "mcp", "read_skill", "call_agent"];
    assert_eq!(shown.names()[all.len() + 1..], order, "in the order of the steps");
    assert_snapshot!("automatic_mode", shown.text());
}

/// The rows of "Agent-Constrained Mode" in the seeds' table.
#[tokio::test]
async fn with_an_agent_its_bindings_count_and_the_rest_is_everybodys() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "").await;
    let shown = Assembly::in_chat(&scratch, &model, &["--agent", "clerk"]);
    assert_eq!(shown.choice("connector", "connector"), ["jira"], "Connectors");
    assert!(!shown.names().contains(&"database"), "Connectors");
    assert!(!shown.names().iter().any(|name| name.contains("retrieve")), "Knowledge Bases");
    assert_eq!(shown.choice("read_skill", "name"), ["complain", "pay-back"], "Skills");
    assert!(shown.instructions.ends_with(STUBS), "Skills: {}", shown.instructions);
    assert_eq!(shown.choice("mcp", "server"), ["issues", "units"], "MCP Servers");
    assert_eq!(shown.choice("call_agent", "agent_id"), ["clerk", "writer"], "Agents");
    let computation = ["calculate", "datetime", "json_query", "text"];
    assert_eq!(shown.built_in(), computation, "Built-in Tools");
    assert!(shown.instructions.starts_with("You are the clerk.\n\n"), "{}", shown.instructions);
    assert!(!shown.instructions.contains("person's terminal"), "Instructions");
    assert_snapshot!("constrained_mode", shown.text());
}

#[tokio::test]
async fn stubs_of_skills_are_told_in_every_disclosure() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "").await;
    for disclosure in ["gateway", "typed", "namespace", "intent", "flat", "auto"] {
        for agent in [&[][..], &["--agent", "clerk"]] {
            let args = [agent, &["--disclosure", disclosure]].concat();
            let Assembly { instructions, .. } = Assembly::in_chat(&scratch, &model, &args);
            assert_eq!(instructions.matches(STUBS).count(), 1, "{disclosure}: {instructions}");
            let is_named =
                instructions.contains("`read_skill` is the tool procedures__read_skill.");
            assert_eq!(is_named, disclosure != "typed", "{disclosure}: {instructions}");
        }
    }
}

/// With more than twelve tools at the top level, those of a kind stay and six others are chosen.
#[tokio::test]
async fn of_many_tools_the_request_has_some_and_meta_tools_stay() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let scratch = scratch(&model, "").await;
    let shown = Assembly::in_chat(&scratch, &model, &[]);
    let names = shown.names();
    let meta_tools = ["connector", "database", "mcp", "read_skill", "call_agent", "request_tools"];
    assert_eq!(names[6..], meta_tools, "{names:?}");
    let loader = shown.tools.last().unwrap();
    let rest = loader["parameters"]["properties"]["tool_names"]["items"]["enum"].as_array();
    assert_eq!(rest.unwrap().len(), 3, "{loader}");
}

/// Twenty tools of two subjects, and one of another.
fn many() -> String {
    let action = |name: String| {
        let about = name.replace('_', " ");
        format!(
            "{{ name = '{name}', method = 'POST', path = '/{name}', description = 'To {about}.' }}"
        )
    };
    let walls = (0..10).map(|number| format!("paint_wall_{number}"));
    let animals = (0..10).map(|number| format!("feed_zebra_{number}"));
    let all: Vec<_> = walls.chain(animals).chain(["ride_horse".to_owned()]).map(action).collect();
    format!(
        "[sources.shop]\nbase_url = 'http://127.0.0.1:9'\nactions = [{}]\n\
         [disclosure]\nconnector_tool_mode = 'legacy'\n{WITHOUT_ENCODER}",
        all.join(", ")
    )
}

/// What the person said last.
fn last_said(prompt: &Prompt) -> &str {
    let messages = prompt.whole()["messages"].as_array().unwrap();
    let said = messages.iter().rfind(|message| message["role"] == "user").unwrap();
    said["content"].as_str().or(said["content"][0]["text"].as_str()).unwrap()
}

#[test]
fn tools_are_appended_from_question_to_question_and_none_moves_or_goes() {
    let model = ScriptedModel::start(|prompt| match (last_said(prompt), prompt.told().len()) {
        ("Take me home.", 0) => {
            Move::call("request_tools", &json!({ "tool_names": ["shop__ride_horse"] }))
        }
        ("Take me home.", _) if !prompt.has("shop__ride_horse") => Move::say("There is no horse."),
        _ => Move::say("Done."),
    });
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", many() + &section("fast", "openai-chat", &model, ""));
    let said = "Paint a wall.\n/tools\nFeed a zebra.\nPaint the wall once more.\nTake me home.\n";
    let ran = run_with_input(&scratch, &["chat"], said);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stdout.contains("no horse"), "{}", ran.stdout);
    // Another process goes on with the same tools.
    let ran = run(&scratch, &["chat", "--continue", "-p", "Paint a wall again."]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);

    let requests = requests(&model);
    let assemblies: Vec<_> = requests.iter().map(Assembly::of).collect();
    let counts: Vec<_> = assemblies.iter().map(|one| one.tools.len()).collect();
    assert_eq!(counts.len(), 6);
    for pair in assemblies.windows(2) {
        assert!(
            pair[1].tools.starts_with(&pair[0].tools),
            "{:?} {:?}",
            pair[0].names(),
            pair[1].names()
        );
        assert_eq!(pair[0].instructions, pair[1].instructions);
    }
    let of = |at: usize, subject: &str| {
        let names = assemblies[at].names();
        names.iter().filter(|name| name.contains(subject)).count()
    };
    assert_eq!((of(0, "paint_wall"), of(0, "feed_zebra")), (6, 0), "{:?}", assemblies[0].names());
    assert_eq!((of(1, "paint_wall"), of(1, "feed_zebra")), (6, 6), "{:?}", assemblies[1].names());
    assert_eq!(counts[1], counts[2], "what was chosen before counts");
    assert_eq!(of(5, "ride_horse"), 1, "{:?}", assemblies[5].names());
    assert!(assemblies.iter().all(|one| !one.names().contains(&"execute_tool")));
}

/// What MCP clients are given is the same to the byte, and what only a loop has is unknown to them.
#[tokio::test]
async fn mcp_clients_have_nothing_of_a_loops_tools() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let mut lists = Vec::new();
    for more in ["", "[disclosure]\nbuiltin_tools = []\n"] {
        let scratch = scratch(&model, more).await;
        // So that all is known from the start.
        run(&scratch, &["tools", "list"]);
        let gateway = Gateway::serve(&scratch).await;
        let mut own = Vec::new();
        for path in ["", "/agent/clerk"] {
            for disclosure in ["gateway", "typed", "namespace", "intent", "flat"] {
                let url = format!("{}{path}?disclosure={disclosure}", gateway.url());
                own.push(RawClient::new(url).unwrap().list().await.unwrap().result());
            }
            let client = RawClient::new(format!("{}{path}", gateway.url())).unwrap();
            for tool in ["builtin__calculate", "builtim__calculate"] {
                let arguments = json!({ "tool_name": tool, "arguments": { "expression": "1" } });
                let told = client.call("execute_tool", &arguments.to_string()).await.unwrap();
                let told = told.text().replace(tool, "TOOL");
                assert!(told.contains("nknown tool"), "{told}");
            }
        }
        for source in ["builtin", "builtim"] {
            let client = RawClient::new(format!("{}/source/{source}", gateway.url())).unwrap();
            let refused = client.list().await.unwrap_err().to_string();
            assert!(refused.contains("404"), "{refused}");
        }
        drop(gateway);
        let stdio = command(&scratch, &["stdio", "--disclosure", "flat"]);
        let mut stdio = StdioClient::from_command(stdio.into()).unwrap();
        stdio.initialize().await.unwrap();
        own.push(stdio.list().await.unwrap().result());
        let told = stdio.call("builtin__calculate", r#"{"expression":"1"}"#).await.unwrap();
        assert!(told.response.contains("nknown tool"), "{}", told.response);
        lists.push(own);
    }
    assert_eq!(lists[0], lists[1]);
    assert!(!lists[0].iter().any(|list| list.to_string().contains("builtin__")));
}
