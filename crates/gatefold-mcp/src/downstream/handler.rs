//! What rmcp asks of the gateway: greetings, notices of changed lists, and over stdio the calls.

use std::sync::Arc;

use gatefold_core::Principal;
use gatefold_dispatch::{Caller, Event, EventSink, NoPeer, TraceContext};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientNotification, ClientRequest,
    CustomResult, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ServerCapabilities, ServerConfig,
    ServerResult, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, Service, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::server::{Server, Shape};

/// Progress messages that wait for a client that reads slowly.
pub(super) const PROGRESS_QUEUE: usize = 16;

/// The gateway for one session of rmcp's.
#[derive(Clone)]
pub(crate) struct Handler {
    server: Arc<Server>,
}

impl Handler {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    fn principal(&self, context: &RequestContext<RoleServer>) -> Arc<Principal> {
        self.server.principal(context.client_info().map(|info| info.name).as_deref())
    }

    /// Calls a tool and relays its progress meanwhile, all in the task of the request: rmcp ties
    /// what is sent from there to the right stream.
    async fn call(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> String {
        let arguments = arguments(&params);
        let (events, mut progress) = mpsc::channel(PROGRESS_QUEUE);
        let token = context.meta.get_progress_token();
        let caller = Caller {
            events: if token.is_some() { EventSink::new(events) } else { EventSink::none() },
            peer: Arc::new(NoPeer),
            cancel: context.ct.clone(),
            trace: trace(&context),
        };
        let principal = self.principal(&context);
        let shape = shape(&context);
        let call = self.server.call_tool(principal, &params.name, &arguments, caller, shape);
        let mut call = std::pin::pin!(call);
        loop {
            tokio::select! {
                biased;
                Some(event) = progress.recv(), if token.is_some() => {
                    relay(&context.peer, token.clone(), &event).await;
                }
                result = &mut call => return result,
            }
        }
    }
}

fn arguments(params: &CallToolRequestParams) -> Box<RawValue> {
    let arguments = params.arguments.as_ref();
    let null = || RawValue::NULL.to_owned();
    arguments.map_or_else(null, |map| to_raw_value(map).unwrap_or_else(|_| null()))
}

fn shape(context: &RequestContext<RoleServer>) -> Shape {
    let is_stateless = context.protocol_version().is_some_and(|version| !version.has_initialize());
    if is_stateless { Shape::Stateless } else { Shape::Handshake }
}

fn trace(context: &RequestContext<RoleServer>) -> TraceContext {
    let text = |key| context.meta.get(key).and_then(|v| v.as_str()).map(str::to_owned);
    TraceContext { traceparent: text("traceparent"), tracestate: text("tracestate") }
}

async fn relay(peer: &Peer<RoleServer>, token: Option<ProgressToken>, event: &Event) {
    #[derive(serde::Deserialize)]
    struct Said {
        #[serde(default)]
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    }
    let Event::Progress(params) = event;
    let (Some(token), Ok(said)) = (token, serde_json::from_str::<Said>(params.get())) else {
        return;
    };
    let mut notice = ProgressNotificationParam::new(token, said.progress);
    notice.total = said.total;
    notice.message = said.message;
    // A client that is gone shows in the call itself.
    let _ = peer.notify_progress(notice).await;
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let surface = self.server.surface(&self.server.pin(self.server.principal(None)));
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let mut info = ServerConfig::new(tools.build());
        info.server_info = Implementation::new("gatefold", env!("CARGO_PKG_VERSION"));
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info.instructions = Some(surface.instructions.clone());
        info
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        typed(&self.server.list_tools(self.principal(&context), shape(&context)))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        typed::<CallToolResult>(&self.call(params, context).await).map(Into::into)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tokio::spawn(tell_changes(self.server.clone(), context.peer));
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let principal = self.principal(subscription.request_context());
        let mut changes = Changes::new(self.server.clone(), principal);
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                is_alive = changes.next() => {
                    if !is_alive || subscription.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Tells a client of the handshake era whenever its list has changed, until it is gone.
async fn tell_changes(server: Arc<Server>, peer: Peer<RoleServer>) {
    let client = peer.peer_info().map(|info| info.client_info.name.clone());
    let principal = server.principal(client.as_deref());
    let mut changes = Changes::new(server, principal);
    while changes.next().await {
        if peer.notify_tool_list_changed().await.is_err() {
            return;
        }
    }
}

/// The changes of one principal's tool list. A new epoch that gives the same bytes is none.
struct Changes {
    server: Arc<Server>,
    principal: Arc<Principal>,
    epochs: tokio::sync::watch::Receiver<u64>,
    list: String,
}

impl Changes {
    fn new(server: Arc<Server>, principal: Arc<Principal>) -> Self {
        let epochs = server.epochs();
        let list = server.list_tools(principal.clone(), Shape::Handshake);
        Self { server, principal, epochs, list }
    }

    /// Waits for the next change; false when there will be none.
    async fn next(&mut self) -> bool {
        while self.epochs.changed().await.is_ok() {
            let list = self.server.list_tools(self.principal.clone(), Shape::Handshake);
            if list != self.list {
                self.list = list;
                return true;
            }
        }
        false
    }
}

fn typed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, ErrorData> {
    serde_json::from_str(text)
        .map_err(|_| ErrorData::internal_error("the result is not one that MCP knows", None))
}

/// The handler for stdio: lists and results go out as they are, where rmcp's types would drop what
/// they do not know.
pub(crate) struct Verbatim {
    handler: Handler,
    /// Counts the calls under way.
    calls: TaskTracker,
}

impl Verbatim {
    pub(crate) fn new(handler: Handler, calls: TaskTracker) -> Self {
        Self { handler, calls }
    }
}

impl Service<RoleServer> for Verbatim {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let is_right = is_right(&context);
        match request {
            ClientRequest::CallToolRequest(call) if is_right => {
                let call = self.handler.call(call.params, context);
                verbatim(&self.calls.track_future(call).await)
            }
            ClientRequest::ListToolsRequest(_) if is_right => {
                let principal = self.handler.principal(&context);
                verbatim(&self.handler.server.list_tools(principal, shape(&context)))
            }
            request => Service::handle_request(&self.handler, request, context).await,
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.handler, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.handler)
    }
}

/// Whether the request says about itself what its era demands. One that does not is the
/// handler's to refuse.
fn is_right(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    match context.meta.protocol_version() {
        None => version.is_some_and(|version| version.has_initialize()),
        Some(version) => {
            version == ProtocolVersion::V_2026_07_28
                && context.meta.missing_required_keys(&version).is_empty()
        }
    }
}

fn verbatim(text: &str) -> Result<ServerResult, ErrorData> {
    typed(text).map(|value| ServerResult::CustomResult(CustomResult(value)))
}
