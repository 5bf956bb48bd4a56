use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures::future::join_all;
use gatefold_catalog::Snapshot;
use gatefold_core::{CallError, CallId, Clock, Domain, Principal};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::first_lists::FirstLists;
use crate::parking::ParkedCalls;
use crate::runtime::{Runtime, Setup, Slot, Slots, SourceReport, TurnHolder};
use crate::searching::SearchPlaces;
use crate::tasks::RunningTasks;
use crate::{Counters, Peer, Ports};

/// Holds the current runtime and begins calls on it.
pub struct Dispatcher {
    pub(crate) ports: Ports,
    pub(crate) counters: Arc<Counters>,
    runtime: ArcSwap<Runtime>,
    /// Held to replace the runtime, so that a reload and a new manifest do not undo each other.
    replacing: Mutex<()>,
    epochs: watch::Sender<u64>,
    /// The calls that wait for their clients' answers.
    pub(crate) parking: Arc<ParkedCalls>,
    /// The calls that go on as tasks.
    pub(crate) tasks: Arc<RunningTasks>,
    /// Where long searches run.
    pub(crate) searches: SearchPlaces,
    /// The sources that are being asked what they offer somebody.
    pub(crate) first_lists: FirstLists,
    /// Tells this dispatcher from others with the same seal key.
    pub(crate) owner: u64,
    updates: broadcast::Sender<ResourceUpdate>,
    /// The only client, if there is only one.
    sole_client: OnceLock<Arc<dyn Peer>>,
    /// Notified when a source has a new manifest.
    stale: Arc<Notify>,
    watchers: Mutex<Option<DropGuard>>,
    /// Removed sources that still finish their calls.
    retiring: TaskTracker,
    /// Fires when their time is up.
    closing: CancellationToken,
}

/// A resource that somebody subscribed to has changed.
#[derive(Debug, Clone)]
pub struct ResourceUpdate {
    pub domain: Domain,
    /// Its own URI, as its source knows it.
    pub uri: Arc<str>,
}

/// The most updates waiting for a listener. A slower one misses the oldest.
const UPDATES: usize = 256;

/// How long new manifests are collected before one new snapshot is built from all of them.
const GATHERING: Duration = Duration::from_millis(20);

impl Dispatcher {
    pub fn new(ports: Ports) -> Arc<Self> {
        Arc::new(Self {
            ports,
            counters: Arc::default(),
            runtime: ArcSwap::from_pointee(Runtime::empty()),
            replacing: Mutex::default(),
            epochs: watch::Sender::new(0),
            parking: Arc::default(),
            tasks: Arc::default(),
            searches: SearchPlaces::default(),
            first_lists: FirstLists::default(),
            owner: fastrand::u64(..),
            updates: broadcast::Sender::new(UPDATES),
            sole_client: OnceLock::new(),
            stale: Arc::default(),
            watchers: Mutex::default(),
            retiring: TaskTracker::new(),
            closing: CancellationToken::new(),
        })
    }

    /// Puts a setup into effect at once. Running calls end on the runtime they began with; sources
    /// that are no longer part of the setup are closed when their calls are done.
    ///
    /// Must be called within a Tokio runtime, which watches the sources' manifests.
    pub fn install(self: &Arc<Self>, setup: Setup) {
        let old = self.replace(|current| Some(current.next(setup)));
        let slots = self.runtime.load().slots.clone();
        self.watch(&slots);
        if let Some(client) = self.sole_client.get() {
            slots.values().for_each(|slot| slot.setup.source.clone().meet(client));
        }
        for gone in removed(&old.slots, &slots) {
            let retired = retire(gone, old.limits.drain, self.closing.clone());
            self.retiring.spawn(retired);
        }
    }

    /// Introduces the gateway's only client to all sources, including later ones. They may ask it
    /// something outside of its calls. Only the first call of this counts.
    pub fn meet(&self, client: Arc<dyn Peer>) {
        let client = self.sole_client.get_or_init(|| client);
        let slots = self.runtime.load().slots.clone();
        slots.values().for_each(|slot| slot.setup.source.clone().meet(client));
    }

    /// Tells the sources that got a client's roots that these have changed.
    pub fn roots_changed(&self, client: u64) {
        let slots = self.runtime.load().slots.clone();
        slots.values().for_each(|slot| slot.setup.source.roots_changed(client));
    }

    /// Fires with the new epoch whenever the catalogue or the policy was replaced, and with the
    /// same epoch when a source changes its offer to one identity, or somebody's most used tools
    /// change.
    pub fn epochs(&self) -> watch::Receiver<u64> {
        self.epochs.subscribe()
    }

    /// Fires for each changed resource that somebody subscribed to.
    pub fn updates(&self) -> broadcast::Receiver<ResourceUpdate> {
        self.updates.subscribe()
    }

    /// Cancels the parked calls and the tasks of some principals: those who cannot come back for
    /// them.
    pub fn end_parked(&self, of: impl Fn(&Principal) -> bool) {
        self.parking.end(&of);
        self.tasks.end(of);
    }

    /// Calls that wait for their clients to come back with answers.
    pub fn parked(&self) -> usize {
        self.parking.count()
    }

    /// The current runtime.
    pub(crate) fn runtime(&self) -> Arc<Runtime> {
        self.runtime.load_full()
    }

    /// Everything that all sources offer to everybody, whoever may see it: for those who configure.
    pub fn catalogue(&self) -> Arc<Snapshot> {
        self.runtime.load().snapshot().clone()
    }

