use std::ops::Range;
use std::sync::Arc;

use gatefold_core::{Digest, Domain, EntryKind, Hints, Target, ToolId};
use sha2::{Digest as _, Sha256};

use super::{View, shown};
use crate::address::{address, is_uri, read_address};
use crate::entry::Entry;
use crate::lookup::VisibleEntries;
use crate::manifest::ToolTopic;
use crate::snapshot::{DomainEntry, TopicNeeds};
use crate::template;

/// The most templates of one domain that a URI is compared with.
const MAX_COMPARED_TEMPLATES: usize = 256;

impl View {
    /// The visible prompts, sorted by domain, then name.
    pub fn prompts(&self) -> impl Iterator<Item = &Entry> {
        let all = self.snapshot.prompts();
        shown(all, &self.prompts, 0..all.len())
    }

    /// The visible prompts of a domain, sorted by name.
    pub fn prompts_in(&self, domain: &DomainEntry) -> impl Iterator<Item = &Entry> {
        shown(self.snapshot.prompts(), &self.prompts, domain.entries().prompts.clone())
    }

    /// The visible resources that are listed, sorted by domain, then URI.
    pub fn resources(&self) -> impl Iterator<Item = &Entry> {
        let all = self.snapshot.resources();
        shown(all, &self.resources, 0..all.len())
    }

    /// The visible resources that a domain lists, sorted by URI.
    pub fn resources_in(&self, domain: &DomainEntry) -> impl Iterator<Item = &Entry> {
        shown(self.snapshot.resources(), &self.resources, domain.entries().resources.clone())
    }

    /// The visible resource templates, sorted by domain, then text.
    pub fn templates(&self) -> impl Iterator<Item = &Entry> {
        let all = self.snapshot.templates();
        shown(all, &self.templates, 0..all.len())
    }

    /// The visible resource templates of a domain, sorted by text.
    pub fn templates_in(&self, domain: &DomainEntry) -> impl Iterator<Item = &Entry> {
        shown(self.snapshot.templates(), &self.templates, domain.entries().templates.clone())
    }

    /// The one prompt that a name means, in the same order of certainty as [`View::find`].
    pub fn find_prompt(&self, name: &str) -> Option<&Entry> {
        let (names, domains) = (self.snapshot.prompt_names(), self.snapshot.domain_names());
        let found = names.find(name, domains, &VisiblePrompts(self));
        found.map(|at| &self.snapshot.prompts()[at])
    }

    /// The prompt that a domain's source calls by this name.
    pub fn prompt_named(&self, domain: &Domain, own_name: &str) -> Option<&Entry> {
        let range = &self.in_scope(domain.as_str())?.entries().prompts;
        let mut own = self.snapshot.prompt_names().own(own_name);
        let found = own.find(|at| range.contains(at) && self.prompts.has(*at));
        found.map(|at| &self.snapshot.prompts()[at])
    }

    /// What a URI refers to: the address of a resource or a template; or a source's own URI, if it
    /// is visible in only one domain, or in none and a visible template of only one domain matches
    /// it.
    ///
    /// A source may have unlisted resources, so the target of an unlisted URI is created on the
    /// spot. The view knows nothing about its visibility: policy has to decide.
    pub fn find_resource(&self, uri: &str) -> Option<Arc<Target>> {
        let addressed = read_address(uri)
            .and_then(|(domain, own_uri)| Some((self.in_scope(domain.as_str())?, own_uri)));
        if let Some((domain, own_uri)) = addressed {
            return self.resource_of(domain, &own_uri);
        }
        let lists = |domain: &DomainEntry| {
            self.listed_resource(domain, uri).is_some_and(|at| self.resources.has(at))
                || self.listed_template(domain, uri).is_some_and(|at| self.templates.has(at))
        };
        let mut listing = self.scope().filter(|domain| lists(domain));
        if let Some(domain) = listing.next() {
            return listing.next().is_none().then(|| self.resource_of(domain, uri)).flatten();
        }
        let fits = |domain: &DomainEntry| {
            let mut templates = self.templates_in(domain).take(MAX_COMPARED_TEMPLATES);
            templates.any(|entry| template::matches(entry.definition().key(), uri))
        };
        let mut fitting = self.scope().filter(|domain| fits(domain));
        let domain = fitting.next().filter(|_| fitting.next().is_none())?;
        self.resource_of(domain, uri)
    }

