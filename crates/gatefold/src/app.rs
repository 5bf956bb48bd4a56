//! A gateway, put together from a configuration and running.

mod access;
mod accounts;
mod admission;
mod agents;
mod builder;
mod containers;
mod costs;
mod disclosure;
mod documents;
mod encoder;
#[cfg(feature = "knowledge")]
mod knowledge;
mod learning;
mod loop_tools;
mod observer;
mod own_source;
mod own_sources;
mod patterns;
mod people;
mod restart;
mod results;
mod runs;
mod sign_in;
mod sources;
mod status;
mod texts;
mod tls;
mod unusable;
mod used;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use futures::future::join_all;
use gatefold_catalog::Encoder;
use gatefold_core::{CallError, Clock, Domain, Principal, Timestamp};
use gatefold_dispatch::{Dispatcher, RunId, Setup, SourceLogLine, SourceReport};
use gatefold_egress::EgressError;
use gatefold_exchange::{ClientProfiles, Exchange, UnknownDisclosure};
use gatefold_mcp::Server;
use gatefold_oauth::{SignInError, SiteSettings};
use gatefold_store::{ReachAttempt, Store, StoreError};

use crate::config::{Config, ConfigError, Inputs, SourceConfig, load};
use crate::{EncoderTier, Environment};
use admission::ClientAdmission;
use agents::CallableAgents;
use costs::TokenCounts;
use disclosure::ConfiguredDisclosures;
pub use disclosure::{NoSurfaceError, ShownTo};
use learning::LearningTask;
use observer::followed;
use own_sources::OwnSources;
use people::ConfiguredPeople;
use results::KeptResults;
use sources::{ConfiguredSource, SourceFactory, disabled_report, source_key};
use texts::LoadedTexts;
use tls::SecuredEndpoint;

pub use accounts::{AwaitedOfClients, SignInFault, SourceAccounts};
pub use admission::{IssuerFault, OpenAddress, examine_issuers};
pub use builder::AppBuilder;
pub use containers::container_leftovers;
pub use costs::{CountError, TokenCosts, TokenCounter};
pub use observer::ConnectObserver;
pub use runs::{
    BeginRunError, BegunRun, LIVE_RUNS, LIVE_RUNS_OF_ONE, LiveRun, NewAgentRun, RUN_CRASHES,
    RunConversation, RunHost, RunLife, RunOrigin, RunPiece, RunPosition, RunReport, TakeUpError,
    cancel_run, owner_of_runs,
};
pub use status::{Status, status_routes};
pub use tls::{TlsError, TlsWarning, examine_tls};
pub use watch::{ConfigWatch, SeenFiles, WatchError};

/// How long the catalogue may take to include new manifests once their sources have answered.
const CATALOGUE_WAIT: Duration = Duration::from_secs(5);

/// Why a gateway could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Disclosure(#[from] UnknownDisclosure),
    #[error(transparent)]
    Egress(#[from] EgressError),
    #[error(transparent)]
    SignIn(#[from] SignInError),
}

/// A running gateway.
///
/// It owns the state directory and the sources. Entry points, such as the MCP server, are made from
/// it and may come and go. [`App::close`] shuts it down in order; dropping it kills its child
/// processes.
pub struct App {
    dispatcher: Arc<Dispatcher>,
    exchange: Arc<Exchange>,
    disclosures: ConfiguredDisclosures,
    results: KeptResults,
    callable: CallableAgents,
    own: OwnSources,
    server: Arc<Server>,
    store: Store,
    accounts: SourceAccounts,
    clock: Arc<dyn Clock>,
    factory: SourceFactory,
    started_at: Timestamp,
    applied: ArcSwap<AppliedConfig>,
    /// Held during a reload, so that two never overlap.
    reloading: tokio::sync::Mutex<()>,
    learning: Mutex<Option<LearningTask>>,
    counted: TokenCounts,
    admission: ClientAdmission,
    people: Arc<ConfiguredPeople>,
    runs: Arc<RunHost>,
    secured: OnceLock<SecuredEndpoint>,
}

/// The configuration in force, and the sources built for it.
struct AppliedConfig {
    config: Config,
    encoder: Option<Arc<EncoderTier>>,
    texts: LoadedTexts,
    sources: Vec<ConfiguredSource>,
    at: Timestamp,
}

impl AppliedConfig {
    /// Before anything is configured.
    fn nothing(at: Timestamp) -> Self {
        let texts = LoadedTexts::default();
        Self { config: Config::default(), encoder: None, texts, sources: Vec::new(), at }
    }
}

/// What a reload did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReloadReport {
    pub kept: usize,
    pub added: usize,
    pub removed: usize,
    /// Keys that changed but take effect only at the next start.
    pub needs_restart: Vec<&'static str>,
}

