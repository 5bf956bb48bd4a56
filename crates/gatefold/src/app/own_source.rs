//! Sources of our own, which are there without being configured and offer everybody the same.

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{GroupRules, KindName, Manifest};
use gatefold_core::{Clock, Digest, Domain};
use gatefold_dispatch::{
    IdentityScope, Source, SourceSetup, StatelessAdapter, StatelessSettings, StatelessSource,
};

use super::sources::SourceFactory;

/// How long one may take to say what it offers, which it knows.
const DESCRIBE_DEADLINE: Duration = Duration::from_secs(5);

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
