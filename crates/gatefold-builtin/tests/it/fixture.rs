//! Tools without a gateway around them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, ready};
use gatefold_builtin::{
    BUILTIN_TASK, BuiltinAnswer, BuiltinCall, BuiltinError, BuiltinName, BuiltinPorts,
    BuiltinSettings, Toolbox,
};
use gatefold_core::{BoxError, ManualClock, Principal, Timestamp, ToolId};
use gatefold_dispatch::{
    DataOwner, NewResult, NoPeer, Note, NoteText, Notes, ResultHandle, StoredResult, StoredResults,
};
use gatefold_egress::{Egress, Settings};
use gatefold_worker::{Task, WorkerPool, WorkerProgram, WorkerSettings};
use serde_json::Value;
use tokio::time::Instant;

/// 2026-03-01T12:00:00Z, a Sunday.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_772_366_400_000);

/// All tools that need nothing, at [`NOW`].
pub(crate) fn toolbox() -> Toolbox {
    toolbox_with(|_| {})
}

pub(crate) fn ports() -> BuiltinPorts {
    BuiltinPorts {
        clock: Arc::new(ManualClock::at(NOW)),
        notes: Arc::<KeptNotes>::default(),
        results: Arc::new(OneResult),
        egress: egress(),
        workers: workers(),
    }
}

/// Not a test: what [`workers`] starts.
#[test]
fn serves() {
    const TASKS: &[Task] = &[BUILTIN_TASK];
    gatefold_worker::run_if_asked(TASKS);
}

fn workers() -> WorkerPool {
    let program = WorkerProgram::this().unwrap().argument("fixture::serves").argument("--exact");
    WorkerPool::new(WorkerSettings::new(Some(program)))
}

fn egress() -> Egress {
    Egress::new(Settings::default()).unwrap().without_proxies()
}

pub(crate) fn call_with(arguments: &Value) -> BuiltinCall {
    BuiltinCall {
        arguments: arguments.to_string(),
        principal: Arc::new(Principal::local()),
        peer: Arc::new(NoPeer),
        client: None,
        deadline: Instant::now() + Duration::from_mins(1),
    }
}

pub(crate) async fn answer(
    toolbox: &Toolbox,
    tool: &str,
    arguments: &Value,
) -> Result<BuiltinAnswer, BuiltinError> {
    toolbox.answer(tool, &call_with(arguments)).await
}

/// The text that a caller reads, of an answer or of a failure.
pub(crate) async fn said(toolbox: &Toolbox, tool: &str, arguments: &Value) -> String {
    match answer(toolbox, tool, arguments).await {
        Ok(answer) => answer.text,
        Err(error) => format!("error: {error}"),
    }
}

/// All tools, with settings of a test's own.
pub(crate) fn toolbox_with(change: impl FnOnce(&mut BuiltinSettings)) -> Toolbox {
    let mut settings =
        BuiltinSettings { names: BuiltinName::ALL.into(), ..BuiltinSettings::default() };
    change(&mut settings);
    Toolbox::new(&settings, &ports())
}

/// The local principal's only kept result.
pub(crate) const KEPT: (&str, &str) = ("kept-handle", r#"{"items":[{"price":5},{"price":12.5}]}"#);

/// Has [`KEPT`] and nothing else. Those of the store have tests of their own.
struct OneResult;

impl StoredResults for OneResult {
    fn keep(&self, _: NewResult) -> BoxFuture<'_, Result<ResultHandle, BoxError>> {
        Box::pin(ready(Err("nothing more is kept".into())))
    }

    fn find<'a>(
        &'a self,
        owner: DataOwner,
        handle: &'a ResultHandle,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, BoxError>> {
        let is_there = owner == DataOwner::of(&Principal::local()) && handle.as_str() == KEPT.0;
        let stored = is_there.then(|| StoredResult {
            tool: ToolId::new("shop__orders"),
            text: KEPT.1.to_owned(),
            expires_at: now.plus(Duration::from_mins(1)),
        });
        Box::pin(ready(Ok(stored)))
    }
}

/// Notes in memory. Those of the store have tests of their own.
#[derive(Default)]
struct KeptNotes(Mutex<Vec<(DataOwner, Note)>>);

impl Notes for KeptNotes {
    fn notes<'a>(&'a self, owner: &'a DataOwner) -> BoxFuture<'a, Result<Vec<Note>, BoxError>> {
        let kept = self.0.lock().unwrap();
        let own = kept.iter().filter(|(of, _)| of == owner).map(|(_, note)| note.clone());
        Box::pin(ready(Ok(own.collect())))
    }

    fn add<'a>(
        &'a self,
        owner: &'a DataOwner,
        NoteText { title, text }: NoteText,
        limit: usize,
    ) -> BoxFuture<'a, Result<Option<Note>, BoxError>> {
        let mut kept = self.0.lock().unwrap();
        let own = kept.iter().filter(|(of, _)| of == owner);
        let (count, last) = (own.clone().count(), own.map(|(_, note)| note.id).max());
        let id = last.unwrap_or_default() + 1;
        let note = Note { id, title, text, created_at: NOW, updated_at: NOW };
        let note = (count < limit).then_some(note);
        kept.extend(note.clone().map(|note| (*owner, note)));
        Box::pin(ready(Ok(note)))
    }

    fn update<'a>(
        &'a self,
        owner: &'a DataOwner,
        id: i64,
        text: NoteText,
    ) -> BoxFuture<'a, Result<Option<Note>, BoxError>> {
        let mut kept = self.0.lock().unwrap();
        let note = kept.iter_mut().find(|(of, note)| of == owner && note.id == id);
        let note = note.map(|(_, note)| {
            (note.title, note.text) = (text.title, text.text);
            note.clone()
        });
        Box::pin(ready(Ok(note)))
    }

    fn delete<'a>(
        &'a self,
        owner: &'a DataOwner,
        id: i64,
    ) -> BoxFuture<'a, Result<bool, BoxError>> {
        let mut kept = self.0.lock().unwrap();
        let before = kept.len();
        kept.retain(|(of, note)| of != owner || note.id != id);
        Box::pin(ready(Ok(kept.len() < before)))
    }
}
