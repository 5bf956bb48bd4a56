use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{CallError, Digest, Domain, Outcome, Timestamp, UpstreamIdentity};
use gatefold_policy::Permit;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Nested;

/// Something that offers tools.
///
/// Dropping the future of [`Source::invoke`] is how a call is cancelled, whether by its caller or
/// by its deadline; the source tells its upstream.
pub trait Source: Send + Sync + 'static {
    fn domain(&self) -> &Domain;

    /// What the source last said it offers; `None` until it first said anything.
    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>>;

    fn status(&self) -> SourceStatus;

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
    pub deadline: Instant,
    /// Fires when the caller gives up, for work that outlives the future.
    pub cancel: CancellationToken,
    pub events: EventSink,
    pub peer: Arc<dyn Peer>,
    pub identity: UpstreamIdentity,
    pub trace: TraceContext,
    pub nested: Nested,
    /// The largest result to read, in bytes.
    pub result_bytes: u64,
}

/// The W3C trace context of the request, passed on as it came.
#[derive(Debug, Clone, Default)]
pub struct TraceContext {
    pub traceparent: Option<String>,
    pub tracestate: Option<String>,
}

/// Something a source says while a call is under way.
#[derive(Debug, Clone)]
pub enum Event {
    /// Progress in the source's own words: the members `progress`, `total` and `message`.
    Progress(Box<RawValue>),
}

/// Where events of one call go. Bounded: a listener that does not keep up misses some.
#[derive(Debug, Clone, Default)]
pub struct EventSink(Option<mpsc::Sender<Event>>);

impl EventSink {
    pub fn new(sender: mpsc::Sender<Event>) -> Self {
        Self(Some(sender))
    }

    /// A sink for callers who do not listen.
    pub fn none() -> Self {
        Self(None)
    }

    pub fn is_heard(&self) -> bool {
        self.0.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    pub fn send(&self, event: Event) {
        if let Some(sender) = &self.0 {
            // Progress is worth nothing once it is late, so a full queue drops it.
            let _ = sender.try_send(event);
        }
    }
}

/// The client behind a call, as far as a source may ask it something.
pub trait Peer: Send + Sync + 'static {
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>>;
}

/// A request from a source to the client: elicitation, sampling or roots.
#[derive(Debug)]
pub struct Question {
    /// The protocol's method, such as `elicitation/create`.
    pub method: String,
    pub params: Box<RawValue>,
}

/// The client's result object, as it came.
#[derive(Debug)]
pub struct Answer(pub Box<RawValue>);

/// Why a question got no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("the client cannot answer `{0}`")]
    Unsupported(String),
    #[error("the client is gone")]
    Gone,
    #[error("the client did not answer in time")]
    Deadline,
}

/// A client that can be asked nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPeer;

impl Peer for NoPeer {
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async move { Err(AskError::Unsupported(question.method)) })
    }
}
