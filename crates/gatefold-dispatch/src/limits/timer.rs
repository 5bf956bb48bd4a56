use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::coop::unconstrained;
use tokio::time::{Instant, sleep_until};

/// The time that a call has. It is paused while somebody is asked something: a person's thinking
/// time is not the source's fault, and has a limit of its own.
#[derive(Debug)]
pub(crate) struct Timer {
    /// The timer of the outer call, which is paused as well.
    parent: Option<Arc<Timer>>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    deadline: Instant,
    /// The number of open questions, and since when there has been one.
    paused: usize,
    since: Instant,
    /// How long it was paused, without the current pause.
    stood: Duration,
}

impl Timer {
    pub(crate) fn until(deadline: Instant) -> Arc<Self> {
        Self::new(deadline, None)
    }

    /// A timer within this one, which may end earlier but never later.
    pub(crate) fn within_this(self: &Arc<Self>, deadline: Instant) -> Arc<Self> {
        Self::new(deadline.min(self.deadline()), Some(self.clone()))
    }

    fn new(deadline: Instant, parent: Option<Arc<Self>>) -> Arc<Self> {
        let state =
            Mutex::new(State { deadline, paused: 0, since: deadline, stood: Duration::ZERO });
        Arc::new(Self { parent, state, changed: Notify::new() })
    }

    /// When the time runs out if there are no more questions.
    pub(crate) fn deadline(&self) -> Instant {
        self.lock().deadline
    }

    /// How long it was paused so far.
    pub(crate) fn stood(&self) -> Duration {
        self.lock().stood
    }

    /// Pauses the timer until the guard is dropped.
    pub(crate) fn pause(self: &Arc<Self>) -> TimerPause {
        let mut state = self.lock();
        if state.paused == 0 {
            state.since = Instant::now();
        }
        state.paused += 1;
        drop(state);
        self.changed.notify_waiters();
        let parent = self.parent.as_ref().map(|parent| Box::new(parent.pause()));
        TimerPause { timer: self.clone(), _parent: parent }
    }

    pub(crate) fn is_over(&self) -> bool {
        let state = self.lock();
        state.paused == 0 && Instant::now() >= state.deadline
    }

    /// Waits for something as long as there is time. A result at the last moment counts, so the
    /// work is polled first.
    pub(crate) async fn within<T>(
        &self,
        something: impl Future<Output = T>,
    ) -> Result<T, TimerExpiry> {
        let mut something = std::pin::pin!(something);
        loop {
            let changed = self.changed.notified();
            let (is_paused, deadline) = {
                let state = self.lock();
                (state.paused > 0, state.deadline)
            };
            // Work that used up its task's cooperative budget would also put off the deadline, and
            // again at each turn.
            let over = unconstrained(sleep_until(deadline));
            tokio::select! {
                biased;
                result = &mut something => return Ok(result),
                () = changed => {}
                () = over, if !is_paused => {
                    if self.is_over() {
                        return Err(TimerExpiry);
                    }
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time has run out.
#[derive(Debug)]
pub(crate) struct TimerExpiry;

/// Pauses its timer while it lives.
#[derive(Debug)]
pub(crate) struct TimerPause {
    timer: Arc<Timer>,
    _parent: Option<Box<TimerPause>>,
}

impl Drop for TimerPause {
    fn drop(&mut self) {
        let mut state = self.timer.lock();
        state.paused -= 1;
        if state.paused == 0 {
            let stood = state.since.elapsed();
            state.deadline += stood;
            state.stood += stood;
        }
        drop(state);
        self.timer.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;
    use tokio::task::consume_budget;
    use tokio::time::{advance, sleep};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn time_stands_still_while_something_is_asked() {
        let timer = Timer::until(Instant::now() + 2 * SECOND);
        let asking = timer.clone();
        let waits = tokio::spawn(async move { asking.within(sleep(100 * SECOND)).await });
        advance(SECOND).await;
        let (first, second) = (timer.pause(), timer.pause());
        sleep(50 * SECOND).await;
        drop(first);
        sleep(SECOND).await;
        drop(second);
        assert!(!waits.is_finished());
        let resumed = Instant::now();
        waits.await.unwrap().unwrap_err();
        assert_eq!(resumed.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn no_time_is_over_while_it_stands_still() {
        let timer = Timer::until(Instant::now() + 2 * SECOND);
        advance(SECOND).await;
        let paused = timer.pause();
        advance(9 * SECOND).await;
        assert!(!timer.is_over());
        drop(paused);
        assert!(!timer.is_over());
        assert_eq!((timer.stood(), timer.deadline()), (9 * SECOND, Instant::now() + SECOND));
        advance(SECOND).await;
        assert!(timer.is_over());
    }

    #[tokio::test(start_paused = true)]
    async fn work_without_end_does_not_put_off_the_deadline() {
        let timer = Timer::until(Instant::now() + SECOND);
        let work = async {
            loop {
                consume_budget().await;
            }
        };
        let mut waits = std::pin::pin!(timer.within::<()>(work));
        assert!(poll!(&mut waits).is_pending());
        advance(2 * SECOND).await;
        assert!(poll!(&mut waits).is_ready(), "the deadline was not looked at");
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_in_time_is_given() {
        let timer = Timer::until(Instant::now() + 2 * SECOND);
        timer.within(sleep(SECOND)).await.unwrap();
        assert!(!timer.is_over());
        timer.within(sleep(2 * SECOND)).await.unwrap_err();
        assert!(timer.is_over());
    }
}
