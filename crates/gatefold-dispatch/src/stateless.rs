//! Sources without sessions: a trait with two methods, and the one adapter that turns it into a
//! [`Source`].
//!
//! An OpenAPI description, a database or a folder of skills describes what it offers and answers
//! calls. It has no connection to keep open and no subscription. The adapter does everything else
//! that a source must do: permits, storing the manifest, status, closing.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Manifest, ToolDefinition};
use gatefold_core::{
    BoxError, CallError, Clock, Digest, Domain, ExtensionRequest, Operation, Outcome, Payload,
    Principal, RecentMap, Target, UpstreamIdentity,
};
use gatefold_policy::Permit;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    CallContext, CredentialError, DocumentCount, Manifests, Offer, Source, SourceState,
    SourceStatus,
};

/// The most identities whose offers one source remembers. A further one replaces the least recently
/// used one, which has to be asked about again.
const OWN_MANIFESTS: usize = 1024;

/// How long a description is in use before a call has it read again. No call waits for that.
const DESCRIPTION_LIFE: Duration = Duration::from_hours(1);
/// How long after a description could not be read the next call has it tried again.
const RETRY_PAUSE: Duration = Duration::from_mins(1);

/// A source without sessions: it describes what it offers and answers calls.
pub trait StatelessSource: Send + Sync + 'static {
    /// Describes what it offers now. Called at each refresh, and in the background once a call finds the
    /// last description old. No call waits for it.
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>>;

    /// Describes what it offers one identity now, for a source that keeps identities apart
    /// ([`IdentityScope::PerUser`](crate::IdentityScope)).
    fn describe_to<'a>(
        &'a self,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<Manifest, BoxError>> {
        let _ = identity;
        self.describe()
    }

    /// Answers one call. Dropping the future cancels it. Meanwhile the context tells how far it is
    /// ([`CallContext::progress`]), asks the client ([`CallContext::ask`]) and makes calls of its own
    /// ([`CallContext::nested`]).
    ///
    /// The dispatcher refuses a result of more than `context.result_bytes`, so there is no point in
    /// reading further.
    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>>;

    /// Whether it answers this call of a tool from what it has read already: see
    /// [`Source::answers_from_memory`].
    fn answers_from_memory(&self, tool: &str, arguments: &RawValue) -> bool {
        let _ = (tool, arguments);
        false
    }

    /// Whether this call of a tool may take so long that it goes on as a task: see
    /// [`Source::runs_as_task`].
    fn runs_as_task(&self, tool: &str, arguments: &RawValue) -> bool {
        let _ = (tool, arguments);
        false
    }

    /// Answers a request of an extension of the protocol: see [`AdmittedCall::extension`].
    fn call_extension(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        let _ = context;
        Box::pin(async move { Err(call.unknown()) })
    }

    /// Whether what it offered in an earlier process is used as long as if it had described itself in this one. A source
    /// that is slow to read says so; any other is asked again behind its first call.
    fn trusts(&self, known: &Manifest) -> bool {
        let _ = known;
        false
    }

    /// How many documents it has: see [`Source::documents`].
    fn documents(&self) -> Option<DocumentCount> {
        None
    }

    /// Whether it can tell that what it offers may have changed. If so, it is asked to describe itself
    /// at once and after each [`StatelessSource::changed`].
    fn tells_changes(&self) -> bool {
        false
    }

    /// Waits until what it offers may have changed. Cancelling it loses no change.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// A call that policy admitted, made from its permit.
///
/// Only the adapter makes one, so nothing else can call a [`StatelessSource`], and no permit is
/// used twice.
#[derive(Debug)]
pub struct AdmittedCall {
    permit: Permit,
    definition: Option<ToolDefinition>,
}

impl AdmittedCall {
    /// Consumes the permit. Operations that need a session are refused.
    fn of(permit: Permit, manifest: Option<&Manifest>) -> Result<Self, CallError> {
        let operation = &permit.call().operation;
        match &**operation {
            Operation::Tool { .. }
            | Operation::Prompt { .. }
            | Operation::Resource(_)
            | Operation::Extension(_) => {
                let target = permit.target();
                let definition = manifest.and_then(|own| own.tool(&target.name, target.digest));
                let definition = definition.cloned();
                Ok(Self { permit, definition })
            }
            _ => Err(unknown(operation)),
        }
    }

    /// What is asked by an extension of the protocol, if it is one that asks.
    pub fn extension(&self) -> Option<&ExtensionRequest> {
        match &*self.permit.call().operation {
            Operation::Extension(request) => Some(request),
            _ => None,
        }
    }

    fn unknown(&self) -> CallError {
        unknown(&self.permit.call().operation)
    }

    /// The called entry: the source's own name for it, and its definition's digest.
    pub fn target(&self) -> &Arc<Target> {
        self.permit.target()
    }

    /// The called tool, as the source described it. None if it describes the tool differently by now.
    pub fn definition(&self) -> Option<&ToolDefinition> {
        self.definition.as_ref()
    }

