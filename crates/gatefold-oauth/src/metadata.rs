//! What a server and its issuer say of themselves.

use reqwest::Url;
use serde::Deserialize;

use crate::{SignInError, address, lenient};

/// A protected resource's metadata (RFC 9728, section 2).
#[derive(Debug, Clone, Deserialize)]
pub struct ResourceMetadata {
    pub resource: String,
    #[serde(default, deserialize_with = "lenient::list")]
    pub authorization_servers: Vec<String>,
    #[serde(default, deserialize_with = "lenient::optional_list")]
    pub scopes_supported: Option<Vec<String>>,
}

impl ResourceMetadata {
    pub(crate) fn read(url: &Url, body: &[u8], resource: &Url) -> Result<Self, SignInError> {
        let own: Self = read(url, body)?;
        if !covers(&own.resource, resource) {
            return Err(SignInError::OtherResource {
                expected: resource.to_string(),
                found: crate::error::said(&own.resource),
            });
        }
        Ok(own)
    }
}

/// Whether metadata about one address holds for another: the same one, or one below it. Servers
/// with one endpoint often name their host alone.
pub(crate) fn covers(named: &str, resource: &Url) -> bool {
    let Ok(named) = named.parse::<Url>() else { return false };
    if named.origin() != resource.origin()
        || named.query().is_some_and(|own| resource.query() != Some(own))
    {
        return false;
    }
    let (above, path) = (named.path().trim_end_matches('/'), resource.path());
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// An authorization server's metadata (RFC 8414, section 2; OpenID Connect Discovery).
#[derive(Debug, Clone, Deserialize)]
pub struct ServerMetadata {
    pub issuer: String,
    #[serde(default, deserialize_with = "address::optional")]
    pub authorization_endpoint: Option<Url>,
    #[serde(deserialize_with = "address::required")]
    pub token_endpoint: Url,
    #[serde(default, deserialize_with = "address::optional")]
    pub registration_endpoint: Option<Url>,
    #[serde(default, deserialize_with = "address::optional")]
    pub device_authorization_endpoint: Option<Url>,
    #[serde(default, deserialize_with = "address::optional")]
    pub revocation_endpoint: Option<Url>,
    #[serde(default, deserialize_with = "address::optional")]
    pub introspection_endpoint: Option<Url>,
    #[serde(default, deserialize_with = "address::optional")]
    pub jwks_uri: Option<Url>,
    #[serde(default, deserialize_with = "lenient::list")]
    pub scopes_supported: Vec<String>,
    #[serde(default, deserialize_with = "lenient::list")]
    pub code_challenge_methods_supported: Vec<String>,
    #[serde(default, deserialize_with = "lenient::list")]
    pub token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default, deserialize_with = "lenient::list")]
    pub prompt_values_supported: Vec<String>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub authorization_response_iss_parameter_supported: bool,
    #[serde(default, deserialize_with = "lenient::flag")]
    pub client_id_metadata_document_supported: bool,
    /// Whether nothing says this, and the endpoints are only where they usually were.
    #[serde(skip)]
    pub is_assumed: bool,
}

impl ServerMetadata {
    /// Reads the metadata that an issuer has at one of its places.
    pub(crate) fn read(url: &Url, body: &[u8], issuer: &str) -> Result<Self, SignInError> {
        let own: Self = read(url, body)?;
        if !is_same_issuer(&own.issuer, issuer) {
            return Err(SignInError::OtherIssuer {
                expected: crate::error::said(issuer),
                found: crate::error::said(&own.issuer),
            });
        }
        own.checked(url)
    }

    /// What the version 2025-03-26 of the protocol took for granted of a server without metadata.
    pub(crate) fn assumed(origin: &Url) -> Self {
        let at = |path: &str| {
            let mut url = origin.clone();
            url.set_path(path);
            url
        };
        Self {
            issuer: origin.as_str().trim_end_matches('/').to_owned(),
            authorization_endpoint: Some(at("/authorize")),
            token_endpoint: at("/token"),
            registration_endpoint: Some(at("/register")),
            device_authorization_endpoint: None,
            revocation_endpoint: None,
            introspection_endpoint: None,
            jwks_uri: None,
            scopes_supported: Vec::new(),
            code_challenge_methods_supported: vec![S256.to_owned()],
            token_endpoint_auth_methods_supported: Vec::new(),
            prompt_values_supported: Vec::new(),
            authorization_response_iss_parameter_supported: false,
            client_id_metadata_document_supported: false,
            is_assumed: true,
        }
    }

