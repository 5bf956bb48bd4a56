//! Identities whose sources are being asked for the first time what they offer them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{Domain, UpstreamIdentity};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::Source;

/// How long to wait before asking a source again that did not answer.
const PAUSE: Duration = Duration::from_secs(10);

/// The most pairs of identity and source that wait for an answer. Beyond this, identities see what
/// everybody is offered.
const ASKED_LIMIT: usize = 1024;

/// The identities that sources were asked about recently.
#[derive(Default)]
pub(crate) struct FirstLists {
    /// At most [`ASKED_LIMIT`].
    asked: Mutex<HashMap<(Domain, UpstreamIdentity), Instant>>,
}

impl FirstLists {
    /// Asks a source in the background what it offers an identity, unless it was asked recently.
    /// Does nothing outside of a runtime.
    pub(crate) fn ask(&self, source: &Arc<dyn Source>, identity: &UpstreamIdentity) {
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.is_due(source.domain(), identity) {
            return;
        }
        let (source, identity) = (source.clone(), identity.clone());
        runtime.spawn(async move {
            let domain = source.domain().clone();
            if let Err(error) = source.refresh_for(identity).await {
                tracing::debug!(%domain, %error, "a source did not say what it offers somebody");
            }
        });
    }

    fn is_due(&self, domain: &Domain, identity: &UpstreamIdentity) -> bool {
        let key = (domain.clone(), identity.clone());
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.get(&key).is_some_and(|at| at.elapsed() < PAUSE) {
            return false;
        }
        if asked.len() >= ASKED_LIMIT {
            asked.retain(|_, at| at.elapsed() < PAUSE);
        }
        let has_room = asked.len() < ASKED_LIMIT || asked.contains_key(&key);
        if has_room {
            asked.insert(key, Instant::now());
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::UserId;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_source_is_asked_once_in_a_while_and_about_so_many() {
        let (lists, domain) = (FirstLists::default(), Domain::from_key("d"));
        let user = |n: usize| UpstreamIdentity::User(UserId::new(format!("user-{n}")));
        assert!(lists.is_due(&domain, &user(0)));
        assert!(!lists.is_due(&domain, &user(0)));
        for n in 1..ASKED_LIMIT {
            assert!(lists.is_due(&domain, &user(n)));
        }
        assert!(!lists.is_due(&domain, &user(ASKED_LIMIT)), "one too many");
        tokio::time::advance(PAUSE).await;
        assert!(lists.is_due(&domain, &user(ASKED_LIMIT)));
        assert!(lists.is_due(&domain, &user(0)));
    }
}
