//! Who makes a request over HTTP.

use std::sync::Arc;

use ::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use ::http::request::Parts;
use ::http::{HeaderValue, Response, StatusCode};
use axum::body::Body;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use gatefold_core::{AgentId, OrganisationId, Principal, TokenId, UserId};
use tokio_util::sync::CancellationToken;

use super::streams::turned_away;
use crate::protocol::headers::EVENT_STREAM;

/// Finds out who makes a request. It is called for each one, before the body is read.
///
/// Sessions, streams and parked calls belong to the returned principal; to any other they do not
/// exist.
pub trait Authenticator: Send + Sync + 'static {
    fn authenticate<'a>(
        &'a self,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>>;
}

/// Who makes a request, and for how long that holds.
#[derive(Debug, Clone)]
pub struct Authenticated {
    pub principal: Arc<Principal>,
    /// None if it holds for as long as the request takes.
    pub validity: Option<Arc<Validity>>,
}

impl From<Arc<Principal>> for Authenticated {
    fn from(principal: Arc<Principal>) -> Self {
        Self { principal, validity: None }
    }
}

/// How long it is known who made a request. Tokens expire and are revoked while requests run and
/// streams are open.
#[derive(Debug)]
pub struct Validity {
    /// Fires at its end. Requests that still run are then cancelled, and streams end.
    pub over: CancellationToken,
    /// What a request is answered whose answer had not begun by then.
    pub refusal: Unauthenticated,
}

impl Validity {
    /// Works on a request for as long as this lasts.
    pub(super) async fn bound(
        self: Arc<Self>,
        served: impl Future<Output = Response<Body>>,
    ) -> Response<Body> {
        let response = tokio::select! {
            biased;
            () = self.over.cancelled() => return self.refusal.response(),
            response = served => response,
        };
        let is_stream =
            response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == EVENT_STREAM);
        if !is_stream {
            return response;
        }
        let over = self.over.clone().cancelled_owned();
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(over)))
    }
}

/// Nobody known makes this request, or it does not say who properly.
#[derive(Debug, Clone)]
pub struct Unauthenticated {
    /// Usually 401. A request that is malformed gets 400 (RFC 6750, section 3.1).
    pub status: StatusCode,
    /// The message for the client, without hints at how close it came.
    pub message: String,
    /// The header `WWW-Authenticate`, which tells a client how to authenticate (RFC 9110, 11.6.1).
    pub challenge: Option<HeaderValue>,
}

impl Unauthenticated {
    pub(super) fn response(&self) -> Response<Body> {
        let mut response = turned_away(self.status, self.message.clone());
        if let Some(challenge) = &self.challenge {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge.clone());
        }
        response
    }
}

/// Treats everybody as the same principal: whoever can reach the endpoint is its user.
#[derive(Debug, Clone)]
pub struct SoleUser(Arc<Principal>);

impl SoleUser {
    pub fn new(principal: Principal) -> Self {
        Self(Arc::new(principal))
    }
}

impl Default for SoleUser {
    /// The local user of a gateway without accounts.
    fn default() -> Self {
        Self::new(Principal::local())
    }
}

impl Authenticator for SoleUser {
    fn authenticate<'a>(
        &'a self,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>> {
        Box::pin(std::future::ready(Ok(self.0.clone().into())))
    }
}

/// Whether one principal's sessions and calls are the other's too. What belongs to a token is
/// nobody else's, not even its user's with another token, and likewise with the credentials that a
/// client sends for sources. Rights are not compared: they may change
/// during a session, and each request is judged by its own.
pub(super) fn is_same_caller(one: &Principal, other: &Principal) -> bool {
    caller(one) == caller(other) && one.sent == other.sent
}

/// What tells callers apart, as far as they proved it: anybody can make up a credential for a source.
pub(super) type CallerKey<'a> =
    (&'a UserId, Option<&'a OrganisationId>, Option<&'a AgentId>, Option<&'a TokenId>);

pub(super) fn caller(principal: &Principal) -> CallerKey<'_> {
    let Principal { user, organisation, agent, token, rights: _, sent: _ } = principal;
    (user, organisation.as_ref(), agent.as_ref(), token.as_ref().map(|token| &token.id))
}

#[cfg(test)]
mod tests {
    use gatefold_core::{ClientCredential, Digest, Domain, Secret};

    use super::*;

    #[test]
    fn a_credential_for_a_source_has_sessions_of_its_own_and_no_further_share_of_them() {
        let with = |digest| {
            let (user, value) = (UserId::new("local"), Secret::new("x"));
            let credential =
                ClientCredential { user, digest: Digest::new([digest; 32]), value: Some(value) };
            let sent = [(Domain::from_key("tickets"), credential)].into_iter().collect();
            Principal { sent, ..Principal::local() }
        };
        assert!(is_same_caller(&with(1), &with(1)));
        assert!(!is_same_caller(&with(1), &with(2)));
        assert!(!is_same_caller(&with(1), &Principal::local()));
        assert_eq!(caller(&with(1)), caller(&with(2)));
    }
}
