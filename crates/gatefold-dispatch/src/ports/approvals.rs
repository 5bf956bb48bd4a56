//! The port of approvals: what calls ask of people who are elsewhere.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::{
    ApprovalId, BoxError, ClientName, Digest, Domain, Principal, RuleId, Timestamp, ToolId,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::timeout;

/// How long a backend that only waits may take to say that somebody has decided.
const SETTLED: Duration = Duration::from_millis(100);

/// What an approval is bound to: the caller, the tool's definition, and the exact arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApprovalKey {
    /// A digest of the subject, the active organisation, the agent and what the client sent for
    /// sources. A token is no part of it: an approval outlives the token that asked.
    pub principal: Digest,
    pub tool: ToolId,
    pub definition: Digest,
    pub arguments: Digest,
}

/// A request for approval, as shown to a person. Its `Debug` leaves out the arguments, which may
/// contain secrets.
#[derive(Clone)]
pub struct NewApproval {
    pub key: ApprovalKey,
    pub principal: Arc<Principal>,
    /// The name that the client gives itself.
    pub client: Option<ClientName>,
    pub tool: ToolId,
    pub domain: Domain,
    /// The rule that requires approval.
    pub rule: RuleId,
    /// As they came, or the beginning of very large ones as a JSON string.
    pub arguments: Box<RawValue>,
    /// Their full length.
    pub arguments_bytes: usize,
    pub at: Timestamp,
    pub expires_at: Timestamp,
}

impl fmt::Debug for NewApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, rule, arguments_bytes, at, expires_at, .. } = self;
        f.debug_struct("NewApproval")
            .field("tool", tool)
            .field("rule", rule)
            .field("arguments_bytes", arguments_bytes)
            .field("at", at)
            .field("expires_at", expires_at)
            .finish_non_exhaustive()
    }
}

/// The state of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingApproval {
    pub id: ApprovalId,
    pub state: ApprovalState,
    /// Until when a pending one can be decided, or a decision is valid.
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalState {
    Pending,
    /// With the name of the person who decided.
    Approved {
        by: Arc<str>,
    },
    Denied {
        by: Arc<str>,
        reason: Option<String>,
    },
}

/// What a person decides about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// With the name of the person who decides.
    Approve { by: Arc<str> },
    /// The reason is given to whoever asked.
    Deny { by: Arc<str>, reason: Option<String> },
}

/// What has become of a request, for a call that waits for it in no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Settlement {
    /// Nobody has decided yet.
    #[default]
    Open,
    Decided,
    /// It has expired, or its approval is used.
    Over,
}

impl Settlement {
    /// `standing` is none of one that can no longer be decided.
    pub fn of(standing: Option<&StandingApproval>) -> Self {
        match standing.map(|standing| &standing.state) {
            None => Self::Over,
            Some(ApprovalState::Pending) => Self::Open,
            Some(ApprovalState::Approved { .. } | ApprovalState::Denied { .. }) => Self::Decided,
        }
    }
}

/// Which requests to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalFilter {
    /// Those that wait for a decision.
    Pending,
    /// All on record, including those used or expired lately.
    Every,
}

/// A request on record, for people. Its arguments may hold secrets, so it has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub struct ApprovalRecord {
    pub id: String,
    /// `pending`, `approved`, `denied`, `used` or `expired`.
    pub state: String,
    /// The tool's id.
    pub tool: String,
    pub domain: String,
    /// The rule that requires approval.
    pub rule: String,
    pub user: String,
    pub organisation: Option<String>,
    pub agent: Option<String>,
    /// The name that the client gives itself.
    pub client: Option<String>,
    /// The arguments as they came, or the beginning of very large ones as a JSON string. None once
    /// the request is used or has expired.
    pub arguments: Option<Box<RawValue>>,
    /// The full length of the arguments, in bytes.
    pub arguments_bytes: u64,
    pub arguments_digest: String,
    pub requested_at: Timestamp,
    /// Until when a pending request can be decided, or a decision is valid.
    pub expires_at: Timestamp,
    pub decided_by: Option<String>,
    pub decided_at: Option<Timestamp>,
    pub reason: Option<String>,
    pub used_at: Option<Timestamp>,
}

/// Keeps requests for approval until they are decided, and decisions until they are used or expire.
///
/// A call needs the first three methods. The others are for whoever decides, and for who waits for it;
/// where a backend has other ways for that, it leaves them out.
pub trait Approvals: Send + Sync + 'static {
    /// Keeps a request, unless one with the same key is open: then it returns that one. The
    /// requests of one principal are limited.
    fn request(&self, request: NewApproval) -> BoxFuture<'_, Result<ApprovalId, BoxError>>;

    /// The request with a key that has neither expired nor been used, the last decided first.
    fn find<'a>(
        &'a self,
        key: &'a ApprovalKey,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>>;

    /// Uses up an approval. Only one of all concurrent callers gets true, because one approval is
    /// good for one call.
    fn consume<'a>(
        &'a self,
        id: &'a ApprovalId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, BoxError>>;

    /// Waits until somebody has decided about a request, in whatever process. `None` if it can no
    /// longer be decided: it has expired, or its approval is used.
    fn wait<'a>(
        &'a self,
        id: &'a ApprovalId,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>> {
        let _ = id;
        Box::pin(std::future::ready(Err("nobody waits for approvals here".into())))
    }

    /// What has become of a request, without waiting.
    fn settlement<'a>(&'a self, id: &'a ApprovalId) -> BoxFuture<'a, Result<Settlement, BoxError>> {
        Box::pin(async {
            match timeout(SETTLED, self.wait(id)).await {
                Err(_) => Ok(Settlement::Open),
                Ok(decided) => Ok(Settlement::of(decided?.as_ref())),
            }
        })
    }

    /// The requests on record, the oldest first, at most `limit`.
    fn list(
        &self,
        of: ApprovalFilter,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ApprovalRecord>, BoxError>> {
        let _ = (of, limit);
        Box::pin(std::future::ready(Err("approvals are not listed here".into())))
    }

    /// Decides about a waiting request, by its id as a person typed it, and returns it as it is now.
    /// Fails if there is no such request, or it waits no longer.
    fn decide<'a>(
        &'a self,
        id: &'a str,
        decision: ApprovalDecision,
    ) -> BoxFuture<'a, Result<ApprovalRecord, BoxError>> {
        let _ = (id, decision);
        Box::pin(std::future::ready(Err("approvals are not decided here".into())))
    }
}

/// Nobody decides anything elsewhere, and nothing is stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoApprovals;

impl Approvals for NoApprovals {
    fn request(&self, _: NewApproval) -> BoxFuture<'_, Result<ApprovalId, BoxError>> {
        Box::pin(async { Err("approvals are not kept here".into()) })
    }

    fn find<'a>(
        &'a self,
        _: &'a ApprovalKey,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>> {
        Box::pin(async { Ok(None) })
    }

    fn consume<'a>(
        &'a self,
        _: &'a ApprovalId,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<bool, BoxError>> {
        Box::pin(async { Ok(false) })
    }
}
