//! What can be asked of a gateway and its state directory: typed requests, typed answers, one error.
//!
//! The binary's commands, and the socket over which they ask a gateway that runs, are skins over
//! this: they parse, ask and print. [`StateOperations`] need only a state directory, whether or not
//! a gateway runs on it; [`AppOperations`] need an `App`, and those of them that a gateway answers
//! for other processes are an [`AppRequest`]. Who asks is an [`Asker`].
//!
//! It must not know the command line, terminals or the tokenizer, nor how anything is printed or
//! carried.

mod access_tokens;
mod accounts;
mod app;
mod approvals;
mod asker;
mod calls;
mod catalogue;
mod error;
mod models;
mod past_queries;
mod people;
mod request;
mod runs;
mod state;
mod threads;
mod tools;

pub use access_tokens::{AccessTokenList, CreatedAccessToken, RevokedAccess, SignedInClient};
pub use accounts::{AccountReport, AccountState, AccountTarget, SignOut, SignedOut};
pub use app::{
    AppOperations, GetRecord, GetStatus, OperationObserver, ReadLog, RecordedCosts, RecordedState,
    RefreshSource,
};
pub use approvals::{DecideApproval, REASON_BYTES, Verdict};
pub use asker::Asker;
pub use calls::{FollowedCalls, ListCalls};
pub use catalogue::{LeftOutSource, NO_SOURCE, await_encoder, complete, without_domain};
pub use error::{Fault, OperationError};
pub use models::ModelToday;
pub use people::{PasswordLink, sign_in_address};
pub use request::{AppRequest, Request};
pub use runs::{CostRecord, EventRecord, ResumeRun, RunDetails, RunRecord, UsageRecord};
pub use state::{LISTED, StateOperations};
pub use threads::ThreadRecord;
pub use tools::{
    Answered, CallAnswer, CallArguments, CallTool, FoundTools, InspectTools, ListTools, ListedTool,
    SearchTools, ToolDefinition, ToolLine,
};

/// What is on record, as it is kept.
pub use gatefold_identity::{
    AccessTokenRecord, NewAccessToken, PersonRecord,
    limits::{NAME_BYTES, TOKEN_PATTERN_BYTES, TOKEN_PATTERNS},
};
pub use gatefold_store::{
    ApprovalFilter, ApprovalRecord, CallFilter, CallRecord, CostGroup, DiscoveryReport,
    PastQueryFilter, PastQueryRecord, Totals,
};
