//! Sources added, listed, switched and removed from the shell: the file stays as a person wrote it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use crate::process::{BINARY, Gateway, Run, command, run};
use crate::scratch::Scratch;

const USERS: &str = ".config/gatefold/gatefold.toml";

fn file(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.path().join(name)).unwrap()
}

fn succeeded(run: Run) -> String {
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    run.stdout
}

/// The output of a command that must fail, with this exit code.
fn failed(run: Run, code: i32) -> String {
    assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{}", run.stderr);
    run.stderr
}

#[test]
fn the_first_source_begins_a_configuration_where_an_import_would() {
    let scratch = Scratch::new();
    let none = succeeded(run(&scratch, &["list"]));
    assert!(none.contains("`gatefold add` adds one"), "{none}");
    let added = succeeded(run(&scratch, &["add", "notes", "--", "no-such", "-y", "~/notes"]));
    insta::assert_snapshot!(added, @r#"
    added `notes` to ~/.config/gatefold/gatefold.toml:

    [sources.notes]
    command = "no-such"
    args = ["-y", "~/notes"]

    note: the program is not installed here
    next:
      gatefold check
      gatefold connect CLIENT
      gatefold serve
    "#);
    let args = [
        "add",
        "tickets",
        "https://host.example/mcp",
        "--auth",
        "bearer:${TOKEN}",
        "-H",
        "X-Team: support",
        "--deny",
        "delete_*",
        "--description",
        "Tickets of $${us}",
    ];
    succeeded(run(&scratch, &args));
    insta::assert_snapshot!(file(&scratch, USERS), @r#"
    # Gatefold's sources. `gatefold config explain` says what else can go here; `gatefold check`
    # connects every source and reports how it does.

    [sources.notes]
    command = "no-such"
    args = ["-y", "~/notes"]

    [sources.tickets]
    url = "https://host.example/mcp"
    headers = { Authorization = "Bearer ${TOKEN}", X-Team = "support" }
    description = "Tickets of $$${us}"
    deny = ["delete_*"]
    "#);
    succeeded(run(&scratch, &["disable", "notes"]));
    let listed = succeeded(run(&scratch, &["list"]));
    let listed = listed.replace(scratch.path().to_str().unwrap(), "~");
    let (_, rows) = listed.split_once('\n').unwrap();
    insta::assert_snapshot!(rows, @r"
    notes    disabled  ~/.config/gatefold/gatefold.toml:4  no-such and 2 arguments
    tickets  enabled   ~/.config/gatefold/gatefold.toml:9  https://host.example/... Authorization: *** X-Team: ***
    ");
    let listed = run(&scratch, &["list", "--json"]).json();
    assert_eq!(listed["sources"][0]["enabled"], false);
    assert_eq!(listed["sources"][1]["connection"]["host"], "https://host.example/...");
}

const PETS: &str = "\
openapi: 3.0.3
info: { title: Pets, version: '1' }
servers: [{ url: 'https://pets.example/v1' }]
paths:
  /pets:
    get: { operationId: listPets, tags: [pets], summary: Lists all pets. }
    post: { operationId: createPet, tags: [pets] }
  /owners: { get: { operationId: listOwners, parameters: [{ $ref: '#/x' }] } }
";

#[test]
fn built_in_tools_are_added_by_their_names_and_tried() {
    let scratch = Scratch::new();
    let shown = succeeded(run(&scratch, &["add", "own", "--builtin", "calculate,datetime"]));
    assert!(shown.contains("[sources.own]\nbuiltin = [\"calculate\", \"datetime\"]\n"), "{shown}");
    assert!(shown.contains("found 2 tools, "), "{shown}");
    let all = run(&scratch, &["add", "more", "--builtin", "all", "--dry-run", "--json"]).json();
    assert_eq!(all["text"], "[sources.more]\nbuiltin = \"all\"\n");
    for (arguments, error) in [
        (&["--builtin", "calculator"][..], "is not a built-in tool: \"calculator\""),
        (&["--builtin", "files"], "has `files`, which needs `folder`"),
        (
            &["--builtin", "all", "-H", "A: b"],
            "`--builtin` says what the source is, and so does the rest",
        ),
    ] {
        let refused = run(&scratch, &[&["add", "wrong"][..], arguments].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(error), "{}", refused.stderr);
    }
}

#[test]
fn an_api_is_added_by_its_description_and_tried() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "# Mine.\n").write("pets.yaml", PETS);
    let given = ["add", "pets", "--openapi", "pets.yaml", "--auth", "key:${HOME}"];
    let base = ["--base-url", "https://pets.example/v2", "--deny", "create*"];
    insta::assert_snapshot!(succeeded(run(&scratch, &[&given[..], &base].concat())), @r#"
    added `pets` to ~/gatefold.toml:

    [sources.pets]
    openapi = "pets.yaml"
    base_url = "https://pets.example/v2"
    auth = { api_key = "${HOME}" }
    deny = ["create*"]

    found 2 operations, 119 tokens if a model is shown them all, in 2 groups: general (1), pets (1)
    note: tool `listOwners` was repaired: a parameter was left out: `#/x` leads nowhere
    next:
      gatefold check
      gatefold connect CLIENT
      gatefold serve
    "#);
    let added = file(&scratch, "gatefold.toml");
    assert!(added.starts_with("# Mine.\n"), "{added}");
    let other = ["add", "other", "--openapi", "pets.yaml", "--dry-run", "--json"];
    let other = run(&scratch, &other).json();
    assert_eq!(other["text"], "[sources.other]\nopenapi = \"pets.yaml\"\n");
    let keys = ["--auth", "scheme:a=${HOME}", "--auth", "scheme:b=${PATH}", "--dry-run", "--json"];
    let keys = run(&scratch, &[&["add", "keys", "--openapi", "pets.yaml"][..], &keys].concat());
    assert_eq!(
        keys.json()["text"],
        "[sources.keys]\nopenapi = \"pets.yaml\"\n\
         auth = { schemes = { a = \"${HOME}\", b = \"${PATH}\" } }\n"
    );
    assert_eq!(file(&scratch, "gatefold.toml"), added);
}

#[test]
fn what_other_programs_take_is_taken() {
    for (args, expected) in [
        (
            &["--transport", "http", "https://h.example/mcp", "--header", "X-A: b"][..],
            "url = \"https://h.example/mcp\"\nheaders = { X-A = \"b\" }\n",
        ),
        (
            &["--url", "https://h.example/mcp", "--bearer-token-env-var", "TOKEN"],
            "url = \"https://h.example/mcp\"\nheaders = { Authorization = \"Bearer ${TOKEN}\" }\n",
        ),
        (
            &["https://h.example/mcp", "--auth", "header:X-Key=${TOKEN}"],
            "url = \"https://h.example/mcp\"\nheaders = { X-Key = \"${TOKEN}\" }\n",
        ),
        (
            &["-t", "stdio", "-e", "MODE=fast", "--env", "TOKEN", "--", "sh", "-c", "true"],
            "command = \"sh\"\nargs = [\"-c\", \"true\"]\nenv = { MODE = \"fast\" }\n\
             inherit_env = [\"TOKEN\"]\n",
        ),
        (
            &["--include-tools", "a,b", "--exclude-tools", "c", "--", "sh"],
            "command = \"sh\"\nallow = [\"a\", \"b\"]\ndeny = [\"c\"]\n",
        ),
    ] {
        let scratch = Scratch::new();
        let args = [&["add", "new", "--scope", "project"], args].concat();
        succeeded(run(&scratch, &args));
        let written = file(&scratch, "gatefold.toml");
        assert!(written.ends_with(&format!("[sources.new]\n{expected}")), "{args:?}: {written}");
    }
    // A program and a folder in the working directory are found from anywhere.
    let scratch = Scratch::new();
    scratch.write("server.sh", "#!/bin/sh\n");
    succeeded(run(&scratch, &["add", "mine", "--cwd", ".", "--", "./server.sh"]));
    let (written, here) = (file(&scratch, USERS), scratch.path().display());
    let expected = format!("command = \"{here}/server.sh\"\ncwd = \"{here}\"\n");
    assert!(written.ends_with(&expected), "{written}");
}

#[test]
fn a_source_that_cannot_be_is_refused_with_the_fix() {
    let scratch = Scratch::new();
    let before = "[sources.git_hub]\ncommand = 'x'\n[sources.b]\ncommand = 'x'\ndomain = \"bee\"\n";
    scratch.write("gatefold.toml", before);
    scratch.write("broken.toml", "[sources.a\n");
    scratch.write("list.toml", "[[sources]]\n");
    let http = "https://h.example/mcp";
    for (args, parts) in [
        (
            &["git_hub", "--", "x"][..],
            &["already a source `git_hub`", "gatefold remove git_hub"][..],
        ),
        (&["Git-Hub", "--", "x"], &["same domain as the source `git_hub`"]),
        (&["bee", "--", "x"], &["same domain as the source `b`"]),
        (&["my server", "--", "x"], &["cannot name a source", "use letters"]),
        (&["__", "--", "x"], &["cannot name a source"]),
        (&["x"], &["a command, `gatefold add x -- npx"]),
        (&["x", http, "--", "y"], &["both an address and a command"]),
        (&["x", "npx", "srv"], &["`npx` is no address", "`gatefold add x -- npx srv`"]),
        (&["x", "ftp://h"], &["`sources.x.url` has no `http` scheme"]),
        (&["x", "https://"], &["`sources.x.url` is not an address"]),
        (&["x", "https://h/sse"], &["HTTP+SSE"]),
        (&["x", http, "-t", "sse"], &["HTTP+SSE"]),
        (&["x", http, "-t", "stdio"], &["leave it out"]),
        (&["x", "-t", "http", "--", "y"], &["leave it out"]),
        (&["x", http, "-e", "A=b"], &["go into `--auth`"]),
        (&["x", "--auth", "bearer:${A}", "--", "y"], &["`--env 'TOKEN=${secret:NAME}'`"]),
        (&["x", "--", http], &["leave the `--` before it out"]),
        (&["x", http, "--auth", "bearer:"], &["put it in single quotes"]),
        (&["x", http, "--auth", "basic:a"], &["--auth 'bearer:${secret:NAME}'"]),
        (&["x", http, "-H", "X-A:"], &["put it in single quotes"]),
        (&["x", http, "-H", "X-A"], &["`--header 'NAME: VALUE'`"]),
        (&["x", http, "-H", "X A: b"], &["is not the name of a header"]),
        (&["x", http, "-H", "X-A: b", "-H", "x-a: c"], &["`x-a` is given twice"]),
        (&["x", "--openapi", "away.json"], &["there is no file `away.json`"]),
        (&["x", "--openapi", "broken.toml", http], &["leave the address or the command out"]),
        (&["x", "--openapi", "broken.toml", "-e", "A=b"], &["credentials go into `--auth`"]),
        (&["x", "--openapi", "broken.toml", "--auth", "key"], &["'key:${secret:NAME}'"]),
        (&["x", "--openapi", "broken.toml", "--auth", "basic:a"], &["'basic:USER:"]),
        (&["x", "--openapi", "broken.toml", "--auth", "scheme:a"], &["'scheme:SCHEME=${secret:"]),
        (&["x", "--openapi", "broken.toml", "--auth", "bearer: "], &["in single quotes"]),
        (&["x", "-e", "1A=b", "--", "y"], &["write it as `NAME=VALUE`"]),
        (
            &["x", "--config", "broken.toml", "--", "y"],
            &["line 1, column 11", "fix the file first"],
        ),
        (&["x", "--config", "list.toml", "--", "y"], &["`sources` is not a table"]),
        (&["x", "--config", "new.json", "--", "y"], &["is TOML", "--mcp-config"]),
        (&["x", "--config", "a.toml", "--scope", "user", "--", "y"], &["both say where"]),
        (&["x", "--mcp-config", "c.json", "--", "y"], &["a client's file", "gatefold import"]),
    ] {
        let said = failed(run(&scratch, &[&["add"], args].concat()), 2);
        assert!(parts.iter().all(|part| said.contains(part)), "{args:?}: {said}");
    }
    assert_eq!(file(&scratch, "gatefold.toml"), before);
    assert!(!scratch.path().join(USERS).exists() && !scratch.path().join("a.toml").exists());
    for (command, name, part) in [
        ("remove", "githb", "did you mean `git_hub`?"),
        ("enable", "zzzzzzzz", "it has `git_hub`, `b`"),
        ("disable", "sources", "there is no source `sources`"),
    ] {
        let said = failed(run(&scratch, &[command, name]), 2);
        assert!(said.contains(part), "{said}");
    }
    let nowhere = Scratch::new();
    let said = failed(run(&nowhere, &["remove", "x"]), 2);
    assert!(said.contains("no configuration found"), "{said}");
}

#[test]
fn a_secret_in_plain_text_is_refused_and_not_repeated() {
    let http = "https://h.example/mcp";
    for (args, name) in [
        (&["x", http, "--auth", "bearer:LEAK-0123456789"][..], "X_AUTHORIZATION"),
        (&["x", http, "--auth", "header:X-Api-Key=LEAK"], "X_X_API_KEY"),
        (&["x", http, "--header", "Authorization: Bearer LEAK"], "X_AUTHORIZATION"),
        (&["x", "https://h.example/mcp?api_key=LEAK0123456789abcdef"], "API_KEY"),
        (&["x", "-e", "GITHUB_TOKEN=LEAK", "--", "srv"], "GITHUB_TOKEN"),
        (&["x", "--", "srv", "--api-key", "LEAK0123456789abcdef"], "X_API_KEY"),
        (&["x", "--", "srv --api-key LEAK0123456789abcdef"], "X"),
    ] {
        let scratch = Scratch::new();
        let said = failed(run(&scratch, &[&["add"], args].concat()), 2);
        assert!(!said.contains("LEAK"), "{args:?}: {said}");
        let fix = format!("`gatefold secret set {name}`");
        assert!(said.contains(&fix) && said.contains("in single quotes"), "{args:?}: {said}");
        assert!(!scratch.path().join(USERS).exists());
    }
}

/// Files as people write them, with a source `a`.
const FILES: &[&str] = &[
    "# mine\n\n[sources.a] # first\n# within\n  command = 'x'   # odd\n\n[limits]\nnesting = 4\n",
    "[sources.a]\r\ncommand = 'x'\r\n\r\n# the rest\r\n[limits]\r\nnesting = 4\r\n",
    "[sources.a]\ncommand = 'x'",
    "\u{feff}[sources.a]\ncommand = 'x'\n",
    "sources.a.command = 'x'\nsources.a.args = [\n  '1', # one\n]\n",
    "sources = { a = { command = 'x' } } # all\n\n[limits]\nnesting = 4\n",
    "[sources]\na = { command = 'x', env = { B = '1' } }\n",
    "[sources.a.env]\nK = 'v'\n\n[limits]\n\n[sources.a]\ncommand = 'x'\n",
];

#[test]
fn a_file_that_a_person_wrote_changes_in_nothing_else() {
    for before in FILES {
        let scratch = Scratch::new();
        scratch.write("gatefold.toml", before);
        succeeded(run(&scratch, &["add", "new", "--", "sh", "-c", "true"]));
        let with = file(&scratch, "gatefold.toml");
        let listed = run(&scratch, &["list", "--json"]).json();
        assert_eq!(listed["sources"].as_array().unwrap().len(), 2, "{with}");
        let lines = before.lines().filter(|line| !line.starts_with("sources = "));
        assert!(lines.into_iter().all(|line| with.contains(line)), "{with}");

        succeeded(run(&scratch, &["disable", "new"]));
        let listed = run(&scratch, &["list", "--json"]).json();
        let new = listed["sources"].as_array().unwrap().iter().find(|one| one["name"] == "new");
        assert_eq!(new.unwrap()["enabled"], false, "{}", file(&scratch, "gatefold.toml"));
        succeeded(run(&scratch, &["enable", "new"]));
        assert_eq!(file(&scratch, "gatefold.toml"), with);
        let again = succeeded(run(&scratch, &["enable", "new"]));
        assert_eq!(again, "`new` is enabled already\n");

        succeeded(run(&scratch, &["remove", "new"]));
        assert_eq!(&file(&scratch, "gatefold.toml"), before, "{with}");
        succeeded(run(&scratch, &["remove", "a"]));
        let without = file(&scratch, "gatefold.toml");
        assert!(!without.contains("'x'"), "{without}");
        assert_eq!(before.contains("[limits]"), without.contains("[limits]"), "{without}");
    }
}

#[test]
fn a_removed_sources_secrets_are_named() {
    let scratch = Scratch::new();
    let source = |name: &str, secret: &str| {
        format!(
            "[sources.{name}]\nurl = 'https://h'\nheaders = {{ A = '${{secret:{secret}}}', B = '${{secret:BOTH}}' }}\n"
        )
    };
    scratch.write("gatefold.toml", source("a", "ONE") + &source("b", "TWO"));
    let removed = succeeded(run(&scratch, &["remove", "a"]));
    assert!(removed.contains("`gatefold secret remove ONE`"), "{removed}");
    assert!(!removed.contains("TWO") && !removed.contains("BOTH"), "{removed}");
    let removed = run(&scratch, &["remove", "b", "--json"]).json();
    assert_eq!(removed["unused_secrets"], serde_json::json!(["BOTH", "TWO"]));
}

#[test]
fn a_link_stays_one_and_what_may_not_be_written_is_not() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path().join("dotfiles")).unwrap();
    scratch.write("dotfiles/own.toml", "[sources.a]\ncommand = 'x'\n");
    let target = scratch.path().join("dotfiles/own.toml");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("dotfiles/own.toml", scratch.path().join("gatefold.toml")).unwrap();
    succeeded(run(&scratch, &["add", "b", "--", "sh"]));
    assert!(scratch.path().join("gatefold.toml").is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("[sources.b]"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);

    fs::set_permissions(&target, fs::Permissions::from_mode(0o400)).unwrap();
    let before = fs::read_to_string(&target).unwrap();
    for args in [&["add", "c", "--", "sh"][..], &["remove", "a"], &["disable", "a"]] {
        let said = failed(run(&scratch, args), 1);
        assert!(said.contains("is read-only"), "{said}");
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), before);
    let dry = succeeded(run(&scratch, &["add", "c", "--dry-run", "--", "sh"]));
    assert!(dry.starts_with("would write to ~/gatefold.toml:"), "{dry}");
    assert_eq!(fs::read_to_string(&target).unwrap(), before);
}

