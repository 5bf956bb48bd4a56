//! Models measured under each way to show tools.

use std::sync::atomic::{AtomicUsize, Ordering};

use gatefold_testkit::model::{Move, Prompt, ScriptedModel};
use serde_json::{Value, json};

use crate::process::{Run, command, ended, run, run_with_input, two_sources};
use crate::scratch::Scratch;

const DISCLOSURES: [&str; 6] = ["gateway", "namespace", "typed", "intent", "flat", "auto"];

const COUNT: &str = r#"{"request":"Count issues by state","tools":["issues__count_issues"],"arguments":{"by":"state"},"check":"counts"}"#;
const GREET: &str = r#"{"request":"Greet me","tools":[],"check":{"contains":"hello"}}"#;

fn scratch(tasks: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch));
    scratch.write("tasks.jsonl", tasks.join("\n"));
    scratch
}

fn eval(scratch: &Scratch, model: &ScriptedModel, more: &[&str]) -> Run {
    let url = model.url();
    let own = ["eval", "agent", "tasks.jsonl", "--model-url", &url, "--model", "scripted"];
    run(scratch, &[&own[..], more].concat())
}

/// The report of a measurement in which no run failed.
#[track_caller]
fn measured(run: &Run) -> Value {
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    run.json()
}

/// What is reported of a disclosure.
fn summary<'a>(report: &'a Value, disclosure: &str) -> &'a Value {
    let all = report["disclosures"].as_array().unwrap();
    all.iter().find(|one| one["disclosure"] == disclosure).unwrap()
}

/// How often something was so, and among how many.
fn share(summary: &Value, name: &str) -> (u64, u64) {
    let number =
        |key: &str| summary[name][key].as_u64().unwrap_or_else(|| panic!("{name}: {summary}"));
    (number("count"), number("of"))
}

/// The next step to one tool, from what a model was told before; then the last answer.
///
/// It knows the tool's own name and the words of its goal, and no id.
fn seek(prompt: &Prompt, goal: &str, own_name: &str, arguments: &Value) -> Move {
    let steps = prompt.told().len();
    let found = || prompt.told_json(0);
    let last = || Move::Say(prompt.told().last().unwrap().to_string());
    if prompt.has("get_tool_schema") {
        return match steps {
            0 => Move::call("discover_tools", &json!({ "query": goal })),
            1 => Move::call(
                "get_tool_schema",
                &json!({ "tool_name": found()["results"][0]["name"] }),
            ),
            2 => {
                let name = &prompt.told_json(1)["name"];
                Move::call("execute_tool", &json!({ "tool_name": name, "arguments": arguments }))
            }
            _ => last(),
        };
    }
    if prompt.has("discover_tools") {
        return match steps {
            0 => Move::call("discover_tools", &json!({ "intent": goal })),
            1 => {
                let name = &found()["tools"][0]["name"];
                Move::call("execute_tool", &json!({ "tool_name": name, "arguments": arguments }))
            }
            _ => last(),
        };
    }
    if prompt.has("mcp") {
        let step = |mut own: Value| {
            own["server"] = json!("issues");
            own["tool"] = json!(own_name);
            Move::call("mcp", &own)
        };
        return match steps {
            0 => step(json!({ "subcommand": "discover" })),
            1 => step(json!({ "subcommand": "call", "parameters": arguments })),
            _ => last(),
        };
    }
    if prompt.has("issues__get_tool_schema") {
        return match steps {
            0 => Move::call("issues__get_tool_schema", &json!({ "tool_name": own_name })),
            1 => {
                let call = json!({ "tool_name": own_name, "arguments": arguments });
                Move::call("issues__invoke_tool", &call)
            }
            _ => last(),
        };
    }
    let mut names = prompt.functions().map(|function| function["name"].as_str().unwrap());
    let direct = names.find(|name| name.ends_with(own_name)).unwrap();
    if steps == 0 { Move::call(direct, arguments) } else { last() }
}

