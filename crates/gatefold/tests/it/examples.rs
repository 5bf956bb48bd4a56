//! The examples next to the workspace load, and show the real defaults.

use std::path::Path;

use gatefold::Environment;
use gatefold::config::{AuthenticationMode, Config, DisclosureConfig, Inputs, ServerConfig, load};

use crate::scratch::toml;

fn example(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn environment() -> Environment {
    Environment::new([("HOME", "/home/ann"), ("GITHUB_TOKEN", "t")], "/")
}

#[test]
fn the_example_configurations_load() {
    let inputs = Inputs {
        config: Some(example("gatefold.toml")),
        mcp_configs: vec![example("mcp.json")],
        ..Inputs::default()
    };
    let config = load(&inputs, &environment()).unwrap_or_else(|error| panic!("{error}"));
    assert!(config.sources.len() >= 4);
}

#[test]
fn the_example_of_agents_loads_and_lacks_nothing_but_keys() {
    let inputs = Inputs { config: Some(example("agents/gatefold.toml")), ..Inputs::default() };
    let config = load(&inputs, &environment()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((config.models.len(), config.agents.len()), (3, 2));
    let unusable: Vec<_> = config.unusable_models().map(|(name, _)| name).collect();
    assert_eq!(unusable, ["team", "strong"]);
}

/// Loads every commented-out `key = value` of the reference.
#[test]
fn the_reference_shows_the_defaults() {
    let text = std::fs::read_to_string(example("reference.toml")).unwrap();
    let is_setting = |line: &str| {
        let key = line.strip_prefix('#').and_then(|rest| rest.split_once(" = "));
        key.is_some_and(|(key, _)| key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
    };
    let uncommented: Vec<_> = text
        .lines()
        .map(|line| if is_setting(line) { line.trim_start_matches('#') } else { line })
        .collect();
    let text = uncommented.join("\n").replace("#[", "[");
    let (said, default) = (toml(&text).unwrap(), Config::default());
    assert_eq!(said.limits, default.limits);
    // Left out, these have no value of their own, so examples are shown.
    assert!(said.server.tls.is_some());
    assert_eq!(said.server.authentication, Some(AuthenticationMode::Token));
    assert!(said.server.public_url.is_some() && said.server.issuers.len() == 1);
    assert!(said.server.sign_in.is_some());
    let said_server = ServerConfig {
        authentication: None,
        tls: None,
        public_url: None,
        issuers: Vec::new(),
        sign_in: None,
        ..said.server
    };
    assert_eq!(said_server, default.server);
    let builtin_tools = default.disclosure.builtin_tools.clone();
    assert_eq!(DisclosureConfig { builtin_tools, ..said.disclosure }, default.disclosure);
    assert_eq!(said.audit, default.audit);
}
