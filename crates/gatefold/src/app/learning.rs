//! Asks unknown sources until each has given its first list.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use gatefold_dispatch::Source;
use tokio_util::task::AbortOnDropHandle;

/// The pause after the first attempt. Each further pause is twice as long, up to the limit, and a
/// random part of up to half is added, so that sources that failed together are not started
/// together again. A source's own backoff is shorter, so every attempt reaches it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const PAUSE_LIMIT: Duration = Duration::from_secs(60);

/// Learns from sources in the background until it is dropped.
pub(super) struct LearningTask {
    _task: AbortOnDropHandle<()>,
}

impl LearningTask {
    pub(super) fn start(sources: Vec<Arc<dyn Source>>) -> Self {
        let learned = async {
            join_all(sources.into_iter().map(learn)).await;
        };
        Self { _task: AbortOnDropHandle::new(tokio::spawn(learned)) }
    }
}

/// The source logs each failure itself.
async fn learn(source: Arc<dyn Source>) {
    let mut pause = FIRST_PAUSE;
    while source.manifests().borrow().is_none() && source.clone().refresh().await.is_err() {
        tokio::time::sleep(pause.mul_f64(1.0 + fastrand::f64() / 2.0)).await;
        pause = pause.saturating_mul(2).min(PAUSE_LIMIT);
    }
}
