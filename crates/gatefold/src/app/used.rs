use futures::future::join_all;
use gatefold_core::Principal;

use super::App;
use crate::config::Config;

impl App {
    /// Reads the most used tools of the local user and its agents, where they are shown them, so that
    /// every turn of theirs can show them.
    pub(super) async fn recall_used(&self, config: &Config) {
        let pinned = &config.disclosure.pinned;
        let local = pinned.most_used.then(Principal::local);
        let agents = config
            .agents
            .iter()
            .filter(|(_, agent)| agent.pinned.as_ref().unwrap_or(pinned).most_used);
        let agents = agents.filter_map(|(id, _)| Principal::local().acting_as(id));
        join_all(local.into_iter().chain(agents).map(async |principal| {
            self.exchange.read_used(&principal).await;
        }))
        .await;
    }
}
