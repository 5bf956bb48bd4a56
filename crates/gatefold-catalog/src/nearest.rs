//! Names like a name.

use std::cmp::Ordering;

use gatefold_core::ToolId;
use gatefold_search::words;

use crate::view::View;

/// How many names are suggested at most.
const SUGGESTIONS: usize = 3;

/// The least likeness of a name that is suggested, between 0 and 1.
const LEAST_LIKENESS: f64 = 0.45;

/// The least likeness beside that of the best: what is much less like it only distracts.
const LEAST_SHARE: f64 = 0.75;

/// How much of a long name is compared, in characters.
const COMPARED: usize = 80;

/// The visible tools whose names are most like `name`, best first, at most three.
///
/// The first never is a destructive tool: whoever takes the first suggestion on trust should not
/// destroy anything.
pub(crate) fn tools(view: &View, name: &str) -> Vec<ToolId> {
    let asked = Shape::of(name);
    let mut likeliest: Vec<_> = view
        .tools()
        .map(|tool| {
            let bare = Shape::of(&tool.target().name).likeness(&asked);
            let full = Shape::of(tool.id().as_str()).likeness(&asked);
            (bare.max(full), tool)
        })
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .collect();
    likeliest.sort_by(|(a, x), (b, y)| descending(*a, *b).then_with(|| x.id().cmp(y.id())));
    let best = likeliest.first().map_or(0.0, |(likeness, _)| *likeness);
    likeliest.retain(|(likeness, _)| *likeness >= best * LEAST_SHARE);
    let destructive = |tool: &crate::Tool| tool.target().hints.is_destructive();
    let Some(first_safe) = likeliest.iter().position(|(_, tool)| !destructive(tool)) else {
        return Vec::new();
    };
    likeliest[..=first_safe].rotate_right(1);
    likeliest.iter().take(SUGGESTIONS).map(|(_, tool)| tool.id().clone()).collect()
}

/// The texts most like `text`, best first, at most three: domains, groups, parameter names.
pub fn nearest_texts<'a>(text: &str, among: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let asked = Shape::of(text);
    let like = |other: &'a str| (Shape::of(other).likeness(&asked), other);
    let mut likeliest: Vec<_> = among.into_iter().map(like).collect();
    likeliest.retain(|(likeness, _)| *likeness >= LEAST_LIKENESS);
    likeliest.sort_by(|(a, x), (b, y)| descending(*a, *b).then_with(|| x.cmp(y)));
    likeliest.into_iter().take(SUGGESTIONS).map(|(_, other)| other).collect()
}

fn descending(a: f64, b: f64) -> Ordering {
    b.total_cmp(&a)
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

    /// Between 0 and 1: the better of the letters' likeness (edits) and the words' (Dice), and a
    /// little of the other, so that shared words order what edits alone would not.
    #[expect(clippy::cast_precision_loss, reason = "counts of words in a name are small")]
    fn likeness(&self, other: &Self) -> f64 {
        let shared = self.stems.iter().filter(|stem| other.stems.binary_search(stem).is_ok());
        let all = self.stems.len() + other.stems.len();
        let by_words = 2.0 * shared.count() as f64 / (all.max(1)) as f64;
        let (longer, shorter) = (
            self.letters.len().max(other.letters.len()),
            self.letters.len().min(other.letters.len()),
        );
        // Edits cannot make up for a difference in length that is this large.
        if by_words == 0.0 && shorter * 2 < longer {
            return 0.0;
        }
        let by_letters = strsim::normalized_damerau_levenshtein(&self.letters, &other.letters);
        0.8 * by_words.max(by_letters) + 0.2 * by_words.min(by_letters)
    }
}
