//! What a gateway should do: files, read into types that cannot be wrong.
//!
//! `gatefold-config` turns each file into a tree with the place of every value, and reads types
//! that derive `Deserialize` from it. This module has the sections (`sections`, `sources`), the
//! kinds of sources (`kinds`) and clients' files (`clients`), and combines all files (`resolve`).
//! One run finds every fault of every file. Each struct that reads keys says what they mean; `key`
//! and `keys` gather that, and `schema` and `texts` turn it into what editors and people read.

mod agents;
mod clients;
mod common_keys;
mod error;
mod file_text;
mod fixed_limits;
mod idle_modes;
mod idle_patterns;
mod issuers;
mod key;
pub mod keys;
pub mod kinds;
mod knowledge;
mod load;
mod locate;
mod loop_tools;
mod models;
mod pins;
mod profiles;
mod resolve;
mod root_key;
mod schema;
mod sections;
mod shown;
mod sign_in;
mod sources;
mod spending;
mod texts;
mod tool_modes;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gatefold_agent::AgentLimits;
use gatefold_builtin::BuiltinName;
use gatefold_catalog::{GroupRules, KindName};
use gatefold_core::{AgentId, ClientName, Digest, Domain, UserId};
use gatefold_disclose::{ExecuteTools, GatewayLimits, Pins, SelectionLimits, ToolModes};
use gatefold_dispatch::Limits;
use gatefold_egress::IpNet;
pub use gatefold_encoder::ModelPlace;
use gatefold_exchange::{ClientProfile, Disclosures, ResultFormat};
use gatefold_identity::PublicUrl;
use gatefold_mcp::StartLimits;
use gatefold_policy::Policy;
use gatefold_store::RootKey;

use kinds::{KindSection, Need};

pub use gatefold_store::{Durability, Retention};

pub(crate) use agents::agents_domain;
pub use agents::{AgentCategories, AgentConfig};
pub use clients::{
    ClientServer, ClientSignIn, InputVariables, all_servers_as_written, folder_of,
    servers_as_written, servers_put_in,
};
pub use common_keys::SourceLimits;
pub use error::ConfigError;
pub use gatefold_config::{Fault, Faults, Share};
pub use idle_modes::IdleMode;
pub use idle_patterns::IdlePattern;
pub use issuers::{IntrospectionConfig, IssuerConfig};
pub use keys::sections;
pub use knowledge::Grounding;
#[cfg(feature = "knowledge")]
pub(crate) use knowledge::knowledge_domain;
pub use load::{Inputs, SourceFindings, check_source, load, secrets_file, with_its_secrets};
pub use locate::{FILE_NAME, default_state_dir, user_config_file};
pub(crate) use loop_tools::builtin_domain;
pub use models::{KeySource, ModelChoice, ModelConfig};
pub use profiles::DisclosureNames;
pub use schema::schema;
pub use sections::listen_address;
pub use shown::{Setting, settings, source_settings};
pub use sign_in::{ProviderConfig, SignInConfig};
pub use spending::DAILY_TOKENS;
pub use texts::{reference, template};
pub use tool_modes::SetModes;
pub use users::{PeopleGroup, UserConfig};

/// The default address of a gateway.
pub const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8420);

/// A whole configuration: all files combined, with defaults. The default one has no sources.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The files it was read from, to watch for changes.
    pub files: Vec<PathBuf>,
    /// Sources in the order of the files. Domains are unique.
    pub sources: Vec<SourceConfig>,
    pub policy: Policy,
    pub disclosure: DisclosureConfig,
    /// How clients are shown tools, by the names that they give themselves.
    pub clients: BTreeMap<ClientName, ClientProfile>,
    /// The language models that are configured, in the order of the file.
    pub models: Vec<ModelConfig>,
    /// How many tokens of each model people other than the local user may use in a day, where the model says
    /// nothing. Without it: [`DAILY_TOKENS`].
    pub model_tokens: Option<u64>,
    /// The agents, by their names.
    pub agents: BTreeMap<AgentId, AgentConfig>,
    /// What runs are limited to where their agent says nothing.
    pub agent_limits: AgentLimits,
    /// The people who are configured, by their names here.
    pub users: BTreeMap<UserId, UserConfig>,
    pub search: SearchConfig,
    pub limits: Limits,
    /// What each process that runs a caller's program or statement may take, in bytes.
    /// Without it: [`WorkerSettings::MEMORY`](gatefold_worker::WorkerSettings::MEMORY).
    pub statement_memory: Option<u64>,
    pub results: ResultsConfig,
    /// Limits of every source without limits of its own.
    pub source_limits: SourceLimits,
    /// How many programs of sources may be started at once.
    pub starts: StartLimits,
    pub server: ServerConfig,
    /// Where the state is kept, if a file says so; see [`default_state_dir`].
    pub state_dir: Option<PathBuf>,
    /// Where secrets are looked up before they are in the keyring.
    pub secrets_file: Option<PathBuf>,
    /// What the keys of kept sign-ins are wrapped with.
    pub root_key: RootKey,
    pub audit: AuditConfig,
}

