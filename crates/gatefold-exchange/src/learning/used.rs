//! The tools that a principal used most lately, for disclosures that pin them.
//!
//! They are counted over whole days before today, so they stay the same for a day of UTC, whatever
//! is called meanwhile. The cache only saves the reading: who is evicted gets the same answer again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{BoxError, ClientCredentials, Principal, RecentMap, Rights, ToolId};
use gatefold_dispatch::Dispatcher;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::Learning;
use crate::{USED_TOOLS, UtcDay};

/// How long a principal's first turn of a day waits for them. After that they come late, and its
/// clients are told that their lists have changed.
const USED_WAIT: Duration = Duration::from_secs(2);

/// How long to wait before reading again what could not be read.
const PAUSE: Duration = Duration::from_secs(10);

/// The most principals in the cache. One more evicts the one that asked longest ago.
const PRINCIPALS: usize = 4096;

/// The most used tools of principals that asked recently.
pub(crate) struct UsedToolsCache {
    /// At most [`PRINCIPALS`]. Principals stand here without their rights and tokens.
    days: Mutex<RecentMap<Principal, DayUse>>,
}

/// What one principal is shown on a day.
struct DayUse {
    day: UtcDay,
    counted: Arc<OnceCell<Arc<[ToolId]>>>,
    /// What it is shown until they are counted: those of the day before, if any.
    until_then: Arc<[ToolId]>,
    /// Whether clients may have been shown that.
    was_shown: bool,
    /// When they could not be read in time, by the clock's uptime.
    failed: Option<Duration>,
}

impl DayUse {
    fn shown(&self) -> &Arc<[ToolId]> {
        self.counted.get().unwrap_or(&self.until_then)
    }
}

impl Default for UsedToolsCache {
    fn default() -> Self {
        Self { days: Mutex::new(RecentMap::new(PRINCIPALS)) }
    }
}

impl UsedToolsCache {
    /// What is known of a principal. It may be of the day before.
    pub(crate) fn get(&self, principal: &Principal) -> Arc<[ToolId]> {
        self.lock().get(&without_rights(principal)).map(DayUse::shown).cloned().unwrap_or_default()
    }

    /// The place for the tools of a day, if they have to be read now.
    pub(crate) fn unread(
        &self,
        principal: &Principal,
        day: UtcDay,
        now: Duration,
    ) -> Option<Arc<OnceCell<Arc<[ToolId]>>>> {
        let key = without_rights(principal);
        let mut days = self.lock();
        let before = days.get(&key);
        if let Some(known) = before.filter(|known| known.day == day) {
            let is_tired = known.failed.is_some_and(|at| now.saturating_sub(at) < PAUSE);
            return (!known.counted.initialized() && !is_tired).then(|| known.counted.clone());
        }
        let (until_then, was_shown) =
            before.map(|before| (before.shown().clone(), true)).unwrap_or_default();
        let counted = Arc::<OnceCell<_>>::default();
        let known = DayUse { day, counted: counted.clone(), until_then, was_shown, failed: None };
        days.insert(key, known);
        Some(counted)
    }

    /// Notes that they could not be read in time. Clients are now shown a list without them.
    pub(crate) fn note_failure(&self, principal: &Principal, day: UtcDay, now: Duration) {
        let key = without_rights(principal);
        let mut days = self.lock();
        if let Some(known) = days.get(&key).filter(|known| known.day == day) {
            let (counted, until_then) = (known.counted.clone(), known.until_then.clone());
            let failed = Some(now);
            days.insert(key, DayUse { day, counted, until_then, was_shown: true, failed });
        }
    }

    /// Whether clients were shown another list than they are from now on.
    pub(crate) fn differs(&self, principal: &Principal, tools: &[ToolId]) -> bool {
        let mut days = self.lock();
        let known = days.get(&without_rights(principal));
        known.is_some_and(|known| known.was_shown && *known.until_then != *tools)
    }

