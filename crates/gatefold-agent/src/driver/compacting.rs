//! Decides how a conversation is shown, with its model where that can help.

use std::time::Duration;

use gatefold_model::{ModelRequest, StopReason};

use super::{Driver, Question, RunFault};
use crate::card::{CARD_INSTRUCTIONS, card_request};
use crate::compaction::{CompactionGoal, CompactionStep};
use crate::estimate::tokens_of;
use crate::progress::AnswerFailure;
use crate::{AgentEvent, AgentRun, Budget, PastTexts, RunEnd, RunLimits, Transcript, replay};

/// The longest wait for a model's work card, beside the limit for each of its answers. Without one it is an extract.
const CARD_PATIENCE: Duration = Duration::from_mins(1);

impl Driver<'_> {
    /// Compacts a conversation to half now, in a run of its own, which asks nothing else. What comes back is the
    /// conversation as it is shown from now on.
    pub async fn compact(
        &self,
        conversation: Transcript,
        limits: RunLimits,
    ) -> Result<Transcript, RunFault> {
        let budget = self.budget_of(&limits);
        let mut goal = CompactionGoal::half_of(conversation.size().text);
        if let Some(journal) = &self.journal {
            journal.append(vec![replay::beginning(conversation.turns(), &limits)]).await?;
        }
        let (mut run, _) = AgentRun::begin(conversation, limits);
        while let Some(step) = goal.next_step(run.transcript()) {
            let event = self.compact_step(&run, &step, &budget).await?;
            let is_compacted = matches!(event, AgentEvent::Compacted { .. });
            self.take(&mut run, event).await?;
            if !is_compacted {
                break;
            }
        }
        if let Some(journal) = &self.journal {
            journal.end(run.end_state().unwrap_or(&RunEnd::Answered)).await?;
        }
        Ok(run.into_transcript())
    }

    pub(super) async fn keep_past(&self, conversation: &Transcript) -> Option<String> {
        self.tools.keep_past(&PastTexts::new(conversation.history().clone())).await
    }

    /// Decides on a part of how the conversation is shown.
    pub(super) async fn compact_step(
        &self,
        run: &AgentRun,
        step: &CompactionStep,
        budget: &Budget,
    ) -> Result<AgentEvent, RunFault> {
        let transcript = run.transcript();
        let reader = self.keep_past(transcript).await;
        let written = match step {
            CompactionStep::Offload { .. } => None,
            CompactionStep::WriteCard { end, bytes } => {
                match self.ask_for_card(run, (*end, *bytes), budget).await? {
                    Err(AnswerFailure::Cancelled) => return Ok(AgentEvent::Cancelled),
                    // An extract has less in it, but a run must not end for that.
                    Err(_) => None,
                    Ok(written) => written,
                }
            }
        };
        let compaction = step.carry_out(transcript, written.as_deref(), reader.as_deref());
        Ok(AgentEvent::Compacted { compaction })
    }

    /// A card in the model's words. None if it gives no text, or may be asked for nothing but a last answer.
    async fn ask_for_card(
        &self,
        run: &AgentRun,
        card: (usize, usize),
        budget: &Budget,
    ) -> Result<Result<Option<String>, AnswerFailure>, RunFault> {
        if run.shortage().or_else(|| budget.shortage()).is_some() {
            return Ok(Ok(None));
        }
        // As much as is shown after a compaction: that surely fits.
        let room = run.limits().compact_bytes / 2;
        let history = card_request(run.transcript(), card, room);
        let request = ModelRequest::new(CARD_INSTRUCTIONS, &history);
        let bytes = history.turns().iter().map(crate::estimate::written_bytes).sum::<usize>();
        let prompt = tokens_of(bytes + CARD_INSTRUCTIONS.len());
        let limit = run.limits().turn.min(CARD_PATIENCE);
        let question = Question { request, prompt, limit, watcher: &() };
        let asked = self.ask_counted(question, budget).await?;
        Ok(asked.map(|answer| {
            let text = answer.message.text();
            let is_card = answer.stop != StopReason::Refusal && !text.trim().is_empty();
            is_card.then_some(text)
        }))
    }
}
