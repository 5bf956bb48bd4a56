use std::collections::HashMap;
use std::sync::Arc;

#[cfg(feature = "knowledge")]
use arc_swap::ArcSwapOption;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{Clock, Digest, Domain, Timestamp};
use gatefold_dispatch::{
    BreakerState, Credentials, IdentityScope, Manifests, Source, SourceReport, SourceSetup,
    SourceState, SourceStatus, TrafficReport,
};
use gatefold_egress::{Egress, Settings};
use gatefold_mcp::{GatewayPath, SessionPlaces, StartLimits, StartPlaces, UserSessionLimits};
use gatefold_oauth::SiteSettings;
use gatefold_policy::Policy;
use gatefold_store::{SourceKey, Store};
use gatefold_worker::WorkerPool;

use super::AppError;
use super::accounts::{self, ClientSent, PresentedTokens, SourceAccounts};
use super::containers::StoredContainers;
use super::unusable::UnusableSource;
#[cfg(feature = "knowledge")]
use crate::EncoderTier;
use crate::config::kinds::{KindSection, SourceIdentity, SourcePorts};
use crate::config::{Config, ServerConfig, SourceConfig, SourceSection};

/// One source of the configuration in force. A disabled one is not built.
#[derive(Clone)]
pub(super) struct ConfiguredSource {
    pub(super) config: SourceConfig,
    pub(super) source: Option<Arc<dyn Source>>,
    /// Whether everybody shares its sessions.
    identity: IdentityScope,
}

impl ConfiguredSource {
    /// Whether both are the same running source.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => self.config.is_same_source(&other.config),
            _ => false,
        }
    }

    /// The source, unless nothing can be learnt from it before somebody uses it: because it is
    /// disabled, its configuration cannot be used, or its offer depends on who asks.
    pub(super) fn learnable(&self) -> Option<&Arc<dyn Source>> {
        let is_shared = self.identity == IdentityScope::Shared;
        let is_usable = self.config.section.usable().is_some();
        self.source.as_ref().filter(|_| is_shared && is_usable)
    }

    pub(super) fn setup(&self) -> Option<SourceSetup> {
        let kind = match &self.config.section {
            SourceSection::Usable(section) => section.kind(),
            SourceSection::Unusable(unusable) => unusable.kind,
            SourceSection::Disabled => return None,
        };
        Some(SourceSetup {
            source: self.source.clone()?,
            kind,
            description: self.config.description.clone(),
            aliases: self.config.aliases.clone(),
            groups: self.config.groups.clone(),
            identity: self.identity,
            call_deadline: self.config.call_deadline,
        })
    }
}

/// Builds sources, with what is known of them from earlier runs.
pub(super) struct SourceFactory {
    store: Store,
    accounts: SourceAccounts,
    client_sent: Arc<ClientSent>,
    exchanged: Arc<PresentedTokens>,
    ports: SourcePorts,
    #[cfg(feature = "knowledge")]
    encoder: Arc<ArcSwapOption<EncoderTier>>,
}

