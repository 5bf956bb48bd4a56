//! Calls that wait for a person's approval instead of failing.

use std::sync::{Arc, Mutex, PoisonError};

use gatefold_catalog::{Request, View};
use gatefold_core::{ApprovalId, CallError, Operation, Outcome, ToolName};
use gatefold_exchange::{CallObserver, Turn};
use gatefold_model::{CallArguments, ToolCall};

use crate::{Budget, CallProgress, SurfaceTools};

/// Hears for which approval a call was refused.
struct RefusedCall {
    view: View,
    approval: Arc<Mutex<Option<ApprovalId>>>,
}

impl CallObserver for RefusedCall {
    fn called(&self, request: &Request, result: &Result<Outcome, CallError>) {
        let Err(CallError::NeedsApproval { tool, id, .. }) = result else { return };
        let Operation::Tool { name, .. } = &*request.operation else { return };
        // A tool that makes calls itself may have done something before one of them was refused.
        if self.view.find(name.as_str()).is_some_and(|own| own.id() == tool) {
            *self.approval.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.clone());
        }
    }
}

impl SurfaceTools {
    /// Makes a call. One that was only refused because somebody has to approve it first has not taken effect, and can
    /// be made again once they have.
    pub async fn call_or_wait(&self, request: &ToolCall, budget: &Budget) -> CallProgress {
        let approval = Arc::<Mutex<Option<ApprovalId>>>::default();
        let observer_of = {
            let approval = approval.clone();
            move |turn: &Turn| -> Arc<dyn CallObserver> {
                let (view, approval) = (turn.view().clone(), approval.clone());
                Arc::new(RefusedCall { view, approval })
            }
        };
        let result = self.call_observed(request, budget, &observer_of).await;
        let approval = approval.lock().unwrap_or_else(PoisonError::into_inner).take();
        approval.map_or(CallProgress::Returned(result), CallProgress::Waiting)
    }

    /// Whether a call that may have been made already can be made again without harm: it only looks something up, or
    /// the tool that it leads to says so.
    pub async fn is_repeatable(&self, request: &ToolCall) -> bool {
        let CallArguments::Object(arguments) = &request.arguments else { return true };
        let Ok(name) = ToolName::parse(&self.tool_of(&request.name)) else { return true };
        match self.turn(None).await {
            Some(turn) => turn.is_repeatable(&name, arguments.raw()).await,
            None => false,
        }
    }
}
