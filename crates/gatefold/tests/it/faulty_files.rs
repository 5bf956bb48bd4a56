//! The messages about files that are wrong as a whole, and about several files at once.

use gatefold::config::{ConfigError, Inputs};

use crate::scratch::{Scratch, json};

#[test]
fn every_fault_of_every_file_is_reported_at_once_and_in_order() {
    let scratch = Scratch::new();
    scratch.write(
        "gatefold.toml",
        "[server]\nlisten = 1\n[sources.a]\nurl = 'x'\n[sources.b]\nenabled = 0\n[polcy]\n",
    );
    scratch.write("one.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\",,}}}");
    scratch.write("two.json", b"{\n \"caf\xE9\": 1}");
    let inputs = Inputs {
        config: Some("gatefold.toml".into()),
        mcp_configs: vec!["one.json".into(), "two.json".into()],
        ..Inputs::default()
    };
    let error = scratch.load(&inputs).unwrap_err();
    assert_eq!(error.faults().len(), 7);
    insta::assert_snapshot!(error, @r#"
    gatefold.toml:2:10: `server.listen` is a number, not a string
      help: put it in quotes
    gatefold.toml:4:7: `sources.a.url` has no `http` scheme
      help: write the whole address, such as "https://host.example/mcp"
    gatefold.toml:5:10: `sources.b` says neither what to start nor where to connect
      help: give `command` for a program on this machine, or `url` for a server over HTTP, or `openapi` for an HTTP API with an OpenAPI description, or `actions` for an HTTP API whose operations you write down, or `database` for a database, or `builtin` for built-in tools, or `skills` for a folder of skills, or `knowledge` for documents to search and quote
    gatefold.toml:6:11: `sources.b.enabled` is a number, not a boolean
      help: write `true` or `false`, without quotes
    gatefold.toml:7:2: `polcy` is not a known key
      help: did you mean `policy`?
    one.json:1:39: key must be a string
      help: check the quotes, commas and brackets before this place
    two.json:2:6: the text is not UTF-8
      help: save the file as UTF-8
    "#);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let scratch = Scratch::new();
    let named = |config: &str| {
        let inputs = Inputs { config: Some(config.into()), ..Inputs::default() };
        scratch.load(&inputs).unwrap_err().to_string()
    };
    insta::assert_snapshot!(named("missing.toml"), @r#"
    missing.toml: cannot be read: there is no such file
      help: check the path
    "#);
    scratch.write("large.toml", vec![b'#'; 5 << 20]);
    insta::assert_snapshot!(named("large.toml"), @r#"
    large.toml: cannot be read: it is too large
      help: give a configuration of at most 4 MiB
    "#);
    assert!(named(".").starts_with(".: cannot be read: "));
}

#[test]
fn a_client_configuration_without_servers_is_refused() {
    let messages: Vec<_> = ["{}", "[]", "{\"mcpServers\": 1}", "{\"mcpServers\": {\"a\": 1,}", ""]
        .iter()
        .map(|text| format!("{text}\n{}", json(text).unwrap_err()))
        .collect();
    insta::assert_snapshot!(messages.join("\n\n"), @r#"
    {}
    mcp.json:1:1: names no MCP servers
      help: give a file with `mcpServers`, `servers` or `context_servers`

    []
    mcp.json:1:1: names no MCP servers
      help: give a file with `mcpServers`, `servers` or `context_servers`

    {"mcpServers": 1}
    mcp.json:1:16: `mcpServers` is a number, not an object
      help: put its members in braces: {...}

    {"mcpServers": {"a": 1,}
    mcp.json:1:24: EOF while parsing an object
      help: check the quotes, commas and brackets before this place


    mcp.json:1:1: EOF while parsing a value
      help: check the quotes, commas and brackets before this place
    "#);
}

#[test]
fn a_directory_in_the_place_of_the_file_is_called_one() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("gatefold.toml")).unwrap();
    let error = Inputs::default().located(&scratch.environment()).unwrap_err();
    let message = error.to_string().replace(scratch.path().to_str().unwrap(), "HERE");
    insta::assert_snapshot!(message, @r#"
    HERE/gatefold.toml: cannot be read: it is a directory
      help: move it away, or name a file with `--config FILE`
    "#);
}

#[test]
fn without_any_file_all_ways_to_start_are_named() {
    let scratch = Scratch::new();
    let error = Inputs::default().located(&scratch.environment()).unwrap_err();
    assert!(matches!(error, ConfigError::NotFound { .. }));
    let message = error.to_string().replace(scratch.path().to_str().unwrap(), "HERE");
    insta::assert_snapshot!(message, @r#"
    no configuration found: looked for `HERE/gatefold.toml`, `/home/ann/.config/gatefold/gatefold.toml`
      help: make one from the MCP clients that you have with `gatefold import`, add a server with `gatefold add`, write one with `gatefold init`, or start with `--mcp-config FILE` and a client's configuration
    "#);
}
