//! The lists of a source: fetched once per session, and again when they have changed.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use gatefold_catalog::Manifest;
use gatefold_core::{AnswerFault, UpstreamIdentity};
use tokio::time::{Instant, timeout};

use super::super::log_budget::NAMED;
use super::super::mirrored_arguments;
use super::super::session::{ListError, ServerLists, UpstreamSession};
use super::McpSource;
use super::own_lists::IdentityList;
use crate::protocol::methods;

/// How long changes of a list are gathered before it is fetched again, and the longest this takes
/// while they keep coming.
pub const GATHERING: Duration = Duration::from_millis(50);
pub const LONGEST_GATHERING: Duration = Duration::from_secs(30);

/// A source that was quiet for this many of its own pauses is asked soon again.
const QUIET_PAUSES: u32 = 2;

/// When to fetch a list that has changed.
///
/// A list that keeps changing is fetched less and less often, because each one means a catalogue to
/// build and a file to write. A list that changes now and then, or in a burst, is soon up to date.
#[derive(Default)]
pub(super) struct ListPace {
    pause: Duration,
    last: Option<Instant>,
}

impl ListPace {
    /// When to fetch the list after a change that was announced now.
    pub(super) fn next(&mut self, now: Instant) -> Instant {
        let quiet = self.pause * QUIET_PAUSES;
        let is_quiet = self.last.is_none_or(|last| now.saturating_duration_since(last) >= quiet);
        self.pause = if is_quiet { GATHERING } else { (self.pause * 2).min(LONGEST_GATHERING) };
        let at = now + self.pause;
        self.last = Some(at);
        at
    }
}

/// Why the last list could not be used.
pub(super) struct ListFailure {
    pub(super) reason: String,
    /// What was answered instead, if anything was.
    pub(super) fault: Option<AnswerFault>,
}

impl McpSource {
    /// Fetches the list, unless it was already fetched in this session.
    pub(super) async fn list_once(
        &self,
        identity: &UpstreamIdentity,
        session: &UpstreamSession,
    ) -> Result<(), ListError> {
        let _listing = session.listing.lock().await;
        if session.is_listed() { Ok(()) } else { self.fetch_list(identity, session).await }
    }

    pub(super) async fn list(
        &self,
        identity: &UpstreamIdentity,
        session: &UpstreamSession,
    ) -> Result<(), ListError> {
        let _listing = session.listing.lock().await;
        self.fetch_list(identity, session).await
    }

    /// Logs why the list of a session could not be used.
    pub(super) fn listing_failed(&self, session: &Arc<UpstreamSession>, error: &ListError) {
        // The code that ended the session, or noticed its end, has already logged that.
        let state = self.lock();
        if !state.is_closed && state.sessions.holds(session) {
            tracing::warn!(domain = %self.settings.domain, %error, "listing failed");
        }
    }

    /// Fetches the list. If it fails, or a part of it, the reason is shown until all of it is had again.
    async fn fetch_list(
        &self,
        identity: &UpstreamIdentity,
        session: &UpstreamSession,
    ) -> Result<(), ListError> {
        let fetched = self.take_up_list(identity, session).await;
        let failure = fetched.as_ref().map_or_else(Some, Option::as_ref);
        self.lock().list_failure = failure.map(|error| ListFailure {
            reason: format!("its list could not be taken up: {error}"),
            fault: error.fault(),
        });
        fetched.map(drop)
    }

    /// Names a few of the altered definitions. `gatefold check` lists all of them.
    fn log_alterations(&self, manifest: &Manifest) {
        let domain = &self.settings.domain;
        let alterations = manifest.alterations();
        let (named, others) = alterations.split_at(alterations.len().min(NAMED));
        for alteration in named {
            tracing::warn!(%domain, %alteration, "a definition was altered");
        }
        if !others.is_empty() {
            tracing::warn!(%domain, others = others.len(), "further definitions were altered");
        }
    }

    /// Takes up what the server lists, and says what could not be had of it. Without tools this fails.
    async fn take_up_list(
        &self,
        identity: &UpstreamIdentity,
        session: &UpstreamSession,
    ) -> Result<Option<ListError>, ListError> {
        let limit = self.settings.connect_deadline;
        let own = self.own_list(identity).map(|own| own.manifest);
        let former = own.or_else(|| self.manifest.borrow().clone());
        // Four lists at once are a large future, which all that wait for it would hold.
        let listing = Box::pin(session.list(former.as_deref(), self.clock.now(), limit / 2));
        let listed = timeout(limit, listing).await;
        let ServerLists { manifest, failure } =
            listed.map_err(|_| ListError::Late(methods::TOOLS_LIST))??;
        let manifest = Arc::new(manifest);
        session.set_listed();
        self.log_alterations(&manifest);
        // A list that differs only in its order is no change: some servers list in a different
        // order each time.
        let same = former.filter(|former| former.digest() == manifest.digest());
        let manifest = same.unwrap_or(manifest);
        let mirroring = Arc::new(mirrored_arguments::of_manifest(&manifest));
        if *identity != UpstreamIdentity::Shared {
            self.take_own_list(identity, IdentityList { manifest, mirroring });
            return Ok(failure);
        }
        *self.mirroring.write().unwrap_or_else(PoisonError::into_inner) = mirroring;
        let digest = self.settings.config_digest;
        let is_new = self.manifest.send_if_modified(|current| {
            let is_new = current.as_ref().is_none_or(|c| c.digest() != manifest.digest());
            *current = Some(manifest.clone());
            is_new
        });
        if is_new {
            let (tools, prompts) = (manifest.tools().len(), manifest.prompts().len());
            let resources = manifest.resources().len() + manifest.templates().len();
            tracing::info!(domain = %self.settings.domain, tools, prompts, resources, "took up a new list of tools");
            self.keeper.keep(self.settings.domain.clone(), digest, manifest).await;
        }
        Ok(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_keeps_changing_is_asked_for_twice_a_minute() {
        let (mut pace, began) = (ListPace::default(), Instant::now());
        let (mut now, mut lists) = (began, 0);
        while now < began + Duration::from_hours(1) {
            now = pace.next(now);
            lists += 1;
        }
        assert!((120..135).contains(&lists), "{lists}");
        now += LONGEST_GATHERING * QUIET_PAUSES;
        assert_eq!(pace.next(now), now + GATHERING, "it was quiet");
    }

    #[test]
    fn a_list_that_changes_now_and_then_is_asked_for_at_once() {
        let (mut pace, mut now) = (ListPace::default(), Instant::now());
        for _ in 0..100 {
            assert_eq!(pace.next(now), now + GATHERING);
            now += Duration::from_secs(1);
        }
    }
}
