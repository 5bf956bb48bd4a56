//! A source's questions to a client that answers by repeating its request.

use std::sync::atomic::Ordering;

use futures::future::join;
use gatefold_core::{CallError, Outcome, Principal, Suspension, UserId};
use gatefold_dispatch::{Caller, Event, EventSink, Limits};
use gatefold_policy::Effect;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::clients::FORMS;
use crate::source::FakeSource;
use crate::world::{SECOND, World, ann, bob, done, refused, retrying, rule, suspended, until};

const ENDED: &str = "the answer cannot be resumed: the call it belongs to has ended; make the call \
                     anew";

/// Calls as Ann, who answers by retrying, until the tool asks something.
async fn asked(world: &World, tool: &str) -> Suspension {
    asked_with(world, tool, "{}").await
}

async fn asked_with(world: &World, tool: &str, arguments: &str) -> Suspension {
    let result = world.call_by(&ann(), tool, arguments, retrying(FORMS)).await;
    suspended(result)
}

async fn answer(
    world: &World,
    tool: &str,
    state: &str,
    answers: &str,
) -> Result<Outcome, CallError> {
    world.answer(&ann(), tool, "{}", (state, answers), retrying(FORMS)).await
}

fn questions(numbers: &[usize]) -> String {
    let question = r#"{"method":"elicitation/create","params":{}}"#;
    let questions = numbers.iter().map(|number| format!(r#""question-{number}":{question}"#));
    format!("{{{}}}", questions.collect::<Vec<_>>().join(","))
}

#[tokio::test(start_paused = true)]
async fn a_parked_call_resumes_with_its_answer_where_its_source_waits() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let Suspension { questions: asks, state } = asked(&world, "mail__ask").await;
    assert_eq!(asks.get(), questions(&[1]));
    assert_eq!((world.log.ended(), world.dispatcher.parked()), (vec!["suspended".into()], 1));

    let answers = r#"{"question-1":{"action": "accept"}}"#;
    let result = answer(&world, "mail__ask", &state.unwrap(), answers).await;
    assert_eq!(done(result), r#"{"action": "accept"}"#);
    assert_eq!((mail.calls(), mail.running(), world.dispatcher.parked()), (1, 0, 0));
    assert!(!mail.heard_cancel(), "it came to its end");
    assert_eq!(world.log.ended(), ["suspended", "done"]);
    let records = world.log.records();
    assert_eq!(records[0].opened.id, records[1].opened.id);
    assert_eq!(mail.seen()[0].call, records[0].opened.id);
}

#[tokio::test(start_paused = true)]
async fn of_two_questions_the_one_without_an_answer_is_asked_again() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let first = asked(&world, "mail__both").await;
    assert_eq!(first.questions.get(), questions(&[1, 2]));
    let some = r#"{"question-2":2,"question-7":7,"name":0}"#;
    let second = suspended(answer(&world, "mail__both", &first.state.unwrap(), some).await);
    assert_eq!(second.questions.get(), questions(&[1]));
    let state = second.state.unwrap();
    for none in ["null", "{}", "[]", r#"{"question-2":3}"#] {
        let again = suspended(answer(&world, "mail__both", &state, none).await);
        assert_eq!(again.questions.get(), questions(&[1]), "{none}");
    }
    let result = answer(&world, "mail__both", &state, r#"{"question-1":1}"#).await;
    assert_eq!(done(result), "[1,2]");
    assert_eq!((mail.calls(), world.dispatcher.parked()), (1, 0));
    assert_eq!(world.log.ended().last().unwrap(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_second_question_is_asked_in_a_second_round() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let first = asked(&world, "mail__twice").await.state.unwrap();
    let second = suspended(answer(&world, "mail__twice", &first, r#"{"question-1":1}"#).await);
    assert_eq!(second.questions.get(), questions(&[2]));
    // A client that repeats its first answer is told what is open now.
    let again = suspended(answer(&world, "mail__twice", &first, r#"{"question-1":9}"#).await);
    assert_eq!(again.questions.get(), questions(&[2]));
    let state = again.state.unwrap();
    assert_eq!(done(answer(&world, "mail__twice", &state, r#"{"question-2":2}"#).await), "[1,2]");
    assert_eq!(world.log.ended(), ["suspended", "suspended", "suspended", "done"]);
    assert_eq!(refused(answer(&world, "mail__twice", &state, "{}").await), ENDED);
}

#[tokio::test(start_paused = true)]
async fn events_reach_whoever_listens_to_the_request_under_way() {
    let world = World::new(&[&FakeSource::new("mail")]);
    let (sender, mut first) = mpsc::channel(8);
    let caller = Caller { events: EventSink::new(sender), ..retrying(FORMS) };
    let state = suspended(world.call_by(&ann(), "mail__chat", "{}", caller).await).state.unwrap();
    assert!(first.recv().await.is_none(), "a parked call lets its first listener go");

    let (sender, mut second) = mpsc::channel(8);
    let caller = Caller { events: EventSink::new(sender), ..retrying(FORMS) };
    let resume = (&*state, r#"{"question-1":5}"#);
    assert_eq!(done(world.answer(&ann(), "mail__chat", "{}", resume, caller).await), "5");
    let mut heard = Vec::new();
    while let Some(Event::Progress(text)) = second.recv().await {
        heard.push(text.get().to_owned());
    }
    assert_eq!(heard, ["5", "1"]);
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_request_that_resumes_cancels_the_sources_call() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    for by_token in [true, false] {
        let first = retrying(FORMS);
        let first_token = first.cancel.clone();
        let state = suspended(world.call_by(&ann(), "mail__brood", "{}", first).await).state;
        first_token.cancel();
        assert!(!mail.heard_cancel(), "the first request is over");
        assert_eq!((mail.running(), world.dispatcher.parked()), (1, 1));

        let caller = retrying(FORMS);
        let cancel = caller.cancel.clone();
        let (ann, state) = (ann(), state.unwrap());
        let resume = (&*state, r#"{"question-1":1}"#);
        let resumed = world.answer(&ann, "mail__brood", "{}", resume, caller);
        if by_token {
            let (result, ()) = join(resumed, async {
                sleep(SECOND).await;
                cancel.cancel();
            })
            .await;
            assert!(matches!(result, Err(CallError::Cancelled)));
        } else {
            assert!(tokio::time::timeout(SECOND, resumed).await.is_err());
        }
        until("the end of the source's call", || mail.running() == 0).await;
        assert!(mail.heard_cancel(), "{by_token}");
        assert_eq!(world.log.last().ended(), "cancelled");
        assert_eq!(world.dispatcher.parked(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_parked_call_to_which_nobody_comes_back_is_cancelled() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let state = asked(&world, "mail__brood").await.state.unwrap();
    sleep(world.limits.suspension.saturating_sub(SECOND)).await;
    assert_eq!((mail.running(), world.dispatcher.parked()), (1, 1));
    sleep(2 * SECOND).await;
    assert_eq!((mail.running(), world.dispatcher.parked()), (0, 0));
    assert!(mail.heard_cancel());
    assert_eq!(world.report("mail").calls_in_flight, 0);
    let id = world.log.last().opened.id;
    assert_eq!(refused(answer(&world, "mail__brood", &state, "{}").await), ENDED);
    assert_ne!(world.log.last().opened.id, id, "the suspended record expires by itself");
}

#[tokio::test(start_paused = true)]
async fn the_calls_time_stands_still_while_it_is_parked_and_then_goes_on() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    for tool in ["mail__ask", "mail__brood"] {
        let state = asked(&world, tool).await.state.unwrap();
        sleep(world.limits.suspension.saturating_sub(SECOND)).await;
        let resumed = Instant::now();
        let result = answer(&world, tool, &state, r#"{"question-1":1}"#).await;
        if tool == "mail__ask" {
            assert_eq!(done(result), "1");
        } else {
            assert!(matches!(result, Err(CallError::Deadline { .. })));
            assert_eq!(resumed.elapsed(), world.limits.call_deadline);
            assert_eq!(mail.running(), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_may_not_resume_a_parked_call_leaves_it_as_it_is() {
    let mail = FakeSource::with_tools("mail", &["ask", "cope"]);
    let post = FakeSource::with_tools("post", &["ask"]);
    let world = World::new(&[&mail, &post]);
    let state = asked(&world, "mail__ask").await.state.unwrap();
    let altered = format!("{state}A");
    let resume = |who: Principal, tool: &'static str, arguments: &'static str, state: String| {
        let world = &world;
        async move {
            let resume = (&*state, r#"{"question-1":1}"#);
            refused(world.answer(&who, tool, arguments, resume, retrying(FORMS)).await)
        }
    };
    let same = || state.clone();
    for (refused, why) in [
        (resume(bob(), "mail__ask", "{}", same()).await, "it belongs to another caller"),
        (
            resume(ann(), "mail__ask", "{}", altered).await,
            "its state is not one that was given out",
        ),
        (resume(ann(), "mail__ask", "{ }", same()).await, "its arguments have changed since"),
        (resume(ann(), "post__ask", "{}", same()).await, "it was given out for another call"),
        (resume(ann(), "mail__cope", "{}", same()).await, "it was given out for another call"),
    ] {
        assert_eq!(refused, format!("the answer cannot be resumed: {why}"));
        assert_eq!((mail.running(), world.dispatcher.parked()), (1, 1), "{why}");
    }
    mail.redefines(&["ask", "cope"]);
    world.install(&[&mail, &post], &[]);
    let changed = resume(ann(), "mail__ask", "{}", same()).await;
    let expected = "the answer cannot be resumed: the tool's definition has changed since";
    assert_eq!(changed, expected);
    mail.offers(&["ask", "cope"]);
    world.install(&[&mail, &post], &[]);
    assert_eq!(done(answer(&world, "mail__ask", &state, r#"{"question-1":1}"#).await), "1");
    assert_eq!((mail.calls(), post.calls()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_parked_call_that_is_denied_meanwhile_ends() {
    for effect in [Effect::Deny, Effect::Ask] {
        let mail = FakeSource::new("mail");
        let world = World::new(&[&mail]);
        let state = asked(&world, "mail__brood").await.state.unwrap();
        world.install(&[&mail], &[rule(effect, "mail", "brood")]);
        let result = answer(&world, "mail__brood", &state, r#"{"question-1":1}"#).await;
        if effect == Effect::Deny {
            assert_eq!(refused(result), "unknown tool `mail__brood`");
        } else {
            assert!(
                suspended(result)
                    .questions
                    .get()
                    .contains(r#""approval":{"method":"elicitation/create""#)
            );
        }
        assert_eq!(world.dispatcher.parked(), 0, "{effect:?}");
        until("the end of the source's call", || mail.running() == 0).await;
        assert_eq!(mail.calls(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn another_dispatcher_knows_that_a_parked_call_is_not_its_own() {
    let (mail, elsewhere) = (FakeSource::new("mail"), FakeSource::new("mail"));
    let (world, other) = (World::new(&[&mail]), World::new(&[&elsewhere]));
    let state = asked(&world, "mail__ask").await.state.unwrap();
    assert_eq!(refused(answer(&other, "mail__ask", &state, r#"{"question-1":1}"#).await), ENDED);
    assert_eq!(elsewhere.calls(), 0);
    assert_eq!(done(answer(&world, "mail__ask", &state, r#"{"question-1":1}"#).await), "1");
}

#[tokio::test(start_paused = true)]
async fn parked_calls_have_a_limit() {
    const PARKED: usize = 1024;
    const EACH: usize = 128;
    let mail = FakeSource::new("mail");
    let limits = Limits { calls_in_flight: 2 * PARKED, ..Limits::default() };
    let world = World::with_limits(&[&mail], limits);
    // Ann has as many as one principal may have, and others have the rest.
    let mut states = Vec::new();
    for _ in 0..EACH {
        states.push(asked(&world, "mail__ask").await.state.unwrap());
    }
    let busy = "`mail` has too many calls waiting for your answers; answer one of them first, then try \
                again";
    let one_more = world.call_by(&ann(), "mail__ask", "{}", retrying(FORMS)).await;
    assert_eq!(refused(one_more), busy);
    for number in EACH..PARKED {
        let user = Principal::user(UserId::new(format!("user-{}", number / EACH)));
        suspended(world.call_by(&user, "mail__ask", "{}", retrying(FORMS)).await);
    }
    assert_eq!(world.dispatcher.parked(), PARKED);
    let one_more = world.call_by(&bob(), "mail__ask", "{}", retrying(FORMS)).await;
    assert_eq!(refused(one_more), busy);
    assert_eq!((mail.running(), &*world.log.last().ended()), (PARKED, "failed: busy"));
    let state = states.pop().unwrap();
    assert_eq!(done(answer(&world, "mail__ask", &state, r#"{"question-1":1}"#).await), "1");
    asked(&world, "mail__ask").await;
}

#[tokio::test(start_paused = true)]
async fn a_dispatcher_that_closes_lets_parked_calls_go_and_parks_no_more() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let state = asked(&world, "mail__brood").await.state.unwrap();
    let late = world.start("mail__nap", retrying(FORMS));
    mail.reached(2).await;
    world.dispatcher.close().await;
    assert_eq!(world.dispatcher.parked(), 0);
    until("the end of the parked call", || mail.running() == 1).await;
    assert_eq!(refused(answer(&world, "mail__brood", &state, "{}").await), ENDED);

    let error = refused(late.await.unwrap());
    assert_eq!(error, "`mail` is unavailable: Gatefold is stopping");
    until("the end of the late call", || mail.running() == 0).await;
    assert_eq!(world.dispatcher.parked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_retrying_client_that_can_be_asked_nothing_is_not_waited_for() {
    let world = World::new(&[&FakeSource::new("mail")]);
    for capabilities in ["{}", r#"{"roots":{}}"#] {
        let result = world.call_by(&ann(), "mail__ask", "{}", retrying(capabilities)).await;
        let expected = "`mail__ask` sent `elicitation/create` to the client, and the client does \
                        not offer elicitation";
        let Ok(Outcome::Done(payload)) = result else { panic!("{result:?}") };
        assert!(payload.is_error && payload.json.get().contains(expected), "{payload:?}");
        let result = world.call_by(&ann(), "mail__cope", "{}", retrying(capabilities)).await;
        assert_eq!(done(result), r#""without: the client does not offer elicitation""#);
        assert_eq!(world.dispatcher.parked(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_answers_at_once_one_counts() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let state = asked(&world, "mail__chat").await.state.unwrap();
    let resume = || answer(&world, "mail__chat", &state, r#"{"question-1":1}"#);
    let (one, other) = join(resume(), resume()).await;
    assert_eq!((done(one), refused(other)), ("1".to_owned(), ENDED.to_owned()));
    assert_eq!((mail.calls(), world.dispatcher.parked()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_source_is_told_no_answer_that_is_not_on_record() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let state = asked(&world, "mail__ask").await.state.unwrap();
    world.log.fails.store(true, Ordering::SeqCst);
    let error = refused(answer(&world, "mail__ask", &state, r#"{"question-1":1}"#).await);
    assert_eq!(error, "the call could not be recorded, so nothing was sent; try again shortly");
    world.log.fails.store(false, Ordering::SeqCst);
    world.log.hangs.store(true, Ordering::SeqCst);
    let late = answer(&world, "mail__ask", &state, r#"{"question-1":1}"#).await;
    assert!(matches!(late, Err(CallError::Audit(_))));
    world.log.hangs.store(false, Ordering::SeqCst);
    assert_eq!((mail.running(), world.dispatcher.parked()), (1, 1), "it waits as before");
    assert_eq!(done(answer(&world, "mail__ask", &state, r#"{"question-1":2}"#).await), "2");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_gave_up_waiting_gives_its_result_to_whoever_comes() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let state = asked(&world, "mail__hasty").await.state.unwrap();
    sleep(6 * SECOND).await;
    assert_eq!((mail.running(), world.dispatcher.parked()), (0, 1));
    // The question is closed, so it is not asked again.
    let result = answer(&world, "mail__hasty", &state, "{}").await;
    assert_eq!(done(result), r#""gave up""#);
    assert_eq!(world.log.ended(), ["suspended", "done"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_nested_call_asks_parks_the_outermost_call_alone() {
    for (tool, expected) in [
        ("files__ask", "1"),
        ("files__wait", r#"{"state":"the source's own","answers":{"name":1}}"#),
    ] {
        let (agent, files) = (FakeSource::new("agent"), FakeSource::new("files"));
        let world = World::new(&[&agent, &files]);
        let arguments = format!(r#"["{tool}"]"#);
        let state = asked_with(&world, "agent__nest", &arguments).await.state.unwrap();
        assert_eq!(world.dispatcher.parked(), 1);
        // The client was told how long it has, however deep the question came from.
        sleep(world.limits.suspension.saturating_sub(SECOND)).await;
        let resume = (&*state, r#"{"question-1":1}"#);
        let result = world.answer(&ann(), "agent__nest", &arguments, resume, retrying(FORMS)).await;
        assert_eq!(done(result), expected);
        assert_eq!((agent.calls(), world.dispatcher.parked()), (1, 0));
        assert_eq!((agent.running(), files.running()), (0, 0));
    }
}
