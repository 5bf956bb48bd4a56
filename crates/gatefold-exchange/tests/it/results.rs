//! Results that are too large: the model is given a preview and reads on by its handle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{BoxError, Digest, Domain, ManualClock, Timestamp};
use gatefold_dispatch::{
    DataOwner, Manifests, NewResult, ResultHandle, Source, StatelessAdapter, StatelessSettings,
    StoredResult, StoredResults,
};
use gatefold_exchange::{
    Exchange, LearningPorts, READ_TASK, ResultFormat, ResultKeeper, ResultLimits, ResultSource,
    Scope, ToolAnswer, read_result_id,
};
use gatefold_results::TokenBudget;
use gatefold_worker::{Task, WorkerPool, WorkerProgram, WorkerSettings};
use serde_json::{Value, json};

use crate::turns::{call, standard, turn};
use crate::world::{START, World};

const LASTS: Duration = Duration::from_hours(1);

/// Keeps results in memory. Handles are numbers.
#[derive(Default)]
struct MemoryResults(Mutex<HashMap<String, NewResult>>);

impl StoredResults for MemoryResults {
    fn keep(&self, result: NewResult) -> BoxFuture<'_, Result<ResultHandle, BoxError>> {
        let mut kept = self.0.lock().unwrap();
        let handle = format!("handle{}", kept.len() + 1);
        kept.insert(handle.clone(), result);
        std::future::ready(Ok(ResultHandle::new(handle))).boxed()
    }

    fn find<'a>(
        &'a self,
        owner: DataOwner,
        handle: &'a ResultHandle,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, BoxError>> {
        let kept = self.0.lock().unwrap();
        let found = kept.get(handle.as_str());
        let found = found.filter(|result| result.owner == owner && result.expires_at > now);
        let stored = found.map(|result| StoredResult {
            tool: result.tool.clone(),
            text: result.text.clone(),
            expires_at: result.expires_at,
        });
        std::future::ready(Ok(stored)).boxed()
    }
}

/// Not a test: what [`workers`] starts.
#[test]
fn serves() {
    const TASKS: &[Task] = &[READ_TASK];
    gatefold_worker::run_if_asked(TASKS);
}

fn workers() -> WorkerPool {
    let program = WorkerProgram::this().unwrap().argument("results::serves").argument("--exact");
    WorkerPool::new(WorkerSettings { workers: 4, ..WorkerSettings::new(Some(program)) })
}

struct NoManifests;

