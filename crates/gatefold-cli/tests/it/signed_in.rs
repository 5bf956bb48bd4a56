//! Signing in at the gateway itself: a person in a browser, a client with its tokens, and the shell.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatefold_testkit::wait_until;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::form_urlencoded::Serializer;

use crate::access_tokens::{client, refusal};
use crate::process::{Gateway, LIMIT, run, two_sources};
use crate::scratch::Scratch;

pub(crate) const PUBLIC: &str = "https://tools.example";
const REDIRECT: &str = "http://127.0.0.1:4711/callback";
const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-one-of-them";
const PASSWORD: &str = "correct horse battery";

/// What a revocation may take to hold: two seconds, and one more for a machine under load.
pub(crate) const REVOCATION: Duration = Duration::from_secs(3);

pub(crate) fn signing_in(sign_in: &str) -> Scratch {
    let scratch = Scratch::new();
    let server =
        format!("[server]\nauthentication = 'token'\npublic_url = '{PUBLIC}'\n{sign_in}\n");
    scratch.write("gatefold.toml", format!("{server}{}", two_sources(&scratch)));
    scratch
}

const ON: &str = "sign_in = { registration = true }";

/// A browser and a client at one gateway.
pub(crate) struct Visitor {
    pub(crate) address: String,
    pub(crate) cookie: String,
    client: String,
}

pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) location: String,
    pub(crate) body: String,
}

impl Visitor {
    /// Nobody yet, with a client that registers itself.
    pub(crate) fn at(gateway: &Gateway) -> Self {
        let mut visitor = Self::stranger(gateway);
        let body = json!({"redirect_uris": [REDIRECT], "client_name": "Notebook"}).to_string();
        let registered = visitor.send("POST", "/oauth/register", "application/json", &body);
        assert_eq!(registered.status, 201, "{}", registered.body);
        let registered: Value = serde_json::from_str(&registered.body).unwrap();
        visitor.client = text(&registered, "client_id");
        visitor
    }

    fn stranger(gateway: &Gateway) -> Self {
        Self { address: gateway.address(), cookie: String::new(), client: String::new() }
    }

