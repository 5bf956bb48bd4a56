//! Chats: at a terminal, over pipes and in scripts, with scripted models.

use std::io::{Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

use gatefold_testkit::model::{
    ModelTurn, Move, Prompt, ScriptedModel, StreamEnd, check_chat, check_messages,
};
use gatefold_testkit::wait_until;
use serde_json::{Value, json};

use crate::connect::at_a_terminal;
use crate::process::{LIMIT, Run, command, demo_source, run, run_with_input, two_sources};
use crate::scratch::Scratch;

const APIS: [&str; 2] = ["openai-chat", "anthropic"];

/// A section of the configuration for a model.
pub(crate) fn section(name: &str, api: &str, model: &ScriptedModel, more: &str) -> String {
    let url = model.url();
    format!("[models.{name}]\napi = '{api}'\nurl = '{url}'\nmodel = 'scripted'\n{more}\n")
}

/// Two sources, and a configuration beside them.
pub(crate) fn scratch(config: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", format!("{}{config}", two_sources(&scratch)));
    scratch
}

pub(crate) fn chat(scratch: &Scratch, args: &[&str], input: &str) -> Run {
    run_with_input(scratch, &[&["chat"], args].concat(), input)
}

/// The bodies of what a model was asked, each of which its provider would take.
#[track_caller]
pub(crate) fn requests(model: &ScriptedModel) -> Vec<Value> {
    let body = |request: String| {
        let (head, body) = request.split_once('{').unwrap();
        let body: Value = serde_json::from_str(&format!("{{{body}")).unwrap();
        let checked =
            if head.contains("/v1/messages") { check_messages(&body) } else { check_chat(&body) };
        checked.unwrap();
        body
    };
    let asked = model.requests().into_iter().filter(|request| request.starts_with("POST"));
    asked.map(body).collect()
}

/// A call of one of the issues' tools behind `mcp`.
fn calls(tool: &str, parameters: &Value) -> Move {
    calls_of("issues", tool, parameters)
}

fn calls_of(server: &str, tool: &str, parameters: &Value) -> Move {
    let own =
        json!({ "subcommand": "call", "server": server, "tool": tool, "parameters": parameters });
    Move::call("mcp", &own)
}

/// Counts issues and says that it did.
fn counting(prompt: &Prompt) -> Move {
    match prompt.told().len() {
        0 => match calls("count_issues", &json!({ "by": "state" })) {
            Move::Call(calls) => {
                let text = "Let me count.".to_owned();
                Move::Turn(ModelTurn { text, calls, piece_chars: 3, ..ModelTurn::default() })
            }
            other => other,
        },
        _ => Move::Turn(ModelTurn {
            text: "All are\ncounted.".to_owned(),
            piece_chars: 2,
            fragment_bytes: 7,
            ..ModelTurn::default()
        }),
    }
}

/// The names of the tools that a model was offered first.
fn first_offer(input: &str) -> Vec<String> {
    let model = ScriptedModel::start(|_| Move::say("Hello."));
    let scratch = scratch(&section("own", "openai-chat", &model, ""));
    let run = chat(&scratch, &["--disclosure", "flat"], input);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let tools = requests(&model).remove(0)["tools"].take();
    let names = tools.as_array().unwrap().iter().map(|tool| tool["function"]["name"].to_string());
    names.collect()
}

#[test]
fn looking_at_the_tools_before_the_first_message_does_not_change_which_are_chosen_for_it() {
    let chosen = first_offer("How many issues are open?\n");
    assert!(chosen.len() < 12, "{chosen:?}");
    assert_eq!(first_offer("/tools\n/context\nHow many issues are open?\n"), chosen);
}

#[test]
fn a_script_gets_the_answer_alone_and_the_calls_beside_it() {
    for api in APIS {
        let model = ScriptedModel::start(counting);
        let scratch = scratch(&section("fast", api, &model, ""));
        let ran = chat(&scratch, &["-p", "Count the issues"], "by state\n");
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "All are\ncounted.\n"),
            "{}",
            ran.stderr
        );
        for part in ["the model is `fast`", "Let me count.", "call issues__count_issues done, "] {
            assert!(ran.stderr.contains(part), "no `{part}` in {}", ran.stderr);
        }
        let requests = requests(&model);
        assert_eq!((requests.len(), &requests[0]["stream"]), (2, &json!(true)), "{api}");
        assert!(
            requests[0].to_string().contains("Count the issues\\n\\nby state"),
            "{}",
            requests[0]
        );
        let told = run(&scratch, &["calls", "--json"]).json();
        let call = &told["calls"][0];
        assert_eq!(
            (&call["tool"], &call["client"]),
            (&json!("issues__count_issues"), &json!("gatefold-chat"))
        );
    }
}