/// One source: how it is reached, and how it is shown.
#[derive(Debug, Clone)]
pub struct SourceConfig {
    pub domain: Domain,
    /// The file and line that configure it.
    pub origin: Origin,
    /// How it is reached.
    pub section: SourceSection,
    /// The domain's description, instead of the source's own.
    pub description: Option<String>,
    /// What people call the source.
    pub aliases: Vec<String>,
    pub groups: GroupRules,
    /// From the start of a connection to its first list of tools.
    pub connect_deadline: Duration,
    /// The same for a first start through a package runner, which may have to download.
    pub install_deadline: Duration,
    /// The deadline of a call, instead of [`Limits::call_deadline`].
    pub call_deadline: Option<Duration>,
    /// How long an unused connection stays open.
    pub idle_stop: Duration,
    /// What was read otherwise than it is written, or not at all, and what a name became.
    pub notes: Vec<String>,
    /// The digest of the domain and of everything that determines how the source is reached,
    /// secrets included. State on disk is kept under this digest.
    pub config_digest: Digest,
}

impl SourceConfig {
    /// A source that is configured in code. `origin` names the place, for messages.
    pub fn new(domain: Domain, section: impl Into<SourceSection>, origin: Origin) -> Self {
        let section = section.into();
        let limits = SourceLimits::default();
        Self {
            config_digest: resolve::digest(&domain, &section),
            domain,
            origin,
            section,
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            connect_deadline: limits.connect_deadline,
            install_deadline: limits.install_deadline,
            call_deadline: None,
            idle_stop: limits.idle_stop,
            notes: Vec::new(),
        }
    }

    /// Its notes as warnings, a line each.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let key = &self.origin.key;
        self.notes.iter().map(move |note| format!("`{key}`: {note}"))
    }

    /// Whether a source built for `other` also serves this configuration.
    pub fn is_same_source(&self, other: &Self) -> bool {
        self.config_digest == other.config_digest
            && self.connect_deadline == other.connect_deadline
            && self.install_deadline == other.install_deadline
            && self.idle_stop == other.idle_stop
    }
}

/// Where in the files something is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub file: PathBuf,
    pub line: usize,
    /// The source's name in that file.
    pub key: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// The outcome of reading a source's own keys.
#[derive(Clone)]
pub enum SourceSection {
    /// Its kind could read them.
    Usable(Arc<dyn KindSection>),
    /// Switched off in the configuration.
    Disabled,
    /// The source cannot work as configured, or needs a variable or a secret that does not exist.
    Unusable(Box<UnusableSection>),
}

/// A source that cannot be built, and why.
#[derive(Debug, Clone)]
pub struct UnusableSection {
    pub kind: KindName,
    pub fault: Fault,
}

impl SourceSection {
    /// Its kind's section, if it can be used.
    pub fn usable(&self) -> Option<&dyn KindSection> {
        match self {
            Self::Usable(section) => Some(section.as_ref()),
            Self::Disabled | Self::Unusable(_) => None,
        }
    }

    /// Why it cannot be used, if so.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Unusable(unusable) => Some(&unusable.fault),
            Self::Disabled | Self::Usable(_) => None,
        }
    }

    /// What must exist before the source can be reached.
    pub fn need(&self) -> Option<Need<'_>> {
        self.usable()?.need()
    }
}

impl fmt::Debug for SourceSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usable(section) => section.fmt(f),
            Self::Disabled => f.write_str("Disabled"),
            Self::Unusable(unusable) => {
                f.debug_tuple("Unusable").field(&unusable.fault.to_string()).finish()
            }
        }
    }
}

impl<S: KindSection> From<S> for SourceSection {
    fn from(section: S) -> Self {
        Self::Usable(Arc::new(section))
    }
}

/// How tools are shown to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisclosureConfig {
    /// Tools to show at the top level as well.
    pub pinned: Pins,
    /// The most o200k tokens of one discovery answer.
    pub discovery_tokens: usize,
    /// The disclosure for whoever asks for none.
    pub default: String,
    /// Which part of the context all definitions may take where `auto` shows them in full.
    pub auto_share: Share,
    /// How many tokens a model's context has.
    pub context_tokens: usize,
    /// How `typed` shows each kind of source.
    pub modes: ToolModes,
    /// Which tools call others, where any do.
    pub execute: ExecuteTools,
    /// When tools are chosen for a request, and how many.
    pub selection: SelectionLimits,
    /// Whether what a session has found whole stands at its top level from then on.
    pub register: bool,
    /// The built-in tools that our own loops have without a source, unless a source has them.
    pub builtin_tools: BTreeSet<BuiltinName>,
}

