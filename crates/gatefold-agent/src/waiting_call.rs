//! Calls that wait for a person's approval instead of failing.

use std::sync::{Arc, Mutex, PoisonError};

use gatefold_catalog::{Request, View};
use gatefold_core::{ApprovalId, CallError, Domain, Operation, Outcome, ToolName};
use gatefold_exchange::{CallObserver, Turn};
use gatefold_model::{CallArguments, ToolCall, UserPart};

use crate::{Budget, CallProgress, SurfaceTools};

/// What is in the way of a call.
enum Obstacle {
    /// A person has to approve it.
    Approval(ApprovalId),
    SignIn(Domain),
    /// The source has listed nothing, which may be for want of a credential.
    Unlisted(Domain),
}

/// Hears what is in the way of a call.
struct RefusedCall {
    view: View,
    obstacle: Arc<Mutex<Option<Obstacle>>>,
}

impl CallObserver for RefusedCall {
    fn called(&self, request: &Request, result: &Result<Outcome, CallError>) {
        let Operation::Tool { name, .. } = &*request.operation else { return };
        // A tool that makes calls itself may have done something before one of them was refused.
        let is_own = |tool| self.view.find(name.as_str()).is_some_and(|own| own.id() == tool);
        let obstacle = match result {
            Err(CallError::NeedsApproval { tool, id, .. }) if is_own(tool) => {
                Obstacle::Approval(id.clone())
            }
            Err(CallError::NeedsSignIn { domain, .. }) => Obstacle::SignIn(domain.clone()),
            Err(CallError::UnknownTool { name, .. }) => {
                match self.view.unlisted_owner(name.as_str()) {
                    Some(source) => Obstacle::Unlisted(source.domain.clone()),
                    None => return,
                }
            }
            _ => return,
        };
        *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) = Some(obstacle);
    }
}

impl SurfaceTools {
    /// Makes a call. One that was only refused because somebody has to approve it first has not taken effect, and can
    /// be made again once they have.
    pub async fn call_or_wait(&self, request: &ToolCall, budget: &Budget) -> CallProgress {
        let obstacle = Arc::<Mutex<Option<Obstacle>>>::default();
        let observer_of = {
            let obstacle = obstacle.clone();
            move |turn: &Turn| -> Arc<dyn CallObserver> {
                let (view, obstacle) = (turn.view().clone(), obstacle.clone());
                Arc::new(RefusedCall { view, obstacle })
            }
        };
        let mut result = self.call_observed(request, budget, &observer_of).await;
        let obstacle = obstacle.lock().unwrap_or_else(PoisonError::into_inner).take();
        match obstacle {
            Some(Obstacle::Approval(approval)) => return CallProgress::Waiting(approval),
            Some(Obstacle::SignIn(domain) | Obstacle::Unlisted(domain))
                if self.awaits_client(&domain).await =>
            {
                let reason = format!(
                    "`{domain}` needs a sign-in: only a client can send its credential, and this run has none; begin a \
                     run with it"
                );
                return CallProgress::Blocked { result, reason };
            }
            Some(Obstacle::SignIn(domain)) => {
                let note = format!(
                    "(`{domain}` needs a sign-in, which nobody can do within this run. Tell the user, who can ask again \
                     then.)"
                );
                result.parts.push(UserPart::Text(note));
            }
            None | Some(Obstacle::Unlisted(_)) => {}
        }
        CallProgress::Returned(result)
    }

    async fn awaits_client(&self, domain: &Domain) -> bool {
        self.turn(None).await.is_some_and(|turn| turn.awaits_client(domain))
    }

    /// Whether a call that may have been made already can be made again without harm: it only looks something up, or
    /// the tool that it leads to says so.
    pub async fn is_repeatable(&self, request: &ToolCall) -> bool {
        // Neither was ever made.
        let CallArguments::Object(arguments) = &request.arguments else { return true };
        let Ok(name) = ToolName::parse(&self.tool_of(&request.name)) else { return true };
        match self.turn(None).await {
            Some(turn) => turn.is_repeatable(&name, arguments.raw()).await,
            None => false,
        }
    }
}
