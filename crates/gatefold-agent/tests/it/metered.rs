//! Runs whose answers are counted: by budgets of runs, by those of people, and in the ledger.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gatefold_agent::{
    AgentRun, Budget, Driver, MeteredModel, ModelMeter, RunEnd, RunLimits, Shortage, SpendingLimit,
    TokenPrice,
};
use gatefold_core::{Cost, Principal, UserId};
use gatefold_dispatch::{ModelLedger, UseOrigin};
use gatefold_model::{Api, ModelClient, ModelSpec, ToolCalls};
use gatefold_store::{Store, StoreOptions};
use gatefold_testkit::model::{ModelTurn, Move, ScriptedModel, StreamEnd, TurnOutcome};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::asking;
use crate::driven::{SlowEcho, calling, client, client_at, client_of};

/// 1 for a million of the prompt, of which what is cached costs a tenth, and 10 for a million of answers.
const PRICE: TokenPrice =
    TokenPrice { input: 1_000_000, cached_input: 100_000, output: 10_000_000 };

fn named(name: &str, budget: SpendingLimit) -> MeteredModel {
    MeteredModel { name: name.to_owned(), price: Some(PRICE), budget }
}

fn tokens(count: u64) -> SpendingLimit {
    SpendingLimit { tokens: Some(count), cost: None }
}

struct Ledger {
    ledger: Arc<dyn ModelLedger>,
    _folder: tempfile::TempDir,
}

impl Ledger {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), StoreOptions::default()).await.unwrap();
        Self { ledger: Arc::new(store), _folder: folder }
    }

    fn meter(&self, user: &str, models: &[MeteredModel]) -> ModelMeter {
        let who = Principal::user(UserId::new(user));
        ModelMeter::new(self.ledger.clone(), &who, None, UseOrigin::Elsewhere, models.to_vec())
    }

    /// The tokens, those that are a guess, and the cost in millionths.
    async fn spent(&self, user: &str, model: &str) -> (u64, u64, u64) {
        let spent = self.ledger.spent_today(&UserId::new(user), model).await.unwrap();
        (spent.tokens, spent.estimated, spent.cost.as_micros())
    }
}

async fn run(client: &ModelClient, meter: ModelMeter, limits: RunLimits) -> AgentRun {
    let tools = SlowEcho::taking(Duration::ZERO);
    let driver = Driver::new(client, &tools).with_meter(meter);
    driver.drive(asking("Go."), limits).await.unwrap()
}

#[tokio::test]
async fn each_answer_is_in_the_ledger_with_what_it_cost() {
    let ledger = Ledger::open().await;
    for (user, api) in [("ann", Api::OpenAiChat), ("bob", Api::Anthropic)] {
        let model = ScriptedModel::start(calling(2));
        let meter = ledger.meter(user, &[named("fast", SpendingLimit::default())]);
        run(&client(&model, api), meter, RunLimits::default()).await;
        // Twice 49 tokens, 50 of the cache, and one of the answer.
        assert_eq!(ledger.spent(user, "fast").await, (200, 0, 2 * (49 + 5 + 10)), "{api}");
    }
}

#[tokio::test]
async fn an_endpoint_that_reports_nothing_is_not_free() {
    let ledger = Ledger::open().await;
    let model = ScriptedModel::reporting(None, |_| Move::say(&"x".repeat(300)));
    let meter = ledger.meter("ann", &[named("fast", SpendingLimit::default())]);
    run(&client(&model, Api::OpenAiChat), meter, RunLimits::default()).await;
    let (all, estimated, cost) = ledger.spent("ann", "fast").await;
    assert!(all > 100 && all == estimated && cost > 1_000, "{all} {estimated} {cost}");

    // A run's own limit and one that others share count it, too.
    let model = ScriptedModel::reporting(None, |_| Move::call("echo", &json!({})));
    let limits = RunLimits { tokens: Some(1), ..RunLimits::default() };
    let tools = SlowEcho::taking(Duration::ZERO);
    let whole = client(&model, Api::OpenAiChat);
    let ended = Driver::new(&whole, &tools).drive(asking("Go."), limits).await.unwrap();
    assert_eq!(ended.end_state(), Some(&RunEnd::Short { of: Shortage::Tokens }));
    assert_eq!(ended.answers(), 2);
}

