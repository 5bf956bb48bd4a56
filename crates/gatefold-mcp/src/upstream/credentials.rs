//! The credentials of one identity at one remote server, as headers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::http::header::{HeaderMap, HeaderName, HeaderValue};
use gatefold_core::{Domain, UpstreamIdentity};
use gatefold_dispatch::{
    Credential, CredentialError, CredentialRefusal, CredentialSet, Credentials, RefusalCause,
};
use gatefold_egress::challenges;
use gatefold_secrecy::KnownSecrets;

use super::own_secrets;
use super::request::WireError;
use super::settings::Transport;

/// Asks for credentials, and keeps the headers that the last ones made.
pub(crate) struct CredentialHeaders {
    port: Arc<dyn Credentials>,
    /// Sent with every request, except where a credential has the same name.
    configured: CredentialSet,
    transport: Transport,
    domain: Domain,
    identity: UpstreamIdentity,
    prepared: Mutex<Prepared>,
}

/// What the last credentials made.
struct Prepared {
    set: Option<CredentialSet>,
    headers: HeaderMap,
    /// What is masked in the server's words: the configuration's secrets, the credentials and those
    /// before them.
    secrets: Arc<KnownSecrets>,
}

impl CredentialHeaders {
    /// `secrets` are those of the transport.
    pub(crate) fn new(
        port: Arc<dyn Credentials>,
        configured: CredentialSet,
        transport: Transport,
        secrets: Arc<KnownSecrets>,
        domain: Domain,
        identity: UpstreamIdentity,
    ) -> Self {
        let prepared = Prepared { set: None, headers: HeaderMap::new(), secrets };
        Self { port, configured, transport, domain, identity, prepared: Mutex::new(prepared) }
    }

    /// The headers of the current credentials, and these.
    pub(crate) async fn headers(&self) -> Result<(HeaderMap, CredentialSet), WireError> {
        // Credentials are usually at hand, which saves allocating a future for each request.
        let set = match self.port.at_hand(&self.domain, &self.identity) {
            Some(set) => set,
            None => self.obtained().await?,
        };
        let mut prepared = self.lock();
        if !prepared.set.as_ref().is_some_and(|known| Arc::ptr_eq(known, &set)) {
            let headers = headers_of(self.configured.iter().chain(set.iter()));
            prepared.headers = headers.map_err(WireError::NoCredentials)?;
            // A call under way may still be answered with the ones before.
            let sets = prepared.set.iter().chain([&set]);
            prepared.secrets = Arc::new(own_secrets::with_credentials(&self.transport, sets));
            prepared.set = Some(set.clone());
        }
        Ok((prepared.headers.clone(), set))
    }

    async fn obtained(&self) -> Result<CredentialSet, WireError> {
        let obtained = self.port.obtain(&self.domain, &self.identity).await;
        obtained.map_err(|error| {
            tracing::debug!(domain = %self.domain, ?error, "credentials were not obtained");
            if error.needs_sign_in {
                return WireError::NeedsSignIn(error.reason);
            }
            WireError::NoCredentials(format!("its credentials could not be had: {error}"))
        })
    }

    /// Reports that the server refused what a request carried. By now that may not be the current
    /// credentials any more. Without an error there are others.
    pub(crate) async fn refused(
        &self,
        carried: CredentialSet,
        cause: RefusalCause,
        answer: &HeaderMap,
    ) -> Result<(), CredentialError> {
        let refusal = CredentialRefusal { carried, cause, challenges: challenges(answer) };
        let refused = self.port.refused(&self.domain, &self.identity, refusal).await;
        refused.map(drop).inspect_err(|error| {
            tracing::debug!(domain = %self.domain, ?error, "credentials were refused");
        })
    }

    /// What is masked in the server's words.
    pub(crate) fn secrets(&self) -> Arc<KnownSecrets> {
        self.lock().secrets.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Prepared> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn headers_of<'a>(credentials: impl Iterator<Item = &'a Credential>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for credential in credentials {
        let name = &credential.name;
        let header = HeaderName::try_from(name.as_str())
            .map_err(|_| format!("`{name}` is not a header's name"))?;
        // The value may be a secret, so the message does not show it.
        let mut value = HeaderValue::try_from(credential.value.expose())
            .map_err(|_| format!("the value of header `{name}` is not legal"))?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}
