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
/// Dropping the future of [`Source::invoke`] cancels the call, whether its caller or its deadline
/// does it; the source tells its upstream.
pub trait Source: Send + Sync + 'static {
    fn domain(&self) -> &Domain;

    /// What the source last offered; `None` until it was first listed. It fires when that changes, and
    /// when the offer to a single identity does.
    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>>;

    /// What one identity is offered. It is asked at each turn of a principal, so it must be at hand.
    fn offer(&self, identity: &UpstreamIdentity) -> Offer {
        let _ = identity;
        Offer::Shared
    }

    /// Changed resources that somebody subscribed to, by their own URIs; `None` for a source that
    /// cannot tell.
    fn updates(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        None
    }

    /// Undoes one subscription of a client that is gone. No permission is needed for that.
    fn release(self: Arc<Self>, identity: &UpstreamIdentity, uri: &str) {
        let _ = (identity, uri);
    }

    fn status(&self) -> SourceStatus;

    /// What the source itself last said beside the protocol, a line each and few of them, where its
    /// last attempt failed.
    fn last_lines(&self) -> Vec<String> {
        Vec::new()
    }

    /// Connects if necessary, and lists again. The manifest follows through [`Source::manifests`].
    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>>;

    /// As [`Source::refresh`], for one identity.
    fn refresh_for(
        self: Arc<Self>,
        identity: UpstreamIdentity,
    ) -> BoxFuture<'static, Result<(), CallError>> {
        let _ = identity;
        self.refresh()
    }

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>>;

    /// Closes connections and processes. The source is not invoked afterwards.
    fn close(self: Arc<Self>) -> BoxFuture<'static, ()>;
}

/// What a source offers to one identity.
#[derive(Debug, Clone)]
pub enum Offer {
    /// The same as to everybody: see [`Source::manifests`].
    Shared,
    /// This, whatever others are offered.
    Own(Arc<Manifest>),
    /// The source has not been asked for this identity yet. Until then, the identity sees what
    /// everybody is offered.
    Unasked,
}

/// Keeps what sources offer, so that discovery works before any of them runs.
pub trait Manifests: Send + Sync + 'static {
    /// Keeps a manifest while the source's configuration has this digest. The store logs a failure,
    /// which is no error: the next start merely knows less.
    fn keep(&self, domain: Domain, config: Digest, manifest: Arc<Manifest>) -> BoxFuture<'_, ()>;
}

/// A source's state in its life cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// In the configuration, never reached yet.
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

/// A source's state right now, for people and probes. Nothing that a model sees depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceStatus {
    pub state: SourceState,
    pub since: Timestamp,
    /// Why the last attempt failed, if the state is [`SourceState::Failing`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The protocol version of its sessions, once one was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    pub sessions: usize,
}

/// What a call brings along besides its permit.
pub struct CallContext {
    /// When the call's time runs out, if nobody is asked anything in the meantime.
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
