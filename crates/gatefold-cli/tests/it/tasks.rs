//! The same sixty tasks through every disclosure: each reaches the same tools, with the same results
//! and the same records.

mod chains;
mod client;
mod gateways;
mod leads;
mod mistakes;
mod plain;
mod seat;
mod task;
mod words;

use std::collections::HashMap;

use futures::{StreamExt as _, stream};
use gatefold_core::Digest;
use gatefold_dispatch::SealKey;
use gatefold_store::DigestKey;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use self::client::Client;
use self::gateways::TaskGateway;
use self::seat::Seat;
use self::task::{Mistake, Task, Wanted};

/// How many gateways run at once.
const GATEWAYS: usize = 2;

/// A way to show tools: the query of its address, what the configuration says, and a tool that tells
/// that it is shown.
struct Way {
    name: &'static str,
    query: &'static str,
    config: &'static str,
    shows: &'static str,
}

const fn way(
    name: &'static str,
    query: &'static str,
    config: &'static str,
    shows: &'static str,
) -> Way {
    Way { name, query, config, shows }
}

const MANY: &str = "[disclosure]\ncontext_tokens = 10_000\n";
const FEW: &str = "[disclosure]\ncontext_tokens = 1_000_000\n";
const SPLIT: &str = "[disclosure]\nsplit_execute = true\n";

const WAYS: [Way; 9] = [
    way("gateway", "disclosure=gateway", "", "execute_tool"),
    way("namespace", "disclosure=namespace", "", "issues__invoke_tool"),
    way("typed", "disclosure=typed", "", "connector"),
    way("intent", "disclosure=intent", "", "discover_tools"),
    way("flat", "disclosure=flat", "", "issues__get_issue"),
    way("auto with too many tools", "disclosure=auto", MANY, "execute_tool"),
    way("auto with few tools", "disclosure=auto", FEW, "issues__get_issue"),
    way("gateway with split execution", "disclosure=gateway", SPLIT, "execute_write"),
    way("flat for a request", "disclosure=flat&for=", "", "request_tools"),
];

/// What became of the tasks of one way, in their order.
struct Walk {
    way: &'static str,
    /// The result of each step, or what went wrong.
    results: Vec<Result<Vec<Value>, String>>,
    records: HashMap<String, Vec<Value>>,
}

fn tasks() -> Vec<Task> {
    [plain::tasks(), mistakes::tasks(), chains::tasks()].into_iter().flatten().collect()
}

/// The name by which the client of a task calls itself, so that its records can be told.
fn client_name(at: usize) -> String {
    format!("task-{at}")
}

async fn walk(way: &Way) -> Walk {
    let gateway = TaskGateway::start(way.config).await;
    let mut results = Vec::new();
    for (at, task) in tasks().iter().enumerate() {
        results.push(perform(&gateway, way, task, &client_name(at)).await);
    }
    Walk { way: way.name, results, records: gateway.records().await }
}

async fn perform(
    gateway: &TaskGateway,
    way: &Way,
    task: &Task,
    name: &str,
) -> Result<Vec<Value>, String> {
    let mut query = way.query.to_owned();
    if query.ends_with("for=") {
        let words = task.steps.iter().flat_map(|step| step.goal.words.split_whitespace());
        let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        query += &words.collect::<Vec<_>>().join("+");
    }
    let client = Client::connect(gateway.client(&query, name)).await?;
    client.listed(way.shows).ok_or_else(|| format!("`{}` is not listed", way.shows))?;
    pursue(&client, task).await
}

async fn pursue(client: &Client<'_>, task: &Task) -> Result<Vec<Value>, String> {
    let mut results = Vec::new();
    for step in &task.steps {
        let earlier = results.last().unwrap_or(&Value::Null);
        let result = client.pursue(&step.goal, task.mistake, earlier).await?;
        results.push(result);
    }
    Ok(results)
}

/// Does the tasks as the model of one chat.
async fn walk_in_chat() -> Walk {
    let seat = Seat::new();
    let gateway = TaskGateway::start(&seat.config()).await;
    seat.open(gateway.scratch());
    let (tasks, mut results) = (tasks(), Vec::new());
    for task in &tasks {
        let done = async {
            let client = Client::in_chat(&seat, task.steps[0].goal.words).await?;
            let pursued = pursue(&client, task).await;
            seat.end()?;
            pursued
        };
        results.push(done.await);
    }
    seat.leave();
    // One conversation has one name, so the calls that were made are dealt out in their order.
    let made = gateway.records().await.remove("gatefold-chat").unwrap_or_default();
    let mut made = made.into_iter().filter(|record| record["outcome"] == "done");
    let dealt = tasks.iter().enumerate();
    let dealt = dealt.map(|(at, task)| {
        (client_name(at), made.by_ref().take(task.steps.len()).collect::<Vec<_>>())
    });
    let mut records: HashMap<_, _> = dealt.collect();
    records.insert("left over".to_owned(), made.collect());
    Walk { way: "a chat", results, records }
}

