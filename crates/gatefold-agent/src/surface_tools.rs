//! The tools of an exchange, as an agent's.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use gatefold_catalog::ViewKey;
use gatefold_core::{BoxError, Principal, ToolId, ToolName};
use gatefold_disclose::SelectedDisclosure;
use gatefold_dispatch::{CallAttachment, CallContext, Caller, NestedCaller};
use gatefold_exchange::{
    Audience, CallObserver, Exchange, TaskSupport, ToolCall as SurfaceCall, Turn,
};
use gatefold_model::{
    CallArguments, Round, ToolCall, ToolResult, Turn as ConversationTurn, UserMessage, UserPart,
};
use serde::Deserialize;

use crate::answer_text::result_of;
use crate::functions::{Functions, SurfaceChange};
use crate::{AgentTools, Budget, ToolOffer};

/// Makes somebody who is told of what is really called in a turn.
pub type ObserverOf = dyn Fn(&Turn) -> Arc<dyn CallObserver> + Send + Sync;

/// The tools that somebody is shown, called as an MCP client's are: in the principal's view, by its
/// policy, with its approvals and records.
pub struct SurfaceTools {
    exchange: Arc<Exchange>,
    turns: Turns,
    /// As it is without a request.
    audience: Audience,
    request: Mutex<CurrentRequest>,
    caller: Caller,
    observer_of: Option<Box<ObserverOf>>,
    offered: Mutex<OfferedTools>,
}

/// What the tools are chosen for.
struct CurrentRequest {
    audience: Audience,
    has_begun: bool,
}

/// A conversation that goes on.
#[derive(Debug, Clone, Default)]
pub struct EarlierTurns<'t> {
    pub turns: &'t [ConversationTurn],
    /// Where in it a person said something; at most one for each turn. A run says something to its model, too.
    pub requests: Vec<usize>,
}

/// Whose turns the calls are made in.
enum Turns {
    Client(Arc<Principal>),
    /// An agent's, within a call.
    Delegate(NestedCaller),
}

#[derive(Default)]
struct OfferedTools {
    functions: Functions,
    /// What they were last made of.
    view: Option<ViewKey>,
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
        Self::of(exchange, Turns::Client(principal), audience, caller)
    }

    /// The tools of the audience's agent, which works within a call.
    pub fn of_delegate(exchange: Arc<Exchange>, call: &CallContext, audience: Audience) -> Self {
        Self::of(exchange, Turns::Delegate(call.nested.clone()), audience, call.nested_caller())
    }

    fn of(exchange: Arc<Exchange>, turns: Turns, audience: Audience, caller: Caller) -> Self {
        let audience = audience.in_loop();
        let request = Mutex::new(CurrentRequest { audience: audience.clone(), has_begun: false });
        let (observer_of, offered) = (None, Mutex::default());
        Self { exchange, turns, audience, request, caller, observer_of, offered }
    }

    /// Has the tools chosen for what a person says now, beside those that were chosen for what was said before.
    ///
    /// Where an earlier conversation goes on, it is gone through once, so that the tools are in the order in which they
    /// came.
    pub async fn choose_for(&self, earlier: EarlierTurns<'_>, message: &UserMessage) {
        let EarlierTurns { turns, requests } = earlier;
        let is_first = !std::mem::replace(&mut self.request().has_begun, true);
        for (at, turn) in turns.iter().enumerate().filter(|_| is_first) {
            match turn {
                ConversationTurn::User(message) if requests.contains(&at) => {
                    self.set_request(message);
                }
                // A note of a run's own.
                ConversationTurn::User(_) => continue,
                ConversationTurn::Round(round) => {
                    let loaded = find_loaded(round);
                    if loaded.is_empty() {
                        continue;
                    }
                    if let Some(turn) = self.turn(None).await {
                        turn.keep_loaded(&loaded);
                    }
                }
            }
            // Without tools there is nothing to keep.
            let _ = self.offer().await;
        }
        self.set_request(message);
    }

    /// Has the tools chosen for a run that goes on, for what its person said last and what was loaded since.
    pub async fn choose_again(&self, turns: &[ConversationTurn]) {
        let said = turns.iter().enumerate().filter_map(|(at, turn)| match turn {
            ConversationTurn::User(message) => Some((at, message)),
            ConversationTurn::Round(_) => None,
        });
        // A run's own notes to its model are read too: they choose nothing that was not chosen.
        let said: Vec<_> = said.collect();
        let requests = said.iter().map(|(at, _)| *at).collect();
        if let Some((_, last)) = said.last() {
            self.choose_for(EarlierTurns { turns, requests }, last).await;
        }
    }

    fn set_request(&self, message: &UserMessage) {
        let texts = message.parts().iter().filter_map(text_of);
        let request = texts.collect::<Vec<_>>().join("\n");
        self.request().audience = self.audience.clone().for_request(&request);
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

    /// A text of the user's that the model can be given: a long one is kept, and read on like a result.
    pub async fn shorten_text(&self, text: String, tool: ToolId) -> Result<String, BoxError> {
        let turn = self.turn(None).await.ok_or(NothingShown)?;
        turn.shorten_text(text, tool).await
    }

    /// The tool that a function of the model stands for.
    pub(crate) fn tool_of(&self, function: &str) -> String {
        self.offered().functions.tool_of(function).to_owned()
    }

    pub(crate) async fn turn(&self, observer_of: Option<&ObserverOf>) -> Option<Turn> {
        let audience = self.request().audience.clone();
        let turn = match &self.turns {
            Turns::Client(principal) => {
                self.exchange.informed_turn(&audience, principal.clone()).await?
            }
            Turns::Delegate(within) => self.exchange.delegate(within, &audience).ok()?,
        };
        Some(match observer_of {
            Some(observer_of) => {
                let observer = observer_of(&turn);
                turn.observed_by(observer)
            }
            None => turn,
        })
    }

    fn request(&self) -> MutexGuard<'_, CurrentRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
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
            let view = Some(turn.view().key());
            let is_same = offered.view == view;
            let change = if is_same { SurfaceChange::Choice } else { SurfaceChange::Definitions };
            offered.view = view;
            offered.functions.update(surface, change);
            turn.keep_shown();
            let instructions =
                offered.instructions.get_or_insert_with(|| surface.instructions.clone()).clone();
            Ok(ToolOffer { instructions, tools: offered.functions.definitions() })
        })
    }

    fn call<'a>(&'a self, request: &'a ToolCall, budget: &'a Budget) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.carry_out(request, budget, self.observer_of.as_deref()))
    }
}

/// The tools that were loaded in a round, as its results say.
fn find_loaded(round: &Round) -> Vec<String> {
    #[derive(Deserialize)]
    struct LoadAnswer {
        loaded: Vec<String>,
    }
    let answers = round.said().calls().zip(round.results());
    let answers = answers.filter(|(call, _)| call.name == SelectedDisclosure::LOADER);
    let texts = answers.flat_map(|(_, result)| result.parts.iter()).filter_map(text_of);
    let read = texts.filter_map(|text| serde_json::from_str::<LoadAnswer>(text).ok());
    read.flat_map(|answer| answer.loaded).collect()
}

fn text_of(part: &UserPart) -> Option<&str> {
    let UserPart::Text(text) = part else { return None };
    Some(text)
}
