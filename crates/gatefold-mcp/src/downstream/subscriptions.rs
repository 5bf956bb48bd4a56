//! The resources that one client subscribed to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatefold_core::{Domain, Principal};
use gatefold_dispatch::{Dispatcher, ResourceUpdate};

/// The most subscriptions of one client.
pub(super) const SUBSCRIPTIONS: usize = 256;

/// A client's subscriptions. Dropping or releasing them unsubscribes at their sources.
pub(super) struct ClientSubscriptions {
    /// At most [`SUBSCRIPTIONS`].
    held: Mutex<HashMap<SourceResource, String>>,
    /// Where they are undone. None in tests, where nothing is subscribed.
    dispatcher: Option<(Arc<Dispatcher>, Arc<Principal>)>,
}

/// The outcome of adding a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addition {
    Added,
    Present,
    Full,
}

/// A resource as its source knows it.
pub(super) type SourceResource = (Domain, Arc<str>);

impl ClientSubscriptions {
    pub(super) fn new(dispatcher: Arc<Dispatcher>, principal: Arc<Principal>) -> Arc<Self> {
        Arc::new(Self { held: Mutex::default(), dispatcher: Some((dispatcher, principal)) })
    }

    #[cfg(test)]
    pub(super) fn detached() -> Arc<Self> {
        Arc::new(Self { held: Mutex::default(), dispatcher: None })
    }

    pub(super) fn has(&self, domain: &Domain, uri: &Arc<str>) -> bool {
        self.lock().contains_key(&(domain.clone(), uri.clone()))
    }

    pub(super) fn is_full(&self) -> bool {
        self.lock().len() >= SUBSCRIPTIONS
    }

    /// Adds a subscription under the client's name for the resource. Concurrent requests may all
    /// have found room, so the limit is checked again.
    pub(super) fn add(&self, domain: Domain, uri: Arc<str>, called: &str) -> Addition {
        let mut held = self.lock();
        let (count, key) = (held.len(), (domain, uri));
        if held.contains_key(&key) {
            return Addition::Present;
        }
        if count >= SUBSCRIPTIONS {
            return Addition::Full;
        }
        held.insert(key, called.to_owned());
        Addition::Added
    }

    /// Removes the subscription to the resource that the client calls `called`.
    pub(super) fn remove(&self, called: &str) -> Option<SourceResource> {
        let mut held = self.lock();
        let own = held.iter().find(|(_, name)| *name == called).map(|(own, _)| own.clone())?;
        held.remove(&own);
        Some(own)
    }

    /// Undoes those that are no longer wanted.
    pub(super) fn retain(&self, is_wanted: impl Fn(&Domain, &str) -> bool) {
        let lost: Vec<_> = self.lock().extract_if(|(d, uri), _| !is_wanted(d, uri)).collect();
        self.undo(lost.into_iter().map(|(own, _)| own));
    }

    /// The client's name for a changed resource, if it subscribed to it.
    pub(super) fn called(&self, update: &ResourceUpdate) -> Option<String> {
        self.lock().get(&(update.domain.clone(), update.uri.clone())).cloned()
    }

    /// Undoes all of them, for a client that is gone.
    pub(super) fn release(&self) {
        let held = std::mem::take(&mut *self.lock());
        self.undo(held.into_keys());
    }

    fn undo(&self, held: impl ExactSizeIterator<Item = SourceResource>) {
        let Some((dispatcher, principal)) = self.dispatcher.as_ref().filter(|_| held.len() > 0)
        else {
            return;
        };
        let pinned = dispatcher.pin(principal.clone());
        for (domain, uri) in held {
            pinned.release(&domain, &uri);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SourceResource, String>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ClientSubscriptions {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_subscribed_to_so_many_resources_and_no_more() {
        let subscriptions = ClientSubscriptions::detached();
        let add = |at: usize| {
            let uri = format!("a://{at}");
            subscriptions.add(Domain::from_key("d"), uri.as_str().into(), &uri)
        };
        assert!((0..SUBSCRIPTIONS).all(|at| add(at) == Addition::Added));
        assert_eq!((add(0), add(SUBSCRIPTIONS)), (Addition::Present, Addition::Full));
        subscriptions.remove("a://0");
        assert_eq!(add(SUBSCRIPTIONS), Addition::Added);
    }
}