#[test]
fn a_script_may_have_it_all_as_json() {
    let model = ScriptedModel::start(counting);
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    let ran = chat(&scratch, &["-p", "Count", "--json"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let mut printed = ran.json();
    let call = &mut printed["calls"][0];
    assert!(call["ms"].take().is_u64());
    assert!(printed["thread"].take().is_string());
    assert_eq!(
        printed,
        json!({
            "answer": "All are\ncounted.", "ended": "answered", "model": "fast", "agent": null, "thread": null,
            "answers": 2, "tokens": 200, "cost": null,
            "calls": [{ "tool": "issues__count_issues", "outcome": "done", "ms": null }],
        })
    );
    let failing = ScriptedModel::start(|_| Move::Fail("401 Unauthorized", "", "{}"));
    scratch.write("gatefold.toml", section("fast", "openai-chat", &failing, ""));
    let ran = chat(&scratch, &["-p", "Count", "--json"], "");
    assert_eq!(ran.code, Some(1));
    assert!(ran.json()["help"].as_str().unwrap().contains("gatefold models check"));
    assert_eq!(chat(&scratch, &["--json"], "").code, Some(2));
    assert_eq!(chat(&scratch, &["-p", " "], "").code, Some(2));
}

#[test]
fn what_is_configured_is_sent() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let more = "temperature = 0.5\nmax_output_tokens = 77\nparallel_calls = false\n\
                extra = { seed = 7, nested = { a = [1] } }\nkey = '${TOKEN}'";
    let scratch = scratch(&section("fast", "openai-chat", &model, more));
    assert_eq!(chat(&scratch, &["-p", "Hi"], "").code, Some(0));
    let request = &requests(&model)[0];
    assert_eq!((&request["temperature"], &request["seed"]), (&json!(0.5), &json!(7)));
    assert_eq!(
        (&request["nested"], &request["parallel_tool_calls"]),
        (&json!({ "a": [1] }), &json!(false))
    );
    let most = request["max_completion_tokens"].as_u64().or(request["max_tokens"].as_u64());
    assert_eq!(most, Some(77), "{request}");
    assert!(model.requests()[0].to_lowercase().contains("authorization: bearer s3cret"));
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("You are an assistant in a person's terminal."), "{system}");
    let in_json = ScriptedModel::start(|_| Move::say(r#"{"answer": "as JSON"}"#));
    scratch.write(
        "gatefold.toml",
        two_sources(&scratch) + &section("j", "anthropic", &in_json, "tool_calls = 'json'"),
    );
    let ran = chat(&scratch, &["-p", "Hi"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "as JSON\n"), "{}", ran.stderr);
    assert_eq!(requests(&in_json)[0]["tools"], Value::Null);
}

#[test]
fn a_conversation_ends_before_it_does_not_fit() {
    let model = ScriptedModel::start(|prompt| match &prompt.whole()["tool_choice"] {
        choice if choice == "none" => Move::say("what I know"),
        _ => calls("count_issues", &json!({})),
    });
    let scratch = scratch(&section("small", "openai-chat", &model, "context_tokens = 500"));
    let ran = chat(&scratch, &["-p", "Hi", "--json"], "");
    assert_eq!((ran.code, &ran.json()["ended"]), (Some(1), &json!("short")), "{}", ran.stdout);
    assert_eq!(requests(&model).len(), 1);
}

#[test]
fn the_disclosure_is_typed_unless_it_is_said_otherwise() {
    for (more, args, shown) in [
        ("", &[][..], "mcp"),
        ("", &["--disclosure", "gateway"], "execute_tool"),
        ("", &["--agent", "plain"], "mcp"),
        ("disclosure = 'flat'\n", &["--agent", "plain"], "issues__count_issues"),
        ("disclosure = 'flat'\n", &["--agent", "plain", "--disclosure", "gateway"], "execute_tool"),
    ] {
        let model = ScriptedModel::start(|_| Move::say("ok"));
        let agent = format!("[agents.plain]\n{more}");
        let scratch = scratch(&(section("fast", "openai-chat", &model, "") + &agent));
        let ran = chat(&scratch, &[args, &["-p", "Count the issues"]].concat(), "");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let request = &requests(&model)[0];
        let tools = request["tools"].as_array().unwrap().iter();
        let names: Vec<_> = tools.map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
        assert!(names.contains(&shown), "{args:?} {names:?}");
    }
    let scratch = scratch("[models.m]\nmodel = 'ollama:x'\n");
    let ran = chat(&scratch, &["--disclosure", "none", "-p", "Hi"], "");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[test]
fn an_agent_brings_its_instructions_and_its_model() {
    let (fast, own) = (ScriptedModel::start(|_| Move::say("fast")), ScriptedModel::start(counting));
    let agents = "[agents.sales]\ndescription = 'Sells'\ninstructions = 'You sell.'\nmodel = 'own'\n\
                  [agents.other]\nvisible_to = ['finance']\n";
    let models = section("fast", "openai-chat", &fast, "") + &section("own", "anthropic", &own, "");
    let scratch = scratch(&(models + agents));
    let ran = chat(&scratch, &["--agent", "sales", "-p", "Count"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "All are\ncounted.\n"), "{}", ran.stderr);
    let system = requests(&own)[0]["system"].to_string();
    assert!(system.contains("You sell.") && !system.contains("person's terminal"), "{system}");
    let told = run(&scratch, &["calls", "--json"]).json();
    assert_eq!(told["calls"][0]["agent"], "sales");
    let ran = chat(&scratch, &["--agent", "sales", "--model", "fast", "-p", "Count"], "");
    assert_eq!(ran.stdout, "fast\n");
    let hidden = chat(&scratch, &["--agent", "other", "-p", "Hi"], "");
    let missing = chat(&scratch, &["--agent", "others", "-p", "Hi"], "");
    assert_eq!((hidden.code, missing.code), (Some(2), Some(2)));
    assert_eq!(hidden.stderr.replace("other", "others"), missing.stderr);
}

#[test]
fn a_model_that_one_may_not_use_looks_missing() {
    let model = ScriptedModel::start(|_| Move::say("ok"));
    let closed = section("closed", "openai-chat", &model, "visible_to = ['finance']");
    let open = section("open", "openai-chat", &model, "");
    let agent = "[agents.x]\nmodel = 'closed'\n";
    let scratch = scratch(&format!("{closed}{open}{agent}"));
    let hidden = chat(&scratch, &["--model", "closed", "-p", "Hi"], "");
    let missing = chat(&scratch, &["--model", "closer", "-p", "Hi"], "");
    assert_eq!((hidden.code, missing.code), (Some(2), Some(2)));
    assert_eq!(hidden.stderr.replace("closed", "closer"), missing.stderr);
    let by_agent = chat(&scratch, &["--agent", "x", "-p", "Hi"], "");
    assert_eq!(by_agent.code, Some(2));
    assert!(!by_agent.stderr.contains("closed"), "{}", by_agent.stderr);
    let usual = chat(&scratch, &["-p", "Hi"], "");
    assert!(usual.stderr.contains("the model is `open`"), "{}", usual.stderr);
    let listed = run(&scratch, &["models", "--json"]).json();
    assert_eq!(listed["models"].as_array().unwrap().len(), 1);
    let member = "[users.local]\ngroups = ['finance']\n";
    scratch.write("gatefold.toml", format!("{closed}{open}{agent}{member}"));
    assert_eq!(chat(&scratch, &["--model", "closed", "-p", "Hi"], "").code, Some(0));
}

#[test]
fn a_fallback_answers_for_a_model_that_fails() {
    for api in APIS {
        let failing = ScriptedModel::start(|_| {
            Move::Fail("500 Internal Server Error", "retry-after: 0\r\n", "{}")
        });
        let other = ScriptedModel::start(counting);
        let first = section("first", api, &failing, "fallback = 'second'");
        let scratch = scratch(&(first + &section("second", api, &other, "")));
        let ran = chat(&scratch, &["-p", "Count"], "");
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "All are\ncounted.\n"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("so its fallback answered"), "{}", ran.stderr);
        assert_eq!((requests(&failing).len(), requests(&other).len()), (8, 2), "{api}");
    }
}

#[test]
fn without_any_model_it_says_what_to_set() {
    let scratch = Scratch::new();
    for args in [&["-p", "Hi"][..], &[], &["--demo", "-p", "Hi"]] {
        let ran = chat(&scratch, args, "");
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        for part in ["no model to talk to", "`OPENAI_API_KEY`", "Ollama", "[models.NAME]"] {
            assert!(ran.stderr.contains(part), "no `{part}` in {}", ran.stderr);
        }
    }
    let ran = chat(&scratch, &["--model", "openai:gpt-5", "-p", "Hi"], "");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("needs the variable `OPENAI_API_KEY`"), "{}", ran.stderr);
}

#[test]
fn a_chat_needs_no_sources_and_the_demonstration_brings_its_own() {
    let model = ScriptedModel::start(|prompt| match prompt.told().len() {
        0 if prompt.has("mcp") => calls("list_issues", &json!({})),
        _ => Move::say("done"),
    });
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", section("fast", "openai-chat", &model, ""));
    assert_eq!(chat(&scratch, &["-p", "Hi"], "").stdout, "done\n");
    let ran = chat(&scratch, &["--demo", "-p", "Hi", "--json"], "");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["calls"][0]["tool"], "issues__list_issues");
}

