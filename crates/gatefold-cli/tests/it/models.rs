//! `gatefold models`: which models there are, and whether they answer.

use gatefold_testkit::model::{Move, ScriptedModel};
use serde_json::json;

use crate::chat::section;
use crate::process::{command, ended, run, run_with_input};
use crate::scratch::Scratch;

#[test]
fn models_are_listed_without_secrets() {
    let scratch = Scratch::new();
    scratch.write(
        "gatefold.toml",
        "[models.fast]\nurl = 'http://user:pw@127.0.0.1:9/v1?k=hidden'\nmodel = 'm'\nkey = '${TOKEN}'\n\
         [models.own]\nmodel = 'ollama:qwen3:8b'\nkey = 'in-the-file'\n\
         [models.gone]\nmodel = 'openai:gpt-5'\n",
    );
    let shown = run(&scratch, &["models"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let listed = run(&scratch, &["models", "--json"]);
    for secret in ["s3cret", "in-the-file", "pw", "hidden"] {
        assert!(!shown.stdout.contains(secret) && !listed.stdout.contains(secret), "{secret}");
    }
    let of = |name: &str, api: &str, host: &str, model: &str, key: &str, is_usable: bool| {
        json!({
            "name": name, "api": api, "host": host, "model": model, "key": key,
            "is_usable": is_usable, "from": "configuration",
            "today": {
                "tokens": 0, "estimated_tokens": 0, "cost": null, "tokens_left": null, "cost_left": null,
            },
        })
    };
    let chat = "openai-chat";
    let expected = [
        of("fast", chat, "127.0.0.1:9", "m", "variable `TOKEN`", true),
        of("own", chat, "127.0.0.1:11434", "qwen3:8b", "the configuration", true),
        of("gone", chat, "api.openai.com", "gpt-5", "variable `OPENAI_API_KEY`", false),
    ];
    assert_eq!(listed.json()["models"], json!(expected));
}

#[test]
fn without_configuration_the_environment_is_listed() {
    let scratch = Scratch::new();
    let mut with_key = command(&scratch, &["models", "--json"]);
    with_key.env("ANTHROPIC_API_KEY", "k");
    let listed = ended(with_key).json();
    let model = &listed["models"][0];
    assert_eq!((&model["api"], &model["host"]), (&json!("anthropic"), &json!("api.anthropic.com")));
    assert_eq!(model["from"], "`ANTHROPIC_API_KEY` is set");
    let nothing = run(&scratch, &["models"]);
    assert_eq!(nothing.code, Some(0));
    assert!(nothing.stdout.contains("there are no models"), "{}", nothing.stdout);
    assert_eq!(run(&scratch, &["models", "check"]).code, Some(1));
}

#[test]
fn each_model_is_tried_and_what_is_wrong_is_said_with_its_fix() {
    let good = ScriptedModel::start(|_| Move::say("yes"));
    let locked = ScriptedModel::start(|_| {
        Move::Fail("401 Unauthorized", "", r#"{"error":{"message":"no such key"}}"#)
    });
    let other = ScriptedModel::start(|_| Move::Fail("404 Not Found", "", "{}"));
    let scratch = Scratch::new();
    let sections = [
        section("good", "openai-chat", &good, ""),
        section("also", "anthropic", &good, ""),
        section("locked", "openai-chat", &locked, "key = '${TOKEN}'\nfallback = 'good'"),
        section("other", "openai-chat", &other, ""),
        "[models.down]\nurl = 'http://127.0.0.1:1/v1'\nmodel = 'm'\n".to_owned(),
        "[models.gone]\nmodel = 'openai:gpt-5'\n".to_owned(),
    ];
    scratch.write("gatefold.toml", sections.concat());
    let shown = run(&scratch, &["models", "check"]);
    assert_eq!(shown.code, Some(1), "{}", shown.stderr);
    for part in [
        "ok good at 127.0.0.1:",
        "ok also at 127.0.0.1:",
        "failed locked at 127.0.0.1:",
        "no such key",
        "check its key, which comes from: variable `TOKEN`",
        "check `model`; the endpoint has `scripted`",
        "failed down at 127.0.0.1:1: ",
        "check `url`, and that its server runs",
        "failed gone at api.openai.com: `models.gone.model` ",
        "OPENAI_API_KEY",
    ] {
        assert!(shown.stdout.contains(part), "no `{part}` in {}", shown.stdout);
    }
    assert_eq!(run(&scratch, &["models", "check", "good"]).code, Some(0));
    let checked = run(&scratch, &["models", "check", "locked", "--json"]);
    let report = checked.json();
    assert_eq!((checked.code, &report["ok"]), (Some(1), &json!(false)));
    assert_eq!(report["models"][0]["name"], "locked");
    assert_eq!(run(&scratch, &["models", "check", "nothing"]).code, Some(2));
    let config = run(&scratch, &["config", "check"]);
    assert_eq!(config.code, Some(1));
    assert!(config.stdout.contains("the model gone cannot be used"), "{}", config.stdout);
}

#[test]
fn what_was_spent_today_is_counted_over_restarts_and_ends_by_the_budget() {
    let model = ScriptedModel::start(|prompt| match prompt.told().len() {
        0 => Move::call("no_such_tool", &json!({})),
        _ => Move::say("Done."),
    });
    let more = "price = { input = 1, cached_input = 0.1, output = 10 }\n\
                budget = { tokens = 250, cost = 2.5 }";
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", section("fast", "openai-chat", &model, more));
    let first = run(&scratch, &["chat", "-p", "Go.", "--json"]);
    // Twice 49 tokens, 50 of the cache, and one of the answer.
    let told = first.json();
    assert_eq!((&told["tokens"], &told["cost"]), (&json!(200), &json!(0.000_128)), "{told}");
    // The first answer passes the budget, and there is no second one.
    let second = run(&scratch, &["chat", "-p", "Go."]);
    assert_eq!((second.code, second.stdout.as_str()), (Some(1), ""));
    for part in [
        "the model `fast` has answered you as much as it may in a day (250 tokens or a cost of 2.50); it is free \
         again on 2",
        " at 00:00 UTC",
        "--model NAME",
    ] {
        assert!(second.stderr.contains(part), "no `{part}` in {}", second.stderr);
    }
    assert_eq!(model.requests().len(), 3);
    let listed = run(&scratch, &["models", "--json"]).json();
    let today = json!({
        "tokens": 300, "estimated_tokens": 0, "cost": 0.000_192, "tokens_left": 0, "cost_left": 2.499_808,
    });
    assert_eq!(listed["models"][0]["today"], today);
    let shown = run(&scratch, &["models"]).stdout;
    assert!(shown.contains("300 tokens, cost 0.000192"), "{shown}");

    // Of a model that is not for the person, nothing is told, though they have used it.
    let hidden = format!("{more}\nvisible_to = ['finance']");
    scratch.write(
        "gatefold.toml",
        section("fast", "openai-chat", &model, &hidden) + "[models.own]\nmodel = 'ollama:m'\n",
    );
    let listed = run(&scratch, &["models", "--json"]);
    assert_eq!(listed.json()["models"].as_array().unwrap().len(), 1);
    assert!(!listed.stdout.contains("300") && !listed.stdout.contains("fast"), "{}", listed.stdout);
}

#[test]
fn limits_of_an_agent_and_of_all_agents_end_its_runs() {
    let model = ScriptedModel::start(|prompt| match &prompt.whole()["tool_choice"] {
        choice if choice == "none" => Move::say("What I know."),
        _ => Move::call("no_such_tool", &json!({ "n": prompt.told().len() })),
    });
    let fast = section("fast", "openai-chat", &model, "price = { input = 1, output = 1 }");
    let agents = "[agents.short]\nlimits = { iterations = 2 }\n[agents.poor]\nlimits = { tokens = 250 }\n\
                  [agents.stingy]\nlimits = { cost = 0.00025 }\n[agents.usual]\n";
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", format!("[limits]\nagent_iterations = 4\n{fast}{agents}"));
    for (agent, answers, why) in [
        ("short", 3, "all its answers"),
        ("poor", 4, "all its tokens"),
        ("stingy", 4, "cost as much as it may"),
        ("usual", 5, "all its answers"),
    ] {
        let asked = model.requests().len();
        let ran = run(&scratch, &["chat", "--agent", agent, "-p", "Go."]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "What I know.\n"), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{agent}: {}", ran.stderr);
        assert_eq!(model.requests().len() - asked, answers, "{agent}");
    }
    // An agent without a model of its own goes on with the chat's, under limits of its own.
    let asked = model.requests().len();
    let ran = run_with_input(&scratch, &["chat"], "/agent short\nGo.\n/agent none\nGo.\n");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(model.requests().len() - asked, 3 + 5, "{}", ran.stdout);
    let hanging = ScriptedModel::start(|_| Move::Hang);
    let fast = section("fast", "openai-chat", &hanging, "");
    scratch.write("gatefold.toml", format!("{fast}[agents.quick]\nlimits = {{ turn = '1s' }}\n"));
    let ran = run(&scratch, &["chat", "--agent", "quick", "-p", "Go."]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("answer"), "{}", ran.stderr);
}
