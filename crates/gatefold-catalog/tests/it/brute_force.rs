//! What is suggested for a name, found by comparing it with every tool: slow, and beyond doubt.

use gatefold_catalog::Tool;
use gatefold_search::words;

const SUGGESTIONS: usize = 3;
const LEAST_LIKENESS: f64 = 0.45;
const LEAST_SHARE: f64 = 0.75;
const COMPARED: usize = 80;

/// A tool with what its two names are compared by.
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

/// The ids of the tools whose names are most like `name`, none that destroys first, and the likeness of the best.
pub(crate) fn nearest(tools: &[Comparable<'_>], name: &str) -> (f64, Vec<String>) {
    let asked = Shape::of(name);
    let likeness = |one: &Comparable<'_>| one.own.likeness(&asked).max(one.id.likeness(&asked));
    let mut likeliest: Vec<_> = tools.iter().map(|one| (likeness(one), one.tool)).collect();
    likeliest.retain(|(likeness, _)| *likeness >= LEAST_LIKENESS);
    likeliest.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.id().cmp(y.id())));
    let best = likeliest.first().map_or(0.0, |(likeness, _)| *likeness);
    likeliest.retain(|(likeness, _)| *likeness >= best * LEAST_SHARE);
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
    fn likeness(&self, other: &Self) -> f64 {
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
