//! Limits how many local servers start at once, so that they do not all run out of time, and how
//! many first starts through package runners, which may download for minutes.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::package_runner::PackageName;

/// How long a start waits for a place once a call waits for the start. Then it goes ahead without
/// one: places only spread the load, and a server that hangs must not block calls.
const CALL_PATIENCE: Duration = Duration::from_secs(1);

/// Starts beyond the number of processor cores: a start also waits for the disk and the network.
const STARTS_BEYOND_CORES: usize = 2;

/// A first start through a package runner that takes longer than this is most likely downloading.
const TAKEN_TO_DOWNLOAD: Duration = Duration::from_secs(2);

/// How many local servers may be started at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartLimits {
    /// As many as there are processor cores for this process, and two more, if it is not set.
    pub starts: Option<usize>,
    /// First starts through package runners, which do not count as starts.
    pub installs: usize,
}

impl Default for StartLimits {
    fn default() -> Self {
        Self { starts: None, installs: 4 }
    }
}

impl StartLimits {
    fn starts(self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let starts = self.starts.unwrap_or_else(|| cores() + STARTS_BEYOND_CORES);
        starts.clamp(1, Semaphore::MAX_PERMITS)
    }

    fn installs(self) -> usize {
        self.installs.clamp(1, Semaphore::MAX_PERMITS)
    }
}

/// The places for starts, which all sources of a gateway share.
pub struct StartPlaces {
    current: Mutex<PlaceCounts>,
    /// The packages that are being downloaded or waited for, one for each [`PackageTurn`].
    packages: Mutex<HashMap<PackageName, Weak<tokio::sync::Mutex<()>>>>,
}

struct PlaceCounts {
    limits: StartLimits,
    starts: Arc<Semaphore>,
    installs: Arc<Semaphore>,
}

impl StartPlaces {
    pub fn new(limits: StartLimits) -> Self {
        Self { current: Mutex::new(PlaceCounts::of(limits)), packages: Mutex::default() }
    }

    /// Sets new limits. Starts that already have a place, or wait for one, do not count towards
    /// them.
    pub fn set_limits(&self, limits: StartLimits) {
        let mut current = self.lock();
        if current.limits != limits {
            *current = PlaceCounts::of(limits);
        }
    }

    /// Waits for a place, but not for long once a call waits for the start.
    pub(crate) async fn take(&self, ticket: &StartTicket) -> StartPlace {
        let starts = self.lock().starts.clone();
        tokio::select! {
            biased;
            place = starts.acquire_owned() => StartPlace { _permit: place.ok() },
            () = ticket.out_of_patience() => StartPlace { _permit: None },
        }
    }

    /// Waits for a place for a first start through a package runner, and until no other start uses
    /// the same package: two that download it at once get in each other's way.
    pub(crate) async fn take_install(&self, package: &PackageName) -> (PackageTurn, StartPlace) {
        let turn = PackageTurn { _guard: self.turns(package).lock_owned().await };
        let installs = self.lock().installs.clone();
        (turn, StartPlace { _permit: installs.acquire_owned().await.ok() })
    }

    fn turns(&self, package: &PackageName) -> Arc<tokio::sync::Mutex<()>> {
        let mut packages = self.packages.lock().unwrap_or_else(PoisonError::into_inner);
        packages.retain(|_, turns| turns.strong_count() > 0);
        if let Some(turns) = packages.get(package).and_then(Weak::upgrade) {
            return turns;
        }
        let turns = Arc::default();
        packages.insert(package.clone(), Arc::downgrade(&turns));
        turns
    }

    fn lock(&self) -> MutexGuard<'_, PlaceCounts> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlaceCounts {
    fn of(limits: StartLimits) -> Self {
        let [starts, installs] =
            [limits.starts(), limits.installs()].map(|places| Arc::new(Semaphore::new(places)));
        Self { limits, starts, installs }
    }
}

/// A start's place, unless it went ahead without one.
pub(crate) struct StartPlace {
    _permit: Option<OwnedSemaphorePermit>,
}

