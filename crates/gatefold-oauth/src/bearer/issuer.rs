//! One issuer that is trusted.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::Clock;
use gatefold_egress::HttpClient;
use reqwest::Url;
use tokio::time::{Instant, timeout_at};

use super::claims::Claims;
use super::jwk::{self, PublicKey};
use super::jwt::{TokenUse, UnverifiedToken};
use super::keys::{IssuerKeys, KeyFetch};
use super::questions::QuestionPlaces;
use super::{IntrospectionSettings, Recheck, TokenBearer, TokenFault, VerifiedToken};
use crate::SignInError;
use crate::discovery::server_metadata;
use crate::endpoint::Endpoints;
use crate::metadata::ServerMetadata;

/// How long an issuer may take to answer.
const DEADLINE: Duration = Duration::from_secs(10);

/// What is configured of an issuer.
#[derive(Debug, Clone)]
pub struct TrustedIssuer {
    /// Its name, letter for letter as its tokens have it.
    pub issuer: Arc<str>,
    /// What its tokens for us may name as their audience, beside our addresses.
    pub audiences: Arc<[String]>,
    /// Where its keys are, if its metadata does not say it.
    pub jwks_uri: Option<Url>,
    /// `None` if its tokens say everything themselves.
    pub introspection: Option<IntrospectionSettings>,
    /// The scopes that its tokens have to have.
    pub scopes: Arc<[String]>,
    /// The claim with the groups of a person.
    pub groups_claim: String,
    /// What it is asked with.
    pub client: HttpClient,
}

pub(super) struct LiveIssuer {
    settings: TrustedIssuer,
    keys: IssuerKeys,
    questions: QuestionPlaces,
    clock: Arc<dyn Clock>,
}

impl LiveIssuer {
    pub(super) fn new(settings: TrustedIssuer, clock: Arc<dyn Clock>) -> Self {
        let keys = IssuerKeys::new(clock.clone());
        Self { settings, keys, questions: QuestionPlaces::default(), clock }
    }

    pub(super) fn name(&self) -> &str {
        &self.settings.issuer
    }

    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.settings.scopes.iter().map(String::as_str)
    }

    pub(super) fn introspects(&self) -> bool {
        self.settings.introspection.is_some()
    }

    /// What a token says, if this issuer signed it.
    pub(super) async fn signed(&self, token: UnverifiedToken<'_>) -> Result<Claims, TokenFault> {
        let (id, algorithm) = token.key()?;
        let keys = self.keys.matching(id, algorithm, self).await?;
        let claims = token.signed_by(&keys, TokenUse::Access)?;
        if !claims.has_end() {
            return Err(TokenFault::Expired);
        }
        Ok(claims)
    }

    /// What this issuer says of an opaque token.
    pub(super) async fn introspected(
        &self,
        token: &str,
        bearer: TokenBearer,
    ) -> Result<Claims, TokenFault> {
        let asked = self.settings.introspection.as_ref().ok_or(TokenFault::Foreign)?;
        let deadline = Instant::now() + DEADLINE;
        let place = timeout_at(deadline, self.questions.take(bearer)).await;
        let Ok(_place) = place else { return Err(TokenFault::Unavailable) };
        let endpoints = self.endpoints(deadline);
        let url = self.introspection_endpoint(asked, endpoints).await.map_err(|error| {
            tracing::warn!(%error, "an issuer could not be asked about a token");
            TokenFault::Unavailable
        })?;
        let about = (self.name(), token);
        asked.ask(endpoints, &url, about, self.clock.now()).await
    }

    pub(super) fn verified(
        &self,
        claims: &Claims,
        recheck: Recheck,
    ) -> Result<VerifiedToken, TokenFault> {
        VerifiedToken::new(claims, &self.settings, recheck)
    }

    /// Asks for its keys and for the place of introspection, as tokens would have it asked.
    pub(super) async fn examine(&self) -> Result<(), SignInError> {
        self.fetch().await?;
        if let Some(asked) = &self.settings.introspection {
            let endpoints = self.endpoints(Instant::now() + DEADLINE);
            self.introspection_endpoint(asked, endpoints).await?;
        }
        Ok(())
    }

    async fn introspection_endpoint(
        &self,
        asked: &IntrospectionSettings,
        endpoints: Endpoints<'_>,
    ) -> Result<Url, SignInError> {
        if let Some(url) = &asked.endpoint {
            return Ok(url.clone());
        }
        let found = self.metadata(endpoints).await?.introspection_endpoint;
        found.ok_or_else(|| SignInError::NoIntrospection { issuer: self.name().to_owned() })
    }

    async fn metadata(&self, endpoints: Endpoints<'_>) -> Result<ServerMetadata, SignInError> {
        let found = server_metadata(endpoints, self.name()).await?;
        found.ok_or_else(|| SignInError::NoMetadata { issuer: self.name().to_owned() })
    }

    fn endpoints(&self, deadline: Instant) -> Endpoints<'_> {
        Endpoints { client: &self.settings.client, deadline }
    }
}

impl KeyFetch for LiveIssuer {
    async fn fetch(&self) -> Result<Vec<PublicKey>, SignInError> {
        let endpoints = self.endpoints(Instant::now() + DEADLINE);
        let url = if let Some(url) = &self.settings.jwks_uri {
            url.clone()
        } else {
            let own = self.metadata(endpoints).await?.jwks_uri;
            own.ok_or_else(|| SignInError::NoKeys { issuer: self.name().to_owned() })?
        };
        jwk::fetch(endpoints, &url).await
    }
}
