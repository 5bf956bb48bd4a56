//! What the candidates of a query say for themselves, with what the chunks beside them say.

use crate::index::candidates::{Candidate, Candidates};

/// How much of a word's worth in a chunk the length of its body takes from it, and how soon more of the
/// same word says no more: BM25's `b` and `k1`.
const LENGTH: f32 = 0.75;
const SATURATION: f32 = 1.2;

/// How much the body of a chunk counts for the chunks that touch it. A passage is understood from what
/// is around it, and where a chunk ends is chance.
const NEIGHBOUR: f32 = 0.3;

/// The chunks that touch a candidate in its document.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Neighbours {
    /// Those that are candidates themselves, by number.
    pub(crate) candidates: [Option<usize>; 2],
    pub(crate) count: u8,
    /// How long they are together, as a multiple of the candidate.
    pub(crate) relative_length: f32,
}

/// What words say for a candidate, as in [`crate::ranking::Evidence`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordEvidence {
    pub(crate) coverage: f32,
    pub(crate) exactness: f32,
    pub(crate) strength: f32,
    pub(crate) unnamed: f32,
}

/// Weighs candidates whose neighbours are known, in the same order.
pub(crate) fn weigh(found: &Candidates, neighbours: &[Neighbours]) -> Vec<WordEvidence> {
    let mean = found.mean_body * (1.0 + NEIGHBOUR * mean_count(neighbours));
    let mut weighed: Vec<WordEvidence> = Vec::with_capacity(found.chunks.len());
    let mut best_named: f32 = 0.0;
    for (candidate, beside) in found.chunks.iter().zip(neighbours) {
        let words = candidate.body * (1.0 + NEIGHBOUR * beside.relative_length);
        let length = 1.0 - LENGTH + LENGTH * words / mean;
        let mut evidence = WordEvidence::default();
        let mut named = 0.0;
        for (number, (counts, share)) in candidate.words.iter().zip(&found.shares).enumerate() {
            let body = counts.body + NEIGHBOUR * count_beside(&found.chunks, beside, number);
            let count = body / length + counts.front;
            evidence.strength += share * count / (count + SATURATION);
            let share_if = |has_word: bool| if has_word { *share } else { 0.0 };
            evidence.coverage += share_if(counts.body > 0.0 || counts.front > 0.0);
            evidence.exactness += share_if(counts.is_exact);
            named += share_if(counts.is_named);
        }
        best_named = best_named.max(named);
        evidence.unnamed = named;
        weighed.push(evidence);
    }
    for evidence in &mut weighed {
        evidence.unnamed = best_named - evidence.unnamed;
    }
    weighed
}

/// How often the bodies of the candidates beside one have a word.
fn count_beside(chunks: &[Candidate], beside: &Neighbours, word: usize) -> f32 {
    let count = |number: usize| Some(chunks.get(number)?.words.get(word)?.body);
    beside.candidates.iter().flatten().filter_map(|number| count(*number)).sum()
}

/// How many neighbours a candidate has in the mean, which stands for all chunks.
#[expect(clippy::cast_precision_loss, reason = "at most as many as there are candidates")]
fn mean_count(neighbours: &[Neighbours]) -> f32 {
    let sum: f32 = neighbours.iter().map(|beside| f32::from(beside.count)).sum();
    sum / neighbours.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::candidates::WordCounts;

    /// A candidate of mean length with so much of each word in its body.
    fn candidate(bodies: &[f32]) -> Candidate {
        let words = bodies.iter().map(|body| WordCounts { body: *body, ..WordCounts::default() });
        Candidate { document: 1, key: 1, digest: 1, body: 100.0, words: words.collect() }
    }

    fn of(chunks: Vec<Candidate>) -> Candidates {
        Candidates { chunks, shares: vec![0.6, 0.4], mean_body: 100.0 }
    }

    #[test]
    fn a_chunk_gains_by_what_its_neighbour_has_but_covers_no_more() {
        let found =
            of(vec![candidate(&[1.0, 0.0]), candidate(&[1.0, 0.0]), candidate(&[0.0, 1.0])]);
        let beside = |candidates| Neighbours { candidates, count: 2, relative_length: 2.0 };
        let of_all = [beside([None, None]), beside([Some(2), None]), beside([Some(1), None])];
        let [alone, helped, _] = weigh(&found, &of_all)[..] else { panic!("one is missing") };
        assert!(helped.strength > alone.strength + 0.05, "{helped:?} {alone:?}");
        assert!((helped.coverage - alone.coverage).abs() < f32::EPSILON);
    }

    #[test]
    fn long_neighbours_make_a_chunk_long() {
        let found = of(vec![candidate(&[1.0, 1.0]), candidate(&[1.0, 1.0])]);
        let beside =
            |relative_length| Neighbours { count: 2, relative_length, ..Neighbours::default() };
        let [short, long] = weigh(&found, &[beside(0.5), beside(3.0)])[..] else {
            panic!("one is missing")
        };
        assert!(short.strength > long.strength);
    }

    #[test]
    fn what_the_best_name_has_is_missed_by_the_others() {
        let mut named = candidate(&[1.0, 0.0]);
        named.words[1] = WordCounts { front: 1.3, is_named: true, ..WordCounts::default() };
        let found = of(vec![named, candidate(&[1.0, 1.0])]);
        let weighed = weigh(&found, &[Neighbours::default(); 2]);
        let missed: Vec<_> = weighed.iter().map(|evidence| evidence.unnamed).collect();
        assert_eq!(missed, [0.0, 0.4]);
        let unnamed = of(vec![candidate(&[1.0, 0.0])]);
        assert_eq!(
            weigh(&unnamed, &[Neighbours::default()])[0].unnamed.to_bits(),
            0.0_f32.to_bits()
        );
    }
}
