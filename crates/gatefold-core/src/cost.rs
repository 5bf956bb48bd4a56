use std::fmt;
use std::iter::Sum;

use serde::{Deserialize, Serialize};

/// An amount of money in millionths of a unit. Which unit that is, the operator knows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cost(u64);

impl Cost {
    pub const ZERO: Self = Self(0);

    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// In units, for whoever reads it: nothing is summed up in this form.
    #[expect(clippy::cast_precision_loss, reason = "exact up to nine billion units")]
    pub fn as_units(self) -> f64 {
        self.0 as f64 / 1e6
    }

    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, Self::saturating_add)
    }
}

impl fmt::Display for Cost {
    /// In units, with at least two decimals: `0.10`, `12.00`, `0.000125`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millionths = format!("{:06}", self.0 % 1_000_000);
        let (cents, rest) = millionths.split_at(2);
        write!(f, "{}.{cents}{}", self.0 / 1_000_000, rest.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_written_in_units() {
        for (micros, expected) in [
            (0, "0.00"),
            (1, "0.000001"),
            (125, "0.000125"),
            (100_000, "0.10"),
            (1_234_500, "1.2345"),
            (u64::MAX, "18446744073709.551615"),
        ] {
            assert_eq!(Cost::from_micros(micros).to_string(), expected);
        }
        assert_eq!(Cost::from_micros(125).as_units().to_string(), "0.000125");
    }
}
