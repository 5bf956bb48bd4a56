//! Results that are too large for a model, and the source that reads them.

use std::sync::{Arc, Mutex, PoisonError};

use gatefold_core::{Clock, Domain};
use gatefold_dispatch::{Source, SourceSetup};
use gatefold_exchange::{ResultKeeper, ResultLimits, ResultSource, read_result_id};
use gatefold_results::TokenBudget;
use gatefold_store::Store;
use gatefold_worker::WorkerPool;

use super::own_source;
use super::sources::SourceFactory;
use crate::config::Config;

/// What a model reads about the domain.
const DESCRIPTION: &str = "Large results of earlier calls, to read on in";

pub(super) struct KeptResults {
    keeper: Arc<ResultKeeper>,
    clock: Arc<dyn Clock>,
    /// The source, under the domain that it has now.
    source: Mutex<Option<Arc<dyn Source>>>,
}

impl KeptResults {
    pub(super) fn new(
        store: &Store,
        clock: Arc<dyn Clock>,
        config: &Config,
        workers: WorkerPool,
    ) -> Self {
        let limits = limits(config, &domain(config));
        let keeper = ResultKeeper::new(Arc::new(store.clone()), clock.clone(), limits, workers);
        Self { keeper, clock, source: Mutex::default() }
    }

    pub(super) fn keeper(&self) -> &Arc<ResultKeeper> {
        &self.keeper
    }

    /// Its domain, if it is in force.
    pub(super) fn domain(&self) -> Option<Domain> {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        source.as_ref().map(|source| source.domain().clone())
    }

    /// The source for a configuration, which comes into effect with it. None where nothing is
    /// configured that could have results.
    pub(super) fn setup(&self, config: &Config, factory: &SourceFactory) -> Option<SourceSetup> {
        if config.sources.is_empty() {
            return None;
        }
        let domain = domain(config);
        self.keeper.set_limits(limits(config, &domain));
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let same = source.as_ref().filter(|source| *source.domain() == domain).cloned();
        let current = same.unwrap_or_else(|| self.make(domain, factory));
        *source = Some(current.clone());
        Some(own_source::setup(current, ResultSource::KIND, DESCRIPTION))
    }

    fn make(&self, domain: Domain, factory: &SourceFactory) -> Arc<dyn Source> {
        let source = ResultSource::new(self.keeper.clone());
        let manifest = ResultSource::manifest(self.clock.now());
        own_source::build(Arc::new(source), domain, manifest, factory, self.clock.clone())
    }
}

/// The first name for it that no configured source has.
fn domain(config: &Config) -> Domain {
    let is_taken = |domain: &Domain| config.sources.iter().any(|own| own.domain == *domain);
    let first = Domain::from_key(ResultSource::DOMAIN);
    if !is_taken(&first) {
        return first;
    }
    let others = (2..).map(|number| Domain::from_key(&format!("{first}_{number}")));
    others.into_iter().find(|domain| !is_taken(domain)).unwrap_or(first)
}

fn limits(config: &Config, domain: &Domain) -> ResultLimits {
    let results = &config.results;
    ResultLimits {
        preview: TokenBudget::new(results.preview_tokens),
        expiry: results.expiry,
        kept_each: results.kept_each,
        format: results.format,
        reader: read_result_id(domain),
    }
}
