//! People who come back from an OpenID provider. Each attack differs in one thing from a sign-in that is
//! good.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use gatefold_core::{Clock as _, ManualClock, Secret, SystemClock};
use gatefold_egress::{Egress, PrivateNetworks, Reach, Settings};
use gatefold_identity::{AccountChoice, VisitSecrets};
use gatefold_oauth::{OpenIdProvider, OpenIdSettings, SignInError, TokenFault, TokenHolder};
use gatefold_testkit::{ISSUER_CLIENT, IdentityRules, IssuerKey, TokenIssuer};
use http::Method;
use reqwest::Url;
use ring::hmac;
use serde_json::{Value, json};
use tokio::time::timeout;

const REDIRECT: &str = "https://tools.example/oauth/callback";

/// A gateway whose people sign in at a provider.
struct Entrance {
    issuer: TokenIssuer,
    clock: Arc<ManualClock>,
    egress: Egress,
    provider: OpenIdProvider,
}

fn visit(number: u32) -> VisitSecrets {
    let secret = |name: &str| Secret::new(format!("{name}-{number}-{}", "x".repeat(40)));
    VisitSecrets { state: secret("state"), nonce: secret("nonce"), verifier: secret("verifier") }
}

impl Entrance {
    async fn new() -> Self {
        Self::with(|settings| settings).await
    }

    async fn with(change: impl FnOnce(OpenIdSettings) -> OpenIdSettings) -> Self {
        let issuer = TokenIssuer::start().await.unwrap();
        let egress = Egress::new(Settings::default()).unwrap().without_proxies();
        let settings = OpenIdSettings {
            issuer: issuer.issuer().as_str().into(),
            client_id: ISSUER_CLIENT.0.to_owned(),
            client_secret: Secret::new(ISSUER_CLIENT.1),
            scopes: vec!["groups".to_owned(), "openid".to_owned()],
            groups_claim: "realm_access.roles".to_owned(),
            redirect: REDIRECT.to_owned(),
            client: egress.client_for(Reach::public().allowing(PrivateNetworks::All)),
        };
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let provider = OpenIdProvider::new(change(settings), clock.clone());
        Self { issuer, clock, egress, provider }
    }

    /// The query with which the provider sends a browser back.
    async fn browse(&self, page: Url) -> String {
        let client = self.egress.client_for(Reach::public().allowing(PrivateNetworks::All));
        let page = client.send_once(client.request(Method::GET, page)).await.unwrap();
        assert!(page.status().is_redirection(), "{}", page.status());
        let back = page.headers()[http::header::LOCATION].to_str().unwrap();
        assert!(back.starts_with(REDIRECT), "{back}");
        back.split_once('?').unwrap().1.to_owned()
    }

    async fn back(&self, visit: &VisitSecrets) -> String {
        let page = self.provider.page(visit, AccountChoice::Usual).await.unwrap();
        self.browse(page).await
    }

    async fn holder(&self) -> Result<TokenHolder, SignInError> {
        let visit = visit(1);
        let query = self.back(&visit).await;
        self.provider.holder(&visit, &query).await
    }

