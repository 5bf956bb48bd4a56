//! What a server of the stateless era is asked to tell of: one `subscriptions/listen` for all.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, ServiceError, Subscription};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::super::news::News;
use super::offered::Told;

/// How long a server may take to acknowledge.
const LISTEN_DEADLINE: Duration = Duration::from_secs(15);
/// How long to wait before listening again to a server that ended it: longer each time in a row.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The standing request of one session, and the resources in it.
pub(super) struct Listening {
    wanted: watch::Sender<Wanted>,
    heard: watch::Receiver<Heard>,
}

/// What to listen to. Each change has a number.
#[derive(Clone, Default)]
struct Wanted {
    number: u64,
    uris: BTreeSet<Arc<str>>,
}

/// What the server acknowledged last.
#[derive(Clone, Default)]
struct Heard {
    number: u64,
    uris: BTreeSet<Arc<str>>,
    /// Why it acknowledged nothing.
    error: Option<String>,
}

impl Listening {
    pub(super) fn begin(
        peer: Peer<RoleClient>,
        told: Told,
        news: News,
        ends: CancellationToken,
    ) -> Self {
        let (wanted, changes) = watch::channel(Wanted::default());
        let (acknowledged, heard) = watch::channel(Heard::default());
        let listener = Listener { peer, told, news, wanted: changes, acknowledged };
        tokio::spawn(async move { ends.run_until_cancelled(listener.run()).await });
        Self { wanted, heard }
    }

    /// Listens to more resources. Returns when the server has acknowledged all of them; those that
    /// it has not are not listened to.
    pub(super) async fn add(&self, uris: &[Arc<str>]) -> Result<(), String> {
        let mut adding = Adding { listening: self, uris: uris.to_vec() };
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

/// Resources that are about to be listened to. Whoever gives up takes them back.
struct Adding<'a> {
    listening: &'a Listening,
    uris: Vec<Arc<str>>,
}

impl Drop for Adding<'_> {
    fn drop(&mut self) {
        self.listening.remove(&self.uris);
    }
}

struct Listener {
    peer: Peer<RoleClient>,
    told: Told,
    news: News,
    wanted: watch::Receiver<Wanted>,
    acknowledged: watch::Sender<Heard>,
}

/// Why a subscription is not read any more.
enum Turn {
    /// Something else is wanted.
    Changed,
    Ended,
    /// Nobody can want anything any more.
    Over,
}

impl Listener {
    async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        // Read until the one that follows it is acknowledged, so that nothing falls between.
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
                // The server has answered: asked the same again it would say the same. What it
                // acknowledged before goes on.
                Err(ServiceError::McpError(_)) => self.read(&mut current, &mut pause).await,
                Err(ServiceError::TransportClosed) => return,
                next => {
                    let is_heard = next.is_ok();
                    let old = std::mem::replace(&mut current, next.unwrap_or_default());
                    if let Some(mut old) = old {
                        let _ = old.cancel().await;
                    }
                    if is_heard {
                        if std::mem::take(&mut is_gap) {
                            self.may_have_changed();
                        }
                        self.read(&mut current, &mut pause).await
                    } else {
                        Turn::Ended
                    }
                }
            };
            if matches!(turn, Turn::Ended) {
                current = None;
            }
            match turn {
                Turn::Changed => {}
                Turn::Over => return,
                Turn::Ended => {
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

    /// Tells of everything that is listened to: what changed while nobody listened is not known.
    fn may_have_changed(&self) {
        self.news.list_changed.notify_one();
        for uri in &self.acknowledged.borrow().uris {
            self.news.updated(uri);
        }
    }

    fn filter(&self, wanted: &Wanted) -> Option<SubscriptionFilter> {
        let mut filter = SubscriptionFilter::new();
        let flag = |wanted: bool| wanted.then_some(true);
        filter.tools_list_changed = flag(self.told.tools);
        filter.prompts_list_changed = flag(self.told.prompts);
        filter.resources_list_changed = flag(self.told.resources);
        if !wanted.uris.is_empty() {
            let uris = wanted.uris.iter().map(ToString::to_string);
            filter.resource_subscriptions = Some(uris.collect());
        }
        (filter != SubscriptionFilter::new()).then_some(filter)
    }

    async fn listen(
        &self,
        filter: SubscriptionFilter,
        wanted: &Wanted,
    ) -> Result<Option<Subscription>, ServiceError> {
        let listening = timeout(LISTEN_DEADLINE, self.peer.listen(filter)).await;
        match listening {
            Ok(Ok(subscription)) => {
                let uris = subscription.acknowledged().resource_subscriptions.iter().flatten();
                let uris = uris.map(|uri| Arc::from(uri.as_str())).collect();
                self.tell(wanted, uris, None);
                Ok(Some(subscription))
            }
            Ok(Err(error)) => {
                let told = match &error {
                    ServiceError::McpError(error) => error.message.to_string(),
                    _ => "the server could not be listened to".to_owned(),
                };
                tracing::debug!(%error, "listening was refused");
                self.tell(wanted, BTreeSet::new(), Some(told));
                Err(error)
            }
            Err(_) => {
                let told = "the server did not acknowledge it in time".to_owned();
                self.tell(wanted, BTreeSet::new(), Some(told));
                Err(ServiceError::UnexpectedResponse)
            }
        }
    }

    fn tell(&self, wanted: &Wanted, uris: BTreeSet<Arc<str>>, error: Option<String>) {
        let _ = self.acknowledged.send(Heard { number: wanted.number, uris, error });
    }

    async fn changed(&mut self) -> Turn {
        if self.wanted.changed().await.is_ok() { Turn::Changed } else { Turn::Over }
    }

    /// Passes on what the server tells until something else is wanted.
    async fn read(&mut self, current: &mut Option<Subscription>, pause: &mut Duration) -> Turn {
        let Some(subscription) = current else {
            return self.changed().await;
        };
        loop {
            tokio::select! {
                changed = self.wanted.changed() => {
                    return if changed.is_ok() { Turn::Changed } else { Turn::Over };
                }
                told = subscription.next() => match told {
                    Ok(Some(notification)) => {
                        *pause = FIRST_PAUSE;
                        take(&self.news, &notification);
                    }
                    Ok(None) | Err(_) => return Turn::Ended,
                },
            }
        }
    }
}

fn take(news: &News, notification: &ServerNotification) {
    match notification {
        ServerNotification::ResourceUpdatedNotification(updated) => {
            news.updated(&updated.params.uri);
        }
        ServerNotification::ToolListChangedNotification(_)
        | ServerNotification::PromptListChangedNotification(_)
        | ServerNotification::ResourceListChangedNotification(_) => {
            news.list_changed.notify_one();
        }
        _ => {}
    }
}
