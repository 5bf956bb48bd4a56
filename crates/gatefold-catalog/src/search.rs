//! Searching a view. The ranking itself is `gatefold-search`'s.

use std::collections::HashSet;

use gatefold_search::{Fit, Mode, PastIndex, PastJudge, SearchEvidence, SimilarityFn};

use crate::nearest;
use crate::snapshot::{FoundTopic, Snapshot, Tool, TopicNeeds};
use crate::view::View;

/// A model is given all tools of a view up to this many, and [`SELECTED`] of a larger one.
pub const SELECTION_THRESHOLD: usize = 12;
pub const SELECTED: usize = 6;

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
    /// Between 0 and about 1, comparable from one request to another.
    pub score: f32,
    /// What the tool knows about that fits the request, as an answer shows it.
    pub topic: Option<&'a str>,
    pub(crate) fit: Fit,
}

/// How much of its score a topic gives its tool: a tool that does what is asked for comes before one
/// that only knows about it.
const TOPIC_SHARE: f32 = 0.9;

/// Among the tools of its own source a topic points at the one to begin with, unless another has so much
/// more that the topic has less than this share of it.
const POINTING_SHARE: f32 = 0.75;

impl Hit<'_> {
    /// Whether the tool may fit the request, or is only a stand-in because nothing does.
    pub fn fits(&self) -> bool {
        self.fit > Fit::None
    }
}

/// How well the best of some tools fits the request that they were found for.
pub fn fit(hits: &[Hit<'_>]) -> Fit {
    hits.iter().map(|hit| hit.fit).max().unwrap_or_default()
}

/// The tools of a view that fit a request best, best first; ties go to the lower id.
///
/// A request that is a tool's name has that tool first. A request that fits nothing still gets the
/// tools with the nearest names and those it most likely means, or else all by their ids, where
/// destructive ones come last: a model would read an empty answer as "there are no tools". [`Hit::fits`]
/// tells the two apart.
pub fn search<'a>(
    view: &'a View,
    request: &str,
    scope: &Scope<'_>,
    mode: Mode,
    limit: usize,
) -> Vec<Hit<'a>> {
    let tools = view.snapshot().tools();
    let shows = |place: usize| view.shows(place) && scope.holds(&tools[place]);
    let bonuses = bonuses(view, request, mode, shows);
    let judge = judge(view.snapshot());
    let bar = view.snapshot().encoder().and_then(|encoder| encoder.bar());
    let aids = SearchEvidence { bonuses: &bonuses, judge: judge.as_deref(), bar };
    let found = view.snapshot().index().search_with(request, mode, shows, &aids, limit);
    let hits = found.matches.iter().map(|one| Hit {
        tool: &tools[one.place],
        score: one.score,
        topic: None,
        fit: found.fit,
    });
    let mut hits: Vec<_> = hits.collect();
    let is_found = |needs: TopicNeeds| shows(needs.tool) && view.shows_topic(needs);
    add_topics(&mut hits, view.snapshot().topics(request, mode, is_found), tools);
    put_first(&mut hits, view, request, scope);
    if !hits.iter().any(Hit::fits) {
        hits = stand_ins(view, request, scope, hits);
    }
    hits.truncate(limit);
    hits
}

/// Raises the tools that know about something that fits the request. The best topic of a tool counts.
fn add_topics<'a>(hits: &mut Vec<Hit<'a>>, topics: Vec<FoundTopic<'a>>, tools: &'a [Tool]) {
    if !topics.is_empty() && !hits.iter().any(Hit::fits) {
        // They were stand-ins.
        hits.clear();
    }
    let mut raised = HashSet::new();
    for FoundTopic { tool, topic, score } in topics {
        if !raised.insert(tool) {
            continue;
        }
        let tool = &tools[tool];
        let is_beside = |hit: &Hit<'_>| hit.tool.domain() == tool.domain();
        let known = hits.iter().position(|hit| hit.tool.id() == tool.id() && hit.fits());
        let known = known.map(|at| hits.remove(at));
        let known_fit = known.map_or(Fit::None, |hit| hit.fit);
        let own = known.map_or(0.0, |hit| hit.score).max(score * TOPIC_SHARE);
        let beside = hits.iter().filter(|hit| is_beside(hit)).map(|hit| hit.score);
        let best = beside.fold(0.0, f32::max);
        let own = if score >= POINTING_SHARE * best { own.max(best) } else { own };
        let place = hits
            .iter()
            .position(|hit| !hit.fits() || hit.score < own || (is_beside(hit) && hit.score <= own));
        let fit = known_fit.max(Fit::Likely);
        let hit = Hit { tool, score: own, topic: Some(&topic.line), fit };
        hits.insert(place.unwrap_or(hits.len()), hit);
    }
}

