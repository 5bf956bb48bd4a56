//! A gateway's issuer, with what is around it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Clock as _, DrawnToken, ManualClock, Timestamp, TokenKind, UserId};
use gatefold_egress::{Egress, PrivateNetworks, Reach, Settings};
use gatefold_identity::limits::LINK_LIFE;
use gatefold_identity::{People as _, PublicUrl};
use gatefold_issuer::{
    DocumentAccess, IdentityProvider, Issuer, IssuerSettings, PasswordSignIn, Registration,
};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::ask::{Ask, PUBLIC, REDIRECT, VERIFIER, form};
use crate::browser::Browser;
use crate::documents::DocumentSite;
use crate::http::{Answer, send};
use crate::memory::MemoryStore;

pub(crate) const PASSWORD: &str = "correct horse battery";

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) site: DocumentSite,
}

/// How an issuer of a test differs from others.
pub(crate) struct WorldOptions {
    pub(crate) public: &'static str,
    pub(crate) registration: Registration,
    pub(crate) allows_loopback: bool,
    pub(crate) password: PasswordSignIn,
    pub(crate) provider: Option<Arc<dyn IdentityProvider>>,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self {
            public: PUBLIC,
            registration: Registration::Off,
            allows_loopback: true,
            password: PasswordSignIn::On,
            provider: None,
        }
    }
}

impl World {
    pub(crate) async fn open() -> Self {
        Self::with(WorldOptions::default()).await
    }

    pub(crate) async fn with(options: WorldOptions) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_795_255_020_000)));
        let store = Arc::new(MemoryStore::default());
        let egress = Egress::new(Settings::default()).unwrap().without_proxies();
        let loopback = PrivateNetworks::Listed(vec!["127.0.0.0/8".parse().unwrap()]);
        let private = if options.allows_loopback { loopback } else { PrivateNetworks::None };
        let settings = IssuerSettings {
            public_url: PublicUrl::parse(options.public).unwrap(),
            registration: options.registration,
            password: options.password,
            provider: options.provider,
            documents: DocumentAccess {
                client: egress.client_for(Reach::public().allowing(private)),
                allows_loopback: options.allows_loopback,
            },
            key: [7; 32],
        };
        let issuer = Issuer::new(settings, store.clone(), clock.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = issuer.router().into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        Self { address, store, clock, site: DocumentSite::open().await }
    }

    pub(crate) fn browser(&self) -> Browser {
        Browser::new(self.address)
    }

    /// The request of a client that does everything right.
    pub(crate) fn ask(&self) -> Ask {
        Ask::of(&self.site.client("good"))
    }

    /// A one-time link for a user, as the shell prints it.
    pub(crate) fn link(&self, user: &str) -> String {
        let drawn = DrawnToken::draw(TokenKind::Link).unwrap();
        let link = (drawn.hash, UserId::new(user), self.clock.now().plus(LINK_LIFE));
        self.store.tables().links.insert(drawn.id, link);
        drawn.text.expose().to_owned()
    }

    /// Sets a user's password as a person does.
    pub(crate) async fn person(&self, user: &str) {
        let link = self.link(user);
        let fields = [("link", &*link), ("password", PASSWORD), ("again", PASSWORD)];
        let answer = self.browser().post("/oauth/password", &fields).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let user = UserId::new(user);
        assert!(self.store.password(&user).await.unwrap().is_some());
    }

    /// A browser in which a user has signed in.
    pub(crate) async fn signed_in(&self, user: &str) -> Browser {
        self.person(user).await;
        let mut browser = self.browser();
        let answer = browser.sign_in(&self.ask(), user, PASSWORD).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        browser
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        send(self.address, [127, 0, 0, 1], &format!("POST {path}"), &[kind], &form(fields)).await
    }

    /// Asks for tokens. Changes replace or add fields; an empty one leaves its field out.
    pub(crate) async fn token(&self, fields: &[(&str, &str)], changes: &[(&str, &str)]) -> Answer {
        let is_kept = |(name, _): &&(&str, &str)| !changes.iter().any(|(other, _)| other == name);
        let mut all: Vec<_> = fields.iter().filter(is_kept).copied().collect();
        all.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
        self.post("/oauth/token", &all).await
    }

    /// Exchanges a code, with changes to what is right.
    pub(crate) async fn exchange(&self, code: &str, changes: &[(&str, &str)]) -> Answer {
        let client = self.site.client("good");
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", &*client),
            ("code", code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        self.token(&fields, changes).await
    }

    pub(crate) async fn refresh(&self, token: &str, changes: &[(&str, &str)]) -> Answer {
        let client = self.site.client("good");
        let fields =
            [("grant_type", "refresh_token"), ("client_id", &*client), ("refresh_token", token)];
        self.token(&fields, changes).await
    }

    /// Tokens of a user who has agreed to everything.
    pub(crate) async fn tokens(&self, browser: &mut Browser) -> Value {
        let code = browser.code(&self.ask()).await;
        let answer = self.exchange(&code, &[]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    pub(crate) fn families(&self) -> usize {
        self.store.tables().families.len()
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

/// The error that an endpoint answered.
#[track_caller]
pub(crate) fn check_refused(answer: &Answer, error: &str, attack: &str) {
    assert_eq!(answer.json()["error"], error, "{attack}: {}", answer.body);
    assert!((400..500).contains(&answer.status), "{attack}: {}", answer.status);
}

/// A text in an answer.
#[track_caller]
pub(crate) fn text<'a>(answer: &'a Value, name: &str) -> &'a str {
    answer[name].as_str().unwrap_or_else(|| panic!("no `{name}` in {answer}"))
}
