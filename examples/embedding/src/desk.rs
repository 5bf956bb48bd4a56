//! An approval backend: a desk where requests lie until the person on duty decides them.
//!
//! It keeps them in memory. One that posts them to a chat, or into a ticket, has the same three
//! methods.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{ApprovalId, BoxError, Timestamp};
use gatefold_dispatch::{ApprovalKey, ApprovalState, Approvals, NewApproval, StandingApproval};

/// Requests that lie on the desk at once. Those that expired make room first.
const REQUEST_LIMIT: usize = 100;

/// Where requests for a person's yes wait.
#[derive(Default)]
pub struct Desk(Mutex<Papers>);

#[derive(Default)]
struct Papers {
    /// At most [`REQUEST_LIMIT`].
    requests: BTreeMap<ApprovalId, Paper>,
    last_id: u64,
}

struct Paper {
    request: NewApproval,
    state: ApprovalState,
}

impl Desk {
    /// The requests that nobody has decided yet. Each has the tool, the arguments and who asks.
    pub fn pending(&self) -> Vec<(ApprovalId, NewApproval)> {
        let papers = self.papers();
        let pending = papers.requests.iter().filter(|(_, own)| own.state == ApprovalState::Pending);
        pending.map(|(id, own)| (id.clone(), own.request.clone())).collect()
    }

    /// Decides a request in the name of the person on duty.
    pub fn decide(&self, id: &ApprovalId, decision: ApprovalState) {
        if let Some(paper) = self.papers().requests.get_mut(id) {
            paper.state = decision;
        }
    }

    fn papers(&self) -> MutexGuard<'_, Papers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Papers {
    /// A request that was made before for the same call is the same request.
    fn request(&mut self, request: NewApproval) -> Result<ApprovalId, BoxError> {
        self.requests.retain(|_, own| own.request.expires_at > request.at);
        if let Some(same) = self.find(&request.key, request.at) {
            return Ok(same.id);
        }
        if self.requests.len() >= REQUEST_LIMIT {
            return Err("the desk is full".into());
        }
        self.last_id += 1;
        let id = ApprovalId::new(format!("desk-{}", self.last_id));
        self.requests.insert(id.clone(), Paper { request, state: ApprovalState::Pending });
        Ok(id)
    }

    fn find(&self, key: &ApprovalKey, now: Timestamp) -> Option<StandingApproval> {
        let is_meant = |own: &Paper| own.request.key == *key && own.request.expires_at > now;
        let (id, paper) = self.requests.iter().find(|(_, own)| is_meant(own))?;
        let (state, expires_at) = (paper.state.clone(), paper.request.expires_at);
        Some(StandingApproval { id: id.clone(), state, expires_at })
    }

    /// Takes a yes off the desk, so that it serves one call and no second.
    fn consume(&mut self, id: &ApprovalId, now: Timestamp) -> bool {
        let is_yes = |own: &Paper| {
            matches!(own.state, ApprovalState::Approved { .. }) && own.request.expires_at > now
        };
        let is_good = self.requests.get(id).is_some_and(is_yes);
        if is_good {
            self.requests.remove(id);
        }
        is_good
    }
}

impl Approvals for Desk {
    fn request(&self, request: NewApproval) -> BoxFuture<'_, Result<ApprovalId, BoxError>> {
        async move { self.papers().request(request) }.boxed()
    }

    fn find<'a>(
        &'a self,
        key: &'a ApprovalKey,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>> {
        async move { Ok(self.papers().find(key, now)) }.boxed()
    }

    fn consume<'a>(
        &'a self,
        id: &'a ApprovalId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, BoxError>> {
        async move { Ok(self.papers().consume(id, now)) }.boxed()
    }
}
