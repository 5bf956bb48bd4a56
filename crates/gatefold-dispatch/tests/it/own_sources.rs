//! A source of our own that tells, asks, is cancelled and goes on as a task.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, join};
use gatefold_catalog::{Manifest, ManifestBuilder, ToolSpec};
use gatefold_core::{
    BoxError, CallError, Digest, Domain, Operation, Outcome, Payload, Principal, TaskAct,
    TaskHandle, TaskRequest, Timestamp,
};
use gatefold_dispatch::{
    AdmittedCall, CallContext, Caller, Event, EventSink, Manifests, Question, StatelessAdapter,
    StatelessSettings, StatelessSource,
};
use gatefold_policy::Effect;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::sleep;

use crate::clients::{ClientReaction, FORMS, live};
use crate::source::raw;
use crate::stateless::setup;
use crate::world::{SECOND, World, ann, bob, done, refused, retrying, rule, suspended, until};

/// The capabilities of a client that answers forms and follows tasks.
const TASKS: &str = r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

const YES: &str = r#"{"action":"accept","content":{"name":"Ada"}}"#;

/// Asks for a name in each call. The call of `long` is one that goes on as a task, and waits in the
/// end until it is told to go on.
#[derive(Default)]
struct Butler {
    running: watch::Sender<usize>,
    goes_on: Notify,
}

/// Counts a call until it ends, however it ends.
struct Running<'a>(&'a Butler);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.send_modify(|running| *running -= 1);
    }
}

