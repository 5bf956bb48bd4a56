//! The spine: the only way to do anything.
//!
//! Every operation, by any caller over any protocol, takes [`PinnedTurn::call`]: resolve the name in
//! the principal's view, let policy decide, open an audit record, invoke the source under deadline,
//! limits and breaker, close the record. This crate knows no HTTP, no SQL and no MCP library; those
//! are behind the [`Source`] trait and the ports.

mod approvals;
mod audit;
mod bulkhead;
mod caller;
mod capabilities;
mod catalogues;
mod chain;
mod circuit_breaker;
mod consent;
mod conversation;
mod counters;
mod credentials;
mod dispatcher;
mod first_lists;
mod invoke;
mod journal;
mod limits;
mod nested;
mod nesting;
mod notes;
mod owner;
mod parking;
mod past;
mod pinned;
mod questions;
mod recalling;
mod repairs;
mod resolution;
mod results;
mod room;
mod run;
mod runtime;
mod seal;
mod searching;
mod sign_in;
mod source;
mod stateless;
mod tasks;
mod timer;
mod traffic;
mod unlisted;
mod used;

pub use approvals::{
    ApprovalKey, ApprovalState, Approvals, NewApproval, NoApprovals, StandingApproval,
};
pub use audit::{
    AuditError, AuditLog, AuditOutcome, AuditSlot, CallClosed, CallOpened, DecidedBy, Discovery,
    DiscoveryRecord,
};
pub use caller::{
    Answer, AskError, CallPause, Caller, Event, EventListener, EventSink, MemoryShare, NoPeer,
    Peer, QuestionMode, RequestMeta, SharedLabel,
};
pub use capabilities::{ClientCapabilities, Question};
pub use circuit_breaker::BreakerState;
pub use counters::{Counters, DiscoveryCounts};
pub use credentials::{
    Credential, CredentialError, CredentialRefusal, CredentialSet, Credentials, NoCredentials,
    RefusalCause, SignInLink, StaticCredentials,
};
pub use dispatcher::{Dispatcher, Ports, ResourceUpdate};
pub use journal::{
    Journal, JournalError, Journaled, NewRun, NewRunEvent, RUN_EVENT_BYTES, RUN_EVENTS, Run,
    RunEvent, RunId, RunKind, RunOutcome,
};
pub use limits::Limits;
pub use nested::{NestedCaller, NestedOptions, ResourceAccess};
pub use notes::{Note, NoteText, Notes};
pub use owner::DataOwner;
pub use past::{KeptQuery, NoPastQueries, PastQueries, PastUse};
pub use pinned::PinnedTurn;
pub use results::{
    MISSING_RESULT, NewResult, ResultHandle, StoredResult, StoredResults, UNREADABLE_RESULTS,
};
pub use room::{ResultPlace, ResultRoom};
pub use run::JSON_LEVELS;
pub use runtime::{IdentityScope, Runtime, Setup, SourceReport, SourceSetup};
pub use seal::SealKey;
pub use source::{
    CallContext, Manifests, Offer, Source, SourceLogLine, SourceState, SourceStatus, SpokenWhere,
};
pub use stateless::{AdmittedCall, StatelessAdapter, StatelessSettings, StatelessSource};
pub use traffic::{LastError, TrafficReport};
pub use used::{NoUsedTools, UsedTools, UtcDay};

/// What bounds calls and searches and no configuration changes.
pub mod call_limits {
    pub use super::audit::RECORD_WAIT;
    pub use super::parking::{PARKED, PARKED_EACH};
    pub use super::unlisted::FIRST_LISTS;
    pub use super::used::{USED_DAYS, USED_TOOLS, USED_WAIT};
}
