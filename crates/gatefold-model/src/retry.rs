//! When a request is sent again.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::ModelError;

/// Sees each try of a request, at whichever model of a chain. They are counted from 0, the model itself.
pub trait TryWatcher: Sync {
    /// A try begins.
    fn on_try(&self, place: usize) {
        let _ = place;
    }

    /// It failed before anything of an answer came. It may have cost something all the same: see
    /// [`ModelError::is_free`].
    fn on_failure(&self, place: usize, error: &ModelError) {
        let _ = (place, error);
    }
}

/// Nobody watches.
impl TryWatcher for () {}

/// A model of a chain that is asked, until when, and who watches.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) place: usize,
    pub(crate) deadline: Instant,
    pub(crate) watcher: &'a dyn TryWatcher,
}

impl Asking<'_> {
    /// A try failed, or an answer that came is no use.
    pub(crate) fn fail(self, error: &ModelError) {
        self.watcher.on_failure(self.place, error);
    }
}

/// How often one request is sent at most.
const TRIES: u32 = 4;

/// The wait before the second try where the endpoint names none. It doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait that an endpoint can ask for.
const LONGEST_WAIT: Duration = Duration::from_mins(2);

/// The tries of one request.
pub(crate) struct Tries<'a> {
    asking: Asking<'a>,
    count: u32,
}

impl<'a> Tries<'a> {
    /// The first begins at once.
    pub(crate) fn begin(asking: Asking<'a>) -> Self {
        asking.watcher.on_try(asking.place);
        Self { asking, count: 0 }
    }

    /// Waits as long as the endpoint asks for. Gives the failure back if trying again is no use, or
    /// could only begin too late.
    pub(crate) async fn wait(&mut self, failure: ModelError) -> Result<(), ModelError> {
        self.count += 1;
        self.asking.fail(&failure);
        if self.count == TRIES || !failure.is_passing() {
            return Err(failure);
        }
        let wait =
            failure.asked_wait().unwrap_or_else(|| jittered(FIRST_WAIT * (1 << (self.count - 1))));
        let left = self.asking.deadline.saturating_duration_since(Instant::now());
        if wait > LONGEST_WAIT || wait >= left {
            return Err(failure);
        }
        sleep(wait).await;
        self.asking.watcher.on_try(self.asking.place);
        Ok(())
    }
}

/// Between half of a wait and the whole of it, so that those who failed together do not come back
/// together.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(0.5 + fastrand::f64() / 2.0)
}
