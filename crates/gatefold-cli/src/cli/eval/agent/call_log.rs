//! What really reached the dispatcher in one task.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatefold_catalog::{Request, View, undeclared};
use gatefold_core::{CallError, Operation, Outcome};
use gatefold_exchange::CallObserver;
use serde_json::{Map, Value};

/// The most calls that are kept of one task. A model makes a limited number in a limited number of
/// turns, which is less.
const MAX_CALLS: usize = 4096;

/// The most invented parameters of one call that are named.
const SHOWN_PARAMETERS: usize = 8;

/// One call of a tool of a source.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InnerCall {
    /// The tool's id; as the model wrote the name if there is no such tool.
    pub(super) tool: String,
    pub(super) is_known: bool,
    pub(super) arguments: Map<String, Value>,
    /// Parameters that the tool's schema does not have.
    pub(super) undeclared: Vec<String>,
    pub(super) outcome: CallOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallOutcome {
    Done,
    /// The tool itself reported an error.
    ToolError,
    /// The source refused the arguments.
    InvalidArguments,
    /// It was not made, or failed, with the error's kind.
    Failed(&'static str),
}

impl CallOutcome {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::ToolError => "tool_error",
            Self::InvalidArguments => "invalid_arguments",
            Self::Failed(kind) => kind,
        }
    }

    fn of(result: &Result<Outcome, CallError>) -> Self {
        match result {
            Ok(Outcome::Done(payload)) if payload.is_error => Self::ToolError,
            Ok(_) => Self::Done,
            Err(CallError::InvalidArguments { .. } | CallError::AnsweredElsewhere { .. }) => {
                Self::InvalidArguments
            }
            Err(error) => Self::Failed(error.kind().as_str()),
        }
    }
}

/// The calls of one task, in the order in which they ended; at most [`MAX_CALLS`].
#[derive(Debug, Default)]
pub(super) struct CallLog(Mutex<Vec<InnerCall>>);

impl CallLog {
    /// An observer of calls in a view, for this log.
    pub(super) fn of(self: &Arc<Self>, view: &View) -> Arc<dyn CallObserver> {
        Arc::new(LoggedView { log: self.clone(), view: view.clone() })
    }

    pub(super) fn take(&self) -> Vec<InnerCall> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<InnerCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct LoggedView {
    log: Arc<CallLog>,
    view: View,
}

impl CallObserver for LoggedView {
    fn called(&self, request: &Request, result: &Result<Outcome, CallError>) {
        let Operation::Tool { name, arguments } = &*request.operation else { return };
        let tool = self.view.resolve(name).ok();
        let mut undeclared = tool.map(|tool| undeclared(tool, arguments.get())).unwrap_or_default();
        undeclared.truncate(SHOWN_PARAMETERS);
        let call = InnerCall {
            tool: tool.map_or(name.as_str(), |tool| tool.id().as_str()).to_owned(),
            is_known: tool.is_some(),
            arguments: serde_json::from_str(arguments.get()).unwrap_or_default(),
            undeclared,
            outcome: CallOutcome::of(result),
        };
        let mut calls = self.log.lock();
        if calls.len() < MAX_CALLS {
            calls.push(call);
        }
    }
}
