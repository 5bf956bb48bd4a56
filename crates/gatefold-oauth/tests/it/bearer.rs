//! Whose tokens let people in. Each attack is a token that differs in one thing from one that is good.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::routing::post;
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::future::join_all;
use gatefold_core::{Clock as _, ManualClock, Secret, SystemClock};
use gatefold_egress::{Egress, PrivateNetworks, Reach, Settings};
use gatefold_oauth::{
    BEARER_LIMIT, IntrospectionSettings, TokenBearer, TokenFault, TokenIssuers, TrustedIssuer,
};
use gatefold_testkit::{ISSUER_CLIENT, IssuerKey, TokenIssuer};
use reqwest::Url;
use ring::hmac;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const RESOURCE: &str = "https://tools.example/mcp";
const STRANGER: TokenBearer = TokenBearer::Stranger(IpAddr::V4(Ipv4Addr::LOCALHOST));

/// Gatefold's side of one issuer, at a clock that a test moves.
struct Gateway {
    issuer: TokenIssuer,
    clock: Arc<ManualClock>,
    issuers: TokenIssuers,
}

impl Gateway {
    async fn new() -> Self {
        Self::with(|trusted| trusted).await
    }

    async fn with(change: impl FnOnce(TrustedIssuer) -> TrustedIssuer) -> Self {
        let issuer = TokenIssuer::start().await.unwrap();
        let egress = Egress::new(Settings::default()).unwrap();
        let trusted = TrustedIssuer {
            issuer: issuer.issuer().as_str().into(),
            audiences: Arc::new([]),
            jwks_uri: None,
            introspection: None,
            scopes: Arc::new([]),
            groups_claim: "groups".to_owned(),
            client: egress.client_for(Reach::public().allowing(PrivateNetworks::All)),
        };
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let issuers = TokenIssuers::new(vec![change(trusted)], clock.clone());
        Self { issuer, clock, issuers }
    }

    async fn introspecting() -> Self {
        Self::introspecting_at(|_| None).await
    }

    /// At an address that follows from the issuer's, or at the one in its metadata.
    async fn introspecting_at(endpoint: impl FnOnce(&str) -> Option<Url>) -> Self {
        Self::with(|trusted| TrustedIssuer {
            introspection: Some(IntrospectionSettings {
                endpoint: endpoint(&trusted.issuer),
                client_id: ISSUER_CLIENT.0.to_owned(),
                client_secret: Secret::new(ISSUER_CLIENT.1),
            }),
            ..trusted
        })
        .await
    }

    /// Whose a token is at an address.
    async fn holder_at(&self, token: &str, resource: &str) -> Result<String, TokenFault> {
        let verified = self.issuers.verify(token, STRANGER).await?;
        let resource: Url = resource.parse().unwrap();
        verified.holder_at(&resource).map(|holder| holder.subject.clone())
    }

    async fn holder(&self, token: &str) -> Result<String, TokenFault> {
        self.holder_at(token, RESOURCE).await
    }

    /// A good token, but for these claims.
    fn token(&self, changes: Value) -> String {
        self.issuer.token(for_us(changes))
    }
}

