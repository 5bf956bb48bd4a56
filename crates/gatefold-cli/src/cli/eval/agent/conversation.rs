//! One task under one disclosure, through the loop of our agents.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold::App;
use gatefold_agent::{
    AgentEvent, AgentRun, AgentTools as _, Driver, RunEnd as LoopEnd, RunLimits, RunWatcher,
    Shortage, SurfaceTools, ToolOffer,
};
use gatefold_core::ClientName;
use gatefold_dispatch::{Caller, RequestMeta, SharedLabel};
use gatefold_exchange::Audience;
use gatefold_model::{CallArguments, History, ModelClient, Turn, UserPart};
use serde_json::{Value, json};

use super::call_log::{CallLog, InnerCall};
use crate::cli::model_options::{NoAnswer, patience};
use crate::cli::tokens;

/// The client's name in the records of the calls.
const CLIENT: &str = "gatefold-eval";

/// No task ends by the clock: what it costs is measured, and its answers are limited.
const LONGEST_RUN: Duration = Duration::from_hours(24);

/// One disclosure with what a model is given under it.
pub(super) struct Stage<'a> {
    pub(super) app: &'a App,
    pub(super) model: &'a ModelClient,
    pub(super) audience: Audience,
    /// The most answers of the model with tools.
    pub(super) turns: u32,
}

/// What happened in one task.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) calls: Vec<InnerCall>,
    /// The last answer, if the model came to one.
    pub(super) answer: Option<String>,
    pub(super) ended: RunEnd,
    pub(super) turns: usize,
    pub(super) tokens: u64,
    /// Whether some of the tokens were counted here, because the endpoint did not report them.
    pub(super) is_counted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunEnd {
    /// The model answered without a call.
    Answered,
    /// It still made calls when its turns were used up.
    Turns,
    /// The conversation became too long.
    TooLong,
    /// It made one call again and again, with the same result.
    Repeated,
}

/// The most answers of one task: `--turns` is at most 100.
const ANSWERS: usize = 128;

/// The tokens of each answer, where the endpoint reported them. At most [`ANSWERS`].
#[derive(Default)]
struct ReportedTokens(Mutex<Vec<Option<u64>>>);

impl RunWatcher for ReportedTokens {
    fn on_event(&self, event: &AgentEvent) {
        if let AgentEvent::Answered { answer } = event {
            let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if reported.len() < ANSWERS {
                reported.push(answer.usage.total());
            }
        }
    }
}

impl Stage<'_> {
    pub(super) async fn run(&self, conversation: History) -> Result<Run, NoAnswer> {
        let log = Arc::new(CallLog::default());
        let tools = self.tools(log.clone());
        let reported = ReportedTokens::default();
        let limits = RunLimits {
            iterations: self.turns,
            turn: patience(self.model),
            run: LONGEST_RUN,
            // So the log has the calls in the order in which the model wrote them.
            calls_at_once: 1,
            ..RunLimits::default()
        };
        let driver = Driver::new(self.model, &tools).with_watcher(&reported);
        let run = driver
            .drive(conversation, limits)
            .await
            .expect("without a journal, nothing can go wrong with one");
        let ended = match run.end_state().expect("a driven run has ended") {
            LoopEnd::Failed { reason, is_final } => {
                return Err(NoAnswer { reason: reason.clone(), is_final: *is_final });
            }
            // There are no budgets here.
            LoopEnd::DaySpent { reason } => {
                return Err(NoAnswer { reason: reason.clone(), is_final: true });
            }
            LoopEnd::Short { of: Shortage::Room } => RunEnd::TooLong,
            LoopEnd::Short { of: Shortage::NewResults } => RunEnd::Repeated,
            LoopEnd::Short { .. } => RunEnd::Turns,
            LoopEnd::Answered | LoopEnd::Refused | LoopEnd::Cancelled => RunEnd::Answered,
        };
        let reported = reported.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_counted = reported.contains(&None);
        let tokens = all_tokens(&run, &reported, &tools).await.map_err(|error| {
            let reason = format!("the tokens cannot be counted: {error:#}");
            NoAnswer { reason, is_final: false }
        })?;
        Ok(Run {
            calls: log.take(),
            answer: (ended == RunEnd::Answered).then(|| run.answer()).flatten(),
            ended,
            turns: reported.len(),
            tokens,
            is_counted,
        })
    }

    /// The tools of one task. Its label is its own, as a session's is.
    fn tools(&self, log: Arc<CallLog>) -> SurfaceTools {
        let meta = RequestMeta { client: Some(ClientName::new(CLIENT)), ..RequestMeta::default() };
        let label = SharedLabel::default();
        let caller = Caller { meta: Arc::new(meta), label, ..Caller::silent() };
        let exchange = self.app.exchange().clone();
        let tools =
            SurfaceTools::new(exchange, self.audience.clone(), self.app.local_user(), caller);
        tools.with_observer(move |turn| log.of(turn.view()))
    }
}

/// The tokens of all requests and answers: as reported, and otherwise counted.
async fn all_tokens(
    run: &AgentRun,
    reported: &[Option<u64>],
    tools: &SurfaceTools,
) -> anyhow::Result<u64> {
    let known = reported.iter().flatten().fold(0_u64, |sum, tokens| sum.saturating_add(*tokens));
    if !reported.contains(&None) {
        return Ok(known);
    }
    let offer = tools.offer().await.map_err(|error| anyhow::anyhow!(error))?;
    let (texts, ends) = written(run.history(), &offer);
    let counts = tokens::count(&texts).await?;
    let counted = reported.iter().zip(&ends).filter(|(reported, _)| reported.is_none());
    let counted: usize = counted.map(|(_, end)| counts[..*end].iter().sum::<usize>()).sum();
    Ok(known.saturating_add(u64::try_from(counted).unwrap_or(u64::MAX)))
}

/// The definitions and what was said, as texts, and how many of them are in each request with its answer.
fn written(history: &History, offer: &ToolOffer) -> (Vec<String>, Vec<usize>) {
    let definitions = offer.tools.iter().map(|tool| {
        let (name, description) = (tool.name(), tool.description());
        json!({ "name": name, "description": description, "parameters": tool.schema() })
    });
    let mut texts = vec![definitions.collect::<Value>().to_string()];
    let mut say = |role: &str, message: Value| {
        texts.push(json!({ "role": role, "content": message }).to_string());
        texts.len()
    };
    if !offer.instructions.is_empty() {
        say("system", json!(offer.instructions));
    }
    let mut ends = Vec::new();
    for turn in history.turns() {
        match turn {
            Turn::User(message) => {
                say("user", json!(text_of(message.parts())));
            }
            Turn::Round(round) => {
                let calls = round.said().calls().map(|call| match &call.arguments {
                    CallArguments::Object(arguments) => {
                        json!({ "name": call.name, "arguments": arguments })
                    }
                    CallArguments::Malformed { .. } => json!({ "name": call.name }),
                });
                let calls: Vec<_> = calls.collect();
                let said = json!({ "text": round.said().text(), "calls": calls });
                ends.push(say("assistant", said));
                for result in round.results() {
                    say("tool", json!(text_of(&result.parts)));
                }
            }
        }
    }
    (texts, ends)
}

fn text_of(parts: &[UserPart]) -> String {
    let texts = parts.iter().map(|part| match part {
        UserPart::Text(text) => text.as_str(),
        UserPart::Image(_) => "[an image]",
    });
    texts.collect::<Vec<_>>().join("\n")
}
