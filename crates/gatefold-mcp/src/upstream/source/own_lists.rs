//! What one source offers to identities of their own.

use std::sync::{Arc, MutexGuard, PoisonError};

use gatefold_catalog::Manifest;
use gatefold_core::{RecentMap, UpstreamIdentity};

use super::super::mirrored_arguments::MirroringTools;
use super::McpSource;

/// Identities whose lists one source keeps. One more takes the place of the one that was used longest
/// ago, which is asked for anew when its identity comes back.
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
        match identity {
            UpstreamIdentity::Shared => None,
            UpstreamIdentity::User(_) => self.own_lists().get(identity).cloned(),
        }
    }

    /// Takes up what one identity is offered. It is not kept on disk: it is soon had again, and a
    /// person's list is nobody else's to find there.
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
