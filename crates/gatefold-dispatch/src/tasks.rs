//! Calls that go on as tasks: each client has an id, and comes back for the rest.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use gatefold_core::{CallError, CallId, Outcome, Payload, Principal, Timestamp};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio_util::task::AbortOnDropHandle;

use crate::parking::{RunningCall, RunningStep};
use crate::ports::EventListener;
use crate::{Event, EventSink, ResultPlace};

/// The most tasks whose results are kept. A further call does not become one: its client waits.
pub const TASKS: usize = 1024;
/// The most tasks of one principal, so that nobody takes all the places.
pub const TASKS_EACH: usize = 32;

/// How often a client should ask how a task is getting on.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The tasks that run here, and those whose results may still be fetched.
#[derive(Default)]
pub(crate) struct RunningTasks(Mutex<TaskPlaces>);

#[derive(Default)]
struct TaskPlaces {
    /// At most [`TASKS`], and [`TASKS_EACH`] of one principal.
    tasks: HashMap<CallId, RunningTask>,
    is_closed: bool,
}

struct RunningTask {
    principal: Arc<Principal>,
    state: TaskState,
    last_message: LastMessage,
    began: Timestamp,
    updated: Timestamp,
    lifetime: Duration,
    _expiry: AbortOnDropHandle<()>,
}

enum TaskState {
    Running(RunningCall),
    Ended {
        /// None if it was cancelled.
        result: Option<Payload>,
        /// The place of a large result.
        _place: ResultPlace,
    },
}

/// What a call last said about its progress.
#[derive(Clone, Default)]
struct LastMessage(Arc<Mutex<Option<String>>>);

/// A task in the protocol's words.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskDescription<'a> {
    task_id: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<String>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: u64,
    poll_interval_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
}

