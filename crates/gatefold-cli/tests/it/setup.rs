//! From a client's file to a gateway in front of its servers, and back to the same bytes, with the
//! real binary and files of every client.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use gatefold::Environment;
use gatefold_clients::Client;
use gatefold_setup::{SecretStyle, find, machine, plan};

use crate::process::{BINARY, Run, command, ended, run};
use crate::reached;
use crate::scratch::Scratch;

/// Every test file of `gatefold-clients`: client, file, and where the client keeps it. Files in
/// `project` belong to a project.
const FILES: &[(&str, &str, &str)] = &[
    ("claude-code", "claude.json", ".claude.json"),
    ("claude-code", "one-line.json", ".claude.json"),
    ("claude-code", "disabled.json", ".claude.json"),
    ("claude-code", "mcp.json", "project/.mcp.json"),
    ("claude-desktop", "claude_desktop_config.json", ".config/Claude/claude_desktop_config.json"),
    ("claude-desktop", "windows.json", ".config/Claude/claude_desktop_config.json"),
    ("cursor", "mcp.json", ".cursor/mcp.json"),
    ("cursor", "comments.json", "project/.cursor/mcp.json"),
    ("vs-code", "mcp.json", "project/.vscode/mcp.json"),
    ("vs-code", "bom.json", ".config/Code/User/mcp.json"),
    ("vs-code", "settings.json", ".config/Code/User/settings.json"),
    ("windsurf", "mcp_config.json", ".codeium/windsurf/mcp_config.json"),
    ("windsurf", "odd.json", ".codeium/windsurf/mcp_config.json"),
    ("codex", "config.toml", ".codex/config.toml"),
    ("codex", "inline.toml", ".codex/config.toml"),
    ("codex", "dotted.toml", "project/.codex/config.toml"),
    ("zed", "settings.json", ".config/zed/settings.json"),
    ("zed", "old.json", "project/.zed/settings.json"),
    ("gemini-cli", "settings.json", ".gemini/settings.json"),
    ("gemini-cli", "project.json", "project/.gemini/settings.json"),
    ("goose", "config.yaml", ".config/goose/config.yaml"),
    ("goose", "odd.yaml", ".config/goose/config.yaml"),
    ("lm-studio", "mcp.json", ".lmstudio/mcp.json"),
    ("lm-studio", "flat.json", ".lmstudio/mcp.json"),
    ("opencode", "opencode.json", ".config/opencode/opencode.json"),
    ("crush", "crush.json", "project/.crush.json"),
    ("continue", "config.yaml", ".continue/config.yaml"),
    ("continue", "flush.yaml", ".continue/config.yaml"),
    ("continue", "block.json", ".continue/mcpServers/mcp.json"),
];

/// The beginning of every made-up secret in those files.
const FAKE: &str = "not-a-real";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gatefold-clients/tests/files")
}

/// Programs that the files name, put where the shell finds them.
const PROGRAMS: &[&str] = &[
    "npx",
    "npx.cmd",
    "uvx",
    "docker",
    "node",
    "python",
    "a-mcp",
    "db-mcp",
    "mail-mcp",
    "shell-mcp",
    "inline-mcp",
    "plain-mcp",
];

/// A home with one client's file, and the project to work in.
struct Home {
    scratch: Scratch,
    file: PathBuf,
    before: Vec<u8>,
    /// What import takes out of the file, by the variables that replace it.
    secrets: Vec<(String, String)>,
}

