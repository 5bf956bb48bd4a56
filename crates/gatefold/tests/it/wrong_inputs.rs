//! Every wrong input: the message, its place, and the fix. Wrong single values are tested in
//! `faults`, whole files and several of them in `faulty_files`; here is the rest, including broken
//! syntax and odd files.

#![expect(clippy::too_many_lines, reason = "a snapshot has every message of its table")]

use std::time::Instant;

use gatefold::config::Inputs;

use crate::scratch::{LIMIT, Scratch, json, toml};

/// The messages about each text, under its name.
fn messages<T: AsRef<str>>(rows: &[(&str, T)]) -> String {
    let message = |(name, text): &(&str, T)| {
        let said = toml(text.as_ref()).map_or_else(|error| error.to_string(), |_| "loads".into());
        format!("# {name}\n{said}\n")
    };
    rows.iter().map(message).collect::<Vec<_>>().join("\n")
}

const BROKEN_SYNTAX: &[(&str, &str)] = &[
    ("a string that is not closed", "[sources.a]\ncommand = \"x\nargs = []"),
    ("a literal that is not closed", "[sources.a]\ncommand = 'x\nargs = []"),
    ("a long string that is not closed", "[sources.a]\ndescription = \"\"\"x\n"),
    ("a list that is not closed", "[sources.a]\nargs = ['x'\ncommand = 'x'"),
    ("a table that is not closed", "[sources.a]\nenv = { A = 'x'\ncommand = 'x'"),
    ("a backslash in double quotes", "[sources.a]\ncommand = \"C:\\qrograms\\x.exe\""),
    ("a control character", "[sources.a]\ncommand = 'x\u{1}'"),
    ("a NUL character", "[sources.a]\n\0command = 'x'"),
    ("a number with a zero in front", "[limits]\nnesting = 08"),
    ("a number with odd separators", "[limits]\nnesting = 1__0"),
    ("a date that does not exist", "[limits]\nnesting = 2026-99-99"),
    ("a key without a value", "[limits]\nnesting ="),
    ("a key alone", "[limits]\nnesting"),
    ("a value without a key", "[limits]\n= 1"),
    ("entries without a comma", "[sources.a]\ncommand = 'x'\nargs = ['a' 'b']"),
    ("a colon instead of an equals sign", "[limits]\nnesting: 8"),
    ("a table over a value", "sources = 1\n[sources.a]\ncommand = 'x'"),
    ("a client's JSON", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}"),
];

