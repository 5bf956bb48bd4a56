//! The binary and a real sentence encoder, in the folder that `GATEFOLD_ENCODER` names: the reference
//! model's `model.onnx` and `vocab.txt`. Without it these tests are listed as ignored.

#![expect(clippy::unwrap_used, reason = "these are tests without the standard harness")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use gatefold::EncoderTier;
use gatefold_catalog::Encoder as _;
use gatefold_core::{Clock as _, Principal, SystemClock, ToolId};
use gatefold_encoder::ModelPlace;
use gatefold_exchange::{PastQueries as _, PastUse};
use gatefold_store::{PastQueryFilter, Store, StoreOptions};
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_gatefold");

/// The longest that a test waits for anything.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    #[expect(clippy::disallowed_methods, reason = "the path of an external model")]
    let folder = std::env::var_os("GATEFOLD_ENCODER").map(PathBuf::from);
    let trial = |(name, claim): (&str, fn(&Path))| {
        let (claim, model) = (claim, folder.clone());
        let ignored = model.is_none();
        let run = move || {
            claim(&model.unwrap_or_default());
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(ignored)
    };
    let trials = [
        ("the_model_is_put_in_place_once_and_checked", the_model_is_put_in_place_once as fn(&Path)),
        ("it_finds_by_meaning_what_the_table_does_not", it_finds_by_meaning),
        ("a_gateway_asks_it_and_keeps_what_it_read", a_gateway_asks_it),
        ("past_requests_are_read_once_asked_for_and_not_kept", past_requests_are_read),
        ("a_measure_waits_until_past_requests_are_read", a_measure_waits),
        ("a_catalog_is_measured_once_past_requests_are_read", a_catalog_is_measured),
    ];
    libtest_mimic::run(&arguments, trials.into_iter().map(trial).collect()).exit_code()
}

/// The output of a run of the binary.
struct CommandOutput {
    code: Option<i32>,
    out: String,
    err: String,
}

impl CommandOutput {
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}", self.err);
        serde_json::from_str(&self.out).unwrap()
    }
}

fn gatefold(home: &TempDir, args: &[&str]) -> CommandOutput {
    let mut command = Command::new(BINARY);
    command.args(args).env("HOME", home.path()).current_dir(home.path());
    let output =
        command.env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    CommandOutput { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn home() -> TempDir {
    TempDir::new().unwrap()
}

fn write(home: &TempDir, name: &str, text: &str) {
    std::fs::write(home.path().join(name), text).unwrap();
}

fn the_model_is_put_in_place_once(model: &Path) {
    let home = home();
    let from = model.to_str().unwrap();
    let get = ["model", "get", "--from", from, "--dir", "encoder", "--json"];
    assert_eq!(gatefold(&home, &get).json()["was_there"], false);
    assert_eq!(gatefold(&home, &get).json()["was_there"], true);
    write(&home, "encoder/vocab.txt", "[CLS]\n");
    assert_eq!(gatefold(&home, &get).json()["was_there"], false, "changed files are replaced");
    let shown = gatefold(&home, &["model", "get", "--dir", "encoder"]);
    assert!(
        shown.out.contains("checked by SHA-256") && shown.out.contains("encoder = \""),
        "{}",
        shown.out
    );

    std::fs::create_dir(home.path().join("bad")).unwrap();
    write(&home, "bad/model.onnx", "no model");
    let refused = gatefold(&home, &["model", "get", "--from", "bad", "--dir", "other"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("expected 22928619 bytes"), "{}", refused.err);
    assert!(!home.path().join("other/model.onnx").exists());
}

const TOOLS: &str = r#"
{"id":"loan","name":"mortgage","description":"Calculates the monthly payments of a home loan."}
{"id":"pet","name":"vet","description":"Books an appointment with a veterinarian for a sick animal."}
{"id":"trip","name":"flights","description":"Searches airlines for tickets between two airports."}
{"id":"meal","name":"recipes","description":"Suggests dishes to cook with given ingredients."}
"#;

const REQUESTS: &str = r#"
{"id":"1","text":"my puppy has been throwing up since yesterday","relevant":["pet"]}
{"id":"2","text":"can I afford this house on my salary","relevant":["loan"]}
{"id":"3","text":"what could I make for dinner out of leftovers","relevant":["meal"]}
{"id":"4","text":"cheapest way to get from Rome to Oslo in May","relevant":["trip"]}
"#;

fn it_finds_by_meaning(model: &Path) {
    let home = home();
    write(&home, "tools.jsonl", TOOLS);
    write(&home, "requests.jsonl", REQUESTS);
    let set = ["eval", "search", "--tools", "tools.jsonl", "--queries", "requests.jsonl", "--json"];
    let first = |more: &[&str]| {
        let said = gatefold(&home, &[&set[..], more].concat());
        assert_eq!(said.err, "");
        said.json()["mrr"].as_f64().unwrap()
    };
    let file = model.join("model.onnx");
    let without = first(&["--encoder", "none"]);
    let with = first(&["--encoder", file.to_str().unwrap()]);
    assert!(with > 0.99 && with > without, "{without} without, {with} with it");
    assert!(
        (first(&["--encoder", model.to_str().unwrap(), "--mode", "keyword"])
            - first(&["--mode", "keyword"]))
        .abs()
            < 1e-9
    );
}

/// A configuration with the encoder and one source.
fn units(model: &Path) -> String {
    format!(
        "[search]\nencoder = '{}'\n[state]\ndir = 'state'\n[sources.units]\ncommand = '{BINARY}'\nargs = \
         ['demo-server', 'units', '--scratch', 'data']\n",
        model.display()
    )
}

fn a_gateway_asks_it(model: &Path) {
    let home = home();
    write(&home, "gatefold.toml", &units(model));
    write(
        &home,
        "own.jsonl",
        r#"{"id":"1","text":"how many miles is a marathon","relevant":["units__convert_unit"]}"#,
    );
    let diagnosed = gatefold(&home, &["doctor", "--offline", "--verbose"]);
    assert!(diagnosed.out.contains("encoder can be opened, 384 dimensions"), "{}", diagnosed.out);
    let measured = gatefold(&home, &["eval", "search", "--queries", "own.jsonl", "--json"]);
    assert_eq!(measured.err, "", "every tool was read");
    measured.json();
    let kept = home.path().join("state/encoder.vectors");
    let bytes = std::fs::metadata(&kept).unwrap().len();
    assert!(bytes > 10 * 384, "every tool has a vector: {bytes} bytes");
    let found = gatefold(&home, &["tools", "search", "distance in other units", "--json"]);
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""));
    let answer = discovered(&home, "distance in other units");
    assert!(answer.contains("units__convert"), "{answer}");
    assert_eq!(std::fs::metadata(&kept).unwrap().len(), bytes, "nothing is read twice");
}

/// What `discover_tools` answers over standard input and output.
fn discovered(home: &TempDir, query: &str) -> String {
    let mut command = Command::new(BINARY);
    command.arg("stdio").current_dir(home.path()).env("HOME", home.path());
    let mut server =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"discover_tools","arguments":{{"query":"{query}"}}}}}}"#
    );
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    writeln!(input, "{hello}\n{ready}\n{call}").unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let (sender, answer) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let answer = lines.find(|line| line.contains(r#""id":2"#));
        answer.map(|answer| sender.send(answer))
    });
    let answer = answer.recv_timeout(LIMIT).unwrap();
    drop(input);
    server.wait().unwrap();
    answer
}

