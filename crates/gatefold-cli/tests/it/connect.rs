//! `connect` and `disconnect` under adverse conditions: no record, files that other people changed,
//! links, foreign names, several scopes of one file.

use std::fs;
use std::path::{Path, PathBuf};

use gatefold::Environment;
use gatefold::config::DEFAULT_LISTEN;
use gatefold_clients::{Client, ConfigFile, Entry, Format, Launch, Scope};
use gatefold_setup::{Connector, Records, SetupError, WriteMode};

use crate::process::{BINARY, Run, command, ended, run};
use crate::reached::{self, mark_reached};
use crate::scratch::Scratch;
use crate::terminal::Window;

const CONFIG: &str = "[sources.a]\ncommand = 'true'\n";

/// A home with a configuration whose source was reached, and with Cursor's file.
fn home(cursor: &str) -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", CONFIG);
    mark_reached(&scratch);
    fs::create_dir(scratch.path().join(".cursor")).unwrap();
    scratch.write(".cursor/mcp.json", cursor);
    let file = scratch.path().join(".cursor/mcp.json");
    (scratch, file)
}

fn succeeded(run: Run) -> String {
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    run.stdout
}

fn refused(run: &Run, code: i32, part: &str) {
    assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(part), "{}", run.stderr);
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn records(scratch: &Scratch) -> usize {
    let folder = scratch.path().join(".local/state/gatefold/clients");
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Records in another state directory too that the source was reached.
fn mark_elsewhere(scratch: &Scratch) {
    let environment = Environment::new([("HOME", scratch.path().to_str().unwrap())], "/");
    let state_dir = scratch.path().join("elsewhere");
    reached::mark(&scratch.path().join("gatefold.toml"), &environment, &state_dir);
}

const HELD: &str = r#"{"mcpServers": {"a": {"command": "true"}, "b": {"command": "b"}}}"#;

#[test]
fn records_lie_in_one_place_whatever_is_said_about_the_state() {
    let (scratch, file) = home(HELD);
    mark_elsewhere(&scratch);
    succeeded(run(&scratch, &["connect", "cursor", "--yes", "--state-dir", "elsewhere"]));
    assert!(!text(&file).contains("\"a\""), "{}", text(&file));
    assert_eq!(records(&scratch), 1);
    let undone = succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert!(undone.contains("byte for byte"), "{undone}");
    assert_eq!(text(&file), HELD);
}

#[test]
fn a_record_that_an_older_gatefold_kept_elsewhere_is_found() {
    for options in [&[][..], &["--state-dir", "elsewhere"]] {
        let (scratch, file) = home(HELD);
        mark_elsewhere(&scratch);
        succeeded(run(&scratch, &["connect", "cursor", "--yes", "--state-dir", "elsewhere"]));
        let folder = scratch.path().join("elsewhere");
        let own = scratch.path().join(".local/state/gatefold/clients");
        fs::rename(&own, folder.join("clients")).unwrap();
        succeeded(run(&scratch, &[&["disconnect", "cursor"], options].concat()));
        assert_eq!(text(&file), HELD);
        assert_eq!(fs::read_dir(folder.join("clients")).unwrap().count(), 0);
    }
}

#[test]
fn connecting_again_finds_a_record_that_an_older_gatefold_kept_elsewhere() {
    let (scratch, file) = home(HELD);
    mark_elsewhere(&scratch);
    succeeded(run(&scratch, &["connect", "cursor", "--yes", "--state-dir", "elsewhere"]));
    let own = scratch.path().join(".local/state/gatefold/clients");
    fs::rename(&own, scratch.path().join("elsewhere/clients")).unwrap();
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    assert_eq!(records(&scratch), 1);
    assert_eq!(fs::read_dir(scratch.path().join("elsewhere/clients")).unwrap().count(), 0);
    succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert_eq!(text(&file), HELD);
}

#[test]
fn without_a_record_only_force_takes_the_entry_out_and_says_what_that_leaves() {
    let (scratch, file) = home(HELD);
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    let connected = text(&file);
    fs::remove_dir_all(scratch.path().join(".local")).unwrap();
    refused(&run(&scratch, &["disconnect", "cursor"]), 1, "there is no record of what it replaced");
    assert_eq!(text(&file), connected);
    let forced = succeeded(run(&scratch, &["disconnect", "cursor", "--force"]));
    assert!(forced.contains("not restored") && !forced.contains("byte for byte"), "{forced}");
    assert!(!text(&file).contains("gatefold") && text(&file).contains("\"b\""), "{}", text(&file));
}

#[test]
fn a_dry_run_and_a_file_that_is_away_leave_the_record() {
    let (scratch, file) = home(HELD);
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    let connected = text(&file);
    fs::remove_file(&file).unwrap();
    for options in [&["--dry-run"][..], &[]] {
        let away = run(&scratch, &[&["disconnect", "cursor"], options].concat());
        refused(&away, 1, "the servers that were taken out of it are kept in ");
        assert_eq!(records(&scratch), 1);
    }
    // After a restore by hand the record is useless, but a dry run must not drop it.
    fs::write(&file, HELD).unwrap();
    refused(&run(&scratch, &["disconnect", "cursor", "--dry-run"]), 1, "Gatefold is not in ");
    assert_eq!(records(&scratch), 1);
    fs::write(&file, connected).unwrap();
    succeeded(run(&scratch, &["disconnect", "cursor", "--dry-run"]));
    succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert_eq!((text(&file).as_str(), records(&scratch)), (HELD, 0));
}

#[test]
fn servers_that_were_taken_out_go_into_a_file_that_the_client_made_anew() {
    let (scratch, file) = home(HELD);
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    fs::write(&file, "{}").unwrap();
    succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert!(text(&file).contains(r#""a": {"command": "true"}"#), "{}", text(&file));
    assert_eq!(records(&scratch), 0);
}

/// Whether `connect` takes over a client's server, given the source of the same name.
fn taken(source: &str, server: &str) -> bool {
    let (scratch, _) = home(&format!(r#"{{"mcpServers": {{"it": {server}}}}}"#));
    scratch.write("gatefold.toml", format!("[sources.it]\n{source}\n"));
    mark_reached(&scratch);
    let planned = run(&scratch, &["connect", "cursor", "--dry-run", "--json"]);
    planned.json()["connected"][0]["taken_out"].as_array().unwrap().len() == 1
}

#[test]
fn only_a_server_that_gatefold_reaches_in_the_same_way_is_taken_out() {
    for (source, server, expected) in [
        ("command = 'true'", r#"{"command": "true"}"#, true),
        ("command = 'true'", r#"{"command": "true", "args": ["x"]}"#, false),
        ("command = 'true'\nenv = { A = '1' }", r#"{"command": "true"}"#, false),
        ("command = 'true'", r#"{"command": "true", "env": {"A": "1"}}"#, false),
        ("command = 'true'\nenv = { A = '1' }", r#"{"command": "true", "env": {"A": "2"}}"#, false),
        (
            "command = 'true'\nenv = { A = '${TOKEN}', B = 'b' }",
            r#"{"command": "true", "env": {"B": "b", "A": "${env:TOKEN}"}}"#,
            true,
        ),
        // The literal and the reference have the same value.
        (
            "command = 'true'\nenv = { A = '${TOKEN}' }",
            r#"{"command": "true", "env": {"A": "s3cret"}}"#,
            true,
        ),
        (
            "command = 'true'\nenv = { A = '${UNSET}' }",
            r#"{"command": "true", "env": {"A": "${env:UNSET}"}}"#,
            false,
        ),
        ("command = 'true'\ncwd = '/tmp'", r#"{"command": "true"}"#, false),
        ("command = 'true'\ncwd = '/tmp'", r#"{"command": "true", "cwd": "/tmp"}"#, true),
        ("command = 'true'\ninherit_env = ['A']", r#"{"command": "true"}"#, false),
        ("command = 'true'\nenabled = false", r#"{"command": "true"}"#, false),
        ("command = 'true'", r#"{"command": "true", "disabled": true}"#, false),
        ("command = 'no-such-program'", r#"{"command": "no-such-program"}"#, false),
        ("url = 'https://x.example/mcp?key=k'", r#"{"url": "https://x.example/mcp?key=k"}"#, true),
        ("url = 'https://x.example/mcp'", r#"{"url": "https://x.example/mcp"}"#, true),
        (
            "url = 'https://x.example/mcp'",
            r#"{"url": "https://x.example/mcp", "oauth": {"clientId": "x"}}"#,
            false,
        ),
        (
            "url = 'https://x.example/mcp'\nheaders = { Authorization = 'one' }",
            r#"{"url": "https://x.example/mcp", "headers": {"Authorization": "another"}}"#,
            false,
        ),
        (
            "url = 'https://x.example/mcp'\nheaders = { Authorization = '${TOKEN}' }",
            r#"{"url": "https://x.example/mcp", "headers": {"authorization": "${env:TOKEN}"}}"#,
            true,
        ),
    ] {
        assert_eq!(taken(source, server), expected, "{source}\n{server}");
    }
}

#[test]
fn a_server_whose_program_is_missing_stays_and_is_named() {
    let server = r#"{"mcpServers": {"lost": {"command": "no-such-program"}}}"#;
    let (scratch, file) = home(server);
    scratch.write("gatefold.toml", "[sources.x]\ncommand = 'no-such-program'\n");
    let told = succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    assert!(told.contains("kept lost: Gatefold cannot find its program\n"), "{told}");
    assert!(text(&file).contains("no-such-program"));
}

#[test]
fn a_server_that_stays_because_its_source_is_not_the_same_is_named() {
    for (source, why) in [
        ("command = 'true'\nenabled = false", "switched off"),
        ("command = 'true'\nenv = { A = '${UNSET}' }", "cannot be used"),
        ("command = 'true'\nargs = ['x']", "not the same"),
    ] {
        let (scratch, file) = home(HELD);
        scratch.write("gatefold.toml", format!("[sources.a]\n{source}\n"));
        let told = succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
        let line = told.lines().find(|line| line.contains("kept a: Gatefold's source")).unwrap();
        assert!(line.ends_with(why), "{told}");
        assert!(text(&file).contains("\"a\""), "{}", text(&file));
    }
}

#[test]
fn a_program_that_reads_json_has_to_say_that_it_means_it() {
    let (scratch, file) = home(HELD);
    for command in ["connect", "import"] {
        let asked = run(&scratch, &[command, "cursor", "--json"]);
        assert_eq!(asked.code, Some(2), "{}", asked.stdout);
        assert!(asked.stdout.contains("--dry-run"), "{}", asked.stdout);
        assert_eq!((text(&file).as_str(), records(&scratch)), (HELD, 0));
        assert_eq!(run(&scratch, &[command, "cursor", "--json", "--dry-run"]).code, Some(0));
        assert_eq!(text(&file), HELD);
    }
    let written = run(&scratch, &["connect", "cursor", "--json", "--yes"]);
    assert_eq!(written.json()["connected"][0]["written"], true);
}

/// Runs the command at a terminal and presses each key once its text shows. Returns the screen at
/// the end.
pub(crate) async fn at_a_terminal(scratch: &Scratch, line: &str, keys: &[(&str, &str)]) -> String {
    let home = scratch.path().display();
    let line = format!("clear; cd {home}; HOME={home} '{BINARY}' {line}; echo left $?");
    let window = Window::open(scratch, 150, 30, &line);
    for (text, key) in keys {
        window.await_text(|shown| shown.contains(text)).await;
        window.tmux(&["send-keys", key]);
    }
    let has_left = |shown: &str| shown.lines().any(|line| line.starts_with("left "));
    window.await_text(has_left).await
}

#[tokio::test]
async fn escape_and_ctrl_c_stop_without_writing() {
    let put = "Add Gatefold to ~/.cursor/mcp.json?";
    let out = "now that Gatefold serves it?";
    let write = "gatefold.toml?";
    for (line, keys, code, said) in [
        ("connect cursor", &[(put, "Escape")][..], 0, "nothing was written"),
        ("connect cursor", &[(put, "C-c")], 130, "nothing was written"),
        ("connect cursor", &[(put, "Enter"), (out, "Escape")], 0, "nothing was written"),
        ("connect cursor", &[(put, "Enter"), (out, "C-c")], 130, "nothing was written"),
        ("import cursor", &[("Which servers", "Escape")], 0, "nothing was written"),
        ("import cursor", &[("Which servers", "C-c")], 130, "nothing was written"),
        (
            "import cursor",
            &[("Which servers", "Enter"), (write, "C-c")],
            130,
            "nothing was written",
        ),
        (
            "import cursor",
            &[("Which servers", "n"), ("Which servers", "Enter"), (write, "Escape")],
            0,
            "nothing was written",
        ),
    ] {
        let (scratch, file) = home(HELD);
        let config = text(&scratch.path().join("gatefold.toml"));
        let shown = at_a_terminal(&scratch, line, keys).await;
        assert!(
            shown.contains(&format!("left {code}")) && shown.contains(said),
            "{keys:?} {shown}"
        );
        assert_eq!((text(&file).as_str(), records(&scratch)), (HELD, 0));
        assert_eq!(text(&scratch.path().join("gatefold.toml")), config);
    }
}

#[tokio::test]
async fn a_person_is_asked_before_the_file_is_touched_and_before_servers_go() {
    let put = "Add Gatefold to ~/.cursor/mcp.json?";
    let (scratch, file) = home("{}");
    let keys = [(put, "n"), ("? (Y/n) n", "Enter")];
    let shown = at_a_terminal(&scratch, "connect cursor", &keys).await;
    assert!(shown.contains("nothing was written"), "{shown}");
    assert_eq!(text(&file), "{}");
    let (scratch, file) = home(HELD);
    let keys = [(put, "Enter"), ("Gatefold serves it?", "n"), ("it? (Y/n) n", "Enter")];
    let shown = at_a_terminal(&scratch, "connect cursor", &keys).await;
    assert!(shown.contains("connected Cursor"), "{shown}");
    assert!(text(&file).contains("\"a\"") && text(&file).contains("gatefold"), "{}", text(&file));
}

/// Whether an entry with this name counts as Gatefold, which listens on port 8555.
fn counts(name: &str, server: &str) -> bool {
    let (scratch, _) = home(&format!(r#"{{"mcpServers": {{"{name}": {server}}}}}"#));
    scratch.write("gatefold.toml", format!("{CONFIG}\n[server]\nlisten = '127.0.0.1:8555'\n"));
    let listed = run(&scratch, &["connect", "--json"]).json();
    listed["clients"][0]["gatefold"] == name
}

#[test]
fn gatefold_is_known_by_the_program_that_is_started() {
    for line in [
        &["/opt/gatefold", "stdio"][..],
        &["C:\\My Tools\\gatefold.exe", "stdio"],
        &["env", "A=b", "gatefold", "--log", "x", "stdio"],
        &["sh", "-c", "exec '/my tools/gatefold' stdio"],
        &["uvx", "gatefold@latest", "stdio"],
        &["uvx", "--from", "gatefold==1", "gatefold", "stdio"],
        &["npx", "-y", "@gatefold/gatefold@1", "stdio"],
        &["npx", "-c", "gatefold stdio"],
        &["bash", "-lc", "cd /x && A=b gatefold --color never stdio"],
        &["cmd", "/c", "gatefold", "stdio"],
        &["cmd.exe", "/D", "/C", "\"C:\\My Tools\\gatefold.exe\" stdio"],
        &["docker", "run", "-i", "--rm", "-v", "/a:/b", "x/gatefold:1", "stdio"],
        &["docker", "run", "--rm", "-it", "x/gatefold", "--state-dir", "/d", "stdio"],
        &["gatefold", "--config=stdio", "--log", "x", "stdio"],
    ] {
        let server = serde_json::json!({ "command": line[0], "args": line[1..] });
        assert!(counts("x", &server.to_string()), "{line:?}");
    }
}

#[test]
fn gatefold_is_not_known_by_a_name_or_by_another_programs_arguments() {
    for line in [
        &["uvx", "mcp-server-git", "--repository", "/home/ada/gatefold", "--transport", "stdio"][..],
        &["npx", "-y", "server-files", "/home/ada/gatefold", "stdio"],
        &["uv", "run", "--directory", "/home/ada/gatefold", "server.py", "stdio"],
        &["docker", "run", "-v", "/a:/gatefold", "--rm", "mcp/git", "--transport", "stdio"],
        &["docker", "run", "-i", "mcp/git", "/gatefold", "stdio"],
        &["sh", "-c", "cd /home/ada/gatefold && server --transport stdio"],
        &["sh", "gatefold", "stdio"],
        &["python", "server.py", "gatefold", "stdio"],
        &["gatefold", "--config", "stdio", "demo-server"],
        &["gatefold", "demo-server", "stdio"],
        &["gatefold", "demo-server"],
        &["stdio", "gatefold"],
        &["other", "stdio"],
    ] {
        let server = serde_json::json!({ "command": line[0], "args": line[1..] });
        assert!(!counts("gatefold", &server.to_string()), "{line:?}");
    }
}

#[test]
fn gatefold_is_known_by_where_an_address_leads() {
    for (name, server, expected) in [
        ("x", r#"{"url": "http://127.0.0.1:8555/mcp"}"#, true),
        ("x", r#"{"url": "http://localhost:8555/mcp"}"#, true),
        ("x", r#"{"url": "http://127.0.0.1:9000/mcp"}"#, false),
        ("gatefold", r#"{"url": "http://127.0.0.1:9000/mcp"}"#, true),
        ("gatefold", r#"{"url": "http://127.0.0.1:9000/other"}"#, false),
        ("gatefold", r#"{"url": "https://gatefold.example/mcp"}"#, false),
        ("x", r#"{"url": "http://10.0.0.1:8555/mcp"}"#, false),
    ] {
        assert_eq!(counts(name, server), expected, "{name}: {server}");
    }
}

#[test]
fn an_address_that_gatefold_listens_on_is_known_when_it_is_not_this_machines_own() {
    for (listen, written) in [
        ("192.168.7.7:8420", "http://192.168.7.7:8420/mcp"),
        ("[fd00::7]:8420", "http://[fd00::7]:8420/mcp"),
        ("0.0.0.0:8420", "http://127.0.0.1:8420/mcp"),
        ("[::]:8420", "http://127.0.0.1:8420/mcp"),
    ] {
        let (scratch, file) = home("{}");
        scratch.write("gatefold.toml", format!("{CONFIG}\n[server]\nlisten = '{listen}'\n"));
        succeeded(run(&scratch, &["connect", "cursor", "--http", "--yes"]));
        assert!(text(&file).contains(written), "{}", text(&file));
        let another = written.replace("7.7", "7.8").replace("::7]", "::8]").replace(".1:", ".2:");
        scratch.write(".cursor/mcp.json", text(&file).replace(written, &another));
        let listed = run(&scratch, &["connect", "--json"]).json();
        let is_loopback = another.contains("127.");
        assert_eq!(listed["clients"][0]["gatefold"] == "gatefold", is_loopback, "{another}");
    }
}

#[test]
fn gatefold_does_not_serve_inside_gatefold() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", CONFIG);
    for line in [&["stdio"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let output = command(&scratch, line).env("GATEFOLD_INSIDE", "1").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("was started by Gatefold"), "{said}");
    }
    // A source that leads to the same configuration.
    let own = scratch.path().join("gatefold.toml");
    scratch.write(
        "gatefold.toml",
        format!(
            "[sources.loop]\ncommand = '{BINARY}'\nargs = ['stdio', '--config', '{}']\n",
            own.display()
        ),
    );
    let checked = run(&scratch, &["check", "--state-dir", "state"]);
    assert_eq!(checked.code, Some(1));
    let named = "Gatefold was started by Gatefold";
    assert!(checked.stdout.contains(named), "{}", checked.stdout);
}

#[test]
fn a_file_that_somebody_restored_is_connected_afresh() {
    let (scratch, file) = home(HELD);
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    let other = r#"{"mcpServers": {"b": {"command": "b"}, "a": {"command": "mine"}}}"#;
    fs::write(&file, other).unwrap();
    let told = succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    assert!(!told.contains("removed, because"), "{told}");
    assert!(text(&file).contains("mine"), "{}", text(&file));
    let undone = succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert!(undone.contains("byte for byte"), "{undone}");
    assert_eq!(text(&file), other);
}

#[test]
fn what_is_still_out_stays_on_record_when_somebody_took_the_entry_out() {
    let (scratch, file) = home(HELD);
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    fs::write(&file, r#"{"mcpServers": {"b": {"command": "b"}}}"#).unwrap();
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    succeeded(run(&scratch, &["disconnect", "cursor"]));
    let value: serde_json::Value = serde_json::from_str(&text(&file)).unwrap();
    assert_eq!(value, serde_json::from_str::<serde_json::Value>(HELD).unwrap());
}

#[test]
fn a_server_of_the_entrys_name_that_is_not_ours_stays() {
    let (scratch, file) = home(HELD);
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    let mine = r#"{"mcpServers": {"gatefold": {"command": "my-own"}, "b": {"command": "b"}}}"#;
    fs::write(&file, mine).unwrap();
    succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert!(text(&file).contains("my-own") && text(&file).contains("\"a\""), "{}", text(&file));
    let again = run(&scratch, &["connect", "cursor", "--yes"]);
    refused(&again, 1, "`--name OTHER`");
}

#[test]
fn two_scopes_of_one_file_come_apart_in_any_order() {
    let project = |scratch: &Scratch| scratch.path().canonicalize().unwrap().display().to_string();
    let before = |scratch: &Scratch| {
        format!(
            "{{\n  \"mcpServers\": {{\n    \"a\": {{\"command\": \"true\"}}\n  }},\n  \
             \"projects\": {{\n    \"{}\": {{\"mcpServers\": {{\"p\": {{\"command\": \"p\"}}}} }}\n  \
             }}\n}}",
            project(scratch)
        )
    };
    let user = &["claude-code"][..];
    let own = &["claude-code", "--project"][..];
    for (connects, disconnects) in [
        ([user, own, user], [user, own]),
        ([user, own, own], [own, user]),
        ([own, user, user], [user, own]),
        ([own, user, own], [own, user]),
    ] {
        let scratch = Scratch::new();
        scratch.write("gatefold.toml", CONFIG);
        let (file, before) = (scratch.path().join(".claude.json"), before(&scratch));
        fs::write(&file, &before).unwrap();
        for (at, scope) in connects.into_iter().enumerate() {
            // The third `connect` has something to change.
            let keep: &[&str] = if at < 2 { &["--keep"] } else { &["--name", "other"] };
            succeeded(run(&scratch, &[&["connect", "--yes"], scope, keep].concat()));
        }
        for scope in disconnects {
            succeeded(run(&scratch, &[&["disconnect"], scope].concat()));
        }
        assert_eq!(text(&file), before, "{connects:?} {disconnects:?}");
        assert_eq!(records(&scratch), 0);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed_there_and_back() {
    let (scratch, file) = home("");
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("../dotfiles/cursor.json", &file).unwrap();
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    let target = scratch.path().join("dotfiles/cursor.json");
    assert!(file.is_symlink() && text(&target).contains("gatefold"));
    succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert!(file.is_symlink() && !target.exists());
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced() {
    let (scratch, file) = home(HELD);
    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    for how in ["--dry-run", "--yes"] {
        refused(&run(&scratch, &["connect", "cursor", how]), 1, "is read-only");
    }
    assert_eq!((text(&file).as_str(), records(&scratch)), (HELD, 0));
}

#[test]
fn names_with_control_characters_are_refused_or_shown() {
    let evil = r#"{"mcpServers": {"ev\nil\u001b[2J": {"command": "true"}}}"#;
    let (scratch, file) = home(evil);
    for name in ["a\nb", "a\x1b[2J", "a b", ""] {
        let named = run(&scratch, &["connect", "cursor", "--yes", "--name", name]);
        assert!(!named.stderr.contains('\x1b'), "{:?}", named.stderr);
        refused(&named, 2, "cannot name a server");
    }
    let told = succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    assert!(told.contains("ev il␛[2J") && !told.contains('\x1b'), "{told:?}");
    assert!(!text(&file).contains("ev"), "{}", text(&file));
    succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert_eq!(text(&file), evil);
}

#[test]
fn what_comes_next_names_the_configuration_that_was_chosen() {
    let (scratch, _) = home("{}");
    scratch.write("my own.toml", CONFIG);
    let told = succeeded(run(&scratch, &["connect", "cursor", "--yes", "--config", "my own.toml"]));
    let expected = format!("disconnect cursor --config '{}/my own.toml'", scratch.path().display());
    assert!(told.contains(&expected), "{told}");
}

#[test]
fn nothing_is_written_when_one_of_several_names_or_files_is_wrong() {
    let (scratch, file) = home(HELD);
    refused(&run(&scratch, &["connect", "cursor", "emacs", "--yes"]), 2, "no client `emacs`");
    scratch.write(".claude.json", "{broken");
    assert_eq!(run(&scratch, &["connect", "cursor", "claude-code", "--yes"]).code, Some(2));
    assert_eq!((text(&file).as_str(), records(&scratch)), (HELD, 0));
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    let connected = text(&file);
    assert_eq!(run(&scratch, &["disconnect", "cursor", "emacs"]).code, Some(2));
    refused(&run(&scratch, &["disconnect", "cursor", "goose"]), 1, "Gatefold is not in ");
    assert_eq!(text(&file), connected);
    // The same client twice counts once.
    let told = succeeded(run(&scratch, &["disconnect", "cursor", "Cursor"]));
    assert_eq!(told.matches("disconnected").count(), 1, "{told}");
}

#[test]
fn another_entry_that_leads_to_gatefold_is_not_passed_over() {
    let (scratch, file) =
        home(r#"{"mcpServers": {"mine": {"command": "gatefold", "args": ["stdio"]}}}"#);
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    let undone = run(&scratch, &["disconnect", "cursor"]);
    refused(&undone, 1, "another entry still leads to Gatefold: mine");
    succeeded(run(&scratch, &["disconnect", "cursor", "--force"]));
    assert!(!text(&file).contains("mine"), "{}", text(&file));
}

const NEEDY: &str = "\
# token = '${NOT_THIS}'
[sources.a]
command = 'true'
env = { A = '${API_KEY}', B = '${WITH:-default}', C = '${HOME}', D = '$${PLAIN}' }
[sources.off]
enabled = false
command = 'true'
env = { A = '${NOR_THIS}' }
";

#[test]
fn an_entry_hands_on_the_variables_that_the_configuration_needs() {
    for (client, file, expected) in [
        ("claude-code", ".claude.json", Some(r#""API_KEY": "${API_KEY}""#)),
        ("cursor", ".cursor/mcp.json", Some(r#""API_KEY": "${env:API_KEY}""#)),
        ("vs-code", ".config/Code/User/mcp.json", Some(r#""API_KEY": "${env:API_KEY}""#)),
        ("windsurf", ".codeium/windsurf/mcp_config.json", Some(r#""API_KEY": "${env:API_KEY}""#)),
        ("gemini-cli", ".gemini/settings.json", Some(r#""API_KEY": "$API_KEY""#)),
        ("codex", ".codex/config.toml", Some(r#"env_vars = ["API_KEY"]"#)),
        ("opencode", ".config/opencode/opencode.json", Some(r#""API_KEY": "{env:API_KEY}""#)),
        ("crush", ".config/crush/crush.json", Some(r#""API_KEY": "$API_KEY""#)),
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", None),
        ("zed", ".config/zed/settings.json", None),
        ("goose", ".config/goose/config.yaml", None),
        ("lm-studio", ".lmstudio/mcp.json", None),
    ] {
        let scratch = Scratch::new();
        scratch.write("gatefold.toml", NEEDY);
        let told = succeeded(run(&scratch, &["connect", client, "--yes"]));
        let written = text(&scratch.path().join(file));
        assert_eq!(told.contains("your shell's variables: API_KEY;"), expected.is_none(), "{told}");
        for other in ["NOT_THIS", "NOR_THIS", "WITH", "HOME", "PLAIN"] {
            assert!(!written.contains(other), "{client}: {written}");
        }
        match expected {
            Some(expected) => assert!(written.contains(expected), "{client}: {written}"),
            None => assert!(!written.contains("API_KEY"), "{client}: {written}"),
        }
        let again = succeeded(run(&scratch, &["connect", client, "--yes"]));
        assert!(again.contains("already"), "{client}: {again}");
        succeeded(run(&scratch, &["disconnect", client]));
        assert!(!scratch.path().join(file).exists(), "{client}");
    }
}

#[test]
fn a_gateway_that_runs_by_itself_needs_nothing_of_a_client() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", NEEDY);
    let told = succeeded(run(&scratch, &["connect", "zed", "--yes", "--http"]));
    assert!(!told.contains("API_KEY"), "{told}");
}

#[test]
fn a_server_that_needs_variables_stays_with_a_client_that_hands_none_on() {
    let servers = r#"{"mcpServers": {
  "needy": {"command": "true", "env": {"API_KEY": "k"}},
  "plain": {"command": "true", "args": ["plain"]}
}}"#;
    for (client, file, stays) in
        [("lm-studio", ".lmstudio/mcp.json", true), ("gemini-cli", ".gemini/settings.json", false)]
    {
        let scratch = Scratch::new();
        scratch.write(
            "gatefold.toml",
            "[sources.needy]\ncommand = 'true'\nenv = { API_KEY = '${API_KEY}' }\n\
             [sources.plain]\ncommand = 'true'\nargs = ['plain']\n",
        );
        fs::create_dir(scratch.path().join(file).parent().unwrap()).unwrap();
        scratch.write(file, servers);
        let home = scratch.path().to_str().unwrap();
        let environment = Environment::new([("HOME", home), ("API_KEY", "k")], scratch.path());
        let state_dir = scratch.path().join(".local/state/gatefold");
        reached::mark(&scratch.path().join("gatefold.toml"), &environment, &state_dir);
        let run = |args: &[&str]| {
            ended({
                let mut command = command(&scratch, args);
                command.env("API_KEY", "k");
                command
            })
        };
        let told = succeeded(run(&["connect", client, "--yes"]));
        let written = text(&scratch.path().join(file));
        assert_eq!(written.contains("\"needy\""), stays, "{client}: {written}");
        assert!(!written.contains("\"plain\""), "{client}: {written}");
        assert_eq!(
            told.contains("kept needy: Gatefold needs variables for it that the client does not"),
            stays,
            "{told}"
        );
        let found = run(&["doctor", "--offline"]).stdout;
        assert!(!found.contains("still starts servers"), "{client}: {found}");
        assert!(!found.contains("others can read"), "{client}: {found}");
        succeeded(run(&["disconnect", client]));
        assert_eq!(text(&scratch.path().join(file)), servers);
    }
}

#[test]
fn of_several_sources_for_one_server_the_right_one_is_compared() {
    let server = r#"{"mcpServers": {"plain": {"command": "true", "disabledTools": ["b"]}}}"#;
    for (sources, is_taken_out) in [
        (
            "[sources.other]\ncommand = 'true'\n[sources.same]\ncommand = 'true'\ndeny = ['tool:b']\n",
            true,
        ),
        (
            "[sources.plain]\ncommand = 'true'\n[sources.other]\ncommand = 'true'\ndeny = ['tool:a']\n",
            false,
        ),
    ] {
        let scratch = Scratch::new();
        scratch.write("gatefold.toml", sources);
        fs::create_dir(scratch.path().join(".cursor")).unwrap();
        scratch.write(".cursor/mcp.json", server);
        let home = scratch.path().to_str().unwrap();
        let environment = Environment::new([("HOME", home)], scratch.path());
        let state_dir = scratch.path().join(".local/state/gatefold");
        reached::mark(&scratch.path().join("gatefold.toml"), &environment, &state_dir);
        let told = succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
        assert_eq!(
            !text(&scratch.path().join(".cursor/mcp.json")).contains("plain"),
            is_taken_out,
            "{told}"
        );
        let kept = "kept plain: Gatefold's source allows other tools";
        assert_eq!(told.contains(kept), !is_taken_out, "{told}");
    }
}

#[test]
fn an_entry_of_ours_without_a_record_is_replaced_and_comes_back_to_the_byte() {
    for entry in [
        r#"{"command": "/gone/gatefold", "args": ["stdio"]}"#,
        r#"{ "type":"stdio", "command" : "gatefold","args":["stdio"], "env":{} }"#,
        r#"{"url": "http://127.0.0.1:1/mcp"}"#,
    ] {
        let old = format!(
            r#"{{"mcpServers": {{"a": {{"command": "true"}}, "gatefold": {entry}, "b": {{"command": "b"}}}}}}"#
        );
        let (scratch, file) = home(&old);
        let tried = run(&scratch, &["connect", "cursor", "--dry-run", "--json"]).json();
        assert_eq!(tried["connected"][0]["replaced"], true);
        assert_eq!(tried["connected"][0]["taken_out"], serde_json::json!(["a"]));
        let told = succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
        assert!(told.contains("replaced the existing Gatefold entry"), "{told}");
        assert!(text(&file).contains(BINARY) && !text(&file).contains(entry), "{}", text(&file));
        let again = succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
        assert!(again.contains("already"), "{again}");
        succeeded(run(&scratch, &["connect", "cursor", "--yes", "--http"]));
        succeeded(run(&scratch, &["disconnect", "cursor"]));
        assert_eq!(text(&file), old);
    }
}

#[test]
fn an_entry_of_ours_beside_a_recorded_one_is_replaced_too() {
    let old = r#"{"mcpServers": {"gatefold": {"command": "gatefold", "args": ["stdio"]}}}"#;
    let (scratch, file) = home(old);
    succeeded(run(&scratch, &["connect", "cursor", "--yes", "--name", "other"]));
    succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
    let servers: serde_json::Value = serde_json::from_str(&text(&file)).unwrap();
    assert_eq!(servers["mcpServers"].as_object().unwrap().len(), 1, "{servers}");
    succeeded(run(&scratch, &["disconnect", "cursor"]));
    assert_eq!(text(&file), old);
}

/// The file name of the only record.
#[cfg(unix)]
fn record(scratch: &Scratch) -> String {
    let folder = scratch.path().join(".local/state/gatefold/clients");
    let mut names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.next().unwrap().into_string().unwrap()
}

#[cfg(unix)]
#[test]
fn what_was_written_is_told_when_another_client_fails() {
    for options in [&[][..], &["--json"]] {
        let (scratch, file) = home("{}");
        // A record that turns out to be unwritable only when it is written.
        succeeded(run(&scratch, &["connect", "zed", "--yes"]));
        let name = record(&scratch);
        succeeded(run(&scratch, &["disconnect", "zed"]));
        let folder = scratch.path().join(".local/state/gatefold/clients");
        let nowhere = scratch.path().join("gatefold.toml/nowhere");
        std::os::unix::fs::symlink(nowhere, folder.join(name)).unwrap();
        let line = ["connect", "cursor", "zed", "lm-studio", "--yes"];
        let connected = run(&scratch, &[&line, options].concat());
        assert_eq!(connected.code, Some(1), "{}{}", connected.stdout, connected.stderr);
        assert!(text(&file).contains("gatefold"), "{}", text(&file));
        assert!(scratch.path().join(".lmstudio/mcp.json").exists());
        assert!(!scratch.path().join(".config/zed/settings.json").exists());
        if options.is_empty() {
            let told = &connected.stdout;
            assert!(told.contains("connected Cursor: "), "{told}");
            assert!(told.contains("did not connect Zed: "), "{told}");
            assert!(told.contains("`gatefold disconnect cursor lm-studio`"), "{told}");
            assert!(connected.stderr.contains("error: "), "{}", connected.stderr);
            continue;
        }
        let connected = connected.json();
        for (at, is_written) in [(0, true), (1, false), (2, true)] {
            let one = &connected["connected"][at];
            assert_eq!((&one["written"] == true, one["error"].is_null()), (is_written, is_written));
        }
    }
}

#[cfg(unix)]
#[test]
fn what_was_undone_is_told_when_another_client_fails() {
    for options in [&[][..], &["--json"]] {
        let (scratch, file) = home(HELD);
        succeeded(run(&scratch, &["connect", "zed", "--yes"]));
        // A folder in place of an older record cannot be removed like a file.
        fs::create_dir_all(scratch.path().join("elsewhere/clients").join(record(&scratch)))
            .unwrap();
        succeeded(run(&scratch, &["connect", "cursor", "--yes"]));
        let line = ["disconnect", "zed", "cursor", "--state-dir", "elsewhere"];
        let undone = run(&scratch, &[&line, options].concat());
        assert_eq!(undone.code, Some(1), "{}{}", undone.stdout, undone.stderr);
        assert_eq!(text(&file), HELD);
        if options.is_empty() {
            assert!(undone.stdout.contains("did not disconnect Zed: "), "{}", undone.stdout);
            assert!(undone.stdout.contains("disconnected Cursor: "), "{}", undone.stdout);
            assert!(undone.stderr.contains("cannot be removed"), "{}", undone.stderr);
            continue;
        }
        let undone = undone.json();
        assert!(undone["disconnected"][0]["error"].is_string(), "{undone}");
        assert_eq!(undone["disconnected"][1]["written"], true, "{undone}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_file_is_found_before_any_file_is_written() {
    let (scratch, file) = home("{}");
    // Nobody can create a file there, not even root.
    std::os::unix::fs::symlink("/proc/self", scratch.path().join(".lmstudio")).unwrap();
    for how in ["--dry-run", "--yes"] {
        let line = ["connect", "cursor", "lm-studio", how];
        refused(&run(&scratch, &line), 1, "/.lmstudio");
        assert_eq!((text(&file).as_str(), records(&scratch)), ("{}", 0));
    }
}

#[test]
fn every_place_of_a_client_in_the_scope_is_undone() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", CONFIG);
    let user = scratch.path().join(".config/Code/User");
    fs::create_dir_all(&user).unwrap();
    fs::create_dir(scratch.path().join(".vscode")).unwrap();
    let (older, newer) = (user.join("settings.json"), user.join("mcp.json"));
    let old = r#"{"mcp": {"servers": {"b": {"command": "b"}}}}"#;
    fs::write(&older, old).unwrap();
    succeeded(run(&scratch, &["connect", "vs-code", "--yes"]));
    assert!(text(&older).contains("gatefold"), "{}", text(&older));
    let new = r#"{"servers": {"c": {"command": "c"}}}"#;
    fs::write(&newer, new).unwrap();
    succeeded(run(&scratch, &["connect", "vs-code", "--yes"]));
    succeeded(run(&scratch, &["connect", "vs-code", "--project", "--yes"]));
    let tried = run(&scratch, &["disconnect", "vs-code", "--dry-run", "--json"]).json();
    assert_eq!(tried["disconnected"].as_array().unwrap().len(), 2, "{tried}");
    let undone = succeeded(run(&scratch, &["disconnect", "vs-code"]));
    assert_eq!(undone.matches("disconnected VS Code").count(), 2, "{undone}");
    assert_eq!((text(&older), text(&newer)), (old.to_owned(), new.to_owned()));
    // Another scope is not touched.
    let project = scratch.path().join(".vscode/mcp.json");
    assert!(text(&project).contains("gatefold"));
    succeeded(run(&scratch, &["disconnect", "vs-code", "--project"]));
    assert!(!project.exists());
    // A record of something undone by hand does not block the other place.
    succeeded(run(&scratch, &["connect", "vs-code", "--yes"]));
    fs::write(&newer, new).unwrap();
    fs::write(&older, r#"{"mcp": {"servers": {"g": {"command": "gatefold", "args": ["stdio"]}}}}"#)
        .unwrap();
    refused(&run(&scratch, &["disconnect", "vs-code"]), 1, "settings.json, but there is no record");
    succeeded(run(&scratch, &["disconnect", "vs-code", "--force"]));
    assert!(!text(&older).contains("gatefold"), "{}", text(&older));
}

#[test]
fn a_file_whose_servers_cannot_be_read_is_not_taken_for_one_without_the_entry() {
    let scratch = Scratch::new();
    let home = scratch.path().to_str().unwrap();
    let environment = Environment::new([("HOME", home)], scratch.path());
    let records = Records::new(&scratch.path().join("state"));
    let connector = Connector { environment: &environment, listen: DEFAULT_LISTEN, records };
    // Servers are read by the file's name, entries are edited by its format.
    let file = ConfigFile {
        client: Client::Cursor,
        scope: Scope::User,
        path: scratch.path().join("mcp.toml"),
        format: Format::Json,
        servers: vec!["mcpServers".to_owned()],
    };
    let args = vec!["stdio".to_owned()];
    let launch = Launch::Stdio { command: "gatefold".to_owned(), args, variables: Vec::new() };
    let entry = Entry { name: "gatefold".to_owned(), launch };
    connector.connect(&file, &entry, &[], WriteMode::Write).unwrap();
    scratch.write("mcp.toml", text(&file.path).replace("stdio", "stdio --log x"));
    let refused = connector.connect(&file, &entry, &[], WriteMode::DryRun).unwrap_err();
    assert!(matches!(refused, SetupError::Config(_)), "{refused}");
}
