//! What the services are that tools are about, and what people call them: a list of our own in
//! `data/services.txt`, which says how it is read.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::text;
use crate::words::is_stop_word;

const LIST: &str = include_str!("../data/services.txt");

/// The most services of one source.
const SERVICES: usize = 4;

/// The most words of a request in which services, sources and values are looked for.
pub(crate) const REQUEST_WORDS: usize = 64;

/// The most words of a service's name, counted after `k8s` has become three.
const NAME_WORDS: usize = 6;

/// The longest name that a request is searched for, in bytes of its words joined.
const LONGEST_NAME: usize = 64;

/// The most words read of one name of a source.
const SOURCE_WORDS: usize = 16;

/// The most other names of a source that count.
const ALIASES: usize = 32;

/// Words of a source's name that do not say what it is.
const GENERIC: [&str; 18] = [
    "mcp",
    "server",
    "api",
    "official",
    "local",
    "remote",
    "tool",
    "tools",
    "the",
    "my",
    "app",
    "service",
    "client",
    "integration",
    "dev",
    "prod",
    "test",
    "main",
];

/// How a source names itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct SourceNames<'a> {
    /// Its own name, its title and the name of its server.
    pub names: &'a [&'a str],
    /// What its configuration says that people call it. These replace the list's nicknames.
    pub aliases: &'a [String],
    /// Whether its configuration describes it; then the list does not.
    pub is_described: bool,
}

/// What is known of the services of one source beyond what its tools say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Service {
    /// Names and nicknames, and what the services are; searched as fields of every tool.
    pub(crate) names: Box<str>,
    pub(crate) text: Box<str>,
    /// What a request may call the source: words joined.
    pub(crate) handles: Box<[Handle]>,
}

/// A name by which a request may mean a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handle {
    pub(crate) key: Box<str>,
    /// Whether the name is an ordinary word too.
    pub(crate) is_ordinary: bool,
}

/// One line of the list.
struct KnownService {
    names: Vec<&'static str>,
    nicknames: &'static str,
    text: &'static str,
}

/// Where a name of the list belongs.
struct KnownName {
    /// Places in the list.
    services: Vec<usize>,
    is_ordinary: bool,
}

struct List {
    services: Vec<KnownService>,
    /// By the words of the names, joined.
    names: FxHashMap<String, KnownName>,
}

static KNOWN: LazyLock<List> = LazyLock::new(|| {
    let mut list = List { services: Vec::new(), names: FxHashMap::default() };
    for line in LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut parts = line.split('|').map(str::trim);
        let mut part = || parts.next().unwrap_or_default();
        let (names, nicknames, text) = (part(), part(), part());
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        for name in &names {
            let is_ordinary = name.starts_with('=');
            let known = list
                .names
                .entry(key(name))
                .or_insert_with(|| KnownName { services: Vec::new(), is_ordinary });
            // `circleci` and `circle ci` are one name.
            if known.services.last() != Some(&list.services.len()) {
                known.services.push(list.services.len());
            }
        }
        let names = names.iter().map(|name| name.trim_start_matches('=')).collect();
        list.services.push(KnownService { names, nicknames, text });
    }
    list
});

impl Service {
    /// What is known of a source; none when that is nothing.
    pub fn of(source: &SourceNames<'_>) -> Option<Self> {
        let known = known_services(source.names);
        if known.is_empty() && source.aliases.is_empty() {
            return None;
        }
        let aliases = source.aliases.iter().take(ALIASES).map(String::as_str);
        let mut names: Vec<&str> = aliases.clone().collect();
        let (mut text, mut handles): (Vec<&str>, Vec<Handle>) = (Vec::new(), Vec::new());
        handles.extend(aliases.map(|alias| Handle { key: key(alias).into(), is_ordinary: false }));
        for service in known.iter().map(|place| &KNOWN.services[*place]) {
            names.extend(&service.names);
            if source.aliases.is_empty() {
                names.push(service.nicknames);
            }
            if !source.is_described {
                text.push(service.text);
            }
            handles.extend(service.names.iter().map(|name| {
                let key = key(name);
                let is_ordinary = KNOWN.names.get(&key).is_some_and(|known| known.is_ordinary);
                Handle { key: key.into(), is_ordinary }
            }));
        }
        Some(Self {
            names: names.join(", ").into(),
            text: text.join(", ").into(),
            handles: handles.into(),
        })
    }
}

