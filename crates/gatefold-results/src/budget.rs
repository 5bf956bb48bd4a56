use gatefold_catalog::token_bound;

/// How many tokens an answer may have, counted as o200k does and never too low.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenBudget(usize);

impl TokenBudget {
    /// What a preview needs in order to say anything.
    pub const LEAST: Self = Self(500);

    /// A budget of so many tokens, or of [`Self::LEAST`] if that is more.
    pub fn new(tokens: usize) -> Self {
        Self(tokens.max(Self::LEAST.0))
    }

    pub fn tokens(self) -> usize {
        self.0
    }

    /// Whether a text keeps within the budget. The longest texts are not counted: no vocabulary has
    /// tokens of that length on average.
    pub fn holds(self, text: &str) -> bool {
        text.len() <= self.0.saturating_mul(MAX_BYTES_EACH) && token_bound(text) <= self.0
    }
}

/// How long tokens are at most on average, in bytes, in a text that is worth counting.
const MAX_BYTES_EACH: usize = 128;
