//! Built-in tools that our own loops have without a source, as a source that nobody else has.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use gatefold_builtin::{BuiltinName, BuiltinSettings, BuiltinSource};
use gatefold_dispatch::{Source, SourceSetup};

use super::own_source;
use super::sources::SourceFactory;
use crate::config::kinds::BuiltinKind;
use crate::config::{Config, builtin_domain};

/// What a model reads about the domain.
const DESCRIPTION: &str = "Tools that are always at hand";

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
        Some(own_source::setup(source, BuiltinKind::NAME, DESCRIPTION))
    }
}

fn build(names: BTreeSet<BuiltinName>, factory: &SourceFactory) -> LoopSource {
    let domain = builtin_domain();
    let settings = BuiltinSettings { names: names.clone(), ..BuiltinSettings::default() };
    let ports = factory.ports().builtin();
    let own = BuiltinSource::new(domain.clone(), &settings, &ports);
    let manifest = own.manifest();
    let source = own_source::build(Arc::new(own), domain, manifest, factory, ports.clock);
    LoopSource { names, source }
}
