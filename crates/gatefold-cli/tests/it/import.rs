//! What an import takes, under which names, and what it reports.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::secrets::{SecretError, SecretName, SecretStore};
use gatefold_clients::Client;
use gatefold_core::Secret;
use gatefold_setup::secrets::Keyring;
use gatefold_setup::{self as setup, FoundSecret, ImportPlan, SecretStyle, SetupError, SkipReason};

use crate::process::{BINARY, Gateway, Run, command, run};
use crate::scratch::Scratch;
use crate::terminal::Window;

/// A keyring with these secrets, which nobody may change.
struct FixedKeyring(BTreeMap<&'static str, &'static str>);

impl SecretStore for FixedKeyring {
    fn get(&self, name: &SecretName, _: Duration) -> Result<Secret, SecretError> {
        let found = self.0.get(name.as_str()).copied().map(Secret::new);
        found.ok_or_else(|| SecretError::Missing(name.clone()))
    }
}

/// A home with clients' files, and a project `project` to work in.
fn home(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path().join("project")).unwrap();
    for (path, text) in files {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scratch
}

fn plan(
    scratch: &Scratch,
    existing: Option<&str>,
    style: SecretStyle,
    set: [&str; 2],
) -> ImportPlan {
    let home = scratch.path().to_str().unwrap();
    let keyring = FixedKeyring(BTreeMap::from([("GITHUB_TOKEN", "kept"), ("B_TOKEN", "b")]));
    let environment =
        Environment::new([("HOME", home), (set[0], set[1])], scratch.path().join("project"))
            .with_secrets(Arc::new(keyring));
    let machine = setup::machine(&environment).unwrap();
    let found = setup::find(&machine, &Client::ALL, &environment);
    setup::plan(&found, existing, style, &environment)
}

/// Names of the secrets, and the value of each.
fn kept(plan: &ImportPlan) -> Vec<String> {
    plan.secrets.iter().map(|one| format!("{}={}", one.name, one.value.expose())).collect()
}

fn config(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.path().join(".config/gatefold/gatefold.toml")).unwrap_or_default()
}

/// Runs the binary in the project.
fn in_project(scratch: &Scratch, args: &[&str]) -> Run {
    let output =
        command(scratch, args).current_dir(scratch.path().join("project")).output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

const IMPORT: [&str; 4] = ["import", "--yes", "--secrets", "variables"];

#[test]
fn nothing_secret_reaches_the_configuration_or_the_screen() {
    let scratch = home(&[(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
            "flags": {"command": "mcp", "args": ["--header=Authorization:Bearer LEAK1", "--env=A_KEY=LEAK2",
                "-p", "LEAK3", "-u", "a:LEAK4", "${API_KEY:-LEAK5}"]},
            "shell": {"command": "bash", "args": ["-c", "API_TOKEN=LEAK6 exec node x.js"]},
            "docker": {"command": "docker", "args": ["run", "-e", "X_SECRET=LEAK7", "image"]},
            "inside": {"command": "TOKEN=LEAK8 node x.js"},
            "address": {"url": "https://LEAK9@h.example/mcp?code=LEAK10"},
            "json": {"command": "mcp", "env": {"OPENAPI_MCP_HEADERS": "{\"Authorization\":\"Bearer LEAK11\"}",
                "DB": "Server=h;Password=LEAK12", "PEM": "-----BEGIN PRIVATE KEY-----\nLEAK13",
                "X": "Bearer LEAK14"}},
            "told": {"command": "told", "description": "log in with token=LEAK15"}
        }}"#,
    )]);
    let imported = in_project(&scratch, &IMPORT);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let config = config(&scratch);
    assert!(
        !config.contains("LEAK") && !imported.stdout.contains("LEAK"),
        "{}{config}",
        imported.stdout
    );
    assert!(imported.stdout.contains("it has a secret in `command`"), "{}", imported.stdout);
    assert_eq!(config.matches("[sources.").count(), 6, "{config}");
}

