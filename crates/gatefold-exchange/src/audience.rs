use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use gatefold_core::Domain;
use gatefold_disclose::{ClientLimits, Disclosure, Names};

/// Which part of the catalogue a turn is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    #[default]
    Everything,
    /// One source, as if there were no other.
    Source(Domain),
}

/// The name of a registered disclosure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DisclosureName(Arc<str>);

impl DisclosureName {
    pub(crate) fn new(name: &str) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DisclosureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whom a surface is made for: which part of the catalogue is shown, and by which disclosure.
///
/// Only [`Disclosures`](crate::Disclosures) makes one, so its disclosure exists. Cloning is cheap.
#[derive(Clone)]
pub struct Audience {
    scope: Scope,
    name: DisclosureName,
    names: Names,
    disclosure: Arc<dyn Disclosure>,
    limits: ClientLimits,
    choice: Choice,
}

/// How the disclosure of an audience was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The request asked for it by name.
    Named,
    /// The request named none.
    Usual,
}

impl Audience {
    pub(crate) fn new(
        scope: Scope,
        name: DisclosureName,
        names: Names,
        disclosure: Arc<dyn Disclosure>,
        choice: Choice,
    ) -> Self {
        Self { scope, name, names, disclosure, limits: ClientLimits::default(), choice }
    }

    /// The same, for a client with such limits.
    pub(crate) fn within(self, limits: ClientLimits) -> Self {
        Self { limits, ..self }
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The name of the disclosure.
    pub fn disclosure_name(&self) -> &DisclosureName {
        &self.name
    }

    /// The one source that is shown under its own names, as if there were no gateway.
    pub fn own_source(&self) -> Option<&Domain> {
        match (&self.scope, self.names) {
            (Scope::Source(domain), Names::Own) => Some(domain),
            _ => None,
        }
    }

    pub(crate) fn names(&self) -> Names {
        self.names
    }

    /// How much its client can handle.
    pub fn limits(&self) -> &ClientLimits {
        &self.limits
    }

    pub(crate) fn choice(&self) -> Choice {
        self.choice
    }

    pub(crate) fn disclosure(&self) -> &Arc<dyn Disclosure> {
        &self.disclosure
    }
}

/// Two audiences of one registry are equal if they were requested by the same names, for clients
/// with the same limits.
impl PartialEq for Audience {
    fn eq(&self, other: &Self) -> bool {
        self.scope == other.scope && self.name == other.name && self.limits == other.limits
    }
}

impl Eq for Audience {}

impl Hash for Audience {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.scope.hash(state);
        self.name.hash(state);
        self.limits.hash(state);
    }
}

impl fmt::Debug for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, name, .. } = self;
        f.debug_struct("Audience").field("scope", scope).field("name", name).finish()
    }
}
