//! The gateway as a client sees it, on any transport: requests in, results as JSON text out.

use std::sync::Arc;

use gatefold_core::{
    AgentId, CallError, ClientName, Domain, Operation, Outcome, Principal, Resume, Suspension,
    ToolName,
};
use gatefold_disclose::Reply;
use gatefold_dispatch::{Caller, Peer, ResourceUpdate};
use gatefold_exchange::{
    Audience, Exchange, List, ListDigests, Scope, TaskSupport, ToolAnswer, ToolCall, Turn,
    UnknownDisclosure,
};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, watch};

use super::message::RequestParams;
use super::message_memory::MessageMemory;
use super::results::{CachePolicy, ResultKind, head, shaped};
use super::sessions::{ClientSession, Sessions};
use super::subscriptions::ClientSubscriptions;
use crate::path::GatewayPath;
use crate::protocol::Era;
use crate::protocol::RpcError;
use crate::protocol::methods;
use crate::protocol::rpc::to_text;

/// Serves one exchange to clients of the protocol.
pub struct Server {
    exchange: Arc<Exchange>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) messages: MessageMemory,
    pub(super) path: Arc<GatewayPath>,
}

/// The context of one request: its principal's turn, and its era.
pub(super) struct RequestScope {
    pub(super) turn: Turn,
    pub(super) era: Era,
}

/// The parts of a `tools/call` result that the gateway words itself.
#[derive(Serialize)]
struct CallResult<'a> {
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: &'a [Box<RawValue>],
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<&'a RawValue>,
    #[serde(rename = "isError", skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

impl Server {
    /// A server for an exchange whose sources name this path in their requests.
    pub fn new(exchange: Arc<Exchange>, path: Arc<GatewayPath>) -> Arc<Self> {
        Arc::new(Self {
            exchange,
            sessions: Arc::default(),
            messages: MessageMemory::default(),
            path,
        })
    }

    /// Open sessions of handshake-era clients over HTTP.
    pub fn session_count(&self) -> usize {
        self.sessions.count()
    }

    /// Ends the sessions of some principals, and the calls in them: those whose token is revoked.
    pub fn end_sessions(&self, of: impl Fn(&Principal) -> bool) {
        self.sessions.end(of);
    }

    /// An audience for the disclosure of this name, or for the default one.
    pub fn audience(
        &self,
        scope: Scope,
        disclosure: Option<&str>,
    ) -> Result<Audience, UnknownDisclosure> {
        self.exchange.audience(scope, disclosure)
    }

    /// Whether there is such an agent, and a principal finds it.
    pub fn shows_agent(&self, principal: &Principal, agent: &AgentId) -> bool {
        self.exchange.shows_agent(principal, agent)
    }

    /// An audience for an agent. `None` if there is no such agent.
    pub fn agent_audience(
        &self,
        agent: &AgentId,
        disclosure: Option<&str>,
    ) -> Option<Result<Audience, UnknownDisclosure>> {
        self.exchange.agent_audience(agent, disclosure)
    }

    /// The audience for a client that gives itself this name.
    pub(super) fn for_client(&self, audience: &Audience, name: Option<&ClientName>) -> Audience {
        self.exchange.for_client(audience, name)
    }

    /// Whether somebody sees anything in a domain.
    pub(super) fn shows(&self, principal: &Arc<Principal>, domain: &Domain) -> bool {
        let pinned = self.exchange.dispatcher().pin(principal.clone());
        pinned.view().domain(domain.as_str()).is_some()
    }

    /// Whether somebody may know of a source's resource.
    pub(super) fn sees_resource(
        &self,
        principal: &Arc<Principal>,
        domain: &Domain,
        uri: &str,
    ) -> bool {
        self.exchange.sees_resource(principal, domain, uri)
    }

    /// Handles a notification of a client with a session.
    pub(super) fn notified(&self, session: &ClientSession, method: &str, params: &RequestParams) {
        if method == methods::ROOTS_CHANGED {
            self.exchange.dispatcher().roots_changed(session.questions.client);
        }
        session.notified(method, params);
    }

    /// Introduces the gateway's only client to the sources.
    pub(super) fn meet(&self, client: Arc<dyn Peer>) {
        self.exchange.dispatcher().meet(client);
    }

    pub(super) fn epochs(&self) -> watch::Receiver<u64> {
        self.exchange.dispatcher().epochs()
    }

    pub(super) fn updates(&self) -> broadcast::Receiver<ResourceUpdate> {
        self.exchange.dispatcher().updates()
    }