#[test]
fn servers_that_differ_in_anything_are_not_the_same() {
    let server = |more: &str| format!(r#"{{"mcpServers": {{"a": {{"command": "a"{more}}}}}}}"#);
    for (more, is_same) in [
        ("", true),
        (r#", "disabled": true"#, false),
        (r#", "disabledTools": ["x"]"#, false),
        (r#", "includeTools": ["x"]"#, false),
        (r#", "env_vars": ["X"]"#, false),
        (r#", "env": {"X": "1"}"#, false),
        (r#", "cwd": "/srv""#, false),
        (r#", "description": "words""#, true),
    ] {
        let scratch =
            home(&[(".cursor/mcp.json", &server("")), (".lmstudio/mcp.json", &server(more))]);
        let plan = plan(&scratch, None, SecretStyle::Variable, ["X", "x"]);
        assert_eq!(plan.sources.len() == 1, is_same, "{more}");
        assert_eq!(
            plan.skipped.iter().any(|one| one.reason == SkipReason::SameAs("a".to_owned())),
            is_same
        );
    }
}

#[test]
fn a_second_import_knows_servers_by_what_their_references_stand_for() {
    let scratch = home(&[(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
            "a": {"command": "a", "args": ["--token", "t0p", "-e", "DB_URL=postgres://a:p@h/d"],
                "env": {"A_TOKEN": "x", "PORT": 3000}, "disabled": true, "disabledTools": ["z", "y"]},
            "b": {"url": "https://h.example/mcp?code=c", "headers": {"Authorization": "Bearer y"}}
        }}"#,
    )]);
    let first = in_project(&scratch, &IMPORT);
    assert!(first.stdout.contains("wrote 2 sources"), "{}", first.stdout);
    let written = config(&scratch);
    let again = in_project(&scratch, &IMPORT);
    assert_eq!(again.code, Some(0));
    assert!(again.stdout.contains("it may already be `sources.a`"), "{}", again.stdout);
    assert!(again.stdout.contains("it may already be `sources.b`"), "{}", again.stdout);
    assert_eq!(config(&scratch), written);
}

#[test]
fn another_account_of_the_same_server_is_another_source() {
    let existing = |reference: &str| {
        format!("[sources.gh]\ncommand = 'gh'\nenv = {{ GITHUB_TOKEN = '{reference}' }}\n")
    };
    for (reference, token, expected) in [
        ("${SET}", "one", Some(SkipReason::AlreadyThere("gh".to_owned()))),
        ("${SET}", "two", None),
        ("${UNSET}", "two", Some(SkipReason::MayBeThere("gh".to_owned()))),
        ("${secret:GITHUB_TOKEN}", "kept", Some(SkipReason::AlreadyThere("gh".to_owned()))),
        ("${secret:GITHUB_TOKEN}", "two", None),
        ("${secret:OTHER}", "two", Some(SkipReason::MayBeThere("gh".to_owned()))),
    ] {
        let text = format!(
            r#"{{"mcpServers": {{"gh": {{"command": "gh", "env": {{"GITHUB_TOKEN": "{token}"}}}}}}}}"#
        );
        let scratch = home(&[(".cursor/mcp.json", &text)]);
        let existing = existing(reference);
        let mut plan = plan(&scratch, Some(&existing), SecretStyle::Variable, ["SET", "one"]);
        assert_eq!(plan.skipped.pop().map(|one| one.reason), expected, "{reference} {token}");
        assert_eq!(plan.sources.len(), usize::from(expected.is_none()), "{reference} {token}");
    }
}

/// A keyring with room for a few secrets, which may refuse to delete them.
struct SmallKeyring {
    room: usize,
    gives_up: bool,
    kept: Mutex<BTreeMap<String, Secret>>,
}

impl SecretStore for SmallKeyring {
    fn get(&self, name: &SecretName, _: Duration) -> Result<Secret, SecretError> {
        let kept = self.kept.lock().unwrap();
        kept.get(name.as_str()).cloned().ok_or_else(|| SecretError::Missing(name.clone()))
    }
}

impl Keyring for SmallKeyring {
    fn set(&self, name: &SecretName, value: &Secret, _: Duration) -> Result<(), SecretError> {
        let mut kept = self.kept.lock().unwrap();
        if kept.len() >= self.room {
            return Err(SecretError::Failed("full".to_owned()));
        }
        kept.insert(name.to_string(), value.clone());
        Ok(())
    }

    fn remove(&self, name: &SecretName, _: Duration) -> Result<(), SecretError> {
        if !self.gives_up {
            return Err(SecretError::Refused);
        }
        self.kept.lock().unwrap().remove(name.as_str());
        Ok(())
    }

    fn names(&self, _: Duration) -> Result<Vec<SecretName>, SecretError> {
        unreachable!("nothing is listed")
    }
}

#[test]
fn an_import_that_fails_leaves_the_keyring_as_it_was() {
    let found: Vec<_> = ["OLD", "A", "B"]
        .map(|name| FoundSecret { name: name.to_owned(), value: Secret::new("x") })
        .into();
    let failing = || Err(SetupError::NoHome);
    for (room, gives_up, is_written, expected, left) in [
        (9, true, true, &["A", "B", "OLD"][..], &[][..]),
        (9, true, false, &["OLD"], &[]),
        (2, true, true, &["OLD"], &[]),
        (2, false, true, &["A", "OLD"], &["A"]),
        (9, false, false, &["A", "B", "OLD"], &["A", "B"]),
    ] {
        let old = BTreeMap::from([("OLD".to_owned(), Secret::new("x"))]);
        let keyring = SmallKeyring { room, gives_up, kept: Mutex::new(old) };
        let kept = setup::keep(&found, &keyring, || if is_written { Ok(()) } else { failing() });
        let names: Vec<_> = keyring.kept.lock().unwrap().keys().cloned().collect();
        assert_eq!(names, expected, "{room} {gives_up} {is_written}");
        let stayed = kept.err().map(|unkept| unkept.left).unwrap_or_default();
        assert_eq!(stayed.iter().map(SecretName::as_str).collect::<Vec<_>>(), left);
    }
}

#[test]
fn what_somebody_switched_off_is_imported_as_off_and_stays_with_its_client() {
    let two = r#""mcpServers": {"on": {"command": "true"}, "Off": {"command": "false"}}"#;
    let off = r#"["Off"]"#;
    let here = |scratch: &Scratch| {
        scratch.path().join("project").canonicalize().unwrap().display().to_string()
    };
    for (client, files) in [
        (
            "gemini-cli",
            &[(".gemini/settings.json", r#"{"mcp": {"excluded": ["off"]}, SERVERS}"#)][..],
        ),
        ("gemini-cli", &[(".gemini/settings.json", r#"{"mcp": {"allowed": ["ON"]}, SERVERS}"#)]),
        (
            "claude-code",
            &[(".claude.json", r#"{SERVERS, "projects": {"HERE": {"disabledMcpServers": LIST}}}"#)],
        ),
        (
            "claude-code",
            &[(".claude.json", r#"{"projects": {"HERE": {SERVERS, "disabledMcpServers": LIST}}}"#)],
        ),
        (
            "claude-code",
            &[
                ("project/.mcp.json", "{SERVERS}"),
                (".claude.json", r#"{"projects": {"HERE": {"disabledMcpjsonServers": LIST}}}"#),
            ],
        ),
        (
            "claude-code",
            &[
                ("project/.mcp.json", "{SERVERS}"),
                ("project/.claude/settings.local.json", r#"{"disabledMcpjsonServers": LIST}"#),
            ],
        ),
        (
            "cursor",
            &[(
                ".cursor/mcp.json",
                r#"{"mcpServers": {"on": {"command": "true", "disabled": false},
                "Off": {"command": "false", "disabled": true}}}"#,
            )],
        ),
    ] {
        let scratch = home(&[]);
        for (path, text) in files {
            let text = text.replace("SERVERS", two).replace("LIST", off);
            let path = scratch.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace("HERE", &here(&scratch))).unwrap();
        }
        let imported = in_project(&scratch, &[&IMPORT[..], &[client, "--project"]].concat());
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let root: toml::Table = toml::from_str(&config(&scratch)).unwrap();
        let is_on = |name: &str| root["sources"][name].get("enabled").is_none();
        assert!(is_on("on") && !is_on("Off"), "{files:?}: {root}");
        assert!(imported.stdout.contains("false (switched off)"), "{}", imported.stdout);
        // It stays, though Gatefold reaches the same server.
        let path = scratch.path().join(".config/gatefold/gatefold.toml");
        fs::write(path, "[sources.on]\ncommand = 'true'\n[sources.Off]\ncommand = 'false'\n")
            .unwrap();
        let is_projects =
            files[0].0.starts_with("project") || files[0].1.contains("\"HERE\": {SERVERS");
        let scope = if is_projects { &["--project"][..] } else { &[] };
        let line = [&["connect", client, "--dry-run", "--json"], scope].concat();
        let planned = in_project(&scratch, &line).json();
        let stays = planned["connected"][0]["left_in"].as_array().unwrap();
        let is_off = |stays: &serde_json::Value| stays["reason"] == "switched_off";
        assert!(stays.iter().any(is_off), "{files:?}: {planned}");
    }
}

#[test]
fn a_variable_that_is_only_its_own_reference_is_not_set() {
    let scratch = home(&[]);
    let source = "[sources.a]\ncommand = 'true'\nenv = { KEY = '${API_KEY}' }\n";
    scratch.write("gatefold.toml", source);
    for (value, is_set) in [
        ("${API_KEY}", false),
        ("${env:API_KEY}", false),
        ("$API_KEY", false),
        ("${OTHER}", true),
        ("$API_KEY x", true),
    ] {
        let mut checked = command(&scratch, &["check"]);
        let output = checked.env("API_KEY", value).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let is_missing = said.contains("the variable `API_KEY`, which is not set");
        assert_eq!(is_missing, !is_set, "{value}: {said}");
    }
}

#[test]
fn what_is_no_reference_names_no_variable() {
    for (text, expected) in [
        ("a = '${A}' # ${B:-x}", &["A"][..]),
        ("a = '${A and more\nb = '${B}'", &["B"]),
        ("a = '$${A}${B}'", &["B"]),
        ("a = '${secret:A}' ${} ${a b}", &[]),
    ] {
        assert_eq!(setup::variables_in(text), expected, "{text}");
    }
}

#[tokio::test]
async fn a_project_s_servers_are_offered_and_not_ticked() {
    for (keys, has_theirs) in [(&["Enter"][..], false), (&["Down", "Space", "Enter"], true)] {
        let scratch = home(&TWO_SCOPES);
        let project = scratch.path().join("project");
        let line = format!(
            "clear; cd {}; HOME={} '{BINARY}' import --secrets variables; echo left $?",
            project.display(),
            scratch.path().display()
        );
        let window = Window::open(&scratch, 150, 40, &line);
        let shown = window.await_text(|shown| shown.contains("of this project")).await;
        let rows: Vec<_> = shown.lines().filter(|line| line.contains("  (Cursor")).collect();
        assert!(rows[0].contains("[x] mine") && rows[1].contains("[ ] theirs"), "{shown}");
        for key in keys {
            window.tmux(&["send-keys", key]);
        }
        window.await_text(|shown| shown.contains("gatefold.toml? (Y/n)")).await;
        window.tmux(&["send-keys", "Enter"]);
        window.await_text(|shown| shown.lines().any(|line| line.starts_with("left "))).await;
        let config = config(&scratch);
        assert!(config.contains("[sources.mine]"), "{config}");
        assert_eq!(config.contains("[sources.theirs]"), has_theirs, "{config}");
    }
}

#[test]
fn lines_end_as_they_do_in_the_configuration() {
    let scratch = home(&TWO_SCOPES);
    scratch.write("own.toml", "[sources.first]\r\ncommand = 'true'");
    let imported = run(&scratch, &[&IMPORT[..], &["--config", "own.toml"]].concat());
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let text = std::fs::read_to_string(scratch.path().join("own.toml")).unwrap();
    assert!(text.contains("[sources.mine]\r\n"), "{text}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
}

#[test]
fn no_secret_takes_the_name_of_another() {
    let servers = |token: &str| {
        format!(
            r#"{{"mcpServers": {{"gh": {{"command": "gh", "env": {{"GITHUB_TOKEN": "{token}"}}}}}}}}"#
        )
    };
    let keyring = SecretStyle::Keyring;
    let variable = SecretStyle::Variable;
    let referring = "[sources.x]\ncommand = 'x'\nenv = { T = '${GITHUB_TOKEN}' }\n";
    let to_keyring = "[sources.x]\ncommand = 'x'\nenv = { T = '${secret:GITHUB_TOKEN}' }\n";
    for (token, existing, style, set, expected) in [
        ("new", "", keyring, ["X", ""], "GH_GITHUB_TOKEN=new"),
        ("kept", "", keyring, ["X", ""], "GITHUB_TOKEN=kept"),
        ("kept", to_keyring, keyring, ["X", ""], "GITHUB_TOKEN=kept"),
        ("new", "", variable, ["X", ""], "GITHUB_TOKEN=new"),
        ("new", "", variable, ["GITHUB_TOKEN", "other"], "GH_GITHUB_TOKEN=new"),
        ("new", "", variable, ["GITHUB_TOKEN", "new"], "GITHUB_TOKEN=new"),
        ("new", referring, variable, ["X", ""], "GH_GITHUB_TOKEN=new"),
        ("new", referring, variable, ["GITHUB_TOKEN", "new"], "GITHUB_TOKEN=new"),
    ] {
        let scratch = home(&[(".cursor/mcp.json", &servers(token))]);
        let plan = plan(&scratch, Some(existing), style, set);
        assert_eq!(kept(&plan), [expected], "{token} {existing} {style:?} {set:?}");
    }
}

#[test]
fn two_values_of_one_name_are_two_secrets_and_one_value_is_one() {
    let scratch = home(&[(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
            "a": {"command": "a", "env": {"API_KEY": "1x"}},
            "b": {"command": "b", "env": {"API_KEY": "1x"}},
            "c": {"command": "c", "env": {"API_KEY": "2x"}},
            "d": {"command": "d", "env": {"API_KEY": "${C_API_KEY}"}}
        }}"#,
    )]);
    let plan = plan(&scratch, None, SecretStyle::Variable, ["X", ""]);
    assert_eq!(kept(&plan), ["API_KEY=1x", "C_API_KEY_2=2x"]);
}

#[test]
fn what_only_an_editor_knows_is_left_out_with_its_fix() {
    let scratch = home(&[
        (
            ".config/Code/User/mcp.json",
            r#"{"servers": {
                "folder": {"command": "x", "args": ["${workspaceFolder}/a"]},
                "base": {"command": "x", "args": ["${workspaceFolderBasename}"]},
                "sep": {"command": "x", "args": ["a${pathSeparator}b"]},
                "file": {"command": "x", "envFile": "${userHome}/.env"},
                "fine": {"command": "fine", "env": {"Z": null, "A": "b"}}
            }}"#,
        ),
        (
            "project/.vscode/mcp.json",
            r#"{"servers": {"mine": {"command": "x", "args": ["${workspaceFolder}/a"]}}}"#,
        ),
    ]);
    let plan = plan(&scratch, None, SecretStyle::Variable, ["X", ""]);
    let why = |name: &str| {
        let one = plan.skipped.iter().find(|one| one.server.name == name).unwrap();
        let SkipReason::Unusable(fault) = &one.reason else { panic!("{:?}", one.reason) };
        format!("{}; {}", fault.message, fault.hint)
    };
    assert!(why("folder").starts_with("refers to `${workspaceFolder}`, and no project is open"));
    assert!(
        why("base")
            .starts_with("refers to `${workspaceFolderBasename}`, which only the client knows")
    );
    assert!(why("sep").starts_with("refers to `${pathSeparator}`, which only"));
    assert!(why("file").contains("takes its variables from `${userHome}/.env`"));
    let names: Vec<_> = plan.sources.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(names, ["fine", "mine"]);
    let Ok(McpConnection::Stdio { env, .. }) = &plan.sources[0].server.connection else { panic!() };
    assert_eq!(env.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["A"]);
}

#[test]
fn what_vs_code_asks_for_keeps_its_default_unless_it_is_secret() {
    let scratch = home(&[(
        ".config/Code/User/mcp.json",
        r#"{"inputs": [
                {"id": "region", "type": "promptString", "default": "eu"},
                {"id": "api-key", "type": "promptString", "password": true},
                {"id": "other-key", "type": "promptString", "default": "LEAK"}
            ],
            "servers": {"a": {"command": "a", "env": {"REGION": "${input:region}",
                "KEY": "${input:api-key}", "OTHER": "${input:other-key}"}}}}"#,
    )]);
    let imported = in_project(&scratch, &IMPORT);
    let config = config(&scratch);
    assert!(config.contains(r#"REGION = "${REGION:-eu}""#), "{config}");
    assert!(config.contains(r#"KEY = "${API_KEY}""#) && !config.contains("LEAK"), "{config}");
    assert!(imported.stdout.contains("API_KEY  VS Code asks for it"), "{}", imported.stdout);
}

#[test]
fn two_files_with_one_question_need_two_variables() {
    let file = |name: &str, host: &str| {
        format!(
            r#"{{"inputs": [{{"id": "api-key", "type": "promptString", "password": true}}],
            "servers": {{"{name}": {{"type": "http", "url": "https://{host}.example/mcp",
                "headers": {{"X-Key": "${{input:api-key}}"}}}}}}}}"#
        )
    };
    let scratch = home(&[
        (".config/Code/User/mcp.json", &file("user-one", "one")),
        ("project/.vscode/mcp.json", &file("project-two", "two")),
    ]);
    let imported = in_project(&scratch, &[&IMPORT[..], &["--project"]].concat());
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let root: toml::Table = toml::from_str(&config(&scratch)).unwrap();
    let key = |name: &str| root["sources"][name]["headers"]["X-Key"].as_str().unwrap();
    assert_eq!((key("user-one"), key("project-two")), ("${API_KEY}", "${API_KEY_2}"));
    assert!(imported.stdout.contains("API_KEY_2  VS Code asks for it"), "{}", imported.stdout);
    // The same again adds nothing, and another project's question is not one of the first two.
    let again = in_project(&scratch, &[&IMPORT[..], &["--project"]].concat());
    assert!(again.stdout.contains("nothing new to import"), "{}", again.stdout);
    fs::write(scratch.path().join("project/.vscode/mcp.json"), file("project-three", "three"))
        .unwrap();
    let third = in_project(&scratch, &[&IMPORT[..], &["--project"]].concat());
    assert_eq!(third.code, Some(0), "{}", third.stderr);
    let root: toml::Table = toml::from_str(&config(&scratch)).unwrap();
    let key = root["sources"]["project-three"]["headers"]["X-Key"].as_str().unwrap();
    assert_eq!(key, "${API_KEY_2_2}");
}

#[test]
fn what_an_import_changes_or_leaves_behind_is_told_and_written_down() {
    let scratch = home(&[(
        ".config/Code/User/mcp.json",
        r#"{"servers": {
            "windows": {"command": "cmd", "args": ["/c", "npx", "-y", "some-server"]},
            "undeclared": {"type": "http", "url": "https://c.example/mcp",
                "headers": {"Authorization": "Token ${input:nobody-asks}"}},
            "gallery": {"command": "sh", "gallery": "https://g.example", "version": "1.0.0", "retries": 3}
        }}"#,
    )]);
    let imported = in_project(&scratch, &IMPORT);
    let said = imported.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let config = config(&scratch);
    let notes = [
        "it is written for Windows: `cmd /c` was left out",
        "no entry of `inputs` declares `nobody-asks`; set the variable `NOBODY_ASKS`",
    ];
    for note in notes {
        assert!(said.contains(&format!("({note})")), "{note}\n{said}");
        assert!(config.contains(&format!("# {note}\n")), "{note}\n{config}");
    }
    assert!(config.contains("command = \"npx\"\nargs = [\"-y\", \"some-server\"]"), "{config}");
    assert!(said.contains("sh (without `retries`)"), "{said}");
    assert!(
        config.contains("# VS Code also has `retries` here, which was not imported."),
        "{config}"
    );
    assert!(config.contains("# only for the client's display: `gallery`, `version`\n"), "{config}");
}

#[test]
fn a_home_folder_is_the_same_by_its_name_and_by_its_variable() {
    let scratch = home(&[]);
    let here = scratch.path().display().to_string();
    for (path, argument) in
        [(".cursor/mcp.json", "${userHome}/x"), (".lmstudio/mcp.json", &format!("{here}/x"))]
    {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text =
            format!(r#"{{"mcpServers": {{"a": {{"command": "a", "args": ["{argument}"]}}}}}}"#);
        fs::write(path, text).unwrap();
    }
    let same = |existing: Option<&str>| {
        let plan = plan(&scratch, existing, SecretStyle::Variable, ["X", ""]);
        plan.skipped.into_iter().map(|one| one.reason).collect::<Vec<_>>()
    };
    assert_eq!(same(None), [SkipReason::SameAs("a".to_owned())]);
    let there = || SkipReason::AlreadyThere("mine".to_owned());
    for argument in ["${HOME}/x", &format!("{here}/x")] {
        let existing = format!("[sources.mine]\ncommand = 'a'\nargs = ['{argument}']\n");
        assert_eq!(same(Some(&existing)), [there(), there()], "{argument}");
    }
}

#[test]
fn a_relative_folder_of_a_project_is_below_the_project() {
    let scratch = home(&[
        ("project/.vscode/mcp.json", r#"{"servers": {"a": {"command": "a", "cwd": "./tools"}}}"#),
        (
            ".gemini/settings.json",
            r#"{"mcpServers": {"b": {"command": "b", "cwd": "./tools"},
            "c": {"command": "c", "cwd": "~/x"}, "d": {"command": "d", "cwd": "${WORK}/x"}}}"#,
        ),
    ]);
    let plan = plan(&scratch, None, SecretStyle::Variable, ["X", ""]);
    let folder = |key: &str| {
        let one = plan.sources.iter().find(|one| one.key == key).unwrap();
        let Ok(McpConnection::Stdio { cwd, .. }) = &one.server.connection else { panic!() };
        cwd.clone().unwrap()
    };
    assert_eq!(folder("a"), scratch.path().join("project/tools"));
    assert_eq!(folder("b"), scratch.path().join("tools"));
    assert_eq!(folder("c"), scratch.path().join("x"));
    assert_eq!(folder("d").to_str(), Some("${WORK}/x"));
}

const TWO_SCOPES: [(&str, &str); 2] = [
    (".cursor/mcp.json", r#"{"mcpServers": {"mine": {"command": "mine"}}}"#),
    ("project/.cursor/mcp.json", r#"{"mcpServers": {"theirs": {"command": "theirs"}}}"#),
];

#[test]
fn servers_of_a_project_are_taken_only_when_asked_for() {
    for (more, has_mine, has_theirs) in
        [(&[][..], true, false), (&["--project"], true, true), (&["--only", "theirs"], false, true)]
    {
        let scratch = home(&TWO_SCOPES);
        let imported = in_project(&scratch, &[&IMPORT, more].concat());
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let config = config(&scratch);
        assert_eq!(config.contains("[sources.mine]"), has_mine, "{config}");
        assert_eq!(config.contains("[sources.theirs]"), has_theirs, "{config}");
        let is_told = imported
            .stdout
            .contains("left out: it belongs to the project ~/project; add it with `--project`");
        assert_eq!(is_told, more.is_empty(), "{}", imported.stdout);
    }
}

#[test]
fn a_users_server_is_taken_though_a_project_has_it_too() {
    let same = r#"{"mcpServers": {"docs": {"url": "https://docs.example/mcp"}}}"#;
    let scratch = home(&[("project/.cursor/mcp.json", same), (".lmstudio/mcp.json", same)]);
    let imported = in_project(&scratch, &IMPORT);
    assert!(config(&scratch).contains("From LM Studio"), "{}", imported.stdout);
    assert!(imported.stdout.contains("left out: it is the same as `docs`"), "{}", imported.stdout);
}

#[test]
fn a_dry_run_with_nothing_new_shows_no_file() {
    let scratch = home(&TWO_SCOPES[1..]);
    let dry = in_project(&scratch, &["import", "--dry-run", "--secrets", "variables"]);
    assert!(dry.stdout.ends_with("nothing new to import without `--project`\n"), "{}", dry.stdout);
}

#[test]
fn scopes_of_one_file_are_listed_apart() {
    let scratch = home(&[]);
    let project = scratch.path().join("project").canonicalize().unwrap();
    let text = format!(
        "{{\r\n\"mcpServers\": {{\"a\": {{\"command\": \"a\"}}}},\r\n\"projects\": {{\"{}\": {{\r\n\
         \"mcpServers\": {{\"a\": {{\"command\": \"a\"}}}}}}}}}}\r\n",
        project.display()
    );
    scratch.write(".claude.json", text);
    let imported =
        in_project(&scratch, &["import", "--dry-run", "--project", "--secrets", "variables"]);
    let (user, of_project) =
        imported.stdout.split_once(", for ").unwrap_or_else(|| panic!("{}", imported.stderr));
    assert_eq!(user.matches("\n  a  ").count(), 1, "{}", imported.stdout);
    let rows = of_project.split("would write").next().unwrap();
    assert_eq!(rows.matches("\n  a  ").count(), 1, "{}", imported.stdout);
    // Started in the project it is another server.
    assert!(of_project.contains("[sources.a-claude-code]"), "{}", imported.stdout);
}

#[test]
fn json_does_not_stand_for_yes() {
    let scratch = home(&TWO_SCOPES);
    let asked = in_project(&scratch, &["import", "--json", "--secrets", "variables"]);
    assert_eq!(asked.code, Some(2));
    assert_eq!(asked.json()["error"], "with `--json` nobody is asked");
    let help = asked.json()["help"].to_string();
    assert!(help.contains("`--yes`") && help.contains("`--dry-run`"), "{help}");
    assert_eq!(config(&scratch), "");
    let dry = in_project(&scratch, &["import", "--json", "--dry-run", "--secrets", "variables"]);
    assert_eq!((dry.code, dry.json()["written"].as_bool()), (Some(0), Some(false)));
    assert_eq!(config(&scratch), "");
}

#[test]
fn what_comes_next_names_a_configuration_that_is_not_the_default() {
    let scratch = home(&TWO_SCOPES);
    let chosen = in_project(&scratch, &[&IMPORT[..], &["--config", "my own.toml"]].concat());
    assert!(
        chosen.stdout.contains("  gatefold check --config 'my own.toml'\n"),
        "{}",
        chosen.stdout
    );
    assert!(
        chosen.stdout.contains("  gatefold connect cursor --config 'my own.toml'\n"),
        "{}",
        chosen.stdout
    );
    scratch.write("project/gatefold.toml", "");
    let hidden = in_project(&scratch, &IMPORT);
    assert!(
        hidden.stdout.contains("/.config/gatefold/gatefold.toml\n  gatefold"),
        "{}",
        hidden.stdout
    );
    let scratch = home(&TWO_SCOPES);
    let plain = in_project(&scratch, &IMPORT);
    assert!(plain.stdout.contains("  gatefold check\n"), "{}", plain.stdout);
}

#[test]
fn names_and_texts_of_clients_steer_no_terminal() {
    let scratch = home(&[(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"a\u001b[2Jb": {"command": "x\u001b]0;t\u0007"}, "c\nd": {"url": "ftp://\u009b31m"}}}"#,
    )]);
    for more in [&["--dry-run"][..], &["--yes"]] {
        let imported = run(&scratch, &[&["import", "--secrets", "variables"], more].concat());
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let said = imported.stdout + &imported.stderr;
        assert!(!said.contains(['\x1b', '\x07', '\u{9b}']) && said.contains("a␛[2Jb"), "{said:?}");
    }
    toml::from_str::<toml::Table>(&config(&scratch)).unwrap();
}

#[test]
fn a_program_that_is_not_there_is_taken_and_said_to_be_missing() {
    let scratch = home(&[(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "no-such-program"}, "b": {"command": "sh"}}}"#,
    )]);
    let imported = in_project(&scratch, &IMPORT).stdout;
    assert!(imported.contains("no-such-program (not installed here)"), "{imported}");
    assert!(imported.contains("  sh\n") && imported.contains("wrote 2 sources"), "{imported}");
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for() {
    for line in [
        &["connect", "claude-code", "--project", "--yes"][..],
        &["import", "claude-code", "--dry-run", "--secrets", "variables"],
        &["check", "--mcp-config", ".mcp.json"],
        &["check", "--config", ".mcp.json"],
    ] {
        let scratch = home(&[(".config/gatefold/gatefold.toml", "")]);
        let made = Command::new("mkfifo").arg(scratch.path().join(".mcp.json")).status();
        assert!(made.unwrap().success());
        let mut ran = Gateway::start(&scratch, line);
        assert_ne!(ran.ended().await, Some(0), "{line:?}");
        let said = ran.log();
        let is_told = said.contains("it is not a regular file\n  help: ");
        assert!(is_told || line[0] == "import", "{line:?}: {said}");
    }
}

#[test]
fn a_file_that_is_no_text_is_told_from_one_that_may_not_be_read() {
    for (bytes, part) in [
        (b"[sources.a]\ncommand = 'caf\xE9'".to_vec(), "UTF-8\n  help: save the file as UTF-8"),
        (vec![b'#'; 9 << 20], "it is too large\n  help: check what is in it"),
    ] {
        let scratch = home(&TWO_SCOPES);
        scratch.write("own.toml", bytes);
        let imported = run(&scratch, &[&IMPORT[..], &["--config", "own.toml"]].concat());
        assert_eq!(imported.code, Some(2));
        assert!(imported.stderr.contains(part), "{}", imported.stderr);
    }
}

#[test]
fn a_providers_client_is_imported_with_its_secret_as_a_secret() {
    let servers = r#"{"mcpServers": {
        "pinned": {"type": "http", "url": "https://a.example/mcp",
            "oauth": {"clientId": "pinned", "callbackPort": 3118}},
        "cursor": {"url": "https://b.example/mcp",
            "auth": {"CLIENT_ID": "b", "CLIENT_SECRET": "planted-s3", "scopes": ["read"]}},
        "gemini": {"url": "https://c.example/mcp", "oauth": {"enabled": true, "clientId": "c",
            "clientSecret": "${C_SECRET}", "scopes": "read write", "tokenUrl": "https://c.example/t",
            "redirectUri": "http://localhost:7777/oauth/callback"}},
        "off": {"url": "https://d.example/mcp", "oauth": false}
    }}"#;
    let scratch = home(&[(".cursor/mcp.json", servers)]);
    let plan = plan(&scratch, None, SecretStyle::Keyring, ["C_SECRET", "x"]);
    let text = setup::append(None, &plan, std::path::Path::new("gatefold.toml")).unwrap();
    let read: toml::Table = text.parse().unwrap();
    let oauth = |name: &str| read["sources"][name].get("oauth").map(ToString::to_string);
    let pinned = r#"{ client_id = "pinned", redirect_url = "http://localhost:3118/callback" }"#;
    assert_eq!(oauth("pinned").as_deref(), Some(pinned), "{text}");
    let cursor = &read["sources"]["cursor"]["oauth"];
    let reference = cursor["client_secret"].as_str().unwrap();
    assert!(reference.starts_with("${secret:") && !text.contains("planted-s3"), "{text}");
    assert_eq!(cursor["scopes"].as_array().unwrap().len(), 1);
    assert!(kept(&plan).iter().any(|secret| secret.contains("planted-s3")), "{:?}", kept(&plan));
    let gemini = &read["sources"]["gemini"]["oauth"];
    assert_eq!(gemini["client_secret"].as_str(), Some("${C_SECRET}"));
    assert_eq!(gemini["redirect_url"].as_str(), Some("http://localhost:7777/oauth/callback"));
    // What is not taken over is named.
    assert!(text.contains("has more in `oauth` than was imported"), "{text}");
    assert_eq!(oauth("off"), None);
    assert_eq!(text.matches("was not imported").count(), 0, "{text}");
}
