//! An issuer whose tokens let people in: it signs what a test wants, publishes its keys, and answers
//! questions about opaque tokens. As an OpenID provider (`openid`) it signs people in at once, and it gives
//! tokens for others in exchange (`exchange`).

mod exchange;
mod openid;

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Form, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::Error;

use exchange::Exchanges;
pub use exchange::{ExchangeRequest, ExchangeTerms};
pub use openid::IdentityRules;
use openid::OpenIdState;

/// The client that may ask about opaque tokens, exchange them and have people signed in, and its secret.
pub const ISSUER_CLIENT: (&str, &str) = ("gatefold", "planted-introspection-secret");

/// A key for tests alone. The library that signs cannot make one.
const RSA: &str = include_str!("issuer/rsa.pem");

/// The most opaque tokens that an issuer keeps. A test ends long before.
const KEPT: usize = 1000;

/// Which of an issuer's keys signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssuerKey {
    Rsa,
    P256,
    Ed25519,
}

/// A running issuer. Dropping it stops it.
pub struct TokenIssuer {
    address: SocketAddr,
    state: Arc<Mutex<IssuerState>>,
    _server: AbortOnDropHandle<()>,
}

/// What an issuer was asked for so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IssuerCounts {
    pub key_fetches: usize,
    pub questions: usize,
    pub metadata_fetches: usize,
    /// People who were signed in, and ID tokens that were given for their codes.
    pub sign_ins: usize,
    pub identities: usize,
}

struct IssuerState {
    issuer: String,
    keys: SigningKeys,
    counts: IssuerCounts,
    /// The status of every answer, if it fails.
    failure: Option<u16>,
    /// What it says of opaque tokens, at most [`KEPT`].
    opaque: HashMap<String, Value>,
    exchanges: Exchanges,
    openid: OpenIdState,
}

struct SigningKeys {
    /// Part of the keys' ids. It rises when they are replaced.
    generation: u64,
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
}

