//! Which servers `connect` takes out of a client, with real servers and real checks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::process::{BINARY, Gateway, command, ended, run, run_with_input};
use crate::scratch::Scratch;

/// A home with one of the demonstration's servers as a source, and with Cursor's file.
struct Home {
    scratch: Scratch,
    file: PathBuf,
}

impl Home {
    /// `more` is added to the client's entry of the same server.
    fn with(more: &Value) -> Self {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path().join(".cursor")).unwrap();
        let file = scratch.path().join(".cursor/mcp.json");
        let home = Self { scratch, file };
        let mut server = json!({ "command": BINARY, "args": home.args() });
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let servers = json!({ "mcpServers": { "units": server } });
        home.scratch.write(".cursor/mcp.json", servers.to_string());
        home.configure("");
        home
    }

    fn args(&self) -> [String; 4] {
        let data = self.scratch.path().join("data").display().to_string();
        ["demo-server".to_owned(), "units".to_owned(), "--scratch".to_owned(), data]
    }

    /// Writes the configuration: the source with some further keys.
    fn configure(&self, more: &str) {
        let args = json!(self.args());
        let source = format!("[sources.units]\ncommand = '{BINARY}'\nargs = {args}\n{more}\n");
        self.scratch.write("gatefold.toml", source);
    }

    fn check(&self) -> Option<i32> {
        run(&self.scratch, &["check"]).code
    }

    /// Connects, returns why the server stays, and checks that it does. `None` if it was taken out.
    /// Disconnects afterwards, which leaves the file to the byte either way.
    fn reason_to_keep(&self, scope: &[&str]) -> Option<String> {
        let before = fs::read(&self.file).unwrap();
        let args = [&["connect", "cursor", "--yes", "--json"], scope].concat();
        let connected = run(&self.scratch, &args);
        assert_eq!(connected.code, Some(0), "{}{}", connected.stdout, connected.stderr);
        let connected = connected.json();
        let connected = &connected["connected"][0];
        let written: Value =
            serde_json::from_str(&fs::read_to_string(&self.file).unwrap()).unwrap();
        let is_there = !written["mcpServers"]["units"].is_null();
        assert_eq!(connected["taken_out"], if is_there { json!([]) } else { json!(["units"]) });
        let why = connected["left_in"][0]["why"].as_str().map(str::to_owned);
        assert_eq!(why.is_some(), is_there, "{connected}");
        let undone = run(&self.scratch, &[&["disconnect", "cursor"], scope].concat());
        assert_eq!(undone.code, Some(0), "{}{}", undone.stdout, undone.stderr);
        assert_eq!(fs::read(&self.file).unwrap(), before);
        why
    }
}

#[test]
fn only_what_a_check_reached_as_it_is_configured_now_is_taken_out() {
    let home = Home::with(&json!({}));
    let never = Some("Gatefold has not reached it yet");
    let failed = Some("the last `gatefold check` could not reach it");
    assert_eq!(home.reason_to_keep(&[]).as_deref(), never);
    // A manifest of another configuration says nothing about this one.
    home.configure("env = { A = '1' }");
    assert_eq!(home.check(), Some(0));
    home.configure("");
    assert_eq!(home.reason_to_keep(&[]).as_deref(), never);
    assert_eq!(home.check(), Some(0));
    // The server breaks after it was reached, and a check finds out.
    let data = home.scratch.path().join("data");
    let _ = fs::remove_dir_all(&data);
    fs::write(&data, "").unwrap();
    assert_eq!(home.check(), Some(1));
    assert_eq!(home.reason_to_keep(&[]).as_deref(), failed);
    fs::remove_file(&data).unwrap();
    assert_eq!(home.check(), Some(0));
    assert_eq!(home.reason_to_keep(&[]), None);
}

#[test]
fn a_server_stays_if_a_key_of_its_entry_has_no_equivalent_in_its_source() {
    for (more, why) in [
        (
            json!({ "envFile": ".env" }),
            Some("it takes its variables from `.env`, which Gatefold does not read"),
        ),
        (
            json!({ "envFile": "${workspaceFolder}/.env" }),
            Some(
                "it takes its variables from `${workspaceFolder}/.env`, which Gatefold does not read",
            ),
        ),
        (json!({ "sandbox": true }), Some("Gatefold has no equivalent for `sandbox`")),
        (
            json!({ "later": { "watch": "x" }, "newest": 1 }),
            Some("Gatefold has no equivalent for `later`, `newest`"),
        ),
        (json!({ "disabledTools": ["convert"] }), Some("Gatefold's source allows other tools")),
        (json!({ "disabled": true }), Some("it is switched off in the client")),
        (json!({ "cwd": "/" }), Some("Gatefold's source of that name is not the same")),
        // These concern the client only, or have no effect.
        (
            json!({ "type": "stdio", "timeout": 9, "alwaysAllow": ["x"], "dev": { "watch": "x" } }),
            None,
        ),
    ] {
        let home = Home::with(&more);
        assert_eq!(home.check(), Some(0));
        assert_eq!(home.reason_to_keep(&[]).as_deref(), why, "{more}");
    }
}