fn past_requests_are_read(model: &Path) {
    let home = home();
    let encoder = EncoderTier::new(&ModelPlace::Files(model.to_owned()), home.path());
    let past = ["the printer is broken", "book a table for two"];
    let ask = || encoder.past_similarities("my printer does not print", &past);
    assert_eq!(ask(), [None, None]);
    let kept = || std::fs::metadata(home.path().join("encoder.vectors")).unwrap().len();
    let bytes = kept();
    assert!(encoder.finish(LIMIT));
    let found = ask();
    assert!(found[0] > found[1], "{found:?}");
    assert_eq!(kept(), bytes);
    encoder.read(vec!["desk print: Prints a page".to_owned()]);
    assert!(encoder.finish(LIMIT) && kept() > bytes, "tools' vectors are kept");
}

fn a_measure_waits(model: &Path) {
    let home = home();
    write(&home, "gatefold.toml", &units(model));
    // They share no word, and nothing in the tool's description matches either. Of tools that do not
    // match this one is shown last.
    let request =
        r#"{"id":"1","text":"my puppy has been throwing up","relevant":["units__search_units"]}"#;
    write(&home, "own.jsonl", request);
    let rank = || {
        let measured = gatefold(&home, &["eval", "search", "--queries", "own.jsonl", "--json"]);
        measured.json()["mrr"].as_f64().unwrap()
    };
    let before = rank();
    let past = ["the dog is vomiting", "our dogs vomited", "why is the dog vomiting"];
    learn(&home, "units__search_units", &past);
    let after = rank();
    assert!(after > before, "{after} after {before}");
}

fn a_catalog_is_measured(model: &Path) {
    let home = home();
    // Two servers with the same tool: each is mistaken for the other.
    let only = "allow = ['round_number']\n";
    let twin = format!(
        "{only}[sources.twin]\ncommand = '{BINARY}'\n\
         args = ['demo-server', 'units', '--scratch', 'twin']\n{only}"
    );
    let likeness = |place: &str| {
        write(&home, "gatefold.toml", &(units(Path::new(place)) + &twin));
        let measured = gatefold(&home, &["eval", "catalog", "--json"]).json();
        let mut pairs = measured["confusable"].as_array().unwrap().iter();
        let first = pairs.find(|pair| pair["tool"] == "twin__round_number");
        first.unwrap_or_else(|| panic!("{measured}"))["likeness"].as_f64().unwrap()
    };
    // What the tool does in words that its description lacks: only an encoder sees that they fit.
    let past = ["fewer digits behind the comma", "cut the fraction short", "drop the decimals"];
    learn(&home, "units__round_number", &past);
    let (read, unread) = (likeness(model.to_str().unwrap()), likeness("none"));
    assert!(read > unread + 0.02, "{read} with the encoder, {unread} without");
}

/// Records past requests of a tool.
fn learn(home: &TempDir, tool: &str, queries: &[&str]) {
    let used = |query: &&str| PastUse {
        tenant: Principal::local().tenant(),
        tool: Some(ToolId::new(tool)),
        query: (*query).to_owned(),
        at: SystemClock.now(),
    };
    let learn = async {
        let state = home.path().join("state");
        let store = Store::open(&state, StoreOptions::default()).await.unwrap();
        queries.iter().map(used).for_each(|used| store.note(used));
        // Lessons are written in the background, and lost if the store closes first.
        while store.past_queries(&PastQueryFilter::Every, 10).await.unwrap().len() < queries.len() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        store.close().await.unwrap();
    };
    let learn = async { tokio::time::timeout(LIMIT, learn).await.unwrap() };
    tokio::runtime::Runtime::new().unwrap().block_on(learn);
}
