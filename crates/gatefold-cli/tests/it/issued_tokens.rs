//! Tokens of an identity provider: how clients find it, and whom its tokens let in where.

use std::time::Duration;

use gatefold_core::{Clock as _, SystemClock};
use gatefold_testkit::provider::browse;
use gatefold_testkit::{Fixture, ISSUER_CLIENT, TokenIssuer, serve_http, wait_until};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::access_tokens::{call, client, everything, refusal};
use crate::process::{Gateway, LIMIT, Run, run, two_sources};
use crate::raw_api::RawApi;
use crate::scratch::Scratch;

const PUBLIC: &str = "https://tools.example";

/// A gateway in front of two servers that trusts an issuer.
fn trusting(issuer: &TokenIssuer, further: &str) -> Scratch {
    let scratch = Scratch::new();
    let server = format!(
        "[server]\nauthentication = 'token'\npublic_url = '{PUBLIC}'\n\
         [[server.issuers]]\nissuer = '{}'\n",
        issuer.issuer()
    );
    scratch.write("gatefold.toml", format!("{server}{further}\n{}", two_sources(&scratch)));
    scratch
}

/// A token for the whole gateway, with these claims as well.
fn token(issuer: &TokenIssuer, mut claims: Value) -> String {
    if claims.get("aud").is_none() {
        claims["aud"] = format!("{PUBLIC}/mcp").into();
    }
    issuer.token(claims)
}

