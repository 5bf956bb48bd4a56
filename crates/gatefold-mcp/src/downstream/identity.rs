//! Who makes a request over HTTP.

use std::sync::Arc;

use ::http::header::WWW_AUTHENTICATE;
use ::http::request::Parts;
use ::http::{HeaderValue, Response, StatusCode};
use axum::body::Body;
use futures::future::BoxFuture;
use gatefold_core::Principal;

use super::streams::json;
use crate::protocol::{RpcError, rpc};

/// Finds out who makes a request. It is called for each one, before the body is read.
///
/// Sessions, streams and parked calls belong to the returned principal; to any other they do not
/// exist.
pub trait Authenticator: Send + Sync + 'static {
    fn authenticate<'a>(
        &'a self,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Arc<Principal>, Unauthenticated>>;
}

/// Nobody known makes this request.
#[derive(Debug, Clone)]
pub struct Unauthenticated {
    /// The message for the client, without hints at how close it came.
    pub message: String,
    /// The header `WWW-Authenticate`, which tells a client how to authenticate (RFC 9110, 11.6.1).
    pub challenge: Option<HeaderValue>,
}

impl Unauthenticated {
    pub(super) fn response(&self) -> Response<Body> {
        let error = RpcError::invalid_request(self.message.clone());
        let mut response = json(StatusCode::UNAUTHORIZED, rpc::refusal(None, &error));
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
    ) -> BoxFuture<'a, Result<Arc<Principal>, Unauthenticated>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// Whether one principal's sessions and calls are the other's too. Rights are not compared: they
/// may change during a session, and each request is judged by its own.
pub(super) fn is_same_caller(one: &Principal, other: &Principal) -> bool {
    let caller = |principal: &Principal| {
        let Principal { user, organisation, agent, .. } = principal.clone();
        (user, organisation, agent)
    };
    caller(one) == caller(other)
}