fn count(prompt: &Prompt) -> Move {
    seek(prompt, "count issues by state", "count_issues", &json!({ "by": "state" }))
}

fn is_flat(prompt: &Prompt) -> bool {
    prompt.has("issues__count_issues")
}

#[test]
fn a_model_that_does_well_does_so_under_each_disclosure() {
    let model = ScriptedModel::start(|prompt| match prompt.request() {
        "Greet me" => Move::say("Hello!"),
        _ => count(prompt),
    });
    let scratch = scratch(&[COUNT, "", GREET]);
    let report = measured(&eval(&scratch, &model, &["--json"]));
    assert_eq!((&report["tasks"], &report["model"]), (&json!(2), &json!("scripted")));
    let names = report["disclosures"].as_array().unwrap().iter().map(|one| &one["disclosure"]);
    assert_eq!(names.collect::<Vec<_>>(), DISCLOSURES);
    for (disclosure, steps) in DISCLOSURES.into_iter().zip([4, 3, 3, 3, 2, 2]) {
        let one = summary(&report, disclosure);
        for right in ["right_tool", "right_arguments"] {
            assert_eq!(share(one, right), (1, 1), "{disclosure} {right}: {report:#}");
        }
        assert_eq!(share(one, "right_answer"), (2, 2), "{disclosure}: {report:#}");
        assert_eq!(share(one, "invented"), (0, 2), "{disclosure}");
        assert_eq!((share(one, "overcalled"), share(one, "miscounted")), ((0, 1), (0, 1)));
        let turns = f64::from(steps + 1) / 2.0;
        assert_eq!((&one["turns"], &one["tokens"]), (&json!(turns), &json!(turns * 100.0)));
    }
    let runs = report["runs"].as_array().unwrap();
    let lines: Vec<_> = runs.iter().map(|run| run["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [1, 3].repeat(DISCLOSURES.len()));
    assert_eq!(runs[0]["calls"][0]["tool"], "issues__count_issues");
    assert_eq!((&runs[0]["ended"], &runs[1]["calls"]), (&json!("answered"), &json!([])));
}

#[test]
fn each_call_is_on_record_as_that_of_any_client() {
    let model = ScriptedModel::start(count);
    let scratch = scratch(&[COUNT]);
    measured(&eval(&scratch, &model, &["--json"]));
    let calls = run(&scratch, &["calls", "--json"]).json();
    let calls = calls["calls"].as_array().unwrap();
    assert_eq!(calls.len(), DISCLOSURES.len());
    for call in calls {
        assert_eq!(
            (&call["tool"], &call["outcome"]),
            (&json!("issues__count_issues"), &json!("done"))
        );
        assert_eq!(call["client"], "gatefold-eval");
    }
    let learnt = run(&scratch, &["queries", "--json"]).json();
    assert_eq!(learnt["queries"], json!([]), "what one disclosure finds must not help the next");
}

#[test]
fn a_model_that_does_worse_under_one_disclosure_is_found_out() {
    let model = ScriptedModel::start(|prompt| match (prompt.request(), is_flat(prompt)) {
        ("Greet me", false) => Move::say("Hello!"),
        (_, false) => count(prompt),
        _ if !prompt.told().is_empty() => Move::say("I am done."),
        ("Greet me", true) => Move::call("units__list_units", &json!({})),
        (_, true) => Move::Call(vec![
            ("issues__list_comments".to_owned(), r#"{"colour":"red"}"#.to_owned()),
            ("units__list_units".to_owned(), "{}".to_owned()),
        ]),
    });
    let scratch = scratch(&[&[COUNT; 6][..], &[GREET]].concat());
    let both = ["--disclosure", "gateway", "--disclosure", "flat", "--disclosure", "gateway"];
    let report = measured(&eval(&scratch, &model, &[&both[..], &["--json"]].concat()));
    assert_eq!(report["disclosures"].as_array().unwrap().len(), 2);
    let (gateway, flat) = (summary(&report, "gateway"), summary(&report, "flat"));
    assert_eq!((share(gateway, "right_tool"), share(flat, "right_tool")), ((6, 6), (0, 6)));
    assert_eq!((share(gateway, "invented"), share(flat, "invented")), ((0, 7), (6, 7)));
    assert_eq!((share(gateway, "overcalled"), share(flat, "overcalled")), ((0, 1), (1, 1)));
    assert_eq!((share(gateway, "miscounted"), share(flat, "miscounted")), ((0, 6), (6, 6)));
    assert_eq!((share(gateway, "right_answer"), share(flat, "right_answer")), ((7, 7), (0, 7)));
    let against = &flat["against_first"];
    let pairs = ["pairs", "better", "worse"].map(|name| against[name].as_u64().unwrap());
    assert_eq!(pairs, [6, 0, 6]);
    assert!((against["p"].as_f64().unwrap() - 2.0 / 64.0).abs() < 1e-9, "{against}");
    assert_eq!(gateway["against_first"], Value::Null);
    let low = gateway["right_tool"]["low"].as_f64().unwrap();
    assert!((low - 0.6097).abs() < 1e-4, "{low}");
    let run = report["runs"].as_array().unwrap().iter().find(|run| run["disclosure"] == "flat");
    assert_eq!(run.unwrap()["calls"][0]["undeclared"], json!(["colour"]));
    let shown = eval(&scratch, &model, &both);
    for text in ["7 tasks, model: scripted", "100 % (61-100)", "0 % (0-39)", "0.031", "`gateway`"] {
        assert!(shown.stdout.contains(text), "`{text}` is not in {}", shown.stdout);
    }
}

#[test]
fn calls_that_write_are_refused_unless_they_are_allowed() {
    let model = ScriptedModel::start(|prompt| {
        let arguments = json!({ "title": "The kettle leaks" });
        seek(prompt, "report a new issue", "create_issue", &arguments)
    });
    let task = r#"{"request":"Report that the kettle leaks","tools":["create_issue"]}"#;
    let issues = |scratch: &Scratch| {
        let search =
            ["tools", "call", "issues__search_issues", "--arg", "query=kettle leaks", "--json"];
        run(scratch, &search).json()["result"]["structuredContent"].to_string()
    };
    for disclosure in DISCLOSURES {
        let scratch = scratch(&[task]);
        let one = ["--json", "--disclosure", disclosure];
        let report = measured(&eval(&scratch, &model, &one));
        assert_eq!(share(summary(&report, disclosure), "right_tool"), (1, 1), "{report:#}");
        assert_eq!(report["runs"][0]["calls"][0]["outcome"], "approval", "{report:#}");
        let told = model.requests().pop().unwrap();
        assert!(told.contains("only tools that just read are called"), "{told}");
        assert!(!issues(&scratch).contains("leaks"), "{disclosure}");
        let waiting = run(&scratch, &["approvals", "list", "--json"]).stdout;
        assert!(!waiting.contains("create_issue"), "nobody is asked later: {waiting}");
        let report = measured(&eval(&scratch, &model, &[&one[..], &["--allow-writes"]].concat()));
        assert_eq!(report["runs"][0]["calls"][0]["outcome"], "done", "{report:#}");
        assert!(issues(&scratch).contains("leaks"), "{disclosure}: {}", issues(&scratch));
    }
}

const GATEWAY: [&str; 3] = ["--json", "--disclosure", "gateway"];

#[test]
fn a_model_that_never_comes_to_an_end_is_stopped() {
    let model = ScriptedModel::start(|_| Move::call("discover_tools", &json!({ "query": "x" })));
    let scratch = scratch(&[COUNT]);
    let report = measured(&eval(&scratch, &model, &[&GATEWAY[..], &["--turns", "3"]].concat()));
    let run = &report["runs"][0];
    assert_eq!(
        (&run["ended"], &run["turns"], &run["tokens"]),
        (&json!("turns"), &json!(4), &json!(400)),
        "the last answer has no tools"
    );
    assert_eq!((&run["right_tool"], &run["right_answer"]), (&json!(false), &json!(false)));
    assert_eq!(model.requests().len(), 4);
}

#[test]
fn a_task_can_follow_an_earlier_conversation_and_its_calls_be_forced_to_be_json() {
    let count = r#"{"tool":"execute_tool","arguments":{"tool_name":"issues__count_issues","arguments":{"by":"state"}}}"#;
    let model = ScriptedModel::start(|prompt| {
        let whole = prompt.whole().to_string();
        assert!(prompt.functions().next().is_none() && whole.contains("next_step"), "{whole}");
        assert!(whole.contains("My cat is called Tom") && whole.contains("What a name"), "{whole}");
        let is_called = whole.contains("Result of execute_tool");
        Move::say(if is_called { r#"{"answer":"Those are the counts."}"# } else { count })
    });
    let task = r#"{"before":[{"user":"My cat is called Tom","assistant":"What a name"}],"#;
    let scratch = scratch(&[&COUNT.replacen('{', task, 1)]);
    let report =
        measured(&eval(&scratch, &model, &[&GATEWAY[..], &["--tool-calls", "json"]].concat()));
    let run = &report["runs"][0];
    assert_eq!((&run["right_arguments"], &run["right_answer"]), (&json!(true), &json!(true)));
}

#[test]
fn what_a_model_writes_wrongly_is_told_to_it_and_calls_nothing() {
    let model = ScriptedModel::start(|prompt| match prompt.told().as_slice() {
        [] => Move::Call(vec![
            ("execute_tool".to_owned(), "{tool_name: count".to_owned()),
            ("execute_tool".to_owned(), "[1]".to_owned()),
            ("x".repeat(600), "{}".to_owned()),
            ("dance".to_owned(), String::new()),
            (
                "execute_tool".to_owned(),
                r#"{"tool_name":"issues__dance","arguments":{}}"#.to_owned(),
            ),
        ]),
        told => Move::say(&told.join(" | ")),
    });
    let scratch = scratch(&[
        r#"{"request":"Dance","tools":[],"check":{"contains":["are not JSON","are not a JSON object","no such tool"]}}"#,
    ]);
    let report = measured(&eval(&scratch, &model, &GATEWAY));
    let run = &report["runs"][0];
    assert_eq!(
        (&run["right_answer"], &run["overcalled"]),
        (&json!(true), &json!(false)),
        "{report:#}"
    );
    assert!(run["calls"].as_array().unwrap().iter().all(|call| call["is_known"] == false), "{run}");
    let second = model.requests().pop().unwrap();
    assert!(!second.contains("{tool_name: count"), "endpoints refuse what is no JSON: {second}");
}

#[test]
fn tokens_are_counted_where_the_endpoint_reports_none() {
    let model = ScriptedModel::reporting(None, count);
    let scratch = scratch(&[COUNT]);
    let mut seen = 0;
    for disclosure in DISCLOSURES {
        let report = measured(&eval(&scratch, &model, &["--json", "--disclosure", disclosure]));
        let one = summary(&report, disclosure);
        let requests = model.requests().split_off(seen);
        seen += requests.len();
        let bodies = requests.iter().map(|request| request.split_once("\n\n").unwrap().1);
        let lines: Vec<_> = bodies.map(|body| json!(body).to_string()).collect();
        let counts = run_with_input(&scratch, &["count-tokens"], &lines.join("\n")).stdout;
        let sent: f64 = counts.lines().map(|count| count.parse::<f64>().unwrap()).sum();
        // The answers and the punctuation between messages make the difference.
        let tokens = one["tokens"].as_f64().unwrap();
        assert!((tokens - sent).abs() < sent * 0.15, "{disclosure}: {tokens} for {sent}");
        assert_eq!(one["tokens_counted"], true);
    }
}

#[test]
fn an_endpoint_that_is_busy_is_asked_again() {
    let asked = AtomicUsize::new(0);
    let model = ScriptedModel::start(move |prompt| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => Move::Fail("429 Too Many Requests", "retry-after: 0\r\n", "{}"),
        1 => Move::Fail("503 Service Unavailable", "retry-after: 0\r\n", "busy"),
        _ => count(prompt),
    });
    let scratch = scratch(&[COUNT]);
    let report = measured(&eval(&scratch, &model, &GATEWAY));
    assert_eq!(report["runs"][0]["right_tool"], true);
    assert_eq!(model.requests().len(), 6);
}

/// The reasons of failed runs.
fn failures(run: &Run) -> Vec<String> {
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let report = run.json();
    let failures = report["failures"].as_array().unwrap().iter();
    failures.map(|failure| failure["reason"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_without_an_answer_is_not_in_the_figures() {
    let model = ScriptedModel::start(|prompt| match prompt.request() {
        "Busy" => Move::Fail("429 Too Many Requests", "retry-after: 9999\r\n", "{}"),
        "Silent" => Move::Hang,
        "Garbled" => Move::Fail("200 OK", "", "<html>"),
        "Long" => Move::Fail("400 Bad Request", "", r#"{"error":{"message":"too many tools\n"}}"#),
        _ => Move::say("hello"),
    });
    let task = |request: &str| format!(r#"{{"request":"{request}","tools":[]}}"#);
    let tasks = ["Busy", "Silent", "Garbled", "Long", "Greet me"].map(task);
    let scratch = scratch(&tasks.each_ref().map(String::as_str));
    let ran = eval(&scratch, &model, &[&GATEWAY[..], &["--timeout", "1"]].concat());
    let reasons = failures(&ran);
    let parts =
        ["429 Too Many", "did not answer in time", "with a chat completion", ": too many tools "];
    assert_eq!(reasons.len(), parts.len(), "{reasons:?}");
    for (reason, part) in reasons.iter().zip(parts) {
        assert!(reason.contains(part), "`{part}` is not in {reason}");
    }
    let report = ran.json();
    let one = summary(&report, "gateway");
    assert_eq!((&one["runs"], &one["failed"]), (&json!(1), &json!(4)));
    assert_eq!(share(one, "overcalled"), (0, 1));
    let shown = eval(&scratch, &model, &["--disclosure", "gateway", "--timeout", "1"]);
    assert!(shown.stdout.contains("4 runs failed and are not in the figures:"), "{}", shown.stdout);
}

#[test]
fn a_disclosure_is_given_up_after_failures_in_a_row() {
    let model = ScriptedModel::start(|prompt| {
        if is_flat(prompt) { Move::Fail("400 Bad Request", "", "{}") } else { count(prompt) }
    });
    let scratch = scratch(&[COUNT; 8]);
    let both = ["--json", "--disclosure", "flat", "--disclosure", "gateway"];
    let ran = eval(&scratch, &model, &both);
    let reasons = failures(&ran);
    assert_eq!(reasons.len(), 8);
    assert!(reasons[4].contains("400") && reasons[5].contains("not tried after 5"), "{reasons:?}");
    let report = ran.json();
    assert_eq!(share(summary(&report, "gateway"), "right_tool"), (8, 8));
    let none = json!({ "pairs": 0, "better": 0, "worse": 0, "p": 1.0 });
    assert_eq!(summary(&report, "gateway")["against_first"], none);
}

#[test]
fn the_key_is_sent_and_never_shown() {
    let refusal = r#"{"error":{"message":"wrong key: k3y-of-mine"}}"#;
    let refusing = ScriptedModel::start(move |_| Move::Fail("401 Unauthorized", "", refusal));
    let scratch = scratch(&[COUNT, COUNT]);
    let with_key = |model: &ScriptedModel, variable: &str, more: &[&str]| {
        let url = model.url();
        let own =
            ["eval", "agent", "tasks.jsonl", "--model-url", &url, "--model", "m", "--log", "trace"];
        let mut command = command(&scratch, &[&own[..], more].concat());
        command.env(variable, "k3y-of-mine");
        ended(command)
    };
    for (variable, more) in
        [("GATEFOLD_MODEL_KEY", &[][..]), ("OTHER", &["--model-key-env", "OTHER"])]
    {
        let refused = with_key(&refusing, variable, more);
        assert_eq!(refused.code, Some(1), "{}", refused.stdout);
        let said = refused.stdout + &refused.stderr;
        assert!(said.contains("answered 401 Unauthorized: wrong key: [the key]"), "{said}");
        assert!(said.contains("check `--model-url`") && !said.contains("k3y"), "{said}");
        let requests = refusing.requests();
        let last = requests.last().unwrap();
        assert!(last.contains("authorization: Bearer k3y-of-mine"), "{last}");
    }
    assert_eq!(refusing.requests().len(), 2, "no other task can do better");
    let model = ScriptedModel::start(count);
    let ran = with_key(&model, "GATEFOLD_MODEL_KEY", &["--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!(ran.stdout + &ran.stderr).contains("k3y"));
}

#[test]
fn without_a_key_none_is_sent_and_the_whole_request_is_as_endpoints_want_it() {
    let model = ScriptedModel::start(|prompt| {
        let whole = prompt.whole();
        assert_eq!((&whole["model"], &whole["tool_choice"]), (&json!("scripted"), &json!("auto")));
        let messages = whole["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str()).collect();
        assert_eq!(roles[..2], [Some("system"), Some("user")]);
        for function in prompt.functions() {
            assert!(function["parameters"]["type"] == "object", "{function}");
            assert!(function["description"].is_string(), "{function}");
        }
        count(prompt)
    });
    let report = measured(&eval(&scratch(&[COUNT]), &model, &GATEWAY));
    assert_eq!(report["runs"][0]["right_tool"], true);
    assert!(!model.requests()[0].contains("authorization"));
}

#[test]
fn what_cannot_be_measured_is_refused_with_the_reason() {
    let scratch = scratch(&[COUNT]);
    scratch.write("wrong.jsonl", "{\"request\":\"r\",\"tools\":[]}\n{}\n\n{\"request\":1}\n");
    scratch.write("empty.jsonl", "\n");
    let url = ["--model-url", "http://127.0.0.1:1/v1", "--model", "m"];
    for (args, code, said) in [
        (&["gone.jsonl"][..], 2, "gone.jsonl` cannot be read"),
        (&["empty.jsonl"], 2, "it is empty"),
        (&["wrong.jsonl"], 2, "line 2: missing field `request`"),
        (&["wrong.jsonl"], 2, "line 4: invalid type"),
        (&["tasks.jsonl", "--disclosure", "loud"], 2, "there is no disclosure `loud`"),
        (
            &["tasks.jsonl", "--model-key-env", "NOBODY"],
            2,
            "`NOBODY` of `--model-key-env` is not set",
        ),
        (&["tasks.jsonl", "--turns", "0"], 2, "0 is not in 1..=100"),
    ] {
        let refused = run(&scratch, &[&["eval", "agent"][..], args, &url].concat());
        assert_eq!(refused.code, Some(code), "{}", refused.stderr);
        assert!(refused.stderr.contains(said), "`{said}` is not in {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
    let args = ["eval", "agent", "tasks.jsonl", "--model-url", "ftp://x/", "--model", "m"];
    assert!(run(&scratch, &args).stderr.contains("must begin with `http://`"));
    let unreached =
        run(&scratch, &[&["eval", "agent", "tasks.jsonl", "--json"][..], &url].concat());
    let reasons = failures(&unreached);
    assert!(reasons[0].contains("could not be reached"), "{reasons:?}");
}

#[test]
fn a_task_whose_tool_nobody_has_is_warned_of() {
    let model = ScriptedModel::start(|_| Move::say("no"));
    let scratch = scratch(&[r#"{"request":"r","tools":["issues__gone"]}"#]);
    let warned = eval(&scratch, &model, &GATEWAY);
    assert_eq!(warned.code, Some(0));
    assert!(warned.stderr.contains("`issues__gone` in line 1"), "{}", warned.stderr);
    assert_eq!(share(summary(&warned.json(), "gateway"), "right_tool"), (0, 1));
}
