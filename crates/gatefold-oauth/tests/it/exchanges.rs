//! Tokens of sources that callers' own are exchanged for (RFC 8693), against an issuer over sockets.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use gatefold_core::{ClientCredential, Digest, Secret, UpstreamIdentity, UserId};
use gatefold_dispatch::{CredentialError, IdentityScope, RefusalCause};
use gatefold_egress::{Egress, PrivateNetworks, Reach, Settings};
use gatefold_oauth::{
    Accounts, ClientSecret, ClientSettings, KnownServer, PresentedBearer, SignInNeed, SiteSettings,
    TokenExchange, TokenExchanger,
};
use gatefold_testkit::{ExchangeRequest, ExchangeTerms, ISSUER_CLIENT, TokenIssuer};
use serde_json::{Value, json};

use crate::bench::{Bench, after_refusal_of, pass, token};

/// What a refused request says in its challenge.
const INVALID: &str = "Bearer error=\"invalid_token\"";

struct World {
    bench: Bench,
    issuer: TokenIssuer,
    accounts: Accounts,
}

impl World {
    async fn new() -> Self {
        let (bench, issuer) = (Bench::new().await, TokenIssuer::start().await.unwrap());
        let (id, secret) = ISSUER_CLIENT;
        let secret = Some(ClientSecret::Text(Secret::new(secret)));
        let exchanger = TokenExchanger {
            issuer: issuer.issuer(),
            provider: issuer.issuer(),
            client: ClientSettings { id: Some(id.to_owned()), secret, ..Default::default() },
            known: KnownServer::default(),
        };
        let exchange = TokenExchange {
            exchangers: vec![exchanger],
            audience: Some("tickets".to_owned()),
            resource: None,
            scopes: vec!["read".to_owned(), "write".to_owned()],
        };
        let egress = Egress::new(Settings::default()).unwrap();
        let reach = Reach::for_source([issuer.issuer().as_str()], PrivateNetworks::None);
        let site = SiteSettings {
            client: egress.client_for(reach),
            scope: IdentityScope::Client,
            sign_in: SignInNeed::Always,
            exchange: Some(exchange),
            ..bench.site()
        };
        let accounts = bench.process_with(site);
        Self { bench, issuer, accounts }
    }

    /// Has somebody come in with a token of an issuer.
    fn present(&self, whose: u8, issuer: &str, value: &str) -> UpstreamIdentity {
        let grant = Digest::new([whose; 32]);
        let issuer: Arc<str> = issuer.into();
        self.accounts.note_presented(PresentedBearer { grant, issuer, value: Secret::new(value) });
        UpstreamIdentity::Client(Arc::new(ClientCredential {
            user: UserId::new(format!("user-{whose}")),
            digest: grant,
            value: None,
        }))
    }

    fn come_in(&self, whose: u8, value: &str) -> UpstreamIdentity {
        self.present(whose, &self.issuer.issuer(), value)
    }

    async fn carried(&self, identity: &UpstreamIdentity) -> String {
        token(&self.accounts, identity).await.unwrap().unwrap()
    }

    async fn refused(&self, identity: &UpstreamIdentity) -> CredentialError {
        token(&self.accounts, identity).await.unwrap_err()
    }

    fn exchange_on(&self, answer: Value) {
        self.issuer.exchange_on(ExchangeTerms { answer, refusal: None });
    }

    fn refuse(&self, status: u16, answer: Value) {
        let refusal = Some((status, answer));
        self.issuer.exchange_on(ExchangeTerms { refusal, ..ExchangeTerms::default() });
    }
}