/// How connecting one source went.
#[derive(Debug)]
pub struct ConnectOutcome {
    pub source: SourceConfig,
    /// From the start of the connection to its list of tools.
    pub took: Duration,
    pub result: Result<(), CallError>,
}

/// Opens the state directory, builds the sources and puts the configuration into effect, using only
/// parts that Gatefold itself brings. [`App::builder`] does the same with an embedder's own parts.
///
/// It connects to no source: what is known of sources from earlier runs is served at once. Must be
/// called within a Tokio runtime.
pub async fn build(
    config: Config,
    state_dir: &Path,
    clock: Arc<dyn Clock>,
) -> Result<App, AppError> {
    App::builder(config, state_dir).clock(clock).build().await
}

impl App {
    /// Begins to put an app together: a configuration, and the folder for its state.
    pub fn builder(config: Config, state_dir: impl Into<PathBuf>) -> AppBuilder {
        AppBuilder::new(config, state_dir.into())
    }

    /// The dispatcher, for entry points other than MCP.
    pub fn dispatcher(&self) -> &Arc<Dispatcher> {
        &self.dispatcher
    }

    /// The loop that shows tools to a model and answers its calls, for entry points other than MCP.
    pub fn exchange(&self) -> &Arc<Exchange> {
        &self.exchange
    }

    /// An id for a run that begins now.
    pub fn next_run_id(&self) -> RunId {
        RunId::new(self.clock.now(), fastrand::u128(..))
    }

    pub fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// The runs of agents that go on by themselves.
    pub fn runs(&self) -> &Arc<RunHost> {
        &self.runs
    }

    /// The state directory, open.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The sign-ins at sources.
    pub fn accounts(&self) -> &SourceAccounts {
        &self.accounts
    }

    /// Lists a source anew, as after a sign-in. `None` if there is no such source.
    pub async fn refresh(&self, domain: &Domain) -> Option<Result<(), CallError>> {
        let applied = self.applied.load_full();
        let found = applied.sources.iter().find(|source| source.config.domain == *domain)?;
        let refreshed = found.source.clone()?.refresh().await;
        if refreshed.is_ok() {
            self.await_catalogue(std::slice::from_ref(domain)).await;
        }
        Some(refreshed)
    }

    /// A source whose users may sign in, if it is one.
    pub fn site(&self, config: &SourceConfig) -> Option<SiteSettings> {
        self.factory.site(config, &self.applied.load().config.server)
    }

    /// Why nobody can sign in at a source that asks for it, if that can be known before anybody tries.
    pub async fn sign_in_fault(
        &self,
        config: &SourceConfig,
        deadline: tokio::time::Instant,
    ) -> Option<SignInFault> {
        let site = self.site(config)?;
        self.accounts.fault(&site, &config.domain, deadline).await
    }

    /// The configuration in force.
    pub fn config(&self) -> Config {
        self.applied.load().config.clone()
    }

    /// When this gateway was built.
    pub fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// The gateway as an MCP server.
    pub fn server(&self) -> Arc<Server> {
        self.server.clone()
    }

    /// The local user: who runs commands, and who reaches a gateway without tokens.
    pub fn local_user(&self) -> Arc<Principal> {
        self.people.local()
    }

    /// The state of every configured source, including disabled ones, sorted by domain.
    pub fn reports(&self) -> Vec<SourceReport> {
        let applied = self.applied.load();
        let disabled = applied.sources.iter().filter(|source| source.source.is_none());
        let disabled = disabled.map(|source| disabled_report(&source.config.domain, applied.at));
        let mut reports = self.dispatcher.reports();
        let own =
            |domain: &Domain| applied.sources.iter().any(|source| source.config.domain == *domain);
        reports.retain(|report| own(&report.domain));
        reports.extend(disabled);
        reports.sort_by(|a, b| a.domain.cmp(&b.domain));
        reports
    }

