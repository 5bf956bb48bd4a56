//! What a server says on `subscriptions/listen`, as far as its keeper needs to know.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use tokio::sync::watch;

use super::message::ServerMessage;
use crate::protocol::{SubscriptionFilter, methods};

/// The server's side of one subscription: whether it was acknowledged, and whether anything
/// followed.
#[derive(Default)]
pub(crate) struct SubscriptionLog {
    /// The resources that the server has agreed to report, once it has.
    acknowledged: watch::Sender<Option<BTreeSet<Arc<str>>>>,
    has_told: AtomicBool,
}

impl SubscriptionLog {
    /// Notes a notification that came on the subscription.
    pub(crate) fn note(&self, message: &ServerMessage<'_>) {
        #[derive(Default, Deserialize)]
        struct Acknowledgment {
            #[serde(default)]
            notifications: SubscriptionFilter,
        }
        if message.method.as_deref() != Some(methods::LISTENING) {
            self.has_told.store(true, Ordering::Release);
            return;
        }
        let params = message.params.map_or("{}", |params| params.get());
        let said: Acknowledgment = serde_json::from_str(params).unwrap_or_default();
        let uris = said.notifications.resource_subscriptions.into_iter();
        self.acknowledged.send_replace(Some(uris.map(Arc::from).collect()));
    }

    /// Waits until the server has acknowledged the subscription.
    pub(crate) async fn acknowledged(&self) -> BTreeSet<Arc<str>> {
        let mut acknowledged = self.acknowledged.subscribe();
        let uris = acknowledged.wait_for(Option::is_some).await;
        uris.ok().and_then(|uris| uris.clone()).unwrap_or_default()
    }

    /// Whether the server has sent anything but the acknowledgment.
    pub(crate) fn has_told(&self) -> bool {
        self.has_told.load(Ordering::Acquire)
    }
}