#[tokio::test]
async fn what_was_cut_off_counts_and_what_was_refused_does_not() {
    let ledger = Ledger::open().await;
    let refusing = ScriptedModel::start(|_| Move::Fail("401 Unauthorized", "", "{}"));
    let meter = ledger.meter("ann", &[named("refusing", SpendingLimit::default())]);
    run(&client(&refusing, Api::OpenAiChat), meter, RunLimits::default()).await;
    assert_eq!(ledger.spent("ann", "refusing").await, (0, 0, 0));

    let cutting = ScriptedModel::start(|_| {
        let (text, end) = ("y".repeat(900), StreamEnd::Cut(2));
        Move::Turn(ModelTurn { text, end, ..ModelTurn::default() })
    });
    let meter = ledger.meter("ann", &[named("cutting", SpendingLimit::default())]);
    let ended = run(&client(&cutting, Api::OpenAiChat), meter, RunLimits::default()).await;
    assert!(matches!(ended.end_state(), Some(RunEnd::Failed { .. })));
    let (all, estimated, _) = ledger.spent("ann", "cutting").await;
    assert!(all > 300 && all == estimated, "{all} {estimated}");

    let hanging = ScriptedModel::start(|_| Move::Hang);
    let (hanging, tools) = (client(&hanging, Api::OpenAiChat), SlowEcho::taking(Duration::ZERO));
    let cancel = CancellationToken::new();
    let meter = ledger.meter("ann", &[named("hanging", SpendingLimit::default())]);
    let driver = Driver::new(&hanging, &tools).with_meter(meter).with_cancellation(cancel.clone());
    let (ended, ()) = tokio::join!(driver.drive(asking("Go."), RunLimits::default()), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    });
    assert_eq!(ended.unwrap().end_state(), Some(&RunEnd::Cancelled));
    assert!(ledger.spent("ann", "hanging").await.0 > 0);

    // A caller that goes away drops the run.
    let meter = ledger.meter("ann", &[named("dropped", SpendingLimit::default())]);
    let driver = Driver::new(&hanging, &tools).with_meter(meter);
    let running = driver.drive(asking("Go."), RunLimits::default());
    assert!(tokio::time::timeout(Duration::from_millis(200), running).await.is_err());
    assert!(ledger.spent("ann", "dropped").await.0 > 0);
}

#[tokio::test]
async fn a_spent_day_is_told_in_words_and_only_to_whoever_spent_it() {
    let ledger = Ledger::open().await;
    let model = ScriptedModel::start(calling(1));
    let asked = client(&model, Api::OpenAiChat);
    let limit =
        [named("fast", SpendingLimit { tokens: Some(150), cost: Some(Cost::from_micros(1)) })];
    let first = run(&asked, ledger.meter("ann", &limit), RunLimits::default()).await;
    let Some(RunEnd::DaySpent { reason }) = first.end_state() else { panic!("{first:?}") };
    assert!(
        reason.starts_with(
            "the model `fast` has answered you as much as it may in a day (150 tokens or a cost of 0.000001); \
             it is free again on 2"
        ) && reason.ends_with(" at 00:00 UTC"),
        "{reason}"
    );
    let again = run(&asked, ledger.meter("ann", &limit), RunLimits::default()).await;
    assert_eq!((again.end_state(), again.answers()), (first.end_state(), 0));
    assert_eq!(model.requests().len(), 1);
    let others =
        run(&asked, ledger.meter("bob", &[named("fast", tokens(150))]), RunLimits::default());
    assert_eq!(others.await.end_state(), Some(&RunEnd::Answered));
}

