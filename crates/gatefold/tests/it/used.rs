//! `"used"` among the pinned tools: from the records of past days to the list that a model is given.

use std::sync::Arc;
use std::time::Duration;

use gatefold::{App, ShownTo};
use gatefold_core::{AgentId, ManualClock, Principal, Timestamp, ToolName};
use gatefold_dispatch::Caller;
use gatefold_exchange::{Scope, TaskSupport, ToolAnswer, ToolCall};
use serde_json::value::RawValue;

use crate::scratch::{Scratch, toml};
use crate::worker::worker;

/// 2026-11-21T23:50:00Z.
const LATE: Timestamp = Timestamp::from_millis(1_795_305_000_000);
const DAY: Duration = Duration::from_hours(24);

const OWN: &str = "[sources.own]\nbuiltin = ['calculate', 'todo']\n[agents.sales]\n\
    [agents.plain]\npinned = ['*__calculate']\n";

async fn app(scratch: &Scratch, clock: &Arc<ManualClock>, config: &str) -> App {
    let config = toml(&format!("{OWN}{config}")).unwrap_or_else(|error| panic!("{error}"));
    let app = App::builder(config, scratch.path().join("state"));
    let app = app.clock(clock.clone()).worker(worker()).build().await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    app
}

/// Calls a tool as the local user, or as an agent of theirs.
async fn calculate(app: &App, agent: Option<&str>) {
    let audience = app.exchange().audience(Scope::Everything, Some("gateway")).unwrap();
    let principal = Principal { agent: agent.map(AgentId::new), ..Principal::local() };
    let turn = app.exchange().turn(&audience, Arc::new(principal)).unwrap();
    let arguments =
        r#"{"tool_name":"own__calculate","arguments":{"expression":"1 + 1"}}"#.to_owned();
    let (name, arguments) =
        (ToolName::parse("execute_tool").unwrap(), RawValue::from_string(arguments).unwrap());
    let call = ToolCall { name: &name, arguments, resume: None, tasks: TaskSupport::Cannot };
    let answer = turn.call(call, Caller::silent()).await.unwrap();
    assert!(matches!(answer, ToolAnswer::Reply(reply) if !reply.is_error));
}

/// The tools at the top level beside the gateway's three.
async fn pinned(app: &App, agent: Option<&str>) -> Vec<String> {
    let audience = match agent {
        Some(agent) => app.exchange().agent_audience(&AgentId::new(agent), None).unwrap().unwrap(),
        None => app.exchange().audience(Scope::Everything, None).unwrap(),
    };
    let principal = Principal { agent: agent.map(AgentId::new), ..Principal::local() };
    let turn = app.exchange().informed_turn(&audience, Arc::new(principal)).await.unwrap();
    let lists = turn.lists();
    let names = lists.surface().tools.iter().map(|tool| tool.name.clone());
    names.skip(3).collect()
}

#[tokio::test]
async fn what_was_used_is_pinned_from_the_next_day_on_for_seven_days() {
    let (scratch, clock) = (Scratch::new(), Arc::new(ManualClock::at(LATE)));
    let config = "[disclosure]\npinned = ['used']\n";
    let app = app(&scratch, &clock, config).await;
    calculate(&app, None).await;
    assert_eq!(pinned(&app, None).await, [""; 0]);
    clock.advance(Duration::from_mins(9));
    assert_eq!(pinned(&app, None).await, [""; 0], "one minute before midnight");
    clock.advance(Duration::from_mins(1));
    assert_eq!(pinned(&app, None).await, ["own__calculate"]);
    assert_eq!(pinned(&app, Some("sales")).await, [""; 0], "its agents have their own");
    clock.advance(6 * DAY);
    assert_eq!(pinned(&app, None).await, ["own__calculate"]);
    clock.advance(DAY);
    assert_eq!(pinned(&app, None).await, [""; 0]);
    app.close().await;
}

#[tokio::test]
async fn a_restart_in_the_midst_of_a_day_changes_nothing() {
    let (scratch, clock) = (Scratch::new(), Arc::new(ManualClock::at(LATE)));
    let config = "[disclosure]\npinned = ['used']\n";
    let app = self::app(&scratch, &clock, config).await;
    calculate(&app, Some("sales")).await;
    clock.advance(DAY / 2);
    for _ in 0..3 {
        assert_eq!(pinned(&app, Some("sales")).await, ["own__calculate"]);
        calculate(&app, None).await;
    }
    app.close().await;
    let app = self::app(&scratch, &clock, config).await;
    assert_eq!(pinned(&app, Some("sales")).await, ["own__calculate"]);
    assert_eq!(pinned(&app, None).await, [""; 0]);
    // What commands print for an agent is known from the start.
    let agent = AgentId::new("sales");
    let whom = ShownTo { agent: Some(&agent), ..ShownTo::default() };
    let printed = app.turn_for(None, &whom).unwrap().lists();
    assert!(printed.surface().tools.iter().any(|tool| tool.name == "own__calculate"));
    app.close().await;
}

#[tokio::test]
async fn what_is_denied_meanwhile_is_not_pinned_and_patterns_stand_beside_it() {
    let (scratch, clock) = (Scratch::new(), Arc::new(ManualClock::at(LATE)));
    let app = self::app(&scratch, &clock, "").await;
    calculate(&app, None).await;
    calculate(&app, Some("plain")).await;
    clock.advance(DAY);
    assert_eq!(pinned(&app, None).await, [""; 0], "off by default");
    for (config, expected) in [
        ("[disclosure]\npinned = ['used']\n", &["own__calculate"][..]),
        ("[disclosure]\npinned = ['used']\n[policy]\ndeny = ['own__calculate']\n", &[]),
        ("[disclosure]\npinned = ['*__todo', 'used']\n", &["own__calculate", "own__todo"]),
    ] {
        app.apply(toml(&format!("{OWN}{config}")).unwrap()).await.unwrap();
        assert_eq!(pinned(&app, None).await, expected, "{config}");
    }
    assert_eq!(pinned(&app, Some("plain")).await, ["own__calculate"], "by its own pattern");
    app.close().await;
}
