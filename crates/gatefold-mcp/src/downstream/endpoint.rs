use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::identity::{Authenticator, SoleUser};

/// How an HTTP endpoint behaves.
#[derive(Clone)]
pub struct HttpEndpoint {
    /// Names by which browsers and clients may address this endpoint (the `Host` header).
    pub allowed_hosts: Vec<String>,
    /// Web pages that may use it (the `Origin` header). Requests without an origin always may.
    pub allowed_origins: Vec<String>,
    pub request_body_bytes: usize,
    /// How long a session may be silent.
    pub session_idle: Duration,
    /// How long calls under way may take to finish once the endpoint is shut down.
    pub drain: Duration,
    /// Who makes a request. By default everybody is the local user.
    pub authenticator: Arc<dyn Authenticator>,
}

impl Default for HttpEndpoint {
    fn default() -> Self {
        let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        Self {
            allowed_hosts: loopback.to_vec(),
            allowed_origins: origins.map(str::to_owned).to_vec(),
            request_body_bytes: 4 * 1024 * 1024,
            session_idle: Duration::from_secs(30 * 60),
            drain: Duration::from_secs(10),
            authenticator: Arc::<SoleUser>::default(),
        }
    }
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            allowed_hosts, allowed_origins, request_body_bytes, session_idle, drain, ..
        } = self;
        f.debug_struct("HttpEndpoint")
            .field("allowed_hosts", allowed_hosts)
            .field("allowed_origins", allowed_origins)
            .field("request_body_bytes", request_body_bytes)
            .field("session_idle", session_idle)
            .field("drain", drain)
            .finish_non_exhaustive()
    }
}