    /// The arguments as the caller wrote them; `None` for a resource.
    pub fn arguments(&self) -> Option<&RawValue> {
        match &*self.permit.call().operation {
            Operation::Tool { arguments, .. } | Operation::Prompt { arguments, .. } => {
                Some(arguments)
            }
            _ => None,
        }
    }

    /// The principal that makes the call.
    pub fn principal(&self) -> &Arc<Principal> {
        &self.permit.call().principal
    }
}

fn unknown(operation: &Operation) -> CallError {
    CallError::Unknown { kind: operation.as_str(), name: operation.subject().to_owned() }
}

/// What the adapter needs to know about a source.
pub struct StatelessSettings {
    pub domain: Domain,
    /// The digest under which its manifests are stored.
    pub config_digest: Digest,
    /// How long it may take to describe what it offers.
    pub describe_deadline: Duration,
    /// What it offered when it was last asked.
    pub known: Option<Arc<Manifest>>,
}

/// Turns a [`StatelessSource`] into a [`Source`].
pub struct StatelessAdapter<S> {
    inner: Arc<S>,
    settings: StatelessSettings,
    manifests: Arc<dyn Manifests>,
    clock: Arc<dyn Clock>,
    manifest: watch::Sender<Option<Arc<Manifest>>>,
    /// The manifests of single identities, the latest [`OWN_MANIFESTS`].
    own: Mutex<RecentMap<UpstreamIdentity, Arc<Manifest>>>,
    status: Mutex<SourceStatus>,
    /// Held while the source describes itself, so that an older answer never replaces a newer one.
    describing: tokio::sync::Mutex<()>,
    /// When a call has it describe itself again. None for at once.
    describe_again: Mutex<Option<Instant>>,
    /// Fires when the source is closed.
    closing: CancellationToken,
    /// Follows the changes of a source that tells them.
    follower: OnceLock<AbortOnDropHandle<()>>,
}

impl<S: StatelessSource> StatelessAdapter<S> {
    /// For a source that tells changes, this must be called within a Tokio runtime.
    pub fn new(
        inner: Arc<S>,
        settings: StatelessSettings,
        manifests: Arc<dyn Manifests>,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        let state = match settings.known {
            Some(_) => SourceState::Known,
            None => SourceState::Configured,
        };
        let now = clock.now();
        let trusted = settings.known.as_ref().filter(|known| inner.trusts(known));
        let left =
            trusted.and_then(|known| DESCRIPTION_LIFE.checked_sub(now.since(known.fetched_at())));
        let status = SourceStatus {
            state,
            since: now,
            error: None,
            protocol: None,
            downloading: None,
            sessions: 0,
        };
        let adapter = Arc::new(Self {
            inner,
            manifest: watch::Sender::new(settings.known.clone()),
            own: Mutex::new(RecentMap::new(OWN_MANIFESTS)),
            settings,
            manifests,
            clock,
            status: Mutex::new(status),
            describing: tokio::sync::Mutex::default(),
            describe_again: Mutex::new(left.map(|left| Instant::now() + left)),
            closing: CancellationToken::new(),
            follower: OnceLock::new(),
        });
        if adapter.inner.tells_changes() {
            let follower = tokio::spawn(follow(Arc::downgrade(&adapter)));
            let _ = adapter.follower.set(AbortOnDropHandle::new(follower));
        }
        adapter
    }

    async fn describe(&self) -> Result<(), CallError> {
        let _describing = self.describing.lock().await;
        let manifest = self.described(self.inner.describe()).await?;
        *self.describe_again() = Some(Instant::now() + DESCRIPTION_LIFE);
        let is_new = self.manifest.send_if_modified(|current| {
            let is_new = current.as_ref().is_none_or(|old| old.digest() != manifest.digest());
            *current = Some(manifest.clone());
            is_new
        });
        let StatelessSettings { domain, config_digest, .. } = &self.settings;
        if is_new {
            tracing::info!(%domain, tools = manifest.tools().len(), "took up a new list of tools");
        }
        // The next process counts from when a trusted one was read, also if it is the same.
        if is_new || self.inner.trusts(&manifest) {
            self.manifests.keep(domain.clone(), *config_digest, manifest).await;
        }
        Ok(())
    }

    /// Remembers what one identity is offered. This is not stored on disk: it is quick to fetch
    /// again, and nobody else should find a person's list there.
    async fn describe_to(&self, identity: UpstreamIdentity) -> Result<(), CallError> {
        let manifest = self.described(self.inner.describe_to(&identity)).await?;
        let digest = manifest.digest();
        let former = self.own().insert(identity, manifest);
        if former.is_none_or(|former| former.digest() != digest) {
            self.manifest.send_modify(|_| {});
        }
        Ok(())
    }

    async fn described(
        &self,
        description: BoxFuture<'_, Result<Manifest, BoxError>>,
    ) -> Result<Arc<Manifest>, CallError> {
        let described = timeout(self.settings.describe_deadline, description);
        let described = self.closing.run_until_cancelled(described).await;
        let manifest = match described.ok_or_else(|| self.closed())? {
            Ok(Ok(manifest)) => Arc::new(manifest),
            Ok(Err(error)) => return Err(self.not_described(error)),
            Err(_) => {
                let limit = self.settings.describe_deadline.as_secs_f32();
                return Err(self.failed(format!("it did not answer within {limit} s"), None));
            }
        };
        self.set_status(SourceState::Running, None);
        Ok(manifest)
    }

