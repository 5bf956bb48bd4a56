use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use gatefold_disclose::{Disclosure, FlatDisclosure, Names};

use crate::audience::{Choice, SelectionSettings};
use crate::{Audience, DisclosureName, Scope};

/// A request for a disclosure that nobody registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no disclosure `{asked}`: use {known}")]
pub struct UnknownDisclosure {
    /// The requested name, cut at [`UnknownDisclosure::SHOWN`] characters.
    asked: String,
    known: String,
}

impl UnknownDisclosure {
    /// How much of an unknown name is repeated, in characters.
    const SHOWN: usize = 40;
}

/// Which names a disclosure uses for the entries of a single source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamingScheme {
    /// The gateway's, unique among all sources.
    Public,
    /// The source's own, if no other source is shown with it.
    OwnForOneSource,
}

/// All disclosures, by name: the one place where they are registered.
pub struct Disclosures {
    registered: Vec<Registration>,
    /// The default disclosure.
    usual: ArcSwap<DisclosureName>,
    /// The default for a single source.
    usual_for_source: DisclosureName,
    selection: ArcSwap<SelectionSettings>,
    /// How often the defaults or the selection have changed.
    changes: AtomicU64,
}

#[derive(Clone)]
struct Registration {
    name: DisclosureName,
    public: Arc<dyn Disclosure>,
    /// The variant for one source under its own names, if the disclosure has one.
    own: Option<Arc<dyn Disclosure>>,
}

impl Registration {
    fn new(name: &str, naming: NamingScheme, make: impl Fn(Names) -> Arc<dyn Disclosure>) -> Self {
        let own = (naming == NamingScheme::OwnForOneSource).then(|| make(Names::Own));
        Self { name: DisclosureName::new(name), public: make(Names::Public), own }
    }
}

impl Clone for Disclosures {
    /// A registry of its own, with the same disclosures.
    fn clone(&self) -> Self {
        Self {
            registered: self.registered.clone(),
            usual: ArcSwap::new(self.usual.load_full()),
            usual_for_source: self.usual_for_source.clone(),
            selection: ArcSwap::new(self.selection.load_full()),
            changes: AtomicU64::default(),
        }
    }
}

impl Disclosures {
    pub const GATEWAY: &str = "gateway";
    pub const FLAT: &str = "flat";
    pub const NAMESPACE: &str = "namespace";
    pub const INTENT: &str = "intent";
    pub const TYPED: &str = "typed";
    pub const AUTO: &str = "auto";

    /// The names of those that Gatefold has.
    pub const OURS: [&str; 6] =
        [Self::GATEWAY, Self::NAMESPACE, Self::TYPED, Self::INTENT, Self::FLAT, Self::AUTO];

    /// The two disclosures that every gateway has. The first is the default; the second shows a
    /// single source as if there were no gateway.
    pub fn standard(gateway: &Arc<dyn Disclosure>) -> Self {
        let gateway = Registration::new(Self::GATEWAY, NamingScheme::Public, |_| gateway.clone());
        let flat = Registration::new(Self::FLAT, NamingScheme::OwnForOneSource, |names| {
            Arc::new(FlatDisclosure { names })
        });
        let (usual, usual_for_source) = (gateway.name.clone(), flat.name.clone());
        let usual = ArcSwap::from_pointee(usual);
        let selection = ArcSwap::default();
        let (registered, changes) = (vec![gateway, flat], AtomicU64::default());
        Self { registered, usual, usual_for_source, selection, changes }
    }

