use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gatefold_core::Digest;
use gatefold_search::{Analysis, Document, Entry, Index, Mode};

use super::{DomainEntry, Tool};
use crate::entry::Entry as Listed;
use crate::manifest::{Supplement, ToolTopic};

/// The most topics of one domain that can be found.
const DOMAIN_TOPICS: usize = 20_000;

/// How many topics of one request are looked at.
const FOUND_TOPICS: usize = 10;

/// What is kept of a source's topics, by the digest of its manifest.
type TopicAnalyses = HashMap<Digest, Arc<[Arc<Analysis>]>>;

/// The index of what tools know about, built when it is first searched.
#[derive(Debug, Default)]
pub(super) struct TopicIndex {
    built: OnceLock<BuiltTopics>,
    /// The analyses of the previous snapshot.
    earlier: Arc<TopicAnalyses>,
}

#[derive(Debug)]
pub(super) struct BuiltTopics {
    index: Index,
    topics: Vec<IndexedTopic>,
    analyses: Arc<TopicAnalyses>,
}

/// One topic, with what has to be visible for it to be found.
#[derive(Debug)]
struct IndexedTopic {
    supplement: Arc<Supplement>,
    /// Its place there.
    at: usize,
    needs: TopicNeeds,
}

/// The places of what a topic is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TopicNeeds {
    pub(crate) tool: usize,
    pub(crate) resource: Option<usize>,
}

/// The lists that topics refer to.
#[derive(Clone, Copy)]
pub(super) struct TopicLists<'a> {
    pub(super) domains: &'a [DomainEntry],
    pub(super) tools: &'a [Tool],
    pub(super) resources: &'a [Listed],
}

/// A topic that fits a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundTopic<'a> {
    /// The place of its tool.
    pub(crate) tool: usize,
    pub(crate) topic: &'a ToolTopic,
    pub(crate) score: f32,
}

impl TopicIndex {
    pub(super) fn after(previous: &Self) -> Self {
        let known = previous.built.get().map_or(&previous.earlier, |built| &built.analyses);
        Self { built: OnceLock::new(), earlier: Arc::clone(known) }
    }

    pub(super) fn is_built(&self) -> bool {
        self.built.get().is_some()
    }

    /// The index of what these tools know about. Every call must pass the same lists.
    pub(super) fn get(&self, lists: TopicLists<'_>) -> &BuiltTopics {
        self.built.get_or_init(|| BuiltTopics::of(lists, &self.earlier))
    }

    /// The topics that fit best, best first; none if nothing fits.
    pub(super) fn search(
        &self,
        lists: TopicLists<'_>,
        request: &str,
        mode: Mode,
        shows: impl Fn(TopicNeeds) -> bool,
    ) -> Vec<FoundTopic<'_>> {
        let built = self.get(lists);
        if built.topics.is_empty() {
            return Vec::new();
        }
        let is_shown = |place: usize| shows(built.topics[place].needs);
        let found = built.index.search(request, mode, is_shown, FOUND_TOPICS);
        if !found.fits {
            return Vec::new();
        }
        let topic = |one: &gatefold_search::Match| {
            let IndexedTopic { supplement, at, needs } = &built.topics[one.place];
            FoundTopic { tool: needs.tool, topic: &supplement.topics[*at], score: one.score }
        };
        found.matches.iter().map(topic).collect()
    }
}

impl BuiltTopics {
    fn of(lists: TopicLists<'_>, earlier: &TopicAnalyses) -> Self {
        let TopicLists { domains, tools, resources } = lists;
        let mut kept = TopicAnalyses::new();
        let (mut topics, mut entries) = (Vec::new(), Vec::new());
        for domain in domains {
            let Some(manifest) = domain.manifest() else { continue };
            let Some(supplement) = manifest.supplement() else { continue };
            let known = earlier.get(&manifest.digest()).map(Arc::clone);
            let analyses = known.unwrap_or_else(|| analysed(domain, supplement));
            for (at, analysis) in analyses.iter().enumerate() {
                let topic = &supplement.topics[at];
                let mut own = domain.range();
                let Some(tool) = own.find(|place| tools[*place].definition().name() == topic.tool)
                else {
                    continue;
                };
                let resource = topic.resource.as_deref();
                let place = resource.map(|uri| domain.listed_resource(resources, uri));
                // A resource that is not listed cannot be judged, so nobody finds it.
                let Some(resource) = place.map_or(Some(None), |place| place.map(Some)) else {
                    continue;
                };
                let needs = TopicNeeds { tool, resource };
                topics.push(IndexedTopic { supplement: Arc::clone(supplement), at, needs });
                let domain = domain.domain().as_str();
                entries.push((topic.line.clone(), domain, Arc::clone(analysis)));
            }
            kept.insert(manifest.digest(), analyses);
        }
        let entries: Vec<_> = entries
            .iter()
            .map(|(id, domain, analysis)| Entry {
                id,
                domain,
                analysis: Arc::clone(analysis),
                service: None,
            })
            .collect();
        Self { index: Index::build(&entries), topics, analyses: Arc::new(kept) }
    }
}

fn analysed(domain: &DomainEntry, supplement: &Supplement) -> Arc<[Arc<Analysis>]> {
    let analysis = |topic: &ToolTopic| {
        Analysis::of(&Document {
            name: &topic.name,
            domain: &[domain.domain().as_str()],
            domain_description: domain.description(),
            description: &[&topic.description],
            parameter_names: &topic.parts,
            ..Document::default()
        })
    };
    supplement.topics.iter().take(DOMAIN_TOPICS).map(analysis).collect()
}
