//! Measuring how well tools are found.

use serde_json::{Value, json};

use crate::process::{run, two_sources};
use crate::scratch::Scratch;

const TOOLS: &str = r#"
{"id":"m1","name":"send_mail","description":"Send a message to people by mail.","server":"mail"}
{"id":"m2","name":"list_mails","description":"List the messages in a folder of the mailbox.","server":"mail"}
{"id":"c1","name":"create_event","description":"Put an event into the calendar.","server":"calendar","schema":{"type":"object","properties":{"starts_at":{"type":"string"}}}}
"#;

const REQUESTS: &str = r#"
{"id":"1","text":"put an event into my calendar","relevant":["c1"]}
{"id":"2","text":"send mail","relevant":["m1"]}
{"id":"3","text":"buy a boat","relevant":["gone"]}
"#;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tools.jsonl", TOOLS);
    scratch.write("requests.jsonl", REQUESTS);
    scratch
}

fn near(figure: &Value, expected: f64) {
    let figure = figure.as_f64().unwrap();
    assert!((figure - expected).abs() < 1e-6, "{figure} is not {expected}");
}

#[test]
fn a_set_is_measured() {
    let scratch = scratch();
    let set = ["eval", "search", "--tools", "tools.jsonl", "--queries", "requests.jsonl"];
    for mode in ["hybrid", "keyword", "semantic"] {
        let measured = run(&scratch, &[&set[..], &["--mode", mode, "--json"]].concat());
        assert_eq!(measured.code, Some(0), "{}", measured.stderr);
        assert!(measured.stderr.contains("1 relevant tool is not among"), "{}", measured.stderr);
        let figures = measured.json();
        for share in ["recall@1", "recall@5", "ndcg@10", "mrr"] {
            near(&figures[share], 2.0 / 3.0);
        }
        assert_eq!((&figures["tools"], &figures["queries"]), (&json!(3), &json!(3)));
        assert!(figures["ms_median"].as_f64().unwrap() <= figures["ms_p99"].as_f64().unwrap());
        assert_eq!((&figures["mode"], &figures["missed"]), (&json!(mode), &json!(1)));
        assert_eq!(figures["misses"][0]["id"], "3");
    }
    let shown = run(&scratch, &set);
    assert_eq!(shown.code, Some(0));
    assert!(shown.stdout.starts_with("requests: 3, tools: 3, ranked by: hybrid\n"));
    for line in ["ndcg@10", "0.667", "1 request found none of its tools", "buy a boat"] {
        assert!(shown.stdout.contains(line), "{line} is not in {}", shown.stdout);
    }
}

#[test]
fn the_configured_sources_are_measured_where_no_tools_are_given() {
    let scratch = scratch();
    scratch.write("gatefold.toml", two_sources(&scratch));
    let requests = r#"{"id":"1","text":"report a bug","relevant":["issues__create_issue"]}"#;
    scratch.write("own.jsonl", requests);
    let measured = run(&scratch, &["eval", "search", "--queries", "own.jsonl", "--json"]);
    assert_eq!((measured.code, measured.stderr.as_str()), (Some(0), ""));
    near(&measured.json()["recall@10"], 1.0);
    assert_eq!(measured.json()["tools"], 24);
}

/// Neither request shares a word with the tool that it needs.
#[cfg(feature = "encoder")]
#[test]
fn listed_tools_are_searched_with_the_encoder_that_is_named_or_the_built_in_one() {
    let scratch = Scratch::new();
    let tools = [
        ("forecast", "Returns the weather of a place for the next days."),
        ("convert_unit", "Converts a quantity from one unit to another."),
        ("transfer", "Moves money from one account to another."),
        ("blame", "Shows who last changed each line of a file."),
        ("send_message", "Sends an e-mail to one or more recipients."),
    ];
    let tool = |(name, does): &(&str, &str)| {
        json!({ "id": name, "name": name, "description": does }).to_string()
    };
    scratch.write("tools.jsonl", tools.iter().map(tool).collect::<Vec<_>>().join("\n"));
    let requests = [
        json!({ "id": "1", "text": "let Maria know that we are late", "relevant": ["send_message"] }),
        json!({ "id": "2", "text": "is it going to be hot in Rome", "relevant": ["forecast"] }),
    ];
    scratch.write("requests.jsonl", requests.map(|request| request.to_string()).join("\n"));
    let set = ["eval", "search", "--queries", "requests.jsonl", "--tools", "tools.jsonl", "--json"];
    for (more, recall) in [
        (&[][..], 1.0),
        (&["--encoder", "builtin"], 1.0),
        (&["--encoder", "none"], 0.0),
        (&["--mode", "keyword"], 0.0),
    ] {
        let measured = run(&scratch, &[&set[..], more].concat());
        assert_eq!((measured.code, measured.stderr.as_str()), (Some(0), ""), "{more:?}");
        near(&measured.json()["recall@1"], recall);
    }
}

