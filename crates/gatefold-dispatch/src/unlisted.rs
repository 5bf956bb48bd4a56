//! Sources that have listed nothing so far: what a turn says about them, and how long it waits for
//! them.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use gatefold_catalog::{UnlistedSource, UnlistedState};
use gatefold_core::{CallError, Domain, UpstreamIdentity};
use tokio::time::{Instant, timeout, timeout_at};

use crate::runtime::{Runtime, Slot};
use crate::{PinnedTurn, SourceState};

/// How long turns wait for a source's first list, starting when the first of them asked for it. A
/// source that takes longer does not hold up anybody after that.
pub const FIRST_LISTS: Duration = Duration::from_secs(5);

impl Runtime {
    /// The sources whose first list has not come yet.
    pub(crate) fn unlisted(&self) -> Vec<UnlistedSource> {
        let slots = self.unlisted_slots();
        let described = slots.map(|(slot, state)| UnlistedSource {
            domain: slot.setup.source.domain().clone(),
            state,
        });
        described.collect()
    }

    /// Their slots, and why each has listed nothing.
    fn unlisted_slots(&self) -> impl Iterator<Item = (&Arc<Slot>, UnlistedState)> {
        let unlisted = self.snapshot().domains().iter().filter(|entry| entry.manifest().is_none());
        unlisted.filter_map(|entry| {
            let slot = self.slots.get(entry.domain())?;
            let status = slot.setup.source.status();
            let fault = slot.setup.source.answer_fault(&UpstreamIdentity::Shared);
            match (status.state, fault) {
                (SourceState::Disabled, _) => None,
                (SourceState::Failing | SourceState::Running, Some(fault)) => {
                    Some((slot, UnlistedState::Answered(fault)))
                }
                (SourceState::Failing, None) => Some((slot, slot.failure())),
                // It runs, and its list took too long or was cut off.
                (SourceState::Running, None) if status.error.is_some() => {
                    Some((slot, slot.failure()))
                }
                _ => {
                    let downloading = status.downloading.map(UnlistedState::Downloading);
                    Some((slot, downloading.unwrap_or(UnlistedState::Starting)))
                }
            }
        })
    }
}

impl PinnedTurn {
    /// The turn after sources that have listed nothing had a little time to do so. `None` if there
    /// is nothing to wait for.
    pub async fn after_first_lists(&self) -> Option<Self> {
        let now = Instant::now();
        let awaited: Vec<_> = self.runtime.unlisted_slots().map(|(slot, _)| slot).collect();
        let awaited = awaited.into_iter().filter_map(|slot| {
            let domain = slot.setup.source.domain();
            let until = *slot.first_asked.get_or_init(|| now) + FIRST_LISTS;
            (now < until && self.view.domain(domain.as_str()).is_some()).then_some((domain, until))
        });
        let awaited: Vec<_> = awaited.collect();
        if awaited.is_empty() {
            return None;
        }
        join_all(awaited.into_iter().map(async |(domain, until)| {
            // Whether it is late or has failed, the next view says so.
            let _ = timeout_at(until, self.learn(domain)).await;
        }))
        .await;
        Some(self.again())
    }

    /// The turn after a source that has listed nothing was asked to, within the deadline of its
    /// calls.
    pub async fn after_list_of(&self, domain: &Domain) -> Self {
        let limit = self.runtime.call_deadline(Some(domain));
        let learnt = timeout(limit, self.learn(domain)).await;
        // Whether it is late or has failed, the next view says so.
        let turn = self.again();
        match learnt {
            Ok(Err(error)) => turn.told_why(domain, &error),
            _ => turn,
        }
    }

    /// The turn in which a source that lists something else for each identity says why it listed
    /// nothing for this one. Its own state is about all of them.
    fn told_why(mut self, domain: &Domain, error: &CallError) -> Self {
        if self.runtime.slots.get(domain).is_none_or(|slot| !slot.is_personal()) {
            return self;
        }
        let slot = self.runtime.slots.get(domain);
        let fault =
            slot.and_then(|slot| slot.setup.source.answer_fault(&slot.identity(&self.principal)));
        let state = match (error, fault) {
            (CallError::NeedsSignIn { reason, .. }, _) => {
                UnlistedState::NeedsSignIn(reason.clone())
            }
            (CallError::Unavailable { .. }, Some(fault)) => UnlistedState::Answered(fault),
            (CallError::Unavailable { .. }, None) => UnlistedState::Failed,
            _ => return self,
        };
        let failed = |source: UnlistedSource| {
            if source.domain != *domain {
                return source;
            }
            UnlistedSource { state: state.clone(), ..source }
        };
        self.view =
            self.view.with_unlisted(self.runtime.unlisted().into_iter().map(failed).collect());
        self
    }

    /// A turn for the same principal on the current runtime.
    fn again(&self) -> Self {
        let mut turn = self.dispatcher.pin_for(self.principal.clone(), self.client, self.holder);
        turn.on_behalf_of.clone_from(&self.on_behalf_of);
        if let Some(delegation) = &self.delegation {
            turn = turn.under(delegation.clone());
        }
        let (used, registered) = (self.view.used().clone(), self.view.registered().clone());
        turn.view = turn.view.with_used(used).with_registered(registered);
        turn
    }
}
