use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use arc_swap::ArcSwap;
use gatefold_core::{Clock, Principal, SystemClock};
use gatefold_disclose::{Disclosure, Names};
use gatefold_dispatch::{Approvals, Credentials, Dispatcher, NoCredentials, Ports};
use gatefold_exchange::{Exchange, LearningPorts, NamingScheme};
use gatefold_http::Authenticator;
use gatefold_mcp::Server;
use gatefold_store::{Store, StoreOptions};
use gatefold_worker::{WorkerPool, WorkerProgram};

use super::access::Access;
use super::accounts::SourceAccounts;
use super::admission::{self, ClientAdmission};
use super::agents::CallableAgents;
use super::containers;
use super::costs::TokenCounts;
use super::disclosure::ConfiguredDisclosures;
use super::own_sources::OwnSources;
use super::people::ConfiguredPeople;
use super::results::KeptResults;
use super::runs::RunHost;
use super::sign_in;
use super::sources::SourceFactory;
use super::{App, AppError, AppliedConfig};
use crate::config::{AuthenticationMode, Config};

/// Builds an [`App`]. Each method replaces a part that Gatefold brings itself, or adds to it. The
/// binary runs with those parts.
///
/// Kinds of sources are no part of it: a configuration is read with them, so they are named in
/// [`Inputs::kinds`](crate::config::Inputs::kinds).
#[must_use = "an app is made by `build`"]
pub struct AppBuilder {
    config: Config,
    state_dir: PathBuf,
    clock: Arc<dyn Clock>,
    disclosures: Vec<AddedDisclosure>,
    /// The one that the configuration asks for, unless another is set.
    authenticator: Option<Arc<dyn Authenticator>>,
    /// Those of the store, unless others are set.
    approvals: Option<Arc<dyn Approvals>>,
    credentials: Arc<dyn Credentials>,
    /// This program, if it can be a worker, unless another is set.
    worker: Option<WorkerProgram>,
}

struct AddedDisclosure {
    name: String,
    naming: NamingScheme,
    make: Box<dyn Fn(Names) -> Arc<dyn Disclosure> + Send>,
}

impl AppBuilder {
    pub(super) fn new(config: Config, state_dir: PathBuf) -> Self {
        Self {
            config,
            state_dir,
            clock: Arc::new(SystemClock),
            disclosures: Vec::new(),
            authenticator: None,
            approvals: None,
            credentials: Arc::new(NoCredentials),
            worker: None,
        }
    }

    /// Reads the time from another clock than the system's.
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Adds a way to show tools, or replaces the one with this name. Clients ask for it by its
    /// name. `make` is called once for each kind of names that `naming` says it can use.
    pub fn disclosure(
        mut self,
        name: impl Into<String>,
        naming: NamingScheme,
        make: impl Fn(Names) -> Arc<dyn Disclosure> + Send + 'static,
    ) -> Self {
        self.disclosures.push(AddedDisclosure { name: name.into(), naming, make: Box::new(make) });
        self
    }

    /// Sets how to find out who makes a request over HTTP, whatever `server.authentication` says. By
    /// default everybody is the local user, or has to present an access token.
    pub fn authenticator(self, authenticator: Arc<dyn Authenticator>) -> Self {
        Self { authenticator: Some(authenticator), ..self }
    }

    /// Sets where requests for a person's approval and the decisions are stored. By default that is
    /// the state directory, where `gatefold approvals` finds them.
    pub fn approvals(self, approvals: Arc<dyn Approvals>) -> Self {
        Self { approvals: Some(approvals), ..self }
    }

    /// Gives the credentials of the sources that it is responsible for. The others present what
    /// their configuration says.
    pub fn credentials(self, credentials: Arc<dyn Credentials>) -> Self {
        Self { credentials, ..self }
    }

    /// Sets the program that runs callers' jq programs, statements and patterns, in processes of its own: one that calls
    /// [`worker::run_if_asked`](crate::worker::run_if_asked) first in its `main`, such as `gatefold`. By default it is
    /// this program, if it has called that. Without one, what needs it is left out or refused.
    pub fn worker(self, program: impl Into<WorkerProgram>) -> Self {
        Self { worker: Some(program.into()), ..self }
    }

