//! The encoder of a gateway: whether it works, and whether it has read the tools.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::App;
use crate::EncoderTier;
use crate::config::Config;

/// How long one look at what the encoder has left to read may wait, so that whoever stops waiting
/// holds no thread for long.
const STEP: Duration = Duration::from_millis(100);

impl App {
    /// Why the configured sentence encoder cannot be used; `None` if it works or there is none.
    pub async fn encoder_fault(&self) -> Option<String> {
        let tier = self.applied.load().encoder.clone()?;
        EncoderTier::examine(tier.model().clone()).await.err()
    }

    /// Waits until the encoder has read all tools, at most `limit`. Returns whether searches are as
    /// they will stay: also where there is no encoder, or none that can be used.
    pub async fn await_encoder(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        loop {
            // Looked up each time, because a new configuration may have another one.
            let Some(encoder) = self.applied.load().encoder.clone() else { return true };
            let has_read = tokio::task::spawn_blocking(move || encoder.await_tools(STEP)).await;
            if has_read.unwrap_or(true) {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
        }
    }

    /// The encoder for a configuration: the old one if it is the same and could be opened.
    pub(super) fn encoder_of(
        &self,
        config: &Config,
        old: Option<&Arc<EncoderTier>>,
    ) -> Option<Arc<EncoderTier>> {
        let model = config.search.encoder.as_ref()?;
        let same = old.filter(|old| old.model() == model && !old.has_failed()).cloned();
        Some(same.unwrap_or_else(|| Arc::new(EncoderTier::new(model, self.store.state_dir()))))
    }
}
