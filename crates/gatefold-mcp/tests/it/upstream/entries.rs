//! What servers offer besides tools.

use std::time::Duration;

use gatefold_catalog::EntryDefinition;
use gatefold_core::{
    CallError, Completion, Operation, Outcome, PromptName, Reference, TaskAct, TaskRequest, Uri,
};
use gatefold_dispatch::{Caller, Event, QuestionMode, RequestMeta, SourceState};
use gatefold_testkit::wait_until;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::asking::{AskedClient, ReferenceUpstream, raw, trials_honestly};
use super::support::{Era, LONG, Upstream, Wire, trial, trials_each_way};
use super::world::{World, listening, tool_call};

pub(crate) fn trials() -> Vec<Trial> {
    let each_way = [
        trials_honestly("prompts_are_listed_and_given", prompts),
        trials_honestly("resources_and_templates_are_listed_and_read", resources),
        trials_honestly("arguments_are_completed", completion),
        trials_honestly("a_new_prompt_or_resource_is_taken_up", growth),
        trials_honestly("a_log_reaches_its_call_no_finer_than_asked", log),
        trials_each_way("an_error_keeps_its_data", data),
        trials_each_way("what_a_server_does_not_declare_is_not_asked_for", undeclared),
    ];
    let mut trials: Vec<_> = each_way.into_iter().flatten().collect();
    for wire in [Wire::Stdio, Wire::Http] {
        let way = format!("{wire:?}").to_lowercase();
        trials.push(trial(format!("a_call_may_become_a_task::{way}"), move || task(wire)));
    }
    trials.push(trial("a_session_that_gave_out_a_task_is_not_stopped", task_keeps));
    trials.push(trial("capabilities_are_kept_as_the_server_wrote_them", capabilities));
    trials
}

async fn connected(wire: Wire, era: Era) -> (ReferenceUpstream, World) {
    let server = ReferenceUpstream::new(wire, era).await;
    let world = World::connected(&server.settings).await;
    (server, world)
}

pub(crate) fn prompt(name: &str, arguments: &str) -> Operation {
    Operation::Prompt { name: PromptName::new(name), arguments: raw(arguments) }
}

async fn prompts(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let manifest = world.keeper.last();
    let names: Vec<_> = manifest.prompts().iter().map(EntryDefinition::name).collect();
    assert!(names.contains(&"test_simple_prompt"), "{names:?}");
    let asked = prompt("up__test_prompt_with_arguments", r#"{"arg1":"a","arg2":"\u00e9"}"#);
    let given = world.done(asked, Caller::silent()).await;
    let text = &given["messages"][0]["content"]["text"];
    assert_eq!(text, "Prompt with arguments: arg1='a', arg2='\u{e9}'");
    let given = world.done(prompt("up__test_simple_prompt", "null"), Caller::silent()).await;
    assert_eq!(given["messages"][0]["role"], "user");
    let asked = prompt("up__test_prompt_with_arguments", "{}");
    let refused = world.operate(asked, None, Caller::silent()).await;
    assert!(matches!(refused, Err(CallError::Refused { code: -32602, .. })), "{refused:?}");
}

fn resource(uri: &str) -> Operation {
    Operation::Resource(Uri::new(uri))
}

async fn resources(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    let manifest = world.keeper.last();
    let keys: Vec<_> = manifest.resources().iter().map(EntryDefinition::key).collect();
    assert!(keys.contains(&"test://static-text"), "{keys:?}");
    assert_eq!(manifest.templates()[0].key(), "test://template/{id}/data");
    let read = world.done(resource("gatefold://up/test://static-text"), Caller::silent()).await;
    let contents = &read["contents"][0];
    assert_eq!(contents["uri"], "test://static-text", "as the server calls it");
    assert_eq!(contents["text"], "This is the content of the static text resource.");
    let read = resource("gatefold://up/test://template/7/data");
    let read = world.done(read, Caller::silent()).await;
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("Data for ID: 7"), "{read}");
    let missing = resource("gatefold://up/test://nowhere");
    let missing = world.operate(missing, None, Caller::silent()).await;
    assert!(matches!(missing, Err(CallError::MissingResource { .. })), "{missing:?}");
}

