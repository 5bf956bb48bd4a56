//! What an answer of quotes is judged by.

use super::Choice;
use super::calibration::{Features, Weights};
use super::candidates::CandidateSentence;
use super::terms::ratio;
use crate::Passage;

/// How many of the best quotes together are looked at for the words of the question.
const COVERING_QUOTES: usize = 3;

/// How many documents that agree are as good as any number.
const MAX_AGREEMENT: usize = 3;

impl Features {
    pub(super) fn of(
        question: &Weights,
        passages: &[Passage],
        candidates: &[CandidateSentence],
        groups: &[Vec<Choice<'_>>],
    ) -> Self {
        let quotes = groups.iter().filter_map(|group| group.first());
        let quotes: Vec<_> = quotes.map(|choice| choice.candidate).collect();
        let (Some(first), Some(best)) = (groups.first(), quotes.first()) else {
            return Self::default();
        };
        let covering = &quotes[..quotes.len().min(COVERING_QUOTES)];
        let scores = quotes.iter().map(|quote| passages[quote.passage].score);
        let sum: f32 = candidates.iter().map(|candidate| candidate.score).sum();
        let average = sum * ratio(1, candidates.len());
        let margin = if best.score > 0.0 { (best.score - average) / best.score } else { 0.0 };
        let mut documents: Vec<_> = first.iter().map(|choice| choice.candidate.document).collect();
        documents.sort_unstable();
        documents.dedup();
        let others = documents.len().min(MAX_AGREEMENT) - 1;
        Self {
            passage: scores.fold(0.0, f32::max).clamp(0.0, 1.0),
            coverage: question.share(&best_credits(covering)),
            margin: margin.clamp(0.0, 1.0),
            agreement: ratio(others, MAX_AGREEMENT - 1),
        }
    }
}

/// How far the best of some quotes has each word of the question.
fn best_credits(quotes: &[&CandidateSentence]) -> Vec<f32> {
    let mut best: Vec<f32> = Vec::new();
    for quote in quotes {
        best.resize(quote.credits.len(), 0.0);
        for (best, credit) in best.iter_mut().zip(&quote.credits) {
            *best = best.max(*credit);
        }
    }
    best
}
