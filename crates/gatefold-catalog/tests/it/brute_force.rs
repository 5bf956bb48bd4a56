//! Computes suggestions by comparing a name with every tool: slow, and beyond doubt.

use gatefold_catalog::Tool;
use gatefold_search::words;

const SUGGESTIONS: usize = 3;
const LEAST_SIMILARITY: f64 = 0.45;
const LEAST_SHARE: f64 = 0.75;
const COMPARED: usize = 80;

/// A tool with the comparable forms of its two names.
pub(crate) struct Comparable<'a> {
    pub(crate) tool: &'a Tool,
    own: Shape,
    id: Shape,
}

impl<'a> Comparable<'a> {
    pub(crate) fn of(tool: &'a Tool) -> Self {
        Self { tool, own: Shape::of(&tool.target().name), id: Shape::of(tool.id().as_str()) }
    }
}

/// The ids of the tools with the most similar names, destructive ones last, and the best
/// similarity.
pub(crate) fn nearest(tools: &[Comparable<'_>], name: &str) -> (f64, Vec<String>) {
    let asked = Shape::of(name);
    let similarity =
        |one: &Comparable<'_>| one.own.similarity(&asked).max(one.id.similarity(&asked));
    let mut likeliest: Vec<_> = tools.iter().map(|one| (similarity(one), one.tool)).collect();
    likeliest.retain(|(similarity, _)| *similarity >= LEAST_SIMILARITY);
    likeliest.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.id().cmp(y.id())));
    let best = likeliest.first().map_or(0.0, |(similarity, _)| *similarity);
    likeliest.retain(|(similarity, _)| *similarity >= best * LEAST_SHARE);
    let is_safe = |(_, tool): &(f64, &Tool)| !tool.target().hints.is_destructive();
    match likeliest.iter().position(is_safe) {
        Some(first_safe) => likeliest[..=first_safe].rotate_right(1),
        None => likeliest.clear(),
    }
    let ids = likeliest.iter().take(SUGGESTIONS).map(|(_, tool)| tool.id().to_string());
    (best, ids.collect())
}

struct Shape {
    letters: String,
    stems: Vec<String>,
}

impl Shape {
    fn of(name: &str) -> Self {
        let name: String = name.chars().take(COMPARED).collect();
        let words = words::split(&name);
        let mut stems: Vec<_> = words.iter().map(|word| words::stem(word).to_owned()).collect();
        stems.sort_unstable();
        stems.dedup();
        Self { letters: words.join("_"), stems }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of words in a name are small")]
    fn similarity(&self, other: &Self) -> f64 {
        let shared = self.stems.iter().filter(|stem| other.stems.contains(stem)).count();
        let all = self.stems.len() + other.stems.len();
        let by_words = 2.0 * shared as f64 / all.max(1) as f64;
        let lengths = [self.letters.len(), other.letters.len()];
        if shared == 0 && lengths[0].min(lengths[1]) * 2 < lengths[0].max(lengths[1]) {
            return 0.0;
        }
        let by_letters = strsim::normalized_damerau_levenshtein(&self.letters, &other.letters);
        0.8 * by_words.max(by_letters) + 0.2 * by_words.min(by_letters)
    }
}