async fn completion(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    for reference in [
        Reference::Prompt(PromptName::new("up__test_prompt_with_arguments")),
        Reference::Resource(Uri::new("gatefold://up/test://template/{id}/data")),
    ] {
        let params = raw(r#"{"argument":{"name":"arg1","value":"par"}}"#);
        let completion = Operation::Complete(Completion { reference, params });
        let completed = world.done(completion, Caller::silent()).await;
        assert_eq!(completed["completion"]["values"], json!(["paris", "park", "party"]));
    }
}

async fn growth(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    // In the stateless era the server is listened to, which takes a moment to begin.
    let grown = async {
        loop {
            world.call("up__matrix_grow", "{}").await.unwrap();
            let has_grown = || {
                let manifest = world.keeper.last();
                let mut prompts = manifest.prompts().iter();
                let mut resources = manifest.resources().iter();
                prompts.any(|prompt| prompt.name().starts_with("matrix_grown_prompt_"))
                    && resources.any(|resource| resource.key() == "matrix://grown/1")
            };
            if wait_until(LONG / 10, has_grown).await {
                return;
            }
        }
    };
    tokio::time::timeout(LONG, grown).await.expect("the new entries are taken up");
}

async fn log(wire: Wire, era: Era) {
    let (_server, world) = connected(wire, era).await;
    for (level, least) in [("error", 4), ("debug", 0), ("critical", 5)] {
        let (caller, mut events) = listening();
        let meta = RequestMeta { log_level: Some(level.to_owned()), ..RequestMeta::default() };
        let caller = Caller { meta: meta.into(), ..caller };
        world.done(tool_call("up__matrix_log", "{}"), caller).await;
        let mut heard = Vec::new();
        while let Ok(event) = events.try_recv() {
            let Event::Log(said) = event else { panic!("{event:?}") };
            let said: Value = serde_json::from_str(said.get()).unwrap();
            heard.push(said["level"].as_str().unwrap().to_owned());
        }
        let levels =
            ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
        assert_eq!(heard, levels[least..], "at {level}");
    }
}

async fn data(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let world = World::connected(&upstream.settings).await;
    let error = world.call("up__protocol_error", r#"{"code":-32000,"message":"m"}"#).await;
    let Err(CallError::Refused { data: Some(data), .. }) = error else { panic!("{error:?}") };
    assert_eq!(data.get(), r#"{"why":"asked","big":9007199254740993}"#);
}

async fn undeclared(wire: Wire, era: Era) {
    let upstream = Upstream::new("up", wire, era, &[]);
    let world = World::connected(&upstream.settings).await;
    assert!(world.keeper.last().prompts().is_empty());
    assert_eq!((upstream.count("tools/list") > 0, upstream.count("prompts/list")), (true, 0));
    assert_eq!(upstream.count("resources/list") + upstream.count("resources/templates/list"), 0);
}

async fn capabilities() {
    let upstream = Upstream::new("up", Wire::Stdio, Era::Handshake, &[]);
    let world = World::connected(&upstream.settings).await;
    let manifest = world.keeper.last();
    let kept = manifest.server().unwrap().capabilities.clone();
    assert_eq!(kept.as_deref(), Some(r#"{"tools":{"listChanged":true}}"#));
}

const WITH_TASKS: &str = r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

async fn task_keeps() {
    let mut server = ReferenceUpstream::new(Wire::Stdio, Era::Stateless).await;
    server.settings.idle_stop = Duration::from_millis(100);
    let world = World::connected(&server.settings).await;
    let client =
        AskedClient::new(WITH_TASKS, QuestionMode::Live, |_| panic!("it was asked at once"));
    let call = tool_call("up__slow_compute", r#"{"seconds":60}"#);
    let begun = world.operate(call, None, client.caller()).await;
    assert!(matches!(begun, Ok(Outcome::Task(_))), "{begun:?}");
    let stopped = || world.state("up") == SourceState::Idle;
    assert!(!wait_until(Duration::from_secs(1), stopped).await);
    world.dispatcher.close().await;
}

async fn task(wire: Wire) {
    let (_server, world) = connected(wire, Era::Stateless).await;
    let client =
        AskedClient::new(WITH_TASKS, QuestionMode::Live, |_| panic!("it was asked at once"));
    let make = async |operation: Operation| world.operate(operation, None, client.caller()).await;
    let begun = make(tool_call("up__confirm_delete", r#"{"filename":"notes"}"#)).await;
    let Ok(Outcome::Task(begun)) = begun else { panic!("{begun:?}") };
    let about = |act| Operation::Task(TaskRequest { task: begun.id.clone(), act });
    let state = async || {
        let Ok(Outcome::Task(task)) = make(about(TaskAct::Get)).await else { panic!("no task") };
        assert_eq!(task.id, begun.id, "its id stays the same");
        serde_json::from_str::<Value>(task.json.get()).unwrap()
    };
    let reaches = async |wanted: &str| {
        let reached = async {
            loop {
                let state = state().await;
                if state["status"] == wanted {
                    return state;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LONG, reached).await.expect("the task goes on")
    };
    let asked = reaches("input_required").await;
    let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({key: {"action": "accept", "content": {"confirm": true}}});
    let updated = make(about(TaskAct::Update(raw(&answer.to_string())))).await;
    assert!(matches!(updated, Ok(Outcome::Done(_))), "{updated:?}");
    let ended = reaches("completed").await;
    assert!(ended["result"]["content"][0]["text"].is_string(), "{ended}");

    let begun = make(tool_call("up__slow_compute", r#"{"seconds":60}"#)).await;
    let Ok(Outcome::Task(begun)) = begun else { panic!("{begun:?}") };
    let cancel = TaskRequest { task: begun.id.clone(), act: TaskAct::Cancel };
    let cancelled = make(Operation::Task(cancel)).await;
    assert!(matches!(cancelled, Ok(Outcome::Done(_))), "{cancelled:?}");
    let get = TaskRequest { task: begun.id, act: TaskAct::Get };
    let Ok(Outcome::Task(task)) = make(Operation::Task(get)).await else { panic!("no task") };
    assert!(task.json.get().contains("cancelled"), "{}", task.json);
}