#[tokio::test]
async fn runs_of_one_person_at_once_pass_the_budget_by_the_answers_under_way_at_most() {
    const RUNS: u64 = 16;
    let ledger = Arc::new(Ledger::open().await);
    let model = Arc::new(ScriptedModel::start(|_| Move::call("echo", &json!({}))));
    let mut runs = JoinSet::new();
    for _ in 0..RUNS {
        let (ledger, model) = (ledger.clone(), model.clone());
        runs.spawn(async move {
            let meter = ledger.meter("ann", &[named("fast", tokens(2_000))]);
            run(&client(&model, Api::OpenAiChat), meter, RunLimits::default()).await
        });
    }
    for ended in runs.join_all().await {
        assert!(matches!(ended.end_state(), Some(RunEnd::DaySpent { .. })), "{ended:?}");
    }
    let (spent, _, _) = ledger.spent("ann", "fast").await;
    assert!((2_000..2_000 + RUNS * 100).contains(&spent), "{spent}");
    assert_eq!(spent, model.requests().len() as u64 * 100);
}

#[tokio::test]
async fn a_fallback_with_something_left_answers_for_a_model_that_is_spent() {
    let ledger = Ledger::open().await;
    let (one, other) =
        (ScriptedModel::start(calling(0)), ScriptedModel::start(|_| Move::say("I.")));
    let chain = client(&one, Api::OpenAiChat).with_fallback(client(&other, Api::OpenAiChat));
    let open = SpendingLimit::default();
    let spend = ledger.meter("ann", &[named("fast", open)]);
    run(&client(&other, Api::OpenAiChat), spend, RunLimits::default()).await;
    let asked = other.requests().len();

    let models = [named("fast", tokens(100)), named("slow", open)];
    let ended = run(&chain, ledger.meter("ann", &models), RunLimits::default()).await;
    assert_eq!(ended.answer().as_deref(), Some("I."));
    assert_eq!((one.requests().len(), other.requests().len()), (0, asked + 1));
    assert_eq!(ledger.spent("ann", "fast").await.0, 100);
    assert_eq!(ledger.spent("ann", "slow").await.0, 100);
    // And one that is spent answers for nobody.
    let nobody = client_at("http://127.0.0.1:1/v1", Api::OpenAiChat);
    let chain = nobody.with_fallback(client(&other, Api::OpenAiChat));
    let models = [named("failing", open), named("slow", tokens(100))];
    let ended = run(&chain, ledger.meter("ann", &models), RunLimits::default()).await;
    assert!(matches!(ended.end_state(), Some(RunEnd::Failed { .. })), "{ended:?}");
    assert_eq!(other.requests().len(), asked + 1);
    assert_eq!(ledger.spent("ann", "failing").await, (0, 0, 0));
}

/// A client that waits for an answer only so long.
fn hasty(model: &ScriptedModel) -> ModelClient {
    let spec = ModelSpec::new(Api::OpenAiChat, model.url().parse().unwrap(), "scripted");
    client_of(ModelSpec { timeout: Duration::from_millis(200), ..spec })
}

#[tokio::test]
async fn a_try_that_a_model_may_have_worked_on_counts_whoever_answers_in_the_end() {
    let (ledger, open) = (Ledger::open().await, SpendingLimit::default());
    let silent = ScriptedModel::start(|_| Move::Hang);
    let models = |user| ledger.meter(user, &[named("silent", open), named("other", open)]);

    let answering = ScriptedModel::start(|_| Move::say("I."));
    let chain = hasty(&silent).with_fallback(client(&answering, Api::OpenAiChat));
    let ended = run(&chain, models("ann"), RunLimits::default()).await;
    assert_eq!(ended.answer().as_deref(), Some("I."));
    let (all, estimated, cost) = ledger.spent("ann", "silent").await;
    assert!(all > 0 && all == estimated && cost > 0, "{all} {estimated} {cost}");
    assert_eq!(ledger.spent("ann", "other").await, (100, 0, 64));
    // A day that is spent by such tries is spent.
    let strict = ledger.meter("ann", &[named("silent", tokens(1))]);
    let ended = run(&hasty(&silent), strict, RunLimits::default()).await;
    assert!(matches!(ended.end_state(), Some(RunEnd::DaySpent { .. })), "{ended:?}");

    // The last one refuses for nothing, which does not take back what the first one did.
    let refusing = ScriptedModel::start(|_| Move::Fail("401 Unauthorized", "", "{}"));
    let chain = hasty(&silent).with_fallback(client(&refusing, Api::OpenAiChat));
    run(&chain, models("bob"), RunLimits::default()).await;
    assert_eq!(ledger.spent("bob", "silent").await, (all, all, cost));
    assert_eq!(ledger.spent("bob", "other").await, (0, 0, 0));

    // One that refused for nothing has none of what is stopped at the next.
    let busy = ScriptedModel::start(|_| {
        Move::Fail("429 Too Many Requests", "retry-after: 9999\r\n", "{}")
    });
    let chain = client(&busy, Api::OpenAiChat).with_fallback(client(&silent, Api::OpenAiChat));
    let limits = RunLimits { turn: Duration::from_millis(300), ..RunLimits::default() };
    let meter = ledger.meter("cid", &[named("busy", open), named("silent", open)]);
    run(&chain, meter, limits).await;
    assert_eq!(ledger.spent("cid", "busy").await, (0, 0, 0));
    assert_eq!(ledger.spent("cid", "silent").await, (all, all, cost));
}