    /// Has the source describe itself behind a call, if it was long ago or in another process: what it
    /// offers may have changed.
    fn describe_if_old(self: &Arc<Self>) {
        let now = Instant::now();
        let mut again = self.describe_again();
        if again.is_none_or(|again| again <= now) {
            *again = Some(now + RETRY_PAUSE);
            let source = self.clone();
            // A failure is logged where it happens, and what was offered before stays.
            tokio::spawn(async move { source.describe().await });
        }
    }

    async fn call(&self, permit: Permit, context: CallContext) -> Result<Outcome, CallError> {
        let manifest = self.own().get(&context.identity).cloned();
        let manifest = manifest.or_else(|| self.manifest.borrow().clone());
        let call = AdmittedCall::of(permit, manifest.as_deref())?;
        // A running call ends with the source, because nobody would observe its effects.
        let answered = match call.extension() {
            Some(_) => self.inner.call_extension(call, context),
            None => self.inner.call(call, context),
        };
        let answer = self.closing.run_until_cancelled(answered).await;
        answer.ok_or_else(|| self.closed())?.map(Outcome::Done)
    }

    fn closed(&self) -> CallError {
        self.unavailable("it was removed from the configuration".to_owned(), None)
    }

    fn not_described(&self, error: BoxError) -> CallError {
        let needs_sign_in =
            error.downcast_ref::<CredentialError>().is_some_and(|error| error.needs_sign_in);
        let (domain, reason) = (self.settings.domain.clone(), error.to_string());
        let failed = self.failed(reason.clone(), Some(error));
        if needs_sign_in { CallError::NeedsSignIn { domain, reason } } else { failed }
    }

    /// Records why the source cannot describe itself. Its previous offer stays.
    fn failed(&self, reason: String, source: Option<BoxError>) -> CallError {
        let domain = &self.settings.domain;
        tracing::warn!(%domain, reason, "a source did not say what it offers");
        self.set_status(SourceState::Failing, Some(reason.clone()));
        self.unavailable(reason, source)
    }

    fn unavailable(&self, reason: String, source: Option<BoxError>) -> CallError {
        CallError::Unavailable { domain: self.settings.domain.clone(), reason, source }
    }

    fn set_status(&self, state: SourceState, error: Option<String>) {
        let mut status = self.status();
        status.error = error;
        if status.state != state {
            status.state = state;
            status.since = self.clock.now();
        }
    }

    fn describe_again(&self) -> MutexGuard<'_, Option<Instant>> {
        self.describe_again.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&self) -> MutexGuard<'_, RecentMap<UpstreamIdentity, Arc<Manifest>>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self) -> MutexGuard<'_, SourceStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has a source describe itself now, in case it changed while nobody watched, and after each change.
/// Ends with the source.
async fn follow<S: StatelessSource>(adapter: Weak<StatelessAdapter<S>>) {
    loop {
        let Some(source) = adapter.upgrade() else { return };
        // A failure is logged where it happens, and what was offered before stays.
        let _ = source.describe().await;
        let (inner, closing) = (source.inner.clone(), source.closing.clone());
        drop(source);
        if closing.run_until_cancelled(inner.changed()).await.is_none() {
            return;
        }
    }
}

impl<S: StatelessSource> Source for StatelessAdapter<S> {
    fn domain(&self) -> &Domain {
        &self.settings.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifest.subscribe()
    }

    fn offer(&self, identity: &UpstreamIdentity) -> Offer {
        if *identity == UpstreamIdentity::Shared {
            return Offer::Shared;
        }
        self.own().get(identity).cloned().map_or(Offer::Unasked, Offer::Own)
    }

    fn status(&self) -> SourceStatus {
        self.status().clone()
    }

    fn documents(&self) -> Option<DocumentCount> {
        self.inner.documents()
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        Box::pin(async move { self.describe().await })
    }

    fn refresh_for(
        self: Arc<Self>,
        identity: UpstreamIdentity,
    ) -> BoxFuture<'static, Result<(), CallError>> {
        Box::pin(async move {
            match identity {
                UpstreamIdentity::Shared => self.describe().await,
                identity => self.describe_to(identity).await,
            }
        })
    }

    fn answers_from_memory(&self, permit: &Permit) -> bool {
        match &*permit.call().operation {
            Operation::Tool { arguments, .. } => {
                self.inner.answers_from_memory(&permit.target().name, arguments)
            }
            _ => false,
        }
    }

    fn runs_as_task(&self, permit: &Permit) -> bool {
        match &*permit.call().operation {
            Operation::Tool { arguments, .. } => {
                self.inner.runs_as_task(&permit.target().name, arguments)
            }
            _ => false,
        }
    }

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        Box::pin(async move {
            self.describe_if_old();
            self.call(permit, context).await
        })
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.closing.cancel() })
    }
}