    /// What a configured source said besides its answers, see [`Source::log_after`]. `None` if
    /// there is no such source.
    ///
    /// [`Source::log_after`]: gatefold_dispatch::Source::log_after
    pub fn source_log(&self, domain: &str, after: u64) -> Option<Vec<SourceLogLine>> {
        let applied = self.applied.load();
        let mut sources = applied.sources.iter();
        let found = sources.find(|source| source.config.domain.as_str() == domain)?;
        let log = found.source.as_ref().map(|source| source.log_after(after));
        Some(log.unwrap_or_default())
    }

    /// Keeps asking unknown sources in the background until each has answered once, and has the
    /// encoder read the tools. Call it again after a reload; [`App::close`] ends it.
    pub fn keep_learning(&self) {
        let applied = self.applied.load_full();
        let sources = applied.sources.iter().filter_map(ConfiguredSource::learnable).cloned();
        self.set_learning(Some(LearningTask::start(sources.collect())));
        if let Some(encoder) = &applied.encoder {
            encoder.start();
        }
    }

    /// Takes up the runs that nobody drives, until [`App::close`]: those that were interrupted, and those for which
    /// somebody has decided about an approval.
    pub async fn keep_up_runs(self: Arc<Self>) {
        self.runs.clone().keep_up().await;
    }

    fn set_learning(&self, learning: Option<LearningTask>) {
        *self.learning.lock().unwrap_or_else(PoisonError::into_inner) = learning;
    }

    /// If no tool is known at all, waits until every source that can be expected to answer has done
    /// so. One that is hidden from the local user is not waited for.
    pub async fn await_first_tools(&self) {
        let pinned = self.pin();
        if pinned.view().tool_count() > 0 {
            return;
        }
        let applied = self.applied.load_full();
        let learnable = applied.sources.iter().filter(|source| source.learnable().is_some());
        let domains = learnable.map(|source| source.config.domain.clone());
        let domains: Vec<_> = domains.filter(|domain| pinned.may_show(domain)).collect();
        self.await_manifests(&domains).await;
    }

    /// Connects the unknown sources that the local user may see, so that their catalogue is complete,
    /// and waits for one that is already starting. Returns those that failed, with the reason.
    pub async fn learn(&self, follower: &dyn ConnectObserver) -> Vec<(Domain, String)> {
        let (applied, pinned) = (self.applied.load_full(), self.pin());
        let sources: Vec<_> = applied
            .sources
            .iter()
            .filter_map(|source| source.source.clone())
            .filter(|source| source.manifests().borrow().is_none())
            .filter(|source| pinned.may_show(source.domain()))
            .collect();
        let learned = join_all(sources.into_iter().map(async |source| {
            let domain = source.domain().clone();
            follower.started(&domain);
            let result = followed(source, follower).await;
            follower.finished(&domain);
            (domain, result)
        }));
        let failed: Vec<_> = learned
            .await
            .into_iter()
            .filter_map(|(domain, result)| Some((domain, result.err()?.to_string())))
            .collect();
        // A list that was just fetched, whoever asked for it, may not be in the catalogue yet.
        let sources = applied.sources.iter().filter_map(|source| source.source.as_ref());
        let listed = sources.filter(|source| source.manifests().borrow().is_some());
        let known: Vec<_> = listed.map(|source| source.domain().clone()).collect();
        self.await_catalogue(&known).await;
        failed
    }

    /// Connects every source at the same time and returns the outcomes, in the order of the
    /// configuration. Disabled sources are left out. The outcomes are also recorded, so that other
    /// commands can tell a working source from one that is only configured.
    pub async fn connect(&self, follower: &impl ConnectObserver) -> Vec<ConnectOutcome> {
        let applied = self.applied.load_full();
        let connecting = applied.sources.iter().filter_map(|configured| {
            let source = configured.source.clone()?;
            Some(async move {
                let started = Instant::now();
                follower.started(&configured.config.domain);
                let result = followed(source, follower).await;
                follower.finished(&configured.config.domain);
                ConnectOutcome {
                    source: configured.config.clone(),
                    took: started.elapsed(),
                    result,
                }
            })
        });
        let connected = join_all(connecting).await;
        self.note_reach(&connected).await;
        let reached = connected.iter().filter(|one| one.result.is_ok());
        let domains: Vec<_> = reached.map(|one| one.source.domain.clone()).collect();
        self.await_catalogue(&domains).await;
        connected
    }

