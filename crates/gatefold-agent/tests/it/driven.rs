//! Runs against a scripted model, by both wires.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use gatefold_agent::{
    AgentEvent, AgentTools, Budget, Driver, RunEnd, RunLimits, RunWatcher, Shortage, SpendingLimit,
    ToolOffer,
};
use gatefold_core::BoxError;
use gatefold_egress::{Egress, Reach, Settings};
use gatefold_model::{
    Api, Delta, ModelClient, ModelSpec, RawJson, ToolCall, ToolDefinition, ToolResult,
};
use gatefold_testkit::model::{ModelTurn, Move, Prompt, ScriptedModel};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::asking;

/// A tool that takes a while and says its arguments.
pub(crate) struct SlowEcho {
    pub(crate) takes: Duration,
    pub(crate) made: AtomicUsize,
}

impl SlowEcho {
    pub(crate) fn taking(takes: Duration) -> Self {
        Self { takes, made: AtomicUsize::new(0) }
    }
}

impl AgentTools for SlowEcho {
    fn offer(&self) -> BoxFuture<'_, Result<ToolOffer, BoxError>> {
        let schema = RawJson::of(&json!({ "type": "object" }));
        let tool = ToolDefinition::new("echo", "Says its arguments.", &schema).unwrap();
        let offer = ToolOffer { instructions: "Help.".to_owned(), tools: vec![tool] };
        Box::pin(async { Ok(offer) })
    }

    fn call<'a>(&'a self, request: &'a ToolCall, _: &'a Budget) -> BoxFuture<'a, ToolResult> {
        Box::pin(async {
            tokio::time::sleep(self.takes).await;
            self.made.fetch_add(1, Ordering::Relaxed);
            ToolResult::text(format!("{:?}", request.arguments))
        })
    }
}

pub(crate) fn client(model: &ScriptedModel, api: Api) -> ModelClient {
    client_at(&model.url(), api)
}

pub(crate) fn client_at(url: &str, api: Api) -> ModelClient {
    client_of(ModelSpec::new(api, url.parse().unwrap(), "scripted"))
}

pub(crate) fn client_of(spec: ModelSpec) -> ModelClient {
    let settings = Settings { read_timeout: Some(spec.timeout), ..Settings::default() };
    let egress = Egress::new(settings).unwrap().without_proxies();
    ModelClient::new(egress.client_for(Reach::any()), spec).unwrap()
}

