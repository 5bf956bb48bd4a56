//! What of a conversation its model is shown.
//!
//! All that was said stays in the [`History`]. Beside it are decisions on how it is shown: which results are offloaded,
//! each with a preview in its place, and up to where a work card stands for what the model said and did. Both are
//! texts that were written once, so the same conversation is shown byte by byte alike until the next decision.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gatefold_core::Timestamp;
use gatefold_model::{History, Round, ToolResult, Turn, UserMessage, UserPart};
use serde::{Deserialize, Serialize};

use crate::dates::with_date;
use crate::estimate::{image_bytes, result_bytes, written_bytes};

/// A conversation, and how it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    history: History,
    offloads: BTreeMap<ResultPlace, String>,
    card: Option<WorkCard>,
    /// How many bytes were shown after the last decision; 0 before the first.
    settled_size: usize,
}

/// A result: the turn of its round, and its call in that, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResultPlace {
    pub turn: usize,
    pub call: usize,
}

/// A text that is shown in place of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffloadedResult {
    pub place: ResultPlace,
    pub text: String,
}

/// A text that is shown in place of the rounds among the first turns, and what runs said to their model there.
/// What the user said stands before it, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCard {
    /// The first turn that is shown as it is.
    pub end: usize,
    pub text: String,
}

/// Decisions that hold from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    #[serde(default)]
    pub offloads: Vec<OffloadedResult>,
    #[serde(default)]
    pub card: Option<WorkCard>,
}

/// How much of a conversation is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HiddenParts {
    pub offloaded_results: usize,
    pub replaced_rounds: usize,
}

/// How many bytes of text, and of images in base64, something takes in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ShownSize {
    pub(crate) text: usize,
    pub(crate) images: usize,
}

impl Transcript {
    pub fn history(&self) -> &History {
        &self.history
    }

    pub fn into_history(self) -> History {
        self.history
    }

    pub fn turns(&self) -> &[Turn] {
        self.history.turns()
    }

    pub fn say(&mut self, message: UserMessage) {
        self.history.say(message);
    }

    /// Writes into the last message, if the conversation ends with one, on which day it is said.
    pub(crate) fn date_last(&mut self, now: Timestamp) {
        let mut turns = Vec::from(self.history.clone());
        let Some(Turn::User(message)) = turns.pop() else { return };
        let dated = with_date(message, &turns, now);
        turns.push(Turn::User(dated));
        self.history = History::try_from(turns).expect("only the last message has changed");
    }

    pub(crate) fn push(&mut self, round: Round) {
        self.history.push(round).expect("the model was asked");
    }

    /// Takes decisions over. Those on what is not there, because it was taken back since, change nothing.
    pub fn apply(&mut self, compaction: Compaction) {
        for OffloadedResult { place, text } in compaction.offloads {
            if self.result(place).is_some() {
                self.offloads.insert(place, text);
            }
        }
        let card = compaction.card.filter(|card| {
            card.end > self.card_end()
                && card.end <= self.turns().len()
                && !card.text.trim().is_empty()
        });
        self.card = card.or_else(|| self.card.take());
        self.settle();
    }

    /// Has the next compaction wait until more was said.
    pub(crate) fn settle(&mut self) {
        self.settled_size = self.size().text;
    }

    pub(crate) fn settled_size(&self) -> usize {
        self.settled_size
    }

