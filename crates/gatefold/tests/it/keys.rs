//! The descriptions of the keys match the reader, and so does everything generated from them.

use std::collections::BTreeSet;
use std::sync::Arc;

use gatefold::config::keys::{self, ApplyMode, Key, Section};
use gatefold::config::kinds::Kinds;
use gatefold::config::{Config, Inputs, settings};
use gatefold::{Environment, build};
use gatefold_core::SystemClock;
use serde_json::Value;

use crate::scratch::{Scratch, toml};

fn sections() -> Vec<Section> {
    keys::sections(&Kinds::default())
}

fn schema() -> Value {
    gatefold::config::schema(&sections())
}

fn template() -> String {
    gatefold::config::template(&sections())
}

const ACTIONS: &str = "actions = [{ name = 'a', method = 'GET', path = '/' }]\n";

/// A file with the example of one key, and with the keys that it needs.
fn with_example(section: &Section, key: &Key) -> String {
    let header = section.path.replace("NAME", "a");
    let is_source = section.path == "sources.NAME";
    let needs: Vec<_> = key.needs.iter().map(String::as_str).collect();
    let beside = match (is_source, needs.as_slice()) {
        (false, ["url"]) => "model = \"x\"\nurl = \"http://host.example\"\n",
        (false, []) if section.path == "models.NAME" && key.name != "model" => {
            "model = \"ollama:qwen3\"\n"
        }
        (true, []) if key.name == "actions" => "base_url = \"http://host.example\"\n",
        (true, []) if section.is_way(key) => "",
        (true, [] | ["command", ..]) => "command = \"x\"\n",
        (true, ["url", ..]) => "url = \"http://host.example\"\n",
        (true, ["openapi", ..]) if key.name == "auth" => {
            "openapi = \"openapi.json\"\nbase_url = \"http://host.example\"\n"
        }
        (true, ["openapi", ..]) => "openapi = \"openapi.json\"\n",
        (true, ["builtin", ..]) => "builtin = \"all\"\n",
        (true, ["database", ..]) if key.name == "allow_functions" => {
            "database = \"postgres://reader@db.example/shop\"\n"
        }
        (true, ["database", ..]) => "database = \"sqlite:hr.db\"\n",
        (true, ["skills", ..]) => "skills = \"skills\"\n",
        (true, ["knowledge", ..]) if key.name == "refresh" => {
            "knowledge = \"https://host.example\"\n"
        }
        (true, ["knowledge", ..]) => "knowledge = \"handbook\"\n",
        (true, ["actions", ..]) if key.name == "base_url" => ACTIONS,
        (true, ["actions", ..]) => &format!("base_url = \"http://host.example\"\n{ACTIONS}"),
        (false, ["public_url"]) => {
            "authentication = \"token\"\npublic_url = \"https://a.example\"\n"
        }
        (false, ["subject"]) => "subject = \"x\"\n",
        (false, []) if key.name == "ask_unless" => "ask = [\"mail__*\"]\n",
        (false, []) if key.name == "deny_unless" => "deny = [\"*__drop_*\"]\n",
        _ => "",
    };
    let named = match key.name.as_str() {
        "connector_ids" => "[sources.hr]\ndatabase = \"sqlite:hr.db\"\n",
        "kb_ids" => "[sources.handbook]\nknowledge = \"handbook\"\n",
        "subject" | "issuer" => {
            "[server]\nauthentication = \"token\"\npublic_url = \"https://a.example\"\n\
             [[server.issuers]]\nissuer = \"https://id.example\"\n"
        }
        _ => "",
    };
    format!("[{header}]\n{beside}{} = {}\n{named}", key.name, key.example)
}

/// A TOML text as the JSON that an editor checks.
fn as_json(text: &str) -> Option<Value> {
    toml::from_str(text).ok()
}

