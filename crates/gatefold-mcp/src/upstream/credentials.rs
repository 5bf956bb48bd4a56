//! The credentials of one identity at one remote server, as headers.

use std::sync::{Arc, Mutex, PoisonError};

use ::http::header::{HeaderMap, HeaderName, HeaderValue};
use gatefold_core::{Domain, UpstreamIdentity};
use gatefold_dispatch::{Credential, CredentialSet, Credentials};

/// Asks for credentials, and keeps the headers that the last ones made.
pub(crate) struct CredentialHeaders {
    port: Arc<dyn Credentials>,
    /// Sent with every request, except where a credential has the same name.
    configured: CredentialSet,
    domain: Domain,
    identity: UpstreamIdentity,
    prepared: Mutex<Option<(CredentialSet, HeaderMap)>>,
}

impl CredentialHeaders {
    pub(crate) fn new(
        port: Arc<dyn Credentials>,
        configured: CredentialSet,
        domain: Domain,
        identity: UpstreamIdentity,
    ) -> Self {
        Self { port, configured, domain, identity, prepared: Mutex::default() }
    }

    /// The headers of the current credentials. The error says why there are none.
    pub(crate) async fn headers(&self) -> Result<HeaderMap, String> {
        // Credentials are usually at hand, which saves allocating a future for each request.
        let set = match self.port.at_hand(&self.domain, &self.identity) {
            Some(set) => set,
            None => self.port.obtain(&self.domain, &self.identity).await.map_err(|error| {
                tracing::debug!(domain = %self.domain, ?error, "credentials were not obtained");
                format!("its credentials could not be had: {error}")
            })?,
        };
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, headers)) = &*prepared
            && Arc::ptr_eq(known, &set)
        {
            return Ok(headers.clone());
        }
        let headers = headers_of(self.configured.iter().chain(set.iter()))?;
        *prepared = Some((set, headers.clone()));
        Ok(headers)
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
