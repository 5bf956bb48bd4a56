//! `gatefold demo`.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::Instant;

use crate::process::{LIMIT, command, run};
use crate::scratch::Scratch;

#[test]
fn the_walk_is_printed_within_seconds_and_adds_up() {
    let scratch = Scratch::new();
    let started = Instant::now();
    let shown = run(&scratch, &["demo", "--once", "--listen", "127.0.0.1:0"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    assert!(started.elapsed() < LIMIT / 2, "{:?}", started.elapsed());
    for part in [
        "calendar",
        "contacts",
        "files",
        "issues",
        "shop",
        "skills",
        "staff",
        "text",
        "units",
        "1. What is there?",
        "discover_tools {\"query\":\"report a bug\"}",
        "get_tool_schema {\"tool_name\":\"issues__create_issue\"}",
        "\"tool\":\"issues__create_issue\",\"result\":{\"id\":",
        "The coffee machine makes tea",
        "6 MCP servers, each a process of its own, 1 HTTP API, 1 database, 1 folder of skills, a handbook and built-in \
         tools behind one gateway",
        "> If it makes tea, the",
        "gatefold://handbook/kb/machines.txt@",
        "{\"tool\":\"builtin__calculate\",\"result\":800}",
        "\"tool\":\"skills__read_skill\",\"result\":\"# Report a fault",
        "\"match\":\"table: main.employees\"",
        "\"rows\":[[\"Aisha Rahman\",\"Amara Okafor\"",
        "\"read_with\":\"results__read_result\"",
        "results__read_result",
        "[\"2026-07-06\",1]",
        "\"tool\":\"shop__list_products\",\"result\":{\"products\":[{\"sku\":\"descaler\"",
    ] {
        assert!(shown.stdout.contains(part), "no `{part}` in {}", shown.stdout);
    }
    let tokens = |head: &str| -> usize {
        let line = shown.stdout.lines().find(|line| line.starts_with(head)).unwrap();
        let digits = line.split(" tokens").next().unwrap().rsplit(' ').next().unwrap();
        digits.replace(',', "").parse().unwrap()
    };
    let (flat, first) = (tokens("Shown to a model"), tokens("Through Gatefold"));
    assert!(flat > 10_000, "{flat}");
    assert!((100..900).contains(&first), "{first}");
    assert!(tokens("The whole walk") < flat / 3);
}

#[test]
fn what_the_walk_wrote_is_there_the_next_time_unless_it_begins_anew() {
    let scratch = Scratch::new();
    let created = |more: &[&str]| -> u64 {
        let args = [&["demo", "--once", "--listen", "127.0.0.1:0"][..], more].concat();
        let shown = run(&scratch, &args).stdout;
        let id = shown.split_once("\"tool\":\"issues__create_issue\",\"result\":{\"id\":");
        let id = id.unwrap_or_else(|| panic!("{shown}")).1;
        id.split(',').next().unwrap().parse().unwrap()
    };
    let first = created(&[]);
    assert_eq!(created(&[]), first + 1);
    assert_eq!(created(&["--fresh"]), first);
}

#[test]
fn a_free_port_is_taken_when_the_usual_one_is_in_use() {
    let scratch = Scratch::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let shown = run(&scratch, &["demo", "--once", "--listen", &address]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains(&format!("note {address} is in use")), "{}", shown.stdout);
}

/// A demonstration that keeps running, and what it prints. Dropping it kills it.
struct RunningDemo(Child, String);

impl RunningDemo {
    fn start(scratch: &Scratch) -> Self {
        let mut demo = command(scratch, &["demo", "--listen", "127.0.0.1:0"]);
        let mut demo = demo.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(demo.stdout.take().unwrap()).lines();
        let mut shown = String::new();
        for line in lines.map_while(Result::ok) {
            shown += &(line + "\n");
            if shown.ends_with("Ctrl-C stops it.\n") {
                break;
            }
        }
        Self(demo, shown)
    }
}

impl Drop for RunningDemo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_demonstrations_api_is_added_to_a_configuration_as_it_says() {
    let scratch = Scratch::new();
    let demo = RunningDemo::start(&scratch);
    let line = demo.1.lines().find(|line| line.contains("gatefold add shop --openapi"));
    let description = line.unwrap_or_else(|| panic!("{}", demo.1)).rsplit(' ').next().unwrap();
    scratch.write("gatefold.toml", "");
    let added = run(&scratch, &["add", "shop", "--openapi", description]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    let state = scratch.path().join("own");
    let state = ["--state-dir", state.to_str().unwrap()];
    let order = r#"{"customer": "Noor", "address": "1 Quay", "items": [{"sku": "tea-mint", "quantity": 2}]}"#;
    let args = ["tools", "call", "shop__place_order", "--arguments", order];
    let placed = run(&scratch, &[&args[..], &state].concat());
    assert!(placed.stdout.contains("14.3"), "{}{}", placed.stdout, placed.stderr);
    let wrong = ["tools", "call", "shop__get_order", "--arguments", r#"{"order": 1}"#];
    let refused = run(&scratch, &[&wrong[..], &state].concat());
    assert!(refused.stderr.contains("order_id"), "{}{}", refused.stdout, refused.stderr);
}

#[test]
fn the_demonstration_can_be_looked_at_from_another_shell() {
    let scratch = Scratch::new();
    let demo = RunningDemo::start(&scratch);
    let state = std::fs::metadata(scratch.path().join(".local/state/gatefold")).unwrap();
    assert_eq!(state.permissions().mode() & 0o777, 0o700);
    let found = run(&scratch, &["tools", "list", "--json"]);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert!(found.json()["tools"].as_array().unwrap().len() > 40);
    let status = run(&scratch, &["status", "--json"]).json();
    assert_eq!(status["running"]["process"], demo.0.id());
    let calls = run(&scratch, &["calls", "--json"]).json();
    assert_eq!(calls["calls"][0]["tool"], "issues__create_issue", "the walk's own");
    // An operation of the API that needs a person.
    let cancelled = ["tools", "call", "shop__cancel_order", "--arg", "order_id=3"];
    let refused = run(&scratch, &cancelled);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("needs a person's approval"), "{}", refused.stderr);
    let order = run(&scratch, &["tools", "call", "shop__get_order", "--arg", "order_id=3"]);
    assert!(order.stdout.contains("placed"), "{}{}", order.stdout, order.stderr);
    // The printed command works even where there is another configuration.
    scratch.write("gatefold.toml", "");
    let printed = demo.1.lines().find(|line| line.contains("gatefold tools list"));
    let printed = printed.unwrap_or_else(|| panic!("{}", demo.1));
    let state = printed.rsplit(' ').next().unwrap().replace('~', scratch.path().to_str().unwrap());
    let listed = run(&scratch, &["tools", "list", "--state-dir", &state]);
    assert!(listed.stdout.contains("issues__create_issue"), "{}", listed.stderr);
    assert_eq!(run(&scratch, &["tools", "list"]).stdout, "no tools\n");
}
