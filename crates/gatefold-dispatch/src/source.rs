use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{CallError, Digest, Domain, Outcome, Timestamp, UpstreamIdentity};
use gatefold_policy::Permit;
use serde::Serialize;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{EventSink, Nested, Peer, RequestMeta};

/// Something that offers tools.
///
/// Dropping the future of [`Source::invoke`] is how a call is cancelled, whether by its caller or
/// by its deadline; the source tells its upstream.
pub trait Source: Send + Sync + 'static {
    fn domain(&self) -> &Domain;

    /// What the source last said it offers; `None` until it first said anything.
    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>>;

    /// The resources that have changed, by their own URIs, of those somebody subscribed to; `None`
    /// for a source that cannot tell.
    fn updates(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        None
    }

    /// Undoes one subscription of a client that is gone. Nobody is asked whether it may go.
    fn release(self: Arc<Self>, identity: &UpstreamIdentity, uri: &str) {
        let _ = (identity, uri);
    }

    fn status(&self) -> SourceStatus;

    /// What the source itself last said beside the protocol, a line each and few of them, where its
    /// last attempt failed.
    fn last_lines(&self) -> Vec<String> {
        Vec::new()
    }

    /// Connects, if need be, and asks for the list anew. The manifest follows by
    /// [`Source::manifests`].
    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>>;

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>>;

    /// Lets go of connections and processes. The source is not invoked afterwards.
    fn close(self: Arc<Self>) -> BoxFuture<'static, ()>;
}

/// Keeps what sources said they offer, so that discovery works before any of them runs.
pub trait Manifests: Send + Sync + 'static {
    /// Keeps a manifest for as long as the source's configuration has this digest. A manifest
    /// that could not be kept is logged by the store: the next start merely knows less.
    fn keep(&self, domain: Domain, config: Digest, manifest: Arc<Manifest>) -> BoxFuture<'_, ()>;
}

/// Where a source is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// In the configuration, never yet reached.
    Configured,
    /// Never reached in this run, but a manifest is on disk.
    Known,
    Starting,
    Running,
    /// Stopped because nobody used it; the next call starts it.
    Idle,
    /// The last attempt failed; the next one waits.
    Failing,
    /// Switched off in the configuration.
    Disabled,
}

impl fmt::Display for SourceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Configured => "configured",
            Self::Known => "known",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Failing => "failing",
            Self::Disabled => "disabled",
        })
    }
}

/// A source's state at one moment, for people and probes. Nothing a model sees depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceStatus {
    pub state: SourceState,
    pub since: Timestamp,
    /// Why the last attempt failed, when the state is [`SourceState::Failing`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The protocol version its sessions speak, once one was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    pub sessions: usize,
}

/// What a call brings along beside its permit.
pub struct CallContext {
    /// When the call's time runs out, if nobody is asked anything meanwhile.
    pub deadline: Instant,
    /// Fires when the caller gives up, for work that outlives the future.
    pub cancel: CancellationToken,
    pub events: EventSink,
    pub peer: Arc<dyn Peer>,
    pub identity: UpstreamIdentity,
    pub meta: Arc<RequestMeta>,
    pub nested: Nested,
    /// The largest result to read, in bytes.
    pub result_bytes: u64,
}
