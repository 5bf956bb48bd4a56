//! Agents that others have work done by: from the configuration to what a model reads.

use std::collections::BTreeSet;
use std::sync::Arc;

use gatefold::{App, agent_model};
use gatefold_agent::{Budget, Driver, ModelMeter, RunEnd, RunLimits, Shortage, SurfaceTools};
use gatefold_core::{
    AgentId, Domain, Narrowing, Principal, Right, Rights, SystemClock, TokenGrant, TokenId,
    ToolName, UserId,
};
use gatefold_dispatch::{Caller, ModelLedger as _, UseOrigin};
use gatefold_exchange::{Scope, TaskSupport, ToolAnswer, ToolCall, Turn};
use gatefold_model::{History, UserMessage};
use gatefold_store::CallFilter;
use gatefold_testkit::model::{Move, Prompt, ScriptedModel};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::scratch::{Scratch, toml};

const AGENTS: &str = "[sources.own]\nbuiltin = ['datetime']\n\
    [agents.clerk]\ndescription = 'Answers questions about orders'\n\
    instructions = 'You are the clerk.'\n\
    [agents.boss]\ndescription = 'Decides'\nvisible_to = ['board']\n\
    [agents.gone]\nenabled = false\n\
    [agents.maker]\nbuilder = true\n";