/// The file is read, then the keyring is asked, then the file is written. This keyring is slow.
#[test]
fn a_file_that_changes_meanwhile_is_left_alone() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.a]\ncommand = 'x'\n");
    let keyring = scratch.path().join("bus");
    let listener = UnixListener::bind(&keyring).unwrap();
    let args = ["add", "b", "https://h.example/mcp", "--auth", "bearer:${secret:B}"];
    let mut adding = command(&scratch, &args);
    adding.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", keyring.display()));
    let adding = adding.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (asked, _) = listener.accept().unwrap();
    let meanwhile = "[sources.a]\ncommand = 'y'\n";
    scratch.write("gatefold.toml", meanwhile);
    drop((asked, listener));
    let output = adding.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("changed while it was being edited"), "{said}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(file(&scratch, "gatefold.toml"), meanwhile);
}

#[tokio::test]
async fn a_running_gateway_takes_a_new_source_over() {
    let scratch = Scratch::new();
    let config = "[server]\nlisten = '127.0.0.1:0'\n";
    scratch.write("gatefold.toml", config);
    let gateway = Gateway::serve(&scratch).await;
    let data = scratch.path().join("data");
    let args =
        ["add", "units", "--", BINARY, "demo-server", "units", "--scratch", data.to_str().unwrap()];
    let added = succeeded(run(&scratch, &args));
    let said = format!("the gateway that runs (process {}) takes it over by itself", gateway.pid());
    assert!(added.contains(&said), "{added}");
    gateway.await_log("added=1").await;
    // A command with another configuration does not concern this gateway.
    scratch.write("other.toml", "[sources.a]\ncommand = 'x'\n");
    let other = run(&scratch, &["disable", "a", "--config", "other.toml", "--json"]).json();
    assert_eq!(other["gateway"], serde_json::Value::Null);
    let removed = run(&scratch, &["remove", "units", "--json"]).json();
    assert_eq!(removed["gateway"]["process"], gateway.pid());
    gateway.await_log("removed=1").await;
    assert_eq!(file(&scratch, "gatefold.toml"), config);
}