impl Home {
    fn with(client: &str, fixture: &str, place: &str) -> Self {
        let scratch = Scratch::new();
        let file = scratch.path().join(place);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(scratch.path().join("project")).unwrap();
        let before = fs::read(fixtures().join(client).join(fixture)).unwrap();
        fs::write(&file, &before).unwrap();
        fs::create_dir(scratch.path().join("bin")).unwrap();
        for program in PROGRAMS {
            let program = scratch.path().join("bin").join(program);
            fs::write(&program, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let home = scratch.path().to_str().unwrap();
        // The binary is run like this, with `TOKEN` set to something else.
        let variables = [("HOME", home), ("TOKEN", "set")];
        let environment = Environment::new(variables, scratch.path().join("project"));
        let client = Client::parse(client).unwrap();
        let found = find(&machine(&environment).unwrap(), &[client], &environment);
        let plan = plan(&found, None, SecretStyle::Variable, &environment);
        let secrets = plan.secrets.iter().map(|s| (s.name.clone(), s.value.expose().to_owned()));
        let secrets = secrets.collect();
        Self { scratch, file, before, secrets }
    }

    /// Runs the binary in the project, with every variable that the files name.
    fn run(&self, args: &[&str]) -> Run {
        let mut command = command(&self.scratch, args);
        command.current_dir(self.scratch.path().join("project")).env("TZ", "UTC");
        command.envs(self.referred());
        // Before an import, they are only in the clients' files.
        if args[0] != "import" {
            command.envs(self.secrets.iter().map(|(name, value)| (name, value)));
        }
        command.env("PATH", self.path());
        ended(command)
    }

    fn path(&self) -> String {
        format!("{}/bin:/usr/bin:/bin", self.scratch.path().display())
    }

    /// The variables that the configuration refers to, all with the same value.
    fn referred(&self) -> HashMap<String, String> {
        let config = fs::read_to_string(self.config()).unwrap_or_default();
        let names = config.split("${").skip(1).map(|rest| rest.split('}').next().unwrap());
        let names = names.filter(|name| *name != "HOME" && !name.contains(':'));
        names.map(|name| (name.to_owned(), "set".to_owned())).collect()
    }

    /// Puts on record that every source was reached.
    fn mark_reached(&self) {
        let mut variables = self.referred();
        variables.extend(self.secrets.iter().cloned());
        variables.insert("HOME".to_owned(), self.scratch.path().to_str().unwrap().to_owned());
        variables.insert("PATH".to_owned(), self.path());
        variables.entry("TOKEN".to_owned()).or_insert_with(|| "s3cret".to_owned());
        let variables = variables.iter().map(|(name, value)| (&**name, &**value));
        let environment = Environment::new(variables, self.scratch.path().join("project"));
        let state_dir = self.scratch.path().join(".local/state/gatefold");
        reached::mark(&self.config(), &environment, &state_dir);
    }

    fn config(&self) -> PathBuf {
        self.scratch.path().join(".config/gatefold/gatefold.toml")
    }

    /// A text with variable parts made constant.
    fn steady(&self, text: &str) -> String {
        let home = self.scratch.path().to_str().unwrap();
        let real = self.scratch.path().canonicalize().unwrap();
        text.replace(BINARY, "/bin/gatefold")
            .replace(real.to_str().unwrap(), "/home/ada")
            .replace(home, "/home/ada")
            .replace(" (not installed here)", "")
            .replace(" (no such program)", "")
    }
}

fn succeeded(run: Run) -> String {
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    run.stdout
}

#[test]
fn every_file_of_every_client_is_tried() {
    for client in Client::ALL {
        let files = fs::read_dir(fixtures().join(client.id())).unwrap();
        for file in files {
            let name = file.unwrap().file_name().into_string().unwrap();
            let is_tried = FILES.iter().any(|(id, file, _)| *id == client.id() && *file == name);
            assert!(is_tried, "{client}: {name}");
        }
    }
}

/// The whole way for every file. The snapshots show what is printed and what is written.
#[test]
fn import_connect_and_disconnect_leave_each_clients_file_to_the_byte() {
    for (client, fixture, place) in FILES {
        let home = Home::with(client, fixture, place);
        let name = format!("{client}_{}", fixture.replace('.', "_"));

        let scope = place.starts_with("project").then_some("--project");
        let mut args = vec!["import", client, "--yes", "--secrets", "variables"];
        args.extend(scope);
        let imported = succeeded(home.run(&args));
        assert_eq!(fs::read(&home.file).unwrap(), home.before, "{name}: import touched the file");
        let config = fs::read_to_string(home.config()).unwrap();
        assert!(!imported.contains(FAKE) && !config.contains(FAKE), "{name}: {imported}{config}");

        home.mark_reached();
        let mut args = vec!["connect", client, "--yes"];
        args.extend(place.starts_with("project").then_some("--project"));
        let connected = succeeded(home.run(&args));
        let file = fs::read_to_string(&home.file).unwrap();
        assert!(file.contains(BINARY), "{name}: {file}");
        insta::assert_snapshot!(
            name.as_str(),
            home.steady(&format!(
                "{imported}\n--- gatefold.toml\n{config}\n--- connect\n{connected}"
            ))
        );

        // A second time changes nothing, and the first one can still be undone.
        let again = succeeded(home.run(&args));
        assert!(again.contains("already"), "{name}: {again}");
        assert_eq!(fs::read_to_string(&home.file).unwrap(), file, "{name}");

        let mut args = vec!["disconnect", client];
        args.extend(place.starts_with("project").then_some("--project"));
        let undone = succeeded(home.run(&args));
        assert!(undone.contains("byte for byte"), "{name}: {undone}");
        assert_eq!(fs::read(&home.file).unwrap(), home.before, "{name}");
        let kept = fs::read_dir(home.scratch.path().join(".local/state/gatefold/clients")).unwrap();
        assert_eq!(kept.count(), 0, "{name}: a record with the file's secrets stayed");
    }
}

#[test]
fn a_second_import_adds_nothing_and_a_dry_run_writes_nothing() {
    let home = Home::with("cursor", "mcp.json", ".cursor/mcp.json");
    let import = ["import", "cursor", "--secrets", "variables"];
    let dry = succeeded(home.run(&[&import[..], &["--dry-run"]].concat()));
    assert!(dry.contains("would write to ~/.config/gatefold/gatefold.toml"), "{dry}");
    assert!(!dry.contains(FAKE) && !home.config().exists());

    succeeded(home.run(&[&import[..], &["--yes"]].concat()));
    let first = fs::read_to_string(home.config()).unwrap();
    let edited = format!("# mine\n{first}\n[limits]\ncalls_in_flight = 3\n");
    fs::write(home.config(), &edited).unwrap();
    let again = succeeded(home.run(&[&import[..], &["--yes"]].concat()));
    assert!(again.contains("nothing new to import"), "{again}");
    assert_eq!(fs::read_to_string(home.config()).unwrap(), edited);
}

#[test]
fn nothing_is_written_when_nobody_can_be_asked() {
    let home = Home::with("cursor", "mcp.json", ".cursor/mcp.json");
    let asked = home.run(&["import"]);
    assert_eq!(asked.code, Some(2));
    assert!(asked.stderr.contains("nobody can be asked"), "{}", asked.stderr);
    assert!(!home.config().exists());
}

#[test]
fn the_same_server_in_two_clients_becomes_one_source() {
    let scratch = Scratch::new();
    let same = r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#;
    let other = r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]},
        "Time": {"command": "other-time"}, "gatefold": {"command": "gatefold", "args": ["stdio"]}}}"#;
    for (path, text) in [(".cursor", same), (".lmstudio", other)] {
        fs::create_dir(scratch.path().join(path)).unwrap();
        scratch.write(&format!("{path}/mcp.json"), text);
    }
    let imported = run(&scratch, &["import", "--json", "--yes", "--secrets", "variables"]);
    let value = imported.json();
    let names = |key: &str, name: &str| {
        let list = value[key].as_array().unwrap().iter();
        list.map(|one| one[name].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("sources", "name"), ["time", "Time-lm-studio"]);
    assert_eq!(names("skipped", "reason"), ["it is the same as `time`", "it is Gatefold"]);
}

