//! The interface of the source to dispatch.

use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use gatefold_catalog::Manifest;
use gatefold_core::{AnswerFault, CallError, Domain, Outcome, UpstreamIdentity};
use gatefold_dispatch::{CallContext, Offer, Peer, Source, SourceLogLine, SourceStatus};
use gatefold_policy::Permit;
use tokio::sync::{broadcast, watch};

use super::super::request::WireError;
use super::super::session::{ListError, UpstreamSession};
use super::pool::SessionSlot;
use super::{McpSource, StartReason};
use crate::protocol::Era;

impl Source for McpSource {
    fn domain(&self) -> &Domain {
        &self.settings.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifest.subscribe()
    }

    fn release(self: Arc<Self>, identity: &UpstreamIdentity, uri: &str) {
        let (identity, uri) = (identity.clone(), uri.to_owned());
        // Outside a runtime there is nothing left to release.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { self.leave(&identity, &uri).await });
        }
    }

    fn updates(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        Some(self.updates.subscribe())
    }

    fn meet(self: Arc<Self>, client: &Arc<dyn Peer>) {
        self.sole_client.meet(client);
        // Running servers may have asked for roots before there was a client to answer.
        if let (Some(true), Some(client)) = (self.sole_client.has_roots(), client.client()) {
            self.roots_changed(client);
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && self.has_misfit()
        {
            // What it listed so far was for nobody in particular. The session for this client is
            // listed when it is opened.
            runtime.spawn(async move {
                let opened = self.session(&UpstreamIdentity::Shared, StartReason::Listing, None);
                if let Err(error) = opened.await {
                    let domain = &self.settings.domain;
                    tracing::debug!(%domain, %error, "there is no session for the only client");
                }
            });
        }
    }

    fn roots_changed(&self, client: u64) {
        // Outside a runtime, no server is running.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        for session in self.open_sessions() {
            let roots = &session.notices.roots;
            if session.era() == Era::Handshake && roots.are_of(client) && roots.begin_telling() {
                runtime.spawn(async move { session.tell_of_roots().await });
            }
        }
    }

    fn status(&self) -> SourceStatus {
        let state = self.lock();
        let status = state.status.clone();
        // If two things are wrong, the one that prevents calls is shown.
        let of_list = || state.list_failure.as_ref().map(|failure| failure.reason.clone());
        let error = status.error.or_else(of_list);
        SourceStatus { error, downloading: state.sessions.downloading(), ..status }
    }

    fn answer_fault(&self, identity: &UpstreamIdentity) -> Option<AnswerFault> {
        let state = self.lock();
        let of_list = || state.list_failure.as_ref()?.fault;
        state.backoffs.fault(identity).or_else(of_list)
    }

    fn last_lines(&self) -> Vec<String> {
        self.lock().last_lines.to_vec()
    }

    fn log_after(&self, number: u64) -> Vec<SourceLogLine> {
        self.said.after(number)
    }

    fn offer(&self, identity: &UpstreamIdentity) -> Offer {
        if *identity == UpstreamIdentity::Shared {
            return Offer::Shared;
        }
        let own = self.own_list(identity);
        own.map_or(Offer::Unasked, |own| Offer::Own(own.manifest))
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        self.refresh_for(UpstreamIdentity::Shared)
    }

    fn refresh_for(
        self: Arc<Self>,
        identity: UpstreamIdentity,
    ) -> BoxFuture<'static, Result<(), CallError>> {
        Box::pin(async move {
            let session = self.session(&identity, StartReason::Listing, None).await?;
            let listed = if session.is_listed() {
                self.list(&identity, &session).await
            } else {
                self.list_once(&identity, &session).await
            };
            listed.map_err(|error| match error {
                ListError::Wire(WireError::NeedsSignIn(reason)) => {
                    CallError::NeedsSignIn { domain: self.settings.domain.clone(), reason }
                }
                error => self.unavailable(error.to_string()),
            })
        })
    }

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        Box::pin(self.call(permit, context))
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.lock().is_closed = true;
            self.closing.cancel();
            let sessions: Vec<_> = self.lock().sessions.all().cloned().collect();
            join_all(sessions.into_iter().map(SessionSlot::close)).await;
            // This includes those of failed attempts, and of sessions that were dropped.
            self.children.close();
            self.children.wait().await;
        })
    }
}

impl McpSource {
    fn open_sessions(&self) -> Vec<Arc<UpstreamSession>> {
        let state = self.lock();
        let open = state.sessions.all().filter_map(|slot| match slot {
            SessionSlot::Open(session) => Some(session.clone()),
            SessionSlot::Connecting { .. } => None,
        });
        open.collect()
    }
}
