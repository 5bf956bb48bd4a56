//! The gateway as a client sees it, whatever the transport: lists and calls as JSON text.

use std::sync::Arc;

use gatefold_catalog::token_bound;
use gatefold_core::{CallError, ClientName, Operation, Principal};
use gatefold_disclose::{Disclosure, Reply, Step, Surface};
use gatefold_dispatch::{Caller, Dispatcher, Pinned};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::surfaces::Surfaces;

/// The longest name of a client that is kept, in bytes. The client chooses it freely.
const CLIENT_NAME_BYTES: usize = 64;

/// Serves one disclosure of one dispatcher to clients.
pub struct Server {
    dispatcher: Arc<Dispatcher>,
    disclosure: Arc<dyn Disclosure>,
    /// Who everybody is that reaches this endpoint.
    principal: Principal,
    surfaces: Surfaces,
}

/// The protocol era of one request, as far as results differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Handshake,
    Stateless,
}

/// The result of `tools/call`.
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

/// The result of `tools/list`.
#[derive(Serialize)]
struct ListResult<'a> {
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    tools: Vec<&'a RawValue>,
    #[serde(flatten)]
    caching: Option<Caching>,
}

/// What a client may keep of a list (MCP 2026-07-28): until it is told otherwise, for its own
/// principal alone.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Caching {
    ttl_ms: u64,
    cache_scope: &'static str,
}

impl Server {
    pub fn new(
        dispatcher: Arc<Dispatcher>,
        disclosure: Arc<dyn Disclosure>,
        principal: Principal,
    ) -> Arc<Self> {
        Arc::new(Self { dispatcher, disclosure, principal, surfaces: Surfaces::default() })
    }

    /// The principal behind a client that calls itself by this name.
    pub(crate) fn principal(&self, client: Option<&str>) -> Arc<Principal> {
        let client = client.filter(|name| name.len() <= CLIENT_NAME_BYTES).map(ClientName::new);
        Arc::new(Principal { client, ..self.principal.clone() })
    }

    pub(crate) fn epochs(&self) -> watch::Receiver<u64> {
        self.dispatcher.epochs()
    }

    pub(crate) fn pin(&self, principal: Arc<Principal>) -> Pinned {
        self.dispatcher.pin(principal)
    }

    /// What this principal's model is given at first.
    pub(crate) fn surface(&self, pinned: &Pinned) -> Arc<Surface> {
        self.surfaces.get(pinned.view(), |view| self.disclosure.surface(view))
    }

    /// The result of `tools/list`.
    pub(crate) fn list_tools(&self, principal: Arc<Principal>, shape: Shape) -> String {
        let surface = self.surface(&self.pin(principal));
        self.dispatcher.counters().listed();
        let is_stateless = shape == Shape::Stateless;
        to_text(&ListResult {
            result_type: is_stateless.then_some("complete"),
            tools: surface.tools.iter().map(|tool| &*tool.definition).collect(),
            caching: is_stateless.then_some(Caching { ttl_ms: 0, cache_scope: "private" }),
        })
    }

    /// The result of `tools/call`. Nothing that goes wrong with a call is an error of the
    /// protocol: the model is to read it and try again.
    pub(crate) async fn call_tool(
        &self,
        principal: Arc<Principal>,
        name: &str,
        arguments: &RawValue,
        caller: Caller,
        shape: Shape,
    ) -> String {
        let pinned = self.pin(principal);
        let reply = match self.disclosure.interpret(pinned.view(), name, arguments) {
            Ok(Step::Call(operation)) => self.operate(&pinned, name, operation, caller).await,
            Ok(Step::Reply(reply)) => discovered(&pinned, name, arguments, reply).await,
            Err(mend) => discovered(&pinned, name, arguments, mend.into()).await,
        };
        to_text(&CallResult {
            result_type: (shape == Shape::Stateless).then_some("complete"),
            content: &reply.content,
            structured: reply.structured.as_deref(),
            is_error: reply.is_error,
            meta: reply.meta.as_deref(),
        })
    }

    async fn operate(
        &self,
        pinned: &Pinned,
        name: &str,
        operation: Operation,
        caller: Caller,
    ) -> Reply {
        // The call itself is spent with its permit; the copy is for wording its result.
        let asked = operation.clone();
        let result = pinned.call(operation, None, caller).await;
        if let Err(error) = &result {
            log_failure(error);
        }
        self.disclosure.render(pinned.view(), name, &asked, result)
    }
}

async fn discovered(pinned: &Pinned, name: &str, arguments: &RawValue, reply: Reply) -> Reply {
    let bytes = reply.content.iter().map(|block| block.get().len()).sum();
    let tokens = reply.content.iter().map(|block| token_bound(block.get())).sum();
    pinned.counters().spent_on_discovery(tokens);
    pinned.discovered(name, arguments, bytes, reply.is_error).await;
    reply
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

fn to_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("results have only string keys")
}
