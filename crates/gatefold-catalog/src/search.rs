//! A plain ranked keyword search: BM25F (Robertson, Zaragoza and Taylor 2004, "Simple BM25
//! extension to multiple weighted fields") over names, domains, groups, descriptions and the names
//! of parameters.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::nearest;
use crate::snapshot::Tool;
use crate::view::View;
use crate::words;

/// Where to search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scope<'a> {
    pub domain: Option<&'a str>,
    /// A group within the domain.
    pub group: Option<&'a str>,
}

impl Scope<'_> {
    fn holds(&self, tool: &Tool) -> bool {
        self.domain.is_none_or(|domain| tool.domain().as_str() == domain)
            && self.group.is_none_or(|group| tool.group() == group)
    }
}

/// One result of a search.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    pub tool: &'a Tool,
    /// Comparable within one answer only; zero when the tool does not fit the query at all.
    pub score: f32,
}

impl Hit<'_> {
    /// Whether the query fits the tool, or the tool merely stands in where the query fits none.
    pub fn fits(&self) -> bool {
        self.score > 0.0
    }
}

/// The fields of a tool, each with its weight and how much its length counts against it.
const FIELDS: [(f32, f32); 5] = [
    NAME,
    (1.5, 0.0), // domain
    (1.0, 0.0), // group
    (1.0, 0.6), // description
    (0.8, 0.6), // parameter names
];
const NAME: (f32, f32) = (5.0, 0.3);

/// How soon more of the same word stops to count.
const SATURATION: f32 = 1.2;

/// How many words of the index a word that is not in it may stand for, as their beginning.
const COMPLETIONS: usize = 8;

/// What such a word counts, compared with one that is in the index.
const COMPLETED_WEIGHT: f32 = 0.5;

/// The most words of a query that count.
const MAX_QUERY_WORDS: usize = 32;

/// The tools of a view that a query fits best, best first; of equals the one with the lower id.
///
/// A query that is a tool's name has that tool first. A query that fits nothing still gets the
/// tools with the nearest names, or else those with the lowest ids, the destructive ones last: an
/// empty answer would read as if there were no tools at all. [`Hit::fits`] tells them apart.
pub fn search<'a>(view: &'a View, query: &str, scope: &Scope<'_>, limit: usize) -> Vec<Hit<'a>> {
    let tools = view.snapshot().tools();
    let scores = view.snapshot().index().scores(query);
    let fits = |at: &usize| view.shows(*at) && scope.holds(&tools[*at]);
    let mut hits: Vec<_> = scores
        .into_iter()
        .filter(|(at, _)| fits(at))
        .map(|(at, score)| Hit { tool: &tools[at], score })
        .collect();
    let listed = |tool: &&Tool| !tool.definition().is_for_apps_only();
    let named = view.find(query.trim()).filter(listed).filter(|tool| scope.holds(tool));
    if let Some(tool) = named {
        hits.retain(|hit| hit.tool.id() != tool.id());
        hits.push(Hit { tool, score: f32::MAX });
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tool.id().cmp(b.tool.id())));
    if hits.is_empty() {
        hits = fallback(view, query, scope);
    }
    hits.truncate(limit);
    hits
}

fn fallback<'a>(view: &'a View, query: &str, scope: &Scope<'_>) -> Vec<Hit<'a>> {
    let near = nearest::tools(view, query);
    let near = near.iter().filter_map(|id| view.find(id.as_str()));
    let mut tools: Vec<_> = near.filter(|tool| scope.holds(tool)).collect();
    if tools.is_empty() {
        tools = view.tools().filter(|tool| scope.holds(tool)).collect();
        tools.sort_by(|a, b| a.id().cmp(b.id()));
    }
    tools.sort_by_key(|tool| tool.target().hints.is_destructive());
    tools.into_iter().map(|tool| Hit { tool, score: 0.0 }).collect()
}

/// The words of a snapshot's tools and where they stand.
#[derive(Debug)]
pub(crate) struct Index {
    tools: usize,
    /// Per stem the tools that have it, with its weighted count in each.
    postings: BTreeMap<Box<str>, Vec<(usize, f32)>>,
}

impl Index {
    #[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
    pub(crate) fn build(tools: &[Tool]) -> Self {
        let documents: Vec<_> = tools.iter().map(fields).collect();
        let average = |field: usize| {
            let all: usize = documents.iter().map(|fields| fields[field].len()).sum();
            (all as f32 / tools.len().max(1) as f32).max(1.0)
        };
        let averages: [f32; FIELDS.len()] = std::array::from_fn(average);
        let mut postings: HashMap<&str, Vec<(usize, f32)>> = HashMap::new();
        for (at, fields) in documents.iter().enumerate() {
            for ((words, (weight, by_length)), average) in fields.iter().zip(FIELDS).zip(averages) {
                let length = words.len() as f32 / average;
                let counts = weight / (1.0 - by_length + by_length * length);
                for word in words {
                    let places = postings.entry(words::stem(word)).or_default();
                    match places.last_mut() {
                        Some((last, count)) if *last == at => *count += counts,
                        _ => places.push((at, counts)),
                    }
                }
            }
        }
        let postings = postings.into_iter().map(|(stem, places)| (stem.into(), places)).collect();
        Self { tools: tools.len(), postings }
    }

    /// The tools that have any of a query's words, by index, each with its score.
    fn scores(&self, query: &str) -> HashMap<usize, f32> {
        let mut scores = HashMap::new();
        for word in query_words(query) {
            let stem = words::stem(&word);
            if let Some(places) = self.postings.get(stem) {
                self.add(&mut scores, places, 1.0);
                continue;
            }
            let completions =
                self.postings.range::<str, _>((Bound::Included(stem), Bound::Unbounded));
            let completions = completions.take_while(|(word, _)| word.starts_with(stem));
            for (_, places) in completions.take(COMPLETIONS).filter(|_| stem.len() > 2) {
                self.add(&mut scores, places, COMPLETED_WEIGHT);
            }
        }
        scores
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
    fn add(&self, scores: &mut HashMap<usize, f32>, places: &[(usize, f32)], weight: f32) {
        let (all, having) = (self.tools as f32, places.len() as f32);
        let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        for (at, count) in places {
            *scores.entry(*at).or_default() += weight * rarity * count / (SATURATION + count);
        }
    }
}

/// The telling words of a query, each once; all of them when none tells anything.
fn query_words(query: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut all = words::split(query);
    all.retain(|word| seen.insert(word.clone()));
    let telling = all.iter().any(|word| !words::is_stop_word(word));
    all.retain(|word| !telling || !words::is_stop_word(word));
    all.truncate(MAX_QUERY_WORDS);
    all
}

fn fields(tool: &Tool) -> [Vec<String>; FIELDS.len()] {
    let definition = tool.definition();
    let mut prose = words::split(definition.title().unwrap_or_default());
    prose.extend(words::split(definition.description().unwrap_or_default()));
    prose.retain(|word| !words::is_stop_word(word));
    let parameters = parameter_names(definition.input_schema());
    [
        words::split(definition.name()),
        words::split(tool.domain().as_str()),
        words::split(tool.group()),
        prose,
        parameters.iter().flat_map(|name| words::split(name)).collect(),
    ]
}

fn parameter_names(schema: &str) -> Vec<String> {
    #[derive(Default, Deserialize)]
    #[expect(clippy::zero_sized_map_values, reason = "only the names count")]
    struct Schema {
        #[serde(default)]
        properties: HashMap<String, IgnoredAny>,
    }

    let Schema { properties } = serde_json::from_str(schema).unwrap_or_default();
    properties.into_keys().collect()
}
