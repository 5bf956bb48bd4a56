//! `gatefold knowledge`: what each command prints, leaves behind and ends with.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use gatefold_testkit::wait_until;
use serde_json::{Value, json};

use crate::process::{Gateway, LIMIT, Run, WITHOUT_ENCODER, run, run_with_input};
use crate::scratch::Scratch;

const TRAVEL: &str =
    "# Travel policy\n\n## Hotels\n\nA hotel may cost at most 140 euros a night.\n";
const LEAVE: &str = "# Leave\n\nEverybody has thirty days of leave in a year.\n";
const BASE: &str = "[sources.handbook]\nknowledge = 'handbook'\n";

fn put(scratch: &Scratch, path: &str, bytes: impl AsRef<[u8]>) {
    let path = scratch.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A base of one document.
fn handbook() -> Scratch {
    let scratch = Scratch::new();
    put(&scratch, "handbook/travel.md", TRAVEL);
    scratch.write("gatefold.toml", format!("{BASE}{WITHOUT_ENCODER}"));
    scratch
}

fn knowledge(scratch: &Scratch, args: &[&str]) -> Run {
    run(scratch, &[&["knowledge"], args].concat())
}

#[track_caller]
fn json_of(scratch: &Scratch, args: &[&str]) -> Value {
    let ran = knowledge(scratch, &[args, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.stdout, ran.stderr);
    ran.json()
}

fn state(scratch: &Scratch) -> PathBuf {
    scratch.path().join(".local/state/gatefold")
}

/// The folders in which bases are kept.
fn folders(scratch: &Scratch) -> Vec<String> {
    let entries = fs::read_dir(state(scratch).join("knowledge")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_folder_is_added_in_one_line_and_the_rest_of_the_file_stays() {
    let scratch = Scratch::new();
    put(&scratch, "Employee Handbook/travel.md", TRAVEL);
    put(&scratch, "Employee Handbook/secret.pdf", "%PDF-1.4 and no more");
    scratch.write("gatefold.toml", format!("# mine\n{WITHOUT_ENCODER}"));
    let add = ["add", "Employee Handbook", "--title", "Employee handbook"];
    let tried = knowledge(&scratch, &[&add[..], &["--dry-run"]].concat());
    assert_eq!(tried.code, Some(0), "{}", tried.stderr);
    assert!(tried.stdout.starts_with("would write to "), "{}", tried.stdout);
    assert!(!state(&scratch).exists(), "a dry run reads nothing");

    let added = knowledge(&scratch, &add);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    for said in
        ["added `employee-handbook`", "found 2 documents, 1 of them without text", "secret.pdf: "]
    {
        assert!(added.stdout.contains(said), "no `{said}` in: {}", added.stdout);
    }
    let written = fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    assert!(written.starts_with(&format!("# mine\n{WITHOUT_ENCODER}")), "{written}");
    let section = "[sources.employee-handbook]\nknowledge = \"Employee Handbook\"\ntitle = \"Employee handbook\"\n";
    assert!(written.ends_with(section), "{written}");
    let mode = fs::metadata(state(&scratch)).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others could read the documents: {mode:o}");

    let again = knowledge(&scratch, &add);
    assert_eq!(again.code, Some(2), "{}", again.stdout);
    assert!(
        again.stderr.contains("there is already a source `employee-handbook`"),
        "{}",
        again.stderr
    );
}

#[test]
fn bases_and_documents_are_listed() {
    let scratch = handbook();
    put(&scratch, "handbook/broken.pdf", "%PDF-1.4 and no more");
    let listed = json_of(&scratch, &["list"]);
    let base = &listed["bases"][0];
    assert_eq!((&base["name"], &base["documents"]), (&json!("handbook"), &json!(2)));
    assert_eq!(base["unreadable"], 1);
    assert!(base["passages"].as_u64().unwrap() > 0);
    assert!(base["bytes"].as_u64().unwrap() > 1000 && base["changed"].as_u64().unwrap() > 0);
    let shown = knowledge(&scratch, &["list"]).stdout;
    let heads = "name title documents unreadable passages size changed";
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(shown.lines().next().unwrap()), heads);
    assert!(words(&shown).contains("handbook 2 1 1 "), "{shown}");

    let documents = json_of(&scratch, &["documents"]);
    let states: Vec<_> = documents["documents"].as_array().unwrap().iter().collect();
    assert_eq!(states[0]["name"], "broken.pdf");
    assert!(states[0]["version"].is_null() && !states[0]["reason"].as_str().unwrap().is_empty());
    assert_eq!((&states[1]["name"], &states[1]["state"]), (&json!("travel.md"), &json!("ready")));
    assert_eq!(states[1]["version"].as_str().unwrap().len(), 12);
    assert_eq!(states[1]["bytes"], TRAVEL.len());
    let shown = knowledge(&scratch, &["documents", "handbook"]).stdout;
    assert!(words(&shown).contains("travel.md Travel policy ready"), "{shown}");
}

#[test]
fn what_changed_is_read_before_a_command_answers() {
    let scratch = handbook();
    let found = json_of(&scratch, &["search", "how", "much", "may", "a", "hotel", "cost"]);
    assert_eq!(found["fits"], true, "{found}");
    let passage = &found["passages"][0];
    assert!(passage["text"].as_str().unwrap().contains("140 euros"), "{found}");
    let citation = passage["citation"].as_str().unwrap();
    assert!(citation.starts_with("gatefold://handbook/kb/travel.md@"), "{citation}");
    put(&scratch, "handbook/travel.md", TRAVEL.replace("140", "155"));
    put(&scratch, "handbook/leave.md", LEAVE);
    let shown = knowledge(&scratch, &["search", "how much may a hotel cost", "--top", "1"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    assert!(shown.stdout.contains("at most 155 euros") && !shown.stdout.contains("140"));
    assert!(shown.stdout.contains("gatefold://handbook/kb/travel.md@"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("thirty"), "more than was asked for: {}", shown.stdout);
    let nothing = knowledge(&scratch, &["search", "photosynthesis of ferns"]);
    assert_eq!(nothing.code, Some(0), "{}", nothing.stderr);
    assert!(nothing.stdout.starts_with("No passage "), "{}", nothing.stdout);
    fs::remove_file(scratch.path().join("handbook/travel.md")).unwrap();
    assert_eq!(json_of(&scratch, &["list"])["bases"][0]["documents"], 1);
}

#[test]
fn several_bases_are_searched_at_once_or_one_by_its_name() {
    let scratch = handbook();
    put(&scratch, "rules/leave.md", LEAVE);
    scratch.write(
        "gatefold.toml",
        format!("{BASE}[sources.rules]\nknowledge = 'rules'\n{WITHOUT_ENCODER}"),
    );
    let bases = |args: &[&str]| -> Vec<String> {
        let found = json_of(
            &scratch,
            &[&["search", "days of leave, and what a hotel may cost"], args].concat(),
        );
        let passages = found["passages"].as_array().unwrap();
        passages.iter().map(|own| own["base"].as_str().unwrap().to_owned()).collect()
    };
    let mut all = bases(&[]);
    all.sort();
    all.dedup();
    assert_eq!(all, ["handbook", "rules"]);
    assert_eq!(bases(&["--base", "rules"]), ["rules"]);
    let unnamed = knowledge(&scratch, &["documents"]);
    assert_eq!(unnamed.code, Some(1), "{}", unnamed.stdout);
    assert!(unnamed.stderr.contains("name one of `handbook`, `rules`"), "{}", unnamed.stderr);
}

#[test]
fn documents_without_text_are_named_with_the_reason_and_end_with_1() {
    let scratch = handbook();
    let good = knowledge(&scratch, &["check"]);
    assert_eq!(
        (good.code, good.stdout.as_str()),
        (Some(0), "handbook: 1 document\n"),
        "{}",
        good.stderr
    );
    put(&scratch, "handbook/broken.pdf", "%PDF-1.4 and no more");
    let faulty = knowledge(&scratch, &["check", "handbook"]);
    assert_eq!((faulty.code, faulty.stderr.as_str()), (Some(1), ""));
    assert!(faulty.stdout.starts_with("fault: broken.pdf: "), "{}", faulty.stdout);
    assert!(
        faulty.stdout.ends_with("handbook: 2 documents, 1 without text\n"),
        "{}",
        faulty.stdout
    );
    let failed = &knowledge(&scratch, &["check", "--json"]).json()["bases"][0]["failed"];
    assert_eq!(failed[0]["document"], "broken.pdf");
    let checked = run(&scratch, &["check"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    assert!(checked.stdout.contains("broken.pdf was left out: "), "{}", checked.stdout);
    let examined = run(&scratch, &["doctor", "--json"]).json();
    let findings = examined["findings"].as_array().unwrap();
    let said = "handbook: 1 of 2 documents have no text: `broken.pdf` (";
    let finding = findings.iter().find(|own| own["what"].as_str().unwrap().starts_with(said));
    let finding = finding.unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!(finding["level"], "warning");
    assert_eq!(finding["fix"], "see all: gatefold knowledge check handbook");
    assert!(finding["where"].as_str().unwrap().ends_with("gatefold.toml:1"), "{finding}");

    fs::remove_dir_all(scratch.path().join("handbook")).unwrap();
    let gone = knowledge(&scratch, &["check"]);
    assert_eq!(gone.code, Some(1), "{}", gone.stdout);
    assert!(gone.stdout.contains("handbook: cannot be read: "), "{}", gone.stdout);
}

#[test]
fn an_answer_is_verified_quote_by_quote() {
    let scratch = handbook();
    let found = json_of(&scratch, &["search", "how much may a hotel cost"]);
    let citation = found["passages"][0]["citation"].as_str().unwrap().to_owned();
    let quote = |words: &str| format!("The policy says \"{words}\" ({citation}).\n");
    put(&scratch, "answer.md", quote("A hotel may cost at most 140 euros a night."));
    let sound = knowledge(&scratch, &["verify", "answer.md"]);
    assert_eq!(sound.code, Some(0), "{}{}", sound.stdout, sound.stderr);
    assert!(sound.stdout.starts_with("exact: \"A hotel may cost"), "{}", sound.stdout);
    assert!(sound.stdout.ends_with("1 quote or citation: sound\n"), "{}", sound.stdout);
    let wrong = quote("A hotel may cost at most 240 euros a night.");
    let verify = ["knowledge", "verify", "-", "--base", "handbook", "--json"];
    let unsound = run_with_input(&scratch, &verify, &wrong);
    assert_eq!(unsound.code, Some(1), "{}", unsound.stdout);
    assert_eq!(unsound.json()["sound"], false);
    assert_eq!(unsound.json()["quotes"][0]["verdict"], "nowhere", "{}", unsound.stdout);

    put(&scratch, "latin1.md", b"caf\xe9 \"words\"");
    put(&scratch, "blank.md", " \n");
    put(&scratch, "long.md", "word ".repeat(300_000));
    for (file, code, said) in [
        ("latin1.md", 1, "`latin1.md` is not UTF-8 text"),
        ("blank.md", 2, "`blank.md` is blank"),
        ("long.md", 1, "`long.md` is longer than 1024 KiB"),
        ("nowhere.md", 1, "there is no file `nowhere.md`"),
    ] {
        let refused = knowledge(&scratch, &["verify", file]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(code), ""), "{file}");
        assert!(refused.stderr.contains(said), "{file}: {}", refused.stderr);
    }
}

#[test]
fn wrong_names_and_paths_are_said_with_the_fix() {
    let scratch = handbook();
    for (args, code, said) in [
        (&["search", "hotel", "--base", "handbok"][..], 1, "did you mean `handbook`?"),
        (&["check", "zzz"], 1, "there is `handbook`"),
        (&["documents", "zzz"], 1, "there is no knowledge base `zzz`"),
        (&["rebuild", "zzz"], 1, "there is no knowledge base `zzz`"),
        (&["search", " "], 2, "the query is blank"),
        (&["search", "hotel", "--top", "0"], 2, "write a whole number from 1 to 100"),
        (&["search", "hotel", "--top", "101"], 2, "write a whole number from 1 to 100"),
        (&["add", "nowhere"], 2, "there is no file or folder `nowhere`"),
        (&["add", "handbook", "--name", "a b"], 2, "`a b` cannot name a source"),
        (&["remove", "zzz", "--yes"], 1, "there is no folder `zzz`"),
    ] {
        let failed = knowledge(&scratch, args);
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(code), ""), "{args:?}");
        assert!(failed.stderr.contains(said), "{args:?}: {}", failed.stderr);
    }
    let none = Scratch::new();
    none.write("gatefold.toml", WITHOUT_ENCODER);
    for args in [&["check"][..], &["documents"], &["search", "x"], &["rebuild"]] {
        let failed = knowledge(&none, args);
        assert_eq!(failed.code, Some(1), "{args:?}");
        assert!(failed.stderr.contains("run `gatefold knowledge add FOLDER`"), "{}", failed.stderr);
    }
    let listed = knowledge(&none, &["list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(listed.stdout.starts_with("no source is a knowledge base"), "{}", listed.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_read_beside_a_gateway_and_only_it_writes() {
    let scratch = handbook();
    let gateway = Gateway::serve(&scratch).await;
    let counted = || run(&scratch, &["status", "--json"]).json()["running"]["sources"].clone();
    let is_read = |sources: &Value| {
        let sources = sources.as_array().map(Vec::as_slice).unwrap_or_default();
        sources.iter().any(|own| own["documents"]["total"] == 1)
    };
    assert!(wait_until(LIMIT, || is_read(&counted())).await, "{}", counted());
    let shown = run(&scratch, &["status"]).stdout;
    assert!(shown.contains("handbook: 1 document\n"), "{shown}");
    let found = json_of(&scratch, &["search", "how much may a hotel cost"]);
    assert!(found["passages"][0]["text"].as_str().unwrap().contains("140 euros"), "{found}");
    let refused = knowledge(&scratch, &["rebuild"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    let help = format!("stop the gateway first: `gatefold serve`, process {}", gateway.pid());
    assert!(refused.stderr.contains(&help), "{}", refused.stderr);
    drop(gateway);

    let rebuilt = knowledge(&scratch, &["rebuild", "handbook"]);
    assert_eq!(rebuilt.code, Some(0), "{}", rebuilt.stderr);
    assert_eq!(rebuilt.stdout, "made the index of `handbook` anew: 1 document, 1 passage\n");
    assert_eq!(json_of(&scratch, &["search", "how much may a hotel cost"])["fits"], true);
    let shown = run(&scratch, &["status"]).stdout;
    assert!(shown.contains("handbook: 1 document\n"), "{shown}");
}

#[test]
fn a_folder_that_is_not_configured_is_listed_and_deleted_only_when_told() {
    let scratch = handbook();
    json_of(&scratch, &["list"]);
    let [folder] = folders(&scratch).try_into().unwrap();
    let configured = knowledge(&scratch, &["remove", &folder, "--yes"]);
    assert_eq!(configured.code, Some(2), "{}", configured.stdout);
    assert!(configured.stderr.contains("`gatefold remove handbook`"), "{}", configured.stderr);

    scratch.write("gatefold.toml", format!("{BASE}enabled = false\n"));
    assert_eq!(json_of(&scratch, &["list"])["unnamed"], json!([]), "it may be enabled again");
    scratch.write("gatefold.toml", WITHOUT_ENCODER);
    let listed = json_of(&scratch, &["list"]);
    assert_eq!(
        (&listed["unnamed"][0]["name"], &listed["unnamed"][0]["documents"]),
        (&json!(folder), &json!(1))
    );
    let shown = knowledge(&scratch, &["list"]).stdout;
    assert!(shown.contains(&format!("`gatefold knowledge remove {folder}`")), "{shown}");
    let unasked = knowledge(&scratch, &["remove", &folder]);
    assert_eq!(unasked.code, Some(2), "{}", unasked.stdout);
    assert!(unasked.stderr.contains("nobody can be asked"), "{}", unasked.stderr);
    assert_eq!(folders(&scratch), std::slice::from_ref(&folder));
    let removed = knowledge(&scratch, &["remove", &folder, "--yes"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    assert!(folders(&scratch).is_empty());
}

#[test]
fn past_versions_are_kept_as_the_configuration_says() {
    for (keys, expected) in
        [("", 3), ("keep_versions = 1\nkeep_time = '1ms'\n", 1), ("keep_size = '1B'\n", 0)]
    {
        let scratch = handbook();
        scratch.write("gatefold.toml", format!("{BASE}{keys}{WITHOUT_ENCODER}"));
        let mut listed = json_of(&scratch, &["list"]);
        for limit in ["150", "160", "170"] {
            put(&scratch, "handbook/travel.md", TRAVEL.replace("140", &format!("{limit}.0")));
            listed = json_of(&scratch, &["list"]);
        }
        assert_eq!(listed["bases"][0]["past_versions"], expected, "{keys}");
    }
}
