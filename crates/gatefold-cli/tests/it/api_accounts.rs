//! Signing in for an HTTP API from the shell: the provider's addresses are in the configuration.

use std::time::Duration;

use futures::future::join_all;
use gatefold_testkit::provider::browse;
use gatefold_testkit::{Provider, RawClient};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::accounts::{HURRIED, Waiting, sign_in, signs_in_during};
use crate::process::{Gateway, Run, run};
use crate::scratch::Scratch;

const NEEDS: &str = "needs a sign-in: `gatefold login server`";

/// What the addresses of a provider say.
fn addresses(provider: &Provider) -> String {
    let issuer = provider.issuer();
    format!(
        "authorize_url = '{issuer}/authorize', token_url = '{issuer}/token', \
         device_url = '{issuer}/device', revoke_url = '{issuer}/revoke', client_id = 'configured'"
    )
}

/// An API with the ways to sign in that `flow` says.
fn scratch(provider: &Provider, flow: &str, further: &str) -> Scratch {
    let scratch = Scratch::new();
    let url = provider.api_url();
    let text = format!(
        "[sources.server]\nbase_url = '{url}'\n\
         auth = {{ authorization_code = {{ {flow} }} }}\n\
         actions = [\n\
         {{ name = 'me', method = 'GET', path = '/me' }},\n\
         {{ name = 'write', method = 'POST', path = '/me' }},\n\
         {{ name = 'moved', method = 'GET', path = '/moved' }},\n\
         ]\n{further}"
    );
    scratch.write("gatefold.toml", &text);
    scratch
}

