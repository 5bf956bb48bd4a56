//! Signing in at a server from the shell, and what every command then says and does.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use futures::future::join_all;
use gatefold_testkit::client::MessageStream;
use gatefold_testkit::provider::browse;
use gatefold_testkit::{Provider, RawClient};
use serde_json::Value;
use tokio::time::sleep;

use crate::process::{Gateway, Run, command, run};
use crate::scratch::Scratch;

const NEEDS: &str = "needs a sign-in: `gatefold login server`";

/// A command that waits for a person, and what it said so far.
pub(crate) struct Waiting {
    child: Child,
    said: String,
}

impl Waiting {
    /// Starts `gatefold login`, and waits for the address that it prints.
    pub(crate) fn login(scratch: &Scratch, further: &[&str]) -> (Self, String) {
        let args: Vec<&str> = ["login", "server"].iter().chain(further).copied().collect();
        let mut command = command(scratch, &args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut said, mut address) = (String::new(), None);
        let lines = BufReader::new(child.stdout.take().unwrap());
        for line in lines.lines().map_while(Result::ok) {
            said.push_str(&line);
            said.push('\n');
            address = line
                .split_whitespace()
                .find(|word| word.contains("/authorize?"))
                .map(str::to_owned);
            if address.is_some() {
                break;
            }
        }
        let address = address.unwrap_or_else(|| panic!("no address in: {said}"));
        (Self { child, said }, address)
    }

    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        (status.code(), self.said)
    }
}

fn scratch(provider: &Provider, further: &str) -> Scratch {
    let scratch = Scratch::new();
    let url = provider.url();
    scratch.write("gatefold.toml", format!("[sources.server]\nurl = '{url}'\n{further}"));
    scratch
}

pub(crate) async fn sign_in(scratch: &Scratch) {
    let (waiting, address) = Waiting::login(scratch, &["--no-browser"]);
    let (status, page) = browse(&address).await.unwrap();
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("You are signed in."), "{page}");
    assert_eq!(waiting.ended().0, Some(0));
}

const CALL: &str = r#"{"tool_name": "server__whoami", "arguments": {}}"#;

async fn client_of(gateway: &Gateway) -> RawClient {
    let mut client = RawClient::new(gateway.url()).unwrap();
    client.initialize().await.unwrap();
    client
}

