//! An exchange over sources that list their tools and are never called.

use std::future::ready;
use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_catalog::{Manifest, SourceEntry};
use gatefold_core::{CallError, Domain, ManualClock, Outcome, Timestamp};
use gatefold_dispatch::{
    AuditError, AuditLog, AuditSlot, CallClosed, CallContext, CallOpened, DiscoveryRecord,
    Dispatcher, IdentityScope, Limits, NoApprovals, Ports, SealKey, Setup, Source, SourceSetup,
    SourceState, SourceStatus,
};
use gatefold_exchange::{Disclosures, Exchange};
use gatefold_policy::{Permit, Policy};
use tokio::sync::watch;

const NOW: Timestamp = Timestamp::from_millis(0);

/// Must be called within a Tokio runtime.
pub(super) fn exchange(entries: Vec<SourceEntry>, disclosures: Disclosures) -> Arc<Exchange> {
    let dispatcher = Dispatcher::new(Ports {
        audit: Arc::new(NoRecords),
        approvals: Arc::new(NoApprovals),
        clock: Arc::new(ManualClock::at(NOW)),
        seal: SealKey::new([0; 32]),
    });
    dispatcher.install(Setup {
        policy: Policy::default(),
        limits: Limits::default(),
        learns: false,
        encoder: None,
        texts: None,
        loop_sources: Vec::new(),
        sources: entries.into_iter().map(setup).collect(),
    });
    Exchange::new(dispatcher, disclosures)
}

fn setup(entry: SourceEntry) -> SourceSetup {
    let manifests = watch::Sender::new(entry.manifest);
    SourceSetup {
        source: Arc::new(ListedSource { domain: entry.domain, manifests }),
        kind: entry.kind,
        description: entry.description,
        aliases: entry.aliases,
        groups: entry.groups,
        identity: IdentityScope::Shared,
        call_deadline: None,
    }
}

struct ListedSource {
    domain: Domain,
    manifests: watch::Sender<Option<Arc<Manifest>>>,
}

impl Source for ListedSource {
    fn domain(&self) -> &Domain {
        &self.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifests.subscribe()
    }

    fn status(&self) -> SourceStatus {
        SourceStatus {
            state: SourceState::Known,
            since: NOW,
            error: None,
            protocol: None,
            downloading: None,
            sessions: 0,
        }
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        Box::pin(ready(Ok(())))
    }

    fn invoke(
        self: Arc<Self>,
        _: Permit,
        _: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        let (domain, reason) = (self.domain.clone(), "it only lists its tools".to_owned());
        Box::pin(ready(Err(CallError::Unavailable { domain, reason, source: None })))
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(ready(()))
    }
}

/// A log in which no call can be opened.
struct NoRecords;

impl AuditLog for NoRecords {
    fn open(&self, _: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>> {
        Box::pin(ready(Err(AuditError::Failed("no call is recorded here".into()))))
    }

    fn refuse(&self, _: CallOpened, _: CallClosed) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    fn discover(&self, _: DiscoveryRecord) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}
