//! Who may reach the gateway: access tokens, and the clients that people let in.

use gatefold_core::{Secret, Timestamp, TokenId, UserId};
use gatefold_identity::{AccessTokenRecord, Consent, FamilyRecord, NewAccessToken};
use gatefold_store::StoreError;
use serde::{Deserialize, Serialize, Serializer};

use crate::{OperationError, StateOperations};

/// Everything that lets somebody in. Nothing in it proves anything.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccessTokenList {
    /// By their names.
    pub access_tokens: Vec<AccessTokenRecord>,
    pub clients: Vec<SignedInClient>,
}

/// A client that somebody let in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SignedInClient {
    pub id: TokenId,
    pub name: String,
    /// What it is known by: the address of its metadata, or its registration.
    pub client: String,
    pub user: UserId,
    /// The address that it may use, and all below.
    pub resource: String,
    pub read_only: bool,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub last_used: Option<Timestamp>,
}

/// A new token, with its text: this once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CreatedAccessToken {
    #[serde(serialize_with = "expose")]
    pub token: Secret,
    pub access_token: AccessTokenRecord,
}

/// Whose access has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevokedAccess {
    Token(AccessTokenRecord),
    /// That of a client, by its id.
    Client(TokenId),
}

impl StateOperations {
    /// All access tokens, and all clients that people let in.
    pub async fn access_tokens(&self) -> Result<AccessTokenList, OperationError> {
        self.asker.require_operator("list access tokens")?;
        let access_tokens = self.store.access_tokens().await?;
        let families = self.store.families().await?.into_iter();
        Ok(AccessTokenList { access_tokens, clients: families.map(SignedInClient::of).collect() })
    }

    /// Creates a token. Refuses a name that is taken.
    pub async fn create_access_token(
        &self,
        new: NewAccessToken,
    ) -> Result<CreatedAccessToken, OperationError> {
        self.asker.require_operator("create an access token")?;
        let (access_token, token) = self.store.create_access_token(new).await?;
        Ok(CreatedAccessToken { token, access_token })
    }

    /// Revokes a token by its name or id, or ends the access of a client by its id.
    pub async fn revoke_access(&self, named: &str) -> Result<RevokedAccess, OperationError> {
        self.asker.require_operator("revoke an access token")?;
        let id = TokenId::new(named);
        match self.store.revoke_access_token(named).await {
            Err(StoreError::NoToken(_)) if self.store.end_access(&id).await? => {
                Ok(RevokedAccess::Client(id))
            }
            revoked => Ok(RevokedAccess::Token(revoked?)),
        }
    }
}

impl SignedInClient {
    fn of(family: FamilyRecord) -> Self {
        let Consent { user, client, client_name, resource, scopes, .. } = family.consent;
        Self {
            id: family.id,
            name: client_name,
            client,
            user,
            resource: resource.as_str().to_owned(),
            read_only: scopes.is_read_only(),
            created_at: family.created_at,
            expires_at: family.expires_at,
            last_used: family.last_used,
        }
    }
}

/// The answer to whoever creates a token is the one place that shows it.
fn expose<S: Serializer>(token: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(token.expose())
}
