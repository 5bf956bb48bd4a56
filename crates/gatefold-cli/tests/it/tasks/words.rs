//! How the client matches words: what it means against what it was told.

use std::collections::{BTreeSet, HashMap};

/// Words that say nothing about what is meant.
const FILLERS: [&str; 21] = [
    "a", "an", "and", "are", "at", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or",
    "that", "the", "to", "what", "which", "with",
];

/// How much more a word counts that is in a name.
const IN_NAME: f64 = 2.0;

/// How much more the first word counts, which says what to do.
const FIRST: f64 = 1.5;

/// What each word of a name costs that was not meant.
const NOT_MEANT: f64 = 0.5;

/// Something to choose, by its name and what is said of it.
pub(super) struct Choice {
    name: BTreeSet<String>,
    text: BTreeSet<String>,
}

impl Choice {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self { name: stems(name), text: stems(text) }
    }

    fn has(&self, stem: &str) -> bool {
        self.name.contains(stem) || self.text.contains(stem)
    }
}

/// The choices that share words with what is meant, the likeliest first. A word counts the more, the
/// fewer choices have it. Among equals the order stays.
pub(super) fn ranked(meant: &str, choices: &[Choice]) -> Vec<usize> {
    let first = stems(meant.split(' ').next().unwrap_or_default());
    let meant = stems(meant);
    let weight = |stem: &String| {
        let having = choices.iter().filter(|choice| choice.has(stem)).count();
        let place = if first.contains(stem) { FIRST } else { 1.0 };
        place * rarity(choices.len(), having)
    };
    let weights: HashMap<_, _> = meant.iter().map(|stem| (stem, weight(stem))).collect();
    let score = |choice: &Choice| {
        let shared = meant.iter().filter(|stem| choice.has(stem));
        let place = |stem: &String| if choice.name.contains(stem) { IN_NAME } else { 1.0 };
        let found: f64 = shared.map(|stem| weights[stem] * place(stem)).sum();
        let others = choice.name.difference(&meant).count();
        (found > 0.0).then(|| found - NOT_MEANT * float(others))
    };
    let scores = choices.iter().enumerate().filter_map(|(at, choice)| Some((at, score(choice)?)));
    let mut scores: Vec<_> = scores.collect();
    scores.sort_by(|(_, one), (_, two)| two.total_cmp(one));
    scores.into_iter().map(|(at, _)| at).collect()
}

/// The likeliest of some names.
pub(super) fn likeliest<'a>(meant: &str, names: &[&'a str]) -> Option<&'a str> {
    let choices: Vec<_> = names.iter().map(|name| Choice::new(name, "")).collect();
    ranked(meant, &choices).first().map(|at| names[*at])
}

/// The name that differs least from one that was misspelt: by how much of them is the same at both
/// ends.
pub(super) fn nearest<'a>(misspelt: &str, names: &[&'a str]) -> Option<&'a str> {
    let same = |name: &str| {
        let ahead = common(misspelt.chars(), name.chars());
        let behind = common(misspelt.chars().rev(), name.chars().rev());
        float(ahead + behind) / float(misspelt.len().max(name.len()))
    };
    names.iter().copied().max_by(|one, two| same(one).total_cmp(&same(two)))
}

/// A name without one of its letters, as somebody writes it who does not look again.
pub(super) fn misspelt(name: &str) -> String {
    let own = name.rfind("__").map_or(0, |at| at + 2);
    let middle = own + (name.len() - own) / 2;
    name.char_indices().filter(|(at, _)| *at != middle).map(|(_, letter)| letter).collect()
}

/// The identifiers in a text, such as names of arguments.
pub(super) fn identifiers(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

/// The different words of a text without their endings.
fn stems(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.filter(|word| !FILLERS.contains(word)).map(|word| stem(word).to_owned()).collect()
}

fn stem(word: &str) -> &str {
    let shortened = ["ies", "ing", "es", "ed", "s", "e", "y"]
        .into_iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() > 2));
    shortened.unwrap_or(word)
}

fn rarity(choices: usize, having: usize) -> f64 {
    (1.0 + float(choices) / float(having.max(1))).ln()
}

fn common(one: impl Iterator<Item = char>, two: impl Iterator<Item = char>) -> usize {
    one.zip(two).take_while(|(one, two)| one == two).count()
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
