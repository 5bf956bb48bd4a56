use gatefold_core::Label;
use gatefold_disclose::{Disclosure, Gateway};
use gatefold_exchange::{Disclosures, Scope};

use super::*;
use crate::downstream::client::{Client, ClientState};

const IDLE: Duration = Duration::from_secs(60);

fn session() -> Arc<ClientSession> {
    let principal = Arc::new(Principal::local());
    let subscriptions = ClientSubscriptions::detached();
    let capabilities = ClientCapabilities::default();
    let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
    let audience = Disclosures::standard(&gateway).audience(Scope::Everything, None).unwrap();
    ClientSession::new(audience, principal, None, capabilities, "2025-11-25", subscriptions)
}

const FEW: SessionLimits = SessionLimits { in_all: 40, of_client: 10 };

fn few() -> Sessions {
    Sessions { open: Mutex::default(), limits: FEW }
}

fn open(sessions: &Sessions) -> (String, Arc<ClientSession>) {
    let session = session();
    (sessions.open(session.clone(), None).unwrap(), session)
}

/// A session of a client that calls itself so, from an address.
fn opened(sessions: &Sessions, name: &str, address: [u8; 4]) -> Arc<ClientSession> {
    let mut own = Arc::into_inner(session()).unwrap();
    own.client = Some(ClientName::new(name));
    let own = Arc::new(own);
    sessions.open(own.clone(), Some(address.into())).unwrap();
    own
}

#[test]
fn what_one_request_of_a_session_has_read_the_next_one_knows() {
    let label = |session: &Arc<ClientSession>| {
        let (principal, standing) =
            (session.principal.clone(), ClientState::Session(session.clone()));
        Client { principal, name: None, standing, connection: None }.label()
    };
    let (read_on, other) = (session(), session());
    label(&read_on).raise(Label::OpenWorld);
    assert_eq!(label(&read_on).get(), Label::OpenWorld);
    assert_eq!(label(&other).get(), Label::Clean, "another session has read nothing");
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_silent_and_not_while_something_goes_on() {
    let sessions = Sessions::default();
    let ((silent, ended), (_, calling), (_, listening)) =
        (open(&sessions), open(&sessions), open(&sessions));
    let going_on = (calling.begin("1").unwrap(), listening.listen());
    tokio::time::advance(IDLE).await;
    sessions.expire(IDLE);
    assert!(sessions.get(&silent, |_| true).is_none() && ended.closed.is_cancelled());
    assert_eq!(sessions.count(), 2);
    drop(going_on);
    sessions.expire(IDLE);
    assert_eq!(sessions.count(), 2, "idle time starts when the request ends");
    tokio::time::advance(IDLE).await;
    sessions.expire(IDLE);
    assert_eq!(sessions.count(), 0);
}

#[test]
fn the_end_of_a_request_leaves_another_of_the_same_id_alone() {
    let (session, other) = (session(), session());
    let (first, second) = (session.begin("7").unwrap(), session.begin("7").unwrap());
    drop(first);
    other.cancel("7");
    assert!(!second.cancel.is_cancelled(), "another session's request is its own");
    session.cancel("7");
    assert!(second.cancel.is_cancelled());
}

#[test]
fn a_client_has_so_many_requests_under_way_and_no_more() {
    let (session, other) = (session(), session());
    let mut requests: Vec<_> = (0..SESSION_REQUESTS).map(|_| session.begin("1").unwrap()).collect();
    assert_eq!(session.begin("1").err(), Some(TooManyRequests));
    assert!(other.begin("1").is_ok(), "another session has its own places");
    requests.pop();
    assert!(session.begin("1").is_ok(), "a place is free again");
}

#[test]
fn a_later_stream_takes_the_place_of_the_one_before() {
    let session = session();
    let first = session.listen();
    let second = session.listen();
    assert!(first.replaced.is_cancelled() && !second.replaced.is_cancelled());
}

#[test]
fn a_closed_session_cancels_what_goes_on_in_it() {
    let sessions = Sessions::default();
    let (id, session) = open(&sessions);
    let request = session.begin("1").unwrap();
    assert!(sessions.close(&id) && !sessions.close(&id));
    assert!(request.cancel.is_cancelled() && session.closed.is_cancelled());
}

#[test]
fn a_session_too_many_takes_the_place_of_a_silent_one_or_is_refused() {
    let sessions = few();
    let mut busy: Vec<_> = (0..FEW.of_client)
        .map(|_| {
            let session = open(&sessions).1;
            (session.begin("1").unwrap(), session)
        })
        .collect();
    assert_eq!(sessions.open(session(), None).unwrap_err(), SessionsFull);
    let (request, silent) = busy.pop().unwrap();
    drop(request);
    open(&sessions);
    assert!(silent.closed.is_cancelled());
    assert_eq!(sessions.count(), FEW.of_client);
}

const HERE: [u8; 4] = [127, 0, 0, 1];
const THERE: [u8; 4] = [10, 0, 0, 9];

#[test]
fn a_client_that_opens_sessions_without_end_closes_its_own() {
    let sessions = few();
    let editor = opened(&sessions, "editor", HERE);
    let first = opened(&sessions, "runaway", HERE);
    for _ in 0..FEW.of_client {
        opened(&sessions, "runaway", HERE);
    }
    assert!(first.closed.is_cancelled() && !editor.closed.is_cancelled());
    assert_eq!(sessions.count(), 1 + FEW.of_client);
    let other = opened(&sessions, "runaway", THERE);
    assert!(!other.closed.is_cancelled() && !editor.closed.is_cancelled());
    assert_eq!(sessions.count(), 2 + FEW.of_client, "from elsewhere it is another");
}

#[test]
fn names_without_end_push_out_nobody_elsewhere_and_no_session_in_use() {
    let sessions = few();
    let (editor, other) = (opened(&sessions, "editor", HERE), opened(&sessions, "editor", THERE));
    drop(editor.begin("1").unwrap());
    for number in 0..FEW.in_all + 50 {
        opened(&sessions, &format!("runaway {number}"), HERE);
    }
    assert_eq!(sessions.count(), FEW.in_all);
    assert!(!other.closed.is_cancelled(), "it connects from elsewhere");
    assert!(!editor.closed.is_cancelled(), "it was used, and the others were not");
    // A newcomer takes the place of one of those who have most.
    let newcomer = opened(&sessions, "late", THERE);
    assert!(!newcomer.closed.is_cancelled() && !other.closed.is_cancelled());
    assert_eq!(sessions.count(), FEW.in_all);
}
