//! A provider that a configuration names, so that the source is asked nothing.

use reqwest::Url;

use crate::SignInError;
use crate::discovery::{Discovery, server_metadata};
use crate::endpoint::Endpoints;
use crate::metadata::ServerMetadata;

/// Where a source's users sign in, as a person wrote it down.
#[derive(Debug, Clone)]
pub struct KnownProvider {
    pub place: ProviderPlace,
    /// What a token is for (RFC 8707). Without it, the parameter is not sent: many older providers
    /// refuse one that they do not know.
    pub resource: Option<String>,
    /// Further parameters of the request that begins a sign-in.
    pub parameters: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub enum ProviderPlace {
    /// An issuer, whose metadata says the rest (RFC 8414).
    Issuer(String),
    Addresses(Box<ProviderAddresses>),
}

/// The addresses that metadata would name.
#[derive(Debug, Clone)]
pub struct ProviderAddresses {
    pub authorization: Url,
    pub token: Url,
    pub device: Option<Url>,
    pub revocation: Option<Url>,
    /// What the provider calls itself. Without it, any name at the origin of its page is its own.
    pub issuer: Option<String>,
}

impl KnownProvider {
    /// Reads the issuer's metadata, if that is all that is known.
    pub(crate) async fn discovered(
        &self,
        endpoints: Endpoints<'_>,
    ) -> Result<Discovery, SignInError> {
        let (server, is_written) = match &self.place {
            ProviderPlace::Issuer(issuer) => (metadata(endpoints, issuer).await?, false),
            ProviderPlace::Addresses(addresses) => (addresses.metadata(), true),
        };
        let (resource, parameters) = (self.resource.clone(), self.parameters.clone());
        Ok(Discovery { resource, server, scopes: None, parameters, is_written })
    }
}

async fn metadata(endpoints: Endpoints<'_>, issuer: &str) -> Result<ServerMetadata, SignInError> {
    let found = server_metadata(endpoints, issuer).await?;
    let server = found.ok_or_else(|| SignInError::NoMetadata { issuer: issuer.to_owned() })?;
    Ok(server.with_assumed_pkce())
}

impl ProviderAddresses {
    fn metadata(&self) -> ServerMetadata {
        let issuer = self.issuer.clone();
        let mut server = ServerMetadata {
            issuer: issuer.unwrap_or_else(|| self.authorization.origin().ascii_serialization()),
            authorization_endpoint: Some(self.authorization.clone()),
            token_endpoint: self.token.clone(),
            registration_endpoint: None,
            device_authorization_endpoint: self.device.clone(),
            revocation_endpoint: self.revocation.clone(),
            introspection_endpoint: None,
            jwks_uri: None,
            scopes_supported: Vec::new(),
            code_challenge_methods_supported: Vec::new(),
            token_endpoint_auth_methods_supported: Vec::new(),
            prompt_values_supported: Vec::new(),
            authorization_response_iss_parameter_supported: false,
            client_id_metadata_document_supported: false,
            is_assumed: false,
        };
        // Nothing promises it here. It is sent all the same, and a provider that does not know it
        // leaves it alone.
        server.assume_pkce();
        server
    }
}
