//! What of a changed configuration takes effect only at the next start.

use crate::config::{Config, DEFAULT_LISTEN, ServerConfig};

/// The keys that changed and need a restart.
pub(super) fn needed(old: &Config, new: &Config) -> Vec<&'static str> {
    let ServerConfig { listen, tls, authentication, .. } = &new.server;
    let rest = |server: &ServerConfig| ServerConfig {
        listen: DEFAULT_LISTEN,
        tls: None,
        authentication: None,
        ..server.clone()
    };
    [
        ("server.listen", *listen != old.server.listen),
        ("server.tls", *tls != old.server.tls),
        ("server.authentication", *authentication != old.server.authentication),
        ("server", rest(&new.server) != rest(&old.server)),
        ("state.dir", new.state_dir != old.state_dir),
        ("secrets.root_key", new.root_key != old.root_key),
        ("audit", new.audit != old.audit),
        ("limits.statement_memory", new.statement_memory != old.statement_memory),
    ]
    .into_iter()
    .filter_map(|(key, has_changed)| has_changed.then_some(key))
    .collect()
}
