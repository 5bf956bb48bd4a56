use std::ops::Range;
use std::sync::Arc;

/// A set of places in a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct BitSet(Arc<[u64]>);

impl BitSet {
    pub(crate) fn of(length: usize, mut is_member: impl FnMut(usize) -> bool) -> Self {
        let mut words = vec![0_u64; length.div_ceil(64)];
        for at in (0..length).filter(|at| is_member(*at)) {
            words[at / 64] |= 1 << (at % 64);
        }
        Self(words.into())
    }

    /// All places of a list.
    pub(crate) fn all(length: usize) -> Self {
        Self::of(length, |_| true)
    }

    pub(crate) fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The members of both sets, which must be over the same list.
    pub(crate) fn both(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&*other.0).map(|(own, other)| own & other).collect())
    }

    /// The members that lie outside of a range.
    pub(crate) fn without(&self, range: &Range<usize>) -> Self {
        Self::of(self.0.len() * 64, |at| !range.contains(&at) && self.has(at))
    }

    /// The members that lie in a range.
    pub(crate) fn within(&self, range: &Range<usize>) -> Self {
        Self::of(self.0.len() * 64, |at| range.contains(&at) && self.has(at))
    }
}
