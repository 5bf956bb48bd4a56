//! Who asks a provider: Gatefold as one of its clients, and how it proves that.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatefold_core::{Secret, Timestamp};
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};

use crate::assertion::{self, SigningKey};
use crate::metadata::ServerMetadata;
use crate::{LocalRedirect, SignInError};

/// What a configuration says of the client.
#[derive(Debug, Clone, Default)]
pub struct ClientSettings {
    /// The client that a person registered at the provider.
    pub id: Option<String>,
    pub secret: Option<ClientSecret>,
    /// Where a client-id metadata document describes Gatefold.
    pub metadata_url: Option<String>,
    /// The scopes to ask for instead of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// Where the provider sends browsers back to, if it knows only that.
    pub redirect: Option<LocalRedirect>,
}

/// What a registered client proves itself with.
#[derive(Debug, Clone)]
pub enum ClientSecret {
    Text(Secret),
    Key(SigningKey),
}

/// How a client proves itself at the token endpoint (RFC 7591, section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenAuth {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
    #[serde(rename = "private_key_jwt")]
    Key,
}

impl TokenAuth {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::Key => "private_key_jwt",
        }
    }

    /// The way for a client with or without a secret. Without metadata it is the header (RFC 8414,
    /// section 2).
    pub(crate) fn for_client(server: &ServerMetadata, has_secret: bool) -> Self {
        let offered = &server.token_endpoint_auth_methods_supported;
        let is_offered = |way: &Self| offered.iter().any(|own| own == way.name());
        let ways = [Self::Basic, Self::Post];
        match ways.into_iter().find(is_offered) {
            _ if !has_secret => Self::None,
            Some(way) => way,
            None => Self::Basic,
        }
    }

    /// The way to ask for in a registration: none is enough for a program on a person's machine.
    pub(crate) fn to_register(server: &ServerMetadata) -> Self {
        let offered = &server.token_endpoint_auth_methods_supported;
        let ways = [Self::None, Self::Basic, Self::Post];
        let is_offered = |way: &Self| offered.iter().any(|own| own == way.name());
        ways.into_iter().find(is_offered).unwrap_or(Self::None)
    }
}

/// A client as the provider knows it.
#[derive(Debug, Clone)]
pub struct OAuthClient {
    pub id: String,
    pub secret: Option<Secret>,
    pub auth: TokenAuth,
    /// The key for [`TokenAuth::Key`]. It is the configuration's and kept nowhere else.
    pub key: Option<SigningKey>,
}

/// What goes into a request to prove who sends it.
#[derive(Default)]
pub(crate) struct ClientProof {
    pub(crate) fields: Vec<(&'static str, Secret)>,
    pub(crate) header: HeaderMap,
}

impl OAuthClient {
    /// The client of a configuration.
    pub(crate) fn configured(id: &str, settings: &ClientSettings, server: &ServerMetadata) -> Self {
        let (secret, key) = match settings.secret.clone() {
            Some(ClientSecret::Text(secret)) => (Some(secret), None),
            Some(ClientSecret::Key(key)) => (None, Some(key)),
            None => (None, None),
        };
        let auth = match key {
            Some(_) => TokenAuth::Key,
            None => TokenAuth::for_client(server, secret.is_some()),
        };
        Self { id: id.to_owned(), secret, auth, key }
    }

    /// The same client with its secret in the body, if it is in the header.
    pub(crate) fn in_body(&self) -> Option<Self> {
        (self.auth == TokenAuth::Basic).then(|| Self { auth: TokenAuth::Post, ..self.clone() })
    }

    /// The proof for one request. `audience` is the issuer.
    pub(crate) fn proof(&self, audience: &str, now: Timestamp) -> Result<ClientProof, SignInError> {
        let mut proof = ClientProof::default();
        let secret = || self.secret.as_ref().map_or("", Secret::expose);
        match self.auth {
            TokenAuth::None => proof.fields.push(("client_id", Secret::new(&*self.id))),
            TokenAuth::Post => {
                proof.fields.push(("client_id", Secret::new(&*self.id)));
                proof.fields.push(("client_secret", Secret::new(secret())));
            }
            TokenAuth::Basic => {
                let pair = format!("{}:{}", form_encoded(&self.id), form_encoded(secret()));
                let value = format!("Basic {}", STANDARD.encode(pair));
                let value = HeaderValue::try_from(value).expect("Base64 is legal in a header");
                proof.header.insert(AUTHORIZATION, value);
            }
            TokenAuth::Key => {
                let key = self.key.as_ref().ok_or(SignInError::Key("it is not configured"))?;
                let signed = assertion::client_assertion(key, &self.id, audience, now)?;
                proof.fields.push(("client_id", Secret::new(&*self.id)));
                proof.fields.push(("client_assertion_type", Secret::new(assertion::TYPE)));
                proof.fields.push(("client_assertion", signed));
            }
        }
        Ok(proof)
    }
}

/// A text as the header of a request has it, where the parts are form-encoded first (RFC 6749,
/// section 2.3.1).
fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
