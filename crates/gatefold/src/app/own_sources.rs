//! All sources of our own.

use gatefold_dispatch::SourceSetup;

use super::App;
#[cfg(feature = "knowledge")]
use super::knowledge::AllKnowledge;
use super::loop_tools::LoopTools;
use crate::config::Config;

/// Those that are made of a configuration alone.
#[derive(Default)]
pub(super) struct OwnSources {
    pub(super) loop_tools: LoopTools,
    #[cfg(feature = "knowledge")]
    pub(super) all_knowledge: AllKnowledge,
}

impl App {
    /// The sources of our own for a configuration, which come into effect with it.
    pub(super) fn own_setups(&self, config: &Config) -> Vec<SourceSetup> {
        let results = self.results.setup(config, &self.factory);
        let agents = self.callable.setup(config, &self.factory);
        let own = results.into_iter().chain(agents);
        #[cfg(feature = "knowledge")]
        let own = own.chain(self.own.all_knowledge.setup(config, &self.factory));
        own.collect()
    }
}
