//! Faults that newcomers make first, named with their fix.

use std::fs;
use std::net::TcpListener;

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::IntoResponse as _;
use axum::routing::any;

use gatefold_testkit::Provider;

use crate::process::{command, ended, run};
use crate::scratch::Scratch;

/// What `config check` says about a configuration.
fn checked(text: &str) -> String {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", text);
    let checked = run(&scratch, &["config", "check"]);
    assert_eq!(checked.code, Some(2), "{text}: {}", checked.stdout);
    checked.stderr
}

#[test]
fn a_slip_is_reported_once_and_asks_for_what_is_missing() {
    for (text, expected) in [
        (
            "[sources.a]\ncommand = npx\nargs = [-y]\n",
            "error: gatefold.toml:2:11: the value of `command` has no quotes\n  help: put it in \
             quotes: `key = \"value\"`\ngatefold.toml:3:9: a string has no quotes\n  help: put it in \
             quotes\n",
        ),
        (
            "[server]\nlisten = 127.0.0.1:8420 # here\n",
            "error: gatefold.toml:2:10: the value of `listen` has no quotes\n  help: put it in \
             quotes: `key = \"value\"`\n",
        ),
        (
            "[limits]\ncall_deadline = 30s\n",
            "error: gatefold.toml:2:17: the value of `call_deadline` has no quotes\n  help: put it \
             in quotes: `key = \"value\"`\n",
        ),
        (
            "[sources.a]\nargs = [\"a\", \"b\"\nurl = 1\n",
            "error: gatefold.toml:3:1: unexpected `=` in array, expected value, `]`\n  help: close \
             the list with `]`\n",
        ),
        (
            "[sources.a]\ncommand = 'x'\n[sources.a]\ncommand = 'x'\ncwd = '.'\n",
            "error: gatefold.toml:3:10: duplicate key\n  help: it is already set further up; remove \
             one, or merge the two\n",
        ),
        (
            "[sources.a]\nurl = 'nope'\nheaders = { 'X A' = 'b' }\n",
            "error: gatefold.toml:2:7: `sources.a.url` has no `http` scheme\n  help: write the whole \
             address, such as \"https://host.example/mcp\"\ngatefold.toml:3:13: \
             `sources.a.headers.\"X A\"` is not the name of a header\n  help: use letters, digits \
             and `-`\n",
        ),
    ] {
        assert_eq!(checked(text), expected, "{text}");
    }
}

#[test]
fn a_file_in_another_format_is_recognised() {
    let json = "// mine\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\n";
    let yaml = "# mine\nsources:\n  a:\n    command: x\n";
    assert!(checked(json).contains("1:1: this is JSON, not TOML"), "{}", checked(json));
    assert!(checked(yaml).contains("1:1: this is YAML, not TOML"), "{}", checked(yaml));
    for (name, text, said) in [
        ("a.json", "[sources.a]\ncommand = 'x'\n", ["this is TOML, not JSON", "`--config FILE`"]),
        ("a.json", "[mcp_servers.a]\ncommand = 'x'\n", ["this is TOML, not JSON", "`.toml`"]),
        ("a.json", "mcpServers:\n  a:\n", ["this is YAML, not JSON", "`.yaml`"]),
        ("a.yaml", "[mcp_servers.a]\ncommand = 'x'\n", ["this is TOML, not YAML", "`.toml`"]),
        ("a.toml", json, ["this is JSON, not TOML", "`.json`"]),
    ] {
        let scratch = Scratch::new();
        scratch.write(name, text);
        let checked = run(&scratch, &["config", "check", "--mcp-config", name]);
        assert_eq!(checked.code, Some(2), "{name}: {}", checked.stdout);
        assert!(said.iter().all(|part| checked.stderr.contains(part)), "{}", checked.stderr);
        assert_eq!(checked.stderr.matches("help:").count(), 1, "{}", checked.stderr);
    }
    let scratch = Scratch::new();
    scratch.write("a.yaml", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}");
    assert_eq!(run(&scratch, &["config", "check", "--mcp-config", "a.yaml"]).code, Some(0));
}

/// The finding whose text contains `what`: its level, its text and its fix.
fn found(scratch: &Scratch, variables: &[(&str, &str)], args: &[&str], what: &str) -> String {
    let mut doctor = command(scratch, &[&["doctor", "--json"], args].concat());
    doctor.envs(variables.iter().copied());
    let all = ended(doctor).json();
    let mut findings = all["findings"].as_array().unwrap().iter();
    let one = findings.find(|one| one["what"].as_str().unwrap().contains(what));
    let one = one.unwrap_or_else(|| panic!("no `{what}` in {all:#}"));
    let text = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
    format!("{}: {} => {}", text("level"), text("what"), text("fix"))
        .replace(scratch.path().to_str().unwrap(), "~")
}

