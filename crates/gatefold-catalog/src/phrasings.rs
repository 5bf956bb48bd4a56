//! A request in several phrasings, as one search.

use std::collections::HashMap;

use gatefold_core::ToolId;
use gatefold_search::Mode;

use crate::search::{Hit, Scope, search};
use crate::view::View;

/// The most phrasings of one request.
pub const PHRASINGS: usize = 3;

/// Like [`search`], for a request in several phrasings, of which the first [`PHRASINGS`] count. A
/// tool's score is the mean of those that it has for each phrasing that fits anything. Without any
/// such phrasing the first decides.
pub fn search_phrasings<'a>(
    view: &'a View,
    phrasings: &[&str],
    scope: &Scope<'_>,
    mode: Mode,
    limit: usize,
) -> Vec<Hit<'a>> {
    let phrasings = phrasings.iter().take(PHRASINGS);
    let mut found: Vec<_> =
        phrasings.map(|phrasing| search(view, phrasing, scope, mode, limit)).collect();
    let fitting = found.iter().filter(|hits| hits.iter().any(Hit::fits)).count();
    if found.len() < 2 || fitting == 0 {
        return found.into_iter().next().unwrap_or_default();
    }
    found.retain(|hits| hits.iter().any(Hit::fits));
    let mut fused = fuse(found);
    fused.truncate(limit);
    fused
}

fn fuse(found: Vec<Vec<Hit<'_>>>) -> Vec<Hit<'_>> {
    #[expect(clippy::cast_precision_loss, reason = "at most three")]
    let share = 1.0 / found.len() as f32;
    let mut fused: HashMap<&ToolId, Hit<'_>> = HashMap::new();
    for hits in found {
        // A tool that a phrasing names comes first, whatever its score.
        let mut least = 0.0_f32;
        for mut hit in hits.into_iter().rev() {
            least = least.max(hit.score);
            hit.score = 0.0;
            let known = fused.entry(hit.tool.id()).or_insert(hit);
            known.score += share * least;
            known.fit = known.fit.max(hit.fit);
            known.topic = known.topic.or(hit.topic);
        }
    }
    let mut fused: Vec<_> = fused.into_values().collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tool.id().cmp(b.tool.id())));
    fused
}