impl StartPlace {
    /// Runs a start's work. The place is freed when the work ends, or after `longest`: a start that
    /// takes longer most likely hangs, and causes no load.
    pub(crate) async fn hold<T>(self, longest: Duration, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        if let Ok(result) = timeout(longest, &mut work).await {
            return result;
        }
        drop(self);
        work.await
    }
}

/// One source's turn with a package.
pub(crate) struct PackageTurn {
    _guard: OwnedMutexGuard<()>,
}

/// What a start and those who wait for it share.
#[derive(Default)]
pub(crate) struct StartTicket {
    /// Fires when a call waits for the start.
    wanted: CancellationToken,
    /// When its package runner was started.
    install: OnceLock<Instant>,
}

impl StartTicket {
    /// Notes that a call waits for the start.
    pub(crate) fn want(&self) {
        self.wanted.cancel();
    }

    /// Notes that its package runner is started now.
    pub(crate) fn begin_install(&self) {
        self.install.get_or_init(Instant::now);
    }

    /// For how long it has been downloading, if it has.
    pub(crate) fn downloading(&self) -> Option<Duration> {
        let took = self.install.get()?.elapsed();
        (took >= TAKEN_TO_DOWNLOAD).then_some(took)
    }

    async fn out_of_patience(&self) {
        self.wanted.cancelled().await;
        sleep(CALL_PATIENCE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::StdioSettings;
    use super::*;

    fn package(name: &str) -> PackageName {
        let (command, args) = ("npx".to_owned(), vec![name.to_owned()]);
        PackageName::of(&StdioSettings { command, args, ..StdioSettings::default() }).unwrap()
    }

    fn limits(starts: usize) -> StartLimits {
        StartLimits { starts: Some(starts), installs: 2 }
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_waits_for_a_place_and_one_that_a_call_waits_for_not_for_long() {
        let places = StartPlaces::new(limits(1));
        let began = Instant::now();
        let hanging = places.take(&StartTicket::default()).await;
        let hanging = hanging.hold(Duration::from_secs(9), sleep(Duration::from_secs(60)));
        let patient = async {
            places.take(&StartTicket::default()).await;
            assert_eq!(began.elapsed(), Duration::from_secs(9), "the place is not held forever");
        };
        let wanted = async {
            let ticket = StartTicket::default();
            ticket.want();
            places.take(&ticket).await;
            assert_eq!(began.elapsed(), CALL_PATIENCE);
        };
        tokio::join!(hanging, patient, wanted);
        assert_eq!(began.elapsed(), Duration::from_secs(60), "the work goes on without a place");
    }

    #[tokio::test(start_paused = true)]
    async fn other_limits_count_for_starts_to_come() {
        let places = StartPlaces::new(limits(1));
        let ticket = StartTicket::default();
        let _first = places.take(&ticket).await;
        let take = || timeout(Duration::from_secs(1), places.take(&ticket));
        assert!(take().await.is_err());
        places.set_limits(limits(1));
        assert!(take().await.is_err(), "the same limits change nothing");
        places.set_limits(limits(2));
        let _two = [take().await.unwrap(), take().await.unwrap()];
        assert!(take().await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn installs_have_places_of_their_own_and_take_turns_with_a_package() {
        let places = StartPlaces::new(limits(1));
        let _start = places.take(&StartTicket::default()).await;
        let [one, other, third] = ["one", "other", "third"].map(package);
        let take = |package| timeout(Duration::from_secs(1), places.take_install(package));
        let first = take(&one).await.unwrap();
        assert!(take(&one).await.is_err(), "it is being downloaded");
        let second = take(&other).await.unwrap();
        assert!(take(&third).await.is_err(), "there are two places");
        drop(first);
        let again = take(&one).await.unwrap();
        drop((second, again));
        take(&third).await.unwrap();
        assert_eq!(places.packages.lock().unwrap().len(), 1, "finished installs are forgotten");
    }
}
