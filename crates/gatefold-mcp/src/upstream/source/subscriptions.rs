//! Counts the subscribers of each resource, so that the server gets one subscription for each
//! resource.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{CallError, Outcome, Payload, Target, UpstreamIdentity};
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};

use super::super::backoff::jittered;
use super::super::session::{SettingError, UpstreamSession};
use super::pool::{REMOTE_SESSIONS, SessionKey, SessionSlot};
use super::{McpSource, StartReason};
use crate::protocol::codes::{INTERNAL_ERROR, is_of_missing_resource};

/// The most resources that one identity listens to at once. Further ones are refused.
const SUBSCRIPTIONS: usize = 1024;
/// How long to wait before reopening a connection that somebody listens on.
const REVIVAL: Duration = Duration::from_millis(500);

type Counts = BTreeMap<Arc<str>, usize>;

/// Who listens to which resources: at most [`REMOTE_SESSIONS`] identities, each to at most
/// [`SUBSCRIPTIONS`].
///
/// It has its own lock, and takes no other while holding it: the code that reads from a wire looks
/// things up here.
#[derive(Clone, Default)]
pub(super) struct ResourceListeners(Arc<Mutex<HashMap<UpstreamIdentity, Counts>>>);

impl ResourceListeners {
    /// The resources that an identity listens to.
    pub(super) fn of(&self, identity: &UpstreamIdentity) -> Vec<Arc<str>> {
        let counts = self.lock();
        let counts = counts.get(identity).into_iter().flatten();
        counts.filter(|(_, count)| **count > 0).map(|(uri, _)| uri.clone()).collect()
    }

    /// Whether an identity listens to a resource or is about to.
    pub(super) fn has(&self, identity: &UpstreamIdentity, uri: &str) -> bool {
        self.lock().get(identity).is_some_and(|counts| counts.contains_key(uri))
    }

    /// Whether there is a place for one more resource of an identity.
    fn has_place(&self, identity: &UpstreamIdentity) -> bool {
        let all = self.lock();
        match all.get(identity) {
            Some(counts) => counts.len() < SUBSCRIPTIONS,
            None => all.len() < REMOTE_SESSIONS,
        }
    }

    /// Notes a resource whose subscription has been requested: updates that follow right after the
    /// server's answer must count.
    fn begin<'a>(
        &'a self,
        identity: &'a UpstreamIdentity,
        uri: &'a Arc<str>,
    ) -> PendingListener<'a> {
        let mut all = self.lock();
        all.entry(identity.clone()).or_default().entry(uri.clone()).or_default();
        PendingListener { subscriptions: self, identity, uri }
    }

    /// Adds a listener to a resource that already has one. False if it has none.
    fn join(&self, identity: &UpstreamIdentity, uri: &str) -> bool {
        let mut all = self.lock();
        let count = all.get_mut(identity).and_then(|counts| counts.get_mut(uri));
        count.filter(|count| **count > 0).map(|count| *count += 1).is_some()
    }

    /// Removes one listener. True if it was the last.
    fn leave(&self, identity: &UpstreamIdentity, uri: &str) -> bool {
        let mut all = self.lock();
        let Some(counts) = all.get_mut(identity) else { return false };
        let Some(count) = counts.get_mut(uri).filter(|count| **count > 0) else { return false };
        *count -= 1;
        let is_last = *count == 0;
        drop(all);
        self.tidy(identity, uri);
        is_last
    }

    /// Forgets a resource that nobody listens to.
    fn tidy(&self, identity: &UpstreamIdentity, uri: &str) {
        let mut all = self.lock();
        let Some(counts) = all.get_mut(identity) else { return };
        if counts.get(uri) == Some(&0) {
            counts.remove(uri);
        }
        if counts.is_empty() {
            all.remove(identity);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UpstreamIdentity, Counts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A resource whose subscription has been requested. Dropping this before it succeeds forgets the
/// resource.
struct PendingListener<'a> {
    subscriptions: &'a ResourceListeners,
    identity: &'a UpstreamIdentity,
    uri: &'a Arc<str>,
}

impl PendingListener<'_> {
    fn succeeded(self) {
        let mut all = self.subscriptions.lock();
        let counts = all.entry(self.identity.clone()).or_default();
        *counts.entry(self.uri.clone()).or_default() += 1;
        drop(all);
    }
}

impl Drop for PendingListener<'_> {
    fn drop(&mut self) {
        self.subscriptions.tidy(self.identity, self.uri);
    }
}

