//! The ports of a call: what it needs from outside, and what its entrance brings along.
//!
//! A source is the other side of a call, and has its trait beside it: [`Source`](crate::Source).

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Clock, Domain, Secret, UpstreamIdentity};

use crate::messages::{Answer, AskError, CallPause, Event, QuestionMode};
use crate::records::{CallClosed, CallOpened, DiscoveryRecord};
use crate::{ClientCapabilities, Question, SealKey};

pub use approvals::{
    ApprovalDecision, ApprovalFilter, ApprovalKey, ApprovalRecord, ApprovalState, Approvals,
    NewApproval, NoApprovals, Settlement, StandingApproval,
};
pub use learning::{
    KeptQuery, LearningPorts, NoPastQueries, NoUsedTools, PastQueries, PastUse, USED_DAYS,
    USED_TOOLS, UsedTools, UtcDay,
};

mod approvals;
mod learning;

/// What dispatch needs from outside.
#[derive(Clone)]
pub struct Ports {
    pub audit: Arc<dyn AuditLog>,
    pub approvals: Arc<dyn Approvals>,
    pub clock: Arc<dyn Clock>,
    pub seal: SealKey,
}

/// Keeps the records of calls.
///
/// A record ends in exactly one outcome. Room for its end is reserved when the record opens, so
/// that an end is never lost for lack of room.
pub trait AuditLog: Send + Sync + 'static {
    /// Opens a record. Once the future completes, the record survives a crash of the process.
    fn open(&self, record: CallOpened) -> BoxFuture<'_, Result<Box<dyn AuditSlot>, AuditError>>;

    /// Writes a record that has already ended: a call that was refused before anything was sent.
    /// When the future completes, the record survives a crash like an opening, or the log has
    /// reported why it does not.
    fn refuse(&self, opened: CallOpened, closed: CallClosed) -> BoxFuture<'_, ()>;

    /// Writes the record of a meta-call that only discovered.
    fn discover(&self, record: DiscoveryRecord) -> BoxFuture<'_, ()>;
}

/// Why a record could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The call resumes one whose record is not suspended: it was resumed already, or has ended.
    #[error("the call was resumed already")]
    NotSuspended,
    #[error("the record could not be written")]
    Failed(#[source] BoxError),
}

/// Room reserved for the end of one record.
pub trait AuditSlot: Send {
    /// Passes on the end at once. When the future completes, the end survives a crash like an
    /// opening, or the log has reported why it does not. Dropping the future loses nothing.
    fn close(self: Box<Self>, record: CallClosed) -> BoxFuture<'static, ()>;
}

/// The client behind a call, to the extent that a source may ask it something.
pub trait Peer: Send + Sync + 'static {
    fn capabilities(&self) -> &ClientCapabilities;

    fn question_mode(&self) -> QuestionMode;

    /// The same of the client itself, where this peer asks it for somebody.
    fn own_question_mode(&self) -> QuestionMode {
        self.question_mode()
    }

    /// Whether its person can be shown a call's arguments whole, however long they are: a question for
    /// approval then has them beside what it shows.
    fn shows_whole_arguments(&self) -> bool {
        false
    }

    /// Tells connected clients apart. `None` for a stateless client, which may be anybody.
    fn client(&self) -> Option<u64> {
        None
    }

    /// Stops the clock of the call behind it while the pause lives, because its client is being
    /// asked something that may be about another of its calls.
    fn pause(&self) -> CallPause {
        CallPause::default()
    }

    /// Waits for a person, and for nothing else meanwhile: the clock of the call stands still, and
    /// another call may take its place at the source.
    fn wait_for_person<'a>(&'a self, person: BoxFuture<'a, bool>) -> BoxFuture<'a, bool> {
        person
    }

    /// Asks now. Only a client whose mode is [`QuestionMode::Live`] can answer.
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>>;
}

/// Whoever follows a call. Nobody waits for it, so it has a bound of its own.
pub trait EventListener: Send + Sync + 'static {
    /// Late events are worth little, so those that do not fit are dropped.
    fn hear(&self, event: Event);

    fn is_gone(&self) -> bool;
}

/// A request's part of a limited amount of memory. Dropping it gives the part back.
pub trait MemoryShare: Send + Sync + 'static {
    /// Asks for room among the requests that wait for their clients, and says whether there is any.
    /// These have memory of their own, because they may wait for long and new requests must not
    /// wait for them.
    fn may_wait(&self) -> bool;
}

/// One credential: the name of a header, or of its equivalent in the source's protocol, and its
/// value.
#[derive(Debug, Clone)]
pub struct Credential {
    pub name: String,
    pub value: Secret,
}

