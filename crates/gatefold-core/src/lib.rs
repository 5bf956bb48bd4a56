//! The nouns that every Gatefold crate shares: names, principals, calls and their outcomes.
//!
//! This crate knows no runtime, no network, no files and no environment. Everything in it is plain
//! data, so that policy, ranking and rendering can be tested without any of those. It does know
//! `serde_json`'s raw values, because arguments and results keep the text in which they arrived.

mod abilities;
mod cache;
mod call;
mod clock;
mod cost;
mod digest;
mod error;
mod failure;
mod glob;
mod hidden;
mod lineage;
mod name;
mod network;
mod principal;
mod recent;
mod secret;
mod target;
mod token;
mod token_text;

pub use abilities::{AbleClients, ClientAbilities};
pub use cache::BoundedCache;
pub use call::{
    Call, CallId, Completion, ExtensionMethod, ExtensionRequest, Operation, Outcome, Payload,
    Reference, Resume, Suspension, TaskAct, TaskHandle, TaskRequest, UpstreamIdentity,
};
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use cost::Cost;
pub use digest::{Digest, DigestError};
pub use error::{
    BoxError, BusyResource, CallError, ErrorKind, ResumeError, SuggestedCall, call_text, with_calls,
};
pub use failure::{AnswerFault, CallEffect, UnsentCause, with_causes};
pub use glob::Glob;
pub use hidden::is_hidden;
pub use lineage::{Label, Lineage};
pub use name::{ApprovalId, Domain, NameError, PromptName, RuleId, ToolId, ToolName, Uri};
pub use network::network_of;
pub use principal::{
    AgentId, ClientCredential, ClientCredentials, ClientName, OrganisationId, Principal, Right,
    Rights, Tenant, UserId,
};
pub use recent::RecentMap;
pub use secret::Secret;
pub use target::{EntryKind, Hints, Target};
pub use token::{EntryPattern, Narrowing, TokenGrant, TokenId};
pub use token_text::{DrawnToken, PresentedToken, TokenKind, is_like_token, is_token_id};
