//! Signing in, with a browser, on a device, and as a machine.

use gatefold_core::{Secret, UpstreamIdentity};
use gatefold_oauth::{
    ClientSecret, ClientSettings, KnownProvider, ProviderAddresses, ProviderPlace, Redirect,
    RedirectAnswer, SignInNeed, SiteSettings,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::bench::{Bench, SOON, token};

#[tokio::test]
async fn a_browser_signs_in_and_comes_back_with_what_calls_carry() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    let carried = token(&bench.process(), &UpstreamIdentity::Shared).await.unwrap().unwrap();
    assert!(carried.starts_with("Bearer access-planted"), "{carried}");
    let counts = bench.provider.counts();
    assert_eq!((counts.registrations, counts.sign_ins), (1, 1));
    bench.sign_in(&Bench::place()).await;
    let counts = bench.provider.counts();
    assert_eq!((counts.registrations, counts.sign_ins), (1, 2), "the client is known by now");
}

#[tokio::test]
async fn a_device_signs_in_without_a_browser() {
    let bench = Bench::new().await;
    let deadline = Instant::now() + SOON;
    bench.provider.change(|rules| rules.device_signs_in = false);
    let begun = bench.begin(ClientSettings::default()).await.unwrap();
    let mut sign_in = begun.on_device(deadline).await.unwrap();
    assert_eq!(sign_in.code.user_code, "ABCD-EFGH");
    assert!(sign_in.poll(deadline).await.unwrap().is_none());
    bench.provider.change(|rules| rules.device_signs_in = true);
    let grant = sign_in.poll(deadline).await.unwrap().unwrap();
    assert!(grant.tokens.unwrap().refresh.is_some());
}

#[tokio::test]
async fn a_machine_signs_itself_in() {
    let bench = Bench::new().await;
    let oauth = ClientSettings {
        id: Some("machine".to_owned()),
        secret: Some(ClientSecret::Text(Secret::new("hush"))),
        ..ClientSettings::default()
    };
    let site = SiteSettings { oauth, sign_in: SignInNeed::Machine, ..bench.site() };
    let accounts = bench.process_with(site);
    let first = token(&accounts, &UpstreamIdentity::Shared).await.unwrap().unwrap();
    assert_eq!(token(&accounts, &UpstreamIdentity::Shared).await.unwrap().unwrap(), first);
    crate::bench::pass(&bench, std::time::Duration::from_secs(3600));
    assert_ne!(token(&accounts, &UpstreamIdentity::Shared).await.unwrap().unwrap(), first);
}

/// A change of the provider, or of what comes back, and why nobody is signed in then.
async fn refused(
    metadata: Value,
    resource_metadata: Value,
    alter: impl Fn(&str) -> String,
) -> String {
    let bench = Bench::new().await;
    let map = |value: Value| value.as_object().cloned().unwrap_or_default();
    bench.provider.change(|rules| {
        rules.metadata = map(metadata);
        rules.resource_metadata = map(resource_metadata);
    });
    let deadline = Instant::now() + SOON;
    let signed_in = async {
        let begun = bench.begin(ClientSettings::default()).await?;
        let redirect = Redirect("http://127.0.0.1:4/callback".to_owned());
        let sign_in = begun.browse(redirect, deadline).await?;
        let query = alter(&bench.browse(sign_in.request.url.as_str()).await);
        sign_in.redeem(RedirectAnswer::of_query(&query).unwrap(), deadline).await
    };
    let error = signed_in.await.err().map(|error| error.to_string()).unwrap_or_default();
    error.replace(&bench.provider.issuer(), "ISSUER")
}

