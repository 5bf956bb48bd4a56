use std::sync::Arc;

use gatefold_egress::HttpClient;
use gatefold_identity::PublicUrl;

use crate::provider::IdentityProvider;

/// What an issuer needs to know.
#[derive(Clone)]
pub struct IssuerSettings {
    pub public_url: PublicUrl,
    pub registration: Registration,
    pub password: PasswordSignIn,
    /// Where people may sign in instead.
    pub provider: Option<Arc<dyn IdentityProvider>>,
    pub documents: DocumentAccess,
    /// What all keys are derived from: the same for every gateway that is this issuer.
    pub key: [u8; 32],
}

/// Whether people may sign in with a password of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordSignIn {
    On,
    Off,
}

/// Where browsers come back to from a provider, below the public address.
pub const CALLBACK_PATH: &str = "/oauth/callback";

/// Whether clients may register themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    On,
    Off,
}

/// How clients' metadata documents are fetched.
#[derive(Debug, Clone)]
pub struct DocumentAccess {
    /// It decides which addresses may be reached.
    pub client: HttpClient,
    /// Whether a document of this machine may be read without TLS. Only for a gateway that nobody
    /// else reaches.
    pub allows_loopback: bool,
}
