use std::path::Path;

use gatefold::config::{Config, SourceConfig};
use gatefold_core::Domain;
use gatefold_store::{ReachRecord, SourceKey, StoreError, reach_records};

use super::KeepReason;

/// Which sources were reached as they are configured now. The default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceReach {
    reached: Vec<Domain>,
    /// Reached once, but not by the last check.
    failed: Vec<Domain>,
}

impl SourceReach {
    /// Whether a source was reached, by the last check too.
    pub(crate) fn includes(&self, domain: &Domain) -> bool {
        self.reached.contains(domain)
    }

    pub(super) fn obstacle(&self, domain: &Domain) -> Option<KeepReason> {
        if self.failed.contains(domain) {
            Some(KeepReason::CheckFailed)
        } else {
            (!self.reached.contains(domain)).then_some(KeepReason::NeverReached)
        }
    }
}

/// Reads from the state directory which sources were reached.
pub async fn source_reach(config: &Config, state_dir: &Path) -> Result<SourceReach, StoreError> {
    let key = |source: &SourceConfig| SourceKey {
        domain: source.domain.clone(),
        config: source.config_digest,
    };
    let keys: Vec<_> = config.sources.iter().map(key).collect();
    let records = reach_records(state_dir, &keys).await?;
    let of = |wanted: ReachRecord| {
        let records = keys.iter().zip(&records).filter(|(_, record)| **record == wanted);
        records.map(|(key, _)| key.domain.clone()).collect()
    };
    Ok(SourceReach { reached: of(ReachRecord::Reached), failed: of(ReachRecord::Failed) })
}
