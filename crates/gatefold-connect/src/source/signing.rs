//! What a request carries beside its arguments.

use gatefold_core::{CallError, Secret, UnsentCause};
use gatefold_dispatch::CredentialSet;
use gatefold_egress::HttpRequest;
use http::header::COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::HttpApi;
use super::prepared::PreparedAction;
use crate::request::OutgoingRequest;

impl HttpApi {
    /// The request with its credentials.
    pub(super) fn signed(
        &self,
        prepared: &PreparedAction,
        request: OutgoingRequest,
        own: Option<&CredentialSet>,
        token: Option<&Secret>,
    ) -> Result<HttpRequest, CallError> {
        let OutgoingRequest { method, mut url, mut headers, body } = request;
        let mut credentials = HeaderMap::new();
        let configured = self.settings.headers.iter();
        let configured = configured.map(|(name, value)| (name.as_str(), value));
        let own = own.into_iter().flat_map(|set| set.iter());
        let own = own.map(|credential| (credential.name.as_str(), &credential.value));
        for (name, value) in configured.chain(own) {
            let header = header(name, value);
            let (name, value) =
                header.map_err(|reason| self.not_sent(UnsentCause::SetUp, reason))?;
            credentials.insert(name, value);
        }
        let sign_in = self.settings.sign_in();
        let applied = sign_in.apply(&prepared.action, token, &mut url, &mut credentials);
        applied.map_err(|error| self.not_sent(UnsentCause::SetUp, error.to_string()))?;
        join_cookies(&mut headers, &mut credentials);
        let request = HttpRequest { headers, credentials, ..HttpRequest::new(method, url) };
        Ok(request.body(body.unwrap_or_default()))
    }
}

fn header(name: &str, value: &Secret) -> Result<(HeaderName, HeaderValue), String> {
    let header =
        HeaderName::try_from(name).map_err(|_| format!("`{name}` is not a header's name"))?;
    // The value may be a secret, so the message does not show it.
    let mut value = HeaderValue::try_from(value.expose())
        .map_err(|_| format!("the value of header `{name}` is not legal"))?;
    value.set_sensitive(true);
    Ok((header, value))
}

/// A request has one header of cookies: those of arguments go with the secret ones.
fn join_cookies(headers: &mut HeaderMap, credentials: &mut HeaderMap) {
    let Some(secret) = credentials.get(COOKIE) else { return };
    let Some(plain) = headers.remove(COOKIE) else { return };
    let joined = [plain.as_bytes(), b"; ", secret.as_bytes()].concat();
    if let Ok(mut joined) = HeaderValue::from_bytes(&joined) {
        joined.set_sensitive(true);
        credentials.insert(COOKIE, joined);
    }
}