    /// The same with what only loops of our own are offered.
    pub fn catalogue_of_loops(&self) -> Arc<Snapshot> {
        self.runtime.load().snapshot_of(TurnHolder::Loop)
    }

    pub fn reports(&self) -> Vec<SourceReport> {
        self.runtime.load().reports()
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.ports.clock
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Connects every source now, all at once, each under its own deadline, and returns the
    /// outcomes. New manifests are part of the snapshot when this returns.
    pub async fn refresh(self: &Arc<Self>) -> Vec<(Domain, Result<(), CallError>)> {
        let slots = self.runtime.load().slots.clone();
        let refreshed = join_all(slots.iter().map(async |(domain, slot)| {
            (domain.clone(), slot.setup.source.clone().refresh().await)
        }))
        .await;
        self.renew().await;
        refreshed
    }

    /// Closes every source, removed ones too. Running calls fail.
    pub async fn close(&self) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.closing.cancel();
        self.parking.close();
        self.tasks.close();
        let slots = self.runtime.load().slots.clone();
        join_all(slots.values().map(|slot| slot.setup.source.clone().close())).await;
        self.retiring.close();
        self.retiring.wait().await;
    }

    /// Rebuilds the catalogue if a source now offers something else.
    pub(crate) async fn renew(self: &Arc<Self>) {
        // Naming and grouping thousands of tools takes a while, so it must not run on a thread that
        // serves calls.
        let dispatcher = self.clone();
        let renewed = tokio::task::spawn_blocking(move || dispatcher.replace(Runtime::renewed));
        if let Err(error) = renewed.await {
            tracing::error!(%error, "building the catalogue failed");
        }
    }

    /// Like [`Dispatcher::renew`], for when a source has announced a change. If the shared offers
    /// are the same, the change may concern one identity, so all watchers look again.
    async fn renew_for_all(self: &Arc<Self>) {
        let before = *self.epochs.borrow();
        self.renew().await;
        if *self.epochs.borrow() == before && self.runtime.load().is_personal() {
            self.look_again();
        }
    }

    /// Has all watchers look at their lists again, though the catalogue is the same.
    pub fn look_again(&self) {
        self.epochs.send_modify(|_| {});
    }

    pub(crate) fn next_call_id(&self) -> CallId {
        CallId::new(self.ports.clock.now(), fastrand::u128(..))
    }

    /// Puts the next runtime into effect, if there is one, and returns the previous one.
    fn replace(&self, next: impl FnOnce(&Runtime) -> Option<Runtime>) -> Arc<Runtime> {
        let _guard = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.runtime.load_full();
        if let Some(next) = next(&current) {
            let epoch = next.snapshot().epoch();
            self.runtime.store(Arc::new(next));
            self.epochs.send_replace(epoch);
        }
        current
    }

    /// Watches the manifests of these sources, and stops watching all others.
    fn watch(self: &Arc<Self>, slots: &Slots) {
        let cancel = CancellationToken::new();
        for slot in slots.values() {
            let mut manifests = slot.setup.source.manifests();
            let (stale, watching) = (self.stale.clone(), cancel.clone());
            // A manifest may have come after the snapshot was built.
            manifests.mark_changed();
            tokio::spawn(watching.clone().run_until_cancelled_owned(async move {
                while manifests.changed().await.is_ok() {
                    stale.notify_one();
                }
            }));
            if let Some(updates) = slot.setup.source.updates() {
                let domain = slot.setup.source.domain().clone();
                let relayed = relay(domain, updates, self.updates.clone());
                tokio::spawn(watching.run_until_cancelled_owned(relayed));
            }
        }
        let (stale, weak) = (self.stale.clone(), Arc::downgrade(self));
        tokio::spawn(cancel.clone().run_until_cancelled_owned(renew_when_stale(stale, weak)));
        let guard = cancel.drop_guard();
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).replace(guard);
    }
}

async fn relay(
    domain: Domain,
    mut updates: broadcast::Receiver<Arc<str>>,
    to: broadcast::Sender<ResourceUpdate>,
) {
    loop {
        match updates.recv().await {
            // Nobody may be listening.
            Ok(uri) => drop(to.send(ResourceUpdate { domain: domain.clone(), uri })),
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(%domain, missed, "updates of resources came too fast");
            }
            Err(RecvError::Closed) => return,
        }
    }
}

async fn renew_when_stale(stale: Arc<Notify>, dispatcher: Weak<Dispatcher>) {
    loop {
        stale.notified().await;
        tokio::time::sleep(GATHERING).await;
        let Some(dispatcher) = dispatcher.upgrade() else {
            return;
        };
        dispatcher.renew_for_all().await;
    }
}

/// The slots of `old` whose sources are not in `new`.
fn removed(old: &Slots, new: &Slots) -> Vec<Arc<Slot>> {
    let is_kept =
        |slot: &Slot| new.values().any(|kept| Arc::ptr_eq(&kept.setup.source, &slot.setup.source));
    old.values().filter(|slot| !is_kept(slot)).cloned().collect()
}

async fn retire(slot: Arc<Slot>, drain: Duration, closing: CancellationToken) {
    let drained = tokio::time::timeout(drain, slot.bulkhead.drain());
    if !matches!(closing.run_until_cancelled(drained).await, Some(Ok(()))) {
        tracing::warn!(domain = %slot.setup.source.domain(), "closed a source with calls under way");
    }
    slot.setup.source.clone().close().await;
}
