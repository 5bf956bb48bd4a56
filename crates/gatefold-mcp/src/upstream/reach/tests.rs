use gatefold_dispatch::{Answer, ClientCapabilities, Manner};
use tokio::sync::mpsc;

use super::*;

struct Client {
    capabilities: ClientCapabilities,
    answer: Option<&'static str>,
}

impl Peer for Client {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn manner(&self) -> Manner {
        Manner::Live
    }

    fn ask(&self, _: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async {
            match self.answer {
                Some(answer) => Ok(Answer(raw(answer))),
                None => std::future::pending().await,
            }
        })
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn reach(capabilities: &str, answer: Option<&'static str>) -> Arc<Reach> {
    let capabilities = ClientCapabilities::read(&raw(capabilities));
    let peer = Arc::new(Client { capabilities, answer });
    Arc::new(Reach::new(EventSink::none(), Some(peer), None))
}

fn elicit() -> Question {
    question("elicitation/create", None)
}

const FORMS: &str = r#"{"elicitation":{}}"#;

#[tokio::test]
async fn an_answer_is_passed_on_letter_for_letter() {
    let reach = reach(FORMS, Some(r#"{"n": 1.10}"#));
    reach.put(&raw(r#""q 1""#), elicit()).unwrap();
    let Next::Send(answer) = Questions::of(reach).next().await else { panic!("not a message") };
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":"q 1","result":{"n": 1.10}}"#);
}

#[tokio::test]
async fn a_question_taken_back_is_not_answered() {
    let reach = reach(FORMS, None);
    let mut questions = Questions::of(reach.clone());
    reach.put(&raw("1"), elicit()).unwrap();
    reach.put(&raw("2"), elicit()).unwrap();
    reach.withdraw(&raw("1"));
    let waited = tokio::time::timeout(std::time::Duration::ZERO, questions.next());
    waited.await.unwrap_err();
    // The withdrawn one is gone from those that are open once it is looked at.
    let waited = tokio::time::timeout(std::time::Duration::ZERO, questions.next());
    waited.await.unwrap_err();
    assert_eq!(questions.open.unwrap().len(), 1);
}

#[tokio::test]
async fn questions_that_are_answered_leave_nothing_behind_while_one_is_open() {
    // Its client answers every question but the first, which stays open.
    struct Hesitant(ClientCapabilities, std::sync::atomic::AtomicBool);
    impl Peer for Hesitant {
        fn capabilities(&self) -> &ClientCapabilities {
            &self.0
        }
        fn manner(&self) -> Manner {
            Manner::Live
        }
        fn ask(&self, _: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
            let is_first = !self.1.swap(true, Ordering::SeqCst);
            Box::pin(async move {
                if is_first { std::future::pending().await } else { Ok(Answer(raw("{}"))) }
            })
        }
    }
    let capabilities = ClientCapabilities::read(&raw(FORMS));
    let peer = Arc::new(Hesitant(capabilities, AtomicBool::new(false)));
    let reach = Arc::new(Reach::new(EventSink::none(), Some(peer), None));
    let mut questions = Questions::of(reach.clone());
    reach.put(&raw("0"), elicit()).unwrap();
    for id in 1..1000 {
        reach.put(&raw(&id.to_string()), elicit()).unwrap();
        let Next::Send(answer) = questions.next().await else { panic!("not a message") };
        assert!(answer.contains(&format!(r#""id":{id},"#)), "{answer}");
    }
    assert_eq!(questions.withdrawals.len(), 1, "the one that is open");
}

#[tokio::test(start_paused = true)]
async fn requests_given_up_are_remembered_within_a_bound_and_in_doubt_beyond_it() {
    let turns = Turns::new();
    let own = reach(FORMS, None);
    for id in 0..10 * GIVEN_UP as u64 {
        turns.give_up(id, &own);
    }
    assert_eq!(turns.given_up().by_id.len(), GIVEN_UP);
    for id in 0..GIVEN_UP as u64 {
        turns.answered(id);
    }
    assert!(turns.is_doubtful(&own), "those that are not remembered may still be at work");
    tokio::time::advance(DOUBT).await;
    assert!(!turns.is_doubtful(&own));
}

#[tokio::test]
async fn more_questions_than_the_limit_are_refused() {
    let reach = reach(FORMS, None);
    for id in 0..OPEN_QUESTIONS {
        reach.put(&raw(&id.to_string()), elicit()).unwrap();
    }
    let refusal = reach.put(&raw("99"), elicit()).unwrap_err();
    assert!(refusal.contains(r#""id":99,"error":{"code":-32603"#), "{refusal}");
}

#[test]
fn a_question_is_put_only_where_it_must_belong() {
    let [one, other] = [(); 2].map(|()| reach(FORMS, None));
    let mute = reach("{}", None);
    let put = |turns: &Turns, under_way: &[&Arc<Reach>]| {
        turns.put(under_way.iter().copied(), &raw("1"), elicit())
    };
    let turns = Turns::new();
    put(&turns, &[&one]).unwrap();
    put(&turns, &[&mute, &other]).unwrap();
    // Its client is asked in vain, and the call learns why.
    put(&turns, &[&mute]).unwrap();
    assert!(put(&turns, &[]).unwrap_err().contains("-32601"));
    assert!(!turns.is_needed.load(Ordering::Acquire));
    assert!(put(&turns, &[&one, &other]).unwrap_err().contains("several requests"));
    assert!(turns.is_needed.load(Ordering::Acquire), "from now on, one at a time");
}

#[tokio::test]
async fn once_they_were_mixed_up_requests_that_may_be_asked_take_turns() {
    let turns = Turns::new();
    let (one, mute) = (reach(FORMS, None), reach("{}", None));
    assert!(turns.wait(&one).await.is_none(), "nothing was mixed up yet");
    turns.is_needed.store(true, Ordering::Release);
    let turn = turns.wait(&one).await.expect("the first has the turn");
    assert!(turns.wait(&mute).await.is_none(), "nobody can ask this one");
    let waited = tokio::time::timeout(std::time::Duration::ZERO, turns.wait(&one));
    assert!(waited.await.is_err());
    drop(turn);
    assert!(turns.wait(&one).await.is_some());
}

#[test]
fn what_is_said_meanwhile_reaches_the_listener() {
    let (sender, mut events) = mpsc::channel(8);
    let reach = Reach::new(EventSink::new(sender), None, Some("warning"));
    let tell = |text: &str| reach.tell(&ServerMessage::read(text.as_bytes()).unwrap());
    tell(r#"{"method":"notifications/message","params":{"level":"info","data":1}}"#);
    tell(r#"{"method":"notifications/message","params":{"level":"error","data":1.0}}"#);
    tell(r#"{"method":"notifications/elicitation/complete","params":{"elicitationId":"7"}}"#);
    let Event::Log(said) = events.try_recv().unwrap() else { panic!("not a log") };
    assert_eq!(said.get(), r#"{"level":"error","data":1.0}"#);
    let Event::Notice { method, params } = events.try_recv().unwrap() else { panic!("none") };
    assert_eq!(method, "notifications/elicitation/complete");
    assert_eq!(params.get(), r#"{"elicitationId":"7"}"#);
    assert!(events.try_recv().is_err());
}