impl RunningTasks {
    /// Lets a call go on by itself for as long as `lifetime`. Gives it back if there is no room.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: CallId,
        principal: &Arc<Principal>,
        running: RunningCall,
        lifetime: Duration,
        now: Timestamp,
    ) -> Result<(), RunningCall> {
        let mut places = self.lock();
        let own = places.tasks.values().filter(|task| task.principal == *principal);
        if places.is_closed
            || places.tasks.len() >= TASKS
            || own.count() >= TASKS_EACH
            || !running.may_wait()
        {
            return Err(running);
        }
        let tasks = Arc::downgrade(self);
        let expiry = AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::time::sleep(lifetime).await;
            if let Some(tasks) = tasks.upgrade() {
                tasks.end_one(id);
            }
        }));
        let last_message = LastMessage::default();
        let running = running.detached();
        running.tell(&EventSink::new(last_message.clone()));
        let task = RunningTask {
            principal: principal.clone(),
            state: TaskState::Running(running),
            last_message,
            began: now,
            updated: now,
            lifetime,
            _expiry: expiry,
        };
        places.tasks.insert(id, task);
        Ok(())
    }

    /// How a task is getting on, under the id that its client has. `check` judges the result once
    /// there is one. None if there is no such task, or it is somebody else's.
    pub(crate) fn describe(
        &self,
        id: CallId,
        principal: &Principal,
        name: &str,
        now: Timestamp,
        check: impl FnOnce(Outcome) -> Result<Outcome, CallError>,
    ) -> Option<Box<RawValue>> {
        self.with(id, principal, |task| task.describe(name, now, check))
    }

    /// Gives a task the answers to its questions. False if there is no such task.
    pub(crate) fn answer(&self, id: CallId, principal: &Principal, answers: &RawValue) -> bool {
        let answered = self.with(id, principal, |task| {
            if let TaskState::Running(running) = &mut task.state {
                running.answer(answers);
            }
        });
        answered.is_some()
    }

    /// Cancels a task, unless it has ended. False if there is no such task.
    pub(crate) fn cancel(&self, id: CallId, principal: &Principal, now: Timestamp) -> bool {
        let cancelled = self.with(id, principal, |task| {
            let ended = TaskState::Ended { result: None, _place: ResultPlace::default() };
            let is_running = matches!(task.state, TaskState::Running(_));
            is_running.then(|| {
                task.updated = now;
                std::mem::replace(&mut task.state, ended)
            })
        });
        // Dropping the call here, outside of the lock, cancels it.
        cancelled.is_some()
    }

    /// Cancels those of some principals.
    pub(crate) fn end(&self, of: impl Fn(&Principal) -> bool) {
        let over: Vec<(CallId, RunningTask)> =
            self.lock().tasks.extract_if(|_, task| of(&task.principal)).collect();
        drop(over);
    }

    /// Cancels all of them, and accepts no more.
    pub(crate) fn close(&self) {
        let mut places = self.lock();
        places.is_closed = true;
        let tasks = std::mem::take(&mut places.tasks);
        drop(places);
        drop(tasks);
    }

    fn end_one(&self, id: CallId) {
        let over = self.lock().tasks.remove(&id);
        drop(over);
    }

    fn with<T>(
        &self,
        id: CallId,
        principal: &Principal,
        act: impl FnOnce(&mut RunningTask) -> T,
    ) -> Option<T> {
        let mut places = self.lock();
        // The seal already says whose it is; this also protects against a holder of the key.
        let task = places.tasks.get_mut(&id).filter(|task| *task.principal == *principal)?;
        Some(act(task))
    }

    fn lock(&self) -> MutexGuard<'_, TaskPlaces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningTask {
    fn describe(
        &mut self,
        name: &str,
        now: Timestamp,
        check: impl FnOnce(Outcome) -> Result<Outcome, CallError>,
    ) -> Box<RawValue> {
        let questions = self.advance(now, check);
        let (status, result) = match &self.state {
            TaskState::Running(_) if questions.is_some() => ("input_required", None),
            TaskState::Running(_) => ("working", None),
            TaskState::Ended { result: Some(payload), .. } => ("completed", Some(&*payload.json)),
            TaskState::Ended { result: None, .. } => ("cancelled", None),
        };
        let description = TaskDescription {
            task_id: name,
            status,
            status_message: self.last_message.get().filter(|_| status == "working"),
            created_at: self.began.to_string(),
            last_updated_at: self.updated.to_string(),
            ttl_ms: millis(self.lifetime),
            poll_interval_ms: millis(POLL_INTERVAL),
            input_requests: questions,
            result,
        };
        to_raw_value(&description).expect("a description has only text keys")
    }

    /// Takes note of what its call has come to, and gives the questions that it waits for.
    fn advance(
        &mut self,
        now: Timestamp,
        check: impl FnOnce(Outcome) -> Result<Outcome, CallError>,
    ) -> Option<Box<RawValue>> {
        let TaskState::Running(running) = &mut self.state else { return None };
        let result = match running.next_step().now_or_never()? {
            RunningStep::Asks(questions) => return Some(questions),
            RunningStep::Ended(result) => result,
        };
        let place = running.place().clone();
        let result = match result.and_then(check) {
            Ok(Outcome::Done(payload)) => Some(payload),
            Err(CallError::Cancelled) => None,
            // A model reads it, so it is worded as a result.
            Err(error) => Some(failure(&error.to_string())),
            Ok(Outcome::Suspended(_) | Outcome::Task(_)) => {
                Some(failure("its source left the task unfinished"))
            }
        };
        self.updated = now;
        self.state = TaskState::Ended { result, _place: place };
        None
    }
}

impl LastMessage {
    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl EventListener for LastMessage {
    fn hear(&self, event: Event) {
        #[derive(serde::Deserialize)]
        struct Progress {
            message: Option<String>,
        }
        let Event::Progress(params) = event else { return };
        let Ok(Progress { message: Some(message) }) = serde_json::from_str(params.get()) else {
            return;
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }

    fn is_gone(&self) -> bool {
        false
    }
}

fn failure(text: &str) -> Payload {
    let content = [serde_json::json!({ "type": "text", "text": text })];
    let json = to_raw_value(&serde_json::json!({ "content": content, "isError": true }));
    Payload { json: json.expect("a JSON value is valid JSON"), is_error: true }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
