use std::sync::Arc;

use axum::Router;
use gatefold_core::Clock;
use gatefold_identity::{Consent, PublicUrl};

use crate::routes;
use crate::settings::IssuerSettings;
use crate::state::{IssuerState, IssuerStore};

/// An authorization server for one gateway.
#[derive(Clone)]
pub struct Issuer {
    state: Arc<IssuerState>,
}

impl Issuer {
    pub fn new(
        settings: IssuerSettings,
        store: Arc<dyn IssuerStore>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { state: Arc::new(IssuerState::new(settings, store, clock)) }
    }

    /// The address that what it gives out is for.
    pub fn public_url(&self) -> &PublicUrl {
        &self.state.settings.public_url
    }

    /// Whether the user could sign in again as they did when they agreed. What was agreed to by way of
    /// another provider, or by somebody who is called something else by now, is good for nothing.
    pub fn admits(&self, consent: &Consent) -> bool {
        self.state.admits(&consent.user, consent.provided.as_ref())
    }

    /// Its metadata, its pages and its endpoints. Whoever serves them says in each request's
    /// extensions where it comes from (`ConnectInfo<SocketAddr>`); without, limits on addresses hold
    /// for all together.
    pub fn router(&self) -> Router {
        routes::router(self.state.clone())
    }
}
