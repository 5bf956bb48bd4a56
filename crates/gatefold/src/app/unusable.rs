use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{CallError, Domain, Outcome, Timestamp};
use gatefold_dispatch::{CallContext, Source, SourceState, SourceStatus};
use gatefold_policy::Permit;
use tokio::sync::watch;

/// A source whose configuration cannot be used. It offers nothing and tells callers why.
pub(super) struct UnusableSource {
    domain: Domain,
    reason: String,
    since: Timestamp,
    manifests: watch::Sender<Option<Arc<Manifest>>>,
}

impl UnusableSource {
    pub(super) fn new(domain: Domain, reason: String, since: Timestamp) -> Arc<Self> {
        Arc::new(Self { domain, reason, since, manifests: watch::Sender::new(None) })
    }

    fn unavailable(&self) -> CallError {
        CallError::Unavailable {
            domain: self.domain.clone(),
            reason: self.reason.clone(),
            source: None,
        }
    }
}

impl Source for UnusableSource {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifests.subscribe()
    }

    fn status(&self) -> SourceStatus {
        SourceStatus {
            state: SourceState::Failing,
            since: self.since,
            error: Some(self.reason.clone()),
            protocol: None,
            downloading: None,
            sessions: 0,
        }
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        async move { Err(self.unavailable()) }.boxed()
    }

    fn invoke(
        self: Arc<Self>,
        _: Permit,
        _: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        async move { Err(self.unavailable()) }.boxed()
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        async {}.boxed()
    }
}
