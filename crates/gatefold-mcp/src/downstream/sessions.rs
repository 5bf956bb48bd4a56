//! The sessions of handshake-era clients over HTTP, as far as calls that go past rmcp need them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::Principal;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Sessions open at once; with one more, the one that was silent longest is closed.
const SESSIONS: usize = 10_000;

/// Who each session belongs to, and what goes on in it.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Entry>>);

struct Entry {
    principal: Arc<Principal>,
    last_used: Instant,
    /// Streams that the client holds open.
    streams: usize,
    /// Calls under way by the text of their id.
    calls: HashMap<String, CancellationToken>,
}

impl Entry {
    fn is_quiet(&self) -> bool {
        self.streams == 0 && self.calls.is_empty()
    }
}

impl Sessions {
    /// Takes up a session, and gives back the id of one that must make room for it.
    pub(super) fn open(&self, id: &str, principal: Arc<Principal>) -> Option<String> {
        let mut sessions = self.lock();
        let crowded = if sessions.len() >= SESSIONS {
            let quiet = sessions.iter().filter(|(_, entry)| entry.is_quiet());
            quiet.min_by_key(|(_, entry)| entry.last_used).map(|(id, _)| id.clone())
        } else {
            None
        };
        if let Some(crowded) = &crowded {
            sessions.remove(crowded);
        }
        let (last_used, calls) = (Instant::now(), HashMap::new());
        sessions.insert(id.to_owned(), Entry { principal, last_used, streams: 0, calls });
        crowded
    }

    pub(super) fn close(&self, id: &str) {
        let Some(entry) = self.lock().remove(id) else {
            return;
        };
        for (_, call) in entry.calls {
            call.cancel();
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
    pub(super) fn begin(self: &Arc<Self>, session: &str, call: &str) -> InCall {
        let cancel = CancellationToken::new();
        if let Some(entry) = self.lock().get_mut(session) {
            entry.calls.insert(call.to_owned(), cancel.clone());
        }
        let (session, call) = (session.to_owned(), call.to_owned());
        InCall { sessions: self.clone(), session, call, cancel }
    }

    /// Cancels a call; false when this session has none of that id.
    pub(super) fn cancel(&self, session: &str, call: &str) -> bool {
        let cancel = self.lock().get_mut(session).and_then(|entry| entry.calls.remove(call));
        cancel.map(|cancel| cancel.cancel()).is_some()
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
    call: String,
    pub(super) cancel: CancellationToken,
}

impl Drop for InCall {
    fn drop(&mut self) {
        if let Some(entry) = self.sessions.lock().get_mut(&self.session) {
            entry.calls.remove(&self.call);
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
            sessions.open(id, Arc::new(Principal::local()));
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
            sessions.open(id, Arc::new(Principal::local()));
        }
        let call = sessions.begin("a", "7");
        assert!(!sessions.cancel("b", "7"));
        assert!(!call.cancel.is_cancelled());
        assert!(sessions.cancel("a", "7"));
        assert!(call.cancel.is_cancelled());
    }
}
