//! One open connection: the handshake behind it, calls and lists over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use gatefold_catalog::{Manifest, ServerInfo};
use gatefold_core::Timestamp;
use gatefold_dispatch::{EventSink, TraceContext};
use rmcp::RoleClient;
use rmcp::service::RunningService;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::handler::Handler;
use super::message::{ClientMeta, FIRST_OWN_ID, Outgoing, Reply, RequestMeta, RpcError};
use super::wire::{Request, Wire, WireError};

/// The largest page of a list that is read, in bytes.
const PAGE_BYTES: u64 = 16 * 1024 * 1024;
/// Pages of one list. A server that gives out cursors without end is cut off here.
const PAGES: usize = 1000;
/// How long rmcp may take to close its side.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// What the handshake told about a server.
pub(crate) struct Greeting {
    pub(crate) server: ServerInfo,
    /// Present in the stateless era, where every request says who sends it.
    pub(crate) client: Option<ClientMeta>,
    pub(crate) has_tools: bool,
    pub(crate) tells_list_changes: bool,
}

pub(crate) struct Session {
    pub(crate) wire: Wire,
    pub(crate) greeting: Greeting,
    pub(crate) list_changed: Arc<Notify>,
    pub(crate) service: tokio::sync::Mutex<RunningService<RoleClient, Handler>>,
    pub(crate) began: Instant,
    next_id: AtomicU64,
    in_flight: AtomicUsize,
    /// Calls made so far, so that whoever watches sees whether the session was used meanwhile.
    uses: AtomicU64,
    listed: AtomicBool,
}

/// A call of one tool.
pub(crate) struct ToolCall<'a> {
    pub(crate) name: Arc<str>,
    pub(crate) arguments: &'a RawValue,
    pub(crate) events: EventSink,
    pub(crate) trace: &'a TraceContext,
    pub(crate) limit: u64,
}

#[derive(Serialize)]
struct CallParams<'a> {
    name: &'a str,
    arguments: &'a RawValue,
    #[serde(rename = "_meta", skip_serializing_if = "RequestMeta::is_empty")]
    meta: RequestMeta<'a>,
}

#[derive(Serialize)]
struct ListParams<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "RequestMeta::is_empty")]
    meta: RequestMeta<'a>,
}

/// Why a list could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("`tools/list` was refused: {}", .0.message)]
    Refused(RpcError),
    #[error("`tools/list` gave more than {PAGES} pages")]
    Endless,
    #[error("`tools/list` took longer than a connection may")]
    Late,
    #[error("`tools/list` gave the cursor it was asked with")]
    Circular,
}

impl Session {
    pub(crate) fn new(
        wire: Wire,
        greeting: Greeting,
        list_changed: Arc<Notify>,
        service: RunningService<RoleClient, Handler>,
    ) -> Self {
        Self {
            wire,
            greeting,
            list_changed,
            service: tokio::sync::Mutex::new(service),
            began: Instant::now(),
            next_id: AtomicU64::new(FIRST_OWN_ID),
            in_flight: AtomicUsize::new(0),
            uses: AtomicU64::new(0),
            listed: AtomicBool::new(false),
        }
    }

    pub(crate) async fn call(&self, call: ToolCall<'_>) -> Result<Reply, WireError> {
        let _using = self.using();
        let id = self.next_id();
        let meta = RequestMeta {
            progress_token: call.events.is_heard().then_some(id),
            traceparent: call.trace.traceparent.as_deref(),
            tracestate: call.trace.tracestate.as_deref(),
            client: self.greeting.client.as_ref(),
        };
        let params = CallParams { name: &call.name, arguments: call.arguments, meta };
        let text = Outgoing::new(id, "tools/call", params).to_text();
        let name = Some(call.name);
        let (events, limit) = (call.events, call.limit);
        self.wire.request(Request { id, method: "tools/call", name, text, events, limit }).await
    }

    /// Asks for all tools, page by page.
    pub(crate) async fn list(&self, now: Timestamp) -> Result<Manifest, ListError> {
        let mut pages = Vec::new();
        if self.greeting.has_tools {
            let mut cursor = None;
            loop {
                if pages.len() == PAGES {
                    return Err(ListError::Endless);
                }
                let (page, next) = self.page(cursor.as_deref()).await?;
                pages.push(page);
                match next {
                    None => break,
                    Some(next) if Some(&next) == cursor.as_ref() => {
                        return Err(ListError::Circular);
                    }
                    next => cursor = next,
                }
            }
        }
        Ok(Manifest::from_pages(self.greeting.server.clone(), &pages, now))
    }

    async fn page(
        &self,
        cursor: Option<&str>,
    ) -> Result<(Box<RawValue>, Option<String>), ListError> {
        #[derive(Deserialize)]
        struct Page {
            #[serde(rename = "nextCursor", default)]
            next: Option<String>,
        }
        let _using = self.using();
        let id = self.next_id();
        let meta = RequestMeta { client: self.greeting.client.as_ref(), ..Default::default() };
        let text = Outgoing::new(id, "tools/list", ListParams { cursor, meta }).to_text();
        let (events, limit) = (EventSink::none(), PAGE_BYTES);
        let request = Request { id, method: "tools/list", name: None, text, events, limit };
        match self.wire.request(request).await? {
            Reply::Result(page) => {
                let next = serde_json::from_str::<Page>(page.get()).ok().and_then(|p| p.next);
                Ok((page, next.filter(|cursor| !cursor.is_empty())))
            }
            Reply::Error(error) => Err(ListError::Refused(error)),
        }
    }

    /// Ends the session: rmcp's side first, which tells a remote server, then the connection.
    pub(crate) async fn close(&self) {
        let mut service = self.service.lock().await;
        if let Err(error) = service.close_with_timeout(CLOSE_DEADLINE).await {
            tracing::debug!(%error, "a session ended badly");
        }
        self.wire.close().await;
    }

    pub(crate) fn is_in_use(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) > 0
    }

    pub(crate) fn uses(&self) -> u64 {
        self.uses.load(Ordering::Acquire)
    }

    /// Whether this session gave its list already.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed.load(Ordering::Acquire)
    }

    pub(crate) fn set_listed(&self) {
        self.listed.store(true, Ordering::Release);
    }

    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn using(&self) -> Using<'_> {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        self.uses.fetch_add(1, Ordering::AcqRel);
        Using(&self.in_flight)
    }
}

struct Using<'a>(&'a AtomicUsize);

impl Drop for Using<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
