//! The sessions of handshake-era clients over HTTP, as far as calls that go past rmcp need them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::Principal;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Sessions open at once. With one more, the one that was silent longest is closed; when there is
/// none, the new one is refused.
const SESSIONS: usize = 10_000;

/// Who each session belongs to, and what goes on in it.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Entry>>);

struct Entry {
    principal: Arc<Principal>,
    last_used: Instant,
    /// Streams that the client holds open.
    streams: usize,
    /// Calls under way. Their ids are the client's, who may use one twice.
    calls: HashMap<u64, Call>,
    /// Calls ever begun.
    begun: u64,
}

struct Call {
    id: String,
    cancel: CancellationToken,
}

/// Every session that could be open is, and something goes on in each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Entry {
    fn is_quiet(&self) -> bool {
        self.streams == 0 && self.calls.is_empty()
    }
}

impl Sessions {
    /// Takes up a session, and gives back the id of one that must make room for it.
    pub(super) fn open(&self, id: &str, principal: Arc<Principal>) -> Result<Option<String>, Full> {
        let mut sessions = self.lock();
        let crowded = if sessions.len() >= SESSIONS {
            let quiet = sessions.iter().filter(|(_, entry)| entry.is_quiet());
            let silent = quiet.min_by_key(|(_, entry)| entry.last_used).ok_or(Full)?;
            Some(silent.0.clone())
        } else {
            None
        };
        if let Some(crowded) = &crowded {
            sessions.remove(crowded);
        }
        let (last_used, calls) = (Instant::now(), HashMap::new());
        let entry = Entry { principal, last_used, streams: 0, calls, begun: 0 };
        sessions.insert(id.to_owned(), entry);
        Ok(crowded)
    }

    pub(super) fn close(&self, id: &str) {
        let Some(entry) = self.lock().remove(id) else {
            return;
        };
        for call in entry.calls.values() {
            call.cancel.cancel();
        }
    }

    /// The principal of a session that is open, which counts as a use of it.
    pub(super) fn principal(&self, id: &str) -> Option<Arc<Principal>> {
        let mut sessions = self.lock();
        let entry = sessions.get_mut(id)?;
        entry.last_used = Instant::now();
        Some(entry.principal.clone())
    }

    /// Notes a call, so that a notification can cancel it.
    pub(super) fn begin(self: &Arc<Self>, session: &str, id: &str) -> InCall {
        let cancel = CancellationToken::new();
        let mut number = 0;
        if let Some(entry) = self.lock().get_mut(session) {
            entry.begun += 1;
            number = entry.begun;
            entry.calls.insert(number, Call { id: id.to_owned(), cancel: cancel.clone() });
        }
        InCall { sessions: self.clone(), session: session.to_owned(), number, cancel }
    }

    /// Cancels the calls of this id; false when this session has none.
    pub(super) fn cancel(&self, session: &str, id: &str) -> bool {
        let sessions = self.lock();
        let Some(entry) = sessions.get(session) else {
            return false;
        };
        let meant = entry.calls.values().filter(|call| call.id == id);
        meant.map(|call| call.cancel.cancel()).count() > 0
    }

    /// Notes a stream that the client holds open.
    pub(super) fn listen(self: &Arc<Self>, session: &str) -> Listening {
        if let Some(entry) = self.lock().get_mut(session) {
            entry.streams += 1;
        }
        Listening { sessions: self.clone(), session: session.to_owned() }
    }

    /// Removes the sessions that were silent for so long, and gives back their ids.
    pub(super) fn expire(&self, idle: Duration) -> Vec<String> {
        let mut sessions = self.lock();
        let is_over = |entry: &Entry| entry.is_quiet() && entry.last_used.elapsed() >= idle;
        let over = sessions.iter().filter(|(_, entry)| is_over(entry));
        let over: Vec<String> = over.map(|(id, _)| id.clone()).collect();
        for id in &over {
            sessions.remove(id);
        }
        over
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call under way in a session.
pub(super) struct InCall {
    sessions: Arc<Sessions>,
    session: String,
    number: u64,
    pub(super) cancel: CancellationToken,
}

impl Drop for InCall {
    fn drop(&mut self) {
        if let Some(entry) = self.sessions.lock().get_mut(&self.session) {
            entry.calls.remove(&self.number);
            entry.last_used = Instant::now();
        }
    }
}

/// One stream that a client holds open in a session.
pub(super) struct Listening {
    sessions: Arc<Sessions>,
    session: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(entry) = self.sessions.lock().get_mut(&self.session) {
            entry.streams = entry.streams.saturating_sub(1);
            entry.last_used = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_when_silent_and_not_while_something_goes_on() {
        let sessions = Arc::new(Sessions::default());
        for id in ["silent", "calling", "listening"] {
            sessions.open(id, Arc::new(Principal::local())).unwrap();
        }
        let call = sessions.begin("calling", "1");
        let stream = sessions.listen("listening");
        tokio::time::advance(IDLE).await;
        assert_eq!(sessions.expire(IDLE), ["silent"]);
        drop((call, stream));
        assert!(sessions.expire(IDLE).is_empty(), "silence begins with the end of the call");
        tokio::time::advance(IDLE).await;
        assert_eq!(sessions.expire(IDLE).len(), 2);
    }

    #[test]
    fn a_call_is_cancelled_by_its_own_session_alone() {
        let sessions = Arc::new(Sessions::default());
        for id in ["a", "b"] {
            sessions.open(id, Arc::new(Principal::local())).unwrap();
        }
        let call = sessions.begin("a", "7");
        assert!(!sessions.cancel("b", "7"));
        assert!(!call.cancel.is_cancelled());
        assert!(sessions.cancel("a", "7"));
        assert!(call.cancel.is_cancelled());
    }

    #[test]
    fn the_end_of_a_call_leaves_another_of_the_same_id_alone() {
        let sessions = Arc::new(Sessions::default());
        sessions.open("a", Arc::new(Principal::local())).unwrap();
        let (first, second) = (sessions.begin("a", "7"), sessions.begin("a", "7"));
        drop(first);
        assert!(sessions.cancel("a", "7"));
        assert!(second.cancel.is_cancelled());
        drop(second);
        assert!(!sessions.cancel("a", "7"));
    }

    #[test]
    fn a_session_too_many_takes_the_place_of_a_silent_one_or_is_refused() {
        let sessions = Arc::new(Sessions::default());
        let principal = Arc::new(Principal::local());
        let ids: Vec<_> = (0..SESSIONS).map(|id| id.to_string()).collect();
        let mut calls = Vec::new();
        for id in &ids {
            assert_eq!(sessions.open(id, principal.clone()), Ok(None));
            calls.push(sessions.begin(id, "1"));
        }
        assert_eq!(sessions.open("new", principal.clone()), Err(Full));
        calls.truncate(SESSIONS - 1);
        let last = ids.last().cloned();
        assert_eq!(sessions.open("new", principal), Ok(last));
    }
}
