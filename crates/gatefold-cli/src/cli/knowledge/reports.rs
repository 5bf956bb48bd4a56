//! What `gatefold check` and `gatefold status` say of knowledge bases.

use std::path::Path;
use std::sync::Arc;

use gatefold::config::{Config, load};
use gatefold::{Environment, configured_bases};
use gatefold_core::{Clock, Domain, SystemClock};
use gatefold_dispatch::DocumentCount;
use gatefold_knowledge::KnowledgeBase;

use super::opening::{self, ConfiguredBases, unread_words};
use crate::cli::arguments::SharedOptions;
use crate::cli::output::Output;

/// Reads what is new or changed in all bases, so that what they offer is whole. Returns what should be known
/// of files that are left. A base that cannot be opened is reported by those who connect it.
pub(in crate::cli) async fn read_all(
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> Vec<String> {
    let config = shared.inputs().located(environment).and_then(|inputs| load(&inputs, environment));
    let Ok(config) = config else { return Vec::new() };
    let Ok(configured) = ConfiguredBases::of(config, shared, environment) else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    for base in configured.bases {
        let Ok(opened) = opening::open(vec![base], output).await else { continue };
        for own in opened {
            let name = &own.configured.name;
            for (root, error) in own.configured.missing_roots() {
                warnings.push(format!("{name}: `{}` cannot be read: {error}", root.display()));
            }
            let unread = own.unread.as_ref();
            warnings.extend(unread.map(|unread| format!("{name}: {}", unread_words(unread))));
        }
    }
    warnings
}

/// How many documents each base has that was read before. Reads no file.
pub(in crate::cli) async fn count_documents(
    config: &Config,
    state_dir: &Path,
) -> Vec<(Domain, DocumentCount)> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut counted = Vec::new();
    for configured in configured_bases(config, state_dir, &clock) {
        if !matches!(KnowledgeBase::disk_use(configured.folder()), Ok(Some(_))) {
            continue;
        }
        // What is wrong with a base is for `gatefold check` to say.
        let Ok(base) = configured.open().await else { continue };
        let counts = tokio::task::spawn_blocking(move || base.counts()).await;
        if let Ok(Ok(counts)) = counts {
            let count = DocumentCount { total: counts.documents, without_text: counts.faults };
            counted.push((configured.domain().clone(), count));
        }
    }
    counted
}
