//! A call of our own sources that goes on as a task, for a client that follows tasks.
//!
//! It stays the call that it was: the same record, clock, place at its source and questions. Only its
//! client does not wait for it, but comes back to ask.

use gatefold_core::{CallError, Operation, Outcome, Payload, TaskAct, TaskHandle, TaskRequest};
use gatefold_policy::Permit;

use super::ActiveCall;
use super::record::OpenRecord;
use super::settle::{BoundCall, OwnTask, SealedTask, check_size};
use crate::limits::room::ResultRoom;
use crate::parking::RunningCall;
use crate::questions::empty_object;
use crate::records::AuditOutcome;
use crate::{Dispatcher, QuestionMode};

impl ActiveCall {
    /// Whether the call goes on as a task: its client can follow it, and its source wants that.
    pub(super) fn becomes_task(&self, permit: &Permit) -> bool {
        let client = &self.caller.peer;
        client.question_mode() == QuestionMode::ByRetry
            && client.capabilities().follows_tasks()
            && matches!(*permit.call().operation, Operation::Tool { .. })
            && self.slot(permit.target()).setup.source.runs_as_task(permit)
    }

    /// Gives the client an id, and lets the call go on without it.
    pub(super) async fn leave_as_task(
        &self,
        running: RunningCall,
        record: OpenRecord,
        bound: BoundCall,
        limit: u64,
    ) -> Result<Outcome, CallError> {
        let principal = &self.turn.principal;
        // The time of the call, and that of one question.
        let lifetime = self.limit + self.turn.runtime.limits.suspension;
        let tasks = &self.turn.dispatcher.tasks;
        if let Err(running) = tasks.begin(bound.call, principal, running, lifetime, self.now()) {
            // There is no room for one more task, so its client waits.
            return self.follow(running, record, bound, limit).await;
        }
        let own = OwnTask { owner: self.turn.dispatcher.owner, call: bound.call };
        let key = &self.turn.dispatcher.ports.seal;
        let id = key.seal(&SealedTask::own(own, &bound.target.id, principal));
        let result = self.describe_task(&own, &id, &bound, limit);
        close(record, result).await
    }

    /// The task that a request is about, if its call was one of ours.
    pub(super) fn own_task(&self) -> Option<OwnTask> {
        match &*self.operation {
            Operation::Task(request) => self.turn.sealed_task(request)?.own,
            _ => None,
        }
    }

    /// Answers a request about a task that runs here.
    pub(super) async fn act_on_task(
        &self,
        task: OwnTask,
        permit: &Permit,
        record: OpenRecord,
        bound: &BoundCall,
    ) -> Result<Outcome, CallError> {
        let Operation::Task(TaskRequest { act, .. }) = &*permit.call().operation else {
            unreachable!("only requests about tasks have an own task")
        };
        let id = self.operation.subject();
        let Dispatcher { tasks, .. } = &*self.turn.dispatcher;
        let principal = &self.turn.principal;
        let is_done = match act {
            TaskAct::Get => {
                let result = self.describe_task(&task, id, bound, self.result_limit(permit));
                if let Ok(Outcome::Task(task)) = &result {
                    // The description has a copy of the result, which takes room of its own.
                    let place = self.caller.result_place.clone();
                    let room = ResultRoom::new(self.slot(permit.target()).places.clone(), place);
                    let admitted = self.timer.within(room.admit(task.json.get().len())).await;
                    if admitted.is_err() {
                        return close(record, Err(self.late(permit.target()))).await;
                    }
                }
                return close(record, result).await;
            }
            TaskAct::Update(answers) => tasks.answer(task.call, principal, answers),
            TaskAct::Cancel => tasks.cancel(task.call, principal, self.now()),
        };
        let nothing = Outcome::Done(Payload { json: empty_object(), is_error: false });
        close(record, is_done.then_some(nothing).ok_or_else(|| unknown(id))).await
    }

    fn describe_task(
        &self,
        task: &OwnTask,
        id: &str,
        bound: &BoundCall,
        limit: u64,
    ) -> Result<Outcome, CallError> {
        let Dispatcher { tasks, owner, .. } = &*self.turn.dispatcher;
        let check = |outcome| check_size(outcome, &bound.target, limit);
        // A task of another process has ended with it, or cannot be reached from here.
        let is_here = task.owner == *owner;
        let described = is_here
            .then(|| tasks.describe(task.call, &self.turn.principal, id, self.now(), check))
            .flatten();
        let json = described.ok_or_else(|| unknown(id))?;
        Ok(Outcome::Task(TaskHandle { id: id.to_owned(), json }))
    }
}

/// Ends the record of what was done about a task.
async fn close(
    record: OpenRecord,
    result: Result<Outcome, CallError>,
) -> Result<Outcome, CallError> {
    let (outcome, bytes) = match &result {
        Ok(Outcome::Task(task)) => (AuditOutcome::Task, task.json.get().len()),
        Ok(_) => (AuditOutcome::Done, 0),
        Err(error) => (AuditOutcome::Failed(error.kind()), 0),
    };
    record.close(outcome, None, bytes).await;
    result
}

fn unknown(id: &str) -> CallError {
    CallError::Unknown { kind: "task", name: id.to_owned() }
}
