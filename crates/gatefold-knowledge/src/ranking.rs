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
    /// The cosine with the query; `None` where an encoder has not read the chunk.
    pub cosine: Option<f32>,
    /// The mean cosine of the chunks that were looked at; `None` without an encoder.
    pub mean_cosine: Option<f32>,
}

/// The logistic without an encoder.
const WORDS_BIAS: f32 = -3.6;
const WORDS_COVERAGE: f32 = 3.0;
const WORDS_STRENGTH: f32 = 6.0;

/// The logistic with an encoder.
const BIAS: f32 = -6.0;
const COVERAGE: f32 = 2.0;
const STRENGTH: f32 = 4.0;
const COSINE: f32 = 5.0;
const ABOVE_MEAN: f32 = 4.0;

/// What decides between chunks that are alike in everything else.
const EXACTNESS: f32 = 0.1;

/// From here on a passage is said to fit.
pub const FITS: f32 = 0.25;

/// How likely it is that a chunk answers the query, from 0 to 1.
pub fn grade(evidence: &Evidence) -> f32 {
    let Evidence { coverage, exactness, strength, cosine, mean_cosine } = *evidence;
    let sum = match mean_cosine {
        None => WORDS_BIAS + WORDS_COVERAGE * coverage + WORDS_STRENGTH * strength,
        Some(mean) => {
            // A chunk that no encoder has read counts as average.
            let cosine = cosine.unwrap_or(mean);
            let words = COVERAGE * coverage + STRENGTH * strength;
            BIAS + words + COSINE * cosine + ABOVE_MEAN * (cosine - mean)
        }
    };
    1.0 / (1.0 + (-(sum + EXACTNESS * exactness)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Evidence = Evidence {
        coverage: 0.5,
        exactness: 0.5,
        strength: 0.3,
        cosine: Some(0.5),
        mean_cosine: Some(0.4),
    };

    #[test]
    fn more_of_anything_is_no_worse() {
        for (better, worse) in [
            (Evidence { coverage: 0.6, ..SOME }, SOME),
            (Evidence { exactness: 0.6, ..SOME }, SOME),
            (Evidence { strength: 0.4, ..SOME }, SOME),
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
                    cosine,
                    mean_cosine,
                };
                assert_eq!(grade(&evidence) >= FITS, expected, "{evidence:?}");
                assert!((0.0..=1.0).contains(&grade(&evidence)));
            }
        }
    }
}
