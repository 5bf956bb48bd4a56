//! What definitions cost a model, in exact o200k tokens.
//!
//! A [`TokenCounter`] from outside counts: the vocabulary is too large for a serving process. Each
//! manifest is counted once and the counts are kept in the state directory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Manifest, ToolDefinition};
use gatefold_core::{BoxError, Digest, Domain};
use gatefold_dispatch::DiscoveryCounts;
use serde::Serialize;

use super::App;

/// The least time between two counts in the background, so that sources that keep changing cost
/// little.
const COUNTING_PAUSE: Duration = Duration::from_secs(5);

/// How often what sources offer may change while it is counted.
const COUNTING_ROUNDS: usize = 5;

/// Counts o200k tokens exactly.
///
/// A port: the vocabulary takes some 46 MB, so an embedder decides whether to load it, and where.
/// The binary starts a short-lived child.
pub trait TokenCounter: Send + Sync {
    /// The number of tokens of each text, in order.
    fn count<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<usize>, BoxError>>;
}

/// Why definitions could not be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// The counter's own error.
    #[error(transparent)]
    Counter(BoxError),
    #[error("the token counter gave {counts} counts for {texts} texts")]
    Miscounted { counts: usize, texts: usize },
    #[error("the tools changed while they were counted; try again")]
    Changed,
}

/// The tokens of single tools by the tool's digest: one for each [`Manifest`] of the current
/// snapshot, by its own digest.
#[derive(Default)]
pub(super) struct TokenCounts(Mutex<HashMap<Digest, HashMap<Digest, usize>>>);

impl TokenCounts {
    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, HashMap<Digest, usize>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, manifest: &Manifest, counts: &[usize]) {
        let digests = manifest.tools().iter().map(ToolDefinition::digest);
        let tools = digests.zip(counts.iter().copied()).collect();
        self.lock().insert(manifest.digest(), tools);
    }
}

/// What tools cost models and what Gatefold saves, in o200k tokens, since the start.
#[derive(Debug, Clone, Serialize)]
pub struct TokenCosts {
    /// The definitions of all visible tools, exactly. None until they are counted.
    pub definitions: Option<usize>,
    /// What a model is given instead, as an upper bound.
    pub surface: usize,
    /// How many times clients were given a list of tools.
    pub lists: u64,
    /// The cost of answers that only discovered, as an upper bound.
    pub discovery: u64,
    /// `lists * (definitions - surface) - discovery`: as if every client had been given all current
    /// definitions each time it asked for the list, and at no other time. It leaves out what a
    /// model writes to discover, and what its client sends again in later turns.
    pub saved: Option<i64>,
    /// How models found their tools.
    pub found: DiscoveryCounts,
}

impl App {
    /// The manifests in force whose tools were never counted. Counts from earlier runs are loaded.
    pub async fn uncounted(&self) -> Vec<Arc<Manifest>> {
        let pinned = self.pin();
        let entries = pinned.view().snapshot().domains();
        let manifests: Vec<_> = entries.iter().filter_map(|e| e.manifest().cloned()).collect();
        self.counted.lock().retain(|known, _| manifests.iter().any(|m| m.digest() == *known));
        let mut uncounted = Vec::new();
        for manifest in manifests {
            if self.counted.lock().contains_key(&manifest.digest()) {
                continue;
            }
            let kept = self.store.token_counts(manifest.digest()).await;
            match kept.filter(|counts| counts.len() == manifest.tools().len()) {
                Some(counts) => self.counted.put(&manifest, &counts),
                None => uncounted.push(manifest),
            }
        }
        uncounted
    }

    /// The cost of the visible tools' definitions, by domain. Uncounted ones are counted now, all
    /// at once, and kept. What changes meanwhile is counted as well, a few times over.
    pub async fn count_definitions(
        &self,
        counter: &dyn TokenCounter,
    ) -> Result<BTreeMap<Domain, usize>, CountError> {
        for _ in 0..COUNTING_ROUNDS {
            self.count_uncounted(counter).await?;
            if let Some(tokens) = self.definition_tokens() {
                return Ok(tokens);
            }
        }
        Err(CountError::Changed)
    }

    async fn count_uncounted(&self, counter: &dyn TokenCounter) -> Result<(), CountError> {
        let uncounted = self.uncounted().await;
        let tools = uncounted.iter().flat_map(|manifest| manifest.tools());
        let texts: Vec<_> = tools.map(|tool| tool.raw().to_owned()).collect();
        let counts = if texts.is_empty() {
            Vec::new()
        } else {
            counter.count(&texts).await.map_err(CountError::Counter)?
        };
        if counts.len() != texts.len() {
            return Err(CountError::Miscounted { counts: counts.len(), texts: texts.len() });
        }
        let mut rest = counts.as_slice();
        for manifest in &uncounted {
            let (own, others) = rest.split_at(manifest.tools().len());
            self.keep_counts(manifest, own).await;
            rest = others;
        }
        Ok(())
    }

    /// Counts in the background what sources offer, whenever it changes. Runs until it is aborted.
    pub async fn keep_counting(self: Arc<Self>, counter: impl TokenCounter) {
        let mut epochs = self.dispatcher.epochs();
        loop {
            epochs.mark_unchanged();
            if let Err(error) = self.count_definitions(&counter).await {
                tracing::debug!(%error, "definitions were not counted");
            }
            tokio::time::sleep(COUNTING_PAUSE).await;
            if epochs.changed().await.is_err() {
                return;
            }
        }
    }

    /// Stores the counts of a manifest's tools, in its order.
    async fn keep_counts(&self, manifest: &Manifest, counts: &[usize]) {
        self.counted.put(manifest, counts);
        if let Err(error) = self.store.keep_token_counts(manifest.digest(), counts).await {
            tracing::warn!(%error, "counts of tokens could not be kept");
        }
    }

    /// The cost of the visible tools' definitions, by domain; none unless all are counted.
    pub fn definition_tokens(&self) -> Option<BTreeMap<Domain, usize>> {
        let pinned = self.pin();
        let counted = self.counted.lock();
        let mut sums = BTreeMap::new();
        for entry in pinned.view().domains() {
            let Some(manifest) = entry.manifest() else { continue };
            let tools = counted.get(&manifest.digest())?;
            let sum: &mut usize = sums.entry(entry.domain().clone()).or_default();
            for tool in pinned.view().tools_in(entry) {
                *sum += tools.get(&tool.definition().digest())?;
            }
        }
        Some(sums)
    }

    pub(super) fn token_costs(&self, surface: usize) -> TokenCosts {
        let counters = self.dispatcher.counters();
        let (lists, discovery) = (counters.lists(), counters.discovery_tokens());
        let definitions = self.definition_tokens().map(|sums| sums.values().sum());
        let saved = definitions.map(|flat: usize| saved(lists, flat, surface, discovery));
        let found = counters.discovery();
        TokenCosts { definitions, surface, lists, discovery, saved, found }
    }
}

fn saved(lists: u64, flat: usize, surface: usize, discovery: u64) -> i64 {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let each = signed(flat as u64).saturating_sub(signed(surface as u64));
    signed(lists).saturating_mul(each).saturating_sub(signed(discovery))
}

#[cfg(test)]
mod tests {
    use super::saved;

    #[test]
    fn a_loss_shows_as_less_than_nothing() {
        for (lists, flat, surface, discovery, expected) in [
            (0, 10_000, 400, 0, 0),
            (2, 10_000, 400, 700, 18_500),
            (1, 100, 400, 50, -350),
            (0, 10_000, 400, 700, -700),
        ] {
            assert_eq!(saved(lists, flat, surface, discovery), expected);
        }
    }
}
