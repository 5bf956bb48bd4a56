//! One call, from its name to the end of its record.
//!
//! An [`ActiveCall`] goes through the files of this folder in order:
//!
//! 1. [`resolve`]: what its name means in the caller's view.
//! 2. [`decide`]: the facts, and what policy says; [`consent`]: whether a person has approved it.
//! 3. [`record`]: its record opens, before anything is sent.
//! 4. [`send`]: past circuit breaker and bulkhead to its source, under its deadline.
//! 5. [`ask`]: what its source asks the client meanwhile; [`park`]: how it waits for a client that
//!    answers with another request, or goes on as a [`task`] that its client comes back for.
//! 6. [`settle`]: its outcome, sealed where it is to continue, and the end of its record.
//!
//! [`nest`] begins the calls that a source makes during one of its own: they take the same way.
//!
//! Each call has a span, `call`, at debug level: the call's id, its source's domain, its tool's id
//! and its outcome, never its arguments. If nobody listens, it costs reading one number.

mod ask;
mod consent;
mod decide;
mod nest;
mod park;
mod record;
mod resolve;
mod send;
mod settle;
mod task;

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{Request, ResolvedEntry};
use gatefold_core::{
    Call, CallError, ClientName, Label, Operation, Outcome, Resume, Target, Timestamp,
};
use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use self::decide::{Admitted, Decision};
use crate::limits::timer::Timer;
use crate::questions::QuestionCount;
use crate::records::AuditOutcome;
use crate::{Caller, PinnedTurn, QuestionMode};

/// A call on its way: what it asks for, in whose turn, for whom, and what remains of its time.
struct ActiveCall {
    turn: PinnedTurn,
    operation: Arc<Operation>,
    /// What its name was resolved to. None if the turn's view has no such entry.
    entry: Option<ResolvedEntry>,
    caller: Caller,
    /// The name that the client of the outermost call gives itself.
    client: Option<ClientName>,
    /// Its time, within that of the calls that led to it.
    timer: Arc<Timer>,
    /// That time without the pauses for questions.
    limit: Duration,
    /// The questions of the outermost call and all that it led to.
    questions: QuestionCount,
    /// How long a question may stay open if the outermost client answers with another request.
    patience: Option<Duration>,
}

impl PinnedTurn {
    /// Makes one call, or resumes one.
    ///
    /// A client that can be asked at once answers the source's questions within the call. Any other
    /// gets them as [`Outcome::Suspended`], and repeats its call.
    ///
    /// A request that carries its resolved entry is not resolved again if this turn's view shows
    /// that entry. Any other request is resolved once.
    ///
    /// Calls of a turn within a call ([`NestedCaller::delegated_to`](crate::NestedCaller)) are
    /// nested in it.
    pub async fn call(
        &self,
        request: impl Into<Request>,
        resume: Option<Resume>,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        if let Some(delegation) = &self.delegation {
            return delegation.within.call_in(self.clone(), request.into(), resume, caller).await;
        }
        let request = self.verified(request.into());
        let call = ActiveCall::outermost(self.clone(), request, caller);
        // Boxed because the futures that wait for it are moved as a whole, and more than once.
        Box::pin(call.run(resume)).await
    }
}

impl ActiveCall {
    /// A call that no call of this dispatcher led to.
    fn outermost(turn: PinnedTurn, request: Request, caller: Caller) -> Self {
        let Request { operation, entry } = request;
        let limit = turn.runtime.call_deadline(entry.as_ref().map(ResolvedEntry::domain));
        Self {
            turn,
            operation,
            entry,
            client: caller.meta.client.clone(),
            caller,
            timer: Timer::until(Instant::now() + limit),
            limit,
            questions: QuestionCount::default(),
            patience: None,
        }
    }

