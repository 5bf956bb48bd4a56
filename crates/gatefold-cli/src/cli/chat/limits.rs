//! What bounds one answer in a chat.

use gatefold_agent::{AgentTools as _, RunLimits};
use gatefold_model::RawJson;

use crate::cli::chosen_model::ChosenModel;
use crate::cli::model_options::patience;

use super::tools::ChatTools;

/// About how many bytes a token has, rather too few: a conversation should end before the endpoint
/// refuses it.
const TOKEN_BYTES: u64 = 3;

/// The part of a context that is left to the answer, where nothing says how long that may be.
const ANSWER_SHARE: u64 = 8;

/// The limits for a model. What it is told and offered counts as a part of its context.
pub(super) async fn of(model: &ChosenModel, tools: &ChatTools<'_>) -> anyhow::Result<RunLimits> {
    let limits = RunLimits { turn: patience(&model.client), ..RunLimits::default() };
    let Some(context) = model.config.context_tokens else { return Ok(limits) };
    let offer = tools.offer().await.map_err(|error| anyhow::anyhow!(error))?;
    let definitions = offer.tools.iter().map(|tool| {
        tool.name().len() + tool.description().len() + RawJson::of(tool.schema()).text().len()
    });
    let offered = offer.instructions.len() + definitions.sum::<usize>();
    let answer = model.config.spec.max_output_tokens.map_or(context / ANSWER_SHARE, u64::from);
    let room = context.saturating_sub(answer).saturating_mul(TOKEN_BYTES);
    let left = room.saturating_sub(offered as u64);
    let history_bytes = usize::try_from(left).unwrap_or(usize::MAX).min(limits.history_bytes);
    Ok(RunLimits { history_bytes, ..limits })
}