/// The places in the list of the services that some names name, the names' own order.
fn known_services(names: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    for name in names {
        let mut words = Vec::new();
        text::walk(name, SOURCE_WORDS, |word, kind| {
            words.extend((kind == text::Kind::Word).then(|| word.to_owned()));
        });
        let telling = words.iter().filter(|word| !GENERIC.contains(&word.as_str()));
        let whole: String = telling.map(String::as_str).collect();
        let mut at = 0;
        while at < words.len() {
            let longest = (1..=NAME_WORDS.min(words.len() - at)).rev().find_map(|count| {
                let joined = words[at..at + count].concat();
                let known = KNOWN.names.get(&joined)?;
                (!known.is_ordinary || joined == whole).then_some((count, known))
            });
            let Some((count, known)) = longest else {
                at += 1;
                continue;
            };
            found.extend(
                known
                    .services
                    .iter()
                    .filter(|place| !found.contains(*place))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            at += count;
        }
    }
    found.truncate(SERVICES);
    found
}

/// The words of a name, joined.
pub(crate) fn key(name: &str) -> String {
    let mut key = String::new();
    text::walk(name, SOURCE_WORDS, |word, kind| {
        key.push_str(if kind == text::Kind::Word { word } else { "" });
    });
    key
}

/// Calls `each` with every name that a request may contain: its words, joined, and whether the name
/// stands where an ordinary word would be one: capitalised within a sentence, or at the end of one
/// after a word like `in`.
pub(crate) fn names_in(request: &str, limit: usize, mut each: impl FnMut(&str, bool)) {
    let words: Vec<&str> = text::bounded(request, limit).split_whitespace().take(limit).collect();
    let bare = |word: &&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        key(bare.strip_suffix("'s").or(bare.strip_suffix("’s")).unwrap_or(bare))
    };
    let keys: Vec<String> = words.iter().map(bare).collect();
    let mut joined = String::new();
    for from in 0..words.len() {
        joined.clear();
        let mut has_sense = false;
        for (at, (word, key)) in words.iter().zip(&keys).enumerate().skip(from).take(NAME_WORDS) {
            joined.push_str(key);
            if joined.len() > LONGEST_NAME {
                break;
            }
            has_sense |= !is_stop_word(key) && key != "who";
            let ends = word.ends_with(['.', ',', ';', '?', '!', ':']);
            let is_end = ends || at + 1 == words.len();
            let is_clear =
                is_proper(words[from], from) || is_end && follows_preposition(&words, from);
            // `who is` is no `whois`.
            if has_sense || at == from {
                each(&joined, is_clear);
            }
            if ends {
                break;
            }
        }
    }
}

fn is_proper(word: &str, at: usize) -> bool {
    at > 0 && word.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase)
}

fn follows_preposition(words: &[&str], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| words[before]);
    before.is_some_and(|word| {
        ["in", "on", "from", "via", "using"].iter().any(|known| word.eq_ignore_ascii_case(known))
    })
}

/// The first name of the service that the list knows by another; none for an ordinary word.
pub(crate) fn full_name(key: &str) -> Option<&'static str> {
    let known = KNOWN.names.get(key).filter(|known| !known.is_ordinary)?;
    let [service] = known.services[..] else { return None };
    let first = KNOWN.services[service].names[0];
    (self::key(first) != key).then_some(first)
}

