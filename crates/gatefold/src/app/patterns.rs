//! Patterns of the configuration that match nothing, for those who configure.

use std::collections::HashSet;
use std::sync::Arc;

use gatefold_core::Digest;

use super::App;
use crate::config::IdlePattern;

impl App {
    /// The patterns of the configuration that match nothing that its sources are known to have.
    pub fn idle_patterns(&self) -> Vec<IdlePattern> {
        self.config().idle_patterns(&self.dispatcher.catalogue_of_loops())
    }

    /// Logs the patterns that match nothing, and again when a list changes that they are about.
    /// Runs until it is aborted.
    pub async fn keep_judging_patterns(self: Arc<Self>) {
        let mut epochs = self.dispatcher.epochs();
        let mut logged = HashSet::new();
        loop {
            epochs.mark_unchanged();
            let idle: HashSet<_> = self.idle_in_lists().into_iter().collect();
            for (IdlePattern { key, pattern, nearest, .. }, _) in idle.difference(&logged) {
                tracing::warn!(%key, %pattern, nearest, "a pattern matched no tool");
            }
            logged = idle;
            if epochs.changed().await.is_err() {
                return;
            }
        }
    }

    /// The same patterns, each with the lists that it was compared with.
    fn idle_in_lists(&self) -> Vec<(IdlePattern, Vec<Digest>)> {
        let catalogue = self.dispatcher.catalogue_of_loops();
        let with_lists = |idle: IdlePattern| {
            let domains = catalogue.domains().iter();
            let own =
                domains.filter(|own| idle.domain.as_ref().is_none_or(|one| one == own.domain()));
            let lists = own.filter_map(|own| Some(own.manifest()?.digest())).collect();
            (idle, lists)
        };
        self.config().idle_patterns(&catalogue).into_iter().map(with_lists).collect()
    }
}
