//! The kinds of sources: each brings its keys, how they are read, and how a source is made of them.
//!
//! A kind is one module and one line in [`Kinds::default`]. Nothing else knows which kinds there are: the
//! reader, the schema, the reference, `config show`, the doctor and the app go by [`SourceKind`] and
//! [`KindSection`]. Whoever embeds Gatefold adds kinds of their own with [`Kinds::with`].

pub mod mcp;
mod needs;
mod parts;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{KindName, Manifest};
use gatefold_config::{ForeignKey, Table};
use gatefold_core::{Clock, Digest, Domain};
use gatefold_dispatch::{Credentials, IdentityScope, Manifests, Source};
use gatefold_egress::HttpClient;
use serde_json::Value as Json;

use super::key::Key;

pub use needs::{Need, ProgramNeed, ServerNeed};
pub use parts::DigestParts;

/// A kind of sources, such as MCP servers.
pub trait SourceKind: Send + Sync + 'static {
    fn name(&self) -> KindName;

    /// What one is called in a sentence, without an article.
    fn noun(&self) -> &'static str;

    /// What the reference says about how one is reached, in whole sentences.
    fn details(&self) -> &'static str;

    /// The ways to reach one. The key of a way selects the kind: a source has exactly one such key. No
    /// other kind may have it, nor may it be one of those that every source has.
    fn ways(&self) -> &'static [Way];

    /// All keys of its own, those of its ways included, in the order of the reference.
    fn keys(&self) -> &'static [Key];

    /// What other programs call its keys.
    fn foreign_keys(&self) -> &'static [ForeignKey] {
        &[]
    }

    /// Reads its keys, of which that of at least one way is there. What is wrong is noted in the
    /// document; with such a fault, what this returns does not matter.
    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>>;
}

/// One way to reach a source, by the key that stands for it.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub key: &'static str,
    /// What the key is given for: "for a program on this machine".
    pub purpose: &'static str,
    /// Introduces such a source in a file to begin with.
    pub heading: &'static str,
    /// The name of that source.
    pub example: &'static str,
}

/// What a source's own keys say, read by its kind. Its `Debug` shows nothing that may be a secret.
pub trait KindSection: fmt::Debug + Send + Sync + 'static {
    fn kind(&self) -> KindName;

    /// Adds everything that says how the source is reached, secrets included. What is kept on disk for
    /// a source is kept for this digest.
    fn digest(&self, parts: &mut DigestParts);

    /// What is reached, as whom and with which settings, however the keys are written: two sources with
    /// the same digest are the same thing twice.
    fn reach(&self) -> Digest {
        let mut parts = DigestParts::new();
        parts.add(self.kind().as_str());
        self.digest(&mut parts);
        parts.finish()
    }

    /// How the source is reached, on one line and without anything that may be secret.
    fn summary(&self) -> String;

    /// The same for programs.
    fn shown(&self) -> Json;

    /// What must be there before the source can be reached, for the doctor to look at.
    fn need(&self) -> Option<Need<'_>> {
        None
    }

    /// Whose sessions the source keeps apart, where no port gives its credentials.
    fn identity(&self) -> IdentityScope {
        IdentityScope::Shared
    }

    /// Makes the source. It connects to nothing before its first use.
    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source>;
}

/// Which source is made, apart from what its kind knows.
pub struct SourceIdentity {
    pub domain: Domain,
    /// From the start of a connection to its first list of tools.
    pub connect_deadline: Duration,
    /// How long a connection that nobody uses stays open.
    pub idle_stop: Duration,
    /// What its manifests are kept for.
    pub config_digest: Digest,
    /// What it offered when it was last reached.
    pub known: Option<Arc<Manifest>>,
}

/// What a source needs from outside.
pub struct SourcePorts {
    /// The guarded client. It may reach any address.
    pub client: HttpClient,
    pub manifests: Arc<dyn Manifests>,
    /// Who is asked for credentials at each request. See [`SourcePorts::credentials_at`].
    pub credentials: Arc<dyn Credentials>,
    pub clock: Arc<dyn Clock>,
}

impl SourcePorts {
    /// Who gives the credentials of a source, if not its configuration.
    pub fn credentials_at(&self, domain: &Domain) -> Option<Arc<dyn Credentials>> {
        self.credentials.scope(domain).map(|_| self.credentials.clone())
    }
}

/// The kinds of sources that a configuration may have.
#[derive(Clone)]
pub struct Kinds(Vec<Arc<dyn SourceKind>>);

impl Default for Kinds {
    /// Every kind that Gatefold has.
    fn default() -> Self {
        Self(vec![Arc::new(mcp::McpKind)])
    }
}

impl Kinds {
    /// The same with one more.
    #[must_use]
    pub fn with(mut self, kind: impl SourceKind) -> Self {
        self.0.push(Arc::new(kind));
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn SourceKind> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Every way to reach a source, with its kind.
    pub(crate) fn ways(&self) -> impl Iterator<Item = (&dyn SourceKind, &'static Way)> {
        self.iter().flat_map(|kind| kind.ways().iter().map(move |way| (kind, way)))
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
