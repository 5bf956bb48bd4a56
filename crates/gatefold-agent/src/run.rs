//! The loop as a pure machine.

use std::borrow::Cow;

use gatefold_model::{
    AssistantMessage, CallArguments, History, ModelAnswer, Round, StopReason, ToolResult, Turn,
    UserMessage, UserPart,
};

use crate::compaction::{CompactionGoal, IMAGES_BYTES, is_crowded};
use crate::context::{NO_MORE_CALLS, SAY_SOMETHING, ShownSize};
use crate::estimate::{image_bytes, written_bytes};
use crate::repeats::{Repeats, Repetition};
use crate::{AgentEvent, Compaction, Effect, RunEnd, RunLimits, Shortage, ToolUse, Transcript};

/// The most calls of one answer that are made. The model is told of the others.
pub const CALLS_PER_ANSWER: usize = 64;

/// How often a model is asked again that answers nothing.
const EMPTY_ANSWERS: u32 = 1;

const EMPTY_RESULT: &str = "The call succeeded. Its result is empty.";
const EMPTY_ERROR: &str = "The call failed, and nothing says why.";
const CANCELLED: &str = "The call was cancelled.";
const STILL_OPEN: &str = "There is no result yet: the call is under way, waits for a person's approval, or was \
                          interrupted. It may still take effect, so do not make it again before you know.";

/// One run of an agent: from a request to the model's answer.
///
/// It is determined by its history, its limits and its events, so the same events lead to the same
/// effects, at any time and on any machine.
#[derive(Debug, Clone)]
pub struct AgentRun {
    transcript: Transcript,
    /// How many turns there were when the run began.
    began_with: usize,
    limits: RunLimits,
    phase: Phase,
    answers: u32,
    empty_answers: u32,
    tokens: u64,
    /// How much of the conversation is shown.
    shown: ShownSize,
    /// What a compaction that is under way shall come to.
    goal: Option<CompactionGoal>,
    /// Whether the model took less than was thought since its last answer.
    has_overflowed: bool,
    repeats: Repeats,
    shortage: Option<Shortage>,
    /// Whether the model knows that it is asked for the last time.
    knows_of_shortage: bool,
}

#[derive(Debug, Clone)]
enum Phase {
    Compacting,
    Asking(ToolUse),
    Calling(Calls),
    Ended(RunEnd),
}

/// The calls of one answer.
#[derive(Debug, Clone)]
struct Calls {
    said: AssistantMessage,
    /// A result for each call, once there is one.
    results: Vec<Option<ToolResult>>,
    /// The first call that has not begun.
    next: usize,
}

impl AgentRun {
    /// A run that answers the end of a history, with what it wants first.
    pub fn begin(conversation: impl Into<Transcript>, limits: RunLimits) -> (Self, Vec<Effect>) {
        let transcript = conversation.into();
        let shown = transcript.size();
        let mut run = Self {
            began_with: transcript.turns().len(),
            transcript,
            limits,
            phase: Phase::Asking(ToolUse::Allowed),
            answers: 0,
            empty_answers: 0,
            tokens: 0,
            shown,
            goal: None,
            has_overflowed: false,
            repeats: Repeats::default(),
            shortage: None,
            knows_of_shortage: false,
        };
        let effects = run.ask();
        (run, effects)
    }

    /// Takes an event, and says what follows. What does not fit where the run is, such as the result of a
    /// call that was cancelled, changes nothing.
    pub fn step(&mut self, event: AgentEvent) -> Vec<Effect> {
        self.skip_compaction(&event);
        match event {
            AgentEvent::Answered { answer } => match self.phase {
                Phase::Asking(tools) => self.take_answer(*answer, tools),
                _ => Vec::new(),
            },
            AgentEvent::NotAnswered { reason, is_final } => match self.phase {
                Phase::Asking(_) => self.end(RunEnd::Failed { reason, is_final }),
                _ => Vec::new(),
            },
            AgentEvent::DaySpent { reason } => match self.phase {
                Phase::Asking(_) => self.end(RunEnd::DaySpent { reason }),
                _ => Vec::new(),
            },
            AgentEvent::Overflowed { reason } => match self.phase {
                Phase::Asking(_) => self.make_room(&reason),
                _ => Vec::new(),
            },
            AgentEvent::Compacted { compaction } => self.take_compaction(compaction),
            AgentEvent::Returned { call, result } => self.take_result(call, result),
            AgentEvent::RanShort { of } => {
                self.shortage.get_or_insert(of);
                Vec::new()
            }
            AgentEvent::Cancelled => self.cancel(RunEnd::Cancelled),
            AgentEvent::GivenUp { reason } => {
                self.cancel(RunEnd::Failed { reason, is_final: false })
            }
        }
    }

