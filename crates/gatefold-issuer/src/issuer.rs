use std::sync::Arc;

use axum::Router;
use gatefold_core::Clock;

use crate::routes;
use crate::settings::IssuerSettings;
use crate::state::IssuerState;
use crate::store::IssuerStore;

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

    /// Its metadata, its pages and its endpoints. Whoever serves them says in each request's
    /// extensions where it comes from (`ConnectInfo<SocketAddr>`); without, limits on addresses hold
    /// for all together.
    pub fn router(&self) -> Router {
        routes::router(self.state.clone())
    }
}