impl Default for DisclosureConfig {
    fn default() -> Self {
        Self {
            pinned: Pins::default(),
            discovery_tokens: GatewayLimits::default().discovery_tokens,
            default: Disclosures::GATEWAY.to_owned(),
            auto_share: Share::new(0.1).expect("a tenth is a share"),
            context_tokens: 200_000,
            modes: ToolModes::default(),
            execute: ExecuteTools::default(),
            selection: SelectionLimits::default(),
            register: false,
            builtin_tools: BuiltinName::ALL
                .into_iter()
                .filter(|name| name.needs_nothing())
                .collect(),
        }
    }
}

/// What becomes of results that are too large for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultsConfig {
    /// The most o200k tokens of a result that a model is given at a time.
    pub preview_tokens: usize,
    /// How long the whole result is kept.
    pub expiry: Duration,
    /// How many results of one principal are kept.
    pub kept_each: u32,
    /// How lists of objects are given.
    pub format: ResultFormat,
}

impl Default for ResultsConfig {
    fn default() -> Self {
        Self {
            preview_tokens: 4000,
            expiry: Duration::from_hours(1),
            kept_each: 100,
            format: ResultFormat::Json,
        }
    }
}

/// How callers over HTTP say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthenticationMode {
    /// They need not: whoever reaches the endpoint is the local user.
    None,
    /// With an access token of ours.
    Token,
}

impl AuthenticationMode {
    /// The word for it in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Token => "token",
        }
    }
}

/// The files with the endpoint's certificate and its key, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// The HTTP endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub listen: SocketAddr,
    /// What secures the endpoint, which then speaks nothing but HTTPS.
    pub tls: Option<TlsFiles>,
    /// Whether callers have to say who they are. Unset, nobody has to, and only a loopback address
    /// is served.
    pub authentication: Option<AuthenticationMode>,
    /// The address by which clients know the gateway: an origin.
    pub public_url: Option<PublicUrl>,
    /// Whose tokens let people in, beside our own.
    pub issuers: Vec<IssuerConfig>,
    /// How people sign in at the gateway itself. None if they do not.
    pub sign_in: Option<SignInConfig>,
    /// `Host` headers that are accepted besides those of the loopback.
    pub allowed_hosts: Vec<String>,
    /// `Origin` headers that are accepted besides those of the loopback.
    pub allowed_origins: Vec<String>,
    /// The proxies that are believed when they say where a request comes from.
    pub trusted_proxies: Vec<IpNet>,
    /// The largest request body, in bytes.
    pub request_bytes: u64,
    /// The most bytes of larger requests under way, in total.
    pub requests_bytes: u64,
    /// How long the body of a request may take.
    pub body_deadline: Duration,
    /// The most connections over HTTP at a time.
    pub connections: usize,
    /// How long a new connection may take to send the head of its first request.
    pub head_deadline: Duration,
    /// How long a connection may take from one request to the head of the next.
    pub connection_idle: Duration,
    /// How long a session may be silent.
    pub session_idle: Duration,
    /// How long running calls may take to finish when the gateway stops.
    pub shutdown: Duration,
}

impl ServerConfig {
    /// The names of the issuers that people may be known to, each once.
    pub fn known_issuers(&self) -> impl Iterator<Item = &str> {
        let listed = self.issuers.iter().map(|own| own.issuer.as_str());
        let is_listed = |issuer: &str| self.issuers.iter().any(|own| own.issuer == issuer);
        let provider = self.sign_in_provider().map(|own| own.issuer.as_str());
        listed.chain(provider.filter(move |issuer| !is_listed(issuer)))
    }

    /// The provider at which people sign in for the gateway's own page.
    pub fn sign_in_provider(&self) -> Option<&ProviderConfig> {
        self.sign_in.as_ref()?.provider.as_ref()
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: DEFAULT_LISTEN,
            tls: None,
            authentication: None,
            public_url: None,
            issuers: Vec::new(),
            sign_in: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            request_bytes: 4 * 1024 * 1024,
            requests_bytes: 32 * 1024 * 1024,
            body_deadline: Duration::from_secs(30),
            connections: 2000,
            head_deadline: Duration::from_secs(10),
            connection_idle: Duration::from_secs(90),
            session_idle: Duration::from_secs(30 * 60),
            shutdown: Duration::from_secs(10),
        }
    }
}

/// How tools are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchConfig {
    /// Whether searches learn from the calls that follow them.
    pub learn: bool,
    /// The sentence encoder that re-scores the likeliest tools.
    pub encoder: Option<ModelPlace>,
    /// The file with texts that were written so that tools are found.
    pub texts: Option<PathBuf>,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { learn: true, encoder: ModelPlace::builtin(), texts: None }
    }
}

/// How records of calls are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditConfig {
    /// What an opened record survives.
    pub durability: Durability,
    /// Records beyond it are deleted.
    pub retention: Retention,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { durability: Durability::Process, retention: Retention::default() }
    }
}