#[test]
fn every_key_that_is_described_is_read() {
    for section in &sections() {
        for key in &section.keys {
            let text = with_example(section, key);
            toml(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        }
    }
}

/// An unknown key makes the reader list all that it knows.
#[test]
fn every_key_that_is_read_is_described() {
    const STRANGE: &str = "qqqqqqqqqqqq";
    let asked_for = |text: &str| -> BTreeSet<String> {
        let error = toml(text).unwrap_err();
        let [fault] = error.faults() else { panic!("{text}\n{error}") };
        let names = fault.hint.split('`').skip(1).step_by(2);
        names.map(str::to_owned).collect()
    };
    let sections = sections();
    let roots = sections.iter().map(|section| section.path.split('.').next().unwrap().to_owned());
    assert_eq!(asked_for(&format!("{STRANGE} = 1")), roots.collect());
    for section in &sections {
        let header = section.path.replace("NAME", "a");
        // Each kind of source knows its own keys.
        let beside = [
            "command = 'x'\n",
            "openapi = 'openapi.json'\n",
            "database = 'sqlite:hr.db'\n",
            "builtin = 'all'\n",
            "skills = 'skills'\n",
            "knowledge = 'handbook'\n",
            &format!("base_url = 'http://host.example'\n{ACTIONS}"),
        ];
        let beside = match section.path {
            "sources.NAME" => &beside[..],
            "models.NAME" => &["model = 'ollama:qwen3'\n"],
            _ => &[""],
        };
        let read =
            beside.iter().flat_map(|own| asked_for(&format!("[{header}]\n{own}{STRANGE} = 1")));
        let described: BTreeSet<_> = section.keys.iter().map(|key| key.name.clone()).collect();
        assert_eq!(read.collect::<BTreeSet<_>>(), described, "{}", section.path);
    }
}

/// The value of a key in force.
fn value(config: &Config, section: &Section, key: &Key) -> Option<Value> {
    let environment = Environment::new([("", ""); 0], "/");
    let settings = settings(config, &Inputs::default(), &environment);
    let setting = settings.into_iter().find(|setting| setting.key == section.key_path(key));
    setting.unwrap().value
}

/// No example is the default value, so applying it is a change.
#[tokio::test]
async fn a_reload_applies_what_is_said_to_need_no_restart() {
    let scratch = Scratch::new();
    let clock = Arc::new(SystemClock);
    let app = build(toml("").unwrap(), scratch.path(), clock).await.unwrap();
    for section in sections().iter().filter(|section| !section.path.contains('.')) {
        for key in &section.keys {
            let config = toml(&with_example(section, key)).unwrap();
            assert_ne!(value(&config, section, key), key.default, "{}", section.key_path(key));
            let reloaded = app.apply(config).await.unwrap();
            let waits = !reloaded.needs_restart.is_empty();
            let expected = key.applies == ApplyMode::Restart;
            assert_eq!(waits, expected, "{}: {reloaded:?}", section.key_path(key));
            app.apply(toml("").unwrap()).await.unwrap();
        }
    }
    app.close().await;
}

#[test]
fn the_schema_takes_what_the_reader_takes() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let file = |name: &str| std::fs::read_to_string(examples.join(name)).unwrap();
    let mut texts = vec![file("gatefold.toml"), file("reference.toml"), uncommented()];
    for section in &sections() {
        texts.extend(section.keys.iter().map(|key| with_example(section, key)));
    }
    texts.extend(
        [
            "",
            "[limits]\ncall_deadline = ' 1.5 h '\nstored_result = '${SIZE}'",
            "[audit]\ndurability = '${X:-disk}'",
            "[server]\nlisten = '[::1]:1'",
            "[sources.a]\nurl = '${URL}'\ndomain = '_a_b_1'",
            "[sources.a]\ncommand = 'x'\nargs = [1, true, 'b']\nenv = { A = 1, b-c = 'x' }",
            "[sources.a]\ncommand = 'x'\ngroups = { 'é 1/_-' = ['*'] }\ndeny = []",
            "[agents.a]\nmodel_config_json = '{ \"mcp_tool_mode\": \"legacy\", \"other\": 1 }'",
            "[agents.a]\nmodel_config_json = { mcp_tool_mode = '${MODE:-legacy}' }",
        ]
        .map(str::to_owned),
    );
    for text in texts {
        let json = as_json(&text).unwrap_or_else(|| panic!("not TOML: {text}"));
        if let Err(error) = schema.validate(&json) {
            panic!("{text}\n{}: {error}", error.instance_path());
        }
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    for text in crate::wrong_inputs::refused_by_a_schema() {
        let json = as_json(text).unwrap_or_else(|| panic!("not TOML: {text}"));
        assert!(!schema.is_valid(&json), "the schema takes:\n{text}");
        assert!(toml(text).is_err(), "the reader takes:\n{text}");
    }
}

#[test]
fn the_schema_and_the_reader_want_one_way_to_sign_in() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let provider = "issuer = 'https://id.example', client_id = 'a', client_secret = 'b'";
    for (sign_in, is_legal) in [
        ("password = true".to_owned(), true),
        ("registration = true".to_owned(), true),
        (format!("provider = {{ {provider} }}"), true),
        (format!("password = false, provider = {{ {provider}, scopes = ['groups'] }}"), true),
        (format!("password = true, provider = {{ {provider}, name = 'Staff' }}"), true),
        ("password = false".to_owned(), false),
        ("provider = { issuer = 'https://id.example' }".to_owned(), false),
        (format!("provider = {{ {provider}, audience = 'x' }}"), false),
    ] {
        let text = format!(
            "[server]\nauthentication = 'token'\npublic_url = 'https://tools.example'\n\
             sign_in = {{ {sign_in} }}\n"
        );
        let json = as_json(&text).unwrap_or_else(|| panic!("not TOML: {text}"));
        assert_eq!((schema.is_valid(&json), toml(&text).is_ok()), (is_legal, is_legal), "{text}");
    }
}

/// The template with every key and every header uncommented.
fn uncommented() -> String {
    let is_setting = |line: &str| {
        let rest = line.strip_prefix('#').unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[')
    };
    let lines = template();
    let lines = lines.lines().map(|line| if is_setting(line) { &line[1..] } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_file_to_begin_with_loads_as_it_is_and_with_every_key() {
    let config = toml(&template()).unwrap();
    assert!(config.sources.is_empty());
    let text = uncommented();
    let config = toml(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert_eq!(config.sources.len(), sections()[0].ways.len());
    for section in &sections() {
        for key in &section.keys {
            assert!(text.contains(&format!("\n{} = ", key.name)), "{}", section.key_path(key));
        }
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}
