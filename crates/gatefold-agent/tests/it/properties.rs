//! Whatever happens, providers take the history, and the same events lead to the same effects.

use gatefold_agent::{AgentEvent, AgentRun, Effect, RunLimits, Shortage};
use gatefold_model::{
    Api, AssistantPart, ModelRequest, ModelSpec, Origin, StopReason, Target, ToolResult, UserPart,
};
use gatefold_testkit::model::{check_chat, check_messages};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::{answer, asking, call};

/// How many runs are tried. `GATEFOLD_AGENT_CASES` names another number, for runs by hand.
const CASES: u32 = 5_000;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(" \n".to_owned()), "[a-z ]{1,8}", any::<String>()]
}

fn part() -> impl Strategy<Value = AssistantPart> {
    let arguments = prop_oneof![Just("{}"), Just(r#"{"a":1}"#), Just("{\"a\":"), Just("[]")];
    let made = (prop_oneof!["[a-c]", text()], arguments)
        .prop_map(|(name, arguments)| call(&name, arguments));
    let said = text().prop_map(|text| AssistantPart::Text { text, raw: None });
    let thought = text().prop_map(|text| AssistantPart::Thinking { text, raw: None });
    prop_oneof![3 => made, 2 => said, 1 => thought]
}

fn answered() -> impl Strategy<Value = AgentEvent> {
    let stop = prop_oneof![
        8 => Just(StopReason::Done),
        1 => Just(StopReason::Length),
        1 => Just(StopReason::Refusal),
    ];
    (prop::collection::vec(part(), 0..5), stop).prop_map(|(parts, stop)| answer(parts, stop))
}

fn returned() -> impl Strategy<Value = AgentEvent> {
    let parts = prop::collection::vec(text().prop_map(UserPart::Text), 0..3);
    (0..5_usize, parts, any::<bool>()).prop_map(|(call, parts, is_error)| AgentEvent::Returned {
        call,
        result: ToolResult { parts, is_error },
    })
}

fn event() -> impl Strategy<Value = AgentEvent> {
    prop_oneof![
        8 => answered(),
        12 => returned(),
        1 => Just(AgentEvent::RanShort { of: Shortage::Time }),
        1 => Just(AgentEvent::Cancelled),
        1 => Just(AgentEvent::NotAnswered { reason: "no".to_owned(), is_final: false }),
    ]
}

fn check_request(run: &AgentRun) -> Result<(), TestCaseError> {
    for (api, check) in [
        (Api::OpenAiChat, check_chat as fn(&serde_json::Value) -> Result<(), String>),
        (Api::Anthropic, check_messages),
    ] {
        let spec = ModelSpec::new(api, "http://127.0.0.1:1/v1".parse().unwrap(), "m");
        let origin = Origin::new(api, &spec.url, "m");
        let target = Target { spec: &spec, origin: &origin, streams: true };
        let body = api.wire().encode(&ModelRequest::new("Help.", run.history()), &target);
        let body = serde_json::from_str(&serde_json::to_string(&body).unwrap()).unwrap();
        check(&body).map_err(|fault| TestCaseError::fail(format!("{api}: {fault}")))?;
    }
    Ok(())
}

/// Takes all events. At each question to the model, both providers have to take the history.
fn play(events: &[AgentEvent]) -> Result<Vec<Effect>, TestCaseError> {
    let limits = RunLimits { iterations: 4, calls_at_once: 2, ..RunLimits::default() };
    let (mut run, mut effects) = AgentRun::begin(asking("Go."), limits);
    for event in events {
        let more = run.step(event.clone());
        if more.iter().any(|effect| matches!(effect, Effect::Ask(_))) {
            check_request(&run)?;
        }
        if run.end_state().is_some() {
            prop_assert!(run.step(event.clone()).is_empty(), "an ended run does nothing");
        }
        effects.extend(more);
    }
    Ok(effects)
}

#[test]
fn any_events_leave_a_history_that_both_providers_take_and_replay_alike() {
    #[expect(clippy::disallowed_methods, reason = "how long a run by hand takes")]
    let cases = std::env::var("GATEFOLD_AGENT_CASES");
    let cases = cases.map_or(CASES, |cases| cases.parse().unwrap());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let all = prop::collection::vec(event(), 0..30);
    let checked = runner.run(&all, |events| {
        let effects = play(&events)?;
        // As a journal has them.
        let written = serde_json::to_string(&events).unwrap();
        let read: Vec<AgentEvent> = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(play(&read)?, effects);
        Ok(())
    });
    checked.unwrap();
}