    /// What it still wants of all that it wanted so far: for whoever goes on with it.
    pub fn pending(&self) -> Vec<Effect> {
        match &self.phase {
            Phase::Asking(tools) => vec![Effect::Ask(*tools)],
            Phase::Compacting => {
                match self.goal.clone().and_then(|mut goal| goal.next_step(&self.transcript)) {
                    Some(step) => vec![Effect::Compact(step)],
                    None => vec![Effect::Ask(ToolUse::Allowed)],
                }
            }
            Phase::Ended(end) => vec![Effect::End(end.clone())],
            Phase::Calling(calls) => {
                let begun = calls.said.calls().zip(&calls.results).take(calls.next).enumerate();
                let open = begun.filter(|(_, (_, result))| result.is_none());
                let effects = open.map(|(call, (request, _))| {
                    let request = request.clone();
                    Effect::Call { call, request }
                });
                effects.collect()
            }
        }
    }

    /// Everything said so far, in whole rounds: fit for any provider at any time.
    pub fn history(&self) -> &History {
        self.transcript.history()
    }

    /// What of it the model is shown, just as fit.
    pub fn prompt_history(&self) -> Cow<'_, History> {
        self.transcript.prompt_history()
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub fn into_transcript(self) -> Transcript {
        self.transcript
    }

    pub fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// How often the model has answered.
    pub fn answers(&self) -> u32 {
        self.answers
    }

    /// The tokens of the answers whose endpoint reported them.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// What has run short, if anything has.
    pub fn shortage(&self) -> Option<Shortage> {
        self.shortage
    }