fn for_us(mut changes: Value) -> Value {
    if changes.get("aud").is_none() {
        changes["aud"] = RESOURCE.into();
    }
    changes
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

#[tokio::test]
async fn each_algorithm_that_is_accepted_lets_in() {
    let gateway = Gateway::new().await;
    for key in [IssuerKey::Rsa, IssuerKey::P256, IssuerKey::Ed25519] {
        let token = gateway.issuer.signed(key, json!({}), for_us(json!({})));
        assert_eq!(gateway.holder(&token).await, Ok("ann".to_owned()), "{key:?}");
    }
    assert_eq!(gateway.issuer.counts().key_fetches, 1, "keys are fetched once");
}

#[tokio::test]
async fn a_token_that_differs_in_what_it_says_lets_nobody_in() {
    let gateway = Gateway::new().await;
    let now = SystemClock.now().as_millis() / 1000;
    let one_more_than_is_looked_at = [&["x"; 256], [RESOURCE].as_slice()].concat();
    let ok = Ok("ann".to_owned());
    for (changes, expected) in [
        (json!({}), ok.clone()),
        (json!({"aud": ["https://other.example", RESOURCE]}), ok.clone()),
        (json!({"exp": now - 30}), ok.clone()),
        (json!({"nbf": now + 30, "iat": now + 30}), ok.clone()),
        (json!({"exp": 4_000_000_000.5}), ok),
        (json!({"iss": "https://evil.example"}), Err(TokenFault::Foreign)),
        (json!({"iss": format!("{}/", gateway.issuer.issuer())}), Err(TokenFault::Foreign)),
        (json!({"iss": null}), Err(TokenFault::Foreign)),
        (json!({"iss": [gateway.issuer.issuer()]}), Err(TokenFault::Foreign)),
        (json!({"aud": "https://tools.example.evil.example/mcp"}), Err(TokenFault::Audience)),
        (json!({"aud": "https://tools.example/mc"}), Err(TokenFault::Audience)),
        (json!({"aud": "https://tools.example/mcp/source/crm"}), Err(TokenFault::Audience)),
        (json!({"aud": "http://tools.example/mcp"}), Err(TokenFault::Audience)),
        (json!({"aud": "a-program"}), Err(TokenFault::Audience)),
        (json!({"aud": {"0": RESOURCE}}), Err(TokenFault::Audience)),
        (json!({"aud": []}), Err(TokenFault::Audience)),
        (json!({"aud": one_more_than_is_looked_at}), Err(TokenFault::Audience)),
        (json!({"exp": now - 61}), Err(TokenFault::Expired)),
        (json!({"exp": null}), Err(TokenFault::Expired)),
        (json!({"exp": "4000000000"}), Err(TokenFault::Malformed)),
        (json!({"nbf": now + 120}), Err(TokenFault::Early)),
        (json!({"nbf": "0"}), Err(TokenFault::Malformed)),
        (json!({"iat": now + 120}), Err(TokenFault::Early)),
        (json!({"sub": null}), Err(TokenFault::Subject)),
        (json!({"sub": " "}), Err(TokenFault::Subject)),
        (json!({"sub": 7}), Err(TokenFault::Subject)),
        (json!({"sub": "ann\u{0}"}), Err(TokenFault::Subject)),
        (json!({"sub": "a".repeat(256)}), Err(TokenFault::Subject)),
    ] {
        assert_eq!(gateway.holder(&gateway.token(changes.clone())).await, expected, "{changes}");
    }
    let without_audience = gateway.issuer.token(json!({}));
    assert_eq!(gateway.holder(&without_audience).await, Err(TokenFault::Audience));
}

#[tokio::test]
async fn a_token_that_differs_in_its_header_lets_nobody_in() {
    let gateway = Gateway::new().await;
    let ok = Ok("ann".to_owned());
    for (changes, expected) in [
        (json!({"typ": "JWT"}), ok.clone()),
        (json!({"typ": null}), ok.clone()),
        (json!({"typ": "application/AT+JWT"}), ok.clone()),
        (json!({"kid": null}), ok),
        (json!({"typ": "logout+jwt"}), Err(TokenFault::Type)),
        (json!({"typ": "dpop+jwt"}), Err(TokenFault::Type)),
        (json!({"typ": "secevent+jwt"}), Err(TokenFault::Type)),
        (json!({"alg": "none"}), Err(TokenFault::Algorithm)),
        (json!({"alg": "None"}), Err(TokenFault::Algorithm)),
        (json!({"alg": "HS256"}), Err(TokenFault::Algorithm)),
        (json!({"alg": "RS1"}), Err(TokenFault::Algorithm)),
        (json!({"alg": "PS256"}), Err(TokenFault::Algorithm)),
        (json!({"crit": ["exp"]}), Err(TokenFault::Algorithm)),
        (json!({"kid": "shared"}), Err(TokenFault::Key)),
        (json!({"kid": "encrypts"}), Err(TokenFault::Key)),
        (json!({"kid": "derives"}), Err(TokenFault::Key)),
        (json!({"kid": "agrees"}), Err(TokenFault::Key)),
        (json!({"kid": "../../keys"}), Err(TokenFault::Key)),
        (json!({"alg": "RS256"}), Err(TokenFault::Key)),
        (json!({"alg": "RS256", "kid": "RS256-0"}), Err(TokenFault::Signature)),
        (json!({"alg": "EdDSA", "kid": null}), Err(TokenFault::Signature)),
        (json!({"alg": null}), Err(TokenFault::Malformed)),
        (json!({"alg": 5}), Err(TokenFault::Malformed)),
        (json!({"kid": 5}), Err(TokenFault::Malformed)),
    ] {
        let token = gateway.issuer.signed(IssuerKey::P256, changes.clone(), for_us(json!({})));
        assert_eq!(gateway.holder(&token).await, expected, "{changes}");
    }
}

/// Others may read the one or the other of two members with the same name.
#[tokio::test]
async fn a_token_that_says_something_twice_lets_nobody_in() {
    let gateway = Gateway::new().await;
    let ok = Ok("ann".to_owned());
    for (header, claims, expected) in [
        ("", "", ok.clone()),
        (r#", "x": 1, "x": 1"#, r#", "x": 1, "x": 1"#, ok),
        (r#", "alg": "ES256""#, "", Err(TokenFault::Malformed)),
        (r#", "typ": "at+jwt""#, "", Err(TokenFault::Malformed)),
        (r#", "kid": "ES256-0""#, "", Err(TokenFault::Malformed)),
        (r#", "crit": ["exp"], "crit": null"#, "", Err(TokenFault::Malformed)),
        ("", r#", "exp": 4000000000"#, Err(TokenFault::Malformed)),
        ("", r#", "nbf": 4000000000, "nbf": 1"#, Err(TokenFault::Malformed)),
        ("", r#", "iat": 4000000000, "iat": 1"#, Err(TokenFault::Malformed)),
    ] {
        let header = format!(r#"{{"alg": "ES256", "typ": "at+jwt", "kid": "ES256-0"{header}}}"#);
        let issuer = gateway.issuer.issuer();
        let usual = format!(r#""iss": "{issuer}", "sub": "ann", "aud": "{RESOURCE}""#);
        let claims = format!(r#"{{{usual}, "exp": 4000000000{claims}}}"#);
        let token = gateway.issuer.signed_text(IssuerKey::P256, &header, &claims);
        assert_eq!(gateway.holder(&token).await, expected, "{header} {claims}");
    }
}

#[tokio::test]
async fn a_signature_of_somebody_else_lets_nobody_in() {
    let gateway = Gateway::new().await;
    let good = gateway.token(json!({}));
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    let other = TokenIssuer::start().await.unwrap();
    let impostor = other.token(for_us(json!({"iss": gateway.issuer.issuer()})));
    let other_claims =
        encoded(&json!({"iss": gateway.issuer.issuer(), "sub": "root", "aud": RESOURCE}));
    assert_eq!(gateway.holder(&good).await, Ok("ann".to_owned()));
    for (forged, expected) in [
        (impostor, TokenFault::Signature),
        (format!("{header}.{other_claims}.{signature}"), TokenFault::Signature),
        (format!("{signed}."), TokenFault::Signature),
        (format!("{signed}.{}", URL_SAFE_NO_PAD.encode([0; 64])), TokenFault::Signature),
        (format!("{signed}.{signature}=="), TokenFault::Malformed),
        (format!("{signed}.{signature}.{signature}"), TokenFault::Malformed),
        (format!("{header}.{claims}"), TokenFault::Foreign),
    ] {
        assert_eq!(gateway.holder(&forged).await, Err(expected), "{forged}");
    }
    // The public key is no secret that both sides know.
    for key in [IssuerKey::P256, IssuerKey::Rsa] {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, &gateway.issuer.public_key(key));
        for kid in ["ES256-0", "RS256-0", "shared"] {
            let header = encoded(&json!({"alg": "HS256", "typ": "at+jwt", "kid": kid}));
            let text = format!("{header}.{claims}");
            let tag = URL_SAFE_NO_PAD.encode(hmac::sign(&secret, text.as_bytes()));
            let forged = gateway.holder(&format!("{text}.{tag}")).await;
            assert_eq!(forged, Err(TokenFault::Algorithm), "{key:?} {kid}");
        }
    }
    // A key that the token brings along proves nothing.
    let own = json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"});
    let brings = json!({"jwk": own, "jku": other.issuer() + "/keys"});
    let token =
        other.signed(IssuerKey::P256, brings, for_us(json!({"iss": gateway.issuer.issuer()})));
    assert_eq!(gateway.holder(&token).await, Err(TokenFault::Signature));
    assert_eq!(other.counts().key_fetches, 0, "nobody asks an address that a token names");
}

#[tokio::test]
async fn an_id_token_is_no_access_token() {
    let gateway = Gateway::new().await;
    for claim in ["nonce", "at_hash", "c_hash"] {
        let header = |typ: &str| json!({ "typ": typ });
        let claims = || for_us(json!({ claim: "x" }));
        let id_token = gateway.issuer.signed(IssuerKey::P256, header("JWT"), claims());
        assert_eq!(gateway.holder(&id_token).await, Err(TokenFault::Type), "{claim}");
        let access = gateway.issuer.signed(IssuerKey::P256, header("at+jwt"), claims());
        assert_eq!(gateway.holder(&access).await, Ok("ann".to_owned()), "{claim}");
    }
}

#[tokio::test]
async fn an_audience_is_good_for_its_address_and_what_is_below() {
    let gateway = Gateway::new().await;
    let source = "https://tools.example/mcp/source/crm";
    for (audience, resource, is_good) in [
        ("https://tools.example", RESOURCE, true),
        ("https://tools.example/", source, true),
        (RESOURCE, source, true),
        (source, source, true),
        (source, RESOURCE, false),
        (source, "https://tools.example/mcp/source/crm2", false),
        (source, "https://tools.example/mcp/agent/crm", false),
        ("https://tools.example:8443/mcp", RESOURCE, false),
        ("https://ann@tools.example/mcp?x=1", RESOURCE, false),
        ("tools.example/mcp", RESOURCE, false),
        ("*", RESOURCE, false),
    ] {
        let token = gateway.token(json!({ "aud": audience }));
        let holder = gateway.holder_at(&token, resource).await;
        assert_eq!(holder.is_ok(), is_good, "{audience} {resource}");
    }
    let named = Gateway::with(|trusted| TrustedIssuer {
        audiences: Arc::new(["api://gatefold".to_owned()]),
        ..trusted
    })
    .await;
    let token = |audience: &str| named.token(json!({ "aud": audience }));
    assert_eq!(named.holder(&token("api://gatefold")).await, Ok("ann".to_owned()));
    assert_eq!(named.holder(&token("api://gatefold/x")).await, Err(TokenFault::Audience));
}

#[tokio::test]
async fn every_scope_that_is_asked_for_is_needed() {
    let gateway = Gateway::with(|trusted| TrustedIssuer {
        scopes: Arc::new(["mcp".to_owned(), "tools".to_owned()]),
        ..trusted
    })
    .await;
    for (claims, is_enough) in [
        (json!({"scope": "tools openid mcp"}), true),
        (json!({"scp": ["mcp", "tools"]}), true),
        (json!({"scp": "mcp tools"}), true),
        (json!({"scope": "mcp"}), false),
        (json!({"scope": "mcptools mcp-tools"}), false),
        (json!({"scope": "", "scp": ["mcp", "tools"]}), false),
        (json!({}), false),
    ] {
        let expected = if is_enough { Ok("ann".to_owned()) } else { Err(TokenFault::Scope) };
        assert_eq!(gateway.holder(&gateway.token(claims.clone())).await, expected, "{claims}");
    }
}

#[tokio::test]
async fn groups_are_read_from_the_claim_that_has_them() {
    for (claim, claims, expected) in [
        ("groups", json!({"groups": ["a", "b"]}), vec!["a", "b"]),
        ("groups", json!({"groups": "a b,c"}), vec!["a", "b", "c"]),
        ("groups", json!({"groups": [1, "", "a", null]}), vec!["a"]),
        ("groups", json!({}), vec![]),
        ("realm_access.roles", json!({"realm_access": {"roles": ["a"]}}), vec!["a"]),
        ("https://x.example/groups", json!({"https://x.example/groups": ["a"]}), vec!["a"]),
    ] {
        let gateway =
            Gateway::with(|own| TrustedIssuer { groups_claim: claim.to_owned(), ..own }).await;
        let verified =
            gateway.issuers.verify(&gateway.token(claims.clone()), STRANGER).await.unwrap();
        let holder = verified.holder_at(&RESOURCE.parse().unwrap()).unwrap();
        assert_eq!(holder.groups, expected, "{claims}");
    }
}

#[tokio::test]
async fn new_keys_are_found_and_unknown_ones_looked_for_once_a_minute() {
    let gateway = Gateway::new().await;
    assert!(gateway.holder(&gateway.token(json!({}))).await.is_ok());
    gateway.issuer.rotate();
    let rotated = gateway.token(json!({}));
    assert_eq!(gateway.holder(&rotated).await, Err(TokenFault::Key), "too soon to look again");
    gateway.clock.advance(Duration::from_secs(61));
    assert_eq!(gateway.holder(&rotated).await, Ok("ann".to_owned()));
    assert_eq!(gateway.issuer.counts().key_fetches, 2);
    for flood in 0..200 {
        let header = json!({ "kid": format!("made-up-{flood}") });
        let token = gateway.issuer.signed(IssuerKey::P256, header, for_us(json!({})));
        assert_eq!(gateway.holder(&token).await, Err(TokenFault::Key));
    }
    assert_eq!(gateway.issuer.counts().key_fetches, 2, "a flood of made-up keys costs nothing");
}

#[tokio::test]
async fn a_key_that_its_issuer_took_back_is_good_no_longer() {
    let gateway = Gateway::new().await;
    let old = gateway.token(json!({}));
    assert!(gateway.holder(&old).await.is_ok());
    gateway.issuer.rotate();
    gateway.clock.advance(Duration::from_secs(5 * 60 + 1));
    assert_eq!(gateway.holder(&old).await, Err(TokenFault::Key));
}

#[tokio::test]
async fn keys_that_another_issuers_metadata_names_let_nobody_in() {
    let renamed = |own: &str| own.replace("127.0.0.1", "localhost");
    let named = |keys: fn(&str) -> Option<Url>| {
        Gateway::with(move |trusted| TrustedIssuer {
            jwks_uri: keys(&trusted.issuer),
            issuer: renamed(&trusted.issuer).into(),
            ..trusted
        })
    };
    let token =
        |gateway: &Gateway| gateway.token(json!({ "iss": renamed(&gateway.issuer.issuer()) }));
    let written = named(|own| format!("{own}/keys").parse().ok()).await;
    assert_eq!(written.holder(&token(&written)).await, Ok("ann".to_owned()));
    // What answers at its address says that it is somebody else.
    let gateway = named(|_| None).await;
    assert_eq!(gateway.holder(&token(&gateway)).await, Err(TokenFault::Unavailable));
}

#[tokio::test]
async fn an_issuer_that_is_down_locks_nobody_out_at_once() {
    // Without its metadata, so that each try to fetch its keys is counted.
    let gateway = Gateway::with(|trusted| TrustedIssuer {
        jwks_uri: format!("{}/keys", trusted.issuer).parse().ok(),
        ..trusted
    })
    .await;
    let later = SystemClock.now().as_millis() / 1000 + 4 * 3600;
    let token = gateway.token(json!({ "exp": later }));
    assert!(gateway.holder(&token).await.is_ok());
    gateway.issuer.fail(Some(503));
    gateway.clock.advance(Duration::from_secs(30 * 60));
    assert!(gateway.holder(&token).await.is_ok(), "the keys of half an hour ago still do");
    gateway.clock.advance(Duration::from_secs(31 * 60));
    assert_eq!(gateway.holder(&token).await, Err(TokenFault::Unavailable));
    let fetches = gateway.issuer.counts().key_fetches;
    assert_eq!(gateway.holder(&token).await, Err(TokenFault::Unavailable));
    assert_eq!(gateway.issuer.counts().key_fetches, fetches, "it is not asked again at once");
    gateway.issuer.fail(None);
    gateway.clock.advance(Duration::from_secs(6));
    assert!(gateway.holder(&token).await.is_ok());
}

#[tokio::test]
async fn what_is_no_token_is_refused_without_a_question() {
    let gateway = Gateway::new().await;
    let large = gateway.token(json!({ "padding": "x".repeat(BEARER_LIMIT) }));
    for (token, expected) in [
        ("", TokenFault::Foreign),
        ("nonsense", TokenFault::Foreign),
        ("a.b.c", TokenFault::Foreign),
        ("..", TokenFault::Foreign),
        ("e30.e30.", TokenFault::Malformed),
        (large.as_str(), TokenFault::Malformed),
    ] {
        assert_eq!(gateway.holder(token).await, Err(expected), "{token:.40}");
    }
    assert_eq!(gateway.issuer.counts().key_fetches, 0);
}

#[tokio::test]
async fn an_issuer_is_asked_about_opaque_tokens() {
    let gateway = Gateway::introspecting().await;
    let opaque = |changes: Value| gateway.issuer.opaque(for_us(changes));
    let ok = Ok("ann".to_owned());
    for (changes, expected) in [
        (json!({}), ok.clone()),
        (json!({"exp": null}), ok.clone()),
        (json!({"iss": null}), ok),
        (json!({"active": false}), Err(TokenFault::Inactive)),
        (json!({"active": "true"}), Err(TokenFault::Inactive)),
        (json!({"iss": "https://evil.example"}), Err(TokenFault::Inactive)),
        (json!({"exp": 1}), Err(TokenFault::Expired)),
        (json!({"aud": "https://other.example"}), Err(TokenFault::Audience)),
        (json!({"sub": null}), Err(TokenFault::Subject)),
    ] {
        assert_eq!(gateway.holder(&opaque(changes.clone())).await, expected, "{changes}");
    }
    let without_audience = gateway.issuer.opaque(json!({}));
    assert_eq!(gateway.holder(&without_audience).await, Err(TokenFault::Audience));
    assert_eq!(gateway.holder("nonsense").await, Err(TokenFault::Inactive));
    let signed = gateway.token(json!({}));
    let questions = gateway.issuer.counts().questions;
    assert!(gateway.holder(&signed).await.is_ok());
    assert_eq!(gateway.issuer.counts().questions, questions, "a signed token speaks for itself");
    gateway.issuer.fail(Some(500));
    assert_eq!(gateway.holder("opaque-planted-0").await, Err(TokenFault::Unavailable));
}

#[tokio::test]
async fn an_answer_that_failed_vouches_for_no_token() {
    let at = |issuer: &str| format!("{issuer}/introspect").parse().ok();
    let gateway = Gateway::introspecting_at(at).await;
    let token = gateway.issuer.opaque(for_us(json!({})));
    assert_eq!(gateway.holder(&token).await, Ok("ann".to_owned()));
    gateway.issuer.fail(Some(500));
    assert_eq!(gateway.holder(&token).await, Err(TokenFault::Unavailable));
    assert_eq!(gateway.issuer.counts().questions, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn made_up_tokens_have_few_questions_asked_at_a_time() {
    let (now, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (counted, highest) = (now.clone(), most.clone());
    let answer = move || {
        let (now, most) = (counted.clone(), highest.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(50)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Json(json!({"active": false}))
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let router = Router::new().route("/", post(answer));
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let gateway = Gateway::introspecting_at(|_| url.parse().ok()).await;
    let tokens = (0..64).map(|number| format!("made-up-{number}"));
    let found = join_all(tokens.map(async |token| gateway.holder(&token).await)).await;
    assert!(found.iter().all(|it| *it == Err(TokenFault::Inactive)), "{found:?}");
    let most = most.load(Ordering::SeqCst);
    assert!((2..=16).contains(&most), "{most}");
    server.abort();
}

/// How many connections present made-up tokens at once.
const MADE_UP: usize = 900;

#[tokio::test(flavor = "multi_thread")]
async fn made_up_tokens_hold_up_neither_other_networks_nor_known_tokens() {
    let asked = Arc::<AtomicUsize>::default();
    let counted = asked.clone();
    let answer = move |body: String| {
        let asked = counted.clone();
        async move {
            if body.contains("made-up") {
                // An issuer that looks long for what it never gave out.
                asked.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<()>().await;
            }
            Json(json!({"active": true, "sub": "ann", "aud": RESOURCE}))
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let router = Router::new().route("/", post(answer));
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let gateway = Arc::new(Gateway::introspecting_at(|_| url.parse().ok()).await);
    let attacks: Vec<_> = (0..MADE_UP)
        .map(|number| {
            let gateway = gateway.clone();
            tokio::spawn(async move { gateway.holder(&format!("made-up-{number}")).await })
        })
        .collect();
    while asked.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let elsewhere = TokenBearer::Stranger(Ipv4Addr::new(203, 0, 113, 9).into());
    for bearer in [elsewhere, TokenBearer::Known] {
        let verified = gateway.issuers.verify("a-good-token", bearer);
        let verified = tokio::time::timeout(Duration::from_secs(5), verified).await;
        let verified = verified.expect("its turn comes before theirs").unwrap();
        assert_eq!(verified.holder().subject, "ann", "{bearer:?}");
    }
    attacks.iter().for_each(tokio::task::JoinHandle::abort);
    server.abort();
}
