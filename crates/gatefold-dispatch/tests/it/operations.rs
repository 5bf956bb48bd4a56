//! Operations other than tool calls: prompts, resources, completions, subscriptions and tasks.

use std::sync::Arc;

use gatefold_core::{
    CallError, Completion, EntryKind, Operation, Outcome, Principal, PromptName, Reference, Resume,
    TaskAct, TaskHandle, TaskRequest, Uri,
};
use gatefold_policy::{Effect, Entries, Rule};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::TryRecvError;

use crate::source::{FakeSource, QUESTIONS, raw};
use crate::world::{SECOND, World, ann, bob, done, operation, refused, retrying, rule, suspended};

const MAIL: &str = "gatefold://mail/file:///inbox";

fn mail() -> Arc<FakeSource> {
    FakeSource::with_entries("mail", &["greet", "wait"], &["file:///inbox", "file:///spam"])
}

async fn ask(world: &World, who: &Principal, operation: Operation) -> Result<Outcome, CallError> {
    let pinned = world.dispatcher.pin(Arc::new(who.clone()));
    pinned.call(operation, None, retrying(crate::clients::FORMS)).await
}

fn prompt(name: &str) -> Operation {
    Operation::Prompt { name: PromptName::new(name), arguments: raw(r#"{"a":1}"#) }
}

fn completion(reference: Reference) -> Operation {
    Operation::Complete(Completion { reference, params: raw(r#"{"argument":{}}"#) })
}

fn about(task: &str, act: TaskAct) -> Operation {
    Operation::Task(TaskRequest { task: task.to_owned(), act })
}

/// Makes an operation on an entry with this name.
type MakeOperation<'a> = &'a dyn Fn(&str) -> Operation;

fn only(kind: EntryKind, effect: Effect, pattern: &str) -> Rule {
    Rule { entries: Entries::Only(kind), ..rule(effect, "mail", pattern) }
}

#[tokio::test(start_paused = true)]
async fn every_operation_reaches_its_source_by_the_sources_own_name_and_is_on_record() {
    let template = || Reference::Resource(Uri::new("gatefold://mail/note:{id}"));
    for (operation, word, id, own, arguments) in [
        (prompt("mail__greet"), "prompt", "mail__greet", "greet", r#"{"a":1}"#),
        (prompt("greet"), "prompt", "mail__greet", "greet", r#"{"a":1}"#),
        (Operation::Resource(Uri::new(MAIL)), "resource", MAIL, "file:///inbox", "null"),
        (Operation::Resource(Uri::new("file:///inbox")), "resource", MAIL, "file:///inbox", "null"),
        (
            Operation::Resource(Uri::new("note:7")),
            "resource",
            "gatefold://mail/note:7",
            "note:7",
            "null",
        ),
        (Operation::Subscribe(Uri::new(MAIL)), "subscribe", MAIL, "file:///inbox", "null"),
        (Operation::Unsubscribe(Uri::new(MAIL)), "unsubscribe", MAIL, "file:///inbox", "null"),
        (
            completion(Reference::Prompt(PromptName::new("mail__greet"))),
            "completion",
            "mail__greet",
            "greet",
            r#"{"argument":{}}"#,
        ),
        (
            completion(template()),
            "completion",
            "gatefold://mail/note:{id}",
            "note:{id}",
            r#"{"argument":{}}"#,
        ),
    ] {
        let mail = mail();
        let world = World::new(&[&mail]);
        let subject = operation.subject().to_owned();
        assert_eq!(done(ask(&world, &ann(), operation).await), arguments, "{subject}");
        let seen = mail.seen().pop().unwrap();
        assert_eq!((seen.operation, seen.tool.as_str(), &*seen.name), (word, id, own));
        assert_eq!(seen.arguments, arguments);
        let record = world.log.last();
        assert_eq!((&*record.ended(), record.opened.operation), ("done", word));
        assert_eq!((record.opened.subject, record.opened.tool.unwrap().as_str()), (subject, id));
        assert_eq!(record.opened.domain.unwrap().as_str(), "mail");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hidden_entry_reads_like_one_that_does_not_exist() {
    let uri = |text: &str| Uri::new(text);
    let operations: [(_, MakeOperation<'_>, _, _); 7] = [
        ("prompt", &prompt, "mail__greet", "mail__gone"),
        ("prompt", &|name| completion(Reference::Prompt(PromptName::new(name))), "greet", "gone"),
        ("resource", &|text| Operation::Resource(uri(text)), MAIL, "gatefold://post/x"),
        ("resource", &|text| Operation::Subscribe(uri(text)), MAIL, "gatefold://post/x"),
        ("resource", &|text| Operation::Unsubscribe(uri(text)), MAIL, "file:///none"),
        ("resource", &|text| completion(Reference::Resource(uri(text))), MAIL, "gatefold://"),
        // Not listed, so only policy judges it.
        (
            "resource",
            &|text| Operation::Resource(uri(text)),
            "gatefold://mail/file:///inbox/7",
            "gatefold://post/x",
        ),
    ];
    for (kind, operation, hidden, missing) in operations {
        let mail = mail();
        let world = World::new(&[&mail]);
        let denies = [
            only(EntryKind::Prompt, Effect::Deny, "g*"),
            only(EntryKind::Resource, Effect::Deny, "file:///inbox*"),
        ];
        world.install(&[&mail], &denies);
        for name in [hidden, missing] {
            let error = ask(&world, &ann(), operation(name)).await;
            assert_eq!(refused(error), format!("unknown {kind} `{name}`"));
            assert_eq!(world.log.last().ended(), "failed: unknown");
        }
        assert_eq!(mail.calls(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_for_one_kind_leaves_the_others_alone() {
    let mail = mail();
    let world = World::new(&[&mail]);
    world.install(&[&mail], &[only(EntryKind::Prompt, Effect::Deny, "*")]);
    let resource = || Operation::Resource(Uri::new(MAIL));
    done(ask(&world, &ann(), resource()).await);
    ask(&world, &ann(), operation("begin", "{}")).await.unwrap();
    refused(ask(&world, &ann(), prompt("greet")).await);

    world.install(&[&mail], &[only(EntryKind::Resource, Effect::Allow, "file:///inbox")]);
    done(ask(&world, &ann(), resource()).await);
    assert_eq!(mail.seen().last().unwrap().rule.as_str(), "allow-file:///inbox");
    // An allow-list of one kind says nothing about the others.
    ask(&world, &ann(), operation("begin", "{}")).await.unwrap();
    for hidden in
        [Operation::Resource(Uri::new("file:///spam")), Operation::Resource(Uri::new("note:7"))]
    {
        refused(ask(&world, &ann(), hidden).await);
    }

    world.install(&[&mail], &[only(EntryKind::Prompt, Effect::Ask, "greet")]);
    suspended(ask(&world, &ann(), prompt("greet")).await);
    assert_eq!(mail.calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_operation_resumes_as_itself_alone() {
    let mail = mail();
    let world = World::new(&[&mail]);
    let read = || Operation::Resource(Uri::new("note:wait"));
    let suspension = suspended(ask(&world, &ann(), read()).await);
    assert_eq!(suspension.questions.get(), QUESTIONS);
    let state = suspension.state.unwrap();
    let resume = async |operation: Operation| {
        let pinned = world.dispatcher.pin(Arc::new(ann()));
        let resume = Resume { state: Some(state.clone()), answers: raw("1") };
        pinned.call(operation, Some(resume), retrying(crate::clients::FORMS)).await
    };
    for other in [
        Operation::Subscribe(Uri::new("note:wait")),
        Operation::Resource(Uri::new(MAIL)),
        prompt("wait"),
    ] {
        let expected = "the answer cannot be resumed: it was given out for another call";
        assert_eq!(refused(resume(other).await), expected);
    }
    assert_eq!(done(resume(read()).await), r#"{"state":"the source's own","answers":1}"#);
}

#[tokio::test(start_paused = true)]
async fn a_completion_for_a_prompt_that_is_no_prompt_finds_nothing() {
    let world = World::new(&[&mail()]);
    let none = completion(Reference::Prompt(PromptName::new("mail__begin")));
    assert_eq!(refused(ask(&world, &ann(), none).await), "unknown prompt `mail__begin`");
    assert_eq!(
        refused(ask(&world, &ann(), operation("greet", "{}")).await),
        "unknown tool `greet`"
    );
}

fn task(result: Result<Outcome, CallError>) -> TaskHandle {
    match result.expect("the call ends well") {
        Outcome::Task(task) => task,
        other => panic!("no task: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_has_an_id_of_ours_that_leads_to_the_sources_own() {
    let mail = mail();
    let world = World::new(&[&mail]);
    let begun = task(ask(&world, &ann(), operation("begin", "{}")).await);
    assert_ne!(begun.id, "7");
    let json: Value = serde_json::from_str(begun.json.get()).unwrap();
    assert_eq!(json, json!({"taskId": begun.id, "status": "working"}));
    assert_eq!((world.log.last().ended(), world.counted("task")), ("task".to_owned(), 1));

    let again = task(ask(&world, &ann(), about(&begun.id, TaskAct::Get)).await);
    assert_eq!((&again.id, again.json.get()), (&begun.id, begun.json.get()));
    let update = TaskAct::Update(raw(r#"{"name":1}"#));
    let updated = ask(&world, &ann(), about(&begun.id, update)).await;
    assert_eq!(done(updated), r#"{"7":{"name":1}}"#);
    let cancelled = ask(&world, &ann(), about(&begun.id, TaskAct::Cancel)).await;
    assert_eq!(done(cancelled), r#""cancelled 7""#);

    let words: Vec<_> = mail.seen().iter().map(|seen| seen.operation).collect();
    assert_eq!(words, ["tool", "task_get", "task_update", "task_cancel"]);
    for record in world.log.records() {
        assert_eq!(record.opened.tool.unwrap().as_str(), "mail__begin");
        assert!([&*begun.id, "begin"].contains(&&*record.opened.subject));
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_its_owners_alone_and_outlives_the_dispatcher() {
    let mail = mail();
    let world = World::new(&[&mail]);
    let begun = task(ask(&world, &ann(), operation("begin", "{}")).await);
    let acts = || [TaskAct::Get, TaskAct::Update(raw("{}")), TaskAct::Cancel];
    for (who, id) in [(bob(), &*begun.id), (ann(), "7"), (ann(), &format!("{}A", begun.id))] {
        for act in acts() {
            let error = refused(ask(&world, &who, about(id, act)).await);
            assert_eq!(error, format!("unknown task `{id}`"));
            assert_eq!(world.log.last().ended(), "failed: unknown");
        }
    }
    assert_eq!(mail.calls(), 1);

    let next = World::new(&[&mail]);
    assert_eq!(task(ask(&next, &ann(), about(&begun.id, TaskAct::Get)).await).id, begun.id);

    next.install(&[&mail], &[rule(Effect::Deny, "mail", "begin")]);
    let hidden = refused(ask(&next, &ann(), about(&begun.id, TaskAct::Get)).await);
    assert_eq!(hidden, format!("unknown task `{}`", begun.id));
    assert_eq!(mail.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_changes_at_a_source_is_told_until_the_source_is_removed() {
    let (mail, post) = (mail(), FakeSource::new("post"));
    let world = World::new(&[&mail, &post]);
    let mut updates = world.dispatcher.updates();
    mail.updates("file:///inbox");
    let update = updates.recv().await.unwrap();
    assert_eq!((update.domain.as_str(), &*update.uri), ("mail", "file:///inbox"));

    // A reload loses nothing, whenever it comes.
    mail.updates("file:///1");
    world.install(&[&mail, &post], &[]);
    mail.updates("file:///2");
    tokio::time::sleep(SECOND).await;
    let mut told = Vec::new();
    while let Ok(update) = updates.try_recv() {
        told.push(update.uri.to_string());
    }
    // A change between two watchers may be announced twice, which is harmless.
    told.dedup();
    assert_eq!(told, ["file:///1", "file:///2"]);

    world.install(&[&post], &[]);
    tokio::time::sleep(SECOND).await;
    mail.updates("file:///inbox");
    post.updates("file:///sent");
    assert_eq!(updates.recv().await.unwrap().domain.as_str(), "post");
    assert_eq!(updates.try_recv().unwrap_err(), TryRecvError::Empty);
}

#[tokio::test(start_paused = true)]
async fn a_report_counts_everything_that_a_source_offers() {
    let world = World::new(&[&mail(), &FakeSource::silent("post")]);
    let counts = |domain| {
        let report = world.report(domain);
        (report.tools, report.prompts, report.resources)
    };
    assert_eq!((counts("mail"), counts("post")), ((1, 2, 3), (0, 0, 0)));
}