#[test]
fn a_call_that_needs_approval_is_refused_where_nobody_can_be_asked() {
    let model = ScriptedModel::start(creating);
    let scratch =
        scratch(&(section("fast", "anthropic", &model, "") + "[policy]\nask = 'writes'\n"));
    for (args, input) in [(&["-p", "Make one"][..], ""), (&[], "Make one\ny\n")] {
        let ran = chat(&scratch, args, input);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let shown = ran.stdout + &ran.stderr;
        assert!(
            shown
                .contains("call issues__create_issue needs approval (`gatefold approvals approve ")
        );
    }
    requests(&model);
    let calls = run(&scratch, &["calls", "--json"]).json();
    let calls = calls["calls"].as_array().unwrap();
    assert!(calls.iter().all(|call| call["outcome"] != "done"), "{calls:?}");
}

/// Makes an issue and says what came of it.
fn creating(prompt: &Prompt) -> Move {
    match prompt.told().last() {
        None => calls("create_issue", &json!({ "title": "the printer is broken" })),
        Some(told) if told.contains("was not approved") => Move::say("It was refused."),
        Some(told) if told.contains("approval") => Move::say("It waits."),
        Some(_) => Move::say("It is made."),
    }
}

#[tokio::test]
async fn a_person_at_the_terminal_is_asked_for_approval() {
    for (api, answer, said) in
        [("openai-chat", "y", "It is made."), ("anthropic", "n", "It was refused.")]
    {
        let model = ScriptedModel::start(creating);
        let scratch = scratch(&(section("fast", api, &model, "") + "[policy]\nask = 'writes'\n"));
        let typed = format!("once (y/N) {answer}");
        let shown = at_a_terminal(
            &scratch,
            "chat",
            &[
                ("`/help` lists", "Make one"),
                ("> Make one", "Enter"),
                ("once (y/N)", answer),
                (typed.as_str(), "Enter"),
                (said, "/quit"),
                ("> /quit", "Enter"),
            ],
        )
        .await;
        assert!(shown.contains("left 0"), "{shown}");
        assert!(shown.contains("Allow one call of `issues__create_issue`"), "{shown}");
        assert!(shown.contains("the printer is broken"), "{shown}");
        let made = if answer == "y" { "done, " } else { "was not approved, " };
        assert!(shown.contains(&format!("call issues__create_issue {made}")), "{shown}");
        requests(&model);
    }
}

