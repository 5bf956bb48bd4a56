//! The tools that a principal used most lately, for disclosures that pin them.
//!
//! They are counted over whole days before today, so they stay the same for a day of UTC, whatever
//! is called meanwhile. The cache only saves the reading: who is evicted gets the same answer again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, ClientCredentials, Principal, RecentMap, Rights, Timestamp, ToolId};
use tokio::sync::OnceCell;

/// The most tools that count as the most used ones.
pub const USED_TOOLS: usize = 8;

/// The whole days before today over which uses are counted.
pub const USED_DAYS: u64 = 7;

/// How long a principal's first turn of a day waits for them. After that they come late, and its
/// clients are told that their lists have changed.
pub const USED_WAIT: Duration = Duration::from_secs(2);

/// How long to wait before reading again what could not be read.
const PAUSE: Duration = Duration::from_secs(10);

/// The most principals in the cache. One more evicts the one that asked longest ago.
const PRINCIPALS: usize = 4096;

/// A day of UTC, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UtcDay(u64);

impl UtcDay {
    const MILLIS: u64 = 24 * 60 * 60 * 1000;

    pub fn of(at: Timestamp) -> Self {
        Self(at.as_millis() / Self::MILLIS)
    }

    /// Its first moment.
    pub fn start(self) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_mul(Self::MILLIS))
    }

    /// The day so many days before, or the first of all.
    #[must_use]
    pub fn before(self, days: u64) -> Self {
        Self(self.0.saturating_sub(days))
    }

    /// Days since 1970-01-01.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Knows which tools were used most.
pub trait UsedTools: Send + Sync + 'static {
    /// The tools that a principal called most often, and successfully, in the [`USED_DAYS`] days
    /// before a day: at most [`USED_TOOLS`], best first, those used as often by id. A principal is
    /// its user, organisation and agent, whatever its rights.
    ///
    /// It must give the same answer all day.
    fn most_used<'a>(
        &'a self,
        principal: &'a Principal,
        day: UtcDay,
    ) -> BoxFuture<'a, Result<Vec<ToolId>, BoxError>>;
}

/// Knows of no use.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoUsedTools;

impl UsedTools for NoUsedTools {
    fn most_used<'a>(
        &'a self,
        _: &'a Principal,
        _: UtcDay,
    ) -> BoxFuture<'a, Result<Vec<ToolId>, BoxError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

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

fn without_rights(principal: &Principal) -> Principal {
    let sent = ClientCredentials::none();
    Principal { rights: Rights::none(), token: None, sent, ..principal.clone() }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{Right, UserId};

    use super::*;

    const DAY: UtcDay = UtcDay(20_000);

    fn user(name: &str) -> Principal {
        Principal::user(UserId::new(name))
    }

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        let midnight = DAY.start();
        assert_eq!(midnight.to_string(), "2024-10-04T00:00:00.000Z");
        let just_before = Timestamp::from_millis(midnight.as_millis() - 1);
        assert_eq!((UtcDay::of(midnight), UtcDay::of(just_before)), (DAY, DAY.before(1)));
        assert_eq!(UtcDay::of(Timestamp::from_millis(0)).before(7).number(), 0);
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
