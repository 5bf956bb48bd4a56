//! The text of a run while it is written.

use gatefold::{BegunRun, LiveRun, RunPiece, RunPosition, RunReport};
use gatefold_agent::{AgentEvent, JournalEntry};
use gatefold_dispatch::{DataOwner, Journal as _, RunId};
use gatefold_model::{Delta, StopReason};
use gatefold_store::Store;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::task::task_tracker::TaskTrackerToken;

/// What stands between two answers of one run.
const BETWEEN: &str = "\n\n";

/// How many events are read at once.
const PAGE: u32 = 16;

/// All that the models of a run say, from the first piece on.
///
/// Pieces are lost to a client that reads slowly. From there on whole answers are taken from the run's
/// journal, so that nothing is missing and nothing comes twice.
pub(super) struct AnswerFeed {
    run: LiveRun,
    pieces: broadcast::Receiver<RunPiece>,
    store: Store,
    owner: DataOwner,
    said: SaidText,
    /// The number of the event before that answer; none before the first one.
    after: Option<u64>,
    has_lost_pieces: bool,
    ended: Option<EndedRun>,
    /// A gateway that stops lets the answer end.
    _under_way: TaskTrackerToken,
}

/// What was said of the answer that is being written.
enum SaidText {
    /// It is the first one.
    Nothing,
    Part(String),
    /// All of it: what follows is of another answer.
    Whole,
}

pub(super) enum FeedStep {
    Text(String),
    Ended(EndedRun),
}

/// What became of a run.
pub(super) struct EndedRun {
    pub(super) report: RunReport,
    /// Whether the model had no tokens left for the end of its answer.
    pub(super) is_cut_off: bool,
}

impl AnswerFeed {
    pub(super) fn new(
        begun: BegunRun,
        store: Store,
        owner: DataOwner,
        under_way: TaskTrackerToken,
    ) -> Self {
        let BegunRun { run, pieces } = begun;
        let (said, after, has_lost_pieces, ended) = (SaidText::Nothing, None, false, None);
        Self {
            run,
            pieces,
            store,
            owner,
            said,
            after,
            has_lost_pieces,
            ended,
            _under_way: under_way,
        }
    }

    /// Waits for the end of the run. What is said meanwhile is in its report.
    pub(super) async fn end(self) -> EndedRun {
        let Self { run, pieces, store, owner, _under_way, .. } = self;
        // Pieces that nobody reads would be kept for this reader.
        drop(pieces);
        end_of(&run, &store, &owner).await
    }

    /// The next text, which is never empty, or how the run ended. A call that is dropped loses nothing.
    pub(super) async fn next(&mut self) -> FeedStep {
        loop {
            if let Some(ended) = self.ended.take() {
                return FeedStep::Ended(ended);
            }
            if self.has_lost_pieces {
                if let Some(text) = self.next_from_journal().await {
                    return FeedStep::Text(text);
                }
                return FeedStep::Ended(end_of(&self.run, &self.store, &self.owner).await);
            }
            let piece = tokio::select! {
                biased;
                piece = self.pieces.recv() => piece,
                ended = end_of(&self.run, &self.store, &self.owner) => {
                    let rest = self.rest_of_last(&ended.report);
                    self.ended = Some(ended);
                    match rest {
                        Some(text) => return FeedStep::Text(text),
                        None => continue,
                    }
                }
            };
            match piece {
                Ok(RunPiece { after, delta: Delta::Text(text) }) if !text.is_empty() => {
                    return FeedStep::Text(self.say(after, &text));
                }
                Ok(_) => {}
                // The sender lives as long as our handle.
                Err(RecvError::Lagged(_) | RecvError::Closed) => self.has_lost_pieces = true,
            }
        }
    }

    /// Notes a piece of the answer after an event, and words it as what follows what was said.
    fn say(&mut self, after: u64, text: &str) -> String {
        if self.after != Some(after) {
            if let SaidText::Part(_) = self.said {
                self.said = SaidText::Whole;
            }
            self.after = Some(after);
        }
        match &mut self.said {
            SaidText::Nothing => {
                self.said = SaidText::Part(text.to_owned());
                text.to_owned()
            }
            SaidText::Part(said) => {
                said.push_str(text);
                text.to_owned()
            }
            SaidText::Whole => {
                self.said = SaidText::Part(text.to_owned());
                format!("{BETWEEN}{text}")
            }
        }
    }

    /// What was not said of the last answer: a model whose API has no calls answers without pieces.
    fn rest_of_last(&self, report: &RunReport) -> Option<String> {
        let is_answer = matches!(&report.position, RunPosition::Ended(_));
        let answer = report.answer.as_deref().filter(|_| is_answer)?;
        self.rest_of(answer)
    }

    /// What was not said of an answer.
    fn rest_of(&self, answer: &str) -> Option<String> {
        let rest = match &self.said {
            SaidText::Nothing => answer.to_owned(),
            SaidText::Part(said) => match answer.strip_prefix(said.as_str()) {
                Some(rest) => rest.to_owned(),
                None => format!("{BETWEEN}{answer}"),
            },
            SaidText::Whole => format!("{BETWEEN}{answer}"),
        };
        (!rest.trim().is_empty()).then_some(rest)
    }

    /// The next answer that is whole; none if there is no other.
    async fn next_from_journal(&mut self) -> Option<String> {
        loop {
            let (run, after) = (self.run.id(), self.after.unwrap_or(0));
            // One that cannot be read has no more to say, and the run's report says why.
            let events = self.store.follow(&self.owner, run, after, PAGE).await.ok()?;
            let last = events.last()?.number;
            for event in &events {
                let Ok(JournalEntry::Happened(AgentEvent::Answered { answer })) =
                    JournalEntry::read(event)
                else {
                    continue;
                };
                let rest = self.rest_of(&answer.message.text());
                self.after = Some(event.number);
                if !matches!(self.said, SaidText::Nothing) || rest.is_some() {
                    self.said = SaidText::Whole;
                }
                if rest.is_some() {
                    return rest;
                }
            }
            self.after = Some(last);
        }
    }
}

/// Waits until a run is not driven any more.
async fn end_of(run: &LiveRun, store: &Store, owner: &DataOwner) -> EndedRun {
    let report = run.done().await;
    let is_cut_off = was_cut_off(store, owner, run.id()).await.unwrap_or(false);
    EndedRun { report, is_cut_off }
}

async fn was_cut_off(store: &Store, owner: &DataOwner, run: RunId) -> Option<bool> {
    let last = store.run(owner, run).await.ok()??.last;
    let events = store.events(owner, run, last.saturating_sub(1), 1).await.ok()?;
    Some(match JournalEntry::read(events.first()?) {
        Ok(JournalEntry::Happened(AgentEvent::Answered { answer })) => {
            answer.stop == StopReason::Length
        }
        _ => false,
    })
}
