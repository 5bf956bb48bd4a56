use std::collections::{BTreeMap, HashMap};

use gatefold_core::Domain;
use gatefold_search::words;

use crate::Pattern;

/// The group of a tool that neither a rule nor a noun puts into a group.
pub(crate) const GENERAL: &str = "general";

/// The fewest tools that form a group by sharing a noun.
const LEAST_TOOLS: usize = 2;

/// A source's configured groups: the first pattern that matches a tool's own name decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupRules(Vec<(Pattern, Box<str>)>);

impl GroupRules {
    pub fn new<P: AsRef<str>, G: AsRef<str>>(rules: impl IntoIterator<Item = (P, G)>) -> Self {
        let rule =
            |(pattern, group): (P, G)| (Pattern::new(pattern.as_ref()), group.as_ref().into());
        Self(rules.into_iter().map(rule).collect())
    }

    /// All patterns, in order.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.0.iter().map(|(pattern, _)| pattern)
    }

    fn group(&self, domain: &Domain, name: &str) -> Option<&str> {
        let mut rules = self.0.iter();
        rules.find(|(pattern, _)| pattern.is_of(domain, name)).map(|(_, group)| group.as_ref())
    }
}

/// The longest name of a group, in characters.
const GROUP_NAME: usize = 64;

/// Whether a text can name a group. Models write it back, so it must not need quoting.
pub fn is_group_name(name: &str) -> bool {
    let is_legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '/');
    (1..=GROUP_NAME).contains(&name.chars().count()) && name.chars().all(is_legal)
}

/// A tool's own name, with the group that its source puts it in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupMember<'a> {
    pub(crate) name: &'a str,
    pub(crate) group: Option<&'a str>,
}

/// The group of each tool, in order: by the first rule that covers its name, else as its source
/// says, else by its name.
///
/// By name, a tool joins the noun that most of its siblings share, unless (nearly) all of them have
/// it; a tie goes to the noun that comes first in the name. Nouns are a name's words without verbs
/// and without the words of the domain. A noun that is always followed by the same other one takes
/// it along (`pull_requests`).
pub(crate) fn assign(
    domain: &Domain,
    tools: &[GroupMember<'_>],
    rules: &GroupRules,
) -> Vec<Box<str>> {
    let nouns: Vec<_> = tools.iter().map(|tool| nouns(domain.as_str(), tool.name)).collect();
    let counts = NounCounts::of(&nouns);
    let inferred: Vec<_> = nouns.iter().map(|nouns| counts.choose(nouns)).collect();
    let mut members: HashMap<&str, usize> = HashMap::new();
    let said =
        |tool: &GroupMember<'_>| rules.group(domain, tool.name).or(tool.group).map(Box::from);
    let said: Vec<Option<Box<str>>> = tools.iter().map(said).collect();
    for (said, stem) in said.iter().zip(&inferred) {
        if let (None, Some(stem)) = (said, stem) {
            *members.entry(stem).or_default() += 1;
        }
    }
    let group = |(said, stem): (Option<Box<str>>, Option<&str>)| match (said, stem) {
        (Some(group), _) => group,
        (None, Some(stem)) if members[stem] >= LEAST_TOOLS => counts.label(stem).into(),
        _ => GENERAL.into(),
    };
    said.into_iter().zip(inferred).map(group).collect()
}

/// Nouns that say nothing about what a tool is for.
const EMPTY_NOUNS: [&str; 6] = ["data", "detail", "id", "info", "item", "name"];

/// A word as written and its stem.
type Noun = (String, String);

fn nouns(domain: &str, name: &str) -> Vec<Noun> {
    let own = words::split(domain);
    words::split(name)
        .into_iter()
        .filter(|word| {
            let telling = word.chars().count() > 1 && !word.chars().all(char::is_numeric);
            telling && !own.contains(word) && !words::is_verb(word) && !words::is_stop_word(word)
        })
        .map(|word| (words::stem(&word).to_owned(), word))
        .filter(|(stem, _)| !EMPTY_NOUNS.contains(&stem.as_str()))
        .map(|(stem, word)| (word, stem))
        .collect()
}

struct NounCounts<'a> {
    tools: usize,
    /// How many names have each stem.
    having: HashMap<&'a str, usize>,
    /// The spellings of a stem, and how often each occurs.
    forms: HashMap<&'a str, BTreeMap<&'a str, usize>>,
    /// The stems that follow a stem, and how often; `None` at the end of a name.
    next: HashMap<&'a str, BTreeMap<Option<&'a str>, usize>>,
}