    /// Who is signed in by a provider with these rules.
    async fn subject(&self, rules: IdentityRules) -> Result<String, String> {
        self.issuer.set_identity(rules);
        let holder = self.holder().await;
        self.issuer.set_identity(IdentityRules::default());
        match holder {
            Ok(holder) => Ok(holder.subject),
            Err(SignInError::Identity(fault)) => Err(format!("{fault:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn of_claims(&self, claims: Value) -> Result<String, String> {
        self.subject(IdentityRules { claims, ..IdentityRules::default() }).await
    }

    async fn of_header(&self, header: Value) -> Result<String, String> {
        self.subject(IdentityRules { header, ..IdentityRules::default() }).await
    }

    async fn of_forged(
        &self,
        forge: impl Fn(&Value) -> String + Send + 'static,
    ) -> Result<String, String> {
        let forge: Box<dyn Fn(&Value) -> String + Send> = Box::new(forge);
        self.subject(IdentityRules { forge: Some(forge), ..IdentityRules::default() }).await
    }

    async fn of_answer(&self, answer: &[(&'static str, &str)]) -> Result<String, String> {
        let answer = answer.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.subject(IdentityRules { answer, ..IdentityRules::default() }).await
    }
}

fn refused(fault: TokenFault) -> Result<String, String> {
    Err(format!("{fault:?}"))
}

/// The person whom the provider signs in.
static ANN: LazyLock<Result<String, String>> = LazyLock::new(|| Ok("ann".to_owned()));

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

#[tokio::test]
async fn a_person_is_who_the_id_token_says() {
    let entrance = Entrance::new().await;
    assert_eq!(entrance.issuer.counts().metadata_fetches, 0, "nothing is asked before");
    let claims = json!({"realm_access": {"roles": ["ops", "dev"]}, "groups": ["root"]});
    let elsewhere = TokenIssuer::start().await.unwrap();
    let metadata = json!({"userinfo_endpoint": format!("{}/keys", elsewhere.issuer())});
    entrance.issuer.set_identity(IdentityRules { claims, metadata, ..IdentityRules::default() });
    let holder = entrance.holder().await.unwrap();
    assert_eq!(elsewhere.counts().key_fetches, 0, "only the ID token says who it is");
    assert_eq!((&*holder.issuer, &*holder.subject), (&*entrance.issuer.issuer(), "ann"));
    assert_eq!(holder.groups, ["ops", "dev"]);
    let asked = entrance.issuer.asked();
    let of = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    assert_eq!((of("response_type"), of("scope")), ("code", "openid groups"));
    assert_eq!((of("redirect_uri"), of("code_challenge_method")), (REDIRECT, "S256"));
    assert_eq!((of("prompt"), of("resource"), of("response_mode")), ("", "", ""));
    let [state, nonce] = [visit(1).state, visit(1).nonce].map(|own| own.expose().to_owned());
    assert_eq!((of("state"), of("nonce")), (&*state, &*nonce));
    assert!(!asked.values().any(|value| value == visit(1).verifier.expose()));
    entrance.holder().await.unwrap();
    let counts = entrance.issuer.counts();
    assert_eq!((counts.metadata_fetches, counts.key_fetches), (1, 1), "both are known by then");
}

#[tokio::test]
async fn another_account_is_asked_for_in_a_way_that_the_provider_knows() {
    for (offered, expected) in [
        (json!(null), "select_account"),
        (json!(["none", "login", "select_account"]), "select_account"),
        (json!(["none", "login", "consent"]), "login"),
    ] {
        let entrance = Entrance::new().await;
        let metadata = json!({"prompt_values_supported": offered});
        entrance.issuer.set_identity(IdentityRules { metadata, ..IdentityRules::default() });
        let another = entrance.provider.page(&visit(2), AccountChoice::Another).await.unwrap();
        entrance.browse(another).await;
        assert_eq!(entrance.issuer.asked()["prompt"], expected, "{offered}");
    }
}

#[tokio::test]
async fn each_way_to_sign_and_to_prove_who_asks_works() {
    let entrance = Entrance::new().await;
    for key in [IssuerKey::Rsa, IssuerKey::P256, IssuerKey::Ed25519] {
        let signer = Arc::new(TokenIssuer::start().await.unwrap());
        let jwks = json!({"jwks_uri": format!("{}/keys", signer.issuer())});
        let fresh = Entrance::new().await;
        let sign = move |claims: &Value| signer.signed(key, json!({"typ": "JWT"}), claims.clone());
        let rules = IdentityRules {
            metadata: jwks,
            forge: Some(Box::new(sign)),
            ..IdentityRules::default()
        };
        assert_eq!(fresh.subject(rules).await, *ANN, "{key:?}");
    }
    for ways in [
        json!(["client_secret_basic", "client_secret_post"]),
        json!(["client_secret_post"]),
        json!(["private_key_jwt", "client_secret_post"]),
        Value::Null,
    ] {
        let metadata = json!({ "token_endpoint_auth_methods_supported": ways });
        entrance.clock.advance(Duration::from_secs(3600));
        let claims = json!({"iat": 1, "exp": 4_000_000_000_u64});
        let rules = IdentityRules { metadata, claims, ..IdentityRules::default() };
        assert_eq!(entrance.subject(rules).await, *ANN, "{ways}");
    }
}

#[tokio::test]
async fn an_id_token_that_differs_in_what_it_says_signs_nobody_in() {
    let entrance = Entrance::new().await;
    let now = SystemClock.now().as_millis() / 1000;
    let us = ISSUER_CLIENT.0;
    for (claims, expected) in [
        (json!({}), ANN.clone()),
        (json!({"aud": [us]}), ANN.clone()),
        (json!({"aud": [us], "azp": us}), ANN.clone()),
        (json!({"aud": ["other", us], "azp": us}), ANN.clone()),
        (json!({"exp": now - 30}), ANN.clone()),
        (json!({"iat": now + 30}), ANN.clone()),
        (json!({"nonce": "n-0S6_WzA2Mj"}), refused(TokenFault::Nonce)),
        (json!({"nonce": null}), refused(TokenFault::Nonce)),
        (json!({"nonce": [visit(1).nonce.expose()]}), refused(TokenFault::Nonce)),
        (json!({"nonce": visit(2).nonce.expose()}), refused(TokenFault::Nonce)),
        (json!({"aud": "other"}), refused(TokenFault::Client)),
        (json!({"aud": REDIRECT}), refused(TokenFault::Client)),
        (json!({"aud": null}), refused(TokenFault::Client)),
        (json!({"aud": []}), refused(TokenFault::Client)),
        (json!({"aud": {us: us}}), refused(TokenFault::Client)),
        (json!({"aud": ["other", us]}), refused(TokenFault::Client)),
        (json!({"aud": [us, 7]}), refused(TokenFault::Client)),
        (json!({"aud": ["other", us], "azp": "other"}), refused(TokenFault::Client)),
        (json!({"azp": "other"}), refused(TokenFault::Client)),
        (json!({"aud": ["other"], "azp": us}), refused(TokenFault::Client)),
        (json!({"iss": "https://evil.example"}), refused(TokenFault::Foreign)),
        (json!({"iss": format!("{}/", entrance.issuer.issuer())}), refused(TokenFault::Foreign)),
        (json!({"iss": null}), refused(TokenFault::Foreign)),
        (json!({"exp": now - 61}), refused(TokenFault::Expired)),
        (json!({"exp": null}), refused(TokenFault::Expired)),
        (json!({"iat": null}), refused(TokenFault::Malformed)),
        (json!({"iat": now + 120}), refused(TokenFault::Early)),
        (json!({"nbf": now + 120}), refused(TokenFault::Early)),
        (json!({"sub": null}), refused(TokenFault::Subject)),
        (json!({"sub": " "}), refused(TokenFault::Subject)),
        (json!({"sub": "ann\u{0}"}), refused(TokenFault::Subject)),
        (json!({"sub": "a".repeat(256)}), refused(TokenFault::Subject)),
        (json!({"padding": "x".repeat(20_000)}), refused(TokenFault::Malformed)),
    ] {
        assert_eq!(entrance.of_claims(claims.clone()).await, expected, "{claims}");
    }
}

#[tokio::test]
async fn an_id_token_that_differs_in_its_header_signs_nobody_in() {
    let entrance = Entrance::new().await;
    for (header, expected) in [
        (json!({"typ": null}), ANN.clone()),
        (json!({"typ": "application/jwt"}), ANN.clone()),
        (json!({"kid": null}), ANN.clone()),
        (json!({"typ": "at+jwt"}), refused(TokenFault::Type)),
        (json!({"typ": "application/at+jwt"}), refused(TokenFault::Type)),
        (json!({"typ": "logout+jwt"}), refused(TokenFault::Type)),
        (json!({"alg": "none"}), refused(TokenFault::Algorithm)),
        (json!({"alg": "HS256"}), refused(TokenFault::Algorithm)),
        (json!({"alg": "RS256"}), refused(TokenFault::Key)),
        (json!({"crit": ["exp"]}), refused(TokenFault::Algorithm)),
        (json!({"kid": "encrypts"}), refused(TokenFault::Key)),
        (json!({"kid": "another"}), refused(TokenFault::Key)),
    ] {
        assert_eq!(entrance.of_header(header.clone()).await, expected, "{header}");
    }
}

#[tokio::test]
async fn a_forged_id_token_signs_nobody_in() {
    let entrance = Entrance::new().await;
    assert_eq!(entrance.holder().await.unwrap().subject, "ann");
    let unsigned =
        |claims: &Value| format!("{}.{}.", encoded(&json!({"alg": "none"})), encoded(claims));
    assert_eq!(entrance.of_forged(unsigned).await, refused(TokenFault::Algorithm));
    let no_signature = |claims: &Value| {
        let header = json!({"alg": "ES256", "kid": "ES256-0"});
        format!("{}.{}.", encoded(&header), encoded(claims))
    };
    assert_eq!(entrance.of_forged(no_signature).await, refused(TokenFault::Signature));
    // The public key, and the client's secret, are no secrets that sign.
    let public = entrance.issuer.public_key(IssuerKey::P256);
    for secret in [public, ISSUER_CLIENT.1.as_bytes().to_vec()] {
        let with_secret = move |claims: &Value| {
            let header = json!({"alg": "HS256", "kid": "ES256-0"});
            let text = format!("{}.{}", encoded(&header), encoded(claims));
            let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), text.as_bytes());
            format!("{text}.{}", URL_SAFE_NO_PAD.encode(tag))
        };
        assert_eq!(entrance.of_forged(with_secret).await, refused(TokenFault::Algorithm));
    }
    let other = TokenIssuer::start().await.unwrap();
    let impostor = move |claims: &Value| {
        other.signed(IssuerKey::P256, json!({"typ": "JWT", "jku": other.issuer()}), claims.clone())
    };
    assert_eq!(entrance.of_forged(impostor).await, refused(TokenFault::Signature));
    let none = "the token endpoint's answer cannot be used: it has no `id_token`";
    assert_eq!(entrance.of_forged(|_| String::new()).await, Err(none.to_owned()));
    for opaque in ["planted-access-token", "a.b", "a.b.c"] {
        let text = entrance.of_forged(move |_| opaque.to_owned()).await;
        assert_eq!(text, refused(TokenFault::Malformed), "{opaque}");
    }
    // An access token of the same provider, for the same client, that has even the nonce.
    let header = json!({"typ": "at+jwt"});
    let rules = IdentityRules { header, ..IdentityRules::default() };
    assert_eq!(entrance.subject(rules).await, refused(TokenFault::Type));
    let (client, _) = ISSUER_CLIENT;
    let without_nonce =
        json!({"nonce": null, "scope": "openid", "client_id": client, "aud": client});
    assert_eq!(entrance.of_claims(without_nonce).await, refused(TokenFault::Nonce));
}

#[tokio::test]
async fn an_answer_to_another_sign_in_signs_nobody_in() {
    let entrance = Entrance::new().await;
    let (own, other) = (visit(1), visit(2));
    let query = entrance.back(&own).await;
    let before = entrance.issuer.counts();
    // The same provider, the same person, but another browser began it.
    let swapped = query.replace(own.state.expose(), other.state.expose());
    assert!(matches!(entrance.provider.holder(&other, &query).await, Err(SignInError::OtherState)));
    assert!(matches!(entrance.provider.holder(&own, &swapped).await, Err(SignInError::OtherState)));
    for query in ["", "x=y", &format!("{query}&state=x"), &format!("{query}&code=x")] {
        let answer = entrance.provider.holder(&own, query).await;
        assert!(matches!(answer, Err(SignInError::NoCode)), "{query}: {answer:?}");
    }
    assert_eq!(entrance.issuer.counts(), before, "no code was shown to the provider");
    // A code of another sign-in does not go with this one's verifier.
    let stolen = entrance.provider.holder(&other, &swapped).await;
    assert!(matches!(stolen, Err(SignInError::Token(_))), "{stolen:?}");
    assert_eq!(entrance.issuer.counts().identities, before.identities);
    let query = entrance.back(&own).await;
    assert_eq!(entrance.provider.holder(&own, &query).await.unwrap().subject, "ann");
    let again = entrance.provider.holder(&own, &query).await;
    assert!(matches!(again, Err(SignInError::Token(_))), "a code is good once: {again:?}");
}

#[tokio::test]
async fn an_answer_of_another_issuer_signs_nobody_in() {
    let entrance = Entrance::new().await;
    let issuer = entrance.issuer.issuer();
    assert_eq!(entrance.of_answer(&[("iss", "")]).await, *ANN, "nobody promised it");
    let wrong = entrance.of_answer(&[("iss", "https://evil.example")]).await;
    let told = format!("the answer names the issuer `https://evil.example` instead of `{issuer}`");
    assert_eq!(wrong, Err(told));
    let slash = entrance.of_answer(&[("iss", &format!("{issuer}/"))]).await;
    assert!(slash.unwrap_err().contains("instead of"));
    // A refusal is believed no more than a code.
    let refusal = [("iss", "https://evil.example"), ("code", ""), ("error", "access_denied")];
    assert!(entrance.of_answer(&refusal).await.unwrap_err().contains("instead of"));
    entrance.clock.advance(Duration::from_secs(3600));
    let promise = json!({"authorization_response_iss_parameter_supported": true});
    let claims = json!({"iat": 1, "exp": 4_000_000_000_u64});
    let mut rules = IdentityRules { metadata: promise, claims, ..IdentityRules::default() };
    entrance.issuer.set_identity(rules);
    assert_eq!(entrance.holder().await.unwrap().subject, "ann", "it names itself");
    rules = IdentityRules { answer: vec![("iss", String::new())], ..IdentityRules::default() };
    let missing = entrance.subject(rules).await;
    assert_eq!(
        missing,
        Err(format!("the answer does not name its issuer, as `{issuer}` promises to"))
    );
}

#[tokio::test]
async fn a_refusal_says_why_in_few_words() {
    let entrance = Entrance::new().await;
    let long = format!("<script>alert(1)</script>\n{}", "x".repeat(1000));
    let refusal = vec![("error", "access_denied".to_owned()), ("error_description", long)];
    let rules = IdentityRules { refusal: Some(refusal), ..IdentityRules::default() };
    let told = entrance.subject(rules).await.unwrap_err();
    assert!(told.starts_with("the sign-in was refused: `access_denied`: <script>"), "{told}");
    assert!(told.len() < 400 && !told.contains('\n'), "{told}");
    assert_eq!(entrance.issuer.counts().identities, 0);
}

#[tokio::test]
async fn a_provider_whose_metadata_is_anothers_signs_nobody_in() {
    for (attack, metadata, expected) in [
        ("another issuer", json!({"issuer": "https://evil.example"}), "not of"),
        ("another way to write it", json!({"issuer": "SELF/"}), "not of"),
        ("no page", json!({"authorization_endpoint": null}), "no page to sign in at"),
        (
            "a page of another kind",
            json!({"authorization_endpoint": "javascript:alert(1)"}),
            "HTTPS",
        ),
        ("no PKCE with S256", json!({"code_challenge_methods_supported": ["plain"]}), "PKCE"),
    ] {
        let entrance = Entrance::new().await;
        let text = metadata.to_string().replace("SELF", &entrance.issuer.issuer());
        let metadata = serde_json::from_str(&text).unwrap();
        entrance.issuer.set_identity(IdentityRules { metadata, ..IdentityRules::default() });
        let page = entrance.provider.page(&visit(1), AccountChoice::Usual).await;
        let told = page.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains(expected), "{attack}: {told}");
        let examined = entrance.provider.examine().await.unwrap_err().to_string();
        assert!(examined.contains(expected), "{attack}: {examined}");
    }
    let entrance = Entrance::new().await;
    let metadata = json!({"jwks_uri": null});
    entrance.issuer.set_identity(IdentityRules { metadata, ..IdentityRules::default() });
    assert!(entrance.provider.examine().await.unwrap_err().to_string().contains("keys are"));
    assert!(matches!(entrance.holder().await, Err(SignInError::Identity(TokenFault::Unavailable))));
}

#[tokio::test]
async fn a_provider_that_is_down_is_asked_now_and_then() {
    let entrance = Entrance::new().await;
    let page = async || entrance.provider.page(&visit(1), AccountChoice::Usual).await;
    entrance.issuer.fail(Some(503));
    for _ in 0..5 {
        page().await.unwrap_err();
    }
    let asked = entrance.issuer.counts().metadata_fetches;
    assert_eq!(asked, 1, "each place once, of which one is there");
    entrance.issuer.fail(None);
    page().await.unwrap_err();
    entrance.clock.advance(Duration::from_secs(5));
    page().await.unwrap();
    entrance.issuer.fail(Some(503));
    page().await.unwrap();
    assert_eq!(entrance.issuer.counts().metadata_fetches, asked + 1, "it is known for a while");
    entrance.clock.advance(Duration::from_secs(600));
    page().await.unwrap_err();
}

#[tokio::test]
async fn few_wait_for_a_provider_that_is_silent() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let entrance = Entrance::with(|settings| OpenIdSettings {
        issuer: format!("http://{address}").as_str().into(),
        ..settings
    })
    .await;
    let own = visit(1);
    let pages = (0..50).map(|_| entrance.provider.page(&own, AccountChoice::Usual));
    let mut pages: FuturesUnordered<_> = pages.collect();
    let mut refused = 0;
    while let Ok(Some(page)) = timeout(Duration::from_millis(500), pages.next()).await {
        assert!(matches!(page, Err(SignInError::Busy { .. })), "{page:?}");
        refused += 1;
    }
    assert_eq!(refused, 34, "sixteen wait");
}
