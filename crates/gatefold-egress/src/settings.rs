use std::time::Duration;

/// How long an unused connection is kept.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// How often a quiet connection is probed, so that a dead one is noticed.
pub(crate) const KEEPALIVE: Duration = Duration::from_secs(30);

/// The longest head of an answer, in bytes. It has at most 100 fields, which is the HTTP library's
/// own limit.
pub(crate) const HEAD_BYTES: usize = 256 * 1024;

/// The user agent.
pub(crate) const AGENT: &str = concat!("gatefold/", env!("CARGO_PKG_VERSION"));

/// How long clients wait, and what they keep.
#[derive(Debug, Clone)]
pub struct Settings {
    /// From the lookup of the name to the end of the TLS handshake.
    pub connect_timeout: Duration,
    /// The longest silence of a server, before its answer and during it. None waits forever, which
    /// is only right for event streams; the caller must then have a deadline of its own.
    pub read_timeout: Option<Duration>,
    /// How many unused connections to one host are kept.
    pub idle_connections: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(15),
            read_timeout: Some(Duration::from_mins(1)),
            idle_connections: 256,
        }
    }
}
