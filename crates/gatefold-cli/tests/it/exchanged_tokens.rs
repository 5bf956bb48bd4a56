//! Sources whose tokens the identity provider gives for those of the callers (`credentials = "exchange"`).

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatefold_testkit::{ExchangeTerms, ISSUER_CLIENT, RawClient, TokenIssuer};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::access_tokens::{call, client, everything};
use crate::client_credentials::{Seen, header, server_of};
use crate::process::{Gateway, LIMIT, Run, command, run};
use crate::raw_api::{RawApi, RawRequest, answer};
use crate::scratch::Scratch;

const PUBLIC: &str = "https://tools.example";

/// What a token says, without a look at its signature.
fn claims(token: &str) -> Option<Value> {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&claims).ok()
}

/// The token of a request.
fn bearer(request: &RawRequest) -> Option<String> {
    header(request, "authorization")?.strip_prefix("Bearer ").map(str::to_owned)
}

/// A server that takes tokens for itself alone, whose tools are named after the subjects of tokens.
fn tickets() -> (RawApi, Seen) {
    let audience = Arc::<Mutex<String>>::default();
    let expected = audience.clone();
    let (server, seen) = server_of(move |token| {
        let claims = claims(token)?;
        (claims["aud"] == expected.lock().unwrap().as_str())
            .then(|| claims["sub"].as_str().map(str::to_owned))?
    });
    *audience.lock().unwrap() = url_of(&server);
    (server, seen)
}

fn url_of(server: &RawApi) -> String {
    format!("http://127.0.0.1:{}/mcp", server.port)
}

/// A gateway that trusts an issuer, of which it is a client, in front of these sources.
fn trusting(issuer: &TokenIssuer, sources: &str) -> Scratch {
    let scratch = Scratch::new();
    let (id, secret) = ISSUER_CLIENT;
    let text = format!(
        "[server]\nauthentication = 'token'\npublic_url = '{PUBLIC}'\n\
         [[server.issuers]]\nissuer = '{}'\nclient_id = '{id}'\nclient_secret = '{secret}'\n{sources}",
        issuer.issuer()
    );
    scratch.write("gatefold.toml", text);
    scratch
}

fn exchanging(issuer: &TokenIssuer, server: &RawApi) -> Scratch {
    let url = url_of(server);
    trusting(issuer, &format!("[sources.tickets]\nurl = '{url}'\ncredentials = 'exchange'\n"))
}

/// A token for the whole gateway.
fn token(issuer: &TokenIssuer, sub: &str, mut more: Value) -> String {
    more["sub"] = sub.into();
    more["aud"] = format!("{PUBLIC}/mcp").into();
    issuer.token(more)
}

async fn names(client: &RawClient) -> Vec<String> {
    client.list().await.unwrap().tool_names()
}