#[test]
fn a_server_that_its_source_limits_in_another_way_stays() {
    let home = Home::with(&json!({ "disabledTools": ["convert"] }));
    home.configure("deny = ['tool:convert']");
    assert_eq!(home.check(), Some(0));
    assert_eq!(home.reason_to_keep(&[]), None);
    let home = Home::with(&json!({}));
    home.configure("deny = ['tool:convert']");
    assert_eq!(home.check(), Some(0));
    let why = home.reason_to_keep(&[]);
    assert_eq!(why.as_deref(), Some("Gatefold's source allows other tools"));
}

#[test]
fn a_server_of_all_projects_that_refers_to_the_open_one_stays() {
    let home = Home::with(&json!({ "env": { "ROOT": "${workspaceFolder}" } }));
    let folder = home.scratch.path().display();
    home.configure(&format!("env = {{ ROOT = '{folder}' }}"));
    assert_eq!(home.check(), Some(0));
    let why = home.reason_to_keep(&[]);
    assert_eq!(
        why.as_deref(),
        Some("`${workspaceFolder}` in it is another folder in each project")
    );
}

#[test]
fn a_servers_line_says_why_it_stays() {
    let home = Home::with(&json!({ "envFile": ".env" }));
    assert_eq!(home.check(), Some(0));
    let told = run(&home.scratch, &["connect", "cursor", "--yes"]).stdout;
    let line = "  kept units: it takes its variables from `.env`, which Gatefold does not read\n";
    assert!(told.contains(line), "{told}");
}

#[test]
fn a_clients_file_that_is_served_names_a_server_that_needs_its_file_of_variables() {
    let home = Home::with(&json!({ "envFile": ".env" }));
    let checked = run(&home.scratch, &["check", "--mcp-config", ".cursor/mcp.json"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stdout);
    let why = "takes its variables from `.env`, which Gatefold does not read";
    assert!(checked.stdout.contains(why), "{}", checked.stdout);
}

#[test]
fn a_file_that_others_may_share_is_not_changed_without_a_word() {
    let home = Home::with(&json!({}));
    fs::create_dir(home.scratch.path().join("project")).unwrap();
    let project = home.scratch.path().join("project");
    fs::create_dir(project.join(".cursor")).unwrap();
    fs::copy(&home.file, project.join(".cursor/mcp.json")).unwrap();
    let config = home.scratch.path().join("gatefold.toml").display().to_string();
    let args = ["connect", "cursor", "--yes", "--project", "--config", &config];
    let folder = format!("cwd = '{}'", project.display());
    home.configure(&folder);
    assert_eq!(home.check(), Some(0));
    let connected = |more: &[&str]| {
        let mut command = command(&home.scratch, &[&args, more].concat());
        command.current_dir(&project);
        ended(command)
    };
    let told = connected(&["--dry-run"]).stdout;
    assert!(told.contains("others may share this file: its entry starts `"), "{told}");
    assert!(told.contains("the removed servers are gone for them too"), "{told}");
    assert_eq!(connected(&["--dry-run", "--json"]).json()["connected"][0]["shared"], true);
    let told = connected(&["--keep"]).stdout;
    assert!(told.contains("others may share") && !told.contains("gone for them"), "{told}");
    let told = run(&home.scratch, &["connect", "cursor", "--yes"]).stdout;
    assert!(!told.contains("others may share"), "{told}");
}

#[tokio::test]
async fn a_client_of_a_gateway_that_does_not_run_is_told_to_start_it() {
    let home = Home::with(&json!({}));
    let gateway = Gateway::serve(&home.scratch).await;
    let listens = |address: &str| {
        home.configure(&format!("[server]\nlisten = '{address}'"));
        run(&home.scratch, &["connect", "cursor", "--http", "--dry-run"]).stdout
    };
    let told = listens(&gateway.address());
    assert!(!told.contains("no gateway runs"), "{told}");
    let address = gateway.address();
    drop(gateway);
    let told = listens(&address);
    let expected = format!(
        "no gateway runs at http://{address}/mcp, and clients find none until you start `gatefold \
         serve`"
    );
    assert!(told.replace('\n', " ").contains(&expected), "{told}");
    let told = run(&home.scratch, &["connect", "cursor", "--http", "--dry-run", "--json"]).json();
    assert_eq!(told["running"], false, "{told}");
}

/// A home with Cursor's file, which has a token.
fn home_with_a_token() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join(".cursor")).unwrap();
    let server = json!({ "command": "true", "env": { "API_TOKEN": "hunter2-hunter2" } });
    let servers = json!({ "mcpServers": { "tickets": server } });
    scratch.write(".cursor/mcp.json", servers.to_string());
    scratch
}