impl Manifests for NoManifests {
    fn keep(&self, _: Domain, _: Digest, _: Arc<Manifest>) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

struct Kept {
    exchange: Arc<Exchange>,
    port: Arc<MemoryResults>,
    clock: Arc<ManualClock>,
}

fn kept() -> Kept {
    kept_as(ResultFormat::Json)
}

fn kept_as(format: ResultFormat) -> Kept {
    kept_with(format, workers())
}

fn kept_with(format: ResultFormat, workers: WorkerPool) -> Kept {
    let (port, clock) = (Arc::<MemoryResults>::default(), Arc::new(ManualClock::at(START)));
    let domain = Domain::from_key(ResultSource::DOMAIN);
    let limits = ResultLimits {
        preview: TokenBudget::new(1000),
        expiry: LASTS,
        kept_each: 10,
        format,
        reader: read_result_id(&domain),
    };
    let keeper = ResultKeeper::new(port.clone(), clock.clone(), limits, workers);
    let settings = StatelessSettings {
        domain,
        config_digest: Digest::new([0; 32]),
        describe_deadline: Duration::from_secs(5),
        known: Some(Arc::new(ResultSource::manifest(START))),
    };
    let source = Arc::new(ResultSource::new(keeper.clone()));
    let source: Arc<dyn Source> =
        StatelessAdapter::new(source, settings, Arc::new(NoManifests), clock.clone());
    let world = World::new().and(vec![source]);
    let exchange =
        Exchange::keeping(keeper, LearningPorts::default(), world.dispatcher, standard());
    Kept { exchange, port, clock }
}

/// The texts of an answer.
async fn texts(
    kept: &Kept,
    user: &str,
    disclosure: &str,
    tool: &str,
    arguments: &Value,
) -> Vec<String> {
    let turn = turn(&kept.exchange, user, disclosure);
    let blocks = match call(&turn, tool, &arguments.to_string()).await.unwrap() {
        ToolAnswer::Reply(reply) => {
            let blocks = reply.content.iter().map(|block| serde_json::from_str(block.get()));
            blocks.collect::<Result<Vec<Value>, _>>().unwrap()
        }
        ToolAnswer::Result(payload) => {
            let result: Value = serde_json::from_str(payload.json.get()).unwrap();
            result["content"].as_array().unwrap().clone()
        }
        other => panic!("not an answer: {other:?}"),
    };
    blocks.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect()
}

async fn execute(kept: &Kept, user: &str, tool: &str, arguments: &Value) -> Vec<String> {
    let arguments = json!({ "tool_name": tool, "arguments": arguments });
    texts(kept, user, "gateway", "execute_tool", &arguments).await
}

/// Arguments that `echo` makes a large result of.
fn large() -> Value {
    let item = |number| json!({ "number": number, "title": format!("issue {number}") });
    json!({ "items": (0..2000).map(item).collect::<Vec<_>>() })
}

#[tokio::test]
async fn a_large_result_is_shown_in_part_and_read_on_by_its_handle() {
    let kept = kept();
    let told = execute(&kept, "ann", "up__echo", &large()).await;
    let envelope: Value = serde_json::from_str(&told[0]).unwrap();
    assert_eq!(envelope["tool"], "up__echo");
    let summary = &envelope["result"];
    assert_eq!(
        (&summary["handle"], &summary["read_with"]),
        (&json!("handle1"), &json!("results__read_result"))
    );
    assert_eq!(summary["bytes"], large().to_string().len());
    assert!(told[1].contains("issue 0") && told[1].contains("handle1"), "{}", told[1]);
    assert!(gatefold_catalog::token_bound(&told[1]) <= 1000);
    let reading = json!({ "handle": "handle1", "path": ".items[1500].title" });
    let told = execute(&kept, "ann", "results__read_result", &reading).await;
    assert!(told[1].contains("issue 1500"), "{told:?}");
}

#[tokio::test]
async fn all_of_a_result_is_there_page_by_page() {
    let kept = kept();
    execute(&kept, "ann", "up__echo", &large()).await;
    let (mut whole, mut next) = (String::new(), json!({ "handle": "handle1" }));
    while !next.is_null() {
        let told = execute(&kept, "ann", "results__read_result", &next).await;
        let envelope: Value = serde_json::from_str(&told[0]).unwrap();
        whole.push_str(told[1].split_once('\n').unwrap().1);
        next = envelope["result"]["next"].clone();
    }
    assert_eq!(whole, large().to_string());
}

#[tokio::test]
async fn a_handle_of_somebody_else_an_expired_and_a_wrong_one_read_alike() {
    let kept = kept();
    execute(&kept, "ann", "up__echo", &large()).await;
    let read = async |user: &str, handle: &str| {
        let told = execute(&kept, user, "results__read_result", &json!({ "handle": handle })).await;
        told[0].replace(handle, "HANDLE")
    };
    let mine = read("ann", "handle1").await;
    let (theirs, wrong) = (read("bob", "handle1").await, read("ann", "nothing").await);
    kept.clock.advance(LASTS);
    let expired = read("ann", "handle1").await;
    assert!(wrong.contains("there is no such result"), "{wrong}");
    assert_eq!((&theirs, &expired), (&wrong, &wrong));
    assert_ne!(mine, wrong);
}

#[tokio::test]
async fn a_result_that_fits_is_given_whole_and_kept_nowhere() {
    let kept = kept();
    let told = execute(&kept, "ann", "up__echo", &json!({ "n": 1.5 })).await;
    assert_eq!(told, [r#"{"tool":"up__echo","result":{"n":1.5}}"#]);
    assert!(kept.port.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_tool_at_the_top_level_has_its_preview_too() {
    let kept = kept();
    let told = texts(&kept, "ann", "flat", "up__echo", &large()).await;
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("handle1"), "{}", told[0]);
    let reading = json!({ "handle": "handle1", "grep": "issue 1999" });
    let told = texts(&kept, "ann", "flat", "results__read_result", &reading).await;
    assert!(told[1].contains("issue 1999"), "{told:?}");
}

#[tokio::test]
async fn a_client_of_one_source_is_given_all_of_it() {
    let kept = kept();
    let scope = Scope::Source(Domain::parse("up").unwrap());
    let audience = kept.exchange.audience(scope, None).unwrap();
    let ann = Arc::new(gatefold_core::Principal::user(gatefold_core::UserId::new("ann")));
    let turn = kept.exchange.turn(&audience, ann).unwrap();
    let answer = call(&turn, "echo", &large().to_string()).await.unwrap();
    let ToolAnswer::Result(payload) = answer else { panic!("not a result: {answer:?}") };
    assert!(payload.json.get().contains("issue 1999"));
    assert!(kept.port.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_compact_result_has_a_header_and_rows() {
    let kept = kept_as(ResultFormat::Compact);
    let item = |number: u32| json!({ "number": number, "title": format!("issue {number}"), "state": "open" });
    let items: Vec<_> = (0..5).map(item).collect();
    let told = execute(&kept, "ann", "up__echo", &json!({ "items": items })).await;
    assert_eq!(
        told,
        [concat!(
            r#"{"tool":"up__echo","result":{"items":{"columns":["number","title","state"],"rows":"#,
            r#"[[0,"issue 0","open"],[1,"issue 1","open"],[2,"issue 2","open"],"#,
            r#"[3,"issue 3","open"],[4,"issue 4","open"]]}}}"#
        )]
    );
    let flat = texts(&kept, "ann", "flat", "up__echo", &json!({ "items": items })).await;
    assert!(flat[0].contains(r#"{"number":0,"title":"issue 0","state":"open"}"#), "{flat:?}");
}

/// What a program over a kept result gives, for somebody who kept one.
async fn programmed(kept: &Kept, user: &str, name: &str, program: &str) -> String {
    let envelope = execute(kept, user, "up__echo", &large()).await;
    let envelope: Value = serde_json::from_str(&envelope[0]).unwrap();
    let handle = envelope["result"]["handle"].as_str().unwrap();
    let arguments = json!({ "handle": handle, (name): program });
    execute(kept, user, "results__read_result", &arguments).await.join("\n")
}

#[tokio::test]
async fn what_a_program_takes_is_bounded_and_stops_nobody_else() {
    let kept = kept();
    // Values that share their parts are cheap to make and exponential to write, compare and merge.
    let grown = "reduce range(60) as $i ({}; {a: ., b: .})";
    let (text, equal) = (format!("{grown} | tojson"), format!("{grown} | . == ({grown})"));
    let (merged, sorted) = (format!("{grown} | . * ."), format!("[{grown}, ({grown})] | sort"));
    let quoted = format!("{grown} | error");
    let product = "WITH n(x) AS (VALUES (1),(2),(3),(4),(5),(6),(7),(8)) \
                   SELECT json_group_array(a.x || hex(zeroblob(0)) || printf('%.1000c', 'x')) \
                   FROM n a, n b, n c, n d, n e, n f, n g, n h";
    let doubled: Vec<_> = (1..28)
        .map(|n| format!("a{n} as (select * from a{0} union all select * from a{0})", n - 1))
        .collect();
    let doubled =
        format!("with a0 as (select 1 x), {} select count(*) from a27", doubled.join(", "));
    let programs = [
        ("jq", grown),
        ("jq", &text),
        ("jq", &equal),
        ("jq", &merged),
        ("jq", &sorted),
        ("jq", &quoted),
        ("jq", "[range(1e18)] | length"),
        ("jq", "0 | until(false; . + 1)"),
        ("jq", "def f: f; f"),
        ("jq", "def f: 1 + f; f"),
        ("jq", "import \"x\" as $x; $x"),
        ("jq", "reduce range(1e9) as $i (99999999999999999999; . * .)"),
        ("sql", "SELECT instr(printf('%.60000c', 'a'), 'b') FROM result a, result b, result c"),
        ("sql", product),
        ("sql", &doubled),
    ];
    let asked = programs.iter().enumerate().map(|(at, (name, program))| {
        let kept = &kept;
        async move { programmed(kept, &format!("user{at}"), name, program).await }
    });
    let begun = std::time::Instant::now();
    for (answer, program) in futures::future::join_all(asked).await.iter().zip(programs) {
        // A fast machine comes to the bound on an answer before its time is over.
        let is_stopped =
            ["was stopped", "broke off", "no free place", "malformed", "gives more than"];
        assert!(is_stopped.iter().any(|words| answer.contains(words)), "{program:?}: {answer}");
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let after = programmed(&kept, "ann", "jq", ".items | length").await;
    assert!(after.ends_with("2000\n"), "{after}");
}

#[tokio::test]
async fn without_a_worker_a_program_is_refused_in_words() {
    let kept = kept_with(ResultFormat::Json, WorkerPool::absent());
    let answer = programmed(&kept, "ann", "jq", ".items | length").await;
    let words = "the jq program cannot be run here: read a part of the result with `path`, `lines` or `chars`";
    assert!(answer.contains(words), "{answer}");
    assert!(programmed(&kept, "ann", "path", ".items[3].number").await.contains('3'));
}
