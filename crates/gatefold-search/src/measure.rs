//! How good a ranking is: sets of tools and requests, and the figures.

mod asking;
mod halves;
mod learning;
mod sets;

pub use asking::{AnsweredRequest, ask};
pub use halves::{Half, halves};
pub use learning::{Comparison, LearningEffect, QuerySplit, Similarities, learning};
pub use sets::{ListedTool, Request, SetError, read_requests, read_tools};

use std::time::Duration;

/// How far down a ranking the figures look.
pub const DEPTH: usize = 10;

/// The figures of one set: means over its requests, and latencies.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    pub queries: usize,
    pub recall_1: f64,
    pub recall_3: f64,
    pub recall_5: f64,
    pub recall_10: f64,
    pub ndcg_10: f64,
    /// The mean of one over the place of the first tool that fits.
    pub mrr: f64,
    pub median: Duration,
    pub p99: Duration,
}

/// One request answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Whether the tool at each place of the ranking, best first, fits.
    pub fits: Vec<bool>,
    /// How many tools fit, found or not.
    pub relevant: usize,
    pub took: Duration,
}

impl Answer {
    /// The share of all fitting tools that are among the first `k`: strict, so a request with more
    /// fitting tools than `k` cannot reach 1.
    #[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
    pub fn recall(&self, k: usize) -> f64 {
        let found = self.fits.iter().take(k).filter(|fits| **fits).count();
        found as f64 / self.relevant.max(1) as f64
    }

    /// Normalised discounted cumulative gain at [`DEPTH`] with gains of 0 and 1 (Järvelin and
    /// Kekäläinen 2002, "Cumulated gain-based evaluation of IR techniques").
    pub fn ndcg(&self) -> f64 {
        let places = self.fits.iter().take(DEPTH).enumerate();
        let gained: f64 = places.filter(|(_, fits)| **fits).map(|(at, _)| discount(at)).sum();
        let ideal: f64 = (0..self.relevant.min(DEPTH)).map(discount).sum();
        if ideal > 0.0 { gained / ideal } else { 0.0 }
    }

    /// One over the place of the first tool that fits; 0 without any.
    #[expect(clippy::cast_precision_loss, reason = "places are small")]
    pub fn reciprocal_rank(&self) -> f64 {
        self.fits.iter().position(|fits| *fits).map_or(0.0, |at| 1.0 / (at + 1) as f64)
    }
}

#[expect(clippy::cast_precision_loss, reason = "places are small")]
fn discount(at: usize) -> f64 {
    1.0 / (at as f64 + 2.0).log2()
}

impl Figures {
    /// The figures of a set's answers; zeros without any.
    #[expect(clippy::cast_precision_loss, reason = "counts of requests are small")]
    pub fn of(answers: &[Answer]) -> Self {
        if answers.is_empty() {
            return Self::default();
        }
        let mean = |figure: &dyn Fn(&Answer) -> f64| {
            answers.iter().map(figure).sum::<f64>() / answers.len() as f64
        };
        let mut took: Vec<_> = answers.iter().map(|answer| answer.took).collect();
        took.sort_unstable();
        Self {
            queries: answers.len(),
            recall_1: mean(&|answer| answer.recall(1)),
            recall_3: mean(&|answer| answer.recall(3)),
            recall_5: mean(&|answer| answer.recall(5)),
            recall_10: mean(&|answer| answer.recall(10)),
            ndcg_10: mean(&Answer::ndcg),
            mrr: mean(&Answer::reciprocal_rank),
            median: took[took.len() / 2],
            p99: took[(took.len() * 99 / 100).min(took.len() - 1)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(fits: &[u8], relevant: usize) -> Answer {
        let fits = fits.iter().map(|fits| *fits == 1).collect();
        Answer { fits, relevant, took: Duration::from_micros(5) }
    }

    #[track_caller]
    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    #[test]
    fn recall_counts_every_tool_that_fits() {
        let found = answer(&[0, 1, 0, 0, 1, 1], 4);
        near(found.recall(1), 0.0);
        near(found.recall(5), 0.5);
        near(found.recall(10), 0.75);
        near(answer(&[1; 10], 20).recall(10), 0.5);
    }

    #[test]
    fn gain_falls_with_the_place() {
        near(answer(&[1, 1], 2).ndcg(), 1.0);
        near(answer(&[0, 1], 1).ndcg(), 0.6309);
        near(answer(&[0, 1, 1], 2).ndcg(), (0.6309 + 0.5) / 1.6309);
        near(answer(&[], 3).ndcg(), 0.0);
    }

    #[test]
    fn figures_are_means() {
        let figures = Figures::of(&[answer(&[1], 1), answer(&[0, 1], 1)]);
        near(figures.recall_1, 0.5);
        near(figures.recall_3, 1.0);
        near(figures.mrr, 0.75);
        assert_eq!((figures.queries, figures.median), (2, Duration::from_micros(5)));
        assert_eq!(Figures::of(&[]), Figures::default());
    }
}