impl TokenIssuer {
    pub async fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(Error::io("listening"))?;
        let address = listener.local_addr().map_err(Error::io("listening"))?;
        let state = Arc::new(Mutex::new(IssuerState {
            issuer: format!("http://{address}"),
            keys: SigningKeys::new(0),
            counts: IssuerCounts::default(),
            failure: None,
            opaque: HashMap::new(),
            exchanges: Exchanges::default(),
            openid: OpenIdState::default(),
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/keys", get(keys))
            .route("/introspect", post(introspect))
            .route("/authorize", get(openid::authorize))
            .route("/token", post(token))
            .with_state(state.clone());
        let server = tokio::spawn(async move {
            // It ends with the test.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, state, _server: AbortOnDropHandle::new(server) })
    }

    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn counts(&self) -> IssuerCounts {
        self.lock().counts
    }

    /// Has every request fail with this status, or none. The answers say what they said before: only
    /// their status tells that they are not to be believed.
    pub fn fail(&self, status: Option<u16>) {
        self.lock().failure = status;
    }

    /// Replaces all keys but the RSA key, which gets another name only.
    pub fn rotate(&self) {
        let mut state = self.lock();
        state.keys = SigningKeys::new(state.keys.generation + 1);
    }

    /// An access token for an hour (RFC 9068), with these claims over the usual ones. A claim that
    /// is null is left out.
    pub fn token(&self, claims: Value) -> String {
        self.signed(IssuerKey::P256, json!({}), claims)
    }

    /// The same, signed with a key, and with these members over those of the usual header.
    pub fn signed(&self, key: IssuerKey, header: Value, claims: Value) -> String {
        let state = self.lock();
        let (header, claims) = (state.header(key, header), state.claims(claims));
        state.signed(key, &header.to_string(), &claims.to_string())
    }

    /// Texts as they are, signed with a key.
    pub fn signed_text(&self, key: IssuerKey, header: &str, claims: &str) -> String {
        self.lock().signed(key, header, claims)
    }

    /// The public half of a key, as a forger has it who takes it for the secret of HS256.
    pub fn public_key(&self, key: IssuerKey) -> Vec<u8> {
        self.lock().keys.public(key)
    }

    /// A token that says nothing itself.
    pub fn opaque(&self, claims: Value) -> String {
        let mut state = self.lock();
        assert!(state.opaque.len() < KEPT, "a test asked for too much");
        let token = format!("opaque-planted-{}", state.opaque.len());
        let mut answer = state.claims(claims);
        if answer.get("active").is_none() {
            answer["active"] = true.into();
        }
        state.opaque.insert(token.clone(), answer);
        token
    }

    /// Takes an opaque token back.
    pub fn revoke(&self, token: &str) {
        self.lock().opaque.remove(token);
    }

    /// Exchanges tokens on these terms from now on.
    pub fn exchange_on(&self, terms: ExchangeTerms) {
        self.lock().exchanges.terms = terms;
    }

    /// The requests for exchanges since this was last asked.
    pub fn take_exchanges(&self) -> Vec<ExchangeRequest> {
        std::mem::take(&mut self.lock().exchanges.requests)
    }

    fn lock(&self) -> MutexGuard<'_, IssuerState> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<IssuerState>) -> MutexGuard<'_, IssuerState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl IssuerState {
    fn signed(&self, key: IssuerKey, header: &str, claims: &str) -> String {
        let [header, claims] = [header, claims].map(|text| URL_SAFE_NO_PAD.encode(text));
        let text = format!("{header}.{claims}");
        let signature = self.keys.sign(key, text.as_bytes());
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn header(&self, key: IssuerKey, changes: Value) -> Value {
        let header = json!({ "alg": key.algorithm(), "typ": "at+jwt", "kid": self.keys.id(key) });
        changed(header, changes)
    }

    #[expect(clippy::disallowed_methods, reason = "this crate knows no other, and so no clock")]
    fn claims(&self, changes: Value) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let claims = json!({
            "iss": self.issuer,
            "sub": "ann",
            "client_id": "a-program",
            "iat": now,
            "exp": now + 3600,
        });
        changed(claims, changes)
    }
}

/// A document with other members; those that are null are removed.
fn changed(mut document: Value, changes: Value) -> Value {
    let (Value::Object(members), Value::Object(changes)) = (&mut document, changes) else {
        return document;
    };
    for (name, value) in changes {
        if value.is_null() {
            members.remove(&name);
        } else {
            members.insert(name, value);
        }
    }
    document
}

impl IssuerKey {
    fn algorithm(self) -> &'static str {
        match self {
            Self::Rsa => "RS256",
            Self::P256 => "ES256",
            Self::Ed25519 => "EdDSA",
        }
    }
}

impl SigningKeys {
    fn new(generation: u64) -> Self {
        let random = SystemRandom::new();
        let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .expect("there are random numbers");
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).expect("there are random numbers");
        let rsa: String = RSA.lines().filter(|line| !line.starts_with('-')).collect();
        let rsa = STANDARD.decode(rsa).expect("it is Base64");
        Self {
            generation,
            rsa: RsaKeyPair::from_pkcs8(&rsa).expect("it is a key"),
            p256: EcdsaKeyPair::from_pkcs8(
                &ECDSA_P256_SHA256_FIXED_SIGNING,
                p256.as_ref(),
                &random,
            )
            .expect("it was just made"),
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).expect("it was just made"),
        }
    }

    fn id(&self, key: IssuerKey) -> String {
        format!("{}-{}", key.algorithm(), self.generation)
    }

    fn sign(&self, key: IssuerKey, text: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match key {
            IssuerKey::Rsa => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa
                    .sign(&RSA_PKCS1_SHA256, &random, text, &mut signature)
                    .expect("a key signs");
                signature
            }
            IssuerKey::P256 => {
                self.p256.sign(&random, text).expect("a key signs").as_ref().to_vec()
            }
            IssuerKey::Ed25519 => self.ed25519.sign(text).as_ref().to_vec(),
        }
    }

    fn public(&self, key: IssuerKey) -> Vec<u8> {
        match key {
            IssuerKey::Rsa => self.rsa.public().as_ref().to_vec(),
            IssuerKey::P256 => self.p256.public_key().as_ref().to_vec(),
            IssuerKey::Ed25519 => self.ed25519.public_key().as_ref().to_vec(),
        }
    }

    /// The set as it is published, with keys of kinds that nobody has to know, and with keys that are
    /// there for something else than tokens.
    fn published(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let rsa = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        // An uncompressed point: a byte, then both coordinates.
        let (x, y) = self.p256.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (text(x), text(y));
        json!({ "keys": [
            { "kty": "oct", "kid": "shared", "k": text(b"not for anybody") },
            { "kty": "EC", "crv": "P-521", "kid": "large", "x": "AA", "y": "AA" },
            { "kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.id(IssuerKey::Rsa),
              "n": text(&rsa.n), "e": text(&rsa.e) },
            { "kty": "EC", "crv": "P-256", "use": "sig", "kid": self.id(IssuerKey::P256),
              "x": x, "y": y },
            { "kty": "EC", "crv": "P-256", "use": "enc", "kid": "encrypts", "x": x, "y": y },
            { "kty": "EC", "crv": "P-256", "key_ops": ["deriveKey"], "kid": "derives", "x": x, "y": y },
            { "kty": "EC", "crv": "P-256", "alg": "ECDH-ES", "kid": "agrees", "x": x, "y": y },
            { "kty": "OKP", "crv": "Ed25519", "kid": self.id(IssuerKey::Ed25519),
              "x": text(self.ed25519.public_key().as_ref()) },
        ] })
    }
}

type SharedIssuer = Arc<Mutex<IssuerState>>;

/// A document, with the status of failure if there is one.
fn answered(state: &IssuerState, document: Value) -> Response {
    let failure = state.failure.and_then(|status| StatusCode::from_u16(status).ok());
    (failure.unwrap_or(StatusCode::OK), Json(document)).into_response()
}

async fn metadata(State(state): State<SharedIssuer>) -> Response {
    let mut state = lock(&state);
    state.counts.metadata_fetches += 1;
    let issuer = &state.issuer;
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "introspection_endpoint": format!("{issuer}/introspect"),
    });
    let document = changed(document, state.openid.rules.metadata.clone());
    answered(&state, document)
}

