//! Signing in at the gateway by way of an OpenID provider: a person in a browser, a client with its
//! tokens, the provider, and the shell.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use gatefold_testkit::{ISSUER_CLIENT, IdentityRules, TokenIssuer};
use serde_json::{Value, json};

use crate::access_tokens::{client, everything};
use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;
use crate::signed_in::{PUBLIC, Page, REVOCATION, Visitor, access, received, signing_in, text};

/// A gateway in front of two servers whose people sign in at a provider. The second is for the group
/// `ops`.
fn provided(issuer: &str, further: &str) -> Scratch {
    let (id, secret) = ISSUER_CLIENT;
    let scratch = signing_in(&format!(
        "[server.sign_in]\nregistration = true\n\
         provider = {{ issuer = '{issuer}', client_id = '{id}', client_secret = '{secret}', \
         name = 'Example staff' }}\n{further}"
    ));
    let text = std::fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    scratch.write("gatefold.toml", format!("{text}visible_to = ['ops']\n"));
    scratch
}

/// Changes the configuration.
fn rewrite(scratch: &Scratch, from: &str, to: &str) {
    let text = std::fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    assert!(text.contains(from), "{text}");
    scratch.write("gatefold.toml", text.replace(from, to));
}

fn says(issuer: &TokenIssuer, claims: Value) {
    issuer.set_identity(IdentityRules { claims, ..IdentityRules::default() });
}

impl Visitor {
    /// Presses the button. Returns the page that leads on.
    fn leave(&mut self) -> Page {
        let query = self.query("/mcp");
        let page = self.send("GET", &format!("/oauth/authorize?{query}"), "", "");
        assert!(page.body.contains("Sign in with Example staff"), "{}", page.body);
        self.post("/oauth/provider", &[("request", &query)])
    }

    /// Goes to the provider and back. Returns the answer to that.
    fn visit(&mut self) -> Page {
        let onward = self.leave();
        assert_eq!(onward.status, 200, "{}", onward.body);
        let (_, rest) = onward.body.split_once("content=\"0;url=").expect("it leads on");
        let address = rest.split_once('"').unwrap().0.replace("&amp;", "&");
        let back = location(&address);
        let path = back.strip_prefix(PUBLIC).unwrap_or_else(|| panic!("{back}")).to_owned();
        self.send("GET", &path, "", "")
    }

    fn sign_in(&mut self) {
        let back = self.visit();
        let expected = format!("/oauth/authorize?{}", self.query("/mcp"));
        assert_eq!((back.status, back.location), (303, expected), "{}", back.body);
    }
}

