//! Names like a name.

use std::collections::{HashMap, HashSet};

use gatefold_core::ToolId;
use gatefold_search::{Mode, words};

use crate::likeness::{COMPARED, LEAST_LIKENESS, NameShape, SUGGESTIONS, descending};
use crate::snapshot::{Snapshot, Tool};

/// The least likeness beside that of the best: what is much less like it only distracts.
const LEAST_SHARE: f64 = 0.75;

/// The likeness of a name that is merely misspelt.
const MISSPELT: f64 = 0.75;

/// How many tools of one name are looked at, beside the first of them that destroys nothing. As many as are
/// suggested, and as many again because a search may have found the first ones already.
const NAMESAKES: usize = 2 * SUGGESTIONS;

/// What of a snapshot somebody may see. Nothing else takes part in a suggestion.
pub(crate) trait Visibility {
    /// Whether the tool at this place is listed.
    fn shows(&self, place: usize) -> bool;

    fn has_domain(&self, name: &str) -> bool;
}

/// The visible tools that a name may mean, likeliest first, at most three: those with a name like it,
/// and those that a search for its words finds, which come first unless it is but a misspelling.
///
/// The first never is a destructive tool: whoever takes the first suggestion on trust should not
/// destroy anything.
pub(crate) fn tools(snapshot: &Snapshot, visible: &impl Visibility, name: &str) -> Vec<ToolId> {
    let alike = alike(snapshot, visible, name);
    let is_misspelt = alike.first().is_some_and(|(likeness, _)| *likeness >= MISSPELT);
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

/// The visible tools whose names are most like `name`, most like it first, at most three, and none
/// that destroys before one that does not.
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

/// The visible tools by how like their names are, those left out that are much less like it than the first, and
/// those that so many others of the same name come before that they cannot be suggested.
fn alike<'a>(
    snapshot: &'a Snapshot,
    visible: &impl Visibility,
    name: &str,
) -> Vec<(f64, &'a Tool)> {
    let asked = NameShape::of(name);
    let tools = snapshot.tools();
    // A tool is as like as the better of its two names.
    let mut likeness_of: HashMap<usize, f64> = HashMap::new();
    for known in snapshot.names().candidates(&asked, |place| visible.shows(place)) {
        let likeness = known.shape.likeness(&asked);
        if likeness < LEAST_LIKENESS {
            continue;
        }
        let shown = || known.tools.iter().copied().filter(|place| visible.shows(*place));
        let first_safe = shown().find(|place| !is_destructive(&tools[*place]));
        for place in shown().take(NAMESAKES).chain(first_safe) {
            let best = likeness_of.entry(place).or_default();
            *best = best.max(likeness);
        }
    }
    let likeliest = likeness_of.into_iter().map(|(place, likeness)| (likeness, &tools[place]));
    let mut likeliest: Vec<_> = likeliest.collect();
    likeliest.sort_by(|(a, x), (b, y)| descending(*a, *b).then_with(|| x.id().cmp(y.id())));
    let best = likeliest.first().map_or(0.0, |(likeness, _)| *likeness);
    likeliest.retain(|(likeness, _)| *likeness >= best * LEAST_SHARE);
    likeliest
}

/// What a search finds for the words of a name that somebody made up, within its domain where it
/// begins with one. No encoder is asked: who gets a name wrong should not wait for it.
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