impl SourceFactory {
    pub(super) fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        credentials: Arc<dyn Credentials>,
        accounts: SourceAccounts,
        workers: WorkerPool,
    ) -> Result<Self, AppError> {
        // Event streams may be silent for a long time, and each request has a deadline of its own.
        let settings = Settings { read_timeout: None, ..Settings::default() };
        let egress = Egress::new(settings)?;
        let manifests = Arc::new(StoredManifests(store.clone()));
        let notes = Arc::new(store.clone());
        let results = Arc::new(store.clone());
        let starts = Arc::new(StartPlaces::new(StartLimits::default()));
        let sessions = Arc::new(SessionPlaces::new(UserSessionLimits::default()));
        let client_sent = Arc::new(ClientSent::new(&store.seal_key()));
        let exchanged = Arc::new(accounts.presented_tokens());
        let credentials = accounts.after(credentials, client_sent.clone());
        let path = Arc::<GatewayPath>::default();
        #[cfg(feature = "knowledge")]
        let encoder = Arc::<ArcSwapOption<EncoderTier>>::default();
        let ports = SourcePorts {
            egress,
            manifests,
            credentials,
            clock,
            notes,
            results,
            workers,
            starts,
            sessions,
            path,
            containers: Arc::new(StoredContainers(store.clone())),
            #[cfg(feature = "knowledge")]
            knowledge: crate::bases::folder_of(store.state_dir()),
            #[cfg(feature = "knowledge")]
            encoder: {
                let encoder = Arc::clone(&encoder);
                Arc::new(move || encoder.load_full()?.of_passages())
            },
        };
        Ok(Self {
            store,
            accounts,
            client_sent,
            exchanged,
            ports,
            #[cfg(feature = "knowledge")]
            encoder,
        })
    }

    /// Has knowledge bases use the encoder of a configuration.
    #[cfg(feature = "knowledge")]
    pub(super) fn set_encoder(&self, encoder: Option<Arc<EncoderTier>>) {
        self.encoder.store(encoder);
    }

    pub(super) fn path(&self) -> &Arc<GatewayPath> {
        &self.ports.path
    }

    /// What sources need from outside.
    pub(super) fn ports(&self) -> &SourcePorts {
        &self.ports
    }

    /// What runs callers' programs and reads documents.
    pub(super) fn workers(&self) -> &WorkerPool {
        &self.ports.workers
    }

    /// What every request of ours goes out through.
    pub(super) fn egress(&self) -> &Egress {
        &self.ports.egress
    }

    /// What clients send for sources.
    pub(super) fn client_sent(&self) -> &Arc<ClientSent> {
        &self.client_sent
    }

    /// Where callers' tokens are exchanged for those of sources.
    pub(super) fn exchanged(&self) -> &Arc<PresentedTokens> {
        &self.exchanged
    }

    /// A source whose users may sign in, if it is one.
    pub(super) fn site(
        &self,
        config: &SourceConfig,
        server: &ServerConfig,
    ) -> Option<SiteSettings> {
        accounts::site(config, server, &self.ports.egress).map(|(_, site)| site)
    }

    /// Where sources keep what they offer.
    pub(super) fn manifests(&self) -> Arc<dyn Manifests> {
        self.ports.manifests.clone()
    }

    /// Sets new limits for starts.
    pub(super) fn set_starts(&self, limits: StartLimits) {
        self.ports.starts.set_limits(limits);
    }

    /// The sources that a configuration asks for, reusing those of `old` that did not change.
    pub(super) async fn configured(
        &self,
        config: &Config,
        old: &[ConfiguredSource],
    ) -> Result<Vec<ConfiguredSource>, AppError> {
        let Config { sources: configs, policy, server, .. } = config;
        self.accounts.set_sources(configs, server, &self.ports.egress);
        self.client_sent.set_sources(configs);
        self.exchanged.set_sources(configs);
        let kept = |config: &SourceConfig| {
            let same = old.iter().find(|old| old.config.is_same_source(config));
            same.and_then(|old| old.source.clone())
        };
        let new = configs.iter().filter(|config| kept(config).is_none());
        let keys: Vec<_> = new.map(source_key).collect();
        let known = self.store.known_sources(&keys).await?;
        let mut known: HashMap<Digest, Arc<Manifest>> = known
            .into_iter()
            .filter_map(|known| Some((known.key.config, Arc::new(known.manifest?))))
            .collect();
        let policy = Arc::new(policy.clone());
        let configured = |config: &SourceConfig| {
            let known = known.remove(&config.config_digest);
            let source = kept(config).or_else(|| self.make(config, known, &policy));
            ConfiguredSource {
                config: config.clone(),
                source,
                identity: self.identity_scope(config),
            }
        };
        Ok(configs.iter().map(configured).collect())
    }

    fn identity_scope(&self, config: &SourceConfig) -> IdentityScope {
        let own = || config.section.usable().map(KindSection::identity);
        let given = self.ports.credentials.scope(&config.domain);
        given.or_else(own).unwrap_or(IdentityScope::Shared)
    }

    fn make(
        &self,
        config: &SourceConfig,
        known: Option<Arc<Manifest>>,
        policy: &Arc<Policy>,
    ) -> Option<Arc<dyn Source>> {
        let domain = config.domain.clone();
        let section = match &config.section {
            SourceSection::Usable(section) => section,
            SourceSection::Disabled => return None,
            SourceSection::Unusable(unusable) => {
                let reason = unusable.fault.on_one_line();
                return Some(UnusableSource::new(domain, reason, self.ports.clock.now()));
            }
        };
        let identity = SourceIdentity {
            domain,
            connect_deadline: config.connect_deadline,
            install_deadline: config.install_deadline,
            idle_stop: config.idle_stop,
            config_digest: config.config_digest,
            known,
            policy: policy.clone(),
        };
        Some(section.build(identity, &self.ports))
    }
}

/// Has sources read again what a configuration refers to, such as descriptions, though it is the same
/// configuration: one after the other, behind whoever reloads. Until then, and where it cannot be had, they go on
/// with what they have.
pub(super) fn read_again(sources: &[ConfiguredSource], old: &[ConfiguredSource]) {
    let is_kept = |source: &&ConfiguredSource| old.iter().any(|other| other.is_same(source));
    let is_read = |source: &&ConfiguredSource| {
        source.config.section.usable().is_some_and(KindSection::is_read_on_reload)
    };
    let kept = sources.iter().filter(is_kept).filter(is_read);
    let kept: Vec<_> = kept.filter_map(|kept| kept.source.clone()).collect();
    tokio::spawn(async move {
        for source in kept {
            // A failure is logged where it happens.
            let _ = source.refresh().await;
        }
    });
}

pub(super) fn source_key(config: &SourceConfig) -> SourceKey {
    SourceKey { domain: config.domain.clone(), config: config.config_digest }
}

/// Stores manifests in the store.
struct StoredManifests(Store);

impl Manifests for StoredManifests {
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

/// The report of a source that is switched off.
pub(super) fn disabled_report(domain: &Domain, since: Timestamp) -> SourceReport {
    SourceReport {
        domain: domain.clone(),
        status: SourceStatus {
            state: SourceState::Disabled,
            since,
            error: None,
            protocol: None,
            downloading: None,
            sessions: 0,
        },
        last_lines: Vec::new(),
        breaker: BreakerState::Closed,
        tools: 0,
        prompts: 0,
        resources: 0,
        documents: None,
        alterations: Vec::new(),
        calls_in_flight: 0,
        calls_waiting: 0,
        traffic: TrafficReport::default(),
    }
}
