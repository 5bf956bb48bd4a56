//! The tools of an exchange, as an agent's.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Principal, ToolName};
use gatefold_dispatch::{CallAttachment, CallContext, Caller, NestedCaller};
use gatefold_exchange::{
    Audience, CallObserver, Exchange, TaskSupport, ToolCall as SurfaceCall, Turn,
};
use gatefold_model::{CallArguments, ToolCall, ToolResult};

use crate::answer_text::result_of;
use crate::functions::Functions;
use crate::{AgentTools, Budget, ToolOffer};

/// Makes somebody who is told of what is really called in a turn.
pub type ObserverOf = dyn Fn(&Turn) -> Arc<dyn CallObserver> + Send + Sync;

/// The tools that somebody is shown, called as an MCP client's are: in the principal's view, by its
/// policy, with its approvals and records.
pub struct SurfaceTools {
    exchange: Arc<Exchange>,
    turns: Turns,
    caller: Caller,
    observer_of: Option<Box<ObserverOf>>,
    offered: Mutex<OfferedTools>,
}

/// Whose turns the calls are made in.
enum Turns {
    Client {
        audience: Audience,
        principal: Arc<Principal>,
    },
    /// An agent's, within a call.
    Delegate {
        within: NestedCaller,
        audience: Audience,
    },
}

#[derive(Default)]
struct OfferedTools {
    functions: Functions,
    /// As they were at first: a prompt that begins otherwise is in no cache.
    instructions: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("no tool can be called any more")]
struct NothingShown;

impl SurfaceTools {
    /// The tools of one run. The caller's label and cancellation are those of all its calls.
    pub fn new(
        exchange: Arc<Exchange>,
        audience: Audience,
        principal: Arc<Principal>,
        caller: Caller,
    ) -> Self {
        let audience = audience.in_loop();
        Self::of(exchange, Turns::Client { audience, principal }, caller)
    }

    /// The tools of the audience's agent, which works within a call.
    pub fn of_delegate(exchange: Arc<Exchange>, call: &CallContext, audience: Audience) -> Self {
        let turns = Turns::Delegate { within: call.nested.clone(), audience: audience.in_loop() };
        Self::of(exchange, turns, call.caller())
    }

    fn of(exchange: Arc<Exchange>, turns: Turns, caller: Caller) -> Self {
        Self { exchange, turns, caller, observer_of: None, offered: Mutex::default() }
    }

    /// The same, with somebody who is told of what was really called in each turn.
    #[must_use]
    pub fn with_observer(
        self,
        observer_of: impl Fn(&Turn) -> Arc<dyn CallObserver> + Send + Sync + 'static,
    ) -> Self {
        Self { observer_of: Some(Box::new(observer_of)), ..self }
    }

    /// Makes a call like [`AgentTools::call`], and has somebody told of what was really called for it.
    pub async fn call_observed(
        &self,
        request: &ToolCall,
        budget: &Budget,
        observer_of: &ObserverOf,
    ) -> ToolResult {
        self.carry_out(request, budget, Some(observer_of)).await
    }

    async fn turn(&self, observer_of: Option<&ObserverOf>) -> Option<Turn> {
        let turn = match &self.turns {
            Turns::Client { audience, principal } => {
                self.exchange.informed_turn(audience, principal.clone()).await?
            }
            Turns::Delegate { within, audience } => {
                self.exchange.delegate(within, audience).ok()?
            }
        };
        Some(match observer_of {
            Some(observer_of) => {
                let observer = observer_of(&turn);
                turn.observed_by(observer)
            }
            None => turn,
        })
    }

    fn offered(&self) -> MutexGuard<'_, OfferedTools> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn carry_out(
        &self,
        request: &ToolCall,
        budget: &Budget,
        observer_of: Option<&ObserverOf>,
    ) -> ToolResult {
        let arguments = match &request.arguments {
            CallArguments::Object(json) => json.raw().to_owned(),
            CallArguments::Malformed { fault, .. } => return ToolResult::error(fault.clone()),
        };
        let name = ToolName::parse(self.offered().functions.tool_of(&request.name));
        let Ok(name) = name else { return ToolResult::error("there is no such tool") };
        // Each call is a turn of its own, so what was reloaded or revoked since counts.
        let Some(turn) = self.turn(observer_of).await else {
            return ToolResult::error(NothingShown.to_string());
        };
        let call = SurfaceCall { name: &name, arguments, resume: None, tasks: TaskSupport::Cannot };
        // Calls that are made at once must not share the room of one result.
        let result_place = gatefold_dispatch::ResultPlace::default();
        let attachment = CallAttachment::new(budget.clone());
        let caller = Caller { result_place, attachment, ..self.caller.clone() };
        result_of(turn.call(call, caller).await)
    }
}

impl AgentTools for SurfaceTools {
    fn offer(&self) -> BoxFuture<'_, Result<ToolOffer, BoxError>> {
        Box::pin(async {
            let turn = self.turn(None).await.ok_or(NothingShown)?;
            let lists = turn.lists();
            let surface = lists.surface();
            let mut offered = self.offered();
            offered.functions.update(surface);
            let instructions =
                offered.instructions.get_or_insert_with(|| surface.instructions.clone()).clone();
            Ok(ToolOffer { instructions, tools: offered.functions.definitions() })
        })
    }

    fn call<'a>(&'a self, request: &'a ToolCall, budget: &'a Budget) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.carry_out(request, budget, self.observer_of.as_deref()))
    }
}
