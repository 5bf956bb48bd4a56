//! The spine: the only way to do anything.
//!
//! Every operation, by any caller over any protocol, takes [`PinnedTurn::call`] and then the files of
//! `call/` in their order: resolve the name in the principal's view, let policy decide, open an audit
//! record, invoke the source under deadline, limits and breaker, close the record. This crate knows no
//! HTTP, no SQL and no MCP library; those are behind the [`Source`] trait and the ports.

mod call;
mod capabilities;
mod catalogues;
mod counters;
mod dispatcher;
mod first_lists;
mod journal;
mod limits;
mod notes;
mod owner;
mod pinned;
mod ports;
mod results;
mod runtime;
mod searching;
mod sign_in;
mod source;
mod stateless;
mod unlisted;

pub use call::caller::{
    Answer, AskError, CallPause, Caller, Event, EventSink, NoPeer, QuestionMode, RequestMeta,
    SharedLabel,
};
pub use call::nest::{NestedCaller, NestedOptions, ResourceAccess};
pub use call::record::{
    AuditOutcome, CallClosed, CallOpened, DecidedBy, Discovery, DiscoveryRecord,
};
pub use call::seal::SealKey;
pub use capabilities::{ClientCapabilities, Question};
pub use counters::{Counters, DiscoveryCounts};
pub use dispatcher::{Dispatcher, ResourceUpdate};
pub use journal::{
    Journal, JournalError, Journaled, NewRun, NewRunEvent, RUN_EVENT_BYTES, RUN_EVENTS, Run,
    RunEvent, RunId, RunKind, RunOutcome,
};
pub use limits::Limits;
pub use limits::circuit_breaker::BreakerState;
pub use limits::nesting::JSON_LEVELS;
pub use limits::room::{ResultPlace, ResultRoom};
pub use limits::traffic::{LastError, TrafficReport};
pub use notes::{Note, NoteText, Notes};
pub use owner::DataOwner;
pub use pinned::PinnedTurn;
pub use ports::{
    ApprovalKey, ApprovalState, Approvals, AuditError, AuditLog, AuditSlot, Credential,
    CredentialError, CredentialRefusal, CredentialSet, Credentials, EventListener, MemoryShare,
    NewApproval, NoApprovals, NoCredentials, Peer, Ports, RefusalCause, SignInLink,
    StandingApproval, StaticCredentials,
};
pub use results::{
    MISSING_RESULT, NewResult, ResultHandle, StoredResult, StoredResults, UNREADABLE_RESULTS,
};
pub use runtime::{IdentityScope, Runtime, Setup, SourceReport, SourceSetup};
pub use source::{
    CallContext, Manifests, Offer, Source, SourceLogLine, SourceState, SourceStatus, SpokenWhere,
};
pub use stateless::{AdmittedCall, StatelessAdapter, StatelessSettings, StatelessSource};

/// What bounds calls and searches and no configuration changes.
pub mod call_limits {
    pub use super::call::park::{PARKED, PARKED_EACH};
    pub use super::call::record::RECORD_WAIT;
    pub use super::unlisted::FIRST_LISTS;
}