    /// Makes the call, and answers its source's questions if its client can be asked at once.
    async fn run(self, mut resume: Option<Resume>) -> Result<Outcome, CallError> {
        let mut round = 0;
        loop {
            let suspension = match self.make_round(resume.take()).await? {
                Outcome::Suspended(suspension) => suspension,
                outcome => return Ok(outcome),
            };
            if self.caller.peer.question_mode() != QuestionMode::Live {
                return self.leave_to_client(suspension).await;
            }
            resume = Some(self.ask(suspension, round).await?);
            round += 1;
        }
    }

    /// Goes from the decision to an outcome, which may be a question for the client.
    async fn make_round(&self, resume: Option<Resume>) -> Result<Outcome, CallError> {
        let call = self.call(resume);
        let span = tracing::debug_span!(
            "call",
            id = %call.id,
            domain = Empty,
            tool = Empty,
            outcome = Empty
        );
        let ended = async {
            let result = self.decide_and_make(call).await;
            Span::current().record("outcome", outcome_word(&result));
            result
        };
        ended.instrument(span).await
    }

    async fn decide_and_make(&self, call: Call) -> Result<Outcome, CallError> {
        let own_id = call.id;
        let Decision { mut record, sealed, admitted } = self.decide(call).await;
        if !matches!(admitted, Ok(Admitted::Parked(..)) | Err(CallError::Resume(_))) {
            self.release(record.id, sealed.as_ref());
        }
        let error = match admitted {
            Ok(Admitted::Ready(permit)) => return self.send(permit, record).await,
            Ok(Admitted::Parked(permit, running)) => {
                // The source already has the permit from the first time; this one proves that the
                // call is still allowed.
                return self.take_up(running, &permit, record).await;
            }
            // An approval is bound to the credential that the client sends, so one without it would be good for nothing.
            Ok(Admitted::NeedsApproval(call)) if self.awaits_client(call.target()) => {
                let reason = "wants a credential, which the client has to send with its request";
                CallError::NeedsSignIn {
                    domain: call.target().domain.clone(),
                    reason: reason.to_owned(),
                }
            }
            Ok(Admitted::NeedsApproval(call)) => {
                if let Some((suspension, expires_at)) = self.ask_approval(&call, &record) {
                    self.record_unsent(record, AuditOutcome::Suspended(expires_at)).await;
                    return Ok(Outcome::Suspended(suspension));
                }
                self.request_approval(&call, &record).await
            }
            Err(error) => self.with_suggestions(error).await,
        };
        if matches!(error, CallError::Resume(_)) {
            // The suspended call's record stays, because it may still be resumed unchanged.
            record.id = own_id;
        }
        self.record_unsent(record, AuditOutcome::Failed(error.kind())).await;
        Err(error)
    }

    /// The call in the form that policy and sources know, with an id of its own.
    fn call(&self, resume: Option<Resume>) -> Call {
        Call {
            id: self.turn.dispatcher.next_call_id(),
            parent: self.caller.lineage.parent,
            principal: self.turn.principal.clone(),
            operation: self.operation.clone(),
            resume,
        }
    }

    /// The label for the call when it is made: its lineage's, merged with everything that the
    /// session has read in the meantime.
    fn label(&self) -> Label {
        self.caller.lineage.label.merged(self.caller.label.get())
    }

    fn count(&self, outcome: &'static str) {
        self.turn.dispatcher.counters.count(outcome);
    }

    fn now(&self) -> Timestamp {
        self.turn.now()
    }
}

/// The label of a target's results.
fn label_of(target: &Target) -> Label {
    if target.hints.is_open_world() { Label::OpenWorld } else { Label::Clean }
}

/// The name of a call's outcome in counters.
fn outcome_word(result: &Result<Outcome, CallError>) -> &'static str {
    match result {
        Ok(Outcome::Done(payload)) if payload.is_error => "tool_error",
        Ok(Outcome::Done(_)) => "done",
        Ok(Outcome::Suspended(_)) => "suspended",
        Ok(Outcome::Task(_)) => "task",
        Err(error) => error.kind().as_str(),
    }
}