#[tokio::test]
async fn a_token_is_exchanged_once_for_many_calls_and_again_when_it_is_over() {
    let world = World::new().await;
    let first = world.issuer.token(json!({"sub": "ann"}));
    let ann = world.come_in(1, &first);
    let carried = join_all((0..64).map(async |_| world.carried(&ann).await)).await;
    assert!(carried[0].starts_with("Bearer ey"), "{}", carried[0]);
    assert!(carried.iter().all(|one| *one == carried[0]));
    let expected: ExchangeRequest = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", first.as_str()),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("audience", "tickets"),
        ("scope", "read write"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    assert_eq!(world.issuer.take_exchanges(), [expected]);

    // The program's next token changes nothing while the one of the source is good.
    let second = world.issuer.token(json!({"sub": "ann", "jti": "second"}));
    assert_eq!(world.come_in(1, &second), ann);
    assert_eq!(world.carried(&ann).await, carried[0]);
    assert_eq!(world.issuer.take_exchanges(), []);
    pass(&world.bench, Duration::from_mins(60));
    assert_ne!(world.carried(&ann).await, carried[0]);
    let asked = world.issuer.take_exchanges();
    let [asked] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(asked["subject_token"], second, "the last token that came in is exchanged");
}

#[tokio::test]
async fn a_token_without_an_end_is_used_for_five_minutes() {
    let world = World::new().await;
    world.exchange_on(json!({"expires_in": null}));
    let ann = world.come_in(1, &world.issuer.token(json!({})));
    let carried = world.carried(&ann).await;
    pass(&world.bench, Duration::from_mins(3));
    assert_eq!(world.carried(&ann).await, carried);
    pass(&world.bench, Duration::from_mins(2));
    assert_ne!(world.carried(&ann).await, carried);
}

#[tokio::test]
async fn each_caller_has_a_token_of_their_own() {
    let world = World::new().await;
    let ann = world.come_in(1, &world.issuer.token(json!({"sub": "ann"})));
    let bob = world.come_in(2, &world.issuer.token(json!({"sub": "bob"})));
    let (of_ann, of_bob) = (world.carried(&ann).await, world.carried(&bob).await);
    assert_ne!(of_ann, of_bob);
    assert_eq!(world.carried(&ann).await, of_ann);
    assert_eq!(world.issuer.take_exchanges().len(), 2);
    // Whoever presented no token of an issuer has nothing to exchange.
    let nobody = world.refused(&UpstreamIdentity::Shared).await;
    assert!(nobody.needs_sign_in, "{nobody:?}");
    let expected = "wants to know its caller by an access token of the identity provider";
    assert_eq!(nobody.reason, expected);
    assert_eq!(world.issuer.take_exchanges(), []);
}

#[tokio::test]
async fn a_token_is_shown_to_nobody_but_who_exchanges_those_of_its_issuer() {
    let world = World::new().await;
    let eve = world.present(3, "https://other.example", "planted-token-of-another");
    let told = world.refused(&eve).await;
    assert!(told.needs_sign_in, "{told:?}");
    let expected = "nobody exchanges the tokens of `https://other.example` for this source";
    assert_eq!(told.reason, expected);
    assert_eq!(world.issuer.take_exchanges(), []);
}

#[tokio::test]
async fn what_the_provider_refuses_is_told_without_the_token() {
    let world = World::new().await;
    let value = world.issuer.token(json!({}));
    let ann = world.come_in(1, &value);
    let check = async |status, answer: Value, needs_sign_in, expected: &str| {
        world.refuse(status, answer);
        let told = world.refused(&ann).await;
        assert_eq!((told.reason.as_str(), told.needs_sign_in), (expected, needs_sign_in));
        assert!(!told.reason.contains(&value[..16]), "{told:?}");
    };
    let target = json!({"error": "invalid_target", "error_description": "no such audience"});
    check(400, target, true, "no token was given: `invalid_target`: no such audience").await;
    let repeating = json!({
        "error": "invalid_request",
        "error_description": format!("{value} is over"),
    });
    check(400, repeating, true, "no token was given: `invalid_request`").await;
    let cut_off = json!({"error": "invalid_request", "error_description": value[..40]});
    check(400, cut_off, true, "no token was given: `invalid_request`").await;
    let down = "no token was given: HTTP status 503 Service Unavailable";
    check(503, json!({}), false, down).await;
    let of_identity = json!({
        "access_token": "ey", "token_type": "Bearer",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id_token",
    });
    let unusable = "the token endpoint's answer cannot be used: its token is not an access token";
    check(200, of_identity, false, unusable).await;
    let not_applicable = json!({"access_token": "ey", "token_type": "N_A"});
    let unusable = "the token endpoint's answer cannot be used: its token is not a bearer token";
    check(200, not_applicable, false, unusable).await;

    world.exchange_on(json!({}));
    assert!(world.carried(&ann).await.starts_with("Bearer ey"), "it goes on at once");
}

#[tokio::test]
async fn a_source_that_refuses_a_token_gets_another_one_unless_it_is_new() {
    let world = World::new().await;
    let ann = world.come_in(1, &world.issuer.token(json!({})));
    let carried = world.carried(&ann).await;
    let unknown = RefusalCause::Unknown;
    let again = async |carried: &str, cause, challenge| {
        after_refusal_of(&world.accounts, &ann, Some(carried), cause, challenge).await
    };
    let told = again(&carried, unknown, INVALID).await.unwrap_err();
    assert!(told.needs_sign_in, "{told:?}");
    let expected = "does not accept the token that the identity provider gave for it";
    assert_eq!(told.reason, expected);
    pass(&world.bench, Duration::from_mins(1));
    let other = again(&carried, unknown, INVALID).await.unwrap().unwrap();
    assert_ne!(other, carried);
    assert_eq!(again(&carried, unknown, INVALID).await.unwrap().unwrap(), other);
    assert_eq!(world.issuer.take_exchanges().len(), 2);

    let wider = "Bearer error=\"insufficient_scope\", scope=\"admin\"";
    let told = again(&other, RefusalCause::Forbidden, wider).await.unwrap_err();
    let expected = "wants more rights than the identity provider gave for it (`admin`): whoever \
                    runs the gateway can write them into `scopes` of `exchange`";
    assert_eq!(told.reason, expected);
    assert_eq!(world.carried(&ann).await, other, "what it may do goes on");
}

#[tokio::test]
async fn whoever_waits_while_one_is_refused_hears_the_same() {
    let world = World::new().await;
    let ann = world.come_in(1, &world.issuer.token(json!({})));
    world.refuse(400, json!({"error": "invalid_target"}));
    let told = join_all((0..8).map(async |_| world.refused(&ann).await)).await;
    let same = |told: &CredentialError| {
        told.needs_sign_in && told.reason == "no token was given: `invalid_target`"
    };
    assert!(told.iter().all(same), "{told:?}");
    assert_eq!(world.issuer.take_exchanges().len(), 1, "the provider is asked once");
}

#[tokio::test]
async fn what_is_no_matter_of_the_caller_needs_no_sign_in() {
    let world = World::new().await;
    let ann = world.come_in(1, &world.issuer.token(json!({})));
    for (status, error) in [
        (401, "invalid_client"),
        (400, "unauthorized_client"),
        (429, "slow_down"),
        (429, "invalid_target"),
        (503, "temporarily_unavailable"),
    ] {
        world.refuse(status, json!({"error": error}));
        let told = world.refused(&ann).await;
        assert!(!told.needs_sign_in, "{status} {error}: {told:?}");
    }
}

#[tokio::test]
async fn a_token_that_is_still_good_is_used_while_the_provider_is_down() {
    let world = World::new().await;
    let ann = world.come_in(1, &world.issuer.token(json!({})));
    let carried = world.carried(&ann).await;
    world.refuse(503, json!({}));
    // Within the last minute of the hour it is to be renewed.
    pass(&world.bench, Duration::from_secs(3570));
    assert_eq!(world.carried(&ann).await, carried);
    assert_eq!(world.issuer.take_exchanges().len(), 2);
    pass(&world.bench, Duration::from_secs(31));
    assert!(!world.refused(&ann).await.needs_sign_in, "it is over");
    world.exchange_on(json!({}));
    assert_ne!(world.carried(&ann).await, carried);
}

#[tokio::test]
async fn a_provider_without_metadata_is_missed_before_anybody_calls() {
    let world = World::new().await;
    world.issuer.fail(Some(404));
    let told = world.refused(&UpstreamIdentity::Shared).await;
    assert!(!told.needs_sign_in, "{told:?}");
    assert!(told.reason.contains("has no metadata"), "{told:?}");
}
