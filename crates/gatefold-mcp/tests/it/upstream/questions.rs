//! What servers ask of clients during a call.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::{CallError, Operation, Outcome, Resume, Uri};
use gatefold_dispatch::{
    Answer, AskError, Caller, ClientCapabilities, Event, Limits, Peer, Question, QuestionMode,
};
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::asking::{ALL, AskedClient, NEVER, ReferenceUpstream, raw, trials_honestly};
use super::entries::prompt;
use super::support::{Era, LONG, Wire, trial};
use super::world::{World, WorldOptions, listening, text, tool_call};

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
        trial("one_clients_parallel_calls_are_all_asked_at_once", of_one_client),
        trial("a_log_message_during_one_clients_parallel_calls_reaches_it", logged_to_one),
        trial("the_one_call_whose_client_can_answer_is_asked", only_one_can),
    ]);
    trials
}

const ADA: &str = r#"{"action":"accept","content":{"name":"Ada"}}"#;
const SAMPLE: &str =
    r#"{"role":"assistant","content":{"type":"text","text":"hello"},"model":"small"}"#;
const ROOTS: &str = r#"{"roots":[{"uri":"file:///garden"},{"uri":"file:///shed"}]}"#;

async fn connected(wire: Wire, era: Era) -> (ReferenceUpstream, World) {
    connected_as(wire, era, Limits::default()).await
}

async fn connected_as(wire: Wire, era: Era, limits: Limits) -> (ReferenceUpstream, World) {
    let server = ReferenceUpstream::new(wire, era).await;
    let made = WorldOptions { limits, ..WorldOptions::default() };
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
        let client = AskedClient::saying(answer);
        let result = world.done(tool_call(tool, "{}"), client.caller()).await;
        assert_eq!(said(&result), told, "{tool}");
        let heard = client.heard();
        assert_eq!(heard.len(), 1, "{tool}: {heard:?}");
        assert_eq!(heard[0].0, method);
    }
}

async fn refused(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client = AskedClient::new(ALL, QuestionMode::Live, |_| {
        Err(AskError::Refused { code: -32099, message: "not today".to_owned() })
    });
    let result = world.operate(tool_call("up__matrix_elicit", "{}"), None, client.caller()).await;
    noted(
        era,
        &result,
        "`up__matrix_elicit` sent `elicitation/create` to the client, and the client refused to \
         answer: not today",
    );
}

/// Checks the outcome of a call whose question stayed unanswered. In the handshake era the server's
/// own error comes first; in the stateless era there is none, because the server is not called
/// again.
fn noted(era: Era, result: &Result<Outcome, CallError>, note: &str) {
    if let (Era::Stateless, Err(error @ CallError::Unanswered { .. })) = (era, result) {
        assert_eq!(error.to_string(), note);
        return;
    }
    let Ok(Outcome::Done(payload)) = result else { panic!("{result:?}") };
    let told: Value = serde_json::from_str(payload.json.get()).unwrap();
    let texts: Vec<_> = (0..2).map(|at| told["content"][at]["text"].as_str().unwrap()).collect();
    assert!(payload.is_error && texts[0].starts_with("the client did not answer"), "{told}");
    assert_eq!(texts[1], note);
}