#[tokio::test]
async fn a_try_that_is_made_again_counts_too() {
    let ledger = Ledger::open().await;
    let tries = AtomicUsize::new(0);
    let model = ScriptedModel::start(move |_| match tries.fetch_add(1, Ordering::Relaxed) {
        0 => Move::Turn(ModelTurn { outcome: TurnOutcome::Nothing, ..ModelTurn::default() }),
        _ => Move::say("I."),
    });
    let meter = ledger.meter("ann", &[named("fast", SpendingLimit::default())]);
    let tools = SlowEcho::taking(Duration::ZERO);
    let (client, budget) = (client(&model, Api::OpenAiChat), Budget::unlimited());
    let driver = Driver::new(&client, &tools).with_meter(meter).with_budget(budget.clone());
    let ended = driver.drive(asking("Go."), RunLimits::default()).await.unwrap();
    assert_eq!((ended.answer().as_deref(), model.requests().len()), (Some("I."), 2));
    let (all, estimated, _) = ledger.spent("ann", "fast").await;
    assert!(estimated > 0 && all == 100 + estimated, "{all} {estimated}");
    assert_eq!(budget.spent().tokens, all);
}

#[tokio::test]
async fn an_answer_in_json_that_cannot_be_read_counts() {
    let (ledger, open) = (Ledger::open().await, SpendingLimit::default());
    for user in ["ann", "bob"] {
        let tries = AtomicUsize::new(0);
        let model = ScriptedModel::start(move |_| match tries.fetch_add(1, Ordering::Relaxed) {
            1 if user == "bob" => Move::Fail("401 Unauthorized", "", "{}"),
            _ => Move::say(r#"{"tool":"subtract","arguments":{}}"#),
        });
        let spec = ModelSpec::new(Api::OpenAiChat, model.url().parse().unwrap(), "scripted");
        let asked = client_of(ModelSpec { tool_calls: ToolCalls::Json, ..spec });
        run(&asked, ledger.meter(user, &[named("fast", open)]), RunLimits::default()).await;
        assert_eq!(model.requests().len(), 2);
    }
    let (both, one) = (ledger.spent("ann", "fast").await.0, ledger.spent("bob", "fast").await.0);
    assert!(one > 0 && both == 2 * one, "{both} {one}");
}

#[tokio::test]
async fn a_run_ends_by_what_it_may_cost() {
    let ledger = Ledger::open().await;
    let model = ScriptedModel::start(|_| Move::call("echo", &json!({})));
    let (client, tools) = (client(&model, Api::OpenAiChat), SlowEcho::taking(Duration::ZERO));
    let budget = Budget::unlimited();
    let meter = ledger.meter("ann", &[named("fast", SpendingLimit::default())]);
    let driver = Driver::new(&client, &tools).with_meter(meter).with_budget(budget.clone());
    let limits = RunLimits { cost: Some(Cost::from_micros(65)), ..RunLimits::default() };
    let run = driver.drive(asking("Go."), limits).await.unwrap();
    assert_eq!(run.end_state(), Some(&RunEnd::Short { of: Shortage::Cost }));
    // The second answer passes 65, and the third is the last.
    let spent = budget.spent();
    assert_eq!((spent.tokens, spent.cost), (300, Some(Cost::from_micros(3 * 64))));
}
