//! What `gatefold doctor` finds. Each fault is a real one.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::routing::any;
use gatefold::Environment;
use gatefold::config::Inputs;
use gatefold_setup::doctor::{self, ExamineOptions, Level, ProbeScope};
use gatefold_testkit::{Fixture, serve_http};
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::process::{BINARY, Gateway, Run, command, run, two_sources};
use crate::scratch::Scratch;

/// Runs a command that was printed as a fix.
fn run_fix(scratch: &Scratch, line: &str) -> Run {
    let fix = line.split_once(" => ").unwrap().1.replace('~', scratch.path().to_str().unwrap());
    let args: Vec<_> = fix.split(' ').skip(1).chain(["--yes"]).collect();
    run(scratch, &args)
}

/// A free port on which nobody listens any more.
fn dead_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Configures sources and a port of its own.
fn configure(scratch: &Scratch, sources: &str) {
    let listen = format!("[server]\nlisten = '127.0.0.1:{}'\n", dead_port());
    scratch.write("gatefold.toml", format!("{sources}{listen}"));
    chmod(&scratch.path().join("gatefold.toml"), 0o600);
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The finding whose text contains `what`, and its fix, both without the scratch folder's path.
fn found(scratch: &Scratch, run: &Run, what: &str) -> String {
    let all = run.json();
    let findings = all["findings"].as_array().unwrap();
    let has = |one: &&Value| one["what"].as_str().unwrap().contains(what);
    let one = findings.iter().find(has).unwrap_or_else(|| panic!("no `{what}` in {all:#}"));
    let text = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
    let line = format!("{}: {} => {}", text("level"), text("what"), text("fix"));
    line.replace(scratch.path().to_str().unwrap(), "~")
}

fn diagnosed(scratch: &Scratch) -> Run {
    run(scratch, &["doctor", "--json"])
}

/// One source's fault: the message, and the fix.
fn check(scratch: &Scratch, sources: &str, expected: &str) {
    configure(scratch, sources);
    let run = diagnosed(scratch);
    let (what, _) = expected.split_once(" => ").unwrap();
    let what = what.split_once(": ").unwrap().1;
    assert_eq!(found(scratch, &run, what), expected);
    let is_fault = expected.starts_with("fault");
    assert_eq!(run.code, Some(i32::from(is_fault)), "{}", run.stdout);
    assert_eq!(run.json()["ok"], !is_fault);
}

#[test]
fn a_healthy_setup_has_no_fault() {
    let scratch = Scratch::new();
    configure(&scratch, &two_sources(&scratch));
    let run = run(&scratch, &["doctor"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.ends_with("checks were fine\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("fault") && !run.stdout.contains("warning"), "{}", run.stdout);
    let again = diagnosed(&scratch);
    assert!(found(&scratch, &again, "units: ").starts_with("ok"));
    let connected = found(&scratch, &again, "tools over");
    assert!(connected.starts_with("ok: "), "{connected}");
    assert!(found(&scratch, &again, "the database is intact").ends_with("schema 19 => -"));
}

#[test]
fn no_configuration_and_a_broken_one_are_faults_and_no_crash() {
    let scratch = Scratch::new();
    let none = diagnosed(&scratch);
    assert_eq!(none.code, Some(1));
    assert!(found(&scratch, &none, "no configuration found").starts_with("fault: "));
    scratch.write("gatefold.toml", "[sources.a]\ncomand = 'x'\n[limits]\nmax = 1\n");
    let broken = diagnosed(&scratch);
    assert_eq!(broken.code, Some(1));
    assert_eq!(
        found(&scratch, &broken, "comand"),
        "fault: `sources.a.comand` is not a known key => did you mean `command`?"
    );
    assert_eq!(run(&scratch, &["doctor", "--wrong"]).code, Some(2));
}

#[test]
fn a_secret_that_no_keyring_has_is_a_fault() {
    let expected = "fault: a: `sources.a.env.T` needs the secret `t`: no keyring answers on this \
                    machine";
    let scratch = Scratch::new();
    configure(&scratch, "[sources.a]\ncommand = 'sh'\nenv = { T = '${secret:t}' }\n");
    let run = diagnosed(&scratch);
    let line = found(&scratch, &run, "needs the secret `t`");
    assert!(line.starts_with(expected), "{line}");
    assert!(line.ends_with("=> set a variable instead and refer to it: `${T}`"), "{line}");
}

#[test]
fn programs_that_cannot_run_are_named_with_their_fix() {
    let scratch = Scratch::new();
    scratch.write("plain", "x").write("script", "#!/usr/bin/env no-such-lisp\n");
    chmod(&scratch.path().join("script"), 0o755);
    for (source, expected) in [
        (
            "command = 'no-such-server'",
            "fault: a: its command `no-such-server` is not on the PATH => install \
             `no-such-server`, or set `command` to its full path",
        ),
        (
            "command = 'no-such-server --fast'",
            "fault: a: there is no program `no-such-server --fast` => `command` is only the program; put its arguments in `args`",
        ),
        ("command = './plain'", "fault: a: `~/./plain` is not executable => chmod +x ~/./plain"),
        (
            "command = './script'",
            "fault: a: `~/script` needs `no-such-lisp`, which does not exist => install \
             `no-such-lisp`, or set `command` to its full path",
        ),
        (
            "command = 'sh'\ncwd = 'gone'",
            "fault: a: its `cwd` is not a folder: `~/gone` => mkdir -p ~/gone",
        ),
        (
            "command = 'uvx'\nargs = ['x']\nenv = { PATH = '/nowhere' }",
            "fault: a: its command `uvx` is not on the PATH => install uv: \
             https://docs.astral.sh/uv",
        ),
    ] {
        check_in(&scratch, &format!("[sources.a]\n{source}\n"), expected);
    }
}

/// Like [`check`], for texts that contain the scratch folder.
fn check_in(scratch: &Scratch, sources: &str, expected: &str) {
    let folder = scratch.path().to_str().unwrap();
    configure(scratch, sources);
    let run = diagnosed(scratch);
    let what = expected.split_once(" => ").unwrap().0.split_once(": ").unwrap().1;
    assert_eq!(found(scratch, &run, &what.replace('~', folder)), expected);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
}

#[test]
fn an_argument_that_names_nothing_is_only_a_note() {
    let scratch = Scratch::new();
    let sources = two_sources(&scratch).replace("'demo-server'", "'demo-server', '/no/such/file'");
    configure(&scratch, &sources);
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    assert!(found(&scratch, &run, "/no/such/file").starts_with("note: "), "{}", run.stdout);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

#[test]
fn an_old_node_is_a_warning() {
    let scratch = Scratch::new();
    scratch.write("node", "#!/bin/sh\necho v16.20.0\n").write("npx", "#!/bin/sh\nexit 1\n");
    chmod(&scratch.path().join("node"), 0o755);
    chmod(&scratch.path().join("npx"), 0o755);
    let path = scratch.path().display();
    let source =
        format!("[sources.a]\ncommand = 'npx'\nenv = {{ PATH = '{path}:/usr/bin:/bin' }}\n");
    configure(&scratch, &source);
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    assert_eq!(
        found(&scratch, &run, "v16"),
        "warning: a: Node v16.20.0 is older than current servers need => install Node 18 or \
         later: https://nodejs.org"
    );
}

#[test]
fn a_program_that_prints_without_end_is_read_to_its_first_line() {
    let scratch = Scratch::new();
    scratch.write("node", "#!/bin/sh\nexec yes v16.20.0\n").write("npx", "#!/bin/sh\nexit 1\n");
    chmod(&scratch.path().join("node"), 0o755);
    chmod(&scratch.path().join("npx"), 0o755);
    let path = scratch.path().display();
    let source =
        format!("[sources.a]\ncommand = 'npx'\nenv = {{ PATH = '{path}:/usr/bin:/bin' }}\n");
    configure(&scratch, &source);
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    assert!(found(&scratch, &run, "Node v16.20.0").starts_with("warning: "), "{}", run.stdout);
}

#[test]
fn offline_no_engine_is_asked_that_may_be_on_another_machine() {
    let scratch = Scratch::new();
    scratch.write("docker", "#!/bin/sh\n: > asked\necho 1.0\n");
    chmod(&scratch.path().join("docker"), 0o755);
    configure(&scratch, "[sources.a]\ncommand = './docker'\n");
    let offline = run(&scratch, &["doctor", "--json", "--offline"]);
    assert!(found(&scratch, &offline, "docker` exists").starts_with("ok: a: "));
    assert!(!scratch.path().join("asked").exists());
}

/// Answers every request with a status, or as an HTTP+SSE server does.
async fn web(status: u16) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = move |method: axum::http::Method| async move {
        if status == 405 && method == axum::http::Method::GET {
            let events = "event: endpoint\ndata: /messages\n\n";
            return ([("content-type", "text/event-stream")], events).into_response();
        }
        (StatusCode::from_u16(status).unwrap(), [("location", "/elsewhere")]).into_response()
    };
    let app = Router::new().fallback(any(answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_of_a_web_server_has_its_fix() {
    for (status, expected) in [
        (
            401,
            "fault: a: wants a sign-in, and none can be had: `http://127.0.0.1:PORT/v1/sse` does not say \
             where to sign in => check the URL; if the server takes a token, write `headers = { \
             Authorization = \"Bearer ${secret:NAME}\" }` into the source, and store it: `gatefold secret \
             set NAME`",
        ),
        (
            404,
            "fault: a: the server answers 404: no MCP server is at this path => try `url = \
             \"http://127.0.0.1:PORT/v1/mcp\"`",
        ),
        (
            405,
            "fault: a: the server speaks only HTTP+SSE, which Gatefold does not support => use its \
             streamable HTTP address, often `http://127.0.0.1:PORT/v1/mcp`",
        ),
        (
            503,
            "fault: a: the server answers 503: it failed internally => try again later, or look at \
             that server's log",
        ),
        (
            307,
            "fault: a: the server answers 307: it moved, and redirects are not followed with \
             credentials => write `url = \"http://127.0.0.1:PORT/elsewhere\"` if you trust it",
        ),
    ] {
        let port = web(status).await;
        let source = format!("[sources.a]\nurl = 'http://127.0.0.1:{port}/v1/sse'\n");
        check(&Scratch::new(), &source, &expected.replace("PORT", &port.to_string()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_are_not_taken_are_named_and_not_shown() {
    let port = web(401).await;
    let source = format!(
        "[sources.a]\nurl = 'http://127.0.0.1:{port}/mcp'\n\
         headers = {{ Authorization = 'Bearer hunter2hunter2' }}\n"
    );
    let scratch = Scratch::new();
    check(
        &scratch,
        &source,
        "fault: a: the server answers 401: it rejects the credentials => renew \
         the value of the header `Authorization`",
    );
    assert!(!diagnosed(&scratch).stdout.contains("hunter2"));
}

#[test]
fn a_name_that_does_not_resolve_is_named() {
    check(
        &Scratch::new(),
        "[sources.a]\nurl = 'http://no-such-host.invalid/mcp'\n",
        "fault: a: the name in `no-such-host.invalid` does not resolve => check the spelling of \
         `url`, and the network",
    );
}

#[test]
fn whatever_is_not_in_order_has_its_fix_and_is_said_once() {
    let scratch = Scratch::new();
    let sources = format!(
        "[sources.gone]\ncommand = 'no-such-server'\n\
         [sources.quits]\ncommand = 'sh'\nargs = ['-c', 'exit 3']\n\
         [sources.secretive]\ncommand = 'sh'\nenv = {{ T = '${{secret:t}}', KEY = 'abcdefgh1234' }}\n\
         [sources.far]\nurl = 'http://127.0.0.1:{}/mcp'\n",
        dead_port()
    );
    configure(&scratch, &sources);
    chmod(&scratch.path().join("gatefold.toml"), 0o644);
    scratch.write(".claude.json", "{\"mcpServers\": {");
    fs::create_dir_all(scratch.path().join(".local/state/gatefold")).unwrap();
    chmod(&scratch.path().join(".local/state/gatefold"), 0o755);
    let all = diagnosed(&scratch).json();
    let findings = all["findings"].as_array().unwrap();
    let wrong: Vec<_> = findings.iter().filter(|finding| finding["level"] != "ok").collect();
    assert!(wrong.len() >= 6, "{all:#}");
    for (at, finding) in wrong.iter().enumerate() {
        assert!(finding["fix"].as_str().is_some_and(|fix| !fix.is_empty()), "{finding:#}");
        assert!(!finding["what"].as_str().unwrap().contains("os error"), "{finding:#}");
        assert!(!wrong[..at].contains(finding), "{finding:#}");
    }
}

#[test]
fn the_fix_uses_the_configuration_that_was_looked_at() {
    let scratch = Scratch::new();
    scratch.write("my own.toml", two_sources(&scratch));
    fs::create_dir_all(scratch.path().join(".cursor")).unwrap();
    scratch.write(".cursor/mcp.json", r#"{"mcpServers": {"x": {"command": "x"}}}"#);
    let run = run(&scratch, &["doctor", "--json", "--offline", "--config", "my own.toml"]);
    let line = found(&scratch, &run, "not in its configuration");
    assert!(line.ends_with("=> gatefold connect cursor --config 'my own.toml'"), "{line}");
}

#[test]
fn the_fix_keeps_to_the_clients_files_that_were_looked_at() {
    let scratch = Scratch::new();
    let data = scratch.path().join("data").display().to_string();
    let servers = serde_json::json!({ "mcpServers": {
        "issues": { "command": BINARY, "args": ["demo-server", "issues", "--scratch", data] },
    }});
    scratch.write("q.json", servers.to_string());
    fs::create_dir_all(scratch.path().join(".cursor")).unwrap();
    scratch.write(".cursor/mcp.json", r#"{"mcpServers": {"x": {"command": "x"}}}"#);
    let run = run(&scratch, &["doctor", "--json", "--offline", "--mcp-config", "q.json"]);
    let line = found(&scratch, &run, "not in its configuration");
    assert!(line.ends_with("=> gatefold connect cursor --mcp-config q.json"), "{line}");
    let connected = run_fix(&scratch, &line);
    assert_eq!(connected.code, Some(0), "{}", connected.stderr);
    let entry = fs::read_to_string(scratch.path().join(".cursor/mcp.json")).unwrap();
    assert!(entry.contains("q.json"), "{entry}");
}

#[test]
fn a_server_that_stays_in_a_client_is_a_note_that_says_why() {
    let scratch = Scratch::new();
    let missing = "[sources.gone]\ncommand = '/no/such/server'\n";
    let unlike = "[sources.other]\ncommand = 'sh'\n";
    configure(&scratch, &format!("{}{missing}{unlike}", two_sources(&scratch)));
    fs::create_dir_all(scratch.path().join(".cursor")).unwrap();
    let entry = serde_json::json!({ "mcpServers": {
        "gatefold": { "command": BINARY, "args": ["stdio"] },
        "gone": { "command": "/no/such/server" },
        "other": { "command": "cat" },
    }});
    scratch.write(".cursor/mcp.json", entry.to_string());
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    assert_eq!(
        found(&scratch, &run, "cannot find its program"),
        "note: Cursor: `gone` stays in its file: Gatefold cannot find its program => set `command` \
         of the source to the full path, then: gatefold connect cursor"
    );
    let line = found(&scratch, &run, "of that name is not the same");
    assert!(line.starts_with("note: Cursor: `other` stays in its file: "), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_and_fails_all_the_same_is_named_with_its_status() {
    let port = web(200).await;
    let scratch = Scratch::new();
    configure(&scratch, &format!("[sources.a]\nurl = 'http://u:pw@127.0.0.1:{port}/mcp'\n"));
    let line = found(&scratch, &diagnosed(&scratch), "a: no connection");
    let fix = format!(
        "=> see that server's log: `127.0.0.1:{port}` answered 200 to a single \
         handshake"
    );
    assert!(line.ends_with(&fix), "{line}");
}

#[test]
fn a_description_that_cannot_be_had_is_named_with_its_cause() {
    let (scratch, url) = (Scratch::new(), format!("http://127.0.0.1:{}/openapi.json", dead_port()));
    configure(&scratch, &format!("[sources.a]\nopenapi = '{url}'\n"));
    let line = found(&scratch, &diagnosed(&scratch), "a: no connection");
    let what = format!(
        "the description could not be had: `{url}` could not be reached: Connection refused"
    );
    assert!(line.contains(&what), "{line}");
    assert!(line.ends_with(" => correct that, then: gatefold check"), "{line}");
}

#[test]
fn a_dead_port_is_named() {
    let port = dead_port();
    check(
        &Scratch::new(),
        &format!("[sources.a]\nurl = 'http://127.0.0.1:{port}/mcp'\n"),
        &format!(
            "fault: a: nothing listens on `127.0.0.1:{port}` => start that server, or correct the \
             port in `url`"
        ),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_is_free_ours_or_somebody_elses() {
    let scratch = Scratch::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = |port: &str| format!("[server]\nlisten = '127.0.0.1:{port}'\n");
    let port = other.local_addr().unwrap().port().to_string();
    scratch.write("gatefold.toml", format!("{}{}", two_sources(&scratch), listen(&port)));
    let taken = diagnosed(&scratch);
    let line = found(&scratch, &taken, "another program listens");
    assert!(line.starts_with("fault: ") && line.contains("stop it, or choose"), "{line}");
    assert_eq!(taken.code, Some(1));
    #[cfg(target_os = "linux")]
    assert!(line.contains(&format!("process {}", std::process::id())), "{line}");

    let gateway = Gateway::serve(&scratch).await;
    let address = gateway.address();
    let port = address.rsplit(':').next().unwrap();
    scratch.write("gatefold.toml", format!("{}{}", two_sources(&scratch), listen(port)));
    let ours = diagnosed(&scratch);
    let line = found(&scratch, &ours, "a gateway of version");
    assert!(line.starts_with("ok: ") && line.contains(&gateway.pid().to_string()), "{line}");
    assert!(found(&scratch, &ours, "one running gateway or command uses it").starts_with("ok: "));
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn our_own_gateway_is_known_where_others_can_reach_it() {
    let scratch = Scratch::new();
    let open = "[server]\nauthentication = 'none'\n";
    scratch.write("gatefold.toml", two_sources(&scratch) + open);
    let gateway = Gateway::start(&scratch, &["serve", "--listen", "0.0.0.0:0"]);
    gateway.await_log("listening").await;
    let listen = format!("{open}listen = '{}'\n", gateway.address());
    scratch.write("gatefold.toml", format!("{}{listen}", two_sources(&scratch)));
    let run = diagnosed(&scratch);
    let line = found(&scratch, &run, "is running there");
    let process = format!("process {} ", gateway.pid());
    assert!(line.starts_with("ok: ") && line.contains(&process), "{line}");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_gateway_is_restarted_the_way_it_was_started() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let status = r#"{"version": "0.0.0", "process": 7, "sources": []}"#;
    let app = Router::new().fallback(any(move || async move { status }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let scratch = Scratch::new();
    let listen = format!("[server]\nlisten = '{address}'\n");
    scratch.write("gatefold.toml", format!("{}{listen}", two_sources(&scratch)));
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    let line = found(&scratch, &run, "this program is newer");
    assert!(line.starts_with("warning: ") && !line.contains("kill"), "{line}");
    let fix = "=> restart process 7 the way it was started: a service through its manager, any \
               other where it runs";
    assert!(line.ends_with(fix), "{line}");
}

#[test]
fn secrets_that_others_can_read_are_a_warning() {
    let scratch = Scratch::new();
    let secret = "[sources.a]\ncommand = 'sh'\nenv = { API_TOKEN = 'abcdefgh1234' }\n";
    configure(&scratch, secret);
    chmod(&scratch.path().join("gatefold.toml"), 0o644);
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    assert_eq!(
        found(&scratch, &run, "secrets are in clear text"),
        "warning: secrets are in clear text, in a file that others can read (644) => chmod 600 \
         ~/gatefold.toml"
    );
    assert!(!run.stdout.contains("abcdefgh1234"));
}

#[test]
fn the_same_server_twice_is_a_warning() {
    let scratch = Scratch::new();
    let once = two_sources(&scratch);
    let twice = once.replace("'units', '--scratch'", "'issues', '--scratch'");
    configure(&scratch, &twice);
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    assert_eq!(
        found(&scratch, &run, "same server"),
        "warning: issues and units are the same server => remove `units` from ~/gatefold.toml"
            .replace("~/gatefold.toml", "gatefold.toml")
    );
}

#[test]
fn a_pattern_that_pins_nothing_is_a_warning() {
    let scratch = Scratch::new();
    let pinned = "[disclosure]\npinned = ['nothing__*']\n";
    configure(&scratch, &format!("{}{pinned}", two_sources(&scratch)));
    assert_eq!(
        found(&scratch, &diagnosed(&scratch), "pinned"),
        "warning: `disclosure.pinned` matches no tool: nothing__* => correct it: `gatefold tools \
         list` has the ids"
    );
}

#[test]
fn a_damaged_database_and_an_open_directory_are_found() {
    let scratch = Scratch::new();
    configure(&scratch, &two_sources(&scratch));
    let state = scratch.path().join(".local/state/gatefold");
    fs::create_dir_all(&state).unwrap();
    chmod(&state, 0o755);
    fs::write(state.join("gatefold.db"), "this is no database, and long enough to be one").unwrap();
    let run = diagnosed(&scratch);
    assert_eq!(run.code, Some(1));
    assert_eq!(
        found(&scratch, &run, "others can read"),
        "warning: others can read the directory (755) => chmod 700 ~/.local/state/gatefold"
    );
    assert_eq!(
        found(&scratch, &run, "is damaged"),
        "fault: `~/.local/state/gatefold/gatefold.db` is damaged => mv \
         ~/.local/state/gatefold/gatefold.db ~/.local/state/gatefold/gatefold.db.damaged; its \
         records are lost to Gatefold"
    );
    fs::remove_dir_all(&state).unwrap();
    fs::write(&state, "").unwrap();
    let run = diagnosed(&scratch);
    assert!(found(&scratch, &run, "this is not a directory").starts_with("fault: "));
}

/// Breaks something in the state folder of a gateway. It must fail to start, and the doctor must
/// say so and suggest a fix that makes it start again.
async fn keeps_from_serving(breaks: impl AsyncFnOnce(&Path), expected: &str) {
    let scratch = Scratch::new();
    configure(&scratch, "");
    assert_eq!(run(&scratch, &["status"]).code, Some(0));
    let state = scratch.path().join(".local/state/gatefold");
    breaks(&state).await;
    let refused = run(&scratch, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let (fault, fix) = expected.split_once(" => ").unwrap();
    let (_, what) = fault.split_once('~').unwrap();
    assert!(refused.stderr.contains(what), "{}", refused.stderr);
    let run = diagnosed(&scratch);
    assert_eq!((found(&scratch, &run, what).as_str(), run.code), (expected, Some(1)));
    let (fix, _) = fix.split_once(';').unwrap_or((fix, ""));
    let fix = fix.replace('~', scratch.path().to_str().unwrap());
    assert!(Command::new("sh").args(["-c", &fix]).status().unwrap().success(), "{fix}");
    let _gateway = Gateway::serve(&scratch).await;
}

#[tokio::test]
async fn what_keeps_a_gateway_from_starting_is_a_fault() {
    const STATE: &str = "~/.local/state/gatefold";
    for cut in ["", "short"] {
        keeps_from_serving(
            async |state: &Path| fs::write(state.join("seal.key"), cut).unwrap(),
            &format!(
                "fault: `{STATE}/seal.key` is damaged => mv {STATE}/seal.key \
                 {STATE}/seal.key.damaged; calls that wait for an answer are lost"
            ),
        )
        .await;
    }
    for name in ["seal.key", "startup.lock"] {
        let folder = async |state: &Path| {
            fs::remove_file(state.join(name)).unwrap();
            fs::create_dir(state.join(name)).unwrap();
        };
        let expected = format!(
            "fault: `{STATE}/{name}` is in the way of a file that Gatefold keeps there => mv \
             {STATE}/{name} {STATE}/{name}.damaged"
        );
        keeps_from_serving(folder, &expected).await;
    }
    let file = async |state: &Path| {
        fs::remove_dir_all(state.join("owners")).unwrap();
        fs::write(state.join("owners"), "").unwrap();
    };
    let expected = format!(
        "fault: `{STATE}/owners` is in the way of a folder that Gatefold keeps there => mv \
         {STATE}/owners {STATE}/owners.damaged"
    );
    keeps_from_serving(file, &expected).await;
    let table = async |state: &Path| {
        let options = SqliteConnectOptions::new().filename(state.join("gatefold.db"));
        let mut database = options.connect().await.unwrap();
        database.execute("DROP TABLE approvals").await.unwrap();
        database.close().await.unwrap();
    };
    let expected = format!(
        "fault: `{STATE}/gatefold.db` is damaged => mv {STATE}/gatefold.db {STATE}/gatefold.db.damaged; \
         its records are lost to Gatefold"
    );
    keeps_from_serving(table, &expected).await;
}

#[test]
fn a_definition_that_hides_something_from_people_is_a_warning() {
    let scratch = Scratch::new();
    let tools = r#"{"tools": [{"name": "pay", "description": "Pays\u202e a bill.", "inputSchema": {"type": "object"}}]}"#;
    scratch.write("tools.json", tools);
    let list = scratch.path().join("tools.json");
    let server = serve_http(Fixture::new(&["--replay", list.to_str().unwrap()]).unwrap()).unwrap();
    configure(&scratch, &format!("[sources.evil]\nurl = '{}'\n", server.url));
    let checked = run(&scratch, &["check"]);
    assert!(checked.stdout.contains("tool `pay` hides <U+202E>"), "{}", checked.stdout);
    let listed = run(&scratch, &["tools", "list"]);
    assert!(listed.stdout.contains("Pays<U+202E> a bill."), "{}", listed.stdout);
    let run = diagnosed(&scratch);
    assert_eq!(
        found(&scratch, &run, "nobody sees"),
        "warning: evil: a definition holds characters that nobody sees: tool `pay` hides <U+202E> => \
         see all, and what they say: gatefold check, gatefold tools schema"
    );
}

#[test]
fn a_database_that_is_not_writable_is_a_fault() {
    let scratch = Scratch::new();
    configure(&scratch, &two_sources(&scratch));
    assert_eq!(run(&scratch, &["status"]).code, Some(0));
    let database = scratch.path().join(".local/state/gatefold/gatefold.db");
    chmod(&database, 0o400);
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    assert_eq!(
        found(&scratch, &run, "not writable"),
        "fault: the database is not writable => chmod u+rw ~/.local/state/gatefold/gatefold.db"
    );
    assert_eq!(run.code, Some(1));
}

#[test]
fn looking_at_the_database_writes_nothing() {
    let scratch = Scratch::new();
    configure(&scratch, "");
    assert_eq!(run(&scratch, &["status"]).code, Some(0));
    let database = scratch.path().join(".local/state/gatefold/gatefold.db");
    let before =
        (fs::read(&database).unwrap(), fs::metadata(&database).unwrap().modified().unwrap());
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    assert!(found(&scratch, &run, "the database is intact").starts_with("ok"));
    let after =
        (fs::read(&database).unwrap(), fs::metadata(&database).unwrap().modified().unwrap());
    assert!(before == after);
}

#[test]
fn without_ca_certificates_https_alone_fails() {
    let scratch = Scratch::new();
    let far = format!("[sources.far]\nurl = 'https://127.0.0.1:{}/mcp'\n", dead_port());
    configure(&scratch, &format!("{}{far}", two_sources(&scratch)));
    let without = |args: &[&str]| {
        let mut command = command(&scratch, args);
        command.env("SSL_CERT_FILE", "/nowhere").env("SSL_CERT_DIR", "/nowhere");
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Run { code: output.status.code(), stdout, stderr }
    };
    let diagnosis = without(&["doctor", "--json"]);
    let line = found(&scratch, &diagnosis, "no CA certificates");
    assert!(line.starts_with("fault: far: no secure connection"), "{line}");
    assert!(line.ends_with("=> install `ca-certificates`, or set `SSL_CERT_FILE`"), "{line}");
    assert!(found(&scratch, &diagnosis, "issues: 14 tools").starts_with("ok"));
    let checked = without(&["check", "--json"]).json();
    let sources = checked["sources"].as_array().unwrap();
    let failed: Vec<_> = sources.iter().filter(|source| source["error"].is_string()).collect();
    assert_eq!(failed.len(), 1, "{checked:#}");
    let error = failed[0]["error"].as_str().unwrap();
    assert!(error.ends_with("install `ca-certificates` or set `SSL_CERT_FILE`"), "{error}");
}

#[test]
fn a_first_start_that_downloads_is_a_warning_and_blames_nobody_else() {
    let scratch = Scratch::new();
    scratch.write("uvx", "#!/bin/sh\nexec sleep 60\n");
    chmod(&scratch.path().join("uvx"), 0o755);
    let path = scratch.path().display();
    let slow = |deadline| {
        format!(
            "[sources.slow]\ncommand = '{path}/uvx'\nargs = ['x']\nconnect_deadline = '{deadline}'\n\
             install_deadline = '{deadline}'\n"
        )
    };
    configure(&scratch, &format!("{}{}", two_sources(&scratch), slow("1s")));
    let run = diagnosed(&scratch);
    assert_eq!(
        found(&scratch, &run, "slow: it did not answer"),
        "warning: slow: it did not answer within 1 s; its first start may be downloading it => \
         start it once in a shell, wait, and try again; or raise its `install_deadline`"
    );
    assert!(found(&scratch, &run, "issues: 14 tools").starts_with("ok"), "{}", run.stdout);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_with_time_left_is_not_blamed_and_costs_no_other_its_result() {
    let scratch = Scratch::new();
    let slow = "[sources.slow]\ncommand = 'sleep'\nargs = ['600']\nconnect_deadline = '50s'\n";
    let failing = "[sources.quits]\ncommand = 'sh'\nargs = ['-c', 'exit 3']\n";
    configure(&scratch, &format!("{}{slow}{failing}", two_sources(&scratch)));
    let subject = ExamineOptions {
        inputs: Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() },
        state_dir: Some(scratch.path().join("state")),
        program: None,
        reach: ProbeScope::Connect,
        connect_limit: Duration::from_secs(6),
        running: None,
    };
    let home = scratch.path().to_str().unwrap();
    let variables = [("PATH", "/usr/bin:/bin"), ("HOME", home)];
    let environment = Environment::new(variables, scratch.path());
    let diagnosis = Box::pin(doctor::examine(&subject, &environment)).await;
    let said = |start: &str| {
        let one = diagnosis.findings.iter().find(|one| one.what.starts_with(start));
        one.unwrap_or_else(|| panic!("no `{start}` in {diagnosis:#?}"))
    };
    let slow = said("slow: it did");
    assert_eq!(slow.level, Level::Warning);
    assert_eq!(
        slow.what,
        "slow: it did not answer within 6 s, and this command waits no longer; its own \
         `connect_deadline` is 50 s"
    );
    assert_eq!(said("quits: no connection").level, Level::Fault);
    // The time is known only for a source whose own result was kept.
    assert!(said("issues: 14 tools").what.contains(", connected in "), "{diagnosis:#?}");
}

#[test]
fn a_file_that_may_not_be_read_is_a_fault_with_its_fix() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join("gatefold.toml")).unwrap();
    let run = run(&scratch, &["doctor", "--json", "--config", "gatefold.toml"]);
    let line = found(&scratch, &run, "it is a directory");
    assert!(line.starts_with("fault: ") && !line.ends_with("=> -"), "{line}");
    assert_eq!(run.code, Some(1));
}

#[test]
fn clients_that_are_not_right_are_named_with_their_fix() {
    let scratch = Scratch::new();
    configure(&scratch, &two_sources(&scratch));
    fs::create_dir_all(scratch.path().join(".cursor")).unwrap();
    let issues = format!(
        "\"issues\": {{\"command\": \"{BINARY}\", \"args\": [\"demo-server\", \"issues\", \
         \"--scratch\", \"{}/data\"]}}",
        scratch.path().display()
    );
    let ours = |command: &str| {
        format!("\"gatefold\": {{\"command\": \"{command}\", \"args\": [\"stdio\"]}}")
    };
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    for (servers, expected) in [
        (
            format!("{{\"mcpServers\": {{{}, {issues}}}}}", ours(BINARY)),
            "warning: Cursor: it still starts servers that Gatefold serves too: `issues` => \
             gatefold connect cursor",
        ),
        (
            "{\"mcpServers\": {\"gatefold\": {\"url\": \"http://127.0.0.1:1/mcp\"}}}".to_owned(),
            "warning: Cursor: its entry leads to `http://127.0.0.1:1/mcp`, but `listen` in \
             `[server]` is `127.0.0.1:",
        ),
        (
            format!("{{\"mcpServers\": {{{}}}}}", ours("/gone/gatefold")),
            "fault: Cursor: its entry starts `/gone/gatefold`, which does not exist => gatefold \
             connect cursor",
        ),
        (
            "{\"mcpServers\": {\"x\": {\"command\": \"x\"}}}".to_owned(),
            "note: Cursor: Gatefold is not in its configuration => gatefold connect cursor",
        ),
        ("{\"mcpServers\": {".to_owned(), "fault: Cursor: its configuration is broken: "),
    ] {
        scratch.write(".cursor/mcp.json", servers);
        let run = run(&scratch, &["doctor", "--json", "--offline"]);
        let what = expected.split_once(" => ").map_or(expected, |(what, _)| what);
        let line = found(&scratch, &run, what.split_once(": ").unwrap().1);
        assert!(line.starts_with(expected), "{line}");
        assert_eq!(run.code, Some(i32::from(expected.starts_with("fault"))), "{}", run.stdout);
        fix_works(&scratch, &line, what);
    }
}

/// Runs the command that a finding names, and checks that it clears the finding.
fn fix_works(scratch: &Scratch, line: &str, what: &str) {
    let fix = line.split_once(" => ").unwrap().1;
    let Some(args) = fix.strip_prefix("gatefold connect ") else {
        return;
    };
    let args: Vec<_> = ["connect", "--yes"].into_iter().chain(args.split(' ')).collect();
    let fixed = run(scratch, &args);
    assert_eq!(fixed.code, Some(0), "{fix}: {}{}", fixed.stdout, fixed.stderr);
    let after = run(scratch, &["doctor", "--json", "--offline"]);
    let what = what.split_once(": ").unwrap().1;
    assert!(!after.stdout.contains(what), "{fix}: {}", after.stdout);
    assert_eq!(run(scratch, &["disconnect", "cursor"]).code, Some(0));
}

#[test]
fn the_fix_for_a_client_that_holds_old_servers_works() {
    let scratch = Scratch::new();
    configure(&scratch, &two_sources(&scratch));
    fs::create_dir_all(scratch.path().join(".cursor")).unwrap();
    let data = scratch.path().join("data").display().to_string();
    let old = serde_json::json!({ "mcpServers": {
        "issues": { "command": BINARY, "args": ["demo-server", "issues", "--scratch", data] },
    }});
    scratch.write(".cursor/mcp.json", old.to_string());
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    assert_eq!(run(&scratch, &["connect", "cursor", "--keep", "--yes"]).code, Some(0));
    let before = run(&scratch, &["doctor", "--json", "--offline"]);
    let line = found(&scratch, &before, "it still starts servers");
    let fix = line.split_once(" => ").unwrap().1;
    let mut args: Vec<_> = fix.split(' ').skip(1).collect();
    args.push("--yes");
    let connected = run(&scratch, &args);
    assert_eq!(connected.code, Some(0), "{}", connected.stderr);
    let after = run(&scratch, &["doctor", "--json", "--offline"]);
    assert!(!after.stdout.contains("it still starts servers"), "{}", after.stdout);
    assert!(found(&scratch, &after, "Cursor: Gatefold is connected").starts_with("ok"));
}

#[test]
fn a_client_that_asks_for_a_gateway_which_does_not_run_is_a_warning() {
    let scratch = Scratch::new();
    let port = dead_port();
    let listen = format!("[server]\nlisten = '127.0.0.1:{port}'\n");
    scratch.write("gatefold.toml", format!("{}{listen}", two_sources(&scratch)));
    fs::create_dir_all(scratch.path().join(".cursor")).unwrap();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let entry = serde_json::json!({ "mcpServers": { "gatefold": { "url": url } } });
    scratch.write(".cursor/mcp.json", entry.to_string());
    let run = run(&scratch, &["doctor", "--json", "--offline"]);
    let expected = format!(
        "warning: Cursor: its entry leads to `{url}`, where no gateway is running => gatefold serve"
    );
    assert_eq!(found(&scratch, &run, "where no gateway is running"), expected);
}
