//! The port for requests for a person's approval, and for the decisions about them.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{
    ApprovalId, BoxError, ClientName, Digest, Domain, Principal, RuleId, Timestamp, ToolId,
};
use serde_json::value::RawValue;

/// What an approval is bound to: the caller, the tool's definition, and the exact arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApprovalKey {
    /// A digest of the subject, the active organisation and the agent.
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

/// Keeps requests for approval until they are decided, and decisions until they are used or expire.
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
