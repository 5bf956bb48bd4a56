//! Every wrong command line, and failures at work: what is printed, and how to fix it.

#![expect(clippy::too_many_lines, reason = "a snapshot has every message of its table")]

use std::net::TcpListener;

use crate::process::{run, two_sources};
use crate::scratch::Scratch;

/// The binary's output and exit code, under the command.
fn said(scratch: &Scratch, line: &str) -> String {
    let args: Vec<_> = line.split(' ').map(|word| word.trim_matches('\'')).collect();
    let done = run(scratch, &args);
    let is_log = |line: &&str| line.contains(" WARN ");
    let stderr = done.stderr.split_inclusive('\n').filter(|line| !is_log(line));
    let text = done.stdout + &stderr.collect::<String>();
    let text = text.replace(scratch.path().to_str().unwrap(), "HERE");
    format!("$ gatefold {line}\n{}exit code {}\n", text, done.code.unwrap())
}

fn said_of_all(scratch: &Scratch, lines: &[&str]) -> String {
    lines.iter().map(|line| said(scratch, line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_wrong_command_line_says_what_is_right() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("directory")).unwrap();
    scratch.write("file", "").write("empty.toml", "");
    let lines = [
        "chek",
        "check",
        "check --config",
        "check --config directory",
        "serve --listen 8420",
        "serve --listen 127.0.0.1:99999",
        "status --listen localhost",
        "status --config empty.toml --log ==",
        "status --config empty.toml --state-dir file",
        "status --config empty.toml --state-dir file/state",
        "tools call --config empty.toml",
        "tools call x --arg a",
        "tools call x --arguments {} --arg a=1",
        "tools search x --limit many",
        "config explain limits.call_dedline",
        "config explain limit.nesting",
        "config explain call_deadline",
        "config explain allow",
        "config explain limits.nesting.x",
        "config explain frobnicate",
        "config explain mcpServers",
        "init --path directory",
        "init --path file",
        "init --path file/gatefold.toml",
        "init --path a.toml --user",
    ];
    insta::assert_snapshot!(said_of_all(&scratch, &lines), @r#"
    $ gatefold chek
    error: unrecognized subcommand 'chek'

      tip: a similar subcommand exists: 'check'

    Usage: gatefold [OPTIONS] <COMMAND>

    For more information, try '--help'.
    exit code 2

    $ gatefold check
    error: no configuration found: looked for `HERE/gatefold.toml`, `HERE/.config/gatefold/gatefold.toml`
      help: make one from the MCP clients that you have with `gatefold import`, add a server with `gatefold add`, write one with `gatefold init`, or start with `--mcp-config FILE` and a client's configuration
    exit code 2

    $ gatefold check --config
    error: a value is required for '--config <FILE>' but none was supplied

    For more information, try '--help'.
    exit code 2

    $ gatefold check --config directory
    error: directory: cannot be read: it is a directory
      help: name a file in it
    exit code 2

    $ gatefold serve --listen 8420
    error: invalid value '8420' for '--listen <ADDR>': write an address and a port, such as 127.0.0.1:8420

    For more information, try '--help'.
    exit code 2

    $ gatefold serve --listen 127.0.0.1:99999
    error: invalid value '127.0.0.1:99999' for '--listen <ADDR>': write an address and a port, such as 127.0.0.1:8420

    For more information, try '--help'.
    exit code 2

    $ gatefold status --listen localhost
    error: invalid value 'localhost' for '--listen <ADDR>': write an address and a port, such as 127.0.0.1:8420

    For more information, try '--help'.
    exit code 2

    $ gatefold status --config empty.toml --log ==
    error: `--log ==` is not a filter: invalid filter directive
      help: write a level, such as `info`, or `gatefold_mcp=debug,warn`
    exit code 2

    $ gatefold status --config empty.toml --state-dir file
    error: the state directory cannot be `file`: `HERE/file` is no directory
      help: choose another with `--state-dir DIR`
    exit code 2

    $ gatefold status --config empty.toml --state-dir file/state
    error: the state directory cannot be `file/state`: `HERE/file` is no directory
      help: choose another with `--state-dir DIR`
    exit code 2

    $ gatefold tools call --config empty.toml
    error: the following required arguments were not provided:
      <NAME>

    Usage: gatefold tools call --config <FILE> <NAME>

    For more information, try '--help'.
    exit code 2

    $ gatefold tools call x --arg a
    error: invalid value 'a' for '--arg <KEY=VALUE>': write it as KEY=VALUE

    For more information, try '--help'.
    exit code 2

    $ gatefold tools call x --arguments {} --arg a=1
    error: the argument '--arguments <JSON>' cannot be used with '--arg <KEY=VALUE>'

    Usage: gatefold tools call --arguments <JSON> <NAME>

    For more information, try '--help'.
    exit code 2

    $ gatefold tools search x --limit many
    error: invalid value 'many' for '--limit <LIMIT>': invalid digit found in string

    For more information, try '--help'.
    exit code 2

    $ gatefold config explain limits.call_dedline
    error: `limits.call_dedline` is not a key of the configuration
      help: did you mean `limits.call_deadline`?
    exit code 2

    $ gatefold config explain limit.nesting
    error: `limit.nesting` is not a key of the configuration
      help: did you mean `limits.nesting`?
    exit code 2

    $ gatefold config explain call_deadline
    error: `call_deadline` is not a key of the configuration
      help: did you mean `sources.NAME.call_deadline` or `limits.call_deadline`?
    exit code 2

    $ gatefold config explain allow
    error: `allow` is not a key of the configuration
      help: did you mean `sources.NAME.allow` or `policy.allow`?
    exit code 2

    $ gatefold config explain limits.nesting.x
    error: `limits.nesting.x` is not a key of the configuration
      help: `limits.nesting` holds no further keys
    exit code 2

    $ gatefold config explain frobnicate
    error: `frobnicate` is not a key of the configuration
      help: `gatefold config explain` lists all sections
    exit code 2

    $ gatefold config explain mcpServers
    error: `mcpServers` is not a key of the configuration
      help: `gatefold config explain` lists all sections
    exit code 2

    $ gatefold init --path directory
    error: `directory` cannot be written: it is a directory
      help: name another file with `--path FILE`
    exit code 1

    $ gatefold init --path file
    error: `file` is there already
      help: name another with `--path FILE`, or replace it with `--force`
    exit code 2

    $ gatefold init --path file/gatefold.toml
    error: `file/gatefold.toml` cannot be written: a part of its path is a file
      help: name another file with `--path FILE`
    exit code 1

    $ gatefold init --path a.toml --user
    error: the argument '--path <FILE>' cannot be used with '--user'

    Usage: gatefold init --path <FILE>

    For more information, try '--help'.
    exit code 2
    "#);
}

#[test]
fn a_failure_at_work_says_how_to_fix_it() {
    let scratch = Scratch::new();
    let sources = two_sources(&scratch)
        + "[sources.astray]\ncommand = 'true'\ncwd = 'missing'\n[sources.joined]\ncommand = 'my server'\n";
    scratch.write("gatefold.toml", two_sources(&scratch)).write("astray.toml", sources);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let serve = format!("serve --listen 127.0.0.1:{port}");
    let lines = [
        serve.as_str(),
        "tools call create_isue",
        "tools call create_issue --arguments {",
        "tools call create_issue --arguments [1]",
        "tools call create_issue --arg title=a --arg title=b",
        "tools list --domain isues",
        "tools schema nothing_like_it",
        "config explain sources.astray.cwdd",
    ];
    let text = said_of_all(&scratch, &lines).replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(text, @r#"
    $ gatefold serve --listen 127.0.0.1:PORT
    error: `127.0.0.1:PORT` is in use by another program
      help: stop that one, or choose another address with `--listen`
    exit code 1

    $ gatefold tools call create_isue
    error: unknown tool `create_isue`
      help: did you mean `issues__create_issue`?
    exit code 1

    $ gatefold tools call create_issue --arguments {
    error: `--arguments` is not JSON: EOF while parsing an object at line 1 column 1
      help: write `--arguments '{"name": value, ...}'`, or `--arg NAME=VALUE` for each
    exit code 2

    $ gatefold tools call create_issue --arguments [1]
    error: `--arguments` is not a JSON object
      help: write `--arguments '{"name": value, ...}'`, or `--arg NAME=VALUE` for each
    exit code 2

    $ gatefold tools call create_issue --arg title=a --arg title=b
    error: `--arg title` is given twice
      help: give each argument once
    exit code 2

    $ gatefold tools list --domain isues
    error: unknown domain `isues`
      help: the domains are issues, units
    exit code 1

    $ gatefold tools schema nothing_like_it
    error: unknown tool `nothing_like_it`
      help: `gatefold tools list` shows them all
    exit code 1

    $ gatefold config explain sources.astray.cwdd
    error: `sources.astray.cwdd` is not a key of the configuration
      help: did you mean `sources.NAME.cwd`?
    exit code 2
    "#);
    let checked = said(&scratch, "check --config astray.toml");
    let failures = checked.lines().skip_while(|line| !line.starts_with("failed"));
    insta::assert_snapshot!(failures.collect::<Vec<_>>().join("\n"), @r"
    failed astray: its working directory `HERE/missing` was not found
      configured in astray.toml:7

    failed joined: `my server` was not found; install it, or give its full path
      help: `command` is only the program; put its arguments in `args`
      configured in astray.toml:10
    exit code 1
    ");
}