/// All credentials of one identity at one source.
pub type CredentialSet = Arc<[Credential]>;

/// Whether everybody shares a source's sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityScope {
    /// The configuration has one credential, so everybody shares its session.
    Shared,
    PerUser,
    /// Each user's client sends a credential of its own.
    Client,
}

/// Gives the credentials of an identity at a source.
///
/// A source asks before each request, because tokens expire in the middle of a session. An
/// implementation keeps what is still valid and returns the same [`CredentialSet`] until it
/// changes: a source prepares a set once and recognises it by its address.
pub trait Credentials: Send + Sync + 'static {
    /// Whose credentials it gives at a source: one set for everybody, or one for each user, whose
    /// sessions are kept apart. `None` leaves the source to what its configuration says.
    fn scope(&self, domain: &Domain) -> Option<IdentityScope> {
        let _ = domain;
        Some(IdentityScope::Shared)
    }

    /// The credentials that are valid and available now. `None` makes the source wait for
    /// [`Credentials::obtain`].
    fn at_hand(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<CredentialSet>;

    /// Tells the sign-ins of an identity apart, as far as the present one is known now. A session that
    /// was opened under one is not used under another. A refreshed token is the same sign-in.
    fn sign_in(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<u64> {
        let _ = (domain, identity);
        None
    }

    /// Obtains credentials, for example by a refresh. The request's own deadline bounds the wait.
    fn obtain<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>>;

    /// Hears that the upstream refused credentials, or wants some where there were none. Gives
    /// others, with which the request is made once more, or says why there are none.
    fn refused<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
        refusal: CredentialRefusal,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        let _ = (domain, identity, refusal);
        Box::pin(std::future::ready(Err(CredentialError::new("check its credentials"))))
    }

    /// A page at which the identity's own user can sign in now.
    fn sign_in_link<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<SignInLink, CredentialError>> {
        let _ = (domain, identity);
        Box::pin(std::future::ready(Err(CredentialError::new("there is no page to sign in at"))))
    }
}

/// A page at which an identity signs in.
pub struct SignInLink {
    pub url: String,
    /// Tells it from other links.
    pub id: String,
    /// Whether somebody has signed in there. Ends when that is settled.
    pub done: BoxFuture<'static, bool>,
}

/// An upstream's refusal of credentials.
#[derive(Debug, Clone)]
pub struct CredentialRefusal {
    /// What the request carried.
    pub carried: CredentialSet,
    pub cause: RefusalCause,
    /// What the upstream said it wants instead, such as the values of HTTP's `WWW-Authenticate`.
    pub challenges: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCause {
    /// The upstream does not know who asks, as with HTTP status 401.
    Unknown,
    /// Whoever asks may not do it, as with HTTP status 403.
    Forbidden,
}

/// Why there are no credentials. Both the caller and the operator read the reason; the error's
/// source is for the operator.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct CredentialError {
    pub reason: String,
    /// Whether a person can help by signing in. Trying again does not.
    pub needs_sign_in: bool,
    #[source]
    pub source: Option<BoxError>,
}

impl CredentialError {
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), needs_sign_in: false, source: None }
    }

    /// An error that a sign-in mends. The reason says how to sign in.
    pub fn needs_sign_in(reason: impl Into<String>) -> Self {
        Self { needs_sign_in: true, ..Self::new(reason) }
    }
}

/// The same credentials for everybody, forever, as set in a configuration.
#[derive(Clone, Default)]
pub struct StaticCredentials(CredentialSet);

impl StaticCredentials {
    pub fn new(credentials: impl IntoIterator<Item = Credential>) -> Self {
        Self(credentials.into_iter().collect())
    }
}

impl fmt::Debug for StaticCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|own| &own.name)).finish()
    }
}

impl Credentials for StaticCredentials {
    fn at_hand(&self, _: &Domain, _: &UpstreamIdentity) -> Option<CredentialSet> {
        Some(self.0.clone())
    }

    fn obtain<'a>(
        &'a self,
        _: &'a Domain,
        _: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// Gives none: every source presents what its configuration says.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCredentials;

impl Credentials for NoCredentials {
    fn scope(&self, _: &Domain) -> Option<IdentityScope> {
        None
    }

    fn at_hand(&self, _: &Domain, _: &UpstreamIdentity) -> Option<CredentialSet> {
        None
    }

    fn obtain<'a>(
        &'a self,
        _: &'a Domain,
        _: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        Box::pin(std::future::ready(Err(CredentialError::new("nobody gives credentials here"))))
    }
}
