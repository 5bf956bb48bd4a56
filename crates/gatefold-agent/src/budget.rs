use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tokens that runs may still spend. A run and those that it starts share one.
#[derive(Debug, Clone)]
pub struct Budget(Arc<AtomicU64>);

impl Budget {
    pub fn new(tokens: u64) -> Self {
        Self(Arc::new(AtomicU64::new(tokens)))
    }

    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    pub fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// Takes tokens away, as far as there are some. They are counted only once they are spent, so the
    /// last answer may cost more than was left.
    pub fn spend(&self, tokens: u64) {
        let less = |left: u64| Some(left.saturating_sub(tokens));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}
