//! Giving tokens back (RFC 7009).

use gatefold_core::Timestamp;
use gatefold_egress::HttpClient;
use tokio::time::Instant;

use crate::client::ClientSettings;
use crate::endpoint::Endpoints;
use crate::{Grant, Refused, SignInError};

/// Tells the provider that a grant is over. Returns false if it has no place to tell it.
///
/// The refresh token goes first. With it most providers end the access token too, and some then say
/// that they do not know it.
pub async fn revoke(
    client: &HttpClient,
    settings: &ClientSettings,
    grant: &Grant,
    now: Timestamp,
    deadline: Instant,
) -> Result<bool, SignInError> {
    let (Some(url), Some(tokens)) = (&grant.revocation_endpoint, &grant.tokens) else {
        return Ok(false);
    };
    let endpoints = Endpoints { client, deadline };
    let own = grant.client_with(settings);
    let refresh = tokens.refresh.as_ref().map(|token| (token, "refresh_token"));
    let mut is_over = false;
    for (token, kind) in refresh.into_iter().chain([(&tokens.access, "access_token")]) {
        let proof = own.proof(&grant.issuer, now)?;
        let fields = [("token", token.expose()), ("token_type_hint", kind)];
        let answer = endpoints.post_form("end of the sign-in", url, &fields, &proof).await?;
        if !answer.status.is_success() && !is_over {
            let refused = Refused::new(None, None, answer.status);
            return Err(SignInError::Refusal { what: "end of the sign-in", refused });
        }
        is_over = true;
    }
    Ok(is_over)
}
