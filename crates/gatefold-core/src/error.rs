use std::borrow::Cow;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::{
    AgentId, AnswerFault, ApprovalId, CallEffect, Domain, RuleId, ToolId, ToolName, UnsentCause,
    with_causes,
};

/// Any error, kept for the operator of the gateway.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Why a call did not produce a result.
///
/// The message is for the caller, often a model that will read it and try again. What only an
/// operator may see belongs in `source`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    #[error("unknown tool `{name}`")]
    UnknownTool { name: ToolName, nearest: Vec<ToolId> },
    #[error("unknown {kind} `{name}`")]
    Unknown { kind: &'static str, name: String },
    #[error("`{tool}` is not allowed by rule `{rule}`")]
    Denied { tool: ToolId, rule: RuleId },
    /// Policy admits the call under a condition that cannot be met. Nothing was sent.
    #[error("`{tool}` was not called: policy wants {obligation}, which is not possible here")]
    Unmet { tool: ToolId, obligation: &'static str },
    /// A person has to say yes first, and the client cannot ask them.
    #[error(
        "`{tool}` needs a person's approval, which this client cannot ask for; tell the person to run \
         `gatefold approvals approve {id}` in a terminal, or `gatefold approvals deny {id}` to refuse; \
         then make the same call again, within {}",
        span(*lasts)
    )]
    NeedsApproval { tool: ToolId, id: ApprovalId, lasts: Duration },
    /// A person denied it.
    #[error("`{tool}` was not approved: {reason}")]
    NotApproved { tool: ToolId, reason: String },
    #[error("whether `{tool}` was approved could not be found out, so it was not called")]
    Approvals {
        tool: ToolId,
        #[source]
        source: BoxError,
    },
    #[error("the answer cannot be resumed: {0}")]
    Resume(ResumeError),
    #[error("`{domain}` is unavailable: {reason}")]
    Unavailable {
        domain: Domain,
        reason: String,
        #[source]
        source: Option<BoxError>,
    },
    /// Nothing was done, because a person has to sign in first.
    #[error("`{domain}` {reason}")]
    NeedsSignIn { domain: Domain, reason: String },
    /// The source failed recently and gets no calls for a while: nothing was attempted.
    #[error("`{domain}` is unavailable: {reason}")]
    CircuitOpen {
        domain: Domain,
        reason: String,
        retry_after: Duration,
        /// What it answered last, if it answered.
        fault: Option<AnswerFault>,
    },
    /// The source answered, but not with a result.
    #[error("`{domain}` gave no result: {reason}; {}", effect.advice(*retry_after))]
    NoResult {
        domain: Domain,
        fault: AnswerFault,
        effect: CallEffect,
        /// How long the source wants to be left alone, if it says so.
        retry_after: Option<Duration>,
        reason: String,
    },
    /// Nothing was sent, and the source has not failed.
    #[error("`{domain}` was not called: {reason}")]
    NotSent { domain: Domain, cause: UnsentCause, reason: String },
    /// The call was sent, and its outcome is unknown.
    #[error(
        "the connection ended while `{tool}` was under way; it may have taken effect: {reason}"
    )]
    Lost { tool: ToolId, reason: String },
    /// Nothing was sent: the source has no room for one more.
    #[error("`{domain}` {}; {}", of.reason(), of.advice())]
    Busy { domain: Domain, of: BusyResource },
    #[error("`{tool}` did not answer within {} s", limit.as_secs_f32())]
    Deadline { tool: ToolId, limit: Duration },
    #[error("the call was cancelled")]
    Cancelled,
    #[error("`{tool}` refused the call: {message}")]
    Refused {
        tool: ToolId,
        /// The protocol's error code.
        code: i64,
        message: String,
        data: Option<Box<RawValue>>,
    },
    /// The source rejected the arguments. The caller can fix them.
    #[error("`{tool}` refused the call: {message}")]
    InvalidArguments { tool: ToolId, message: String, data: Option<Box<RawValue>> },
    /// This tool does not do what was asked, and others of the same source do. A client may know them under other
    /// names than here.
    #[error("`{tool}` refused the call: {}", with_calls(message, own_names(calls)))]
    AnsweredElsewhere { tool: ToolId, message: String, calls: Vec<SuggestedCall> },
    /// The source has no such resource. Its error has no code here, because each era of the protocol
    /// has its own.
    #[error("`{tool}` refused the call: {message}")]
    MissingResource { tool: ToolId, message: String, data: Option<Box<RawValue>> },
    /// The source has questions that are not passed on to the client.
    #[error("the questions of `{tool}` were not put to the client: {reason}")]
    Unasked { tool: ToolId, reason: String },
    /// The source asked the client something, and the call failed because there was no answer.
    #[error("`{tool}` sent `{method}` to the client, and {reason}")]
    Unanswered { tool: ToolId, method: String, reason: String },
    #[error("the result of `{tool}` has {size} bytes, more than the limit: {limit}")]
    TooLarge { tool: ToolId, size: u64, limit: u64 },
    #[error("`{domain}` broke the protocol: {reason}")]
    Protocol {
        domain: Domain,
        reason: String,
        #[source]
        source: Option<BoxError>,
    },
    #[error("calls are nested deeper than the limit: {limit}")]
    TooDeep { limit: usize },
    #[error("`{tool}` is already being called further up")]
    Cycle { tool: ToolId },
    /// A call that an agent's turn makes within another call asked to delegate again.
    #[error("`{agent}` was not asked: an agent that was delegated to cannot delegate again")]
    DelegatedTwice { agent: AgentId },
    #[error("the call could not be recorded, so nothing was sent; try again shortly")]
    Audit(#[source] BoxError),
}