async fn keys(State(state): State<SharedIssuer>) -> Response {
    let mut state = lock(&state);
    state.counts.key_fetches += 1;
    answered(&state, state.keys.published())
}

/// Whether [`ISSUER_CLIENT`] sent a request.
fn is_our_client(headers: &HeaderMap) -> bool {
    let (id, secret) = ISSUER_CLIENT;
    let expected = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
    headers.get(AUTHORIZATION).is_some_and(|value| value.as_bytes() == expected.as_bytes())
}

/// The token endpoint, for each grant.
async fn token(
    State(state): State<SharedIssuer>,
    headers: HeaderMap,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let is_exchange = form.get("grant_type").is_some_and(|grant| grant == exchange::GRANT_TYPE);
    if is_exchange {
        return exchange::answer(&mut lock(&state), &headers, &form);
    }
    openid::answer(&mut lock(&state), &headers, &form)
}

#[derive(Deserialize)]
struct Question {
    token: String,
}

async fn introspect(
    State(state): State<SharedIssuer>,
    headers: HeaderMap,
    Form(question): Form<Question>,
) -> Response {
    let mut state = lock(&state);
    state.counts.questions += 1;
    if !is_our_client(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let known = state.opaque.get(&question.token).cloned();
    let answer = known.unwrap_or_else(|| json!({ "active": false }));
    answered(&state, answer)
}
