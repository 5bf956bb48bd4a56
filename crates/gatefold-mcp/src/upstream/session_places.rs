//! The places that all sources of a gateway have for sessions of single users.
//!
//! A session that everybody shares needs none: there are one or two of them at each source.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use gatefold_core::UserId;

/// The most sessions of one user at all sources together.
pub const SESSIONS_OF_USER: usize = 4;

/// The most sessions of all users at all sources together.
pub const SESSIONS_OF_USERS: usize = 1000;

/// How often a place is looked for before another session got it each time.
const TRIES: usize = 8;

/// How many sessions of single users may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserSessionLimits {
    pub of_user: usize,
    pub of_all: usize,
}

impl Default for UserSessionLimits {
    fn default() -> Self {
        Self { of_user: SESSIONS_OF_USER, of_all: SESSIONS_OF_USERS }
    }
}

/// Who has all places, with none of them idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlacesTaken {
    /// The user who wants another.
    ByUser,
    ByAll,
}

/// A source that has sessions of single users.
pub(crate) trait SessionHolder: Send + Sync {
    /// Closes the session that has a place, if nobody uses it, and says whether it did.
    fn give_up(self: Arc<Self>, place: u64) -> bool;
}

/// The places of one gateway, which its sources share.
pub struct SessionPlaces {
    limits: UserSessionLimits,
    /// Counts uses, to tell which session was used earlier.
    clock: AtomicU64,
    /// At most [`SESSIONS_OF_USERS`], by their numbers.
    taken: Mutex<BTreeMap<u64, TakenPlace>>,
}

struct TakenPlace {
    user: UserId,
    last_used: Arc<AtomicU64>,
    holder: Weak<dyn SessionHolder>,
}

/// A session's place. Dropping it frees the place.
pub(crate) struct SessionPlace {
    number: u64,
    last_used: Arc<AtomicU64>,
    places: Arc<SessionPlaces>,
}

impl SessionPlaces {
    pub fn new(limits: UserSessionLimits) -> Self {
        Self { limits, clock: AtomicU64::new(0), taken: Mutex::default() }
    }

    /// A place for a session of a user. Where there is none, the session is closed that nobody has
    /// used for the longest time: one of the user's own, if that user has all that one may have.
    ///
    /// The holder must not hold a lock that [`SessionHolder::give_up`] needs.
    pub(crate) fn enter(
        self: &Arc<Self>,
        user: &UserId,
        holder: &Weak<dyn SessionHolder>,
    ) -> Result<SessionPlace, PlacesTaken> {
        let mut refusal = PlacesTaken::ByAll;
        for _ in 0..TRIES {
            refusal = match self.try_enter(user, holder) {
                Ok(place) => return Ok(place),
                Err(refusal) => refusal,
            };
            let is_free = self.oldest(user, refusal).into_iter().any(|(number, holder)| {
                holder.upgrade().is_some_and(|holder| holder.give_up(number))
            });
            if !is_free {
                break;
            }
        }
        Err(refusal)
    }

    fn try_enter(
        self: &Arc<Self>,
        user: &UserId,
        holder: &Weak<dyn SessionHolder>,
    ) -> Result<SessionPlace, PlacesTaken> {
        let mut taken = self.lock();
        if taken.values().filter(|place| place.user == *user).count() >= self.limits.of_user {
            return Err(PlacesTaken::ByUser);
        }
        if taken.len() >= self.limits.of_all {
            return Err(PlacesTaken::ByAll);
        }
        let number = self.tick();
        let last_used = Arc::new(AtomicU64::new(number));
        let place =
            TakenPlace { user: user.clone(), last_used: last_used.clone(), holder: holder.clone() };
        taken.insert(number, place);
        Ok(SessionPlace { number, last_used, places: self.clone() })
    }

