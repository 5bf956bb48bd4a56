//! The messages about wrong configurations: the place, the fault, the fix.

use crate::scratch::toml;

/// The messages about each text, under the text.
fn messages(texts: &[&str]) -> String {
    let message = |text: &&str| format!("{text}\n{}\n", toml(text).unwrap_err());
    texts.iter().map(message).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_network_that_is_none_is_named() {
    insta::assert_snapshot!(messages(&[
        "[sources.a]\nurl = 'http://h/'\nallow_private = 'yes'",
        "[sources.a]\nurl = 'http://h/'\nallow_private = ['10.0.0.0/33', 'h', 3]",
        "[sources.a]\ncommand = 'x'\nallow_private = true",
    ]), @r#"
    [sources.a]
    url = 'http://h/'
    allow_private = 'yes'
    gatefold.toml:3:17: `sources.a.allow_private` is a string, not a boolean or a list of networks
      help: write `true`, or list networks: ["10.0.0.0/8"]

    [sources.a]
    url = 'http://h/'
    allow_private = ['10.0.0.0/33', 'h', 3]
    gatefold.toml:3:18: `sources.a.allow_private[0]` is not a network: "10.0.0.0/33"
      help: write an address and the length of its prefix: "10.0.0.0/8"
    gatefold.toml:3:33: `sources.a.allow_private[1]` is not a network: "h"
      help: write an address and the length of its prefix: "10.0.0.0/8"
    gatefold.toml:3:38: `sources.a.allow_private[2]` is a number, not a string
      help: put it in quotes

    [sources.a]
    command = 'x'
    allow_private = true
    gatefold.toml:3:1: `sources.a.allow_private` belongs to `url`, not to `command`
      help: remove it
    "#);
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_one() {
    insta::assert_snapshot!(messages(&[
        "[sources.a]\ncomand = 'x'\ncommand = 'x'",
        "[sources.a]\ncommand = 'x'\ndisabled = true",
        "[sources.a]\ncommand = 'x'\ninherit-env = ['A']",
        "[sources.a]\ncommand = 'x'\nfrobnicate = 1",
        "[limit]\ncall_deadline = '1s'",
        "[mcpServers.a]\ncommand = 'x'",
        "[policy]\nblock = ['x']",
        "[server]\nlistn = '127.0.0.1:1'",
        "[limits]\nconnect = '1s'",
        "[sources.\"my server\"]\nurl = 'http://h'\nheader.A = 'b'",
    ]), @r#"
    [sources.a]
    comand = 'x'
    command = 'x'
    gatefold.toml:2:1: `sources.a.comand` is not a known key
      help: did you mean `command`?

    [sources.a]
    command = 'x'
    disabled = true
    gatefold.toml:3:1: `sources.a.disabled` is not a known key
      help: write `enabled = false`

    [sources.a]
    command = 'x'
    inherit-env = ['A']
    gatefold.toml:3:1: `sources.a.inherit-env` is not a known key
      help: did you mean `inherit_env`?

    [sources.a]
    command = 'x'
    frobnicate = 1
    gatefold.toml:3:1: `sources.a.frobnicate` is not a known key
      help: use one of `domain`, `description`, `aliases`, `enabled`, `allow`, `ask`, `ask_unless`, `deny`, `deny_unless`, `visible_to`, `groups`, `connect_deadline`, `install_deadline`, `call_deadline`, `idle_stop`, `command`, `args`, `env`, `inherit_env`, `cwd`, `url`, `headers`, `allow_private`, `oauth`, `credentials`, `era`

    [limit]
    call_deadline = '1s'
    gatefold.toml:1:2: `limit` is not a known key
      help: did you mean `limits`?

    [mcpServers.a]
    command = 'x'
    gatefold.toml:1:2: `mcpServers` is not a known key
      help: write `[sources.NAME]`, or pass the file as `--mcp-config FILE`

    [policy]
    block = ['x']
    gatefold.toml:2:1: `policy.block` is not a known key
      help: use one of `allow`, `ask`, `ask_unless`, `deny`, `deny_unless`

    [server]
    listn = '127.0.0.1:1'
    gatefold.toml:2:1: `server.listn` is not a known key
      help: did you mean `listen`?

    [limits]
    connect = '1s'
    gatefold.toml:2:1: `limits.connect` is not a known key
      help: did you mean `connect_deadline`?

    [sources."my server"]
    url = 'http://h'
    header.A = 'b'
    gatefold.toml:3:1: `sources."my server".header` is not a known key
      help: did you mean `headers`?
    "#);
}

#[test]
fn a_wrong_type_is_named_with_the_right_one() {
    insta::assert_snapshot!(messages(&[
        "sources = 'x'",
        "[sources]\na = 'npx'",
        "[sources.a]\ncommand = ['npx', '-y']",
        "[sources.a]\ncommand = 'x'\nargs = '-y'",
        "[sources.a]\ncommand = 'x'\nargs = ['-y', ['z']]",
        "[sources.a]\ncommand = 'x'\nenabled = 'yes'",
        "[sources.a]\ncommand = 'x'\nenv = ['A=b']",
        "[limits]\ncall_deadline = 60",
        "[limits]\nstored_result = 1048576",
        "[limits]\nnesting = '8'",
        "[limits]\nidle_stop = 2026-01-01",
        "[disclosure]\npinned = 'a__b'",
    ]), @r#"
    sources = 'x'
    gatefold.toml:1:11: `sources` is a string, not a table
      help: write `[sources]` and its keys below it

    [sources]
    a = 'npx'
    gatefold.toml:2:5: `sources.a` is a string, not a table
      help: write `[sources.a]` and its keys below it

    [sources.a]
    command = ['npx', '-y']
    gatefold.toml:2:11: `sources.a.command` is a list, not a string
      help: name the program, and list the rest in `args`

    [sources.a]
    command = 'x'
    args = '-y'
    gatefold.toml:3:8: `sources.a.args` is a string, not a list
      help: put it in brackets: [...]

    [sources.a]
    command = 'x'
    args = ['-y', ['z']]
    gatefold.toml:3:15: `sources.a.args[1]` is a list, not a string
      help: write one string

    [sources.a]
    command = 'x'
    enabled = 'yes'
    gatefold.toml:3:11: `sources.a.enabled` is a string, not a boolean
      help: write `true` or `false`, without quotes

    [sources.a]
    command = 'x'
    env = ['A=b']
    gatefold.toml:3:7: `sources.a.env` is a list, not a table
      help: write `[sources.a.env]` and its keys below it

    [limits]
    call_deadline = 60
    gatefold.toml:2:17: `limits.call_deadline` is a number, not a duration
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"

    [limits]
    stored_result = 1048576
    gatefold.toml:2:17: `limits.stored_result` is a number, not a size
      help: write a number and a unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, such as "4MiB"

    [limits]
    nesting = '8'
    gatefold.toml:2:11: `limits.nesting` is a string, not a whole number
      help: write digits, without quotes

    [limits]
    idle_stop = 2026-01-01
    gatefold.toml:2:13: `limits.idle_stop` is a date, not a duration
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"

    [disclosure]
    pinned = 'a__b'
    gatefold.toml:2:10: `disclosure.pinned` is a string, not a list
      help: put it in brackets: [...]
    "#);
}

#[test]
fn asking_takes_one_word_or_patterns() {
    insta::assert_snapshot!(messages(&[
        "[policy]\nask = 'reads'",
        "[policy]\nask = true",
        "[sources.a]\ncommand = 'x'\nask = ['delete_*', 'tool:', 3]",
    ]), @r#"
    [policy]
    ask = 'reads'
    gatefold.toml:2:7: `policy.ask` is not "writes" or a list of patterns: "reads"
      help: write "writes", or list patterns: ["delete_*"]

    [policy]
    ask = true
    gatefold.toml:2:7: `policy.ask` is a boolean, not "writes" or a list of patterns
      help: write "writes", or list patterns: ["delete_*"]

    [sources.a]
    command = 'x'
    ask = ['delete_*', 'tool:', 3]
    gatefold.toml:3:20: `sources.a.ask[1]` has no pattern after the colon
      help: write what it matches: `prompt:*`
    gatefold.toml:3:29: `sources.a.ask[2]` is a number, not a string
      help: put it in quotes
    "#);
}

#[expect(clippy::too_many_lines, reason = "the snapshot has every message")]
#[test]
fn a_bad_value_is_named_with_a_good_one() {
    insta::assert_snapshot!(messages(&[
        "[limits]\ncall_deadline = '60'",
        "[limits]\ncall_deadline = '0s'",
        "[limits]\nstored_result = '1 megabyte'",
        "[limits]\ncalls_in_flight = 0",
        "[limits]\nbreaker_failures = 4294967296",
        "[limits]\nnesting = -0x1",
        "[server]\nlisten = '8420'",
        "[server]\nlisten = '127.0.0.1:${TOKEN}'",
        "[server]\nallowed_origins = ['host.example']",
        "[audit]\ndurability = 'always'",
        "[state]\ndir = ''",
        "[sources.a]\ncommand = ' '",
        "[sources.a]\nurl = 'host.example/mcp'",
        "[sources.a]\nurl = 'ftp://host.example'",
        "[sources.a]\nurl = 'http://'",
        "[sources.a]\nurl = 'http://h'\nheaders = { 'X Y' = 'z' }",
        "[sources.a]\nurl = 'http://h'\nheaders = { X = 'Bearer ${BREAK}' }",
        "[sources.a]\ncommand = 'x'\nenv = { 'A=B' = 'c' }",
        "[sources.a]\ncommand = 'x'\ndomain = 'My-Domain'",
        "[sources.a]\ncommand = 'x'\nallow = []",
        "[sources.a]\ncommand = 'x'\ndeny = ['']",
        "[sources.a]\ncommand = 'x'\ngroups = { \"a\\nb\" = ['*'] }",
    ]), @r#"
    [limits]
    call_deadline = '60'
    gatefold.toml:2:17: `limits.call_deadline` is not a duration: "60"
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"

    [limits]
    call_deadline = '0s'
    gatefold.toml:2:17: `limits.call_deadline` is not a duration: "0s"
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"

    [limits]
    stored_result = '1 megabyte'
    gatefold.toml:2:17: `limits.stored_result` is not a size: "1 megabyte"
      help: write a number and a unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, such as "4MiB"

    [limits]
    calls_in_flight = 0
    gatefold.toml:2:19: `limits.calls_in_flight` is not a whole number above zero: 0
      help: write digits, such as 8

    [limits]
    breaker_failures = 4294967296
    gatefold.toml:2:20: `limits.breaker_failures` is too large: 4294967296
      help: write a smaller number

    [limits]
    nesting = -0x1
    gatefold.toml:2:11: integers with a radix cannot be signed, expected nothing
      help: write the number as digits alone

    [server]
    listen = '8420'
    gatefold.toml:2:10: `server.listen` is not an address to listen on: "8420"
      help: write an address and a port, such as "127.0.0.1:8420"

    [server]
    listen = '127.0.0.1:${TOKEN}'
    gatefold.toml:2:10: `server.listen` is not an address to listen on once its variables are put in
      help: write an address and a port, such as "127.0.0.1:8420"

    [server]
    allowed_origins = ['host.example']
    gatefold.toml:2:20: `server.allowed_origins[0]` is not an origin: "host.example"
      help: write scheme, host and port as a browser sends them: "https://host.example"

    [audit]
    durability = 'always'
    gatefold.toml:2:14: `audit.durability` is not one of its values: "always"
      help: use "process" or "disk"

    [state]
    dir = ''
    gatefold.toml:2:7: `state.dir` is empty
      help: give it a value, or remove the key

    [sources.a]
    command = ' '
    gatefold.toml:2:11: `sources.a.command` is empty
      help: give it a value, or remove the key

    [sources.a]
    url = 'host.example/mcp'
    gatefold.toml:2:7: `sources.a.url` is not an address
      help: write the whole address, such as "https://host.example/mcp"

    [sources.a]
    url = 'ftp://host.example'
    gatefold.toml:2:7: `sources.a.url` has no `http` scheme
      help: write the whole address, such as "https://host.example/mcp"

    [sources.a]
    url = 'http://'
    gatefold.toml:2:7: `sources.a.url` is not an address
      help: write the whole address, such as "https://host.example/mcp"

    [sources.a]
    url = 'http://h'
    headers = { 'X Y' = 'z' }
    gatefold.toml:3:13: `sources.a.headers."X Y"` is not the name of a header
      help: use letters, digits and `-`

    [sources.a]
    url = 'http://h'
    headers = { X = 'Bearer ${BREAK}' }
    gatefold.toml:3:17: `sources.a.headers.X` has a value that no header may have
      help: check it, and the variables in it, for line breaks and other control characters

    [sources.a]
    command = 'x'
    env = { 'A=B' = 'c' }
    gatefold.toml:3:9: `sources.a.env."A=B"` is not the name of a variable
      help: use letters, digits and `_`

    [sources.a]
    command = 'x'
    domain = 'My-Domain'
    gatefold.toml:3:10: `sources.a.domain` is not a domain: "My-Domain"
      help: use 1 to 40 of `a-z`, `0-9` and `_`, without `__` or a `_` at the end

    [sources.a]
    command = 'x'
    allow = []
    gatefold.toml:3:9: `sources.a.allow` is empty, which would hide everything
      help: list patterns, or remove the key

    [sources.a]
    command = 'x'
    deny = ['']
    gatefold.toml:3:9: `sources.a.deny[0]` is empty
      help: give it a value, or remove the key

    [sources.a]
    command = 'x'
    groups = { "a\nb" = ['*'] }
    gatefold.toml:3:12: `sources.a.groups."a\nb"` is not a name for a group
      help: use 1 to 64 letters, digits, `_`, `-`, `/` and spaces
    "#);
}

#[test]
fn a_source_is_reached_in_one_way() {
    insta::assert_snapshot!(messages(&[
        "[sources.a]\ndescription = 'x'",
        "[sources.a]\ncommand = 'x'\nurl = 'http://h'",
        "[sources.a]\nurl = 'http://h'\nargs = ['x']\ncwd = '/'",
        "[sources.a]\ncommand = 'x'\nheaders = { A = 'b' }",
        "[sources.a]\ncommand = 'x'\ndomain = 'd'\n[sources.b]\ncommand = 'x'\ndomain = 'd'",
    ]), @r"
    [sources.a]
    description = 'x'
    gatefold.toml:1:10: `sources.a` says neither what to start nor where to connect
      help: give `command` for a program on this machine, or `url` for a server over HTTP, or `openapi` for an HTTP API with an OpenAPI description, or `actions` for an HTTP API whose operations you write down, or `database` for a database, or `builtin` for built-in tools, or `skills` for a folder of skills, or `knowledge` for documents to search and quote

    [sources.a]
    command = 'x'
    url = 'http://h'
    gatefold.toml:3:1: `sources.a.url` is set beside `command`
      help: keep one of the two

    [sources.a]
    url = 'http://h'
    args = ['x']
    cwd = '/'
    gatefold.toml:3:1: `sources.a.args` belongs to `command`, not to `url`
      help: remove it
    gatefold.toml:4:1: `sources.a.cwd` belongs to `command`, not to `url`
      help: remove it

    [sources.a]
    command = 'x'
    headers = { A = 'b' }
    gatefold.toml:3:1: `sources.a.headers` belongs to `url`, not to `command`
      help: remove it

    [sources.a]
    command = 'x'
    domain = 'd'
    [sources.b]
    command = 'x'
    domain = 'd'
    gatefold.toml:6:10: `sources.b.domain` is already the domain of `sources.a`: d
      help: give each source a domain of its own
    ");
}

#[test]
fn a_variable_that_is_missing_is_named() {
    insta::assert_snapshot!(messages(&[
        "[server]\nallowed_hosts = ['${MISSING}']",
        "[sources.a]\ncommand = '${MISSING'",
        "[sources.a]\ncommand = 'x'\nargs = ['a', '${1X}']",
    ]), @r#"
    [server]
    allowed_hosts = ['${MISSING}']
    gatefold.toml:2:18: `server.allowed_hosts[0]` needs the variable `MISSING`, which is not set
      help: set `MISSING`, or give a default: `${MISSING:-...}`

    [sources.a]
    command = '${MISSING'
    gatefold.toml:2:11: `sources.a.command` has `${` without a closing `}`
      help: close it, or write `$${` for a plain `${`

    [sources.a]
    command = 'x'
    args = ['a', '${1X}']
    gatefold.toml:3:14: `sources.a.args[1]` refers to `1X`, which is not the name of a variable
      help: use letters, digits and `_`, or write `$${` for a plain `${`
    "#);
}

#[test]
fn a_variable_that_one_source_misses_costs_that_source_alone() {
    let config = toml(
        "[sources.a]\ncommand = 'x'\nenv = { KEY = '${MISSING}', TWO = '${GONE}' }\n\
         [sources.b]\nurl = '${MISSING}'\nheaders.Authorization = 'Bearer ${MISSING}'\n\
         [sources.off]\ncommand = '${MISSING}'\nenabled = false\n\
         [sources.good]\ncommand = 'x'\nargs = ['${TOKEN}']\n",
    );
    let lines = config.unwrap().sources.into_iter().map(|source| match source.section.fault() {
        Some(fault) => format!("{}: {}", source.domain, fault.on_one_line()),
        None => format!("{}: {:?}", source.domain, source.section),
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    a: `sources.a.env.KEY` needs the variable `MISSING`, which is not set; set `MISSING`, or give a default: `${MISSING:-...}` (gatefold.toml:3:15)
    b: `sources.b.url` needs the variable `MISSING`, which is not set; set `MISSING`, or give a default: `${MISSING:-...}` (gatefold.toml:5:7)
    off: Disabled
    good: Stdio { command: "x", args: 1 hidden, env: [], inherit_env: [], cwd: None }
    "#);
}

#[test]
fn broken_syntax_is_placed() {
    insta::assert_snapshot!(messages(&[
        "[sources.a\ncommand = 'x'",
        "[sources.a]\ncommand = x",
        "[sources.a]\ncommand = 'x'\ncommand = 'y'",
        "[sources.é]\ncommand = 'x'",
        "[policy]\n[policy]",
    ]), @r#"
    [sources.a
    command = 'x'
    gatefold.toml:1:11: unclosed table, expected `]`
      help: close the header: `[section]`

    [sources.a]
    command = x
    gatefold.toml:2:11: the value of `command` has no quotes
      help: put it in quotes: `key = "value"`

    [sources.a]
    command = 'x'
    command = 'y'
    gatefold.toml:3:1: duplicate key
      help: it is already set further up; remove one, or merge the two

    [sources.é]
    command = 'x'
    gatefold.toml:1:10: invalid unquoted key, expected letters, numbers, `-`, `_`
      help: write `key = value`, and a key with other characters in quotes: `[sources."my server"]`

    [policy]
    [policy]
    gatefold.toml:2:2: duplicate key
      help: it is already set further up; remove one, or merge the two
    "#);
}

#[test]
fn what_a_variable_gave_is_not_repeated_in_any_message() {
    for text in [
        "[limits]\ncall_deadline = '${TOKEN}'",
        "[server]\nlisten = '${TOKEN}'",
        "[sources.a]\nurl = '${TOKEN}'",
        "[sources.a]\ncommand = 'x'\ndomain = '${TOKEN}!'",
        "[audit]\ndurability = '${TOKEN}'",
        "[sources.a]\nurl = 'http://h'\nheaders = { A = \"${TOKEN}\\n\" }",
        "[sources.a]\nurl = 'http://h'\nheaders = { A = \"s3cret\\n\" }",
    ] {
        let error = toml(text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{text}: {error}");
    }
}