#[test]
fn what_a_client_changed_since_stays_when_gatefold_leaves() {
    let home = Home::with("claude-code", "claude.json", ".claude.json");
    succeeded(home.run(&["import", "claude-code", "--yes", "--secrets", "variables"]));
    home.mark_reached();
    succeeded(home.run(&["connect", "claude-code", "--yes"]));
    let connected = fs::read_to_string(&home.file).unwrap();
    assert!(!connected.contains("server-filesystem"), "{connected}");
    fs::write(&home.file, connected.replace("\"numStartups\": 214", "\"numStartups\": 215"))
        .unwrap();
    let undone = succeeded(home.run(&["disconnect", "claude-code"]));
    assert!(undone.contains("later changes to it are kept"), "{undone}");
    let expected = String::from_utf8(home.before.clone()).unwrap().replace(": 214,", ": 215,");
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let now = fs::read_to_string(&home.file).unwrap();
    assert_eq!(value(&now), value(&expected));
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.a]\ncommand = 'x'\n");
    let file = scratch.path().join(".cursor/mcp.json");
    assert_eq!(run(&scratch, &["connect", "cursor", "--yes"]).code, Some(0));
    assert!(file.exists());
    let undone = run(&scratch, &["disconnect", "cursor"]);
    assert!(undone.stdout.contains("is gone again, as before"), "{}", undone.stdout);
    assert!(!file.exists());
    let again = run(&scratch, &["disconnect", "cursor"]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("Gatefold is not in "), "{}", again.stderr);
}

