//! The tools for all knowledge bases at once, as a source of our own.

use std::sync::{Arc, Mutex, PoisonError};

use gatefold_dispatch::{Source, SourceSetup};
use gatefold_knowledge::{KnowledgeHub, KnowledgeSource};

use super::own_source;
use super::sources::SourceFactory;
use crate::config::{Config, knowledge_domain};

/// What a model reads about the domain.
const DESCRIPTION: &str = "All knowledge bases at once";

#[derive(Default)]
pub(super) struct AllKnowledge {
    built: Mutex<Option<Arc<dyn Source>>>,
}

impl AllKnowledge {
    /// The source for a configuration, which comes into effect with it. None where there is no
    /// knowledge base.
    pub(super) fn setup(&self, config: &Config, factory: &SourceFactory) -> Option<SourceSetup> {
        if !config.has_all_knowledge() {
            return None;
        }
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let source = built.get_or_insert_with(|| build(factory)).clone();
        Some(own_source::setup(source, KnowledgeSource::KIND, DESCRIPTION))
    }
}

fn build(factory: &SourceFactory) -> Arc<dyn Source> {
    let clock = factory.ports().clock.clone();
    let hub = KnowledgeHub::new(clock.clone());
    let manifest = hub.manifest();
    own_source::build(Arc::new(hub), knowledge_domain(), manifest, factory, clock)
}