#[test]
fn a_dead_proxy_is_named() {
    let scratch = Scratch::new();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let source =
        format!("[sources.a]\nurl = 'http://server.example/mcp'\n[server]\nlisten = '{dead}'\n");
    scratch.write("gatefold.toml", source);
    let proxy = format!("http://user:LEAK@{dead}");
    let fault = found(&scratch, &[("HTTP_PROXY", &proxy)], &[], "proxy");
    assert_eq!(
        fault,
        format!(
            "fault: a: the proxy `{dead}`, which `HTTP_PROXY` names, does not answer => start it, \
             correct or unset `HTTP_PROXY`, or put `server.example` into `NO_PROXY`"
        )
    );
}

/// A server that refuses everybody, and seems to say where to sign in in one of three ways.
async fn refusing(way: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = move |uri: Uri| async move {
        if uri.path() == way {
            return ([("content-type", "application/json")], "{}").into_response();
        }
        let challenge = match way {
            "header" => "Bearer resource_metadata=\"https://h.example/x\"",
            _ => "Bearer",
        };
        (StatusCode::UNAUTHORIZED, [("www-authenticate", challenge)]).into_response()
    };
    let app = Router::new().fallback(any(answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    address.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_offers_oauth_needs_a_sign_in() {
    let provider = Provider::start().await.unwrap();
    let scratch = wanting(&provider.url());
    let fault = found(&scratch, &[], &[], "needs a sign-in");
    assert!(fault.starts_with("fault: a: ") && fault.contains("`gatefold login a`"), "{fault}");
}

fn wanting(url: &str) -> Scratch {
    let scratch = Scratch::new();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let source = format!("[sources.a]\nurl = '{url}'\n[server]\nlisten = '{dead}'\n");
    scratch.write("gatefold.toml", source);
    scratch
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_agree_that_a_server_offers_no_sign_in() {
    for way in [
        "header",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "nowhere",
    ] {
        let address = refusing(way).await;
        let scratch = wanting(&format!("http://{address}/mcp"));
        let login = run(&scratch, &["login", "a", "--no-browser"]).stderr;
        let login = login.strip_prefix("error: ").unwrap_or(&login);
        let why = login.lines().next().unwrap();
        let check = run(&scratch, &["check", "--json"]).json();
        let expected = format!("wants a sign-in, and none can be had: {why}");
        assert_eq!(check["sources"][0]["error"], expected, "{way}: {check}");
        let doctor = found(&scratch, &[], &[], "wants a sign-in");
        assert!(doctor.contains(why), "{way}: {doctor}");
        if way == "nowhere" {
            assert!(doctor.contains("gatefold secret set"), "{doctor}");
        }
    }
}

#[test]
fn a_rule_that_denies_everything_and_a_shadowed_file_are_noticed() {
    let scratch = Scratch::new();
    let users = ".config/gatefold/gatefold.toml";
    fs::create_dir_all(scratch.path().join(".config/gatefold")).unwrap();
    scratch.write(users, "[sources.mine]\ncommand = 'sh'\n");
    scratch.write(
        "gatefold.toml",
        "[policy]\ndeny = ['*']\n[sources.a]\ncommand = 'sh'\ndeny = ['x', '**']\n",
    );
    let offline = |what: &str| found(&scratch, &[], &["--offline"], what);
    let fix = "=> remove `*`, and name what must not be called";
    assert_eq!(
        offline("every source"),
        format!("warning: `policy.deny` has `*`, which denies every tool of every source {fix}")
    );
    assert_eq!(
        offline("every tool of a"),
        format!("warning: `sources.a.deny` has `*`, which denies every tool of a {fix}")
    );
    assert_eq!(
        offline("is not used"),
        "note: `~/.config/gatefold/gatefold.toml` is not used: the working directory has a \
         `gatefold.toml` of its own => change to another folder, or pass `--config \
         ~/.config/gatefold/gatefold.toml`"
    );
    // Nothing is said about unused files where `--config` names one.
    scratch.write("fine.toml", "[sources.a]\ncommand = 'sh'\ndeny = ['x*']\n");
    for args in [&["--config", "fine.toml"][..], &["--config", users]] {
        let all = run(&scratch, &[&["doctor", "--json", "--offline"], args].concat()).stdout;
        assert!(!all.contains("is not used") && !all.contains("which denies"), "{all}");
    }
}