    async fn note_reach(&self, connected: &[ConnectOutcome]) {
        let now = self.clock.now();
        let attempt = |one: &ConnectOutcome| ReachAttempt {
            key: source_key(&one.source),
            failed_at: one.result.is_err().then_some(now),
        };
        let attempts: Vec<_> = connected.iter().map(attempt).collect();
        if let Err(error) = self.store.note_reach(&attempts).await {
            tracing::warn!(%error, "which sources were reached could not be put on record");
        }
    }

    /// Waits a little until the catalogue includes what these sources offer.
    async fn await_catalogue(&self, domains: &[Domain]) {
        if tokio::time::timeout(CATALOGUE_WAIT, self.await_manifests(domains)).await.is_err() {
            tracing::warn!("the catalogue was not complete in time");
        }
    }

    async fn await_manifests(&self, domains: &[Domain]) {
        let mut epochs = self.dispatcher.epochs();
        loop {
            let catalogue = self.dispatcher.catalogue();
            let has = |domain: &Domain| {
                catalogue.domains().iter().any(|e| e.domain() == domain && e.manifest().is_some())
            };
            if domains.iter().all(has) || epochs.changed().await.is_err() {
                return;
            }
        }
    }

    /// Reads the files again and puts them into effect, all or nothing: if there is a fault in
    /// them, the current configuration stays as it is.
    pub async fn reload(
        &self,
        inputs: &Inputs,
        environment: &Environment,
    ) -> Result<ReloadReport, AppError> {
        let config = load(inputs, environment)?;
        self.apply(config).await
    }

    /// Puts a configuration into effect. Sources that it does not change keep running undisturbed.
    pub async fn apply(&self, config: Config) -> Result<ReloadReport, AppError> {
        let _guard = self.reloading.lock().await;
        let old = self.applied.load_full();
        let sources = self.factory.configured(&config, &old.sources).await?;
        let is_in = |list: &[ConfiguredSource], one: &ConfiguredSource| {
            list.iter().any(|other| other.is_same(one))
        };
        let kept = sources.iter().filter(|source| is_in(&old.sources, source)).count();
        let reloaded = ReloadReport {
            kept,
            added: sources.len() - kept,
            removed: old.sources.iter().filter(|source| !is_in(&sources, source)).count(),
            needs_restart: restart::needed(&old.config, &config),
        };
        let encoder = self.encoder_of(&config, old.encoder.as_ref());
        #[cfg(feature = "knowledge")]
        self.factory.set_encoder(encoder.clone());
        let texts = LoadedTexts::of(&config).await;
        let clients = config.clients.clone();
        let clients = ClientProfiles::new(clients, self.exchange.disclosures())?;
        self.factory.set_starts(config.starts);
        self.exchange.disclosures().set_default(&config.disclosure.default)?;
        self.disclosures.replace(&config);
        self.exchange.disclosures().set_selection(disclosure::selection(&config.disclosure));
        let agents = self.disclosures.agents(&config, self.exchange.disclosures())?;
        let setup = Setup {
            policy: config.policy.clone(),
            limits: config.limits,
            learns: config.search.learn,
            encoder: encoder.clone().map(|encoder| encoder as Arc<dyn Encoder>),
            texts: texts.found(),
            sources: sources
                .iter()
                .filter_map(ConfiguredSource::setup)
                .chain(self.own_setups(&config))
                .collect(),
            loop_sources: self.own.loop_tools.setup(&config, &self.factory).into_iter().collect(),
        };
        self.exchange.set_clients(clients);
        self.exchange.set_agents(agents);
        self.people.replace(&config);
        self.runs.set_config(&config);
        self.dispatcher.install(setup);
        sources::read_again(&sources, &old.sources);
        self.recall_used(&config).await;
        self.applied.store(Arc::new(AppliedConfig {
            config,
            encoder,
            texts,
            sources,
            at: self.clock.now(),
        }));
        Ok(reloaded)
    }

    /// What is wrong with the file of texts by which tools are found; `None` if it is in order or
    /// there is none.
    pub fn texts_fault(&self) -> Option<String> {
        self.applied.load().texts.fault(self.pin().view())
    }

    /// Closes every source, including child processes, and then the store. Running calls fail; open
    /// records count as interrupted, and runs can be taken up again.
    pub async fn close(&self) {
        self.set_learning(None);
        self.runs.close().await;
        self.dispatcher.close().await;
        self.admission.close().await;
        if let Err(error) = self.store.close().await {
            tracing::error!(%error, "the last audit records could not be written");
        }
    }
}
