//! How Gatefold becomes a provider's client, in the order that the protocol wants: as the
//! configuration says, by a client-id metadata document, by dynamic registration (RFC 7591).

use gatefold_core::Secret;
use serde::Deserialize;
use serde_json::json;

use crate::client::{ClientSettings, OAuthClient, TokenAuth};
use crate::endpoint::{Answer, Endpoints};
use crate::metadata::ServerMetadata;
use crate::{Grant, Refused, SignInError, device, lenient};

/// Where a browser comes back to: a port of this machine (RFC 8252, section 7.3), or an address
/// that was registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect(pub String);

/// What a client is registered for. Some providers give a client no more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientPurpose {
    Browser,
    Device,
}

/// Where a client came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientSource {
    Configured,
    MetadataDocument,
    /// Registered for an earlier sign-in of the same source.
    Earlier,
    Registered,
}

#[derive(Deserialize)]
struct Registered {
    #[serde(default, deserialize_with = "lenient::text")]
    client_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::secret")]
    client_secret: Option<Secret>,
    #[serde(default, deserialize_with = "lenient::known")]
    token_endpoint_auth_method: Option<TokenAuth>,
}

#[derive(Deserialize)]
struct RegistrationRefusal {
    #[serde(default, deserialize_with = "lenient::text")]
    error: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    error_description: Option<String>,
}

/// The client to sign in with. `earlier` is the source's last grant.
pub(crate) async fn client(
    endpoints: Endpoints<'_>,
    server: &ServerMetadata,
    settings: &ClientSettings,
    redirect: &Redirect,
    purpose: ClientPurpose,
    scopes: &[String],
    earlier: Option<&Grant>,
) -> Result<(OAuthClient, ClientSource), SignInError> {
    if let Some(id) = &settings.id {
        let client = OAuthClient::configured(id, settings, server);
        return Ok((client, ClientSource::Configured));
    }
    if let Some(url) = &settings.metadata_url
        && server.client_id_metadata_document_supported
    {
        let client =
            OAuthClient { id: url.clone(), secret: None, auth: TokenAuth::None, key: None };
        return Ok((client, ClientSource::MetadataDocument));
    }
    // A client belongs to its issuer: another one may have the same name for somebody else.
    let known = earlier.filter(|grant| {
        grant.issuer == server.issuer && grant.redirect.as_deref() == Some(&redirect.0)
    });
    if let Some(grant) = known {
        return Ok((grant.client.clone(), ClientSource::Earlier));
    }
    let client = match register(endpoints, server, redirect, purpose, scopes).await {
        // Some providers register only the scopes that are their own, and not those of servers.
        Err(SignInError::Registration { refused, .. })
            if (refused.is("invalid_client_metadata") || refused.is("invalid_scope"))
                && !scopes.is_empty() =>
        {
            register(endpoints, server, redirect, purpose, &[]).await?
        }
        client => client?,
    };
    Ok((client, ClientSource::Registered))
}

async fn register(
    endpoints: Endpoints<'_>,
    server: &ServerMetadata,
    redirect: &Redirect,
    purpose: ClientPurpose,
    scopes: &[String],
) -> Result<OAuthClient, SignInError> {
    let issuer = || server.issuer.clone();
    let Some(url) = &server.registration_endpoint else {
        return Err(SignInError::NeedsClient { issuer: issuer() });
    };
    let wanted = TokenAuth::to_register(server);
    let grant_types: &[&str] = match purpose {
        ClientPurpose::Browser => &["authorization_code", "refresh_token"],
        ClientPurpose::Device => &["authorization_code", device::GRANT_TYPE, "refresh_token"],
    };
    let mut body = json!({
        "client_name": "Gatefold",
        "redirect_uris": [redirect.0],
        "grant_types": grant_types,
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted,
        "application_type": "native",
    });
    if !scopes.is_empty() {
        body["scope"] = scopes.join(" ").into();
    }
    let answer = endpoints.post_json("registration", url, body.to_string()).await?;
    if !answer.status.is_success() {
        let refused = refused(&answer);
        return Err(SignInError::Registration { issuer: issuer(), refused });
    }
    let client: Registered = serde_json::from_slice(&answer.body)
        .map_err(|error| SignInError::metadata(url, format!("its answer is no client: {error}")))?;
    let id = client.client_id.filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| SignInError::metadata(url, "its answer has no `client_id`"))?;
    let secret = client.client_secret;
    let auth = match (client.token_endpoint_auth_method, &secret) {
        // Without a secret there is nothing to prove, whatever the answer repeats.
        (_, None) => TokenAuth::None,
        (Some(auth), _) => auth,
        // The standard's default is the header (RFC 7591, section 2).
        (None, Some(_)) if wanted == TokenAuth::None => TokenAuth::for_client(server, true),
        (None, Some(_)) => wanted,
    };
    Ok(OAuthClient { id, secret, auth, key: None })
}

fn refused(answer: &Answer) -> Refused {
    let said: Option<RegistrationRefusal> = serde_json::from_slice(&answer.body).ok();
    let (error, description) =
        said.map_or((None, None), |said| (said.error, said.error_description));
    Refused::new(error.as_deref(), description.as_deref(), answer.status)
}
