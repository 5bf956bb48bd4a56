//! An authenticator: bearer tokens, each with the principal that it stands for.

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Principal;
use gatefold_http::{Authenticated, Authenticator, Unauthenticated};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};

/// Knows callers by their tokens. The tokens themselves are not kept, only what they hash to: so
/// nothing can be read out of it, and how long a look-up takes says nothing about a token.
#[derive(Default)]
pub struct BearerTokens {
    /// Filled before the gateway starts, and as large as the embedder made it.
    principals: HashMap<[u8; 32], Arc<Principal>>,
}

impl BearerTokens {
    /// The same, with one more token.
    #[must_use]
    pub fn with(mut self, token: &str, principal: Principal) -> Self {
        self.principals.insert(digest(token), Arc::new(principal));
        self
    }

    fn find(&self, request: &Parts) -> Option<Arc<Principal>> {
        let header = request.headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = header.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        self.principals.get(&digest(token.trim())).cloned()
    }
}

impl Authenticator for BearerTokens {
    /// A missing token and a wrong one get the same answer, so that it says nothing about which
    /// tokens there are.
    fn authenticate<'a>(
        &'a self,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>> {
        let principal = self.find(request).map(Authenticated::from);
        let principal = principal.ok_or_else(|| Unauthenticated {
            status: StatusCode::UNAUTHORIZED,
            message: "send a token: `Authorization: Bearer TOKEN`".to_owned(),
            challenge: Some(HeaderValue::from_static("Bearer")),
        });
        std::future::ready(principal).boxed()
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}
