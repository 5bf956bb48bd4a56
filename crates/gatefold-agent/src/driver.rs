//! Carries out what a run wants.

mod compacting;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use gatefold_core::{ApprovalId, Clock};
use gatefold_dispatch::{
    Journal, JournalError, NewRunEvent, RUN_EVENT_BYTES, RunId, RunOutcome, UsedTokens,
};
use gatefold_model::{
    Delta, ModelAnswer, ModelClient, ModelError, ModelRequest, ToolCall, ToolChoice, UserPart,
};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::estimate::prompt_tokens;
use crate::progress::{AnswerFailure, AnswerProgress};
use crate::{
    AgentEvent, AgentRun, AgentTools, Budget, CallProgress, Effect, ModelMeter, RunEnd, RunLimits,
    Shortage, Spending, ToolUse, Transcript,
};
use crate::{replay, wait_notes};

/// Drives runs of one agent: asks its model, makes its calls, keeps its limits and its journal.
pub struct Driver<'a> {
    model: &'a ModelClient,
    tools: &'a dyn AgentTools,
    watcher: &'a dyn RunWatcher,
    journal: Option<RunJournal>,
    meter: Option<ModelMeter>,
    budget: Budget,
    cancel: CancellationToken,
    pause: CancellationToken,
    clock: Option<Arc<dyn Clock>>,
}

/// What a model is asked.
struct Question<'q> {
    request: ModelRequest<'q>,
    /// About how many tokens it has.
    prompt: u64,
    /// The longest wait for its answer.
    limit: Duration,
    watcher: &'q dyn RunWatcher,
}

/// A run on its way.
pub(crate) struct RunProgress {
    pub(crate) run: AgentRun,
    pub(crate) effects: VecDeque<Effect>,
    pub(crate) deadline: Instant,
    pub(crate) budget: Budget,
}

/// Where a run's events are written before they count. Clones share the place at which it is.
#[derive(Clone)]
pub struct RunJournal {
    journal: Arc<dyn Journal>,
    run: RunId,
    /// The number of the last event.
    last: Arc<AtomicU64>,
}

/// Sees a run while it goes on.
pub trait RunWatcher: Send + Sync {
    /// A piece of the model's answer came.
    fn on_delta(&self, delta: &Delta) {
        let _ = delta;
    }

    /// A call begins.
    fn on_call(&self, call: usize, request: &ToolCall) {
        let _ = (call, request);
    }

    /// A call waits for somebody's approval, and so does the run once no other call is under way.
    fn on_wait(&self, call: usize, approval: &ApprovalId) {
        let _ = (call, approval);
    }

    /// Something happened, and is in the journal.
    fn on_event(&self, event: &AgentEvent) {
        let _ = event;
    }
}

/// Nobody watches.
impl RunWatcher for () {}

