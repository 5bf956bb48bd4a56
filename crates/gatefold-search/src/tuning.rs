//! The constants of the ranking.

use crate::document::FIELDS;

/// The constants of the ranking, tuned over five public sets of tools and requests.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// Per field, in the order of a document's: its weight, and how much its length counts against
    /// it (BM25F's `w` and `b`).
    pub fields: [(f32, f32); FIELDS],
    /// How soon more of the same word stops to count (BM25's `k1`).
    pub saturation: f32,
    /// What a synonym counts, compared with the word itself.
    pub synonym: f32,
    /// What a compound of a query (`GitHub`) counts, compared with a word.
    pub compound: f32,
    /// What a longer word counts for an unknown one that it begins with.
    pub completion: f32,
    /// What the best clause of a request counts beside the whole.
    pub clause: f32,
    /// What the mean of a domain's best three tools counts for each of its tools.
    pub domain: f32,
    /// What the likeness of meaning counts beside the words, in a hybrid ranking.
    pub meaning: f32,
    /// How fast that falls with what a request's words weigh: the exponent.
    pub by_weight: f32,
    /// What the likeness that a sentence encoder sees counts, compared with that of our own table.
    pub encoder: f32,
    /// How many tools there are taken to be at least, where rare words are told from common ones:
    /// among a handful every word is common.
    pub assumed_tools: f32,
    /// The least score by words at which something fits a request in a hybrid ranking, whatever it
    /// means.
    pub least_words: f32,
    /// The least likeness of meaning at which something fits a request, whatever its words.
    pub least_meaning: f32,
    /// The share of the likeness that an encoder sees, and the least that it makes with a tool's score
    /// at which the tool fits a request in a hybrid ranking. It takes the place of the two above
    /// where there is one.
    pub least_judged: (f32, f32),
    /// The least that past queries must speak for a tool for it to fit a request, whatever it is.
    pub least_bonus: f32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            fields: [
                (4.0, 0.9),   // name
                (2.5, 0.9),   // domain
                (0.5, 0.6),   // domain description
                (1.0, 0.6),   // group
                (0.75, 0.6),  // description
                (0.75, 0.25), // parameter names
                (0.4, 0.25),  // parameter descriptions
                (0.3, 0.25),  // enum values
                (1.5, 0.6),   // past queries
            ],
            saturation: 1.6,
            synonym: 0.3,
            compound: 0.5,
            completion: 0.5,
            clause: 0.4,
            domain: 0.3,
            meaning: 0.3,
            by_weight: 0.5,
            encoder: 1.0,
            assumed_tools: 0.0,
            least_words: 0.2,
            least_meaning: 0.3,
            least_judged: (0.4, 0.18),
            least_bonus: 0.05,
        }
    }
}
