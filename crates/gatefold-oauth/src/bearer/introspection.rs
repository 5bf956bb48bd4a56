//! Asking an issuer about a token that says nothing itself (RFC 7662).

use gatefold_core::{Secret, Timestamp};
use reqwest::Url;

use super::TokenFault;
use super::claims::Claims;
use crate::client::{OAuthClient, TokenAuth};
use crate::endpoint::Endpoints;

/// How an issuer is asked about opaque tokens.
#[derive(Debug, Clone)]
pub struct IntrospectionSettings {
    /// Where, if the issuer's metadata does not say it.
    pub endpoint: Option<Url>,
    /// Who asks: a client of the issuer.
    pub client_id: String,
    pub client_secret: Secret,
}

impl IntrospectionSettings {
    /// What the issuer says of a token.
    pub(super) async fn ask(
        &self,
        endpoints: Endpoints<'_>,
        url: &Url,
        (issuer, token): (&str, &str),
        now: Timestamp,
    ) -> Result<Claims, TokenFault> {
        let client = OAuthClient {
            id: self.client_id.clone(),
            secret: Some(self.client_secret.clone()),
            auth: TokenAuth::Basic,
            key: None,
        };
        let unavailable = |error: &dyn std::error::Error| {
            tracing::warn!(issuer, %error, "an issuer could not be asked about a token");
            TokenFault::Unavailable
        };
        let proof = client.proof(issuer, now).map_err(|error| unavailable(&error))?;
        let fields = [("token", token), ("token_type_hint", "access_token")];
        let answer = endpoints.post_form("answer about a token", url, &fields, &proof).await;
        let answer = answer.map_err(|error| unavailable(&error))?;
        if !answer.status.is_success() {
            let status = answer.status.as_u16();
            tracing::warn!(issuer, status, "an issuer did not say whether a token is good");
            return Err(TokenFault::Unavailable);
        }
        let claims = Claims::read(&answer.body).map_err(|_| TokenFault::Unavailable)?;
        if !claims.is_active() || claims.issuer().is_some_and(|named| named != issuer) {
            return Err(TokenFault::Inactive);
        }
        Ok(claims)
    }
}
