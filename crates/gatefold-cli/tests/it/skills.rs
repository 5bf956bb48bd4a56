//! A folder of skills behind the binary: added, listed, checked, shown, found, and read by a model.

use std::fs;

use gatefold_testkit::RawClient;
use serde_json::{Value, json};

use crate::process::{Gateway, run};
use crate::scratch::Scratch;

const REFUNDS: &str = "---\nname: refunds\ndescription: Pay a customer back, step by step\n---\n# Refunds\n\
    Do it.\n";

fn put(scratch: &Scratch, path: &str, text: &str) {
    let path = scratch.path().join("skills").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn folder() -> Scratch {
    let scratch = Scratch::new();
    put(&scratch, "refunds/SKILL.md", REFUNDS);
    put(&scratch, "refunds/scripts/refund.py", "print('\u{1b}[31mrefund')\n");
    scratch
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_skills_is_added_in_one_line_and_read() {
    let scratch = folder();
    let added = run(&scratch, &["add", "skills", "--skills", "skills", "--scope", "project"]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    assert!(added.stdout.contains("skills = \"skills\""), "{}", added.stdout);
    assert!(added.stdout.contains("found 1 skill, and a tool to read them"), "{}", added.stdout);
    let found = run(&scratch, &["tools", "search", "pay a customer back", "--json"]);
    assert!(found.stdout.contains("skill: refunds"), "{}", found.stdout);

    let gateway = Gateway::serve(&scratch).await;
    let mut client = RawClient::new(gateway.url()).unwrap();
    client.initialize().await.unwrap();
    let arguments =
        json!({ "tool_name": "skills__read_skill", "arguments": { "name": "refunds" } });
    let exchange = client.call("execute_tool", &arguments.to_string()).await.unwrap();
    let answer: Value = serde_json::from_str(&exchange.text()).unwrap();
    let text = answer["result"].as_str().unwrap();
    assert!(text.starts_with("# Refunds\nDo it.\n\n## Files of this skill"), "{text}");
}

#[test]
fn skills_are_listed_and_shown() {
    let scratch = folder();
    scratch.write("gatefold.toml", "[sources.team]\nskills = 'skills'\nfor = ['shop']\n");
    let listed = run(&scratch, &["skills", "list", "--json"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let skill = &listed.json()["skills"][0];
    assert_eq!((&skill["name"], &skill["source"]), (&json!("refunds"), &json!("team")));
    let shown = run(&scratch, &["skills", "show", "refunds"]);
    assert!(shown.stdout.contains("# Refunds\nDo it.\n"), "{}", shown.stdout);
    assert!(shown.stdout.contains("scripts/refund.py (python, 21 bytes)"), "{}", shown.stdout);
    let script = run(&scratch, &["skills", "show", "refunds", "scripts/refund.py"]);
    assert_eq!(script.code, Some(0), "{}", script.stderr);
    for (args, hint) in [
        (&["skills", "show", "refund"][..], "did you mean `refunds`?"),
        (&["skills", "show", "refunds", "refund.py"], "did you mean `scripts/refund.py`?"),
        (&["skills", "show", "refunds", "../../gatefold.toml"], "has no file"),
    ] {
        let wrong = run(&scratch, args);
        assert_eq!(wrong.code, Some(1), "{}", wrong.stdout);
        assert!(wrong.stderr.contains(hint), "{}", wrong.stderr);
    }
}

#[test]
fn faults_are_named_by_file_and_line_and_end_with_1() {
    let scratch = folder();
    let good = run(&scratch, &["skills", "check", "skills"]);
    assert_eq!((good.code, good.stderr.as_str()), (Some(0), ""));
    assert!(good.stdout.contains("skills: 1 skill without fault"), "{}", good.stdout);
    put(&scratch, "other/SKILL.md", "---\nname: another\nmodel: x\n---\n");
    let faulty = run(&scratch, &["skills", "check", "skills", "--json"]);
    assert_eq!(faulty.code, Some(1), "{}", faulty.stderr);
    let findings = faulty.json()["findings"].clone();
    assert_eq!((&findings[0]["severity"], &findings[0]["line"]), (&json!("warning"), &json!(3)));
    assert_eq!((&findings[1]["severity"], &findings[1]["line"]), (&json!("fault"), &json!(2)));
    assert!(findings[1]["file"].as_str().unwrap().ends_with("skills/other/SKILL.md"));
    let none = run(&scratch, &["skills", "check", "nowhere"]);
    assert_eq!(none.code, Some(1), "{}", none.stdout);
    let added = run(&scratch, &["add", "skills", "--skills", "nowhere", "--scope", "project"]);
    assert_eq!(added.code, Some(2), "{}", added.stdout);
    assert!(added.stderr.contains("there is no folder `nowhere`"), "{}", added.stderr);
}

#[test]
fn links_are_counted_and_each_is_named_with_the_key_that_admits_it() {
    let scratch = folder();
    let store = scratch.path().join("store/notes");
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("SKILL.md"), REFUNDS.replace("refunds", "notes")).unwrap();
    std::os::unix::fs::symlink("../store/notes", scratch.path().join("skills/notes")).unwrap();
    let checked = run(&scratch, &["skills", "check", "skills"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let line = "skills: 1 skill without fault, 1 link not followed\n";
    assert!(checked.stdout.ends_with(line), "{}", checked.stdout);
    let added = run(&scratch, &["add", "skills", "--skills", "skills", "--scope", "project"]);
    let said = added.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("found 1 skill, 1 link not followed, and a tool"), "{said}");
    assert!(said.contains("it is a link to `../store/notes`"), "{said}");
    scratch.write(
        "gatefold.toml",
        "[sources.skills]\nskills = 'skills'\nfollow_links_to = ['store']\n",
    );
    let followed = run(&scratch, &["skills", "check"]);
    let line = "skills: 2 skills without fault, 1 of them by links\n";
    assert!(followed.stdout.ends_with(line), "{}", followed.stdout);
    let shown = run(&scratch, &["skills", "show", "Notes"]);
    assert!(shown.stdout.starts_with("notes: Pay a customer back"), "{}", shown.stdout);
}