async fn knows(gateway: &Gateway, token: &str, tool: &str) {
    let own = client(gateway, token, "?disclosure=flat");
    let deadline = tokio::time::Instant::now() + LIMIT;
    while !names(&own).await.contains(&tool.to_owned()) {
        assert!(tokio::time::Instant::now() < deadline, "{tool} is not listed");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_caller_calls_with_a_token_that_theirs_was_exchanged_for() {
    let (issuer, (server, seen)) = (TokenIssuer::start().await.unwrap(), tickets());
    let scratch = exchanging(&issuer, &server);
    let created = run(&scratch, &["token", "create", "--name", "ann", "--for", "ann"]);
    let gateway = Gateway::serve(&scratch).await;
    let (ann, bob) = (token(&issuer, "ann", json!({})), token(&issuer, "bob", json!({})));
    knows(&gateway, &ann, "tickets__ann").await;
    knows(&gateway, &bob, "tickets__bob").await;
    for (own, other) in [(&ann, "tickets__bob"), (&bob, "tickets__ann")] {
        let listed = names(&client(&gateway, own, "?disclosure=flat")).await;
        assert!(!listed.contains(&other.to_owned()), "{listed:?}");
        let told = call(&client(&gateway, own, ""), other, json!({})).await;
        assert!(told.contains("\"error\"") && !told.contains("it said"), "{told}");
    }
    for own in [&ann, &bob] {
        let told = call(&client(&gateway, own, ""), "tickets__echo", json!({})).await;
        assert!(told.contains("it said [redacted]"), "what the source got is masked: {told}");
    }
    let asked = issuer.take_exchanges();
    let subjects: Vec<_> = asked.iter().map(|own| own["subject_token"].as_str()).collect();
    assert_eq!(subjects, [&ann, &bob], "each is exchanged once");
    for request in &asked {
        assert_eq!(request.get("resource"), Some(&url_of(&server)));
        assert_eq!(request.get("audience"), None);
    }
    for request in seen.lock().unwrap().iter() {
        assert!(!request.contains(&ann) && !request.contains(&bob), "{request}");
    }

    // A token of ours is nothing to exchange.
    let own = client(&gateway, created.stdout.trim_end(), "");
    let told = call(&own, "tickets__echo", json!({})).await;
    assert!(told.contains("by an access token of the identity provider"), "{told}");

    // What the provider refuses for one is no matter of the others.
    let refusal = Some((400, json!({"error": "invalid_target"})));
    issuer.exchange_on(ExchangeTerms { refusal, ..ExchangeTerms::default() });
    let eve = token(&issuer, "eve", json!({}));
    for _ in 0..6 {
        let told = call(&client(&gateway, &eve, ""), "tickets__echo", json!({})).await;
        assert!(told.contains("`invalid_target`"), "{told}");
    }
    let told = call(&client(&gateway, &ann, ""), "tickets__echo", json!({})).await;
    assert!(told.contains("it said"), "{told}");
}

/// Opens a session. Returns the headers of its requests.
async fn session(gateway: &Gateway, token: &str) -> HeaderMap {
    let mut own = client(gateway, token, "");
    own.initialize().await.unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("mcp-session-id", HeaderValue::from_str(own.session().unwrap()).unwrap());
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
    headers
}

/// The status of a request in a session.
async fn ping(gateway: &Gateway, session: &HeaderMap, token: &str) -> u16 {
    let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
    client(gateway, token, "").post_raw(ping, session.clone()).await.unwrap().status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_with_the_programs_next_token_unless_that_allows_something_else() {
    let (issuer, (server, _)) = (TokenIssuer::start().await.unwrap(), tickets());
    let gateway = Gateway::serve(&exchanging(&issuer, &server)).await;
    let of = |more| token(&issuer, "ann", more);
    let first = of(json!({"scope": "read write"}));
    knows(&gateway, &first, "tickets__ann").await;
    let session = session(&gateway, &first).await;
    for (more, status) in [
        (json!({"scope": "write read", "jti": "next"}), 200),
        (json!({"scope": "read write", "client_id": null, "cid": "a-program"}), 200),
        (json!({"scope": "read"}), 404),
        (json!({"scope": "read write", "acr": "two-factors"}), 404),
        (json!({"scope": "read write", "client_id": "another"}), 404),
    ] {
        assert_eq!(ping(&gateway, &session, &of(more.clone())).await, status, "{more}");
    }
    // What names no program may be any program's.
    let nameless = |id: &str| of(json!({"client_id": null, "jti": id}));
    let (one, other) = (nameless("one"), nameless("other"));
    let session = self::session(&gateway, &one).await;
    for (token, status) in [(&one, 200), (&other, 404)] {
        assert_eq!(ping(&gateway, &session, token).await, status);
    }
    issuer.take_exchanges();
    let narrower = client(&gateway, &of(json!({"scope": "read"})), "");
    call(&narrower, "tickets__echo", json!({})).await;
    assert_eq!(issuer.take_exchanges().len(), 1, "it does not get the token of a wider one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_its_source_alone_and_shows_up_nowhere() {
    let (issuer, (server, seen_there)) = (TokenIssuer::start().await.unwrap(), tickets());
    let seen = Seen::default();
    let noted = seen.clone();
    let api = RawApi::start(move |request| {
        let token = bearer(request).unwrap_or_default();
        noted.lock().unwrap().push(token.clone());
        let body = json!({"said": token}).to_string();
        Some(answer("200 OK", "content-type: application/json\r\n", &body))
    });
    let (id, secret) = ISSUER_CLIENT;
    let base = format!(
        "base_url = 'http://127.0.0.1:{}'\n\
         actions = [{{ name = 'look', method = 'GET', path = '/look' }}]\n",
        api.port
    );
    let sources = format!(
        "[sources.tickets]\nurl = '{}'\ncredentials = 'exchange'\n\
         [sources.crm]\n{base}[sources.crm.credentials.exchange]\naudience = 'crm'\n\
         scopes = ['look']\nclient_id = '{id}'\nclient_secret = '{secret}'\n\
         [sources.other]\n{base}",
        url_of(&server)
    );
    let scratch = trusting(&issuer, &sources);
    let mut command = command(&scratch, &["serve", "--listen", "127.0.0.1:0", "--log", "trace"]);
    command.env("RUST_LOG", "trace");
    let mut gateway = Gateway::of(command);
    gateway.await_log("listening").await;
    let ann = issuer.opaque(json!({"sub": "ann", "aud": format!("{PUBLIC}/mcp")}));
    knows(&gateway, &ann, "tickets__ann").await;
    let mut told = Vec::new();
    for tool in ["crm__look", "other__look", "tickets__echo"] {
        told.push(call(&client(&gateway, &ann, ""), tool, json!({})).await);
    }
    let narrower = issuer.opaque(json!({"aud": format!("{PUBLIC}/mcp"), "scope": "read"}));
    let repeating = json!({"error": "invalid_request", "error_description": narrower});
    let refusal = Some((400, repeating));
    issuer.exchange_on(ExchangeTerms { refusal, ..ExchangeTerms::default() });
    told.push(call(&client(&gateway, &narrower, ""), "crm__look", json!({})).await);
    for args in [&["calls", "--json"][..], &["config", "show"], &["status", "--json"], &["doctor"]]
    {
        let Run { stdout, stderr, .. } = run(&scratch, args);
        told.extend([stdout, stderr]);
    }
    gateway.signal("-TERM");
    gateway.ended().await;

    let seen = seen.lock().unwrap().clone();
    let of_crm = seen.iter().find(|token| !token.is_empty()).unwrap();
    let said = claims(of_crm).unwrap();
    assert_eq!((&said["aud"], &said["scope"]), (&json!("crm"), &json!("look")));
    assert!(seen.contains(&String::new()), "the other source gets nothing: {seen:?}");
    let seen_there = seen_there.lock().unwrap().clone();
    assert!(seen_there.iter().all(|text| !text.contains(of_crm.as_str())));
    let there = seen_there
        .iter()
        .find_map(|text| text.lines().find_map(|line| line.strip_prefix("authorization: Bearer ")));
    let on_disk = everything(scratch.path());
    // The configuration is in the same folder, and has the client's secret.
    for planted in [ann.as_str(), narrower.as_str(), of_crm.as_str(), there.unwrap()] {
        let log = gateway.log();
        let line = log.lines().find(|line| line.contains(planted));
        assert_eq!(line, None, "{planted} is in the log");
        assert!(!told.iter().any(|text| text.contains(planted)), "{planted}: {told:?}");
        assert!(!on_disk.windows(planted.len()).any(|part| part == planted.as_bytes()));
    }
    assert!(!gateway.log().contains(secret) && !told.iter().any(|text| text.contains(secret)));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_callers_can_say_what_such_a_source_offers() {
    let (issuer, (server, _)) = (TokenIssuer::start().await.unwrap(), tickets());
    let scratch = exchanging(&issuer, &server);
    let login = run(&scratch, &["login", "tickets"]);
    let expected = "its tokens come from those that its callers send";
    assert!(login.stderr.contains(expected), "{}", login.stderr);
    let shown = run(&scratch, &["config", "show", "--json"]);
    assert!(shown.stdout.contains("\"credentials\": \"exchange\""), "{}", shown.stdout);
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let check = run(&scratch, &["check"]);
    assert_eq!(check.code, Some(0), "{}", check.stdout);
    let expected = "to clients that send an access token of the identity provider";
    assert!(plain(&check.stdout).contains(expected), "{}", check.stdout);
    let doctor = run(&scratch, &["doctor", "--verbose"]);
    let expected = "is called with tokens that its callers' own are exchanged for";
    assert!(plain(&doctor.stdout).contains(expected), "{}", doctor.stdout);
    let accounts = run(&scratch, &["accounts"]);
    assert_eq!(accounts.code, Some(0), "{}", accounts.stderr);
    assert!(!accounts.stdout.contains("tickets"), "{}", accounts.stdout);
    let told = run(&scratch, &["tools", "call", "tickets__echo"]);
    let text = format!("{}{}", told.stdout, told.stderr);
    assert!(told.code != Some(0) && !text.contains("it said"), "{text}");
    assert_eq!(server.take(), 0, "it is asked nothing without a token");
}