    /// Makes a registered disclosure the default for everything. That of a single source stays.
    pub fn set_default(&self, name: &str) -> Result<(), UnknownDisclosure> {
        let registration = self.registered.iter().find(|other| other.name.as_str() == name);
        let registration = registration.ok_or_else(|| self.unknown(name))?;
        self.usual.store(Arc::new(registration.name.clone()));
        self.changes.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Sets how tools are chosen for those who say what they are asked to do.
    pub fn set_selection(&self, selection: SelectionSettings) {
        self.selection.store(Arc::new(selection));
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// How often the defaults or the selection have changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Adds a disclosure, replacing one of the same name. `make` is called once for each kind of
    /// names that the disclosure can use.
    #[must_use]
    pub fn with(
        mut self,
        name: &str,
        naming: NamingScheme,
        make: impl Fn(Names) -> Arc<dyn Disclosure>,
    ) -> Self {
        let added = Registration::new(name, naming, make);
        match self.registered.iter_mut().find(|other| other.name == added.name) {
            Some(same) => *same = added,
            None => self.registered.push(added),
        }
        self
    }

    /// The same, with another disclosure wherever this one is.
    #[must_use]
    pub fn with_in_place_of(
        mut self,
        old: &Arc<dyn Disclosure>,
        new: &Arc<dyn Disclosure>,
    ) -> Self {
        for Registration { public, own, .. } in &mut self.registered {
            for place in std::iter::once(public).chain(own) {
                if Arc::ptr_eq(place, old) {
                    *place = new.clone();
                }
            }
        }
        self
    }

    /// The names of all disclosures, in the order in which they were registered.
    pub fn names(&self) -> impl Iterator<Item = &DisclosureName> {
        self.registered.iter().map(|registration| &registration.name)
    }

    /// An audience for the requested disclosure, or for the default one.
    pub fn audience(
        &self,
        scope: Scope,
        name: Option<&str>,
    ) -> Result<Audience, UnknownDisclosure> {
        let everything = self.usual.load();
        let usual = match scope {
            Scope::Everything => &everything,
            Scope::Source(_) => &self.usual_for_source,
        };
        let choice = if name.is_some() { Choice::Named } else { Choice::Usual };
        let name = name.unwrap_or(usual.as_str());
        let registration = self.registered.iter().find(|other| other.name.as_str() == name);
        let Registration { name, public, own } = registration.ok_or_else(|| self.unknown(name))?;
        let (names, disclosure) = match (&scope, own) {
            (Scope::Source(_), Some(own)) => (Names::Own, own),
            _ => (Names::Public, public),
        };
        let selection = self.selection.load_full();
        Ok(Audience::new(scope, name.clone(), names, disclosure.clone(), choice, selection))
    }

    fn unknown(&self, name: &str) -> UnknownDisclosure {
        let quoted: Vec<_> = self.names().map(|name| format!("`{name}`")).collect();
        let known = match quoted.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        let asked = name.chars().take(UnknownDisclosure::SHOWN).collect();
        UnknownDisclosure { asked, known }
    }
}

impl fmt::Debug for Disclosures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::Domain;
    use gatefold_disclose::Gateway;

    use super::*;

    fn standard() -> Disclosures {
        let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
        Disclosures::standard(&gateway)
    }

    #[track_caller]
    fn check(scope: &str, asked: Option<&str>, expected: Result<(&str, Names), &str>) {
        let scope = match scope {
            "" => Scope::Everything,
            domain => Scope::Source(Domain::parse(domain).unwrap()),
        };
        let audience = standard().audience(scope, asked);
        let shown = audience.as_ref().map(|own| (own.disclosure_name().as_str(), own.names()));
        assert_eq!(shown.map_err(ToString::to_string), expected.map_err(str::to_owned));
    }

    #[test]
    fn a_name_chooses_the_disclosure_and_its_scope_the_names() {
        check("", None, Ok(("gateway", Names::Public)));
        check("", Some("flat"), Ok(("flat", Names::Public)));
        check("up", None, Ok(("flat", Names::Own)));
        check("up", Some("flat"), Ok(("flat", Names::Own)));
        check("up", Some("gateway"), Ok(("gateway", Names::Public)));
        let error = "there is no disclosure `loud`: use `gateway` or `flat`";
        check("", Some("loud"), Err(error));
        let long = "l".repeat(99);
        let error = format!("there is no disclosure `{}`: use `gateway` or `flat`", &long[..40]);
        check("", Some(&long), Err(&error));
    }

    #[test]
    fn a_disclosure_of_an_embedders_own_is_found_by_its_name() {
        let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
        let disclosures = standard().with("loud", NamingScheme::Public, |_| gateway.clone());
        let found = disclosures.audience(Scope::Everything, Some("loud")).unwrap();
        assert!(Arc::ptr_eq(found.disclosure(), &gateway));
        let error = disclosures.audience(Scope::Everything, Some("quiet")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no disclosure `quiet`: use `gateway`, `flat` or `loud`"
        );
    }

    #[test]
    fn a_name_registered_again_stands_for_the_later_disclosure() {
        let own: Arc<dyn Disclosure> = Arc::new(Gateway::default());
        let disclosures = standard().with("flat", NamingScheme::Public, |_| own.clone());
        let found = disclosures.audience(Scope::Everything, Some("flat")).unwrap();
        assert!(Arc::ptr_eq(found.disclosure(), &own));
        assert_eq!(disclosures.names().count(), 2);
    }
}
