use std::sync::Arc;

use gatefold_core::{Call, Digest, RuleId, Target, Timestamp};

/// A call whose name has been resolved in its principal's view.
#[derive(Debug)]
pub struct ResolvedCall {
    call: Call,
    target: Arc<Target>,
    arguments_digest: Digest,
}

impl ResolvedCall {
    pub fn new(call: Call, target: Arc<Target>, arguments_digest: Digest) -> Self {
        Self { call, target, arguments_digest }
    }

    pub fn call(&self) -> &Call {
        &self.call
    }

    pub fn target(&self) -> &Arc<Target> {
        &self.target
    }

    pub fn arguments_digest(&self) -> Digest {
        self.arguments_digest
    }
}

/// What dispatch found out about a call before it asked for a decision.
#[derive(Debug)]
pub struct Facts {
    pub now: Timestamp,
    /// An approval that a person gave to a call of this principal.
    pub approval: Option<Approval>,
}

impl Facts {
    pub(crate) fn approves(&self, call: &ResolvedCall) -> bool {
        self.approval.as_ref().is_some_and(|approval| {
            approval.expires_at > self.now
                && approval.tool == call.target.digest
                && approval.arguments == call.arguments_digest
        })
    }
}

/// A person's yes to one call: these arguments, for this definition of the tool.
#[derive(Debug, Clone)]
pub struct Approval {
    pub tool: Digest,
    pub arguments: Digest,
    pub expires_at: Timestamp,
}

/// What policy decided.
#[derive(Debug)]
#[must_use]
pub enum Admission {
    Granted(Permit),
    Ask(ApprovalRequest),
    Denied(Denial),
}

/// A call that waits for a person's yes. It hands the call back to whoever asks them.
#[derive(Debug)]
pub struct ApprovalRequest {
    pub call: ResolvedCall,
    pub rule: RuleId,
}

/// A call that will not be made.
#[derive(Debug)]
pub struct Denial {
    pub rule: RuleId,
    /// Whether the caller must not learn that the tool exists.
    pub hidden: bool,
}

/// Proof that policy admitted one call.
///
/// Only [`Policy::admit`](crate::Policy::admit) makes one and a source consumes it, so no path
/// reaches an upstream without a decision, and none reaches it twice on the same one. It carries
/// the call it was given for, so it cannot serve another.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    call: ResolvedCall,
    rule: RuleId,
}

impl Permit {
    pub(crate) fn new(call: ResolvedCall, rule: RuleId) -> Self {
        Self { call, rule }
    }

    pub fn call(&self) -> &Call {
        &self.call.call
    }

    pub fn target(&self) -> &Arc<Target> {
        &self.call.target
    }

    pub fn arguments_digest(&self) -> Digest {
        self.call.arguments_digest
    }

    /// The rule that admitted the call.
    pub fn rule(&self) -> &RuleId {
        &self.rule
    }
}