#[tokio::test]
async fn an_attack_is_refused_and_the_same_way_without_it_works() {
    let as_is = |query: &str| query.to_owned();
    assert_eq!(refused(json!({}), json!({}), as_is).await, "");
    let cases = [
        (
            json!({ "issuer": "https://evil.example" }),
            json!({}),
            "the metadata is that of `https://evil.example`, not of `ISSUER`",
        ),
        (
            json!({}),
            json!({ "resource": "https://evil.example/mcp" }),
            "the metadata is about `https://evil.example/mcp`, not about `ISSUER/mcp`",
        ),
        (
            json!({ "code_challenge_methods_supported": ["plain"] }),
            json!({}),
            "`ISSUER` does not offer PKCE with S256, without which a sign-in is not safe",
        ),
        (
            json!({ "code_challenge_methods_supported": null }),
            json!({}),
            "`ISSUER` does not offer PKCE with S256, without which a sign-in is not safe",
        ),
        (
            json!({ "registration_endpoint": null }),
            json!({}),
            "`ISSUER` does not let programs register themselves",
        ),
        (
            json!({ "token_endpoint": "file:///etc/passwd" }),
            json!({}),
            "the metadata at `ISSUER/.well-known/oauth-authorization-server` cannot be used: \
             `file:///etc/passwd` is not an HTTPS address",
        ),
    ];
    for (metadata, resource, expected) in cases {
        assert_eq!(refused(metadata, resource, as_is).await, expected);
    }
    let alterations: [(&str, &str, &str); 4] = [
        ("code=", "code=x", "no token was given: `invalid_grant`"),
        ("state=", "state=x", "the answer belongs to another sign-in"),
        ("iss=", "iss=x", "the answer names the issuer `xISSUER` instead of `ISSUER`"),
        ("&iss=", "&not=", "the answer does not name its issuer, as `ISSUER` promises to"),
    ];
    for (from, to, expected) in alterations {
        let told = refused(json!({}), json!({}), |query| query.replace(from, to)).await;
        assert_eq!(told, expected, "{from} {to}");
    }
}

#[tokio::test]
async fn metadata_leads_to_no_address_that_the_source_may_not_reach() {
    let bench = Bench::new().await;
    let other = gatefold_testkit::Provider::start().await.unwrap();
    // Another port of this machine is another address.
    for place in [other.issuer(), "http://169.254.169.254".to_owned(), "http://[::1]:1".to_owned()]
    {
        bench.provider.change(|rules| {
            rules.resource_metadata.insert("authorization_servers".to_owned(), json!([place]));
        });
        let error = bench.begin(ClientSettings::default()).await.err().unwrap().to_string();
        assert!(
            error.starts_with("the metadata of the provider could not be asked for"),
            "{error}"
        );
        assert!(error.contains("private") || error.contains("not on the Internet"), "{error}");
    }
    assert_eq!(other.counts().registrations, 0);
}

#[tokio::test]
async fn a_code_is_good_once() {
    let bench = Bench::new().await;
    let deadline = Instant::now() + SOON;
    let redirect = Redirect("http://127.0.0.1:4/callback".to_owned());
    let begun = bench.begin(ClientSettings::default()).await.unwrap();
    let sign_in = begun.browse(redirect, deadline).await.unwrap();
    let query = bench.browse(sign_in.request.url.as_str()).await;
    let answer = || RedirectAnswer::of_query(&query).unwrap();
    sign_in.redeem(answer(), deadline).await.unwrap();
    let again = sign_in.redeem(answer(), deadline).await.err().unwrap();
    assert_eq!(again.to_string(), "no token was given: `invalid_grant`");
}

#[tokio::test]
async fn a_provider_that_registers_no_scopes_is_asked_without() {
    let bench = Bench::new().await;
    bench.provider.change(|rules| {
        rules.refuses_scopes = true;
        rules.resource_metadata.insert("scopes_supported".to_owned(), json!(["read"]));
    });
    let grant = bench.signed_in(ClientSettings::default()).await.unwrap();
    assert_eq!(grant.scopes, ["read"]);
    assert_eq!(bench.provider.counts().registrations, 1);
}

#[tokio::test]
async fn a_refused_scope_is_told_with_the_key_that_mends_it() {
    let bench = Bench::new().await;
    bench.provider.change(|rules| {
        rules.phantom_scope = Some("phantom".to_owned());
        rules.resource_metadata.insert("scopes_supported".to_owned(), json!(["read", "phantom"]));
    });
    let error = bench.signed_in(ClientSettings::default()).await.err().unwrap();
    assert_eq!(
        format!("{error}; {}", error.hint().unwrap()),
        "the provider refused the scopes `read phantom`: `invalid_scope`: unknown scope: phantom; \
         write `oauth.scopes = [\"read\"]` into the source"
    );
    let scopes = Some(vec!["read".to_owned()]);
    let settings = ClientSettings { scopes, ..ClientSettings::default() };
    assert_eq!(bench.signed_in(settings).await.unwrap().scopes, ["read"]);
}