    /// Nothing that goes to an endpoint may be read on the way, unless the metadata came in the
    /// same way.
    fn checked(self, from: &Url) -> Result<Self, SignInError> {
        let endpoints = [
            self.authorization_endpoint.as_ref(),
            Some(&self.token_endpoint),
            self.registration_endpoint.as_ref(),
            self.device_authorization_endpoint.as_ref(),
            self.revocation_endpoint.as_ref(),
            self.introspection_endpoint.as_ref(),
            self.jwks_uri.as_ref(),
        ];
        let is_open = |url: &&Url| {
            url.scheme() != "https" && !(url.scheme() == "http" && from.scheme() == "http")
        };
        if let Some(open) = endpoints.into_iter().flatten().find(is_open) {
            let open = gatefold_egress::redacted(open);
            return Err(SignInError::metadata(from, format!("`{open}` is not an HTTPS address")));
        }
        Ok(self)
    }

    pub(crate) fn assume_pkce(&mut self) {
        self.code_challenge_methods_supported = vec![S256.to_owned()];
    }

    /// Some large providers have PKCE and do not say so. Only a list without S256 says no.
    pub(crate) fn with_assumed_pkce(mut self) -> Self {
        if self.code_challenge_methods_supported.is_empty() {
            self.assume_pkce();
        }
        self
    }

    pub(crate) fn has_pkce(&self) -> bool {
        self.code_challenge_methods_supported.iter().any(|method| method == S256)
    }
}

const S256: &str = "S256";

/// Whether two texts name the same issuer. They are compared letter for letter (RFC 8414, section
/// 3.3), except that `https://host` and `https://host/` are one address.
fn is_same_issuer(one: &str, other: &str) -> bool {
    let bare = |text: &str| {
        let url = text.parse::<Url>().ok()?;
        (url.path() == "/" && url.query().is_none()).then(|| url.to_string())
    };
    one == other || bare(one).is_some_and(|one| bare(other) == Some(one))
}

fn read<'a, T: Deserialize<'a>>(url: &Url, body: &'a [u8]) -> Result<T, SignInError> {
    serde_json::from_slice(body).map_err(|error| SignInError::metadata(url, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_holds_for_its_address_and_what_is_below() {
        let resource: Url = "https://a.example/x/mcp".parse().unwrap();
        for (named, holds) in [
            ("https://a.example/x/mcp", true),
            ("https://A.example:443/x/mcp", true),
            ("https://a.example/x", true),
            ("https://a.example/", true),
            ("https://a.example", true),
            ("https://a.example/x/m", false),
            ("https://a.example/x/mcp/more", false),
            ("https://b.example/x/mcp", false),
            ("http://a.example/x/mcp", false),
            ("https://a.example/x/mcp?tenant=1", false),
            ("x", false),
        ] {
            assert_eq!(covers(named, &resource), holds, "{named}");
        }
    }

    #[test]
    fn null_is_absent_in_metadata() {
        let from: Url = "https://a.example/m".parse().unwrap();
        let resource = "https://a.example/mcp".parse().unwrap();
        let body = r#"{"resource": "https://a.example/mcp", "authorization_servers": null,
            "scopes_supported": null, "jwks_uri": null}"#;
        let read = ResourceMetadata::read(&from, body.as_bytes(), &resource).unwrap();
        assert_eq!((read.authorization_servers.len(), read.scopes_supported), (0, None));
        let body = r#"{"issuer": "https://a.example", "token_endpoint": "https://a.example/t",
            "authorization_endpoint": null, "registration_endpoint": "", "scopes_supported": null,
            "code_challenge_methods_supported": null, "prompt_values_supported": null,
            "token_endpoint_auth_methods_supported": null,
            "authorization_response_iss_parameter_supported": null,
            "client_id_metadata_document_supported": "true"}"#;
        let read = ServerMetadata::read(&from, body.as_bytes(), "https://a.example").unwrap();
        assert!(!read.has_pkce() && read.client_id_metadata_document_supported);
        assert!(read.authorization_endpoint.is_none() && read.registration_endpoint.is_none());
    }

    #[test]
    fn issuers_are_compared_letter_for_letter() {
        for (one, other, same) in [
            ("https://a.example", "https://a.example", true),
            ("https://a.example", "https://a.example/", true),
            ("https://a.example/t", "https://a.example/t/", false),
            ("https://a.example/t", "https://A.example/t", false),
            ("https://a.example", "https://b.example", false),
        ] {
            assert_eq!(is_same_issuer(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn endpoints_are_as_safe_as_the_metadata() {
        let read = |from: &str, token: &str| {
            let body = format!(r#"{{"issuer": "https://a.example", "token_endpoint": "{token}"}}"#);
            let from: Url = from.parse().unwrap();
            ServerMetadata::read(&from, body.as_bytes(), "https://a.example").is_ok()
        };
        assert!(read("https://a.example/m", "https://b.example/t"));
        assert!(!read("https://a.example/m", "http://a.example/t"));
        assert!(read("http://127.0.0.1/m", "http://127.0.0.1/t"));
        assert!(!read("http://127.0.0.1/m", "file:///etc/passwd"));
        assert!(!read("https://a.example/m", "javascript:alert(1)"));
    }
}
