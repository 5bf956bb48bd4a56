//! A token for a source, for the token that a caller came in with (RFC 8693).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{Digest, Secret, Timestamp};

use crate::SignInError;
use crate::client::{ClientSettings, OAuthClient};
use crate::discovery::server_metadata;
use crate::endpoint::Endpoints;
use crate::grant::Tokens;
use crate::metadata::ServerMetadata;
use crate::token::TokenEndpoint;

const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// How long a token is used whose provider does not say how long it is good. Nobody would notice that
/// its caller may do less by now.
const LIFETIME: Duration = Duration::from_mins(5);

/// How long a provider's metadata is believed.
const FRESH: Duration = Duration::from_mins(10);

/// How callers' tokens are exchanged for those of a source.
#[derive(Debug, Clone)]
pub struct TokenExchange {
    /// Who exchanges whose tokens: at most as many as the configuration trusts issuers.
    pub exchangers: Vec<TokenExchanger>,
    /// What the provider calls the source.
    pub audience: Option<String>,
    /// The source's address (RFC 8707).
    pub resource: Option<String>,
    pub scopes: Vec<String>,
}

/// A provider that exchanges the tokens of an issuer.
#[derive(Debug, Clone)]
pub struct TokenExchanger {
    /// The issuer of the tokens that callers have. They are shown to nobody but `provider`.
    pub issuer: String,
    /// Who exchanges them: mostly the issuer itself.
    pub provider: String,
    /// Gatefold's client there.
    pub client: ClientSettings,
    /// What the provider said of itself.
    pub known: KnownServer,
}

/// What a provider said of itself, and when. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct KnownServer(Arc<Mutex<Option<FetchedServer>>>);

#[derive(Debug)]
struct FetchedServer {
    at: Timestamp,
    server: Arc<ServerMetadata>,
}

impl TokenExchanger {
    async fn server(
        &self,
        endpoints: Endpoints<'_>,
        now: Timestamp,
    ) -> Result<Arc<ServerMetadata>, SignInError> {
        let known = || self.known.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |own: &&FetchedServer| own.at <= now && now.since(own.at) < FRESH;
        if let Some(own) = known().as_ref().filter(is_fresh) {
            return Ok(own.server.clone());
        }
        let found = server_metadata(endpoints, &self.provider).await?;
        let none = || SignInError::NoMetadata { issuer: self.provider.clone() };
        let server = Arc::new(found.ok_or_else(none)?);
        *known() = Some(FetchedServer { at: now, server: server.clone() });
        Ok(server)
    }
}

/// A token that somebody came in with.
#[derive(Debug, Clone)]
pub struct PresentedBearer {
    /// The same for all tokens that a program gets for a person with the same rights.
    pub grant: Digest,
    pub issuer: Arc<str>,
    pub value: Secret,
}

impl TokenExchange {
    /// Asks the providers for what an exchange needs, as far as that goes without a caller.
    pub(super) async fn examine(
        &self,
        endpoints: Endpoints<'_>,
        now: Timestamp,
    ) -> Result<(), SignInError> {
        for exchanger in &self.exchangers {
            exchanger.server(endpoints, now).await?;
        }
        Ok(())
    }

    /// Asks for a token for the source.
    pub(super) async fn ask(
        &self,
        presented: &PresentedBearer,
        endpoints: Endpoints<'_>,
        now: Timestamp,
    ) -> Result<Tokens, SignInError> {
        let mut exchangers = self.exchangers.iter();
        let exchanger = exchangers.find(|own| *own.issuer == *presented.issuer);
        let exchanger = exchanger
            .ok_or_else(|| SignInError::NoExchange { issuer: presented.issuer.to_string() })?;
        let client_id = exchanger.client.id.as_deref().unwrap_or_default();
        let server = exchanger.server(endpoints, now).await?;
        let client = OAuthClient::configured(client_id, &exchanger.client, &server);
        let scope = self.scopes.join(" ");
        let mut fields = vec![
            ("grant_type", GRANT_TYPE),
            ("subject_token", presented.value.expose()),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
        ];
        let wanted =
            [("audience", self.audience.as_deref()), ("resource", self.resource.as_deref())];
        fields.extend(wanted.into_iter().filter_map(|(name, value)| Some((name, value?))));
        if !scope.is_empty() {
            fields.push(("scope", &scope));
        }
        let tokens = TokenEndpoint::of(&server).ask(endpoints, &client, &fields, now).await?;
        let expires_at = tokens.expires_at.or(Some(now.plus(LIFETIME)));
        // The caller's next token brings the next one here.
        Ok(Tokens { expires_at, refresh: None, ..tokens })
    }
}