#[test]
fn wrong_files_and_names_are_refused_and_left_alone() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.a]\ncommand = 'x'\n");
    fs::create_dir(scratch.path().join(".cursor")).unwrap();
    let broken = "{\n  \"mcpServers\": {\n    \"a\": {,}\n";
    scratch.write(".cursor/mcp.json", broken);
    for (args, code, part) in [
        (&["connect", "cursor", "--yes"][..], 2, ".cursor/mcp.json:4:"),
        (&["import", "cursor", "--yes"], 1, ".cursor/mcp.json:4:"),
        (&["connect", "emacs"], 2, "there is no client `emacs`"),
        (&["import", "emacs"], 2, "use one of `claude-code`"),
        (&["connect", "goose", "--project"], 2, "no configuration for a single project"),
        (&["connect", "zed", "--yes", "--name", "not a name"], 2, "cannot name a server"),
        (&["connect", "claude-desktop", "--yes", "--http"], 1, "connect it over stdio"),
        (&["disconnect"], 2, "required"),
        (&["import", "goose"], 1, "~/.config/goose/config.yaml"),
    ] {
        let run = run(&scratch, args);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(run.code == Some(code) && said.contains(part), "{args:?}: {:?} {said}", run.code);
    }
    assert_eq!(fs::read_to_string(scratch.path().join(".cursor/mcp.json")).unwrap(), broken);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_stays_one_and_permissions_stay() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.a]\ncommand = 'x'\n");
    for folder in [".cursor", "dotfiles"] {
        fs::create_dir(scratch.path().join(folder)).unwrap();
    }
    scratch.write("dotfiles/cursor.json", "{}\n");
    let target = scratch.path().join("dotfiles/cursor.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let link = scratch.path().join(".cursor/mcp.json");
    symlink(&target, &link).unwrap();
    assert_eq!(run(&scratch, &["connect", "cursor", "--yes"]).code, Some(0));
    assert!(link.is_symlink() && fs::read_to_string(&target).unwrap().contains("gatefold"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    let record = fs::read_dir(scratch.path().join(".local/state/gatefold/clients")).unwrap();
    let record = record.map(Result::unwrap).next().unwrap();
    assert_eq!(record.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(run(&scratch, &["disconnect", "cursor"]).code, Some(0));
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}\n");
}
