//! How a nested call is made: on the turn of the call it belongs to, or on a narrower one.

use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_catalog::{Request, ResolvedEntry, View};
use gatefold_core::{AgentId, CallError, Outcome, Principal, Rights};

use gatefold_policy::Facts;

use crate::call::chain::Chain;
use crate::call::nested::NestedCalls;
use crate::{Caller, NestedOptions, PinnedTurn, ResourceAccess};

/// The turn of a running call, and what led to the calls that it makes.
pub(crate) struct NestedTurn {
    pub(crate) pinned: PinnedTurn,
    pub(crate) chain: Chain,
}

impl NestedCalls for NestedTurn {
    fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Boxed because the future of a call contains that of the calls it makes.
    fn call(
        &self,
        request: Request,
        caller: Caller,
        options: NestedOptions,
    ) -> BoxFuture<'_, Result<Outcome, CallError>> {
        let NestedOptions { deadline, rights, agent, within, resume } = options;
        let mut pinned = self.pinned.narrowed(rights.as_ref(), agent);
        if let Some(domain) = within {
            pinned.view = pinned.view.within(&domain);
        }
        let request = pinned.verified(request);
        let own = pinned.runtime.call_deadline(request.entry.as_ref().map(ResolvedEntry::domain));
        let chain = self.chain.limited(deadline.map_or(own, |deadline| deadline.min(own)));
        Box::pin(async move { pinned.converse(request, resume, caller, chain).await })
    }

    fn view(&self) -> &View {
        &self.pinned.view
    }

    fn resource_access(&self, uri: &str) -> ResourceAccess {
        let pinned = &self.pinned;
        let Some(target) = pinned.resource(uri) else { return ResourceAccess::Hidden };
        let policy = &pinned.runtime.policy;
        let mut askers = std::iter::once(&pinned.principal).chain(&pinned.on_behalf_of);
        if askers.any(|asker| !policy.is_visible(asker, &target)) {
            return ResourceAccess::Hidden;
        }
        let facts = Facts { on_behalf_of: pinned.on_behalf_of.clone(), ..Facts::at(pinned.now()) };
        if policy.asks(&pinned.principal, &facts, &target) {
            return ResourceAccess::Asks;
        }
        ResourceAccess::Open
    }
}

impl PinnedTurn {
    /// The same turn for the same user with fewer rights, or through an agent.
    ///
    /// Other rights mean other rules, and one of them might even grant more. So this turn sees only
    /// what the previous principal also sees, and only what is granted to both is granted.
    fn narrowed(&self, rights: Option<&Rights>, agent: Option<AgentId>) -> Self {
        if rights.is_none() && agent.is_none() {
            return self.clone();
        }
        let own = &self.principal;
        let principal = Principal {
            rights: rights.map_or_else(|| own.rights.clone(), |rights| own.rights.within(rights)),
            agent: agent.or_else(|| own.agent.clone()),
            ..Principal::clone(own)
        };
        let mut narrowed = self.clone();
        narrowed.on_behalf_of.push(own.clone());
        narrowed.view = self.view_of(&principal, &narrowed.on_behalf_of);
        narrowed.principal = Arc::new(principal);
        narrowed
    }
}
