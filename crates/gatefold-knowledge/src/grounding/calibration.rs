//! How sure an answer of quotes is.

use super::terms::Terms;

/// What sentences and answers are judged by. The weights of a sentence add up to its score, those of
/// an answer to the logit of its confidence.
///
/// The defaults were chosen on half of the questions: those about sentences of Chroma's chunking study, those
/// about answers of it, of SciFact and of FinanceBench, each asked with and without the documents that answer
/// it. None of these has documents that agree, so `agreement` is a guess.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Of a sentence: the share of the question's words that it has.
    pub sentence_words: f32,
    /// How much a word counts that only the title or the headings have, and one that only a sentence
    /// beside it has.
    pub heading_word: f32,
    pub neighbour_word: f32,
    /// How much a word of the sentence before counts that is quoted with it.
    pub quoted_word: f32,
    /// The score of its passage, as a share of the best one's.
    pub sentence_passage: f32,
    /// How similar it is to the question, past the average of the sentences.
    pub sentence_similarity: f32,
    /// That it has a number where the question asks for one, and denies what the question denies.
    pub sentence_number: f32,
    pub sentence_negation: f32,
    /// The least score of a quote, as a share of the best one's.
    pub least_score: f32,
    /// The share of words that two quotes have in common that make one claim.
    pub same_claim: f32,

    /// Of an answer: its bias, and the weights of [`Features`].
    pub bias: f32,
    pub passage: f32,
    pub coverage: f32,
    pub margin: f32,
    pub agreement: f32,
    /// The least confidence that is sufficient.
    pub threshold: f32,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            sentence_words: 1.0,
            heading_word: 0.5,
            neighbour_word: 0.3,
            quoted_word: 0.8,
            sentence_passage: 0.8,
            sentence_similarity: 0.3,
            sentence_number: 0.1,
            sentence_negation: 0.1,
            least_score: 0.65,
            same_claim: 0.6,
            bias: -5.6,
            passage: 1.5,
            coverage: 2.1,
            margin: 6.8,
            agreement: 0.5,
            threshold: 0.2,
        }
    }
}

/// What the confidence of an answer is made of, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Features {
    /// The score of the best passage that is quoted.
    pub passage: f32,
    /// The share of the question's words that the best quotes have, by how rare the words are.
    pub coverage: f32,
    /// How far the best sentence is above the average one.
    pub margin: f32,
    /// How many documents say the first claim.
    pub agreement: f32,
}

impl Calibration {
    /// How likely an answer with these features answers its question.
    pub fn confidence(&self, features: &Features) -> f32 {
        let logit = self.bias
            + self.passage * features.passage
            + self.coverage * features.coverage
            + self.margin * features.margin
            + self.agreement * features.agreement;
        1.0 / (1.0 + (-logit).exp())
    }
}

/// The words of a question, and what each says: a rare word says more.
pub(super) struct Weights {
    terms: Vec<(String, f32)>,
    total: f32,
}

/// How much more a number says than a word that is as rare.
const NUMBER_WEIGHT: f32 = 1.5;

/// How many sentences are counted besides those at hand, and how many of these have a word: where there are
/// few, counts say little.
const PRIOR_SENTENCES: f32 = 10.0;
const PRIOR_HAVING: f32 = 0.1;

impl Weights {
    /// By how many of the sentences have each word.
    #[expect(clippy::cast_precision_loss, reason = "counts of sentences")]
    pub(super) fn of(question: &Terms, sentences: &[Terms]) -> Self {
        let count = sentences.len() as f32 + PRIOR_SENTENCES;
        let weigh = |term: &str| {
            let having = sentences.iter().filter(|terms| terms.has(term)).count() as f32;
            let having = having + PRIOR_HAVING;
            // The inverse frequency of BM25, which is never negative.
            let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            if question.numbers.contains(term) { NUMBER_WEIGHT * rarity } else { rarity }
        };
        let mut terms: Vec<_> = question.all().map(|term| (term.to_owned(), weigh(term))).collect();
        // Sums of floats depend on their order.
        terms.sort_by(|one, other| one.0.cmp(&other.0));
        let total = terms.iter().map(|(_, weight)| weight).sum();
        Self { terms, total }
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|(term, _)| term.as_str())
    }

    /// The share of the question that is covered, where each of its words is to this degree.
    pub(super) fn share(&self, credits: &[f32]) -> f32 {
        if self.total <= 0.0 {
            return 0.0;
        }
        let weights = self.terms.iter().map(|(_, weight)| weight);
        weights.zip(credits).map(|(weight, credit)| weight * credit).sum::<f32>() / self.total
    }
}
