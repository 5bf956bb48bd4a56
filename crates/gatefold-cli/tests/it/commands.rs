//! The one-shot commands: what they print, and how they exit.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use crate::process::{LIMIT, command, run, run_with_input, two_sources};
use crate::scratch::Scratch;

fn scratch_with_sources() -> Scratch {
    let scratch = Scratch::new();
    let config = two_sources(&scratch);
    scratch.write("gatefold.toml", config);
    scratch
}

/// The text with variable parts made constant: times, numbers above 999, the width of columns and
/// the demonstration's wording.
fn steady(text: &str) -> String {
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit() || b == b',');
    let steady_line = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let is_time = |at: usize| words.get(at + 1) == Some(&"ms");
        let steady = words.iter().enumerate().map(|(at, word)| {
            let varies = is_number(word) && (is_time(at) || word.contains(','));
            if varies { "N" } else { word }
        });
        steady.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(steady_line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_check_names_each_failure_with_its_fix_and_fails() {
    let scratch = Scratch::new();
    let broken = "[sources.gone]\ncommand = 'no-such-program'\n\
                  [sources.joined]\ncommand = 'no-such-program --flag'\n\
                  [sources.off]\ncommand = 'x'\nenabled = false\n\
                  [sources.quits]\ncommand = 'sh'\nargs = ['-c', 'echo oops >&2; exit 3']\n\
                  [disclosure]\npinned = ['nothing__*']\n";
    scratch.write("gatefold.toml", two_sources(&scratch) + broken);
    scratch.write("mcp.json", r#"{"mcpServers": {"old": {"type": "sse", "url": "http://x"}}}"#);
    let args = ["check", "--config", "gatefold.toml", "--mcp-config", "mcp.json"];
    let checked = run(&scratch, &args);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(1), ""));
    insta::assert_snapshot!(steady(&checked.stdout), @r#"
    domain state protocol tools tokens took
    gone failed 0 0 N ms
    issues ok 2026-07-28 14 N N ms
    joined failed 0 0 N ms
    off disabled 0 0
    old failed 0 0 N ms
    quits failed 0 0 N ms
    units ok 2026-07-28 10 N N ms

    24 tools: N tokens if a model is shown them all

    failed gone: `no-such-program` was not found; install it, or give its full path
    configured in gatefold.toml:7

    failed joined: `no-such-program --flag` was not found; install it, or give its full path
    help: `command` is only the program; put its arguments in `args`
    configured in gatefold.toml:9

    failed old: `mcpServers.old` speaks HTTP+SSE, which Gatefold does not support yet; use the server's streamable HTTP address with `"type": "http"` (mcp.json:1:24)
    configured in mcp.json:1

    failed quits: the server exited with code 3; it last wrote: oops
    configured in gatefold.toml:14

    note `disclosure.pinned` matches no tool: nothing__*
    "#);
}

#[test]
fn a_check_of_sources_that_work_succeeds() {
    let scratch = scratch_with_sources();
    let checked = run(&scratch, &["check", "--json"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    let mut found = checked.json();
    for source in found["sources"].as_array_mut().unwrap() {
        assert!(source["took_ms"].take().is_u64() && source["since"].take().is_u64());
        assert!(source["tokens"].take().as_u64().unwrap() > 1000);
        assert!(source["state"] == "running" && source["calls_in_flight"] == 0);
    }
    found["tokens"].take();
    insta::assert_snapshot!(format!("{found:#}"), @r#"
    {
      "ok": true,
      "sources": [
        {
          "domain": "issues",
          "state": "running",
          "since": null,
          "protocol": "2026-07-28",
          "sessions": 1,
          "breaker": "closed",
          "tools": 14,
          "prompts": 0,
          "resources": 0,
          "calls_in_flight": 0,
          "calls_waiting": 0,
          "traffic": {
            "calls": 0,
            "errors": 0
          },
          "origin": "gatefold.toml:1",
          "visible_tools": 14,
          "tokens": null,
          "took_ms": null
        },
        {
          "domain": "units",
          "state": "running",
          "since": null,
          "protocol": "2026-07-28",
          "sessions": 1,
          "breaker": "closed",
          "tools": 10,
          "prompts": 0,
          "resources": 0,
          "calls_in_flight": 0,
          "calls_waiting": 0,
          "traffic": {
            "calls": 0,
            "errors": 0
          },
          "origin": "gatefold.toml:4",
          "visible_tools": 10,
          "tokens": null,
          "took_ms": null
        }
      ],
      "tools": 24,
      "tokens": null,
      "faults": [],
      "warnings": []
    }
    "#);
}

#[test]
fn tools_are_listed_found_and_shown() {
    let scratch = scratch_with_sources();
    let list = run(&scratch, &["tools", "list", "--json"]).json();
    assert_eq!(list["tools"].as_array().unwrap().len(), 24);
    assert_eq!(list["tools"][0]["domain"], "issues");
    let units = run(&scratch, &["tools", "list", "--domain", "units"]).stdout;
    assert!(units.lines().skip(1).all(|line| line.starts_with("units__")), "{units}");
    let found = run(&scratch, &["tools", "search", "report", "an", "issue", "--json"]).json();
    assert_eq!(found["query"], "report an issue");
    assert!(found["tools"].as_array().unwrap().len() <= 10);
    assert_eq!(found["fit"], "likely");
    let schemas =
        run(&scratch, &["tools", "schema", "create_issue", "units__evaluate_expression", "--json"]);
    let names: Vec<_> =
        schemas.json()["tools"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    assert_eq!(names, ["issues__create_issue", "units__evaluate_expression"]);
    assert_eq!(schemas.json()["tools"][0]["parameters"]["type"], "object");
    let shown = run(&scratch, &["tools", "schema", "create_issue"]).stdout;
    assert!(shown.starts_with("issues__create_issue  issues / "), "{shown}");
}

#[test]
fn a_search_says_how_well_its_tools_fit() {
    let scratch = scratch_with_sources();
    let search = |query: &str, more: &[&str]| {
        run(&scratch, &[&["tools", "search", query][..], more].concat())
    };
    for (query, fit, said) in [
        ("units__evaluate_expression", "exact", None),
        ("report an issue", "likely", None),
        ("zzz qqq", "none", Some("No tool fits the query. These are merely the nearest.\n")),
    ] {
        assert_eq!(search(query, &["--json"]).json()["fit"], fit, "{query}");
        let shown = search(query, &[]).stdout;
        assert_eq!(shown.starts_with("No tool"), said.is_some(), "{shown}");
        assert!(shown.starts_with(said.unwrap_or_default()), "{shown}");
    }
}

#[test]
fn a_call_takes_arguments_in_three_ways() {
    let scratch = scratch_with_sources();
    let create = ["tools", "call", "create_issue", "--json"];
    let title = |args: &[&str], input: &str| {
        let args = [&create[..], args].concat();
        let called = run_with_input(&scratch, &args, input).json();
        called["result"]["structuredContent"]["title"].clone()
    };
    assert_eq!(title(&["--arguments", r#"{"title": "one"}"#], ""), "one");
    assert_eq!(title(&["--arguments", "-"], r#"{"title": "two"}"#), "two");
    assert_eq!(title(&["--arg", "title=3", "--arg", r#"labels=["a"]"#], ""), "3");
    let list = run(&scratch, &["tools", "call", "count_issues", "--arg", "by=state"]);
    assert_eq!(list.code, Some(0), "{}", list.stderr);
    assert!(list.stdout.starts_with("{\n"), "{}", list.stdout);
}

#[test]
fn what_fails_exits_with_1_and_says_so() {
    let scratch = scratch_with_sources();
    for (args, message) in [
        (&["tools", "call", "create_isue"][..], "did you mean `issues__create_issue`"),
        (&["tools", "schema", "nothing_like_it"], "unknown tool `nothing_like_it`"),
        (&["tools", "list", "--domain", "nope"], "the domains are issues, units"),
        (&["tools", "call", "create_issue", "--arg", "x=1"], "unknown field `x`"),
    ] {
        let failed = run(&scratch, args);
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""), "{args:?}");
        assert!(failed.stderr.contains(message), "{args:?}: {}", failed.stderr);
    }
    let failed = run(&scratch, &["tools", "call", "create_isue", "--json"]);
    assert_eq!(failed.code, Some(1));
    assert_eq!(failed.json()["error"], "unknown tool `create_isue`");
    assert!(failed.json()["help"].as_str().unwrap().contains("`issues__create_issue`"));
}

#[test]
fn a_list_without_a_source_asked_for_fails() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch) + "[sources.gone]\ncommand = 'no-such'");
    let whole = run(&scratch, &["tools", "list"]);
    assert_eq!(whole.code, Some(1), "{}", whole.stderr);
    assert!(whole.stdout.contains("units__"), "known tools are listed anyway");
    assert_eq!(run(&scratch, &["tools", "list", "--domain", "gone"]).code, Some(1));
    assert_eq!(run(&scratch, &["tools", "list", "--domain", "units"]).code, Some(0));
}

#[test]
fn a_source_that_fails_is_told_once() {
    let scratch = Scratch::new();
    let gone = "[sources.gone]\ncommand = 'no-such-program'\n";
    scratch.write("gatefold.toml", two_sources(&scratch) + gone);
    let warning = "warning: source `gone` is left out: `no-such-program` was not found; install it, \
                   or give its full path\n";
    for args in
        [&["tools", "list"][..], &["tools", "search", "issue"], &["tools", "list", "--json"]]
    {
        assert_eq!(run(&scratch, args).stderr, warning, "{args:?}");
    }
    let logged = run(&scratch, &["tools", "list", "--log", "warn"]).stderr;
    assert!(logged.contains("WARN") && logged.contains(warning), "{logged}");
}

#[test]
fn an_unknown_tool_where_there_are_none_says_why_there_are_none() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.gone]\ncommand = 'no-such-program'\n");
    scratch.write("empty.toml", "");
    for (args, help) in [
        (&["tools", "call", "x"][..], "no source could be reached; `gatefold check` says why"),
        (&["tools", "schema", "x", "--config", "empty.toml"], "no source is configured; "),
        (
            &["tools", "list", "--domain", "x", "--config", "empty.toml"],
            "no source is configured; ",
        ),
    ] {
        let failed = run(&scratch, args);
        assert_eq!(failed.code, Some(1));
        assert!(failed.stderr.contains(&format!("help: {help}")), "{args:?}: {}", failed.stderr);
    }
}

#[test]
fn init_writes_the_file_that_the_command_line_names() {
    let scratch = Scratch::new();
    for (args, written) in [
        (&["init", "--config", "other.toml"][..], "other.toml"),
        (&["--config", "before.toml", "init"], "before.toml"),
        (&["init", "--path", "path.toml"], "path.toml"),
    ] {
        let said = run(&scratch, args);
        assert_eq!(said.code, Some(0), "{args:?}: {}", said.stderr);
        assert!(said.stdout.starts_with(&format!("wrote {written}\n")), "{}", said.stdout);
        let import = format!("`gatefold import --config {written}`");
        assert!(said.stdout.contains(&import), "{}", said.stdout);
        assert!(scratch.path().join(written).is_file());
    }
    for other in [&["--path", "a.toml"][..], &["--user"]] {
        let refused = run(&scratch, &[&["init", "--config", "b.toml"], other].concat());
        assert_eq!(refused.code, Some(2), "{other:?}");
        assert!(refused.stderr.contains("both say where to write"), "{}", refused.stderr);
    }
    for name in ["gatefold.toml", "a.toml", "b.toml"] {
        assert!(!scratch.path().join(name).exists(), "{name}");
    }
    let said = run(&scratch, &["init"]).stdout;
    assert!(said.contains("`gatefold import --config gatefold.toml`"), "{said}");
    assert!(said.contains("`gatefold check`"), "{said}");
}

#[test]
fn a_file_that_cannot_be_read_exits_with_2_whoevers_it_is() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join(".cursor/mcp.json")).unwrap();
    scratch.write("right.toml", two_sources(&scratch));
    for args in [
        &["check", "--mcp-config", ".cursor/mcp.json"][..],
        &["check", "--config", ".cursor/mcp.json"],
        &["connect", "cursor", "--yes", "--config", "right.toml"],
        &["connect", "cursor", "--yes", "--config", ".cursor/mcp.json"],
    ] {
        let failed = run(&scratch, args);
        assert_eq!(failed.code, Some(2), "{args:?}: {}{}", failed.stdout, failed.stderr);
        assert!(failed.stderr.contains("cannot be read"), "{args:?}: {}", failed.stderr);
    }
}

#[test]
fn what_is_wrong_with_the_command_line_or_the_configuration_exits_with_2() {
    let scratch = Scratch::new();
    scratch.write("wrong.toml", "[sources.a]\ncomand = 'x'");
    scratch.write("right.toml", two_sources(&scratch));
    let right = |args: &[&'static str]| [args, &["--config", "right.toml"]].concat();
    for (args, message) in [
        (vec!["check"], "no configuration found"),
        (vec!["check", "--config", "none.toml"], "none.toml: cannot be read"),
        (vec!["serve", "--config", "wrong.toml"], "wrong.toml:2:1: `sources.a.comand`"),
        (vec!["stdio", "--config", "wrong.toml"], "did you mean `command`?"),
        (vec!["serve", "--listen", "nowhere"], "such as 127.0.0.1:8420"),
        (vec!["frobnicate"], "unrecognized subcommand"),
        (right(&["status", "--log", "=="]), "is not a filter"),
        (right(&["tools", "call", "create_issue", "--arguments", "[1]"]), "is not a JSON object"),
        (right(&["tools", "call", "create_issue", "--arguments", "{"]), "is not JSON"),
        (right(&["tools", "call", "create_issue", "--arg", "a"]), "KEY=VALUE"),
        (right(&["tools", "call", "create_issue", "--arg", "a=1", "--arg", "a=2"]), "given twice"),
    ] {
        let failed = run(&scratch, &args);
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(failed.stderr.contains(message), "{args:?}: {}", failed.stderr);
    }
    let failed = run(&scratch, &["check", "--json", "--config", "wrong.toml"]);
    assert_eq!(failed.code, Some(2));
    insta::assert_snapshot!(format!("{:#}", failed.json()), @r#"
    {
      "error": "the configuration is wrong",
      "faults": [
        {
          "file": "wrong.toml",
          "line": 1,
          "column": 10,
          "key": "sources.a",
          "message": "says neither what to start nor where to connect",
          "hint": "give `command` for a program on this machine, or `url` for a server over HTTP, or `openapi` for an HTTP API with an OpenAPI description, or `actions` for an HTTP API whose operations you write down, or `database` for a database, or `builtin` for built-in tools, or `skills` for a folder of skills, or `knowledge` for documents to search and quote"
        },
        {
          "file": "wrong.toml",
          "line": 2,
          "column": 1,
          "key": "sources.a.comand",
          "message": "is not a known key",
          "hint": "did you mean `command`?"
        }
      ]
    }
    "#);
}

#[test]
fn a_status_without_a_running_gateway_tells_what_is_on_record() {
    let scratch = scratch_with_sources();
    run(&scratch, &["tools", "call", "count_issues", "--arg", "by=state"]);
    let args = ["status", "--listen", "127.0.0.1:1"];
    let status = run(&scratch, &args);
    assert_eq!(status.code, Some(0));
    let text = status.stdout.replace(&scratch.path().display().to_string(), "HOME");
    insta::assert_snapshot!(steady(&text), @r"
    not running: no gateway runs on 127.0.0.1:1

    domain state protocol tools in flight waiting
    issues known 2026-07-28 14 0 0
    units known 2026-07-28 10 0 0

    a model is given 516 tokens; all definitions: not counted yet
    calls on record: 1 done
    discoveries on record: 0
    state directory: HOME/.local/state/gatefold
    ");
    let status = run(&scratch, &[&args[..], &["--json"]].concat()).json();
    assert_eq!(status["running"], Value::Null);
    assert_eq!(status["state"]["calls"]["outcomes"][0]["calls"], json!(1));
    assert_eq!(status["state"]["sources"][0]["tools"], json!(14));
}

#[test]
fn a_status_of_something_that_never_answers_tells_what_is_on_record() {
    let scratch = scratch_with_sources();
    // The system accepts connections to it, and nothing ever reads from them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let started = Instant::now();
    let status = run(&scratch, &["status", "--listen", &address]);
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    assert_eq!(status.code, Some(0), "{}", status.stderr);
    let says = format!(
        "not running: something listens on {address} but does not answer\n  \
         help: see `gatefold doctor`\n"
    );
    assert!(status.stdout.starts_with(&says), "{}", status.stdout);
    assert!(status.stdout.contains("calls on record: none"), "{}", status.stdout);
    let status = run(&scratch, &["status", "--json", "--listen", &address]).json();
    assert_eq!(status["running"], Value::Null);
    assert_eq!(status["state"]["sources"].as_array().unwrap().len(), 2);

    let mut watching = command(&scratch, &["status", "--watch", "--listen", &address])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(watching.stdout.take().unwrap()).read_line(&mut line).unwrap();
    watching.kill().unwrap();
    watching.wait().unwrap();
    assert!(line.contains("does not answer; help: see `gatefold doctor`"), "{line}");
}

#[test]
fn tokens_are_counted_exactly() {
    let scratch = Scratch::new();
    let counted =
        run_with_input(&scratch, &["count-tokens"], "\"hello world\"\n\"\"\n\"<|endoftext|>\"");
    assert_eq!(counted.stdout, "2\n0\n7\n");
    let both = ["count-tokens", "o200k", "cl100k"];
    assert_eq!(run_with_input(&scratch, &both, "\"naïveté 工具箱\"").stdout, "7 8\n");
    assert_eq!(run_with_input(&scratch, &["count-tokens"], "hello").code, Some(1));
}

#[test]
fn a_secret_shows_nowhere() {
    let scratch = Scratch::new();
    let secret = "[sources.remote]\nurl = 'http://127.0.0.1:1/mcp?key=${TOKEN}'\n\
                  headers = { Authorization = 'Bearer ${TOKEN}' }\n\
                  [sources.local]\ncommand = 'false'\nargs = ['${TOKEN}']\nenv = { K = '${TOKEN}' }\n";
    scratch.write("gatefold.toml", secret);
    for args in [&["check"][..], &["check", "--json"], &["tools", "list"], &["status", "--json"]] {
        let shown =
            run(&scratch, &[args, &["--log", "gatefold=trace,gatefold_mcp=trace,warn"]].concat());
        let all = shown.stdout + &shown.stderr;
        assert!(!all.contains("s3cret"), "{args:?}: {all}");
    }
}

#[test]
fn a_check_without_sources_says_what_to_do_next_and_fails() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[limits]\nnesting = 4\n");
    let checked = run(&scratch, &["check"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    assert!(checked.stdout.starts_with("no source is configured; `gatefold import`"));
    assert!(checked.stdout.contains("`gatefold add` adds one"));
    let checked = run(&scratch, &["check", "--json"]);
    assert_eq!((checked.code, &checked.json()["ok"]), (Some(1), &json!(false)));
}
