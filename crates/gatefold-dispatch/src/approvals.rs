//! The port behind which requests for a person's yes are kept, and the decisions about them.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{
    ApprovalId, BoxError, ClientName, Digest, Domain, Principal, RuleId, Timestamp, ToolId,
};
use serde_json::value::RawValue;

/// What a yes is bound to: whoever asks, the tool as it was then, and these very arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApprovalKey {
    /// Of the subject, the active organisation and the agent.
    pub principal: Digest,
    pub tool: ToolId,
    pub definition: Digest,
    pub arguments: Digest,
}

/// A request for a yes, as a person is to be shown it. Its `Debug` leaves out the arguments, which
/// may hold secrets.
#[derive(Clone)]
pub struct NewApproval {
    pub key: ApprovalKey,
    pub principal: Arc<Principal>,
    /// What the client calls itself.
    pub client: Option<ClientName>,
    pub tool: ToolId,
    pub domain: Domain,
    /// The rule that wants somebody's yes.
    pub rule: RuleId,
    /// As they came; of very large ones the beginning, as a JSON text.
    pub arguments: Box<RawValue>,
    /// How long they were.
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

/// What became of a request so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingApproval {
    pub id: ApprovalId,
    pub state: ApprovalState,
    /// Until when a pending one may be decided, and a decision holds.
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalState {
    Pending,
    /// By the name of whoever decided.
    Approved {
        by: Arc<str>,
    },
    Denied {
        by: Arc<str>,
        reason: Option<String>,
    },
}

/// Where requests for a person's yes are kept until they are decided, and the decisions until they
/// are used or expire.
pub trait Approvals: Send + Sync + 'static {
    /// Keeps a request, unless one of the same key is open: then it is that one. Requests of one
    /// principal have a limit.
    fn request(&self, request: NewApproval) -> BoxFuture<'_, Result<ApprovalId, BoxError>>;

    /// The request of a key that has neither expired nor been used, the one decided last first.
    fn find<'a>(
        &'a self,
        key: &'a ApprovalKey,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>>;

    /// Uses up a yes. Of all who try, for one alone this is true: one yes serves one call.
    fn consume<'a>(
        &'a self,
        id: &'a ApprovalId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, BoxError>>;
}

/// Nobody decides anything elsewhere, and nothing is kept.
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