    fn lock(&self) -> MutexGuard<'_, RecentMap<Principal, DayUse>> {
        self.days.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Learning {
    /// Reads which tools a principal used most before today, unless they are known. Turns that
    /// begin after this show them. Where they are known, it costs one look.
    ///
    /// It waits for [`USED_WAIT`] at most. Whatever takes longer is read on in the background.
    pub(crate) async fn recall_used(
        self: &Arc<Self>,
        dispatcher: &Arc<Dispatcher>,
        principal: &Principal,
    ) {
        let clock = dispatcher.clock();
        let day = UtcDay::of(clock.now());
        let Some(place) = self.used.unread(principal, day, clock.uptime()) else { return };
        // In a task, so that others find it read when the one that asked first is gone.
        let reading = self.clone().read_used(dispatcher.clone(), principal.clone(), day, place);
        if timeout(USED_WAIT, tokio::spawn(reading)).await.is_err() {
            self.used.note_failure(principal, day, clock.uptime());
            tracing::warn!(user = %principal.user, "the most used tools could not be read in time");
        }
    }

    async fn read_used(
        self: Arc<Self>,
        dispatcher: Arc<Dispatcher>,
        principal: Principal,
        day: UtcDay,
        place: Arc<OnceCell<Arc<[ToolId]>>>,
    ) {
        let mut is_first = false;
        let read = place.get_or_try_init(async || {
            is_first = true;
            let tools = self.ports.used.most_used(&principal, day).await?;
            Ok::<_, BoxError>(tools.into_iter().take(USED_TOOLS).collect())
        });
        match read.await.cloned() {
            Ok(tools) if is_first && self.used.differs(&principal, &tools) => {
                dispatcher.look_again();
            }
            Ok(_) => {}
            Err(error) => {
                self.used.note_failure(&principal, day, dispatcher.clock().uptime());
                tracing::warn!(%error, user = %principal.user, "the most used tools are not known");
            }
        }
    }
}

fn without_rights(principal: &Principal) -> Principal {
    let sent = ClientCredentials::none();
    Principal { rights: Rights::none(), token: None, sent, ..principal.clone() }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{Right, Timestamp, UserId};

    use super::*;

    const DAY: UtcDay = UtcDay::of(Timestamp::from_millis(20_000 * 86_400_000));

    fn user(name: &str) -> Principal {
        Principal::user(UserId::new(name))
    }

    #[test]
    fn one_day_is_read_once_and_rights_make_no_difference() {
        let (cache, ann) = (UsedToolsCache::default(), user("ann"));
        let place = cache.unread(&ann, DAY, Duration::ZERO).unwrap();
        place.set(Arc::from([ToolId::new("a_b")])).unwrap();
        let rights = [Right::new("admin")].into_iter().collect();
        let richer = Principal { rights, ..ann.clone() };
        assert!(cache.unread(&richer, DAY, Duration::ZERO).is_none());
        assert_eq!(*cache.get(&richer), [ToolId::new("a_b")]);
        assert!(cache.unread(&user("bob"), DAY, Duration::ZERO).is_some());
        assert!(cache.get(&user("bob")).is_empty());
    }

    #[test]
    fn the_day_before_is_shown_until_the_next_is_read() {
        let (cache, ann) = (UsedToolsCache::default(), user("ann"));
        cache.unread(&ann, DAY.before(1), Duration::ZERO).unwrap().set([].into()).unwrap();
        let [old, new] = ["a_old", "a_new"].map(|id| [ToolId::new(id)]);
        let place = cache.unread(&ann, DAY, Duration::ZERO).unwrap();
        assert!(!cache.differs(&ann, &[]) && cache.differs(&ann, &old));
        place.set(Arc::from(old.clone())).unwrap();
        // The clock is set back, and what was read for a later day is still shown.
        let place = cache.unread(&ann, DAY.before(1), Duration::ZERO).unwrap();
        assert_eq!(*cache.get(&ann), old);
        assert!(!cache.differs(&ann, &old) && cache.differs(&ann, &new));
        place.set(Arc::from(new.clone())).unwrap();
        assert_eq!(*cache.get(&ann), new);
    }

    #[test]
    fn what_could_not_be_read_is_read_again_after_a_pause() {
        let (cache, ann) = (UsedToolsCache::default(), user("ann"));
        assert!(cache.unread(&ann, DAY, Duration::ZERO).is_some());
        assert!(cache.unread(&ann, DAY, Duration::ZERO).is_some(), "another one waits with it");
        assert!(!cache.differs(&ann, &[ToolId::new("a_b")]), "nobody was shown anything yet");
        cache.note_failure(&ann, DAY, Duration::ZERO);
        assert!(cache.unread(&ann, DAY, PAUSE / 2).is_none());
        assert!(cache.unread(&ann, DAY, PAUSE).is_some());
        assert!(cache.differs(&ann, &[ToolId::new("a_b")]), "a list without it was shown");
    }

    #[test]
    fn principals_in_the_cache_have_a_bound() {
        let cache = UsedToolsCache::default();
        for number in 0..=PRINCIPALS {
            cache.unread(&user(&number.to_string()), DAY, Duration::ZERO);
        }
        assert_eq!(cache.lock().len(), PRINCIPALS);
    }
}
