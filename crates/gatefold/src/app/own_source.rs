//! Sources of our own, which are there without being configured and offer everybody the same.

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{GroupRules, KindName, Manifest};
use gatefold_core::{Clock, Digest, Domain};
use gatefold_dispatch::{
    IdentityScope, Source, SourceSetup, StatelessAdapter, StatelessSettings, StatelessSource,
};

use super::App;
#[cfg(feature = "knowledge")]
use super::knowledge::AllKnowledge;
use super::loop_tools::LoopTools;
use super::sources::SourceFactory;
use crate::config::Config;

/// How long one may take to say what it offers, which it knows.
const DESCRIBE_DEADLINE: Duration = Duration::from_secs(5);

/// Those that are made of a configuration alone.
#[derive(Default)]
pub(super) struct OwnSources {
    pub(super) loop_tools: LoopTools,
    #[cfg(feature = "knowledge")]
    pub(super) all_knowledge: AllKnowledge,
}

/// A source that offers this.
pub(super) fn build(
    source: Arc<impl StatelessSource>,
    domain: Domain,
    manifest: Manifest,
    factory: &SourceFactory,
    clock: Arc<dyn Clock>,
) -> Arc<dyn Source> {
    let settings = StatelessSettings {
        domain,
        config_digest: Digest::new([0; 32]),
        describe_deadline: DESCRIBE_DEADLINE,
        known: Some(Arc::new(manifest)),
    };
    StatelessAdapter::new(source, settings, factory.manifests(), clock)
}

/// Its place among the sources. `description` is what a model reads about the domain.
pub(super) fn setup(source: Arc<dyn Source>, kind: KindName, description: &str) -> SourceSetup {
    SourceSetup {
        source,
        kind,
        description: Some(description.to_owned()),
        aliases: Vec::new(),
        groups: GroupRules::default(),
        identity: IdentityScope::Shared,
        call_deadline: None,
    }
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