    pub(super) fn subscriptions(&self, principal: Arc<Principal>) -> Arc<ClientSubscriptions> {
        ClientSubscriptions::new(self.exchange.dispatcher().clone(), principal)
    }

    /// A scope for somebody's request, if they see anything.
    pub(super) fn scope(
        &self,
        audience: &Audience,
        principal: Arc<Principal>,
        era: Era,
    ) -> Option<RequestScope> {
        Some(RequestScope { turn: self.exchange.turn(audience, principal)?, era })
    }

    /// The same, but for a single unknown source it waits until that source was asked.
    pub(super) async fn informed_scope(
        &self,
        audience: &Audience,
        principal: Arc<Principal>,
        era: Era,
    ) -> Option<RequestScope> {
        Some(RequestScope { turn: self.exchange.informed_turn(audience, principal).await?, era })
    }

    /// The digests that show when an audience's lists have changed.
    pub(super) fn digests(
        &self,
        audience: &Audience,
        principal: &Arc<Principal>,
    ) -> Option<ListDigests> {
        self.exchange.digests(audience, principal)
    }
}

impl RequestScope {
    /// The result of one of the methods that list.
    pub(super) async fn list(&self, list: List, caller: &Caller) -> Result<String, RpcError> {
        self.turn.counters().listed();
        let lists = self.turn.lists();
        let bytes = lists.get(list).len();
        if !self.turn.admit_answer(bytes, caller).await {
            let text = "as many large answers wait for their clients as the gateway keeps; try \
                        again later";
            return Err(RpcError::internal(text));
        }
        let head = head(self.era, CachePolicy::Private);
        Ok(format!(r#"{{{head}"{}":{}}}"#, member(list), lists.get(list)))
    }

    /// The result of `tools/call`. Behind the gateway, a failed call is never a protocol error: the
    /// model should read it and try again.
    pub(super) async fn call_tool(
        &self,
        name: &ToolName,
        arguments: Box<RawValue>,
        resume: Option<Resume>,
        caller: Caller,
    ) -> Result<String, RpcError> {
        let tasks = match self.era {
            Era::Handshake => TaskSupport::Cannot,
            Era::Stateless => TaskSupport::Follows,
        };
        let call = ToolCall { name, arguments, resume, tasks };
        let answer = self.turn.call(call, caller).await;
        Ok(match answer.map_err(|error| RpcError::of(error, self.era))? {
            ToolAnswer::Reply(reply) => self.worded(&reply),
            ToolAnswer::Result(payload) => {
                shaped(&payload.json, self.era, ResultKind::Complete, CachePolicy::No)
            }
            ToolAnswer::Question(waiting) => input_required(&waiting),
            ToolAnswer::Task(task) => {
                shaped(&task.json, self.era, ResultKind::Task, CachePolicy::No)
            }
        })
    }

    fn worded(&self, reply: &Reply) -> String {
        to_text(&CallResult {
            result_type: (self.era == Era::Stateless).then_some("complete"),
            content: &reply.content,
            structured: reply.structured.as_deref(),
            is_error: reply.is_error,
            meta: reply.meta.as_deref(),
        })
    }

    /// The result of any other operation, as its source gave it.
    pub(super) async fn result(
        &self,
        operation: Operation,
        resume: Option<Resume>,
        caller: Caller,
        caching: CachePolicy,
    ) -> Result<String, RpcError> {
        let result = self.turn.operate(operation, resume, caller).await;
        match result.map_err(|error| self.refusal(error))? {
            Outcome::Done(payload) => {
                Ok(shaped(&payload.json, self.era, ResultKind::Complete, caching))
            }
            Outcome::Task(task) => Ok(shaped(&task.json, self.era, ResultKind::Complete, caching)),
            Outcome::Suspended(waiting) => Ok(input_required(&waiting)),
        }
    }

    /// A failed operation as a protocol error.
    pub(super) fn refusal(&self, error: CallError) -> RpcError {
        RpcError::of(error, self.era)
    }
}

/// A list's name in results.
const fn member(list: List) -> &'static str {
    match list {
        List::Tools => "tools",
        List::Prompts => "prompts",
        List::Resources => "resources",
        List::Templates => "resourceTemplates",
    }
}

/// A result that asks the client for input, in the form of the stateless era.
fn input_required(waiting: &Suspension) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct InputRequiredResult<'a> {
        result_type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        input_requests: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        request_state: Option<&'a str>,
    }
    to_text(&InputRequiredResult {
        result_type: "input_required",
        input_requests: Some(&*waiting.questions).filter(|questions| questions.get() != "{}"),
        request_state: waiting.state.as_deref(),
    })
}
