//! What a sign-in brought, as it is kept.

use gatefold_core::{BoxError, Secret, Timestamp};
use gatefold_identity::{GrantPlace, Grants};
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::client::{ClientSecret, ClientSettings, OAuthClient, TokenAuth};

/// What one identity may do at one source, as its provider knows it.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The address that the tokens were given for. They go nowhere else.
    pub site: String,
    /// What the `resource` parameter says, which may be an address above it. `None` leaves it out.
    pub resource: Option<String>,
    pub issuer: String,
    pub token_endpoint: Url,
    pub revocation_endpoint: Option<Url>,
    pub client: OAuthClient,
    /// Where the client's browser came back to, if the client was registered for that.
    pub redirect: Option<String>,
    /// The scopes that were asked for.
    pub scopes: Vec<String>,
    /// `None` once they are of no more use: somebody has to sign in again.
    pub tokens: Option<Tokens>,
    /// Further scopes that the server wants for something that was tried.
    pub wanted: Vec<String>,
    pub signed_in_at: Timestamp,
}

/// What a provider gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    pub access: Secret,
    pub refresh: Option<Secret>,
    pub obtained_at: Timestamp,
    /// `None` if the provider does not say.
    pub expires_at: Option<Timestamp>,
    /// The scopes that were given, if the provider says so.
    pub scopes: Option<Vec<String>>,
}

/// A grant with its number, which grows with every change.
#[derive(Debug, Clone)]
pub struct KeptGrant {
    pub generation: u64,
    pub grant: Grant,
}

impl KeptGrant {
    /// The grant that is kept for a place.
    pub async fn read(grants: &dyn Grants, place: &GrantPlace) -> Result<Option<Self>, BoxError> {
        let Some(record) = grants.read(place).await? else { return Ok(None) };
        let grant = Grant::of_text(&record.text).ok_or("a kept sign-in cannot be read")?;
        Ok(Some(Self { generation: record.generation, grant }))
    }
}

impl Grant {
    /// The whole grant as text, to be encrypted. It holds secrets.
    pub fn to_text(&self) -> Secret {
        Secret::new(serde_json::to_string(&WrittenGrant::of(self)).expect("a grant is JSON"))
    }

    /// Reads what [`Grant::to_text`] wrote.
    pub fn of_text(text: &Secret) -> Option<Self> {
        serde_json::from_str::<WrittenGrant>(text.expose()).ok().map(Self::from)
    }

    /// The scopes to ask for the next time: all that were asked for, given or wanted.
    pub fn all_scopes(&self) -> Vec<String> {
        let given = self.tokens.iter().filter_map(|tokens| tokens.scopes.as_deref()).flatten();
        let mut all: Vec<String> = Vec::new();
        for scope in self.scopes.iter().chain(given).chain(&self.wanted) {
            if !all.contains(scope) {
                all.push(scope.clone());
            }
        }
        all
    }

    /// The client, with the secret or the key that the configuration has.
    pub(crate) fn client_with(&self, settings: &ClientSettings) -> OAuthClient {
        let mut client = self.client.clone();
        // The provider may have given the same client another secret since.
        if let Some(ClientSecret::Text(secret)) = &settings.secret
            && settings.id.as_ref() == Some(&client.id)
        {
            client.secret = Some(secret.clone());
        }
        if let Some(ClientSecret::Key(key)) = &settings.secret {
            client.key = Some(key.clone());
        }
        client
    }

    /// The grant with tokens that a refresh brought. A provider that does not rotate refresh
    /// tokens sends none, and the old one goes on.
    pub(crate) fn refreshed(&self, mut tokens: Tokens) -> Self {
        let old = self.tokens.as_ref();
        tokens.refresh = tokens.refresh.or_else(|| old.and_then(|old| old.refresh.clone()));
        tokens.scopes = tokens.scopes.or_else(|| old.and_then(|old| old.scopes.clone()));
        Self { tokens: Some(tokens), ..self.clone() }
    }
}

/// A grant as it is written. `Secret` itself is never serialized, so that none slips into a log.
#[derive(Serialize, Deserialize)]
struct WrittenGrant {
    site: String,
    resource: Option<String>,
    issuer: String,
    token_endpoint: Address,
    revocation_endpoint: Option<Address>,
    client_id: String,
    client_secret: Option<String>,
    client_auth: TokenAuth,
    redirect: Option<String>,
    scopes: Vec<String>,
    tokens: Option<WrittenTokens>,
    #[serde(default)]
    wanted: Vec<String>,
    signed_in_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct WrittenTokens {
    access: String,
    refresh: Option<String>,
    obtained_at: Timestamp,
    expires_at: Option<Timestamp>,
    scopes: Option<Vec<String>>,
}

impl WrittenGrant {
    fn of(grant: &Grant) -> Self {
        let text = |secret: &Secret| secret.expose().to_owned();
        let tokens = grant.tokens.as_ref().map(|tokens| WrittenTokens {
            access: text(&tokens.access),
            refresh: tokens.refresh.as_ref().map(text),
            obtained_at: tokens.obtained_at,
            expires_at: tokens.expires_at,
            scopes: tokens.scopes.clone(),
        });
        Self {
            site: grant.site.clone(),
            resource: grant.resource.clone(),
            issuer: grant.issuer.clone(),
            token_endpoint: Address(grant.token_endpoint.clone()),
            revocation_endpoint: grant.revocation_endpoint.clone().map(Address),
            client_id: grant.client.id.clone(),
            client_secret: grant.client.secret.as_ref().map(text),
            client_auth: grant.client.auth,
            redirect: grant.redirect.clone(),
            scopes: grant.scopes.clone(),
            tokens,
            wanted: grant.wanted.clone(),
            signed_in_at: grant.signed_in_at,
        }
    }
}

impl From<WrittenGrant> for Grant {
    fn from(own: WrittenGrant) -> Self {
        let tokens = own.tokens.map(|tokens| Tokens {
            access: Secret::new(tokens.access),
            refresh: tokens.refresh.map(Secret::new),
            obtained_at: tokens.obtained_at,
            expires_at: tokens.expires_at,
            scopes: tokens.scopes,
        });
        Self {
            site: own.site,
            resource: own.resource,
            issuer: own.issuer,
            token_endpoint: own.token_endpoint.0,
            revocation_endpoint: own.revocation_endpoint.map(|own| own.0),
            client: OAuthClient {
                id: own.client_id,
                secret: own.client_secret.map(Secret::new),
                auth: own.client_auth,
                key: None,
            },
            redirect: own.redirect,
            scopes: own.scopes,
            tokens,
            wanted: own.wanted,
            signed_in_at: own.signed_in_at,
        }
    }
}
