//! When a conversation is compacted, and which part of it: a function of the conversation and of sizes.
//!
//! It happens in batches and seldom, because a provider has to read anew what comes after the first change. First
//! results of older rounds are offloaded. If that is not enough, the older rounds go whole, and a work card stands for
//! them. The newest results, which the model has not read yet, are offloaded only if nothing else makes room.

use gatefold_model::{Round, ToolResult, Turn};

use crate::card::{offload, write_card};
use crate::context::{Compaction, ResultPlace, ShownSize, Transcript, is_note, rounds};
use crate::estimate::result_bytes;

/// The most bytes of the images in one request, in base64. Providers take requests of 20 MB or more.
pub(crate) const IMAGES_BYTES: usize = 16 * 1024 * 1024;

/// A conversation is compacted to this part of the size at which that begins.
const TARGET: (usize, usize) = (2, 3);

/// How much of the target stays as it is: the newest part.
const RECENT_SHARE: usize = 2;

/// How much a conversation grows at least between two compactions, as a part of the size at which they begin.
const GROWTH_SHARE: usize = 8;

/// The part of the target that a work card may have, and its bounds in bytes.
const CARD_SHARE: usize = 4;
const CARD_BYTES: (usize, usize) = (1_500, 12_000);

/// A result of fewer bytes is shorter than what would stand in its place.
const OFFLOADED_BYTES: usize = 600;

/// How many characters of an offloaded result are shown, and of one that the model has not read yet.
const PREVIEW: usize = 160;
const LONG_PREVIEW: usize = 1_200;

/// The most results of one batch. The others are of the next.
const BATCH: usize = 4_096;

/// The most steps of one compaction. There are three kinds.
const STEPS: u32 = 4;

/// One step of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompactionStep {
    /// Show these results by so many of their characters.
    Offload { results: Vec<ResultPlace>, preview: usize },
    /// Write a card of at most so many bytes for the rounds before this turn.
    WriteCard { end: usize, bytes: usize },
}

/// What a compaction shall come to, in bytes of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompactionGoal {
    target: usize,
    /// What is still more than this ends the run.
    most: usize,
    steps_left: u32,
}

/// Whether a conversation is to be compacted that is shown with this size, and had that size after the last
/// compaction.
pub(crate) fn is_crowded(shown: ShownSize, compact_bytes: usize, most: usize, last: usize) -> bool {
    let grown = last.saturating_add(compact_bytes / GROWTH_SHARE);
    shown.text > compact_bytes.max(grown).min(most) || shown.images > IMAGES_BYTES
}

impl CompactionGoal {
    /// Of a conversation that is compacted from a size on, and must not have more than `most`.
    pub(crate) fn usual(compact_bytes: usize, most: usize) -> Self {
        let target = compact_bytes / TARGET.1 * TARGET.0;
        Self { target, most, steps_left: STEPS }
    }

    pub(crate) fn half_of(bytes: usize) -> Self {
        let target = bytes / 2;
        Self { target, most: target, steps_left: STEPS }
    }

    /// What to do next for it; nothing once it is reached, or nothing more can be done.
    pub(crate) fn next_step(&mut self, transcript: &Transcript) -> Option<CompactionStep> {
        let ShownSize { text, images } = transcript.size();
        let has_room = images <= IMAGES_BYTES;
        if text <= self.target && has_room {
            return None;
        }
        self.steps_left = self.steps_left.checked_sub(1)?;
        let (begin, recent) = (transcript.card_end(), self.recent_from(transcript));
        let results = offloadable(transcript, begin, recent);
        if !results.is_empty() {
            return Some(CompactionStep::Offload { results, preview: PREVIEW });
        }
        let bytes = (self.target / CARD_SHARE).clamp(CARD_BYTES.0, CARD_BYTES.1);
        let replaced = (begin..recent).map(|at| size_behind_card(transcript, at)).sum::<usize>();
        if replaced > bytes {
            return Some(CompactionStep::WriteCard { end: recent, bytes });
        }
        if text <= self.most && has_room {
            return None;
        }
        let results = offloadable(transcript, recent, transcript.turns().len());
        let step = CompactionStep::Offload { results, preview: LONG_PREVIEW };
        (!matches!(&step, CompactionStep::Offload { results, .. } if results.is_empty()))
            .then_some(step)
    }

    /// The first turn of the newest part, which has the results that the model has not read yet.
    fn recent_from(&self, transcript: &Transcript) -> usize {
        let turns = transcript.turns();
        let unread = unread_from(turns);
        let (mut from, mut bytes) = (turns.len(), 0);
        for at in (transcript.card_end()..turns.len()).rev() {
            bytes += transcript.size_of(at).text;
            if at < unread && bytes > self.target / RECENT_SHARE {
                break;
            }
            from = at;
        }
        from
    }
}

impl CompactionStep {
    /// What the step decides. `written` is a model's card, in place of an extract; `reader` the tool that reads past
    /// texts, if there is one.
    pub fn carry_out(
        &self,
        transcript: &Transcript,
        written: Option<&str>,
        reader: Option<&str>,
    ) -> Compaction {
        match self {
            Self::Offload { results, preview } => offload(transcript, results, *preview, reader),
            Self::WriteCard { end, bytes } => {
                write_card(transcript, (*end, *bytes), written, reader)
            }
        }
    }
}

impl Transcript {
    /// Whether anything of it could be left out to show it by half.
    pub fn is_compactable(&self) -> bool {
        CompactionGoal::half_of(self.size().text).next_step(self).is_some()
    }
}

/// The first of the turns that the model has not answered, or the last one.
fn unread_from(turns: &[Turn]) -> usize {
    let said = turns.iter().rev().take_while(|turn| matches!(turn, Turn::User(_))).count();
    let from = turns.len() - said;
    match turns[..from].last() {
        Some(Turn::Round(round)) if said == 0 || !round.results().is_empty() => from - 1,
        _ => from,
    }
}

/// The size of what a card would stand for.
fn size_behind_card(transcript: &Transcript, at: usize) -> usize {
    match &transcript.turns()[at] {
        Turn::User(message) if !is_note(message) => 0,
        _ => transcript.size_of(at).text,
    }
}

/// The results of these turns that are worth a preview in their place.
fn offloadable(transcript: &Transcript, begin: usize, end: usize) -> Vec<ResultPlace> {
    let is_long = |result: &ToolResult| result_bytes(result) > OFFLOADED_BYTES;
    let turns = begin..end.max(begin);
    let places = turns.flat_map(|turn| {
        let results = rounds(&transcript.turns()[turn..=turn]).flat_map(Round::results);
        let long = results.enumerate().filter(|(_, result)| is_long(result));
        long.map(move |(call, _)| ResultPlace { turn, call }).collect::<Vec<_>>()
    });
    places.filter(|place| !transcript.is_offloaded(*place)).take(BATCH).collect()
}
