//! Subscriptions at a server of the stateless era: one `subscriptions/listen` for everything.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::super::back_channel::BackChannel;
use super::super::handshake::AnnouncedLists;
use super::super::http::STREAM_EVENT_BYTES;
use super::super::message::Reply;
use super::super::notices::ServerNotices;
use super::super::params::{OutgoingMeta, OutgoingParams, RequestSender, SenderIdentity};
use super::super::request::{RequestKind, WireError, WireRequest};
use super::super::subscription_log::SubscriptionLog;
use super::super::wire::Wire;
use crate::protocol::{SubscriptionFilter, methods, rpc};

/// How long a server may take to acknowledge.
const LISTEN_DEADLINE: Duration = Duration::from_secs(15);
/// The wait before listening again to a server that ended it. It grows each time in a row.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The standing request of one session, and the resources in it.
pub(super) struct SubscriptionKeeper {
    wanted: watch::Sender<WantedResources>,
    heard: watch::Receiver<ConfirmedResources>,
}

/// What to listen to. Each change has a number.
#[derive(Clone, Default)]
struct WantedResources {
    number: u64,
    uris: BTreeSet<Arc<str>>,
}

/// What the server acknowledged last.
#[derive(Clone, Default)]
struct ConfirmedResources {
    number: u64,
    uris: BTreeSet<Arc<str>>,
    /// Why it acknowledged nothing.
    error: Option<String>,
}

impl SubscriptionKeeper {
    pub(super) fn begin(
        wire: Wire,
        client: Arc<SenderIdentity>,
        announced: AnnouncedLists,
        notices: ServerNotices,
        ends: CancellationToken,
    ) -> Self {
        let (wanted, changes) = watch::channel(WantedResources::default());
        let (acknowledged, heard) = watch::channel(ConfirmedResources::default());
        let listener =
            SubscriptionTask { wire, client, announced, notices, wanted: changes, acknowledged };
        tokio::spawn(async move { ends.run_until_cancelled(listener.run()).await });
        Self { wanted, heard }
    }

    /// Listens to more resources, and waits for the server's acknowledgment. Those that it does not
    /// acknowledge are dropped again.
    pub(super) async fn add(&self, uris: &[Arc<str>]) -> Result<(), String> {
        let mut adding = PendingAddition { listening: self, uris: uris.to_vec() };
        let mut number = 0;
        self.wanted.send_modify(|wanted| {
            wanted.number += 1;
            wanted.uris.extend(uris.iter().cloned());
            number = wanted.number;
        });
        let mut heard = self.heard.clone();
        let gone = || "the connection has ended".to_owned();
        let heard = heard.wait_for(|heard| heard.number >= number).await.map_err(|_| gone())?;
        adding.uris.retain(|uri| !heard.uris.contains(uri));
        if adding.uris.is_empty() {
            return Ok(());
        }
        let error = heard.error.clone();
        Err(error.unwrap_or_else(|| "the server does not tell of its changes".to_owned()))
    }

    pub(super) fn remove(&self, uris: &[Arc<str>]) {
        self.wanted.send_if_modified(|wanted| {
            let before = wanted.uris.len();
            wanted.uris.retain(|uri| !uris.contains(uri));
            let is_less = wanted.uris.len() < before;
            wanted.number += u64::from(is_less);
            is_less
        });
    }
}

/// Resources that are about to be listened to. Dropping this removes those not acknowledged yet.
struct PendingAddition<'a> {
    listening: &'a SubscriptionKeeper,
    uris: Vec<Arc<str>>,
}

impl Drop for PendingAddition<'_> {
    fn drop(&mut self) {
        self.listening.remove(&self.uris);
    }
}

struct SubscriptionTask {
    wire: Wire,
    client: Arc<SenderIdentity>,
    announced: AnnouncedLists,
    notices: ServerNotices,
    wanted: watch::Receiver<WantedResources>,
    acknowledged: watch::Sender<ConfirmedResources>,
}

/// A subscription that the server has acknowledged. Dropping it ends it.
struct Subscription {
    request: AbortOnDropHandle<Result<Reply, WireError>>,
    log: Arc<SubscriptionLog>,
}

/// Why a server was not listened to.
enum ListenError {
    /// The server refused.
    Refused,
    /// It may work later.
    Failed,
    /// The connection has ended.
    Over,
}

/// Why a subscription is not read any more.
enum SubscriptionEvent {
    /// Something else is wanted.
    Changed,
    Ended,
    /// The session is gone, and with it everything that was wanted.
    Over,
}