#[tokio::test]
async fn metadata_is_read_as_providers_write_it() {
    let bench = Bench::new().await;
    bench.provider.change(|rules| {
        rules.resource_metadata.insert("scopes_supported".to_owned(), json!("read write"));
        rules.metadata.insert("token_endpoint_auth_methods_supported".to_owned(), json!("none"));
        rules.metadata.insert("scopes_supported".to_owned(), json!([null, "read"]));
        rules.metadata.insert("prompt_values_supported".to_owned(), json!({}));
        rules.metadata.insert("jwks_uri".to_owned(), json!(""));
    });
    let grant = bench.signed_in(ClientSettings::default()).await.unwrap();
    assert_eq!(grant.scopes, ["read", "write"]);
}

#[tokio::test]
async fn a_server_that_names_no_provider_and_has_none_offers_no_sign_in() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = axum::Router::new().fallback(|| async { http::StatusCode::UNAUTHORIZED });
    tokio::spawn(async move { axum::serve(listener, server).await });
    let egress = gatefold_egress::Egress::new(gatefold_egress::Settings::default()).unwrap();
    let reach =
        gatefold_egress::Reach::for_source([url.as_str()], gatefold_egress::PrivateNetworks::None);
    let challenge = gatefold_oauth::BearerChallenge::default();
    let deadline = Instant::now() + SOON;
    let (client, resource) = (egress.client_for(reach), url.parse().unwrap());
    let found = gatefold_oauth::discover(&client, &resource, Some(&challenge), deadline);
    let error = found.await.err().unwrap();
    assert_eq!(error.to_string(), format!("`{url}` does not say where to sign in"));
}

#[tokio::test]
async fn a_client_for_browsers_is_not_taken_for_a_device() {
    let bench = Bench::new().await;
    bench.sign_in(&Bench::place()).await;
    let begun = bench.begin(ClientSettings::default()).await.unwrap();
    begun.on_device(Instant::now() + SOON).await.unwrap();
    assert_eq!(bench.provider.counts().registrations, 2);
}

#[tokio::test]
async fn a_configured_client_registers_nothing() {
    let bench = Bench::new().await;
    let oauth = ClientSettings {
        id: Some("configured".to_owned()),
        scopes: Some(vec!["read".to_owned()]),
        ..ClientSettings::default()
    };
    let grant = bench.signed_in(oauth).await.unwrap();
    assert_eq!(grant.client.id, "configured");
    assert_eq!(grant.scopes, ["read"]);
    assert_eq!(bench.provider.counts().registrations, 0);
    bench.keep(&Bench::place(), &grant).await;
    let carried = token(&bench.process(), &UpstreamIdentity::Shared).await.unwrap();
    assert!(carried.is_some());
}

#[tokio::test]
async fn a_client_with_a_new_secret_needs_no_new_sign_in() {
    let bench = Bench::new().await;
    let with = |secret: &str| ClientSettings {
        id: Some("configured".to_owned()),
        secret: Some(ClientSecret::Text(Secret::new(secret))),
        ..ClientSettings::default()
    };
    let address = |path: &str| format!("{}/{path}", bench.provider.issuer()).parse().unwrap();
    let addresses = ProviderAddresses {
        authorization: address("authorize"),
        token: address("token"),
        device: None,
        revocation: None,
        issuer: None,
    };
    let known = KnownProvider {
        place: ProviderPlace::Addresses(Box::new(addresses)),
        resource: None,
        parameters: Vec::new(),
    };
    bench.provider.change(|rules| {
        rules.client_secret = Some("old".to_owned());
        rules.refuses_resource = true;
    });
    let grant = bench.signed_in_at(Some(known.clone()), with("old")).await.unwrap();
    assert_eq!(grant.resource, None);
    bench.keep(&Bench::place(), &grant).await;
    bench.provider.change(|rules| rules.client_secret = Some("new".to_owned()));
    crate::bench::pass(&bench, std::time::Duration::from_secs(3600));
    let site = SiteSettings { oauth: with("new"), known: Some(known), ..bench.site() };
    let accounts = bench.process_with(site);
    assert!(token(&accounts, &UpstreamIdentity::Shared).await.unwrap().is_some());
    assert_eq!(bench.provider.counts().refreshes, 1);
}
