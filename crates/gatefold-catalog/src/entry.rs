use std::ops::Range;
use std::sync::Arc;

use gatefold_core::{Domain, EntryKind, Hints, Target, ToolId};

use crate::address::address;
use crate::bits::BitSet;
use crate::manifest::{EntryDefinition, Manifest};
use crate::naming::{AssignedNames, Domains};
use crate::raw::object_fields;

/// One prompt, resource or resource template of a snapshot.
#[derive(Debug, Clone)]
pub struct Entry {
    target: Arc<Target>,
    definition: EntryDefinition,
}

impl Entry {
    pub fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// A prompt's id is built like a tool's. A resource's or template's is its address behind the
    /// gateway.
    pub fn id(&self) -> &ToolId {
        &self.target.id
    }

    pub fn domain(&self) -> &Domain {
        &self.target.domain
    }

    pub fn definition(&self) -> &EntryDefinition {
        &self.definition
    }
}

/// Everything but tools that a snapshot's sources offer, each list sorted by domain, then key.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) prompts: Vec<Entry>,
    pub(crate) resources: Vec<Entry>,
    pub(crate) templates: Vec<Entry>,
    prompt_ids: AssignedNames,
}

/// Where the entries of one domain lie, and whether it may have unlisted resources.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryRanges {
    pub(crate) prompts: Range<usize>,
    pub(crate) resources: Range<usize>,
    pub(crate) templates: Range<usize>,
    pub(crate) offers_resources: bool,
}

impl Entries {
    /// Adds the entries of a source. Sources must come sorted by their domains.
    pub(crate) fn add(
        &mut self,
        domains: &Domains,
        domain: &Domain,
        manifest: &Manifest,
    ) -> EntryRanges {
        let prompts = manifest.prompts().iter().map(|definition| {
            let id = self.prompt_ids.id(domains, domain, definition.key(), definition.digest());
            entry(EntryKind::Prompt, domain, id, definition)
        });
        let prompts = append(&mut self.prompts, prompts);
        let resources = append(&mut self.resources, addressed(domain, manifest.resources()));
        let templates = append(&mut self.templates, addressed(domain, manifest.templates()));
        let capabilities = manifest.server().and_then(|server| server.capabilities.as_deref());
        let offers_resources = !manifest.resources().is_empty()
            || !manifest.templates().is_empty()
            || capabilities.is_some_and(names_resources);
        EntryRanges { prompts, resources, templates, offers_resources }
    }

    /// Adds those of another snapshot's entries of one domain that are visible there.
    pub(crate) fn add_visible(
        &mut self,
        all: &Self,
        ranges: &EntryRanges,
        [prompts, resources, templates]: [&BitSet; 3],
    ) -> EntryRanges {
        let kept = |all: &[Entry], range: &Range<usize>, visible: &BitSet| -> Vec<Entry> {
            let places = range.clone().filter(|at| visible.has(*at));
            places.map(|at| all[at].clone()).collect()
        };
        let prompts = kept(&all.prompts, &ranges.prompts, prompts);
        let resources = kept(&all.resources, &ranges.resources, resources);
        let templates = kept(&all.templates, &ranges.templates, templates);
        EntryRanges {
            prompts: append(&mut self.prompts, prompts.into_iter()),
            resources: append(&mut self.resources, resources.into_iter()),
            templates: append(&mut self.templates, templates.into_iter()),
            offers_resources: ranges.offers_resources,
        }
    }
}

impl EntryRanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.prompts.is_empty() && self.resources.is_empty() && self.templates.is_empty()
    }
}

fn append(all: &mut Vec<Entry>, entries: impl Iterator<Item = Entry>) -> Range<usize> {
    let start = all.len();
    all.extend(entries);
    start..all.len()
}

/// Resources or templates. Two with one URI would share an address, so the first wins.
fn addressed<'a>(
    domain: &'a Domain,
    definitions: &'a [EntryDefinition],
) -> impl Iterator<Item = Entry> {
    definitions.chunk_by(|a, b| a.key() == b.key()).map(|same| {
        let id = ToolId::new(address(domain, same[0].key()));
        entry(EntryKind::Resource, domain, id, &same[0])
    })
}

fn entry(kind: EntryKind, domain: &Domain, id: ToolId, definition: &EntryDefinition) -> Entry {
    let target = Target {
        kind,
        domain: domain.clone(),
        id,
        name: definition.key().into(),
        digest: definition.digest(),
        hints: Hints::default(),
    };
    Entry { target: Arc::new(target), definition: definition.clone() }
}

fn names_resources(capabilities: &str) -> bool {
    let fields = object_fields(capabilities).unwrap_or_default();
    fields.iter().any(|(key, value)| key == "resources" && value.starts_with('{'))
}