    /// Sets a user's password by a link from the shell, registers a client, and signs in.
    fn of(scratch: &Scratch, gateway: &Gateway, user: &str) -> Self {
        let mut visitor = Self::at(gateway);
        let made = run(scratch, &["user", "link", user]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let link = made.stdout.trim_end().strip_prefix(PUBLIC).unwrap().to_owned();
        let page = visitor.send("GET", &link, "", "");
        assert!(page.status == 200 && page.body.contains(user), "{}", page.body);
        let token = link.split_once("link=").unwrap().1;
        let fields = [("link", token), ("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(visitor.post("/oauth/password", &fields).status, 200);
        let query = visitor.query("/mcp");
        let fields = [("request", &*query), ("user", user), ("password", PASSWORD)];
        let page = visitor.post("/oauth/sign-in", &fields);
        assert_eq!((page.status, page.location), (303, format!("/oauth/authorize?{query}")));
        visitor
    }

    pub(crate) fn query(&self, face: &str) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        form(&[
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", REDIRECT),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &format!("{PUBLIC}{face}")),
        ])
    }

    /// Lets the client in, and returns its tokens.
    pub(crate) fn tokens(&mut self, face: &str, more: &[(&str, &str)]) -> Value {
        let query = self.query(face);
        let page = self.send("GET", &format!("/oauth/authorize?{query}"), "", "");
        let (_, rest) = page.body.split_once("name=\"seal\" value=\"").expect("a form to agree in");
        let (seal, _) = rest.split_once('"').unwrap();
        let fields =
            [&[("request", &*query), ("seal", seal), ("decision", "allow")], more].concat();
        let page = self.post("/oauth/consent", &fields);
        let back: url::Url = page.location.parse().unwrap();
        let code = back.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
        let client = self.client.clone();
        self.token(&[
            ("grant_type", "authorization_code"),
            ("client_id", &client),
            ("code", &code),
            ("code_verifier", VERIFIER),
        ])
    }

    pub(crate) fn refresh(&mut self, tokens: &Value) -> Value {
        let (client, token) = (self.client.clone(), text(tokens, "refresh_token"));
        let fields =
            [("grant_type", "refresh_token"), ("client_id", &*client), ("refresh_token", &*token)];
        self.token(&fields)
    }

    pub(crate) fn token(&mut self, fields: &[(&str, &str)]) -> Value {
        let answer = self.post("/oauth/token", fields);
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    pub(crate) fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.send("POST", path, "application/x-www-form-urlencoded", &form(fields))
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, kind: &str, body: &str) -> Page {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let (cookie, length) = (&self.cookie, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: tools.example\r\norigin: {PUBLIC}\r\n\
             cookie: {cookie}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let header = |name: &str| {
            let start = format!("{name}: ");
            head.lines().find_map(|line| line.strip_prefix(&*start)).unwrap_or_default().to_owned()
        };
        let cookie = header("set-cookie");
        if !cookie.is_empty() {
            let (pair, _) = cookie.split_once(';').unwrap();
            pair.clone_into(&mut self.cookie);
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Page { status, location: header("location"), body: body.to_owned() }
    }
}

fn form(fields: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(fields).finish()
}

pub(crate) fn text(tokens: &Value, name: &str) -> String {
    tokens[name].as_str().unwrap_or_else(|| panic!("no `{name}` in {tokens}")).to_owned()
}

pub(crate) fn access(tokens: &Value) -> String {
    text(tokens, "access_token")
}

/// How a token is received at a path: 400 if it is let in, as nothing is asked.
pub(crate) async fn received(gateway: &Gateway, path: &str, token: &str) -> u16 {
    refusal(gateway, path, &[&format!("Bearer {token}")]).await.0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_lets_a_client_in_and_the_shell_ends_it() {
    let scratch = signing_in(ON);
    let gateway = Gateway::serve(&scratch).await;
    let (_, challenge) = refusal(&gateway, "", &[]).await;
    let place = format!("{PUBLIC}/.well-known/oauth-protected-resource/mcp");
    assert!(challenge.contains(&place) && challenge.contains("mcp:read mcp:write"), "{challenge}");
    let mut ann = Visitor::of(&scratch, &gateway, "ann");
    let document = ann.send("GET", "/.well-known/oauth-protected-resource/mcp", "", "");
    let document: Value = serde_json::from_str(&document.body).unwrap();
    assert_eq!(document["authorization_servers"], json!([PUBLIC]));
    let tokens = ann.tokens("/mcp", &[]);
    // At once: nobody waits for the gateway to look.
    assert_eq!(client(&gateway, &access(&tokens), "").list().await.unwrap().status, 200);
    let listed = run(&scratch, &["token", "list", "--json"]).json();
    let listed = &listed["clients"][0];
    assert_eq!((&listed["name"], &listed["user"]), (&json!("Notebook"), &json!("ann")));
    assert_eq!(
        (&listed["resource"], &listed["read_only"]),
        (&json!(format!("{PUBLIC}/mcp")), &json!(false))
    );
    let shown = run(&scratch, &["token", "list"]).stdout;
    assert!(shown.contains("Notebook") && !shown.contains("gf_"), "{shown}");
    let people = run(&scratch, &["user", "list", "--json"]).json();
    assert_eq!(
        (&people["users"][0]["user"], &people["users"][0]["clients"]),
        (&json!("ann"), &json!(1))
    );
    let id = listed["id"].as_str().unwrap();
    assert_eq!(run(&scratch, &["token", "revoke", id]).code, Some(0));
    let began = Instant::now();
    while received(&gateway, "", &access(&tokens)).await != 401 {
        assert!(began.elapsed() < REVOCATION, "it is let in after {:?}", began.elapsed());
    }
    assert_eq!(run(&scratch, &["token", "revoke", id]).code, Some(1), "it is gone");
    let planted = [PASSWORD, &access(&tokens), &text(&tokens, "refresh_token"), &ann.cookie];
    for secret in planted {
        assert!(!gateway.log().contains(secret), "{}", gateway.log());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_survives_a_refresh_and_ends_with_its_user() {
    let scratch = signing_in(ON);
    let gateway = Gateway::serve(&scratch).await;
    let mut ann = Visitor::of(&scratch, &gateway, "ann");
    let first = ann.tokens("/mcp", &[]);
    let mut own = client(&gateway, &access(&first), "").with_limit(LIMIT);
    own.initialize().await.unwrap();
    let session = own.session().unwrap().to_owned();
    let mut notices = own.listen().await.unwrap();
    let second = ann.refresh(&first);
    let pinged = async |token: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("mcp-session-id", HeaderValue::from_str(&session).unwrap());
        headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        client(&gateway, token, "").post_raw(&ping, headers).await.unwrap().status
    };
    assert_eq!(pinged(&access(&second)).await, 200, "the session goes on");
    assert_eq!(pinged(&access(&first)).await, 401, "the token is another one");
    let other = ann.tokens("/mcp", &[]);
    assert_eq!(pinged(&access(&other)).await, 404, "nor is it another consent's session");
    assert_eq!(run(&scratch, &["user", "remove", "ann"]).code, Some(0));
    let began = Instant::now();
    let ended = tokio::time::timeout(LIMIT, notices.next()).await;
    assert!(ended.unwrap().is_err(), "the stream ends");
    assert!(began.elapsed() < REVOCATION, "{:?}", began.elapsed());
    for tokens in [&first, &second, &other] {
        assert_eq!(received(&gateway, "", &access(tokens)).await, 401);
    }
    assert_eq!(run(&scratch, &["user", "remove", "ann"]).code, Some(1), "nobody is left");
    let page = ann.send("GET", &format!("/oauth/authorize?{}", ann.query("/mcp")), "", "");
    assert!(page.body.contains("/oauth/sign-in"), "nor in the browser: {}", page.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_good_where_and_for_what_its_user_said() {
    let scratch = signing_in(ON);
    let gateway = Gateway::serve(&scratch).await;
    let mut ann = Visitor::of(&scratch, &gateway, "ann");
    let narrow = access(&ann.tokens("/mcp/source/issues", &[]));
    let wide = access(&ann.tokens("/mcp", &[]));
    for (token, path, status) in [
        (&narrow, "/source/issues", 400),
        (&narrow, "/source/units", 401),
        (&narrow, "/source/issues2", 401),
        (&narrow, "", 401),
        (&narrow, "/agent/sales", 401),
        (&wide, "/source/units", 400),
        (&wide, "", 400),
    ] {
        assert_eq!(received(&gateway, path, token).await, status, "{path}");
    }
    let reading = access(&ann.tokens("/mcp", &[("read_only", "on")]));
    let names = async |token: &str| {
        client(&gateway, token, "?disclosure=flat").list().await.unwrap().tool_names()
    };
    let has = |names: &[String], name: &str| names.iter().any(|own| own == name);
    let is_known = async || has(&names(&wide).await, "issues__create_issue");
    let began = Instant::now();
    while !is_known().await {
        assert!(began.elapsed() < LIMIT, "{}", gateway.log());
    }
    let seen = names(&reading).await;
    assert!(has(&seen, "issues__count_issues"), "{seen:?}");
    assert!(!has(&seen, "issues__create_issue"), "{seen:?}");
    let refresh = access(&wide_refresh(&mut ann));
    assert_eq!(received(&gateway, "", &refresh).await, 400);
}

/// A client that refreshes at once.
fn wide_refresh(visitor: &mut Visitor) -> Value {
    let tokens = visitor.tokens("/mcp", &[]);
    visitor.refresh(&tokens)
}

#[tokio::test(flavor = "multi_thread")]
async fn gateways_on_one_state_directory_are_one_issuer() {
    let scratch = signing_in(ON);
    let (one, other) = (Gateway::serve(&scratch).await, Gateway::serve(&scratch).await);
    let mut ann = Visitor::of(&scratch, &one, "ann");
    for round in 0..5 {
        let first = ann.tokens("/mcp", &[]);
        assert_eq!(received(&other, "", &access(&first)).await, 400, "{round}");
        ann.address = other.address();
        let second = ann.refresh(&first);
        assert_eq!(received(&one, "", &access(&second)).await, 400, "{round}");
        ann.address = one.address();
        let again = ann.refresh(&first);
        assert_eq!(access(&again), access(&second), "the same answer from the other one");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_it_is_there_unless_the_configuration_says_so() {
    let scratch = signing_in(ON);
    let gateway = Gateway::serve(&scratch).await;
    let token = access(&Visitor::of(&scratch, &gateway, "ann").tokens("/mcp", &[]));
    drop(gateway);
    let text = std::fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    scratch.write("gatefold.toml", text.replace(ON, "sign_in = { password = true }"));
    let gateway = Gateway::serve(&scratch).await;
    assert_eq!(received(&gateway, "", &token).await, 400, "it is good over a restart");
    let mut visitor = Visitor::stranger(&gateway);
    let body = json!({"redirect_uris": [REDIRECT]}).to_string();
    let registered = visitor.send("POST", "/oauth/register", "application/json", &body);
    assert_eq!(registered.status, 404, "{}", registered.body);
    drop(gateway);
    scratch.write("gatefold.toml", text.replace(ON, ""));
    let gateway = Gateway::serve(&scratch).await;
    visitor.address = gateway.address();
    for path in ["/.well-known/oauth-authorization-server", "/oauth/authorize", "/oauth/password"] {
        assert_eq!(visitor.send("GET", path, "", "").status, 404, "{path}");
    }
    let is_refused = wait_until(LIMIT, || gateway.log().contains("listening")).await
        && received(&gateway, "", &token).await == 401;
    assert!(is_refused, "what was let in there is good for nothing");
    let made = run(&scratch, &["user", "link", "ann"]);
    assert_eq!(made.code, Some(1), "{}", made.stdout);
    assert!(made.stderr.contains("nobody signs in at this gateway"), "{}", made.stderr);
}
