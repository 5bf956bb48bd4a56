use std::time::Duration;

use gatefold_model::RawJson;
use serde::{Deserialize, Serialize};

use crate::ToolOffer;

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

/// What one model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelRoom {
    /// How many tokens it takes, its answer included, if that is known.
    pub context_tokens: Option<u64>,
    pub max_output_tokens: Option<u32>,
    /// How long it may take for one answer, with all tries.
    pub patience: Duration,
}

/// About how many bytes a token has, rather too few: a conversation should end before the endpoint
/// refuses it.
const TOKEN_BYTES: u64 = 3;

/// The part of a context that is left to the answer, where nothing says how long that may be.
const ANSWER_SHARE: u64 = 8;

impl RunLimits {
    /// The limits for a model, which is told and offered this: a conversation ends before it would not
    /// fit beside that.
    pub fn for_model(room: &ModelRoom, offer: &ToolOffer) -> Self {
        let limits = Self { turn: room.patience, ..Self::default() };
        let Some(context) = room.context_tokens else { return limits };
        let definitions = offer.tools.iter().map(|tool| {
            tool.name().len() + tool.description().len() + RawJson::of(tool.schema()).text().len()
        });
        let offered = offer.instructions.len() + definitions.sum::<usize>();
        let answer = room.max_output_tokens.map_or(context / ANSWER_SHARE, u64::from);
        let bytes = context.saturating_sub(answer).saturating_mul(TOKEN_BYTES);
        let left = bytes.saturating_sub(offered as u64);
        let history_bytes = usize::try_from(left).unwrap_or(usize::MAX).min(limits.history_bytes);
        Self { history_bytes, ..limits }
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
            history_bytes: 8 * 1024 * 1024,
        }
    }
}
