//! The lists that one source gives to separate identities.

use std::sync::{Arc, MutexGuard, PoisonError};

use gatefold_catalog::Manifest;
use gatefold_core::{RecentMap, UpstreamIdentity};

use super::super::mirrored_arguments::MirroringTools;
use super::McpSource;

/// The most identities whose lists one source keeps. One more replaces the least recently used,
/// whose list is fetched again when that identity comes back.
pub(super) const OWN_LISTS: usize = 1024;

/// What one identity is offered.
#[derive(Clone)]
pub(super) struct IdentityList {
    pub(super) manifest: Arc<Manifest>,
    pub(super) mirroring: Arc<MirroringTools>,
}

pub(super) type IdentityLists = RecentMap<UpstreamIdentity, IdentityList>;

impl McpSource {
    pub(super) fn own_list(&self, identity: &UpstreamIdentity) -> Option<IdentityList> {
        if *identity == UpstreamIdentity::Shared {
            return None;
        }
        self.own_lists().get(identity).cloned()
    }

    /// Stores what one identity is offered. It is not written to disk: it is quickly fetched again,
    /// and a person's list should not lie there for others to find.
    pub(super) fn take_own_list(&self, identity: &UpstreamIdentity, list: IdentityList) {
        let (tools, digest) = (list.manifest.tools().len(), list.manifest.digest());
        let former = self.own_lists().insert(identity.clone(), list);
        if former.is_none_or(|former| former.manifest.digest() != digest) {
            let domain = &self.settings.domain;
            tracing::info!(%domain, tools, "took up a new list of one identity's tools");
            self.manifest.send_modify(|_| {});
        }
    }

    fn own_lists(&self) -> MutexGuard<'_, IdentityLists> {
        self.own_lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
