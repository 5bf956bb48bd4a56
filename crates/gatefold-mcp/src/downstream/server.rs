//! The gateway as a client sees it, whatever the transport: requests in, results as JSON text out.

use std::sync::Arc;

use gatefold_catalog::{address, read_address, token_bound};
use gatefold_core::{
    CallError, Domain, EntryKind, Operation, Outcome, Payload, Principal, Resume, SkillRequest,
    Suspension, WaitsFor,
};
use gatefold_disclose::{Disclosure, Mend, Names, Reply, Step};
use gatefold_dispatch::{Caller, Dispatcher, Pinned, ResourceUpdate};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, watch};
use tokio::task::spawn_blocking;

use super::faces::{Face, Faces, Showing};
use super::results::{Caching, Kind, head, readdressed, shaped};
use super::sessions::Sessions;
use super::subscriptions::Subscriptions;
use super::surfaces::{Digests, List, Lists};
use crate::protocol::Era;
use crate::protocol::RpcError;
use crate::protocol::rpc::to_text;

/// Serves one dispatcher to clients: by the usual disclosure, or by another that they ask for.
pub struct Server {
    pub(super) dispatcher: Arc<Dispatcher>,
    /// Who everybody is that reaches this endpoint.
    principal: Arc<Principal>,
    faces: Faces,
    pub(super) sessions: Arc<Sessions>,
}

/// One request's turn: the face it is for, narrowed to what its principal sees, and its era.
pub(super) struct Turn {
    pub(super) face: Arc<Face>,
    pub(super) pinned: Pinned,
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
    pub fn new(
        dispatcher: Arc<Dispatcher>,
        disclosure: Arc<dyn Disclosure>,
        principal: Principal,
    ) -> Arc<Self> {
        Arc::new(Self {
            dispatcher,
            principal: Arc::new(principal),
            faces: Faces::new(disclosure),
            sessions: Arc::default(),
        })
    }

    /// Sessions that clients of the handshake era have open over HTTP.
    pub fn session_count(&self) -> usize {
        self.sessions.count()
    }

    /// Who everybody is that reaches this endpoint.
    pub(super) fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }

    pub(super) fn face(&self, key: &Showing) -> Arc<Face> {
        self.faces.get(key)
    }

    /// Whether there is anything for whoever reaches this endpoint in a domain.
    pub(super) fn shows(&self, domain: &Domain) -> bool {
        let pinned = self.dispatcher.pin(self.principal.clone());
        pinned.view().domain(domain.as_str()).is_some()
    }

    /// Whether somebody may know of a source's resource.
    pub(super) fn sees_resource(
        &self,
        principal: &Arc<Principal>,
        domain: &Domain,
        uri: &str,
    ) -> bool {
        self.dispatcher.pin(principal.clone()).sees_resource(&address(domain, uri))
    }

    pub(super) fn epochs(&self) -> watch::Receiver<u64> {
        self.dispatcher.epochs()
    }

    pub(super) fn updates(&self) -> broadcast::Receiver<ResourceUpdate> {
        self.dispatcher.updates()
    }

    pub(super) fn subscriptions(&self, principal: Arc<Principal>) -> Arc<Subscriptions> {
        Subscriptions::new(self.dispatcher.clone(), principal)
    }

    /// A turn for someone, if there is anything for them at this face.
    pub(super) fn turn(
        &self,
        face: Arc<Face>,
        principal: Arc<Principal>,
        era: Era,
    ) -> Option<Turn> {
        let pinned = face.narrowed(self.dispatcher.pin(principal))?;
        Some(Turn { face, pinned, era })
    }

    /// The same; a face of one source of which nothing is known waits until that source was asked.
    pub(super) async fn known_turn(
        &self,
        face: Arc<Face>,
        principal: Arc<Principal>,
        era: Era,
    ) -> Option<Turn> {
        let turn = self.turn(face.clone(), principal.clone(), era)?;
        let Some(domain) = face.domain.as_ref().filter(|domain| !turn.pinned.knows(domain)) else {
            return Some(turn);
        };
        if let Err(error) = turn.pinned.learn(domain).await {
            tracing::debug!(%domain, %error, "a source could not be asked what it offers");
        }
        self.turn(face, principal, era)
    }

    /// What tells the lists of a face from what they were before.
    pub(super) fn digests(&self, face: &Arc<Face>, principal: &Arc<Principal>) -> Option<Digests> {
        let turn = self.turn(face.clone(), principal.clone(), Era::Handshake)?;
        Some(turn.lists().digests())
    }
}