    /// Opens the state directory, builds the sources and puts the configuration in force.
    ///
    /// It connects to no source: what is known of sources from earlier runs is served at once. Must
    /// be called within a Tokio runtime.
    pub async fn build(self) -> Result<App, AppError> {
        let workers = self.workers();
        let Self { config, state_dir, clock, disclosures, approvals, credentials, .. } = self;
        let options = StoreOptions {
            durability: config.audit.durability,
            retention: config.audit.retention,
            clock: clock.clone(),
            ..StoreOptions::default()
        };
        let store = Store::open(&state_dir, options).await?;
        // Before any source starts: a container may have a name that its source wants again.
        containers::end_leftovers(&state_dir).await;
        let approvals = approvals.unwrap_or_else(|| Arc::new(store.clone()));
        let dispatcher = Dispatcher::new(Ports {
            audit: Arc::new(store.clone()),
            approvals: approvals.clone(),
            clock: clock.clone(),
            seal: store.seal_key(),
        });
        let accounts = SourceAccounts::new(store.grants(config.root_key.clone()), clock.clone())?;
        let factory = SourceFactory::new(
            store.clone(),
            clock.clone(),
            credentials,
            accounts.clone(),
            workers.clone(),
        )?;
        let own = ConfiguredDisclosures::new(&config);
        let disclosures = disclosures
            .into_iter()
            .fold(own.registered(), |all, added| all.with(&added.name, added.naming, added.make));
        let results = KeptResults::new(&store, clock.clone(), &config, workers);
        let (past, used) = (Arc::new(store.clone()), Arc::new(store.clone()));
        let (keeper, calls) = (results.keeper().clone(), dispatcher.clone());
        let exchange = Exchange::keeping(keeper, LearningPorts { past, used }, calls, disclosures);
        let server = Server::new(exchange.clone(), factory.path().clone());
        let people: Arc<ConfiguredPeople> = Arc::default();
        let admission = match self.authenticator {
            Some(own) => ClientAdmission::Embedders(own),
            None if config.server.authentication == Some(AuthenticationMode::Token) => {
                let parts = (&store, &factory, &server, &dispatcher);
                ClientAdmission::Tokens(Box::new(access(parts, &config, &clock, &people).await?))
            }
            None => ClientAdmission::Everybody(people.clone()),
        };
        let app = App {
            callable: CallableAgents::new(clock.clone(), &exchange, Arc::new(store.clone())),
            own: OwnSources::default(),
            runs: RunHost::new(&store, &exchange, &people, &clock, approvals),
            dispatcher,
            exchange,
            disclosures: own,
            results,
            server,
            store,
            accounts,
            factory,
            started_at: clock.now(),
            applied: ArcSwap::from_pointee(AppliedConfig::nothing(clock.now())),
            clock,
            reloading: tokio::sync::Mutex::default(),
            learning: Mutex::default(),
            counted: TokenCounts::default(),
            admission,
            people,
            secured: OnceLock::new(),
        };
        // Boxed because the futures that wait for it are moved as a whole.
        Box::pin(app.apply(config)).await?;
        recollect(&app.exchange).await;
        Ok(app)
    }

    /// What runs callers' programs and statements.
    fn workers(&self) -> WorkerPool {
        let program = self.worker.clone().or_else(crate::worker::this_program);
        crate::worker::pool(&self.config, program)
    }
}

/// Has searches use what was learnt from use before.
async fn recollect(exchange: &Exchange) {
    if let Err(error) = exchange.recollect(&Principal::local().tenant()).await {
        tracing::warn!(%error, "what was learnt from use could not be read; searches go without");
    }
}

/// Who may come in with which token.
async fn access(
    (store, factory, server, dispatcher): (&Store, &SourceFactory, &Arc<Server>, &Arc<Dispatcher>),
    config: &Config,
    clock: &Arc<dyn Clock>,
    people: &Arc<ConfiguredPeople>,
) -> Result<Access, AppError> {
    let (own, egress) = (&config.server, factory.egress());
    let issuer = sign_in::issuer(own, store, egress, clock, people);
    let issuers = admission::issuers(own, egress, factory.exchanged(), clock, issuer);
    Ok(Access::open(store, clock.clone(), server, dispatcher, people.clone(), issuers).await?)
}