    /// The places of which one has to be given up, the one that was used the longest time ago first.
    fn oldest(&self, user: &UserId, refusal: PlacesTaken) -> Vec<(u64, Weak<dyn SessionHolder>)> {
        let taken = self.lock();
        let is_meant = |place: &&TakenPlace| refusal == PlacesTaken::ByAll || place.user == *user;
        let mut oldest: Vec<_> = taken
            .iter()
            .filter(|(_, place)| is_meant(place))
            .map(|(number, place)| {
                (place.last_used.load(Ordering::Relaxed), *number, place.holder.clone())
            })
            .collect();
        drop(taken);
        oldest.sort_unstable_by_key(|(last_used, ..)| *last_used);
        oldest.into_iter().map(|(_, number, holder)| (number, holder)).collect()
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, TakenPlace>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionPlace {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Notes that its session is about to be used.
    pub(crate) fn touch(&self) {
        self.last_used.store(self.places.tick(), Ordering::Relaxed);
    }
}

impl Drop for SessionPlace {
    fn drop(&mut self) {
        self.places.lock().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Has sessions, and gives up those that are idle.
    #[derive(Default)]
    struct Holder {
        sessions: Mutex<HashMap<u64, (SessionPlace, bool)>>,
    }

    impl SessionHolder for Holder {
        fn give_up(self: Arc<Self>, place: u64) -> bool {
            let mut sessions = self.sessions.lock().unwrap();
            let is_idle = sessions.get(&place).is_some_and(|(_, is_idle)| *is_idle);
            is_idle && sessions.remove(&place).is_some()
        }
    }

    impl Holder {
        fn open(
            self: &Arc<Self>,
            places: &Arc<SessionPlaces>,
            user: &str,
            is_idle: bool,
        ) -> Result<u64, PlacesTaken> {
            let holder: Weak<dyn SessionHolder> = Arc::downgrade(self) as _;
            let place = places.enter(&UserId::new(user), &holder)?;
            let number = place.number();
            self.sessions.lock().unwrap().insert(number, (place, is_idle));
            Ok(number)
        }

        fn has(&self, number: u64) -> bool {
            self.sessions.lock().unwrap().contains_key(&number)
        }
    }

    fn places(of_user: usize, of_all: usize) -> Arc<SessionPlaces> {
        Arc::new(SessionPlaces::new(UserSessionLimits { of_user, of_all }))
    }

    #[test]
    fn a_users_idle_session_that_was_unused_the_longest_gives_way_whatever_its_source() {
        let (places, a, b) = (places(3, 100), Arc::<Holder>::default(), Arc::<Holder>::default());
        let other = a.open(&places, "bob", true).unwrap();
        let first = a.open(&places, "ann", true).unwrap();
        let busy = b.open(&places, "ann", false).unwrap();
        let third = b.open(&places, "ann", true).unwrap();
        a.sessions.lock().unwrap()[&first].0.touch();
        let fourth = a.open(&places, "ann", true).unwrap();
        assert!(!b.has(third), "it was used before the first one was used again");
        let fifth = a.open(&places, "ann", false).unwrap();
        assert!(!a.has(first) && a.has(fourth) && a.has(fifth));
        assert!(b.has(busy) && a.has(other), "what is in use or another's stays");
        assert_eq!(places.lock().len(), 4);
    }

    #[test]
    fn where_all_are_in_use_nobody_gives_way() {
        let (places, holder) = (places(2, 3), Arc::<Holder>::default());
        let first = holder.open(&places, "ann", false).unwrap();
        holder.open(&places, "ann", false).unwrap();
        assert_eq!(holder.open(&places, "ann", true), Err(PlacesTaken::ByUser));
        holder.open(&places, "bob", false).unwrap();
        assert_eq!(holder.open(&places, "cid", true), Err(PlacesTaken::ByAll));
        holder.sessions.lock().unwrap().remove(&first);
        assert!(holder.open(&places, "cid", true).is_ok(), "an ended session frees its place");
    }

    #[test]
    fn a_source_that_is_gone_holds_no_place_for_long() {
        let (places, gone) = (places(1, 1), Arc::<Holder>::default());
        gone.open(&places, "ann", false).unwrap();
        drop(gone);
        let holder = Arc::<Holder>::default();
        assert!(holder.open(&places, "ann", true).is_ok());
    }
}
