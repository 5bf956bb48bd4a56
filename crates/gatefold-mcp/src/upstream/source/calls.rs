//! Calls: the request, its result, and whether it may be sent again.

use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use gatefold_core::{BusyResource, CallError, Operation, Outcome, Target, UpstreamIdentity};
use gatefold_dispatch::{CallContext, SourceState};
use gatefold_policy::Permit;
use tokio::time::timeout_at;

use super::super::back_channel::BackChannel;
use super::super::message::Reply;
use super::super::operation::{is_null, lifetime, outcome, request_for};
use super::super::request::WireError;
use super::super::session::{SessionCall, UpstreamSession};
use super::{McpSource, StartReason};
use crate::protocol::{Era, RpcError, codes};

/// The shortest pause between two checks of a session's era.
const DOUBTS: Duration = Duration::from_secs(30);

/// How long before its deadline a call learns that its source is still downloading.
const LAST_WORD: Duration = Duration::from_millis(50);

/// What to do after an attempt.
enum AttemptOutcome {
    Ended(Result<Outcome, CallError>),
    /// The server did nothing about it, and another session may work.
    Again(WireError),
}

impl McpSource {
    /// Calls. Where somebody has to sign in first and the client can open a page for its user, that
    /// is asked for, and the call is made after it.
    pub(super) async fn call(
        self: Arc<Self>,
        permit: Permit,
        mut context: CallContext,
    ) -> Result<Outcome, CallError> {
        let result = self.clone().call_as_is(&permit, &context).await;
        if !matches!(result, Err(CallError::NeedsSignIn { .. }))
            || !context.sign_in_by_link(&*self.credentials, &self.settings.domain).await
        {
            return result;
        }
        self.call_as_is(&permit, &context).await
    }

    async fn call_as_is(
        self: Arc<Self>,
        permit: &Permit,
        context: &CallContext,
    ) -> Result<Outcome, CallError> {
        let target = permit.target().clone();
        match &*permit.call().operation {
            Operation::Subscribe(_) => return self.subscribe(&target, &context.identity).await,
            Operation::Unsubscribe(_) => return self.unsubscribe(&target, &context.identity).await,
            _ => {}
        }
        let mut first_error = None;
        loop {
            let session = match (self.session_in_time(context).await, first_error.take()) {
                (Ok(session), first) => {
                    first_error = first;
                    session
                }
                // The result of the first attempt says more than why there was no second one.
                (Err(CallError::CircuitOpen { .. }), Some(first)) => {
                    return Err(self.call_error(first, &target, context.result_bytes));
                }
                (Err(error), _) => return Err(error),
            };
            match self.attempt(&session, permit, context).await {
                AttemptOutcome::Ended(result) => return result,
                AttemptOutcome::Again(error) if first_error.is_some() => {
                    return Err(self.call_error(error, &target, context.result_bytes));
                }
                AttemptOutcome::Again(error) => first_error = Some(error),
            }
        }
    }

    /// The session for a call. A call that waits for a download until its deadline learns why it
    /// failed.
    async fn session_in_time(
        self: &Arc<Self>,
        context: &CallContext,
    ) -> Result<Arc<UpstreamSession>, CallError> {
        let peer = Some(&*context.caller.peer);
        let mut session = pin!(self.session(&context.identity, StartReason::Call, peer));
        let told_at = context.deadline.checked_sub(LAST_WORD).unwrap_or(context.deadline);
        if let Ok(session) = timeout_at(told_at, &mut session).await {
            return session;
        }
        if self.lock().sessions.downloading().is_some() {
            let domain = self.settings.domain.clone();
            return Err(CallError::Busy { domain, of: BusyResource::Download });
        }
        session.await
    }

    async fn attempt(
        self: &Arc<Self>,
        session: &Arc<UpstreamSession>,
        permit: &Permit,
        context: &CallContext,
    ) -> AttemptOutcome {
        let (call, target) = (permit.call(), permit.target());
        let era = session.era();
        let Some(mut asked) = request_for(&call.operation, target) else {
            let error = self.unavailable("it cannot be asked for this".to_owned());
            return AttemptOutcome::Ended(Err(error));
        };
        if let (Era::Stateless, Some(resume)) = (era, &call.resume) {
            asked.params.input_responses =
                Some(&*resume.answers).filter(|answers| !is_null(answers));
            asked.params.request_state = resume.state.as_deref();
        }
        let peer = (era == Era::Handshake).then(|| context.caller.peer.clone());
        let log_level = context.caller.meta.log_level.as_deref();
        let back_channel = BackChannel::new(context.caller.events.clone(), peer, log_level);
        let back_channel = Arc::new(back_channel.of(context.caller.peer.client()));
        let request = SessionCall {
            method: asked.method,
            name: asked.name,
            headers: self.mirrored(&context.identity, session, &call.operation, target),
            params: asked.params,
            caller: &context.caller.meta,
            memory: context.caller.memory.clone(),
            capabilities: context.caller.peer.capabilities().raw(),
            back_channel,
            is_heard: context.caller.events.hears_progress(),
            limit: context.result_bytes,
            room: context.room.clone(),
        };
        let watch = session.liveness.watch(context.deadline);
        let error = match session.call(request).await {
            Ok(reply) => {
                watch.answered();
                if let Reply::Error(error) = &reply
                    && is_of_another_era(error, era)
                    && self.speaks_another_era(&context.identity, session).await
                {
                    return AttemptOutcome::Again(WireError::Forgotten);
                }
                self.note_answer();
                let outcome = outcome(reply, &call.operation, target, era);
                note_task(session, &call.operation, &outcome);
                return AttemptOutcome::Ended(outcome);
            }
            Err(error) => error,
        };
        let is_unharmed = match &error {
            WireError::NotSent(_) | WireError::Forgotten | WireError::Taken => true,
            WireError::Lost(_) => asked.is_repeatable,
            WireError::TurnedAway(_) => self.speaks_another_era(&context.identity, session).await,
            _ => false,
        };
        if session.wire.is_spent(&error) {
            self.forget(&context.identity, session, &error);
        }
        if is_unharmed {
            AttemptOutcome::Again(error)
        } else {
            AttemptOutcome::Ended(Err(self.call_error(error, target, context.result_bytes)))
        }
    }

