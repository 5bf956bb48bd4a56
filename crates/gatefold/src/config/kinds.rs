//! The kinds of sources: each brings its keys, reads them, and builds its sources.
//!
//! A kind is one module and one line in [`Kinds::default`]. Nothing else knows which kinds exist:
//! the reader, the schema, the reference, `config show`, the doctor and the app use [`SourceKind`]
//! and [`KindSection`]. Embedders add kinds of their own with [`Kinds::with`].

pub(crate) mod allow_private;
pub(crate) mod builtin;
mod connector;
pub(in crate::config) mod credentials;
mod database;
mod exchange;
mod http_api;
#[cfg(feature = "knowledge")]
mod knowledge;
pub mod mcp;
mod needs;
mod oauth;
pub(crate) mod open_resources;
mod parts;
mod provider_client;
pub(in crate::config) mod shared_values;
mod skills;

use std::any::Any;
use std::fmt;
#[cfg(feature = "knowledge")]
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use gatefold_catalog::{KindName, Manifest, MetaTool};
use gatefold_config::{ForeignKey, Table};
use gatefold_core::{Clock, Digest, Domain};
use gatefold_dispatch::{Credentials, IdentityScope, Manifests, Notes, Source, StoredResults};
use gatefold_egress::Egress;
#[cfg(feature = "knowledge")]
use gatefold_knowledge::EncoderInForce;
use gatefold_mcp::{ContainerNotes, GatewayPath, SessionPlaces, StartPlaces};
use gatefold_policy::Policy;
use gatefold_worker::WorkerPool;
use serde_json::Value as Json;

use super::key::Key;

pub use allow_private::AllowPrivate;
pub use builtin::BuiltinKind;
pub use connector::CONNECTOR;
pub use credentials::ClientHeaders;
pub use database::{DatabaseKind, DatabaseRules};
pub use exchange::ExchangeKeys;
pub use http_api::{ActionsKind, OpenApiKind};
#[cfg(feature = "knowledge")]
pub use knowledge::KnowledgeKind;
#[cfg(feature = "knowledge")]
pub(crate) use knowledge::base_section;
pub use needs::{Need, ProgramNeed, ServerNeed};
pub use oauth::SignInSettings;
pub use parts::DigestParts;
pub use skills::{SKILLS_HEADING, SkillsKind, skill_folder};

/// A kind of source, such as MCP servers.
pub trait SourceKind: Send + Sync + 'static {
    fn name(&self) -> KindName;

    /// What to call such a source in a sentence, without an article.
    fn noun(&self) -> &'static str;

    /// The reference's text about how such a source is reached, in whole sentences. Empty if another
    /// kind's text says it.
    fn details(&self) -> &'static str;

    /// The ways to reach one. The key of a way selects the kind: a source has exactly one such key.
    /// It must be no key of another kind's ways and no common key of all sources.
    fn ways(&self) -> &'static [ConnectionMethod];

    /// All its keys, including those of its ways, in the order of the reference:
    /// [`keys_of`](crate::config::keys::keys_of) the structs that it reads. A key that is no way, and does not
    /// say what it needs, needs one of its ways.
    fn keys(&self) -> Vec<Key>;

    /// The categories of its tools that an agent may be given, where they have any.
    fn categories(&self) -> &'static [&'static str] {
        &[]
    }

    /// Other programs' names for its keys.
    fn foreign_keys(&self) -> &'static [ForeignKey] {
        &[]
    }

    /// Reads its keys, which are known; the key of at least one way is present. Faults are noted in the document;
    /// after a fault, the returned value is ignored.
    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>>;
}

/// One way to reach a source, identified by its key.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionMethod {
    pub key: &'static str,
    /// When to set the key: "for a program on this machine".
    pub purpose: &'static str,
    /// The comment above such a source in a starter file.
    pub heading: &'static str,
    /// The name of that source.
    pub example: &'static str,
}

/// A source's own keys, read by its kind. Its `Debug` shows nothing that may be secret.
pub trait KindSection: Any + fmt::Debug + Send + Sync + 'static {
    fn kind(&self) -> KindName;

    /// Adds everything that determines how the source is reached, secrets included. State of a
    /// source on disk is kept under this digest.
    fn digest(&self, parts: &mut DigestParts);

    /// What is reached, as whom and with which settings, regardless of how the keys are written:
    /// two sources with equal digests are duplicates.
    fn reach(&self) -> Digest {
        let mut parts = DigestParts::new();
        parts.add(self.kind().as_str());
        self.digest(&mut parts);
        parts.finish()
    }

    /// How the source is reached, on one line and without anything that may be secret.
    fn summary(&self) -> String;

    /// The same as JSON.
    fn shown(&self) -> Json;

    /// What must exist before the source can be reached, for the doctor to check.
    fn need(&self) -> Option<Need<'_>> {
        None
    }

    /// How its users sign in, if they may have to.
    fn sign_in(&self) -> Option<SignInSettings> {
        None
    }

    /// How clients send its credential, if they do.
    fn client_headers(&self) -> Option<ClientHeaders> {
        None
    }

    /// The tools whose calls need a person's approval, whatever the source's `ask` says.
    fn asks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether what it offers is read again at each reload, because it depends on more than the configuration.
    fn is_read_on_reload(&self) -> bool {
        false
    }

    /// The tools of a source whose tools stand for themselves, by the categories that an agent may be
    /// given. What is in none is every agent's.
    fn tool_categories(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// What its definitions depend on besides its own keys, such as rules: when that changes, it is built
    /// anew. Definitions are the same for everybody, so a source that names its resources there names
    /// only what everybody may see.
    fn surroundings(&self, domain: &Domain, policy: &Policy) -> Option<String> {
        let _ = (domain, policy);
        None
    }

    /// Whose sessions the source keeps apart, unless a port gives its credentials.
    fn identity(&self) -> IdentityScope {
        IdentityScope::Shared
    }

    /// Builds the source. It must connect to nothing before its first use.
    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source>;
}