#[tokio::test]
async fn all_that_is_approved_can_be_seen_before_it_counts() {
    let model = ScriptedModel::start(|prompt| match prompt.told().last() {
        None => {
            let (pad, hidden) = ("x".repeat(510), "amount=999999\u{202e}");
            calls("create_issue", &json!({ "title": "t", "body": format!("{pad}{hidden}{pad}") }))
        }
        Some(_) => Move::say("It is made."),
    });
    let more = "[policy]\nask = 'writes'\n[agents.clerk]\ndescription = 'Files issues'\n";
    let scratch = scratch(&(section("fast", "openai-chat", &model, "") + more));
    let keys = [
        ("`/help` lists", "Make one"),
        ("> Make one", "Enter"),
        ("v shows all arguments)", "v"),
        ("v shows all arguments) v", "Enter"),
        ("amount=999999<U+202E>", "y"),
        ("v shows all arguments) y", "Enter"),
        ("It is made.", "/quit"),
        ("> /quit", "Enter"),
    ];
    let shown = at_a_terminal(&scratch, "chat --agent clerk", &keys).await;
    assert!(
        shown.contains("left 0") && shown.contains("call issues__create_issue done"),
        "{shown}"
    );
    let asked = "Allow one call of `issues__create_issue` of `issues` for the agent `clerk`?";
    assert!(shown.contains(asked), "{shown}");
}

