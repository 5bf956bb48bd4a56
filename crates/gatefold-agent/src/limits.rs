use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What bounds one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunLimits {
    /// The most answers of the model in which it may call tools. After them it is asked once more without.
    pub iterations: u32,
    /// The longest wait for one answer of the model.
    pub turn: Duration,
    /// The longest time of the whole run, after which the model is asked one last time.
    pub run: Duration,
    /// How many calls of one answer are made at once.
    pub calls_at_once: usize,
    /// The most tokens of all requests and answers together, if they are limited.
    pub tokens: Option<u64>,
    /// The most bytes of what was said, beside instructions and tools.
    pub history_bytes: usize,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            iterations: 50,
            turn: Duration::from_mins(2),
            run: Duration::from_mins(30),
            calls_at_once: 8,
            tokens: None,
            history_bytes: 8 * 1024 * 1024,
        }
    }
}