#[test]
fn broken_syntax_has_a_place_and_a_fix() {
    insta::assert_snapshot!(messages(BROKEN_SYNTAX), @r#"
    # a string that is not closed
    gatefold.toml:2:13: invalid basic string, expected `"`
      help: close the string in its line; for several lines use `"""`

    # a literal that is not closed
    gatefold.toml:2:13: invalid literal string, expected `'`
      help: close the string in its line; for several lines use `'''`

    # a long string that is not closed
    gatefold.toml:3:1: invalid multi-line basic string, expected `"`
      help: close the string in its line; for several lines use `"""`

    # a list that is not closed
    gatefold.toml:3:1: unexpected `=` in array, expected value, `]`
      help: close the list with `]`

    # a table that is not closed
    gatefold.toml:3:1: unclosed inline table, expected `}`
      help: close the table with `}`

    # a backslash in double quotes
    gatefold.toml:2:15: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\`, `"`, `x`, `u`, `U`
      help: in a path or a pattern use single quotes, in which `\` is itself

    # a control character
    gatefold.toml:2:13: invalid literal string, expected non-single-quote visible characters
      help: remove the control character, or write it as `\u....` in double quotes

    # a NUL character
    gatefold.toml:2:1: invalid unquoted key, expected letters, numbers, `-`, `_`
      help: write `key = value`, and a key with other characters in quotes: `[sources."my server"]`

    # a number with a zero in front
    gatefold.toml:2:11: unexpected leading zero, expected nothing
      help: write the number without zeros in front, or in quotes

    # a number with odd separators
    gatefold.toml:2:12: `_` may only go between digits, expected nothing
      help: write the number as digits alone

    # a date that does not exist
    gatefold.toml:2:11: invalid date, expected month between 01 and 12
      help: no key takes a date; write a string, in quotes

    # a key without a value
    gatefold.toml:2:10: a string has no quotes
      help: put it in quotes

    # a key alone
    gatefold.toml:2:8: key with no value, expected `=`
      help: write `key = value`

    # a value without a key
    gatefold.toml:2:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
      help: write `key = value`

    # entries without a comma
    gatefold.toml:3:13: missing comma between array elements, expected `,`
      help: put a comma between the entries

    # a colon instead of an equals sign
    gatefold.toml:2:8: invalid unquoted key, expected letters, numbers, `-`, `_`
      help: write `key = value`, and a key with other characters in quotes: `[sources."my server"]`

    # a table over a value
    gatefold.toml:2:2: cannot extend value of type integer with a dotted key
      help: give the key once, as a table or as a value

    # a client's JSON
    gatefold.toml:1:1: this is JSON, not TOML
      help: write it as TOML, as `gatefold init` and `gatefold add` do; pass the configuration of an MCP client as `--mcp-config FILE`
    "#);
}

#[test]
fn brackets_within_brackets_end_somewhere() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let text = format!("a = {}1{}", open.repeat(100_000), close.repeat(100_000));
        let error = toml(&text).unwrap_err().to_string();
        assert!(error.contains("recurs") && error.contains("fewer brackets"), "{error:.300}");
    }
    let deep = format!("{{\"mcpServers\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let error = json(&deep).unwrap_err().to_string();
    assert!(error.contains("nest deeper than 64 levels"), "{error:.300}");
}

/// Faults that a schema can find too.
const REFUSED: &[(&str, &str)] = &[
    ("a string for a section", "limits = 'x'"),
    ("a list for a source", "[sources]\na = ['npx']"),
    ("a boolean for a string", "[sources.a]\ncommand = true"),
    ("a table for a string", "[sources.a]\ncommand = { path = 'x' }"),
    ("a date for a string", "[sources.a]\ncommand = 'x'\ndescription = 2026-01-01"),
    ("a number for a table", "[sources.a]\ncommand = 'x'\nenv = 1"),
    ("a list for a variable's value", "[sources.a]\ncommand = 'x'\nenv = { A = ['x'] }"),
    ("a boolean for a list", "[sources.a]\ncommand = 'x'\nallow = true"),
    ("a number for a pattern", "[policy]\ndeny = [1]"),
    ("a string for a group's patterns", "[sources.a]\ncommand = 'x'\ngroups = { g = '*' }"),
    ("a number for a choice", "[audit]\ndurability = 1"),
    ("a word that is no choice", "[audit]\ndurability = 'Disk'"),
    ("a fraction for a count", "[limits]\nnesting = 1.5"),
    ("a count below zero", "[limits]\ncalls_waiting = -1"),
    ("a boolean for a count", "[disclosure]\ndiscovery_tokens = true"),
    ("a boolean for a duration", "[limits]\ndrain = true"),
    ("a duration below zero", "[limits]\ndrain = '-1s'"),
    ("a duration in no unit", "[limits]\nbreaker_pause = '5 weeks'"),
    ("a size of nothing", "[limits]\nstored_result = '0MiB'"),
    ("a size without a unit", "[limits]\nrequest_size = '1024'"),
    ("a name to listen on", "[server]\nlisten = 'gatefold.example:80'"),
    ("a list of addresses", "[server]\nlisten = ['127.0.0.1:80']"),
    ("host and port apart", "[server]\nport = 80"),
    ("any origin", "[server]\nallowed_origins = ['*']"),
    ("a root key of nothing", "[secrets]\nroot_key = { command = [] }"),
    ("everybody as a proxy", "[server]\ntrusted_proxies = ['0.0.0.0/0']"),
    ("a proxy by its name", "[server]\ntrusted_proxies = ['proxy.example']"),
    ("a certificate without its key", "[server]\ntls = { cert = 'cert.pem' }"),
    ("seconds for a timeout", "[sources.a]\ncommand = 'x'\ntimeout = 30"),
    ("another client's address", "[sources.a]\ncommand = 'x'\nserverUrl = 'http://h'"),
    ("another client's transport", "[sources.a]\ncommand = 'x'\ntype = 'stdio'"),
    ("another client's list of tools", "[sources.a]\ncommand = 'x'\ndisabledTools = ['a']"),
    ("another client's section", "[servers.a]\ncommand = 'x'"),
    ("a section like no other", "[frobnicate]\nx = 1"),
    ("a word that is no tool", "[disclosure]\npinned = ['used', 'Used']"),
    ("words for a pinned tool", "[agents.a]\npinned = ['the most_used']"),
    ("no tools at all", "[policy]\nallow = []"),
    ("a kind without a pattern", "[policy]\ndeny = ['*', 'prompt:']"),
    ("a blank in a list", "[sources.a]\ncommand = 'x'\ninherit_env = [' ']"),
    ("a header with a colon", "[sources.a]\nurl = 'http://h'\nheaders = { 'A:' = 'b' }"),
    ("a group with a colon", "[sources.a]\ncommand = 'x'\ngroups = { 'a:b' = ['*'] }"),
    ("a domain with two underscores", "[sources.a]\ncommand = 'x'\ndomain = 'a__b'"),
    (
        "a domain that is too long",
        "[sources.a]\ncommand = 'x'\ndomain = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
    ),
    ("neither program nor address", "[sources.a]\nenabled = false"),
    ("both program and address", "[sources.a]\nurl = 'http://h'\ncommand = 'x'"),
];

pub(crate) fn refused_by_a_schema() -> impl Iterator<Item = &'static str> {
    REFUSED.iter().map(|(_, text)| *text)
}

#[test]
fn what_a_schema_refuses_has_a_place_and_a_fix() {
    insta::assert_snapshot!(messages(REFUSED), @r#"
    # a string for a section
    gatefold.toml:1:10: `limits` is a string, not a table
      help: write `[limits]` and its keys below it

    # a list for a source
    gatefold.toml:2:5: `sources.a` is a list, not a table
      help: write `[sources.a]` and its keys below it

    # a boolean for a string
    gatefold.toml:2:11: `sources.a.command` is a boolean, not a string
      help: put it in quotes

    # a table for a string
    gatefold.toml:2:11: `sources.a.command` is a table, not a string
      help: write one string

    # a date for a string
    gatefold.toml:3:15: `sources.a.description` is a date, not a string
      help: put it in quotes

    # a number for a table
    gatefold.toml:3:7: `sources.a.env` is a number, not a table
      help: write `[sources.a.env]` and its keys below it

    # a list for a variable's value
    gatefold.toml:3:13: `sources.a.env.A` is a list, not a string
      help: write one string

    # a boolean for a list
    gatefold.toml:3:9: `sources.a.allow` is a boolean, not a list
      help: put it in brackets: [...]

    # a number for a pattern
    gatefold.toml:2:9: `policy.deny[0]` is a number, not a string
      help: put it in quotes

    # a string for a group's patterns
    gatefold.toml:3:16: `sources.a.groups.g` is a string, not a list
      help: put it in brackets: [...]

    # a number for a choice
    gatefold.toml:2:14: `audit.durability` is a number, not a string
      help: put it in quotes

    # a word that is no choice
    gatefold.toml:2:14: `audit.durability` is not one of its values: "Disk"
      help: use "process" or "disk"

    # a fraction for a count
    gatefold.toml:2:11: `limits.nesting` is not a whole number above zero: 1.5
      help: write digits, such as 8

    # a count below zero
    gatefold.toml:2:17: `limits.calls_waiting` is not a whole number above zero: -1
      help: write digits, such as 8

    # a boolean for a count
    gatefold.toml:2:20: `disclosure.discovery_tokens` is a boolean, not a whole number
      help: write digits, without quotes

    # a boolean for a duration
    gatefold.toml:2:9: `limits.drain` is a boolean, not a duration
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"

    # a duration below zero
    gatefold.toml:2:9: `limits.drain` is not a duration: "-1s"
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"

    # a duration in no unit
    gatefold.toml:2:17: `limits.breaker_pause` is not a duration: "5 weeks"
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"

    # a size of nothing
    gatefold.toml:2:17: `limits.stored_result` is not a size: "0MiB"
      help: write a number and a unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, such as "4MiB"

    # a size without a unit
    gatefold.toml:2:16: `limits.request_size` is not a size: "1024"
      help: write a number and a unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, such as "4MiB"

    # a name to listen on
    gatefold.toml:2:10: `server.listen` is not an address to listen on: "gatefold.example:80"
      help: write an address and a port, such as "127.0.0.1:8420"

    # a list of addresses
    gatefold.toml:2:10: `server.listen` is a list, not a string
      help: write one string

    # host and port apart
    gatefold.toml:2:1: `server.port` is not a known key
      help: write `listen = "ADDRESS:PORT"`

    # any origin
    gatefold.toml:2:20: `server.allowed_origins[0]` is not an origin: "*"
      help: write scheme, host and port as a browser sends them: "https://host.example"

    # a root key of nothing
    gatefold.toml:2:12: `secrets.root_key` names no `command`
      help: write the program and its arguments: `{ command = ["pass", "show", "gatefold"] }`

    # everybody as a proxy
    gatefold.toml:2:20: `server.trusted_proxies[0]` would believe anybody
      help: list the networks of your proxies

    # a proxy by its name
    gatefold.toml:2:20: `server.trusted_proxies[0]` is not a network: "proxy.example"
      help: write an address and the length of its prefix: "10.0.0.0/8"

    # a certificate without its key
    gatefold.toml:2:7: `server.tls` has no `key`
      help: write `key = "..."` in it

    # seconds for a timeout
    gatefold.toml:3:1: `sources.a.timeout` is not a known key
      help: write `connect_deadline`, or `call_deadline` in `[limits]`

    # another client's address
    gatefold.toml:3:1: `sources.a.serverUrl` is not a known key
      help: write `url`

    # another client's transport
    gatefold.toml:3:1: `sources.a.type` is not a known key
      help: remove it: `command` or `url` says how a source is reached

    # another client's list of tools
    gatefold.toml:3:1: `sources.a.disabledTools` is not a known key
      help: write `deny`

    # another client's section
    gatefold.toml:1:2: `servers` is not a known key
      help: write `[sources.NAME]`

    # a section like no other
    gatefold.toml:1:2: `frobnicate` is not a known key
      help: use one of `sources`, `limits`, `policy`, `disclosure`, `clients`, `search`, `server`, `state`, `secrets`, `results`, `audit`, `models`, `agents`, `users`

    # a word that is no tool
    gatefold.toml:2:19: `disclosure.pinned[1]` is not a tool's id, a pattern or `used`: "Used"
      help: write an id such as `github__create_issue`, a pattern such as `github__*`, or `used` for the tools used most

    # words for a pinned tool
    gatefold.toml:2:11: `agents.a.pinned[0]` is not a tool's id, a pattern or `used`: "the most_used"
      help: write an id such as `github__create_issue`, a pattern such as `github__*`, or `used` for the tools used most

    # no tools at all
    gatefold.toml:2:9: `policy.allow` is empty, which would hide everything
      help: list patterns, or remove the key

    # a kind without a pattern
    gatefold.toml:2:14: `policy.deny[1]` has no pattern after the colon
      help: write what it matches: `prompt:*`

    # a blank in a list
    gatefold.toml:3:16: `sources.a.inherit_env[0]` is empty
      help: give it a value, or remove the key

    # a header with a colon
    gatefold.toml:3:13: `sources.a.headers."A:"` is not the name of a header
      help: use letters, digits and `-`

    # a group with a colon
    gatefold.toml:3:12: `sources.a.groups."a:b"` is not a name for a group
      help: use 1 to 64 letters, digits, `_`, `-`, `/` and spaces

    # a domain with two underscores
    gatefold.toml:3:10: `sources.a.domain` is not a domain: "a__b"
      help: use 1 to 40 of `a-z`, `0-9` and `_`, without `__` or a `_` at the end

    # a domain that is too long
    gatefold.toml:3:10: `sources.a.domain` is not a domain: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      help: use 1 to 40 of `a-z`, `0-9` and `_`, without `__` or a `_` at the end

    # neither program nor address
    gatefold.toml:1:10: `sources.a` says neither what to start nor where to connect
      help: give `command` for a program on this machine, or `url` for a server over HTTP, or `openapi` for an HTTP API with an OpenAPI description, or `actions` for an HTTP API whose operations you write down, or `database` for a database, or `builtin` for built-in tools, or `skills` for a folder of skills, or `knowledge` for documents to search and quote

    # both program and address
    gatefold.toml:2:1: `sources.a.url` is set beside `command`
      help: keep one of the two
    "#);
}

#[test]
fn what_no_schema_can_know_has_a_place_and_a_fix() {
    let many = format!("[sources.a]\ncommand = 'x'\nargs = [{}]", "'x', ".repeat(1025));
    let rows = [
        ("a variable without a name", "[sources.a]\ncommand = '${}'"),
        ("a default that is not closed", "[sources.a]\ncommand = '${NONE:-x'"),
        ("a variable within a variable", "[sources.a]\ncommand = '${NONE:-${TOKEN}}x${'"),
        ("a variable that a list lacks", "[server]\nallowed_hosts = ['a', '${NONE}']"),
        ("a variable of another client", "[sources.a]\ncommand = '${env:HOME}'"),
        ("a variable that is no domain", "[sources.a]\ncommand = 'x'\ndomain = '${PORT}-'"),
        ("an address with a blank", "[sources.a]\nurl = 'http://h h/mcp'"),
        ("an address without a host", "[sources.a]\nurl = 'http:///mcp'"),
        ("a port that does not exist", "[server]\nlisten = '127.0.0.1:99999'"),
        ("an age for a duration", "[limits]\ndrain = '99999999999999999999999d'"),
        ("a size beyond all bounds", "[limits]\nstored_result = '99999999999GB'"),
        ("a count beyond all bounds", "[limits]\nnesting = 99999999999999999999"),
        ("a NUL in a program", "[sources.a]\ncommand = \"x\\u0000\""),
        ("a NUL in an argument", "[sources.a]\ncommand = 'x'\nargs = ['a', \"\\u0000\"]"),
        ("a NUL in a variable", "[sources.a]\ncommand = 'x'\nenv = { A = \"\\u0000\" }"),
        ("more arguments than there may be", &many),
        (
            "a domain that three sources want",
            "[sources.a]\ncommand = 'x'\ndomain = 'd'\n[sources.b]\ncommand = 'x'\ndomain = 'd'\n\
             [sources.c]\nurl = 'http://h'\ndomain = 'd'",
        ),
    ];
    insta::assert_snapshot!(messages(&rows), @r#"
    # a variable without a name
    gatefold.toml:2:11: `sources.a.command` refers to ``, which is not the name of a variable
      help: use letters, digits and `_`, or write `$${` for a plain `${`

    # a default that is not closed
    gatefold.toml:2:11: `sources.a.command` has `${` without a closing `}`
      help: close it, or write `$${` for a plain `${`

    # a variable within a variable
    gatefold.toml:2:11: `sources.a.command` has `${` without a closing `}`
      help: close it, or write `$${` for a plain `${`

    # a variable that a list lacks
    gatefold.toml:2:23: `server.allowed_hosts[1]` needs the variable `NONE`, which is not set
      help: set `NONE`, or give a default: `${NONE:-...}`

    # a variable of another client
    gatefold.toml:2:11: `sources.a.command` refers to `env:HOME`, which is not the name of a variable
      help: use letters, digits and `_`, or write `$${` for a plain `${`

    # a variable that is no domain
    gatefold.toml:3:10: `sources.a.domain` is not a domain once its variables are put in
      help: use 1 to 40 of `a-z`, `0-9` and `_`, without `__` or a `_` at the end

    # an address with a blank
    gatefold.toml:2:7: `sources.a.url` is not an address
      help: write the whole address, such as "https://host.example/mcp"

    # an address without a host
    gatefold.toml:2:7: `sources.a.url` is not an address
      help: write the whole address, such as "https://host.example/mcp"

    # a port that does not exist
    gatefold.toml:2:10: `server.listen` is not an address to listen on: "127.0.0.1:99999"
      help: write an address and a port, such as "127.0.0.1:8420"

    # an age for a duration
    gatefold.toml:2:9: `limits.drain` is not a duration: "99999999999999999999999d"
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"

    # a size beyond all bounds
    gatefold.toml:2:17: `limits.stored_result` is not a size: "99999999999GB"
      help: write a number and a unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, such as "4MiB"

    # a count beyond all bounds
    gatefold.toml:2:11: `limits.nesting` is too large: 99999999999999999999
      help: write a smaller number

    # a NUL in a program
    gatefold.toml:2:11: `sources.a.command` contains a NUL character
      help: remove it

    # a NUL in an argument
    gatefold.toml:3:14: `sources.a.args[1]` contains a NUL character
      help: remove it

    # a NUL in a variable
    gatefold.toml:3:13: `sources.a.env.A` contains a NUL character
      help: remove it

    # more arguments than there may be
    gatefold.toml:3:1: `sources.a.args` has more than 1024 entries
      help: remove some

    # a domain that three sources want
    gatefold.toml:6:10: `sources.b.domain` is already the domain of `sources.a`: d
      help: give each source a domain of its own
    gatefold.toml:9:10: `sources.c.domain` is already the domain of `sources.b`: d
      help: give each source a domain of its own
    "#);
}

#[test]
fn no_file_has_more_faults_than_anybody_reads() {
    let sections: Vec<_> = (0..5000).map(|n| format!("[unknown{n}]\n")).collect();
    assert_eq!(toml(&sections.concat()).unwrap_err().faults().len(), 100);
}

#[test]
fn odd_files_have_a_name_and_a_fix() {
    let scratch = Scratch::new();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, scratch.path().join(name)).unwrap();
    };
    link("nowhere.toml", "dangling.toml");
    link("two.toml", "one.toml");
    link("one.toml", "two.toml");
    std::fs::create_dir(scratch.path().join("directory.toml")).unwrap();
    scratch
        .write("latin.toml", b"[sources.a]\ncommand = 'caf\xE9'")
        .write("bom.toml", "\u{feff}[limits]\nnesting = 0")
        .write("crlf.toml", "[limits]\r\nnesting = 8\r\ndrain = 1\r\n")
        .write("cr.toml", "[limits]\rnesting = 8")
        .write("utf16.toml", b"\xFF\xFE[\0l\0")
        .write("large.toml", vec![b'#'; (4 << 20) + 1])
        .write("open.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}")
        .write("comment.json", "{\"mcpServers\": {} /* and so on")
        .write("tail.json", "{\"mcpServers\": {}}\n}");
    let config = |name: &str| Inputs { config: Some(name.into()), ..Inputs::default() };
    let client = |name: &str| Inputs { mcp_configs: vec![name.into()], ..Inputs::default() };
    let said: Vec<_> = [
        config("missing.toml"),
        config("dangling.toml"),
        config("one.toml"),
        config("directory.toml"),
        config("latin.toml/x"),
        config("latin.toml"),
        config("bom.toml"),
        config("crlf.toml"),
        config("cr.toml"),
        config("utf16.toml"),
        config("large.toml"),
        client("missing.json"),
        client("open.json"),
        client("comment.json"),
        client("tail.json"),
    ]
    .iter()
    .map(|inputs| scratch.load(inputs).map_or_else(|error| error.to_string(), |_| "loads".into()))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    missing.toml: cannot be read: there is no such file
      help: check the path
    dangling.toml: cannot be read: there is no such file
      help: check the path
    one.toml: cannot be read: its symbolic links lead in a circle
      help: give a regular file, or fix the links
    directory.toml: cannot be read: it is a directory
      help: name a file in it
    latin.toml/x: cannot be read: a part of its path is a file
      help: give a regular file
    latin.toml:2:15: the text is not UTF-8
      help: save the file as UTF-8
    bom.toml:2:11: `limits.nesting` is not a whole number above zero: 0
      help: write digits, such as 8
    crlf.toml:3:9: `limits.drain` is a number, not a duration
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"
    cr.toml:1:10: carriage return must be followed by newline, expected newline
      help: save the file with the line ends of Unix or of Windows
    utf16.toml:1:1: the text is not UTF-8
      help: save the file as UTF-8
    large.toml: cannot be read: it is too large
      help: give a configuration of at most 4 MiB
    missing.json: cannot be read: there is no such file
      help: check the path
    open.json:1:38: EOF while parsing an object
      help: check the quotes, commas and brackets before this place
    comment.json:1:30: EOF while parsing an object
      help: check the quotes, commas and brackets before this place
    tail.json:2:1: trailing characters
      help: check the quotes, commas and brackets before this place
    "#);
}

#[test]
fn odd_files_that_are_right_load() {
    for text in
        ["", "\n", "# nothing", "\u{feff}[limits]\nnesting = 1", "[limits]\r\nnesting = 1\r\n"]
    {
        toml(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    }
    let client = "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}";
    assert_eq!(json(client).unwrap().sources.len(), 1);
}

#[test]
fn thousands_of_sources_load_at_once() {
    let started = Instant::now();
    let servers: Vec<_> =
        (0..5000).map(|n| format!("\"a{}\": {{\"command\": \"x\"}}", "!".repeat(n % 50))).collect();
    let config = json(&format!("{{\"mcpServers\": {{{}}}}}", servers.join(","))).unwrap();
    assert_eq!(config.sources.len(), 5000);
    assert_eq!(config.sources[4999].domain.as_str(), "a_5000");
    let sources: Vec<_> = (0..5000).map(|n| format!("[sources.s{n}]\ncommand = 'x'\n")).collect();
    assert_eq!(toml(&sources.concat()).unwrap().sources[4999].origin.line, 9999);
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
}

#[test]
fn issuers_and_people_that_would_let_the_wrong_ones_in_have_a_place_and_a_fix() {
    const SERVER: &str =
        "[server]\nauthentication = 'token'\npublic_url = 'https://tools.example'\n";
    const WHOLE: &str = "issuer = 'https://id.example', client_id = 'a', client_secret = 'b'";
    let issuer =
        |more: &str| format!("[[server.issuers]]\nissuer = 'https://id.example'\n{more}\n");
    let with = |more: &str| format!("{SERVER}{}", issuer(more));
    let two = |more: &str| {
        let asked = "client_id = 'a'\nclient_secret = 'b'";
        format!("{}[[server.issuers]]\n{more}\n", with(asked))
    };
    let open = "[server]\n[[server.issuers]]\nissuer = 'https://id.example'\n";
    let url = |url: &str| format!("[server]\npublic_url = '{url}'\n");
    let provider = |keys: &str| format!("{SERVER}sign_in = {{ provider = {{ {keys} }} }}\n");
    let rows = [
        ("an issuer where nobody is asked", open.to_owned()),
        (
            "a table instead of a list",
            format!("{SERVER}issuers = {{ issuer = 'https://a.example' }}"),
        ),
        ("an issuer without its name", format!("{SERVER}[[server.issuers]]\naudience = 'a'\n")),
        ("an issuer that is no address", format!("{SERVER}[[server.issuers]]\nissuer = 'id'\n")),
        (
            "an issuer that anybody on the way can be",
            format!("{SERVER}[[server.issuers]]\nissuer = 'http://id.example'\n"),
        ),
        ("keys that anybody on the way can replace", with("jwks_uri = 'http://id.example/keys'")),
        ("keys in a file", with("jwks_uri = 'file:///etc/keys'")),
        ("a client without its secret", with("client_id = 'a'")),
        ("a secret without its client", with("client_secret = 'a'")),
        (
            "a place to ask without a client",
            with("introspection_endpoint = 'https://id.example/i'"),
        ),
        ("two scopes in one", with("scopes = ['a b']")),
        ("a scope that ends the header", with("scopes = ['a\"']")),
        ("the same issuer twice", format!("{}{}", with(""), issuer(""))),
        (
            "two issuers that see each other's tokens",
            two("issuer = 'https://b.example'\nclient_id = 'a'\nclient_secret = 'b'"),
        ),
        ("an unknown key of an issuer", with("audiences = ['a']")),
        ("people who sign in nowhere", "[server]\nsign_in = { password = true }\n".to_owned()),
        ("people who cannot sign in", format!("{SERVER}sign_in = {{ password = false }}\n")),
        ("a word instead of a table", format!("{SERVER}sign_in = 'password'\n")),
        ("a way to sign in that is none", format!("{SERVER}sign_in = {{ passwords = true }}\n")),
        (
            "people who sign in at a provider without a name",
            provider("client_id = 'a', client_secret = 'b'"),
        ),
        ("a provider where we are nobody", provider("issuer = 'https://id.example'")),
        (
            "a provider that anybody on the way can be",
            provider("issuer = 'http://id.example', client_id = 'a', client_secret = 'b'"),
        ),
        (
            "a provider with more than is needed",
            provider(&format!("{WHOLE}, name = \"a\\u202eb\", scopes = ['a b'], jwks_uri = 'x'")),
        ),
        (
            "a person of one of two providers",
            format!(
                "{}{}[users.ann]\nsubject = 'x'\n",
                provider(WHOLE),
                "[[server.issuers]]\nissuer = 'https://b.example'\n"
            ),
        ),
        ("a public address with a path of dots", url("https://tools.example/../mcp")),
        ("a public address with a query", url("https://tools.example/mcp?x=1")),
        ("a public address that is not encrypted", url("http://tools.example")),
        ("a public address with a person in it", url("https://ann@tools.example")),
        ("a public address of another kind", url("ftp://tools.example")),
        ("a person of no issuer", "[users.ann]\nsubject = 'x'\n".to_owned()),
        (
            "an issuer without a person",
            format!("{}[users.ann]\nissuer = 'https://id.example'\n", with("")),
        ),
        (
            "a person of an issuer that is not there",
            format!("{}[users.ann]\nsubject = 'x'\nissuer = 'https://b.example'\n", with("")),
        ),
        (
            "a person of one of two issuers",
            format!("{}[users.ann]\nsubject = 'x'\n", two("issuer = 'https://b.example'")),
        ),
        (
            "one person with two names",
            format!("{}[users.ann]\nsubject = 'x'\n[users.ben]\nsubject = 'x'\n", with("")),
        ),
        ("a user with a blank name", "[users.' ann']\n".to_owned()),
        ("a group with a control character", "[users.ann]\ngroups = [\"a\\u0001\"]\n".to_owned()),
        ("a source for nobody", "[sources.a]\ncommand = 'x'\nvisible_to = []\n".to_owned()),
    ];
    insta::assert_snapshot!(messages(&rows), @r#"
    # an issuer where nobody is asked
    gatefold.toml:2:10: `server.issuers` lets nobody in who would not come in anyway
      help: write `authentication = "token"` under `[server]`
    gatefold.toml:2:10: `server.issuers` needs `public_url`, which tokens have to be for
      help: write the address that clients use under `[server]`: `public_url = "https://tools.example"`

    # a table instead of a list
    gatefold.toml:4:11: `server.issuers` is a table, not a list
      help: put it in brackets: [...]

    # an issuer without its name
    gatefold.toml:4:1: `server.issuers[0]` has no `issuer`
      help: write `issuer = "https://id.example"` in it

    # an issuer that is no address
    gatefold.toml:5:10: `server.issuers[0].issuer` is not an address
      help: write it in full: "https://id.example"

    # an issuer that anybody on the way can be
    gatefold.toml:5:10: `server.issuers[0].issuer` is not encrypted, which is for addresses of this machine alone
      help: write it in full: "https://id.example"

    # keys that anybody on the way can replace
    gatefold.toml:6:12: `server.issuers[0].jwks_uri` is not encrypted, which is for addresses of this machine alone
      help: write it in full: "https://id.example"

    # keys in a file
    gatefold.toml:6:12: `server.issuers[0].jwks_uri` has no `https` scheme
      help: write it in full: "https://id.example"

    # a client without its secret
    gatefold.toml:6:1: `server.issuers[0].client_id` needs `client_secret`
      help: write `client_secret` beside it

    # a secret without its client
    gatefold.toml:6:1: `server.issuers[0].client_secret` needs `client_id`
      help: write `client_id` beside it

    # a place to ask without a client
    gatefold.toml:6:1: `server.issuers[0].introspection_endpoint` needs `client_id`
      help: write `client_id` beside it

    # two scopes in one
    gatefold.toml:6:11: `server.issuers[0].scopes[0]` is not the name of a scope
      help: list each one as a text of its own

    # a scope that ends the header
    gatefold.toml:6:11: `server.issuers[0].scopes[0]` is not the name of a scope
      help: list each one as a text of its own

    # the same issuer twice
    gatefold.toml:7:1: `server.issuers[1]` is the same issuer as one before
      help: remove one of the two

    # two issuers that see each other's tokens
    gatefold.toml:8:1: `server.issuers[1]` would be asked about the tokens of another issuer too
      help: an opaque token does not say whose it is, and no other issuer must see it: remove the `client_id` of one

    # an unknown key of an issuer
    gatefold.toml:6:1: `server.issuers[0].audiences` is not a known key
      help: did you mean `audience`?

    # people who sign in nowhere
    gatefold.toml:2:1: `server.sign_in` lets nobody in who would not come in anyway
      help: write `authentication = "token"` under `[server]`
    gatefold.toml:2:1: `server.sign_in` needs `public_url`, where people sign in
      help: write the address that clients use under `[server]`: `public_url = "https://tools.example"`

    # people who cannot sign in
    gatefold.toml:4:24: `server.sign_in.password` leaves no way to sign in
      help: write a `provider` beside it, or remove `sign_in` if nobody should

    # a word instead of a table
    gatefold.toml:4:11: `server.sign_in` is a string, not a table
      help: write `[server.sign_in]` and its keys below it

    # a way to sign in that is none
    gatefold.toml:4:13: `server.sign_in.passwords` is not a known key
      help: did you mean `password`?

    # people who sign in at a provider without a name
    gatefold.toml:4:24: `server.sign_in.provider` has no `issuer`
      help: write `issuer = "..."` in it

    # a provider where we are nobody
    gatefold.toml:4:24: `server.sign_in.provider` has no `client_id`
      help: write `client_id = "..."` in it
    gatefold.toml:4:24: `server.sign_in.provider` has no `client_secret`
      help: write `client_secret = "..."` in it

    # a provider that anybody on the way can be
    gatefold.toml:4:35: `server.sign_in.provider.issuer` is not encrypted, which is for addresses of this machine alone
      help: write it in full: "https://id.example"

    # a provider with more than is needed
    gatefold.toml:4:102: `server.sign_in.provider.name` is not a name for a button
      help: use up to 64 characters that can be seen
    gatefold.toml:4:124: `server.sign_in.provider.scopes[0]` is not the name of a scope
      help: list each one as a text of its own
    gatefold.toml:4:132: `server.sign_in.provider.jwks_uri` is not a known key
      help: use one of `issuer`, `client_id`, `client_secret`, `name`, `scopes`, `groups_claim`

    # a person of one of two providers
    gatefold.toml:8:1: `users.ann.subject` does not say at which issuer
      help: write the `issuer` beside it, one of those in `[[server.issuers]]` or in `server.sign_in`

    # a public address with a path of dots
    gatefold.toml:2:14: `server.public_url` has a path that no proxy passes on as it is
      help: use letters, digits, `-`, `_`, `.` and `~` between single slashes

    # a public address with a query
    gatefold.toml:2:14: `server.public_url` has more than a scheme, a host, a port and a path
      help: write scheme and host, and a path if there is one: "https://tools.example/gatefold"

    # a public address that is not encrypted
    gatefold.toml:2:14: `server.public_url` is not encrypted, which is for addresses of this machine alone
      help: write scheme and host, and a path if there is one: "https://tools.example/gatefold"

    # a public address with a person in it
    gatefold.toml:2:14: `server.public_url` has more than an address
      help: write scheme and host, and a path if there is one: "https://tools.example/gatefold"

    # a public address of another kind
    gatefold.toml:2:14: `server.public_url` has no `https` scheme
      help: write scheme and host, and a path if there is one: "https://tools.example/gatefold"

    # a person of no issuer
    gatefold.toml:2:1: `users.ann.subject` does not say at which issuer
      help: write the `issuer` beside it, one of those in `[[server.issuers]]` or in `server.sign_in`

    # an issuer without a person
    gatefold.toml:8:1: `users.ann.issuer` needs `subject`
      help: write what the issuer calls the person

    # a person of an issuer that is not there
    gatefold.toml:9:10: `users.ann.issuer` is no issuer of the configuration
      help: write it as there

    # a person of one of two issuers
    gatefold.toml:11:1: `users.ann.subject` does not say at which issuer
      help: write the `issuer` beside it, one of those in `[[server.issuers]]` or in `server.sign_in`

    # one person with two names
    gatefold.toml:9:8: `users.ben` is the same person as `users.ann`
      help: give each user a subject of their own

    # a user with a blank name
    gatefold.toml:1:8: `users." ann"` is not a name for a user
      help: use up to 128 bytes, without control characters or spaces around it

    # a group with a control character
    gatefold.toml:2:11: `users.ann.groups[0]` is not a name for a group
      help: use up to 128 bytes, without control characters or spaces around it

    # a source for nobody
    gatefold.toml:3:14: `sources.a.visible_to` is empty, which would hide the source from everybody
      help: name a group, or write `enabled = false`
    "#);
}