/// Calls `echo` so often at once, and answers with the number of results.
pub(crate) fn calling(times: usize) -> impl Fn(&Prompt) -> Move + Send + Sync {
    move |prompt| match prompt.told().len() {
        0 => Move::Call(
            (0..times).map(|at| ("echo".to_owned(), format!(r#"{{"n":{at}}}"#))).collect(),
        ),
        told => Move::say(&format!("{told} results")),
    }
}

#[tokio::test]
async fn eight_calls_of_a_second_take_little_more_than_one() {
    for api in Api::ALL {
        let model = ScriptedModel::start(calling(8));
        let (client, tools) = (client(&model, api), SlowEcho::taking(Duration::from_secs(1)));
        let began = Instant::now();
        let run = Driver::new(&client, &tools).drive(asking("Go."), RunLimits::default()).await;
        let (run, took) = (run.unwrap(), began.elapsed());
        assert_eq!(run.answer().as_deref(), Some("8 results"), "{api}");
        assert_eq!(run.end_state(), Some(&RunEnd::Answered));
        // The other half is for a machine that does other things as well.
        assert!(took < Duration::from_millis(1_700), "{api}: {took:?}");
    }
}

#[tokio::test]
async fn the_last_question_offers_the_tools_and_forbids_them() {
    for api in Api::ALL {
        let model = ScriptedModel::start(|_| Move::call("echo", &json!({})));
        let (client, tools) = (client(&model, api), SlowEcho::taking(Duration::ZERO));
        let limits = RunLimits { iterations: 2, ..RunLimits::default() };
        let run = Driver::new(&client, &tools).drive(asking("Go."), limits).await.unwrap();
        assert_eq!(run.end_state(), Some(&RunEnd::Short { of: Shortage::Iterations }));
        assert_eq!(tools.made.load(Ordering::Relaxed), 2);
        let requests = model.requests();
        assert_eq!(requests.len(), 3);
        let (last, body) = (requests.last().unwrap(), requests.last().unwrap().find('{').unwrap());
        let last: serde_json::Value = serde_json::from_str(&last[body..]).unwrap();
        assert!(last["tools"].is_array(), "{last}");
        let choice = last["tool_choice"].as_str().or(last["tool_choice"]["type"].as_str());
        assert_eq!(choice, Some("none"), "{last}");
    }
}

#[tokio::test]
async fn a_spent_budget_ends_every_run_that_shares_it() {
    let model = ScriptedModel::start(|_| Move::call("echo", &json!({})));
    let (client, tools) = (client(&model, Api::OpenAiChat), SlowEcho::taking(Duration::ZERO));
    let budget = Budget::new(SpendingLimit { tokens: Some(150), cost: None });
    for (answers, spent) in [(3, 300), (2, 500)] {
        let driver = Driver::new(&client, &tools).with_budget(budget.clone());
        let run = driver.drive(asking("Go."), RunLimits::default()).await.unwrap();
        assert_eq!(run.end_state(), Some(&RunEnd::Short { of: Shortage::Tokens }));
        assert_eq!((run.answers(), budget.spent().tokens), (answers, spent));
    }
}

#[tokio::test]
async fn a_run_whose_time_is_over_is_asked_once_more() {
    let model = ScriptedModel::start(|prompt| match prompt.told().len() {
        0 => Move::call("echo", &json!({})),
        _ => Move::say("what I know"),
    });
    let (client, tools) =
        (client(&model, Api::Anthropic), SlowEcho::taking(Duration::from_millis(300)));
    let limits = RunLimits { run: Duration::from_millis(100), ..RunLimits::default() };
    let run = Driver::new(&client, &tools).drive(asking("Go."), limits).await.unwrap();
    assert_eq!(run.end_state(), Some(&RunEnd::Short { of: Shortage::Time }));
    assert_eq!(run.answer().as_deref(), Some("what I know"));
}

#[tokio::test]
async fn cancelling_ends_a_run_while_it_asks_and_while_it_calls() {
    for hangs in [true, false] {
        let model =
            ScriptedModel::start(
                move |_| {
                    if hangs { Move::Hang } else { Move::call("echo", &json!({})) }
                },
            );
        let (client, tools) =
            (client(&model, Api::OpenAiChat), SlowEcho::taking(Duration::from_mins(5)));
        let cancel = CancellationToken::new();
        let driver = Driver::new(&client, &tools).with_cancellation(cancel.clone());
        let (run, ()) = tokio::join!(driver.drive(asking("Go."), RunLimits::default()), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            cancel.cancel();
        });
        assert_eq!(run.unwrap().end_state(), Some(&RunEnd::Cancelled));
        assert_eq!(tools.made.load(Ordering::Relaxed), 0);
    }
}

#[tokio::test]
async fn a_model_that_hangs_or_refuses_ends_the_run_in_words() {
    let model = ScriptedModel::start(|_| Move::Hang);
    let (hanging, tools) = (client(&model, Api::OpenAiChat), SlowEcho::taking(Duration::ZERO));
    let limits = RunLimits { turn: Duration::from_millis(200), ..RunLimits::default() };
    let run = Driver::new(&hanging, &tools).drive(asking("Go."), limits).await.unwrap();
    let Some(RunEnd::Failed { reason, is_final: false }) = run.end_state() else {
        panic!("{:?}", run.end_state())
    };
    assert!(!reason.is_empty());
    let model = ScriptedModel::start(|_| Move::Fail("401 Unauthorized", "", "{}"));
    let refusing = client(&model, Api::OpenAiChat);
    let run = Driver::new(&refusing, &tools).drive(asking("Go."), RunLimits::default()).await;
    assert!(matches!(run.unwrap().end_state(), Some(RunEnd::Failed { is_final: true, .. })));
}

/// What a watcher saw, in words.
#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl RunWatcher for Seen {
    fn on_delta(&self, delta: &Delta) {
        if let Delta::Text(text) = delta {
            self.0.lock().unwrap().push(text.clone());
        }
    }

    fn on_call(&self, call: usize, request: &ToolCall) {
        self.0.lock().unwrap().push(format!("call {call} {}", request.name));
    }

    fn on_event(&self, event: &AgentEvent) {
        let what = match event {
            AgentEvent::Answered { .. } => "answered",
            AgentEvent::Returned { .. } => "returned",
            _ => "other",
        };
        self.0.lock().unwrap().push(what.to_owned());
    }
}

#[tokio::test]
async fn a_watcher_sees_each_piece_call_and_event_in_order() {
    let model = ScriptedModel::start(|prompt| match prompt.told().len() {
        0 => Move::call("echo", &json!({})),
        _ => Move::Turn(ModelTurn {
            text: "abcd".to_owned(),
            piece_chars: 2,
            ..ModelTurn::default()
        }),
    });
    let (client, tools) = (client(&model, Api::OpenAiChat), SlowEcho::taking(Duration::ZERO));
    let seen = Seen::default();
    let driver = Driver::new(&client, &tools).with_watcher(&seen);
    driver.drive(asking("Go."), RunLimits::default()).await.unwrap();
    let seen = seen.0.into_inner().unwrap();
    assert_eq!(seen, ["answered", "call 0 echo", "returned", "ab", "cd", "answered"]);
}
