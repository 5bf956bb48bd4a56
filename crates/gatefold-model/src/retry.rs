//! When a request is sent again.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::ModelError;

/// How often one request is sent at most.
const TRIES: u32 = 4;

/// The wait before the second try where the endpoint names none. It doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait that an endpoint can ask for.
const LONGEST_WAIT: Duration = Duration::from_mins(2);

/// The tries of one request.
pub(crate) struct Tries {
    deadline: Instant,
    count: u32,
}

impl Tries {
    pub(crate) fn new(deadline: Instant) -> Self {
        Self { deadline, count: 0 }
    }

    /// Waits as long as the endpoint asks for. Gives the failure back if trying again is no use, or
    /// could only begin too late.
    pub(crate) async fn wait(&mut self, failure: ModelError) -> Result<(), ModelError> {
        self.count += 1;
        if self.count == TRIES || !failure.is_passing() {
            return Err(failure);
        }
        let wait =
            failure.asked_wait().unwrap_or_else(|| jittered(FIRST_WAIT * (1 << (self.count - 1))));
        let left = self.deadline.saturating_duration_since(Instant::now());
        if wait > LONGEST_WAIT || wait >= left {
            return Err(failure);
        }
        sleep(wait).await;
        Ok(())
    }
}

/// Between half of a wait and the whole of it, so that those who failed together do not come back
/// together.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(0.5 + fastrand::f64() / 2.0)
}