/// Where a page of another server sends a browser.
fn location(address: &str) -> String {
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let line = answer.lines().find_map(|line| line.strip_prefix("location: "));
    line.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The sources that a token shows.
async fn sources(gateway: &Gateway, token: &str) -> Vec<String> {
    let listed = client(gateway, token, "?disclosure=flat").list().await.unwrap();
    let names = listed.tool_names();
    let mut sources: Vec<_> =
        names.iter().filter_map(|name| Some(name.split_once("__")?.0.to_owned())).collect();
    sources.retain(|name| ["issues", "units"].contains(&&**name));
    sources.dedup();
    sources
}

/// That a token shows these sources before long.
async fn check_sources(gateway: &Gateway, token: &str, expected: &[&str], limit: Duration) {
    let began = Instant::now();
    loop {
        let seen = sources(gateway, token).await;
        if seen == expected {
            return;
        }
        assert!(began.elapsed() < limit, "{seen:?}: {}", gateway.log());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_of_a_provider_lets_a_client_in_and_the_shell_ends_it() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = provided(&issuer.issuer(), "[users.ann]\nsubject = '00u1'\n");
    let gateway = Gateway::serve(&scratch).await;
    assert_eq!(issuer.counts().metadata_fetches, 0, "nobody has asked to sign in");
    let mut ann = Visitor::at(&gateway);
    says(&issuer, json!({"sub": "00u1", "groups": ["ops"]}));
    ann.sign_in();
    let first = ann.tokens("/mcp", &[]);
    check_sources(&gateway, &access(&first), &["issues", "units"], LIMIT).await;
    let second = ann.refresh(&first);
    check_sources(&gateway, &access(&second), &["issues", "units"], REVOCATION).await;
    // Somebody else of the provider, in no group and under a name of their own.
    says(&issuer, json!({"sub": "00u2"}));
    let mut other = Visitor::at(&gateway);
    other.sign_in();
    let others = other.tokens("/mcp", &[]);
    check_sources(&gateway, &access(&others), &["issues"], LIMIT).await;
    let host = issuer.issuer().trim_start_matches("http://").to_owned();
    let unlisted = format!("00u2@{host}");
    let listed = run(&scratch, &["token", "list", "--json"]).json();
    let users = listed["clients"].as_array().unwrap().iter().map(|it| it["user"].clone());
    let mut users: Vec<_> = users.collect();
    users.sort_by_key(Value::to_string);
    assert_eq!(users, [json!(unlisted), json!("ann")]);
    let people = run(&scratch, &["user", "list", "--json"]).json();
    assert_eq!(people["users"][1]["user"], "ann");
    assert_eq!(people["users"][1]["issuer"], json!(issuer.issuer()));
    let shown = run(&scratch, &["user", "list"]).stdout;
    assert!(shown.contains("at a provider") && shown.contains(&unlisted), "{shown}");
    // The groups of the last sign-in hold for what was let in before.
    says(&issuer, json!({"sub": "00u1", "groups": []}));
    Visitor::at(&gateway).sign_in();
    check_sources(&gateway, &access(&second), &["issues"], REVOCATION).await;
    for user in ["ann", &unlisted] {
        assert_eq!(run(&scratch, &["user", "remove", user]).code, Some(0), "{user}");
        assert_eq!(run(&scratch, &["user", "remove", user]).code, Some(1), "{user}");
    }
    let began = Instant::now();
    for token in [&second, &others] {
        while received(&gateway, "", &access(token)).await != 401 {
            assert!(began.elapsed() < REVOCATION, "it is let in after {:?}", began.elapsed());
        }
    }
    let page = ann.send("GET", &format!("/oauth/authorize?{}", ann.query("/mcp")), "", "");
    assert!(page.body.contains("Sign in with"), "nor in the browser: {}", page.body);
    let secret = ISSUER_CLIENT.1;
    let planted =
        [secret, "planted-code", "planted-access", &ann.cookie, &text(&first, "refresh_token")];
    std::fs::remove_file(scratch.path().join("gatefold.toml")).unwrap();
    let on_disk = everything(scratch.path());
    for planted in planted {
        assert!(!gateway.log().contains(planted), "{planted}: {}", gateway.log());
        let is_on_disk = on_disk.windows(planted.len()).any(|part| part == planted.as_bytes());
        assert!(!is_on_disk, "{planted} is on the disk");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_vouched_for_ends_with_it() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = provided(&issuer.issuer(), "[users.ann]\nsubject = '00u1'\n");
    says(&issuer, json!({"sub": "00u1"}));
    let gateway = Gateway::serve(&scratch).await;
    let mut ann = Visitor::at(&gateway);
    ann.sign_in();
    let tokens = ann.tokens("/mcp", &[]);
    assert_eq!(received(&gateway, "", &access(&tokens)).await, 400);
    // A reload gives the name to somebody else.
    rewrite(&scratch, "'00u1'", "'00u9'");
    let began = Instant::now();
    while received(&gateway, "", &access(&tokens)).await != 401 {
        assert!(began.elapsed() < LIMIT, "{}", gateway.log());
    }
    let page = ann.send("GET", &format!("/oauth/authorize?{}", ann.query("/mcp")), "", "");
    assert!(page.body.contains("Sign in with"), "{}", page.body);
    rewrite(&scratch, "'00u9'", "'00u1'");
    while received(&gateway, "", &access(&tokens)).await != 400 {
        assert!(began.elapsed() < LIMIT, "{}", gateway.log());
    }
    drop(gateway);
    let gateway = Gateway::serve(&scratch).await;
    assert_eq!(received(&gateway, "", &access(&tokens)).await, 400, "it is good over a restart");
    drop(gateway);
    let text = std::fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    let without = text.lines().filter(|line| !line.starts_with("provider =")).collect::<Vec<_>>();
    let without = without.join("\n").replace("[users.ann]\nsubject = '00u1'", "");
    let other = TokenIssuer::start().await.unwrap();
    let elsewhere = text.replace(&issuer.issuer(), &other.issuer());
    for (changed, text) in [("no provider", &without), ("another provider", &elsewhere)] {
        scratch.write("gatefold.toml", text);
        let gateway = Gateway::serve(&scratch).await;
        assert_eq!(received(&gateway, "", &access(&tokens)).await, 401, "{changed}");
        ann.address = gateway.address();
        let refresh = self::text(&tokens, "refresh_token");
        let fields = [("grant_type", "refresh_token"), ("refresh_token", &*refresh)];
        let client = ann.query("/mcp");
        let client = url::form_urlencoded::parse(client.as_bytes());
        let client = client.into_owned().find(|(name, _)| name == "client_id").unwrap().1;
        let answer = ann.post("/oauth/token", &[&fields[..], &[("client_id", &client)]].concat());
        assert!(answer.status == 400 && answer.body.contains("sign in again"), "{}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_down_stops_nobody_else() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = provided(&issuer.issuer(), "");
    let good = run(&scratch, &["doctor", "--verbose"]);
    let told = format!("`{}` can sign people in", issuer.issuer());
    assert!(good.stdout.contains(&told), "{}", good.stdout);
    issuer.fail(Some(503));
    let gateway = Gateway::serve(&scratch).await;
    let made = run(&scratch, &["token", "create", "--name", "ci", "--for", "ci"]);
    let token = made.stdout.trim_end().to_owned();
    let is_let_in = async || received(&gateway, "", &token).await == 400;
    let began = Instant::now();
    while !is_let_in().await {
        assert!(began.elapsed() < LIMIT, "{}", gateway.log());
    }
    let mut ann = Visitor::at(&gateway);
    let page = ann.leave();
    assert_eq!(page.status, 503);
    assert!(page.body.contains("Example staff cannot be asked at the moment"), "{}", page.body);
    let doctor = run(&scratch, &["doctor"]);
    let told = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&format!("nobody can sign in at `{}`", issuer.issuer())), "{told}");
    assert_eq!(doctor.code, Some(1));
    let check = run(&scratch, &["check"]);
    assert!(check.stdout.contains("`server.sign_in.provider`: "), "{}", check.stdout);
    issuer.fail(None);
    let began = Instant::now();
    while ann.leave().status != 200 {
        assert!(began.elapsed() < LIMIT, "{}", gateway.log());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let refusal = vec![
        ("error", "access_denied".to_owned()),
        ("error_description", "<script>alert(1)</script>".to_owned()),
    ];
    issuer.set_identity(IdentityRules { refusal: Some(refusal), ..IdentityRules::default() });
    let back = ann.visit();
    assert_eq!(back.status, 403);
    let shown = "Example staff did not let you in. It says: `access_denied`: &lt;script&gt;";
    assert!(back.body.contains(shown) && !back.body.contains("<script>"), "{}", back.body);
    let link = run(&scratch, &["user", "link", "ann"]);
    assert_eq!(link.code, Some(1), "{}", link.stdout);
    assert!(
        link.stderr.contains("nobody signs in at this gateway with a password"),
        "{}",
        link.stderr
    );
}
