//! A source's questions to a client that can be asked at once.

use std::time::Duration;

use gatefold_core::{CallError, Outcome, Principal};
use gatefold_dispatch::Caller;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::clients::{ClientReaction, FORMS, live};
use crate::source::{FakeSource, NAP};
use crate::world::{SECOND, World, done, refused};

const YES: &str = r#"{"action":"accept"}"#;

/// Longer than a call has, shorter than a question.
const LONG: Duration = Duration::from_secs(200);

async fn call(world: &World, tool: &str, caller: Caller) -> Result<Outcome, CallError> {
    call_with(world, tool, "{}", caller).await
}

async fn call_with(
    world: &World,
    tool: &str,
    arguments: &str,
    caller: Caller,
) -> Result<Outcome, CallError> {
    world.call_by(&Principal::local(), tool, arguments, caller).await
}

#[tokio::test(start_paused = true)]
async fn a_live_client_answers_within_the_call() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let (caller, client) = live(FORMS, ClientReaction::Answer(YES));
    assert_eq!(done(call(&world, "mail__ask", caller).await), YES);
    assert_eq!(client.asked(), ["elicitation/create {}"]);
    assert_eq!((mail.calls(), world.dispatcher.parked()), (1, 0));
    assert_eq!(world.log.ended(), ["done"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_after_a_question_without_answer_says_so_behind_its_own_error() {
    for (capabilities, says, why, asked) in [
        (FORMS, ClientReaction::Refusal, "the client refused to answer: not now", 1),
        (FORMS, ClientReaction::Nothing, "the client did not answer in time", 1),
        (FORMS, ClientReaction::Gone, "the client is gone", 1),
        ("{}", ClientReaction::Answer(YES), "the client does not offer elicitation", 0),
        (
            r#"{"sampling":{},"roots":{}}"#,
            ClientReaction::Answer(YES),
            "the client does not offer elicitation",
            0,
        ),
    ] {
        let world = World::new(&[&FakeSource::new("mail")]);
        let (caller, client) = live(capabilities, says);
        let began = Instant::now();
        let outcome = call(&world, "mail__ask", caller).await;
        let Ok(Outcome::Done(payload)) = outcome else { panic!("{outcome:?}") };
        let note = format!("`mail__ask` sent `elicitation/create` to the client, and {why}");
        let blocks =
            [json!({"type": "text", "text": "no answer"}), json!({"type": "text", "text": note})];
        let told: Value = serde_json::from_str(payload.json.get()).unwrap();
        assert_eq!(told, json!({"content": blocks, "isError": true}));
        assert!(payload.is_error);
        assert_eq!(client.asked().len(), asked, "{why}");
        let waited = if matches!(says, ClientReaction::Nothing) {
            world.limits.question
        } else {
            Duration::ZERO
        };
        assert_eq!(began.elapsed(), waited, "{why}");
        assert_eq!(world.log.ended(), ["tool_error"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_copes_without_an_answer_keeps_its_result() {
    for says in [ClientReaction::Refusal, ClientReaction::Nothing, ClientReaction::Gone] {
        let world = World::new(&[&FakeSource::new("mail")]);
        let (caller, _) = live(FORMS, says);
        let result = done(call(&world, "mail__cope", caller).await);
        assert!(result.starts_with(r#""without: the client"#), "{result}");
        assert_eq!(world.log.ended(), ["done"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_of_something_else_says_that() {
    let world = World::new(&[&FakeSource::new("mail")]);
    let (caller, _) = live(FORMS, ClientReaction::Refusal);
    let error = refused(call(&world, "mail__brood", caller).await);
    assert_eq!(error, "`mail__brood` did not answer within 60 s");
    let (caller, _) = live(FORMS, ClientReaction::Answer(YES));
    let error = call(&world, "mail__fail", caller).await;
    assert!(matches!(error, Ok(Outcome::Done(payload)) if payload.is_error));
}

#[tokio::test(start_paused = true)]
async fn time_stands_still_while_a_question_is_open_and_then_goes_on() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let began = Instant::now();
    let (caller, _) = live(FORMS, ClientReaction::Late(LONG, YES));
    assert_eq!(done(call(&world, "mail__ask", caller).await), YES);
    assert_eq!(began.elapsed(), LONG);

    let began = Instant::now();
    let (caller, _) = live(FORMS, ClientReaction::Late(LONG, YES));
    let error = call(&world, "mail__brood", caller).await;
    assert!(matches!(error, Err(CallError::Deadline { .. })));
    assert_eq!(began.elapsed(), LONG + world.limits.call_deadline);
    assert_eq!(mail.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_question_of_a_nested_call_stops_the_time_of_the_outer_one() {
    let (agent, files) = (FakeSource::new("agent"), FakeSource::new("files"));
    let world = World::new(&[&agent, &files]);
    for tool in ["files__ask", "files__wait", "files__brood"] {
        let began = Instant::now();
        let (caller, client) = live(FORMS, ClientReaction::Late(LONG, YES));
        let arguments = format!(r#"["{tool}"]"#);
        let result = call_with(&world, "agent__nest", &arguments, caller).await;
        assert_eq!(client.asked().len(), 1, "{tool}");
        if tool == "files__brood" {
            assert!(matches!(result, Err(CallError::Deadline { .. })));
            assert_eq!(began.elapsed(), LONG + world.limits.call_deadline);
        } else {
            assert!(done(result).contains(YES), "{tool}");
            assert_eq!(began.elapsed(), LONG, "{tool}");
        }
    }
    assert_eq!((agent.running(), files.running()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_the_last_moment_counts() {
    let world = World::new(&[&FakeSource::new("mail")]);
    let (caller, _) = live(FORMS, ClientReaction::Late(world.limits.question, YES));
    assert_eq!(done(call(&world, "mail__ask", caller).await), YES);
    assert_eq!(world.limits.call_deadline, NAP);
    let (caller, _) = live(FORMS, ClientReaction::Late(SECOND, YES));
    assert_eq!(done(call(&world, "mail__nap", caller).await), YES);
}

#[tokio::test(start_paused = true)]
async fn what_a_client_takes_to_answer_is_no_slowness_of_the_sources() {
    let world = World::new(&[&FakeSource::new("mail")]);
    let (caller, _) = live(FORMS, ClientReaction::Late(LONG, YES));
    done(call(&world, "mail__ask", caller).await);
    let took = world.report("mail").traffic.median_us.unwrap();
    assert!(Duration::from_micros(took.into()) < SECOND, "{took} us");
}