impl SubscriptionTask {
    async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        // Read until its successor is acknowledged, so that no change is missed in between.
        let mut current: Option<Subscription> = None;
        let mut is_gap = false;
        loop {
            let wanted = self.wanted.borrow_and_update().clone();
            let next = if let Some(filter) = self.filter(&wanted) {
                self.listen(filter, &wanted).await
            } else {
                self.tell(&wanted, BTreeSet::new(), None);
                Ok(None)
            };
            let turn = match next {
                // Asking again would get the same refusal. The previous subscription goes on.
                Err(ListenError::Refused) => self.read(&mut current, &mut pause).await,
                Err(ListenError::Over) => return,
                next => {
                    let is_heard = next.is_ok();
                    current = next.unwrap_or_default();
                    if is_heard {
                        if std::mem::take(&mut is_gap) {
                            self.may_have_changed();
                        }
                        self.read(&mut current, &mut pause).await
                    } else {
                        SubscriptionEvent::Ended
                    }
                }
            };
            if matches!(turn, SubscriptionEvent::Ended) {
                current = None;
            }
            match turn {
                SubscriptionEvent::Changed => {}
                SubscriptionEvent::Over => return,
                SubscriptionEvent::Ended => {
                    is_gap = true;
                    tokio::select! {
                        () = sleep(pause) => {}
                        _ = self.wanted.changed() => {}
                    }
                    pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Reports everything listened to as changed, because changes during the gap are unknown.
    fn may_have_changed(&self) {
        self.notices.list_changed.notify_one();
        for uri in &self.acknowledged.borrow().uris {
            self.notices.updated(uri);
        }
    }

    fn filter(&self, wanted: &WantedResources) -> Option<SubscriptionFilter> {
        let filter = SubscriptionFilter {
            tools_list_changed: self.announced.tools,
            prompts_list_changed: self.announced.prompts,
            resources_list_changed: self.announced.resources,
            resource_subscriptions: wanted.uris.iter().map(ToString::to_string).collect(),
        };
        (filter != SubscriptionFilter::default()).then_some(filter)
    }

    async fn listen(
        &self,
        filter: SubscriptionFilter,
        wanted: &WantedResources,
    ) -> Result<Option<Subscription>, ListenError> {
        let mut subscription = self.subscribe(&filter);
        let (told, error) = tokio::select! {
            biased;
            mut uris = subscription.log.acknowledged() => {
                // Ignore what the server acknowledges beyond what we asked for.
                uris.retain(|uri| wanted.uris.contains(uri));
                self.tell(wanted, uris, None);
                return Ok(Some(subscription));
            }
            answer = &mut subscription.request => {
                if let Ok(Ok(Reply::Error(error))) = answer {
                    (error.message, ListenError::Refused)
                } else {
                    let told = "the server could not be listened to".to_owned();
                    let is_over = self.wire.ended().is_some();
                    (told, if is_over { ListenError::Over } else { ListenError::Failed })
                }
            }
            () = sleep(LISTEN_DEADLINE) => {
                ("the server did not acknowledge it in time".to_owned(), ListenError::Failed)
            }
        };
        tracing::debug!(reason = told, "listening came to nothing");
        self.tell(wanted, BTreeSet::new(), Some(told));
        Err(error)
    }

    /// Sends the request, which stays under way until the subscription is dropped or the server ends
    /// it. In a task of its own, because a stream is only read while somebody waits for its answer.
    fn subscribe(&self, filter: &SubscriptionFilter) -> Subscription {
        let id = self.wire.next_id();
        let client = Some(RequestSender { greeting: &self.client, capabilities: None });
        let meta = OutgoingMeta { client, ..OutgoingMeta::default() };
        let params =
            OutgoingParams { notifications: Some(filter), meta, ..OutgoingParams::default() };
        let log = Arc::new(SubscriptionLog::default());
        let (kind, method) = (RequestKind::Subscription, methods::LISTEN);
        let text = rpc::request(id, method, &params);
        let request = WireRequest {
            back_channel: Arc::new(BackChannel::of_subscription(log.clone())),
            ..WireRequest::of_ours(id, kind, method, text, STREAM_EVENT_BYTES)
        };
        let wire = self.wire.clone();
        let request = tokio::spawn(async move { wire.request(request).await });
        Subscription { request: AbortOnDropHandle::new(request), log }
    }

    fn tell(&self, wanted: &WantedResources, uris: BTreeSet<Arc<str>>, error: Option<String>) {
        let _ = self.acknowledged.send(ConfirmedResources { number: wanted.number, uris, error });
    }

    async fn changed(&mut self) -> SubscriptionEvent {
        if self.wanted.changed().await.is_ok() {
            SubscriptionEvent::Changed
        } else {
            SubscriptionEvent::Over
        }
    }

    /// Reads the subscription until it ends or something else is wanted.
    async fn read(
        &mut self,
        current: &mut Option<Subscription>,
        pause: &mut Duration,
    ) -> SubscriptionEvent {
        let Some(subscription) = current else {
            return self.changed().await;
        };
        tokio::select! {
            changed = self.wanted.changed() => {
                if changed.is_ok() { SubscriptionEvent::Changed } else { SubscriptionEvent::Over }
            }
            _ = &mut subscription.request => {
                // One that delivered something is retried soon.
                if subscription.log.has_told() {
                    *pause = FIRST_PAUSE;
                }
                SubscriptionEvent::Ended
            }
        }
    }
}
