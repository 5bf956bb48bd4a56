use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gatefold_egress::IpNet;

use crate::{Authenticator, ListenerTls, SoleUser};

/// How an HTTP endpoint behaves.
#[derive(Clone)]
pub struct HttpEndpoint {
    /// Names by which browsers and clients may address this endpoint (the `Host` header).
    pub allowed_hosts: Vec<String>,
    /// Web pages that may use it (the `Origin` header). Requests without an origin are always
    /// allowed.
    pub allowed_origins: Vec<String>,
    /// The networks of proxies that are believed when they say where a request comes from.
    pub trusted_proxies: Vec<IpNet>,
    pub request_body_bytes: usize,
    /// What larger requests may take in memory together while they are read and worked on, in
    /// bytes. At least one of the largest always fits.
    pub requests_bytes: usize,
    /// How long the body of a request may take.
    pub body_deadline: Duration,
    /// The most connections at a time. Another one replaces the connection that was idle longest,
    /// or is refused if none is idle.
    pub connections: usize,
    /// How long a new connection may take to send the head of its first request.
    pub head_deadline: Duration,
    /// How long a connection may take from one request to the head of the next.
    pub connection_idle: Duration,
    /// How long a client may take nothing of an answer. After that its connection is closed, so that
    /// what is left of the answer takes no memory from others.
    pub unread: Duration,
    /// How long a session may be silent.
    pub session_idle: Duration,
    /// How long running calls may take to finish once the endpoint is shut down.
    pub drain: Duration,
    /// What secures its connections. Without it they are not secured; with it none is served that
    /// is not.
    pub tls: Option<Arc<ListenerTls>>,
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
            trusted_proxies: Vec::new(),
            request_body_bytes: 4 * 1024 * 1024,
            requests_bytes: 32 * 1024 * 1024,
            body_deadline: Duration::from_secs(30),
            connections: 2000,
            head_deadline: Duration::from_secs(10),
            connection_idle: Duration::from_secs(90),
            unread: Duration::from_secs(30),
            session_idle: Duration::from_secs(30 * 60),
            drain: Duration::from_secs(10),
            tls: None,
            authenticator: Arc::<SoleUser>::default(),
        }
    }
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint")
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("trusted_proxies", &self.trusted_proxies)
            .field("request_body_bytes", &self.request_body_bytes)
            .field("requests_bytes", &self.requests_bytes)
            .field("body_deadline", &self.body_deadline)
            .field("connections", &self.connections)
            .field("head_deadline", &self.head_deadline)
            .field("connection_idle", &self.connection_idle)
            .field("unread", &self.unread)
            .field("session_idle", &self.session_idle)
            .field("drain", &self.drain)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}
