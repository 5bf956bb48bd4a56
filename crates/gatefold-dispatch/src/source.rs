use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{AnswerFault, CallError, Digest, Domain, Outcome, Timestamp, UpstreamIdentity};
use gatefold_policy::Permit;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use crate::limits::room::ResultPlace;
use crate::{Answer, AskError, Caller, Event, NestedCaller, Peer, Question, ResultRoom};

/// Something that offers tools.
///
/// Dropping the future of [`Source::invoke`] cancels the call, whether because of its caller or its
/// deadline; the source tells its upstream.
pub trait Source: Send + Sync + 'static {
    fn domain(&self) -> &Domain;

    /// What the source last offered, or `None` before its first list. Fires when that changes, and
    /// when the offer to a single identity changes.
    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>>;

    /// What one identity is offered. Called at each turn of a principal, so it must not wait for
    /// anything.
    fn offer(&self, identity: &UpstreamIdentity) -> Offer {
        let _ = identity;
        Offer::Shared
    }

    /// Changed resources that somebody subscribed to, by their own URIs. `None` for a source that
    /// cannot report changes.
    fn updates(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        None
    }

    /// Undoes one subscription of a client that is gone. That needs no permission.
    fn release(self: Arc<Self>, identity: &UpstreamIdentity, uri: &str) {
        let _ = (identity, uri);
    }

    /// Introduces the gateway's only client, which may then be asked outside of its calls.
    fn meet(self: Arc<Self>, client: &Arc<dyn Peer>) {
        let _ = client;
    }

    /// Reports that a client's roots have changed.
    fn roots_changed(&self, client: u64) {
        let _ = client;
    }

    fn status(&self) -> SourceStatus;

    /// How many documents it has, if it is made of documents and has counted them.
    fn documents(&self) -> Option<DocumentCount> {
        None
    }

    /// What the source answered last to this identity instead of its list or a session, if it
    /// answered.
    fn answer_fault(&self, identity: &UpstreamIdentity) -> Option<AnswerFault> {
        let _ = identity;
        None
    }

    /// A few lines of what the source last said outside of the protocol, if its last attempt
    /// failed.
    fn last_lines(&self) -> Vec<String> {
        Vec::new()
    }

    /// The last lines that the source said besides its answers, with numbers higher than this one.
    fn log_after(&self, number: u64) -> Vec<SourceLogLine> {
        let _ = number;
        Vec::new()
    }

    /// Connects if necessary, and fetches the lists again. The manifest follows through
    /// [`Source::manifests`].
    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>>;

    /// Like [`Source::refresh`], for one identity.
    fn refresh_for(
        self: Arc<Self>,
        identity: UpstreamIdentity,
    ) -> BoxFuture<'static, Result<(), CallError>> {
        let _ = identity;
        self.refresh()
    }

    /// Whether this call is answered from what the source has read already. The circuit breaker
    /// neither holds such a call back nor counts it: its answer says nothing about what the source
    /// reads from.
    fn answers_from_memory(&self, permit: &Permit) -> bool {
        let _ = permit;
        false
    }

    /// Whether this call of a tool may take so long that it goes on as a task, for a client that
    /// follows tasks. Its source notices nothing of it: what it asks and tells reaches the client
    /// through the task. A source whose calls do declares the extension in its manifest.
    fn runs_as_task(&self, permit: &Permit) -> bool {
        let _ = permit;
        false
    }

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>>;

    /// Closes connections and processes. The source is not invoked afterwards.
    fn close(self: Arc<Self>) -> BoxFuture<'static, ()>;
}

/// The documents of a source, for people and probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DocumentCount {
    pub total: usize,
    /// Those that gave no text, such as encrypted ones.
    pub without_text: usize,
}

/// A line that a source said besides its answers. Secrets that the source was given are masked in
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLogLine {
    /// Higher than that of every earlier line.
    pub number: u64,
    pub at: Timestamp,
    pub spoken: SpokenWhere,
    /// The severity that the source gave it, if any.
    pub level: Option<String>,
    pub text: String,
}

/// Where a source said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpokenWhere {
    /// A local server's standard error.
    Stderr,
    /// A log notification.
    Protocol,
}

/// What a source offers to one identity.
#[derive(Debug, Clone)]
pub enum Offer {
    /// The same as to everybody: see [`Source::manifests`].
    Shared,
    /// This manifest, whatever others are offered.
    Own(Arc<Manifest>),
    /// The source has not been asked for this identity yet. Until then, the identity sees what
    /// everybody is offered.
    Unasked,
}

/// Stores what sources offer, so that discovery works before any of them runs.
pub trait Manifests: Send + Sync + 'static {
    /// Stores a manifest for this digest of the source's configuration. The store itself logs a
    /// failure, which is not an error: the next start merely knows less.
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
    /// For how long a first start has been downloading. Serialized in whole seconds.
    #[serde(
        rename = "downloading_s",
        serialize_with = "whole_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub downloading: Option<Duration>,
    pub sessions: usize,
}

#[expect(clippy::ref_option, reason = "serde hands over the field itself")]
fn whole_seconds<S: Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    duration.map(|duration| duration.as_secs()).serialize(serializer)
}

/// What a call carries besides its permit: its caller, as the entrance brought it, and what the call adds.
pub struct CallContext {
    /// Its share of memory is to be kept with every copy of the arguments that may outlive the call, and
    /// its cancellation ends work that outlives the future.
    pub caller: Caller,
    /// When the call's time runs out, if nobody is asked anything in the meantime.
    pub deadline: Instant,
    pub identity: UpstreamIdentity,
    pub nested: NestedCaller,
    /// The largest result to read, in bytes.
    pub result_bytes: u64,
    /// Where to ask before reading on in a result that turns out to be large.
    pub room: ResultRoom,
}

impl CallContext {
    /// Tells whoever follows the call how far it is, out of `total` if that is known.
    pub fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        if !self.caller.events.hears_progress() {
            return;
        }
        let progress = Progress { progress: done, total, message };
        self.caller.events.send(Event::Progress(raw(&progress)));
    }

    /// Tells whoever follows the call something, with a severity in the protocol's words.
    pub fn log(&self, level: &str, text: &str) {
        self.caller.events.send(Event::Log(raw(&json!({ "level": level, "data": text }))));
    }

    /// Asks the client behind the call, however it answers: over its connection, by repeating its
    /// request, or through the task as which the call runs. Meanwhile the call's clock stands still
    /// and its place at the source is free.
    pub async fn ask(&self, question: Question) -> Result<Answer, AskError> {
        self.caller.peer.ask(question).await
    }

    /// The caller of a call that is made within this one: the same client follows it and is asked. Its
    /// result has room of its own.
    pub fn nested_caller(&self) -> Caller {
        Caller { result_place: ResultPlace::default(), ..self.caller.clone() }
    }
}

/// Progress in the protocol's words.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the protocol calls them so")]
struct Progress<'a> {
    progress: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    message: &'a str,
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("it has only text keys")
}