/// A call of another tool of the same source.
#[derive(Debug, Clone)]
pub struct SuggestedCall {
    /// What the source calls it.
    pub tool: String,
    pub arguments: Box<RawValue>,
}

/// A call in words: the name of a tool, and its arguments unless there are none.
pub fn call_text(tool: &str, arguments: &RawValue) -> String {
    match arguments.get() {
        "{}" => format!("`{tool}`"),
        arguments => format!("`{tool}` with {arguments}"),
    }
}

/// A message, and the calls that answer what it refuses.
pub fn with_calls(message: &str, calls: impl IntoIterator<Item = String>) -> String {
    let calls: Vec<_> = calls.into_iter().collect();
    if calls.is_empty() {
        message.to_owned()
    } else {
        format!("{message}; call {}", calls.join(", or "))
    }
}

fn own_names(calls: &[SuggestedCall]) -> impl Iterator<Item = String> {
    calls.iter().map(|call| call_text(&call.tool, &call.arguments))
}

/// The resource of a source that has no room for one more call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusyResource {
    /// Calls, running and waiting.
    Calls,
    /// Running calls: none of them ended before the deadline of the one that waited.
    Places,
    /// Connections, one per user: all of them are in use.
    Connections,
    /// Sessions of the user who calls, at all sources together: all of them are in use.
    OwnSessions,
    /// Sessions of all users, at all sources together.
    Sessions,
    /// Calls of one user that wait for that user's answers.
    Questions,
    /// The source's first start, which downloads what it needs.
    Download,
    /// Calls in a time, as the source's configuration limits them.
    Rate { retry_after_s: u64 },
}

impl BusyResource {
    pub fn reason(self) -> &'static str {
        match self {
            Self::Calls => "has too many calls waiting",
            Self::Places => "had no place free before the call's deadline, and nothing was sent",
            Self::Connections => "has all its connections in use by other users",
            Self::OwnSessions => {
                "has no session free for you: as many as one user may have are in use, here or at \
                 other servers"
            }
            Self::Sessions => "has no session free, as all users' sessions are in use",
            Self::Questions => "has too many calls waiting for your answers",
            Self::Download => "is still downloading what it needs to start, and nothing was sent",
            Self::Rate { .. } => "has had as many calls as its `rate` allows, and nothing was sent",
        }
    }

    /// What the caller can do.
    pub fn advice(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Calls | Self::Places => "try again shortly",
            Self::OwnSessions => "try again when one of your other calls has ended",
            Self::Connections => "try again in a minute, when one of them may be free",
            Self::Download | Self::Sessions => "try again in a minute",
            Self::Questions => "answer one of them first, then try again",
            Self::Rate { retry_after_s } => {
                return Cow::Owned(format!("try again in {retry_after_s} s"));
            }
        })
    }
}

/// Why a sealed state was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    #[error("its state is not one that was given out")]
    Forged,
    #[error("its state has expired")]
    Expired,
    #[error("it was answered already")]
    Used,
    #[error("it belongs to another caller")]
    Principal,
    #[error("it was given out for another call")]
    Call,
    #[error("the tool's definition has changed since")]
    Definition,
    #[error("its arguments have changed since")]
    Arguments,
    #[error("the call it belongs to has ended; make the call anew")]
    Ended,
}

/// The kind of an error, for metrics and audit records. Its text never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorKind(&'static str);

