//! Names like a name.

use std::cmp::Ordering;
use std::collections::HashSet;

use gatefold_core::ToolId;
use gatefold_search::{Mode, words};

use crate::snapshot::Tool;
use crate::view::View;

/// How many names are suggested at most.
const SUGGESTIONS: usize = 3;

/// The least likeness of a name that is suggested, between 0 and 1.
const LEAST_LIKENESS: f64 = 0.45;

/// The least likeness beside that of the best: what is much less like it only distracts.
const LEAST_SHARE: f64 = 0.75;

/// How much of a long name is compared, in characters.
const COMPARED: usize = 80;

/// The likeness of a name that is merely misspelt.
const MISSPELT: f64 = 0.75;

/// The visible tools that a name may mean, likeliest first, at most three: those with a name like it,
/// and those that a search for its words finds, which come first unless it is but a misspelling.
///
/// The first never is a destructive tool: whoever takes the first suggestion on trust should not
/// destroy anything.
pub(crate) fn tools(view: &View, name: &str) -> Vec<ToolId> {
    let alike = alike(view, name);
    let is_misspelt = alike.first().is_some_and(|(likeness, _)| *likeness >= MISSPELT);
    let mut tools: Vec<&Tool> = alike.into_iter().map(|(_, tool)| tool).collect();
    let alike = tools.len();
    tools.extend(meant(view, name));
    if !is_misspelt {
        tools.rotate_left(alike);
    }
    let mut seen = HashSet::new();
    tools.retain(|tool| seen.insert(tool.id()));
    safe_first(tools)
}

/// The visible tools whose names are most like `name`, most like it first, at most three, and none
/// that destroys before one that does not.
pub(crate) fn names(view: &View, name: &str) -> Vec<ToolId> {
    safe_first(alike(view, name).into_iter().map(|(_, tool)| tool).collect())
}

fn safe_first(mut tools: Vec<&Tool>) -> Vec<ToolId> {
    let destructive = |tool: &&Tool| tool.target().hints.is_destructive();
    let Some(first_safe) = tools.iter().position(|tool| !destructive(tool)) else {
        return Vec::new();
    };
    tools[..=first_safe].rotate_right(1);
    tools.into_iter().take(SUGGESTIONS).map(|tool| tool.id().clone()).collect()
}

/// The visible tools by how like their names are, those left out that are much less like it than
/// the first.
fn alike<'a>(view: &'a View, name: &str) -> Vec<(f64, &'a Tool)> {
    let asked = Shape::of(name);
    let mut likeliest: Vec<_> = view
        .tools()
        .map(|tool| {
            let bare = Shape::of(&tool.target().name).likeness(&asked);
            let full = Shape::of(tool.id().as_str()).likeness(&asked);
            (bare.max(full), tool)
        })
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .collect();
    likeliest.sort_by(|(a, x), (b, y)| descending(*a, *b).then_with(|| x.id().cmp(y.id())));
    let best = likeliest.first().map_or(0.0, |(likeness, _)| *likeness);
    likeliest.retain(|(likeness, _)| *likeness >= best * LEAST_SHARE);
    likeliest
}

/// What a search finds for the words of a name that somebody made up, within its domain where it
/// begins with one. No encoder is asked: who gets a name wrong should not wait for it.
fn meant<'a>(view: &'a View, name: &str) -> impl Iterator<Item = &'a Tool> {
    let name: String = name.chars().take(COMPARED).collect();
    let within = name.split_once("__").filter(|(domain, _)| view.domain(domain).is_some());
    let (domain, own) = within.map_or((None, name.as_str()), |(domain, own)| (Some(domain), own));
    let request = words::split(own).join(" ");
    let snapshot = view.snapshot();
    let tools = snapshot.tools();
    let is_in = |tool: &Tool| domain.is_none_or(|domain| tool.domain().as_str() == domain);
    let shows = |place: usize| view.shows(place) && is_in(&tools[place]);
    let found = snapshot.index().search(&request, Mode::Hybrid, shows, SUGGESTIONS);
    let best = found.matches.first().map_or(0.0, |first| first.score);
    #[expect(clippy::cast_possible_truncation, reason = "a share")]
    let least = if found.fits { best * LEAST_SHARE as f32 } else { f32::INFINITY };
    let matches = found.matches.into_iter().filter(move |one| one.score >= least);
    matches.map(|one| &tools[one.place])
}

/// The texts most like `text`, best first, at most three: domains, groups, parameter names.
pub fn nearest_texts<'a>(text: &str, among: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let asked = Shape::of(text);
    let like = |other: &'a str| (Shape::of(other).likeness(&asked), other);
    let mut likeliest: Vec<_> = among.into_iter().map(like).collect();
    likeliest.retain(|(likeness, _)| *likeness >= LEAST_LIKENESS);
    likeliest.sort_by(|(a, x), (b, y)| descending(*a, *b).then_with(|| x.cmp(y)));
    likeliest.into_iter().take(SUGGESTIONS).map(|(_, other)| other).collect()
}

fn descending(a: f64, b: f64) -> Ordering {
    b.total_cmp(&a)
}

struct Shape {
    letters: String,
    stems: Vec<String>,
}

impl Shape {
    fn of(name: &str) -> Self {
        let name: String = name.chars().take(COMPARED).collect();
        let words = words::split(&name);
        let mut stems: Vec<_> = words.iter().map(|word| words::stem(word).to_owned()).collect();
        stems.sort_unstable();
        stems.dedup();
        Self { letters: words.join("_"), stems }
    }

    /// Between 0 and 1: the better of the letters' likeness (edits) and the words' (Dice), and a
    /// little of the other, so that shared words order what edits alone would not.
    #[expect(clippy::cast_precision_loss, reason = "counts of words in a name are small")]
    fn likeness(&self, other: &Self) -> f64 {
        let shared = self.stems.iter().filter(|stem| other.stems.binary_search(stem).is_ok());
        let all = self.stems.len() + other.stems.len();
        let by_words = 2.0 * shared.count() as f64 / (all.max(1)) as f64;
        let (longer, shorter) = (
            self.letters.len().max(other.letters.len()),
            self.letters.len().min(other.letters.len()),
        );
        // Edits cannot make up for a difference in length that is this large.
        if by_words == 0.0 && shorter * 2 < longer {
            return 0.0;
        }
        let by_letters = strsim::normalized_damerau_levenshtein(&self.letters, &other.letters);
        0.8 * by_words.max(by_letters) + 0.2 * by_words.min(by_letters)
    }
}
