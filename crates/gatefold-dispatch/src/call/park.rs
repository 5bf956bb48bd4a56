//! Calls whose sources wait for answers that their clients bring by repeating the request.

use gatefold_core::{BusyResource, CallError, CallId, Outcome, ResumeError};
use gatefold_policy::Permit;
use serde_json::value::RawValue;

use super::ActiveCall;
use super::record::OpenRecord;
use super::settle::{BoundCall, SettledCall, check_size};
use crate::Dispatcher;
use crate::parking::{ParkingRefusal, RunningCall, RunningStep};
use crate::records::{AuditOutcome, CallOpened};
use crate::seal::{SealedCall, SealedState};

impl ActiveCall {
    /// Follows a call to its end, or to a question that its client will answer with another
    /// request.
    pub(super) async fn follow(
        &self,
        mut running: RunningCall,
        record: OpenRecord,
        bound: BoundCall,
        limit: u64,
    ) -> Result<Outcome, CallError> {
        let step = tokio::select! {
            biased;
            () = self.caller.cancel.cancelled() => RunningStep::Ended(Err(CallError::Cancelled)),
            step = running.next_step() => step,
        };
        let (result, outcome, result_bytes) = match step {
            RunningStep::Ended(result) => {
                let result = result.and_then(|outcome| check_size(outcome, &bound.target, limit));
                self.settle(result, &bound)
            }
            RunningStep::Asks(questions) => self.park(running, &bound, questions),
        };
        let reason = result.as_ref().err().and_then(CallError::for_operator);
        record.close(outcome, reason, result_bytes).await;
        result
    }

    /// Lets the call wait for its client, which gets the questions.
    fn park(
        &self,
        running: RunningCall,
        bound: &BoundCall,
        questions: Box<RawValue>,
    ) -> SettledCall {
        let Dispatcher { parking, owner, .. } = &*self.turn.dispatcher;
        let domain = || bound.target.domain.clone();
        let limit = self.turn.runtime.limits.suspension;
        match parking.park(bound.call, &self.turn.principal, running, limit) {
            Ok(()) => {}
            Err(ParkingRefusal::Full) => {
                return self.settle(
                    Err(CallError::Busy { domain: domain(), of: BusyResource::Questions }),
                    bound,
                );
            }
            Err(ParkingRefusal::Closed) => {
                let reason = "Gatefold is stopping".to_owned();
                let error = CallError::Unavailable { domain: domain(), reason, source: None };
                return self.settle(Err(error), bound);
            }
        }
        let bytes = questions.get().len();
        let (suspension, expires_at) = self.seal(bound, questions, SealedState::Parked(*owner));
        (Ok(Outcome::Suspended(suspension)), AuditOutcome::Suspended(expires_at), bytes)
    }

    /// Continues a call that its source is already working on, once its record is open again.
    pub(super) async fn take_up(
        &self,
        mut running: RunningCall,
        permit: &Permit,
        opened: CallOpened,
    ) -> Result<Outcome, CallError> {
        let bound = BoundCall::of(permit, opened.decided_by.clone());
        let record = match self.begin_record(opened).await {
            Ok(record) => record,
            Err(error) => {
                if matches!(error, CallError::Audit(_)) {
                    // The source was not told anything, so its client may try again.
                    let Dispatcher { parking, .. } = &*self.turn.dispatcher;
                    let limit = self.turn.runtime.limits.suspension;
                    if let Err(reason) =
                        parking.park(bound.call, &self.turn.principal, running, limit)
                    {
                        tracing::warn!(call = %bound.call, ?reason, "a call was not parked again");
                    }
                }
                return Err(error);
            }
        };
        let answers = permit.call().resume.as_ref().map(|resume| &*resume.answers);
        running.resume(answers.unwrap_or(RawValue::NULL), &self.caller.events);
        let limit = self.result_limit(permit);
        let place = running.place().clone();
        let result = self.follow(running, record, bound, limit).await;
        self.caller.result_place.take_over(&place);
        result
    }

    /// The live call that a sealed state stands for.
    pub(super) fn parked(&self, id: CallId, owner: u64) -> Result<RunningCall, ResumeError> {
        if owner != self.turn.dispatcher.owner {
            return Err(ResumeError::Ended);
        }
        self.turn.dispatcher.parking.take(id, &self.turn.principal).ok_or(ResumeError::Ended)
    }

    /// Releases the live call behind a sealed state that will not be resumed any more.
    pub(super) fn release(&self, id: CallId, sealed: Option<&SealedCall>) {
        if let Some(SealedState::Parked(owner)) = sealed.map(|sealed| &sealed.state) {
            drop(self.parked(id, *owner));
        }
    }
}
