//! What servers ask of clients in the course of a call.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{CallError, Operation, Outcome, Resume, Uri};
use gatefold_dispatch::{AskError, Limits, Manner};
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::asking::{ALL, Asked, Honest, NEVER, raw, trials_honestly};
use super::entries::prompt;
use super::support::{Era, LONG, Wire, trial};
use super::world::{Made, World, tool_call};

pub(crate) fn trials() -> Vec<Trial> {
    let each_way = [
        trials_honestly("each_kind_of_question_is_answered", answered),
        trials_honestly("a_client_that_refuses_makes_the_call_say_so", refused),
        trials_honestly("a_client_that_cannot_answer_is_not_asked", unsupported),
        trials_honestly("an_answer_that_does_not_come_ends_the_call", late),
        trials_honestly("a_client_that_answers_by_retry_finds_its_call_again", by_retry),
        trials_honestly("prompts_and_resources_may_ask_too", others),
        trials_honestly("a_call_given_up_is_not_waited_for", given_up),
    ];
    let mut trials: Vec<_> = each_way.into_iter().flatten().collect();
    trials.extend([
        trial("questions_of_several_calls_are_never_mixed_up::stdio", several_on_a_line),
        trial("questions_of_several_calls_are_never_mixed_up::http", several_in_streams),
        trial("the_one_call_whose_client_can_answer_is_asked", only_one_can),
    ]);
    trials
}

const ADA: &str = r#"{"action":"accept","content":{"name":"Ada"}}"#;
const SAMPLE: &str =
    r#"{"role":"assistant","content":{"type":"text","text":"hello"},"model":"small"}"#;
const ROOTS: &str = r#"{"roots":[{"uri":"file:///garden"},{"uri":"file:///shed"}]}"#;

async fn connected(wire: Wire, era: Era) -> (Honest, World) {
    connected_as(wire, era, Limits::default()).await
}

async fn connected_as(wire: Wire, era: Era, limits: Limits) -> (Honest, World) {
    let server = Honest::new(wire, era).await;
    let made = Made { limits, ..Made::default() };
    let world = World::connected_as(&server.settings, &made).await;
    (server, world)
}

