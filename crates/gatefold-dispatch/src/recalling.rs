//! How a turn comes to know the tools that its principal used most.

use std::sync::Arc;

use gatefold_core::{BoxError, Principal, ToolId};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::Dispatcher;
use crate::used::{USED_TOOLS, USED_WAIT, UtcDay};

impl Dispatcher {
    /// Reads which tools a principal used most before today, unless they are known. Turns that
    /// begin after this show them. Where they are known, it costs one look.
    ///
    /// It waits for [`USED_WAIT`] at most. Whatever takes longer is read on in the background.
    pub async fn recall_used(self: &Arc<Self>, principal: &Principal) {
        let clock = &self.ports.clock;
        let day = UtcDay::of(clock.now());
        let Some(place) = self.used.unread(principal, day, clock.uptime()) else { return };
        // In a task, so that others find it read when the one that asked first is gone.
        let reading = self.clone().read_used(principal.clone(), day, place);
        if timeout(USED_WAIT, tokio::spawn(reading)).await.is_err() {
            self.used.note_failure(principal, day, clock.uptime());
            tracing::warn!(user = %principal.user, "the most used tools could not be read in time");
        }
    }

    async fn read_used(
        self: Arc<Self>,
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
            Ok(tools) if is_first && self.used.differs(&principal, &tools) => self.look_again(),
            Ok(_) => {}
            Err(error) => {
                self.used.note_failure(&principal, day, self.ports.clock.uptime());
                tracing::warn!(%error, user = %principal.user, "the most used tools are not known");
            }
        }
    }
}
