//! Notices to a client besides answers: a list or a resource has changed.

use std::sync::Arc;

use gatefold_core::Principal;
use gatefold_dispatch::ResourceUpdate;
use gatefold_exchange::{Audience, ListDigests};
use serde_json::value::RawValue;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::server::Server;
use super::subscriptions::ClientSubscriptions;
use crate::protocol::rpc::{notice, to_text};
use crate::protocol::{meta, methods};

/// The lists whose changes a client wants to hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WantedLists {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
}

impl WantedLists {
    pub(super) const ALL: Self = Self { tools: true, prompts: true, resources: true };
}

/// One notice.
#[derive(Debug, PartialEq, Eq)]
enum Notice {
    Tools,
    Prompts,
    Resources,
    /// By the client's name for the resource.
    Updated(String),
}

impl Notice {
    /// The notification. In the stateless era it names the stream that it is for.
    fn text(&self, stream: Option<&RawValue>) -> String {
        let method = match self {
            Self::Tools => methods::TOOLS_CHANGED,
            Self::Prompts => methods::PROMPTS_CHANGED,
            Self::Resources => methods::RESOURCES_CHANGED,
            Self::Updated(_) => methods::RESOURCE_UPDATED,
        };
        let uri = match self {
            Self::Updated(uri) => Some(format!(r#""uri":{}"#, to_text(uri))),
            _ => None,
        };
        let meta = stream.map(stream_meta);
        let members: Vec<_> = uri.into_iter().chain(meta).collect();
        notice(method, &format!("{{{}}}", members.join(",")))
    }
}

/// The `_meta` of messages on a stream of notices (MCP 2026-07-28).
pub(super) fn stream_meta(stream: &RawValue) -> String {
    format!(r#""_meta":{{"{}":{stream}}}"#, meta::SUBSCRIPTION_ID)
}

/// The notices for one client, in order. A new epoch with the same lists causes none.
pub(super) struct NoticeFeed {
    server: Arc<Server>,
    audience: Audience,
    principal: Arc<Principal>,
    wanted: WantedLists,
    subscriptions: Arc<ClientSubscriptions>,
    stream: Option<Box<RawValue>>,
    epochs: watch::Receiver<u64>,
    /// Fires when the client's session has found other tools.
    registered: Option<watch::Receiver<()>>,
    updates: broadcast::Receiver<ResourceUpdate>,
    seen: Option<ListDigests>,
    /// Sent before waiting for anything else.
    due: Vec<Notice>,
}

impl NoticeFeed {
    pub(super) fn new(
        server: Arc<Server>,
        audience: Audience,
        principal: Arc<Principal>,
        wanted: WantedLists,
        subscriptions: Arc<ClientSubscriptions>,
        stream: Option<Box<RawValue>>,
    ) -> Self {
        let (epochs, updates) = (server.epochs(), server.updates());
        let registered = audience.registered().map(|tools| tools.changes());
        let seen = server.digests(&audience, &principal);
        let due = Vec::new();
        Self {
            server,
            audience,
            principal,
            wanted,
            subscriptions,
            stream,
            epochs,
            registered,
            updates,
            seen,
            due,
        }
    }

    /// The next notification; nothing when there will be no more.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(notice) = self.due.pop() {
                return Some(notice.text(self.stream.as_deref()));
            }
            tokio::select! {
                changed = self.epochs.changed() => {
                    changed.ok()?;
                    self.compare();
                }
                () = changed(&mut self.registered) => self.compare(),
                update = self.updates.recv() => match update {
                    Ok(update) => {
                        self.due.extend(self.subscriptions.called(&update).map(Notice::Updated));
                    }
                    // Some were missed; the client sees the changes when it next reads.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }

    fn compare(&mut self) {
        let now = self.server.digests(&self.audience, &self.principal);
        // A resource that the client may no longer see must not be announced either.
        self.subscriptions
            .retain(|domain, uri| self.server.sees_resource(&self.principal, domain, uri));
        let of = |seen: Option<ListDigests>, part: fn(ListDigests) -> u64| seen.map(part);
        let seen = std::mem::replace(&mut self.seen, now);
        let differs = |part| of(seen, part) != of(now, part);
        let WantedLists { tools, prompts, resources } = self.wanted;
        if tools && differs(|digests| digests.tools) {
            self.due.push(Notice::Tools);
        }
        if prompts && differs(|digests| digests.prompts) {
            self.due.push(Notice::Prompts);
        }
        if resources && differs(|digests| digests.resources) {
            self.due.push(Notice::Resources);
        }
    }
}

/// Waits for a change; for ever where there is nothing that changes.
async fn changed(registered: &mut Option<watch::Receiver<()>>) {
    if let Some(registered) = registered
        && registered.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_names_its_stream_where_there_are_several() {
        let stream = RawValue::from_string("7".to_owned()).unwrap();
        assert_eq!(
            Notice::Tools.text(None),
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}"#
        );
        assert_eq!(
            Notice::Updated("a://b".to_owned()).text(Some(&stream)),
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b","_meta":{"io.modelcontextprotocol/subscriptionId":7}}}"#
        );
    }
}
