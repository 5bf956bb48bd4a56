use futures::FutureExt as _;
use gatefold_dispatch::ResultPlace;
use tokio::sync::mpsc;

use super::*;
use crate::downstream::request::Outbox;

/// Sends a whole answer of this many bytes to a client that then goes away.
async fn send(replays: &Arc<Replays>, retention: &Retention, bytes: usize) {
    let (events, texts) = (mpsc::channel(1).1, mpsc::channel(1).1);
    let said = Outbox { events, texts, progress_token: None, log_level: None };
    let answer = async move { Ok("x".repeat(bytes)) }.boxed();
    let working = RequestInProgress::new(answer, said, ResultPlace::default(), ());
    let id = RawValue::NULL.to_owned();
    let Ok(mut reader) = replays.begin(None, working, id, retention) else { panic!("full") };
    while reader.next().await.is_some() {}
}

fn numbers(replays: &Replays) -> Vec<u64> {
    let mut numbers: Vec<_> = replays.lock().keys().copied().collect();
    numbers.sort_unstable();
    numbers
}

#[tokio::test]
async fn answers_that_were_sent_give_way_to_newer_ones() {
    let (replays, retention) = (Arc::<Replays>::default(), Retention::for_sessions(GRACE));
    for _ in 0..REPLAYS + 10 {
        send(&replays, &retention, 10).await;
    }
    assert!(numbers(&replays).into_iter().eq(10..10 + REPLAYS as u64));
    let mut reader = replays.resume("73-0").expect("the last one is kept");
    reader.next().await;
    assert!(
        reader
            .next()
            .await
            .is_some_and(|event| event.data.windows(10).any(|part| part == b"xxxxxxxxxx"))
    );
}

#[tokio::test]
async fn answers_that_were_sent_are_bound_by_their_bytes() {
    let (replays, retention) = (Arc::<Replays>::default(), Retention::for_sessions(GRACE));
    for _ in 0..10 {
        send(&replays, &retention, SENT_BYTES / 4).await;
    }
    assert_eq!(numbers(&replays), [7, 8, 9]);
    send(&replays, &retention, SENT_BYTES * 2).await;
    assert_eq!(numbers(&replays), [10], "the last one is kept, however large");
    send(&replays, &retention, 10).await;
    assert_eq!(numbers(&replays), [11]);
}

#[tokio::test]
async fn all_sessions_share_the_room_for_answers_that_were_sent() {
    let [one, other] = [0; 2].map(|_| Arc::<Replays>::default());
    let retention = Retention { grace: GRACE, room: Arc::new(Semaphore::new(10)) };
    send(&one, &retention, 8 * UNIT).await;
    send(&other, &retention, 4 * UNIT).await;
    assert_eq!((numbers(&one).len(), numbers(&other).len()), (1, 0));
    one.clear();
    send(&other, &retention, 4 * UNIT).await;
    assert_eq!(numbers(&other), [1]);
}

fn message(text: &str) -> ReplayPiece {
    ReplayPiece::Message(text.to_owned().into())
}

fn text(piece: &ReplayPiece) -> &str {
    match piece {
        ReplayPiece::Message(text) => std::str::from_utf8(text).unwrap(),
        ReplayPiece::Pause(_) => "pause",
    }
}

#[test]
fn a_call_that_sends_a_hundred_thousand_notices_stays_under_the_bound() {
    const NOTICES: usize = 100_000;
    let (mut log, mut place, mut written) = (ReplayLog::default(), 0, 0);
    while place < NOTICES {
        // The call writes until there is no room, and its reader reads a little.
        while written < NOTICES && log.has_room() {
            log.extend([message(&format!("notice {written}"))]);
            written += 1;
        }
        for _ in 0..100 {
            let Some((piece, next)) = log.read(place) else { break };
            assert_eq!(text(&piece), format!("notice {place}"), "none is lost");
            place = next;
        }
        assert!(log.pieces.len() <= READ_MESSAGES + UNREAD_MESSAGES + 1);
    }
    assert_eq!((log.pieces.len(), log.unread_bytes), (READ_MESSAGES, 0));
}

#[test]
fn large_messages_are_bound_by_their_bytes() {
    let (mut log, mut place) = (ReplayLog::default(), 0);
    let large = "x".repeat(READ_BYTES / 4);
    for _ in 0..100 {
        log.extend([message(&large)]);
        place = log.read(place).unwrap().1;
        assert!(log.pieces.iter().map(ReplayPiece::bytes).sum::<usize>() <= READ_BYTES);
    }
    for _ in 0..100 {
        if !log.has_room() {
            break;
        }
        log.extend([message(&large)]);
    }
    assert!(log.unread_bytes <= UNREAD_BYTES + large.len());
}

#[test]
fn whoever_comes_back_too_late_goes_on_with_the_oldest_that_is_kept() {
    let (mut log, mut place) = (ReplayLog::default(), 0);
    for at in 0..READ_MESSAGES + 10 {
        log.extend([message(&at.to_string())]);
        place = log.read(place).unwrap().1;
    }
    log.extend([message("answer")]);
    let (piece, next) = log.read(3).unwrap();
    assert_eq!((text(&piece), next), ("10", 11));
    let unread = log.unread_bytes;
    assert_eq!(unread, "answer".len(), "to read again is no progress");
    assert_eq!(text(&log.read(place).unwrap().0), "answer");
    assert!(log.read(place + 1).is_none());
}
