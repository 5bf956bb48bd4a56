//! The spine: the one way to do anything.
//!
//! Every operation, whoever asks and over whichever protocol, takes [`Pinned::call`]: resolve the
//! name in the principal's view, let policy decide, open an audit record, invoke the source under
//! deadline, limits and breaker, close the record. This crate knows no HTTP, no SQL and no MCP
//! library; those stand behind the [`Source`] trait and the ports.

mod audit;
mod breaker;
mod counters;
mod dispatcher;
mod gate;
mod limits;
mod nested;
mod pinned;
mod run;
mod runtime;
mod seal;
mod source;
mod traffic;

pub use audit::{
    Approvals, AuditError, AuditLog, AuditOutcome, AuditSlot, CallClosed, CallOpened,
    DiscoveryRecord, NoApprovals,
};
pub use breaker::BreakerState;
pub use counters::Counters;
pub use dispatcher::{Dispatcher, Ports};
pub use limits::Limits;
pub use nested::{Nested, Taint};
pub use pinned::{Caller, Pinned};
pub use runtime::{IdentityScope, Runtime, Setup, SourceReport, SourceSetup};
pub use seal::SealKey;
pub use source::{
    Answer, AskError, CallContext, Event, EventSink, Manifests, NoPeer, Peer, Question, Source,
    SourceState, SourceStatus, TraceContext,
};
pub use traffic::{LastError, TrafficReport};
