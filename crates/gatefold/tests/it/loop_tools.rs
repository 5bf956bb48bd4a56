//! The built-in tools that our own loops have without a source.

use std::sync::Arc;

use gatefold::App;
use gatefold_core::{
    AgentId, Domain, Narrowing, Principal, SystemClock, TokenGrant, TokenId, ToolName, UserId,
};
use gatefold_dispatch::Caller;
use gatefold_exchange::{Audience, List, Scope, TaskSupport, ToolAnswer, ToolCall, Turn};
use gatefold_testkit::model::{Move, ScriptedModel};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::scratch::{Scratch, toml};
use crate::worker::worker;

const ALL: [&str; 8] =
    ["ask_user", "calculate", "datetime", "json_query", "recall", "remember", "text", "todo"];

const DISCLOSURES: [&str; 6] = ["gateway", "typed", "namespace", "intent", "flat", "auto"];

async fn built(scratch: &Scratch, name: &str, text: &str) -> App {
    let config = toml(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let app = App::builder(config, scratch.path().join(name));
    let app = app.clock(Arc::new(SystemClock)).worker(worker()).build().await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    app
}

fn turn(app: &App, audience: &Audience, who: &Principal) -> Turn {
    app.exchange().turn(audience, Arc::new(who.clone())).unwrap()
}

fn everything(app: &App, disclosure: &str) -> Audience {
    app.exchange().audience(Scope::Everything, Some(disclosure)).unwrap()
}

/// A turn of our own loop, through an agent if there is one.
fn loops(app: &App, who: &Principal, agent: Option<&str>) -> Turn {
    let Some(agent) = agent.map(AgentId::new) else {
        return turn(app, &everything(app, "flat").in_loop(), who);
    };
    let audience = app.exchange().agent_audience(&agent, Some("flat")).unwrap().unwrap();
    let who = who.acting_as(&agent).unwrap();
    turn(app, &audience.in_loop(), &who)
}

/// The tools of the domain `builtin` that a turn's view has.
fn own(turn: &Turn) -> Vec<String> {
    let tools = turn.view().tools().filter(|tool| tool.domain().as_str() == "builtin");
    let mut names: Vec<_> = tools.map(|tool| tool.definition().name().to_owned()).collect();
    names.sort();
    names
}

async fn call(turn: &Turn, tool: &str, arguments: Value) -> Result<String, String> {
    let name = ToolName::parse(tool).unwrap();
    let arguments = to_raw_value(&arguments).unwrap();
    let call = ToolCall { name: &name, arguments, resume: None, tasks: TaskSupport::Cannot };
    match turn.call(call, Caller::silent()).await {
        Ok(ToolAnswer::Result(payload)) if payload.is_error => Err(payload.json.get().to_owned()),
        Ok(ToolAnswer::Result(payload)) => Ok(payload.json.get().to_owned()),
        Ok(ToolAnswer::Reply(reply)) => {
            let text = reply.content.iter().map(|block| block.get()).collect();
            if reply.is_error { Err(text) } else { Ok(text) }
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn a_loop_has_the_built_in_tools_that_need_nothing() {
    let scratch = Scratch::new();
    let app = built(&scratch, "bare", "").await;
    let local = Principal::local();
    let turn = loops(&app, &local, None);
    assert_eq!(own(&turn), ALL);
    let sum = call(&turn, "builtin__calculate", json!({ "expression": "6 * 7" })).await;
    assert!(sum.as_ref().is_ok_and(|sum| sum.contains("42")), "{sum:?}");
    app.close().await;

    for (config, expected) in [
        ("disclosure.builtin_tools = []", &[][..]),
        ("disclosure.builtin_tools = ['memory', 'text']", &["recall", "remember", "text"]),
        // What a source has, is there under its name, and so is what has the name.
        (
            "sources.own.builtin = ['calculate', 'memory']",
            &["ask_user", "datetime", "json_query", "text", "todo"],
        ),
        ("sources.builtin.builtin = ['calculate']", &["calculate"]),
        ("[sources.own]\nbuiltin = 'all'\nenabled = false", &ALL),
    ] {
        let app = built(&Scratch::new(), "other", config).await;
        assert_eq!(own(&loops(&app, &local, None)), expected, "{config}");
        app.close().await;
    }
    for word in ["files", "fetch", "nothing"] {
        let error = toml(&format!("disclosure.builtin_tools = ['{word}']")).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("needs nothing") && error.contains("\"todo\""), "{error}");
    }
}

#[tokio::test]
async fn an_agents_loop_has_those_of_its_categories_and_rules_hold() {
    let config = "[agents.counter]\ntool_categories = ['computation', 'mcp']\n\
                  [agents.free]\n[policy]\ndeny = ['builtin__text']\nask = ['builtin__remember']\n";
    let app = built(&Scratch::new(), "state", config).await;
    let local = Principal::local();
    assert_eq!(own(&loops(&app, &local, Some("counter"))), ["calculate", "datetime", "json_query"]);
    let all: Vec<_> = ALL.into_iter().filter(|name| *name != "text").collect();
    assert_eq!(own(&loops(&app, &local, Some("free"))), all);
    let refused = call(&loops(&app, &local, Some("counter")), "builtin__todo", json!({})).await;
    assert!(refused.unwrap_err().contains("nknown tool"));
    let note = json!({ "action": "add", "text": "x" });
    let asked = call(&loops(&app, &local, None), "builtin__remember", note).await.unwrap_err();
    assert!(asked.contains("approv"), "{asked}");
    assert_eq!(app.idle_patterns(), [], "both are about something");

    let narrowing = Narrowing { read_only: true, ..Narrowing::to(["builtin__re*"]) };
    let token = TokenGrant { id: TokenId::new("t"), name: "t".into(), narrowing };
    let narrowed = Principal { token: Some(Arc::new(token)), ..local };
    assert_eq!(own(&loops(&app, &narrowed, None)), ["recall"]);
    app.close().await;
}

#[tokio::test]
async fn what_is_remembered_and_to_be_done_is_each_persons() {
    let app = built(&Scratch::new(), "state", "").await;
    let [ann, bob] = ["ann", "bob"].map(|name| Principal::user(UserId::new(name)));
    for (tool, arguments) in [
        ("builtin__remember", json!({ "action": "add", "text": "the zebra is Ann's" })),
        ("builtin__todo", json!({ "add": ["feed the zebra"] })),
    ] {
        call(&loops(&app, &ann, None), tool, arguments).await.unwrap();
    }
    for (tool, arguments) in
        [("builtin__recall", json!({ "action": "list" })), ("builtin__todo", json!({}))]
    {
        let of = async |who| call(&loops(&app, who, None), tool, arguments.clone()).await.unwrap();
        assert!(of(&ann).await.contains("zebra"), "{tool}");
        assert!(!of(&bob).await.contains("zebra"), "{tool}");
    }
    app.close().await;
}

/// Everything that a client is listed, and what it is answered to searches and to calls of what it may guess.
async fn outside(app: &App, who: &Principal, agent: Option<&str>) -> Vec<String> {
    let mut said = Vec::new();
    for disclosure in DISCLOSURES {
        let audience = match agent {
            None => everything(app, disclosure),
            Some(agent) => {
                let audience =
                    app.exchange().agent_audience(&AgentId::new(agent), Some(disclosure));
                audience.unwrap().unwrap()
            }
        };
        for audience in [audience.clone(), audience.for_request("calculate a sum")] {
            let turn = turn(app, &audience, who);
            let lists = turn.lists();
            let all = [List::Tools, List::Prompts, List::Resources, List::Templates];
            said.extend(all.map(|list| lists.get(list).to_owned()));
            said.push(lists.surface().instructions.clone());
            let named =
                json!({ "tool_name": "builtin__calculate", "arguments": { "expression": "1" } });
            for (tool, arguments) in [
                ("builtin__calculate", json!({ "expression": "1" })),
                ("builtin__get_tool_schema", json!({ "tool_name": "calculate" })),
                ("builtin__invoke_tool", named.clone()),
                ("calculate", json!({ "expression": "1" })),
                ("execute_tool", named),
                ("get_tool_schema", json!({ "tool_name": "builtin__todo" })),
                ("discover_tools", json!({ "query": "calculate a sum" })),
                ("discover_tools", json!({ "domain": "builtin" })),
                ("discover_tools", json!({ "intent": "calculate a sum" })),
                ("discover_tools", json!({})),
                ("request_tools", json!({ "tool_names": ["builtin__calculate"] })),
            ] {
                said.push(format!("{:?}", call(&turn, tool, arguments).await));
            }
        }
    }
    said
}

#[tokio::test]
async fn a_client_finds_nothing_of_them_by_any_way() {
    let config = "sources.own.builtin = ['datetime']\n[agents.clerk]\ninstructions = 'Work.'\n";
    let scratch = Scratch::new();
    let with = built(&scratch, "with", config).await;
    let without =
        built(&scratch, "without", &format!("{config}[disclosure]\nbuiltin_tools = []\n")).await;
    let local = Principal::local();
    assert!(!own(&loops(&with, &local, None)).is_empty());
    assert!(own(&loops(&without, &local, None)).is_empty());
    let clerk = local.acting_as(&AgentId::new("clerk")).unwrap();
    for (who, agent) in [(&local, None), (&clerk, Some("clerk"))] {
        let (own, other) = (outside(&with, who, agent).await, outside(&without, who, agent).await);
        for (own, other) in own.iter().zip(&other) {
            assert_eq!(own, other);
        }
    }
    let guessed = json!({ "expression": "6 * 7" });
    let flat = turn(&with, &everything(&with, "flat"), &local);
    let guessed = call(&flat, "builtin__calculate", guessed).await.unwrap_err();
    assert!(guessed.contains("nknown tool"), "{guessed}");
    let domain = Domain::parse("builtin").unwrap();
    for disclosure in [None, Some("flat"), Some("gateway")] {
        let audience = with.exchange().audience(Scope::Source(domain.clone()), disclosure).unwrap();
        assert!(with.exchange().turn(&audience, Arc::new(local.clone())).is_none());
    }
    // Nor do people's commands, which list what is configured.
    assert!(with.pin().view().find("builtin__calculate").is_none());
    with.close().await;
    without.close().await;
}

#[tokio::test]
async fn an_agent_that_is_called_works_in_a_loop_and_has_them() {
    let model = ScriptedModel::start(|prompt| match prompt.told().last() {
        None => Move::call("builtin__calculate", &json!({ "expression": "6 * 7" })),
        Some(told) => Move::say(&format!("It is {told}.")),
    });
    let config = format!(
        "[models.scripted]\nurl = '{}'\nmodel = 'scripted'\n[agents.clerk]\n[agents.writer]\n\
         tool_categories = ['general']\n",
        model.url()
    );
    let app = built(&Scratch::new(), "state", &config).await;
    // The client that has it work has nothing of them itself.
    let client = turn(&app, &everything(&app, "typed"), &Principal::local());
    assert!(own(&client).is_empty());
    let ask = async |agent: &str| {
        let task = json!({ "agent_id": agent, "task": "What is 6 times 7?" });
        call(&client, "call_agent", task).await.unwrap()
    };
    assert!(ask("clerk").await.contains("42"));
    let said = ask("writer").await;
    assert!(!said.contains("42") && said.contains("nknown tool"), "{said}");
    app.close().await;
}