    /// How the run ended, once it has.
    pub fn end_state(&self) -> Option<&RunEnd> {
        match &self.phase {
            Phase::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// What the run answers, if somebody said anything.
    pub fn request(&self) -> Option<&UserMessage> {
        match self.transcript.turns()[..self.began_with].last() {
            Some(Turn::User(message)) => Some(message),
            _ => None,
        }
    }

    /// The text of the model's last answer in this run.
    pub fn answer(&self) -> Option<String> {
        let mut turns = self.transcript.turns()[self.began_with..].iter().rev();
        turns.find_map(|turn| match turn {
            Turn::Round(round) => Some(round.said().text()),
            Turn::User(_) => None,
        })
    }

    /// Leaves the run as one that goes on elsewhere, or may: its calls without a result are said to be open.
    pub(crate) fn leave_open(&mut self) {
        self.close_calls(STILL_OPEN);
        self.phase = Phase::Ended(RunEnd::Cancelled);
    }

    fn take_answer(&mut self, answer: ModelAnswer, tools: ToolUse) -> Vec<Effect> {
        self.answers += 1;
        self.has_overflowed = false;
        self.tokens = self.tokens.saturating_add(answer.usage.total().unwrap_or(0));
        let ModelAnswer { message, stop, .. } = answer;
        let call_count = message.calls().count();
        if call_count > 0 {
            return match tools {
                ToolUse::Allowed => self.begin_calls(message, call_count),
                // It was told that there are no more.
                ToolUse::Over => {
                    let results = (0..call_count).map(|_| ToolResult::error(self.over()));
                    let results = results.collect();
                    self.push(message, results);
                    self.end_of_last_answer()
                }
            };
        }
        if stop == StopReason::Refusal {
            if !message.text().trim().is_empty() {
                self.push(message, Vec::new());
            }
            return self.end(RunEnd::Refused);
        }
        if message.text().trim().is_empty() {
            return self.take_empty_answer(tools);
        }
        self.push(message, Vec::new());
        match tools {
            ToolUse::Allowed => self.end(RunEnd::Answered),
            ToolUse::Over => self.end_of_last_answer(),
        }
    }

    /// An answer without words stays out of the history, because providers refuse one.
    fn take_empty_answer(&mut self, tools: ToolUse) -> Vec<Effect> {
        self.empty_answers += 1;
        if self.empty_answers > EMPTY_ANSWERS || tools == ToolUse::Over {
            let reason = "the model answered nothing".to_owned();
            return self.end(RunEnd::Failed { reason, is_final: false });
        }
        self.say(SAY_SOMETHING);
        self.ask()
    }

    fn begin_calls(&mut self, said: AssistantMessage, call_count: usize) -> Vec<Effect> {
        let calls = said.calls().enumerate().map(|(call, request)| match &request.arguments {
            _ if call >= CALLS_PER_ANSWER => Some(ToolResult::error(format!(
                "Not called: at most {CALLS_PER_ANSWER} calls are made for one answer. Make this one in your next answer."
            ))),
            CallArguments::Malformed { fault, .. } => {
                Some(ToolResult::error(format!("{fault}; nothing was called")))
            }
            CallArguments::Object(_) => None,
        });
        let results: Vec<_> = calls.collect();
        debug_assert_eq!(results.len(), call_count);
        self.phase = Phase::Calling(Calls { said, results, next: 0 });
        self.go_on()
    }

    fn take_result(&mut self, call: usize, result: ToolResult) -> Vec<Effect> {
        let Phase::Calling(calls) = &mut self.phase else { return Vec::new() };
        let has_begun = call < calls.next;
        match calls.results.get_mut(call) {
            Some(place @ None) if has_begun => *place = Some(word_result(result)),
            _ => return Vec::new(),
        }
        self.go_on()
    }

    /// Begins as many calls as may be made at once, and ends the round when all have a result.
    fn go_on(&mut self) -> Vec<Effect> {
        let Phase::Calling(calls) = &mut self.phase else { return Vec::new() };
        let begun = calls.results.iter().take(calls.next);
        let mut under_way = begun.filter(|result| result.is_none()).count();
        let mut effects = Vec::new();
        while under_way < self.limits.calls_at_once.max(1) && calls.next < calls.results.len() {
            let call = calls.next;
            calls.next += 1;
            if calls.results[call].is_some() {
                continue;
            }
            let request = calls.said.calls().nth(call).expect("each result is of a call").clone();
            effects.push(Effect::Call { call, request });
            under_way += 1;
        }
        if under_way > 0 {
            return effects;
        }
        let (said, results) = (calls.said.clone(), std::mem::take(&mut calls.results));
        let results = results.into_iter().map(|result| result.expect("all calls have returned"));
        let results = self.noting_repeats(&said, results.collect());
        self.push(said, results);
        self.ask()
    }

    /// The results, with a note at those that the same call has given before.
    fn noting_repeats(
        &mut self,
        said: &AssistantMessage,
        mut results: Vec<ToolResult>,
    ) -> Vec<ToolResult> {
        for (call, result) in said.calls().zip(&mut results) {
            let times = match self.repeats.count(call, result) {
                Repetition::None => continue,
                Repetition::Noted(times) => times,
                Repetition::Ending(times) => {
                    self.shortage.get_or_insert(Shortage::NewResults);
                    times
                }
            };
            let note = format!(
                "(This call has now given this result {times} times. Make another call, or answer with what you know.)"
            );
            result.parts.push(UserPart::Text(note));
        }
        results
    }

    /// Wants the next answer of the model, after a compaction if there is too much to show it.
    fn ask(&mut self) -> Vec<Effect> {
        let RunLimits { compact_bytes, history_bytes, .. } = self.limits;
        if self.goal.is_none()
            && is_crowded(self.shown, compact_bytes, history_bytes, self.transcript.settled_size())
        {
            self.goal = Some(CompactionGoal::usual(compact_bytes, history_bytes));
        }
        let step = self.goal.as_mut().and_then(|goal| goal.next_step(&self.transcript));
        if let Some(step) = step {
            self.phase = Phase::Compacting;
            return vec![Effect::Compact(step)];
        }
        if self.goal.take().is_some() {
            // Where nothing could be done, it is not tried at each question.
            self.transcript.settle();
        }
        self.ask_now()
    }

    /// Wants the next answer of the model, the last one if anything has run short.
    fn ask_now(&mut self) -> Vec<Effect> {
        let short = self.shortage.or_else(|| self.find_shortage());
        let tools = match short {
            Some(of) => {
                self.shortage = Some(of);
                // A run that begins with its last answer has nothing to be told.
                if self.answers > 0 && !self.knows_of_shortage {
                    self.knows_of_shortage = true;
                    self.say(&self.over());
                }
                ToolUse::Over
            }
            None => ToolUse::Allowed,
        };
        self.phase = Phase::Asking(tools);
        vec![Effect::Ask(tools)]
    }

    fn find_shortage(&self) -> Option<Shortage> {
        let RunLimits { iterations, history_bytes, .. } = self.limits;
        if self.answers >= iterations {
            return Some(Shortage::Iterations);
        }
        let is_full = self.shown.text > history_bytes || self.shown.images > IMAGES_BYTES;
        is_full.then_some(Shortage::Room)
    }

    /// What the model is told before its last answer.
    fn over(&self) -> String {
        let why = self.shortage.map(|of| format!(": {of}")).unwrap_or_default();
        format!("{NO_MORE_CALLS}{why}. Answer now with what you know, and say what is missing.")
    }

    /// A journal may have an answer where a run of today would compact first.
    fn skip_compaction(&mut self, event: &AgentEvent) {
        let is_of_a_question = matches!(
            event,
            AgentEvent::Answered { .. }
                | AgentEvent::NotAnswered { .. }
                | AgentEvent::DaySpent { .. }
                | AgentEvent::Overflowed { .. }
        );
        if is_of_a_question && matches!(self.phase, Phase::Compacting) {
            self.goal = None;
            self.ask_now();
        }
    }

    /// Takes decisions over, and goes on with what waits for them.
    fn take_compaction(&mut self, compaction: Compaction) -> Vec<Effect> {
        if matches!(self.phase, Phase::Ended(_)) {
            return Vec::new();
        }
        self.transcript.apply(compaction);
        self.shown = self.transcript.size();
        match self.phase {
            Phase::Compacting => self.ask(),
            _ => Vec::new(),
        }
    }

    /// Has the conversation compacted to half, because its model takes less than was thought. Once: what is still too
    /// much then is not the conversation.
    fn make_room(&mut self, reason: &str) -> Vec<Effect> {
        let mut goal = CompactionGoal::half_of(self.shown.text);
        let step = goal.next_step(&self.transcript);
        let Some(step) = step.filter(|_| !self.has_overflowed) else {
            let tried = if self.has_overflowed {
                "also after it was compacted to half"
            } else {
                "and nothing more of it can be left out"
            };
            let reason = format!("{reason} ({tried}; a model with a longer context may take it)");
            return self.end(RunEnd::Failed { reason, is_final: false });
        };
        self.has_overflowed = true;
        // What was too much once is too much later on.
        self.limits.history_bytes = self.limits.history_bytes.min(self.shown.text);
        self.limits.compact_bytes = self.limits.compact_bytes.min(self.shown.text / 4 * 3);
        (self.goal, self.phase) = (Some(goal), Phase::Compacting);
        vec![Effect::Compact(step)]
    }

    fn end_of_last_answer(&mut self) -> Vec<Effect> {
        let of = self.shortage.unwrap_or(Shortage::Iterations);
        self.end(RunEnd::Short { of })
    }

    /// Ends the run. Calls that are under way get a result, so that the history stays whole.
    fn cancel(&mut self, end: RunEnd) -> Vec<Effect> {
        if matches!(self.phase, Phase::Ended(_)) {
            return Vec::new();
        }
        self.close_calls(CANCELLED);
        self.end(end)
    }

    /// Gives the calls that are under way this result.
    fn close_calls(&mut self, text: &str) {
        let Phase::Calling(calls) = &mut self.phase else { return };
        let (said, results) = (calls.said.clone(), std::mem::take(&mut calls.results));
        let results = results.into_iter();
        let results = results.map(|result| result.unwrap_or_else(|| ToolResult::error(text)));
        let results = results.collect();
        self.push(said, results);
    }

    fn end(&mut self, end: RunEnd) -> Vec<Effect> {
        self.phase = Phase::Ended(end.clone());
        vec![Effect::End(end)]
    }

    fn push(&mut self, said: AssistantMessage, results: Vec<ToolResult>) {
        let round = Round::new(said, results).expect("each call has a result");
        let turn = Turn::Round(round.clone());
        let ShownSize { text, images } = &mut self.shown;
        *text = text.saturating_add(written_bytes(&turn));
        *images = images.saturating_add(image_bytes(&turn));
        self.transcript.push(round);
    }

    fn say(&mut self, text: &str) {
        self.shown.text = self.shown.text.saturating_add(text.len());
        self.transcript.say(UserMessage::text(text).expect("the text is not blank"));
    }
}

/// A result that says something: an empty one is a fact too, and models repeat a call that seems to
/// have given nothing.
fn word_result(result: ToolResult) -> ToolResult {
    let is_blank = |part: &UserPart| matches!(part, UserPart::Text(text) if text.trim().is_empty());
    if !result.parts.iter().all(is_blank) {
        return result;
    }
    if result.is_error { ToolResult::error(EMPTY_ERROR) } else { ToolResult::text(EMPTY_RESULT) }
}
