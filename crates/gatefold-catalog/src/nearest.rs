//! Suggestions for a name that nobody has.

use std::collections::{HashMap, HashSet};

use gatefold_core::ToolId;
use gatefold_search::{Mode, words};

use crate::similarity::{COMPARED, LEAST_SIMILARITY, NameShape, SUGGESTIONS, descending};
use crate::snapshot::{Snapshot, Tool};

/// The least similarity as a share of the best: much less similar names only distract.
const LEAST_SHARE: f64 = 0.75;

/// The similarity from which a name counts as merely misspelt.
const MISSPELT: f64 = 0.75;

/// How many tools of one name are considered besides the first non-destructive one: as many as are
/// suggested, and as many again because a search may have found the first ones already.
const NAMESAKES: usize = 2 * SUGGESTIONS;

/// What the caller can see of a snapshot. Suggestions use nothing else.
pub(crate) trait Visibility {
    /// Whether the tool at this place is listed.
    fn shows(&self, place: usize) -> bool;

    fn has_domain(&self, name: &str) -> bool;
}

/// The visible tools that a name may mean, likeliest first, at most three: tools with similar
/// names, and tools that a search for its words finds. Search results come first unless the name is
/// merely misspelt.
///
/// The first is never a destructive tool, because a caller may use it without a second look.
pub(crate) fn tools(snapshot: &Snapshot, visible: &impl Visibility, name: &str) -> Vec<ToolId> {
    let alike = alike(snapshot, visible, name);
    let is_misspelt = alike.first().is_some_and(|(similarity, _)| *similarity >= MISSPELT);
    let mut tools: Vec<&Tool> = alike.into_iter().map(|(_, tool)| tool).collect();
    let alike = tools.len();
    tools.extend(meant(snapshot, visible, name));
    if !is_misspelt {
        tools.rotate_left(alike);
    }
    let mut seen = HashSet::new();
    tools.retain(|tool| seen.insert(tool.id()));
    safe_first(tools)
}

/// The visible tools with the most similar names, best first, at most three, destructive ones last.
pub(crate) fn names(snapshot: &Snapshot, visible: &impl Visibility, name: &str) -> Vec<ToolId> {
    safe_first(alike(snapshot, visible, name).into_iter().map(|(_, tool)| tool).collect())
}

fn safe_first(mut tools: Vec<&Tool>) -> Vec<ToolId> {
    let Some(first_safe) = tools.iter().position(|tool| !is_destructive(tool)) else {
        return Vec::new();
    };
    tools[..=first_safe].rotate_right(1);
    tools.into_iter().take(SUGGESTIONS).map(|tool| tool.id().clone()).collect()
}

fn is_destructive(tool: &Tool) -> bool {
    tool.target().hints.is_destructive()
}

/// The visible tools by the similarity of their names, without those far below the best and those
/// that cannot be suggested because too many of the same name come first.
fn alike<'a>(
    snapshot: &'a Snapshot,
    visible: &impl Visibility,
    name: &str,
) -> Vec<(f64, &'a Tool)> {
    let asked = NameShape::of(name);
    let tools = snapshot.tools();
    // A tool has two names; the better one counts.
    let mut similarity_of: HashMap<usize, f64> = HashMap::new();
    for known in snapshot.names().candidates(&asked, |place| visible.shows(place)) {
        let similarity = known.shape.similarity(&asked);
        if similarity < LEAST_SIMILARITY {
            continue;
        }
        let shown = || known.tools.iter().copied().filter(|place| visible.shows(*place));
        let first_safe = shown().find(|place| !is_destructive(&tools[*place]));
        for place in shown().take(NAMESAKES).chain(first_safe) {
            let best = similarity_of.entry(place).or_default();
            *best = best.max(similarity);
        }
    }
    let likeliest =
        similarity_of.into_iter().map(|(place, similarity)| (similarity, &tools[place]));
    let mut likeliest: Vec<_> = likeliest.collect();
    likeliest.sort_by(|(a, x), (b, y)| descending(*a, *b).then_with(|| x.id().cmp(y.id())));
    let best = likeliest.first().map_or(0.0, |(similarity, _)| *similarity);
    likeliest.retain(|(similarity, _)| *similarity >= best * LEAST_SHARE);
    likeliest
}

/// What a search finds for the words of an invented name, within its domain if it begins with one.
/// The encoder is not asked: an error message should not wait for it.
fn meant<'a>(
    snapshot: &'a Snapshot,
    visible: &impl Visibility,
    name: &str,
) -> impl Iterator<Item = &'a Tool> {
    let name: String = name.chars().take(COMPARED).collect();
    let within = name.split_once("__").filter(|(domain, _)| visible.has_domain(domain));
    let (domain, own) = within.map_or((None, name.as_str()), |(domain, own)| (Some(domain), own));
    let request = words::split(own).join(" ");
    let tools = snapshot.tools();
    let is_in = |tool: &Tool| domain.is_none_or(|domain| tool.domain().as_str() == domain);
    let shows = |place: usize| visible.shows(place) && is_in(&tools[place]);
    let found = snapshot.index().search(&request, Mode::Hybrid, shows, SUGGESTIONS);
    let best = found.matches.first().map_or(0.0, |first| first.score);
    #[expect(clippy::cast_possible_truncation, reason = "a share")]
    let least = if found.fits { best * LEAST_SHARE as f32 } else { f32::INFINITY };
    let matches = found.matches.into_iter().filter(move |one| one.score >= least);
    matches.map(|one| &tools[one.place])
}