fn said(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

async fn answered(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    for (tool, method, answer, told) in [
        (
            "up__matrix_elicit",
            "elicitation/create",
            ADA,
            r#"action=accept, content={"name":"Ada"}"#,
        ),
        ("up__matrix_sample", "sampling/createMessage", SAMPLE, r#"model="small", text=hello"#),
        ("up__matrix_roots", "roots/list", ROOTS, "file:///garden\nfile:///shed"),
    ] {
        let client = Asked::saying(answer);
        let result = world.done(tool_call(tool, "{}"), client.caller()).await;
        assert_eq!(said(&result), told, "{tool}");
        let heard = client.heard();
        assert_eq!(heard.len(), 1, "{tool}: {heard:?}");
        assert_eq!(heard[0].0, method);
    }
}

async fn refused(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client = Asked::new(ALL, Manner::Live, |_| {
        Err(AskError::Refused { code: -32099, message: "not today".to_owned() })
    });
    let result = world.operate(tool_call("up__matrix_elicit", "{}"), None, client.caller()).await;
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`up__matrix_elicit` sent `elicitation/create` to the client, and the client refused to \
         answer: not today"
    );
}

async fn unsupported(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client = Asked::new(r#"{"roots":{}}"#, Manner::Live, |_| panic!("it was asked"));
    let result = world.operate(tool_call("up__matrix_elicit", "{}"), None, client.caller()).await;
    match (era, result) {
        (Era::Handshake, Err(CallError::Unanswered { method, .. })) => {
            assert_eq!(method, "elicitation/create");
        }
        // The server sees for itself what the client declared.
        (Era::Stateless, Err(CallError::Refused { code: -32021, data: Some(_), .. })) => {}
        (_, other) => panic!("{other:?}"),
    }
}

async fn late(wire: Wire, era: Era) {
    let limits = Limits { question: Duration::from_millis(200), ..Limits::default() };
    let (_server, world) = connected_as(wire, era, limits).await;
    let client = Asked::saying(NEVER);
    let result = world.operate(tool_call("up__matrix_elicit", "{}"), None, client.caller()).await;
    assert!(matches!(result, Err(CallError::Unanswered { .. })), "{result:?}");
    assert_eq!(
        said(&world.done(tool_call("up__matrix_cancelled", "{}"), client.caller()).await),
        "0"
    );
}

async fn by_retry(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client = Asked::new(ALL, Manner::ByRetry, |_| panic!("it was asked at once"));
    let call = || tool_call("up__matrix_elicit", r#"{"message":"Who?"}"#);
    let outcome = world.operate(call(), None, client.caller()).await.unwrap();
    let Outcome::Suspended(suspension) = outcome else { panic!("{outcome:?}") };
    let questions: Value = serde_json::from_str(suspension.questions.get()).unwrap();
    let (key, question) = questions.as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Who?");
    let answer: Value = serde_json::from_str(ADA).unwrap();
    let answers = raw(&json!({ key: answer }).to_string());
    let resume = Resume { state: suspension.state, answers };
    let outcome = world.operate(call(), Some(resume), client.caller()).await.unwrap();
    let Outcome::Done(payload) = outcome else { panic!("{outcome:?}") };
    let result: Value = serde_json::from_str(payload.json.get()).unwrap();
    assert_eq!(said(&result), r#"action=accept, content={"name":"Ada"}"#);
}

async fn others(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client = Asked::saying(r#"{"action":"accept","content":{"context":"rain"}}"#);
    let asked = prompt("up__test_input_required_result_prompt", "{}");
    let given = world.done(asked, client.caller()).await;
    assert_eq!(given["messages"][0]["content"]["text"], "Use this context: rain");
    let client = Asked::saying(ADA);
    let asked = Operation::Resource(Uri::new("gatefold://up/user://asking"));
    let read = world.done(asked, client.caller()).await;
    assert_eq!(read["contents"][0]["text"], "Read by Ada.");
}

async fn given_up(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client = Asked::saying(NEVER);
    let caller = client.caller();
    let cancel = caller.cancel.clone();
    let call = world.start("up__matrix_elicit", "{}", caller);
    assert!(wait_until(LONG, || client.heard().len() == 1).await);
    cancel.cancel();
    assert!(matches!(call.await.unwrap(), Err(CallError::Cancelled)));
    let is_dropped = wait_until(LONG, || Arc::strong_count(&client) == 1).await;
    assert!(is_dropped, "nobody waits for its answer any more");
    let client = Asked::saying(ROOTS);
    world.done(tool_call("up__matrix_roots", "{}"), client.caller()).await;
}

/// A name for each of two callers, and what each of them is told.
async fn two_at_once(world: &World) -> [Result<String, String>; 2] {
    let calls = ["Ada", "Bob"].map(|name| {
        let client = Asked::new(ALL, Manner::Live, move |_| {
            Ok(json!({"action": "accept", "content": {"name": name}}).to_string())
        });
        world.start("up__matrix_elicit", "{}", client.caller())
    });
    let mut told = Vec::new();
    for call in calls {
        let payload = call.await.unwrap().unwrap();
        let result: Value = serde_json::from_str(payload.json.get()).unwrap();
        let text = said(&result).to_owned();
        told.push(if payload.is_error { Err(text) } else { Ok(text) });
    }
    told.try_into().unwrap()
}

fn told(name: &str) -> String {
    format!(r#"action=accept, content={{"name":"{name}"}}"#)
}

async fn several_on_a_line() {
    let (_server, world) = connected(Wire::Stdio, Era::Handshake).await;
    // Until it is known that this server asks, a question that may be anybody's is refused.
    for told_now in two_at_once(&world).await.into_iter().enumerate() {
        match told_now {
            (_, Err(error)) => assert!(error.contains("several requests"), "{error}"),
            (at, ok) => assert_eq!(ok, Ok(told(["Ada", "Bob"][at]))),
        }
    }
    for _ in 0..3 {
        assert_eq!(two_at_once(&world).await, [Ok(told("Ada")), Ok(told("Bob"))]);
    }
}

async fn several_in_streams() {
    let (_server, world) = connected(Wire::Http, Era::Handshake).await;
    for _ in 0..3 {
        assert_eq!(two_at_once(&world).await, [Ok(told("Ada")), Ok(told("Bob"))]);
    }
}

async fn only_one_can() {
    let (_server, world) = connected(Wire::Stdio, Era::Handshake).await;
    let mute = Asked::new("{}", Manner::Live, |_| panic!("it was asked"));
    let waiting = world.start("up__matrix_wait", "{}", mute.caller());
    let client = Asked::saying(ADA);
    let result = world.done(tool_call("up__matrix_elicit", "{}"), client.caller()).await;
    assert_eq!(said(&result), told("Ada"));
    waiting.abort();
}
