use gatefold_dispatch::{Answer, ClientCapabilities, QuestionMode};
use tokio::sync::mpsc;

use super::router::{ABANDONED_REQUESTS, DOUBT};
use super::*;

struct TestClient {
    client: Option<u64>,
    capabilities: ClientCapabilities,
    answer: Option<&'static str>,
}

impl Peer for TestClient {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn client(&self) -> Option<u64> {
        self.client
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

fn back_channel(capabilities: &str, answer: Option<&'static str>) -> Arc<BackChannel> {
    of_client(None, capabilities, answer)
}

fn of_client(
    client: Option<u64>,
    capabilities: &str,
    answer: Option<&'static str>,
) -> Arc<BackChannel> {
    let capabilities = ClientCapabilities::read(&raw(capabilities));
    let peer = Arc::new(TestClient { client, capabilities, answer });
    Arc::new(BackChannel::new(EventSink::none(), Some(peer), None))
}

fn elicit() -> Question {
    question("elicitation/create", None)
}

const FORMS: &str = r#"{"elicitation":{}}"#;

#[tokio::test]
async fn an_answer_is_passed_on_letter_for_letter() {
    let back_channel = back_channel(FORMS, Some(r#"{"n": 1.10}"#));
    back_channel.put(&raw(r#""q 1""#), elicit()).unwrap();
    let QuestionStep::Send(answer) = OpenQuestions::of(back_channel).next().await else {
        panic!("not a message")
    };
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":"q 1","result":{"n": 1.10}}"#);
}

#[tokio::test]
async fn a_question_taken_back_is_not_answered() {
    let back_channel = back_channel(FORMS, None);
    let mut questions = OpenQuestions::of(back_channel.clone());
    back_channel.put(&raw("1"), elicit()).unwrap();
    back_channel.put(&raw("2"), elicit()).unwrap();
    back_channel.withdraw(&raw("1"));
    let waited = tokio::time::timeout(std::time::Duration::ZERO, questions.next());
    waited.await.unwrap_err();
    // Polling removes the withdrawn one from the open ones.
    let waited = tokio::time::timeout(std::time::Duration::ZERO, questions.next());
    waited.await.unwrap_err();
    assert_eq!(questions.open.unwrap().len(), 1);
}

#[tokio::test]
async fn questions_that_are_answered_leave_nothing_behind_while_one_is_open() {
    // Its client answers every question but the first, which stays open.
    struct HesitantClient(ClientCapabilities, std::sync::atomic::AtomicBool);
    impl Peer for HesitantClient {
        fn capabilities(&self) -> &ClientCapabilities {
            &self.0
        }
        fn question_mode(&self) -> QuestionMode {
            QuestionMode::Live
        }
        fn ask(&self, _: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
            let is_first = !self.1.swap(true, Ordering::SeqCst);
            Box::pin(async move {
                if is_first { std::future::pending().await } else { Ok(Answer(raw("{}"))) }
            })
        }
    }
    let capabilities = ClientCapabilities::read(&raw(FORMS));
    let peer = Arc::new(HesitantClient(capabilities, AtomicBool::new(false)));
    let back_channel = Arc::new(BackChannel::new(EventSink::none(), Some(peer), None));
    let mut questions = OpenQuestions::of(back_channel.clone());
    back_channel.put(&raw("0"), elicit()).unwrap();
    for id in 1..1000 {
        back_channel.put(&raw(&id.to_string()), elicit()).unwrap();
        let QuestionStep::Send(answer) = questions.next().await else { panic!("not a message") };
        assert!(answer.contains(&format!(r#""id":{id},"#)), "{answer}");
    }
    assert_eq!(questions.withdrawals.len(), 1, "the one that is open");
}

#[tokio::test(start_paused = true)]
async fn requests_given_up_are_remembered_within_a_bound_and_in_doubt_beyond_it() {
    let router = QuestionRouter::new();
    let own = back_channel(FORMS, None);
    for id in 0..10 * ABANDONED_REQUESTS as u64 {
        router.abandon(id, &own);
    }
    assert_eq!(router.abandoned().by_id.len(), ABANDONED_REQUESTS);
    for id in 0..ABANDONED_REQUESTS as u64 {
        router.answered(id);
    }
    assert!(router.is_doubtful(&own), "forgotten ones may still run");
    tokio::time::advance(DOUBT).await;
    assert!(!router.is_doubtful(&own));
}

#[tokio::test]
async fn more_questions_than_the_limit_are_refused() {
    let back_channel = back_channel(FORMS, None);
    for id in 0..OPEN_QUESTIONS {
        back_channel.put(&raw(&id.to_string()), elicit()).unwrap();
    }
    let refusal = back_channel.put(&raw("99"), elicit()).unwrap_err();
    assert!(refusal.contains(r#""id":99,"error":{"code":-32603"#), "{refusal}");
}

#[test]
fn a_question_is_put_only_where_it_must_belong() {
    let [one, other] = [(); 2].map(|()| back_channel(FORMS, None));
    let mute = back_channel("{}", None);
    let put = |router: &QuestionRouter, under_way: &[&Arc<BackChannel>]| {
        router.put(under_way.iter().copied(), &raw("1"), elicit())
    };
    let router = QuestionRouter::new();
    put(&router, &[&one]).unwrap();
    put(&router, &[&mute, &other]).unwrap();
    // Its client does not answer, and the call learns why.
    put(&router, &[&mute]).unwrap();
    assert!(put(&router, &[]).unwrap_err().contains("-32601"));
    assert!(!router.is_needed.load(Ordering::Acquire));
    assert!(put(&router, &[&one, &other]).unwrap_err().contains("several requests"));
    assert!(router.is_needed.load(Ordering::Acquire), "from now on, one at a time");
}

#[tokio::test]
async fn once_they_were_mixed_up_requests_that_may_be_asked_take_turns() {
    let router = QuestionRouter::new();
    let (one, mute) = (back_channel(FORMS, None), back_channel("{}", None));
    assert!(router.wait(&one).await.is_none(), "nothing was mixed up yet");
    router.is_needed.store(true, Ordering::Release);
    let turn = router.wait(&one).await.expect("the first gets the turn");
    assert!(router.wait(&mute).await.is_none(), "its client cannot be asked");
    let waited = tokio::time::timeout(std::time::Duration::ZERO, router.wait(&one));
    assert!(waited.await.is_err());
    drop(turn);
    assert!(router.wait(&one).await.is_some());
}

#[tokio::test]
async fn a_question_to_one_clients_requests_outlives_the_request_that_asked() {
    let router = QuestionRouter::new();
    // The first is the one that asks, and its client does not answer there.
    let requests = [None, Some("{}")].map(|answer| of_client(Some(7), FORMS, answer));
    router.put(requests.iter(), &raw("1"), elicit()).unwrap();
    assert!(!router.is_needed.load(Ordering::Acquire), "there is no doubt");
    let [first, second] = requests.each_ref().map(|own| OpenQuestions::of(own.clone()));
    let (mut first, mut second) = (Box::pin(first), Box::pin(second));
    let at_once = std::time::Duration::ZERO;
    tokio::time::timeout(at_once, first.next()).await.unwrap_err();
    tokio::time::timeout(at_once, second.next()).await.unwrap_err();
    drop(first);
    assert_eq!(second.withdrawals.len(), 1, "it is still open");
    requests[1].withdraw(&raw("1"));
    tokio::time::timeout(at_once, second.next()).await.unwrap_err();
    tokio::time::timeout(at_once, second.next()).await.unwrap_err();
    assert!(second.withdrawals.is_empty(), "the server took it back");
}

#[tokio::test]
async fn one_clients_requests_do_not_wait_for_each_other() {
    let router = QuestionRouter::new();
    router.is_needed.store(true, Ordering::Release);
    let [one, same, other] = [1, 1, 2].map(|client| of_client(Some(client), FORMS, None));
    let turn = router.wait(&one).await.unwrap();
    let second = router.wait(&same).await.unwrap();
    let at_once = std::time::Duration::ZERO;
    let mut waits = Box::pin(router.wait(&other));
    assert!(tokio::time::timeout(at_once, &mut waits).await.is_err());
    // A later request does not overtake the waiting one.
    assert!(tokio::time::timeout(at_once, router.wait(&one)).await.is_err());
    drop((turn, second));
    assert!(waits.await.is_some());
}

#[test]
fn what_is_said_meanwhile_reaches_the_listener() {
    let (sender, mut events) = mpsc::channel(8);
    let back_channel = BackChannel::new(EventSink::new(sender), None, Some("warning"));
    let tell = |text: &str| back_channel.tell(&ServerMessage::read(text.as_bytes()).unwrap());
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