/// A time as people say it: in whole hours from two hours up, otherwise in minutes.
fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 2 * 3600 && seconds.is_multiple_of(3600) {
        return format!("{} h", seconds / 3600);
    }
    format!("{} min", seconds.div_ceil(60))
}

impl ErrorKind {
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl CallError {
    /// What somebody at a terminal is told. The other texts are for models and their clients.
    pub fn for_person(&self) -> String {
        match self {
            Self::NeedsApproval { tool, id, lasts } => format!(
                "`{tool}` needs a person's approval: run `gatefold approvals approve {id}`, or `gatefold \
                 approvals deny {id}` to refuse, then make the same call again, within {}",
                span(*lasts)
            ),
            other => other.to_string(),
        }
    }

    /// The tool that was called, if the error names it.
    pub fn tool_mut(&mut self) -> Option<&mut ToolId> {
        match self {
            Self::Denied { tool, .. }
            | Self::Unmet { tool, .. }
            | Self::NeedsApproval { tool, .. }
            | Self::NotApproved { tool, .. }
            | Self::Approvals { tool, .. }
            | Self::Lost { tool, .. }
            | Self::Deadline { tool, .. }
            | Self::Refused { tool, .. }
            | Self::InvalidArguments { tool, .. }
            | Self::AnsweredElsewhere { tool, .. }
            | Self::MissingResource { tool, .. }
            | Self::Unasked { tool, .. }
            | Self::Unanswered { tool, .. }
            | Self::TooLarge { tool, .. }
            | Self::Cycle { tool } => Some(tool),
            _ => None,
        }
    }

    /// The message for a caller who must not learn addresses, paths or what a source said that is no
    /// answer: what happened, and what to do.
    pub fn for_caller(&self) -> String {
        match self {
            Self::Unavailable { domain, .. } | Self::CircuitOpen { domain, .. } => {
                format!("`{domain}` is temporarily unavailable: it is unreachable")
            }
            Self::NoResult { domain, fault, effect, retry_after, .. } => {
                format!("`{domain}` {fault}; {}", effect.advice(*retry_after))
            }
            // Only a model has a user to tell.
            Self::NeedsSignIn { .. } => {
                format!("{self}; tell the user, and call again once that is done")
            }
            Self::NotSent { domain, cause, .. } => format!("`{domain}` was not called: {cause}"),
            Self::Lost { tool, .. } => format!(
                "the connection ended while `{tool}` was under way; it may have taken effect"
            ),
            Self::Protocol { domain, .. } => format!("`{domain}` broke the protocol"),
            other => other.to_string(),
        }
    }

    /// All that is known of a failure of the gateway or its source, for people: the message and its
    /// causes. None for what the caller alone has to do with.
    pub fn for_operator(&self) -> Option<String> {
        let concerns = matches!(
            self,
            Self::Unavailable { .. }
                | Self::NoResult { .. }
                | Self::NotSent { .. }
                | Self::Lost { .. }
                | Self::Protocol { .. }
                | Self::Approvals { .. }
                | Self::Audit(_)
        );
        concerns.then(|| with_causes(self))
    }

    pub fn kind(&self) -> ErrorKind {
        ErrorKind(match self {
            Self::UnknownTool { .. } | Self::Unknown { .. } => "unknown",
            Self::Denied { .. } | Self::Unmet { .. } => "denied",
            Self::NeedsApproval { .. } | Self::NotApproved { .. } | Self::Approvals { .. } => {
                "approval"
            }
            Self::Resume(_) => "resume",
            Self::Unavailable { .. } | Self::CircuitOpen { .. } => "unavailable",
            Self::NoResult { .. } => "no_result",
            Self::NotSent { .. } => "not_sent",
            Self::NeedsSignIn { .. } => "sign_in",
            Self::Lost { .. } => "lost",
            Self::Busy { .. } => "busy",
            Self::Deadline { .. } => "deadline",
            Self::Cancelled => "cancelled",
            Self::Refused { .. }
            | Self::InvalidArguments { .. }
            | Self::AnsweredElsewhere { .. }
            | Self::MissingResource { .. } => "refused",
            Self::Unasked { .. } | Self::Unanswered { .. } => "unanswered",
            Self::TooLarge { .. } => "too_large",
            Self::Protocol { .. } => "protocol",
            Self::TooDeep { .. } | Self::Cycle { .. } | Self::DelegatedTwice { .. } => "nesting",
            Self::Audit(_) => "audit",
        })
    }
}
