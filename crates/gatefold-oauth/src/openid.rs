//! People who sign in at the gateway by way of an OpenID provider (OpenID Connect Core, section 3.1).
//!
//! Only the ID token of the token endpoint says who somebody is, and only once its signature holds.
//! Nothing is asked of the provider before a person wants to sign in.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{Clock, Secret};
use gatefold_egress::HttpClient;
use gatefold_identity::{AccountChoice, VisitSecrets};
use reqwest::Url;
use tokio::sync::{Mutex as FetchMutex, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::authorization::{AuthorizationRequest, RedirectAnswer, RequestSecrets};
use crate::bearer::jwk::{self, PublicKey};
use crate::bearer::jwt::{TokenUse, UnverifiedToken};
use crate::bearer::keys::{IssuerKeys, KeyFetch};
use crate::client::{OAuthClient, TokenAuth};
use crate::discovery::{Discovery, openid_metadata};
use crate::endpoint::Endpoints;
use crate::metadata::ServerMetadata;
use crate::pkce::{self, Verifier};
use crate::token::TokenEndpoint;
use crate::{BEARER_LIMIT, SignInError, TokenFault, TokenHolder};

/// How long the provider may take for one step of a sign-in.
const DEADLINE: Duration = Duration::from_secs(10);
/// The most people who wait for it at a time.
const QUESTIONS: usize = 16;
/// How old its metadata may be.
const FRESH: Duration = Duration::from_mins(10);
/// How soon it is asked for metadata again after that failed. Anybody can press the button.
const FAILURE_PAUSE: Duration = Duration::from_secs(5);

/// The scope that makes a request one of OpenID Connect.
const OPENID: &str = "openid";

/// What is configured of a provider.
#[derive(Debug, Clone)]
pub struct OpenIdSettings {
    /// Its name, letter for letter as its ID tokens have it.
    pub issuer: Arc<str>,
    pub client_id: String,
    pub client_secret: Secret,
    /// What is asked for beside `openid`.
    pub scopes: Vec<String>,
    /// The claim of ID tokens with the groups of a person.
    pub groups_claim: String,
    /// Where browsers come back to.
    pub redirect: String,
    /// What it is asked with.
    pub client: HttpClient,
}

/// A provider that says who people are.
pub struct OpenIdProvider {
    settings: OpenIdSettings,
    keys: IssuerKeys,
    questions: Semaphore,
    known: Mutex<KnownMetadata>,
    /// Held while metadata is fetched.
    fetching: FetchMutex<()>,
    clock: Arc<dyn Clock>,
}

/// What the provider said of itself, by the clock's uptime.
#[derive(Default)]
struct KnownMetadata {
    server: Option<(Arc<ServerMetadata>, Duration)>,
    failed_at: Option<Duration>,
}

/// Words of `prompt` (OpenID Connect Core, section 3.1.2.1).
const SELECT: &str = "select_account";
const LOGIN: &str = "login";

impl OpenIdProvider {
    pub fn new(settings: OpenIdSettings, clock: Arc<dyn Clock>) -> Self {
        Self {
            keys: IssuerKeys::new(clock.clone()),
            questions: Semaphore::new(QUESTIONS),
            known: Mutex::default(),
            fetching: FetchMutex::default(),
            settings,
            clock,
        }
    }

    pub fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// The provider's page for a sign-in.
    pub async fn page(
        &self,
        visit: &VisitSecrets,
        account: AccountChoice,
    ) -> Result<Url, SignInError> {
        let server = self.metadata(Instant::now() + DEADLINE).await?;
        Ok(self.request(&server, visit, account)?.url)
    }

    /// Who somebody is whose browser came back with this query.
    pub async fn holder(
        &self,
        visit: &VisitSecrets,
        query: &str,
    ) -> Result<TokenHolder, SignInError> {
        let answer = RedirectAnswer::of_query(query).ok_or(SignInError::NoCode)?;
        let deadline = Instant::now() + DEADLINE;
        let server = self.metadata(deadline).await?;
        let request = self.request(&server, visit, AccountChoice::Usual)?;
        // State and issuer are compared here, before anything else is believed.
        let code = request.code(answer)?;
        let place = timeout_at(deadline, self.questions.acquire()).await;
        let Ok(Ok(place)) = place else { return Err(self.busy()) };
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", &self.settings.redirect),
            ("code_verifier", visit.verifier.expose()),
        ];
        let endpoints = self.endpoints(deadline);
        let (client, now) = (self.client(&server), self.clock.now());
        let token =
            TokenEndpoint::of(&server).ask_id_token(endpoints, &client, &fields, now).await?;
        drop(place);
        self.identity(token.expose(), visit).await.map_err(SignInError::Identity)
    }

    /// Asks for all that a sign-in needs before the browser comes back.
    pub async fn examine(&self) -> Result<(), SignInError> {
        let server = self.fetched_metadata(Instant::now() + DEADLINE).await?;
        let visit = VisitSecrets {
            state: pkce::random()?,
            nonce: pkce::random()?,
            verifier: pkce::random()?,
        };
        self.request(&server, &visit, AccountChoice::Usual)?;
        self.fetched_keys(&server).await.map(drop)
    }

    fn request(
        &self,
        server: &ServerMetadata,
        visit: &VisitSecrets,
        account: AccountChoice,
    ) -> Result<AuthorizationRequest, SignInError> {
        let OpenIdSettings { client_id, redirect, scopes, .. } = &self.settings;
        let mut parameters = vec![("nonce".to_owned(), visit.nonce.expose().to_owned())];
        let prompt = (account == AccountChoice::Another).then(|| prompt_for_another(server));
        parameters.extend(prompt.map(|word| ("prompt".to_owned(), word.to_owned())));
        let discovery = Discovery {
            resource: None,
            server: server.clone(),
            scopes: None,
            parameters,
            is_written: false,
        };
        let more = scopes.iter().filter(|scope| *scope != OPENID).cloned();
        let scopes: Vec<_> = [OPENID.to_owned()].into_iter().chain(more).collect();
        let verifier = Verifier(visit.verifier.clone());
        let secrets = RequestSecrets { verifier, state: visit.state.clone() };
        AuthorizationRequest::with(&discovery, client_id, redirect, &scopes, secrets)
    }

    /// Who an ID token is about, if it is this provider's and answers this sign-in (OpenID Connect
    /// Core, section 3.1.3.7).
    async fn identity(&self, token: &str, visit: &VisitSecrets) -> Result<TokenHolder, TokenFault> {
        if token.len() > BEARER_LIMIT {
            return Err(TokenFault::Malformed);
        }
        let token = UnverifiedToken::read(token)?.ok_or(TokenFault::Malformed)?;
        if token.issuer() != self.issuer() {
            return Err(TokenFault::Foreign);
        }
        let (id, algorithm) = token.key()?;
        let keys = self.keys.matching(id, algorithm, self).await?;
        let claims = token.signed_by(&keys, TokenUse::Identity)?;
        if !claims.is_for_client(&self.settings.client_id) {
            return Err(TokenFault::Client);
        }
        if !claims.has_end() {
            return Err(TokenFault::Expired);
        }
        if !claims.has_begin() {
            return Err(TokenFault::Malformed);
        }
        claims.check_times(self.clock.now())?;
        let is_ours = |nonce: &str| pkce::is_same(nonce, visit.nonce.expose());
        if !claims.nonce().is_some_and(is_ours) {
            return Err(TokenFault::Nonce);
        }
        Ok(TokenHolder {
            issuer: self.settings.issuer.clone(),
            subject: claims.subject()?,
            client: None,
            groups: claims.groups(&self.settings.groups_claim),
        })
    }

    fn client(&self, server: &ServerMetadata) -> OAuthClient {
        OAuthClient {
            id: self.settings.client_id.clone(),
            secret: Some(self.settings.client_secret.clone()),
            auth: TokenAuth::for_client(server, true),
            key: None,
        }
    }

    /// The provider's metadata, fetched if what is known is too old.
    async fn metadata(&self, deadline: Instant) -> Result<Arc<ServerMetadata>, SignInError> {
        if let Some(known) = self.known_metadata() {
            return Ok(known);
        }
        // Strangers may press the button while the provider is silent. So many wait for it, and the
        // others are told at once.
        let Ok(_place) = self.questions.try_acquire() else { return Err(self.busy()) };
        let fetching = timeout_at(deadline, self.fetching.lock()).await;
        let _fetching = fetching.map_err(|_| self.busy())?;
        // Somebody else may have asked meanwhile.
        if let Some(known) = self.known_metadata() {
            return Ok(known);
        }
        let failed_at = self.lock().failed_at;
        let is_recent = |at| self.clock.uptime().saturating_sub(at) < FAILURE_PAUSE;
        if failed_at.is_some_and(is_recent) {
            return Err(SignInError::NoMetadata { issuer: self.issuer().to_owned() });
        }
        let fetched = self.fetched_metadata(deadline).await;
        let now = self.clock.uptime();
        let mut known = self.lock();
        match fetched {
            Ok(server) => {
                let server = Arc::new(server);
                *known = KnownMetadata { server: Some((server.clone(), now)), failed_at: None };
                Ok(server)
            }
            Err(error) => {
                known.failed_at = Some(now);
                Err(error)
            }
        }
    }

    fn known_metadata(&self) -> Option<Arc<ServerMetadata>> {
        let known = self.lock();
        let (server, fetched_at) = known.server.as_ref()?;
        let is_fresh = self.clock.uptime().saturating_sub(*fetched_at) < FRESH;
        is_fresh.then(|| server.clone())
    }

    async fn fetched_metadata(&self, deadline: Instant) -> Result<ServerMetadata, SignInError> {
        let issuer = self.issuer();
        let found = openid_metadata(self.endpoints(deadline), issuer).await?;
        let server = found.ok_or_else(|| SignInError::NoMetadata { issuer: issuer.to_owned() })?;
        // Its ID tokens are compared letter for letter, so another way to write it lets nobody in.
        if server.issuer != issuer {
            let (expected, found) = (issuer.to_owned(), crate::error::said(&server.issuer));
            return Err(SignInError::OtherIssuer { expected, found });
        }
        Ok(server.with_assumed_pkce())
    }

    async fn fetched_keys(&self, server: &ServerMetadata) -> Result<Vec<PublicKey>, SignInError> {
        let no_keys = || SignInError::NoKeys { issuer: self.issuer().to_owned() };
        let url = server.jwks_uri.as_ref().ok_or_else(no_keys)?;
        jwk::fetch(self.endpoints(Instant::now() + DEADLINE), url).await
    }

    fn busy(&self) -> SignInError {
        SignInError::Busy { issuer: self.issuer().to_owned() }
    }

    fn endpoints(&self, deadline: Instant) -> Endpoints<'_> {
        Endpoints { client: &self.settings.client, deadline }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, KnownMetadata> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a provider is asked to let somebody choose who they are. Some know only to have them sign in
/// again, and refuse other words.
fn prompt_for_another(server: &ServerMetadata) -> &'static str {
    let knows = |word: &str| server.prompt_values_supported.iter().any(|own| own == word);
    if knows(LOGIN) && !knows(SELECT) { LOGIN } else { SELECT }
}

impl KeyFetch for OpenIdProvider {
    async fn fetch(&self) -> Result<Vec<PublicKey>, SignInError> {
        let server = self.metadata(Instant::now() + DEADLINE).await?;
        self.fetched_keys(&server).await
    }
}