    /// What the model is shown.
    pub fn prompt_history(&self) -> Cow<'_, History> {
        if self.offloads.is_empty() && self.card.is_none() {
            return Cow::Borrowed(&self.history);
        }
        let (end, mut turns) = (self.card_end(), Vec::with_capacity(self.turns().len()));
        for (at, turn) in self.turns().iter().enumerate() {
            match turn {
                _ if self.is_replaced(at) => {}
                Turn::User(_) => turns.push(turn.clone()),
                Turn::Round(round) => turns.push(Turn::Round(self.preview_round(at, round))),
            }
            if let Some(card) = self.card.as_ref().filter(|_| at + 1 == end) {
                let card = UserMessage::text(&card.text).expect("a card is not blank");
                turns.push(Turn::User(card));
            }
        }
        Cow::Owned(
            History::try_from(turns).expect("whole rounds were left out, and a message put in"),
        )
    }

    /// The text of the work card, if there is one.
    pub fn card_text(&self) -> Option<&str> {
        self.card.as_ref().map(|card| card.text.as_str())
    }

    /// Whether it is shown in another way than it is.
    pub fn is_compacted(&self) -> bool {
        self.hidden() != HiddenParts::default()
    }

    pub fn hidden(&self) -> HiddenParts {
        let end = self.card_end();
        HiddenParts {
            offloaded_results: self.offloads.keys().filter(|place| place.turn >= end).count(),
            replaced_rounds: rounds(&self.turns()[..end]).count(),
        }
    }

    pub(crate) fn card_end(&self) -> usize {
        self.card.as_ref().map_or(0, |card| card.end)
    }

    pub(crate) fn result(&self, place: ResultPlace) -> Option<&ToolResult> {
        match self.turns().get(place.turn)? {
            Turn::Round(round) => round.results().get(place.call),
            Turn::User(_) => None,
        }
    }

    pub(crate) fn is_offloaded(&self, place: ResultPlace) -> bool {
        self.offloads.contains_key(&place)
    }

    /// Whether the card stands for a turn.
    pub(crate) fn is_replaced(&self, at: usize) -> bool {
        at < self.card_end()
            && match &self.turns()[at] {
                Turn::Round(_) => true,
                Turn::User(message) => is_note(message),
            }
    }

    /// The size of all that is shown.
    pub(crate) fn size(&self) -> ShownSize {
        let card = self.card_text().map_or(0, str::len);
        let sizes = (0..self.turns().len()).map(|at| self.size_of(at));
        sizes.fold(ShownSize { text: card, images: 0 }, |sum, size| ShownSize {
            text: sum.text.saturating_add(size.text),
            images: sum.images.saturating_add(size.images),
        })
    }

    /// The size of a turn as it is shown.
    pub(crate) fn size_of(&self, at: usize) -> ShownSize {
        let turn = &self.turns()[at];
        if self.is_replaced(at) {
            return ShownSize::default();
        }
        let places = ResultPlace { turn: at, call: 0 }..ResultPlace { turn: at + 1, call: 0 };
        let mut size = ShownSize { text: written_bytes(turn), images: image_bytes(turn) };
        for (place, text) in self.offloads.range(places) {
            let result = self.result(*place).expect("only results that are there are offloaded");
            size.text = size.text.saturating_sub(result_bytes(result)).saturating_add(text.len());
            size.images = size.images.saturating_sub(image_bytes_of(result));
        }
        size
    }

    fn preview_round(&self, at: usize, round: &Round) -> Round {
        let shown = |(call, result): (usize, &ToolResult)| match self
            .offloads
            .get(&ResultPlace { turn: at, call })
        {
            Some(text) => {
                let parts = vec![UserPart::Text(text.clone())];
                ToolResult { parts, is_error: result.is_error }
            }
            None => result.clone(),
        };
        let results = round.results().iter().enumerate().map(shown).collect();
        Round::new(round.said().clone(), results).expect("there are as many results as before")
    }
}

impl From<History> for Transcript {
    fn from(history: History) -> Self {
        Self { history, offloads: BTreeMap::new(), card: None, settled_size: 0 }
    }
}

pub(crate) fn rounds(turns: &[Turn]) -> impl Iterator<Item = &Round> {
    turns.iter().filter_map(|turn| match turn {
        Turn::Round(round) => Some(round),
        Turn::User(_) => None,
    })
}

fn image_bytes_of(result: &ToolResult) -> usize {
    result.parts.iter().map(crate::estimate::part_image_bytes).sum()
}

/// What a model is told whose answer said nothing.
pub(crate) const SAY_SOMETHING: &str = "Your answer was empty. Call a tool, or answer in words.";

/// How a model is told that it is asked for the last time.
pub(crate) const NO_MORE_CALLS: &str = "No further tools can be called";

/// Whether a message is a run's own. It is of that moment, so it goes with the round that it was about.
pub(crate) fn is_note(message: &UserMessage) -> bool {
    match message.parts() {
        [UserPart::Text(text)] => text == SAY_SOMETHING || text.starts_with(NO_MORE_CALLS),
        _ => false,
    }
}