/// The encoder's judgement of the tools at some places.
fn judge(snapshot: &Snapshot) -> Option<Box<SimilarityFn<'_>>> {
    let encoder = snapshot.encoder()?;
    Some(Box::new(move |request: &str, places: &[usize]| {
        let passages: Vec<_> = places.iter().map(|place| snapshot.passage(*place)).collect();
        let passages: Vec<_> = passages.iter().map(String::as_str).collect();
        encoder.similarities(request, &passages)
    }))
}

/// The few tools to give a model for a request: all of a small view, else the [`SELECTED`] that fit
/// best, best first.
pub fn select<'a>(view: &'a View, request: &str) -> Vec<&'a Tool> {
    if view.tool_count() <= SELECTION_THRESHOLD {
        return view.tools().collect();
    }
    let hits = search(view, request, &Scope::default(), Mode::Hybrid, SELECTED);
    hits.into_iter().map(|hit| hit.tool).collect()
}

/// What past queries, and texts that were written for the tools, add to the tools' scores, by their
/// places.
fn bonuses(
    view: &View,
    request: &str,
    mode: Mode,
    shows: impl Fn(usize) -> bool,
) -> Vec<(usize, f32)> {
    let indexes = view.past().into_iter().chain(view.snapshot().texts());
    indexes.flat_map(|past| bonuses_of(past, view, request, mode, &shows)).collect()
}

fn bonuses_of(
    past: &PastIndex,
    view: &View,
    request: &str,
    mode: Mode,
    shows: impl Fn(usize) -> bool,
) -> Vec<(usize, f32)> {
    let of_view = past.part(|id| view.place_of(id).is_some());
    let past = of_view.as_deref().unwrap_or(past);
    let place = |id: &str| view.place_of(id).filter(|at| shows(*at));
    let encoder = view.snapshot().encoder();
    let reader = encoder.map(|encoder| |past: &[&str]| encoder.past_similarities(request, past));
    let reader = reader.as_ref().map(|reader| reader as &PastJudge<'_>);
    let counts = |id: &str| place(id).is_some();
    let bonuses = past.bonuses(request, mode, view.tool_count(), counts, reader);
    bonuses.into_iter().filter_map(|(id, bonus)| Some((place(id)?, bonus))).collect()
}

/// Moves the tool whose id or alias the request is to the front.
fn put_first<'a>(hits: &mut Vec<Hit<'a>>, view: &'a View, request: &str, scope: &Scope<'_>) {
    let listed = |tool: &&Tool| !tool.definition().is_for_apps_only() && scope.holds(tool);
    let Some(tool) = view.find(request.trim()).filter(listed) else { return };
    let known = hits.iter().position(|hit| hit.tool.id() == tool.id());
    let known = known.map(|at| hits.remove(at));
    let hit = known.unwrap_or(Hit { tool, score: 0.0, topic: None, fit: Fit::Exact });
    hits.insert(0, Hit { fit: Fit::Exact, ..hit });
}

fn stand_ins<'a>(
    view: &'a View,
    request: &str,
    scope: &Scope<'_>,
    likely: Vec<Hit<'a>>,
) -> Vec<Hit<'a>> {
    let unscored = |tool| Hit { tool, score: 0.0, topic: None, fit: Fit::None };
    // Nothing says which of these comes first, so those that destroy nothing do.
    let careful = |tools: &mut Vec<Hit<'_>>| {
        tools.sort_by_key(|hit| hit.tool.target().hints.is_destructive());
    };
    let near = nearest::names(view.snapshot(), view, request);
    let near = near.iter().filter_map(|id| view.find(id.as_str()));
    let mut hits: Vec<_> = near.filter(|tool| scope.holds(tool)).map(unscored).collect();
    careful(&mut hits);
    let mut others = likely;
    if hits.is_empty() {
        let mut tools: Vec<_> = view.tools().filter(|tool| scope.holds(tool)).collect();
        tools.sort_by(|a, b| a.id().cmp(b.id()));
        let mut tools: Vec<_> = tools.into_iter().map(unscored).collect();
        careful(&mut tools);
        others.append(&mut tools);
    }
    let mut shown: HashSet<_> = hits.iter().map(|hit| hit.tool.id()).collect();
    hits.extend(others.into_iter().filter(|hit| shown.insert(hit.tool.id())));
    hits
}