/// What a model reads of results: their text.
fn read_by_model(results: &[Value]) -> Vec<Value> {
    let read = |result: &Value| json!({ "content": [{ "text": result["content"][0]["text"] }] });
    results.iter().map(read).collect()
}

#[test]
fn what_clients_are_told_holds_no_tool() {
    for task in tasks() {
        for step in task.steps {
            let meanings = step.goal.given.iter().map(|given| given.meaning);
            for told in meanings.chain([step.goal.words]) {
                assert!(!told.contains('_'), "{told}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_tasks_reach_the_same_tools_with_the_same_results_and_records_through_each() {
    let tasks = tasks();
    assert_eq!(tasks.len(), 60);
    let walks: Vec<_> = stream::iter(&WAYS).map(walk).buffered(GATEWAYS).collect().await;
    let mut faults = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        let goal = task.steps[0].goal.words;
        for walk in &walks {
            if let Err(fault) = judge(task, at, walk, &walks[0]) {
                faults.push(format!("{}, task {at}, {goal}: {fault}", walk.way));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_tasks_go_in_a_chat_as_they_go_over_mcp() {
    let typed = WAYS.iter().find(|way| way.name == "typed").unwrap();
    let (mut over_mcp, mut in_chat) = tokio::join!(walk(typed), walk_in_chat());
    for results in over_mcp.results.iter_mut().chain(&mut in_chat.results).flatten() {
        *results = read_by_model(results);
    }
    assert_eq!(in_chat.records["left over"], [] as [Value; 0]);
    let mut faults = Vec::new();
    for (at, task) in tasks().iter().enumerate() {
        if let Err(fault) = judge(task, at, &in_chat, &over_mcp) {
            faults.push(format!("task {at}, {}: {fault}", task.steps[0].goal.words));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Whether a task went as it should, and as it went in the first walk.
fn judge(task: &Task, at: usize, walk: &Walk, first: &Walk) -> Result<(), String> {
    let results = walk.results[at].as_ref().map_err(String::clone)?;
    let name = client_name(at);
    let records = walk.records.get(&name).map_or(&[][..], Vec::as_slice);
    let (done, failed): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| record["outcome"] == "done");
    if done.len() != task.steps.len() {
        return Err(format!("not one record for each call: {records:#?}"));
    }
    if task.mistake == Mistake::None && !failed.is_empty() {
        return Err(format!("calls failed: {failed:#?}"));
    }
    for (step, (record, result)) in task.steps.iter().zip(done.iter().zip(results)) {
        check_call(&step.wanted, record, result)?;
    }
    if let Ok(expected) = &first.results[at] {
        let (one, two) = (without_times(expected), without_times(results));
        same("results", &one, &two)?;
    }
    let expected = first.records.get(&name).into_iter().flatten();
    let expected: Vec<_> = expected.filter(|record| record["outcome"] == "done").collect();
    same("records", &json!(expected), &json!(done))
}

fn check_call(wanted: &Wanted, record: &Value, result: &Value) -> Result<(), String> {
    let arguments = wanted.arguments.to_string();
    let digest = Digest::new(Sha256::digest(&arguments).into());
    let digest = DigestKey::new(&SealKey::new(gateways::SEAL_KEY)).kept(&digest).to_string();
    if record["tool"] != wanted.tool || record["arguments_digest"] != digest {
        return Err(format!("the call is not {} {arguments}: {record}", wanted.tool));
    }
    let text = result["content"].to_string();
    if !text.contains(wanted.result) {
        return Err(format!("no `{}` in {text}", wanted.result));
    }
    Ok(())
}

fn same(what: &str, one: &Value, two: &Value) -> Result<(), String> {
    if one == two { Ok(()) } else { Err(format!("other {what}: {two}\ninstead of {one}")) }
}

/// Results without the moments at which something was created: each gateway has its own data, and
/// makes its calls at another time.
fn without_times(results: &[Value]) -> Value {
    fn clear(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if name.ends_with("_at") {
                        *member = Value::Null;
                    } else {
                        clear(member);
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(clear),
            _ => {}
        }
    }
    let mut results = json!(results);
    clear(&mut results);
    results
}