    /// The headers that mirror a tool's arguments.
    fn mirrored(
        &self,
        identity: &UpstreamIdentity,
        session: &UpstreamSession,
        operation: &Operation,
        target: &Target,
    ) -> Vec<(::http::HeaderName, ::http::HeaderValue)> {
        let Operation::Tool { arguments, .. } = operation else { return Vec::new() };
        if session.era() == Era::Handshake || !session.wire.has_headers() {
            return Vec::new();
        }
        let own = self.own_list(identity).map(|own| own.mirroring);
        let shared = || self.mirroring.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mirroring = own.unwrap_or_else(shared);
        mirroring.get(&target.name).map_or_else(Vec::new, |tool| tool.headers(arguments.get()))
    }

    /// Whether a server that turned a request away speaks another era by now. A remote server may
    /// be updated without any connection ending. If so, the session is dropped, so that the next
    /// one uses the new era.
    async fn speaks_another_era(
        self: &Arc<Self>,
        identity: &UpstreamIdentity,
        session: &Arc<UpstreamSession>,
    ) -> bool {
        if !session.wire.has_headers() || !session.doubt(DOUBTS) {
            return false;
        }
        let era = session.era();
        let Ok(found) = self.probe(identity).await else { return false };
        let is_other = found.era() != era;
        found.close().await;
        if is_other {
            self.forget(identity, session, &WireError::Forgotten);
        }
        is_other
    }

    pub(super) fn call_error(&self, error: WireError, target: &Target, limit: u64) -> CallError {
        match error {
            WireError::TooLarge(size) => {
                CallError::TooLarge { tool: target.id.clone(), size, limit }
            }
            WireError::Broken(reason) => {
                let domain = self.settings.domain.clone();
                CallError::Protocol { domain, reason, source: None }
            }
            WireError::Lost(reason) => CallError::Lost { tool: target.id.clone(), reason },
            WireError::Refused(refusal) | WireError::TurnedAway(refusal) => {
                let reason = refusal.to_string();
                self.note_refusal(&reason);
                CallError::NoResult {
                    domain: self.settings.domain.clone(),
                    fault: refusal.fault(),
                    effect: refusal.effect(target.hints),
                    retry_after: refusal.retry_after,
                    reason,
                }
            }
            WireError::NoCredentials(reason) => {
                self.note_refusal(&reason);
                self.unavailable(reason)
            }
            WireError::NeedsSignIn(reason) => {
                self.note_refusal(&reason);
                CallError::NeedsSignIn { domain: self.settings.domain.clone(), reason }
            }
            WireError::Full => {
                let domain = self.settings.domain.clone();
                CallError::Busy { domain, of: BusyResource::Calls }
            }
            WireError::NotSent(_) | WireError::Forgotten | WireError::Taken => {
                self.unavailable(error.to_string())
            }
        }
    }

    /// Shows the server's refusal until a call is answered again.
    fn note_refusal(&self, reason: &str) {
        let error = &mut self.lock().status.error;
        if error.as_deref() != Some(reason) {
            tracing::warn!(domain = %self.settings.domain, reason, "a call was refused");
            *error = Some(reason.to_owned());
        }
    }

    fn note_answer(&self) {
        let status = &mut self.lock().status;
        if status.state == SourceState::Running {
            status.error = None;
        }
    }
}

/// Keeps a session that gave out a task. Later requests for the task do not extend its life.
fn note_task(
    session: &UpstreamSession,
    operation: &Operation,
    outcome: &Result<Outcome, CallError>,
) {
    if let (Ok(Outcome::Task(task)), false) = (outcome, matches!(operation, Operation::Task(_))) {
        session.keep_for(lifetime(&task.json));
    }
}

/// Whether an error may come from a server that no longer speaks the session's era. Each of these
/// errors means that nothing was done.
fn is_of_another_era(error: &RpcError, era: Era) -> bool {
    match era {
        Era::Handshake => error.is_malformed,
        Era::Stateless => {
            let is_known = codes::is_known_to_the_stateless_era(error.code);
            error.code == codes::METHOD_NOT_FOUND || error.is_malformed && !is_known
        }
    }
}
