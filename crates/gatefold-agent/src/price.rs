//! What tokens cost.

use gatefold_core::Cost;
use gatefold_dispatch::UsedTokens;

/// The price of a model's tokens, each in millionths of a unit for a million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPrice {
    pub input: u64,
    /// Of those that the provider reads from its cache.
    pub cached_input: u64,
    pub output: u64,
}

impl TokenPrice {
    /// What tokens cost, in whole millionths: what is left over counts as one more, so that nothing is free.
    pub fn cost(&self, tokens: &UsedTokens) -> Cost {
        const MILLION: u128 = 1_000_000;
        let cached = tokens.cached.min(tokens.input);
        let parts = [
            (tokens.input - cached, self.input),
            (cached, self.cached_input),
            (tokens.output, self.output),
        ];
        let amount = |(count, price): (u64, u64)| u128::from(count) * u128::from(price);
        // Three products of 128 bits may not fit together.
        let all = parts.into_iter().map(amount).fold(0, u128::saturating_add);
        Cost::from_micros(u64::try_from(all.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_exact_up_to_the_last_millionth_and_never_overflows() {
        // 0.25, 0.025 and 2 for a million.
        let price = TokenPrice { input: 250_000, cached_input: 25_000, output: 2_000_000 };
        let free = TokenPrice { input: 0, cached_input: 0, output: 0 };
        let dear = TokenPrice { input: u64::MAX, cached_input: u64::MAX, output: u64::MAX };
        for (price, input, cached, output, expected) in [
            (price, 0, 0, 0, 0),
            (price, 1_000_000, 0, 0, 250_000),
            (price, 1_000_000, 1_000_000, 0, 25_000),
            (price, 1_000_000, 400_000, 500_000, 150_000 + 10_000 + 1_000_000),
            // A token costs a quarter of a millionth, and four cost one.
            (price, 1, 0, 0, 1),
            (price, 4, 0, 0, 1),
            (price, 5, 0, 0, 2),
            // More cached than there was is all that there was.
            (price, 100, u64::MAX, 0, 3),
            (free, u64::MAX, u64::MAX, u64::MAX, 0),
            (price, u64::MAX, 0, 0, 4_611_686_018_427_387_904),
            (price, u64::MAX, 0, u64::MAX, u64::MAX),
            (dear, u64::MAX, u64::MAX / 2, u64::MAX, u64::MAX),
        ] {
            let tokens = UsedTokens { input, cached, output, is_estimated: false };
            let cost = price.cost(&tokens);
            assert_eq!(cost, Cost::from_micros(expected), "{price:?} {tokens:?}");
        }
    }
}