async fn document(gateway: &Gateway, path: &str) -> (u16, Value) {
    let url = format!("http://{}/.well-known/oauth-protected-resource{path}", gateway.address());
    let (status, text) = browse(&url).await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_finds_the_issuer_of_each_address() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = trusting(&issuer, "scopes = ['mcp', 'tools']");
    let gateway = Gateway::serve(&scratch).await;
    for (path, resource) in [
        ("", PUBLIC.to_owned()),
        ("/mcp", format!("{PUBLIC}/mcp")),
        ("/mcp/source/issues", format!("{PUBLIC}/mcp/source/issues")),
        ("/mcp/source/nothing", format!("{PUBLIC}/mcp/source/nothing")),
        ("/mcp/agent/sales", format!("{PUBLIC}/mcp/agent/sales")),
    ] {
        let (status, document) = document(&gateway, path).await;
        assert_eq!(status, 200, "{path}");
        let expected = json!({
            "resource": resource,
            "authorization_servers": [issuer.issuer()],
            "scopes_supported": ["mcp", "tools"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Gatefold",
        });
        assert_eq!(document, expected, "{path}");
    }
    assert_eq!(document(&gateway, "/status").await.0, 404);
    let challenge = |path: &str, error: &str| {
        let place = format!("{PUBLIC}/.well-known/oauth-protected-resource/mcp{path}");
        format!(
            "Bearer realm=\"gatefold\", resource_metadata=\"{place}\", scope=\"mcp tools\"{error}"
        )
    };
    for path in ["", "/source/issues", "/agent/sales"] {
        assert_eq!(refusal(&gateway, path, &[]).await, (401, challenge(path, "")), "{path}");
    }
    let bearer = |token: String| format!("Bearer {token}");
    let lacking = bearer(token(&issuer, json!({"scope": "mcp"})));
    let expected = (403, challenge("/source/issues", ", error=\"insufficient_scope\""));
    assert_eq!(refusal(&gateway, "/source/issues", &[&lacking]).await, expected);
    let foreign = bearer(token(&issuer, json!({"aud": "https://other.example"})));
    let expected = (401, challenge("", ", error=\"invalid_token\""));
    assert_eq!(refusal(&gateway, "", &[&foreign]).await, expected);
    let enough = token(&issuer, json!({"scope": "mcp tools"}));
    assert_eq!(client(&gateway, &enough, "").list().await.unwrap().status, 200);
    // Without an issuer, nothing says that there is one.
    scratch.write("gatefold.toml", "[server]\nauthentication = 'token'\n");
    let alone = Gateway::serve(&scratch).await;
    assert_eq!(document(&alone, "/mcp").await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_one_address_is_good_for_that_one_alone() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = trusting(&issuer, "");
    let gateway = Gateway::serve(&scratch).await;
    let narrow = token(&issuer, json!({"aud": format!("{PUBLIC}/mcp/source/issues")}));
    let wide = token(&issuer, json!({}));
    for (token, path, status) in [
        (&narrow, "/source/issues", 200),
        (&narrow, "/source/issues/", 200),
        (&narrow, "/source/units", 401),
        (&narrow, "", 401),
        (&narrow, "/agent/sales", 401),
        (&wide, "/source/units", 200),
        (&wide, "", 200),
    ] {
        let headers = format!("Bearer {token}");
        let answer = refusal(&gateway, path, &[&headers]).await.0;
        // What is let in and asks nothing is no good request.
        let expected = if status == 200 { 400 } else { status };
        assert_eq!(answer, expected, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_who_the_configuration_says_and_see_what_their_groups_see() {
    let issuer = TokenIssuer::start().await.unwrap();
    let people = "[users.ann]\nsubject = '00u1'\n[users.ben]\nsubject = '00u2'\ngroups = ['ops']\n";
    let scratch = trusting(&issuer, people);
    let visible = "visible_to = ['ops']\n";
    let text = std::fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    scratch.write("gatefold.toml", format!("{text}{visible}"));
    let gateway = Gateway::serve(&scratch).await;
    let of = |sub: &str, groups: &[&str]| token(&issuer, json!({"sub": sub, "groups": groups}));
    let names = async |token: &str| {
        let client = client(&gateway, token, "?disclosure=flat");
        let names = client.list().await.unwrap().tool_names();
        names
            .iter()
            .filter_map(|name| Some(name.split_once("__")?.0.to_owned()))
            .collect::<Vec<_>>()
    };
    let ann = of("00u1", &[]);
    // Somebody who sees both says when both are known.
    let (mut all, known_by) = (Vec::new(), tokio::time::Instant::now() + LIMIT);
    while !["issues", "units"].iter().all(|name| all.iter().any(|known| known == name)) {
        assert!(tokio::time::Instant::now() < known_by, "{all:?}");
        all = names(&of("00u2", &[])).await;
    }
    let seen = names(&ann).await;
    assert!(seen.contains(&"issues".to_owned()) && !seen.contains(&"units".to_owned()), "{seen:?}");
    for seeing in [of("00u1", &["ops"]), of("00u2", &[]), of("00u3", &["dev", "ops"])] {
        assert!(names(&seeing).await.contains(&"units".to_owned()));
    }
    for (token, user) in [
        (ann, "ann".to_owned()),
        (of("00u3", &["ops"]), format!("00u3@{}", issuer.issuer().trim_start_matches("http://"))),
    ] {
        let client = client(&gateway, &token, "");
        let text = call(&client, "issues__count_issues", json!({"by": "state"})).await;
        assert!(text.contains("counts"), "{text}");
        let calls = run(&scratch, &["calls", "--json"]).json()["calls"].take();
        let is_theirs = |call: &Value| call["user"] == user && call["token"] == "a-program";
        assert!(calls.as_array().unwrap().iter().any(is_theirs), "{user}: {calls}");
    }
    // The commands are the local user's, who is in no group yet.
    let listed = run(&scratch, &["tools", "list"]).stdout;
    assert!(!listed.contains("units__"), "{listed}");
    let text = std::fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    scratch.write("gatefold.toml", format!("{text}[users.local]\ngroups = ['ops']\n"));
    let sees_it = || run(&scratch, &["tools", "list"]).stdout.contains("units__");
    assert!(wait_until(LIMIT, sees_it).await, "{}", run(&scratch, &["tools", "list"]).stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_with_a_new_token_and_is_nobody_elses() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = trusting(&issuer, "");
    let gateway = Gateway::serve(&scratch).await;
    let mut own = client(&gateway, &token(&issuer, json!({})), "");
    own.initialize().await.unwrap();
    let session = own.session().unwrap().to_owned();
    let asked = async |claims: Value| {
        let mut headers = HeaderMap::new();
        headers.insert("mcp-session-id", HeaderValue::from_str(&session).unwrap());
        headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        let client = client(&gateway, &token(&issuer, claims), "");
        client.post_raw(&ping, headers).await.unwrap().status
    };
    assert_eq!(asked(json!({"jti": "another token of the same program"})).await, 200);
    for other in [json!({"sub": "ben"}), json!({"client_id": "other"}), json!({"client_id": null})]
    {
        assert_eq!(asked(other.clone()).await, 404, "{other}");
    }
    assert_eq!(asked(json!({})).await, 200, "it is still there for its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_expires_ends_what_runs_with_it() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = trusting(&issuer, "");
    let server = serve_http(Fixture::new(&[]).unwrap()).unwrap();
    let text = std::fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    scratch.write("gatefold.toml", format!("{text}[sources.fix]\nurl = '{}'\n", server.url));
    let gateway = Gateway::serve(&scratch).await;
    let long_lived = client(&gateway, &token(&issuer, json!({})), "");
    let known_by = tokio::time::Instant::now() + LIMIT;
    while call(&long_lived, "fix__slow", json!({"ms": 1})).await.contains("Unknown tool") {
        assert!(tokio::time::Instant::now() < known_by);
    }
    // With the minute that clocks may differ by, it is good for some three seconds more.
    let now = SystemClock.now().as_millis() / 1000;
    let ending = client(&gateway, &token(&issuer, json!({"exp": now - 56})), "").with_limit(LIMIT);
    let long = json!({"tool_name": "fix__slow", "arguments": {"ms": 50_000}}).to_string();
    let began = tokio::time::Instant::now();
    let cut = ending.call("execute_tool", &long).await;
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(cut.as_ref().map_or(true, |answer| answer.status == 401), "{cut:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_opaque_token_is_good_for_as_long_as_its_issuer_says() {
    let issuer = TokenIssuer::start().await.unwrap();
    let (id, secret) = ISSUER_CLIENT;
    let scratch = trusting(&issuer, &format!("client_id = '{id}'\nclient_secret = '{secret}'"));
    let gateway = Gateway::serve(&scratch).await;
    let opaque = issuer.opaque(json!({"aud": format!("{PUBLIC}/mcp")}));
    let good = client(&gateway, &opaque, "");
    for _ in 0..20 {
        assert_eq!(good.list().await.unwrap().status, 200);
    }
    assert_eq!(issuer.counts().questions, 1, "one answer is good for a while");
    issuer.revoke(&opaque);
    let header = format!("Bearer {opaque}");
    let since = tokio::time::Instant::now();
    while refusal(&gateway, "", &[&header]).await.0 != 401 {
        assert!(since.elapsed() < LIMIT, "it is good for ever");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(since.elapsed() < Duration::from_secs(12), "{:?}", since.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_its_issuer_refuses_is_not_asked_about_again_and_again() {
    let issuer = TokenIssuer::start().await.unwrap();
    let (id, secret) = ISSUER_CLIENT;
    let scratch = trusting(&issuer, &format!("client_id = '{id}'\nclient_secret = '{secret}'"));
    let gateway = Gateway::serve(&scratch).await;
    for _ in 0..20 {
        assert_eq!(refusal(&gateway, "", &["Bearer made-up"]).await.0, 401);
    }
    assert_eq!(issuer.counts().questions, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_is_down_costs_strangers_an_answer_and_nobody_their_session() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = trusting(&issuer, "");
    let gateway = Gateway::serve(&scratch).await;
    issuer.fail(Some(503));
    let stranger = format!("Bearer {}", token(&issuer, json!({})));
    let (status, challenge) = refusal(&gateway, "", &[&stranger]).await;
    assert_eq!((status, challenge.as_str()), (503, ""), "no sign-in would change anything");
    issuer.fail(None);
    let since = tokio::time::Instant::now();
    while refusal(&gateway, "", &[&stranger]).await.0 != 400 {
        assert!(since.elapsed() < LIMIT, "{}", gateway.log());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    issuer.fail(Some(503));
    assert_eq!(refusal(&gateway, "", &[&stranger]).await.0, 400, "its keys are known");
    let own = run(&scratch, &["token", "create", "--name", "own", "--for", "ann"]);
    let own = own.stdout.trim_end();
    // A new token is good within a second.
    while refusal(&gateway, "", &[&format!("Bearer {own}")]).await.0 == 401 {
        assert!(since.elapsed() < LIMIT, "{}", gateway.log());
    }
    assert_eq!(client(&gateway, own, "").list().await.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_an_issuer_shows_up_nowhere_and_is_passed_on_to_nobody() {
    let issuer = TokenIssuer::start().await.unwrap();
    let (id, secret) = ISSUER_CLIENT;
    let scratch = trusting(&issuer, &format!("client_id = '{id}'\nclient_secret = '{secret}'"));
    let api = RawApi::start(|request| {
        let body = format!("{{\"seen\": {}}}", json!(request.text()));
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
        Some(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())
    });
    let text = std::fs::read_to_string(scratch.path().join("gatefold.toml")).unwrap();
    let source = format!(
        "[sources.api]\nbase_url = 'http://127.0.0.1:{}'\n\
         actions = [{{ name = 'look', method = 'GET', path = '/look' }}]\n",
        api.port
    );
    scratch.write("gatefold.toml", text + &source);
    let mut command =
        crate::process::command(&scratch, &["serve", "--listen", "127.0.0.1:0", "--log", "trace"]);
    command.env("RUST_LOG", "trace");
    let mut gateway = Gateway::of(command);
    gateway.await_log("listening").await;
    let signed = token(&issuer, json!({"scope": "planted"}));
    let opaque = issuer.opaque(json!({"aud": format!("{PUBLIC}/mcp")}));
    for token in [&signed, &opaque] {
        let seen = call(&client(&gateway, token, ""), "api__look", json!({})).await;
        assert!(seen.contains("GET /look"), "{seen}");
        assert!(!seen.contains(token.as_str()), "it went to the source");
        refusal(&gateway, &format!("?access_token={token}"), &[]).await;
        refusal(&gateway, "", &[&format!("Bearer {token}x")]).await;
    }
    issuer.fail(Some(500));
    let unasked = issuer.opaque(json!({}));
    refusal(&gateway, "", &[&format!("Bearer {unasked}")]).await;
    let told: Vec<_> = [
        &["calls", "--json"][..],
        &["config", "show"],
        &["config", "show", "--json"],
        &["status", "--json"],
        &["doctor"],
    ]
    .iter()
    .map(|args| run(&scratch, args))
    .collect();
    gateway.signal("-TERM");
    gateway.ended().await;
    std::fs::remove_file(scratch.path().join("gatefold.toml")).unwrap();
    let signature = signed.rsplit('.').next().unwrap();
    for planted in [signature, opaque.as_str(), unasked.as_str(), secret] {
        assert!(!gateway.log().contains(planted), "{planted} is in the log");
        for Run { stdout, stderr, .. } in &told {
            assert!(!stdout.contains(planted) && !stderr.contains(planted), "{stdout}{stderr}");
        }
        let on_disk = everything(scratch.path());
        assert!(!on_disk.windows(planted.len()).any(|part| part == planted.as_bytes()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_and_doctor_say_that_an_issuer_cannot_be_used() {
    let issuer = TokenIssuer::start().await.unwrap();
    let scratch = trusting(&issuer, "");
    let doctor = run(&scratch, &["doctor", "--verbose"]);
    let good = format!("`{}` publishes its keys", issuer.issuer());
    assert!(doctor.stdout.contains(&good), "{}", doctor.stdout);
    issuer.fail(Some(404));
    let doctor = run(&scratch, &["doctor"]);
    let fault = format!("nobody comes in with a token of `{}`", issuer.issuer());
    let told = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&fault) && told.contains("fix: check `issuer`"), "{}", doctor.stdout);
    assert_eq!(doctor.code, Some(1));
    let offline = run(&scratch, &["doctor", "--offline"]);
    assert!(!offline.stdout.contains("nobody comes in"), "{}", offline.stdout);
    let check = run(&scratch, &["check"]);
    assert!(check.stdout.contains("`server.issuers`: "), "{}", check.stdout);
}