#[test]
fn without_a_keyring_secrets_go_to_a_file_that_only_its_owner_reads() {
    for (option, place) in [
        (&["--secrets-file", "cursor"][..], ".config/gatefold/secrets.toml"),
        (&["cursor", "--secrets-file"], ".config/gatefold/secrets.toml"),
        (&["cursor", "--secrets-file", "mine/own.toml"], "mine/own.toml"),
    ] {
        let scratch = home_with_a_token();
        let imported = run(&scratch, &[&["import", "--yes"], option].concat());
        assert_eq!(imported.code, Some(0), "{}{}", imported.stdout, imported.stderr);
        let file = scratch.path().join(place);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let secrets = fs::read_to_string(&file).unwrap();
        assert!(secrets.ends_with("API_TOKEN = \"hunter2-hunter2\"\n"), "{secrets}");
        let config = scratch.path().join(".config/gatefold/gatefold.toml");
        let config = fs::read_to_string(config).unwrap();
        assert!(config.contains("${secret:API_TOKEN}") && !config.contains("hunter2"), "{config}");
        let said = imported.stdout + &imported.stderr;
        assert!(said.contains(place) && !said.contains("hunter2"), "{said}");
        // The source is started with it.
        let checked = run(&scratch, &["config", "check"]);
        assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
        // The next import and `gatefold secret` know the file, and say nothing of a keyring.
        let again = run(&scratch, &["import", "cursor", "--yes"]);
        assert!(again.stdout.contains("already `sources.tickets`"), "{}", again.stdout);
        let stored = run_with_input(&scratch, &["secret", "set", "b.c"], "x\n");
        assert_eq!(stored.code, Some(0), "{}", stored.stderr);
        let listed = run(&scratch, &["secret", "list"]).stdout;
        assert_eq!(listed, "API_TOKEN\nb.c\n");
        assert_eq!(run(&scratch, &["secret", "remove", "b.c"]).code, Some(0));
        assert_eq!(fs::read_to_string(&file).unwrap(), secrets);
        assert_eq!(run(&scratch, &["secret", "remove", "b.c"]).code, Some(1));
    }
}

#[test]
fn a_file_of_secrets_that_others_can_read_is_not_used() {
    let scratch = home_with_a_token();
    let imported = run(&scratch, &["import", "cursor", "--yes", "--secrets-file"]);
    assert_eq!(imported.code, Some(0), "{}{}", imported.stdout, imported.stderr);
    let file = scratch.path().join(".config/gatefold/secrets.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    for args in [&["config", "check"][..], &["secret", "list"]] {
        let refused = run(&scratch, args);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert_eq!(refused.code, Some(1), "{said}");
        assert!(
            said.contains("others can read the secrets in") && said.contains("chmod 600"),
            "{said}"
        );
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, "API_TOKEN = hunter2-hunter2\n").unwrap();
    let said = run(&scratch, &["config", "check"]);
    let said = format!("{}{}", said.stdout, said.stderr);
    assert!(
        said.contains("not a TOML file of names and texts") && !said.contains("hunter2"),
        "{said}"
    );
}

#[test]
fn another_file_of_secrets_than_the_configurations_is_refused() {
    let scratch = home_with_a_token();
    fs::create_dir_all(scratch.path().join(".config/gatefold")).unwrap();
    let config = "[secrets]\nfile = \"~/first.toml\"\n";
    scratch.write(".config/gatefold/gatefold.toml", config);
    let refused = run(&scratch, &["import", "cursor", "--yes", "--secrets-file", "second.toml"]);
    assert_eq!(refused.code, Some(2), "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("first.toml` already"), "{}", refused.stderr);
    assert_eq!(run(&scratch, &["import", "cursor", "--yes"]).code, Some(0));
    assert!(scratch.path().join("first.toml").exists());
}
