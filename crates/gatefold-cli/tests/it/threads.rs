//! Conversations that outlive the process: gone on with, taken back, listed, renamed and deleted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gatefold_testkit::model::{Move, ScriptedModel};
use gatefold_testkit::wait_until;
use serde_json::{Value, json};

use crate::chat::{Talk, section};
use crate::process::{LIMIT, run, run_with_input};
use crate::scratch::Scratch;

/// Says how often a person has spoken, and what they said last.
fn counting() -> ScriptedModel {
    ScriptedModel::start(|prompt| {
        let messages = prompt.whole()["messages"].as_array().unwrap().iter();
        let said = messages.filter(|message| message["role"] == "user");
        Move::say(&format!("That was request {}.", said.count()))
    })
}

fn scratch(model: &ScriptedModel) -> Scratch {
    let scratch = Scratch::new();
    let agent = "[agents.clerk]\ndescription = 'Answers'\n";
    scratch.write("gatefold.toml", format!("{}{agent}", section("m", "openai-chat", model, "")));
    scratch
}

fn ask(scratch: &Scratch, args: &[&str]) -> Value {
    let all = [&["chat", "--json"], args].concat();
    let asked = run_with_input(scratch, &all, "");
    serde_json::from_str(&asked.stdout).unwrap_or_else(|_| panic!("{}", asked.stderr))
}

fn threads(scratch: &Scratch) -> Vec<Value> {
    let listed = run(scratch, &["threads", "--json"]).json();
    listed["threads"].as_array().unwrap().clone()
}

#[test]
fn a_conversation_goes_on_in_another_process() {
    let model = counting();
    let scratch = scratch(&model);
    let first = ask(&scratch, &["--agent", "clerk", "-p", "Remember 7.\nAnd more."]);
    assert_eq!(first["answer"], "That was request 1.");
    let second = ask(&scratch, &["-p", "Something else."]);
    assert_eq!(second["answer"], "That was request 1.");
    let id = first["thread"].as_str().unwrap();
    let again = ask(&scratch, &["--thread", &id[26..], "-p", "What was it?"]);
    assert_eq!((&again["answer"], &again["thread"]), (&json!("That was request 2."), &json!(id)));
    assert_eq!(again["agent"], "clerk");
    // It is the last one now.
    let last = ask(&scratch, &["--continue", "-p", "And now?"]);
    assert_eq!((&last["answer"], &last["thread"]), (&json!("That was request 3."), &json!(id)));

    let all = threads(&scratch);
    let shown: Vec<_> = all.iter().map(|one| (&one["title"], &one["agent"])).collect();
    let expected =
        [(json!("Remember 7."), json!("clerk")), (json!("Something else."), json!(null))];
    assert_eq!(shown, expected.each_ref().map(|(title, agent)| (title, agent)));
    let told = run(&scratch, &["threads", "show", &id[26..]]);
    assert!(told.stdout.contains("> Remember 7.\n> And more.\n"), "{}", told.stdout);
    assert!(told.stdout.contains("That was request 3."), "{}", told.stdout);
}

#[test]
fn a_conversation_is_renamed_searched_and_deleted() {
    let model = counting();
    let scratch = scratch(&model);
    let id = ask(&scratch, &["-p", "First."])["thread"].as_str().unwrap().to_owned();
    ask(&scratch, &["-p", "Second."]);
    let renamed = run(&scratch, &["threads", "rename", &id, "Orders of May"]);
    assert_eq!((renamed.code, renamed.stdout.as_str()), (Some(0), "renamed: Orders of May\n"));
    let found = run(&scratch, &["threads", "--search", "orders"]);
    assert!(found.stdout.contains("Orders of May") && !found.stdout.contains("Second"));
    let deleted = run(&scratch, &["threads", "delete", &id]);
    assert_eq!((deleted.code, deleted.stdout.as_str()), (Some(0), "deleted: Orders of May\n"));
    assert_eq!(threads(&scratch).len(), 1);
    for gone in [["threads", "show"], ["threads", "delete"], ["chat", "--thread"]] {
        let refused = run_with_input(&scratch, &[&gone[..], &[&id]].concat(), "");
        assert_eq!(refused.code, Some(1), "{}", refused.stderr);
        assert!(refused.stderr.contains("there is no conversation"), "{}", refused.stderr);
    }
}