impl Turn {
    pub(super) fn lists(&self) -> Arc<Lists> {
        let Face { surfaces, disclosure, names, .. } = &*self.face;
        surfaces.get(self.pinned.view(), &**disclosure, *names)
    }

    /// The result of one of the methods that list.
    pub(super) fn list(&self, list: List) -> String {
        self.pinned.counters().listed();
        let lists = self.lists();
        let head = head(self.era, Caching::Private);
        format!(r#"{{{head}"{}":{}}}"#, list.member(), lists.get(list))
    }

    /// The result of `tools/call`. To a model behind the gateway nothing that goes wrong with a call
    /// is an error of the protocol: it is to read it and try again.
    pub(super) async fn call_tool(
        &self,
        name: &str,
        arguments: &RawValue,
        resume: Option<Resume>,
        caller: Caller,
    ) -> Result<String, RpcError> {
        let reply = match self.interpret(name, arguments).await {
            Ok(Step::Call(operation)) => {
                return self.operate(name, operation, resume, caller).await;
            }
            Ok(Step::Reply(reply)) => reply,
            Ok(Step::Found(reply, found)) => {
                self.pinned.found(&found.query, found.tools, &caller);
                reply
            }
            Err(mend) => mend.into(),
        };
        let bytes = reply.content.iter().map(|block| block.get().len()).sum();
        let tokens = reply.content.iter().map(|block| token_bound(block.get())).sum();
        self.pinned.counters().spent_on_discovery(tokens);
        self.pinned.discovered(name, arguments, bytes, reply.is_error, &caller).await;
        Ok(self.worded(&reply))
    }

    /// What a call of a meta-tool asks for.
    async fn interpret(&self, name: &str, arguments: &RawValue) -> Result<Step, Mend> {
        let view = self.pinned.view();
        if view.snapshot().searches_quickly() {
            return self.face.disclosure.interpret(view, name, arguments);
        }
        // Other requests must not wait for it.
        let (view, disclosure) = (view.clone(), Arc::clone(&self.face.disclosure));
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        let interpreted = spawn_blocking(move || disclosure.interpret(&view, &name, &arguments));
        interpreted.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    async fn operate(
        &self,
        name: &str,
        operation: Operation,
        resume: Option<Resume>,
        caller: Caller,
    ) -> Result<String, RpcError> {
        // The call itself is spent with its permit; the copy is for wording its result.
        let asked = operation.clone();
        let result = self.pinned.call(operation, resume, caller).await.inspect_err(log_failure);
        let disclosure = &self.face.disclosure;
        let result = match result {
            Ok(Outcome::Suspended(waiting)) if waiting.waits_for == WaitsFor::Client => {
                return Ok(input_required(&waiting));
            }
            Ok(Outcome::Task(task)) if self.era == Era::Stateless => {
                return Ok(shaped(&task.json, self.era, Kind::Task, Caching::No));
            }
            Ok(Outcome::Done(payload)) => {
                let payload = self.readdressed(payload, &asked);
                if disclosure.is_transparent() {
                    return Ok(shaped(&payload.json, self.era, Kind::Complete, Caching::No));
                }
                Ok(Outcome::Done(payload))
            }
            Err(error) if disclosure.is_transparent() && is_the_protocols(&error) => {
                return Err(RpcError::of(error, self.era));
            }
            result => result,
        };
        Ok(self.worded(&disclosure.render(self.pinned.view(), name, &asked, result)))
    }

    /// Names resources in a result as they can be read here.
    fn readdressed(&self, payload: Payload, operation: &Operation) -> Payload {
        if self.face.names == Names::Own {
            return payload;
        }
        let view = self.pinned.view();
        let domain = match operation {
            Operation::Tool { name, .. } => {
                view.find(name.as_str()).map(|tool| tool.domain().clone())
            }
            Operation::Prompt { name, .. } => {
                view.find_prompt(name.as_str()).map(|prompt| prompt.domain().clone())
            }
            Operation::Resource(uri) | Operation::Skill(SkillRequest { uri, .. }) => {
                view.find_resource(uri.as_str()).map(|target| target.domain.clone())
            }
            _ => None,
        };
        match domain {
            Some(domain) => Payload { json: readdressed(payload.json, &domain), ..payload },
            None => payload,
        }
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
        caching: Caching,
    ) -> Result<String, RpcError> {
        let asked = operation.clone();
        let result = self.pinned.call(operation, resume, caller).await.inspect_err(log_failure);
        match result.map_err(|error| self.refusal(error))? {
            Outcome::Done(payload) => {
                let payload = self.without_hidden(payload, &asked);
                let json = self.readdressed(payload, &asked).json;
                Ok(shaped(&json, self.era, Kind::Complete, caching))
            }
            Outcome::Task(task) => Ok(shaped(&task.json, self.era, Kind::Complete, caching)),
            Outcome::Suspended(waiting) if waiting.waits_for == WaitsFor::Client => {
                Ok(input_required(&waiting))
            }
            Outcome::Suspended(_) => Err(RpcError::internal(
                "someone has to approve this first, and cannot be asked here",
            )),
        }
    }

    /// What a failed operation is in the protocol, under the name that the client asked by.
    pub(super) fn refusal(&self, error: CallError) -> RpcError {
        let error = match (error, self.face.names) {
            (CallError::Unknown { kind, name }, Names::Own) => {
                let own = read_address(&name).map(|(_, own)| own);
                CallError::Unknown { kind, name: own.unwrap_or(name) }
            }
            (error, _) => error,
        };
        RpcError::of(error, self.era)
    }

    /// The name by which the dispatcher knows what a client asked for.
    pub(super) fn public(&self, kind: EntryKind, name: &str) -> String {
        let Some(domain) = self.face.domain.as_ref().filter(|_| self.face.names == Names::Own)
        else {
            return name.to_owned();
        };
        match kind {
            EntryKind::Resource => address(domain, name),
            EntryKind::Prompt => {
                let prompt = self.pinned.view().prompt_named(domain, name);
                prompt.map_or_else(|| name.to_owned(), |prompt| prompt.id().as_str().to_owned())
            }
            EntryKind::Tool => name.to_owned(),
        }
    }
}

/// A result that asks the client for input, as the stateless era writes it.
fn input_required(waiting: &Suspension) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct InputRequired<'a> {
        result_type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        input_requests: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        request_state: Option<&'a str>,
    }
    to_text(&InputRequired {
        result_type: "input_required",
        input_requests: Some(&*waiting.questions).filter(|questions| questions.get() != "{}"),
        request_state: waiting.state.as_deref(),
    })
}

/// Whether a server without a gateway in front would answer so by an error of the protocol.
fn is_the_protocols(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Refused { .. }
            | CallError::UnknownTool { .. }
            | CallError::Unknown { .. }
            | CallError::Resume(_)
    )
}

/// Logs what an operator must know of a failed call. What only concerns the caller is in its
/// answer and in the audit record.
fn log_failure(error: &CallError) {
    if let CallError::Audit(source) = error {
        tracing::error!(%source, "an audit record could not be opened");
    } else if let CallError::Protocol { domain, reason, .. } = error {
        tracing::warn!(%domain, reason, "a source broke the protocol");
    }
}
