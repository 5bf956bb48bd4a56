//! Built-in tools that our own loops have without a source, as a source that nobody else has.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_builtin::{BuiltinName, BuiltinSettings, BuiltinSource};
use gatefold_catalog::GroupRules;
use gatefold_core::Digest;
use gatefold_dispatch::{IdentityScope, Source, SourceSetup, StatelessAdapter, StatelessSettings};

use super::sources::SourceFactory;
use crate::config::kinds::BuiltinKind;
use crate::config::{Config, builtin_domain};

/// What a model reads about the domain.
const DESCRIPTION: &str = "Tools that are always at hand";

/// How long it may take to say what it offers, which it knows.
const DESCRIBE_DEADLINE: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct LoopTools {
    built: Mutex<Option<LoopSource>>,
}

/// The source as it was built last, and with which tools.
#[derive(Clone)]
struct LoopSource {
    /// One for each [`BuiltinName`].
    names: BTreeSet<BuiltinName>,
    source: Arc<dyn Source>,
}

impl LoopTools {
    /// The source for a configuration, which comes into effect with it. None where there are no such tools.
    pub(super) fn setup(&self, config: &Config, factory: &SourceFactory) -> Option<SourceSetup> {
        let names = config.loop_tools();
        if names.is_empty() {
            return None;
        }
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        // The same source goes on, with the lists of `todo`.
        let same = built.as_ref().filter(|built| built.names == names).cloned();
        let current = same.unwrap_or_else(|| build(names, factory));
        let source = current.source.clone();
        *built = Some(current);
        Some(SourceSetup {
            source,
            kind: BuiltinKind::NAME,
            description: Some(DESCRIPTION.to_owned()),
            aliases: Vec::new(),
            groups: GroupRules::default(),
            identity: IdentityScope::Shared,
            call_deadline: None,
        })
    }
}

fn build(names: BTreeSet<BuiltinName>, factory: &SourceFactory) -> LoopSource {
    let domain = builtin_domain();
    let settings = BuiltinSettings { names: names.clone(), ..BuiltinSettings::default() };
    let ports = factory.ports().builtin();
    let own = BuiltinSource::new(domain.clone(), &settings, &ports);
    let settings = StatelessSettings {
        domain,
        config_digest: Digest::new([0; 32]),
        describe_deadline: DESCRIBE_DEADLINE,
        known: Some(Arc::new(own.manifest())),
    };
    let source = StatelessAdapter::new(Arc::new(own), settings, factory.manifests(), ports.clock);
    LoopSource { names, source }
}