fn call(scratch: &Scratch, tool: &str) -> Run {
    run(scratch, &["tools", "call", tool])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_says_that_a_sign_in_is_missing_and_login_mends_it() {
    let provider = Provider::start().await.unwrap();
    provider.change(|rules| {
        rules.refuses_resource = true;
        rules.client_secret = Some("planted-hush".to_owned());
    });
    let flow = format!("{}, client_secret = 'planted-hush'", addresses(&provider));
    let scratch = scratch(&provider, &flow, "");
    let check = run(&scratch, &["check"]);
    assert_eq!(check.code, Some(1), "{}", check.stdout);
    assert!(check.stdout.contains(NEEDS), "{}", check.stdout);
    let doctor = run(&scratch, &["doctor"]);
    assert!(doctor.stdout.contains("needs a sign-in"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("sign in: `gatefold login server`"), "{}", doctor.stdout);
    let called = call(&scratch, "server__me");
    assert!(called.stderr.contains(NEEDS), "{}", called.stderr);
    assert_eq!(provider.counts().refused, 0);

    sign_in(&scratch).await;
    for tool in ["server__me", "server__write"] {
        let called = call(&scratch, tool);
        assert_eq!(called.code, Some(0), "{}{}", called.stdout, called.stderr);
        // The API repeats the token, and nobody reads it.
        assert!(called.stdout.contains("you_came_with"), "{}", called.stdout);
        assert!(!called.stdout.contains("planted"), "{}", called.stdout);
    }
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    let accounts = run(&scratch, &["accounts", "--json"]).json();
    let account = &accounts["accounts"][0];
    assert_eq!(account["source"], "server");
    assert_eq!(account["state"], "signed_in");
    assert_eq!(account["issuer"], provider.issuer());

    let out = run(&scratch, &["logout", "server"]);
    assert!(out.stdout.starts_with("signed out at `server`"), "{}", out.stdout);
    assert_eq!(provider.counts().revocations, 2);
    let called = call(&scratch, "server__me");
    assert_eq!(called.code, Some(1));
    assert!(called.stderr.contains(NEEDS), "{}", called.stderr);
    let shown = run(&scratch, &["config", "show"]);
    assert!(shown.stdout.contains("authorization_code"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("planted"), "{}", shown.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_opens_pages_has_its_user_sign_in_during_the_call() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, &addresses(&provider), HURRIED);
    sign_in(&scratch).await;
    run(&scratch, &["logout", "server"]);
    let call = r#"{"tool_name": "server__write", "arguments": {}}"#;
    signs_in_during(&scratch, &provider, call).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_request_says_what_the_configuration_says_and_no_more() {
    let provider = Provider::start().await.unwrap();
    let flow = format!(
        "{}, scopes = ['read', 'offline_access'], parameters = {{ access_type = 'offline', prompt = 'login' }}",
        addresses(&provider)
    );
    let scratch = scratch(&provider, &flow, "");
    let (waiting, address) = Waiting::login(&scratch, &["--no-browser"]);
    for part in ["&scope=read+offline_access", "&access_type=offline", "&prompt=login"] {
        assert!(address.contains(part), "{address}");
    }
    assert!(address.contains("&code_challenge_method=S256"), "{address}");
    assert!(!address.contains("resource=") && !address.contains("consent"), "{address}");
    browse(&address).await.unwrap();
    assert_eq!(waiting.ended().0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_says_the_rest_and_registers_gatefold() {
    let provider = Provider::start().await.unwrap();
    // Some say nothing of PKCE and know it.
    provider.change(|rules| {
        drop(rules.metadata.insert("code_challenge_methods_supported".to_owned(), Value::Null));
    });
    let flow = format!("issuer = '{}', resource = '{}'", provider.issuer(), provider.api_url());
    let scratch = scratch(&provider, &flow, "");
    sign_in(&scratch).await;
    assert_eq!(call(&scratch, "server__me").code, Some(0));
    let counts = provider.counts();
    assert_eq!((counts.registrations, counts.sign_ins), (1, 1));
    provider.change(|rules| {
        let plain = json!(["plain"]);
        drop(rules.metadata.insert("code_challenge_methods_supported".to_owned(), plain));
    });
    let refused = run(&scratch, &["login", "server"]);
    assert!(refused.stderr.contains("does not offer PKCE with S256"), "{}", refused.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_may_know_clients_by_the_body_alone() {
    let provider = Provider::start().await.unwrap();
    provider.change(|rules| {
        rules.client_secret = Some("planted-hush".to_owned());
        rules.secret_in_body = true;
        rules.lifetime_s = Some(1);
    });
    let flow = format!("{}, client_secret = 'planted-hush'", addresses(&provider));
    let scratch = scratch(&provider, &flow, "");
    sign_in(&scratch).await;
    sleep(Duration::from_millis(1100)).await;
    // The refresh goes the way that worked.
    let called = call(&scratch, "server__me");
    assert_eq!(called.code, Some(0), "{}{}", called.stdout, called.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_issuer_in_the_answer_is_refused() {
    let provider = Provider::start().await.unwrap();
    let other = "https://evil.example".to_owned();
    for (iss, further, is_right) in [
        ("{issuer}/realms/x", "", true),
        ("{issuer}/realms/x", ", issuer = 'https://id.example'", false),
        ("https://id.example", ", issuer = 'https://id.example'", true),
        (other.as_str(), "", false),
    ] {
        provider.change(|rules| rules.iss = Some(iss.to_owned()));
        let scratch = scratch(&provider, &format!("{}{further}", addresses(&provider)), "");
        let (waiting, address) = Waiting::login(&scratch, &["--no-browser"]);
        browse(&address).await.unwrap();
        assert_eq!(waiting.ended().0 == Some(0), is_right, "{iss} {further}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_through_two_gateways_refresh_once() {
    let provider = Provider::start().await.unwrap();
    provider.change(|rules| rules.lifetime_s = Some(3));
    let scratch = scratch(&provider, &addresses(&provider), "");
    sign_in(&scratch).await;
    let gateways = [Gateway::serve(&scratch).await, Gateway::serve(&scratch).await];
    let mut clients = Vec::new();
    for gateway in &gateways {
        let mut client = RawClient::new(gateway.url()).unwrap();
        client.initialize().await.unwrap();
        clients.push(client);
    }
    provider.change(|rules| (rules.token_delay_ms, rules.lifetime_s) = (300, Some(3600)));
    sleep(Duration::from_millis(3100)).await;
    let before = provider.counts().refreshes;
    let me = r#"{"tool_name": "server__write", "arguments": {}}"#;
    let calls = (0..32).map(|at| clients[at % 2].call("execute_tool", me));
    for answer in join_all(calls).await {
        let answer = answer.unwrap().result();
        assert_ne!(answer["isError"], true, "{answer}");
    }
    let counts = provider.counts();
    assert_eq!((counts.refreshes - before, counts.reuses), (1, 0));
    // A token that is refused while it is new is not renewed again and again.
    provider.expire();
    let answer = clients[0].call("execute_tool", me).await.unwrap().result();
    assert_eq!(answer["isError"], true, "{answer}");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("gatefold login server"), "{text}");
    assert_eq!(provider.counts().refreshes - before, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn further_rights_are_asked_for_when_a_call_needs_them() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, &addresses(&provider), "");
    sign_in(&scratch).await;
    provider.change(|rules| rules.call_scopes = vec!["write".to_owned()]);
    let called = call(&scratch, "server__me");
    assert!(called.stderr.contains("wants more rights"), "{}", called.stderr);
    sign_in(&scratch).await;
    assert_eq!(call(&scratch, "server__me").code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_follows_no_redirect_to_another_origin() {
    let (provider, other) = (Provider::start().await.unwrap(), Provider::start().await.unwrap());
    let further = format!("allow_private = true\n[sources.other]\nurl = '{}'\n", other.url());
    let scratch = scratch(&provider, &addresses(&provider), &further);
    sign_in(&scratch).await;
    provider.change(|rules| rules.moved_to = format!("{}/free", other.api_url()));
    let called = call(&scratch, "server__moved");
    assert!(called.stdout.contains(r#""has_token": false"#), "{}{}", called.stdout, called.stderr);
    // Another origin's refusal says nothing about the token.
    provider.change(|rules| rules.moved_to = format!("{}/me", other.api_url()));
    call(&scratch, "server__moved");
    assert_eq!(other.counts().refused, 0);
    assert_eq!(provider.counts().refreshes, 0);
    assert_eq!(call(&scratch, "server__me").code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn users_sign_in_apart_and_devices_by_a_code() {
    let provider = Provider::start().await.unwrap();
    let scratch = scratch(&provider, &addresses(&provider), "credentials = 'per_user'\n");
    let done = run(&scratch, &["login", "server", "--device", "--for", "ann"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let called = call(&scratch, "server__me");
    assert!(called.stderr.contains("gatefold login server"), "{}", called.stderr);
    sign_in(&scratch).await;
    let called = call(&scratch, "server__me");
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    let accounts = run(&scratch, &["accounts", "--json"]).json();
    let users: Vec<_> =
        accounts["accounts"].as_array().unwrap().iter().map(|it| &it["user"]).collect();
    assert_eq!(users, ["ann", "local"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_is_free_needs_no_sign_in() {
    let provider = Provider::start().await.unwrap();
    let scratch = Scratch::new();
    let description = json!({
        "openapi": "3.1.0",
        "info": { "title": "x", "version": "1" },
        "servers": [{ "url": "https://host.example" }],
        "security": [{ "login": [] }],
        "paths": {
            "/free": { "get": { "operationId": "free", "security": [], "responses": {} } },
            "/me": { "get": { "operationId": "me", "responses": {} } },
        },
        "components": { "securitySchemes": { "login": { "type": "oauth2", "flows": {
            "authorizationCode": {
                "authorizationUrl": format!("{}/authorize", provider.issuer()),
                "tokenUrl": format!("{}/token", provider.issuer()),
                "scopes": {},
            },
        } } } },
    });
    scratch.write("api.json", description.to_string());
    let (url, flow) = (provider.api_url(), addresses(&provider));
    let without = format!("[sources.server]\nopenapi = 'api.json'\nbase_url = '{url}'\n");
    scratch.write("gatefold.toml", &without);
    let check = run(&scratch, &["check"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = format!(
        "people sign in for it: `auth = {{ authorization_code = {{ authorize_url = \"{0}/authorize\", \
         token_url = \"{0}/token\", client_id = \"...\" }} }}`",
        provider.issuer()
    );
    assert!(check.contains(&hint), "{check}");
    let text = format!("{without}auth = {{ authorization_code = {{ {flow} }} }}\n");
    scratch.write("gatefold.toml", &text);
    sign_in(&scratch).await;
    assert_eq!(call(&scratch, "server__me").code, Some(0));
    run(&scratch, &["logout", "server"]);
    let called = call(&scratch, "server__free");
    assert!(called.stdout.contains(r#""has_token": false"#), "{}{}", called.stdout, called.stderr);
    assert!(call(&scratch, "server__me").stderr.contains(NEEDS));
}