/// Why a run could not go on. Its events so far stay in the journal.
#[derive(Debug, thiserror::Error)]
#[error("the run's journal cannot be written")]
pub struct RunFault(#[from] JournalError);

impl RunFault {
    /// Whether the journal will not take later what it does not take now.
    pub fn is_lasting(&self) -> bool {
        matches!(self.0, JournalError::TooManyEvents | JournalError::TooLargeEvent)
    }
}

impl RunJournal {
    /// The journal of a run that has begun there and has no events so far.
    pub fn new(journal: Arc<dyn Journal>, run: RunId) -> Self {
        Self::behind(journal, run, 0)
    }

    /// The same of a run whose last event has this number.
    pub fn behind(journal: Arc<dyn Journal>, run: RunId, last: u64) -> Self {
        Self { journal, run, last: Arc::new(AtomicU64::new(last)) }
    }

    pub fn id(&self) -> RunId {
        self.run
    }

    /// The number of the last event that was written.
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// Adds events. Whoever else wrote meanwhile has the run now, and this fails.
    pub async fn append(&self, events: Vec<NewRunEvent>) -> Result<(), JournalError> {
        let last = self.journal.append(self.run, self.last(), events).await?;
        self.last.store(last, Ordering::Release);
        Ok(())
    }

    /// Ends the run there.
    pub(crate) async fn end(&self, end: &RunEnd) -> Result<(), JournalError> {
        let outcome = match end {
            RunEnd::Answered | RunEnd::Short { .. } | RunEnd::Refused => RunOutcome::Done,
            RunEnd::Failed { .. } | RunEnd::DaySpent { .. } => RunOutcome::Failed,
            RunEnd::Cancelled => RunOutcome::Cancelled,
        };
        self.journal.end(self.run, self.last(), outcome).await
    }
}

impl<'a> Driver<'a> {
    pub fn new(model: &'a ModelClient, tools: &'a dyn AgentTools) -> Self {
        let (cancel, pause) = (CancellationToken::new(), CancellationToken::new());
        let (watcher, journal, meter, clock) = (&(), None, None, None);
        let budget = Budget::unlimited();
        Self { model, tools, watcher, journal, meter, budget, cancel, pause, clock }
    }

    #[must_use]
    pub fn with_watcher(self, watcher: &'a dyn RunWatcher) -> Self {
        Self { watcher, ..self }
    }

    #[must_use]
    pub fn with_journal(self, journal: RunJournal) -> Self {
        Self { journal: Some(journal), ..self }
    }

    /// Keeps to a person's budgets of the day, and writes down what is spent.
    #[must_use]
    pub fn with_meter(self, meter: ModelMeter) -> Self {
        Self { meter: Some(meter), ..self }
    }

    /// Has runs spend from a budget that others may spend from too, beside their own limits.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Has runs end once a token is cancelled.
    #[must_use]
    pub fn with_cancellation(self, cancel: CancellationToken) -> Self {
        Self { cancel, ..self }
    }

    /// Has each day written into the first message that comes on it.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Has runs stop where they are before the next answer of their model once a token is cancelled. They can be
    /// [resumed](Self::resume).
    #[must_use]
    pub fn with_pause(self, pause: CancellationToken) -> Self {
        Self { pause, ..self }
    }

    /// Answers the end of a conversation. The run that comes back has ended, unless it waits for somebody's approval or
    /// was paused.
    pub async fn drive(
        &self,
        conversation: impl Into<Transcript>,
        limits: RunLimits,
    ) -> Result<AgentRun, RunFault> {
        let mut conversation = conversation.into();
        if let Some(clock) = &self.clock {
            conversation.date_last(clock.now());
        }
        let deadline = Instant::now() + limits.run;
        let budget = self.budget_of(&limits);
        if let Some(journal) = &self.journal {
            journal.append(vec![replay::beginning(conversation.turns(), &limits)]).await?;
        }
        let (run, effects) = AgentRun::begin(conversation, limits);
        let effects = effects.into();
        Box::pin(self.go_on(RunProgress { run, effects, deadline, budget })).await
    }

    pub(crate) async fn go_on(&self, progress: RunProgress) -> Result<AgentRun, RunFault> {
        let RunProgress { mut run, mut effects, deadline, budget } = progress;
        if run.transcript().is_compacted() {
            self.keep_past(run.transcript()).await;
        }
        let mut calls = FuturesUnordered::new();
        let mut blocked = None;
        loop {
            let mut event = None;
            while let Some(effect) = effects.pop_front() {
                match effect {
                    Effect::Call { call, request } => {
                        self.watcher.on_call(call, &request);
                        calls.push(self.call(call, request, &budget));
                    }
                    // It is the only effect of its step, and no call is under way.
                    Effect::Ask(_) | Effect::Compact(_) if blocked.is_some() => {
                        event = blocked.take().map(|reason| AgentEvent::GivenUp { reason });
                    }
                    Effect::Ask(tools) => {
                        let asked = Box::pin(self.ask(&run, tools, &budget));
                        let Some(asked) = self.pause.run_until_cancelled(asked).await else {
                            return Ok(run);
                        };
                        event = Some(asked?);
                    }
                    Effect::Compact(step) => {
                        let compacted = Box::pin(self.compact_step(&run, &step, &budget));
                        let Some(compacted) = self.pause.run_until_cancelled(compacted).await
                        else {
                            return Ok(run);
                        };
                        event = Some(compacted?);
                    }
                    Effect::End(end) => {
                        self.end(&end).await?;
                        return Ok(run);
                    }
                }
            }
            let event = match event {
                Some(event) => Some(event),
                None => self.wait(&mut calls, &mut blocked).await?,
            };
            let Some(event) = event else { return Ok(run) };
            // Before the event: it may lead to the next question to the model.
            if run.shortage().is_none()
                && let Some(of) = find_shortage(&event, deadline, &budget)
            {
                effects.extend(self.take(&mut run, AgentEvent::RanShort { of }).await?);
            }
            effects.extend(self.take(&mut run, event).await?);
        }
    }

    /// Waits for the next call that returns, and notes why the run cannot go on if it says so. None once all that are under way wait for somebody's approval.
    async fn wait(
        &self,
        calls: &mut FuturesUnordered<impl Future<Output = (usize, CallProgress)>>,
        blocked: &mut Option<String>,
    ) -> Result<Option<AgentEvent>, RunFault> {
        loop {
            return Ok(match self.cancel.run_until_cancelled(calls.next()).await {
                None => Some(AgentEvent::Cancelled),
                Some(None) => None,
                Some(Some((call, CallProgress::Returned(result)))) => {
                    Some(AgentEvent::Returned { call, result })
                }
                Some(Some((call, CallProgress::Blocked { result, reason }))) => {
                    blocked.get_or_insert(reason);
                    Some(AgentEvent::Returned { call, result })
                }
                Some(Some((call, CallProgress::Waiting(approval)))) => {
                    self.watcher.on_wait(call, &approval);
                    self.note(wait_notes::waiting(call, approval)).await?;
                    continue;
                }
            });
        }
    }

    /// Writes down what is no event of the loop.
    pub(crate) async fn note(&self, note: NewRunEvent) -> Result<(), RunFault> {
        match &self.journal {
            Some(journal) => Ok(journal.append(vec![note]).await?),
            None => Ok(()),
        }
    }

    /// Writes an event down, and only then lets the run take it.
    pub(crate) async fn take(
        &self,
        run: &mut AgentRun,
        event: AgentEvent,
    ) -> Result<Vec<Effect>, RunFault> {
        let event = match &self.journal {
            None => event,
            Some(journal) => {
                let (event, written_event) = fit_into_journal(event);
                journal.append(vec![written_event]).await?;
                event
            }
        };
        self.watcher.on_event(&event);
        Ok(run.step(event))
    }

    async fn end(&self, end: &RunEnd) -> Result<(), RunFault> {
        let Some(journal) = &self.journal else { return Ok(()) };
        Ok(journal.end(end).await?)
    }

    async fn call(&self, call: usize, request: ToolCall, budget: &Budget) -> (usize, CallProgress) {
        (call, self.tools.try_call(&request, budget).await)
    }

    pub(crate) fn tools(&self) -> &dyn AgentTools {
        self.tools
    }

    pub(crate) fn budget_of(&self, limits: &RunLimits) -> Budget {
        self.budget.of_run(limits.spending(), self.journal.as_ref().map(RunJournal::id))
    }

    /// Asks the model to answer the conversation.
    async fn ask(
        &self,
        run: &AgentRun,
        tools: ToolUse,
        budget: &Budget,
    ) -> Result<AgentEvent, RunFault> {
        let offer = match self.cancel.run_until_cancelled(self.tools.offer()).await {
            Some(Ok(offer)) => offer,
            Some(Err(error)) => {
                let reason = error.to_string();
                return Ok(AgentEvent::NotAnswered { reason, is_final: false });
            }
            None => return Ok(AgentEvent::Cancelled),
        };
        let shown = run.prompt_history();
        let request = ModelRequest::new(&offer.instructions, &shown);
        // Providers want the tools of earlier calls even where no more may be made.
        let request = ModelRequest {
            tool_choice: match tools {
                ToolUse::Allowed => ToolChoice::Auto,
                ToolUse::Over => ToolChoice::None,
            },
            ..request.tools(&offer.tools)
        };
        let (prompt, limit) = (prompt_tokens(&offer, &shown), run.limits().turn);
        let question = Question { request, prompt, limit, watcher: self.watcher };
        Ok(match self.ask_counted(question, budget).await? {
            Ok(answer) => AgentEvent::Answered { answer: Box::new(answer) },
            Err(failure) => failure.into(),
        })
    }

    /// Asks the model, and counts what that took, also of tries that failed and of an answer that was cut off.
    async fn ask_counted(
        &self,
        question: Question<'_>,
        budget: &Budget,
    ) -> Result<Result<ModelAnswer, AnswerFailure>, RunFault> {
        let prompt = question.prompt;
        let metered = match &self.meter {
            None => None,
            Some(meter) => match meter.begin(prompt).await? {
                Ok(metered) => Some(metered),
                Err(reason) => return Ok(Err(AnswerFailure::DaySpent(reason))),
            },
        };
        let progress = AnswerProgress::default();
        let asked = {
            let is_open = |place| {
                let open = metered.as_ref().map(|metered| metered.open_models.get(place));
                open.is_none_or(|is_open| is_open == Some(&true))
            };
            let asked = self.ask_model(question, is_open, &progress);
            let asked = self.cancel.run_until_cancelled(asked).await;
            asked.unwrap_or(Err(AnswerFailure::Cancelled))
        };
        let uses = progress.uses(prompt, asked.as_ref().ok());
        let spent = |(_, used): &(usize, UsedTokens)| Spending { tokens: used.total(), cost: None };
        let spendings = match (&self.meter, metered) {
            (Some(meter), Some(metered)) => meter.end(metered, &uses).await?,
            _ => uses.iter().map(spent).collect(),
        };
        for spending in spendings {
            budget.spend(spending);
        }
        Ok(asked)
    }

    async fn ask_model(
        &self,
        question: Question<'_>,
        is_open: impl Fn(usize) -> bool,
        progress: &AnswerProgress,
    ) -> Result<ModelAnswer, AnswerFailure> {
        let limit = question.limit;
        let deadline = Instant::now() + limit;
        let reading = self.read_answer(question, deadline, is_open, progress);
        match timeout_at(deadline, reading).await {
            Ok(answer) => answer.map_err(AnswerFailure::Model),
            Err(_) => Err(AnswerFailure::Late(limit)),
        }
    }

    async fn read_answer(
        &self,
        Question { request, watcher, .. }: Question<'_>,
        deadline: Instant,
        is_open: impl Fn(usize) -> bool,
        progress: &AnswerProgress,
    ) -> Result<ModelAnswer, ModelError> {
        let mut stream = self.model.stream_among(request, deadline, is_open, progress).await?;
        while let Some(delta) = stream.next().await? {
            progress.note(&delta);
            watcher.on_delta(&delta);
        }
        stream.answer().await
    }
}

fn find_shortage(event: &AgentEvent, deadline: Instant, budget: &Budget) -> Option<Shortage> {
    let takes_time = matches!(
        event,
        AgentEvent::Answered { .. } | AgentEvent::Returned { .. } | AgentEvent::Compacted { .. }
    );
    if !takes_time {
        return None;
    }
    if Instant::now() >= deadline {
        return Some(Shortage::Time);
    }
    budget.shortage()
}

/// An event that a journal takes, and how it is written. The run takes the same one, so that its journal
/// says what happened.
fn fit_into_journal(mut event: AgentEvent) -> (AgentEvent, NewRunEvent) {
    let written = replay::event(&event);
    let bytes = written.json.get().len();
    if bytes <= RUN_EVENT_BYTES {
        return (event, written);
    }
    if let AgentEvent::Returned { result, .. } = &mut event {
        result.parts = vec![UserPart::Text(format!("[{bytes} bytes, too many to be kept]"))];
    } else {
        let reason = format!("the model's answer has {bytes} bytes, too many to be kept");
        event = AgentEvent::NotAnswered { reason, is_final: false };
    }
    let written = replay::event(&event);
    (event, written)
}
