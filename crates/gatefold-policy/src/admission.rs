use std::sync::Arc;

use gatefold_core::{Call, Digest, Label, Principal, RuleId, Target, Timestamp};

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

/// What dispatch found out about a call before asking for a decision.
#[derive(Debug)]
pub struct Facts {
    pub now: Timestamp,
    /// A person's approval for a call of this principal.
    pub approval: Option<Approval>,
    /// The label of what the session or the run has read before this call.
    pub label: Label,
    /// How many calls this one is nested in.
    pub depth: usize,
    /// The principals of the outer calls, if this call is made for a narrower one. A call is
    /// granted only if it is granted to all of them.
    pub on_behalf_of: Vec<Arc<Principal>>,
}

impl Facts {
    /// The facts of a top-level call without label or approval.
    pub fn at(now: Timestamp) -> Self {
        Self { now, approval: None, label: Label::Clean, depth: 0, on_behalf_of: Vec::new() }
    }

    pub(crate) fn approves(&self, call: &ResolvedCall) -> bool {
        self.approval.as_ref().is_some_and(|approval| {
            approval.expires_at > self.now
                && approval.tool == call.target.digest
                && approval.arguments == call.arguments_digest
        })
    }
}

/// A person's approval of one call: these arguments, for this definition of the tool.
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

/// A call that needs a person's approval. It contains the call, so that the person can be asked and
/// the call tried again.
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

/// What else has to be done for an admitted call. Nothing by default.
///
/// A permit is only valid if all its obligations are met: a caller that cannot meet one must not
/// make the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Obligations {
    masks: Vec<Box<str>>,
    preview_bytes: Option<u64>,
    is_confirmed: bool,
}

impl Obligations {
    /// Adds that a part of the result is hidden, by its JSON pointer.
    #[must_use]
    pub fn mask(mut self, pointer: &str) -> Self {
        self.masks.push(pointer.into());
        self
    }

    /// Adds that at most this many bytes of the result are shown.
    #[must_use]
    pub fn preview(self, bytes: u64) -> Self {
        Self { preview_bytes: Some(bytes), ..self }
    }

    /// Both together: everything that either one masks, and no more bytes than both allow.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.masks.extend(other.masks.iter().cloned());
        let bytes = [self.preview_bytes, other.preview_bytes];
        let preview_bytes = bytes.into_iter().flatten().min();
        Self { preview_bytes, is_confirmed: self.is_confirmed || other.is_confirmed, ..self }
    }

    /// JSON pointers (RFC 6901) to the parts of the result that must not be read.
    pub fn masks(&self) -> impl Iterator<Item = &str> {
        self.masks.iter().map(AsRef::as_ref)
    }

    /// The most bytes of the result that may be shown at once.
    pub fn preview_bytes(&self) -> Option<u64> {
        self.preview_bytes
    }

    /// Whether a person has confirmed exactly this call.
    pub fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    pub(crate) fn confirmed() -> Self {
        Self { is_confirmed: true, ..Self::default() }
    }
}

/// Proof that policy admitted one call.
///
/// Only [`Policy::admit`](crate::Policy::admit) makes one and a source consumes it, so no path
/// reaches an upstream without a decision, and none reaches it twice on the same one. It carries
/// the call it was given for, so it cannot be used for another.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    call: ResolvedCall,
    rule: RuleId,
    obligations: Obligations,
}

impl Permit {
    pub(crate) fn new(call: ResolvedCall, rule: RuleId, obligations: Obligations) -> Self {
        Self { call, rule, obligations }
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

    pub fn obligations(&self) -> &Obligations {
        &self.obligations
    }

    /// The rule that admitted the call.
    pub fn rule(&self) -> &RuleId {
        &self.rule
    }
}
