//! What a record of a call has, and of a meta-call that only discovered.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{
    CallId, ClientName, Digest, Domain, ErrorKind, Principal, RuleId, Timestamp, ToolId,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// How long an answer waits for the end of its record, or for the record of what was not sent.
pub const RECORD_WAIT: Duration = Duration::from_secs(5);

/// The opening half of a record. It has the digest and size of the arguments, never their text.
#[derive(Debug, Clone)]
pub struct CallOpened {
    pub id: CallId,
    pub parent: Option<CallId>,
    pub at: Timestamp,
    pub principal: Arc<Principal>,
    /// The name that the client gives itself.
    pub client: Option<ClientName>,
    /// The kind of operation: `tool`, `prompt`, `resource` and so on.
    pub operation: &'static str,
    /// The requested name or address, as the caller wrote it.
    pub subject: String,
    pub domain: Option<Domain>,
    /// The tool, prompt or resource that the name was resolved to.
    pub tool: Option<ToolId>,
    pub tool_digest: Option<Digest>,
    pub rule: Option<RuleId>,
    /// Who approved or denied the call, if its rule required that.
    pub decided_by: Option<DecidedBy>,
    pub arguments_digest: Digest,
    pub arguments_bytes: usize,
}

/// The closing half of a record.
#[derive(Debug, Clone)]
pub struct CallClosed {
    pub id: CallId,
    pub at: Timestamp,
    pub took: Duration,
    pub outcome: AuditOutcome,
    /// Why it failed, for the operator: see `CallError::for_operator`.
    pub reason: Option<String>,
    pub result_bytes: usize,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditOutcome {
    Done,
    /// The source answered with an error of its own.
    ToolError,
    Failed(ErrorKind),
    Cancelled,
    /// It waits for an answer until the given time.
    Suspended(Timestamp),
    Task,
}

impl AuditOutcome {
    /// The name under which it is counted: for a failure, its kind.
    pub(crate) fn counted_as(self) -> &'static str {
        match self {
            Self::Failed(kind) => kind.as_str(),
            other => other.as_str(),
        }
    }

    /// The name in the record. In addition, recovery writes `interrupted` for a record that a crash
    /// left open and `expired` for one that nobody resumed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::ToolError => "tool_error",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Suspended(_) => "suspended",
            Self::Task => "task",
        }
    }
}

/// A meta-call that discovered: which one, by whom, and how long the answer was.
#[derive(Debug, Clone)]
pub struct DiscoveryRecord {
    pub at: Timestamp,
    pub principal: Arc<Principal>,
    /// What the client calls itself.
    pub client: Option<ClientName>,
    pub meta_tool: String,
    pub arguments_digest: Digest,
    pub result_bytes: usize,
    pub is_error: bool,
    /// The tools whose schemas were in the answer.
    pub shown: Vec<String>,
}

/// What a meta-call discovered, before it is on record.
#[derive(Debug)]
pub struct Discovery<'a> {
    pub meta_tool: &'a str,
    pub arguments: &'a RawValue,
    pub result_bytes: usize,
    pub is_error: bool,
    /// The tools whose schemas were in the answer.
    pub shown: Vec<String>,
}

/// Who approved or denied a call that needed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The person at the client that made the call.
    Client,
    /// A person who decided elsewhere, by their name in the approvals' store.
    Person(Arc<str>),
}

impl DecidedBy {
    /// The name in the record.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Client => "client",
            Self::Person(name) => name,
        }
    }
}

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}