/// The services that the list knows by a name; none for an ordinary word.
pub(crate) fn clearly_named(key: &str) -> &'static [usize] {
    KNOWN.names.get(key).filter(|known| !known.is_ordinary).map_or(&[], |known| &known.services)
}

/// The name itself, as the list has it, by its words joined, and what the service is.
pub(crate) fn named_and_described(service: usize, key: &str) -> (&'static str, &'static str) {
    let KnownService { names, text, .. } = &KNOWN.services[service];
    let name = names.iter().find(|name| self::key(name) == key);
    (name.copied().unwrap_or_default(), text)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &[&str]) {
        let found = known_services(names);
        let found: Vec<_> = found.iter().map(|place| KNOWN.services[*place].names[0]).collect();
        assert_eq!(found, expected, "{names:?}");
    }

    #[test]
    fn a_source_is_known_by_any_of_its_names() {
        check(&["github"], &["github"]);
        check(&["gh-enterprise"], &["github"]);
        check(&["code", "GitHub MCP Server"], &["github"]);
        check(&["work", "", "github-mcp-server"], &["github"]);
        check(&["ms365"], &["microsoft 365"]);
        check(&["k8s_prod"], &["kubernetes"]);
        check(&["aws-s3-tables"], &["aws", "s3 tables"]);
        check(&["atlassian"], &["jira", "confluence"]);
        check(&["kitchen"], &[]);
        check(&[], &[]);
    }

    #[test]
    fn an_ordinary_word_is_a_service_only_alone() {
        check(&["linear"], &["linear"]);
        check(&["linear-algebra"], &[]);
        check(&["time", "mcp-time"], &["time"]);
        check(&["time-tracker"], &[]);
        check(&["notion"], &["notion"]);
        check(&["memory-server"], &["memory"]);
        check(&["git"], &["git"]);
        check(&["digit"], &[]);
    }

    #[test]
    fn the_configuration_wins_over_the_list() {
        let aliases = ["the forge".to_owned()];
        let own = SourceNames { names: &["github"], aliases: &aliases, is_described: true };
        let service = Service::of(&own).unwrap();
        assert!(service.names.contains("the forge") && service.names.contains("github"));
        assert!(service.text.is_empty());
        let plain = Service::of(&SourceNames { names: &["pagerduty"], ..own }).unwrap();
        assert!(!plain.names.contains("on-call"), "{plain:?}");
        assert_eq!(
            Service::of(&SourceNames { names: &["kitchen"], ..SourceNames::default() }),
            None
        );
    }

    #[test]
    fn every_line_of_the_list_has_a_name_and_says_what_it_is() {
        assert!(KNOWN.services.len() >= 300);
        for service in &KNOWN.services {
            assert!(service.names.iter().all(|name| !key(name).is_empty()), "{:?}", service.names);
            assert!(!service.text.is_empty(), "{:?}", service.names);
            let words: HashSet<_> = service.names.iter().collect();
            assert_eq!(words.len(), service.names.len(), "{:?}", service.names);
        }
        let lines = LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert!(lines.clone().all(|line| line.matches('|').count() == 2));
    }

    #[test]
    fn a_request_names_a_service_and_not_an_ordinary_word() {
        let names = |request: &str| {
            let mut found = Vec::new();
            names_in(request, 64, |key, is_clear| {
                if let Some(known) = KNOWN.names.get(key)
                    && (is_clear || !known.is_ordinary)
                {
                    found.push(key.to_owned());
                }
            });
            found.join(" ")
        };
        assert_eq!(names("open a pr on gh"), "gh");
        assert_eq!(names("What's in GitHub's queue?"), "github");
        assert_eq!(names("events of my google calendar, please"), "googlecalendar");
        assert_eq!(names("fit a linear model"), "");
        assert_eq!(names("create a bug in linear"), "linear");
        assert_eq!(names("list Linear issues"), "linear");
        assert_eq!(names("what time is it"), "");
        assert_eq!(names("who is there"), "");
    }
}
