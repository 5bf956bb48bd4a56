//! Calls during which the server asks the client something.

use std::time::Duration;

use gatefold_testkit::Exchange;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cell::{Era, Face};
use crate::client::{AskedCall, Client, EVERYTHING, InputRequest, LIMIT, is_refused};
use crate::world::{QUESTION_SECONDS, World};

const ACCEPTED: &str = r#"{"action":"accept","content":{"name":"Ada"}}"#;

/// Calls a tool, answers, and checks the question and the result.
async fn check(client: &mut Client, tool: &str, method: &str, answer: &str, expected: &str) {
    let AskedCall { questions, end } = client.ask(tool, Some(answer)).await;
    let methods: Vec<_> = questions.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(methods, [method], "{}", end.response);
    assert_eq!(client.said(&end), expected, "{}", end.response);
}

pub(crate) async fn accepted(client: &mut Client, _: &World) {
    let expected = r#"action=accept, content={"name":"Ada"}"#;
    check(client, "matrix_elicit", "elicitation/create", ACCEPTED, expected).await;
}

pub(crate) async fn declined(client: &mut Client, _: &World) {
    let answer = r#"{"action":"decline"}"#;
    let expected = "action=decline, content=null";
    check(client, "matrix_elicit", "elicitation/create", answer, expected).await;
}

pub(crate) async fn sampled(client: &mut Client, _: &World) {
    let answer = r#"{"role":"assistant","content":{"type":"text","text":"hello"},"model":"small"}"#;
    let expected = r#"model="small", text=hello"#;
    check(client, "matrix_sample", "sampling/createMessage", answer, expected).await;
}

pub(crate) async fn rooted(client: &mut Client, _: &World) {
    let answer = r#"{"roots":[{"uri":"file:///garden"},{"uri":"file:///shed"}]}"#;
    let expected = "file:///garden\nfile:///shed";
    check(client, "matrix_roots", "roots/list", answer, expected).await;
}

/// An unanswered question ends the call, in time, with words that say so.
pub(crate) async fn timed_out(client: &mut Client, _: &World) {
    let began = Instant::now();
    let AskedCall { questions, end } = client.ask("matrix_elicit", None).await;
    assert_eq!(questions.len(), 1, "{}", end.response);
    match client.era {
        Era::Handshake => {
            assert_eq!(end.result()["isError"], true, "{}", end.response);
            assert!(end.response.contains("in time"), "{}", end.response);
            assert!(began.elapsed() >= Duration::from_secs(QUESTION_SECONDS));
        }
        Era::Stateless => {
            let required = InputRequest::of(&end).expect("it was asked");
            // Nothing signals that nothing happened, so this time just has to pass.
            sleep(Duration::from_secs(QUESTION_SECONDS) + Duration::from_millis(500)).await;
            let late = client.call_with("matrix_elicit", "{}", &required.rest(ACCEPTED)).await;
            assert!(is_refused(&late), "{}", late.response);
            let says_so = ["expired", "ended", "in time"].iter().any(|w| late.response.contains(w));
            assert!(says_so, "{}", late.response);
        }
    }
    assert!(began.elapsed() < LIMIT, "it took {:?}", began.elapsed());
    let called = client.call("test_simple_text", "{}").await;
    assert!(!is_refused(&called), "afterwards all is well: {}", called.response);
}

/// A client that cannot be asked gets an error that says which capability is missing.
pub(crate) async fn not_offered(client: &mut Client, world: &World) {
    let mut fresh;
    let client = match client.era {
        Era::Stateless => {
            client.set_capabilities("{}");
            client
        }
        Era::Handshake => {
            fresh = Client::connect(world, client.face, "{}").await;
            fresh.await_source().await;
            &mut fresh
        }
    };
    let mut refusals = Vec::new();
    for (tool, needed) in
        [("matrix_elicit", "elicitation"), ("matrix_sample", "sampling"), ("matrix_roots", "roots")]
    {
        let AskedCall { questions, end } = client.ask(tool, None).await;
        refusals.push((tool, needed, questions, end));
    }
    client.set_capabilities(EVERYTHING);
    for (tool, needed, questions, end) in refusals {
        assert!(questions.is_empty(), "{tool}: {questions:?}");
        // The flat face is as transparent as possible: the stateless era has an error for it.
        let as_the_era_has_it = client.face == Face::Flat && end.error_code() == Some(-32021);
        assert!(end.result()["isError"] == true || as_the_era_has_it, "{tool}: {}", end.response);
        assert!(end.response.contains(needed), "{tool}: {}", end.response);
    }
}

/// Resources may ask questions too.
pub(crate) async fn asking_resource(client: &mut Client, _: &World) {
    let uri = client.uri("user://asking");
    let params = |rest: &str| format!(r#"{{"uri":{}{rest}}}"#, json!(uri));
    let answer = r#"{"action":"accept","content":{"name":"Ada"}}"#;
    let mut read = client.answering(answer, "resources/read", &uri, &params("")).await;
    if client.era == Era::Stateless {
        let required = InputRequest::of(&read).unwrap_or_else(|| panic!("{}", read.response));
        read = client.request("resources/read", &uri, &params(&required.rest(answer))).await;
    }
    assert_eq!(read.result()["contents"][0]["text"], "Read by Ada.", "{}", read.response);
}

/// A state is valid only for its own call, and only unchanged.
pub(crate) async fn foreign_state(client: &mut Client, world: &World) {
    let asked = |exchange: Exchange| {
        InputRequest::of(&exchange).unwrap_or_else(|| panic!("not asked: {}", exchange.response))
    };
    let check = |what: &str, refused: &Exchange| {
        assert!(is_refused(refused), "{what}: {}", refused.response);
        assert!(!refused.response.contains("Ada"), "{what}: {}", refused.response);
    };

    let elsewhere = world.stranger().await;
    let mut stranger = Client::connect(&elsewhere, client.face, EVERYTHING).await;
    stranger.await_source().await;
    let theirs = asked(stranger.call("matrix_elicit", "{}").await).rest(ACCEPTED);
    let own = asked(client.call("matrix_elicit", "{}").await);
    let other = client.call_with("matrix_elicit", "{}", &theirs).await;
    check("the state of another gateway's client", &other);
    let rest = own.rest(ACCEPTED);
    let other = client.call_with("matrix_elicit", r#"{"message":"Who?"}"#, &rest).await;
    check("other arguments", &other);
    let other = client.call_with("matrix_sample", "{}", &rest).await;
    check("another tool", &other);
    let state = altered(own.state.as_ref().expect("it has a state"));
    let forged = InputRequest { state: Some(state), questions: own.questions.clone() };
    let other = client.call_with("matrix_elicit", "{}", &forged.rest(ACCEPTED)).await;
    check("an altered state", &other);

    let end = client.call_with("matrix_elicit", "{}", &rest).await;
    let expected = Value::from(r#"action=accept, content={"name":"Ada"}"#);
    assert_eq!(client.said(&end), expected, "the right one: {}", end.response);
}

/// A state with one character changed in the middle.
fn altered(state: &str) -> String {
    let middle = state.len() / 2;
    let change = |(at, own): (usize, char)| match (at == middle, own) {
        (true, 'A') => 'B',
        (true, _) => 'A',
        (false, own) => own,
    };
    state.chars().enumerate().map(change).collect()
}
