//! Texts that a model writes, by which tools are found.

use gatefold_testkit::model::{Move, Prompt, ScriptedModel};
use serde_json::{Value, json};

use crate::process::{Run, run, two_sources};
use crate::scratch::Scratch;

/// Words that no tool says of itself, and that the model writes for one.
const WORDS: &str = "my kettle is broken, let the janitor know";
const TOOL: &str = "issues__create_issue";

fn scratch(config: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch) + config);
    scratch
}

fn describe(scratch: &Scratch, model: &ScriptedModel, more: &[&str]) -> Run {
    let url = model.url();
    let own = ["index", "describe", "--model-url", &url, "--model", "scripted"];
    run(scratch, &[&own[..], more].concat())
}

/// Writes about each tool, as models do: between other words.
fn write(prompt: &Prompt) -> Move {
    let is_wanted = prompt.request().contains("Tool: create_issue\n");
    let request = if is_wanted { WORDS } else { "something else" };
    let texts = json!({ "summary": "Does\nit.", "requests": [request, " ", request] });
    Move::Say(format!("Here you are:\n```json\n{texts}\n```"))
}

fn first_found(scratch: &Scratch) -> Value {
    let found = run(scratch, &["tools", "search", WORDS, "--json"]).json();
    found["tools"][0]["name"].clone()
}

#[test]
fn a_tool_is_found_by_what_a_model_wrote_once_the_configuration_names_the_file() {
    let (scratch, model) = (scratch(""), ScriptedModel::start(write));
    let described = describe(&scratch, &model, &["--only", "issues__*", "--json"]);
    assert_eq!((described.code, described.stderr.as_str()), (Some(0), ""), "{}", described.stdout);
    let report = described.json();
    let file = scratch.path().join("retrieval.toml");
    assert_eq!(report["file"], file.to_str().unwrap());
    assert_eq!(
        [&report["kept"], &report["failed"], &report["in_use"]],
        [&json!(0), &json!([]), &json!(false)]
    );
    let tools = report["described"].as_u64().unwrap();
    assert_eq!(model.requests().len() as u64, tools, "one request for each tool");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains(&format!("requests = [\"{WORDS}\"]")), "{written}");
    assert!(written.contains("summary = \"Does it.\""), "{written}");

    assert_ne!(first_found(&scratch), TOOL);
    let config = two_sources(&scratch) + "[search]\ntexts = 'retrieval.toml'\n";
    scratch.write("gatefold.toml", config);
    assert_eq!(first_found(&scratch), TOOL);

    let again = describe(&scratch, &model, &["--only", "issues__*", "--json"]).json();
    assert_eq!(
        [&again["described"], &again["kept"], &again["in_use"]],
        [&json!(0), &json!(tools), &json!(true)]
    );
    assert_eq!(model.requests().len() as u64, tools, "nothing was asked again");
    let told = model.requests().concat();
    assert!(told.contains("Report a new issue."), "the model reads definitions");
}

#[test]
fn a_model_that_fails_costs_only_what_it_did_not_write() {
    let scratch = scratch("");
    let model = ScriptedModel::start(|prompt| match prompt.request() {
        request if request.contains("Tool: add_comment\n") => Move::say("I would rather not."),
        request if request.contains("Tool: add_labels\n") => Move::say(r#"{"requests":[]}"#),
        _ => write(prompt),
    });
    let described = describe(&scratch, &model, &["--only", "issues__add_*"]);
    assert_eq!(described.code, Some(1), "{}", described.stdout);
    let (comment, labels) =
        ("issues__add_comment has no texts:", "issues__add_labels has no texts:");
    assert!(
        described.stderr.contains(comment) && described.stderr.contains(labels),
        "{}",
        described.stderr
    );
    let refused = ScriptedModel::start(|_| Move::Fail("401 Unauthorized", "", "{}"));
    let stopped = describe(&scratch, &refused, &["--only", "units__*", "--json"]);
    assert_eq!(stopped.code, Some(1));
    let failed = stopped.json()["failed"].as_array().unwrap().len();
    assert_eq!((failed, refused.requests().len()), (1, 1), "no other request can do better");
}

#[test]
fn a_file_that_cannot_be_used_is_told_of_and_searches_go_on() {
    let scratch = scratch("[search]\ntexts = 'retrieval.toml'\n");
    let note =
        |scratch: &Scratch| run(scratch, &["check", "--json"]).json()["warnings"].to_string();
    assert!(note(&scratch).contains("`gatefold index describe` writes it"), "{}", note(&scratch));
    scratch.write("retrieval.toml", "tools = 7");
    assert!(note(&scratch).contains("invalid type: integer `7`"), "{}", note(&scratch));
    let found = run(&scratch, &["tools", "search", "create an issue", "--json"]).json();
    assert_eq!(found["tools"][0]["name"], TOOL);
    let refused = describe(&scratch, &ScriptedModel::start(write), &[]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("correct it, or name another with `--file`"),
        "{}",
        refused.stderr
    );
    let digest = "ab".repeat(32);
    let stale = format!("[tools.{TOOL}]\ndigest = \"{digest}\"\nrequests = [\"{WORDS}\"]\n");
    scratch.write("retrieval.toml", stale);
    assert!(
        note(&scratch).contains("the texts of one tool were written for other definitions"),
        "{}",
        note(&scratch)
    );
    assert_ne!(first_found(&scratch), TOOL);
}

#[test]
fn doctor_says_which_texts_count() {
    let scratch = scratch("[search]\ntexts = 'retrieval.toml'\n");
    let findings = |args: &[&str]| {
        let all = run(&scratch, &[&["doctor", "--json"][..], args].concat()).json();
        let said = |one: &Value, key: &str| one[key].as_str().unwrap_or("-").to_owned();
        let is_ours = |one: &&Value| said(one, "where").ends_with("/retrieval.toml");
        let ours = all["findings"].as_array().unwrap().iter().filter(is_ours);
        ours.map(|one| ["level", "what", "fix"].map(|key| said(one, key)).join(": "))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        findings(&["--offline"]),
        ["warning: searches go without `search.texts`: there is no such file: write it: gatefold \
          index describe"]
    );
    let model = ScriptedModel::start(write);
    describe(&scratch, &model, &["--only", "issues__add_*"]);
    assert_eq!(findings(&["--offline"]), ["ok: `search.texts` can be read, texts of 2 tools: -"]);
    assert_eq!(findings(&[])[1..], ["ok: the texts of 2 tools belong to present definitions: -"]);

    let file = scratch.path().join("retrieval.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    let (before, digest) = written.split_once("[tools.issues__add_comment]\ndigest = \"").unwrap();
    let other = "f".repeat(64);
    let changed = format!(
        "{before}[tools.issues__add_comment]\ndigest = \"{other}{}\n[tools.gone]\ndigest = \
         \"{other}\"\n",
        &digest[64..]
    );
    scratch.write("retrieval.toml", changed);
    assert_eq!(
        findings(&[])[..2],
        [
            "warning: the texts of one tool in `search.texts` were written for other definitions \
             and do not count; those of 1 do: write new ones: gatefold index describe",
            "note: `search.texts` has texts of one tool that no source has: remove them, or \
             restore what is missing",
        ]
    );
    scratch.write("retrieval.toml", "tools = 7");
    let broken = findings(&["--offline"]).concat();
    assert!(broken.contains("invalid type: integer `7`"), "{broken}");
    assert!(broken.ends_with("correct that file"), "{broken}");
}
