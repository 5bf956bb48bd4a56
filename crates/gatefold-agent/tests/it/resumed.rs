//! Runs that are taken up again from their journal.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_agent::{
    AgentEvent, AgentRun, AgentTools, Budget, CallProgress, Driver, KeptRun, RunEnd, RunJournal,
    RunLimits, Shortage, Spending, ToolOffer, end_kept,
};
use gatefold_core::{ApprovalId, BoxError, Principal};
use gatefold_dispatch::{DataOwner, Journal, RunId, Settlement};
use gatefold_model::{Api, ToolCall, ToolResult, Turn};
use gatefold_store::{Store, StoreOptions};
use gatefold_testkit::model::ScriptedModel;

use crate::asking;
use crate::driven::{SlowEcho, calling, client};
use crate::journaled::begin;

/// Tools that keep a ledger of the calls that took effect.
struct Ledger {
    echo: SlowEcho,
    answers: Answers,
    is_repeatable: bool,
    made: Mutex<Vec<String>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Answers {
    All,
    /// The others take effect and never return.
    First,
    /// It waits for an approval.
    None,
}

impl Ledger {
    fn new(answers: Answers, is_repeatable: bool) -> Self {
        let (echo, made) = (SlowEcho::taking(Duration::ZERO), Mutex::default());
        Self { echo, answers, is_repeatable, made }
    }

    fn made(&self) -> Vec<String> {
        self.made.lock().unwrap().clone()
    }
}

impl AgentTools for Ledger {
    fn offer(&self) -> BoxFuture<'_, Result<ToolOffer, BoxError>> {
        self.echo.offer()
    }

    fn call<'a>(&'a self, request: &'a ToolCall, budget: &'a Budget) -> BoxFuture<'a, ToolResult> {
        Box::pin(async {
            let arguments = format!("{:?}", request.arguments);
            let number = arguments.chars().filter(char::is_ascii_digit).collect();
            self.made.lock().unwrap().push(number);
            if self.answers == Answers::First && !arguments.contains("0}") {
                std::future::pending::<()>().await;
            }
            self.echo.call(request, budget).await
        })
    }

    fn try_call<'a>(
        &'a self,
        request: &'a ToolCall,
        budget: &'a Budget,
    ) -> BoxFuture<'a, CallProgress> {
        Box::pin(async {
            if self.answers == Answers::None {
                return CallProgress::Waiting(ApprovalId::new("7hq2-m4xk"));
            }
            CallProgress::Returned(self.call(request, budget).await)
        })
    }

    fn is_repeatable<'a>(&'a self, _: &'a ToolCall) -> BoxFuture<'a, bool> {
        Box::pin(async { self.is_repeatable })
    }
}

struct World {
    _folder: tempfile::TempDir,
    journal: Arc<dyn Journal>,
    owner: DataOwner,
    run: RunId,
    model: ScriptedModel,
}

impl World {
    async fn new(calls: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), StoreOptions::default()).await.unwrap();
        let journal: Arc<dyn Journal> = Arc::new(store);
        let owner = DataOwner::lasting(&Principal::local());
        let run = begin(&journal, &owner, 1).await;
        Self { _folder: folder, journal, owner, run, model: ScriptedModel::start(calling(calls)) }
    }

    /// Drives a new run until it ends, waits or hangs.
    async fn drive(&self, tools: &Ledger, limits: RunLimits) -> Option<AgentRun> {
        let client = client(&self.model, Api::OpenAiChat);
        let journal = RunJournal::new(self.journal.clone(), self.run);
        let driver = Driver::new(&client, tools).with_journal(journal);
        let driving = driver.drive(asking("Go."), limits);
        tokio::time::timeout(Duration::from_millis(500), driving).await.ok().map(Result::unwrap)
    }

    async fn kept(&self) -> KeptRun {
        KeptRun::read(&*self.journal, &self.owner, self.run, None).await.unwrap().unwrap()
    }

    async fn resume(&self, tools: &Ledger, kept: KeptRun, spent: Spending) -> AgentRun {
        let client = client(&self.model, Api::OpenAiChat);
        let journal = RunJournal::behind(self.journal.clone(), self.run, kept.last);
        let driver = Driver::new(&client, tools).with_journal(journal);
        driver.resume(kept, spent).await.unwrap()
    }
}

/// The texts of the results of the first round.
fn results(run: &AgentRun) -> Vec<String> {
    let round = run.history().turns().iter().find_map(|turn| match turn {
        Turn::Round(round) if !round.results().is_empty() => Some(round),
        _ => None,
    });
    round.unwrap().results().iter().map(|result| format!("{:?}", result.parts)).collect()
}