#[test]
fn what_is_taken_back_or_never_answered_is_not_kept() {
    let model = ScriptedModel::start(|prompt| {
        if prompt.whole().to_string().contains("Fail") {
            Move::Fail("400 Bad Request", "", "{}")
        } else {
            Move::say("Yes.")
        }
    });
    let scratch = scratch(&model);
    let talked = run_with_input(&scratch, &["chat"], "One.\nTwo.\n/undo\nFail.\n");
    let id = threads(&scratch)[0]["id"].as_str().unwrap().to_owned();
    let hint = format!("`gatefold chat --thread {}` goes on with this", &id[24..]);
    assert!(talked.stdout.contains(&hint), "{}", talked.stdout);
    let told = run(&scratch, &["threads", "show", &id]).stdout;
    assert!(told.contains("> One.") && !told.contains("Two.") && !told.contains("Fail."), "{told}");

    run_with_input(&scratch, &["chat"], "Fail.\n");
    run_with_input(&scratch, &["chat"], "Three.\n/undo\n");
    assert_eq!(threads(&scratch).len(), 1);
    assert!(run(&scratch, &["threads", "--search", "Three"]).stdout.contains("no conversations"));
}

#[tokio::test]
async fn two_chats_go_on_with_one_conversation_and_lose_nothing() {
    let may_answer = Arc::new(AtomicBool::new(false));
    let released = may_answer.clone();
    let model = ScriptedModel::start(move |prompt| {
        let messages = prompt.whole()["messages"].as_array().unwrap();
        let said = messages.iter().filter(|message| message["role"] == "user");
        let last = messages.last().unwrap()["content"].as_str().unwrap();
        let last = last.split("\n\n[Today is ").next().unwrap();
        while last == "Slowly." && !released.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Move::say(&format!("{last} is request {}.", said.count()))
    });
    let scratch = scratch(&model);
    let mut first = Talk::begin_with(&scratch, &["chat"]);
    first.say("One.");
    first.await_text("One. is request 1.").await;
    let mut second = Talk::begin_with(&scratch, &["chat", "--continue"]);
    second.say("Two.");
    second.await_text("Two. is request 2.").await;
    // It is shown while it comes, and kept once it is whole.
    let is_kept = || {
        let runs = run(&scratch, &["runs", "list", "--json"]).json()["runs"].take();
        runs.as_array().unwrap().iter().all(|run| run["state"] == "done")
    };
    assert!(wait_until(LIMIT, is_kept).await);
    // What the other chat said is before what this one says now.
    first.say("Three.");
    first.await_text("another chat has changed this conversation").await;
    first.await_text("Three. is request 3.").await;

    // Both at the same time: each has its own run, and the next message follows both.
    let asked = model.requests().len();
    first.say("Slowly.");
    assert!(wait_until(LIMIT, || model.requests().len() > asked).await);
    second.say("Meanwhile.");
    second.await_text("Meanwhile. is request 4.").await;
    may_answer.store(true, Ordering::Release);
    first.await_text("Slowly. is request 4.").await;
    assert!(wait_until(LIMIT, is_kept).await);
    second.say("/undo");
    second.await_text("nothing was taken back").await;
    second.say("Six.");
    second.await_text("Six. is request 6.").await;

    let id = threads(&scratch)[0]["id"].as_str().unwrap().to_owned();
    let shown = run(&scratch, &["threads", "show", &id]).stdout;
    for said in ["One.", "Two.", "Three.", "Slowly.", "Meanwhile.", "Six."] {
        assert!(shown.contains(&format!("> {said}\n")), "{shown}");
        assert_eq!(shown.matches(&format!("{said} is request")).count(), 1, "{shown}");
    }

    // One that is deleted meanwhile is begun anew.
    assert_eq!(run(&scratch, &["threads", "delete", &id]).code, Some(0));
    first.say("Seven.");
    first.await_text("was deleted elsewhere").await;
    first.await_text("Seven. is request 1.").await;
}
