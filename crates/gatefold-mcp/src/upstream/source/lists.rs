//! What a source lists: asked for once a session, and again when it has changed.

use std::sync::{Arc, PoisonError};

use tokio::time::timeout;

use super::super::mirrored_arguments;
use super::super::session::{ListError, UpstreamSession};
use super::McpSource;
use crate::protocol::methods;

impl McpSource {
    /// Asks for the list unless this session gave it already.
    pub(super) async fn list_once(&self, session: &UpstreamSession) -> Result<(), ListError> {
        let _listing = self.listing.lock().await;
        if session.is_listed() { Ok(()) } else { self.fetch_list(session).await }
    }

    pub(super) async fn list(&self, session: &UpstreamSession) -> Result<(), ListError> {
        let _listing = self.listing.lock().await;
        self.fetch_list(session).await
    }

    /// Asks for the list. What went wrong is shown until one is taken up.
    async fn fetch_list(&self, session: &UpstreamSession) -> Result<(), ListError> {
        let fetched = self.take_up_list(session).await;
        let failure = fetched.as_ref().err();
        let failure = failure.map(|error| format!("its list could not be taken up: {error}"));
        self.lock().list_failure = failure;
        fetched
    }

    async fn take_up_list(&self, session: &UpstreamSession) -> Result<(), ListError> {
        let limit = self.settings.connect_deadline;
        let former = self.manifest.borrow().clone();
        let listing = session.list(former.as_deref(), self.clock.now(), limit / 2);
        let listed = timeout(limit, listing).await;
        let manifest = Arc::new(listed.map_err(|_| ListError::Late(methods::TOOLS_LIST))??);
        session.set_listed();
        for alteration in manifest.alterations() {
            tracing::warn!(domain = %self.settings.domain, %alteration, "a definition was altered");
        }
        let mirroring = Arc::new(mirrored_arguments::of_manifest(&manifest));
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
        Ok(())
    }
}
