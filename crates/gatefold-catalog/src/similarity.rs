//! How similar two names are.

use std::cmp::Ordering;

use gatefold_search::words;

/// How many names are suggested at most.
pub(crate) const SUGGESTIONS: usize = 3;

/// The least similarity of a suggested name, between 0 and 1.
pub(crate) const LEAST_SIMILARITY: f64 = 0.45;

/// How many characters of a long name are compared.
pub(crate) const COMPARED: usize = 80;

/// The texts most similar to `text`, best first, at most three: domains, groups, parameter names.
pub fn nearest_texts<'a>(text: &str, among: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let asked = NameShape::of(text);
    let like = |other: &'a str| (NameShape::of(other).similarity(&asked), other);
    let mut likeliest: Vec<_> = among.into_iter().map(like).collect();
    likeliest.retain(|(similarity, _)| *similarity >= LEAST_SIMILARITY);
    likeliest.sort_by(|(a, x), (b, y)| descending(*a, *b).then_with(|| x.cmp(y)));
    likeliest.into_iter().take(SUGGESTIONS).map(|(_, other)| other).collect()
}

pub(crate) fn descending(a: f64, b: f64) -> Ordering {
    b.total_cmp(&a)
}

/// The parts of a name that are compared.
#[derive(Debug)]
pub(crate) struct NameShape {
    /// Its words in lower case, with `_` between them.
    pub(crate) letters: String,
    /// The stems of its words, sorted.
    pub(crate) stems: Vec<String>,
}

impl NameShape {
    pub(crate) fn of(name: &str) -> Self {
        let name: String = name.chars().take(COMPARED).collect();
        let words = words::split(&name);
        let mut stems: Vec<_> = words.iter().map(|word| words::stem(word).to_owned()).collect();
        stems.sort_unstable();
        stems.dedup();
        Self { letters: words.join("_"), stems }
    }

    /// Between 0 and 1: the better of the similarity by letters (edit distance) and by words
    /// (Dice), plus a little of the other, so that shared words order what edits alone would not.
    #[expect(clippy::cast_precision_loss, reason = "counts of words in a name are small")]
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        let shared = self.stems.iter().filter(|stem| other.stems.binary_search(stem).is_ok());
        let all = self.stems.len() + other.stems.len();
        let by_words = 2.0 * shared.count() as f64 / (all.max(1)) as f64;
        let (longer, shorter) = (
            self.letters.len().max(other.letters.len()),
            self.letters.len().min(other.letters.len()),
        );
        // Edits cannot bridge a difference in length that is this large.
        if by_words == 0.0 && shorter * 2 < longer {
            return 0.0;
        }
        let by_letters = strsim::normalized_damerau_levenshtein(&self.letters, &other.letters);
        0.8 * by_words.max(by_letters) + 0.2 * by_words.min(by_letters)
    }
}