/// The identity and limits of a source, independent of its kind.
pub struct SourceIdentity {
    pub domain: Domain,
    /// From the start of a connection to its first list of tools.
    pub connect_deadline: Duration,
    /// The same for a first start through a package runner, which may have to download.
    pub install_deadline: Duration,
    /// How long an unused connection stays open.
    pub idle_stop: Duration,
    /// The digest under which its manifests are stored.
    pub config_digest: Digest,
    /// What it offered when it was last reached.
    pub known: Option<Arc<Manifest>>,
    /// The rules in force.
    pub policy: Arc<Policy>,
}

/// What a source needs from outside.
pub struct SourcePorts {
    /// Makes a guarded client for the source, with the source's own reach.
    pub egress: Egress,
    pub manifests: Arc<dyn Manifests>,
    /// The port that is asked for credentials at each request. See [`SourcePorts::credentials_at`].
    pub credentials: Arc<dyn Credentials>,
    pub clock: Arc<dyn Clock>,
    /// Where notes of principals are kept.
    pub notes: Arc<dyn Notes>,
    /// Where large results of principals are kept.
    pub results: Arc<dyn StoredResults>,
    /// What runs callers' programs and statements.
    pub workers: WorkerPool,
    /// Where programs get a place for their start.
    pub starts: Arc<StartPlaces>,
    /// Where sessions of single users get their places.
    pub sessions: Arc<SessionPlaces>,
    /// The gateway that they are sources of.
    pub path: Arc<GatewayPath>,
    /// Where containers that programs start are noted.
    pub containers: Arc<dyn ContainerNotes>,
    /// The folder that knowledge bases are kept in.
    #[cfg(feature = "knowledge")]
    pub knowledge: PathBuf,
    /// What reads the passages of knowledge bases.
    #[cfg(feature = "knowledge")]
    pub encoder: EncoderInForce,
}

impl SourcePorts {
    /// The port for a source's credentials, unless its configuration has them.
    pub fn credentials_at(&self, domain: &Domain) -> Option<Arc<dyn Credentials>> {
        self.credentials.scope(domain).map(|_| self.credentials.clone())
    }
}

/// The kinds of sources that a configuration may have.
#[derive(Clone)]
pub struct Kinds(Vec<Arc<RegisteredKind>>);

struct RegisteredKind {
    kind: Box<dyn SourceKind>,
    /// Made once: every load needs their names.
    keys: OnceLock<Vec<Key>>,
}

impl Default for Kinds {
    /// Every kind that Gatefold has.
    fn default() -> Self {
        static OURS: LazyLock<Kinds> = LazyLock::new(|| {
            let kinds = Kinds(Vec::new())
                .with(mcp::McpKind)
                .with(OpenApiKind)
                .with(ActionsKind)
                .with(DatabaseKind)
                .with(BuiltinKind)
                .with(SkillsKind);
            #[cfg(feature = "knowledge")]
            let kinds = kinds.with(KnowledgeKind);
            kinds
        });
        OURS.clone()
    }
}

impl Kinds {
    /// The same kinds and one more.
    #[must_use]
    pub fn with(mut self, kind: impl SourceKind) -> Self {
        self.0.push(Arc::new(RegisteredKind { kind: Box::new(kind), keys: OnceLock::new() }));
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn SourceKind> {
        self.0.iter().map(|own| own.kind.as_ref())
    }

    /// The kinds and their keys, each of which says what it needs.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&dyn SourceKind, &[Key])> {
        self.0.iter().map(|own| (own.kind.as_ref(), own.keys()))
    }

    /// All words that an agent's list of categories may have: those of tools, and the meta-tools of kinds.
    pub(crate) fn categories(&self) -> Vec<&'static str> {
        let of_tools = self.iter().flat_map(|kind| kind.categories().iter().copied());
        of_tools.chain(self.meta_tools().into_iter().map(|meta| meta.name)).collect()
    }

    /// The meta-tools of the kinds, in the order of surfaces.
    pub(crate) fn meta_tools(&self) -> Vec<&'static MetaTool> {
        let mut tools: Vec<_> = self.iter().filter_map(|kind| kind.name().meta_tool()).collect();
        tools.sort_by_key(|meta| (meta.step, meta.name));
        tools.dedup_by_key(|meta| meta.name);
        tools
    }

    /// Every way to reach a source, with its kind.
    pub(crate) fn ways(
        &self,
    ) -> impl Iterator<Item = (&dyn SourceKind, &'static ConnectionMethod)> {
        self.iter().flat_map(|kind| kind.ways().iter().map(move |way| (kind, way)))
    }
}

impl RegisteredKind {
    fn keys(&self) -> &[Key] {
        self.keys.get_or_init(|| {
            let ways: Vec<_> = self.kind.ways().iter().map(|way| way.key.to_owned()).collect();
            let mut keys = self.kind.keys();
            for key in &mut keys {
                if key.needs.is_empty() && !ways.contains(&key.name) {
                    key.needs.clone_from(&ways);
                }
            }
            keys
        })
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(SourceKind::name)).finish()
    }
}

impl PartialEq for Kinds {
    fn eq(&self, other: &Self) -> bool {
        self.iter().map(SourceKind::name).eq(other.iter().map(SourceKind::name))
    }
}

impl Eq for Kinds {}