async fn unsupported(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client =
        AskedClient::new(r#"{"roots":{}}"#, QuestionMode::Live, |_| panic!("it was asked"));
    let result = world.operate(tool_call("up__matrix_elicit", "{}"), None, client.caller()).await;
    match (era, result) {
        (Era::Handshake, result) => noted(
            era,
            &result,
            "`up__matrix_elicit` sent `elicitation/create` to the client, and the client does not \
             offer elicitation",
        ),
        // The server itself sees what the client declared.
        (Era::Stateless, Err(CallError::Refused { code: -32021, data: Some(_), .. })) => {}
        (_, other) => panic!("{other:?}"),
    }
}

async fn late(wire: Wire, era: Era) {
    let limits = Limits { question: Duration::from_millis(200), ..Limits::default() };
    let (_server, world) = connected_as(wire, era, limits).await;
    let client = AskedClient::saying(NEVER);
    let result = world.operate(tool_call("up__matrix_elicit", "{}"), None, client.caller()).await;
    noted(
        era,
        &result,
        "`up__matrix_elicit` sent `elicitation/create` to the client, and the client did not answer \
         in time",
    );
    assert_eq!(
        said(&world.done(tool_call("up__matrix_cancelled", "{}"), client.caller()).await),
        "0"
    );
}

async fn by_retry(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client = AskedClient::new(ALL, QuestionMode::ByRetry, |_| panic!("it was asked at once"));
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
    let client = AskedClient::saying(r#"{"action":"accept","content":{"context":"rain"}}"#);
    let asked = prompt("up__test_input_required_result_prompt", "{}");
    let given = world.done(asked, client.caller()).await;
    assert_eq!(given["messages"][0]["content"]["text"], "Use this context: rain");
    let client = AskedClient::saying(ADA);
    let asked = Operation::Resource(Uri::new("gatefold://up/user://asking"));
    let read = world.done(asked, client.caller()).await;
    assert_eq!(read["contents"][0]["text"], "Read by Ada.");
}

async fn given_up(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let client = AskedClient::saying(NEVER);
    let caller = client.caller();
    let cancel = caller.cancel.clone();
    let call = world.start("up__matrix_elicit", "{}", caller);
    assert!(wait_until(LONG, || client.heard().len() == 1).await);
    cancel.cancel();
    assert!(matches!(call.await.unwrap(), Err(CallError::Cancelled)));
    let is_dropped = wait_until(LONG, || Arc::strong_count(&client) == 1).await;
    assert!(is_dropped, "nobody waits for its answer any more");
    let client = AskedClient::saying(ROOTS);
    world.done(tool_call("up__matrix_roots", "{}"), client.caller()).await;
}

/// Two callers are asked for a name at the same time. Returns what each of them is told.
async fn two_at_once(world: &World) -> [Result<String, String>; 2] {
    let calls = ["Ada", "Bob"].map(|name| {
        let client = AskedClient::new(ALL, QuestionMode::Live, move |_| {
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
    // Until it is known that this server asks, an ambiguous question is refused.
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

/// Three calls on a line at once, whose questions are open together.
async fn of_one_client() {
    let (_server, world) = connected(Wire::Stdio, Era::Handshake).await;
    let world = Arc::new(world);
    let open = Arc::new(tokio::sync::Barrier::new(3));
    let client =
        Arc::new(UnhurriedClient { capabilities: ClientCapabilities::read(&raw(ALL)), open });
    let caller = || Caller { peer: client.clone(), ..Caller::silent() };
    let waiting = world.start("up__matrix_wait", "{}", caller());
    let calls = ["Ada", "Bob", "Eve"].map(|name| {
        let arguments = json!({"message": name}).to_string();
        (name, world.start("up__matrix_elicit", &arguments, caller()))
    });
    for (name, call) in calls {
        let payload = call.await.unwrap().unwrap();
        assert_eq!(text(&payload), told(name));
    }
    waiting.abort();
}

/// Answers with the name that it is asked for, once three questions are open.
struct UnhurriedClient {
    capabilities: ClientCapabilities,
    open: Arc<tokio::sync::Barrier>,
}

impl Peer for UnhurriedClient {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn client(&self) -> Option<u64> {
        Some(u64::MAX)
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async move {
            self.open.wait().await;
            let params: Value = serde_json::from_str(question.params.get()).unwrap();
            let answer = json!({"action": "accept", "content": {"name": params["message"]}});
            Ok(Answer(raw(&answer.to_string())))
        })
    }
}

async fn logged_to_one() {
    let (_server, world) = connected(Wire::Stdio, Era::Handshake).await;
    let client = AskedClient::saying(ADA);
    let (heard, mut events) = listening();
    let heard = Caller { peer: client.clone(), ..heard };
    let waiting = world.start("up__matrix_wait", "{}", heard.clone());
    let began = || async { text(&world.call("up__matrix_waiting", "{}").await.unwrap()) == "1" };
    while !began().await {}
    world.done(tool_call("up__matrix_log", "{}"), heard).await;
    let Ok(Event::Log(log)) = events.try_recv() else { panic!("the log was dropped") };
    assert!(log.get().contains("reference"), "{log}");
    waiting.abort();
}

async fn several_in_streams() {
    let (_server, world) = connected(Wire::Http, Era::Handshake).await;
    for _ in 0..3 {
        assert_eq!(two_at_once(&world).await, [Ok(told("Ada")), Ok(told("Bob"))]);
    }
}

async fn only_one_can() {
    let (_server, world) = connected(Wire::Stdio, Era::Handshake).await;
    let mute = AskedClient::new("{}", QuestionMode::Live, |_| panic!("it was asked"));
    let waiting = world.start("up__matrix_wait", "{}", mute.caller());
    let client = AskedClient::saying(ADA);
    let result = world.done(tool_call("up__matrix_elicit", "{}"), client.caller()).await;
    assert_eq!(said(&result), told("Ada"));
    waiting.abort();
}
