//! Runs of agents: each is its person's own. The operator's are the local user's.

use gatefold::TakeUpError;
use gatefold_agent::{AgentRun, KeptRun, ReplayError, RunEnd, parts_without_date};
use gatefold_core::{Cost, Timestamp};
use gatefold_dispatch::{
    Journal as _, JournalError, Run, RunEvent, RunId, RunKind, RunOutcome, RunPhase, Threads as _,
    UtcDay,
};
use gatefold_model::{UserMessage, UserPart};
use gatefold_store::{CostGroup, ModelUsage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{AppOperations, Fault, OperationError, StateOperations};

/// The most runs in one answer, and the most events.
const LISTED_RUNS: u32 = 1_000;
const LISTED_EVENTS: u32 = 500;

/// The fewest last digits of an id that stand for it.
const LAST_DIGITS: usize = 6;

/// A run, without what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    pub id: String,
    pub agent: Option<String>,
    pub thread: Option<String>,
    /// `running`, `waiting`, `interrupted`, `done`, `failed` or `cancelled`.
    pub state: String,
    /// The approvals that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<String>,
    pub began_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// The number of its last event.
    pub events: u64,
}

/// A run with what is in its journal.
#[derive(Debug, Clone, Serialize)]
pub struct RunDetails {
    #[serde(flatten)]
    pub run: RunRecord,
    pub request: Option<String>,
    /// The text of the model's last answer.
    pub answer: Option<String>,
    /// How it ended, with the reason.
    pub end: Option<RunEnd>,
    pub usage: UsageRecord,
}

/// What models took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UsageRecord {
    pub answers: u64,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Whether any of these is a guess.
    pub is_estimated: bool,
    pub cost: Option<f64>,
}

/// What one group of answers took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostRecord {
    /// A date, or the name of a person, an agent or a model. Empty for no agent.
    pub name: String,
    #[serde(flatten)]
    pub usage: UsageRecord,
}

/// An event of a run, as its journal has it.
#[derive(Debug, Clone, Serialize)]
pub struct EventRecord {
    pub number: u64,
    pub at: Timestamp,
    pub kind: String,
    pub event: Box<RawValue>,
}

/// A gateway is to go on with a run that nobody drives.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResumeRun {
    /// Its whole id.
    pub run: String,
}

impl From<Run> for RunRecord {
    fn from(run: Run) -> Self {
        let (state, approvals) = match (&run.phase, run.end) {
            (_, Some((_, RunOutcome::Done))) => ("done", Vec::new()),
            (_, Some((_, RunOutcome::Failed))) => ("failed", Vec::new()),
            (_, Some((_, RunOutcome::Cancelled))) => ("cancelled", Vec::new()),
            (RunPhase::Driven, None) => ("running", Vec::new()),
            (RunPhase::Waiting(ids), None) => {
                ("waiting", ids.iter().map(ToString::to_string).collect())
            }
            (RunPhase::Interrupted | RunPhase::Ended, None) => ("interrupted", Vec::new()),
        };
        Self {
            id: run.id.to_string(),
            agent: (!run.subject.is_empty()).then_some(run.subject),
            thread: run.thread.map(|thread| thread.to_string()),
            state: state.to_owned(),
            approvals,
            began_at: run.began_at,
            ended_at: run.end.map(|(at, _)| at),
            events: run.last,
        }
    }
}

impl From<ModelUsage> for UsageRecord {
    fn from(usage: ModelUsage) -> Self {
        let ModelUsage { answers, tokens, cost } = usage;
        Self {
            answers,
            input_tokens: tokens.input,
            cached_tokens: tokens.cached,
            output_tokens: tokens.output,
            is_estimated: tokens.is_estimated,
            cost: cost.map(Cost::as_units),
        }
    }
}

impl From<RunEvent> for EventRecord {
    fn from(event: RunEvent) -> Self {
        let RunEvent { number, at, kind, json } = event;
        Self { number, at, kind, event: json }
    }
}

impl StateOperations {
    /// The runs of whoever asks, the newest first.
    pub async fn runs(&self) -> Result<Vec<RunRecord>, OperationError> {
        let runs = self.store.runs(&self.owner(), None, LISTED_RUNS).await?;
        let agents = runs.into_iter().filter(|run| run.kind == RunKind::Agent);
        Ok(agents.map(RunRecord::from).collect())
    }

