//! Chats that outgrow their model's context.

use gatefold_testkit::model::{Move, Prompt, ScriptedModel};
use serde_json::{Value, json};

use crate::chat::{chat, requests, scratch, section};
use crate::process::run;

fn calls(tool: &str, parameters: &Value) -> Move {
    let own =
        json!({ "subcommand": "call", "server": "issues", "tool": tool, "parameters": parameters });
    Move::call("mcp", &own)
}

/// The newest thing that the person said, and whether a call was answered since.
fn newest(prompt: &Prompt) -> (String, bool) {
    let messages = prompt.whole()["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    let is_told = last["role"] == "tool" || last["content"][0]["type"] == "tool_result";
    let said = messages.iter().rev().find(|message| {
        message["role"] == "user" && message["content"][0]["type"] != "tool_result"
    });
    (said.map(|said| said["content"].to_string()).unwrap_or_default(), is_told)
}

/// Lists issues each time, and reads the handle that the prompt names when it is asked what was there at first.
fn looking(prompt: &Prompt) -> Move {
    if prompt.whole()["tools"].is_null() {
        return Move::say("Issues were listed several times.");
    }
    match newest(prompt) {
        (said, false) if said.contains("What was first?") => {
            let all = prompt.whole().to_string();
            let (_, handle) =
                all.split_once("kept under the handle ").expect("the prompt has a card");
            let handle = handle.split(':').next().unwrap();
            Move::call(
                "results__read_result",
                &json!({ "handle": handle, "grep": "The user said|### Call" }),
            )
        }
        (said, true) if said.contains("What was first?") => {
            let messages = prompt.whole()["messages"].as_array().unwrap();
            Move::say(&format!("I read: {}", messages.last().unwrap()["content"]))
        }
        (said, false) if said.contains("Peek") => {
            Move::call("results__read_result", &json!({ "handle": "past-3" }))
        }
        (said, true) if said.contains("Peek") => Move::say(prompt.told().last().unwrap()),
        (said, false) if said.contains("Look") => calls("list_issues", &json!({ "limit": 20 })),
        _ => Move::say("Seen."),
    }
}

/// A script's lines: so many questions, and what follows.
fn lines(questions: usize, more: &str) -> String {
    let asked: Vec<_> = (1..=questions).map(|number| format!("Look {number}\n")).collect();
    let asked = asked.concat();
    asked + more
}

/// The messages of a request, as they travel, without the brackets that end them.
fn messages(request: &Value) -> String {
    let written = request["messages"].to_string();
    written.trim_end_matches([']', '}', '"']).to_owned()
}

#[test]
fn a_conversation_is_compacted_and_read_on_by_its_handle() {
    for api in ["openai-chat", "anthropic"] {
        let model = ScriptedModel::start(looking);
        let scratch = scratch(&section("fast", api, &model, "context_tokens = 16384"));
        let ran = chat(
            &scratch,
            &[],
            &lines(10, "/compact\n/compact\n/context\nWhat was first?\n/calls\n/quit\n"),
        );
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let line = ran.stdout.lines().find(|line| line.contains("tokens of a prompt")).unwrap();
        let counts: Vec<usize> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let all = ran.stdout.lines().find(|line| line.trim_start().starts_with("all ")).unwrap();
        eprintln!("{api}: {line}; the whole prompt: {all}");
        assert!(counts[1] < counts[0] * 3 / 4, "{line}");
        for part in ["work card", "compacted: the model sees a work card for ", "list_issues"] {
            assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
        }
        // What the card stands for was read, by the tool that reads results.
        let (_, read) = ran.stdout.split_once("I read: ").unwrap();
        assert!(read.contains("The user said") && read.contains("### Call 1: mcp"), "{read}");
        let sent = requests(&model);
        for number in 1..=10 {
            let said = format!("Look {number}");
            assert!(
                sent.last().unwrap().to_string().contains(&said),
                "{said} is not word for word"
            );
        }

        // Another process goes on where this one was: its prompt begins with the last one.
        let last = messages(sent.last().unwrap());
        let again = chat(&scratch, &["--continue", "-p", "Thanks."], "");
        assert_eq!((again.code, again.stdout.as_str()), (Some(0), "Seen.\n"), "{}", again.stderr);
        let sent = requests(&model);
        let next = sent.last().unwrap();
        assert!(messages(next).starts_with(&last), "{api}:\n{last}\n{next}");
        let date = next.to_string().matches("[Today is ").count();
        assert_eq!(date, 1, "the day is written once");
        // Nobody else reads it by that handle.
        let other = chat(&scratch, &["-p", "Peek"], "");
        assert!(
            other.stdout.contains("there is no such result"),
            "{}{}",
            other.stdout,
            other.stderr
        );
        // All of it is kept.
        let threads = run(&scratch, &["threads", "--search", "Look", "--json"]).json();
        let id = threads["threads"][0]["id"].as_str().unwrap();
        let shown = run(&scratch, &["threads", "show", id]);
        assert_eq!(shown.stdout.matches("> Look ").count(), 10, "{}", shown.stdout);
    }
}

#[test]
fn a_compaction_can_be_taken_back_with_what_it_was_about() {
    let model = ScriptedModel::start(looking);
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    let undo = "/undo\n".repeat(5);
    let ran = chat(
        &scratch,
        &[],
        &lines(4, &format!("/compact\n{undo}/context\nHello\n/compact\n/quit\n")),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout.matches("taken back").count(), 4, "{}", ran.stdout);
    assert!(ran.stdout.contains("there is nothing to take back"), "{}", ran.stdout);
    assert!(ran.stdout.contains("there is nothing to compact"), "{}", ran.stdout);
    let last = requests(&model).pop().unwrap();
    assert!(!last.to_string().contains("Look 1"), "{last}");
}

#[test]
fn an_endpoint_that_takes_less_is_asked_again_with_half() {
    let body =
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":400}}"#;
    let model =
        ScriptedModel::start(move |prompt| match prompt.whole()["messages"].to_string().len() {
            ..14_000 => looking(prompt),
            _ => Move::Fail("400 Bad Request", "", body),
        });
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    let ran = chat(&scratch, &[], &lines(8, "/quit\n"));
    assert_eq!(
        (ran.code, ran.stdout.matches("Seen.").count()),
        (Some(0), 8),
        "{}{}",
        ran.stdout,
        ran.stderr
    );

    let hopeless = ScriptedModel::start(move |_| Move::Fail("400 Bad Request", "", body));
    scratch.write("gatefold.toml", section("fast", "openai-chat", &hopeless, ""));
    let ran = chat(&scratch, &["--continue", "-p", "And?"], "");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("the conversation is longer than the model takes"),
        "{}",
        ran.stderr
    );
}
