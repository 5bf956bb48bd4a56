use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{Manifest, SourceKind};
use gatefold_core::{Clock, Digest, Domain};
use gatefold_dispatch::{IdentityScope, Manifests, SourceSetup};
use gatefold_egress::{EgressError, HttpClient, Settings};
use gatefold_mcp::{HttpSettings, McpPorts, McpSettings, McpSource, StdioSettings, Transport};
use gatefold_store::{SourceKey, Store};

use super::AppError;
use crate::config::{Connection, SourceConfig};

/// One source of the configuration in force. A disabled one is not made.
#[derive(Clone)]
pub(super) struct Configured {
    pub(super) config: SourceConfig,
    pub(super) source: Option<Arc<McpSource>>,
}

impl Configured {
    /// Whether both stand for the very same source.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => self.config.is_same_source(&other.config),
            _ => false,
        }
    }

    /// The source, unless nothing can be learned from it: it is disabled, or its configuration is
    /// of no use.
    pub(super) fn learnable(&self) -> Option<&Arc<McpSource>> {
        let is_usable = !matches!(self.config.connection, Connection::Unusable(_));
        self.source.as_ref().filter(|_| is_usable)
    }

    pub(super) fn setup(&self) -> Option<SourceSetup> {
        Some(SourceSetup {
            source: self.source.clone()?,
            kind: SourceKind::Mcp,
            description: self.config.description.clone(),
            groups: self.config.groups.clone(),
            identity: IdentityScope::Shared,
            call_deadline: None,
        })
    }
}

/// Makes sources, with whatever is known of them from earlier runs.
pub(super) struct SourceFactory {
    store: Store,
    clock: Arc<dyn Clock>,
    client: HttpClient,
}

impl SourceFactory {
    pub(super) fn new(store: Store, clock: Arc<dyn Clock>) -> Result<Self, AppError> {
        // Streams of events may be silent for long; each request has a deadline of its own.
        let settings = Settings { read_timeout: None, ..Settings::default() };
        Ok(Self { store, clock, client: HttpClient::new(&settings)? })
    }

    /// The sources that a configuration asks for, taken over from `old` where it left them alone.
    pub(super) async fn configured(
        &self,
        configs: &[SourceConfig],
        old: &[Configured],
    ) -> Result<Vec<Configured>, AppError> {
        let kept = |config: &SourceConfig| {
            let same = old.iter().find(|old| old.config.is_same_source(config));
            same.and_then(|old| old.source.clone())
        };
        let new = configs.iter().filter(|config| kept(config).is_none());
        let keys: Vec<_> = new.map(key).collect();
        let known = self.store.known_sources(&keys).await?;
        let mut known: HashMap<Digest, Arc<Manifest>> = known
            .into_iter()
            .filter_map(|known| Some((known.key.config, Arc::new(known.manifest?))))
            .collect();
        let configured = |config: &SourceConfig| {
            let known = known.remove(&config.config_digest);
            let source = kept(config).or_else(|| self.make(config, known));
            Configured { config: config.clone(), source }
        };
        Ok(configs.iter().map(configured).collect())
    }

    fn make(&self, config: &SourceConfig, known: Option<Arc<Manifest>>) -> Option<Arc<McpSource>> {
        let settings = McpSettings {
            domain: config.domain.clone(),
            transport: self.transport(&config.connection)?,
            connect_deadline: config.connect_deadline,
            idle_stop: config.idle_stop,
            config_digest: config.config_digest,
        };
        let ports = McpPorts {
            client: self.client.for_libraries().expect("it may reach any address"),
            credentials: None,
            keeper: Arc::new(Keeper(self.store.clone())),
            clock: self.clock.clone(),
        };
        Some(McpSource::new(settings, ports, known))
    }

    fn transport(&self, connection: &Connection) -> Option<Transport> {
        Some(match connection.clone() {
            Connection::Stdio { command, args, env, inherit_env, cwd } => {
                Transport::Stdio(StdioSettings { command, args, env, inherit_env, cwd })
            }
            Connection::Http { url, .. } if !self.can_trust(&url) => {
                Transport::Unusable(EgressError::NoRoots.to_string())
            }
            Connection::Http { url, headers } => Transport::Http(HttpSettings { url, headers }),
            Connection::Unusable(why) => Transport::Unusable(why.on_one_line()),
            Connection::Disabled => return None,
        })
    }

    /// Whether there is anything to judge that server's certificate by, where it has one.
    fn can_trust(&self, url: &str) -> bool {
        let is_plain = url.parse().is_ok_and(|url: http::Uri| url.scheme_str() == Some("http"));
        is_plain || self.client.has_roots()
    }
}

fn key(config: &SourceConfig) -> SourceKey {
    SourceKey { domain: config.domain.clone(), config: config.config_digest }
}

/// Keeps manifests in the store.
struct Keeper(Store);

impl Manifests for Keeper {
    fn keep(&self, domain: Domain, config: Digest, manifest: Arc<Manifest>) -> BoxFuture<'_, ()> {
        async move {
            let key = SourceKey { domain, config };
            if let Err(error) = self.0.save_manifest(&key, &manifest).await {
                tracing::warn!(domain = %key.domain, %error, "a manifest could not be kept");
            }
        }
        .boxed()
    }
}