    /// One of them, by its id or the last digits of it.
    pub async fn run(&self, id: &str) -> Result<RunDetails, OperationError> {
        let run = self.find_run(id).await?;
        let kept = match KeptRun::read(&self.store, &self.owner(), run.id, None).await {
            Ok(kept) => kept.map(|kept| kept.run),
            // Nothing was said in it: it compacted what was said before.
            Err(ReplayError::NotWhole { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let usage = self.store.run_usage(run.id).await?.into();
        let request = kept.as_ref().and_then(AgentRun::request).map(said);
        Ok(RunDetails {
            request,
            answer: kept.as_ref().and_then(AgentRun::answer),
            end: kept.as_ref().and_then(|kept| kept.end_state().cloned()),
            usage,
            run: run.into(),
        })
    }

    /// The events of a run behind the one with this number, once there are any. None are left if it has ended.
    pub async fn follow_run(
        &self,
        id: &str,
        after: u64,
    ) -> Result<Vec<EventRecord>, OperationError> {
        let run = self.find_run(id).await?;
        let events = self.store.follow(&self.owner(), run.id, after, LISTED_EVENTS).await?;
        Ok(events.into_iter().map(EventRecord::from).collect())
    }

    /// Deletes a run that has ended.
    pub async fn delete_run(&self, id: &str) -> Result<RunRecord, OperationError> {
        let run = self.find_run(id).await?;
        if run.end.is_none() {
            let fault = Fault::new("the run has not ended");
            return Err(OperationError::Refused(fault.with_help("`gatefold runs cancel` ends it")));
        }
        self.store.delete_run(&self.owner(), run.id).await?;
        Ok(run.into())
    }

    /// Ends a run, wherever it is driven. That may take a moment.
    pub async fn cancel_run(&self, id: &str) -> Result<RunRecord, OperationError> {
        let run = self.find_run(id).await?;
        gatefold::cancel_run(&self.store, &self.owner(), run.id).await?;
        Ok(self.find_run(&run.id.to_string()).await?.into())
    }

    /// What models took of everybody in the last days, today included. Only the operator may see that.
    pub async fn costs(&self, by: CostGroup, days: u64) -> Result<Vec<CostRecord>, OperationError> {
        self.asker.require_operator("see what everybody spent")?;
        let since = UtcDay::of(self.store.now()).before(days.saturating_sub(1));
        let costs = self.store.model_costs(by, since).await?;
        let record = |(name, usage): (String, ModelUsage)| CostRecord { name, usage: usage.into() };
        Ok(costs.into_iter().map(record).collect())
    }

    async fn find_run(&self, id: &str) -> Result<Run, OperationError> {
        let (owner, id) = (self.owner(), id.trim().to_ascii_lowercase());
        if let Some(whole) = RunId::parse(&id) {
            return self.store.run(&owner, whole).await?.ok_or_else(|| unknown(&id));
        }
        let all = self.store.runs(&owner, None, LISTED_RUNS).await?;
        let is_meant = |run: &Run| id.len() >= LAST_DIGITS && run.id.to_string().ends_with(&id);
        let mut meant = all.into_iter().filter(is_meant);
        let first = meant.next().ok_or_else(|| unknown(&id))?;
        match meant.next() {
            None => Ok(first),
            Some(_) => Err(OperationError::Invalid(Fault::new(format!(
                "several runs end with `{id}`; write more of the id"
            )))),
        }
    }
}

impl AppOperations<'_> {
    /// Goes on with a run that nobody drives.
    pub async fn resume_run(&self, request: &ResumeRun) -> Result<RunRecord, OperationError> {
        let (owner, store) = (self.asker.owner(), self.app.store());
        let id = RunId::parse(&request.run).ok_or_else(|| unknown(&request.run))?;
        let run = store.run(&owner, id).await?.ok_or_else(|| unknown(&request.run))?;
        self.app.runs().take_up(&owner, &run).await?;
        let run = store.run(&owner, id).await?.ok_or_else(|| unknown(&request.run))?;
        Ok(run.into())
    }
}

impl From<TakeUpError> for OperationError {
    fn from(error: TakeUpError) -> Self {
        let fault = Fault::of(&error);
        match error {
            TakeUpError::Journal(JournalError::UnknownRun) => Self::NotFound(fault),
            TakeUpError::Ended | TakeUpError::GivenUp(_) => Self::Refused(fault),
            TakeUpError::Driven => {
                Self::Refused(fault.with_help("`gatefold runs follow` shows what it does"))
            }
            TakeUpError::NotHosted => Self::Refused(
                fault.with_help("`gatefold chat --thread ID` goes on with one of a chat"),
            ),
            TakeUpError::TooMany { .. } | TakeUpError::Stopping => Self::Unavailable(fault),
            _ => Self::Failed(fault),
        }
    }
}

/// What a person said, as text.
fn said(message: &UserMessage) -> String {
    let texts = parts_without_date(message).filter_map(|part| match part {
        UserPart::Text(text) => Some(text.as_str()),
        UserPart::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn unknown(id: &str) -> OperationError {
    let fault = Fault::new(format!("there is no run `{id}`"));
    OperationError::NotFound(fault.with_help("`gatefold runs list` lists them"))
}