impl<'a> NounCounts<'a> {
    fn of(names: &'a [Vec<Noun>]) -> Self {
        let (mut having, mut forms, mut next) = (HashMap::new(), HashMap::new(), HashMap::new());
        for nouns in names {
            for (at, (word, stem)) in nouns.iter().enumerate() {
                let stem = stem.as_str();
                if !nouns[..at].iter().any(|(_, earlier)| earlier == stem) {
                    *having.entry(stem).or_default() += 1;
                }
                let forms: &mut BTreeMap<_, _> = forms.entry(stem).or_default();
                *forms.entry(word.as_str()).or_default() += 1;
                let next: &mut BTreeMap<_, _> = next.entry(stem).or_default();
                *next.entry(nouns.get(at + 1).map(|(_, stem)| stem.as_str())).or_default() += 1;
            }
        }
        Self { tools: names.len(), having, forms, next }
    }

    fn choose(&self, nouns: &'a [Noun]) -> Option<&'a str> {
        let telling = |stem: &str| {
            let having = self.having[stem];
            having >= LEAST_TOOLS && having * 10 <= self.tools * 9
        };
        let stems = nouns.iter().map(|(_, stem)| stem.as_str()).filter(|stem| telling(stem));
        // `max_by_key` keeps the last of several maxima, hence the reversal.
        stems.rev().max_by_key(|stem| self.having[stem])
    }

    /// A stem's commonest spelling (the longer of two equally common), with what always follows it.
    fn label(&self, stem: &str) -> String {
        let followers = &self.next[stem];
        let form = self.forms[stem]
            .iter()
            .max_by_key(|(form, count)| (**count, form.len()))
            .map_or(stem, |(form, _)| *form);
        match followers.iter().next() {
            Some((Some(next), _)) if followers.len() == 1 && *next != stem => {
                let next = self.forms[next].iter().max_by_key(|(form, n)| (**n, form.len()));
                next.map_or(form.to_owned(), |(next, _)| format!("{form}_{next}"))
            }
            _ => form.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(domain: &str, names: &[(&str, &str)], rules: &GroupRules) {
        let tools: Vec<_> = names.iter().map(|(name, group)| (*name, None, *group)).collect();
        check_said(domain, &tools, rules);
    }

    /// Tools, each with the group its source gives and the group it ends up in.
    fn check_said(domain: &str, tools: &[(&str, Option<&str>, &str)], rules: &GroupRules) {
        let members: Vec<_> =
            tools.iter().map(|(name, group, _)| GroupMember { name, group: *group }).collect();
        let groups = assign(&Domain::parse(domain).unwrap(), &members, rules);
        let groups: Vec<_> = groups.iter().map(AsRef::as_ref).collect();
        let expected: Vec<_> = tools.iter().map(|(_, _, group)| *group).collect();
        assert_eq!(groups, expected);
    }

    #[test]
    fn a_source_groups_the_tools_that_no_rule_covers() {
        let rules = GroupRules::new([("get_*", "reading")]);
        check_said(
            "x",
            &[
                ("get_note", Some("notes"), "reading"),
                ("put_note", Some("notes"), "notes"),
                ("list_tags", None, "general"),
                ("drop_tag", Some("notes"), "notes"),
            ],
            &rules,
        );
    }

    #[test]
    fn tools_that_share_a_noun_share_a_group() {
        check(
            "apollo",
            &[
                ("apollo_people_search", "people"),
                ("apollo_people_enrich", "people"),
                ("createSequence", "sequences"),
                ("list_sequences", "sequences"),
                ("apollo_sequences_search", "sequences"),
                ("create_pull_request", "pull_request"),
                ("get_pull_request_files", "pull_request"),
                ("whoami", "general"),
            ],
            &GroupRules::default(),
        );
    }

    #[test]
    fn a_noun_of_every_tool_makes_no_group() {
        check(
            "x",
            &[("get_note_tag", "tag"), ("set_note_tag", "tag"), ("list_note_links", "general")],
            &GroupRules::default(),
        );
    }

    #[test]
    fn a_rule_comes_first_and_the_first_rule_wins() {
        let rules = GroupRules::new([("get_*", "reading"), ("*_note", "writing")]);
        check("x", &[("get_note", "reading"), ("put_note", "writing"), ("z", "general")], &rules);
    }
}
