//! The spine: the only way to do anything.
//!
//! Every operation, by any caller over any protocol, takes [`PinnedTurn::call`] and then the files of
//! `call/` in their order: resolve the name in the principal's view, let policy decide, open an audit
//! record, invoke the source under deadline, limits and breaker, close the record. This crate knows no
//! HTTP, no SQL and no MCP library; those are behind the [`Source`] trait and the ports.

mod call;
mod caller;
mod capabilities;
mod catalogues;
mod counters;
mod dispatcher;
mod first_lists;
mod journal;
mod limits;
mod messages;
mod model_uses;
mod nested;
mod notes;
mod owner;
mod parking;
mod pinned;
mod ports;
mod questions;
mod records;
mod results;
mod runtime;
mod seal;
mod searching;
mod sign_in;
mod source;
mod stateless;
mod tasks;
mod threads;
mod unlisted;

pub use caller::{CallAttachment, Caller, EventSink, NoPeer, RequestMeta, SharedLabel};
pub use capabilities::{ClientCapabilities, Question, WHOLE_ARGUMENTS};
pub use counters::{Counters, DiscoveryCounts};
pub use dispatcher::{Dispatcher, ResourceUpdate};
pub use journal::{
    Journal, JournalError, Journaled, NewRun, NewRunEvent, RUN_EVENT_BYTES, RUN_EVENTS, Run,
    RunEvent, RunId, RunKind, RunOutcome, RunPhase, ThreadId,
};
pub use limits::Limits;
pub use limits::circuit_breaker::BreakerState;
pub use limits::nesting::JSON_LEVELS;
pub use limits::room::{ResultPlace, ResultRoom};
pub use limits::traffic::{LastError, TrafficReport};
pub use messages::{Answer, AskError, CallPause, Event, QuestionMode};
pub use model_uses::{
    DaySpending, ModelLedger, ModelUseEnd, NewModelUse, OpenModelUse, UseOrigin, UsedTokens,
};
pub use nested::{NestedCaller, NestedOptions, ResourceAccess};
pub use notes::{Note, NoteText, Notes};
pub use owner::DataOwner;
pub use pinned::PinnedTurn;
pub use ports::{
    ApprovalDecision, ApprovalFilter, ApprovalKey, ApprovalRecord, ApprovalState, Approvals,
    AuditError, AuditLog, AuditSlot, Credential, CredentialError, CredentialRefusal, CredentialSet,
    Credentials, EventListener, IdentityScope, KeptQuery, LearningPorts, MemoryShare, NewApproval,
    NoApprovals, NoCredentials, NoPastQueries, NoUsedTools, PastQueries, PastUse, Peer, Ports,
    RefusalCause, Settlement, SignInLink, StandingApproval, StaticCredentials, USED_DAYS,
    USED_TOOLS, UsedTools, UtcDay,
};
pub use records::{AuditOutcome, CallClosed, CallOpened, DecidedBy, Discovery, DiscoveryRecord};
pub use results::{
    MISSING_RESULT, NewResult, ResultHandle, StoredResult, StoredResults, UNREADABLE_RESULTS,
};
pub use runtime::{Runtime, Setup, SourceReport, SourceSetup, TurnHolder};
pub use seal::SealKey;
pub use source::{
    CallContext, DocumentCount, Manifests, Offer, Source, SourceLogLine, SourceState, SourceStatus,
    SpokenWhere,
};
pub use stateless::{AdmittedCall, StatelessAdapter, StatelessSettings, StatelessSource};
pub use threads::{NewThread, THREAD_TITLE, Thread, Threads};

/// What bounds calls and searches and no configuration changes.
pub mod call_limits {
    pub use super::parking::{PARKED, PARKED_EACH};
    pub use super::records::RECORD_WAIT;
    pub use super::tasks::{TASKS, TASKS_EACH};
    pub use super::unlisted::FIRST_LISTS;
}