impl Butler {
    async fn serve(&self, tool: &str, context: CallContext) -> Result<Payload, CallError> {
        self.running.send_modify(|running| *running += 1);
        let _running = Running(self);
        context.progress(1, Some(2), "asking for a name");
        let question =
            Question { method: "elicitation/create".to_owned(), params: raw(r#"{"message":"?"}"#) };
        let answer = context.ask(question).await;
        let answer = answer.map_or_else(|error| error.to_string(), |answer| answer.0.to_string());
        context.progress(2, Some(2), "laying the table");
        if tool == "long" {
            self.goes_on.notified().await;
        }
        if tool == "big" {
            return Ok(Payload::text(&"x".repeat(2_000_000)));
        }
        Ok(Payload::text(&answer))
    }
}

impl StatelessSource for Butler {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        let tools = ["ask", "long", "big"].map(ToolSpec::new);
        let manifest = Manifest::builder(Timestamp::from_millis(0));
        let manifest = tools.into_iter().fold(manifest, ManifestBuilder::tool).build();
        std::future::ready(Ok(manifest)).boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        async move { self.serve(&call.target().name, context).await }.boxed()
    }

    fn runs_as_task(&self, tool: &str, _: &RawValue) -> bool {
        tool != "ask"
    }
}

struct Forgetful;

impl Manifests for Forgetful {
    fn keep(&self, _: Domain, _: Digest, _: Arc<Manifest>) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

async fn household() -> (World, Arc<Butler>) {
    let (world, butler) = (World::new(&[]), Arc::<Butler>::default());
    install(&world, &butler, Vec::new()).await;
    (world, butler)
}

async fn install(world: &World, butler: &Arc<Butler>, rules: Vec<gatefold_policy::Rule>) {
    let settings = StatelessSettings {
        domain: Domain::parse("butler").unwrap(),
        config_digest: Digest::new([1; 32]),
        describe_deadline: SECOND,
        known: None,
    };
    let clock = world.clock.clone();
    let adapter = StatelessAdapter::new(butler.clone(), settings, Arc::new(Forgetful), clock);
    world.dispatcher.install(setup(adapter, rules));
    world.dispatcher.refresh().await;
}

/// What a caller hears of the progress of a call, in its source's words.
fn heard(events: &mut mpsc::Receiver<Event>) -> Vec<String> {
    let mut messages = Vec::new();
    while let Ok(Event::Progress(text)) = events.try_recv() {
        let progress: Value = serde_json::from_str(text.get()).unwrap();
        messages.push(progress["message"].as_str().unwrap().to_owned());
    }
    messages
}

fn text_of(payload: &Value) -> &str {
    payload["content"][0]["text"].as_str().unwrap()
}

fn text(result: Result<Outcome, CallError>) -> String {
    text_of(&serde_json::from_str(&done(result)).unwrap()).to_owned()
}

#[tokio::test(start_paused = true)]
async fn it_tells_and_asks_a_client_with_a_session() {
    let (world, _) = household().await;
    let (caller, client) = live(FORMS, ClientReaction::Late(100 * SECOND, YES));
    let (sender, mut events) = mpsc::channel(8);
    let caller = Caller { events: EventSink::new(sender), ..caller };
    let result = world.call_by(&ann(), "butler__ask", "{}", caller).await;
    assert_eq!(text(result), YES, "a person's time is not the call's");
    assert_eq!(client.asked(), [r#"elicitation/create {"message":"?"}"#]);
    assert_eq!(heard(&mut events), ["asking for a name", "laying the table"]);
    assert_eq!(world.log.ended(), ["done"]);
}

#[tokio::test(start_paused = true)]
async fn it_asks_a_client_that_answers_by_a_second_request() {
    let (world, butler) = household().await;
    let state = {
        let result = world.call_by(&ann(), "butler__ask", "{}", retrying(FORMS)).await;
        suspended(result).state.unwrap()
    };
    assert_eq!((world.dispatcher.parked(), *butler.running.borrow()), (1, 1));
    let (sender, mut events) = mpsc::channel(8);
    let caller = Caller { events: EventSink::new(sender), ..retrying(FORMS) };
    let answers = format!(r#"{{"question-1":{YES}}}"#);
    let resume = (&*state, &*answers);
    assert_eq!(text(world.answer(&ann(), "butler__ask", "{}", resume, caller).await), YES);
    assert_eq!(heard(&mut events), ["laying the table"]);
    assert_eq!(world.log.ended(), ["suspended", "done"]);
    assert_eq!((world.dispatcher.parked(), *butler.running.borrow()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn it_is_cancelled_while_it_waits() {
    let (world, butler) = household().await;
    let (caller, _) = live(FORMS, ClientReaction::Nothing);
    let cancel = caller.cancel.clone();
    let (result, ()) = join(world.call_by(&ann(), "butler__ask", "{}", caller), async {
        sleep(SECOND).await;
        assert_eq!(*butler.running.borrow(), 1);
        cancel.cancel();
    })
    .await;
    assert!(matches!(result, Err(CallError::Cancelled)));
    until("the end of the call", || *butler.running.borrow() == 0).await;

    suspended(world.call_by(&ann(), "butler__ask", "{}", retrying(FORMS)).await);
    assert_eq!(*butler.running.borrow(), 1);
    sleep(world.limits.suspension + SECOND).await;
    until("the end of the parked call", || *butler.running.borrow() == 0).await;
}

async fn about(
    world: &World,
    who: &Principal,
    id: &str,
    act: TaskAct,
) -> Result<Outcome, CallError> {
    let operation = Operation::Task(TaskRequest { task: id.to_owned(), act });
    let pinned = world.dispatcher.pin(Arc::new(who.clone()));
    pinned.call(operation, None, retrying(TASKS)).await
}

fn task(result: Result<Outcome, CallError>) -> (TaskHandle, Value) {
    match result.expect("the call ends well") {
        Outcome::Task(task) => {
            let json = serde_json::from_str(task.json.get()).unwrap();
            (task, json)
        }
        other => panic!("no task: {other:?}"),
    }
}

async fn get(world: &World, id: &str) -> Value {
    task(about(world, &ann(), id, TaskAct::Get).await).1
}

async fn begin(world: &World, tool: &str) -> (String, Value) {
    let (handle, json) = task(world.call_by(&ann(), tool, "{}", retrying(TASKS)).await);
    (handle.id, json)
}

#[tokio::test(start_paused = true)]
async fn it_goes_on_as_a_task_which_asks_and_tells_and_keeps_its_result() {
    let (world, butler) = household().await;
    let (id, begun) = begin(&world, "butler__long").await;
    let lifetime = world.limits.call_deadline + world.limits.suspension;
    assert_eq!(
        begun,
        json!({
            "taskId": id, "status": "working", "ttlMs": u64::try_from(lifetime.as_millis()).unwrap(),
            "pollIntervalMs": 1000, "createdAt": "1970-01-01T00:16:40.000Z",
            "lastUpdatedAt": "1970-01-01T00:16:40.000Z",
        })
    );
    sleep(SECOND).await;
    let asks = get(&world, &id).await;
    assert_eq!(asks["status"], "input_required");
    let question = json!({"method": "elicitation/create", "params": {"message": "?"}});
    assert_eq!(asks["inputRequests"], json!({"question-1": question}));
    assert_eq!(get(&world, &id).await["status"], "input_required", "asking twice changes nothing");

    let answers = raw(&format!(r#"{{"question-1":{YES}}}"#));
    assert_eq!(done(about(&world, &ann(), &id, TaskAct::Update(answers)).await), "{}");
    sleep(SECOND).await;
    let works = get(&world, &id).await;
    assert_eq!(
        (&works["status"], &works["statusMessage"]),
        (&json!("working"), &json!("laying the table"))
    );
    butler.goes_on.notify_one();
    sleep(SECOND).await;
    for _ in 0..2 {
        let ended = get(&world, &id).await;
        assert_eq!((&ended["status"], text_of(&ended["result"])), (&json!("completed"), YES));
    }
    assert!(world.log.ended().iter().all(|ended| ended == "task" || ended == "done"));
    let operations: Vec<_> = world.log.records().iter().map(|own| own.opened.operation).collect();
    assert_eq!(operations[..2], ["tool", "task_get"]);
    assert_eq!(world.report("butler").calls_in_flight, 0);

    sleep(lifetime).await;
    let gone = refused(about(&world, &ann(), &id, TaskAct::Get).await);
    assert_eq!(gone, format!("unknown task `{id}`"));
}

#[tokio::test(start_paused = true)]
async fn a_task_is_its_owners_and_is_cancelled_by_a_request_or_with_its_time() {
    let (world, butler) = household().await;
    let (id, _) = begin(&world, "butler__long").await;
    until("the call", || *butler.running.borrow() == 1).await;
    let (other, _) = household().await;
    for (world, who) in [(&world, bob()), (&other, ann())] {
        for act in [TaskAct::Get, TaskAct::Update(raw("{}")), TaskAct::Cancel] {
            let error = refused(about(world, &who, &id, act).await);
            assert_eq!(error, format!("unknown task `{id}`"));
        }
    }
    assert_eq!(done(about(&world, &ann(), &id, TaskAct::Cancel).await), "{}");
    until("the end of the call", || *butler.running.borrow() == 0).await;
    assert_eq!(get(&world, &id).await["status"], "cancelled");

    let (id, _) = begin(&world, "butler__long").await;
    sleep(SECOND).await;
    get(&world, &id).await;
    let answers = raw(r#"{"question-1":1}"#);
    done(about(&world, &ann(), &id, TaskAct::Update(answers)).await);
    sleep(world.limits.call_deadline + SECOND).await;
    let late = get(&world, &id).await;
    assert_eq!((&late["status"], &late["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert_eq!(text_of(&late["result"]), "`butler__long` did not answer within 60 s");
    assert_eq!(*butler.running.borrow(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_task_has_the_bounds_and_the_rules_of_its_call() {
    let (world, butler) = household().await;
    let (id, _) = begin(&world, "butler__big").await;
    sleep(SECOND).await;
    get(&world, &id).await;
    done(about(&world, &ann(), &id, TaskAct::Update(raw(r#"{"question-1":1}"#))).await);
    sleep(SECOND).await;
    let big = get(&world, &id).await;
    assert!(text_of(&big["result"]).contains("more than the limit"), "{big}");

    let (id, _) = begin(&world, "butler__long").await;
    install(&world, &butler, vec![rule(Effect::Deny, "butler", "long")]).await;
    let hidden = refused(about(&world, &ann(), &id, TaskAct::Get).await);
    assert_eq!(hidden, format!("unknown task `{id}`"));
    world.dispatcher.end_parked(|principal| *principal == ann());
    until("the end of the task", || *butler.running.borrow() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_follows_no_tasks_waits_for_the_result() {
    let (world, butler) = household().await;
    butler.goes_on.notify_one();
    let (caller, _) = live(TASKS, ClientReaction::Answer(YES));
    assert_eq!(text(world.call_by(&ann(), "butler__long", "{}", caller).await), YES);
    suspended(world.call_by(&ann(), "butler__long", "{}", retrying(FORMS)).await);
    let all = gatefold_dispatch::call_limits::TASKS_EACH;
    for _ in 0..all {
        begin(&world, "butler__long").await;
    }
    suspended(world.call_by(&ann(), "butler__long", "{}", retrying(TASKS)).await);
}
