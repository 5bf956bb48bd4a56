//! `gatefold models`: which models there are, and whether they answer.

use gatefold_testkit::model::{Move, ScriptedModel};
use serde_json::json;

use crate::chat::section;
use crate::process::{command, ended, run};
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