#[tokio::test]
async fn a_source_may_ask_the_person_something() {
    for (answer, said) in [("y", "They are gone."), ("n", "They stay.")] {
        let model = ScriptedModel::start(|prompt| match prompt.told().last() {
            None => {
                let span = json!({ "from": "2000-01-01T00:00", "to": "2000-01-02T00:00" });
                calls_of("calendar", "clear_events", &span)
            }
            Some(told) if told.contains(r#""confirmed":true"#) => Move::say("They are gone."),
            Some(_) => Move::say("They stay."),
        });
        let scratch = Scratch::new();
        let config = demo_source(&scratch, "calendar") + &section("m", "openai-chat", &model, "");
        scratch.write("gatefold.toml", config);
        let typed = format!("(y/N) {answer}");
        let keys = [
            ("`/help` lists", "Clear it"),
            ("> Clear it", "Enter"),
            ("Yes, do it (y/N)", answer),
            (typed.as_str(), "Enter"),
            (said, "C-c"),
            ("Ctrl-C once more", "C-c"),
        ];
        let shown = at_a_terminal(&scratch, "chat", &keys).await;
        assert!(shown.contains("left 130"), "{shown}");
        assert!(shown.contains("events from 2000-01-01T00:00 to 2000-01-02T00:00?"), "{shown}");
        requests(&model);
    }
}

#[test]
fn what_was_said_can_be_counted_and_taken_back() {
    let model = ScriptedModel::start(counting);
    let scratch = scratch(&section("fast", "openai-chat", &model, "context_tokens = 100000"));
    let input = "Count\n/context\n/undo\n/undo\nAgain\n\n/tools\n/model\n/agent\n/nothing\n/quit\nunheard\n";
    let ran = chat(&scratch, &[], input);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for part in [
        "call issues__count_issues done",
        "All are\ncounted.\n",
        "instructions",
        "tool mcp",
        "your messages",
        "results of calls",
        "of the model's 100000 tokens",
        "taken back",
        "there is nothing to take back",
        "tools behind them",
        "fast (this one)",
        "there are no agents",
    ] {
        assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
    }
    assert!(ran.stderr.contains("`/nothing` is no command"), "{}", ran.stderr);
    let requests = requests(&model);
    assert_eq!(requests.len(), 4);
    let last = requests[3].to_string();
    assert!(last.contains("Again") && !last.contains("\"Count\""), "{last}");
    assert!(!last.contains("unheard"), "{last}");
}

#[test]
fn a_call_is_unfolded_by_its_number() {
    let long = "y".repeat(40_000);
    let model = ScriptedModel::start(move |prompt| match prompt.told().len() {
        0 => calls("count_issues", &json!({ "by": "state" })),
        1 => calls("count_issues", &json!({ "by": format!("a\u{1b}[2J{long}") })),
        _ => Move::say("Counted."),
    });
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    let ran = chat(&scratch, &[], "/calls\n/show\nCount\n/calls\n/show 1\n/show\n/show 3\n");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for part in [
        "there are no calls",
        "1  mcp {\"subcommand\":\"call\"",
        "      \"by\": \"state\"",
        "\"tool\":\"issues__count_issues\"",
        "result, an error",
        "a\\u001b[2J",
        "bytes more: `gatefold threads show --json` has all of it",
    ] {
        assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
    }
    assert_eq!(ran.stderr.matches("there is no such call").count(), 2, "{}", ran.stderr);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn another_model_goes_on_and_another_agent_begins_anew() {
    let (one, two) =
        (ScriptedModel::start(|_| Move::say("one")), ScriptedModel::start(|_| Move::say("two")));
    let agents = "[agents.sales]\ndescription = 'Sells things'\ninstructions = 'You sell.'\n";
    let models = section("one", "openai-chat", &one, "") + &section("two", "anthropic", &two, "");
    let scratch = scratch(&(models + agents));
    let input =
        "First\n/model two\nSecond\n/model three\n/agent\n/agent sales\nThird\n/agent nobody\n";
    let ran = chat(&scratch, &[], input);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("Sells things"), "{}", ran.stdout);
    assert!(ran.stderr.contains("there is no model `three`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no agent `nobody`"), "{}", ran.stderr);
    let requests = requests(&two);
    let (second, third) = (requests[0].to_string(), requests[1].to_string());
    assert!(second.contains("First") && second.contains("one"), "{second}");
    assert!(third.contains("You sell.") && !third.contains("First"), "{third}");
}

#[test]
fn an_answer_that_is_cut_off_is_an_error_and_the_chat_goes_on() {
    let model = ScriptedModel::start(|prompt| match prompt.request() {
        "Break" => Move::Turn(ModelTurn {
            text: "half of an ans\u{1b}[2Jwer".to_owned(),
            piece_chars: 4,
            end: StreamEnd::Cut(5),
            ..ModelTurn::default()
        }),
        _ => Move::say("well\u{1b}[2J"),
    });
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    let ran = chat(&scratch, &[], "Break\nAgain\n");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("ended before it was complete"), "{}", ran.stderr);
    assert!(ran.stderr.contains("is forgotten"), "{}", ran.stderr);
    assert!(ran.stdout.contains("half") && ran.stdout.contains("well␛[2J"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    assert!(!requests(&model)[1].to_string().contains("Break"));
}

/// A chat over pipes that stays open.
pub(crate) struct Talk {
    child: Child,
    stdin: ChildStdin,
    shown: Arc<Mutex<String>>,
}

impl Talk {
    fn begin(scratch: &Scratch) -> Self {
        Self::begin_with(scratch, &["chat"])
    }

    pub(crate) fn begin_with(scratch: &Scratch, args: &[&str]) -> Self {
        let mut command = command(scratch, args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let shown = Arc::<Mutex<String>>::default();
        collect(child.stdout.take().unwrap(), &shown);
        collect(child.stderr.take().unwrap(), &shown);
        let stdin = child.stdin.take().unwrap();
        Self { child, stdin, shown }
    }

    pub(crate) fn say(&mut self, text: &str) {
        writeln!(self.stdin, "{text}").unwrap();
    }

    pub(crate) async fn await_text(&self, text: &str) {
        let found = wait_until(LIMIT, || self.shown.lock().unwrap().contains(text)).await;
        assert!(found, "no `{text}` in {}", self.shown.lock().unwrap());
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    async fn code(mut self) -> Option<i32> {
        let mut status = None;
        let ended = wait_until(LIMIT, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(ended.await, "it does not end");
        status.and_then(|status| status.code())
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Collects what a stream says.
fn collect(mut stream: impl Read + Send + 'static, shown: &Arc<Mutex<String>>) {
    let shown = shown.clone();
    std::thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut part) {
            shown.lock().unwrap().push_str(&String::from_utf8_lossy(&part[..read]));
        }
    });
}

#[tokio::test]
async fn ctrl_c_stops_the_answer_and_a_second_one_the_chat() {
    let model = ScriptedModel::start(|prompt| match prompt.request() {
        "Hang" => Move::Hang,
        _ => Move::say("here"),
    });
    let scratch = scratch(&section("fast", "openai-chat", &model, ""));
    let mut talk = Talk::begin(&scratch);
    talk.say("Hang");
    assert!(wait_until(LIMIT, || model.requests().len() == 1).await);
    talk.interrupt();
    talk.await_text("stopped; Ctrl-C once more ends the chat").await;
    talk.say("Are you there?");
    talk.await_text("here").await;
    talk.interrupt();
    talk.await_text("Ctrl-C once more, or `/quit`").await;
    talk.interrupt();
    assert_eq!(talk.code().await, Some(130));
    // And twice while it hangs.
    let mut talk = Talk::begin(&scratch);
    talk.say("Hang");
    assert!(wait_until(LIMIT, || model.requests().len() == 3).await);
    talk.interrupt();
    talk.await_text("stopped").await;
    talk.interrupt();
    assert_eq!(talk.code().await, Some(130));
}