impl McpSource {
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        target: &Target,
        identity: &UpstreamIdentity,
    ) -> Result<Outcome, CallError> {
        let _subscribing = self.subscribing.lock().await;
        let uri = &target.name;
        if self.subscriptions.join(identity, uri) {
            return Ok(done());
        }
        let tool = target.id.clone();
        if !self.subscriptions.has_place(identity) {
            let message = format!("{SUBSCRIPTIONS} resources are listened to, which is the limit");
            return Err(CallError::Refused { tool, code: INTERNAL_ERROR, message, data: None });
        }
        let session = self.session(identity, StartReason::Call, None).await?;
        let beginning = self.subscriptions.begin(identity, uri);
        match session.subscribe(uri).await {
            Ok(()) => {
                beginning.succeeded();
                Ok(done())
            }
            Err(SettingError::Refused(error)) => {
                let (code, message, data) = (error.code, error.message, error.data);
                Err(if is_of_missing_resource(code, session.era()) {
                    CallError::MissingResource { tool, message, data }
                } else {
                    CallError::Refused { tool, code, message, data }
                })
            }
            Err(SettingError::Unheard(message)) => {
                Err(CallError::Refused { tool, code: INTERNAL_ERROR, message, data: None })
            }
            Err(SettingError::Wire(error)) => {
                if session.wire.is_spent(&error) {
                    self.forget(identity, &session, &error);
                }
                Err(self.call_error(error, target, u64::MAX))
            }
        }
    }

    pub(super) async fn unsubscribe(
        self: &Arc<Self>,
        target: &Target,
        identity: &UpstreamIdentity,
    ) -> Result<Outcome, CallError> {
        self.leave(identity, &target.name).await;
        Ok(done())
    }

    /// Removes one subscriber, and tells the server if it was the last.
    pub(super) async fn leave(self: &Arc<Self>, identity: &UpstreamIdentity, uri: &str) {
        let _subscribing = self.subscribing.lock().await;
        if !self.subscriptions.leave(identity, uri) {
            return;
        }
        let open = match self.lock().sessions.get(&SessionKey::main(identity)) {
            Some(SessionSlot::Open(session)) => Some(session.clone()),
            _ => None,
        };
        let Some(session) = open else { return };
        let (domain, uri) = (&self.settings.domain, uri.into());
        // A failure does no harm: no later session subscribes to the resource.
        match timeout(self.settings.connect_deadline, session.unsubscribe(&uri)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%domain, %error, "unsubscribing failed"),
            Err(_) => tracing::debug!(%domain, "unsubscribing took too long"),
        }
    }

    /// Subscribes a new session to everything that the previous one was subscribed to. Any of it
    /// may have changed in between, so all of it counts as changed.
    pub(super) async fn resubscribe(
        &self,
        identity: &UpstreamIdentity,
        session: &Arc<UpstreamSession>,
    ) {
        if self.subscriptions.of(identity).is_empty() {
            return;
        }
        let _subscribing = self.subscribing.lock().await;
        let uris = self.subscriptions.of(identity);
        let domain = &self.settings.domain;
        let subscribed = session.subscribe_all(&uris);
        match timeout(self.settings.connect_deadline, subscribed).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%domain, %error, "a subscription was lost"),
            Err(_) => tracing::warn!(%domain, "subscribing again took too long"),
        }
        for uri in &uris {
            session.notices.updated(uri);
        }
    }

    /// Reopens a session that somebody listens on, until it is open or nobody listens any more.
    pub(super) async fn revive(self: Arc<Self>, identity: UpstreamIdentity) {
        let reviving = async {
            loop {
                let wait = self.lock().backoffs.wait(&identity).unwrap_or_default();
                let wait = wait.max(jittered(REVIVAL));
                sleep(wait).await;
                if self.subscriptions.of(&identity).is_empty()
                    || self.session(&identity, StartReason::Listing, None).await.is_ok()
                {
                    return;
                }
            }
        };
        self.closing.run_until_cancelled(reviving).await;
    }
}

fn done() -> Outcome {
    let json = RawValue::from_string("{}".to_owned()).expect("an empty object is JSON");
    Outcome::Done(Payload { json, is_error: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_and_who_listens_to_them_are_bounded() {
        let subscriptions = ResourceListeners::default();
        let user =
            |n: usize| UpstreamIdentity::User(gatefold_core::UserId::new(format!("user-{n}")));
        for n in 0..SUBSCRIPTIONS {
            assert!(subscriptions.has_place(&user(0)));
            subscriptions.begin(&user(0), &format!("a://{n}").into()).succeeded();
        }
        assert!(!subscriptions.has_place(&user(0)), "one resource too many");
        for n in 1..REMOTE_SESSIONS {
            assert!(subscriptions.has_place(&user(n)));
            subscriptions.begin(&user(n), &"a://0".into()).succeeded();
        }
        assert!(!subscriptions.has_place(&user(REMOTE_SESSIONS)), "one identity too many");
    }

    #[test]
    fn a_resource_is_listened_to_until_the_last_has_left() {
        let subscriptions = ResourceListeners::default();
        let (identity, uri) = (UpstreamIdentity::Shared, Arc::from("a://b"));
        assert!(!subscriptions.join(&identity, &uri));
        drop(subscriptions.begin(&identity, &uri));
        assert!(!subscriptions.has(&identity, &uri), "the subscription failed");
        let beginning = subscriptions.begin(&identity, &uri);
        assert!(subscriptions.has(&identity, &uri) && subscriptions.of(&identity).is_empty());
        beginning.succeeded();
        assert!(subscriptions.join(&identity, &uri));
        assert_eq!(subscriptions.of(&identity), std::slice::from_ref(&uri));
        assert!(!subscriptions.leave(&identity, &uri));
        assert!(subscriptions.leave(&identity, &uri));
        assert!(!subscriptions.leave(&identity, &uri), "nobody is left to leave");
        assert!(subscriptions.of(&identity).is_empty());
        assert!(!subscriptions.has(&identity, &uri));
    }
}