    /// Whether a target is a visible resource or template that its source lists.
    pub fn lists_resource(&self, target: &Target) -> bool {
        let Some(domain) = self.in_scope(target.domain.as_str()) else { return false };
        self.listed_resource(domain, &target.name).is_some_and(|at| self.resources.has(at))
            || self.listed_template(domain, &target.name).is_some_and(|at| self.templates.has(at))
    }

    /// A domain's resource by its own URI, or its template by its own text. None if the source offers
    /// no resources.
    pub(super) fn resource_of(&self, domain: &DomainEntry, uri: &str) -> Option<Arc<Target>> {
        if let Some(at) = self.listed_resource(domain, uri) {
            let target = self.snapshot.resources()[at].target();
            return self.resources.has(at).then(|| Arc::clone(target));
        }
        if let Some(at) = self.listed_template(domain, uri) {
            let target = self.snapshot.templates()[at].target();
            return self.templates.has(at).then(|| Arc::clone(target));
        }
        let may_be = domain.entries().offers_resources && is_uri(uri);
        may_be.then(|| Arc::new(unlisted(domain.domain(), uri)))
    }

    /// The place of a resource that a domain lists.
    fn listed_resource(&self, domain: &DomainEntry, uri: &str) -> Option<usize> {
        domain.listed_resource(self.snapshot.resources(), uri)
    }

    /// Whether the resource that a topic is may be seen.
    pub(crate) fn shows_topic(&self, needs: TopicNeeds) -> bool {
        needs.resource.is_none_or(|at| self.resources.has(at))
    }

    /// What the tools of a domain know about, as far as it may be seen.
    pub fn topics_in<'a>(&'a self, domain: &'a DomainEntry) -> impl Iterator<Item = &'a ToolTopic> {
        let supplement = domain.manifest().and_then(|manifest| manifest.supplement());
        let topics = supplement.into_iter().flat_map(|own| &own.topics);
        topics.filter(|topic| {
            let is_resource_seen = topic.resource.as_deref().is_none_or(|uri| {
                self.listed_resource(domain, uri).is_some_and(|at| self.resources.has(at))
            });
            is_resource_seen && self.tool_named(domain.domain(), &topic.tool).is_some()
        })
    }

    /// What the view's tools know about that is said to be for a domain, such as the skills for it,
    /// with the domain that has it.
    pub fn topics_for<'a>(
        &'a self,
        domain: &'a Domain,
    ) -> impl Iterator<Item = (&'a Domain, &'a ToolTopic)> {
        let is_for =
            move |topic: &&ToolTopic| topic.domains.iter().any(|own| own == domain.as_str());
        self.domains().flat_map(move |entry| {
            self.topics_in(entry).filter(is_for).map(|topic| (entry.domain(), topic))
        })
    }

    /// The place of a template that a domain lists.
    fn listed_template(&self, domain: &DomainEntry, text: &str) -> Option<usize> {
        listed(self.snapshot.templates(), &domain.entries().templates, text)
    }
}

/// A view's prompts, as the targets of names.
struct VisiblePrompts<'a>(&'a View);

impl VisibleEntries for VisiblePrompts<'_> {
    fn knows(&self, at: usize) -> bool {
        self.0.prompts.has(at)
    }

    fn shows(&self, at: usize) -> bool {
        self.0.prompts.has(at)
    }

    fn domain(&self, at: usize) -> &Domain {
        self.0.snapshot.prompts()[at].domain()
    }

    fn covers(&self, domain: &Domain) -> bool {
        self.0.covers(domain)
    }
}

/// The entry with a key among those of one domain, which are sorted by key.
fn listed(all: &[Entry], range: &Range<usize>, key: &str) -> Option<usize> {
    let found = all[range.clone()].binary_search_by(|entry| entry.definition().key().cmp(key));
    found.ok().map(|at| range.start + at)
}

fn unlisted(domain: &Domain, uri: &str) -> Target {
    let digest = Sha256::new_with_prefix("resource\0").chain_update(uri).finalize();
    Target {
        kind: EntryKind::Resource,
        domain: domain.clone(),
        id: ToolId::new(address(domain, uri)),
        name: uri.into(),
        digest: Digest::new(digest.into()),
        hints: Hints::default(),
    }
}