#[test]
fn a_set_that_cannot_be_read_is_refused_with_the_place() {
    let scratch = scratch();
    scratch.write("empty.jsonl", "\n");
    scratch.write("broken.jsonl", "{\"id\":\"1\"}\n");
    scratch.write("twice.jsonl", format!("{TOOLS}{TOOLS}"));
    for (args, said) in [
        (["--queries", "gone.jsonl", "--mode", "keyword"], "`gone.jsonl` cannot be read"),
        (["--queries", "empty.jsonl", "--mode", "keyword"], "`empty.jsonl` has no requests"),
        (["--queries", "broken.jsonl", "--mode", "keyword"], "line 1 cannot be read"),
        (["--queries", "requests.jsonl", "--tools", "broken.jsonl"], "line 1 cannot be read"),
        (["--queries", "requests.jsonl", "--tools", "twice.jsonl"], "another tool has the id"),
    ] {
        let refused = run(&scratch, &[&["eval", "search"][..], &args].concat());
        assert!(matches!(refused.code, Some(1 | 2)), "{said}");
        assert!(refused.stderr.contains(said), "{said} is not in {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

/// A server with three tools, two of which are indistinguishable.
const TWINS: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case $line in
    *'"initialize"'*) said='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
    *'"tools/list"'*) said='"result":{"tools":[{"name":"get_a","description":"Fetch the weekly report.","inputSchema":{"type":"object"}},{"name":"get_b","description":"Fetch the weekly report.","inputSchema":{"type":"object"}},{"name":"delete_all","description":"Empty the waste basket.","inputSchema":{"type":"object"}}]}' ;;
    *'"id"'*) said='"error":{"code":-32601,"message":"unknown"}' ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$said"
done
"#;

#[test]
fn tools_that_nobody_can_tell_apart_are_named_with_advice() {
    let scratch = Scratch::new();
    scratch.write("twins.sh", TWINS);
    scratch.write("gatefold.toml", "sources.twins = { command = 'sh', args = ['twins.sh'] }");
    let examined = run(&scratch, &["eval", "catalog", "--json"]);
    assert_eq!((examined.code, examined.stderr.as_str()), (Some(0), ""));
    let report = examined.json();
    assert_eq!((&report["tools"], &report["hidden"]), (&json!(3), &json!([])));
    let pairs = report["confusable"].as_array().unwrap();
    let mut pairs: Vec<_> =
        pairs.iter().map(|pair| [&pair["tool"], &pair["other"]].map(Value::as_str)).collect();
    pairs.sort_unstable();
    let (a, b) = (Some("twins__get_a"), Some("twins__get_b"));
    assert_eq!(pairs, [[a, b], [b, a]]);
    let shown = run(&scratch, &["eval", "catalog"]);
    assert!(shown.stdout.contains("Hard to tell apart:"), "{}", shown.stdout);
    let (told_apart, costs) = shown.stdout.split_once("The most expensive definitions").unwrap();
    assert!(!told_apart.contains("delete_all") && costs.contains("delete_all"), "{costs}");
    let costs = report["definitions"].as_array().unwrap();
    let sum: u64 = costs.iter().map(|cost| cost["tokens"].as_u64().unwrap()).sum();
    assert_eq!((costs.len(), &json!(sum)), (3, &report["tokens"]));
}

#[test]
fn an_encoder_that_cannot_be_opened_is_not_measured_without() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path().join("empty")).unwrap();
    scratch.write("gatefold.toml", two_sources(&scratch) + "[search]\nencoder = 'empty'\n");
    scratch.write("tasks.jsonl", r#"{"request":"report a bug","tools":[]}"#);
    let set = ["eval", "search", "--queries", "requests.jsonl"];
    let named = ["--tools", "tools.jsonl", "--encoder", "empty"];
    let agent = ["agent", "tasks.jsonl", "--model", "m", "--model-url", "http://127.0.0.1:1/v1"];
    for command in [
        [&set[..], &named].concat(),
        set.to_vec(),
        vec!["eval", "catalog"],
        [&["eval"][..], &agent].concat(),
    ] {
        for json in [&[][..], &["--json"]] {
            let refused = run(&scratch, &[&command[..], json].concat());
            let said = format!("{}{}", refused.stdout, refused.stderr);
            assert_eq!(refused.code, Some(1), "{said}");
            assert!(said.contains("/empty` cannot be used: "), "{said}");
            assert!(said.contains("`gatefold model get` downloads one"), "{said}");
            assert!(!said.contains("recall"), "{said}");
        }
    }
    for more in [&["--tools", "tools.jsonl"][..], &["--mode", "keyword"]] {
        let measured = run(&scratch, &[&set[..], more].concat());
        let said = (measured.code, measured.stderr.contains("the encoder"));
        assert_eq!(said, (Some(0), false), "{more:?} need not have the configured one");
    }
}
