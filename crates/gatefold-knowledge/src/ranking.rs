//! How well a chunk fits a query, as a number that means the same in every base.

/// What is known of a chunk for a query. All but cosines are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// How much of the query the chunk has: the share of the weight of the query's words. A word
    /// weighs what it is rare.
    pub coverage: f32,
    /// The same for words that are written as in the query.
    pub exactness: f32,
    /// How strongly its words speak for it: BM25 over the fields, as a share of what the best chunk
    /// that there could be would have.
    pub strength: f32,
    /// How much less of the query its file's name has than that of the best named chunk.
    pub unnamed: f32,
    /// The cosine with the query; `None` where an encoder has not read the chunk.
    pub cosine: Option<f32>,
    /// The mean cosine of the chunks that were looked at; `None` without an encoder.
    pub mean_cosine: Option<f32>,
}

/// What counts beside the strength, as much as this. Like all constants here they were chosen on half
/// of the questions of SciFact, of Chroma's chunking study and of FinanceBench.
const COVERAGE: f32 = 0.15;

/// A query that names a file means it. What other files lack is taken from them, and nothing is given
/// to the one that is named: a name alone answers nothing.
const UNNAMED: f32 = -1.0;

/// By how much the cosine is above that of the other chunks. What cosines are in themselves depends on
/// the encoder and the query.
const ABOVE_MEAN: f32 = 0.25;

/// What decides between chunks that are alike in everything else.
const EXACTNESS: f32 = 0.01;

/// A logistic, with its slope and its bias.
#[derive(Debug, Clone, Copy)]
struct Logistic(f32, f32);

/// How likely the best chunk answers the query by its sum, without and with an encoder: fitted on
/// questions that were asked once with and once without the documents that answer them.
const WORDS: Logistic = Logistic(8.0, -4.3);
const ENCODER: Logistic = Logistic(8.0, -4.6);

/// From here on a passage is said to fit. One of ten questions of the first two that have an answer is below.
pub const FITS: f32 = 0.13;

/// How likely it is that a chunk answers the query, from 0 to 1.
pub fn grade(evidence: &Evidence) -> f32 {
    let Evidence { coverage, exactness, strength, unnamed, cosine, mean_cosine } = *evidence;
    let words = strength + COVERAGE * coverage + EXACTNESS * exactness + UNNAMED * unnamed;
    match mean_cosine {
        None => WORDS.at(words),
        // A chunk that no encoder has read counts as average.
        Some(mean) => ENCODER.at(words + ABOVE_MEAN * (cosine.unwrap_or(mean) - mean)),
    }
}

impl Logistic {
    fn at(self, value: f32) -> f32 {
        let Self(slope, bias) = self;
        1.0 / (1.0 + (-(slope * value + bias)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Evidence = Evidence {
        coverage: 0.5,
        exactness: 0.5,
        strength: 0.3,
        unnamed: 0.2,
        cosine: Some(0.5),
        mean_cosine: Some(0.4),
    };

    #[test]
    fn more_of_anything_is_no_worse() {
        for (better, worse) in [
            (Evidence { coverage: 0.6, ..SOME }, SOME),
            (Evidence { exactness: 0.6, ..SOME }, SOME),
            (Evidence { strength: 0.4, ..SOME }, SOME),
            (Evidence { unnamed: 0.1, ..SOME }, SOME),
            (Evidence { cosine: Some(0.6), ..SOME }, SOME),
            (SOME, Evidence { cosine: None, ..SOME }),
            (Evidence { cosine: None, ..SOME }, Evidence { cosine: Some(0.3), ..SOME }),
            (
                Evidence { strength: 0.4, mean_cosine: None, ..SOME },
                Evidence { mean_cosine: None, ..SOME },
            ),
        ] {
            assert!(grade(&better) > grade(&worse), "{better:?} {worse:?}");
        }
    }

    #[test]
    fn nothing_in_common_does_not_fit_and_everything_does() {
        for (share, cosine, expected) in [(0.0, 0.0, false), (1.0, 0.9, true)] {
            for mean_cosine in [None, Some(0.3)] {
                let cosine = Some(cosine);
                let evidence = Evidence {
                    coverage: share,
                    exactness: share,
                    strength: share,
                    unnamed: 0.0,
                    cosine,
                    mean_cosine,
                };
                assert_eq!(grade(&evidence) >= FITS, expected, "{evidence:?}");
                assert!((0.0..=1.0).contains(&grade(&evidence)));
            }
        }
    }
}
