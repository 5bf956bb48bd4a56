//! `subscriptions/listen`: the stream of notices of a client in the stateless era.

use std::collections::VecDeque;
use std::sync::Arc;

use gatefold_dispatch::Caller;
use gatefold_exchange::Audience;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::fields::URI_BYTES;
use super::greetings;
use super::notices::{NoticeFeed, WantedLists, stream_meta};
use super::server::Server;
use super::subscriptions::SUBSCRIPTIONS;
use crate::protocol::rpc::{self, notice, to_text};
use crate::protocol::{Era, RpcError, SubscriptionFilter, methods};

/// An open stream of notices: it first says which notices it brings, and at a shutdown that it is
/// over.
pub(super) struct ListenStream {
    id: Box<RawValue>,
    first: VecDeque<String>,
    notices: NoticeFeed,
    /// Fires when the gateway wants to end the stream.
    end: CancellationToken,
    is_over: bool,
}

impl ListenStream {
    pub(super) async fn open(
        server: Arc<Server>,
        audience: Audience,
        client: &Client,
        id: Box<RawValue>,
        filter: SubscriptionFilter,
        end: CancellationToken,
    ) -> Result<Self, RpcError> {
        let principal = client.principal.clone();
        let audience = server.for_client(&audience, client.name.as_ref());
        let audience = client.audience_of(audience);
        let scope = server.informed_scope(&audience, principal.clone(), Era::Stateless).await;
        let scope = scope.ok_or_else(|| RpcError::invalid_request("there is no such source"))?;
        let offers = greetings::offers(&scope);
        let wanted = WantedLists {
            tools: filter.tools_list_changed && offers.tools,
            prompts: filter.prompts_list_changed && offers.prompts,
            resources: filter.resources_list_changed && offers.resources,
        };
        let uris = filter.resource_subscriptions;
        if uris.len() > SUBSCRIPTIONS || uris.iter().any(|uri| uri.len() > URI_BYTES) {
            return Err(RpcError::invalid_params(format!(
                "`resourceSubscriptions` may name {SUBSCRIPTIONS} resources, each of up to \
                 {URI_BYTES} bytes"
            )));
        }
        let subscriptions = server.subscriptions(principal.clone());
        let stream = Some(id.clone());
        let held = subscriptions.clone();
        let notices = NoticeFeed::new(server, audience, principal, wanted, held, stream);
        let mut subscribed = Vec::new();
        for uri in uris {
            // A failed subscription is left out of the acknowledgement.
            match scope.subscribe(&subscriptions, &uri, Caller::silent()).await {
                Ok(()) => subscribed.push(uri),
                Err(error) => tracing::debug!(error = error.message, "a subscription was refused"),
            }
        }
        let first = VecDeque::from([acknowledged(&id, wanted, &subscribed)]);
        Ok(Self { id, first, notices, end, is_over: false })
    }

    /// The next message of the stream; nothing once it is over.
    pub(super) async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.pop_front() {
            return Some(first);
        }
        if self.is_over {
            return None;
        }
        let next = tokio::select! {
            biased;
            () = self.end.cancelled() => None,
            next = self.notices.next() => next,
        };
        if next.is_none() {
            self.is_over = true;
            let result = format!(r#"{{"resultType":"complete",{}}}"#, stream_meta(&self.id));
            return Some(rpc::answer(&self.id, &Ok(result)));
        }
        next
    }
}

fn acknowledged(id: &RawValue, wanted: WantedLists, subscribed: &[String]) -> String {
    let WantedLists { tools, prompts, resources } = wanted;
    let mut honoured = Vec::new();
    for (key, is_honoured) in [
        ("toolsListChanged", tools),
        ("promptsListChanged", prompts),
        ("resourcesListChanged", resources),
    ] {
        if is_honoured {
            honoured.push(format!(r#""{key}":true"#));
        }
    }
    if !subscribed.is_empty() {
        honoured.push(format!(r#""resourceSubscriptions":{}"#, to_text(subscribed)));
    }
    let params = format!(r#"{{"notifications":{{{}}},{}}}"#, honoured.join(","), stream_meta(id));
    notice(methods::LISTENING, &params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_honoured_is_acknowledged() {
        let id = RawValue::from_string("\"s\"".to_owned()).unwrap();
        let wanted = WantedLists { tools: true, prompts: false, resources: false };
        assert_eq!(
            acknowledged(&id, wanted, &["a://b".to_owned()]),
            r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a://b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}"#
        );
    }
}
