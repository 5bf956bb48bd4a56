//! `[models.NAME]`: what is read, what is refused, and who may use a model.

use std::sync::Arc;

use gatefold::Environment;
use gatefold::config::{Config, ConfigError, Inputs, KeySource, ModelChoice, load};
use gatefold::model_client;
use gatefold_core::{AgentId, Cost, Narrowing, Principal, TokenGrant, TokenId, UserId};
use gatefold_model::{Api, ToolCalls};

use crate::scratch::{Scratch, toml};

/// Loads a `gatefold.toml` where these variables are set.
fn with_variables(text: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", text);
    let inputs = Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() };
    load(&inputs, &Environment::new(variables.iter().copied(), scratch.path()))
}

#[test]
fn every_key_of_a_model_is_taken_over() {
    let config = toml(
        "[models.fast]\napi = 'anthropic'\nurl = 'http://127.0.0.1:9/v1'\nmodel = 'a:b'\n\
         key = '${TOKEN}'\ncontext_tokens = 1000\nmax_output_tokens = 50\nparallel_calls = false\n\
         tool_calls = 'json'\ntemperature = 0.5\nextra = { top_k = 3, x = { y = ['${PORT}'] } }\n\
         fallback = 'slow'\nvisible_to = ['finance']\n[models.slow]\nmodel = 'ollama:qwen3:8b'\n",
    );
    let config = config.unwrap();
    let [fast, slow] = config.models.as_slice() else { panic!("{:?}", config.models) };
    assert_eq!((fast.name.as_str(), fast.context_tokens), ("fast", Some(1000)));
    let spec = &fast.spec;
    assert_eq!(
        (spec.api, spec.url.as_str(), spec.model.as_str()),
        (Api::Anthropic, "http://127.0.0.1:9/v1", "a:b")
    );
    assert_eq!(spec.key.as_ref().unwrap().expose(), "s3cret");
    assert_eq!(fast.key_source, KeySource::Variable("TOKEN".to_owned()));
    assert_eq!((spec.max_output_tokens, spec.parallel_calls), (Some(50), Some(false)));
    assert_eq!((spec.tool_calls, spec.temperature), (ToolCalls::Json, Some(0.5)));
    assert_eq!(serde_json::to_string(&spec.extra).unwrap(), r#"{"top_k":3,"x":{"y":["99"]}}"#);
    assert!(matches!(&fast.fallback, Some(ModelChoice::Named(name)) if name == "slow"));
    assert_eq!((slow.spec.api, slow.spec.model.as_str()), (Api::OpenAiChat, "qwen3:8b"));
    assert_eq!((slow.spec.url.port(), slow.key_source.clone()), (Some(11434), KeySource::Nowhere));
}

#[test]
fn a_short_form_has_the_key_of_its_host() {
    let text = "[models.a]\nmodel = 'openai:gpt-5'\n[agents.x]\nmodel = 'anthropic:claude'\n";
    let config = with_variables(text, &[("OPENAI_API_KEY", "k1"), ("ANTHROPIC_API_KEY", "k2")]);
    let config = config.unwrap();
    let model = &config.models[0];
    assert_eq!(model.spec.key.as_ref().unwrap().expose(), "k1");
    assert_eq!(model.key_source, KeySource::Variable("OPENAI_API_KEY".to_owned()));
    let agent = &config.agents[&AgentId::new("x")];
    let own = config.chosen_model(agent.model.as_ref().unwrap(), &Principal::local()).unwrap();
    assert_eq!((own.name.as_str(), own.spec.key.is_some()), ("anthropic:claude", true));
    assert_eq!(config.unusable_models().count(), 0);
}

#[test]
fn a_missing_key_costs_its_model_alone_and_is_named_with_its_place() {
    let text = "[models.a]\nmodel = 'openai:gpt-5'\n[models.b]\nmodel = 'x'\nurl = 'http://h.example'\n\
                key = '${MISSING}'\n[models.c]\nmodel = 'ollama:x'\n[agents.x]\nmodel = 'gemini:y'\n";
    let config = with_variables(text, &[]).unwrap();
    let unusable: Vec<_> = config
        .unusable_models()
        .map(|(name, why)| format!("{name}: {}", why.on_one_line()))
        .collect();
    insta::assert_snapshot!(unusable.join("\n"), @r"
    a: `models.a.model` needs the variable `OPENAI_API_KEY`, which is not set; set `OPENAI_API_KEY`, or give a default: `${OPENAI_API_KEY:-...}` (gatefold.toml:2:9)
    b: `models.b.key` needs the variable `MISSING`, which is not set; set `MISSING`, or give a default: `${MISSING:-...}` (gatefold.toml:6:7)
    gemini:y: `agents.x.model` needs the variable `GEMINI_API_KEY`, which is not set; set `GEMINI_API_KEY`, or give a default: `${GEMINI_API_KEY:-...}` (gatefold.toml:10:9)
    ");
    let local = Principal::local();
    let refused = model_client(&config.models[0], &config, &local).err().unwrap().to_string();
    assert!(refused.contains("`a`") && refused.contains("OPENAI_API_KEY"), "{refused}");
    assert!(model_client(&config.models[2], &config, &local).is_ok());
}

#[test]
fn wrong_models_are_refused_with_place_and_fix() {
    let text = "[models.a]\nurl = 'http://h.example'\n\
                [models.b]\nmodel = 'gpt-5'\n\
                [models.c]\nmodel = 'ollama:x'\napi = 'openai-chat'\n\
                [models.d]\nmodel = 'ollama:x'\napi = 'openai'\ntool_calls = 'xml'\ntemperature = 3\nextra = 1\n\
                [models.e]\nmodel = 'ollama:x'\nfallback = 'zzz'\nvisible_to = []\n\
                [models.'f:x']\nmodel = 'ollama:x'\n\
                [models.g]\nmodel = 'ollama:x'\nfallback = 'h'\n\
                [models.h]\nmodel = 'ollama:x'\nfallback = 'g'\n\
                [models.i]\nmodel = 'ollama:x'\nfallback = 'i'\nkey = \"a\\nb\"\n\
                [agents.x]\nmodel = 'gpt-5'\n";
    insta::assert_snapshot!(toml(text).unwrap_err(), @r#"
    gatefold.toml:1:1: `models.a` has no `model`
      help: write `model = "..."` in it
    gatefold.toml:4:9: `models.b.model` does not say where the model is
      help: write its `url` beside it, or a short form: `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME`, `llama-server:NAME`
    gatefold.toml:7:1: `models.c.api` needs `url`
      help: write where the model is, or leave it out for a short form
    gatefold.toml:10:1: `models.d.api` needs `url`
      help: write where the model is, or leave it out for a short form
    gatefold.toml:10:7: `models.d.api` is not an API of models: "openai"
      help: write "openai-chat" or "anthropic"
    gatefold.toml:11:14: `models.d.tool_calls` is not a way to call tools: "xml"
      help: write "native", "json" or "auto"
    gatefold.toml:12:15: `models.d.temperature` is not a number from 0 to 2
      help: write a number, such as 0.2
    gatefold.toml:13:9: `models.d.extra` is a number, not a table
      help: write `[models.d.extra]` and its keys below it
    gatefold.toml:16:12: `models.e.fallback` is not a model of the configuration
      help: use `a`, `b`, `c`, `d`, `e`, `f:x`, `g`, `h`, `i`, or a short form: `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME`, `llama-server:NAME`
    gatefold.toml:17:14: `models.e.visible_to` is empty, which would hide the model from everybody
      help: name a group, or remove the model
    gatefold.toml:18:9: `models."f:x"` is not a name for a model
      help: use up to 64 letters, digits, `-`, `_` and `.`
    gatefold.toml:22:12: `models.g.fallback` leads back to where it began: g -> h -> g
      help: leave out one of these fallbacks
    gatefold.toml:25:12: `models.h.fallback` leads back to where it began: h -> g -> h
      help: leave out one of these fallbacks
    gatefold.toml:28:12: `models.i.fallback` leads back to where it began: i -> i
      help: leave out one of these fallbacks
    gatefold.toml:29:7: `models.i.key` has a value that no header may have
      help: check it, and the variables in it, for line breaks
    gatefold.toml:31:9: `agents.x.model` is not a model of the configuration
      help: use `a`, `b`, `c`, `d`, `e`, `f:x`, `g`, `h`, `i`, or a short form: `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME`, `llama-server:NAME`
    "#);
}

#[test]
fn a_hidden_model_looks_missing() {
    let text = "[models.open]\nmodel = 'ollama:x'\nfallback = 'closed'\n\
                [models.closed]\nmodel = 'ollama:y'\nvisible_to = ['finance']\n\
                [agents.x]\nmodel = 'closed'\n";
    let config = toml(text).unwrap();
    let local = config.local_user();
    let names: Vec<_> = config.models_for(&local).map(|model| model.name.clone()).collect();
    assert_eq!(names, ["open"]);
    let hidden = config.model_for("closed", &local).unwrap_err().to_string();
    let missing = config.model_for("closer", &local).unwrap_err().to_string();
    assert_eq!(hidden.replace("closed", "closer"), missing);
    let agent = &config.agents[&AgentId::new("x")];
    assert!(config.chosen_model(agent.model.as_ref().unwrap(), &local).is_none());
    let member = toml(&format!("{text}[users.local]\ngroups = ['finance']\n")).unwrap();
    assert!(member.model_for("closed", &member.local_user()).is_ok());
}

#[test]
fn prices_and_budgets_are_whole_millionths_and_wrong_ones_are_refused() {
    let text = "[models.a]\nmodel = 'ollama:a'\nprice = { input = 0.25, output = 2 }\n\
                budget = { tokens = 1000, cost = 0.000001 }\n\
                [models.b]\nmodel = 'ollama:b'\nprice = { input = 0, cached_input = 0.1, output = 0.3 }\n";
    let config = toml(text).unwrap();
    let price = |at: usize| {
        let price = config.models[at].price.unwrap();
        (price.input, price.cached_input, price.output)
    };
    assert_eq!((price(0), price(1)), ((250_000, 250_000, 2_000_000), (0, 100_000, 300_000)));
    let budget = config.models[0].budget.unwrap();
    assert_eq!((budget.tokens, budget.cost), (Some(1000), Some(Cost::from_micros(1))));
    for (keys, expected) in [
        ("price = { input = 1 }", "output"),
        ("price = { input = -1, output = 1 }", "is not an amount from 0 to 1,000,000"),
        ("price = { input = 1, output = 1, inputs = 2 }", "inputs"),
        ("budget = {}", "limits nothing"),
        ("budget = { tokens = 0 }", "above zero"),
        ("budget = { cost = 1 }", "needs `price`"),
        ("[agents.x]\nlimits = { iteration = 3 }", "iterations"),
    ] {
        let error = toml(&format!("[models.a]\nmodel = 'ollama:a'\n{keys}\n")).unwrap_err();
        assert!(error.to_string().contains(expected), "{keys}: {error}");
    }
}

#[test]
fn people_have_a_budget_by_default_and_the_local_user_has_none() {
    let config = toml(
        "[limits]\nmodel_tokens = 77\n[models.a]\nmodel = 'ollama:a'\n\
         [models.b]\nmodel = 'ollama:b'\nbudget = { tokens = 5 }\n",
    );
    let config = config.unwrap();
    let token = TokenGrant {
        id: TokenId::new("t"),
        name: "t".into(),
        narrowing: Narrowing::to(std::iter::empty::<&str>()),
    };
    let local = Principal::local();
    let with_token = Principal { token: Some(Arc::new(token)), ..local.clone() };
    let ann = Principal::user(UserId::new("ann"));
    for (who, expected) in [(&local, None), (&with_token, Some(77)), (&ann, Some(77))] {
        let tokens = |at: usize| config.models[at].budget_for(&config, who).tokens;
        assert_eq!((tokens(0), tokens(1)), (expected, Some(5)));
    }
}
