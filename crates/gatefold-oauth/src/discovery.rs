//! From a server's address to the place where its users sign in.

use gatefold_egress::HttpClient;
use reqwest::Url;
use tokio::time::Instant;

use crate::endpoint::Endpoints;
use crate::metadata::{ResourceMetadata, ServerMetadata};
use crate::{BearerChallenge, SignInError, well_known};

/// The most authorization servers of one resource that are tried.
const SERVERS: usize = 4;

/// Where and for what a server's users sign in.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// What a token is for, as its `resource` parameter says (RFC 8707). `None` leaves it out.
    pub resource: Option<String>,
    pub server: ServerMetadata,
    /// The scopes that the server asks for. `None` if it leaves them to the provider.
    pub scopes: Option<Vec<String>>,
    /// Further parameters of the request that begins a sign-in.
    pub parameters: Vec<(String, String)>,
    /// Whether a person wrote the provider's addresses down, and no metadata says how it works.
    pub is_written: bool,
}

impl Discovery {
    fn found(resource: String, server: ServerMetadata, scopes: Option<Vec<String>>) -> Self {
        let resource = Some(resource);
        Self { resource, server, scopes, parameters: Vec::new(), is_written: false }
    }

    /// The field of a request that says what a token is for.
    pub(crate) fn resource_field(&self) -> Option<(&str, &str)> {
        self.resource.as_deref().map(|resource| ("resource", resource))
    }
}

/// Finds out where the users of a server sign in.
///
/// `challenge` is what the server said when it refused a request, if it was asked. Its metadata is
/// looked for where the challenge says, then at the well-known places for its path and its host.
/// A server without any may be one of the version 2025-03-26 of the protocol, and be its own
/// provider.
pub async fn discover(
    client: &HttpClient,
    resource: &Url,
    challenge: Option<&BearerChallenge>,
    deadline: Instant,
) -> Result<Discovery, SignInError> {
    let endpoints = Endpoints { client, deadline };
    let asked = challenge.and_then(|challenge| challenge.scopes.clone());
    let Some(own) = resource_metadata(endpoints, resource, challenge).await? else {
        let server = legacy(endpoints, resource, challenge.is_some()).await?;
        return Ok(Discovery::found(resource.to_string(), server, asked));
    };
    let mut failure = None;
    for issuer in own.authorization_servers.iter().take(SERVERS) {
        match server_metadata(endpoints, issuer).await {
            Ok(Some(server)) => {
                let scopes = asked.or(own.scopes_supported);
                return Ok(Discovery::found(own.resource, server, scopes));
            }
            Ok(None) => {}
            // Another issuer must not answer for one that gives itself out as a third.
            Err(error @ SignInError::OtherIssuer { .. }) => return Err(error),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or(SignInError::NoServer { resource: gatefold_egress::redacted(resource) }))
}

async fn resource_metadata(
    endpoints: Endpoints<'_>,
    resource: &Url,
    challenge: Option<&BearerChallenge>,
) -> Result<Option<ResourceMetadata>, SignInError> {
    let named = challenge.and_then(|challenge| challenge.resource_metadata.clone());
    let places = named.into_iter().chain(well_known::of_resource(resource));
    let mut failure = None;
    for place in places {
        match endpoints.document("metadata of the server", &place).await {
            Ok(Some(body)) => match ResourceMetadata::read(&place, &body, resource) {
                Ok(metadata) => return Ok(Some(metadata)),
                Err(error @ SignInError::OtherResource { .. }) => return Err(error),
                // Many servers answer every path with a page.
                Err(error) => failure = failure.or(Some(error)),
            },
            Ok(None) => {}
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    match failure {
        Some(error @ SignInError::Unreachable { .. }) => Err(error),
        _ => Ok(None),
    }
}

/// The metadata of an issuer. `None` if there is none at its places.
pub(crate) async fn server_metadata(
    endpoints: Endpoints<'_>,
    issuer: &str,
) -> Result<Option<ServerMetadata>, SignInError> {
    let Ok(url) = issuer.parse::<Url>() else { return Ok(None) };
    metadata_at(endpoints, well_known::of_issuer(&url), issuer).await
}

/// The same of an issuer that has to be an OpenID provider, so its own places come first.
pub(crate) async fn openid_metadata(
    endpoints: Endpoints<'_>,
    issuer: &str,
) -> Result<Option<ServerMetadata>, SignInError> {
    let Ok(url) = issuer.parse::<Url>() else { return Ok(None) };
    metadata_at(endpoints, well_known::of_openid(&url), issuer).await
}

async fn metadata_at(
    endpoints: Endpoints<'_>,
    places: Vec<Url>,
    issuer: &str,
) -> Result<Option<ServerMetadata>, SignInError> {
    let mut failure = None;
    for place in places {
        match endpoints.document("metadata of the provider", &place).await {
            Ok(Some(body)) => match ServerMetadata::read(&place, &body, issuer) {
                Ok(metadata) => return Ok(Some(metadata)),
                Err(error @ SignInError::OtherIssuer { .. }) => return Err(error),
                Err(error) => failure = failure.or(Some(error)),
            },
            Ok(None) => {}
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(None), Err)
}

/// A server of the version 2025-03-26, whose origin is its issuer. One that says nothing at all is
/// believed to be one only if it asked for a token.
async fn legacy(
    endpoints: Endpoints<'_>,
    resource: &Url,
    asks_for_token: bool,
) -> Result<ServerMetadata, SignInError> {
    let origin = well_known::origin(resource);
    match server_metadata(endpoints, origin.as_str()).await {
        Ok(Some(server)) => Ok(server),
        Ok(None) | Err(SignInError::Metadata { .. }) => {
            let assumed = ServerMetadata::assumed(&origin);
            if asks_for_token && has_page(endpoints, &assumed).await? {
                return Ok(assumed);
            }
            Err(SignInError::NoServer { resource: gatefold_egress::redacted(resource) })
        }
        Err(error) => Err(error),
    }
}

/// Whether there is a page to sign in at. A GET without parameters changes nothing, and whoever has
/// the page answers it in some way (RFC 6749, section 3.1).
async fn has_page(endpoints: Endpoints<'_>, server: &ServerMetadata) -> Result<bool, SignInError> {
    let Some(page) = &server.authorization_endpoint else { return Ok(false) };
    let status = endpoints.status("page of the provider", page).await?;
    let is_missing = matches!(status.as_u16(), 401 | 403 | 404 | 405 | 410 | 501);
    Ok(!is_missing)
}
