use std::time::Duration;

use gatefold_core::Cost;
use serde::{Deserialize, Serialize};

use crate::estimate::TOKEN_BYTES;
use crate::{SpendingLimit, ToolOffer};

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
    /// The most tokens of all requests and answers together, if they are limited, those of runs that it starts
    /// included.
    pub tokens: Option<u64>,
    /// The same for what they cost.
    pub cost: Option<Cost>,
    /// The most bytes of a conversation that the model is shown, beside instructions and tools.
    pub history_bytes: usize,
    /// From so many bytes on it is compacted.
    pub compact_bytes: usize,
}

/// What an agent's runs are limited to, where that is not left to [`RunLimits`] and its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentLimits {
    pub iterations: Option<u32>,
    pub turn: Option<Duration>,
    pub run: Option<Duration>,
    pub calls_at_once: Option<usize>,
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
}

/// What one model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelRoom {
    /// How many tokens it takes, its answer included, if that is known.
    pub context_tokens: Option<u64>,
    pub max_output_tokens: Option<u32>,
    /// How long it may take for one answer, with all tries.
    pub patience: Duration,
}

/// The context of a model where nothing says how long it is. Most are longer; answers get worse, slower and dearer with
/// what is in it.
const USUAL_CONTEXT: u64 = 128_000;

/// The part of its room at which a conversation is compacted.
const COMPACTED_AT: (usize, usize) = (3, 4);

/// The part of a context that is left to the answer, where nothing says how long that may be.
const ANSWER_SHARE: u64 = 8;

impl RunLimits {
    /// The limits of an agent with a model, which is told and offered this: a conversation is compacted before it
    /// would not fit beside that.
    pub fn for_model(room: &ModelRoom, offer: &ToolOffer, own: &AgentLimits) -> Self {
        let usual = Self::default();
        let limits = Self {
            iterations: own.iterations.unwrap_or(usual.iterations),
            turn: own.turn.unwrap_or(room.patience),
            run: own.run.unwrap_or(usual.run),
            calls_at_once: own.calls_at_once.unwrap_or(usual.calls_at_once),
            tokens: own.tokens,
            cost: own.cost,
            ..usual
        };
        let Some(context) = room.context_tokens else { return limits };
        let answer = room.max_output_tokens.map_or(context / ANSWER_SHARE, u64::from);
        let left = bytes_of(context.saturating_sub(answer)).saturating_sub(offer.bytes());
        let history_bytes = left.min(limits.history_bytes);
        Self { history_bytes, compact_bytes: compacted_at(history_bytes), ..limits }
    }

    pub(crate) fn spending(&self) -> SpendingLimit {
        SpendingLimit { tokens: self.tokens, cost: self.cost }
    }
}

fn bytes_of(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(TOKEN_BYTES)).unwrap_or(usize::MAX)
}

fn compacted_at(room: usize) -> usize {
    room / COMPACTED_AT.1 * COMPACTED_AT.0
}

impl AgentLimits {
    /// These, and those of `usual` where there are none.
    #[must_use]
    pub fn or(&self, usual: &Self) -> Self {
        Self {
            iterations: self.iterations.or(usual.iterations),
            turn: self.turn.or(usual.turn),
            run: self.run.or(usual.run),
            calls_at_once: self.calls_at_once.or(usual.calls_at_once),
            tokens: self.tokens.or(usual.tokens),
            cost: self.cost.or(usual.cost),
        }
    }
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            iterations: 50,
            turn: Duration::from_mins(2),
            run: Duration::from_mins(30),
            calls_at_once: 8,
            tokens: None,
            cost: None,
            history_bytes: 8 * 1024 * 1024,
            compact_bytes: compacted_at(bytes_of(USUAL_CONTEXT - USUAL_CONTEXT / ANSWER_SHARE)),
        }
    }
}
