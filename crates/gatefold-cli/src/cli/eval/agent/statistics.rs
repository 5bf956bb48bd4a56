//! The two statistics of a comparison over the same tasks.

use serde::Serialize;

/// The 97.5 % quantile of the normal distribution, for intervals of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A share with its 95 % Wilson interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Share {
    pub(super) count: usize,
    pub(super) of: usize,
    #[serde(rename = "share")]
    pub(super) ratio: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Share {
    /// None where nothing could be counted.
    ///
    /// The interval is Wilson's score interval without a correction for continuity (Wilson, 1927).
    pub(super) fn of(count: usize, of: usize) -> Option<Self> {
        if of == 0 {
            return None;
        }
        let (n, ratio) = (float(of), float(count) / float(of));
        let spread = Z * ((ratio * (1.0 - ratio) + Z * Z / (4.0 * n)) / n).sqrt();
        let (middle, whole) = (ratio + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
        let (low, high) = ((middle - spread) / whole, (middle + spread) / whole);
        Some(Self { count, of, ratio, low: low.max(0.0), high: high.min(1.0) })
    }
}

/// McNemar's exact test, two-sided: how likely chance alone makes pairs differ as unevenly as `one`
/// pairs in one direction and `other` in the other (McNemar, 1947; the binomial distribution in
/// place of its approximation).
pub(super) fn mcnemar(one: usize, other: usize) -> f64 {
    let n = one + other;
    let least = one.min(other);
    // Logarithms, because the terms of large samples are below what a number can hold.
    let mut ln_term = -float(n) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..=least {
        tail += ln_term.exp();
        ln_term += (float(n - k) / float(k + 1)).ln();
    }
    (2.0 * tail).min(1.0)
}

fn float(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_share(count: usize, of: usize, low: f64, high: f64) {
        let share = Share::of(count, of).unwrap();
        assert!((share.low - low).abs() < 5e-5, "{share:?}");
        assert!((share.high - high).abs() < 5e-5, "{share:?}");
    }

    #[test]
    fn intervals_are_wilsons() {
        // From table I of Newcombe (1998), method 3.
        check_share(81, 263, 0.2553, 0.3662);
        check_share(15, 148, 0.0624, 0.1605);
        check_share(0, 20, 0.0, 0.1611);
        check_share(1, 29, 0.0061, 0.1718);
        check_share(20, 20, 0.8389, 1.0);
        assert_eq!(Share::of(0, 0), None);
    }

    #[track_caller]
    fn check_p(one: usize, other: usize, p: f64) {
        for found in [mcnemar(one, other), mcnemar(other, one)] {
            assert!((found - p).abs() < 1e-9, "{one} and {other}: {found}");
        }
    }

    #[test]
    fn chances_are_those_of_the_binomial_distribution() {
        check_p(0, 0, 1.0);
        check_p(0, 1, 1.0);
        check_p(0, 5, 2.0 / 32.0);
        check_p(1, 9, 22.0 / 1024.0);
        // 110,056 of 2^22 outcomes are that uneven in one direction.
        check_p(6, 16, 2.0 * 110_056.0 / 4_194_304.0);
        check_p(5, 5, 1.0);
    }

    #[test]
    fn large_samples_neither_overflow_nor_vanish() {
        check_p(5000, 5000, 1.0);
        check_p(0, 10_000, 0.0);
        let p = mcnemar(4900, 5100);
        assert!((0.04..0.05).contains(&p), "{p}");
    }
}