async fn app(scratch: &Scratch, model: &ScriptedModel, more: &str) -> App {
    let models = format!("[models.scripted]\nurl = '{}'\nmodel = 'scripted'\n", model.url());
    let text = format!("{models}{AGENTS}{more}");
    let config = toml(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let state = scratch.path().join("state");
    let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    app
}

fn turn(app: &App, who: &Principal, disclosure: &str) -> Turn {
    let audience = app.exchange().audience(Scope::Everything, Some(disclosure)).unwrap();
    app.exchange().turn(&audience, Arc::new(who.clone())).unwrap()
}

/// The agents in the shown tool's schema; none if it is not shown.
fn shown(app: &App, who: &Principal) -> Option<Vec<String>> {
    let turn = turn(app, who, "typed");
    let lists = turn.lists();
    let tool = lists.surface().tools.iter().find(|tool| tool.name == "call_agent")?;
    let definition: Value = serde_json::from_str(tool.definition.get()).unwrap();
    let names = &definition["inputSchema"]["properties"]["agent_id"]["enum"];
    Some(serde_json::from_value(names.clone()).unwrap())
}

async fn call(app: &App, who: &Principal, tool: &str, arguments: Value) -> Result<String, String> {
    let turn = turn(app, who, if tool == "call_agent" { "typed" } else { "flat" });
    let name = ToolName::parse(tool).unwrap();
    let arguments = RawValue::from_string(arguments.to_string()).unwrap();
    let call = ToolCall { name: &name, arguments, resume: None, tasks: TaskSupport::Cannot };
    let answer = turn.call(call, Caller::silent()).await.map_err(|error| error.to_string())?;
    let (blocks, is_error): (Value, bool) = match answer {
        ToolAnswer::Result(payload) => {
            let whole: Value = serde_json::from_str(payload.json.get()).unwrap();
            (whole["content"].clone(), payload.is_error)
        }
        ToolAnswer::Reply(reply) => {
            let blocks = reply
                .content
                .iter()
                .map(|block| serde_json::from_str::<Value>(block.get()).unwrap());
            (blocks.collect(), reply.is_error)
        }
        other => panic!("{other:?}"),
    };
    let text = blocks[0]["text"].as_str().unwrap().to_owned();
    if is_error { Err(text) } else { Ok(text) }
}

fn member(group: &str) -> Principal {
    let right = Right::new(format!("group:{group}"));
    Principal { rights: Rights::from(vec![right]), ..Principal::local() }
}

/// Asks the tool that it has for the time, and says it.
fn telling_the_time(prompt: &Prompt) -> Move {
    match prompt.told().last() {
        None => Move::call("own__datetime", &json!({ "action": "now" })),
        Some(told) => Move::say(&format!("It is {told}.")),
    }
}

#[tokio::test]
async fn an_agent_works_with_its_own_tools_and_its_calls_are_the_callers() {
    let (scratch, model) = (Scratch::new(), ScriptedModel::start(telling_the_time));
    let app = app(&scratch, &model, "").await;
    let local = Principal::local();
    assert_eq!(shown(&app, &local), Some(vec!["clerk".to_owned()]));
    let task = json!({ "agent_id": "clerk", "task": "What time is it?" });
    let said = call(&app, &local, "call_agent", task).await.unwrap();
    assert!(said.starts_with("It is ") && said.contains("of the year"), "{said}");

    let requests = model.requests();
    assert!(requests[0].contains("You are the clerk."), "{}", requests[0]);
    assert!(requests[0].contains("What time is it?"));
    assert!(!requests[0].contains("call_agent"), "one level deep");
    let records = app.store().recent_calls(10, &CallFilter::default()).await.unwrap();
    let [inner, outer] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((inner.parent.as_ref(), inner.agent.as_deref()), (Some(&outer.id), Some("clerk")));
    assert_eq!((outer.agent.as_deref(), &*outer.outcome), (None, "done"));
    app.close().await;
}

#[tokio::test]
async fn a_hidden_agent_reads_as_unknown() {
    let (scratch, model) = (Scratch::new(), ScriptedModel::start(|_| Move::say("Yes.")));
    let app = app(&scratch, &model, "").await;
    let (local, board) = (Principal::local(), member("board"));
    assert_eq!(shown(&app, &board), Some(vec!["boss".to_owned(), "clerk".to_owned()]));
    let ask = async |who: &Principal, tool: &str, agent: &str| {
        let task = json!({ "agent_id": agent, "task": "May I?" });
        call(&app, who, tool, task).await
    };
    assert_eq!(ask(&board, "call_agent", "boss").await, Ok("Yes.".to_owned()));
    for tool in ["call_agent", "agents__call_agent"] {
        let refused =
            |answer: Result<String, String>, name: &str| answer.unwrap_err().replace(name, "NAME");
        let unknown = refused(ask(&local, tool, "bosz").await, "bosz");
        for hidden in ["boss", "gone", "maker"] {
            assert_eq!(refused(ask(&local, tool, hidden).await, hidden), unknown, "{tool}");
        }
    }
    assert!(app.exchange().agent_audience(&AgentId::new("gone"), None).is_none());
    app.close().await;
}

#[tokio::test]
async fn a_token_that_is_bound_to_an_agent_reaches_others_only_where_it_names_them() {
    let (scratch, model) = (Scratch::new(), ScriptedModel::start(|_| Move::say("Yes.")));
    let app = app(&scratch, &model, "[agents.writer]\ndescription = 'Writes'\n").await;
    for (patterns, expected) in [
        (&[][..], None),
        (&["*"], None),
        (&["agents__call_agent"], None),
        (&["agents__call_agent", "agents__writer"], Some(vec!["writer".to_owned()])),
    ] {
        let only_named_of = Some(Domain::parse("agents").unwrap());
        let own = Narrowing::to(patterns.iter().copied());
        let narrowing = Narrowing { only_named_of, ..own };
        let token = TokenGrant { id: TokenId::new("t"), name: "t".into(), narrowing };
        let (agent, token) = (Some(AgentId::new("clerk")), Some(Arc::new(token)));
        let who = Principal { agent, token, ..Principal::local() };
        assert_eq!(shown(&app, &who), expected, "{patterns:?}");
        for tool in ["call_agent", "agents__call_agent"] {
            let task = json!({ "agent_id": "boss", "task": "May I?" });
            assert!(call(&app, &who, tool, task).await.is_err(), "{patterns:?}");
            let task = json!({ "agent_id": "writer", "task": "May I?" });
            let is_named = expected.is_some();
            assert_eq!(call(&app, &who, tool, task).await.is_ok(), is_named, "{patterns:?} {tool}");
        }
    }
    app.close().await;
}

#[tokio::test]
async fn an_approval_in_an_agents_turn_cannot_be_skipped() {
    let (scratch, model) = (Scratch::new(), ScriptedModel::start(telling_the_time));
    let app = app(&scratch, &model, "[policy]\nask = ['own__datetime']\n").await;
    let task = json!({ "agent_id": "clerk", "task": "What time is it?" });
    let said = call(&app, &Principal::local(), "call_agent", task).await.unwrap();
    assert!(said.contains("approv") && !said.contains("of the year"), "{said}");
    let records = app.store().recent_calls(10, &CallFilter::default()).await.unwrap();
    let outcomes: BTreeSet<_> = records.iter().map(|record| &*record.outcome).collect();
    assert_eq!(outcomes, ["done", "failed"].into(), "{records:?}");
    app.close().await;
}

#[tokio::test]
async fn without_a_model_there_is_no_agent_to_call_and_a_broken_one_is_told_without_its_address() {
    let scratch = Scratch::new();
    let config = toml(AGENTS).unwrap();
    let state = scratch.path().join("bare");
    let bare = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    assert_eq!(shown(&bare, &Principal::local()), None);
    assert!(bare.pin().view().find("agents__call_agent").is_none());
    bare.close().await;

    let model = ScriptedModel::start(|_| Move::Fail("401 Unauthorized", "", "{}"));
    let app = app(&scratch, &model, "").await;
    let task = json!({ "agent_id": "clerk", "task": "What time is it?" });
    let said = call(&app, &Principal::local(), "call_agent", task).await.unwrap_err();
    assert_eq!(said, "The agent could not work: its model gave no answer. Tell the user.");
    app.close().await;
}

/// An agent with more tools than are all shown asks for one that it lacks, and has it from then on.
#[tokio::test]
async fn the_tools_of_an_agent_are_chosen_for_its_task_and_more_are_loaded() {
    let model = ScriptedModel::start(|prompt| match prompt.told().len() {
        0 if prompt.functions().count() > 8 => Move::say("There are too many."),
        0 if prompt.has("shop__feed_zebra") => Move::say("It was there."),
        0 => Move::call("request_tools", &json!({ "tool_names": ["shop__feed_zebra"] })),
        _ if prompt.has("shop__feed_zebra") => Move::say("It came."),
        _ => Move::say("It did not come."),
    });
    let paint =
        |number| format!("{{ name = 'paint_wall_{number}', method = 'POST', path = '/{number}' }}");
    let actions: Vec<_> = (0..14).map(paint).collect();
    let zebra = "{ name = 'feed_zebra', method = 'POST', path = '/zebra' }";
    let more = format!(
        "[sources.shop]\nbase_url = 'http://127.0.0.1:9'\nactions = [{}, {zebra}]\n\
         [disclosure]\nconnector_tool_mode = 'legacy'\n",
        actions.join(", ")
    );
    let scratch = Scratch::new();
    let app = app(&scratch, &model, &more).await;
    let task = json!({ "agent_id": "clerk", "task": "Paint a wall." });
    let said = call(&app, &Principal::local(), "call_agent", task).await;
    assert_eq!(said, Ok("It came.".to_owned()));
    app.close().await;
}

#[tokio::test]
async fn what_an_agent_spends_is_spent_of_the_run_that_called_it() {
    let model = ScriptedModel::start(|prompt| {
        let is_clerk = prompt.whole().to_string().contains("You are the clerk.");
        match (&prompt.whole()["tool_choice"], is_clerk) {
            (choice, true) if choice == "none" => Move::say("half"),
            (choice, false) if choice == "none" => Move::say("all"),
            (_, true) => Move::call("own__datetime", &json!({ "action": "now" })),
            (_, false) => {
                Move::call("call_agent", &json!({ "agent_id": "clerk", "task": "Look on." }))
            }
        }
    });
    let scratch = Scratch::new();
    let app = app(&scratch, &model, "").await;
    let (config, local) = (app.config(), Principal::local());
    let own = agent_model(&config.models[0], None, &config, &local).unwrap();
    let audience = app.exchange().audience(Scope::Everything, Some("typed")).unwrap();
    let (exchange, who) = (app.exchange().clone(), Arc::new(local.clone()));
    let tools = SurfaceTools::new(exchange, audience, who, Caller::silent());
    let ledger = Arc::new(app.store().clone());
    let meter = ModelMeter::new(ledger, &local, None, UseOrigin::Elsewhere, own.chain);
    let budget = Budget::unlimited();
    let driver = Driver::new(&own.client, &tools).with_meter(meter).with_budget(budget.clone());
    let limits = RunLimits { tokens: Some(250), ..RunLimits::default() };
    let said = History::new(UserMessage::text("Go.").unwrap());
    let run = driver.drive(said, limits).await.unwrap();
    // One answer of ours, two of the clerk, its last one, and our last one.
    assert_eq!(run.end_state(), Some(&RunEnd::Short { of: Shortage::Tokens }));
    assert_eq!((run.answers(), budget.spent().tokens), (2, 500));
    let told = model.requests().last().unwrap().clone();
    assert!(told.contains("half") && told.contains("the run has used all its tokens"), "{told}");
    let spent = app.store().spent_today(&local.user, "scripted").await.unwrap();
    assert_eq!((spent.answers, spent.tokens), (5, 500));
    app.close().await;
}

#[tokio::test]
async fn an_agent_whose_model_is_spent_says_when_it_works_again_and_nothing_of_the_configuration() {
    let model = ScriptedModel::start(telling_the_time);
    let scratch = Scratch::new();
    let app = app(&scratch, &model, "[limits]\nmodel_tokens = 150\n").await;
    let (local, ann) = (Principal::local(), Principal::user(UserId::new("ann")));
    let ask = async |who: &Principal| {
        let task = json!({ "agent_id": "clerk", "task": "What time is it?" });
        call(&app, who, "call_agent", task).await
    };
    assert!(ask(&ann).await.unwrap().starts_with("It is "));
    let refused = ask(&ann).await.unwrap_err();
    assert_eq!(
        refused,
        "The agent has worked for this user as much as it may today, and works again after midnight, UTC. Do the \
         rest yourself or through another agent, or tell the user."
    );
    assert_eq!(model.requests().len(), 2);
    // Others have what is theirs, and the local user as much as they like.
    assert!(ask(&Principal::user(UserId::new("bob"))).await.is_ok());
    assert!(ask(&local).await.is_ok() && ask(&local).await.is_ok());
    app.close().await;
}