fn call(scratch: &Scratch) -> Run {
    run(scratch, &["tools", "call", "server__whoami"])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_says_that_a_sign_in_is_missing_and_login_mends_it() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, "");
    let check = run(&scratch, &["check"]);
    assert_eq!(check.code, Some(1));
    assert!(check.stdout.contains(NEEDS), "{}", check.stdout);
    let doctor = run(&scratch, &["doctor"]);
    assert!(doctor.stdout.contains("gatefold login server"), "{}", doctor.stdout);
    let called = call(&scratch);
    assert!(called.stderr.contains(NEEDS), "{}", called.stderr);
    let nobody = run(&scratch, &["accounts"]);
    assert!(nobody.stdout.contains("nobody is signed in anywhere"), "{}", nobody.stdout);

    sign_in(&scratch).await;
    let called = call(&scratch);
    assert_eq!(called.code, Some(0), "{}{}", called.stdout, called.stderr);
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    let accounts = run(&scratch, &["accounts", "--json"]).json();
    let account = &accounts["accounts"][0];
    assert_eq!(account["source"], "server");
    assert_eq!(account["state"], "signed_in");
    assert_eq!(account["issuer"], provider.issuer());
    assert_eq!(account["refreshes"], true);

    let out = run(&scratch, &["logout", "server"]);
    assert!(out.stdout.starts_with("signed out at `server`"), "{}", out.stdout);
    assert_eq!(provider.counts().revocations, 2);
    // The tools stay in the catalogue, and a call says what is missing.
    let called = call(&scratch);
    assert_eq!(called.code, Some(1));
    assert!(called.stderr.contains(NEEDS), "{}", called.stderr);
    let again = run(&scratch, &["logout", "server"]);
    assert!(again.stdout.contains("nobody was signed in"), "{}", again.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_gateway_goes_on_with_a_sign_in_at_once_and_stops_with_it() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, "");
    let gateway = Gateway::serve(&scratch).await;
    let client = client_of(&gateway).await;
    let ask = async || client.call("execute_tool", CALL).await.unwrap().result();
    sign_in(&scratch).await;
    let answer = ask().await;
    assert_ne!(answer["isError"], true, "{answer}");
    run(&scratch, &["logout", "server"]);
    sleep(Duration::from_millis(1100)).await;
    let calls = provider.counts().calls;
    let answer = ask().await;
    assert_eq!(answer["isError"], true, "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("gatefold login server"), "{text}");
    assert_eq!(provider.counts().calls, calls);
    sign_in(&scratch).await;
    let answer = ask().await;
    assert_ne!(answer["isError"], true, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_through_three_gateways_refresh_once() {
    let provider = Provider::start().await.unwrap();
    provider.change(|rules| rules.lifetime_s = Some(3));
    let scratch = scratch(&provider, "");
    sign_in(&scratch).await;
    let gateways = [
        Gateway::serve(&scratch).await,
        Gateway::serve(&scratch).await,
        Gateway::serve(&scratch).await,
    ];
    let mut clients = Vec::new();
    for gateway in &gateways {
        clients.push(client_of(gateway).await);
    }
    provider.change(|rules| (rules.token_delay_ms, rules.lifetime_s) = (300, Some(3600)));
    sleep(Duration::from_millis(3100)).await;
    let before = provider.counts().refreshes;
    let calls = (0..64).map(|at| clients[at % 3].call("execute_tool", CALL));
    for answer in join_all(calls).await {
        let answer = answer.unwrap().result();
        assert_ne!(answer["isError"], true, "{answer}");
    }
    let counts = provider.counts();
    assert_eq!((counts.refreshes - before, counts.reuses), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_signs_in_by_a_code() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, "");
    let done = run(&scratch, &["login", "server", "--device"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("ABCD-EFGH"), "{}", done.stdout);
    assert!(done.stdout.ends_with("signed in at `server`: 1 tool\n"), "{}", done.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_back_for_another_sign_in_is_left_alone() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, "");
    let (waiting, address) = Waiting::login(&scratch, &["--no-browser"]);
    let redirect = address.split_once("redirect_uri=").unwrap().1.split('&').next().unwrap();
    let redirect = redirect.replace("%3A", ":").replace("%2F", "/");
    for query in
        ["code=stolen&state=guessed", "error=access_denied&state=x", "code=a&code=b&state=x", ""]
    {
        let (status, page) = browse(&format!("{redirect}?{query}")).await.unwrap();
        assert_eq!(status, 400, "{query}: {page}");
    }
    let (status, _) = browse(&address).await.unwrap();
    assert_eq!(status, 200);
    assert_eq!(waiting.ended().0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn further_rights_are_asked_for_when_a_call_needs_them() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, "");
    sign_in(&scratch).await;
    provider.change(|rules| rules.call_scopes = vec!["write".to_owned()]);
    let called = call(&scratch);
    let wants =
        "`server` wants more rights than this sign-in gave (`write`): `gatefold login server`";
    assert!(called.stderr.contains(wants), "{}", called.stderr);
    let accounts = run(&scratch, &["accounts"]);
    assert!(accounts.stdout.contains("wants more rights"), "{}", accounts.stdout);
    sign_in(&scratch).await;
    assert_eq!(call(&scratch).code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn users_sign_in_apart() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, "credentials = 'per_user'\n");
    let wrong = run(&scratch, &["login", "server", "--for", ""]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    let (waiting, address) = Waiting::login(&scratch, &["--no-browser", "--for", "ann"]);
    browse(&address).await.unwrap();
    assert_eq!(waiting.ended().0, Some(0));
    // The local user has not signed in.
    let called = call(&scratch);
    assert!(called.stderr.contains("gatefold login server"), "{}", called.stderr);
    let (waiting, address) = Waiting::login(&scratch, &["--no-browser"]);
    browse(&address).await.unwrap();
    assert_eq!(waiting.ended().0, Some(0));
    let called = call(&scratch);
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    let accounts = run(&scratch, &["accounts", "--json"]).json();
    let users: Vec<_> =
        accounts["accounts"].as_array().unwrap().iter().map(|it| &it["user"]).collect();
    assert_eq!(users, ["ann", "local"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_that_cannot_be_is_refused_with_the_reason() {
    let provider = Provider::start().await.unwrap();
    let further = "[sources.program]\ncommand = 'true'\n\
        [sources.off]\nurl = 'https://host.example/mcp'\nenabled = false\n\
        [sources.header]\nurl = 'https://host.example/mcp'\nheaders = { Authorization = 'Bearer x' }\n\
        [sources.machine]\nurl = 'https://host.example/mcp'\n\
        oauth = { client_id = 'me', client_secret = 'x', grant = 'client_credentials' }\n";
    let scratch = scratch(&provider, further);
    for (args, told) in [
        (&["login", "other"][..], "there is no source `other`"),
        (&["login", "program"], "nobody signs in at `program`"),
        (&["login", "header"], "nobody signs in at `header`"),
        (&["login", "off"], "`off` is disabled"),
        (&["login", "machine"], "Gatefold proves itself there"),
        (&["login", "server", "--for", "ann"], "everybody shares one sign-in at `server`"),
        (&["logout", "program"], "nobody signs in at `program`"),
    ] {
        let refused = run(&scratch, args);
        assert_ne!(refused.code, Some(0), "{args:?}");
        assert!(refused.stderr.contains(told), "{args:?}: {}", refused.stderr);
    }
    provider.change(|rules| {
        drop(rules.metadata.insert("registration_endpoint".to_owned(), Value::Null));
    });
    let refused = run(&scratch, &["login", "server"]);
    assert!(refused.stderr.contains("does not let programs register"), "{}", refused.stderr);
    assert!(refused.stderr.contains("`client_id`"), "{}", refused.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_comes_back_to_the_address_that_the_provider_knows() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let exact = format!("http://localhost:{free}/callback");
    for (redirect, begin, end) in [
        (exact.as_str(), exact.as_str(), ""),
        ("http://localhost/callback", "http://localhost:", "/callback"),
        ("http://localhost/oauth/done", "http://localhost:", "/oauth/done"),
        ("http://127.0.0.1", "http://127.0.0.1:", ""),
    ] {
        let provider = Provider::start().await.unwrap();
        provider.change(|rules| rules.redirects = (begin.to_owned(), end.to_owned()));
        let keys = format!("oauth = {{ client_id = 'configured', redirect_url = '{redirect}' }}");
        let scratch = scratch(&provider, &keys);
        sign_in(&scratch).await;
        assert_eq!(call(&scratch).code, Some(0), "{redirect}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_that_cannot_be_is_told_with_its_key() {
    let provider = Provider::start().await.unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let keys =
        |url: &str| format!("oauth = {{ client_id = 'configured', redirect_url = '{url}' }}");
    let in_use = scratch(&provider, &keys(&format!("http://localhost:{port}/callback")));
    let refused = run(&in_use, &["login", "server", "--no-browser"]);
    assert!(refused.stderr.contains(&format!("port {port}, to which")), "{}", refused.stderr);
    let elsewhere = scratch(&provider, &keys("https://app.example/callback"));
    let refused = run(&elsewhere, &["config", "check"]);
    assert!(refused.stderr.contains("does not begin with `http://`"), "{}", refused.stderr);
    // The provider's own page refuses an address, and nothing comes back.
    let unnamed = scratch(&provider, "oauth = { client_id = 'configured' }");
    let (mut waiting, _) = Waiting::login(&unnamed, &["--no-browser"]);
    assert!(waiting.said.contains("`oauth.redirect_url`"), "{}", waiting.said);
    waiting.child.kill().unwrap();
    waiting.child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clients_file_signs_in_as_it_says() {
    let provider = Provider::start().await.unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let known = format!("http://localhost:{free}/callback");
    provider.change(|rules| rules.redirects = (known, String::new()));
    let scratch = Scratch::new();
    let url = provider.url();
    let oauth = format!(r#"{{"clientId": "configured", "callbackPort": {free}}}"#);
    let servers =
        format!(r#"{{"mcpServers": {{"server": {{"url": "{url}", "oauth": {oauth}}}}}}}"#);
    scratch.write("vendor.json", servers);
    let file = ["--mcp-config", "vendor.json"];
    let check = run(&scratch, &[&["check"], &file[..]].concat());
    assert!(check.stdout.contains(NEEDS), "{}", check.stdout);
    let (waiting, address) = Waiting::login(&scratch, &[&file[..], &["--no-browser"]].concat());
    let (status, page) = browse(&address).await.unwrap();
    assert_eq!(status, 200, "{page}");
    assert_eq!(waiting.ended().0, Some(0));
    assert_eq!(run(&scratch, &[&["check"], &file[..]].concat()).code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_sign_in_shows_anywhere() {
    let provider = Provider::start().await.unwrap();
    provider.change(|rules| rules.lifetime_s = Some(2));
    let scratch = scratch(&provider, "");
    let mut shown = Vec::new();
    let logged = |args: &[&str]| {
        let args: Vec<&str> = args.iter().chain(&["--log", "trace"]).copied().collect();
        let done = run(&scratch, &args);
        format!("{}{}", done.stdout, done.stderr)
    };
    let (mut waiting, address) = Waiting::login(&scratch, &["--no-browser", "--log", "trace"]);
    let mut errors = waiting.child.stderr.take().unwrap();
    let log = std::thread::spawn(move || {
        let mut log = String::new();
        std::io::Read::read_to_string(&mut errors, &mut log).unwrap();
        log
    });
    browse(&address).await.unwrap();
    let (code, said) = waiting.ended();
    assert_eq!(code, Some(0));
    shown.push(log.join().unwrap());
    // The address itself has the state, which is no secret of the provider.
    shown.push(said);
    shown.push(logged(&["tools", "call", "server__whoami", "--json"]));
    assert!(shown.last().unwrap().contains("you came with"), "{}", shown.last().unwrap());
    sleep(Duration::from_millis(2100)).await;
    // Whatever a provider answers, it may repeat what it was sent.
    for status in [400, 401, 403, 404, 429, 500, 503] {
        provider.change(|rules| rules.token_failure = Some(status));
        shown.push(logged(&["tools", "call", "server__whoami"]));
        shown.push(logged(&["check"]));
    }
    provider.change(|rules| rules.token_failure = None);
    shown.push(logged(&["tools", "call", "server__whoami"]));
    provider.end_all();
    sleep(Duration::from_millis(2100)).await;
    shown.push(logged(&["tools", "call", "server__whoami"]));
    for args in [
        &["accounts", "--json"][..],
        &["config", "show"],
        &["status"],
        &["calls", "--json"],
        &["logout", "server"],
    ] {
        shown.push(logged(args));
    }
    for entry in std::fs::read_dir(scratch.path().join(".local/state/gatefold")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            shown.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
        }
    }
    let secrets = provider.secrets();
    assert!(secrets.len() > 5, "{secrets:?}");
    for secret in secrets {
        let found = shown.iter().find(|text| text.contains(&secret));
        assert!(found.is_none(), "{secret} is in: {}", found.unwrap());
    }
}

/// The first message of a stream that has this member.
async fn message(stream: &mut MessageStream, member: &str) -> Value {
    loop {
        // A stream begins with an event without data, by which it can be taken up again.
        let text = stream.next().await.unwrap();
        let message: Value = serde_json::from_str(&text).unwrap_or_default();
        if message.get(member).is_some() {
            return message;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_opens_pages_has_its_user_sign_in_during_the_call() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, HURRIED);
    sign_in(&scratch).await;
    run(&scratch, &["logout", "server"]);
    signs_in_during(&scratch, &provider, CALL).await;
}

/// Calls may take no longer than this, and one at a time is made.
pub(crate) const HURRIED: &str = "[limits]\ncall_deadline = '1s'\ncalls_in_flight = 1\n";
const HURRY: Duration = Duration::from_secs(1);

/// Makes a call over HTTP whose client declines to open a page, then one whose user signs in there.
pub(crate) async fn signs_in_during(scratch: &Scratch, provider: &Provider, call: &str) {
    let gateway = Gateway::serve(scratch).await;
    let mut client = RawClient::new(gateway.url())
        .unwrap()
        .with_capabilities(r#"{"elicitation":{"form":{},"url":{}}}"#);
    client.initialize().await.unwrap();
    for (choice, works) in [("decline", false), ("accept", true)] {
        let params = format!(r#"{{"name": "execute_tool", "arguments": {call}}}"#);
        let mut stream = client.open("tools/call", &params).await.unwrap();
        let question = message(&mut stream, "method").await;
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["mode"], "url");
        let url = question["params"]["url"].as_str().unwrap();
        assert!(url.starts_with(&provider.issuer()), "{url}");
        let answer = serde_json::json!({
            "jsonrpc": "2.0",
            "id": question["id"],
            "result": { "action": choice },
        });
        client.post_raw(&answer.to_string(), http::HeaderMap::new()).await.unwrap();
        if works {
            sleep(2 * HURRY).await;
            // Another call has its turn while the person is at the provider.
            let other = RawClient::new(gateway.url()).unwrap();
            let told = other.call("execute_tool", call).await.unwrap().response;
            assert!(told.contains(NEEDS), "{told}");
            assert_eq!(browse(url).await.unwrap().0, 200);
        }
        let result = message(&mut stream, "result").await["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(result["isError"] != true, works, "{text}");
        assert_eq!(text.contains("gatefold login server"), !works, "{text}");
    }
}