#[tokio::test]
async fn a_call_that_ended_is_not_made_again_and_the_model_is_told_of_those_that_may_have_been() {
    let world = World::new(3).await;
    let tools = Ledger::new(Answers::First, false);
    assert!(world.drive(&tools, RunLimits::default()).await.is_none());
    assert_eq!(tools.made(), ["0", "1", "2"]);
    let (kept, tools) = (world.kept().await, Ledger::new(Answers::All, false));
    let run = world.resume(&tools, kept, Spending::default()).await;
    assert_eq!(tools.made(), Vec::<String>::new());
    assert_eq!(run.end_state(), Some(&RunEnd::Answered));
    let told: Vec<_> =
        results(&run).iter().map(|text| text.contains("may have taken effect")).collect();
    assert_eq!(told, [false, true, true]);
    assert_eq!(world.kept().await.run.history(), run.history(), "its journal says the same");
}

#[tokio::test]
async fn a_repeatable_call_that_was_under_way_is_made_again() {
    let world = World::new(3).await;
    assert!(world.drive(&Ledger::new(Answers::First, true), RunLimits::default()).await.is_none());
    let (kept, tools) = (world.kept().await, Ledger::new(Answers::All, true));
    let run = world.resume(&tools, kept, Spending::default()).await;
    assert_eq!(tools.made(), ["1", "2"]);
    assert_eq!(run.answer().as_deref(), Some("3 results"));
}

#[tokio::test]
async fn a_run_whose_calls_all_wait_goes_on_once_somebody_has_decided() {
    for (state, made) in [(Settlement::Decided, 2), (Settlement::Over, 0)] {
        let world = World::new(2).await;
        let waiting = Ledger::new(Answers::None, false);
        let run = world.drive(&waiting, RunLimits::default()).await.unwrap();
        assert_eq!(run.end_state(), None);
        let kept = world.kept().await;
        assert_eq!(kept.waiting.len(), 2);
        // Nobody has decided: it waits on, and nothing is made.
        let run = world.resume(&waiting, kept, Spending::default()).await;
        assert_eq!((run.end_state(), waiting.made().len()), (None, 0));
        let mut kept = world.kept().await;
        assert_eq!(kept.waiting.len(), 2, "it still waits");
        kept.waiting.iter_mut().for_each(|waiting| waiting.state = state);
        let tools = Ledger::new(Answers::All, false);
        let run = world.resume(&tools, kept, Spending::default()).await;
        assert_eq!((tools.made().len(), run.end_state()), (made, Some(&RunEnd::Answered)));
        let is_told = results(&run).iter().all(|text| text.contains("was not made"));
        assert_eq!(is_told, state == Settlement::Over);
    }
}

#[tokio::test]
async fn a_call_that_was_made_after_its_approval_does_not_wait_any_more() {
    let world = World::new(2).await;
    world.drive(&Ledger::new(Answers::None, false), RunLimits::default()).await.unwrap();
    let mut kept = world.kept().await;
    kept.waiting.iter_mut().for_each(|waiting| waiting.state = Settlement::Decided);
    let dying = Ledger::new(Answers::First, false);
    let resumed = world.resume(&dying, kept, Spending::default());
    tokio::time::timeout(Duration::from_millis(500), resumed).await.unwrap_err();
    let (kept, tools) = (world.kept().await, Ledger::new(Answers::All, false));
    assert_eq!(kept.waiting, []);
    let run = world.resume(&tools, kept, Spending::default()).await;
    assert_eq!(tools.made(), Vec::<String>::new(), "it may have taken effect");
    assert!(results(&run)[1].contains("may have taken effect"));
}

#[tokio::test]
async fn what_a_run_spent_before_counts_for_its_limits() {
    let world = World::new(2).await;
    let limits = RunLimits { tokens: Some(1_000), ..RunLimits::default() };
    assert!(world.drive(&Ledger::new(Answers::First, true), limits).await.is_none());
    let spent = Spending { tokens: 1_000, cost: None };
    let tools = Ledger::new(Answers::All, true);
    let run = world.resume(&tools, world.kept().await, spent).await;
    assert_eq!(run.end_state(), Some(&RunEnd::Short { of: Shortage::Tokens }));
}

#[tokio::test]
async fn a_run_that_nobody_can_go_on_with_ends_with_a_reason() {
    let world = World::new(2).await;
    assert!(world.drive(&Ledger::new(Answers::First, true), RunLimits::default()).await.is_none());
    let kept = world.kept().await;
    let journal = RunJournal::behind(world.journal.clone(), world.run, kept.last);
    let reason = "three processes died".to_owned();
    end_kept(kept, &journal, AgentEvent::GivenUp { reason: reason.clone() }).await.unwrap();
    let known = world.journal.run(&world.owner, world.run).await.unwrap().unwrap();
    assert!(known.end.is_some());
    let end = world.kept().await.run.end_state().cloned();
    assert_eq!(end, Some(RunEnd::Failed { reason, is_final: false }));
}
